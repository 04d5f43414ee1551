//! Conditional requests and ranges: RFC 9110, 13 and 14.

use http::header::{self, HeaderMap, HeaderName};
use http::{HeaderValue, Method};
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What tells one version of a file from another. A file that has changed a moment ago has none: it could change again without
/// being told apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Validators {
    /// A strong entity tag, with its quotes.
    pub tag: String,
    /// The time of the last change, in seconds.
    pub modified: u64,
}

impl Validators {
    /// Returns the date for `Last-Modified`.
    pub fn date(&self) -> String {
        httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(self.modified))
    }
}

/// What follows from the conditions of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The whole file is sent.
    Whole,
    /// A part of it is sent, with status 206.
    Part(Range<u64>),
    /// Status 304.
    NotModified,
    /// Status 412.
    Failed,
    /// Status 416.
    NotSatisfiable,
}

/// Evaluates the conditions of a request for a file of this length, in the order of RFC 9110, 13.2.2.
pub fn evaluate(method: &Method, headers: &HeaderMap, validators: Option<&Validators>, length: u64) -> Outcome {
    let tag = validators.map(|validators| validators.tag.as_str());
    let modified = validators.map(|validators| validators.modified);
    if headers.contains_key(header::IF_MATCH) {
        if !lists(headers, header::IF_MATCH, |listed| Some(listed) == tag) {
            return Outcome::Failed;
        }
    } else if let Some(date) = date(headers, header::IF_UNMODIFIED_SINCE) {
        // What has changed just now has changed since.
        if modified.is_none_or(|modified| modified > date) {
            return Outcome::Failed;
        }
    }
    if headers.contains_key(header::IF_NONE_MATCH) {
        // The comparison is weak: a weak tag of ours comes from an intermediary that has changed the coding.
        if lists(headers, header::IF_NONE_MATCH, |listed| Some(listed.strip_prefix("W/").unwrap_or(listed)) == tag) {
            return Outcome::NotModified;
        }
    } else if let Some(date) = date(headers, header::IF_MODIFIED_SINCE)
        && modified.is_some_and(|modified| modified <= date)
    {
        return Outcome::NotModified;
    }
    if method == Method::GET && is_same(headers, validators) { range(headers, length) } else { Outcome::Whole }
}

/// Returns `true` if the parts that the client has are of this file, or it does not ask about that.
fn is_same(headers: &HeaderMap, validators: Option<&Validators>) -> bool {
    let Some(value) = headers.get(header::IF_RANGE) else { return true };
    let (Some(validators), Ok(text)) = (validators, value.to_str()) else { return false };
    let text = text.trim();
    text == validators.tag || parse_date(text) == Some(validators.modified)
}

fn date(headers: &HeaderMap, name: HeaderName) -> Option<u64> {
    let mut values = headers.get_all(name).iter();
    let text = values.next()?.to_str().ok()?;
    values.next().is_none().then(|| parse_date(text.trim())).flatten()
}

fn parse_date(text: &str) -> Option<u64> {
    let time: SystemTime = httpdate::parse_http_date(text).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Returns `true` if a list of entity tags is `*`, or one of it matches.
fn lists(headers: &HeaderMap, name: HeaderName, matches: impl Fn(&str) -> bool) -> bool {
    headers.get_all(name).iter().any(|value| {
        let Ok(text) = std::str::from_utf8(value.as_bytes()) else { return false };
        text.trim() == "*" || tags(text).any(&matches)
    })
}

/// Returns the entity tags of a list. A comma may be in one.
fn tags(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        text = text.trim_start_matches([' ', '\t', ',']);
        let start = if text.starts_with("W/") { 3 } else { 1 };
        if !text.get(start - 1..).is_some_and(|rest| rest.starts_with('"')) {
            return None; // the end, or no list of tags
        }
        let end = start + text.get(start..)?.find('"')? + 1;
        let (tag, rest) = text.split_at(end);
        text = rest;
        Some(tag)
    })
}

/// Parses the header `Range`. Several ranges, other units and malformed values are ignored.
fn range(headers: &HeaderMap, length: u64) -> Outcome {
    let mut values = headers.get_all(header::RANGE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Outcome::Whole };
    match value.to_str().ok().and_then(Asked::parse) {
        None => Outcome::Whole,
        Some(Asked::From(first, _)) if first >= length => Outcome::NotSatisfiable,
        Some(Asked::From(first, last)) => {
            Outcome::Part(first..last.map_or(length, |last| last.saturating_add(1).min(length)))
        }
        Some(Asked::Last(0)) => Outcome::NotSatisfiable,
        Some(Asked::Last(_)) if length == 0 => Outcome::Whole,
        Some(Asked::Last(count)) => Outcome::Part(length - count.min(length)..length),
    }
}

enum Asked {
    /// From a byte on, to the end or to the other one.
    From(u64, Option<u64>),
    /// This many bytes at the end.
    Last(u64),
}

impl Asked {
    fn parse(text: &str) -> Option<Asked> {
        let (unit, set) = text.trim().split_once('=')?;
        if !unit.eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (first, last) = set.trim().split_once('-')?;
        // A number that is too large is larger than any file.
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse().unwrap_or(u64::MAX))
        };
        match (first, last) {
            ("", last) => number(last).map(Asked::Last),
            (first, "") => number(first).map(|first| Asked::From(first, None)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Asked::From(first, Some(last)))
            }
        }
    }
}

/// Returns the value of `Content-Range`.
pub fn content_range(part: Option<&Range<u64>>, length: u64) -> Option<HeaderValue> {
    let text = match part {
        Some(part) => format!("bytes {}-{}/{length}", part.start, part.end - 1),
        None => format!("bytes */{length}"),
    };
    HeaderValue::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

    fn of(lines: &[(&str, &str)]) -> Outcome {
        with(&Method::GET, lines, true, 10)
    }

    fn with(method: &Method, lines: &[(&str, &str)], has_validators: bool, length: u64) -> Outcome {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let validators = Validators { tag: "\"x\"".into(), modified: 784_111_777 };
        assert_eq!(validators.date(), DATE);
        evaluate(method, &headers, has_validators.then_some(&validators), length)
    }

    #[test]
    fn tags_and_dates() {
        use Outcome::{Failed, NotModified, Whole};
        for (lines, expected) in [
            (&[][..], Whole),
            (&[("if-none-match", "\"x\"")], NotModified),
            (&[("if-none-match", "W/\"x\"")], NotModified),
            (&[("if-none-match", "\"a,b\", W/\"y\" ,,\"x\"")], NotModified),
            (&[("if-none-match", "\"y\""), ("if-none-match", "\"x\"")], NotModified),
            (&[("if-none-match", "*")], NotModified),
            (&[("if-none-match", "\"y\"")], Whole),
            (&[("if-none-match", "x")], Whole),
            (&[("if-none-match", "\"\"")], Whole),
            (&[("if-none-match", "\"x")], Whole),
            (&[("if-none-match", "\"y\""), ("if-modified-since", AFTER)], Whole),
            (&[("if-modified-since", BEFORE)], Whole),
            (&[("if-modified-since", DATE)], NotModified),
            (&[("if-modified-since", AFTER)], NotModified),
            (&[("if-modified-since", "yesterday")], Whole),
            (&[("if-modified-since", AFTER), ("if-modified-since", AFTER)], Whole),
            (&[("if-match", "\"x\"")], Whole),
            (&[("if-match", "\"y\", \"x\"")], Whole),
            (&[("if-match", "*")], Whole),
            (&[("if-match", "W/\"x\"")], Failed),
            (&[("if-match", "\"y\"")], Failed),
            (&[("if-match", "")], Failed),
            (&[("if-match", "\"x\""), ("if-unmodified-since", BEFORE)], Whole),
            (&[("if-unmodified-since", BEFORE)], Failed),
            (&[("if-unmodified-since", DATE)], Whole),
            (&[("if-unmodified-since", "never")], Whole),
            (&[("if-match", "\"x\""), ("if-none-match", "\"x\"")], NotModified),
            (&[("if-match", "\"y\""), ("if-none-match", "\"x\"")], Failed),
        ] {
            assert_eq!(of(lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_file_without_validators_is_sent_anew() {
        use Outcome::{Failed, NotModified, Whole};
        for (lines, expected) in [
            (&[("if-none-match", "\"x\"")][..], Whole),
            (&[("if-none-match", "*")], NotModified),
            (&[("if-modified-since", AFTER)], Whole),
            (&[("if-match", "\"x\"")], Failed),
            (&[("if-match", "*")], Whole),
            (&[("if-unmodified-since", AFTER)], Failed),
            (&[("range", "bytes=1-2"), ("if-range", "\"x\"")], Whole),
            (&[("range", "bytes=1-2"), ("if-range", DATE)], Whole),
            (&[("range", "bytes=1-2")], Outcome::Part(1..3)),
        ] {
            assert_eq!(with(&Method::GET, lines, false, 10), expected, "{lines:?}");
        }
    }

    #[test]
    fn ranges() {
        use Outcome::{NotSatisfiable, Part, Whole};
        for (text, expected) in [
            ("bytes=0-0", Part(0..1)),
            ("bytes=2-4", Part(2..5)),
            ("bytes=2-", Part(2..10)),
            ("bytes=-3", Part(7..10)),
            ("bytes=-30", Part(0..10)),
            ("bytes=2-99999999999999999999999", Part(2..10)),
            ("Bytes= 0-9", Part(0..10)),
            ("bytes=9-18446744073709551615", Part(9..10)),
            ("bytes=10-", NotSatisfiable),
            ("bytes=10-20", NotSatisfiable),
            ("bytes=-0", NotSatisfiable),
            ("bytes=99999999999999999999999-", NotSatisfiable),
            ("bytes=4-2", Whole),
            ("bytes=-", Whole),
            ("bytes=", Whole),
            ("bytes", Whole),
            ("bytes=a-b", Whole),
            ("bytes=+1-2", Whole),
            ("bytes=1--2", Whole),
            ("bytes=0-1,3-4", Whole),
            ("lines=0-1", Whole),
        ] {
            assert_eq!(of(&[("range", text)]), expected, "{text}");
            assert_eq!(with(&Method::HEAD, &[("range", text)], true, 10), Whole, "HEAD {text}");
        }
        assert_eq!(with(&Method::GET, &[("range", "bytes=0-")], true, 0), NotSatisfiable);
        assert_eq!(with(&Method::GET, &[("range", "bytes=-1")], true, 0), Whole);
        assert_eq!(of(&[("range", "bytes=0-1"), ("range", "bytes=0-1")]), Whole);
    }

    #[test]
    fn a_range_of_another_version_is_the_whole_file() {
        use Outcome::{NotModified, Part, Whole};
        for (condition, expected) in [
            ("\"x\"", Part(0..2)),
            ("W/\"x\"", Whole),
            ("\"y\"", Whole),
            (DATE, Part(0..2)),
            (AFTER, Whole),
            (BEFORE, Whole),
            ("", Whole),
        ] {
            assert_eq!(of(&[("range", "bytes=0-1"), ("if-range", condition)]), expected, "{condition}");
        }
        assert_eq!(of(&[("range", "bytes=0-1"), ("if-none-match", "\"x\"")]), NotModified);
    }
}
