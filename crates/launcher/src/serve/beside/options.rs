//! What `--run` and `--every` take: `NAME=COMMAND`, `NAME*COUNT=COMMAND` and `NAME=TIME COMMAND`.
//!
//! A command is split into words as a shell does, with its quotes, and then executed: there is no shell that would have to pass signals
//! on, or read into words what is in a variable.

use rustix::fs::{Access, access};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many processes a program may have.
const MOST: usize = 1024;

/// The longest time between two runs: a year.
const LONGEST: u64 = 31_536_000;

/// What only a shell understands.
const OF_A_SHELL: [&str; 12] = ["|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>>", "2>&1", "&>"];

/// When a program is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Always: again when it has ended.
    Run,
    /// When this time has passed since.
    Every(Duration),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Specified {
    pub name: String,
    pub kind: Kind,
    /// How many processes it has.
    pub count: usize,
    /// The program, and its arguments.
    pub words: Vec<OsString>,
}

/// Reads what `--run` is given.
pub fn run(given: &OsStr) -> Result<Specified, String> {
    let wrong = || "--run takes NAME=COMMAND, or NAME*COUNT=COMMAND".to_owned();
    let (before, command) = halves(given).ok_or_else(wrong)?;
    let (name, count) = match before.split_once('*') {
        Some((name, count)) => (name, count.parse().ok().filter(|count| (1..=MOST).contains(count))),
        None => (before, Some(1)),
    };
    let count = count.ok_or_else(|| format!("--run {before}: COUNT is a number, from 1 to {MOST}"))?;
    let name = checked_name("--run", name)?;
    let words = split(command).map_err(|why| format!("--run {name}: {why}"))?;
    Ok(Specified { name, kind: Kind::Run, count, words })
}

/// Reads what `--every` is given.
pub fn every(given: &OsStr) -> Result<Specified, String> {
    let wrong = || "--every takes 'NAME=TIME COMMAND', with a TIME as 30s, 5m or 1h".to_owned();
    let (name, rest) = halves(given).ok_or_else(wrong)?;
    let name = checked_name("--every", name)?;
    let rest = rest.trim_ascii_start();
    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    let interval = std::str::from_utf8(&rest[..end]).ok().and_then(interval);
    let interval = interval.ok_or_else(|| format!("--every {name}: TIME is as in 30s, 5m or 1h, up to a year"))?;
    let words = split(&rest[end..]).map_err(|why| format!("--every {name}: {why}"))?;
    Ok(Specified { name, kind: Kind::Every(interval), count: 1, words })
}

/// What is before and behind the first `=`.
fn halves(given: &OsStr) -> Option<(&str, &[u8])> {
    let bytes = given.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    Some((std::str::from_utf8(&bytes[..at]).ok()?, &bytes[at + 1..]))
}

/// It is in lines for people and in labels of metrics, as it is.
fn checked_name(option: &str, name: &str) -> Result<String, String> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || name.len() > 64 || !name.bytes().all(is_fine) {
        return Err(format!(
            "{option}: a NAME has letters, digits, '-', '_' and '.', and up to 64 of them, not '{name}'"
        ));
    }
    Ok(name.to_owned())
}

fn interval(text: &str) -> Option<Duration> {
    let seconds = match text.as_bytes().last()? {
        b's' => 1,
        b'm' => 60,
        b'h' => 3600,
        _ => return None,
    };
    let number = &text[..text.len() - 1];
    let number = number.parse::<u64>().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))?;
    number.checked_mul(seconds).filter(|seconds| (1..=LONGEST).contains(seconds)).map(Duration::from_secs)
}

fn split(command: &[u8]) -> Result<Vec<OsString>, String> {
    if command.contains(&0) {
        return Err("a command has no byte 0".to_owned());
    }
    let words = shlex::bytes::split(command).ok_or("a quote is not closed")?;
    let words: Vec<_> = words.into_iter().map(OsString::from_vec).collect();
    if words.first().is_none_or(|program| program.is_empty()) {
        return Err("there is no COMMAND".to_owned());
    }
    if let Some(word) = words.iter().find_map(|word| OF_A_SHELL.iter().find(|shells| word == **shells)) {
        return Err(format!("'{word}' is for a shell, and none runs the command: write sh -c '…'"));
    }
    Ok(words)
}

/// Returns the file of a program: relative to this folder if its name has a `/`, else on the `PATH`.
pub fn executable(program: &OsStr, folder: &Path) -> Option<PathBuf> {
    let is_executable = |file: &PathBuf| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    if program.as_bytes().contains(&b'/') {
        return Some(folder.join(program)).filter(is_executable);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|place| folder.join(place).join(program)).find(is_executable)
}

#[cfg(test)]
mod tests {
    use super::{Kind, Specified, every, executable, run};
    use std::ffi::OsStr;
    use std::path::Path;
    use std::time::Duration;

    fn specified(name: &str, kind: Kind, count: usize, words: &[&str]) -> Result<Specified, String> {
        Ok(Specified { name: name.into(), kind, count, words: words.iter().map(Into::into).collect() })
    }

    #[test]
    fn programs() {
        let run = |text: &str| run(OsStr::new(text));
        assert_eq!(run("a=b"), specified("a", Kind::Run, 1, &["b"]));
        assert_eq!(
            run("a*3=b  -c=d 'e f' \"g \\\" h\" \\$i $j"),
            specified("a", Kind::Run, 3, &["b", "-c=d", "e f", "g \" h", "$i", "$j"])
        );
        for (text, why) in [
            ("a", "--run takes NAME=COMMAND, or NAME*COUNT=COMMAND"),
            ("=b", "--run: a NAME has letters, digits, '-', '_' and '.', and up to 64 of them, not ''"),
            ("a b=c", "--run: a NAME has letters, digits, '-', '_' and '.', and up to 64 of them, not 'a b'"),
            ("a*0=b", "--run a*0: COUNT is a number, from 1 to 1024"),
            ("a*=b", "--run a*: COUNT is a number, from 1 to 1024"),
            ("a*1025=b", "--run a*1025: COUNT is a number, from 1 to 1024"),
            ("a=", "--run a: there is no COMMAND"),
            ("a=''", "--run a: there is no COMMAND"),
            ("a=b 'c", "--run a: a quote is not closed"),
            ("a=cd b && c", "--run a: '&&' is for a shell, and none runs the command: write sh -c '…'"),
            ("a=b\0", "--run a: a command has no byte 0"),
        ] {
            assert_eq!(run(text), Err(why.to_owned()), "{text}");
        }
    }

    #[test]
    fn intervals() {
        let every = |text: &str| every(OsStr::new(text));
        for (time, seconds) in [("1s", 1), ("90s", 90), ("5m", 300), ("2h", 7200), ("8760h", 31_536_000)] {
            let kind = Kind::Every(Duration::from_secs(seconds));
            assert_eq!(every(&format!("a={time} b c")), specified("a", kind, 1, &["b", "c"]));
        }
        for time in
            ["", "5", "m", "0s", "-1s", "+1s", "1.5h", "5 m", "8761h", "99999999999999999999s", "5307687893034780h"]
        {
            let why = "--every a: TIME is as in 30s, 5m or 1h, up to a year";
            assert_eq!(every(&format!("a={time} b")), Err(why.to_owned()), "{time}");
        }
        assert_eq!(every("a=5m"), Err("--every a: there is no COMMAND".to_owned()));
        assert_eq!(every("a"), Err("--every takes 'NAME=TIME COMMAND', with a TIME as 30s, 5m or 1h".to_owned()));
    }

    #[test]
    fn files_of_programs() {
        let found = |program: &str, folder: &str| executable(OsStr::new(program), Path::new(folder));
        assert!(found("sh", "/").is_some());
        assert_eq!(found("bin/sh", "/"), Some("/bin/sh".into()));
        assert_eq!(found("/bin/sh", "/none"), Some("/bin/sh".into()));
        assert_eq!(found("etc/passwd", "/"), None);
        assert_eq!(found("/etc", "/"), None);
        assert_eq!(found("no-such-program", "/"), None);
    }
}
