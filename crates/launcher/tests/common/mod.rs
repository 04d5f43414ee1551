//! A folder of its own for each test, and the command run in it.
// No test program needs all of it.
#![allow(dead_code)]

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub const SPINDLE: &str = env!("CARGO_BIN_EXE_spindle");

/// How the command has ended, and what it has printed.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub status: i32,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

/// Holds all three at once, so that a failure shows them.
#[track_caller]
pub fn assert_outcome(outcome: &Outcome, status: i32, out: &str, err: &str) {
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let expected = (status, out.to_string(), err.to_string());
    assert_eq!((outcome.status, shown(&outcome.out), shown(&outcome.err)), expected);
}

/// Removed when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// `name` is that of the test.
    pub fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: impl AsRef<Path>) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// All files in it, and folders with a `/` behind them.
    pub fn list(&self) -> Vec<String> {
        fn add(folder: &Path, before: &str, names: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{before}{}", entry.file_name().to_string_lossy());
                if entry.file_type().unwrap().is_dir() {
                    names.push(format!("{name}/"));
                    add(&entry.path(), &format!("{name}/"), names);
                } else {
                    names.push(name);
                }
            }
        }
        let mut names = Vec::new();
        add(&self.0, "", &mut names);
        names.sort();
        names
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0).stdin(Stdio::null());
        command
    }

    pub fn spindle<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Outcome {
        outcome(self.command(SPINDLE).args(args))
    }

    pub fn spindle_with_input(&self, input: impl AsRef<[u8]>, args: &[&str]) -> Outcome {
        let mut command = self.command(SPINDLE);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        // All of it is read before anything is printed, so that neither waits for the other.
        process.stdin.take().unwrap().write_all(input.as_ref()).unwrap();
        ended(process.wait_with_output().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

pub fn outcome(command: &mut Command) -> Outcome {
    ended(command.output().unwrap())
}

/// A signal counts as the status that a shell shows for it.
fn ended(output: std::process::Output) -> Outcome {
    use std::os::unix::process::ExitStatusExt;
    let status = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap());
    Outcome { status, out: output.stdout, err: output.stderr }
}
