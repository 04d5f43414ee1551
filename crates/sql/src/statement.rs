//! What a statement does, by its parts.

use crate::dialect::Dialect;
use crate::lexer::{Lexer, Mode, Token};
use crate::words::{self, Name};

/// What a statement leaves on its connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing that lasts.
    Nothing,
    /// Nothing, but its result is about earlier statements of the connection.
    Reads,
    /// What lasts until the end of a transaction. Outside of one it may change the connection.
    InTransaction,
    /// It begins a transaction.
    Begins,
    /// It ends the transaction.
    Ends,
    /// It may change the connection for good.
    Changes,
}

/// How many tokens at the head of a statement decide its kind.
const HEAD: usize = 16;

/// Returns the effect that a statement leaves on its connection, if a server reads it in this mode.
pub fn effect(text: &[u8], mode: Mode, is_harmless: &dyn Fn(&[u8]) -> bool) -> Effect {
    let mut tokens = Lexer::new(text, mode);
    let mut head = Vec::with_capacity(HEAD);
    let mut parts = Parts::new(mode.dialect, is_harmless);
    while let Some(token) = tokens.next() {
        match token {
            Token::Unclosed => break,
            // Nothing may follow.
            Token::Semicolon if tokens.all(|token| token == Token::Semicolon) => break,
            Token::Unclear | Token::Semicolon => return Effect::Changes,
            _ => {}
        }
        if head.len() < HEAD {
            head.push(token);
        }
        if !parts.next(token, &head, tokens) {
            return Effect::Changes;
        }
    }
    match kind(&head, mode.dialect) {
        Effect::Nothing if parts.reads => Effect::Reads,
        effect => effect,
    }
}

/// A part that stands before another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// A word by itself.
    Word(Name),
    /// A name, which another one may belong to: `a.`.
    Qualified,
    Quoted,
    Open,
    /// The end of what follows `AS`.
    CloseAs,
    Dot,
    /// `@@SESSION` and the like.
    Scope,
    /// The dot behind that.
    ScopeDot,
    Other,
}

/// The parts of a statement, one after the other.
struct Parts<'f> {
    dialect: Dialect,
    is_harmless: &'f dyn Fn(&[u8]) -> bool,
    before: Before,
    /// What stands before the name that `before` is the end of.
    before_name: Before,
    /// All words so far are `EXPLAIN` and its options, after which a statement begins.
    is_explain: bool,
    /// The last parts are `INSERT`, or the like, where a statement may begin.
    is_insert: bool,
    /// Of each open parenthesis, whether `AS` stands before it.
    open: Vec<bool>,
    /// Its result is about earlier statements.
    reads: bool,
}

impl Parts<'_> {
    fn new(dialect: Dialect, is_harmless: &dyn Fn(&[u8]) -> bool) -> Parts<'_> {
        Parts {
            dialect,
            is_harmless,
            before: Before::Nothing,
            before_name: Before::Nothing,
            is_explain: true,
            is_insert: false,
            open: Vec::new(),
            reads: false,
        }
    }

    /// Takes the next part. Returns `false` if the statement may change the connection.
    fn next(&mut self, token: Token<'_>, head: &[Token<'_>], rest: Lexer<'_>) -> bool {
        let before = self.before;
        let is_insert = std::mem::take(&mut self.is_insert);
        if matches!(token, Token::Word(_) | Token::Quoted(_)) && before != Before::Dot {
            self.before_name = before;
        }
        match token {
            // Whoever updates that view sets what is the connection's.
            Token::Word(name) | Token::Quoted(name)
                if self.dialect == Dialect::Postgres && words::is_name(name, "pg_settings") =>
            {
                return false;
            }
            Token::Word(name) if before == Before::ScopeDot => return self.variable(name),
            _ if before == Before::ScopeDot => return false,
            Token::Word(_) | Token::Quoted(_) if before == Before::Dot => {
                self.before = Before::Qualified;
                // `sequence.CURRVAL`, in a mode of MariaDB.
                self.reads |= self.dialect == Dialect::MySql && is_word(token, b"currval");
            }
            Token::Quoted(_) => self.before = Before::Quoted,
            Token::Word(word) => {
                let name = Name::new(word);
                let is_allowed = self.word(name, before, is_insert);
                self.before = Before::Word(name);
                return is_allowed;
            }
            Token::Open => {
                self.open.push(matches!(before, Before::Word(name) if name.is_one_of(&["as", "materialized"])));
                let is_allowed = self.is_call_allowed(head, rest);
                self.before = Before::Open;
                return is_allowed;
            }
            Token::Close => {
                self.before = if self.open.pop() == Some(true) { Before::CloseAs } else { Before::Other };
            }
            Token::Dot if before == Before::Scope => self.before = Before::ScopeDot,
            Token::Dot => self.before = Before::Dot,
            Token::Variable(name) if Name::new(name).is_one_of(&["session", "global", "local"]) => {
                self.before = Before::Scope
            }
            Token::Variable(name) => return self.variable(name),
            Token::Semicolon | Token::Other(_) | Token::Unclear | Token::Unclosed => self.before = Before::Other,
        }
        true
    }

    /// Takes the name of a variable of the server.
    fn variable(&mut self, name: &[u8]) -> bool {
        self.before = Before::Other;
        let reads = words::variable(Name::new(name));
        self.reads |= reads == Some(true);
        reads.is_some()
    }

    fn word(&mut self, name: Name, before: Before, is_insert: bool) -> bool {
        let begins = match before {
            Before::Nothing | Before::Open | Before::CloseAs => true,
            Before::Word(_) => self.is_explain,
            _ => false,
        };
        let options = if before == Before::Nothing { words::EXPLAIN } else { words::OPTIONS_OF_EXPLAIN };
        self.is_explain &= name.is_one_of(options);
        let begins_insert = begins && name.is_one_of(&["insert", "replace", "merge"]);
        self.is_insert = begins_insert || is_insert && name.is_one_of(words::OPTIONS_OF_INSERT);
        if name.is("into") {
            return is_insert; // otherwise it makes a table, or sets variables
        }
        // `PREVIOUS VALUE FOR`
        let is_value = name.is("value") && matches!(before, Before::Word(before) if before.is("previous"));
        self.reads |= is_value && self.dialect == Dialect::MySql;
        true
    }

    /// Returns `true` if what precedes a parenthesis is not a function that may change the connection.
    fn is_call_allowed(&mut self, head: &[Token<'_>], rest: Lexer<'_>) -> bool {
        let is_name = matches!(self.before, Before::Word(_) | Before::Quoted | Before::Qualified);
        if !is_name || self.is_declared(head) {
            return true;
        }
        let Before::Word(name) = self.before else { return false };
        if let Some(reads) = words::reads(name, self.dialect) {
            // `LAST_INSERT_ID(…)` sets what it returns without an argument.
            self.reads |= reads.with_arguments || rest.clone().next() == Some(Token::Close);
            return true;
        }
        words::is_harmless(name, self.dialect) || (self.is_harmless)(name.as_bytes())
    }

    /// Returns `true` if the name that stands before a parenthesis is that of a table, a view, an index or a column, whose
    /// columns follow.
    fn is_declared(&self, head: &[Token<'_>]) -> bool {
        let Before::Word(before) = self.before_name else { return false };
        let is_create = head.first().is_some_and(|first| is_word(*first, b"create"));
        let created = if is_create { skip(&head[1..], words::OPTIONS_OF_CREATE).first() } else { None };
        let is_index = created.is_some_and(|object| is_word(*object, b"index"));
        let is_virtual = is_create && head.get(1).is_some_and(|option| is_word(*option, b"virtual"));
        before.is_one_of(words::BEFORE_COLUMNS)
            || before.is("exists") && is_create
            || before.is("on") && is_index
            || before.is("using") && (is_index || is_virtual)
    }
}

fn is_word(token: Token<'_>, word: &[u8]) -> bool {
    matches!(token, Token::Word(text) if text.eq_ignore_ascii_case(word))
}

/// Returns the effect that a statement of this kind leaves on its connection.
fn kind(head: &[Token<'_>], dialect: Dialect) -> Effect {
    let skipped = head.iter().take_while(|token| **token == Token::Open).count();
    let head = &head[skipped..];
    let Some((first, rest)) = head.split_first() else { return Effect::Nothing };
    let Token::Word(first) = *first else { return Effect::Changes };
    let first = Name::new(first);
    let words: Vec<Name> = rest.iter().map_while(|token| as_word(*token)).collect();
    let second = words.first().copied();
    let is_second = |names: &[&str]| second.is_some_and(|second| second.is_one_of(names));
    match first.as_str() {
        // What follows may be another statement where nothing has to stand between two.
        "begin" | "start" if dialect == Dialect::Unknown && !is_transaction(rest) => Effect::Changes,
        "start" if !is_second(&["transaction"]) && dialect != Dialect::Unknown => Effect::Changes,
        "begin" | "start" => Effect::Begins,
        "commit" | "end" | "rollback" => end(first, rest, &words, dialect),
        _ if dialect == Dialect::Unknown => Effect::Changes,
        "savepoint" | "release" => Effect::InTransaction,
        "lock" if dialect == Dialect::Postgres => Effect::InTransaction,
        "set" if dialect == Dialect::Postgres && is_second(&["local", "transaction", "constraints"]) => {
            Effect::InTransaction
        }
        "show"
            if dialect == Dialect::MySql
                && is_second(&["warnings", "errors", "profile", "profiles", "count", "status"]) =>
        {
            Effect::Reads
        }
        // Counters of the connection.
        "show"
            if dialect == Dialect::MySql
                && is_second(&["session", "local"])
                && words.get(1).is_some_and(|third| third.is("status")) =>
        {
            Effect::Reads
        }
        "create"
            if dialect == Dialect::MySql
                && is_second(&["or"])
                && skip(rest, words::OPTIONS_OF_CREATE)
                    .first()
                    .and_then(|object| as_word(*object))
                    .is_some_and(is_database) =>
        {
            Effect::Changes
        }
        "create" => nothing_if(is_plain_create(rest, dialect)),
        // The database may be that of the connection.
        "drop" if dialect == Dialect::MySql && second.is_some_and(is_database) => Effect::Changes,
        "drop" => nothing_if(is_second(words::OBJECTS)),
        "alter" => nothing_if(is_second(words::ALTERED)),
        "rename" => nothing_if(is_second(&["table"])),
        "explain" | "describe" | "desc" => nothing_if(is_plain_explain(rest)),
        name => nothing_if(words::STATEMENTS.contains(&name)),
    }
}

fn is_database(object: Name) -> bool {
    object.is_one_of(&["database", "schema"])
}

/// Returns `true` if this is nothing but a word for a transaction.
fn is_transaction(rest: &[Token<'_>]) -> bool {
    match rest {
        [] => true,
        [token] => as_word(*token).is_some_and(|word| word.is_one_of(&["transaction", "tran", "work"])),
        _ => false,
    }
}

fn nothing_if(is_plain: bool) -> Effect {
    if is_plain { Effect::Nothing } else { Effect::Changes }
}

fn as_word(token: Token<'_>) -> Option<Name> {
    match token {
        Token::Word(word) => Some(Name::new(word)),
        _ => None,
    }
}

/// `COMMIT`, `END` and `ROLLBACK`.
fn end(first: Name, rest: &[Token<'_>], words: &[Name], dialect: Dialect) -> Effect {
    let skipped = words.iter().take_while(|word| word.is_one_of(&["work", "transaction"])).count();
    match words.get(skipped) {
        None if skipped == rest.len() && skipped <= 1 => Effect::Ends,
        Some(to) if first.is("rollback") && to.is("to") && dialect != Dialect::Unknown => Effect::InTransaction,
        _ => Effect::Changes,
    }
}

/// Returns `true` if what `CREATE` makes is the same for all connections.
fn is_plain_create(rest: &[Token<'_>], dialect: Dialect) -> bool {
    let mut rest = skip(rest, words::OPTIONS_OF_CREATE);
    let Some((object, after)) = rest.split_first() else { return false };
    if !as_word(*object).is_some_and(|object| object.is_one_of(words::OBJECTS)) {
        return false;
    }
    rest = skip(after, &["concurrently", "if", "not", "exists"]);
    while let [qualifier @ (Token::Word(_) | Token::Quoted(_)), Token::Dot, after @ ..] = rest {
        if !is_lasting(*qualifier, dialect) {
            return false;
        }
        rest = after;
    }
    matches!(rest, [Token::Word(_) | Token::Quoted(_), ..])
}

/// Returns `true` if what belongs to this schema is the same for all connections.
fn is_lasting(schema: Token<'_>, dialect: Dialect) -> bool {
    match (schema, dialect) {
        (_, Dialect::MySql) => true,
        // Such names are reserved: `pg_temp` is that of temporary tables.
        (Token::Word(name), Dialect::Postgres) => !Name::new(name).as_str().starts_with("pg_"),
        (Token::Quoted(name), Dialect::Postgres) => {
            name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'"')
        }
        (Token::Word(name), Dialect::Sqlite) => name.eq_ignore_ascii_case(b"main"),
        _ => false,
    }
}

/// Returns `true` if a query or a table is explained.
fn is_plain_explain(rest: &[Token<'_>]) -> bool {
    let mut rest = skip(rest, words::OPTIONS_OF_EXPLAIN);
    if let [Token::Open, inner @ ..] = rest {
        let closed = inner.iter().position(|token| *token == Token::Close);
        match closed {
            Some(at) if !inner[..at].iter().any(|token| is_query(*token)) => rest = &inner[at + 1..],
            _ => rest = inner,
        }
    }
    let is_table = matches!(rest, [Token::Word(_) | Token::Quoted(_)])
        || matches!(rest, [Token::Word(_) | Token::Quoted(_), Token::Dot, Token::Word(_) | Token::Quoted(_)]);
    is_table || rest.first().is_some_and(|first| is_query(*first))
}

fn is_query(token: Token<'_>) -> bool {
    as_word(token).is_some_and(|word| word.is_one_of(words::QUERIES))
}

fn skip<'a, 't>(tokens: &'a [Token<'t>], options: &[&str]) -> &'a [Token<'t>] {
    let is_option = |token: &&Token<'_>| {
        **token == Token::Other(b'=') || as_word(**token).is_some_and(|word| word.is_one_of(options))
    };
    &tokens[tokens.iter().take_while(is_option).count()..]
}
