//! The user as whom PHP runs, which need not be the one of this command.

use crate::console;
use nix::unistd::{Group, geteuid, getgrouplist};
use rustix::process::{Gid, Uid};
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A user of this system.
pub struct User {
    name: OsString,
    home: PathBuf,
    pub uid: Uid,
    pub gid: Gid,
    /// All groups, as at a login.
    pub groups: Vec<Gid>,
}

impl User {
    /// Looks for `NAME` or `NAME:GROUP`. Returns `None` if this process is that user's already.
    pub fn find(text: &OsStr) -> Result<Option<User>, String> {
        let (name, group) = match super::values::halves(text, b':') {
            Some((name, group)) => (name, Some(group)),
            None => (text.to_owned(), None),
        };
        let say = |error: nix::Error| format!("--user {}: {}", text.to_string_lossy(), console::reason(&error.into()));
        let none = |kind: &str, name: &OsStr| format!("--user: there is no {kind} '{}'", name.to_string_lossy());
        let shown = name.to_string_lossy();
        let account = nix::unistd::User::from_name(&shown).map_err(say)?.ok_or_else(|| none("user", &name))?;
        let mut gid = account.gid;
        if let Some(group) = group {
            gid = Group::from_name(&group.to_string_lossy()).map_err(say)?.ok_or_else(|| none("group", &group))?.gid;
        }
        if !geteuid().is_root() {
            let is_same = account.uid == geteuid() && gid == nix::unistd::getegid();
            return if is_same {
                Ok(None)
            } else {
                Err(format!("--user {}: only root can run PHP as another user", text.to_string_lossy()))
            };
        }
        let c_name = CString::new(name.as_bytes()).map_err(|_| none("user", &name))?;
        let groups = getgrouplist(&c_name, gid).map_err(say)?;
        Ok(Some(User {
            home: account.dir,
            uid: Uid::from_raw(account.uid.as_raw()),
            gid: Gid::from_raw(gid.as_raw()),
            groups: groups.into_iter().map(|group| Gid::from_raw(group.as_raw())).collect(),
            name,
        }))
    }

    /// What programs of this user find in their environment.
    pub fn environment(&self) -> [(&'static str, &OsStr); 3] {
        [("USER", &self.name), ("LOGNAME", &self.name), ("HOME", self.home.as_os_str())]
    }

    /// Gives a file to this user. If it has become a symbolic link, what that leads to is not given.
    pub fn give(&self, path: &Path) -> io::Result<()> {
        std::os::unix::fs::lchown(path, Some(self.uid.as_raw()), Some(self.gid.as_raw()))
    }
}
