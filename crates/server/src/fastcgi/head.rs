//! The head of a response, as a script gives it (RFC 3875, 6.3).

use crate::response::Head;
use http::StatusCode;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// The head of a response.
#[derive(Debug)]
pub struct Given {
    pub head: Head,
    /// The reason phrase, if there is one.
    pub reason: Vec<u8>,
    /// How many bytes it has: the body follows.
    pub length: usize,
}

/// It is no head of a response, and why.
#[derive(PartialEq, Eq, Debug)]
pub struct Wrong(pub &'static str);

const TOO_LARGE: Wrong = Wrong("the head of its response is too large");

/// Returns `true` if the empty line that ends a head is among the bytes after the first `seen`. However many pieces a head comes in,
/// each byte is looked at once.
fn is_whole(text: &[u8], seen: usize) -> bool {
    text.iter().enumerate().skip(seen).any(|(at, byte)| {
        let before = text[..at].strip_suffix(b"\r").unwrap_or(&text[..at]);
        *byte == b'\n' && (before.is_empty() || before.ends_with(b"\n"))
    })
}

/// Reads the head that a response begins with; `None` if more of it is to come, as there was in the first `seen` bytes.
///
/// # Errors
/// It is none, or larger than `most` bytes.
pub fn read(text: &[u8], seen: usize, most: usize) -> Result<Option<Given>, Wrong> {
    if !is_whole(text, seen) {
        return if text.len() > most { Err(TOO_LARGE) } else { Ok(None) };
    }
    let mut headers = HeaderMap::new();
    let (mut status, mut reason) = (None, Vec::new());
    let mut at = 0;
    loop {
        let Some(end) = text[at..].iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let line = &text[at..at + end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        at += end + 1;
        if at > most {
            return Err(TOO_LARGE);
        }
        if line.is_empty() {
            break;
        }
        // Without a colon it is no header, and skipped, as by nginx.
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"status") {
            let (code, phrase) = value.split_at(value.len().min(3));
            status = Some(StatusCode::from_bytes(code).map_err(|_| Wrong("its response has no valid status"))?);
            reason = phrase.trim_ascii_start().to_vec();
            continue;
        }
        let name = HeaderName::from_bytes(name).map_err(|_| Wrong("its response has a header with a wrong name"))?;
        let value =
            HeaderValue::from_bytes(value).map_err(|_| Wrong("its response has a header with a wrong value"))?;
        headers.try_append(name, value).map_err(|_| Wrong("its response has too many headers"))?;
    }
    // As nginx has it. A redirect within the server, which a path alone may mean, is left to the client.
    let default = if headers.contains_key(header::LOCATION) { StatusCode::FOUND } else { StatusCode::OK };
    let status = status.unwrap_or(default);
    if status.is_informational() {
        return Err(Wrong("its response has no final status"));
    }
    Ok(Some(Given { head: Head { status, headers }, reason, length: at }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Option<(u16, String, String, usize)>, Wrong> {
        Ok(read(text.as_bytes(), 0, 100)?.map(|given| {
            let headers = given.head.headers.iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap()));
            let reason = String::from_utf8(given.reason).unwrap();
            (given.head.status.as_u16(), reason, headers.collect::<Vec<_>>().join(" "), given.length)
        }))
    }

    #[test]
    fn heads() {
        for (text, status, reason, headers, length) in [
            ("Content-type: text/html\r\n\r\nbody", 200, "", "content-type=text/html", 27),
            ("a: b\nc:d\n\nbody", 200, "", "a=b c=d", 10),
            ("Status: 404 Not Found\r\n\r\n", 404, "Not Found", "", 25),
            ("Status:299\r\n\r\n", 299, "", "", 14),
            ("Location: /x\r\n\r\n", 302, "", "location=/x", 16),
            ("status: 201 Made\nLocation: /x\n\n", 201, "Made", "location=/x", 31),
            ("a:\r\na: 2\r\n\r\n", 200, "", "a= a=2", 12),
            ("\n", 200, "", "", 1),
            ("no header\na: b\n\n", 200, "", "a=b", 16),
        ] {
            assert_eq!(of(text), Ok(Some((status, reason.into(), headers.into(), length))), "{text}");
        }
        for more in ["", "a", "a: b", "a: b\r\n", "a: b\r\n\r"] {
            assert_eq!(of(more), Ok(None), "{more}");
        }
        // What was seen is not searched again.
        for (text, seen, is_there) in [
            ("a: b\n\nc\n", 6, false),
            ("a: b\n\n", 5, true),
            ("a: b\r\n\r\n", 7, true),
            ("\n", 1, false),
            ("\r\n", 1, true),
        ] {
            assert_eq!(read(text.as_bytes(), seen, 100).unwrap().is_some(), is_there, "{text:?}");
        }
        let long = format!("a: {}", "b".repeat(100));
        for wrong in [
            "a b: c\n\n",
            ": c\n\n",
            "a: \x01\n\n",
            "Status: x\n\n",
            "Status: 103 Hints\n\n",
            " a: b\n\n",
            "Status: 20\n\n",
            &long,
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
