//! Which coding a client prefers: the header `Accept-Encoding` (RFC 9110, 12.5.3).

use http::{HeaderMap, HeaderName, HeaderValue};

/// A coding of content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coding {
    /// None.
    Identity,
    /// gzip.
    Gzip,
    /// Brotli.
    Brotli,
    /// Zstandard.
    Zstd,
}

impl Coding {
    /// Returns its name in headers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Coding::Identity => "identity",
            Coding::Gzip => "gzip",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }

    fn is_named(self, name: &[u8]) -> bool {
        // RFC 9110, 8.4.1.3: x-gzip is the same as gzip.
        name.eq_ignore_ascii_case(self.name().as_bytes())
            || (self == Coding::Gzip && name.eq_ignore_ascii_case(b"x-gzip"))
    }
}

/// What one element of the header says.
struct Element<'a> {
    name: &'a [u8],
    /// In thousandths.
    weight: u16,
}

/// Returns the coding with the highest weight, and of those with the same weight the one that is offered first. Returns `None` if
/// the client accepts none of them.
///
/// `values` are the values of all `Accept-Encoding` headers of a request. Without any, the client accepts everything, but may
/// understand nothing: then it gets no coding if that is offered. No coding is acceptable unless it is excluded, and comes
/// after all those that are named.
pub fn preferred<'a>(values: impl IntoIterator<Item = &'a HeaderValue>, offered: &[Coding]) -> Option<Coding> {
    let mut values = values.into_iter().peekable();
    if values.peek().is_none() {
        return if offered.contains(&Coding::Identity) { Some(Coding::Identity) } else { offered.first().copied() };
    }
    let elements: Vec<Element<'_>> =
        values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')).filter_map(element).collect();
    let mut best = None;
    for coding in offered {
        let rank = rank(&elements, *coding);
        if rank > 0 && best.is_none_or(|(highest, _)| rank > highest) {
            best = Some((rank, *coding));
        }
    }
    best.map(|(_, coding)| coding)
}

/// Returns how much a coding is wanted; 0: not at all.
fn rank(elements: &[Element<'_>], coding: Coding) -> u16 {
    // A coding that is named twice has the lower weight: one of them may exclude it.
    let named = |is_named: &dyn Fn(&[u8]) -> bool| {
        elements.iter().filter(|element| is_named(element.name)).map(|element| element.weight).min()
    };
    match named(&|name| coding.is_named(name)).or_else(|| named(&|name| name == b"*")) {
        Some(weight) => weight * 2,
        None if coding == Coding::Identity => 1,
        None => 0,
    }
}

/// Parses an element; `None` if it is malformed.
fn element(text: &[u8]) -> Option<Element<'_>> {
    let mut parts = text.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let weight = match parts.next() {
        None => 1000,
        Some(parameter) => weight(parameter)?,
    };
    parts.next().is_none().then_some(Element { name, weight })
}

/// Returns the weight of `q=0.5`, in thousandths. At most three digits follow the point.
fn weight(parameter: &[u8]) -> Option<u16> {
    let (name, value) = parameter.split_at_checked(2)?;
    if !name.eq_ignore_ascii_case(b"q=") {
        return None;
    }
    let (whole, digits) = match value {
        [whole] => (whole, &[][..]),
        [whole, b'.', digits @ ..] => (whole, digits),
        _ => return None,
    };
    if digits.len() > 3 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let fraction = (0..3).fold(0, |sum, at| sum * 10 + digits.get(at).map_or(0, |digit| u16::from(digit - b'0')));
    match whole {
        b'0' => Some(fraction),
        b'1' if fraction == 0 => Some(1000),
        _ => None,
    }
}

/// Returns the members of a header that is a list.
pub fn words(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &[u8]> {
    let words = headers.get_all(name).into_iter().flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    words.map(<[u8]>::trim_ascii).filter(|word| !word.is_empty())
}

/// Returns `true` if a header that is a list has this word.
pub fn has_word(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    words(headers, name).any(|one| one.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::Coding::{Brotli, Gzip, Identity, Zstd};
    use super::*;

    const ALL: &[Coding] = &[Zstd, Brotli, Gzip, Identity];

    fn of(text: &str, offered: &[Coding]) -> Option<Coding> {
        preferred(&[HeaderValue::from_bytes(text.as_bytes()).unwrap()], offered)
    }

    #[test]
    fn the_highest_weight_wins_and_then_the_order_of_the_offer() {
        for (text, expected) in [
            ("gzip", Gzip),
            ("gzip, br", Brotli),
            ("gzip, deflate, br, zstd", Zstd),
            ("gzip;q=1.0, br;q=0.8", Gzip),
            ("br;q=0.001, gzip;q=0.002", Gzip),
            ("GZip", Gzip),
            ("x-gzip", Gzip),
            ("*", Zstd),
            ("zstd;q=0, *", Brotli),
            ("gzip;q=0.5, *;q=0.1", Gzip),
            ("gzip;q=0.1", Gzip), // rather than none, which is not named
            ("identity, gzip;q=0.5", Identity),
            ("identity;q=0.5, gzip;q=0.5", Gzip),
            ("deflate", Identity),
            ("", Identity),
            (" , ,", Identity),
            ("gzip ; q=0.5 ,\tbr;Q=0.4", Gzip),
            ("gzip;q=0", Identity),
            ("*;q=0, gzip", Gzip),
            ("*;q=0, identity;q=0.1", Identity),
        ] {
            assert_eq!(of(text, ALL), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_excluded_is_not_chosen() {
        for text in
            ["*;q=0", "identity;q=0", "identity;q=0.000", "gzip, *;q=0", "gzip, identity;q=0", "gzip;q=0, *;q=0.0"]
        {
            assert_eq!(of(text, &[Identity]), None, "{text}");
        }
        assert_eq!(of("gzip, gzip;q=0", ALL), Some(Identity));
        assert_eq!(of("gzip", &[Brotli]), None);
        assert_eq!(of("identity;q=0", ALL), None, "codings that are not named are not accepted");
        assert_eq!(of("identity;q=0, *;q=0.1", ALL), Some(Zstd));
    }

    #[test]
    fn a_malformed_element_says_nothing() {
        for text in [
            "gzip;q=2",
            "gzip;q=1.1",
            "gzip;q=",
            "gzip;q=0.1234",
            "gzip;q=-1",
            "gzip;q=.5",
            "gzip;x=1",
            "gzip;q=1;q=1",
            "gzip;",
            "gzip;q=0,5x",
            "gzip br",
            "gzip;q=\u{e9}",
            "identity;q=00",
        ] {
            assert_eq!(of(text, ALL), Some(Identity), "{text}");
        }
        assert_eq!(of("gzip;q=1.000, br;q=1.", ALL), Some(Brotli));
    }

    #[test]
    fn several_headers_are_one_list() {
        let lines = ["gzip;q=0.5", "br;q=0.6", "*;q=0"].map(HeaderValue::from_static);
        assert_eq!(preferred(&lines, ALL), Some(Brotli));
        assert_eq!(preferred(&lines, &[Zstd, Identity]), None);
    }

    #[test]
    fn without_a_header_nothing_is_encoded_if_that_can_be() {
        assert_eq!(preferred([], ALL), Some(Identity));
        assert_eq!(preferred([], &[Gzip]), Some(Gzip));
        assert_eq!(preferred([], &[]), None);
    }
}
