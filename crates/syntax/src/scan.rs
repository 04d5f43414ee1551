//! Is it worth a closer look? Most sources are not, and this is all that they pay.

use crate::lexer::{Options, begins_label, cast_at, is_label, is_space};
use memchr::memmem;

/// Could the source use an operator? Sure when it says no. Closures without parentheses are looked for only where one of
/// the words is.
pub fn may_use(source: &[u8], options: Options) -> bool {
    if !has_words(source) {
        return false;
    }
    let operator = |at: usize| begins_operand(source, at, options);
    has(source, b"await", operator)
        || has(source, b"spawn", operator)
        || has(source, b"suspend", |at| matches!(source.get(at), Some(b';' | b'?' | b'/' | b'#') | None))
        || has(source, b"function", |at| closure(source, at))
}

/// How much is looked at in one go.
const BLOCK: usize = 64;

/// Does it have `spawn`, `await` or `suspend` in it, in whatever place? One pass, over blocks that the compiler makes
/// vector instructions of: `aw` is in the first two, `u.p` in the third, and both are rare in programs.
fn has_words(source: &[u8]) -> bool {
    let mut at = 0;
    while let Some(block) = source.get(at..at + BLOCK + 2) {
        let (a, b, c) = (&block[..BLOCK], &block[1..BLOCK + 1], &block[2..]);
        let mut found = 0;
        for i in 0..BLOCK {
            let first = u8::from(a[i] == b'a') & u8::from(b[i] == b'w');
            let second = u8::from(a[i] == b'u') & u8::from(c[i] == b'p');
            found |= first | second;
        }
        if found != 0 && words_around(source, at) {
            return true;
        }
        at += BLOCK;
    }
    words_around(source, at)
}

/// The same about the words that begin in or just before a block.
#[cold]
fn words_around(source: &[u8], block: usize) -> bool {
    const LONGEST: usize = 7;
    let end = source.len().min(block + BLOCK + LONGEST);
    let around = &source[block.saturating_sub(LONGEST)..end];
    [&b"spawn"[..], b"await", b"suspend"].into_iter().any(|word| memmem::find(around, word).is_some())
}

/// Does the word stand somewhere as a word of its own, with `follows` true of the place after it and white space?
fn has(source: &[u8], word: &[u8], follows: impl Fn(usize) -> bool) -> bool {
    memmem::find_iter(source, word).any(|at| {
        let end = at + word.len();
        let before = &source[..at];
        !before.last().is_some_and(|byte| is_label(*byte) || matches!(byte, b'$' | b'\\'))
            && !before.ends_with(b"->") // a member
            && !before.ends_with(b"::")
            && source.get(end).is_none_or(|byte| !is_label(*byte))
            && follows(end + spaces(&source[end..]))
    })
}
fn spaces(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_space(**byte)).count()
}

fn begins_operand(source: &[u8], at: usize, options: Options) -> bool {
    match source.get(at) {
        Some(b'$' | b'\\' | b'\'' | b'"' | b'`' | b'!' | b'~' | b'@' | b'#' | b'0'..=b'9') => true,
        Some(b'/') => matches!(source.get(at + 1), Some(b'/' | b'*')),
        Some(b'<') => source[at..].starts_with(b"<<<"),
        Some(b'.') => source.get(at + 1).is_some_and(u8::is_ascii_digit),
        Some(b'(') => cast_at(source, at, options.version).is_some(),
        Some(byte) => begins_label(*byte),
        None => false,
    }
}

/// Could it be `function` without parentheses, whose next token begins at `at`?
fn closure(source: &[u8], at: usize) -> bool {
    match source.get(at) {
        Some(b'{' | b':' | b'/' | b'#') => true,
        Some(b'&') => closure(source, at + 1 + spaces(&source[at + 1..])),
        Some(b'u' | b'U') => {
            let is_use = source[at..].get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"use"));
            is_use && source.get(at + 3 + spaces(source.get(at + 3..).unwrap_or_default())) == Some(&b'(')
        }
        _ => false,
    }
}
