//! Output, and the status of the process.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// The exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Fine,
    /// A file has an error, or cannot be written.
    Failed,
    /// The arguments are wrong.
    Usage,
    /// A command can take over from the one that has asked it.
    TakesOver,
    /// The reader of the output has closed it: the status that a shell reports for SIGPIPE, which Rust's programs ignore.
    BrokenPipe,
}

/// What no other program ends with to say that all is well.
pub const TAKES_OVER: u8 = 111;

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Fine => 0,
            Status::Failed => 1,
            Status::Usage => 2,
            Status::TakesOver => TAKES_OVER,
            Status::BrokenPipe => 128 + 13,
        })
    }
}

/// Writes to standard output.
pub fn print(text: &[u8]) -> Status {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Ok(()) => Status::Fine,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Status::BrokenPipe,
        Err(error) => {
            complain(format!("spindle: standard output: {}", reason(&error)).as_bytes());
            Status::Failed
        }
    }
}

/// Writes a line to standard error. If that fails, only the status reports the error.
pub fn complain(line: &[u8]) {
    let _ = io::stderr().write_all(&[line, b"\n"].concat());
}

/// The system's message for an error, without the number that Rust appends.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().map(|code| format!(" (os error {code})")).unwrap_or_default();
    text.strip_suffix(&number).unwrap_or(&text).to_string()
}

/// Escapes control characters, for a message may quote source text and must stay on its line.
pub fn one_line(message: &str) -> String {
    message.chars().fold(String::with_capacity(message.len()), |mut line, c| {
        if c.is_control() {
            let _ = write!(line, "{}", c.escape_default()); // a String takes everything
        } else {
            line.push(c);
        }
        line
    })
}
