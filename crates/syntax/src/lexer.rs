//! A lexer for PHP, whose tokens have the boundaries of the engine's own (`token_get_all()`): the example `corpus` compares
//! the two. Any bytes are a source; every byte is in exactly one token.

mod strings;

pub use strings::single_quoted;

use crate::token::{Kind, Token, word};
use memchr::{memchr, memchr3, memmem};

/// A version of PHP. Later versions have more tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// PHP 8.2
    V8_2,
    /// PHP 8.3: comments within `yield from` and after `enum`.
    V8_3,
    /// PHP 8.4: `private(set)`.
    V8_4,
    /// PHP 8.5: `|>`, `(void)`.
    V8_5,
}

/// Where a source starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Outside of PHP's tags: a file.
    Html,
    /// Inside of them: what `eval()` gets.
    Script,
}

/// How to read a source.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The PHP that reads it.
    pub version: Version,
    /// `<?` opens PHP code (the ini setting `short_open_tag`).
    pub short_tags: bool,
    /// Where it starts.
    pub start: Start,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Html,
    Script,
    Quotes,
    Backticks,
    Heredoc,
    Nowdoc,
    /// The closing label is next, of this length.
    EndHeredoc(usize),
    /// After `->`.
    Property,
    /// Within `"$a[…]"`.
    Offset,
    /// After `"${`.
    VarName,
}

/// An iterator over the tokens of a source, white space and comments included.
pub struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
    state: State,
    states: Vec<State>,
    /// The labels of the heredocs that are open.
    labels: Vec<&'a [u8]>,
    options: Options,
    /// The number of tokens until all that follows is data; `None` before `__halt_compiler`.
    until_halt: Option<u8>,
    /// The part of a string up to here is known to have no variable in it.
    plain_until: usize,
}

const LABEL: u8 = 1;
const LABEL_START: u8 = 2;
const SPACE: u8 = 4;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphabetic() || b == b'_' || b >= 0x80 {
            classes[byte] = LABEL | LABEL_START;
        } else if b.is_ascii_digit() {
            classes[byte] = LABEL;
        } else if matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            classes[byte] = SPACE;
        }
        byte += 1;
    }
    classes
};

/// Returns `true` if a name may begin with this byte.
pub fn begins_label(byte: u8) -> bool {
    CLASSES[byte as usize] & LABEL_START != 0
}

/// Returns `true` if a name may contain this byte.
pub fn is_label(byte: u8) -> bool {
    CLASSES[byte as usize] & LABEL != 0
}

/// Returns `true` for PHP's white space.
pub fn is_space(byte: u8) -> bool {
    CLASSES[byte as usize] & SPACE != 0
}

/// The length of the white space at the start of a text.
pub fn spaces(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_space(**byte)).count()
}

impl<'a> Lexer<'a> {
    /// The source must be shorter than 4 GiB.
    pub fn new(source: &'a [u8], options: Options) -> Lexer<'a> {
        assert!(u32::try_from(source.len()).is_ok(), "a source has less than 4 GiB");
        let state = match options.start {
            Start::Html => State::Html,
            Start::Script => State::Script,
        };
        let (states, labels) = (Vec::new(), Vec::new());
        Lexer { source, at: 0, state, states, labels, options, until_halt: None, plain_until: 0 }
    }

    /// Starts at an offset in PHP code, outside of any string.
    pub(crate) fn within(source: &'a [u8], options: Options, at: usize) -> Lexer<'a> {
        Lexer { at, ..Lexer::new(source, Options { start: Start::Script, ..options }) }
    }

    /// Returns the version by which it reads.
    pub(crate) fn version(&self) -> Version {
        self.options.version
    }

    /// As [`Lexer::within`], with the allocations of this lexer.
    pub(crate) fn go_on(&mut self, at: usize) {
        (self.at, self.state, self.until_halt, self.plain_until) = (at, State::Script, None, 0);
        self.states.clear();
        self.labels.clear();
    }

    /// The end of the string that begins at an offset.
    pub(crate) fn end_of_string(source: &'a [u8], options: Options, at: usize) -> usize {
        Lexer::within(source, options, at).back_in_script()
    }

    /// The end of text that is not PHP, which starts with the source or at a `?>`: after the next `<?php`.
    pub(crate) fn end_of_html(source: &'a [u8], options: Options, at: usize) -> usize {
        let lexer = if at == 0 { Lexer::new(source, options) } else { Lexer::within(source, options, at) };
        lexer.back_in_script()
    }

    fn back_in_script(mut self) -> usize {
        while self.next().is_some() {
            if self.state == State::Script && self.states.is_empty() {
                break;
            }
        }
        self.at
    }

    /// The byte at an offset; 0 after the end.
    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.source.get(at).copied().unwrap_or(0)
    }

    fn starts_with(&self, at: usize, text: &[u8]) -> bool {
        self.source.get(at..at + text.len()).is_some_and(|found| found.eq_ignore_ascii_case(text))
    }

    /// The end of the bytes from `at` on that are of a class.
    #[inline(always)]
    fn run_of(&self, at: usize, class: u8) -> usize {
        let mut at = at;
        while at < self.source.len() && CLASSES[self.source[at] as usize] & class != 0 {
            at += 1;
        }
        at
    }

    fn skip_blanks(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), b' ' | b'\t') && at < self.source.len() {
            at += 1;
        }
        at
    }

    /// The end of the line end at `at`, if there is one.
    fn newline(&self, at: usize) -> Option<usize> {
        match self.source.get(at)? {
            b'\n' => Some(at + 1),
            b'\r' if self.byte(at + 1) == b'\n' => Some(at + 2),
            b'\r' => Some(at + 1),
            _ => None,
        }
    }

    fn push(&mut self, state: State) {
        self.states.push(self.state);
        self.state = state;
    }

    fn pop(&mut self) {
        if let Some(state) = self.states.pop() {
            self.state = state;
        }
    }

    /// The kind and end of the token at `self.at`; `None` if the state has changed and it has to be called again.
    fn scan(&mut self) -> Option<(Kind, usize)> {
        match self.state {
            State::Script => Some(self.script()),
            State::Html => Some(self.html()),
            State::Property => self.property(),
            State::Quotes => Some(self.quotes(b'"', Kind::Quote)),
            State::Backticks => Some(self.quotes(b'`', Kind::Backtick)),
            State::Heredoc => Some(self.heredoc()),
            State::Nowdoc => Some(self.nowdoc()),
            State::Offset => self.offset(),
            State::EndHeredoc(length) => {
                self.labels.pop();
                self.state = State::Script;
                Some((Kind::EndHeredoc, (self.at + length).min(self.source.len())))
            }
            State::VarName => {
                self.state = State::Script; // the state of the string stays below it
                let end = self.run_of(self.at, LABEL);
                let named = begins_label(self.byte(self.at)) && matches!(self.byte(end), b'[' | b'}');
                named.then_some((Kind::VarName, end))
            }
        }
    }

    fn html(&mut self) -> (Kind, usize) {
        let at = self.at;
        if self.byte(at) == b'<' && self.byte(at + 1) == b'?' {
            if self.byte(at + 2) == b'=' {
                self.state = State::Script;
                return (Kind::OpenTagEcho, at + 3);
            }
            if let Some(end) = self.long_tag(at) {
                self.state = State::Script;
                return (Kind::OpenTag, end);
            }
            if self.options.short_tags {
                self.state = State::Script;
                return (Kind::OpenTag, at + 2);
            }
        }
        let mut from = at + 1;
        while let Some(found) = self.source.get(from..).and_then(|rest| memmem::find(rest, b"<?")) {
            let tag = from + found;
            let opens = self.options.short_tags || self.byte(tag + 2) == b'=' || self.long_tag(tag).is_some();
            if opens {
                return (Kind::InlineHtml, tag);
            }
            from = tag + 1;
        }
        (Kind::InlineHtml, self.source.len())
    }

    /// The end of `<?php` and what belongs to it, if that stands at `at`.
    fn long_tag(&self, at: usize) -> Option<usize> {
        if !self.starts_with(at, b"<?php") {
            return None;
        }
        match self.source.get(at + 5) {
            None => Some(at + 5),
            Some(b' ' | b'\t') => Some(at + 6),
            Some(_) => self.newline(at + 5),
        }
    }

    fn script(&mut self) -> (Kind, usize) {
        let at = self.at;
        let byte = self.source[at];
        match CLASSES[byte as usize] {
            SPACE => return (Kind::Whitespace, self.run_of(at + 1, SPACE)),
            LABEL => return (Kind::Number, self.number(at)),
            0 => {}
            _ => return self.label(),
        }
        let next = self.byte(at + 1);
        let one = |kind| (kind, at + 1);
        let two = |kind| (kind, at + 2);
        let three = |kind| (kind, at + 3);
        match byte {
            b'$' if begins_label(next) => (Kind::Variable, self.run_of(at + 2, LABEL)),
            b'$' => one(Kind::Dollar),
            b'(' => match self.cast(at) {
                Some(end) => (Kind::Cast, end),
                None => one(Kind::OpenParen),
            },
            b')' => one(Kind::CloseParen),
            b';' => one(Kind::Semicolon),
            b',' => one(Kind::Comma),
            b'[' => one(Kind::OpenBracket),
            b']' => one(Kind::CloseBracket),
            b'{' => {
                self.push(State::Script);
                one(Kind::OpenBrace)
            }
            b'}' => {
                self.pop();
                one(Kind::CloseBrace)
            }
            b'\'' => self.single_quoted(at + 1),
            b'"' => self.double_quoted(at + 1),
            b'`' => {
                self.state = State::Backticks;
                one(Kind::Backtick)
            }
            b'/' if next == b'/' => (Kind::Comment, line_comment(self.source, at + 2)),
            b'/' if next == b'*' => (Kind::Comment, block_comment(self.source, at + 2)),
            b'#' if next == b'[' => two(Kind::Attribute),
            b'#' => (Kind::Comment, line_comment(self.source, at + 1)),
            b'-' if next == b'>' => {
                self.push(State::Property);
                two(Kind::Arrow)
            }
            b'?' if next == b'>' => {
                self.state = State::Html;
                (Kind::CloseTag, self.newline(at + 2).unwrap_or(at + 2))
            }
            b'?' if next == b'-' && self.byte(at + 2) == b'>' => {
                self.push(State::Property);
                three(Kind::NullsafeArrow)
            }
            b'?' if next == b'?' && self.byte(at + 2) == b'=' => three(Kind::OpAssign),
            b'?' if next == b'?' => two(Kind::Binary),
            b'?' => one(Kind::Question),
            b':' if next == b':' => two(Kind::DoubleColon),
            b':' => one(Kind::Colon),
            b'.' if next.is_ascii_digit() => (Kind::Number, self.number(at)),
            b'.' if next == b'.' && self.byte(at + 2) == b'.' => three(Kind::Ellipsis),
            b'<' if next == b'<' && self.byte(at + 2) == b'<' && self.opens_heredoc(at + 3).is_some() => {
                self.start_heredoc(at + 3)
            }
            b'=' if next == b'>' => two(Kind::DoubleArrow),
            b'=' if next == b'=' && self.byte(at + 2) == b'=' => three(Kind::Binary),
            b'=' if next == b'=' => two(Kind::Binary),
            b'=' => one(Kind::Assign),
            b'!' if next == b'=' && self.byte(at + 2) == b'=' => three(Kind::Binary),
            b'!' if next == b'=' => two(Kind::Binary),
            b'!' => one(Kind::Not),
            b'<' if next == b'=' && self.byte(at + 2) == b'>' => three(Kind::Binary),
            b'<' if next == b'=' || next == b'>' => two(Kind::Binary),
            b'>' if next == b'=' => two(Kind::Binary),
            b'<' | b'>' | b'*' if next == byte && self.byte(at + 2) == b'=' => three(Kind::OpAssign),
            b'<' | b'>' | b'*' | b'&' | b'|' if next == byte => two(Kind::Binary),
            b'+' | b'-' if next == byte => two(Kind::IncDec),
            b'|' if next == b'>' && self.options.version >= Version::V8_5 => two(Kind::Binary),
            b'+' | b'-' | b'*' | b'/' | b'.' | b'%' | b'&' | b'|' | b'^' if next == b'=' => two(Kind::OpAssign),
            b'+' | b'-' => one(Kind::Sign),
            b'&' => one(Kind::Ampersand),
            b'*' | b'/' | b'.' | b'%' | b'|' | b'^' | b'<' | b'>' => one(Kind::Binary),
            b'~' => one(Kind::Tilde),
            b'@' => one(Kind::At),
            b'\\' if begins_label(next) => (Kind::FullyQualified, self.rest_of_name(at)),
            b'\\' => one(Kind::Backslash),
            _ => one(Kind::Bad),
        }
    }

    /// The end of `\a\b\c` that begins at `at`; `at` if there is none.
    fn rest_of_name(&self, mut at: usize) -> usize {
        while self.byte(at) == b'\\' && begins_label(self.byte(at + 1)) {
            at = self.run_of(at + 2, LABEL);
        }
        at
    }

    fn label(&mut self) -> (Kind, usize) {
        let at = self.at;
        if matches!(self.source[at], b'b' | b'B') {
            match self.byte(at + 1) {
                b'\'' => return self.single_quoted(at + 2),
                b'"' => return self.double_quoted(at + 2),
                b'<' if self.starts_with(at + 1, b"<<<") && self.opens_heredoc(at + 4).is_some() => {
                    return self.start_heredoc(at + 4);
                }
                _ => {}
            }
        }
        let end = self.run_of(at + 1, LABEL);
        let text = &self.source[at..end];
        let name_end = self.rest_of_name(end);
        if name_end > end {
            let relative = text.eq_ignore_ascii_case(b"namespace");
            return (if relative { Kind::Relative } else { Kind::Qualified }, name_end);
        }
        match word(text) {
            Kind::Yield => match self
                .word_after(end)
                .filter(|from| self.starts_with(*from, b"from") && !is_label(self.byte(from + 4)))
            {
                Some(from) => (Kind::YieldFrom, from + 4),
                None => (Kind::Yield, end),
            },
            Kind::Name if text.eq_ignore_ascii_case(b"enum") => {
                let name = self.word_after(end).filter(|name| begins_label(self.byte(*name)));
                let extends = |name: usize| self.starts_with(name, b"extends") || self.starts_with(name, b"implements");
                (if name.is_some_and(|name| !extends(name)) { Kind::ClassLike } else { Kind::Name }, end)
            }
            Kind::HaltCompiler => {
                self.until_halt.get_or_insert(4);
                (Kind::HaltCompiler, end)
            }
            Kind::Operand if text.len() == 12 && text[2] == b'P' && self.options.version < Version::V8_4 => {
                (Kind::Name, end)
            }
            Kind::Reserved if self.byte(end) == b'(' && self.options.version >= Version::V8_4 => {
                let limits = text.len() > 5 && text[0].eq_ignore_ascii_case(&b'p') && self.starts_with(end, b"(set)");
                (Kind::Reserved, if limits { end + 5 } else { end })
            }
            kind => (kind, end),
        }
    }

    /// Where the next word begins, after white space; from 8.3 on comments count as such.
    fn word_after(&self, at: usize) -> Option<usize> {
        let mut end = self.run_of(at, SPACE);
        let comments_count = self.options.version >= Version::V8_3;
        while end < self.source.len() && comments_count {
            let next = self.byte(end + 1);
            end = match self.byte(end) {
                b'/' if next == b'*' => {
                    let found = memmem::find(self.source.get(end + 2..)?, b"*/")?;
                    end + 2 + found + 2
                }
                b'/' if next == b'/' => self.newline(line_comment(self.source, end + 2))?,
                b'#' if next != b'[' => self.newline(line_comment(self.source, end + 1))?,
                _ => break,
            };
            end = self.run_of(end, SPACE);
        }
        (end > at).then_some(end)
    }

    /// The end of digits with `_` between them.
    fn digits(&self, mut at: usize, is_digit: impl Fn(u8) -> bool) -> usize {
        while is_digit(self.byte(at)) {
            at += 1;
            if self.byte(at) == b'_' && is_digit(self.byte(at + 1)) {
                at += 1;
            }
        }
        at
    }

    /// The end of the whole number at `at`.
    fn whole(&self, at: usize) -> usize {
        if self.byte(at) == b'0' {
            let end = match self.byte(at + 1) | 0x20 {
                b'x' => self.digits(at + 2, |byte| byte.is_ascii_hexdigit()),
                b'b' => self.digits(at + 2, |byte| matches!(byte, b'0' | b'1')),
                b'o' => self.digits(at + 2, |byte| matches!(byte, b'0'..=b'7')),
                _ => 0,
            };
            if end > at + 2 {
                return end;
            }
        }
        self.digits(at, |byte| byte.is_ascii_digit())
    }

    fn number(&self, at: usize) -> usize {
        let decimal = |at| self.digits(at, |byte| byte.is_ascii_digit());
        let mut end = self.whole(at);
        if decimal(at) == end && self.byte(end) == b'.' {
            end = decimal(end + 1);
        } else if decimal(at) != end {
            return end; // hexadecimal and the like
        }
        if self.byte(end) | 0x20 == b'e' {
            let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            let exponent = decimal(end + 1 + sign);
            if exponent > end + 1 + sign {
                return exponent;
            }
        }
        end
    }

    fn cast(&self, at: usize) -> Option<usize> {
        cast_at(self.source, at, self.options.version)
    }

    fn property(&mut self) -> Option<(Kind, usize)> {
        let at = self.at;
        let next = self.byte(at + 1);
        match self.source[at] {
            byte if is_space(byte) => Some((Kind::Whitespace, self.run_of(at, SPACE))),
            byte if begins_label(byte) => {
                self.pop();
                Some((Kind::Name, self.run_of(at, LABEL)))
            }
            b'-' if next == b'>' => Some((Kind::Arrow, at + 2)),
            b'?' if next == b'-' && self.byte(at + 2) == b'>' => Some((Kind::NullsafeArrow, at + 3)),
            b'#' => Some((Kind::Comment, line_comment(self.source, at + 1))),
            b'/' if next == b'/' => Some((Kind::Comment, line_comment(self.source, at + 2))),
            b'/' if next == b'*' => Some((Kind::Comment, block_comment(self.source, at + 2))),
            _ => {
                self.pop();
                None
            }
        }
    }
}

/// The end of a comment that ends with its line, or before `?>`.
pub fn line_comment(source: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(found) = memchr3(b'\n', b'\r', b'?', &source[at..]) {
        at += found;
        if source[at] != b'?' || source.get(at + 1) == Some(&b'>') {
            return at;
        }
        at += 1;
    }
    source.len()
}

/// The end of a comment that ends with `*/`.
pub fn block_comment(source: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(found) = source.get(at..).and_then(|rest| memchr(b'/', rest)) {
        at += found + 1;
        if at - 1 > from && source[at - 2] == b'*' {
            return at;
        }
    }
    source.len()
}

/// The end of a cast that stands at `at`, if one does.
pub fn cast_at(source: &[u8], at: usize, version: Version) -> Option<usize> {
    let rest = source.get(at..)?.strip_prefix(b"(")?;
    let blanks = |text: &[u8]| text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let before = blanks(rest);
    let length = rest[before..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (name, rest) = rest[before..].split_at(length);
    let after = blanks(rest);
    if rest.get(after) != Some(&b')') || !(3..=7).contains(&length) {
        return None;
    }
    const NAMES: [&[u8]; 12] = [
        b"int", b"string", b"array", b"bool", b"float", b"object", b"integer", b"double", b"boolean", b"binary",
        b"unset", b"real",
    ];
    let known = NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
        || version >= Version::V8_5 && name.eq_ignore_ascii_case(b"void");
    known.then_some(at + 1 + before + length + after + 1)
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    #[inline]
    fn next(&mut self) -> Option<Token> {
        let start = self.at;
        if start >= self.source.len() {
            return None;
        }
        if self.until_halt == Some(0) {
            self.at = self.source.len();
            return Some(Token { kind: Kind::InlineHtml, start: start as u32, end: self.at as u32 });
        }
        let (kind, end) = loop {
            if let Some(found) = self.scan() {
                break found;
            }
        };
        debug_assert!(end > start && end <= self.source.len());
        self.at = end;
        if let Some(left) = &mut self.until_halt
            && !matches!(kind, Kind::Whitespace | Kind::OpenTag | Kind::Comment)
        {
            *left -= 1;
        }
        Some(Token { kind, start: start as u32, end: end as u32 })
    }
}

/// How many line ends there are in a text, as PHP counts lines.
pub fn lines(text: &[u8]) -> usize {
    memchr::memchr2_iter(b'\n', b'\r', text)
        .filter(|at| !(text[*at] == b'\r' && text.get(at + 1) == Some(&b'\n')))
        .count()
}
