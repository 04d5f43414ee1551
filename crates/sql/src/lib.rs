//! What an SQL statement leaves on the connection that executes it.
//!
//! A statement is harmless if each part of it is known to be so: its kind, the functions that it calls, the variables that it
//! reads. Everything else, and every text that servers may read differently, counts as changing the connection.
//! What the server calls by itself is not seen: triggers, views, and functions behind operators.

#![forbid(unsafe_code)]

mod dialect;
mod lexer;
mod statement;
mod words;

pub use dialect::Dialect;
use lexer::Mode;
pub use statement::Effect;

/// Returns the effect that a statement leaves on its connection. `is_harmless` tells which further functions, by their names in
/// lower case, change nothing.
#[must_use]
pub fn effect(text: &[u8], dialect: Dialect, is_harmless: &dyn Fn(&[u8]) -> bool) -> Effect {
    // Some servers end a text at the first NUL.
    if text.contains(&0) {
        return Effect::Changes;
    }
    let has_backslash = text.contains(&b'\\');
    // In some character sets a backslash or a quote may be the second byte of a letter, and others have further spaces.
    if !text.is_ascii() && (has_backslash || std::str::from_utf8(text).is_err()) {
        return Effect::Changes;
    }
    // Its statements may need nothing between them, and its quotes may be others.
    let is_simple = |byte: &u8| byte.is_ascii_alphanumeric() || b" \t\r\n;".contains(byte);
    if dialect == Dialect::Unknown && !text.iter().all(is_simple) {
        return Effect::Changes;
    }
    let read =
        |escapes, escapes_in_double| statement::effect(text, Mode { dialect, escapes, escapes_in_double }, is_harmless);
    // What a backslash means is a setting of the server.
    match dialect {
        Dialect::MySql if has_backslash => worst(read(true, true), worst(read(true, false), read(false, false))),
        Dialect::MySql => read(true, true),
        Dialect::Postgres if has_backslash => worst(read(false, false), read(true, false)),
        Dialect::Postgres | Dialect::Sqlite | Dialect::Unknown => read(false, false),
    }
}

/// Returns the effect of a statement that has one of two.
fn worst(one: Effect, other: Effect) -> Effect {
    match (one, other) {
        _ if one == other => one,
        (Effect::Nothing | Effect::Reads, Effect::Nothing | Effect::Reads) => Effect::Reads,
        _ => Effect::Changes,
    }
}
