//! What the command says on standard error: whole lines, in their order, written by a thread. Who reads them may have stopped, which must
//! not stop the command: it keeps workers alive.

use crate::console;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, write};
use spindle_inbox::lines::{self, Writer};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// How many may wait: they are few.
const MOST: usize = 200;

/// The size of a line, below that of what a pipe takes whole or not at all (`PIPE_BUF`), as PHP writes to the same one.
const LONGEST: usize = 4000;

/// How long the end of the command waits for the last lines to be taken.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Lines that are written one after the other.
pub struct Lines(lines::Lines);

impl Lines {
    /// # Errors
    /// There is no room for a thread.
    pub fn begin() -> io::Result<Lines> {
        let missing = |lost| {
            let lines = if lost == 1 { "line is" } else { "lines are" };
            format!("spindle: {lost} {lines} missing here, as standard error was not read in time\n").into_bytes()
        };
        lines::Lines::begin("lines", Writer { most: MOST, write: write_whole, missing: Box::new(missing) }).map(Lines)
    }

    /// Says a line, which may be long and have any characters in it: it stays one line.
    pub fn say(&self, line: &str) {
        let mut line = console::one_line(line);
        if line.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
            line.truncate(end);
            line.push('…');
        }
        line.push('\n');
        self.0.say(line.into_bytes(), Duration::ZERO);
    }

    /// How many were lost so far.
    pub fn missing(&self) -> u64 {
        self.0.missing()
    }

    /// Waits until all are written, for this long at most: no one may take them.
    pub fn finish(&self, patience: Duration) {
        self.0.finish(patience);
    }
}

/// Writes to standard error, however long that takes. Returns `false` if it fails, as when its reader is gone, or a disk is full.
fn write_whole(mut bytes: &[u8]) -> bool {
    let error = io::stderr();
    while !bytes.is_empty() {
        match write(&error, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            // Another program has the same pipe in this mode.
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::from_borrowed_fd(error.as_fd(), PollFlags::OUT)], None)),
            Err(_) => return false,
        }
    }
    true
}
