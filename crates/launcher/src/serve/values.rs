//! The values of options, from text. What is wrong with one is said as what the option takes.

use std::ffi::{OsStr, OsString};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// Returns a number in this range.
pub fn number<N: FromStr + PartialOrd + ToString + Copy>(text: &OsStr, range: RangeInclusive<N>) -> Result<N, String> {
    let found = text.to_str().and_then(|text| text.parse().ok()).filter(|number| range.contains(number));
    found.ok_or_else(|| format!("takes a number, from {} to {}", range.start().to_string(), range.end().to_string()))
}

/// Returns a number of workers.
pub fn count(text: &OsStr) -> Result<usize, String> {
    if text == "auto" {
        return Ok(std::thread::available_parallelism().map_or(1, usize::from).min(1024));
    }
    number(text, 1..=1024).map_err(|takes| format!("{takes}, or 'auto'"))
}

pub fn seconds(text: &OsStr, from: u32, to: u32) -> Result<Duration, String> {
    let seconds = text.to_str().and_then(|text| text.parse().ok());
    let seconds = seconds.filter(|seconds| (f64::from(from)..=f64::from(to)).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("takes seconds, from {from} to {to}"))
}

/// Returns how many bytes a text such as `256M` means.
pub fn bytes(text: &OsStr) -> Result<u64, String> {
    let text = text.to_str().unwrap_or_default();
    let (number, unit) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1 << 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "takes bytes, as in 256M".to_owned())
}

pub fn one_of(value: &OsStr, allowed: &[&str]) -> Result<String, String> {
    let given = value.to_str().filter(|value| allowed.contains(value)).map(str::to_owned);
    given.ok_or_else(|| format!("takes {} or {}", allowed[..allowed.len() - 1].join(", "), allowed[allowed.len() - 1]))
}

/// What stands before the name of a socket that systemd has passed.
pub const PASSED: &str = "systemd:";

/// Returns `true` for what this process can listen at.
pub fn is_address(address: &OsStr) -> bool {
    let text = address.to_string_lossy();
    !text.starts_with("fd:") && !text.starts_with(PASSED) && text.contains(':') && text != "unix:"
}

/// Takes an address at which the command itself can listen.
pub fn address(value: OsString) -> Result<OsString, String> {
    if is_address(&value) { Ok(value) } else { Err("takes HOST:PORT or unix:PATH".to_owned()) }
}

/// Splits a value at the first of these bytes.
pub fn halves(value: &OsStr, byte: u8) -> Option<(OsString, OsString)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = value.as_bytes();
    let at = bytes.iter().position(|found| *found == byte)?;
    let part = |bytes| OsStr::from_bytes(bytes).to_owned();
    Some((part(&bytes[..at]), part(&bytes[at + 1..])))
}

/// What a value in a file names, which may be relative to the folder of that file.
pub mod place {
    use super::halves;
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    /// It names no file.
    pub fn none(_: &Path, value: &OsStr) -> OsString {
        value.to_owned()
    }

    pub fn path(folder: &Path, value: &OsStr) -> OsString {
        if value.is_empty() { OsString::new() } else { folder.join(value).into() }
    }

    /// A name without a `/` is looked for on the `PATH`.
    pub fn program(folder: &Path, value: &OsStr) -> OsString {
        if value.as_bytes().contains(&b'/') { path(folder, value) } else { value.to_owned() }
    }

    /// `unix:PATH`, or what is no path.
    pub fn address(folder: &Path, value: &OsStr) -> OsString {
        match halves(value, b':') {
            Some((kind, file)) if kind == "unix" && !file.is_empty() => prefixed("unix:", &path(folder, &file)),
            _ => value.to_owned(),
        }
    }

    /// `DIR`, or `URL=DIR` unless there is a directory of such a name, as `serve.php` reads it.
    pub fn files(folder: &Path, value: &OsStr) -> OsString {
        match halves(value, b'=') {
            Some((url, dir)) if url.as_bytes().starts_with(b"/") && !folder.join(value).is_dir() => {
                let mut value = url;
                value.push("=");
                value.push(path(folder, &dir));
                value
            }
            _ => path(folder, value),
        }
    }

    fn prefixed(prefix: &str, path: &OsStr) -> OsString {
        let mut value = OsString::from(prefix);
        value.push(path);
        value
    }
}
