//! What the command says on standard error: whole lines, in their order, written by a thread. Who reads them may have stopped, as a
//! pager does, or a collector of logs whose disk is full. That must not stop the command, which keeps workers alive.

use crate::console;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, write};
use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many may wait. Further ones are lost, until those are written.
const MOST: usize = 200;

/// The size of a line, below that of what a pipe takes whole or not at all (`PIPE_BUF`), as PHP writes to the same one.
const LONGEST: usize = 4000;

/// How long the end of the command waits for the last lines to be taken.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    /// How many were lost after those that wait.
    lost: u64,
    /// How many were lost in all.
    missing: u64,
    is_writing: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Lines that are written one after the other.
pub struct Lines(Arc<Shared>);

impl Lines {
    /// # Errors
    /// There is no room for a thread.
    pub fn begin() -> io::Result<Lines> {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        std::thread::Builder::new().name("lines".to_owned()).spawn(move || its.write())?;
        Ok(Lines(shared))
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
        let mut state = self.0.lock();
        if state.lost > 0 || state.waiting.len() >= MOST {
            state.lost += 1;
            state.missing += 1;
        } else {
            state.waiting.push_back(line.into_bytes());
        }
        self.0.changed.notify_all();
    }

    /// How many were lost so far.
    pub fn missing(&self) -> u64 {
        self.0.lock().missing
    }

    /// Waits until all are written, or until it is clear that no one takes them.
    pub fn finish(&self) {
        let is_busy = |state: &mut State| state.is_writing || !state.waiting.is_empty() || state.lost > 0;
        let waited = self.0.changed.wait_timeout_while(self.0.lock(), PATIENCE, is_busy);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // it is whole after each statement
    }

    /// Writes for ever.
    fn write(&self) {
        loop {
            let line = self.next();
            let is_written = write_whole(&line);
            let mut state = self.lock();
            state.is_writing = false;
            state.missing += u64::from(!is_written);
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits for the next line, and takes it.
    fn next(&self) -> Vec<u8> {
        let is_idle = |state: &mut State| state.waiting.is_empty() && state.lost == 0;
        let mut state = self.changed.wait_while(self.lock(), is_idle).unwrap_or_else(PoisonError::into_inner);
        state.is_writing = true;
        state.waiting.pop_front().unwrap_or_else(|| {
            let lost = std::mem::take(&mut state.lost);
            let lines = if lost == 1 { "line is" } else { "lines are" };
            format!("spindle: {lost} {lines} missing here, as no one has read standard error\n").into_bytes()
        })
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
