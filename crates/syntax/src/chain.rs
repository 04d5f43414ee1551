//! The end of simple operands: a variable or a name, followed by members, indices and calls, without other operators. Other
//! operands are parsed token by token.

use crate::lexer::{begins_label, is_label, single_quoted, spaces};
use crate::token::{Kind, word};
use memchr::memchr3;

/// Where it ends, and where its last parentheses open, if it ends with a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chain {
    pub end: usize,
    pub call: Option<usize>,
}

/// What comes behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Behind {
    /// The end of an expression.
    End,
    /// `until`, at this offset.
    Until(usize),
}

/// The chain that begins at `at`, all of it before `limit`; `None` when this is not a chain, or is followed by something that
/// could belong to it.
pub fn chain(source: &[u8], at: usize, limit: usize) -> Option<(Chain, Behind)> {
    let source = &source[..limit];
    let mut end = beginning(source, at)?;
    let mut call = None;
    loop {
        let next = end + spaces(&source[end..]);
        match source.get(next)? {
            b'(' => (call, end) = (Some(next), group(source, next)?),
            b'[' => (call, end) = (None, group(source, next)?),
            byte @ (b'-' | b':') => {
                let follows = if *byte == b'-' { b'>' } else { b':' };
                if source.get(next + 1) != Some(&follows) {
                    return None;
                }
                let name = next + 2 + spaces(&source[next + 2..]);
                (call, end) = (None, label(source, name + usize::from(source.get(name) == Some(&b'$')))?);
            }
            b';' | b',' | b')' | b']' | b'}' => return Some((Chain { end, call }, Behind::End)),
            b'u' if source[next..].starts_with(b"until") && !source.get(next + 5).copied().is_some_and(is_label) => {
                return (next > end).then_some((Chain { end, call }, Behind::Until(next)));
            }
            _ => return None,
        }
    }
}

/// The end of a variable or a name.
fn beginning(source: &[u8], at: usize) -> Option<usize> {
    match source.get(at)? {
        b'$' => label(source, at + 1),
        b'\\' => rest_of_name(source, at),
        _ => {
            let end = label(source, at)?;
            if source.get(end) == Some(&b'\\') {
                return rest_of_name(source, end);
            }
            let name = &source[at..end];
            // `await children` is an operator; `namespace` and `enum` depend on what follows
            let is_special = matches!(name, b"children" | b"spawned" | b"await" | b"spawn")
                || name.eq_ignore_ascii_case(b"enum")
                || word(name) != Kind::Name;
            (!is_special).then_some(end)
        }
    }
}

/// The end of `\a\b`.
fn rest_of_name(source: &[u8], mut at: usize) -> Option<usize> {
    while source.get(at) == Some(&b'\\') {
        at = label(source, at + 1)?;
    }
    Some(at)
}

fn label(source: &[u8], at: usize) -> Option<usize> {
    let rest = source.get(at..)?;
    let begins = rest.first().copied().is_some_and(begins_label);
    begins.then(|| at + rest.iter().take_while(|byte| is_label(**byte)).count())
}

/// Returns `true` for `...)`, the arguments of a first-class callable.
fn makes_closure(arguments: &[u8]) -> bool {
    let rest = arguments.trim_ascii_start().strip_prefix(b"...");
    rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(b")"))
}

/// The end of a string that begins before `from`; `None` when it contains code that is not simple. Before `limit` there
/// is no operator; 0: there must be no code at all.
pub fn string(source: &[u8], from: usize, quote: u8, limit: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = source.get(at..).and_then(|rest| memchr3(quote, b'\\', b'{', rest)) {
        at += found + 1;
        match source[at - 1] {
            b'\\' => at += 1,
            b'{' if source[at - 2] == b'$' => return None,
            b'{' if source.get(at) == Some(&b'$') && limit == 0 => return None,
            b'{' if source.get(at) == Some(&b'$') => at = code(source, at, limit)?,
            b'{' => {}
            _ => return Some(at),
        }
    }
    Some(source.len())
}

/// The end of `{$a->b($c)['d']}`, behind the brace.
fn code(source: &[u8], mut at: usize, limit: usize) -> Option<usize> {
    loop {
        match *source.get(at)? {
            b'}' => return Some(at),
            b'(' | b'[' => at = group(&source[..limit], at)?,
            b'$' | b'-' | b'>' | b':' => at += 1,
            byte if is_label(byte) => at += 1,
            _ => return None,
        }
    }
}

/// The end of the brackets that open at `at`, where they contain nothing but simple expressions: no blocks, no comments,
/// no code in strings.
fn group(source: &[u8], at: usize) -> Option<usize> {
    /// How deep brackets may nest: the open ones are kept in one word.
    const DEEPEST: u32 = 60;
    if makes_closure(source.get(at + 1..)?) {
        return None;
    }
    // a bit for each that is open, set for a `[`
    let (mut open, mut depth) = (0_u64, 0);
    let mut at = at;
    loop {
        let byte = *source.get(at)?;
        at += 1;
        if !STOPS[byte as usize] {
            continue;
        }
        match byte {
            b'(' | b'[' => {
                open = open << 1 | u64::from(byte == b'[');
                depth += 1;
                if depth > DEEPEST {
                    return None;
                }
            }
            b')' | b']' => {
                if open & 1 != u64::from(byte == b']') {
                    return None;
                }
                open >>= 1;
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            b'\'' => at = single_quoted(source, at)?,
            b'"' => at = string(source, at, b'"', 0)?,
            b'/' if !matches!(source.get(at), Some(b'/' | b'*')) => {}
            b'<' if source.get(at) != Some(&b'<') => {}
            b'?' if source.get(at) != Some(&b'>') => {}
            _ => return None,
        }
    }
}

const STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    let bytes = b"()[]{}'\"`#/<?";
    let mut i = 0;
    while i < bytes.len() {
        stops[bytes[i] as usize] = true;
        i += 1;
    }
    stops
};
