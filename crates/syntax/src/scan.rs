//! A quick scan for words that may be operators. Most sources have none and are not parsed.

use crate::lexer::{Options, begins_label, cast_at, is_label, is_space, spaces};
use memchr::memmem::{self, Finder};
use std::sync::LazyLock;

/// Where operators may begin, and what else matters for them: declarations of `suspend` as a constant; closures without
/// parentheses, which are looked for only where one of the words is. In order; `None` when there is nothing of it for sure,
/// and this is all that most sources pay.
pub fn words(source: &[u8], options: Options) -> Option<Vec<usize>> {
    let (mut words, mut is_there, mut is_used) = (Vec::new(), false, false);
    each_word(source, |at, word| {
        is_there = true;
        let before = &source[..at];
        let end = at + word.len();
        let is_name = before.last().is_some_and(|byte| is_label(*byte) || matches!(byte, b'$' | b'\'' | b'"' | b'`'))
            || before.ends_with(b"->") // a member
            || before.ends_with(b"::")
            || source.get(end).is_some_and(|byte| is_label(*byte));
        if is_name {
            return;
        }
        let next = end + spaces(&source[end..]);
        let is_imported = before.ends_with(b"\\");
        if word == b"suspend" {
            if !is_import_of_function(before) && source.get(next) != Some(&b'(') {
                is_used |= !is_imported && ends_suspend(&source[next..]);
                words.push(at);
            }
        } else if !is_imported && begins_operand(source, next, options) {
            is_used = true;
            words.push(at);
        }
    });
    if !is_there {
        return None;
    }
    let others = words.len();
    words.extend(FUNCTION.find_iter(source).filter(|at| is_closure(source, at + b"function".len())));
    is_used |= words.len() > others;
    words.sort_unstable();
    is_used.then_some(words)
}

/// Returns `true` if `suspend`, followed by white space and this, can be a statement or the end of one.
pub fn ends_suspend(rest: &[u8]) -> bool {
    matches!(rest.first(), Some(b';' | b'?' | b'/' | b'#') | None)
}

/// Returns `true` if the next word is the name of an imported function (`use function Async\{await, suspend}`).
fn is_import_of_function(before: &[u8]) -> bool {
    const USE: &[u8] = b"use function ";
    const LONGEST: usize = 500;
    let before = &before[before.len().saturating_sub(LONGEST)..];
    memmem::rfind(before, USE).is_some_and(|at| {
        let names = &before[at + USE.len()..];
        names.iter().all(|byte| is_label(*byte) || is_space(*byte) || matches!(byte, b'\\' | b'{' | b','))
    })
}

/// Returns `true` if the word that ends here can be that of a closure without parentheses.
fn is_closure(source: &[u8], end: usize) -> bool {
    let next = source.get(end).copied().unwrap_or(0);
    next != b'(' && !is_label(next) && closure(source, end + spaces(&source[end..]))
}

/// Returns `true` if the source contains `__halt_compiler`, after which there is no code.
pub fn may_halt(source: &[u8]) -> bool {
    memmem::find_iter(source, b"__")
        .any(|at| source[at + 2..].get(..13).is_some_and(|word| word.eq_ignore_ascii_case(b"halt_compiler")))
}

/// Returns `true` if this `suspend` can be the constant in `for (…; suspend; …)` and not a statement.
pub fn may_be_in_for(source: &[u8], word: usize) -> bool {
    let rest = source[word..].strip_prefix(b"suspend").unwrap_or_default();
    let is_after_semicolon = source[..word].trim_ascii_end().ends_with(b";");
    let Some(rest) = rest.trim_ascii_start().strip_prefix(b";").filter(|_| is_after_semicolon) else { return false };
    let mut depth = 0;
    for byte in rest {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return true,
            b')' => depth -= 1,
            b';' | b'{' | b'}' => break,
            _ => {}
        }
    }
    false
}

/// `aw` is in two of the words, and like `usp` rare in programs.
static AW: LazyLock<Finder> = LazyLock::new(|| Finder::new("aw"));
static USP: LazyLock<Finder> = LazyLock::new(|| Finder::new("usp"));
static FUNCTION: LazyLock<Finder> = LazyLock::new(|| Finder::new("function"));

/// Calls `found` for each `spawn`, `await` and `suspend`, wherever it stands.
fn each_word(source: &[u8], mut found: impl FnMut(usize, &'static [u8])) {
    for at in AW.find_iter(source).chain(USP.find_iter(source)) {
        // the word that these letters may belong to, and where it would begin
        let (word, start): (&[u8], _) = match (source[at], source.get(at + 2)) {
            (b'a', Some(b'a')) => (b"await", Some(at)),
            (b'a', _) => (b"spawn", at.checked_sub(2)),
            _ => (b"suspend", at.checked_sub(1)),
        };
        if let Some(start) = start.filter(|start| source[*start..].starts_with(word)) {
            found(start, word);
        }
    }
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

/// Returns `true` if it can be a `function` without parentheses, whose next token begins at `at`.
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
