//! A PHP, run as a child.

use super::facts::Facts;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long PHP may take for its start and a few lines of code.
pub const PATIENCE: Duration = Duration::from_secs(60);

const PROBE: &str = include_str!("probe.php");

/// A program that says it is PHP.
pub struct Php {
    pub file: PathBuf,
    is_command_line: bool,
    /// How long a run that looks at it may take.
    patience: Duration,
}

/// What a run of PHP has shown.
pub struct Probe {
    pub facts: Option<Facts>,
    /// What PHP has written to standard error.
    pub messages: String,
    ended: String,
}

impl Probe {
    /// Why there are no facts.
    pub fn no_facts(&self) -> String {
        let first = self.messages.lines().find(|line| !line.trim().is_empty()).unwrap_or("it has printed nothing");
        format!("PHP does not run ({}): {first}", self.ended)
    }

    /// Whether the run has ended as it should.
    pub fn failure(&self) -> Option<&str> {
        (self.ended != "exit status: 0").then_some(&self.ended)
    }
}

impl Php {
    /// Looks for a PHP of this name, each run of which may take so long, such as [`PATIENCE`].
    pub fn find(name: &OsStr, patience: Duration) -> Result<Php, String> {
        let shown = name.to_string_lossy().into_owned();
        // Without its configuration, in which an extension may keep it from starting.
        let output = run(Command::new(name).args(["-n", "-v"]), patience).map_err(|why| {
            format!(
                "{shown} cannot be run: {why}; a PHP 8.2 or later (NTS) is needed, and --php names another one than php"
            )
        })?;
        let banner = output
            .stdout
            .lines()
            .find(|line| line.starts_with("PHP ") || line.starts_with("phpdbg "))
            .unwrap_or_default();
        if banner.is_empty() {
            return Err(format!("{shown} is not a PHP: '{shown} -v' does not print its version"));
        }
        Ok(Php { file: which(name), is_command_line: banner.contains("(cli)"), patience })
    }

    /// Runs PHP, as it is configured and with this module if one is named.
    pub fn probe(&self, module: Option<&Path>) -> Probe {
        if self.is_command_line { self.probe_by_script(module) } else { self.probe_by_info(module) }
    }

    fn probe_by_script(&self, module: Option<&Path>) -> Probe {
        let place = match tempfile::NamedTempFile::new() {
            Ok(place) => place,
            Err(error) => {
                return Probe { facts: None, messages: format!("no temporary file: {error}"), ended: String::new() };
            }
        };
        let mut command = self.command(module);
        // Code of the configuration has no part in this.
        command.args(["-d", "auto_prepend_file=", "-d", "auto_append_file=", "-d", "open_basedir=", "-r"]);
        command.arg(PROBE.trim_start_matches("<?php\n")).arg("--").arg(place.path());
        match run(&mut command, self.patience) {
            Err(why) => Probe { facts: None, messages: String::new(), ended: why },
            Ok(output) => {
                let facts = fs::read(place.path()).ok().and_then(|text| Facts::of_json(&text));
                Probe { facts, messages: output.stderr, ended: output.ended }
            }
        }
    }

    /// Other SAPIs run no code from the command line.
    fn probe_by_info(&self, module: Option<&Path>) -> Probe {
        match run(self.command(module).arg("-i"), self.patience) {
            Err(why) => Probe { facts: None, messages: String::new(), ended: why },
            Ok(output) => Probe { facts: Facts::of_info(&output.stdout), messages: output.stderr, ended: output.ended },
        }
    }

    /// PHP with all its messages on standard error, each once.
    fn command(&self, module: Option<&Path>) -> Command {
        let mut command = Command::new(&self.file);
        for setting in ["display_errors=0", "log_errors=1", "error_log=", "error_reporting=-1", "html_errors=0"] {
            command.args(["-d", setting]);
        }
        if let Some(module) = module {
            command.arg("-d").arg(with_module(module));
        }
        command
    }
}

/// The setting that loads a module.
pub fn with_module(module: &Path) -> OsString {
    let mut setting = OsString::from("extension=");
    setting.push(module);
    setting
}

struct Output {
    stdout: String,
    stderr: String,
    ended: String,
}

/// With these php-cgi takes its call for a request.
const OF_REQUESTS: &[&str] = &["GATEWAY_INTERFACE", "REQUEST_METHOD", "SERVER_NAME", "SERVER_SOFTWARE"];

/// Runs a command to its end, for so long at most. What it prints goes to files, which it cannot fill so as to wait.
fn run(command: &mut Command, patience: Duration) -> Result<Output, String> {
    let say = |error: std::io::Error| crate::console::reason(&error);
    let (out, err) = (tempfile::NamedTempFile::new().map_err(say)?, tempfile::NamedTempFile::new().map_err(say)?);
    command.stdin(Stdio::null()).stdout(out.reopen().map_err(say)?).stderr(err.reopen().map_err(say)?);
    for name in OF_REQUESTS {
        command.env_remove(name);
    }
    let mut child = command.spawn().map_err(say)?;
    let start = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait().map_err(say)? {
            break in_words(status);
        }
        if start.elapsed() > patience {
            let _ = child.kill();
            let _ = child.wait();
            break format!("killed, for it had not ended after {} seconds", patience.as_secs());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let text = |file: &tempfile::NamedTempFile| {
        String::from_utf8_lossy(&fs::read(file.path()).unwrap_or_default()).into_owned()
    };
    Ok(Output { stdout: text(&out), stderr: text(&err), ended })
}

/// How a process has ended.
pub fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status: {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// The file of a command, as a shell finds it.
fn which(name: &OsStr) -> PathBuf {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return path.to_path_buf();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(path))
        .find(|file| file.is_file())
        .unwrap_or_else(|| path.to_path_buf())
}
