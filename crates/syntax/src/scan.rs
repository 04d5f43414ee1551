//! Is it worth a closer look? Most sources are not, and this is all that they pay.

use crate::lexer::{Options, begins_label, cast_at, is_label, is_space};
use memchr::memmem;

/// Could the source use an operator, or a closure without parentheses? Sure when it says no.
pub fn may_use(source: &[u8], options: Options) -> bool {
    let operator = |at: usize| begins_operand(source, at, options);
    has(source, b"await", operator)
        || has(source, b"spawn", operator)
        || has(source, b"suspend", |at| matches!(source.get(at), Some(b';' | b'?' | b'/' | b'#') | None))
        || has(source, b"function", |at| closure(source, at))
}

/// Does the word stand somewhere as a word of its own, with `follows` true of the place after it and white space?
fn has(source: &[u8], word: &[u8], follows: impl Fn(usize) -> bool) -> bool {
    memmem::find_iter(source, word).any(|at| {
        let end = at + word.len();
        let before = if at == 0 { b' ' } else { source[at - 1] };
        !is_label(before)
            && !matches!(before, b'$' | b'\\')
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
