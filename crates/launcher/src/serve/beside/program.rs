//! A process beside the server, as the command sees it.
//!
//! ```text
//!   waiting ── it is time ── running ── told to end, for a reload or the end of the command ── ending ── waiting, or the end
//!      └───────────── ended by itself ──┘
//! ```

use super::options::{Kind, Specified, executable};
use crate::console;
use crate::serve::clock::{ago, from_now, left};
use crate::serve::process;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The pause before a program is started again, and the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A program that has failed earlier than this, or ended, has the pause doubled.
const EARLY_FAILURE: Duration = Duration::from_secs(10);
const EARLY_END: Duration = Duration::from_secs(1);

struct Running {
    pid: Pid,
    began: Instant,
    /// It was told to end.
    is_told: bool,
    /// When it is killed.
    due: Option<Instant>,
}

pub struct Program {
    specified: Specified,
    /// Its place, from 1.
    number: usize,
    running: Option<Running>,
    /// When it is started, if it may be.
    next: Option<Instant>,
    /// How many times in a row it has ended early.
    early: u32,
    starts: u64,
    restarts: u64,
    failures: u64,
    /// Lines that are still to be said.
    pub says: Vec<String>,
}

/// What is kept of one over an upgrade.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    name: String,
    number: usize,
    running: Option<KeptRunning>,
    next: Option<Duration>,
    early: u32,
    starts: u64,
    restarts: u64,
    failures: u64,
}

#[derive(Serialize, Deserialize)]
struct KeptRunning {
    pid: i32,
    age: Duration,
    is_told: bool,
    due: Option<Duration>,
}

/// What is told of it.
#[derive(Serialize)]
pub struct Told<'a> {
    pub name: &'a str,
    pub number: usize,
    pub every_seconds: Option<u64>,
    pub pid: Option<i32>,
    pub stage: &'static str,
    /// Since it was started.
    pub seconds: f64,
    pub starts: u64,
    pub restarts: u64,
    pub failures: u64,
}

impl Program {
    pub fn new(specified: Specified, number: usize) -> Program {
        Program {
            specified,
            number,
            running: None,
            next: None,
            early: 0,
            starts: 0,
            restarts: 0,
            failures: 0,
            says: Vec::new(),
        }
    }

    pub fn keep(&self) -> Kept {
        Kept {
            name: self.specified.name.clone(),
            number: self.number,
            running: self.running.as_ref().map(|running| KeptRunning {
                pid: running.pid.as_raw_pid(),
                age: running.began.elapsed(),
                is_told: running.is_told,
                due: running.due.map(left),
            }),
            next: self.next.map(left),
            early: self.early,
            starts: self.starts,
            restarts: self.restarts,
            failures: self.failures,
        }
    }

    /// Goes on where the one before the upgrade was, if that was this one.
    pub fn adopt(&mut self, kept: &Kept) {
        if (&kept.name, kept.number) != (&self.specified.name, self.number) {
            return;
        }
        let running = kept.running.as_ref().and_then(|running| Some((running, process::child(running.pid)?)));
        let is_lost = kept.running.is_some() && running.is_none() && self.specified.kind == Kind::Run;
        self.running = running.map(|(running, pid)| Running {
            pid,
            began: ago(running.age),
            is_told: running.is_told,
            due: running.due.map(from_now),
        });
        self.next = if is_lost { Some(Instant::now()) } else { kept.next.map(from_now) };
        (self.early, self.starts, self.restarts, self.failures) =
            (kept.early, kept.starts, kept.restarts, kept.failures);
    }

    pub fn told(&self) -> Told<'_> {
        Told {
            name: &self.specified.name,
            number: self.number,
            every_seconds: match self.specified.kind {
                Kind::Run => None,
                Kind::Every(interval) => Some(interval.as_secs()),
            },
            pid: self.running.as_ref().map(|running| running.pid.as_raw_pid()),
            stage: match &self.running {
                None => "waiting",
                Some(running) if running.is_told => "ending",
                Some(_) => "running",
            },
            seconds: self.running.as_ref().map_or(0.0, |running| running.began.elapsed().as_secs_f64()),
            starts: self.starts,
            restarts: self.restarts,
            failures: self.failures,
        }
    }

    /// How lines name it.
    fn shown(&self) -> String {
        let name = &self.specified.name;
        if self.specified.count == 1 { name.clone() } else { format!("{name} {}", self.number) }
    }

    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub fn is(&self, pid: Pid) -> bool {
        self.running.as_ref().is_some_and(|running| running.pid == pid)
    }

    /// Returns when something is to be done.
    pub fn due(&self) -> Option<Instant> {
        self.next.into_iter().chain(self.running.as_ref().and_then(|running| running.due)).min()
    }

    /// The server serves.
    pub fn begin(&mut self, now: Instant) {
        self.next = Some(match self.specified.kind {
            Kind::Run => now,
            Kind::Every(interval) => now + interval,
        });
    }

    /// There is new code: it ends, and begins with that. A run that is made now and then ends by itself.
    pub fn reload(&mut self, now: Instant, by: Instant) {
        if self.specified.kind != Kind::Run {
            return;
        }
        self.early = 0; // what failed may work now
        match &mut self.running {
            None => self.next = self.next.map(|_| now),
            Some(running) => running.tell(by),
        }
    }

    /// It ends, and is not started again. A run that is made now and then is waited for.
    pub fn stop(&mut self, by: Instant) {
        self.next = None;
        if let Some(running) = &mut self.running {
            if self.specified.kind == Kind::Run {
                running.tell(by);
            }
            running.is_due_by(by);
        }
    }

    /// It should have ended.
    pub fn is_late(&self, now: Instant) -> bool {
        self.running.as_ref().and_then(|running| running.due).is_some_and(|due| due <= now)
    }

    pub fn kill(&mut self) {
        if let Some(running) = &mut self.running {
            running.due = None;
            let _ = kill_process_group(running.pid, Signal::KILL); // it is still there, as it was not waited for
            self.says.push(format!("spindle: {} does not end: it is killed", self.shown()));
        }
    }

    /// Starts it if it is time.
    pub fn turn(&mut self, now: Instant, folder: &Path, start: impl Fn(&mut Command) -> io::Result<Pid>) {
        if let Some(time) = self.next.filter(|time| *time <= now) {
            self.next = match self.specified.kind {
                Kind::Run => None,
                Kind::Every(interval) => Some(after(time, interval, now)),
            };
            if self.running.is_none() {
                self.start(now, folder, start);
            }
        }
    }

    fn start(&mut self, now: Instant, folder: &Path, start: impl Fn(&mut Command) -> io::Result<Pid>) {
        match self.spawn(folder, start) {
            Ok(pid) => {
                self.starts += 1;
                self.running = Some(Running { pid, began: now, is_told: false, due: None });
            }
            Err(why) => self.failed(now, &format!("cannot be started: {why}")),
        }
    }

    fn spawn(&self, folder: &Path, start: impl Fn(&mut Command) -> io::Result<Pid>) -> Result<Pid, String> {
        let words = &self.specified.words;
        // Looked for whenever it is started: a deployment may have replaced it.
        let program = executable(&words[0], folder).ok_or_else(|| no_program(&self.specified))?;
        let mut command = Command::new(program);
        command.arg0(&words[0]).args(&words[1..]).stdin(Stdio::null());
        for name in process::VARIABLES {
            command.env_remove(name);
        }
        // The signals of a terminal come to the command only.
        start(command.process_group(0)).map_err(|error| console::reason(&error))
    }

    /// It has ended.
    pub fn ended(&mut self, now: Instant, status: ExitStatus, is_stopping: bool) {
        let Some(running) = self.running.take() else { return };
        let how = process::how(status);
        if is_stopping && self.specified.kind == Kind::Run {
            return;
        }
        if running.is_told {
            self.says.push(format!("spindle: {} {how}: starting it with the new code", self.shown()));
            self.restarts += 1;
            self.next = Some(now);
            return;
        }
        let lived = now - running.began;
        if lived >= if status.success() { EARLY_END } else { EARLY_FAILURE } {
            self.early = 0;
        }
        match self.specified.kind {
            Kind::Every(_) if status.success() => {}
            _ if status.success() => self.again(now, &how),
            _ => self.failed(now, &how),
        }
    }

    fn failed(&mut self, now: Instant, how: &str) {
        self.failures += 1;
        if let Kind::Every(_) = self.specified.kind {
            self.says.push(format!("spindle: {} {how}", self.shown()));
        } else {
            self.again(now, how);
        }
    }

    /// Has it started again after a pause.
    fn again(&mut self, now: Instant, how: &str) {
        let pause = (FIRST_PAUSE * 2u32.saturating_pow(self.early)).min(LONGEST_PAUSE);
        self.early = (self.early + 1).min(16);
        self.restarts += 1;
        self.next = Some(now + pause);
        let seconds = pause.as_secs_f32();
        self.says.push(format!("spindle: {} {how}: starting it again in {seconds} seconds", self.shown()));
    }
}

impl Running {
    /// Tells it to end, once.
    fn tell(&mut self, by: Instant) {
        if !self.is_told {
            self.is_told = true;
            let _ = kill_process(self.pid, Signal::TERM); // it is still there, as it was not waited for
        }
        self.is_due_by(by);
    }

    fn is_due_by(&mut self, time: Instant) {
        self.due = Some(self.due.map_or(time, |before| before.min(time)));
    }
}

/// Why a program cannot be started.
pub fn no_program(specified: &Specified) -> String {
    format!("there is no program '{}'", specified.words[0].to_string_lossy())
}

/// Returns the next time, of those that are this far apart, that is later than now: what was missed is not made up for.
fn after(time: Instant, interval: Duration, now: Instant) -> Instant {
    let passed = (now - time).as_nanos() / interval.as_nanos() + 1;
    time + interval * u32::try_from(passed).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Kind, Program, Running, Specified, after};
    use rustix::process::getpid;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;
    use std::time::{Duration, Instant};

    const SECOND: Duration = Duration::from_secs(1);

    fn program(kind: Kind) -> Program {
        Program::new(Specified { name: "queue".into(), kind, count: 1, words: vec!["queue".into()] }, 1)
    }

    /// Has it live this long, and returns the pause until the next start, if there is one.
    fn pause(program: &mut Program, lived: Duration, status: i32) -> Option<Duration> {
        let began = Instant::now();
        program.running = Some(Running { pid: getpid(), began, is_told: false, due: None });
        program.ended(began + lived, ExitStatus::from_raw(status << 8), false);
        program.next.map(|next| next - (began + lived))
    }

    #[test]
    fn pauses_grow_until_it_has_lived() {
        let mut program = program(Kind::Run);
        let mut pauses = |lived, status, times: usize| -> Vec<_> {
            (0..times).map(|_| pause(&mut program, lived, status).unwrap().as_millis()).collect()
        };
        assert_eq!(
            pauses(SECOND * 9, 1, 12),
            [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000]
        );
        assert_eq!(pauses(SECOND * 10, 1, 2), [100, 100]);
        assert_eq!(pauses(SECOND / 2, 0, 2), [200, 400]);
        assert_eq!(pauses(SECOND, 0, 2), [100, 100]);
        assert_eq!((program.restarts, program.failures), (18, 14));
    }

    #[test]
    fn a_reload_ends_the_pause() {
        let (mut program, now) = (program(Kind::Run), Instant::now());
        program.reload(now, now);
        assert_eq!(program.due(), None, "before it has begun");
        for _ in 0..9 {
            pause(&mut program, SECOND, 1);
        }
        program.reload(now, now);
        assert_eq!(program.due(), Some(now));
        assert_eq!(pause(&mut program, SECOND, 1), Some(SECOND / 10));
    }

    #[test]
    fn a_stop_is_final() {
        let (mut program, now) = (program(Kind::Run), Instant::now());
        pause(&mut program, SECOND, 1);
        program.stop(now);
        assert_eq!(program.due(), None);
        let mut every = self::program(Kind::Every(SECOND));
        every.begin(now);
        assert_eq!(every.due(), Some(now + SECOND));
        every.stop(now);
        assert_eq!(every.due(), None);
    }

    #[test]
    fn a_reload_leaves_the_times_of_runs_alone() {
        let (mut every, now) = (program(Kind::Every(SECOND)), Instant::now());
        every.begin(now);
        every.reload(now, now);
        assert_eq!(every.due(), Some(now + SECOND));
        assert!(pause(&mut every, SECOND / 2, 1).is_some());
        assert_eq!(every.due(), Some(now + SECOND));
        assert_eq!((every.restarts, every.failures), (0, 1));
    }

    #[test]
    fn times_that_were_missed_are_left_out() {
        let time = Instant::now();
        assert_eq!(after(time, SECOND, time), time + SECOND);
        assert_eq!(after(time, SECOND, time + SECOND * 5 / 2), time + SECOND * 3);
        assert_eq!(after(time, SECOND, time + SECOND * 3), time + SECOND * 4);
    }
}
