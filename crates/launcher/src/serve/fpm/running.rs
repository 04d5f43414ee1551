//! A php-fpm that runs: what it says, and how it is told to end.

use crate::console;
use crate::serve::clock::{ago, from_now, left};
use crate::serve::process::{self, Descriptor};
use rustix::io::{Errno, read};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};
use std::io::{self, PipeReader};
use std::time::{Duration, Instant};

/// What php-fpm says when it is ready.
const READY: &str = "ready to handle connections";

/// The longest line.
const LONGEST: usize = 8 << 10;

pub struct Running {
    pub pid: Pid,
    pub began: Instant,
    pub said: PipeReader,
    line: Vec<u8>,
    pub is_ready: bool,
    pub is_told: bool,
    pub is_killed: bool,
    /// It says no more.
    pub is_silent: bool,
    /// When it is killed.
    pub due: Option<Instant>,
}

/// What is kept of one over an upgrade.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    pid: i32,
    age: Duration,
    said: Descriptor,
    line: Vec<u8>,
    is_ready: bool,
    is_told: bool,
    is_killed: bool,
    due: Option<Duration>,
}

impl Running {
    pub fn keep(&self) -> io::Result<Kept> {
        Ok(Kept {
            pid: self.pid.as_raw_pid(),
            age: self.began.elapsed(),
            said: Descriptor::keep(&self.said)?,
            line: self.line.clone(),
            is_ready: self.is_ready,
            is_told: self.is_told,
            is_killed: self.is_killed,
            due: self.due.map(left),
        })
    }

    /// Goes on with one that was kept, if it is still there.
    pub fn adopt(kept: Kept) -> io::Result<Option<Running>> {
        let said = kept.said.take()?.into();
        let Some(pid) = process::child(kept.pid) else { return Ok(None) };
        Ok(Some(Running {
            line: kept.line,
            is_ready: kept.is_ready,
            is_told: kept.is_told,
            is_killed: kept.is_killed,
            due: kept.due.map(from_now),
            ..Running::new(pid, ago(kept.age), said)
        }))
    }

    pub fn new(pid: Pid, began: Instant, said: PipeReader) -> Running {
        Running {
            pid,
            began,
            said,
            line: Vec::new(),
            is_ready: false,
            is_told: false,
            is_killed: false,
            is_silent: false,
            due: None,
        }
    }

    /// Adds the lines that it has said.
    pub fn listen(&mut self, says: &mut Vec<String>) {
        let mut bytes = [0; 4096];
        loop {
            match read(&self.said, &mut bytes) {
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => {
                    self.is_silent = true;
                    break;
                }
                Ok(count) => self.line.extend_from_slice(&bytes[..count]),
            }
            while let Some(end) = self
                .line
                .iter()
                .position(|byte| *byte == b'\n')
                .or_else(|| (self.line.len() > LONGEST).then_some(LONGEST))
            {
                let line: Vec<_> = self.line.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                self.is_ready |= line.contains(READY);
                if !line.contains("NOTICE: ") {
                    says.push(console::one_line(&format!("php-fpm: {}", line.trim_end())));
                }
            }
        }
    }

    /// Kills it and its processes when it is time, once. Returns `true` if it did.
    pub fn kill_when_due(&mut self, now: Instant) -> bool {
        if self.due.is_none_or(|due| due > now) {
            return false;
        }
        self.due = None;
        self.is_killed = true;
        let _ = kill_process_group(self.pid, Signal::KILL); // it is still there, as it was not waited for
        true
    }

    /// Tells it to finish its requests, once. It may be called again, with an earlier time.
    pub fn tell(&mut self, by: Instant) {
        if self.is_killed {
            return;
        }
        if !self.is_told {
            self.is_told = true;
            let _ = kill_process(self.pid, Signal::QUIT); // it is still there, as it was not waited for
        }
        self.due = Some(self.due.map_or(by, |before| before.min(by)));
    }
}
