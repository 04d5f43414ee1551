//! The life of PHP: it is started, told to stop, and started again whenever it ends unasked. The next one begins while another one
//! still answers, if that has said that it accepts no more connections.
//!
//! ```text
//!   started ── "ready" ── serves ── "leaving" ── finishes its requests ── ended
//!      │                    └─ a reload: the next one is ready, so this one is told to stop ─┘
//!      └─ ended before: the command fails if none has ever been ready, else it is tried again, at growing intervals
//! ```

use super::signals::Signals;
use super::sockets::Sockets;
use crate::console::{self, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The statuses with which PHP is to be started again, as in `serve.php`: a file has changed, or the app has ended it.
const CHANGED: i32 = 75;
const DIED: i32 = 76;

/// How long PHP may take to stop after the grace time: it then cancels its requests, which takes `cancel_grace`.
const BEYOND: Duration = Duration::from_secs(5);

/// How long requests that are cancelled immediately may take.
const AT_ONCE: Duration = Duration::from_secs(10);

/// How long PHP may take to say where it is, and end, before it is killed. It says so after some two seconds.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long the start of PHP may take once it was told to stop.
const START: Duration = Duration::from_secs(2);

/// How long it may take otherwise when one has served before, or this many times as long as the slowest of those.
const LONGEST_START: Duration = Duration::from_secs(60);
const TIMES_AS_SLOW: u32 = 4;

/// How many may finish their requests at a time: each takes the memory of a PHP, and every fatal error leaves another one.
const MOST_LEAVING: usize = 4;

/// The time between the starts of two that have served.
const REST: Duration = Duration::from_millis(200);

/// The same for apps that end while they are developed.
const DEVELOPMENT_REST: Duration = Duration::from_secs(1);

/// The pause after PHP's first failure to start, and the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// How often files are checked while an app in development loads.
const LOOK: Duration = Duration::from_secs(1);

/// What changes when a file does: its number, and when that was.
type Version = Option<(u64, i64, i64)>;

/// What is kept alive, and how.
pub struct Plan<'a> {
    /// PHP, as it serves at these addresses.
    pub command: &'a dyn Fn(&[OsString]) -> Command,
    pub app: &'a Path,
    pub grace: Duration,
    pub is_dev: bool,
    pub has_tls: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Starting,
    Serving,
    /// It accepts no more connections.
    Leaving,
}

struct Php {
    child: Child,
    /// What it says: lines. And what it is told.
    control: UnixStream,
    said: Vec<u8>,
    /// It says nothing any more.
    is_silent: bool,
    stage: Stage,
    began: Instant,
    /// When it is made to end, which it should have done by itself.
    due: Option<Instant>,
    /// It was told to end.
    is_told: bool,
    /// It was made to end.
    is_pressed: bool,
}

impl Php {
    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process(pid, signal); // it is still there, as it was not waited for
        }
    }

    /// Makes it finish its requests.
    fn finish(&mut self, now: Instant, grace: Duration) {
        self.is_told = true;
        match self.stage {
            Stage::Starting => {
                self.signal(Signal::TERM);
                self.is_due_by(now + START);
            }
            Stage::Serving => {
                let _ = self.control.write_all(b"stop\n"); // it may be gone
                self.is_due_by(now + grace + BEYOND);
            }
            Stage::Leaving => {}
        }
    }

    fn is_due_by(&mut self, time: Instant) {
        self.due = Some(self.due.map_or(time, |before| before.min(time)));
    }

    /// Makes it cancel what still runs. If it does not get to that, a thread of it ends it because of the two signals, with a line that
    /// says where it was.
    fn press(&mut self) {
        let _ = self.control.write_all(b"now\n");
        self.signal(Signal::TERM);
        self.signal(Signal::INT);
    }
}

pub struct Keeper<'a> {
    plan: &'a Plan<'a>,
    signals: Signals,
    /// Until the command is told to stop.
    sockets: Option<Sockets>,
    all: Vec<Php>,
    /// When PHP is started, if there is no other one.
    start_at: Option<Instant>,
    /// One was ready.
    has_served: bool,
    /// How many have ended since, before they were ready.
    failures: u32,
    /// The longest time that one has taken to be ready.
    slowest: Duration,
    stopping: Option<Status>,
    /// It was told to stop for the second time: when all are made to end.
    at_once: Option<Instant>,
    /// Its end ends this command.
    has_terminal: bool,
    looked: Instant,
    /// The files of an app that is being developed, as far as they are known, and their versions when PHP began.
    files: BTreeMap<PathBuf, Version>,
    /// What a PHP that could not go on leaves for the next one.
    state: Option<tempfile::NamedTempFile>,
}

/// Serves until it is stopped.
pub fn keep(plan: &Plan<'_>, sockets: Sockets) -> Result<Status, String> {
    let temporary =
        || tempfile::NamedTempFile::new().map_err(|error| format!("no temporary file: {}", console::reason(&error)));
    let mut keeper = Keeper {
        plan,
        signals: Signals::catch()?,
        sockets: Some(sockets),
        all: Vec::new(),
        start_at: None,
        has_served: false,
        failures: 0,
        slowest: Duration::ZERO,
        stopping: None,
        at_once: None,
        has_terminal: std::io::stdin().is_terminal(),
        looked: Instant::now(),
        files: BTreeMap::from([(plan.app.to_path_buf(), None)]),
        state: plan.is_dev.then(temporary).transpose()?,
    };
    keeper.start()?;
    loop {
        keeper.wait();
        for signal in keeper.signals.take() {
            keeper.signalled(signal);
        }
        keeper.listen();
        keeper.reap();
        keeper.press();
        if keeper.all.is_empty()
            && let Some(status) = keeper.stopping
        {
            return Ok(status);
        }
        if keeper.start_at.is_some_and(|at| at <= Instant::now()) {
            keeper.start_again()?;
        }
    }
}

impl Keeper<'_> {
    fn start(&mut self) -> Result<(), String> {
        self.start_at = None;
        let Some(sockets) = &self.sockets else { return Ok(()) };
        let mut command = (self.plan.command)(&sockets.names);
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |error: std::io::Error| format!("{program}: {}", console::reason(&error));
        let (control, its) = UnixStream::pair().map_err(failed)?;
        control.set_nonblocking(true).map_err(failed)?;
        fcntl_setfd(&its, FdFlags::empty()).map_err(|error| failed(error.into()))?;
        command.arg(format!("control={}", its.as_raw_fd()));
        if let Some(state) = &self.state {
            let mut argument = OsString::from("state=");
            argument.push(state.path());
            command.arg(argument);
        }
        if self.has_terminal {
            command.stdin(Stdio::null()); // only the group of this process may read from it
        }
        // The signals of a terminal come here only.
        let child = command.process_group(0).spawn().map_err(failed)?;
        let began = Instant::now();
        // While it is developed, a debugger may hold it; and how long the first one takes is not known.
        let is_bounded = self.has_served && !self.plan.is_dev;
        self.looked = began;
        self.files.iter_mut().for_each(|(file, seen)| *seen = version(file));
        self.all.push(Php {
            child,
            control,
            said: Vec::new(),
            is_silent: false,
            stage: Stage::Starting,
            began,
            due: is_bounded.then(|| began + LONGEST_START.max(self.slowest * TIMES_AS_SLOW)),
            is_told: false,
            is_pressed: false,
        });
        Ok(())
    }

    /// Starts PHP. Once one has served, it is tried again if that fails: what is missing may come back.
    fn start_again(&mut self) -> Result<(), String> {
        match self.start() {
            Err(why) if self.has_served => {
                self.failed(&format!("cannot be started: {}", console::one_line(&why)));
                Ok(())
            }
            result => result,
        }
    }

    /// Goes on after a PHP that did not get as far as to serve.
    fn failed(&mut self, how: &str) {
        if self.is_any(Stage::Serving) {
            console::complain(format!("spindle: the new PHP {how}: the old one goes on").as_bytes());
            return;
        }
        let pause = (FIRST_PAUSE * 2u32.saturating_pow(self.failures)).min(LONGEST_PAUSE);
        self.failures = (self.failures + 1).min(16);
        let seconds = pause.as_secs_f32();
        console::complain(format!("spindle: PHP {how}: starting it again in {seconds} seconds").as_bytes());
        self.start_after(Instant::now() + pause);
    }

    fn is_any(&self, stage: Stage) -> bool {
        self.all.iter().any(|php| php.stage == stage)
    }

    /// Waits until something is to be done.
    fn wait(&self) {
        let look = (self.plan.is_dev && self.is_any(Stage::Starting)).then(|| self.looked + LOOK);
        let next = self.all.iter().filter_map(|php| php.due).chain(self.start_at).chain(look).min();
        let timeout =
            next.map(|at| Timespec::try_from(at.saturating_duration_since(Instant::now())).unwrap_or_default());
        let readable = |stream| PollFd::from_borrowed_fd(stream, PollFlags::IN);
        let mut ready = vec![readable(self.signals.wakes.as_fd())];
        ready.extend(self.all.iter().filter(|php| !php.is_silent).map(|php| readable(php.control.as_fd())));
        let _ = poll(&mut ready, timeout.as_ref()); // interrupted by a signal; any other failure costs a needless check
    }

    fn signalled(&mut self, signal: i32) {
        let again = self.stopping.is_some();
        match signal {
            SIGTERM | SIGINT if again => {
                let by = Instant::now() + AT_ONCE;
                self.at_once.get_or_insert(by);
                for php in &mut self.all {
                    php.press();
                    php.is_due_by(by);
                }
            }
            SIGTERM | SIGINT | SIGQUIT => self.stop(),
            SIGHUP if self.plan.is_dev || self.has_terminal => self.stop(),
            SIGHUP if self.plan.has_tls => {
                self.all.iter().filter(|php| php.stage == Stage::Serving).for_each(|php| php.signal(Signal::HUP));
            }
            SIGHUP | SIGUSR2 => self.reload(),
            SIGUSR1 => console::complain(
                b"spindle: there are no log files to open again: logs go to standard output and error",
            ),
            _ => {}
        }
    }

    fn stop(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        self.stopping = Some(Status::Fine);
        self.start_at = None;
        // Clients are refused from now on, rather than left waiting for an answer that never comes.
        self.sockets = None;
        let now = Instant::now();
        self.all.iter_mut().for_each(|php| php.finish(now, self.plan.grace));
    }

    /// Has another PHP take over.
    fn reload(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        console::complain(b"spindle: starting PHP anew; requests that run are answered by the old one");
        let now = Instant::now();
        if self.is_any(Stage::Starting) {
            // It has read older code, and may never get ready with that. The next one begins when it has ended.
            let starting = self.all.iter_mut().filter(|php| php.stage == Stage::Starting);
            starting.for_each(|php| php.finish(now, self.plan.grace));
        } else {
            self.start_at = Some(now);
        }
    }

    /// Takes what they say.
    fn listen(&mut self) {
        for place in 0..self.all.len() {
            let php = &mut self.all[place];
            let mut bytes = [0; 256];
            while let Ok(read) = php.control.read(&mut bytes) {
                php.said.extend_from_slice(&bytes[..read]);
                if read == 0 {
                    php.is_silent = true;
                    break;
                }
            }
            while let Some(end) = self.all[place].said.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.all[place].said.drain(..=end).collect();
                self.heard(place, line.trim_ascii());
            }
        }
    }

    fn heard(&mut self, place: usize, line: &[u8]) {
        let now = Instant::now();
        match (line, self.all[place].stage) {
            (b"ready", Stage::Starting) => {
                self.has_served = true;
                self.failures = 0;
                let at_once = self.at_once;
                let php = &mut self.all[place];
                php.stage = Stage::Serving;
                php.due = at_once; // the deadline of its start no longer applies
                self.slowest = self.slowest.max(now - php.began);
                if php.is_told || php.is_pressed {
                    php.finish(now, self.plan.grace);
                    if self.stopping.is_none() {
                        php.stage = Stage::Leaving;
                        self.start_at = Some(now); // also if another one still serves
                    }
                    return;
                }
                let others = self.all.iter_mut().enumerate().filter(|(other, _)| *other != place);
                for php in others.map(|(_, php)| php).filter(|php| php.stage == Stage::Serving) {
                    php.finish(now, self.plan.grace);
                    php.stage = Stage::Leaving;
                }
            }
            (_, stage) if line.starts_with(b"file ") && stage != Stage::Leaving => {
                let file = PathBuf::from(OsStr::from_bytes(&line[5..]));
                let seen = version(&file);
                self.files.insert(file, seen);
            }
            (b"leaving", Stage::Serving) if self.stopping.is_none() => {
                let php = &mut self.all[place];
                php.stage = Stage::Leaving;
                php.is_due_by(now + self.plan.grace + BEYOND);
                self.start_after(self.all[place].began + REST);
            }
            _ => {}
        }
    }

    /// Has PHP started then, unless another one serves or starts.
    fn start_after(&mut self, time: Instant) {
        if self.stopping.is_none() && !self.is_any(Stage::Serving) && !self.is_any(Stage::Starting) {
            self.start_at = Some(time.max(Instant::now()));
        }
    }

    /// Checks which processes have ended.
    fn reap(&mut self) {
        let mut place = 0;
        while place < self.all.len() {
            // It fails if there is no such process.
            let Some(status) = self.all[place].child.try_wait().unwrap_or_else(|_| Some(ExitStatus::default())) else {
                place += 1;
                continue;
            };
            self.listen(); // to its last words
            let php = self.all.remove(place);
            self.ended(&php, status);
        }
    }

    fn ended(&mut self, php: &Php, status: ExitStatus) {
        if let Some(so_far) = self.stopping {
            // One that has not begun to serve was ended by a signal.
            let is_made_to_end = php.is_pressed || self.at_once.is_some();
            let is_fine = match php.stage {
                Stage::Starting => status.success() || !php.is_pressed,
                Stage::Serving => status.success(),
                // That an error has ended it was said before.
                Stage::Leaving => status.success() || !is_made_to_end,
            };
            let is_expected = is_fine || matches!(status.code(), Some(CHANGED | DIED));
            self.stopping = Some(if is_expected && so_far == Status::Fine { Status::Fine } else { Status::Failed });
            return;
        }
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with status {code}"),
            (None, signal) => format!("was ended by signal {}", signal.unwrap_or(0)),
        };
        match (php.stage, status.code()) {
            (Stage::Leaving, _) => {}
            (_, Some(CHANGED)) => self.start_after(Instant::now()),
            (_, Some(DIED)) => self.start_after(php.began + DEVELOPMENT_REST),
            (Stage::Starting, _) if php.is_told => self.start_at = Some(Instant::now()), // it was to start anew
            (Stage::Starting, code) if self.plan.is_dev || !self.has_served => {
                if code.is_none() {
                    console::complain(format!("spindle: PHP {how} before it could serve").as_bytes());
                }
                self.stopping = Some(Status::Failed);
            }
            (Stage::Starting, _) => self.failed(&format!("{how} before it could serve")),
            (Stage::Serving, _) => {
                console::complain(format!("spindle: PHP {how}: starting it again").as_bytes());
                let rest = if self.plan.is_dev { DEVELOPMENT_REST } else { REST };
                self.start_after(php.began + rest);
            }
        }
    }

    /// Ends those that should have ended.
    fn press(&mut self) {
        let now = Instant::now();
        if self.plan.is_dev && now >= self.looked + LOOK {
            self.looked = now;
            for php in self.all.iter_mut().filter(|php| php.stage == Stage::Starting && !php.is_told) {
                if let Some((file, _)) = self.files.iter().find(|(file, seen)| version(file) != **seen) {
                    console::complain(format!("{} has changed: starting again", file.display()).as_bytes());
                    php.finish(now, Duration::ZERO);
                }
            }
        }
        // The oldest ones come first.
        let too_many = self.all.iter().filter(|php| php.stage == Stage::Leaving).count().saturating_sub(MOST_LEAVING);
        let leaving = self.all.iter_mut().filter(|php| php.stage == Stage::Leaving);
        leaving.take(too_many).filter(|php| !php.is_pressed).for_each(|php| php.is_due_by(now));
        for php in self.all.iter_mut().filter(|php| php.due.is_some_and(|due| due <= now)) {
            if php.stage == Stage::Starting && !php.is_told && !php.is_pressed {
                let seconds = (now - php.began).as_secs();
                console::complain(format!("spindle: PHP is not ready after {seconds} seconds: it is ended").as_bytes());
            }
            if php.is_pressed {
                console::complain(b"spindle: PHP does not end: it is killed");
                php.signal(Signal::KILL);
                php.due = None;
            } else {
                php.press();
                php.is_pressed = true;
                php.due = Some(now + LAST_WORDS);
            }
        }
    }
}

/// Returns a value that changes when a file does.
fn version(file: &Path) -> Version {
    let found = file.metadata().ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}
