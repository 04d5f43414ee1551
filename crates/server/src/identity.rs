//! The ids by which the lines of logs are found that belong to one request.

use http::{HeaderMap, HeaderName, HeaderValue};
use std::hash::{BuildHasher, RandomState};

/// The header that has the id of a request: what a proxy has called it, and what its client is told.
pub const HEADER: &str = "x-request-id";

/// The longest id of a proxy.
const LONGEST: usize = 128;

/// Makes the ids of a server: a keyed hash of their numbers. A request whose id is never asked for costs nothing but its number, and who
/// knows one id does not guess another one.
#[derive(Default)]
pub struct Ids(RandomState);

impl Ids {
    /// Returns the id of the request with this number: 32 hexadecimal digits, as many as the id of a trace.
    pub fn of(&self, number: u64) -> String {
        format!("{:016x}{:016x}", self.0.hash_one((number, 0_u8)), self.0.hash_one((number, 1_u8)))
    }
}

/// Returns the id that a proxy has given to the request: exactly one, of 1 to 128 letters, digits and `-_.~:+/=@`, which mean nothing in
/// any format of a log.
pub fn given(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(HEADER).iter();
    let id = all.next().filter(|_| all.next().is_none())?.to_str().ok()?;
    let is_sane = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~:+/=@".contains(&byte);
    ((1..=LONGEST).contains(&id.len()) && id.bytes().all(is_sane)).then_some(id)
}

/// Adds an id to the head of a response, unless its handler has.
pub fn add(headers: &mut HeaderMap, id: &str) {
    if !headers.contains_key(HEADER)
        && let Ok(id) = HeaderValue::from_str(id)
    {
        headers.insert(HeaderName::from_static(HEADER), id);
    }
}

/// Returns the id of the trace that the request is a part of (W3C Trace Context): the second part of `traceparent`.
pub fn trace(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all("traceparent").iter();
    let line = all.next().filter(|_| all.next().is_none())?.to_str().ok()?;
    let parts: Vec<&str> = line.splitn(5, '-').collect();
    let is_hex =
        |text: &str, length| text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_known = |id: &str| id.bytes().any(|byte| byte != b'0');
    match parts[..] {
        // Later versions may have more parts.
        [version, trace, span, flags, ref rest @ ..]
            if is_hex(version, 2) && version != "ff" && (version != "00" || rest.is_empty()) =>
        {
            let is_whole =
                is_hex(trace, 32) && is_known(trace) && is_hex(span, 16) && is_known(span) && is_hex(flags, 2);
            is_whole.then_some(trace)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Ids, given, trace};
    use http::{HeaderMap, HeaderName, HeaderValue};

    fn headers(name: &'static str, values: &[&[u8]]) -> HeaderMap {
        let name = HeaderName::from_static(name);
        values.iter().map(|value| (name.clone(), HeaderValue::from_bytes(value).unwrap())).collect()
    }

    #[test]
    fn ids_differ() {
        let (one, other) = (Ids::default(), Ids::default());
        let all: std::collections::HashSet<String> = (0..1000).flat_map(|n| [one.of(n), other.of(n)]).collect();
        assert_eq!(all.len(), 2000);
        assert!(all.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
        assert_eq!(one.of(7), one.of(7));
    }

    #[test]
    fn an_id_that_is_given_has_to_be_sane() {
        let longest = [b'a'; 128];
        for good in [&b"a"[..], b"4F-a_z.~:+/=@9", &longest] {
            assert_eq!(given(&headers("x-request-id", &[good])).map(str::as_bytes), Some(good));
        }
        let long = [b'a'; 129];
        for bad in [&b""[..], b"a b", b"a\"b", b"a\\b", b"a,b", b"\xe4", b"<a>", b"{}", &long] {
            assert_eq!(given(&headers("x-request-id", &[bad])), None, "{bad:?}");
        }
        assert_eq!(given(&headers("x-request-id", &[b"a", b"b"])), None);
        assert_eq!(given(&HeaderMap::new()), None);
    }

    #[test]
    fn the_id_of_a_trace() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        for (line, expected) in [
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Some(id)),
            ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more-of-it", Some(id)),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", None),
            ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", None),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", None),
            ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", None),
            ("00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", None),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", None),
            ("", None),
        ] {
            assert_eq!(trace(&headers("traceparent", &[line.as_bytes()])), expected, "{line}");
        }
        let twice = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".as_bytes();
        assert_eq!(trace(&headers("traceparent", &[twice, twice])), None);
    }
}
