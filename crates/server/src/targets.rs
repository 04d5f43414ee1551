//! What a request is for: its target, and the host that it names.

use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{Method, Uri, Version};
use std::net::Ipv6Addr;

/// Returns `true` if the target is one that a server can have, and the host is one (RFC 9112, 3.2). The method is not CONNECT.
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
        // RFC 9113, 8.3.1: what is for one host must not look as if it were for another one.
        (Some(authority), Some(host)) if version == Version::HTTP_2 => authority.eq_ignore_ascii_case(host),
        _ => true,
    };
    is_good(authority) && is_good(host) && agree
}

/// Has the host named in one way: with a target that names it, what a header says is to be ignored (RFC 9112, 3.2.2).
pub fn unite(head: &mut Parts) {
    if let (Some(authority), Some(host)) = (head.uri.authority(), head.headers.get_mut(header::HOST))
        && let Ok(value) = HeaderValue::from_str(authority.as_str())
    {
        *host = value;
    }
}

/// Returns `true` for a host, with or without a port. No name has a comma, which the syntax would allow: it joins two headers.
fn is_host(text: &[u8]) -> bool {
    let colon = text.iter().rposition(|byte| *byte == b':').filter(|at| !text[*at..].contains(&b']'));
    let (host, port) = colon.map_or((text, &[][..]), |at| (&text[..at], &text[at + 1..]));
    let is_number = port.iter().all(u8::is_ascii_digit);
    let is_port =
        port.is_empty() || is_number && std::str::from_utf8(port).is_ok_and(|port| port.parse::<u16>().is_ok());
    is_port && if host.starts_with(b"[") { is_bracketed(host) } else { is_name(host) }
}

fn is_bracketed(host: &[u8]) -> bool {
    let inner = host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]"));
    inner.is_some_and(|inner| std::str::from_utf8(inner).is_ok_and(|inner| inner.parse::<Ipv6Addr>().is_ok()))
}

fn is_name(mut name: &[u8]) -> bool {
    if name.is_empty() {
        return false;
    }
    while let [first, rest @ ..] = name {
        name = match first {
            b'%' => match rest {
                [high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest,
                _ => return false,
            },
            byte if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+;=".contains(byte) => rest,
            _ => return false,
        };
    }
    true
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
