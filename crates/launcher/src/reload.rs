//! `spindle reload`: has a `spindle serve` replace its workers, and waits until they have taken over.

use crate::console::{self, Status};
use lexopt::{Arg, Parser};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

const HELP: &str = "\
Usage: spindle reload SOCKET

Has a 'spindle serve' start PHP anew, with the code that is there now, and waits
until that has taken over. SOCKET is what it was given as --admin unix:SOCKET.

  -h, --help  prints this

Exit status:
  0  the new PHP has taken over
  1  the old one goes on, as a line on standard error says, or there is none
";

/// Runs the command.
pub fn run(arguments: &mut Parser) -> Status {
    match parse(arguments) {
        Ok(None) => console::print(HELP.as_bytes()),
        Ok(Some(socket)) => reload(&PathBuf::from(&socket))
            .unwrap_or_else(|error| fails(&format!("{}: {}", socket.to_string_lossy(), console::reason(&error)))),
        Err(error) => fails(&format!("{error}; see 'spindle reload --help'")),
    }
}

fn fails(why: &str) -> Status {
    console::complain(format!("spindle: {}", console::one_line(why)).as_bytes());
    Status::Failed
}

/// `None` when help is wanted.
fn parse(arguments: &mut Parser) -> Result<Option<OsString>, lexopt::Error> {
    let mut socket = None;
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            Arg::Value(value) if socket.is_none() => socket = Some(value),
            other => return Err(other.unexpected()),
        }
    }
    socket.map(Some).ok_or_else(|| "no SOCKET given".into())
}

fn reload(socket: &PathBuf) -> std::io::Result<Status> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(b"POST /reload HTTP/1.1\r\nHost: spindle\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        return Ok(fails("it has ended before the reload was done"));
    };
    if head.starts_with("HTTP/1.1 200 ") {
        return Ok(Status::Fine);
    }
    console::complain(body.trim_end().as_bytes());
    Ok(Status::Failed)
}
