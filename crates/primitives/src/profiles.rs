//! What is known of the classes whose connections are pooled.

use spindle_zend::{Class, Frame, Object, Str, Value, class_table, exception};
use std::ffi::CStr;

/// What a call means for the connection that it is made on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Nothing that lasts.
    Plain,
    /// It reads what the coroutine's last call has left on its connection.
    Reads,
    /// It changes the connection until a call that `Ends` this.
    Begins,
    /// It ends what `Begins` has begun, unless it fails.
    Ends,
    /// As `Ends`, also if it fails.
    EndsAnyhow,
    /// It may change the connection for good: the coroutine keeps it, and no other coroutine gets it.
    Changes,
    /// As `Changes`, unless it fails.
    ChangesIfDone,
    /// It configures all connections of the pool.
    Configures,
    /// It cannot be made on a connection of a pool.
    Refused,
}

/// What is known of a connection on which a call has failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Health {
    /// It can be used.
    Sound,
    /// It has to be checked before it is used by another coroutine.
    Suspect,
    /// It must not be used by another coroutine.
    Broken,
}

/// A class whose connections are pooled.
pub struct Profile {
    /// The name of the class, in lower case.
    pub base: &'static str,
    /// The class whose objects are used like one connection, and that of the connections themselves.
    pub pooled: &'static CStr,
    pub connection: &'static CStr,
    /// The name of waits for a connection.
    pub wait: &'static str,
    /// The class of exceptions of its calls, in lower case.
    pub failure: &'static str,
    /// The method whose result says whether a transaction is under way, and that result if none is.
    pub busy: &'static [u8],
    pub idle: fn() -> Value,
    /// The method that ends a transaction without effect.
    pub abort: &'static [u8],
    /// The methods that end transactions.
    pub ends: &'static [&'static [u8]],
    /// Methods whose answers for the last call are kept when another coroutine gets the connection.
    pub answers: &'static [&'static [u8]],
    /// A call that shows whether the other end still answers: a method and its argument.
    pub ping: (&'static [u8], Option<&'static str>),
    /// What a call of a method, by its name in lower case, means.
    pub meaning: fn(&[u8], Option<&Value>) -> Meaning,
    /// Returns what an exception of a call shows of its connection. Runs no PHP code.
    pub failure_state: fn(&Object) -> Health,
    /// Returns what is known of a connection that has answered a call with `false`.
    pub answer_state: fn(&Object) -> Health,
}

impl Profile {
    /// Returns the class, if its extension is loaded.
    pub fn class(&self) -> Option<Class> {
        class_table::find(&Str::new(self.base))
    }

    /// Returns `true` if the exception is one of its class's calls.
    pub fn is_failure(&self, exception: &Object) -> bool {
        class_table::find(&Str::new(self.failure)).is_some_and(|class| exception.is_a(class))
    }
}

/// `PDO`, with any driver.
pub static PDO: Profile = Profile {
    base: "pdo",
    pooled: c"Async\\PooledPDO",
    connection: c"Async\\PooledPDOConnection",
    wait: "PooledPDO",
    failure: "pdoexception",
    busy: b"intransaction",
    idle: || Value::from(false),
    abort: b"rollback",
    ends: &[b"commit", b"rollback"],
    answers: &[b"errorcode", b"errorinfo"],
    ping: (b"query", Some("SELECT 1")),
    meaning: |method, first| match method {
        b"exec" | b"query" => first.and_then(Value::as_str).map_or(Meaning::Plain, meaning_of_sql),
        b"prepare" => match first.and_then(Value::as_str).map_or(Meaning::Plain, meaning_of_sql) {
            Meaning::Ends => Meaning::Plain, // it may never be executed
            other => other,
        },
        b"lastinsertid" | b"errorcode" | b"errorinfo" => Meaning::Reads,
        b"setattribute" | b"sqlitecreatefunction" | b"sqlitecreateaggregate" | b"sqlitecreatecollation" => {
            Meaning::Configures
        }
        b"begintransaction" | b"commit" | b"rollback" | b"intransaction" | b"getattribute" | b"quote" => Meaning::Plain,
        _ => Meaning::Changes, // a method of a driver
    },
    failure_state: |thrown| health_by_code(&thrown.read_property(thrown.class(), c"code")),
    answer_state: |connection| health_by_code(&crate::connections::ask(connection, b"errorcode")),
};

/// Returns what an `SQLSTATE` shows of a connection.
fn health_by_code(code: &Value) -> Health {
    // Classes of what is wrong with a statement, and not with the connection.
    const SOUND: &[&[u8]] =
        &[b"00", b"01", b"02", b"0A", b"21", b"22", b"23", b"25", b"40", b"42", b"44", b"P0", b"IM"];
    match code.as_str().map(|code| code.as_bytes()) {
        Some(code) if SOUND.iter().any(|sound| code.starts_with(sound)) => Health::Sound,
        Some(code) if code.starts_with(b"08") => Health::Broken,
        _ => Health::Suspect,
    }
}

/// phpredis.
pub static REDIS: Profile = Profile {
    base: "redis",
    pooled: c"Async\\PooledRedis",
    connection: c"Async\\PooledRedisConnection",
    wait: "PooledRedis",
    failure: "redisexception",
    busy: b"getmode",
    idle: || Value::from(0),
    abort: b"discard",
    ends: &[b"exec", b"discard"],
    answers: &[b"getlasterror"],
    ping: (b"ping", None),
    meaning: |method, _| match method {
        b"connect" | b"open" | b"pconnect" | b"popen" | b"close" | b"swapdb" => Meaning::Refused,
        b"setoption" | b"select" | b"auth" => Meaning::Configures,
        b"getlasterror" | b"clearlasterror" => Meaning::Reads,
        b"watch" => Meaning::Begins,
        b"exec" | b"discard" | b"unwatch" => Meaning::EndsAnyhow,
        b"rawcommand" | b"client" | b"subscribe" | b"psubscribe" | b"unsubscribe" | b"punsubscribe" | b"slaveof" => {
            Meaning::Changes
        }
        _ => Meaning::Plain,
    },
    failure_state: |_| Health::Broken,
    answer_state: |_| Health::Sound,
};

/// Statements that leave nothing on their connection.
const PLAIN: &[&str] = &[
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "REPLACE",
    "MERGE",
    "WITH",
    "VALUES",
    "TABLE",
    "EXPLAIN",
    "DESCRIBE",
    "DESC",
    "SHOW",
    "CREATE",
    "DROP",
    "ALTER",
    "TRUNCATE",
    "RENAME",
    "ANALYZE",
    "VACUUM",
    "OPTIMIZE",
    "REINDEX",
    "GRANT",
    "REVOKE",
    "COMMENT",
    "NOTIFY",
    "SAVEPOINT",
    "RELEASE",
];

/// Functions of SQL that read what earlier statements have left on their connection.
const READS: &[&str] = &[
    "last_insert_id",
    "last_insert_rowid",
    "lastval",
    "currval",
    "row_count",
    "found_rows",
    "changes(",
    "scope_identity",
    "@@identity",
];

/// What lets a statement that is plain otherwise leave something on its connection.
const CHANGES: &[&str] = &["set_config", "_lock", " temp", "#", " session", "dblink_", "setseed", ":="];

/// Returns what a statement means for its connection. One of an unknown kind may change it.
pub fn meaning_of_sql(text: &Str) -> Meaning {
    let text = String::from_utf8_lossy(text.as_bytes()).to_ascii_lowercase();
    let text = text.trim().trim_end_matches(';').trim_end();
    if has_several(text) {
        return Meaning::Changes;
    }
    let word = text.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or("");
    match word {
        "begin" | "start" => return Meaning::Begins,
        "commit" | "end" | "rollback" if text == word => return Meaning::Ends,
        "rollback" => return Meaning::Plain, // to a savepoint, within a transaction
        _ => {}
    }
    let is_known = PLAIN.iter().any(|plain| word.eq_ignore_ascii_case(plain));
    if !is_known || CHANGES.iter().any(|one| text.contains(one)) || has_variable(text) {
        return Meaning::ChangesIfDone;
    }
    if READS.iter().any(|one| text.contains(one)) { Meaning::Reads } else { Meaning::Plain }
}

/// Returns `true` if a text may be several statements.
fn has_several(text: &str) -> bool {
    if !text.contains(';') {
        return false;
    }
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (_, '\\') => return true, // an escape or not, as the server has it
            (None, ';') => return true,
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    quote.is_some()
}

/// Returns `true` if a text contains a variable of the connection, as MySQL has them.
fn has_variable(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_part =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@'));
    (0..bytes.len()).any(|at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        bytes[at] == b'@' && !is_part(before) && bytes.get(at + 1).is_some_and(|next| next.is_ascii_alphabetic())
    })
}

/// Returns the first argument of a call.
pub fn first_argument(frame: &Frame) -> Option<&Value> {
    frame.arguments().first().map(Value::dereferenced)
}

/// Runs `what`, whose exceptions of these connections' classes are dropped. Returns `None` for these.
///
/// # Errors
/// Another exception.
pub fn without_failures<R>(profile: &Profile, what: impl FnOnce() -> R) -> Result<Option<R>, spindle_zend::Thrown> {
    let result = what();
    if exception::is_exit_in_flight() {
        return Err(spindle_zend::Thrown::is_in_flight());
    }
    match exception::take() {
        None => Ok(Some(result)),
        Some(thrown) if profile.is_failure(&thrown) => {
            drop(thrown);
            Ok(None)
        }
        Some(thrown) => Err(exception::throw(thrown)),
    }
}
