//! Strings, and what stands in them: variables, offsets, code.

use super::{LABEL, Lexer, State, begins_label, is_label};
use crate::token::Kind;
use memchr::memchr2;

impl<'a> Lexer<'a> {
    /// A string that begins before `from`.
    pub(super) fn single_quoted(&self, from: usize) -> (Kind, usize) {
        single_quoted(self.source, from).map_or((Kind::Text, self.source.len()), |end| (Kind::String, end))
    }

    pub(super) fn double_quoted(&mut self, from: usize) -> (Kind, usize) {
        let end = self.plain_text(from, b'"');
        if end < self.source.len() && self.source[end] == b'"' {
            return (Kind::String, end + 1);
        }
        self.plain_until = end;
        self.state = State::Quotes;
        (Kind::Quote, from)
    }

    /// The end of the text that has neither a variable nor the closing quote in it.
    fn plain_text(&self, from: usize, quote: u8) -> usize {
        let mut at = from;
        while at < self.source.len() {
            match self.source[at] {
                b'\\' => at += 1,
                byte if byte == quote => return at,
                b'$' if begins_label(self.byte(at + 1)) || self.byte(at + 1) == b'{' => return at,
                b'{' if self.byte(at + 1) == b'$' => return at,
                _ => {}
            }
            at += 1;
        }
        self.source.len()
    }

    /// What begins with `$` or `{` in a string.
    fn variable(&mut self) -> Option<(Kind, usize)> {
        let at = self.at;
        match (self.byte(at), self.byte(at + 1)) {
            (b'$', b'{') => {
                self.push(State::VarName);
                Some((Kind::DollarCurlyOpen, at + 2))
            }
            (b'{', b'$') => {
                self.push(State::Script);
                Some((Kind::CurlyOpen, at + 1))
            }
            (b'$', next) if begins_label(next) => {
                let end = self.run_of(at + 2, LABEL);
                if self.byte(end) == b'[' {
                    self.push(State::Offset);
                } else {
                    let rest = &self.source[end..];
                    let arrow = [&b"->"[..], b"?->"].into_iter().find(|arrow| rest.starts_with(arrow));
                    if arrow.is_some_and(|arrow| begins_label(self.byte(end + arrow.len()))) {
                        self.push(State::Property);
                    }
                }
                Some((Kind::Variable, end))
            }
            _ => None,
        }
    }

    /// Within `"…"` and `` `…` ``.
    pub(super) fn quotes(&mut self, quote: u8, kind: Kind) -> (Kind, usize) {
        let at = self.at;
        if at < self.plain_until {
            return (Kind::Text, self.plain_until);
        }
        if self.source[at] == quote {
            self.state = State::Script;
            return (kind, at + 1);
        }
        if let Some(found) = self.variable() {
            return found;
        }
        let first = if self.source[at] == b'\\' { 2 } else { 1 };
        (Kind::Text, self.plain_text(at + first, quote).min(self.source.len()))
    }

    pub(super) fn offset(&mut self) -> Option<(Kind, usize)> {
        let at = self.at;
        let byte = self.source[at];
        let one = |kind| Some((kind, at + 1));
        match byte {
            b'[' => one(Kind::OpenBracket),
            b']' => {
                self.pop();
                one(Kind::CloseBracket)
            }
            b'-' => one(Kind::Sign),
            b'$' if begins_label(self.byte(at + 1)) => Some((Kind::Variable, self.run_of(at + 2, LABEL))),
            b'0'..=b'9' => Some((Kind::OffsetNumber, self.whole(at))),
            b' ' | b'\n' | b'\r' | b'\t' | b'\\' | b'\'' | b'#' => {
                self.pop();
                None
            }
            byte if begins_label(byte) => Some((Kind::Name, self.run_of(at, LABEL))),
            _ => one(Kind::Bad),
        }
    }

    /// The label of the heredoc, the end of its line, and whether it is a nowdoc; `at` is behind `<<<`.
    pub(super) fn opens_heredoc(&self, at: usize) -> Option<(&'a [u8], usize, bool)> {
        let start = self.skip_blanks(at);
        let quote = Some(self.byte(start)).filter(|byte| matches!(byte, b'\'' | b'"'));
        let start = start + usize::from(quote.is_some());
        if !begins_label(self.byte(start)) {
            return None;
        }
        let end = self.run_of(start, LABEL);
        let after = match quote {
            Some(quote) if self.byte(end) != quote => return None,
            Some(_) => end + 1,
            None => end,
        };
        Some((&self.source[start..end], self.newline(after)?, quote == Some(b'\'')))
    }

    pub(super) fn start_heredoc(&mut self, at: usize) -> (Kind, usize) {
        let Some((label, end, is_nowdoc)) = self.opens_heredoc(at) else { return (Kind::Bad, at) };
        self.labels.push(label);
        self.state = match self.closing_label(end) {
            Some(length) => State::EndHeredoc(length),
            None if is_nowdoc => State::Nowdoc,
            None => State::Heredoc,
        };
        (Kind::StartHeredoc, end)
    }

    /// The length of the closing label with its indentation, if it stands on the line that begins at `at`. It is one
    /// only when something follows it.
    fn closing_label(&self, at: usize) -> Option<usize> {
        let label = *self.labels.last()?;
        let start = self.skip_blanks(at);
        let end = start + label.len();
        (end < self.source.len() && &self.source[start..end] == label && !is_label(self.source[end]))
            .then_some(end - at)
    }

    pub(super) fn heredoc(&mut self) -> (Kind, usize) {
        if let Some(found) = self.variable() {
            return found;
        }
        let mut at = self.at;
        while at < self.source.len() {
            match self.source[at] {
                b'\n' | b'\r' => {
                    at = self.newline(at).unwrap_or(at + 1);
                    if let Some(length) = self.closing_label(at) {
                        self.state = State::EndHeredoc(length);
                        break;
                    }
                }
                b'$' if at > self.at && (begins_label(self.byte(at + 1)) || self.byte(at + 1) == b'{') => break,
                b'{' if at > self.at && self.byte(at + 1) == b'$' => break,
                b'\\' if !matches!(self.byte(at + 1), b'\n' | b'\r') => at += 2,
                _ => at += 1,
            }
        }
        (Kind::Text, at.min(self.source.len()))
    }

    pub(super) fn nowdoc(&mut self) -> (Kind, usize) {
        let mut at = self.at;
        while let Some(found) = memchr::memchr2(b'\n', b'\r', &self.source[at..]) {
            at = self.newline(at + found).unwrap_or(at + found + 1);
            if let Some(length) = self.closing_label(at) {
                self.state = State::EndHeredoc(length);
                return (Kind::Text, at);
            }
        }
        (Kind::Text, self.source.len())
    }
}

/// The end of a string that begins before `from`; `None` when it has none.
pub fn single_quoted(source: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = source.get(at..).and_then(|rest| memchr2(b'\'', b'\\', rest)) {
        at += found + 1;
        if source[at - 1] == b'\'' {
            return Some(at);
        }
        at += 1;
    }
    None
}
