//! `spawn`, `await` and `suspend` as operators: PHP's source in, source that plain PHP reads out. Nothing is moved: text
//! is put in or replaced where it stands, and every line keeps its number. No PHP in it, no I/O.
#![forbid(unsafe_code)]

mod edits;
mod error;
mod lexer;
mod rewrite;
mod scan;
mod token;

pub use error::{Position, SyntaxError};
pub use lexer::{Lexer, Options, Start, Version};
pub use scan::may_use;
pub use token::{Kind, Token};

/// The source as plain PHP; `None` when it is that already.
///
/// # Errors
/// An operator that stands where it makes no sense. What else is wrong in a source is left for PHP to say.
pub fn rewrite(source: &[u8], options: Options) -> Result<Option<Vec<u8>>, SyntaxError> {
    if !may_use(source, options) {
        return Ok(None);
    }
    rewrite::rewrite(source, options)
}
