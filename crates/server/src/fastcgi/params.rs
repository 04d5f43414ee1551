//! The parameters of a request: those that nginx's own configuration has.

use super::record::pair;
use crate::exchange::Exchange;
use http::Version;
use http::header::{self, HeaderName};

/// Where a script is.
pub struct Place<'a> {
    /// The folder of the site, as the FastCGI server sees it.
    pub root: &'a [u8],
    /// The path of the script in it.
    pub name: &'a [u8],
    /// What is before that in URLs.
    pub prefix: &'a str,
    /// What follows the script in the URL.
    pub info: &'a [u8],
}

/// Returns the parameters. `length`: that of the body, if it has one.
pub fn of(exchange: &Exchange, place: &Place<'_>, length: Option<u64>) -> Vec<u8> {
    let head = exchange.head();
    let mut all = Vec::with_capacity(2048);
    let mut set = |name: &str, value: &[u8]| pair(name.as_bytes(), value, &mut all);
    let script = [place.prefix.as_bytes(), b"/", place.name].concat();
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    let length = length.map(|length| length.to_string()).unwrap_or_default();
    let kind = head.headers.get(header::CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
    let scheme = exchange.scheme();
    let (address, port) = exchange.client();
    let (local, local_port) = split(exchange.local());
    let host = match (head.uri.authority(), head.headers.get(header::HOST)) {
        (Some(authority), _) => authority.as_str().as_bytes(),
        (None, Some(host)) => host.as_bytes(),
        (None, None) => b"",
    };
    let name = if host.is_empty() { local.as_bytes() } else { without_port(host) };
    set("QUERY_STRING", head.uri.query().unwrap_or("").as_bytes());
    set("REQUEST_METHOD", head.method.as_str().as_bytes());
    set("CONTENT_TYPE", kind);
    set("CONTENT_LENGTH", length.as_bytes());
    set("SCRIPT_NAME", &script);
    set("REQUEST_URI", target.as_bytes());
    set("DOCUMENT_URI", &script); // as where nginx checks that the script is there
    set("DOCUMENT_ROOT", place.root);
    set("SCRIPT_FILENAME", &[place.root, b"/", place.name].concat());
    set("PATH_INFO", place.info);
    set(
        "SERVER_PROTOCOL",
        match head.version {
            Version::HTTP_2 => b"HTTP/2.0",
            Version::HTTP_10 => b"HTTP/1.0",
            _ => b"HTTP/1.1",
        },
    );
    set("REQUEST_SCHEME", scheme.as_bytes());
    if scheme == "https" {
        set("HTTPS", b"on");
    }
    set("GATEWAY_INTERFACE", b"CGI/1.1");
    set("SERVER_SOFTWARE", b"spindle");
    set("REMOTE_ADDR", address.as_bytes());
    set("REMOTE_PORT", port.to_string().as_bytes());
    set("SERVER_ADDR", local.trim_matches(['[', ']']).as_bytes());
    set("SERVER_PORT", local_port.as_bytes());
    set("SERVER_NAME", &name.to_ascii_lowercase());
    set("REDIRECT_STATUS", b"200"); // without it a PHP that may be called as a plain CGI program refuses
    if !host.is_empty() {
        set("HTTP_HOST", host);
    }
    for name in head.headers.keys().filter(|name| **name != header::HOST) {
        let Some(variable) = variable(name) else { continue };
        let separator: &[u8] = if *name == header::COOKIE { b"; " } else { b", " };
        let values: Vec<_> = head.headers.get_all(name).iter().map(|value| value.as_bytes()).collect();
        pair(&variable, &values.join(separator), &mut all);
    }
    all
}

/// Returns the name of the parameter for a header; `None` if it has none.
fn variable(name: &HeaderName) -> Option<Vec<u8>> {
    let text = name.as_str();
    // Programs would take the first for the setting of a proxy. With an underscore or the like, it would stand for another header.
    let is_passed = text != "proxy" && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let letter = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_uppercase() };
    is_passed.then(|| b"HTTP_".iter().copied().chain(text.bytes().map(letter)).collect())
}

/// Returns the address and the port of a listener.
fn split(local: &str) -> (&str, &str) {
    if local.starts_with("unix:") || local.starts_with("fd:") {
        return (local, "");
    }
    local.rsplit_once(':').unwrap_or((local, ""))
}

fn without_port(host: &[u8]) -> &[u8] {
    let start = host.iter().rposition(|byte| *byte == b']').unwrap_or(0);
    let colon = host[start..].iter().position(|byte| *byte == b':');
    colon.map_or(host, |at| &host[..start + at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parameters() {
        let of = |name: &str| variable(&HeaderName::from_bytes(name.as_bytes()).unwrap());
        assert_eq!(of("X-Forwarded-For").as_deref(), Some(&b"HTTP_X_FORWARDED_FOR"[..]));
        assert_eq!(of("cookie2").as_deref(), Some(&b"HTTP_COOKIE2"[..]));
        for none in ["Proxy", "X_Forwarded_For", "a.b", "a~", "a!"] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn hosts_without_ports() {
        for (host, name) in [("a.b", "a.b"), ("a.b:80", "a.b"), ("[::1]", "[::1]"), ("[::1]:80", "[::1]"), ("", "")] {
            assert_eq!(without_port(host.as_bytes()), name.as_bytes());
        }
    }
}
