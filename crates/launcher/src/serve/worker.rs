//! A worker: a PHP that serves, as the command sees it.
//!
//! ```text
//!   starting ── "ready" ── serving ── "leaving", or told to finish ── leaving ── ended
//! ```

use super::board::Board;
use super::clock::{ago, from_now, left};
use super::limits;
use super::process::{self, Descriptor};
use super::relay::{self, Link};
use super::zygote::Zygote;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long it may take to stop after the grace time: it then cancels its requests, which takes `cancel_grace`, and has to end.
pub const BEYOND: Duration = Duration::from_secs(7);

/// How long its start may take once it was told to stop.
const START: Duration = Duration::from_secs(2);

/// How much is heard of a worker before others: more than its socket holds when it has ended.
const MOST_HEARD: usize = 512 << 10;

/// The longest line: the name of a file, and a word.
const LONGEST_LINE: usize = 8 << 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Stage {
    Starting,
    Serving,
    /// It accepts no more connections.
    Leaving,
}

/// The process of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Process {
    Runs(Pid),
    /// A PHP was asked to fork it, with this number.
    Awaited {
        zygote: Pid,
        number: u64,
    },
}

impl Process {
    /// Whether this PHP has not yet forked it.
    pub fn is_awaited_of(self, from: Pid) -> bool {
        matches!(self, Process::Awaited { zygote, .. } if zygote == from)
    }
}

pub struct Worker {
    /// Its place, from 1: the one that takes over from it has the same.
    pub number: usize,
    /// How many reloads there were before it.
    pub generation: u32,
    /// That on the board.
    pub place: Option<usize>,
    pub process: Process,
    pub stage: Stage,
    pub began: Instant,
    /// How long its requests may take when it is told to finish.
    pub grace: Duration,
    /// When it began to serve.
    pub ready: Option<Instant>,
    /// When it is made to end, which it should have done by itself.
    pub due: Option<Instant>,
    /// It was told to end.
    pub is_told: bool,
    /// It was made to end.
    pub is_pressed: bool,
    /// The app has failed in it, which was logged.
    pub has_failed: bool,
    /// It cannot serve with the options that the command was given.
    pub is_refused: bool,
    /// Another one is to take its place.
    pub is_worn: bool,
    /// It had too much memory when it was last looked at.
    pub is_over_memory: bool,
    /// By how much its limits differ from those of others.
    pub jitter: u64,
    /// When it was asked whether its event loop runs, if it has not answered.
    pub asked: Option<Instant>,
    /// It was asked which requests there are, and has not answered.
    pub owes_requests: bool,
    /// It says nothing any more.
    pub is_silent: bool,
    /// What it publishes, and what others do.
    pub topics: Link,
    /// What it says: lines. And what it is told.
    control: UnixStream,
    said: Vec<u8>,
}

/// What is kept of one over an upgrade.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    number: usize,
    pub place: Option<usize>,
    pid: i32,
    stage: Stage,
    grace: Duration,
    age: Duration,
    served: Option<Duration>,
    due: Option<Duration>,
    is_told: bool,
    is_pressed: bool,
    has_failed: bool,
    control: Descriptor,
    topics: relay::Kept,
    said: Vec<u8>,
}

impl Worker {
    /// `None` if it was not yet forked.
    pub fn keep(&self) -> std::io::Result<Option<Kept>> {
        let Some(pid) = self.pid() else { return Ok(None) };
        Ok(Some(Kept {
            number: self.number,
            place: self.place,
            pid: pid.as_raw_pid(),
            stage: self.stage,
            grace: self.grace,
            age: self.began.elapsed(),
            served: self.ready.map(|ready| ready.elapsed()),
            due: self.due.map(left),
            is_told: self.is_told,
            is_pressed: self.is_pressed,
            has_failed: self.has_failed,
            control: Descriptor::keep(&self.control)?,
            topics: self.topics.keep()?,
            said: self.said.clone(),
        }))
    }

    /// Goes on with one that was kept, as one of this generation, if it is still there.
    pub fn adopt(kept: Kept, generation: u32) -> std::io::Result<Option<Worker>> {
        let control = UnixStream::from(kept.control.take()?);
        let ends = Ends { control, topics: Link::adopt(kept.topics)?, place: kept.place };
        let Some(pid) = process::child(kept.pid) else { return Ok(None) };
        Ok(Some(Worker {
            stage: kept.stage,
            began: ago(kept.age),
            ready: kept.served.map(ago),
            due: kept.due.map(from_now),
            is_told: kept.is_told,
            is_pressed: kept.is_pressed,
            has_failed: kept.has_failed,
            said: kept.said,
            ..Worker::new(Process::Runs(pid), kept.number, generation, kept.grace, ends)
        }))
    }

    /// Starts one.
    ///
    /// # Errors
    /// The program cannot be executed.
    pub fn start(
        mut command: Command,
        number: usize,
        generation: u32,
        grace: Duration,
        sockets: &[OwnedFd],
        board: &mut Board,
    ) -> std::io::Result<Worker> {
        let (ends, its) = Ends::new(board)?;
        command.arg(format!("control={}", its.control.as_raw_fd()));
        command.arg(format!("topics={}", its.topics.as_raw_fd()));
        command.args(ends.board(board));
        let mut inherits = vec![its.control.as_fd(), its.topics.as_fd(), board.file()];
        inherits.extend(sockets.iter().map(OwnedFd::as_fd));
        // The signals of a terminal come to the command only.
        let spawned = process::spawn(command.process_group(0), &inherits);
        let pid = spawned.inspect_err(|_| ends.free(board))?;
        Ok(Worker::new(Process::Runs(pid), number, generation, grace, ends))
    }

    /// Asks a PHP to fork one, with arguments for what it runs.
    ///
    /// # Errors
    /// It cannot be asked.
    pub fn fork(
        zygote: &mut Zygote,
        number: usize,
        grace: Duration,
        arguments: &[OsString],
        board: &mut Board,
    ) -> std::io::Result<Worker> {
        let (ends, its) = Ends::new(board)?;
        let arguments: Vec<_> = arguments.iter().cloned().chain(ends.board(board).map(OsString::from)).collect();
        let asked = zygote.ask(&arguments, [its.control.as_fd(), its.topics.as_fd()]);
        let asked = asked.inspect_err(|_| ends.free(board))?;
        let process = Process::Awaited { zygote: zygote.pid, number: asked };
        Ok(Worker::new(process, number, zygote.generation, grace, ends))
    }

    fn new(process: Process, number: usize, generation: u32, grace: Duration, ends: Ends) -> Worker {
        let Ends { control, topics, place } = ends;
        Worker {
            number,
            generation,
            place,
            process,
            stage: Stage::Starting,
            began: Instant::now(),
            grace,
            ready: None,
            due: None,
            is_told: false,
            is_pressed: false,
            has_failed: false,
            is_refused: false,
            is_worn: false,
            is_over_memory: false,
            jitter: limits::jitter(),
            asked: None,
            owes_requests: false,
            is_silent: false,
            topics,
            control,
            said: Vec::new(),
        }
    }

    /// Returns its process, unless that was not yet forked.
    pub fn pid(&self) -> Option<Pid> {
        match self.process {
            Process::Runs(pid) => Some(pid),
            Process::Awaited { .. } => None,
        }
    }

    /// The number of its process; 0 before there is one.
    pub fn raw_pid(&self) -> i32 {
        self.pid().map_or(0, Pid::as_raw_pid)
    }

    /// It was forked, and hears now what it was told before.
    pub fn is_there(&mut self, pid: Pid) {
        self.process = Process::Runs(pid);
        if self.is_pressed {
            self.press();
        } else if self.is_told {
            self.signal(Signal::TERM);
        }
    }

    /// Can be read when it says something.
    pub fn control(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }

    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            let _ = kill_process(pid, signal); // it is still there, as it was not waited for
        }
    }

    /// Makes it finish its requests.
    pub fn finish(&mut self, now: Instant) {
        self.is_told = true;
        match self.stage {
            Stage::Starting => {
                self.signal(Signal::TERM);
                self.is_due_by(now + START);
            }
            Stage::Serving => {
                let _ = self.control.write_all(b"stop\n"); // it may be gone
                self.is_due_by(now + self.grace + BEYOND);
            }
            Stage::Leaving => {}
        }
    }

    /// Asks whether its event loop runs.
    pub fn ask(&mut self, now: Instant) {
        if self.asked.is_none() {
            self.asked = Some(now);
            let _ = self.control.write_all(b"ask\n"); // it may be gone
        }
    }

    /// Asks which requests there are, but once: its socket has to have room for other words.
    pub fn ask_for_requests(&mut self) {
        if !self.owes_requests {
            self.owes_requests = true;
            let _ = self.control.write_all(b"requests\n"); // it may be gone
        }
    }

    /// Has it open its log again.
    pub fn reopen_log(&mut self) {
        let _ = self.control.write_all(b"reopen\n"); // it may be gone
    }

    pub fn is_due_by(&mut self, time: Instant) {
        self.due = Some(self.due.map_or(time, |before| before.min(time)));
    }

    /// Makes it cancel what still runs. If it does not get to that, a thread of it ends it because of the two signals, with a line that
    /// says where it was.
    pub fn press(&mut self) {
        // First: one that has heard the word may end at once, and no longer catch signals while it does.
        self.signal(Signal::TERM);
        self.signal(Signal::INT);
        let _ = self.control.write_all(b"now\n");
    }

    /// Returns the lines that it has said since. An app can write to the same socket, without end: some are left for later, and a line
    /// that is too long is none.
    pub fn listen(&mut self) -> Vec<Vec<u8>> {
        let mut bytes = [0; 4096];
        let mut left = MOST_HEARD;
        while left > 0
            && let Ok(read) = self.control.read(&mut bytes)
        {
            if read == 0 {
                self.is_silent = true;
                break;
            }
            self.said.extend_from_slice(&bytes[..read]);
            left = left.saturating_sub(read);
        }
        let end = self.said.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let whole: Vec<u8> = self.said.drain(..end).collect();
        if self.said.len() > LONGEST_LINE {
            self.said = Vec::new();
        }
        let lines = whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line.len() <= LONGEST_LINE);
        lines.map(|line| line.trim_ascii().to_vec()).collect()
    }
}

/// This process's ends of what it has in common with a worker.
struct Ends {
    control: UnixStream,
    topics: Link,
    place: Option<usize>,
}

/// The worker's ends.
struct Its {
    control: UnixStream,
    topics: UnixStream,
}

impl Ends {
    fn new(board: &mut Board) -> std::io::Result<(Ends, Its)> {
        let (control, its_control) = UnixStream::pair()?;
        control.set_nonblocking(true)?;
        let (topics, its_topics) = Link::pair()?;
        let ends = Ends { control, topics, place: board.take() };
        Ok((ends, Its { control: its_control, topics: its_topics }))
    }

    /// The argument that tells it its place on the board.
    fn board(&self, board: &Board) -> Option<String> {
        self.place.map(|place| format!("board={},{place}", board.file().as_raw_fd()))
    }

    fn free(&self, board: &mut Board) {
        self.place.into_iter().for_each(|place| board.free(place));
    }
}
