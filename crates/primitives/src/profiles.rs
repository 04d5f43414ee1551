//! What is known of the classes whose connections are pooled.

use spindle_sql::{Dialect, Effect};
use spindle_zend::{Class, Object, Str, Value, class_table, engine, exception};
use std::ffi::{CStr, CString};

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
    /// It leaves nothing that lasts longer than a transaction. Outside of one, as `Changes`.
    InTransaction,
    /// It may change the connection for good, also if it fails: the coroutine keeps it, and no other coroutine gets it.
    Changes,
    /// It configures all connections of the pool.
    Configures,
    /// From then on each statement begins a transaction, until one that `EntersAutocommit`.
    LeavesAutocommit,
    EntersAutocommit,
    /// The coroutine gives its connection back.
    Closes,
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

/// What a function of an extension does with a statement or connections of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    /// It makes the statement run.
    Runs,
    /// It gives the statement another text.
    Prepares,
    /// It uses the statement in another way.
    Uses,
    /// It closes the statement, or frees the result.
    Closes,
    /// It makes an object of a connection.
    Makes,
    /// It takes lists of connections.
    Polls,
    /// It takes a connection as the first argument.
    Calls,
}

/// Returns the effect that a statement leaves on its connection.
pub type Effects<'a> = dyn Fn(&[u8]) -> Effect + 'a;

/// A class whose connections are pooled.
pub struct Profile {
    /// The name of the class, in lower case.
    pub base: &'static str,
    /// The class whose objects are used like one connection, and that of the connections themselves.
    pub pooled: &'static CStr,
    pub connection: &'static CStr,
    /// The method of `Async\Pool` that creates such a pool.
    pub factory: &'static [u8],
    /// The name of waits for a connection.
    pub wait: &'static str,
    /// The class of exceptions of its calls, in lower case.
    pub failure: &'static str,
    /// The method whose result says whether a transaction is under way, and that result if none is. Empty if only the calls that
    /// were made tell.
    pub busy: &'static [u8],
    pub idle: fn() -> Value,
    /// The method that ends a transaction without effect.
    pub abort: &'static [u8],
    /// The methods that begin transactions, and those that end them.
    pub begins: &'static [&'static [u8]],
    pub ends: &'static [&'static [u8]],
    /// Methods, or [properties](Profile::has_properties), whose answers for the last call are kept when another coroutine gets the
    /// connection.
    pub answers: &'static [&'static [u8]],
    /// The answers are properties of connections.
    pub has_properties: bool,
    /// Functions of the extension that are called instead of themselves: those that use statements or connections. Each with the
    /// class in lower case if it is a method, its name, and what it does.
    pub guards: &'static [(Option<&'static str>, &'static [u8], Guard)],
    /// Functions of the extension whose names begin with this take a connection as the first argument; the rest of the name is
    /// that of the method.
    pub functions: Option<&'static str>,
    /// Returns `true` if a connection is connected. It may have thrown otherwise.
    pub is_connected: fn(&Object) -> bool,
    /// Returns `true` if the result of a call refers to the connection, and does not hold it.
    pub needs_connection: fn(&[u8], &[Value], &Value) -> bool,
    /// A call that shows whether the other end still answers: a method and its argument.
    pub ping: (&'static [u8], Option<&'static str>),
    /// What a call of a method, by its name in lower case, means. One of an unknown kind may change the connection.
    pub meaning: fn(&[u8], &[Value], &Effects<'_>) -> Meaning,
    /// Returns the language of a connection's statements.
    pub dialect: fn(&Object) -> Dialect,
    /// Methods that make functions for statements, by the name that is their first argument.
    pub function_makers: &'static [&'static str],
    /// Returns the health of a connection whose call has thrown this exception. Runs no PHP code.
    pub failure_state: fn(&Object) -> Health,
    /// Returns the health of a connection that has answered a call with `false`.
    pub answer_state: fn(&Object) -> Health,
}

impl Profile {
    /// Returns the class, if its extension is loaded.
    pub fn class(&self) -> Option<Class> {
        class_table::find(&Str::new(self.base))
    }

    /// Returns an answer of a connection about its last call.
    pub fn answer(&self, connection: &Object, name: &[u8]) -> Value {
        if self.has_properties { property(connection, name) } else { ask(connection, name, &mut []) }
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
    factory: b"pdo",
    wait: "PooledPDO",
    failure: "pdoexception",
    busy: b"intransaction",
    idle: || Value::from(false),
    abort: b"rollback",
    begins: &[b"begintransaction"],
    ends: &[b"commit", b"rollback"],
    answers: &[b"errorcode", b"errorinfo"],
    has_properties: false,
    guards: &[(Some("pdostatement"), b"execute", Guard::Runs)],
    functions: None,
    is_connected: |_| true,
    needs_connection: |_, _, _| false,
    ping: (b"query", Some("SELECT 1")),
    meaning: |method, arguments, effects| match method {
        b"exec" | b"query" => meaning_of_sql(arguments, effects),
        b"prepare" => meaning_of_prepared(arguments, effects),
        b"lastinsertid" | b"errorcode" | b"errorinfo" => Meaning::Reads,
        b"setattribute" | b"sqlitecreatefunction" | b"sqlitecreateaggregate" | b"sqlitecreatecollation" => {
            Meaning::Configures
        }
        b"commit" | b"rollback" => Meaning::Ends,
        b"begintransaction" | b"intransaction" | b"getattribute" | b"quote" => Meaning::Plain,
        _ => Meaning::Changes, // a method of a driver
    },
    dialect: |connection| {
        const DRIVER_NAME: i64 = 16; // PDO::ATTR_DRIVER_NAME
        let name = ask(connection, b"getattribute", &mut [DRIVER_NAME.into()]);
        name.as_str().map_or(Dialect::Unknown, |name| Dialect::of_driver(name.as_bytes()))
    },
    function_makers: &["sqlitecreatefunction", "sqlitecreateaggregate"],
    failure_state: |thrown| health_by_code(&thrown.read_property(thrown.class(), c"code")),
    answer_state: |connection| health_by_code(&ask(connection, b"errorcode", &mut [])),
};

/// Returns the health of a connection by an `SQLSTATE`.
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

/// `mysqli`.
pub static MYSQLI: Profile = Profile {
    base: "mysqli",
    pooled: c"Async\\PooledMysqli",
    connection: c"Async\\PooledMysqliConnection",
    factory: b"mysqli",
    wait: "PooledMysqli",
    failure: "mysqli_sql_exception",
    busy: b"",
    idle: || Value::from(false),
    abort: b"rollback",
    begins: &[b"begin_transaction"],
    ends: &[b"commit", b"rollback"],
    answers: &[
        b"affected_rows",
        b"errno",
        b"error",
        b"error_list",
        b"field_count",
        b"host_info",
        b"info",
        b"insert_id",
        b"protocol_version",
        b"server_info",
        b"server_version",
        b"sqlstate",
        b"thread_id",
        b"warning_count",
    ],
    has_properties: true,
    guards: &[
        (Some("mysqli_stmt"), b"execute", Guard::Runs),
        (None, b"mysqli_stmt_execute", Guard::Runs),
        (None, b"mysqli_execute", Guard::Runs),
        (Some("mysqli_stmt"), b"prepare", Guard::Prepares),
        (None, b"mysqli_stmt_prepare", Guard::Prepares),
        (Some("mysqli_stmt"), b"fetch", Guard::Uses),
        (None, b"mysqli_stmt_fetch", Guard::Uses),
        (Some("mysqli_stmt"), b"get_result", Guard::Uses),
        (None, b"mysqli_stmt_get_result", Guard::Uses),
        (Some("mysqli_stmt"), b"store_result", Guard::Uses),
        (None, b"mysqli_stmt_store_result", Guard::Uses),
        (Some("mysqli_stmt"), b"close", Guard::Closes),
        (None, b"mysqli_stmt_close", Guard::Closes),
        (Some("mysqli_result"), b"close", Guard::Closes),
        (Some("mysqli_result"), b"free", Guard::Closes),
        (Some("mysqli_result"), b"free_result", Guard::Closes),
        (None, b"mysqli_free_result", Guard::Closes),
        (Some("mysqli_stmt"), b"__construct", Guard::Makes),
        (Some("mysqli_result"), b"__construct", Guard::Makes),
        (Some("mysqli"), b"poll", Guard::Polls),
        (None, b"mysqli_poll", Guard::Polls),
    ],
    functions: Some("mysqli_"),
    is_connected: |connection| property(connection, b"thread_id").as_long().is_some_and(|id| id > 0),
    needs_connection: |method, arguments, result| {
        const USE_RESULT: i64 = 1;
        let Some(class) = result.as_object().map(Object::class) else { return false };
        let is_a = |name: &str| class.and_parents().any(|class| class.name().as_bytes() == name.as_bytes());
        let is_unbuffered = match method {
            b"query" => integer(arguments, 1) & USE_RESULT != 0,
            b"use_result" => true,
            _ => false,
        };
        is_a("mysqli_stmt") || is_unbuffered && is_a("mysqli_result")
    },
    ping: (b"query", Some("SELECT 1")),
    meaning: |method, arguments, effects| {
        const ASYNC: i64 = 8;
        const AND_CHAIN: i64 = 1;
        match method {
            b"query" if integer(arguments, 1) & ASYNC != 0 => Meaning::Refused,
            b"query" | b"execute_query" => meaning_of_sql(arguments, effects),
            b"prepare" => meaning_of_prepared(arguments, effects),
            b"autocommit" if arguments.first().is_some_and(|on| on.dereferenced().is_truthy()) => {
                Meaning::EntersAutocommit
            }
            b"autocommit" => Meaning::LeavesAutocommit,
            b"begin_transaction" => Meaning::Begins,
            b"commit" | b"rollback" => match integer(arguments, 0) {
                0 => Meaning::Ends,
                AND_CHAIN => Meaning::Begins,
                _ => Meaning::Changes, // it may end the connection
            },
            b"savepoint" | b"release_savepoint" => Meaning::InTransaction,
            b"set_charset" | b"options" | b"set_opt" => Meaning::Configures,
            b"get_warnings" => Meaning::Reads,
            b"close" => Meaning::Closes,
            b"connect" | b"real_connect" | b"init" | b"ssl_set" | b"reap_async_query" => Meaning::Refused,
            b"character_set_name"
            | b"debug"
            | b"dump_debug_info"
            | b"escape_string"
            | b"get_charset"
            | b"get_client_info"
            | b"get_connection_stats"
            | b"get_server_info"
            | b"kill"
            | b"more_results"
            | b"next_result"
            | b"ping"
            | b"real_escape_string"
            | b"stat"
            | b"stmt_init"
            | b"store_result"
            | b"thread_safe"
            | b"use_result" => Meaning::Plain,
            _ => Meaning::Changes,
        }
    },
    dialect: |_| Dialect::MySql,
    function_makers: &[],
    failure_state: |thrown| health_by_number(&thrown.read_property(thrown.class(), c"code")),
    answer_state: |connection| health_by_number(&property(connection, b"errno")),
};

/// Returns an argument that is an integer; 0 if there is none.
fn integer(arguments: &[Value], place: usize) -> i64 {
    arguments.get(place).and_then(|value| value.dereferenced().as_long()).unwrap_or(0)
}

/// Returns the health of a connection by the number of a MySQL error.
fn health_by_number(number: &Value) -> Health {
    match number.as_long() {
        Some(0) => Health::Sound,
        // The server is shut down, the connection was ended, or what it received was malformed.
        Some(1040 | 1042 | 1043 | 1047 | 1053 | 1077..=1080 | 1152..=1161 | 1184 | 1189 | 1190 | 1927 | 4031) => {
            Health::Suspect
        }
        // Errors of the server.
        Some(1000..=1999 | 3000..=4999) => Health::Sound,
        // A statement was used in a wrong way.
        Some(2030..=2037 | 2050..=2053) => Health::Sound,
        Some(2002 | 2003 | 2006 | 2013 | 2027 | 2055) => Health::Broken,
        _ => Health::Suspect,
    }
}

/// phpredis.
pub static REDIS: Profile = Profile {
    base: "redis",
    pooled: c"Async\\PooledRedis",
    connection: c"Async\\PooledRedisConnection",
    factory: b"redis",
    wait: "PooledRedis",
    failure: "redisexception",
    busy: b"getmode",
    idle: || Value::from(0),
    abort: b"discard",
    begins: &[],
    ends: &[b"exec", b"discard"],
    answers: &[b"getlasterror"],
    has_properties: false,
    guards: &[],
    functions: None,
    is_connected: |_| true,
    needs_connection: |_, _, _| false,
    ping: (b"ping", None),
    meaning: |method, _, _| match method {
        b"connect" | b"open" | b"pconnect" | b"popen" | b"close" | b"swapdb" => Meaning::Refused,
        b"setoption" | b"select" | b"auth" => Meaning::Configures,
        b"getlasterror" | b"clearlasterror" | b"wait" | b"waitaof" => Meaning::Reads,
        b"watch" => Meaning::Begins,
        b"exec" | b"discard" | b"unwatch" => Meaning::EndsAnyhow,
        _ if REDIS_COMMANDS.binary_search(&method).is_ok() => Meaning::Plain,
        _ => Meaning::Changes,
    },
    dialect: |_| Dialect::Unknown,
    function_makers: &[],
    failure_state: |_| Health::Broken,
    answer_state: |_| Health::Sound,
};

/// Methods of phpredis that leave nothing on their connection, or only what its mode tells. Sorted.
#[rustfmt::skip]
const REDIS_COMMANDS: &[&[u8]] = &[
    b"_compress", b"_pack", b"_prefix", b"_serialize", b"_uncompress", b"_unpack", b"_unserialize", b"acl", b"append",
    b"bgrewriteaof", b"bgsave", b"bitcount", b"bitop", b"bitpos", b"blmove", b"blmpop", b"blpop", b"brpop",
    b"brpoplpush", b"bzmpop", b"bzpopmax", b"bzpopmin", b"config", b"copy", b"dbsize", b"decr", b"decrby", b"del",
    b"delete", b"dump", b"echo", b"eval", b"eval_ro", b"evalsha", b"evalsha_ro", b"evaluate", b"evaluatesha",
    b"exists", b"expire", b"expireat", b"expiretime", b"fcall", b"fcall_ro", b"flushall", b"flushdb", b"function",
    b"geoadd", b"geodist", b"geohash", b"geopos", b"georadius", b"georadius_ro", b"georadiusbymember",
    b"georadiusbymember_ro", b"geosearch", b"geosearchstore", b"get", b"getauth", b"getbit", b"getdbnum", b"getdel",
    b"getex", b"gethost", b"getkeys", b"getmode", b"getmultiple", b"getoption", b"getpersistentid", b"getport",
    b"getrange", b"getreadtimeout", b"getset", b"gettimeout", b"hdel", b"hexists", b"hget", b"hgetall", b"hincrby",
    b"hincrbyfloat", b"hkeys", b"hlen", b"hmget", b"hmset", b"hrandfield", b"hscan", b"hset", b"hsetnx", b"hstrlen",
    b"hvals", b"incr", b"incrby", b"incrbyfloat", b"info", b"isconnected", b"keys", b"lastsave", b"lcs", b"lget",
    b"lgetrange", b"lindex", b"linsert", b"listtrim", b"llen", b"lmove", b"lmpop", b"lpop", b"lpos", b"lpush",
    b"lpushx", b"lrange", b"lrem", b"lremove", b"lset", b"lsize", b"ltrim", b"mget", b"migrate", b"move", b"mset",
    b"msetnx", b"multi", b"object", b"persist", b"pexpire", b"pexpireat", b"pexpiretime", b"pfadd", b"pfcount",
    b"pfmerge", b"ping", b"pipeline", b"psetex", b"pttl", b"publish", b"pubsub", b"randomkey", b"rename",
    b"renamekey", b"renamenx", b"restore", b"role", b"rpop", b"rpoplpush", b"rpush", b"rpushx", b"sadd", b"saddarray",
    b"save", b"scan", b"scard", b"scontains", b"script", b"sdiff", b"sdiffstore", b"sendecho", b"set", b"setbit",
    b"setex", b"setnx", b"setrange", b"sgetmembers", b"sinter", b"sintercard", b"sinterstore", b"sismember",
    b"slowlog", b"smembers", b"smismember", b"smove", b"sort", b"sort_ro", b"sortasc", b"sortascalpha", b"sortdesc",
    b"sortdescalpha", b"spop", b"srandmember", b"srem", b"sremove", b"sscan", b"ssize", b"strlen", b"substr",
    b"sunion", b"sunionstore", b"time", b"touch", b"ttl", b"type", b"unlink", b"xack", b"xadd", b"xautoclaim",
    b"xclaim", b"xdel", b"xgroup", b"xinfo", b"xlen", b"xpending", b"xrange", b"xread", b"xreadgroup", b"xrevrange",
    b"xtrim", b"zadd", b"zcard", b"zcount", b"zdelete", b"zdeleterangebyrank", b"zdeleterangebyscore", b"zdiff",
    b"zdiffstore", b"zincrby", b"zinter", b"zintercard", b"zinterstore", b"zlexcount", b"zmpop", b"zmscore",
    b"zpopmax", b"zpopmin", b"zrandmember", b"zrange", b"zrangebylex", b"zrangebyscore", b"zrangestore", b"zrank",
    b"zrem", b"zremove", b"zremoverangebyscore", b"zremrangebylex", b"zremrangebyrank", b"zremrangebyscore",
    b"zreverserange", b"zrevrange", b"zrevrangebylex", b"zrevrangebyscore", b"zrevrank", b"zscan", b"zscore",
    b"zsize", b"zunion", b"zunionstore",
];

/// Returns the meaning of a prepared statement for its connection.
pub fn meaning_of_prepared(arguments: &[Value], effects: &Effects<'_>) -> Meaning {
    match meaning_of_sql(arguments, effects) {
        Meaning::Ends => Meaning::Plain, // it may never be executed
        other => other,
    }
}

/// Returns the meaning of a statement, the first argument, for its connection.
fn meaning_of_sql(arguments: &[Value], effects: &Effects<'_>) -> Meaning {
    let Some(text) = arguments.first().map(Value::dereferenced) else { return Meaning::Plain };
    let Some(text) = text.as_str() else {
        // An object is converted to a text, which is not known yet.
        return if text.as_object().is_some() { Meaning::Changes } else { Meaning::Plain };
    };
    match effects(text.as_bytes()) {
        Effect::Nothing => Meaning::Plain,
        Effect::Reads => Meaning::Reads,
        Effect::InTransaction => Meaning::InTransaction,
        Effect::Begins => Meaning::Begins,
        Effect::Ends => Meaning::Ends,
        Effect::Changes => Meaning::Changes,
    }
}

/// Returns a property of an object, whose class reads it.
pub fn property(object: &Object, name: &[u8]) -> Value {
    CString::new(name).map_or(Value::UNDEF, |name| object.read_property(object.class(), &name))
}

/// Returns the result of a method of a connection; `Value::UNDEF` if it has failed or there is none.
pub fn ask(connection: &Object, method: &[u8], arguments: &mut [Value]) -> Value {
    connection.class().method(method).map_or(Value::UNDEF, |method| engine::call_method(connection, method, arguments))
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
