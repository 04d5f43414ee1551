//! Splits a statement into the parts that matter.

use crate::dialect::Dialect;

/// How a server reads a text.
#[derive(Clone, Copy)]
pub struct Mode {
    pub dialect: Dialect,
    /// A backslash in `'…'` escapes what follows. In PostgreSQL it always does in `E'…'`.
    pub escapes: bool,
    /// In MySQL, a backslash in `"…"` does.
    pub escapes_in_double: bool,
}

/// A part of a statement. Spaces and comments are none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    /// A keyword, a name, or a number.
    Word(&'a [u8]),
    /// A name or a string in quotes, with these.
    Quoted(&'a [u8]),
    /// `@@name` in MySQL: without the first two letters.
    Variable(&'a [u8]),
    Open,
    Close,
    Dot,
    Semicolon,
    /// An operator, or a part of one.
    Other(u8),
    /// Servers may read what follows in different ways, or it is a variable of the connection.
    Unclear,
    /// A quote or comment is not closed. No server executes such a statement.
    Unclosed,
}

/// The rest of a text.
#[derive(Clone, Copy)]
pub struct Lexer<'a> {
    rest: &'a [u8],
    mode: Mode,
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte == b'$'
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Returns `true` if the word is one number, with this behind it.
fn is_plain_number(word: &[u8], next: Option<&u8>) -> bool {
    match word.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'_') {
        None => true,
        Some(at) => {
            let (letter, rest) = (word[at], &word[at + 1..]);
            let is_exponent = letter.eq_ignore_ascii_case(&b'e') && rest.iter().all(u8::is_ascii_digit);
            let is_signed = rest.is_empty() && matches!(next, Some(b'+' | b'-'));
            let is_based = word[0] == b'0' && at == 1 && b"xXoObB".contains(&letter);
            is_exponent && (is_signed || !rest.is_empty())
                || is_based && rest.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'_')
        }
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a [u8], mode: Mode) -> Lexer<'a> {
        Lexer { rest: text, mode }
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// Takes a name, whatever its first letter.
    fn take_name(&mut self) -> &'a [u8] {
        let is_end = |at: &usize| !is_name_part(self.rest[*at]);
        let length = (1..self.rest.len()).find(is_end).unwrap_or(self.rest.len());
        self.take(length)
    }

    /// Returns `true` if a letter begins a name. Parameters of SQLite are names too: `$a(…)` is one of them.
    fn begins_name(&self, byte: u8) -> bool {
        let others: &[u8] = match self.mode.dialect {
            Dialect::MySql => b"$",
            Dialect::Sqlite => b"$:@#",
            Dialect::Postgres | Dialect::Unknown => b"",
        };
        is_name_start(byte) || others.contains(&byte)
    }

    /// Takes spaces and comments. Returns a token that ends the statement's analysis, if there is one.
    fn skip(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = self.rest;
            match rest {
                [byte, ..] if is_space(*byte) => {
                    self.take(1);
                }
                [b'-', b'-', after @ ..] if self.is_comment(after) => self.skip_line(),
                [b'#', ..] if self.mode.dialect == Dialect::MySql => self.skip_line(),
                [b'/', b'*', after @ ..] => {
                    // `/*!…*/` and `/*M!…*/` are executed.
                    let is_code = matches!(after, [b'!', ..] | [b'M' | b'm', b'!', ..]);
                    if is_code && self.mode.dialect == Dialect::MySql {
                        return Some(Token::Unclear);
                    }
                    if !self.skip_comment() {
                        return Some(Token::Unclosed);
                    }
                }
                _ => return None,
            }
        }
    }

    /// Returns `true` if two dashes followed by this begin a comment.
    fn is_comment(&self, after: &[u8]) -> bool {
        self.mode.dialect != Dialect::MySql
            || after.first().is_none_or(|byte| is_space(*byte) || byte.is_ascii_control())
    }

    fn skip_line(&mut self) {
        // PostgreSQL ends a line at either of them.
        let ends = |byte: &u8| *byte == b'\n' || *byte == b'\r' && self.mode.dialect == Dialect::Postgres;
        self.take(self.rest.iter().position(ends).unwrap_or(self.rest.len()));
    }

    /// Takes a comment in `/*…*/`. Returns `false` if it is not closed.
    fn skip_comment(&mut self) -> bool {
        self.take(2);
        let mut depth = 1;
        while depth > 0 {
            match self.rest {
                [] => return false,
                [b'*', b'/', ..] => {
                    self.take(2);
                    depth -= 1;
                }
                [b'/', b'*', ..] if self.mode.dialect == Dialect::Postgres => {
                    self.take(2);
                    depth += 1;
                }
                _ => {
                    self.take(1);
                }
            }
        }
        true
    }

    /// Takes what is in quotes. A quote in it is written twice, or after a backslash if that escapes.
    fn quoted(&mut self, quote: u8, escapes: bool) -> Token<'a> {
        let text = self.rest;
        let mut at = 1;
        loop {
            match text.get(at..) {
                None | Some([]) => return Token::Unclosed,
                Some([b'\\', ..]) if escapes => at += 2,
                Some([one, two, ..]) if *one == quote && *two == quote => at += 2,
                Some([one, ..]) if *one == quote => return Token::Quoted(self.take(at + 1)),
                Some(_) => at += 1,
            }
        }
    }

    /// Takes `$tag$…$tag$`. Returns `None` if the text does not begin with that.
    fn dollar_quoted(&mut self) -> Option<Token<'a>> {
        let name = self.rest.get(1..)?;
        let length = name.iter().position(|byte| !is_name_start(*byte)).unwrap_or(name.len());
        let is_tag = name.get(length) == Some(&b'$') && !name.first().is_some_and(u8::is_ascii_digit);
        if !is_tag {
            return None;
        }
        let (tag, body) = self.rest.split_at(length + 2);
        let Some(end) = find(body, tag) else { return Some(Token::Unclosed) };
        Some(Token::Quoted(self.take(tag.len() + end + tag.len())))
    }

    fn word(&mut self) -> Token<'a> {
        let word = self.take_name();
        if self.mode.dialect != Dialect::Postgres {
            return Token::Word(word);
        }
        if self.rest.first() == Some(&b'\'') && word.eq_ignore_ascii_case(b"e") {
            return self.quoted(b'\'', true);
        }
        // `U&"…"` and `U&'…'` have escapes of letters.
        if word.eq_ignore_ascii_case(b"u") && matches!(self.rest, [b'&', b'"' | b'\'', ..]) {
            return Token::Unclear;
        }
        // A number ends where it must, and a name may begin there.
        let is_number = word.first().is_some_and(u8::is_ascii_digit);
        if is_number && !is_plain_number(word, self.rest.first()) { Token::Unclear } else { Token::Word(word) }
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(token) = self.skip() {
            self.rest = &[];
            return Some(token);
        }
        let dialect = self.mode.dialect;
        let first = *self.rest.first()?;
        let token = match first {
            b'\'' => self.quoted(first, self.mode.escapes),
            b'"' => self.quoted(first, self.mode.escapes_in_double),
            b'`' if dialect != Dialect::Postgres => self.quoted(first, false),
            b'[' if dialect == Dialect::Sqlite => self.quoted(b']', false),
            b'$' if dialect == Dialect::Postgres => match self.dollar_quoted() {
                Some(token) => token,
                None => {
                    self.take(1);
                    Token::Other(first)
                }
            },
            // A variable of the connection, whose name may have all kinds of letters and quotes.
            b'@' if dialect == Dialect::MySql => {
                let is_variable = matches!(self.rest, [_, b'@', third, ..] if is_name_start(*third));
                self.take(2);
                if is_variable { Token::Variable(self.take_name()) } else { Token::Unclear }
            }
            _ if self.begins_name(first) => self.word(),
            _ => {
                self.take(1);
                match first {
                    b'(' => Token::Open,
                    b')' => Token::Close,
                    b'.' => Token::Dot,
                    b';' => Token::Semicolon,
                    _ => Token::Other(first),
                }
            }
        };
        if matches!(token, Token::Unclosed | Token::Unclear) {
            self.rest = &[];
        }
        Some(token)
    }
}
