//! The commands that ask a running `spindle serve` at its Unix socket: what they have in common.

use crate::console::{self, Status};
use lexopt::{Arg, Parser};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// Runs a command that takes a socket: its name, its help, an option that it may have, and what it does there, by whether that was given.
pub fn run(
    arguments: &mut Parser,
    name: &str,
    help: &str,
    option: Option<&str>,
    command: impl FnOnce(&OsString, bool) -> std::io::Result<Status>,
) -> Status {
    match parse(arguments, option) {
        Ok(None) => console::print(help.as_bytes()),
        Ok(Some((socket, is_given))) => command(&socket, is_given)
            .unwrap_or_else(|error| fails(&format!("{}: {}", socket.to_string_lossy(), console::reason(&error)))),
        Err(error) => fails(&format!("{error}; see 'spindle {name} --help'")),
    }
}

/// Says why, on standard error.
pub fn fails(why: &str) -> Status {
    console::complain(format!("spindle: {}", console::one_line(why)).as_bytes());
    Status::Failed
}

/// `None` when help is wanted.
fn parse(arguments: &mut Parser, option: Option<&str>) -> Result<Option<(OsString, bool)>, lexopt::Error> {
    let (mut socket, mut is_given) = (None, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            Arg::Long(name) if Some(name) == option => is_given = true,
            Arg::Value(value) if socket.is_none() => socket = Some(value),
            other => return Err(other.unexpected()),
        }
    }
    socket.map(|socket| Some((socket, is_given))).ok_or_else(|| "no SOCKET given".into())
}

/// The answer to a request such as `GET /status`: whether its status is 200, and its body. `None` if the command has ended before.
pub fn ask(socket: &OsString, request: &str) -> std::io::Result<Option<(bool, String)>> {
    let mut stream = UnixStream::connect(socket)?;
    let head = format!("{request} HTTP/1.1\r\nHost: spindle\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let parts = answer.split_once("\r\n\r\n");
    Ok(parts.map(|(head, body)| (head.starts_with("HTTP/1.1 200 "), body.to_owned())))
}
