//! The life of the workers: each is started, told to stop, and replaced whenever it ends unasked. The next one begins while another one
//! still answers, if that has said that it accepts no more connections.
//!
//! A reload begins a generation. All of its workers are ready before those of the one before are told to stop; if one of them does not
//! get ready, the new generation is told to stop instead. Of a generation that is not yet known to boot, one worker begins alone: what
//! is wrong is said once.

use super::admin::{Admin, Answer, Question};
use super::board::Board;
use super::limits::{INTERVAL, Limits};
use super::process;
use super::report::{self, History, Told};
use super::signals::Signals;
use super::sockets::Sockets;
use super::worker::{BEYOND, Stage, Worker};
use crate::console::{self, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The statuses with which PHP is to be started again, as in `serve.php`: a file has changed, or the app has ended it.
const CHANGED: i32 = 75;
const DIED: i32 = 76;

/// How long requests that are cancelled immediately may take.
const AT_ONCE: Duration = Duration::from_secs(10);

/// How long PHP may take to say where it is, and end, before it is killed. It says so after some two seconds.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long it may take otherwise when one has served before, or this many times as long as the slowest of those.
const LONGEST_START: Duration = Duration::from_secs(60);
const TIMES_AS_SLOW: u32 = 4;

/// How many may finish their requests at a time, for each that serves: they take the memory of a PHP, and every fatal error leaves
/// another one.
const MOST_LEAVING: usize = 4;

/// The time between the starts of two that have served.
const REST: Duration = Duration::from_millis(200);

/// The same for apps that end while they are developed.
const DEVELOPMENT_REST: Duration = Duration::from_secs(1);

/// The pause after the first failure to start, and the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How often files are checked while an app in development loads.
const LOOK: Duration = Duration::from_secs(1);

/// What changes when a file does: its number, and when that was.
type Version = Option<(u64, i64, i64)>;

/// What is kept alive, and how.
pub struct Plan<'a> {
    /// PHP, as it serves at these addresses.
    pub command: &'a dyn Fn(&[OsString]) -> Result<Command, String>,
    pub app: &'a Path,
    /// How many serve.
    pub workers: usize,
    /// How many may end, one after the other, before the first one ever is ready.
    pub attempts: u32,
    pub limits: Limits,
    pub grace: Duration,
    pub is_dev: bool,
    pub has_log_file: bool,
}

pub struct Master<'a> {
    plan: &'a Plan<'a>,
    signals: Signals,
    /// Until the command is told to stop.
    sockets: Option<Sockets>,
    workers: Vec<Worker>,
    board: Board,
    admin: Admin,
    began: Instant,
    history: History,
    /// When workers are looked at, if they have limits.
    look_at: Option<Instant>,
    /// The generation that serves, and the one that is to take over from it.
    generation: u32,
    next: Option<u32>,
    /// The last one that has begun.
    newest: u32,
    /// A worker of the generation that begins was ready, and none has failed since.
    does_boot: bool,
    /// Before, none is started.
    not_before: Instant,
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
pub fn run(plan: &Plan<'_>, sockets: Sockets, admin: Admin) -> Result<Status, String> {
    let temporary =
        || tempfile::NamedTempFile::new().map_err(|error| format!("no temporary file: {}", console::reason(&error)));
    let now = Instant::now();
    let mut master = Master {
        plan,
        signals: Signals::catch()?,
        sockets: Some(sockets),
        workers: Vec::new(),
        admin,
        began: now,
        history: History::default(),
        look_at: plan.limits.are_any().then(|| now + INTERVAL),
        board: Board::new(plan.workers * (MOST_LEAVING + 3))
            .map_err(|error| format!("no shared memory: {}", console::reason(&error)))?,
        generation: 0,
        next: None,
        newest: 0,
        does_boot: false,
        not_before: now,
        has_served: false,
        failures: 0,
        slowest: Duration::ZERO,
        stopping: None,
        at_once: None,
        has_terminal: std::io::stdin().is_terminal(),
        looked: now,
        files: BTreeMap::from([(plan.app.to_path_buf(), None)]),
        state: plan.is_dev.then(temporary).transpose()?,
    };
    loop {
        master.fill()?;
        if master.workers.is_empty()
            && let Some(status) = master.stopping
        {
            return Ok(status);
        }
        master.wait();
        for signal in master.signals.take() {
            master.signalled(signal);
        }
        for place in 0..master.workers.len() {
            master.listen(place);
        }
        master.reap();
        master.look();
        master.press();
        master.answer();
    }
}

impl Master<'_> {
    /// The generation whose workers are started.
    fn target(&self) -> u32 {
        self.next.unwrap_or(self.generation)
    }

    fn of_generation(&self, generation: u32) -> impl Iterator<Item = &Worker> {
        let stays = |worker: &&Worker| !worker.is_told && !worker.is_worn && worker.stage != Stage::Leaving;
        self.workers.iter().filter(move |worker| worker.generation == generation).filter(stays)
    }

    fn is_any(&self, stage: Stage) -> bool {
        self.workers.iter().any(|worker| worker.stage == stage)
    }

    /// How many may be started as soon as it is time.
    fn missing(&self) -> usize {
        if self.stopping.is_some() {
            return 0;
        }
        let missing = self.plan.workers.saturating_sub(self.of_generation(self.target()).count());
        if self.does_boot { missing } else { missing.min(usize::from(!self.is_any(Stage::Starting))) }
    }

    /// Starts those that are missing. Once one has served, it is tried again if that fails: what is needed may come back.
    fn fill(&mut self) -> Result<(), String> {
        while self.missing() > 0 && self.not_before <= Instant::now() {
            match self.start() {
                Err(why) if self.has_served => {
                    self.failed(self.target(), &format!("cannot be started: {}", console::one_line(&why)));
                }
                result => result?,
            }
        }
        Ok(())
    }

    fn start(&mut self) -> Result<(), String> {
        let Some(sockets) = &self.sockets else { return Ok(()) };
        let generation = self.target();
        let is_free = |number: &usize| self.of_generation(generation).all(|worker| worker.number != *number);
        let number = (1..=self.plan.workers).find(is_free).unwrap_or(self.plan.workers);
        let mut command = (self.plan.command)(&sockets.names)?;
        command.arg(format!("worker={number}"));
        if let Some(state) = &self.state {
            let mut argument = OsString::from("state=");
            argument.push(state.path());
            command.arg(argument);
        }
        if self.has_terminal {
            command.stdin(Stdio::null()); // only the group of this process may read from it
        }
        let program = command.get_program().to_string_lossy().into_owned();
        let mut worker = Worker::start(command, number, generation, &sockets.open, &mut self.board)
            .map_err(|error| format!("{program}: {}", console::reason(&error)))?;
        // While it is developed, a debugger may hold it; and how long the first one takes is not known.
        if self.has_served && !self.plan.is_dev {
            worker.due = Some(worker.began + LONGEST_START.max(self.slowest * TIMES_AS_SLOW));
        }
        self.looked = worker.began;
        self.files.iter_mut().for_each(|(file, seen)| *seen = version(file));
        self.history.starts += 1;
        self.workers.push(worker);
        Ok(())
    }

    /// Goes on after one that did not get as far as to serve.
    fn failed(&mut self, generation: u32, how: &str) {
        self.does_boot = false;
        let is_old = |worker: &Worker| worker.generation == self.generation && !worker.is_told;
        let goes_on = self.workers.iter().any(|worker| is_old(worker) && worker.stage == Stage::Serving);
        if self.next == Some(generation) && goes_on {
            let outcome = format!("spindle: the new PHP {how}: the old one goes on");
            console::complain(outcome.as_bytes());
            self.admin.reloaded(409, &outcome);
            self.history.failed_reloads += 1;
            self.next = None;
            let (kept, now) = (self.generation, Instant::now());
            self.finish(|worker| worker.generation != kept, now);
            return;
        }
        let pause = (FIRST_PAUSE * 2u32.saturating_pow(self.failures)).min(LONGEST_PAUSE);
        self.failures = (self.failures + 1).min(16);
        let seconds = pause.as_secs_f32();
        console::complain(format!("spindle: PHP {how}: starting it again in {seconds} seconds").as_bytes());
        self.not_before = Instant::now() + pause;
    }

    /// Tells some to finish their requests, to accept no more, and that another one has their place.
    fn finish(&mut self, which: impl Fn(&Worker) -> bool, now: Instant) {
        let some = self.workers.iter_mut().filter(|worker| worker.stage != Stage::Leaving && !worker.is_told);
        for worker in some.filter(|worker| which(worker)) {
            worker.finish(now, self.plan.grace);
            if worker.stage == Stage::Serving {
                worker.stage = Stage::Leaving;
            }
        }
    }

    /// Waits until something is to be done.
    fn wait(&self) {
        let look = (self.plan.is_dev && self.is_any(Stage::Starting)).then(|| self.looked + LOOK);
        let start = (self.missing() > 0).then_some(self.not_before);
        let next = self.workers.iter().filter_map(|worker| worker.due).chain(start).chain(look);
        let next = next.chain(self.look_at).chain(self.admin.due()).min();
        let timeout =
            next.map(|at| Timespec::try_from(at.saturating_duration_since(Instant::now())).unwrap_or_default());
        let readable = |stream| PollFd::from_borrowed_fd(stream, PollFlags::IN);
        let mut ready = vec![readable(self.signals.wakes.as_fd())];
        ready.extend(self.workers.iter().filter(|worker| !worker.is_silent).map(|worker| readable(worker.control())));
        self.admin.watch(&mut ready);
        let _ = poll(&mut ready, timeout.as_ref()); // interrupted by a signal; any other failure costs a needless check
    }

    fn signalled(&mut self, signal: i32) {
        let again = self.stopping.is_some();
        match signal {
            SIGTERM | SIGINT if again => {
                let by = Instant::now() + AT_ONCE;
                self.at_once.get_or_insert(by);
                for worker in &mut self.workers {
                    worker.press();
                    worker.is_due_by(by);
                }
            }
            SIGTERM | SIGINT | SIGQUIT => self.stop(),
            SIGHUP if self.plan.is_dev || self.has_terminal => self.stop(),
            SIGHUP | SIGUSR2 => self.reload(),
            SIGUSR1 if self.plan.has_log_file => self.workers.iter_mut().for_each(Worker::reopen_log),
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
        console::complain(b"Stopping when all requests are answered; Ctrl+C stops at once");
        self.stopping = Some(Status::Fine);
        // Clients are refused from now on, rather than left waiting for an answer that never comes.
        self.sockets = None;
        let now = Instant::now();
        self.workers.iter_mut().for_each(|worker| worker.finish(now, self.plan.grace));
    }

    /// Begins a generation that takes over.
    fn reload(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        console::complain(b"spindle: starting PHP anew; requests that run are answered by the old one");
        let now = Instant::now();
        self.newest += 1;
        self.next = Some(self.newest);
        self.does_boot = false;
        self.not_before = now;
        // They have read older code, and may never get ready with that. The next ones begin when they have ended.
        self.finish(|worker| worker.stage == Stage::Starting, now);
    }

    /// Takes what one says.
    fn listen(&mut self, place: usize) {
        for line in self.workers[place].listen() {
            self.heard(place, &line);
        }
    }

    fn heard(&mut self, place: usize, line: &[u8]) {
        let now = Instant::now();
        let worker = &mut self.workers[place];
        match (line, worker.stage) {
            (b"ready", Stage::Starting) => {
                self.has_served = true;
                self.failures = 0;
                worker.stage = Stage::Serving;
                worker.due = self.at_once; // the deadline of its start no longer applies
                self.slowest = self.slowest.max(now - worker.began);
                if worker.is_told || worker.is_pressed {
                    worker.finish(now, self.plan.grace);
                    if self.stopping.is_none() {
                        worker.stage = Stage::Leaving;
                    }
                    return;
                }
                let generation = worker.generation;
                self.does_boot = true;
                let serving = self.of_generation(generation).filter(|worker| worker.stage == Stage::Serving).count();
                if self.next == Some(generation) && serving >= self.plan.workers {
                    (self.generation, self.next) = (generation, None);
                    let outcome = "spindle: the new PHP has taken over";
                    console::complain(outcome.as_bytes());
                    self.admin.reloaded(200, outcome);
                    self.history.reloads += 1;
                    self.finish(|worker| worker.generation != generation, now);
                }
                self.retire(now);
            }
            (b"runs", _) => worker.asked = None,
            (b"refused", Stage::Starting) => worker.is_refused = true,
            (_, stage) if self.plan.is_dev && line.starts_with(b"file ") && stage != Stage::Leaving => {
                let file = PathBuf::from(OsStr::from_bytes(&line[5..]));
                let seen = version(&file);
                self.files.insert(file, seen);
            }
            (b"leaving", Stage::Serving) if self.stopping.is_none() => {
                worker.stage = Stage::Leaving;
                worker.is_due_by(now + self.plan.grace + BEYOND);
                self.history.ended("fatal-error");
                let began = worker.began;
                self.rest(began + REST);
                let which = self.name(&self.workers[place]);
                console::complain(
                    format!("spindle: {which} accepts no more requests: starting another one").as_bytes(),
                );
            }
            _ => {}
        }
    }

    /// Has the next one started then at the earliest.
    fn rest(&mut self, until: Instant) {
        self.not_before = self.not_before.max(until);
    }

    fn name(&self, worker: &Worker) -> String {
        if self.plan.workers == 1 { "PHP".to_owned() } else { format!("worker {}", worker.number) }
    }

    /// Checks which processes have ended.
    fn reap(&mut self) {
        while let Some((pid, status)) = process::reap() {
            if let Some(place) = self.workers.iter().position(|worker| worker.pid == pid) {
                self.listen(place); // to its last words
                let worker = self.workers.remove(place);
                if let Some(place) = worker.place {
                    self.history.gone.add(&self.board.read(place));
                    self.board.free(place);
                }
                self.ended(&worker, status);
            }
        }
    }

    fn ended(&mut self, worker: &Worker, status: ExitStatus) {
        if let Some(so_far) = self.stopping {
            // One that has not begun to serve was ended by a signal.
            let is_made_to_end = worker.is_pressed || self.at_once.is_some();
            let is_fine = match worker.stage {
                Stage::Starting => status.success() || !worker.is_pressed,
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
        match (worker.stage, status.code()) {
            (Stage::Leaving, _) | (_, Some(CHANGED)) => {}
            (_, Some(DIED)) => self.rest(worker.began + DEVELOPMENT_REST),
            (Stage::Starting, _) if worker.is_told => {} // another one begins
            (Stage::Starting, code) if self.is_hopeless(worker) => {
                if code.is_none() {
                    console::complain(format!("spindle: PHP {how} before it could serve").as_bytes());
                }
                self.stopping = Some(Status::Failed);
            }
            (Stage::Starting, _) => self.failed(worker.generation, &format!("{how} before it could serve")),
            (Stage::Serving, _) => {
                self.history.ended("ended");
                self.rest(worker.began + if self.plan.is_dev { DEVELOPMENT_REST } else { REST });
                console::complain(format!("spindle: {} {how}: starting it again", self.name(worker)).as_bytes());
            }
        }
    }

    /// Returns `true` if there is no reason to try again, after one has ended before it could serve.
    fn is_hopeless(&self, worker: &Worker) -> bool {
        self.plan.is_dev || !self.has_served && (worker.is_refused || self.failures + 1 >= self.plan.attempts)
    }

    /// Looks which workers have served for long enough, and which stand still.
    fn look(&mut self) {
        let now = Instant::now();
        if self.stopping.is_some() || self.look_at.is_none_or(|at| now < at) {
            return;
        }
        self.look_at = Some(now + INTERVAL);
        let limits = self.plan.limits;
        let most = (self.plan.workers / 4).max(1);
        let mut worn = self.workers.iter().filter(|worker| worker.is_worn && worker.stage == Stage::Serving).count();
        for place in 0..self.workers.len() {
            let worker = &mut self.workers[place];
            if worker.stage != Stage::Serving || worker.is_told {
                continue;
            }
            if let Some(limit) = limits.stuck {
                if let Some(since) = worker.asked.filter(|asked| now >= *asked + limit) {
                    let seconds = (now - since).as_secs();
                    worker.asked = None;
                    worker.stage = Stage::Leaving;
                    worker.is_due_by(now); // it is made to say where it is
                    let which = self.name(&self.workers[place]);
                    let text = format!(
                        "spindle: {which} has stood still for {seconds} seconds: it is ended, and another one started"
                    );
                    console::complain(text.as_bytes());
                    self.history.ended("stuck");
                    continue;
                }
                worker.ask(now);
            }
            if worn >= most || worker.is_worn || self.next.is_some() {
                continue;
            }
            let requests = worker.place.map_or(0, |place| self.board.read(place).requests);
            if let Some(why) = limits.exceeded(worker, requests, now) {
                worker.is_worn = true;
                worn += 1;
                let which = self.name(&self.workers[place]);
                console::complain(
                    format!("spindle: {which} has reached --{why}: another one takes its place").as_bytes(),
                );
                self.history.ended(why);
            }
        }
    }

    /// Tells a worker whose place another one has taken to finish its requests.
    fn retire(&mut self, now: Instant) {
        let serving = self.workers.iter().filter(|worker| worker.stage == Stage::Serving).count();
        let worn = self.workers.iter().position(|worker| worker.is_worn && worker.stage == Stage::Serving);
        if let Some(place) = worn.filter(|_| self.next.is_none() && serving > self.plan.workers) {
            let pid = self.workers[place].pid;
            self.finish(|worker| worker.pid == pid, now);
        }
    }

    /// Answers what is asked at the admin addresses.
    fn answer(&mut self) {
        let (workers, board) = (&self.workers, &self.board);
        let numbers = |worker: &Worker| worker.place.map(|place| board.read(place)).unwrap_or_default();
        let told = || workers.iter().map(|worker| Told::of(worker, numbers(worker))).collect::<Vec<_>>();
        let (is_stopping, mut reloads) = (self.stopping.is_some(), false);
        let is_ready = !is_stopping && self.workers.iter().any(|worker| worker.stage == Stage::Serving);
        self.admin.turn(|question| {
            let json = |body| Answer { status: 200, kind: "application/json", body };
            let metrics = |body| Answer { status: 200, kind: "text/plain; version=0.0.4; charset=utf-8", body };
            Some(match question {
                Question::Health => Answer::text(200, "alive"),
                Question::Readiness if is_ready => Answer::text(200, "ready"),
                Question::Readiness => Answer::text(503, if is_stopping { "stopping" } else { "no worker serves" }),
                Question::Metrics => metrics(report::metrics(&told(), &self.history)),
                Question::Status => json(report::status(&told(), self.began, is_stopping)),
                Question::Reload if is_stopping => Answer::text(409, "spindle: it is stopping"),
                Question::Reload => {
                    reloads = true;
                    return None;
                }
            })
        });
        if reloads {
            self.reload();
        }
    }

    /// Ends those that should have ended.
    fn press(&mut self) {
        let now = Instant::now();
        if self.plan.is_dev && now >= self.looked + LOOK {
            self.looked = now;
            let changed = self.files.iter().find(|(file, seen)| version(file) != **seen).map(|(file, _)| file);
            let starting = |worker: &&mut Worker| worker.stage == Stage::Starting && !worker.is_told;
            if let (Some(file), Some(worker)) = (changed, self.workers.iter_mut().find(starting)) {
                console::complain(format!("{} has changed: starting again", file.display()).as_bytes());
                worker.finish(now, Duration::ZERO);
            }
        }
        // The oldest ones come first.
        let most = MOST_LEAVING * self.plan.workers;
        let is_leaving = |place: &usize| self.workers[*place].stage == Stage::Leaving;
        let leaving: Vec<usize> = (0..self.workers.len()).filter(is_leaving).collect();
        for place in leaving.iter().take(leaving.len().saturating_sub(most)) {
            let worker = &mut self.workers[*place];
            if !worker.is_pressed {
                worker.is_due_by(now);
                let text = format!(
                    "spindle: {} processes finish their requests: the oldest, {}, cancels those that it still has",
                    leaving.len(),
                    worker.pid.as_raw_pid()
                );
                console::complain(text.as_bytes());
            }
        }
        for worker in self.workers.iter_mut().filter(|worker| worker.due.is_some_and(|due| due <= now)) {
            if worker.stage == Stage::Starting && !worker.is_told && !worker.is_pressed {
                let seconds = (now - worker.began).as_secs();
                console::complain(format!("spindle: PHP is not ready after {seconds} seconds: it is ended").as_bytes());
            }
            if worker.is_pressed {
                console::complain(b"spindle: PHP does not end: it is killed");
                worker.signal(Signal::KILL);
                worker.due = None;
            } else {
                worker.press();
                worker.is_pressed = true;
                worker.due = Some(now + LAST_WORDS);
            }
        }
    }
}

/// Returns a value that changes when a file does.
fn version(file: &Path) -> Version {
    let found = file.metadata().ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}
