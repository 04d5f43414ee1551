//! php-fpm, which runs the scripts of classic mode, behind the workers.
//!
//! It accepts connections of a socket that belongs to this process and outlives it: those that come while none runs wait in it. A reload
//! starts another one beside it, at the same socket, and has the old one finish its requests when the new one is ready. So none is lost.

mod left;
mod program;
mod running;

use super::beside::Told;
use super::clock;
use super::process::{self, Descriptor};
use super::sockets;
use super::user::User;
use crate::console;
use left::Left;
pub use program::find;
use running::Running;
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown, fchown};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The pause before it is started again, and the longest one. It begins anew after one that has lived for a while.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const EARLY: Duration = Duration::from_secs(10);

/// How much longer than its requests it may take to end.
const LAST: Duration = Duration::from_secs(5);

/// What it is started with: a reload may change that.
#[derive(Clone)]
pub struct Terms {
    /// How many processes it has, and so how many requests at a time.
    pub children: u32,
    /// Settings of PHP, as `-d` has them.
    pub ini: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    /// How long a script may run, from its begin to its end.
    pub longest: Option<Duration>,
    /// How long requests may take when it is told to end.
    pub grace: Duration,
}

pub struct Fpm<'a> {
    program: PathBuf,
    place: Place,
    socket: OwnedFd,
    user: Option<&'a User>,
    folder: PathBuf,
    terms: Terms,
    running: Vec<Running>,
    /// Processes of those that have crashed.
    left: Vec<Left>,
    /// How many were started.
    starts: u32,
    /// How often it had to be started again, and has failed.
    restarts: u64,
    failures: u64,
    early: u32,
    /// When one is started.
    next: Option<Instant>,
    is_stopping: bool,
    /// Lines that are still to be said.
    pub says: Vec<String>,
}

/// The folder of its socket and configurations, which is removed at the end.
struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // someone may have removed it
    }
}

/// What is kept of it over an upgrade.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    program: OsString,
    place: OsString,
    socket: Descriptor,
    running: Vec<running::Kept>,
    left: Vec<left::Kept>,
    next: Option<Duration>,
    starts: u32,
    restarts: u64,
    failures: u64,
}

impl Kept {
    /// Removes its folder.
    pub fn discard(&self) {
        drop(Place(PathBuf::from(&self.place)));
    }
}

impl<'a> Fpm<'a> {
    pub fn keep(&self) -> io::Result<Kept> {
        Ok(Kept {
            program: self.program.clone().into_os_string(),
            place: self.place.0.clone().into_os_string(),
            socket: Descriptor::keep(&self.socket)?,
            running: self.running.iter().map(Running::keep).collect::<io::Result<_>>()?,
            left: self.left.iter().map(Left::keep).collect(),
            next: self.next.map(clock::left),
            starts: self.starts,
            restarts: self.restarts,
            failures: self.failures,
        })
    }

    /// Goes on with the one that ran before an upgrade. What is different begins with the next one.
    pub fn adopt(folder: &Path, user: Option<&'a User>, terms: Terms, kept: Kept) -> io::Result<Fpm<'a>> {
        let running = kept.running.into_iter().map(Running::adopt).collect::<io::Result<Vec<_>>>()?;
        let running: Vec<_> = running.into_iter().flatten().collect();
        Ok(Fpm {
            program: kept.program.into(),
            place: Place(kept.place.into()),
            socket: kept.socket.take()?,
            user,
            folder: folder.to_owned(),
            terms,
            next: if running.is_empty() { Some(Instant::now()) } else { kept.next.map(clock::from_now) },
            running,
            left: kept.left.iter().filter_map(Left::adopt).collect(),
            starts: kept.starts,
            restarts: kept.restarts,
            failures: kept.failures,
            early: 0,
            is_stopping: false,
            says: Vec::new(),
        })
    }

    /// Makes the socket, and has php-fpm check its settings.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn new(program: PathBuf, folder: &Path, user: Option<&'a User>, terms: Terms) -> Result<Fpm<'a>, String> {
        let say = |error: io::Error| format!("no folder for php-fpm: {}", console::reason(&error));
        let place = Place(tempfile::Builder::new().prefix("spindle-fpm.").tempdir().map_err(say)?.keep());
        let path = place.0.join("socket");
        let socket = sockets::unix(&path).map_err(say)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(say)?;
        // The folder stays with whoever starts the command: scripts run as the user, and could leave a link there where the next
        // configuration is to be written.
        let mut mode = 0o700;
        if let Some(user) = user {
            mode = 0o710;
            user.give(&path).map_err(say)?;
            chown(&place.0, None, Some(user.gid.as_raw())).map_err(say)?;
        }
        fs::set_permissions(&place.0, fs::Permissions::from_mode(mode)).map_err(say)?;
        let (folder, running) = (folder.to_owned(), Vec::new());
        let mut fpm = Fpm {
            program,
            place,
            socket,
            user,
            folder,
            terms,
            running,
            left: Vec::new(),
            starts: 0,
            restarts: 0,
            failures: 0,
            early: 0,
            next: None,
            is_stopping: false,
            says: Vec::new(),
        };
        let output = fpm.command()?.arg("-t").stdin(Stdio::null()).output().map_err(|error| fpm.no_program(&error))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<_> = text.lines().filter(|line| line.contains("ERROR") || line.contains("ALERT")).collect();
            let why = if lines.is_empty() { text.trim().to_owned() } else { lines.join("; ") };
            return Err(format!("{} refuses its settings: {why}", fpm.program.display()));
        }
        Ok(fpm)
    }

    fn no_program(&self, error: &io::Error) -> String {
        format!("{}: {}", self.program.display(), console::reason(error))
    }

    /// Where the workers find it.
    pub fn address(&self) -> OsString {
        let mut address = OsString::from("unix:");
        address.push(self.place.0.join("socket"));
        address
    }

    /// Returns the command of the next one, and writes its configuration.
    fn command(&mut self) -> Result<Command, String> {
        self.starts += 1;
        // php-fpm removes the file of its socket, which is not the one of ours, when it ends.
        let [socket, file] = ["socket", "conf"].map(|name| self.place.0.join(format!("{name}.{}", self.starts)));
        let mut text = format!(
            "[global]\nerror_log = /dev/null\ndaemonize = no\nlog_limit = 8192\nprocess_control_timeout = {}s\n[www]\nlisten = {}\n",
            self.terms.grace.as_secs().max(1),
            socket.display()
        );
        let _ = write!(text, "pm = static\npm.max_children = {}\n", self.terms.children); // a String takes all
        if let Some(longest) = self.terms.longest {
            let _ = writeln!(text, "request_terminate_timeout = {}s", longest.as_secs().max(1));
        }
        text += "clear_env = no\ncatch_workers_output = yes\ndecorate_workers_output = no\n";
        let runs_as_root = self.user.is_none() && rustix::process::geteuid().is_root();
        if runs_as_root {
            text += "user = root\ngroup = root\n";
        }
        let written =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file).and_then(|mut made| {
                made.write_all(text.as_bytes())?;
                let Some(user) = self.user else { return Ok(()) };
                fchown(&made, None, Some(user.gid.as_raw()))?;
                made.set_permissions(fs::Permissions::from_mode(0o640))
            });
        written.map_err(|error| format!("no configuration for php-fpm: {}", console::reason(&error)))?;
        let mut command = Command::new(&self.program);
        if let Some(user) = self.user {
            process::run_as(&mut command, user);
            command.envs(user.environment());
        }
        for name in process::VARIABLES {
            command.env_remove(name);
        }
        // As when php-fpm executes itself anew.
        let mut inherited = socket.into_os_string();
        inherited.push(format!("={}", self.socket.as_raw_fd()));
        command.env("FPM_SOCKETS", inherited);
        command.envs(self.terms.env.iter().map(|(name, value)| (name, value)));
        command.args(["--nodaemonize", "--force-stderr"]).arg("--fpm-config").arg(&file).current_dir(&self.folder);
        if runs_as_root {
            command.arg("--allow-to-run-as-root");
        }
        for setting in &self.terms.ini {
            command.arg("-d").arg(setting);
        }
        Ok(command)
    }

    /// Starts the first one.
    ///
    /// # Errors
    /// It cannot be executed.
    pub fn begin(&mut self, now: Instant) -> Result<(), String> {
        self.start(now)
    }

    fn start(&mut self, now: Instant) -> Result<(), String> {
        let mut command = self.command()?;
        let say = |error: io::Error| console::reason(&error);
        let (said, its) = io::pipe().map_err(say)?;
        rustix::io::ioctl_fionbio(&said, true).map_err(|errno| say(errno.into()))?;
        command.stdin(Stdio::null()).stdout(its.try_clone().map_err(say)?).stderr(its);
        std::os::unix::process::CommandExt::process_group(&mut command, 0); // the signals of a terminal come to this command only
        // It ends its own processes then, which the kernel would not.
        let spawned = process::spawn_until(&mut command, &[self.socket.as_fd()], Signal::TERM);
        let pid = spawned.map_err(|error| self.no_program(&error))?;
        self.running.push(Running::new(pid, now, said));
        Ok(())
    }

    /// Has another one take over, with these terms.
    pub fn reload(&mut self, now: Instant, terms: Terms) {
        self.terms = terms;
        self.early = 0;
        if self.is_stopping {
            return;
        }
        self.next = None;
        // One that was not ready has older code.
        let by = now + self.terms.grace + LAST;
        self.running.iter_mut().filter(|running| !running.is_ready).for_each(|running| running.tell(by));
        if let Err(why) = self.start(now) {
            self.says.push(format!("spindle: php-fpm: {why}: the old one goes on"));
        }
    }

    /// Has all end: when their requests are answered, and by then.
    pub fn stop(&mut self, by: Instant) {
        self.is_stopping = true;
        self.next = None;
        self.running.iter_mut().for_each(|running| running.tell(by));
        self.left.iter_mut().for_each(|left| left.is_due_by(by));
    }

    /// What is told of it: as of a program beside the server.
    pub fn told(&self) -> Vec<Told<'_>> {
        let told = |stage, running: Option<&Running>| Told {
            name: "php-fpm",
            number: 1,
            every_seconds: None,
            pid: running.map(|running| running.pid.as_raw_pid()),
            stage,
            seconds: running.map_or(0.0, |running| running.began.elapsed().as_secs_f64()),
            starts: 0,
            restarts: 0,
            failures: 0,
        };
        let stage = |running: &Running| if running.is_told { "ending" } else { "running" };
        let mut all: Vec<_> = self.running.iter().map(|running| told(stage(running), Some(running))).collect();
        if all.is_empty() {
            all.push(told("waiting", None));
        }
        // The numbers are those of all; the check of the settings is no start.
        let last = all.len() - 1;
        (all[last].starts, all[last].restarts) = (u64::from(self.starts.saturating_sub(1)), self.restarts);
        all[last].failures = self.failures;
        all
    }

    pub fn is_running(&self) -> bool {
        !self.running.is_empty() || !self.left.is_empty()
    }

    /// Adds what is waited for.
    pub fn watch<'b>(&'b self, ready: &mut Vec<PollFd<'b>>) {
        let those = self.running.iter().filter(|running| !running.is_silent);
        ready.extend(those.map(|running| PollFd::from_borrowed_fd(running.said.as_fd(), PollFlags::IN)));
    }

    /// When something is to be done.
    pub fn due(&self) -> Option<Instant> {
        let left = self.left.iter().map(Left::due);
        self.running.iter().filter_map(|running| running.due).chain(left).chain(self.next).min()
    }

    /// Does what is due.
    pub fn turn(&mut self, now: Instant) {
        for place in 0..self.running.len() {
            self.listen(place, now);
            if self.running[place].kill_when_due(now) {
                self.says.push("spindle: php-fpm does not end: it is killed".to_owned());
            }
        }
        let says = &mut self.says;
        self.left.retain_mut(|left| {
            let is_killed = left.kill_when_due(now);
            if is_killed {
                says.push("spindle: processes of a php-fpm that has crashed do not end: they are killed".to_owned());
            }
            !is_killed && left.are_there(now)
        });
        if self.next.is_some_and(|next| next <= now) {
            self.next = None;
            if let Err(why) = self.start(now) {
                self.again(now, &format!("cannot be started: {why}"));
            }
        }
    }

    /// Says what one has said. When it is ready, those before it are to end.
    fn listen(&mut self, place: usize, now: Instant) {
        let running = &mut self.running[place];
        running.listen(&mut self.says);
        if running.is_ready && !running.is_told {
            let by = now + self.terms.grace + LAST;
            self.running[..place].iter_mut().for_each(|older| older.tell(by));
        }
    }

    /// A process has ended. Returns `true` if it was one of these.
    pub fn ended(&mut self, pid: Pid, status: ExitStatus) -> bool {
        let Some(place) = self.running.iter().position(|running| running.pid == pid) else { return false };
        let now = Instant::now();
        self.listen(place, now); // to its last words
        let running = self.running.remove(place);
        let is_expected = running.is_told || self.is_stopping;
        if !(running.is_killed || is_expected && status.success()) {
            // Its processes go on without it: they are to finish their requests, and to leave the others to the next one.
            self.left.push(Left::tell(running.pid, running.due.unwrap_or(now + self.terms.grace + LAST)));
        }
        if is_expected {
            return true;
        }
        let how = process::how(status);
        if self.running.iter().any(|other| !other.is_told) {
            self.says.push(format!("spindle: the new php-fpm {how}: the old one goes on"));
            return true;
        }
        if running.is_ready && now - running.began >= EARLY {
            self.early = 0;
        }
        self.again(now, &how);
        true
    }

    /// Has it started again after a pause.
    fn again(&mut self, now: Instant, how: &str) {
        let pause = (FIRST_PAUSE * 2u32.saturating_pow(self.early)).min(LONGEST_PAUSE);
        self.early = (self.early + 1).min(16);
        self.restarts += 1;
        self.failures += 1;
        self.next = Some(now + pause);
        self.says.push(format!("spindle: php-fpm {how}: starting it again in {} seconds", pause.as_secs_f32()));
    }
}

#[cfg(test)]
mod tests {
    use super::{Fpm, Terms};
    use std::path::Path;
    use std::time::{Duration, Instant};

    #[test]
    fn it_is_killed_once() {
        let (ini, env, grace) = (Vec::new(), Vec::new(), Duration::ZERO);
        let terms = Terms { children: 1, ini, env, longest: None, grace };
        // It ends when it likes, but its end is not learnt of.
        let mut fpm = Fpm::new("/bin/true".into(), Path::new("/"), None, terms).unwrap();
        let now = Instant::now();
        fpm.begin(now).unwrap();
        for _ in 0..3 {
            fpm.stop(now);
            fpm.turn(now);
        }
        assert_eq!(fpm.says, ["spindle: php-fpm does not end: it is killed"]);
        assert!(fpm.is_running() && fpm.due().is_none());
    }
}
