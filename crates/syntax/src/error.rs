//! Errors in the use of the operators, in PHP's own words where it has some.

use crate::lexer::lines;
use crate::token::{Kind, Token};
use std::fmt;

/// A wrong use of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The offset at which it is detected.
    pub offset: usize,
    /// The message, worded as PHP's own: `syntax error, …`.
    pub message: String,
}

/// A place in a source, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, as PHP counts them.
    pub line: usize,
    /// The byte in the line.
    pub column: usize,
}

impl SyntaxError {
    /// A token that cannot stand where it does, and what is wanted instead.
    pub(crate) fn unexpected(source: &[u8], token: Token, wanted: Option<&str>) -> SyntaxError {
        let text = String::from_utf8_lossy(&source[token.start as usize..token.end as usize]);
        let found = match token.kind {
            Kind::End => "end of file".to_string(),
            Kind::Variable => format!("variable \"{text}\""),
            Kind::Name => format!("identifier \"{text}\""),
            Kind::Qualified => format!("qualified name \"{text}\""),
            Kind::FullyQualified => format!("fully qualified name \"{text}\""),
            Kind::Relative => format!("namespace-relative name \"{text}\""),
            Kind::Number if text.contains(['.', 'e', 'E']) && !text.starts_with("0x") => {
                format!("floating-point number \"{text}\"")
            }
            Kind::Number => format!("integer \"{text}\""),
            Kind::String if text.contains('\n') || text.len() > 60 => "string".to_string(),
            Kind::String => format!("string {text}"),
            Kind::StartHeredoc => "heredoc start".to_string(),
            Kind::Quote => "token \"\"\"".to_string(),
            Kind::InlineHtml => "inline html".to_string(),
            Kind::CloseTag => "token \"?>\"".to_string(),
            _ => format!("token \"{}\"", text.trim_end()),
        };
        let wanted = wanted.map(|wanted| format!(": {wanted}")).unwrap_or_default();
        SyntaxError { offset: token.start as usize, message: format!("syntax error, unexpected {found}{wanted}") }
    }

    /// Where in `source` it is.
    pub fn position(&self, source: &[u8]) -> Position {
        let before = &source[..self.offset.min(source.len())];
        let line_start = before.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
        Position { line: 1 + lines(before), column: 1 + before.len() - line_start }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}
