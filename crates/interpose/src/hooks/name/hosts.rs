//! Names and addresses that libc finds in `/etc/hosts`, without asking any other source: they are looked up in place, which takes a
//! third of the time of a job.
//!
//! Only where `files` is the first source of hosts in `/etc/nsswitch.conf`, with no rule of its own after it, and no daemon
//! caches names, which libc would ask first. What is said here need not hold any more when libc reads the file: then the call
//! blocks as it does without Spindle.

use super::config::{self, Version};
use crate::host::{Host, errno, set_errno};
use crate::php_cell::PhpCell;
use libc::c_int;
use spindle_reactor::Reactor;
use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::fs::{File, Metadata};
use std::io::Read;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;

/// A larger file is not read on the PHP thread; libc reads it anew at each look-up.
const LARGEST: u64 = 64 << 10;

/// How long (ns) the files are assumed unchanged after a check, so that only some of many look-ups in a row check them.
const FRESH: u64 = 1_000_000;

/// The addresses of a name.
#[derive(Clone, Copy, Default)]
struct Families {
    v4: bool,
    v6: bool,
}

/// What the file of hosts says.
#[derive(Default)]
struct Entries {
    names: HashMap<Vec<u8>, Families>,
    addresses: HashSet<IpAddr>,
}

/// What the files say.
#[derive(Default)]
struct Hosts {
    /// When the files were checked.
    at: u64,
    switch: Option<Version>,
    is_files_first: bool,
    hosts: Option<Version>,
    entries: Entries,
}

/// The files.
struct Paths<'a> {
    switch: &'a str,
    daemon: &'a str,
    hosts: &'a str,
}

const PATHS: Paths<'static> = Paths { switch: config::SWITCH, daemon: config::DAEMON, hosts: config::HOSTS };

static HOSTS: PhpCell<Option<Hosts>> = PhpCell::new(None);

/// Returns `true` if libc finds an address of this family for the name in `/etc/hosts`: the caller asks it in place. `flags` are those
/// of `getaddrinfo`. Preserves `errno`, and yields now and then, as calls do that need not wait.
pub(super) fn has(host: &dyn Host, name: &CStr, family: c_int, flags: c_int) -> bool {
    find(host, |entries| entries.has(name.to_bytes(), family, flags))
}

/// Returns `true` if libc finds a name for the address in `/etc/hosts`, as [`has`].
pub(super) fn has_address(host: &dyn Host, address: IpAddr) -> bool {
    find(host, |entries| entries.addresses.contains(&address))
}

fn find(host: &dyn Host, is_in: impl FnOnce(&Entries) -> bool) -> bool {
    if !host.reads_hosts_in_place() {
        return false;
    }
    let saved = errno();
    let found = HOSTS.with(host, |kept| is_in(kept.get_or_insert_default().current(&PATHS, Reactor::now())));
    if found {
        host.yield_if_due();
    }
    set_errno(saved);
    found
}

impl Hosts {
    /// Returns the entries of the hosts file, none if libc may ask other sources as well. Reads files that have changed.
    fn current(&mut self, paths: &Paths, now: u64) -> &Entries {
        if now >= self.at + FRESH {
            self.at = now;
            self.refresh(paths, config::time_of_day());
        }
        &self.entries
    }

    /// Reads the files that have changed, or may have changed unseen.
    fn refresh(&mut self, paths: &Paths, now: i128) {
        let settled = |version: &Version| !version.may_change_unseen(now);
        let version = version_of(paths.switch);
        if self.switch != version || version.is_none() {
            let text = version.and_then(|_| content(paths.switch));
            self.is_files_first = text.as_deref().is_some_and(is_files_first);
            self.switch = version.filter(settled).filter(|_| text.is_some());
        }
        let has_daemon = std::fs::symlink_metadata(paths.daemon).is_ok();
        let version = if self.is_files_first && !has_daemon { version_of(paths.hosts) } else { None };
        if self.hosts != version || version.is_none() {
            let text = version.and_then(|_| content(paths.hosts));
            self.entries = text.as_deref().map_or_else(Entries::default, Entries::of);
            self.hosts = version.filter(settled).filter(|_| text.is_some());
        }
    }
}

impl Entries {
    fn of(hosts: &[u8]) -> Entries {
        let mut entries = Entries::default();
        // libc reads C strings: it does not see what follows a zero byte in a line.
        if hosts.contains(&0) {
            return entries;
        }
        for line in hosts.split(|byte| *byte == b'\n') {
            let mut words = words(line);
            let address = words.next().and_then(|word| std::str::from_utf8(word).ok()?.parse::<IpAddr>().ok());
            let Some(address) = address else { continue };
            for name in words {
                entries.addresses.insert(address);
                let families = entries.names.entry(name.to_ascii_lowercase()).or_default();
                families.v4 |= address.is_ipv4();
                families.v6 |= address.is_ipv6();
            }
        }
        entries
    }

    fn has(&self, name: &[u8], family: c_int, flags: c_int) -> bool {
        let Some(families) = self.names.get(&name.to_ascii_lowercase()) else { return false };
        match family {
            // libc asks for one family only where the interfaces have no addresses of the other.
            libc::AF_UNSPEC if flags & libc::AI_ADDRCONFIG != 0 => families.v4 && families.v6,
            libc::AF_UNSPEC => true,
            libc::AF_INET => families.v4,
            libc::AF_INET6 => families.v6,
            _ => false,
        }
    }
}

/// Returns the version of a file that may be read on the PHP thread.
fn version_of(path: &str) -> Option<Version> {
    std::fs::metadata(path).ok().filter(is_small_file).map(|file| Version::of(&file))
}

/// Others may wait, as a pipe does for its writer, or never end.
fn is_small_file(file: &Metadata) -> bool {
    file.is_file() && file.len() <= LARGEST
}

/// Returns the content of a file, which may not be the one that was checked.
fn content(path: &str) -> Option<Vec<u8>> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    if !is_small_file(&file.metadata().ok()?) {
        return None;
    }
    let mut content = Vec::new();
    let length = file.take(LARGEST + 1).read_to_end(&mut content).ok()?;
    (length as u64 <= LARGEST).then_some(content)
}

/// Returns the text of a line before its comment, as words.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = line.split(|byte| *byte == b'#').next().unwrap_or_default();
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Returns `true` if hosts are looked up in files first, and nowhere else if they are found there.
fn is_files_first(switch: &[u8]) -> bool {
    if switch.contains(&0) {
        return false;
    }
    let lines = switch.split(|byte| *byte == b'\n').map(|line| words(line).collect::<Vec<_>>().join(&b' '));
    let mut lines = lines.filter(|line| line.starts_with(b"hosts:"));
    // Which one of several lines counts depends on libc's version.
    let (Some(line), None) = (lines.next(), lines.next()) else { return false };
    let mut sources = line["hosts:".len()..].split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    // A rule in brackets may say that a success is not the end.
    sources.next() == Some(b"files") && sources.next().is_none_or(|next| !next.starts_with(b"["))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    #[test]
    fn the_first_source_of_hosts_decides() {
        for yes in [
            "hosts: files dns",
            "passwd: x\nhosts:\tfiles # dns\n",
            "  hosts:   files",
            "hosts:files mdns [!UNAVAIL=return]",
        ] {
            assert!(is_files_first(yes.as_bytes()), "{yes}");
        }
        for no in [
            "",
            "hosts: dns files",
            "hosts:",
            "#hosts: files",
            "hosts: files\nhosts: dns",
            "hosts: files [SUCCESS=merge] dns",
            "hosts: files[!X=y] dns",
            "hosts: mymachines files",
            "nohosts: files",
        ] {
            assert!(!is_files_first(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn a_name_has_the_families_of_its_addresses() {
        let text = b"127.0.0.1 localhost Own.Name\n::1\tlocalhost ip6\n# 10.0.0.1 comment\n10.0.0.2 a # b\nbad name\n10.0.0.3\n";
        let hosts = Entries::of(text);
        let has = |name: &str| {
            [libc::AF_UNSPEC, libc::AF_INET, libc::AF_INET6, 77].map(|of| hosts.has(name.as_bytes(), of, 0))
        };
        assert_eq!(has("localhost"), [true, true, true, false]);
        assert_eq!(has("OWN.name"), [true, true, false, false]);
        assert_eq!(has("ip6"), [true, false, true, false]);
        assert_eq!(has("a"), [true, true, false, false]);
        let configured = |name: &str, of| hosts.has(name.as_bytes(), of, libc::AI_ADDRCONFIG | libc::AI_CANONNAME);
        for (name, both) in [("localhost", true), ("a", false), ("ip6", false)] {
            assert_eq!(configured(name, libc::AF_UNSPEC), both, "{name}");
        }
        assert!(configured("a", libc::AF_INET));
        let addresses = ["127.0.0.1", "::1", "10.0.0.2", "10.0.0.1", "10.0.0.3", "::ffff:10.0.0.2"];
        let found = addresses.map(|address| hosts.addresses.contains(&address.parse().unwrap()));
        assert_eq!(found, [true, true, true, false, false, false], "an address without a name has none");
        for absent in ["comment", "b", "name", "127.0.0.1", "", "local"] {
            assert_eq!(has(absent), [false; 4], "{absent}");
        }
    }

    /// Returns a new folder, and in it a file of sources and one of hosts, which has one name.
    fn files(folder: &str) -> (std::path::PathBuf, String, String) {
        let folder = std::env::temp_dir().join(format!("{folder}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let (switch, hosts) = (write("switch", "hosts: files"), write("hosts", "10.0.0.1 one"));
        (folder, switch, hosts)
    }

    #[test]
    fn a_file_that_was_changed_just_now_is_read_again() {
        let (folder, switch, hosts) = files("spindle-hosts-now");
        let changed = |path: &str| version_of(path).unwrap().changed();
        let now = changed(&switch).max(changed(&hosts));
        let read = |at: i128| {
            let mut kept = Hosts::default();
            kept.refresh(&Paths { switch: &switch, daemon: "", hosts: &hosts }, at);
            (kept.entries.names.len(), kept.switch.is_none(), kept.hosts.is_none())
        };
        assert_eq!(read(now + 1), (1, true, true), "the next refresh reads them again");
        assert_eq!(read(now + 1_000_000_000), (1, false, false));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn many_look_ups_in_a_row_check_the_files_once() {
        let (folder, switch, file) = files("spindle-hosts-row");
        let mut hosts = Hosts::default();
        let mut has = |now| {
            let entries = hosts.current(&Paths { switch: &switch, daemon: "", hosts: &file }, now);
            entries.has(b"one", libc::AF_INET, 0)
        };
        assert!(has(5 * FRESH));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(has(6 * FRESH - 1));
        assert!(!has(6 * FRESH));
    }

    #[test]
    fn files_are_read_again_when_they_have_changed() {
        let folder = std::env::temp_dir().join(format!("spindle-hosts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
        let mut hosts = Hosts::default();
        let mut now = 0;
        let mut has = |name: &str| {
            let (switch, daemon, file) = (path("switch"), path("daemon"), path("hosts"));
            now += FRESH;
            let mut has = |now| {
                let entries = hosts.current(&Paths { switch: &switch, daemon: &daemon, hosts: &file }, now);
                entries.has(name.as_bytes(), libc::AF_INET, 0)
            };
            let found = has(now);
            assert_eq!(found, has(now + FRESH - 1), "nothing has changed");
            found
        };
        assert!(!has("one"), "there are no files");
        write("switch", "hosts: files dns");
        write("hosts", "10.0.0.1 one");
        assert!(has("one") && !has("other"));
        write("hosts", "10.0.0.1 one other");
        assert!(has("one") && has("other"));
        write("switch", "hosts: dns");
        assert!(!has("one"));
        write("switch", "hosts: files");
        assert!(has("one"));
        write("daemon", "");
        assert!(!has("one"), "there is a daemon that libc asks first");
        std::fs::remove_file(path("daemon")).unwrap();
        assert!(has("one"));
        write("switch", "hosts: files\n\0");
        assert!(!has("one"), "libc's text ends at the zero byte");
        write("switch", "hosts: files");
        write("hosts", &format!("10.0.0.1 one\n{}", "#".repeat(LARGEST as usize)));
        assert!(!has("one"), "it is too large");
        write("hosts", "10.0.0.1 one");
        assert!(has("one"));
        write("hosts", "10.0.0.1 other\0 one");
        assert!(!has("one"), "libc's line ends at the zero byte");
        std::fs::remove_file(path("hosts")).unwrap();
        std::fs::create_dir(path("hosts")).unwrap();
        assert!(!has("one"), "it is a folder");
        std::fs::remove_dir(path("hosts")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("hosts")).unwrap();
        assert!(!has("one"), "it never ends");
        assert_eq!(content(&path("hosts")), None);
        std::fs::remove_file(path("hosts")).unwrap();
        let name = CString::new(path("hosts")).unwrap();
        // SAFETY: a C string.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert!(!has("one"), "nobody writes to the pipe");
        assert_eq!(content(&path("hosts")), None);
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(!has("one"));
    }
}
