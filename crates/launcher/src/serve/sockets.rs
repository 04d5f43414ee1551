//! The sockets at which PHP accepts connections. They belong to this process, so that they outlive a PHP that ends: connections that
//! come meanwhile wait in them.

use super::process::Descriptor;
use super::systemd;
use super::user::User;
use super::values::{PASSED, is_address};
use crate::admin;
use crate::console;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How many connections may wait. The system lowers it to what it allows.
const BACKLOG: i32 = 4096;

/// A file system, and the number of a file on it.
type Place = (u64, u64);

/// Sockets that listen, until they are dropped.
#[derive(Default)]
pub struct Sockets {
    pub open: Vec<OwnedFd>,
    /// The files of Unix sockets, by which they are known.
    paths: Vec<(PathBuf, Option<Place>)>,
    /// What PHP is to listen at in place of the addresses.
    pub names: Vec<OsString>,
    /// The same, for people.
    pub shown: Vec<OsString>,
}

impl Sockets {
    /// Listens at these addresses. Invalid ones, and descriptors that this process was started with, are left to PHP.
    pub fn bind(addresses: &[OsString], is_shared: bool) -> Result<Sockets, String> {
        let mut sockets = Sockets::default();
        for address in addresses {
            let text = address.to_string_lossy();
            if let Some(name) = text.strip_prefix(PASSED) {
                let passed = systemd::passed(name).map_err(|why| format!("Cannot listen at {text}: {why}"))?;
                passed.into_iter().for_each(|socket| sockets.add(shown(&socket), socket));
                continue;
            }
            if !is_address(address) || is_shared && text.starts_with("unix:") {
                sockets.names.push(address.clone());
                sockets.shown.push(address.clone());
                continue;
            }
            let bound = match text.strip_prefix("unix:") {
                Some(path) => {
                    unix(Path::new(path)).inspect(|_| sockets.paths.push((path.into(), place(Path::new(path)))))
                }
                None => tcp(&text, is_shared),
            };
            let socket = bound.map_err(|error| refusal(address, &error))?;
            sockets.add(address.clone(), socket);
        }
        Ok(sockets)
    }

    fn add(&mut self, shown: OsString, socket: OwnedFd) {
        self.names.push(format!("taken-fd:{}", socket.as_raw_fd()).into());
        self.shown.push(shown);
        self.open.push(socket);
    }
}

/// What is kept of them over an upgrade.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    open: Vec<Descriptor>,
    paths: Vec<(OsString, Option<Place>)>,
    names: Vec<OsString>,
    shown: Vec<OsString>,
}

impl Sockets {
    pub fn keep(&self) -> io::Result<Kept> {
        let open = self.open.iter().map(Descriptor::keep).collect::<io::Result<_>>()?;
        let paths = self.paths.iter().map(|(path, place)| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone()); // the folder may be another one then
            (path.into_os_string(), *place)
        });
        let paths = paths.collect();
        Ok(Kept { open, paths, names: self.names.clone(), shown: self.shown.clone() })
    }

    /// Takes those that were kept: their numbers are the same.
    pub fn adopt(kept: Kept) -> io::Result<Sockets> {
        let open = kept.open.into_iter().map(Descriptor::take).collect::<io::Result<_>>()?;
        let paths = kept.paths.into_iter().map(|(path, place)| (path.into(), place)).collect();
        Ok(Sockets { open, paths, names: kept.names, shown: kept.shown })
    }
}

/// Returns where a socket listens.
fn shown(socket: &OwnedFd) -> OsString {
    let Ok(address) = net::getsockname(socket) else { return "a socket".into() };
    if let Ok(address) = SocketAddr::try_from(address.clone()) {
        return address.to_string().into();
    }
    let path = SocketAddrUnix::try_from(address)
        .ok()
        .and_then(|unix| unix.path_bytes().map(OsStr::from_bytes).map(OsStr::to_owned));
    let mut text = OsString::from("unix:");
    text.push(path.unwrap_or_default());
    text
}

/// Returns whether this process was started with a socket that can be served, for an address that stands for such ones.
pub fn inherited(address: &OsStr) -> Option<Result<(), String>> {
    let text = address.to_string_lossy();
    let found = match text.strip_prefix(PASSED) {
        Some(name) => systemd::passed(name).map(drop),
        None => systemd::listening(text.strip_prefix("fd:")?.parse().ok()?).map(drop),
    };
    Some(found.map_err(|why| format!("Cannot listen at {text}: {why}")))
}

/// Returns the descriptors that addresses name.
pub fn numbers(addresses: &[OsString]) -> Vec<RawFd> {
    addresses.iter().filter_map(|address| address.to_str()?.strip_prefix("fd:")?.parse().ok()).collect()
}

/// Why an address cannot be listened at.
pub fn refusal(address: &OsStr, error: &io::Error) -> String {
    format!("Cannot listen at {}: {}", address.to_string_lossy(), console::reason(error))
}

/// Returns an address as every process may name it.
pub fn absolute(address: &OsStr) -> String {
    let text = address.to_string_lossy();
    let path = text.strip_prefix("unix:").and_then(|path| std::path::absolute(path).ok());
    path.map_or_else(|| text.clone().into_owned(), |path| format!("unix:{}", path.display()))
}

/// Fails if an address cannot be listened at. It takes no connection meanwhile, and changes no file.
pub fn check(address: &OsStr, is_shared: bool) -> io::Result<()> {
    let text = address.to_string_lossy();
    let Some(path) = text.strip_prefix("unix:") else {
        return first(&text, |address| bound(address, is_shared).map(drop));
    };
    let path = Path::new(path);
    SocketAddrUnix::new(path)?;
    if fs::symlink_metadata(path).is_ok() && !is_abandoned(path) {
        return Err(io::Error::from_raw_os_error(Errno::ADDRINUSE.raw_os_error()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::tempfile_in(folder).map(drop)
}

impl Sockets {
    /// Gives the files of Unix sockets to the user as whom PHP runs, as if PHP had made them.
    pub fn give(&self, user: &User) -> Result<(), String> {
        let fails = |path: &Path, error| format!("{}: {}", path.display(), console::reason(&error));
        self.paths.iter().try_for_each(|(path, _)| user.give(path).map_err(|error| fails(path, error)))
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        for (path, own) in &self.paths {
            // Someone may have removed it, and another server have another one there.
            if place(path) == *own {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn tcp(text: &str, is_shared: bool) -> io::Result<OwnedFd> {
    first(text, |address| {
        let socket = bound(address, is_shared)?;
        net::listen(&socket, BACKLOG)?;
        Ok(socket)
    })
}

/// Does something with the first address of a name with which that succeeds.
fn first<T>(text: &str, act: impl Fn(&SocketAddr) -> io::Result<T>) -> io::Result<T> {
    let mut last = io::ErrorKind::AddrNotAvailable.into();
    for address in text.to_socket_addrs()? {
        match act(&address) {
            Ok(done) => return Ok(done),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn bound(address: &SocketAddr, is_shared: bool) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if is_shared {
        sockopt::set_socket_reuseport(&socket, true)?;
    }
    net::bind(&socket, address)?;
    Ok(socket)
}

/// Returns which file has this name.
fn place(path: &Path) -> Option<Place> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Returns `true` for a socket that no process listens on any more.
fn is_abandoned(path: &Path) -> bool {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    is_socket && admin::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Returns a socket that listens at this path.
///
/// # Errors
/// The system refuses that.
pub fn unix(path: &Path) -> io::Result<OwnedFd> {
    if is_abandoned(path) {
        let _ = fs::remove_file(path);
    }
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::{Sockets, is_abandoned, net, unix};
    use crate::admin::connect;
    use std::io::ErrorKind;

    #[test]
    fn a_socket_whose_queue_is_full_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("full");
        let socket = unix(&path).unwrap();
        net::listen(&socket, 0).unwrap();
        let full = (0..9).find_map(|_| connect(&path).err());
        assert_eq!(full.map(|error| error.kind()), Some(ErrorKind::WouldBlock));
        assert!(!is_abandoned(&path));
        drop(socket);
        assert!(is_abandoned(&path));
    }

    #[test]
    fn the_file_of_another_server_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let mut address = std::ffi::OsString::from("unix:");
        address.push(&path);
        let bind = || Sockets::bind(std::slice::from_ref(&address), false).unwrap();
        let one = bind();
        std::fs::remove_file(&path).unwrap();
        let other = bind();
        drop(one);
        assert!(path.exists());
        drop(other);
        assert!(!path.exists());
    }
}
