//! The life of the workers: each is started, told to stop, and replaced whenever it ends unasked. The next one begins while another one
//! still answers, if that has said that it accepts no more connections.
//!
//! A reload begins a generation. All of its workers are ready before those of the one before are told to stop; if one of them does not
//! get ready, the new generation is told to stop instead. A reload that is asked for meanwhile follows when that has ended. Of a generation
//! that is not yet known to boot, one worker begins alone: what is wrong is said once.

mod asked;
mod due;
mod ends;
mod forks;
mod heard;
mod reload;
mod upgrade;
mod worn;

use super::admin::Admin;
use super::beside::Beside;
use super::board::Board;
use super::fpm::{self, Fpm};
use super::limits::{Appetite, INTERVAL, Limits};
use super::lines::{self, Lines};
use super::relay::Relayed;
use super::report::History;
use super::requests::Asking;
use super::signals::{self, Signals};
use super::sockets::Sockets;
use super::systemd::Manager;
use super::worker::{Stage, Worker};
use super::zygote::Zygote;
use crate::console::{self, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
pub use upgrade::Before;
use upgrade::Upgrade;

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

/// Makes PHP, as it serves at these sockets, or says why that cannot be.
pub type Make<'a> = dyn Fn(&Sockets) -> Result<Command, String> + 'a;

/// What a generation serves with: all of its workers have the same.
pub struct Terms<'a> {
    pub command: Box<Make<'a>>,
    /// What programs find in their environment besides.
    pub env: Vec<(OsString, OsString)>,
    pub limits: Limits,
    pub grace: Duration,
    /// One PHP forks the workers. Else each is a PHP that is started for it.
    pub forks: bool,
    /// What php-fpm has, in classic mode.
    pub fpm: fpm::Terms,
}

/// What is kept alive, and how.
pub struct Plan<'a> {
    /// The terms of the next generation, or why there can be none.
    pub terms: &'a dyn Fn() -> Result<Terms<'a>, String>,
    pub app: &'a Path,
    /// Where the command was started.
    pub folder: &'a Path,
    /// Where it is, and where it answers questions.
    pub addresses: Vec<String>,
    /// How many serve.
    pub workers: usize,
    /// How many may end, one after the other, before the first one ever is ready.
    pub attempts: u32,
    pub is_dev: bool,
    pub has_log_file: bool,
    /// With more requests waiting it is not ready.
    pub ready_queue: Option<u64>,
}

pub struct Master<'a> {
    plan: &'a Plan<'a>,
    /// Those of the generation that serves, and of the one that is to take over from it.
    terms: Terms<'a>,
    next_terms: Option<Terms<'a>>,
    signals: Signals,
    lines: Lines,
    manager: Manager,
    /// Until the command is told to stop.
    sockets: Option<Sockets>,
    workers: Vec<Worker>,
    /// What forks them, for each generation.
    zygotes: Vec<Zygote>,
    board: Board,
    admin: Admin,
    /// Workers are asked for their requests.
    asking: Option<Asking>,
    beside: Beside<'a>,
    fpm: Option<Fpm<'a>>,
    relayed: Relayed,
    began: Instant,
    history: History,
    /// When workers are looked at, if they have limits.
    look_at: Option<Instant>,
    appetite: Appetite,
    /// The generation that serves, and the one that is to take over from it.
    generation: u32,
    next: Option<u32>,
    /// The last one that has begun.
    newest: u32,
    /// Another reload follows that of `next`.
    follows: bool,
    reload_began: Instant,
    /// Another program is to take the place of this one; or one is when the reload has ended.
    upgrade: Option<Upgrade>,
    upgrade_follows: bool,
    /// How many, one after the other, were given up for the one that followed.
    given_up: u32,
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

/// Serves until it is stopped, or until it has left all to another program.
pub fn run<'a>(
    plan: &'a Plan<'a>,
    terms: Terms<'a>,
    sockets: Sockets,
    admin: Admin,
    beside: Beside<'a>,
    fpm: Option<Fpm<'a>>,
    before: Option<Before>,
) -> Result<Status, String> {
    let temporary =
        || tempfile::NamedTempFile::new().map_err(|error| format!("no temporary file: {}", console::reason(&error)));
    let now = Instant::now();
    // Those that come from now on are taken by this thread, which knows when it may.
    signals::have_wait()?;
    let lines = Lines::begin().map_err(|error| format!("no thread: {}", console::reason(&error)))?;
    let signals = Signals::catch()?;
    signals::let_come()?;
    let mut master = Master {
        plan,
        signals,
        lines,
        manager: Manager::none(),
        sockets: Some(sockets),
        workers: Vec::new(),
        zygotes: Vec::new(),
        admin,
        asking: None,
        beside,
        fpm,
        relayed: Relayed::default(),
        began: now,
        history: History::default(),
        look_at: terms.limits.are_any().then(|| now + INTERVAL),
        appetite: Appetite::default(),
        board: Board::new(plan.workers * (MOST_LEAVING + 3))
            .map_err(|error| format!("no shared memory: {}", console::reason(&error)))?,
        generation: 0,
        next: None,
        newest: 0,
        follows: false,
        reload_began: now,
        upgrade: None,
        upgrade_follows: false,
        given_up: 0,
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
        terms,
        next_terms: None,
    };
    match Manager::from_environment(now) {
        Ok(manager) => master.manager = manager,
        Err(error) => master.lines.say(&format!("spindle: systemd is told nothing: {}", console::reason(&error))),
    }
    if let Some(before) = before {
        master.goes_on_from(before);
    }
    let status = master.live().unwrap_or_else(|why| {
        master.lines.say(&format!("spindle: {why}"));
        Status::Failed
    });
    master.lines.finish(lines::PATIENCE);
    Ok(status)
}

impl Master<'_> {
    fn live(&mut self) -> Result<Status, String> {
        if let Some(fpm) = self.fpm.as_mut().filter(|_| !self.has_served) {
            fpm.begin(Instant::now())?;
        }
        loop {
            self.fill()?;
            if let Err(error) = self.manager.turn(Instant::now()) {
                self.lines.say(&format!("spindle: systemd is told nothing any more: {}", console::reason(&error)));
            }
            self.accompany();
            if self.workers.is_empty()
                && self.zygotes.is_empty()
                && !self.beside.are_running()
                && !self.fpm.as_ref().is_some_and(Fpm::is_running)
                && let Some(status) = self.stopping
            {
                return Ok(status);
            }
            self.wait();
            for signal in self.signals.take() {
                self.signalled(signal);
            }
            self.listen_to_zygotes();
            for place in 0..self.workers.len() {
                self.listen(place);
            }
            self.relayed.turn(&mut self.workers, &self.lines);
            self.reap();
            self.end_zygotes();
            self.look();
            self.press();
            self.answer();
            self.take_leave();
        }
    }

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
        if self.stopping.is_some() || self.upgrade.as_ref().is_some_and(|upgrade| upgrade.is_right) {
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
        let generation = self.target();
        let is_free = |number: &usize| self.of_generation(generation).all(|worker| worker.number != *number);
        let number = (1..=self.plan.workers).find(is_free).unwrap_or(self.plan.workers);
        let mut arguments = vec![format!("worker={number}").into()];
        if let Some(state) = &self.state {
            let mut argument = OsString::from("state=");
            argument.push(state.path());
            arguments.push(argument);
        }
        let mut worker = self.begin_worker(number, generation, &arguments)?;
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

    /// PHP, as it serves.
    fn command(&self) -> Result<Command, String> {
        let Some(sockets) = &self.sockets else { return Err("it is stopping".to_owned()) };
        let mut command = (self.next_terms.as_ref().unwrap_or(&self.terms).command)(sockets)?;
        if self.has_terminal {
            command.stdin(Stdio::null()); // only the group of this process may read from it
        }
        Ok(command)
    }

    /// Tells some to finish their requests, to accept no more, and that another one has their place.
    fn finish(&mut self, which: impl Fn(&Worker) -> bool, now: Instant) {
        let some = self.workers.iter_mut().filter(|worker| worker.stage != Stage::Leaving && !worker.is_told);
        for worker in some.filter(|worker| which(worker)) {
            worker.finish(now);
            if worker.stage == Stage::Serving {
                worker.stage = Stage::Leaving;
            }
        }
    }

    /// Has the programs beside the workers begin, go on or end.
    fn accompany(&mut self) {
        let now = Instant::now();
        if self.stopping.is_some() {
            self.beside.stop(self.at_once.map_or(now + self.terms.grace, |_| now));
        } else if self.has_served {
            self.beside.begin(now, &self.terms.env);
        }
        if self.beside.turn(now) {
            self.stopping = Some(Status::Failed);
        }
        self.beside.said().iter().for_each(|line| self.lines.say(line));
        if let Some(fpm) = &mut self.fpm {
            // The workers have requests of it until they end.
            if self.stopping.is_some() && self.workers.is_empty() {
                fpm.stop(self.at_once.map_or(now + self.terms.grace, |_| now));
            }
            fpm.turn(now);
            fpm.says.drain(..).for_each(|line| self.lines.say(&line));
        }
    }

    /// Waits until something is to be done.
    fn wait(&self) {
        let look = (self.plan.is_dev && self.is_any(Stage::Starting)).then(|| self.looked + LOOK);
        let start = (self.missing() > 0).then_some(self.not_before);
        let next = self.workers.iter().filter_map(|worker| worker.due).chain(start).chain(look);
        let next = next.chain(self.zygotes.iter().filter_map(Zygote::due)).chain(self.fpm.as_ref().and_then(Fpm::due));
        let next = next.chain(self.look_at).chain(self.admin.due()).chain(self.asking.as_ref().map(Asking::due));
        let next = next.chain(self.manager.due()).chain(self.given_up_at()).chain(self.beside.due());
        let next = next.chain(self.upgrade.as_ref().and_then(Upgrade::due)).min();
        let timeout =
            next.map(|at| Timespec::try_from(at.saturating_duration_since(Instant::now())).unwrap_or_default());
        let readable = |stream| PollFd::from_borrowed_fd(stream, PollFlags::IN);
        let mut ready = vec![readable(self.signals.wakes.as_fd())];
        ready.extend(self.workers.iter().filter(|worker| !worker.is_silent).map(|worker| readable(worker.control())));
        let links = self.workers.iter().filter_map(|worker| worker.topics.wants());
        let links = links.chain(self.zygotes.iter().filter_map(Zygote::wants));
        ready.extend(links.map(|(socket, wants)| PollFd::from_borrowed_fd(socket, wants)));
        self.fpm.iter().for_each(|fpm| fpm.watch(&mut ready));
        self.admin.watch(&mut ready);
        self.manager.watch(&mut ready);
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
            SIGUSR1 => {
                self.lines.say("spindle: there are no log files to open again: logs go to standard output and error")
            }
            _ => {}
        }
    }

    fn stop(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        self.lines.say("Stopping when all requests are answered; Ctrl+C stops at once");
        self.manager.stops("stopping when all requests are answered");
        self.stopping = Some(Status::Fine);
        (self.upgrade, self.upgrade_follows) = (None, false);
        // Clients are refused from now on, rather than left waiting for an answer that never comes.
        self.sockets = None;
        let now = Instant::now();
        self.workers.iter_mut().for_each(|worker| worker.finish(now));
    }

    /// Has the next one started then at the earliest.
    fn rest(&mut self, until: Instant) {
        self.not_before = self.not_before.max(until);
    }

    fn name(&self, worker: &Worker) -> String {
        if self.plan.workers == 1 { "PHP".to_owned() } else { format!("worker {}", worker.number) }
    }
}

/// Returns a value that changes when a file does.
fn version(file: &Path) -> Version {
    let found = file.metadata().ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}
