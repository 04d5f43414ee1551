//! What proxies say about the client for which they forward a request: believed only if they are trusted.

use http::HeaderMap;
use http::header::{self, HeaderName};
use http::uri::Authority;
use ipnet::IpNet;
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

/// The proxies that are trusted, and how they say it.
#[derive(Clone, Default, Debug)]
pub struct Proxies {
    /// Their addresses.
    pub networks: Vec<IpNet>,
    /// Every client of a Unix socket is trusted.
    pub unix: bool,
    /// They send `Forwarded` (RFC 7239), and not `X-Forwarded-For`, `-Proto` and `-Host`. It has to be said which: a client may
    /// send the others, which such a proxy passes on.
    pub standard: bool,
}

/// Where a request comes from, as trusted proxies say.
#[derive(PartialEq, Eq, Default, Debug)]
pub struct Origin {
    /// The address of the client, and its port, or 0.
    pub client: (String, u16),
    /// `http` or `https`.
    pub scheme: Option<&'static str>,
    /// The host that the client has asked for.
    pub host: Option<String>,
}

/// One hop of a request: the peer that sent it to a proxy, and how.
#[derive(Default)]
struct Hop<'a> {
    from: &'a str,
    scheme: Option<&'a str>,
    host: Option<&'a str>,
}

impl Proxies {
    fn is_trusted(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(&address))
    }

    /// Returns `true` if there are none.
    pub fn are_none(&self) -> bool {
        !self.unix && self.networks.is_empty()
    }

    /// Returns `true` if this peer is one of them; an empty text is a client of a Unix socket.
    pub fn trusts(&self, peer: &str) -> bool {
        match peer.parse::<IpAddr>() {
            Ok(address) => self.is_trusted(address),
            Err(_) => self.unix && peer.is_empty(),
        }
    }

    /// Returns the origin of a request that this peer has sent, or `None` if the peer is the client itself.
    pub fn origin(&self, peer: &str, headers: &HeaderMap) -> Option<Origin> {
        if !self.trusts(peer) {
            return None;
        }
        // A client may have sent bytes that are not text before the part that a proxy has added to the line.
        let lines = |name: HeaderName| -> Vec<Cow<'_, str>> {
            headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes())).collect()
        };
        if self.standard {
            let lines = lines(header::FORWARDED);
            let hops: Vec<Hop<'_>> = lines.iter().flat_map(|line| split(line, b',')).map(standard_hop).collect();
            return Some(self.follow(peer, &hops));
        }
        let last = |name: &'static str| {
            let last = headers.get_all(HeaderName::from_static(name)).iter().next_back()?.as_bytes();
            let last = last.rsplit(|byte| *byte == b',').next()?;
            std::str::from_utf8(last).ok().map(str::trim)
        };
        let (scheme, host) = (last("x-forwarded-proto"), last("x-forwarded-host"));
        let lines = lines(HeaderName::from_static("x-forwarded-for"));
        let from = lines.iter().flat_map(|line| line.split(',')).map(str::trim);
        let mut hops: Vec<Hop<'_>> = from.map(|from| Hop { from, scheme: None, host: None }).collect();
        // These two are what the proxy next to this server says.
        match hops.last_mut() {
            Some(last) => (last.scheme, last.host) = (scheme, host),
            None => hops.push(Hop { from: "", scheme, host }),
        }
        Some(self.follow(peer, &hops))
    }

    /// Goes back from proxy to proxy, as long as they are trusted.
    fn follow(&self, peer: &str, hops: &[Hop<'_>]) -> Origin {
        let mut origin = Origin { client: (peer.to_owned(), 0), ..Origin::default() };
        for hop in hops.iter().rev() {
            origin.scheme = scheme(hop.scheme).or(origin.scheme);
            origin.host = hop.host.and_then(authority).or(origin.host);
            let Some((address, port)) = address(hop.from) else { break };
            origin.client = (address.to_string(), port);
            if !self.is_trusted(address) {
                break;
            }
        }
        origin
    }
}

/// Splits a text where a letter is not within quotes. It is read from the end, which is what proxies have added: a quote that a
/// client has left open at the beginning takes nothing of it in.
fn split(text: &str, at: u8) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut parts, mut end, mut is_quoted) = (Vec::new(), bytes.len(), false);
    for (index, &byte) in bytes.iter().enumerate().rev() {
        // One behind a backslash is escaped, unless that is.
        let is_escaped = || bytes[..index].iter().rev().take_while(|before| **before == b'\\').count() % 2 == 1;
        if byte == b'"' && !is_escaped() {
            is_quoted = !is_quoted;
        } else if byte == at && !is_quoted {
            parts.push(&text[index + 1..end]);
            end = index;
        }
    }
    parts.push(&text[..end]);
    parts.reverse();
    parts
}

/// Returns one element of `Forwarded`. A value with an escape never means anything here.
fn standard_hop(element: &str) -> Hop<'_> {
    let mut hop = Hop::default();
    for pair in split(element, b';') {
        let Some((name, value)) = pair.split_once('=') else { continue };
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        match name.trim().to_ascii_lowercase().as_str() {
            "for" => hop.from = value,
            "proto" => hop.scheme = Some(value),
            "host" => hop.host = Some(value),
            _ => {}
        }
    }
    hop
}

fn scheme(name: Option<&str>) -> Option<&'static str> {
    let name = name?;
    ["http", "https"].into_iter().find(|known| known.eq_ignore_ascii_case(name))
}

fn authority(text: &str) -> Option<String> {
    let authority: Authority = text.parse().ok()?;
    (!authority.as_str().contains('@')).then(|| authority.to_string())
}

/// Returns an address, which may have a port, and brackets as in URLs.
fn address(text: &str) -> Option<(IpAddr, u16)> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    if let Ok(address) = inner.parse::<IpAddr>() {
        return Some((address.to_canonical(), 0));
    }
    let address: SocketAddr = text.parse().ok()?;
    Some((address.ip().to_canonical(), address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn origin(
        standard: bool,
        peer: &str,
        lines: &[(&'static str, &str)],
    ) -> Option<(String, Option<&'static str>, Option<String>)> {
        let networks = ["127.0.0.1/32", "10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap()).to_vec();
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let origin = Proxies { networks, unix: true, standard }.origin(peer, &headers)?;
        let (address, port) = origin.client;
        Some((if port > 0 { format!("{address} {port}") } else { address }, origin.scheme, origin.host))
    }

    fn client(standard: bool, peer: &str, value: &str) -> String {
        let name = if standard { "forwarded" } else { "x-forwarded-for" };
        origin(standard, peer, &[(name, value)]).map_or("itself".to_owned(), |(client, ..)| client)
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        assert_eq!(client(false, "9.9.9.9", "1.2.3.4"), "itself");
        assert_eq!(client(false, "127.0.0.1", "1.2.3.4"), "1.2.3.4");
        assert_eq!(client(false, "::ffff:127.0.0.1", "1.2.3.4"), "1.2.3.4");
        assert_eq!(client(false, "", "1.2.3.4"), "1.2.3.4");
        // What the client itself has sent comes before what a proxy has added.
        assert_eq!(client(false, "127.0.0.1", "6.6.6.6, 1.2.3.4"), "1.2.3.4");
        assert_eq!(client(false, "127.0.0.1", "6.6.6.6, 1.2.3.4, 10.1.1.1, fd00::2"), "1.2.3.4");
        assert_eq!(client(false, "127.0.0.1", "10.0.0.2, 10.0.0.1"), "10.0.0.2");
        assert_eq!(client(false, "127.0.0.1", "6.6.6.6, nonsense, 10.0.0.1"), "10.0.0.1");
        assert_eq!(client(false, "127.0.0.1", ""), "127.0.0.1");
        // A quote behind an escaped backslash ends a text.
        assert_eq!(client(true, "127.0.0.1", r#"for=6.6.6.6;x=", for=1.2.3.4;host="x\\""#), "1.2.3.4");
        assert_eq!(client(true, "127.0.0.1", r#"for=6.6.6.6, for=1.2.3.4;host="x\", for=7.7.7.7""#), "1.2.3.4");
        // Nor do bytes that are no text hide it.
        assert_eq!(client(false, "127.0.0.1", "\u{e4}, 1.2.3.4"), "1.2.3.4");
        assert_eq!(client(false, "127.0.0.1", "1.2.3.4:5678"), "1.2.3.4 5678");
        assert_eq!(client(false, "127.0.0.1", "[2001:db8::1]:80"), "2001:db8::1 80");
        assert_eq!(client(false, "127.0.0.1", "2001:db8::1"), "2001:db8::1");
        // The other family of headers is the client's.
        assert_eq!(origin(true, "127.0.0.1", &[("x-forwarded-for", "6.6.6.6")]).unwrap().0, "127.0.0.1");
        assert_eq!(origin(false, "127.0.0.1", &[("forwarded", "for=6.6.6.6")]).unwrap().0, "127.0.0.1");
    }

    #[test]
    fn several_lines_are_one_list() {
        let lines = [("x-forwarded-for", "6.6.6.6"), ("x-forwarded-for", "1.2.3.4, 10.0.0.1")];
        assert_eq!(origin(false, "127.0.0.1", &lines).unwrap().0, "1.2.3.4");
    }

    #[test]
    fn scheme_and_host() {
        let found = |proto, host| {
            let (_, scheme, host) =
                origin(false, "127.0.0.1", &[("x-forwarded-proto", proto), ("x-forwarded-host", host)]).unwrap();
            (scheme, host)
        };
        assert_eq!(found("HTTPS", "example.com:81"), (Some("https"), Some("example.com:81".to_owned())));
        assert_eq!(found("http, https", "evil, example.com"), (Some("https"), Some("example.com".to_owned())));
        assert_eq!(found("javascript", "a b"), (None, None));
        assert_eq!(found("\u{e4}, https", "\u{e4}, example.com"), (Some("https"), Some("example.com".to_owned())));
        assert_eq!(found("", "user@host"), (None, None));
    }

    #[test]
    fn the_standard_header() {
        let cases = [
            ("for=1.2.3.4", "1.2.3.4"),
            ("For=\"[2001:db8::1]:47\"; Proto=https", "2001:db8::1 47"),
            ("for=6.6.6.6, for=1.2.3.4;proto=https, for=10.0.0.1", "1.2.3.4"),
            ("for=unknown", "127.0.0.1"),
            ("for=_hidden, for=10.0.0.1", "10.0.0.1"),
            ("for=\"1.2.3.4, for=10.0.0.1", "10.0.0.1"),
            // An unclosed quote of the client's does not hide what the proxy has added.
            ("for=\"evil, for=1.2.3.4", "1.2.3.4"),
            ("for=\"evil, for=\"[2001:db8::1]:47\";proto=https", "2001:db8::1 47"),
            ("for=\"a\\\\, for=1.2.3.4", "1.2.3.4"),
            ("\u{e4}, for=1.2.3.4", "1.2.3.4"),
            ("for=\"6.6.6.6\\\"\", for=10.0.0.1", "10.0.0.1"),
            (";;=;for", "127.0.0.1"),
        ];
        for (line, expected) in cases {
            assert_eq!(client(true, "127.0.0.1", line), expected, "{line}");
        }
        let lines = [("forwarded", "for=1.2.3.4;proto=https;host=\"a.example:8\", for=10.0.0.1;proto=http;host=inner")];
        let (client, scheme, host) = origin(true, "127.0.0.1", &lines).unwrap();
        assert_eq!((client.as_str(), scheme, host.as_deref()), ("1.2.3.4", Some("https"), Some("a.example:8")));
    }
}
