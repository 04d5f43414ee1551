//! Runs suites of tests by their names, and lists them.

use std::{
    collections::HashMap,
    env,
    ffi::OsString,
    fs,
    io::{self, Read, Write},
    mem,
    path::{Path, PathBuf},
    process::{self, Command, ExitCode},
    sync::{Mutex, MutexGuard, OnceLock},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use crate::{
    judge,
    suites::{PRELUDE, SUITES, Suite},
};

pub const USAGE: &str = "\
xtask test [NAME...] [-- OPTION...]   runs suites of tests, with options of their own; without a name those of `make test`
xtask test --nightly [NAME...]        runs them, or all that have more to tell by night, with what takes its time
xtask test --stall [NAME...]          runs them while their PHP processes stand still now and then: what depends on milliseconds fails
xtask test --list                     lists the suites; with names, or with --cases, the cases of these, or of all
    SEED is what tests draw from: a number (7), or `random`. SPINDLE_EXTENSION names a module to test in place of the release
    build. A skip that tests/may-skip does not name, and a suite without its closing line, have failed.";

pub fn run(root: &Path, words: &[String]) -> ExitCode {
    let mut words = words.splitn(2, |word| word == "--");
    let (words, options) = (words.next().unwrap_or_default(), words.next());
    let (flags, names): (Vec<_>, Vec<_>) = words.iter().map(String::as_str).partition(|word| word.starts_with('-'));
    if let Some(unknown) = flags.iter().find(|flag| !["--list", "--cases", "--nightly", "--stall"].contains(flag)) {
        return wrong(&format!("there is no option {unknown}\n{USAGE}"));
    }
    if let Some(unknown) = names.iter().find(|name| SUITES.iter().all(|suite| suite.name != **name)) {
        return wrong(&format!("there is no suite {unknown}: `cargo xtask test --list` has their names"));
    }
    let nightly = flags.contains(&"--nightly");
    let is_meant = |suite: &Suite| match &names[..] {
        [] if flags.contains(&"--list") || flags.contains(&"--cases") => true,
        [] => suite.options(nightly).is_some(),
        names => names.contains(&suite.name),
    };
    let door = Door {
        root,
        target: target(root),
        seed: seed(),
        nightly,
        stall: flags.contains(&"--stall"),
        options,
        made: HashMap::new(),
    };
    let meant = SUITES.iter().filter(|suite| is_meant(suite));
    match (flags.contains(&"--cases"), flags.contains(&"--list")) {
        (false, false) => door.run_all(meant.collect(), names.is_empty()),
        (false, true) if names.is_empty() => door.list(),
        _ => door.list_cases(meant),
    }
}

fn wrong(why: &str) -> ExitCode {
    eprintln!("xtask: {why}");
    ExitCode::from(2)
}

fn target(root: &Path) -> PathBuf {
    root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Returns what tests draw from: the same each time, so that a change is judged by the same lots as the one before. With `random`,
/// and for a while, they are to find what none has seen.
fn seed() -> String {
    match env::var("SEED") {
        Ok(word) if word == "random" => {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.subsec_nanos().max(1)).to_string()
        }
        Ok(number) if !number.is_empty() => number,
        _ => "7".to_owned(),
    }
}

impl Suite {
    /// Returns the options in `make test`, or where there is time.
    fn options(&self, nightly: bool) -> Option<&'static str> {
        if nightly { self.nightly } else { self.daily }
    }
}

/// How many suites run at a time that may: many wait more than they compute, and most run one process after the other.
const LANES: usize = 3;

struct Door<'a> {
    root: &'a Path,
    target: PathBuf,
    seed: String,
    nightly: bool,
    stall: bool,
    /// What follows `--`.
    options: Option<&'a [String]>,
    /// Whether what suites need could be made, by its commands.
    made: HashMap<&'static str, bool>,
}

/// What suites that run beside others have told: it is printed as a whole when one has ended, so that it can be read, or when
/// the door is closed by a signal.
static REPORTS: Mutex<Vec<(&str, Vec<u8>)>> = Mutex::new(Vec::new());

fn reports() -> MutexGuard<'static, Vec<(&'static str, Vec<u8>)>> {
    REPORTS.lock().expect("nothing panics that holds it")
}

fn print(text: &[u8]) {
    // Who reads this may have gone; the status is the result.
    let mut out = io::stdout().lock();
    let _ = out.write_all(text).and_then(|()| out.flush());
}

/// Where a signal is told to the thread that prints.
static SIGNALS: OnceLock<io::PipeWriter> = OnceLock::new();

extern "C" fn tell(signal: libc::c_int) {
    if let Some(mut signals) = SIGNALS.get() {
        let _ = signals.write(&[signal as u8]); // one system call, which a handler may make
    }
}

/// Has the signals that end a run print the reports of the suites that have not ended. They are handled and not blocked, because
/// the suites would inherit that; those that are ignored stay so.
fn print_reports_at_signals() {
    let Ok((mut told, signals)) = io::pipe() else { return };
    let _ = SIGNALS.set(signals);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: a handler that makes one system call.
        let before = unsafe { libc::signal(signal, tell as *const () as libc::sighandler_t) };
        if before == libc::SIG_IGN {
            // SAFETY: as it was.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    }
    thread::spawn(move || {
        let mut signal = [0];
        if told.read_exact(&mut signal).is_err() {
            return;
        }
        for (name, report) in mem::take(&mut *reports()) {
            print(&report);
            print(format!("FAILED: {name} was running when signal {} came\n", signal[0]).as_bytes());
        }
        process::exit(128 + i32::from(signal[0]));
    });
}

impl Door<'_> {
    /// Returns the command that runs a text of bash.
    fn bash(&self, text: &str) -> Command {
        self.prepared(Command::new("bash"), text)
    }

    /// Completes a command that is given the arguments of bash.
    fn prepared(&self, mut command: Command, text: &str) -> Command {
        command.current_dir(self.root).env("SEED", &self.seed).env("TARGET", &self.target);
        // What cargo has set for this program, build scripts would take for their own, and run again.
        let is_ours = |name: &OsString| {
            ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()))
        };
        for (name, _) in env::vars_os().filter(|(name, _)| is_ours(name)) {
            command.env_remove(name);
        }
        if env::var_os("CARGO").is_none() {
            command.env("CARGO", "cargo");
        }
        command.args(["-c", &format!("{PRELUDE}{text}"), "test"]);
        command
    }

    fn list(&self) -> ExitCode {
        for suite in SUITES {
            let when = match (suite.daily, suite.nightly) {
                (Some(_), None) => "make test",
                (Some(_), Some(_)) => "both",
                _ => "nightly",
            };
            println!("{:<14} {when:<10} {}", suite.name, suite.tells);
            if suite.nightly.is_some() {
                println!("{:25} {}", "", self.last(suite));
            }
        }
        ExitCode::SUCCESS
    }

    fn list_cases<'s>(&self, suites: impl Iterator<Item = &'s Suite>) -> ExitCode {
        let mut status = ExitCode::SUCCESS;
        for suite in suites {
            println!("== {}", suite.name);
            if !self.bash(suite.cases).status().is_ok_and(|status| status.success()) {
                status = ExitCode::FAILURE;
            }
        }
        status
    }

    /// Runs suites, also after one that has failed, so that one run tells all: first those that are to have the machine to
    /// themselves, then the others, three at a time.
    fn run_all(mut self, suites: Vec<&'static Suite>, all: bool) -> ExitCode {
        print_reports_at_signals();
        for needs in suites.iter().flat_map(|suite| suite.needs) {
            self.make(needs);
        }
        let (alone, beside): (Vec<&Suite>, Vec<&Suite>) =
            suites.iter().copied().partition(|suite| suite.alone || suites.len() == 1);
        let mut results: Vec<_> = alone.into_iter().map(|suite| (suite.name, self.run_one(suite, &print))).collect();
        let waiting = Mutex::new(beside.into_iter());
        let next = || waiting.lock().expect("no lane panics").next();
        let lane = || {
            let mut results = Vec::new();
            while let Some(suite) = next() {
                print(format!("-- {} begins\n", suite.name).as_bytes()); // it may be what hangs
                reports().push((suite.name, Vec::new()));
                let add = |text: &[u8]| {
                    if let Some(report) = reports().iter_mut().find(|report| report.0 == suite.name) {
                        report.1.extend(text);
                    }
                };
                results.push((suite.name, self.run_one(suite, &add)));
                reports().extract_if(.., |report| report.0 == suite.name).for_each(|report| print(&report.1));
            }
            results
        };
        thread::scope(|scope| {
            for lane in [(); LANES].map(|()| scope.spawn(lane)) {
                results.extend(lane.join().expect("no lane panics"));
            }
        });
        let failed: Vec<_> =
            results.iter().filter_map(|(name, (ended, _))| Some((*name, ended.as_ref().err()?))).collect();
        if suites.len() > 1 {
            let seconds: Vec<_> =
                results.iter().map(|(name, (_, time))| format!("{name} {}", time.as_secs())).collect();
            println!("Seconds: {}", seconds.join(", "));
        }
        if all && !self.nightly {
            for suite in SUITES.iter().filter(|suite| suite.nightly.is_some()) {
                println!("Not among them: cargo xtask test --nightly {}, which {}", suite.name, self.last(suite));
            }
        }
        if suites.len() > 1 && failed.is_empty() {
            println!("All suites passed.");
        } else if suites.len() > 1 {
            // Again, where the end of a long report is all that is read.
            for (name, lines) in &failed {
                println!("-- {name} failed:");
                lines.iter().for_each(|line| print(&[line, &b"\n"[..]].concat()));
            }
            let names: Vec<_> = failed.iter().map(|(name, _)| *name).collect();
            println!("Suites that failed: {}", names.join(", "));
        }
        if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Returns what the suite says of what has failed, if it has not passed, and how long it took. What it needs has been made.
    fn run_one(&self, suite: &'static Suite, print: &(dyn Fn(&[u8]) + Sync)) -> (Result<(), Vec<Vec<u8>>>, Duration) {
        let start = Instant::now();
        let line = |line: &[u8]| print(&[line, b"\n"].concat());
        line(format!("== {}: {}", suite.name, suite.tells).as_bytes());
        let missing = suite.needs.iter().find(|needs| self.made.get(*needs) == Some(&false));
        let run = missing
            .map_or(suite.run.to_owned(), |needs| format!("echo 'FAILED: {needs}'; echo '0 passed, 1 failed'; exit 1"));
        let own = suite.options(self.nightly || suite.daily.is_none()).filter(|_| self.options.is_none());
        let own = own.unwrap_or_default();
        let shell = if self.stall {
            let mut stalled = Command::new("php");
            stalled.args(["tests/stall.php", "bash"]);
            stalled
        } else {
            Command::new("bash")
        };
        let mut command = self.prepared(shell, &format!("set -- {own} \"$@\"\n{run}"));
        command.args(self.options.unwrap_or_default());
        let ended = judge::run(self.root, suite.name, &mut command, &line);
        let is_whole = self.options.is_none() && env::var_os(suite.narrowed_by).is_none_or(|value| value.is_empty());
        if let Ok(closing) = &ended
            && is_whole
            && suite.nightly == Some(own)
        {
            self.record(suite, &closing.to_string());
        }
        (ended.map(|_| ()), start.elapsed())
    }

    /// Makes what suites need, once. A module that the environment names is there.
    fn make(&mut self, needs: &'static str) {
        let is_there = match needs {
            "make build" => env::var_os("SPINDLE_EXTENSION").is_some(),
            "make build-faults" => env::var_os("SPINDLE_FAULTS_MODULE").is_some(),
            _ => false,
        };
        if !is_there && !self.made.contains_key(needs) {
            let made = self.bash(needs).status().is_ok_and(|status| status.success());
            self.made.insert(needs, made);
        }
    }

    // --- when the long ones have passed ---

    fn note(&self, suite: &Suite) -> PathBuf {
        self.target.join("passed").join(suite.name)
    }

    fn record(&self, suite: &Suite, closing: &str) {
        let now = self.bash("date -u +%F; git rev-parse --short HEAD 2>/dev/null || :").output();
        let now = now.map(|output| String::from_utf8_lossy(&output.stdout).replace('\n', " ")).unwrap_or_default();
        let note = self.note(suite);
        let written =
            fs::create_dir_all(note.with_file_name("")).and_then(|()| fs::write(note, format!("{now}{closing}")));
        if let Err(error) = written {
            eprintln!("xtask: that {} has passed could not be written down: {error}", suite.name);
        }
    }

    /// Says when a suite has passed last with its options of the night.
    fn last(&self, suite: &Suite) -> String {
        match fs::read_to_string(self.note(suite)) {
            Ok(note) => format!("has passed last on {note}"),
            Err(_) => "has not passed here yet".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{root, suites::SUITES};
    use std::collections::HashSet;

    #[test]
    fn suites_have_names_of_their_own_runners_and_a_time() {
        let mut names = HashSet::new();
        for suite in SUITES {
            assert!(names.insert(suite.name), "{} is there twice", suite.name);
            assert!(suite.daily.is_some() || suite.nightly.is_some(), "{} is never run", suite.name);
            assert!(!suite.tells.is_empty() && !suite.cases.is_empty(), "{}", suite.name);
            let runners =
                suite.run.split(|c: char| c.is_whitespace() || c == '"').filter(|word| word.starts_with("tests/"));
            for runner in runners.filter(|word| !word.contains(['{', '*'])) {
                assert!(root().join(runner).exists(), "{}: there is no {runner}", suite.name);
            }
        }
    }

    #[test]
    fn the_list_of_skips_names_suites() {
        let list = std::fs::read_to_string(root().join("tests/may-skip")).expect("tests/may-skip is there");
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            for name in line.split(": ").next().unwrap_or_default().split(',') {
                assert!(SUITES.iter().any(|suite| suite.name == name), "tests/may-skip: there is no suite {name}");
            }
        }
    }
}
