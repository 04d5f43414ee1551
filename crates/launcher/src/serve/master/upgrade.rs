//! Upgrades: the program that is there now takes the place of this one, in the same process, so that whoever has started it sees the same
//! one. Before, it was asked whether it could, as by `--check`. It goes on with the workers that there are, as a generation that serves,
//! and begins a reload: if that fails, they go on.

use super::{LONGEST_START, Master, TIMES_AS_SLOW, Version, version};
use crate::console::{self, TAKES_OVER};
use crate::serve::admin::{Answer, Awaited};
use crate::serve::beside::executable;
use crate::serve::board::Board;
use crate::serve::clock;
use crate::serve::command::joined;
use crate::serve::fpm::Fpm;
use crate::serve::handover::{self, Handover};
use crate::serve::process::{self, Descriptor};
use crate::serve::report::{self, History};
use crate::serve::signals;
use crate::serve::worker::{self, Process, Stage, Worker};
use crate::serve::zygote::Zygote;
use nix::unistd::execve;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How much of what a program says that cannot take over is read, and how many characters of that are told.
const MOST_READ: u64 = 64 << 10;
const MOST_TOLD: usize = 1000;

/// How long the last lines may take. Workers and clients wait meanwhile.
const LAST_LINES: Duration = Duration::from_secs(1);

/// A program that is to take over.
pub struct Upgrade {
    program: PathBuf,
    /// Which file it was when it was asked.
    version: Version,
    /// The process that is to say whether it could.
    asked: Option<Pid>,
    output: File,
    due: Option<Instant>,
    /// It could.
    pub is_right: bool,
}

impl Upgrade {
    /// Has a program say whether it could take over with these arguments.
    fn ask(program: PathBuf, arguments: &[OsString], folder: &Path, due: Instant) -> io::Result<Upgrade> {
        let (output, version) = (tempfile::tempfile()?, version(&program));
        let mut command = Command::new(&program);
        command.arg0(&arguments[0]).args(&arguments[1..2]).arg("--check").args(&arguments[2..]);
        command
            .env(process::HANDOVER, handover::question(output.as_raw_fd()))
            .current_dir(folder)
            .env("PWD", folder)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?);
        let asked = process::spawn(command.process_group(0), &[output.as_fd()])?;
        Ok(Upgrade { version, program, asked: Some(asked), output, due: Some(due), is_right: false })
    }

    pub fn is(&self, pid: Pid) -> bool {
        self.asked == Some(pid)
    }

    /// Kills what is asked, which has had its time.
    fn kill(&mut self) {
        if let Some(asked) = self.asked.take() {
            let _ = kill_process_group(asked, Signal::KILL); // it is still there, as it was not waited for
        }
    }

    /// When it should have said.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// What it has said.
    fn said(&mut self) -> String {
        let mut bytes = Vec::new();
        let begin = self.output.rewind();
        let read = begin.and_then(|()| (&self.output).take(MOST_READ).read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.lines().map(|line| line.strip_prefix("spindle: ").unwrap_or(line)).collect();
        let text: String = lines.join("; ").chars().take(MOST_TOLD).collect();
        read.err().map_or(text, |error| console::reason(&error))
    }
}

impl Drop for Upgrade {
    /// Has it end that was asked. It removes what it has made.
    fn drop(&mut self) {
        if let Some(asked) = self.asked {
            let _ = kill_process_group(asked, Signal::TERM); // it is still there, as it was not waited for
        }
    }
}

/// What the command before this one has left to the one that keeps workers alive.
pub struct Before {
    workers: Vec<Worker>,
    board: Board,
    history: History,
    began: Instant,
    slowest: Duration,
    given_up: u32,
}

impl Before {
    pub fn adopt(
        workers: Vec<worker::Kept>,
        board: Descriptor,
        history: report::Kept,
        age: Duration,
        slowest: Duration,
        given_up: u32,
    ) -> io::Result<Before> {
        let mut board = Board::adopt(board, workers.iter().filter_map(|kept| kept.place))?;
        let (mut history, mut adopted) = (History::adopt(history), Vec::new());
        for kept in workers {
            let place = kept.place;
            match (Worker::adopt(kept, 0)?, place) {
                (Some(worker), _) => adopted.push(worker),
                (None, Some(place)) => history.gone.add(&board.take_from(place)),
                (None, None) => {}
            }
        }
        Ok(Before { workers: adopted, board, history, began: clock::ago(age), slowest, given_up })
    }
}

impl Master<'_> {
    /// Goes on with the workers of the command before this one, until others take over.
    pub(super) fn goes_on_from(&mut self, before: Before) {
        (self.workers, self.board, self.history) = (before.workers, before.board, before.history);
        (self.began, self.slowest, self.given_up) = (before.began, before.slowest, before.given_up);
        self.has_served = true;
        self.admin.takes_over();
        self.begin();
    }

    /// An upgrade is asked for.
    pub(super) fn upgrade(&mut self) {
        if self.upgrade.is_some() || self.stopping.is_some() {
            return; // its end is waited for
        }
        if self.next.is_some() && self.has_served {
            self.upgrade_follows = true;
            return self.lines.say("spindle: an upgrade follows when the new PHP has taken over");
        }
        if let Err(why) = self.ask_for_upgrade() {
            let line = format!("spindle: no upgrade: {why}");
            self.lines.say(&line);
            self.admin.tell(Awaited::Upgrade, &Answer::text(409, console::one_line(&line)));
        }
    }

    fn ask_for_upgrade(&mut self) -> Result<(), String> {
        if self.plan.is_dev {
            return Err("--dev is not for that".to_owned());
        }
        if !self.has_served {
            return Err("no worker has been ready yet: ask again when one is".to_owned());
        }
        (self.plan.terms)()?;
        let arguments: Vec<_> = std::env::args_os().collect();
        let name = arguments.first().cloned().unwrap_or_default();
        let missing = || format!("there is no program '{}'", name.to_string_lossy());
        let program = executable(&name, self.plan.folder).ok_or_else(missing)?;
        let by = Instant::now() + LONGEST_START.max(self.slowest * TIMES_AS_SLOW);
        let shown = program.display().to_string();
        let upgrade = Upgrade::ask(program, &arguments, self.plan.folder, by);
        self.upgrade = Some(upgrade.map_err(|error| format!("{shown}: {}", console::reason(&error)))?);
        let text = format!("{shown} is asked whether it can take over");
        self.lines.say(&format!("spindle: {text}"));
        self.manager.reloads(&text);
        Ok(())
    }

    /// A program has said whether it can take over.
    pub(super) fn checked(&mut self, status: ExitStatus) {
        let Some(upgrade) = &mut self.upgrade else { return };
        (upgrade.asked, upgrade.due) = (None, None);
        if status.code() == Some(i32::from(TAKES_OVER)) {
            upgrade.is_right = true;
            return;
        }
        let (how, said) = (process::how(status), upgrade.said());
        self.no_upgrade(&if said.is_empty() { how } else { said });
    }

    fn no_upgrade(&mut self, why: &str) {
        let program = self.upgrade.take().map(|upgrade| upgrade.program.display().to_string()).unwrap_or_default();
        self.history.failed_reloads += 1;
        let outcome = console::one_line(&format!("{program} cannot take over: {why}: the old one goes on"));
        let line = format!("spindle: {outcome}");
        self.lines.say(&line);
        self.admin.tell(Awaited::Upgrade, &Answer::text(409, line));
        self.go_on(&outcome);
    }

    /// Leaves all to the program that takes over, as soon as that can go on from there.
    pub(super) fn take_leave(&mut self) {
        let now = Instant::now();
        if self.upgrade.as_ref().and_then(Upgrade::due).is_some_and(|due| due <= now) {
            self.upgrade.iter_mut().for_each(Upgrade::kill);
            return self.no_upgrade("it does not say whether it can");
        }
        if !self.upgrade.as_ref().is_some_and(|upgrade| upgrade.is_right) || self.asking.is_some() {
            return;
        }
        // They are no processes yet that could be left to it.
        if self.workers.iter().any(|worker| matches!(worker.process, Process::Awaited { .. })) {
            return;
        }
        if self.upgrade.as_ref().is_some_and(|upgrade| version(&upgrade.program) != upgrade.version) {
            return self.no_upgrade("another one has taken its place meanwhile: ask again");
        }
        // These have read older code.
        self.finish(|worker| worker.stage == Stage::Starting, now);
        let left = signals::have_wait().and_then(|()| {
            if self.signals.have_come() { Ok(()) } else { self.execute().map_err(|error| console::reason(&error)) }
        });
        let left = left.and(signals::let_come());
        if let Err(why) = left {
            self.no_upgrade(&why);
        }
    }

    /// Executes it. This returns only if that fails, and all is as before.
    fn execute(&mut self) -> io::Result<()> {
        let Some(upgrade) = &self.upgrade else { return Ok(()) };
        self.lines.say(&format!("spindle: {} takes over", upgrade.program.display()));
        let text = |text: &OsStr| CString::new(text.as_bytes());
        let program = text(upgrade.program.as_os_str())?;
        let arguments = std::env::args_os().map(|argument| text(&argument)).collect::<Result<Vec<_>, _>>()?;
        let kept = process::inheritable()?;
        // A deployment may have switched the link that leads to the folder.
        let before = rustix::fs::open(".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let fails = self.leave(&kept).and_then(|(variable, _file)| {
            let variables = std::env::vars_os().filter(|(name, _)| name != process::HANDOVER && name != "PWD");
            let variables =
                variables.chain([(process::HANDOVER.into(), variable.into()), ("PWD".into(), self.plan.folder.into())]);
            let variables =
                variables.map(|(name, value)| text(&joined(&name, &value))).collect::<Result<Vec<_>, _>>()?;
            self.zygotes.iter_mut().for_each(Zygote::end);
            self.lines.finish(LAST_LINES);
            rustix::process::chdir(self.plan.folder)?;
            Ok(execve(&program, &arguments, &variables)?)
        });
        process::keep_descriptors(&kept)?;
        rustix::process::fchdir(before)?;
        fails.map(|never| match never {})
    }

    fn leave(&self, inherited: &[RawFd]) -> io::Result<(String, File)> {
        let Some(sockets) = &self.sockets else { return Err(io::ErrorKind::NotConnected.into()) };
        let workers = self.workers.iter().map(Worker::keep).collect::<io::Result<Vec<_>>>()?;
        let fpm = self.fpm.as_ref().map(Fpm::keep).transpose()?;
        Handover {
            sockets: sockets.keep()?,
            admin: self.admin.keep()?,
            workers: workers.into_iter().flatten().collect(),
            beside: self.beside.keep(),
            fpm,
            board: self.board.keep()?,
            history: self.history.keep(),
            age: self.began.elapsed(),
            slowest: self.slowest,
            given_up: self.given_up,
            inherited: inherited.to_vec(),
        }
        .leave()
    }
}
