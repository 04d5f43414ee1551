//! `spawn`, `await` and `suspend` as operators: PHP's source in, source that plain PHP reads out. Nothing is moved: text
//! is put in or replaced where it stands, and every line keeps its number. No PHP in it, no I/O.
#![forbid(unsafe_code)]

mod chain;
mod edits;
mod error;
mod lexer;
mod rewrite;
mod scan;
mod skim;
mod token;

pub use error::{Position, SyntaxError};
pub use lexer::{Lexer, Options, Start, Version};
pub use token::{Kind, Token};

/// What makes plain PHP of a source.
pub struct Plain<'a> {
    source: &'a [u8],
    edits: edits::Edits,
}

impl<'a> Plain<'a> {
    /// How many bytes it has.
    pub fn length(&self) -> usize {
        self.edits.length(self.source.len())
    }

    /// Its text, piece by piece.
    pub fn pieces(&self) -> impl Iterator<Item = &'a [u8]> {
        self.edits.pieces(self.source)
    }

    /// Its text.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.length());
        self.pieces().for_each(|piece| text.extend_from_slice(piece));
        text
    }
}

/// The source as plain PHP, in pieces; `None` when it is that already.
///
/// # Errors
/// An operator that stands where it makes no sense. What else is wrong in a source is left for PHP to say.
pub fn plain(source: &[u8], options: Options) -> Result<Option<Plain<'_>>, SyntaxError> {
    let Some(words) = scan::words(source, options) else { return Ok(None) };
    let is_plain = !scan::may_halt(source) && !words.iter().any(|at| scan::may_be_in_for(source, *at));
    let edits = rewrite::rewrite(source, options, is_plain.then_some(words))?;
    Ok(edits.map(|edits| Plain { source, edits }))
}

/// The same, as one text.
///
/// # Errors
/// The same.
pub fn rewrite(source: &[u8], options: Options) -> Result<Option<Vec<u8>>, SyntaxError> {
    Ok(plain(source, options)?.map(|plain| plain.text()))
}

/// Could the source use an operator? Sure when it says no; nothing else is done about most sources.
pub fn may_use(source: &[u8], options: Options) -> bool {
    scan::words(source, options).is_some()
}

/// As `rewrite()`, but looks at all of the source. For tests.
///
/// # Errors
/// The same.
#[doc(hidden)]
pub fn rewrite_at_length(source: &[u8], options: Options) -> Result<Option<Vec<u8>>, SyntaxError> {
    if !may_use(source, options) {
        return Ok(None);
    }
    let edits = rewrite::rewrite(source, options, None)?;
    Ok(edits.map(|edits| Plain { source, edits }.text()))
}
