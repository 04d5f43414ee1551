//! The commands that ask a running `spindle serve` at its Unix socket: what they have in common.

use crate::console::{self, Status};
use lexopt::{Arg, Parser};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest answer: that of many workers with many requests each.
const LONGEST: usize = 64 << 20;

/// How long a server may take that answers whatever its workers do.
pub const PATIENCE: Duration = Duration::from_secs(10);

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

/// Connects to a socket, or fails without waiting where too many wait already.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

/// The answer to a request such as `GET /status`: whether its status is 200, and its body. `None` if the command has ended before.
///
/// # Errors
/// No one answers; or within `patience`, if that is given, not to the end.
pub fn ask(socket: &OsStr, request: &str, patience: Option<Duration>) -> io::Result<Option<(bool, String)>> {
    let stream = connect(Path::new(socket))?;
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(patience)?;
    asked(stream, request, patience)
}

/// The same of a server to which there is a connection. Something else may be there, whose answer never comes to an end.
pub fn asked(
    mut stream: impl Read + Write,
    request: &str,
    patience: Option<Duration>,
) -> io::Result<Option<(bool, String)>> {
    let head = format!("{request} HTTP/1.1\r\nHost: spindle\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let (mut answer, mut bytes) = (Vec::new(), [0; 16 << 10]);
    let until = patience.map(|patience| Instant::now() + patience);
    let late = || io::Error::new(ErrorKind::TimedOut, "it does not answer");
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(late()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if answer.len() > LONGEST || until.is_some_and(|until| until <= Instant::now()) {
            return Err(late());
        }
    }
    let answer = String::from_utf8(answer).map_err(|_| ErrorKind::InvalidData)?;
    let parts = answer.split_once("\r\n\r\n");
    Ok(parts.map(|(head, body)| (head.starts_with("HTTP/1.1 200 "), body.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::asked;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    #[test]
    fn what_answers_without_end_is_left() {
        let (ours, mut its) = UnixStream::pair().unwrap();
        let endless = std::thread::spawn(move || {
            let mut question = [0; 16];
            its.read_exact(&mut question).unwrap();
            while its.write_all(&[b'x'; 4096]).is_ok() {}
        });
        assert!(asked(ours, "GET /status", None).is_err());
        endless.join().unwrap();
    }

    #[test]
    fn who_does_not_answer_is_left() {
        let (ours, _its) = UnixStream::pair().unwrap();
        let patience = Duration::from_millis(1);
        ours.set_read_timeout(Some(patience)).unwrap();
        assert_eq!(asked(ours, "GET /status", Some(patience)).unwrap_err().to_string(), "it does not answer");
    }
}
