//! What a request is for: its target, and the host that it names.

use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{Method, Uri, Version};
use std::net::Ipv6Addr;

/// Returns `true` if the target and the host are valid for a server (RFC 9112, 3.2). The method is not CONNECT.
pub fn is_valid(method: &Method, version: Version, target: &Uri, host: Option<&HeaderValue>) -> bool {
    let is_path = target.path().starts_with('/') && (target.scheme().is_some() || target.authority().is_none());
    let is_server = target.path() == "*" && method == Method::OPTIONS;
    if !is_path && !is_server {
        return false;
    }
    let authority = target.authority().map(|authority| authority.as_str().as_bytes());
    let host = host.map(HeaderValue::as_bytes);
    let is_good =
        |one: Option<&[u8]>| one.is_none_or(|one| is_host(one) || one.is_empty() && version == Version::HTTP_10);
    let agree = match (authority, host) {
        // RFC 9113, 8.3.1: a request for one host must not pass for one for another.
        (Some(authority), Some(host)) if version == Version::HTTP_2 => authority.eq_ignore_ascii_case(host),
        _ => true,
    };
    is_good(authority) && is_good(host) && agree
}

/// Has the host and the path named in one way: with a target that names the host, what a header says is to be ignored (RFC 9112,
/// 3.2.2).
pub fn normalize(head: &mut Parts) {
    if let (Some(authority), Some(host)) = (head.uri.authority(), head.headers.get_mut(header::HOST))
        && let Ok(value) = HeaderValue::from_str(authority.as_str())
    {
        *host = value;
    }
    // RFC 9110, 4.2.3: a target of an authority and a query has the path `/`.
    if let Some(target) = head.uri.path_and_query()
        && target.as_str().starts_with('?')
        && let Ok(whole) = format!("/{}", target.as_str()).parse()
    {
        let mut parts = std::mem::take(&mut head.uri).into_parts();
        parts.path_and_query = Some(whole);
        head.uri = Uri::from_parts(parts).unwrap_or_default();
    }
}

/// Returns `true` for a host, with or without a port. A comma, which the syntax would allow, is refused: it joins two headers.
fn is_host(text: &[u8]) -> bool {
    let colon = text.iter().rposition(|byte| matches!(byte, b':' | b']')).filter(|at| text[*at] == b':');
    let (host, port) = colon.map_or((text, &[][..]), |at| (&text[..at], &text[at + 1..]));
    is_port(port) && if host.starts_with(b"[") { is_bracketed(host) } else { is_name(host) }
}

/// Returns `true` for the number of a port, and for an empty text.
fn is_port(text: &[u8]) -> bool {
    let mut number = 0;
    text.iter().all(|byte| {
        number = number * 10 + u32::from(byte.wrapping_sub(b'0'));
        byte.is_ascii_digit() && number <= u32::from(u16::MAX)
    })
}

fn is_bracketed(host: &[u8]) -> bool {
    let inner = host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]"));
    inner.is_some_and(|inner| std::str::from_utf8(inner).is_ok_and(|inner| inner.parse::<Ipv6Addr>().is_ok()))
}

/// The bytes of a host name. A `%` is followed by two digits.
static IN_NAMES: [bool; 256] = {
    let (mut all, mut byte) = ([false; 256], 0);
    while byte < 128 {
        all[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let others = b"-._~!$&'()*+;=";
    let mut at = 0;
    while at < others.len() {
        all[others[at] as usize] = true;
        at += 1;
    }
    all
};

fn is_name(name: &[u8]) -> bool {
    let mut bytes = name.iter();
    while let Some(byte) = bytes.next() {
        if IN_NAMES[usize::from(*byte)] {
            continue;
        }
        let mut is_digit = || bytes.next().is_some_and(u8::is_ascii_hexdigit);
        if *byte != b'%' || !is_digit() || !is_digit() {
            return false;
        }
    }
    !name.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for good in [
            "a",
            "a.example",
            "a.example:80",
            "a:",
            "127.0.0.1:65535",
            "a:000000000000000000080",
            "a%20",
            "!$&'()*+;=~-._Z09",
            "[::1]",
            "[2001:db8::1]:443",
            "a_b",
            "a%20b",
            "xn--4ca.x.",
        ] {
            assert!(is_host(good.as_bytes()), "{good}");
        }
        for wrong in [
            "",
            ":80",
            "a:b",
            "a:b:80",
            "a:65536",
            "a:99999999999999999999",
            "a:-1",
            "a:+1",
            "a b",
            "a/b",
            "a?b",
            "a#b",
            "a@b",
            "a\\b",
            "a,b",
            "[::1",
            "::1",
            "[a]",
            "[::1]a",
            "[::1]:x",
            "[]",
            "a%2",
            "a%",
            "%2",
            "a:8%30",
            "a]:1",
            "a%zz",
            "a\"",
            "\u{e9}",
            "a\0",
            "[::1]]",
            "a]",
            "[::1%25eth0]",
        ] {
            assert!(!is_host(wrong.as_bytes()), "{wrong}");
        }
    }
}
