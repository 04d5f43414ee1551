//! The sockets at which PHP accepts connections. They belong to this process, so that they outlive a PHP that ends: connections that
//! come meanwhile wait in them.

use super::systemd;
use crate::console;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// How many connections may wait. The system lowers it to what it allows.
const BACKLOG: i32 = 4096;

/// Sockets that listen, until they are dropped.
#[derive(Default)]
pub struct Sockets {
    pub open: Vec<OwnedFd>,
    paths: Vec<PathBuf>,
    /// What PHP is to listen at in place of the addresses.
    pub names: Vec<OsString>,
    /// The same, for people.
    pub shown: Vec<OsString>,
}

/// What stands before the name of a socket that systemd has passed.
const PASSED: &str = "systemd:";

impl Sockets {
    /// Returns `true` for what this process can listen at.
    pub fn is_address(address: &OsStr) -> bool {
        let text = address.to_string_lossy();
        !text.starts_with("fd:") && !text.starts_with(PASSED) && text.contains(':') && text != "unix:"
    }

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
            if !Sockets::is_address(address) || is_shared && text.starts_with("unix:") {
                sockets.names.push(address.clone());
                sockets.shown.push(address.clone());
                continue;
            }
            let bound = match text.strip_prefix("unix:") {
                Some(path) => unix(Path::new(path)).inspect(|_| sockets.paths.push(path.into())),
                None => tcp(&text, is_shared),
            };
            let socket = bound.map_err(|error| format!("Cannot listen at {text}: {}", console::reason(&error)))?;
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

impl Drop for Sockets {
    fn drop(&mut self) {
        for path in &self.paths {
            let _ = fs::remove_file(path);
        }
    }
}

fn tcp(text: &str, is_shared: bool) -> io::Result<OwnedFd> {
    let mut last = io::ErrorKind::AddrNotAvailable.into();
    for address in text.to_socket_addrs()? {
        match listening(&address, is_shared) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn listening(address: &SocketAddr, is_shared: bool) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if is_shared {
        sockopt::set_socket_reuseport(&socket, true)?;
    }
    net::bind(&socket, address)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

fn unix(path: &Path) -> io::Result<OwnedFd> {
    // One that no process listens on any more is replaced.
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
        let _ = fs::remove_file(path);
    }
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}
