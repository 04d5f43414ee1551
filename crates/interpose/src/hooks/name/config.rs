//! The files and variables that decide what libc answers for a name, as far as a change of them can be seen.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where hosts are looked for, and in which order.
pub(super) const SWITCH: &str = "/etc/nsswitch.conf";
/// The hosts of this machine.
pub(super) const HOSTS: &str = "/etc/hosts";
/// Where glibc asks the daemon that caches names, before it reads any file.
pub(super) const DAEMON: &str = "/var/run/nscd/socket";

/// All files that decide on the answer to a name or an address, and on the order of its addresses.
const FILES: [&str; 6] = [SWITCH, HOSTS, DAEMON, "/etc/resolv.conf", "/etc/gai.conf", "/etc/host.conf"];

/// The variables that do.
const VARIABLES: [&str; 3] = ["LOCALDOMAIN", "RES_OPTIONS", "HOSTALIASES"];

/// The time stamps of files have a coarse clock, of at least 100 Hz. A file that was changed less than this (ns) ago may be changed
/// again without a difference that can be seen.
const COARSE: i128 = 20_000_000;

/// A file, as far as a change of it can be seen: its time of change, unlike that of its content, cannot be set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Version {
    device: u64,
    inode: u64,
    size: u64,
    changed: i128,
}

impl Version {
    pub(super) fn of(file: &Metadata) -> Version {
        Version {
            device: file.dev(),
            inode: file.ino(),
            size: file.size(),
            changed: i128::from(file.ctime()) * 1_000_000_000 + i128::from(file.ctime_nsec()),
        }
    }

    #[cfg(test)]
    pub(super) fn changed(&self) -> i128 {
        self.changed
    }

    /// Returns `true` if a change that comes after `now`, the time of day (ns), need not make another version.
    pub(super) fn may_change_unseen(&self, now: i128) -> bool {
        (0..COARSE).contains(&(now - self.changed))
    }
}

/// Returns the time of day (ns), by which files are stamped.
pub(super) fn time_of_day() -> i128 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

/// Returns bytes that differ whenever libc's answers may, `None` if a file was changed just now.
pub(super) fn fingerprint() -> Option<Vec<u8>> {
    fingerprint_of(&FILES, &VARIABLES)
}

fn fingerprint_of(files: &[&str], variables: &[&str]) -> Option<Vec<u8>> {
    let now = time_of_day();
    let mut bytes = Vec::with_capacity(256);
    for file in files {
        match std::fs::metadata(file).map(|file| Version::of(&file)) {
            Ok(version) if version.may_change_unseen(now) => return None,
            Ok(version) => {
                bytes.push(1);
                for number in [version.device, version.inode, version.size] {
                    bytes.extend(number.to_ne_bytes());
                }
                bytes.extend(version.changed.to_ne_bytes());
            }
            Err(_) => bytes.push(0),
        }
    }
    for variable in variables {
        let value = std::env::var_os(variable);
        push(&mut bytes, value.as_deref().map(OsStr::as_bytes));
    }
    Some(bytes)
}

/// Appends a part that may be missing, so that different parts make different bytes.
pub(super) fn push(bytes: &mut Vec<u8>, part: Option<&[u8]>) {
    let length = part.map_or(u64::MAX, |part| part.len() as u64);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(part.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn a_change_of_a_file_is_seen() {
        let folder = std::env::temp_dir().join(format!("spindle-config-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file").to_str().unwrap().to_owned();
        let settled = || {
            sleep(Duration::from_nanos(2 * COARSE as u64));
            fingerprint_of(&[&path], &[]).expect("it is older")
        };
        let absent = settled();
        std::fs::write(&path, "one").unwrap();
        assert_eq!(fingerprint_of(&[&path], &[]), None, "it may change unseen");
        let first = settled();
        assert_ne!(absent, first);
        assert_eq!(first, settled());
        let before = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "two").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        assert_ne!(first, settled(), "the size and the time of the content are the same");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn parts_are_kept_apart() {
        let of = |parts: &[Option<&[u8]>]| {
            let mut bytes = Vec::new();
            parts.iter().for_each(|part| push(&mut bytes, *part));
            bytes
        };
        assert_ne!(of(&[Some(b"a"), Some(b"b")]), of(&[Some(b"ab"), Some(b"")]));
        assert_ne!(of(&[None]), of(&[Some(b"")]));
    }
}
