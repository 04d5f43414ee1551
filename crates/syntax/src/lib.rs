//! Rewrites the operators `spawn`, `await` and `suspend` into plain PHP. Nothing is moved: text is inserted or replaced in
//! place, and every line keeps its number. It needs no PHP and does no I/O.
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

/// The edits that make plain PHP of a source.
pub struct Plain<'a> {
    source: &'a [u8],
    edits: edits::Edits,
}

impl<'a> Plain<'a> {
    /// The length of the new source in bytes.
    pub fn length(&self) -> usize {
        self.edits.length(self.source.len())
    }

    /// The pieces of the new source.
    pub fn pieces(&self) -> impl Iterator<Item = &'a [u8]> {
        self.edits.pieces(self.source)
    }

    /// The new source.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.length());
        self.pieces().for_each(|piece| text.extend_from_slice(piece));
        text
    }
}

/// Rewrites a source to plain PHP; `None` if it is that already.
///
/// # Errors
/// If an operator is used incorrectly. Other errors in the source are left for PHP to report.
pub fn plain(source: &[u8], options: Options) -> Result<Option<Plain<'_>>, SyntaxError> {
    let Some(words) = scan::words(source, options) else { return Ok(None) };
    let is_plain = !scan::may_halt(source) && !words.iter().any(|at| scan::may_be_in_for(source, *at));
    let edits = rewrite::rewrite(source, options, is_plain.then_some(words))?;
    Ok(edits.map(|edits| Plain { source, edits }))
}

/// As [`rewrite`], with the result as one text.
///
/// # Errors
/// As [`rewrite`].
pub fn rewrite(source: &[u8], options: Options) -> Result<Option<Vec<u8>>, SyntaxError> {
    Ok(plain(source, options)?.map(|plain| plain.text()))
}

/// Returns `false` if the source certainly uses no operator. Nothing else is done for most sources.
pub fn may_use(source: &[u8], options: Options) -> bool {
    scan::words(source, options).is_some()
}

/// As [`rewrite`], but parses all of the source. For tests.
///
/// # Errors
/// As [`rewrite`].
#[doc(hidden)]
pub fn rewrite_at_length(source: &[u8], options: Options) -> Result<Option<Vec<u8>>, SyntaxError> {
    if !may_use(source, options) {
        return Ok(None);
    }
    let edits = rewrite::rewrite(source, options, None)?;
    Ok(edits.map(|edits| Plain { source, edits }.text()))
}
