//! Programs beside the server: workers of queues (`--run`), which are started again whenever they end, and tasks that are run now and
//! then (`--every`). They begin when a worker is ready, so that an app that is broken says so first, and end with the workers.
//!
//! They have nothing of the server: no descriptors, and signals only from here. The kernel kills them if this process ends first.

mod options;
mod program;

use super::process;
use super::user::User;
pub use options::executable;
pub use program::{Kept, Told};
use program::{Program, no_program};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Instant;

/// All of them.
pub struct Beside<'a> {
    programs: Vec<Program>,
    /// As whom they run, if not as the command.
    user: Option<&'a User>,
    /// What they find in their environment besides.
    env: Vec<(OsString, OsString)>,
    /// Where they run.
    folder: PathBuf,
    has_begun: bool,
    is_stopping: bool,
}

impl<'a> Beside<'a> {
    /// Checks what `--run` and `--every` were given, and, if they do not run yet, that there are such programs.
    pub fn new(
        run: &[OsString],
        every: &[OsString],
        folder: &Path,
        user: Option<&'a User>,
        is_new: bool,
    ) -> Result<Beside<'a>, String> {
        let run = run.iter().map(|given| ("--run", options::run(given)));
        let every = every.iter().map(|given| ("--every", options::every(given)));
        let (mut programs, mut names) = (Vec::new(), Vec::new());
        for (option, specified) in run.chain(every) {
            let specified = specified?;
            if names.contains(&specified.name) {
                return Err(format!("{option} {}: there is another one of this name", specified.name));
            }
            if is_new && executable(&specified.words[0], folder).is_none() {
                return Err(format!("{option} {}: {}", specified.name, no_program(&specified)));
            }
            names.push(specified.name.clone());
            programs.extend((1..=specified.count).map(|number| Program::new(specified.clone(), number)));
        }
        let (folder, env) = (folder.to_owned(), Vec::new());
        Ok(Beside { programs, user, env, folder, has_begun: false, is_stopping: false })
    }

    pub fn keep(&self) -> Vec<Kept> {
        self.programs.iter().map(Program::keep).collect()
    }

    /// Goes on with those that ran before an upgrade.
    pub fn adopt(&mut self, kept: &[Kept], env: &[(OsString, OsString)]) {
        (self.has_begun, self.env) = (true, env.to_owned());
        self.programs.iter_mut().for_each(|program| kept.iter().for_each(|kept| program.adopt(kept)));
    }

    /// The server serves, perhaps for a long time.
    pub fn begin(&mut self, now: Instant, env: &[(OsString, OsString)]) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.env = env.to_owned();
            self.programs.iter_mut().for_each(|program| program.begin(now));
        }
    }

    /// There is new code. What has begun with the old one has until then to end.
    pub fn reload(&mut self, now: Instant, by: Instant, env: &[(OsString, OsString)]) {
        self.env = env.to_owned();
        self.programs.iter_mut().for_each(|program| program.reload(now, by));
    }

    /// Has them end until then, and no more begin. It may be called again, with an earlier time.
    pub fn stop(&mut self, by: Instant) {
        self.is_stopping = true;
        self.programs.iter_mut().for_each(|program| program.stop(by));
    }

    /// Does what is due. Returns `true` if one did not end when all are to.
    pub fn turn(&mut self, now: Instant) -> bool {
        let killed = self.programs.iter_mut().filter(|program| program.is_late(now)).map(|program| program.kill());
        let killed = killed.count();
        let start = |command: &mut Command| {
            command.current_dir(&self.folder).envs(self.env.iter().map(|(name, value)| (name, value)));
            if let Some(user) = self.user {
                command.envs(user.environment());
                process::run_as(command, user);
            }
            process::spawn_alone(command)
        };
        self.programs.iter_mut().for_each(|program| program.turn(now, &self.folder, start));
        killed > 0 && self.is_stopping
    }

    /// A process has ended, which may be one of them.
    pub fn ended(&mut self, pid: Pid, status: ExitStatus) {
        if let Some(program) = self.programs.iter_mut().find(|program| program.is(pid)) {
            program.ended(Instant::now(), status, self.is_stopping);
        }
    }

    /// Returns the lines that are to be said.
    pub fn said(&mut self) -> Vec<String> {
        self.programs.iter_mut().flat_map(|program| std::mem::take(&mut program.says)).collect()
    }

    pub fn are_running(&self) -> bool {
        self.programs.iter().any(Program::is_running)
    }

    /// Returns when something is to be done.
    pub fn due(&self) -> Option<Instant> {
        self.programs.iter().filter_map(Program::due).min()
    }

    /// What is told of them, as JSON has it.
    pub fn told(&self) -> Vec<Told<'_>> {
        self.programs.iter().map(Program::told).collect()
    }
}

/// The metrics of programs, in Prometheus' text format: none if there are no programs.
pub fn metrics(told: &[Told<'_>]) -> String {
    let mut text = String::new();
    if told.is_empty() {
        return text;
    }
    let mut metric = |name: &str, kind: &str, help: &str, value: &dyn Fn(&Told<'_>) -> u64| {
        let mut sums = BTreeMap::new();
        told.iter().for_each(|told| *sums.entry(told.name).or_insert(0) += value(told));
        let _ = write!(text, "# HELP spindle_{name} {help}\n# TYPE spindle_{name} {kind}\n"); // a String takes all
        for (program, sum) in sums {
            let _ = writeln!(text, "spindle_{name}{{program=\"{program}\"}} {sum}");
        }
    };
    let runs = |told: &Told<'_>| u64::from(told.stage != "waiting");
    metric("programs", "gauge", "Processes beside the server that run.", &runs);
    metric("program_starts_total", "counter", "How often they were started.", &|told| told.starts);
    metric("program_restarts_total", "counter", "How often one had to be started again.", &|told| told.restarts);
    metric("program_failures_total", "counter", "How often one has failed.", &|told| told.failures);
    text
}
