//! The PROXY protocol, versions 1 and 2: what a proxy that forwards connections, not requests, says about the client before
//! anything else.

use ppp::{v1, v2};
use std::net::IpAddr;

/// What a connection begins with in version 2.
const BINARY: &[u8] = v2::PROTOCOL_PREFIX;
/// How a header of version 1 begins, and how many bytes it may have.
const TEXT: &[u8] = b"PROXY ";
const TEXT_LENGTH: usize = 107;
/// The length of a header of version 2 without the addresses and what follows them.
const FIXED: usize = 16;
/// How long a header may be. The format allows 64 KiB of further values; certificates at most are sent.
pub const LONGEST: usize = 4096;

/// Whose connection it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// That of this client.
    Client(IpAddr, u16),
    /// That of a client whose address the proxy does not know.
    Unknown,
    /// The proxy's own: a health check.
    Proxy,
}

/// The result of parsing the start of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parsed {
    /// A header, and its length.
    Header(Source, usize),
    /// Not yet all of one.
    Partial,
    /// Not a header.
    Malformed,
}

/// Parses a header at the start of `bytes`.
pub fn parse(bytes: &[u8]) -> Parsed {
    let begins = |prefix: &[u8]| {
        let length = prefix.len().min(bytes.len());
        bytes[..length] == prefix[..length]
    };
    let end = if begins(BINARY) {
        let length = bytes.get(FIXED - 2..FIXED).map(|two| u16::from_be_bytes([two[0], two[1]]));
        length.map(|length| FIXED + usize::from(length))
    } else if begins(TEXT) {
        let line = &bytes[..bytes.len().min(TEXT_LENGTH)];
        let end = line.windows(2).position(|two| two == b"\r\n").map(|at| at + 2);
        if end.is_none() && line.len() == TEXT_LENGTH {
            return Parsed::Malformed;
        }
        end
    } else {
        return Parsed::Malformed;
    };
    match end {
        Some(end) if end > LONGEST => Parsed::Malformed,
        Some(end) if end <= bytes.len() => match source(&bytes[..end]) {
            Some(source) => Parsed::Header(source, end),
            None => Parsed::Malformed,
        },
        _ => Parsed::Partial,
    }
}

/// Parses a whole header.
fn source(header: &[u8]) -> Option<Source> {
    if !header.starts_with(BINARY) {
        return Some(match v1::Header::try_from(header).ok()?.addresses {
            v1::Addresses::Tcp4(of) => Source::Client(of.source_address.into(), of.source_port),
            v1::Addresses::Tcp6(of) => Source::Client(of.source_address.into(), of.source_port),
            v1::Addresses::Unknown => Source::Unknown,
        });
    }
    let header = v2::Header::try_from(header).ok()?;
    Some(match (header.command, header.protocol, header.addresses) {
        (v2::Command::Local, ..) => Source::Proxy,
        (_, v2::Protocol::Stream, v2::Addresses::IPv4(of)) => Source::Client(of.source_address.into(), of.source_port),
        (_, v2::Protocol::Stream, v2::Addresses::IPv6(of)) => Source::Client(of.source_address.into(), of.source_port),
        _ => Source::Unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(command: u8, family: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        [BINARY, &[command, family], &length, content].concat()
    }

    fn client(text: &str, port: u16) -> Source {
        Source::Client(text.parse().unwrap(), port)
    }

    #[test]
    fn headers_are_read_however_they_come() {
        let four = [1, 2, 3, 4, 127, 0, 0, 1, 0x1f, 0x90, 0, 80];
        let more = [&four[..], &[4, 0, 3, 9, 9, 9, 0x20, 0, 1, 7]].concat();
        let six = [[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0; 16]].concat();
        let six = [&six[..], &[0, 1, 0, 80]].concat();
        let cases = [
            (b"PROXY TCP4 1.2.3.4 5.6.7.8 99 443\r\n".to_vec(), client("1.2.3.4", 99)),
            (b"PROXY TCP6 2001:db8::1 ::1 65535 1\r\n".to_vec(), client("2001:db8::1", 65535)),
            (b"PROXY UNKNOWN\r\n".to_vec(), Source::Unknown),
            (b"PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n".to_vec(), Source::Unknown),
            (binary(0x21, 0x11, &four), client("1.2.3.4", 8080)),
            (binary(0x21, 0x11, &more), client("1.2.3.4", 8080)),
            (binary(0x21, 0x21, &six), client("2001:db8::1", 1)),
            (binary(0x21, 0x12, &four), Source::Unknown),
            (binary(0x21, 0x00, &[]), Source::Unknown),
            (binary(0x21, 0x00, &[1, 2, 3]), Source::Unknown),
            (binary(0x21, 0x31, &[b'/'; 216]), Source::Unknown),
            (binary(0x20, 0x00, &[]), Source::Proxy),
            (binary(0x20, 0x11, &four), Source::Proxy),
        ];
        for (header, expected) in cases {
            for length in 0..header.len() {
                assert_eq!(parse(&header[..length]), Parsed::Partial, "{length} of {header:?}");
            }
            let all = [&header[..], b"GET / HTTP/1.1\r\n\r\n"].concat();
            assert_eq!(parse(&all), Parsed::Header(expected, header.len()), "{header:?}");
        }
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let long = format!("PROXY UNKNOWN {}", "a".repeat(TEXT_LENGTH));
        let cases: [&[u8]; 22] = [
            b"G",
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            b"\x16\x03\x01\x02\x00",
            b"proxy TCP4 1.2.3.4 5.6.7.8 99 443\r\n",
            b"PROXY\r\n",
            b"PROXY \r\n",
            b"PROXY TCP4\r\n",
            b"PROXY TCP5 1.2.3.4 5.6.7.8 99 443\r\n",
            b"PROXY TCP4 1.2.3.4 5.6.7.8 99\r\n",
            b"PROXY TCP4 1.2.3.4 5.6.7.8 99 443 1\r\n",
            b"PROXY TCP4 1.2.3.4  5.6.7.8 99 443\r\n",
            b"PROXY TCP4 1.2.3.256 5.6.7.8 99 443\r\n",
            b"PROXY TCP4 ::1 ::1 99 443\r\n",
            b"PROXY TCP6 1.2.3.4 5.6.7.8 99 443\r\n",
            b"PROXY TCP4 1.2.3.4 5.6.7.8 65536 443\r\n",
            b"PROXY TCP4 1.2.3.4 5.6.7.8 -1 443\r\n",
            b"PROXY TCP4 1.2.3.4 5.6.7.8 099 443\r\n",
            b"PROXY TCP4 \xff 5.6.7.8 99 443\r\n",
            long.as_bytes(),
            b"\r\n\r\n\x00\r\nQUIT\x0a",
            b"\r\n\r\n\x00\r\nQUIX",
            b"\r\n\r\nGET / HTTP/1.1\r\n",
        ];
        for bytes in cases {
            let found = parse(bytes);
            assert!(
                found == Parsed::Malformed || bytes.ends_with(b"QUIT\x0a") && found == Parsed::Partial,
                "{bytes:?}"
            );
        }
        for (command, family, length) in
            [(0x11, 0x11, 12), (0x22, 0x11, 12), (0x21, 0x41, 12), (0x21, 0x13, 12), (0x21, 0x11, 11), (0x21, 0x21, 35)]
        {
            assert_eq!(
                parse(&binary(command, family, &vec![0; length])),
                Parsed::Malformed,
                "{command} {family} {length}"
            );
        }
        // So long that it is not waited for.
        assert_eq!(parse(&binary(0x21, 0x11, &[0; LONGEST])[..20]), Parsed::Malformed);
    }
}
