//! What is known of the classes whose connections are pooled.

use crate::connections::Connections;
use spindle_sql::{Dialect, Effect};
use spindle_zend::{Class, Frame, Object, Str, Value, class_table, engine, exception};
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
    /// Nothing that lasts longer than a transaction. Without one, as `Changes`.
    InTransaction,
    /// It may change the connection for good, also if it fails: the coroutine keeps it, and no other coroutine gets it.
    Changes,
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
    /// The methods that begin transactions, and those that end them.
    pub begins: &'static [&'static [u8]],
    pub ends: &'static [&'static [u8]],
    /// Methods whose answers for the last call are kept when another coroutine gets the connection.
    pub answers: &'static [&'static [u8]],
    /// The class of statements, in lower case, and their methods that make them run.
    pub statements: Option<(&'static str, &'static [&'static [u8]])>,
    /// A call that shows whether the other end still answers: a method and its argument.
    pub ping: (&'static [u8], Option<&'static str>),
    /// What a call of a method, by its name in lower case, means. One of an unknown kind may change the connection.
    pub meaning: fn(&[u8], Option<&Value>, &Connections) -> Meaning,
    /// Returns the language of a connection's statements.
    pub dialect: fn(&Object) -> Dialect,
    /// Methods that make functions for statements, by the name that is their first argument.
    pub function_makers: &'static [&'static str],
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
    begins: &[b"begintransaction"],
    ends: &[b"commit", b"rollback"],
    answers: &[b"errorcode", b"errorinfo"],
    statements: Some(("pdostatement", &[b"execute"])),
    ping: (b"query", Some("SELECT 1")),
    meaning: |method, first, connections| match method {
        b"exec" | b"query" => meaning_of_sql(first, connections),
        b"prepare" => match meaning_of_sql(first, connections) {
            Meaning::Ends => Meaning::Plain, // it may never be executed
            other => other,
        },
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
    begins: &[],
    ends: &[b"exec", b"discard"],
    answers: &[b"getlasterror"],
    statements: None,
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

/// Methods of phpredis that leave nothing on their connection, or what its mode tells. Sorted.
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

/// Returns what a statement means for its connection.
fn meaning_of_sql(text: Option<&Value>, connections: &Connections) -> Meaning {
    let Some(text) = text else { return Meaning::Plain };
    let Some(text) = text.as_str() else {
        // An object is converted to a text, which is not known yet.
        return if text.as_object().is_some() { Meaning::Changes } else { Meaning::Plain };
    };
    match connections.effect(text.as_bytes()) {
        Effect::Nothing => Meaning::Plain,
        Effect::Reads => Meaning::Reads,
        Effect::InTransaction => Meaning::InTransaction,
        Effect::Begins => Meaning::Begins,
        Effect::Ends => Meaning::Ends,
        Effect::Changes => Meaning::Changes,
    }
}

/// Returns the result of a method of a connection; `Value::UNDEF` if it has failed or there is none.
pub fn ask(connection: &Object, method: &[u8], arguments: &mut [Value]) -> Value {
    connection.class().method(method).map_or(Value::UNDEF, |method| engine::call_method(connection, method, arguments))
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
