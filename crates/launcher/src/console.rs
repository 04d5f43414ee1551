//! What is printed, and how the program ends.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Fine,
    /// Something is wrong with a file, or cannot be written.
    Failed,
    /// It was called in a wrong way.
    Usage,
    /// Nobody reads the output any more. What a shell says of a filter that ends by SIGPIPE, which Rust's programs ignore.
    BrokenPipe,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Fine => 0,
            Status::Failed => 1,
            Status::Usage => 2,
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

/// Writes a line to standard error. Where that cannot be written to, there is no place left to say so; the status tells.
pub fn complain(line: &[u8]) {
    let _ = io::stderr().write_all(&[line, b"\n"].concat());
}

/// What went wrong, in the system's words, without Rust's number behind them.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().map(|code| format!(" (os error {code})")).unwrap_or_default();
    text.strip_suffix(&number).unwrap_or(&text).to_string()
}

/// A message may quote a program's text: it stays on its line, and a terminal obeys nothing of it.
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
