//! The user as whom PHP runs, which need not be the one of this command.

use crate::console;
use nix::unistd::{Group, geteuid, getgrouplist};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
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

    /// Gives the file of a socket to this user.
    ///
    /// # Errors
    /// The system refuses that, or another file has its name: the folder may be the user's, who could have root's files given by links.
    pub fn give(&self, path: &Path) -> io::Result<()> {
        let file = fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let found = fs::fstat(&file)?;
        if !FileType::from_raw_mode(found.st_mode).is_socket() || found.st_nlink != 1 {
            return Err(io::Error::other("another file has taken its place"));
        }
        Ok(fs::chownat(&file, "", Some(self.uid), Some(self.gid), AtFlags::EMPTY_PATH)?)
    }
}

#[cfg(test)]
mod tests {
    use super::User;
    use rustix::process::{getgid, getuid};
    use std::fs;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_the_file_of_a_socket_is_given() {
        let me = User { name: "me".into(), home: "/".into(), uid: getuid(), gid: getgid(), groups: Vec::new() };
        let folder = tempfile::tempdir().unwrap();
        let [socket, file, link] = ["socket", "file", "link"].map(|name| folder.path().join(name));
        let _listens = UnixListener::bind(&socket).unwrap();
        me.give(&socket).unwrap();
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&socket, &link).unwrap();
        for other in [&file, &link] {
            assert_eq!(me.give(other).unwrap_err().to_string(), "another file has taken its place");
        }
        // It may be a socket of another service.
        fs::hard_link(&socket, folder.path().join("other")).unwrap();
        assert_eq!(me.give(&socket).unwrap_err().to_string(), "another file has taken its place");
    }
}
