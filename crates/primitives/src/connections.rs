//! The classes `Async\PooledPDO` and `Async\PooledRedis`: objects that are used like one connection, and use one of a pool for
//! each coroutine.
//!
//! The class extends that of the connections, and has its methods: their code is replaced by [`forward`], which makes the same
//! call on a connection. That is leased to the coroutine while a call is made, and then as long as something refers to it: a
//! statement, or this module for a transaction. When the last reference is gone, the destructor of the connection's class,
//! [`comes_back`], keeps it and puts it into its pool.

mod calls;
mod classes;
mod dependents;
mod leases;

pub use dependents::{forked, request_ends};

use crate::arguments::fails;
use crate::connection::Connections;
use crate::pool::{self, Numbers, POOL, Pool};
use crate::profiles::{Health, MYSQLI, PDO, Profile, REDIS};
use calls::{call_by_name, forward};
use classes::{CLASSES, Classes, class_of, pool_of, pooled_class};
use dependents::guard;
use leases::{give_back, last_used, leased};
use spindle_php::coroutine;
use spindle_php::sapi::instance;
use spindle_zend::{
    Arguments, Call, Class, Frame, FunctionEntry, Hook, Instance, Object, Owned, PhpResult, Str, Thrown, Type, Value,
    argument_error, as_handler, declare_class_extending, exception, function_table,
    hooks::{self, ThrowException},
    sys,
};

const OPTIONS: Type = Type::ARRAY.or_null();
const TEXT: Type = Type::STRING.or_null();
const CALLBACK: Type = Type::CALLABLE.or_null();
const A_POOL: Type = Type::class(c"Async\\Pool");

function_table! {
    /// Static methods of `Async\Pool`.
    pub static STATICS = {
        c"pdo"(
            dsn: Type::STRING, username: TEXT => c"null", password: TEXT => c"null", options: OPTIONS => c"null",
            max: Type::INT => c"10", min: Type::INT => c"0", healthcheckInterval: Type::INT => c"1000",
            idleTime: Type::INT => c"0", reset: CALLBACK => c"null",
        ) -> A_POOL => |call| {
            let pool = POOL.make();
            construct_pdo(&pool, &call.passed())?;
            pool::fill(&pool, 0)?;
            Ok(pool.into())
        };
        c"redis"(
            host: Type::STRING => c"'127.0.0.1'", port: Type::INT => c"6379", timeout: Type::FLOAT => c"0.0",
            auth: Type::MIXED => c"null", database: Type::INT => c"0", max: Type::INT => c"10", min: Type::INT => c"0",
            healthcheckInterval: Type::INT => c"1000", idleTime: Type::INT => c"0", reset: CALLBACK => c"null",
        ) -> A_POOL => |call| {
            let pool = POOL.make();
            construct_redis(&pool, &call.passed())?;
            pool::fill(&pool, 0)?;
            Ok(pool.into())
        };
        c"mysqli"(
            hostname: TEXT => c"null", username: TEXT => c"null", password: TEXT => c"null", database: TEXT => c"null",
            port: Type::INT.or_null() => c"null", socket: TEXT => c"null", max: Type::INT => c"10", min: Type::INT => c"0",
            healthcheckInterval: Type::INT => c"1000", idleTime: Type::INT => c"0", reset: CALLBACK => c"null",
        ) -> A_POOL => |call| {
            let pool = POOL.make();
            construct_mysqli(&pool, &call.passed())?;
            pool::fill(&pool, 0)?;
            Ok(pool.into())
        };
    }
}

function_table! {
    static MYSQLI_METHODS = {
        c"__construct"(
            hostname: TEXT => c"null", username: TEXT => c"null", password: TEXT => c"null", database: TEXT => c"null",
            port: Type::INT.or_null() => c"null", socket: TEXT => c"null", max: Type::INT => c"10", min: Type::INT => c"0",
            healthcheckInterval: Type::INT => c"1000", idleTime: Type::INT => c"0", reset: CALLBACK => c"null",
        ) -> Type::NONE => |call| construct(call, |pool| construct_mysqli(pool, &call.passed()));
    }
}

function_table! {
    static PDO_METHODS = {
        c"__construct"(
            dsn: Type::STRING, username: TEXT => c"null", password: TEXT => c"null", options: OPTIONS => c"null",
            max: Type::INT => c"10", min: Type::INT => c"0", healthcheckInterval: Type::INT => c"1000",
            idleTime: Type::INT => c"0", reset: CALLBACK => c"null",
        ) -> Type::NONE => |call| construct(call, |pool| construct_pdo(pool, &call.passed()));
        c"__call"(name: Type::STRING, arguments: Type::ARRAY) -> Type::MIXED => call_by_name;
    }
}

function_table! {
    static REDIS_METHODS = {
        c"__construct"(
            host: Type::STRING => c"'127.0.0.1'", port: Type::INT => c"6379", timeout: Type::FLOAT => c"0.0",
            auth: Type::MIXED => c"null", database: Type::INT => c"0", max: Type::INT => c"10", min: Type::INT => c"0",
            healthcheckInterval: Type::INT => c"1000", idleTime: Type::INT => c"0", reset: CALLBACK => c"null",
        ) -> Type::NONE => |call| construct(call, |pool| construct_redis(pool, &call.passed()));
        c"__call"(name: Type::STRING, arguments: Type::ARRAY) -> Type::MIXED => call_by_name;
    }
}

function_table! {
    static CONNECTION_METHODS = {
        c"__destruct"() -> Type::NONE => |call| {
            if let Some(this) = call.this() {
                comes_back(this);
            }
            Ok(Value::NULL)
        };
    }
}

/// Registers the classes whose parents are loaded. At module start.
pub fn register() {
    for (profile, methods, hidden) in [(&PDO, PDO_METHODS, 3), (&REDIS, REDIS_METHODS, 4), (&MYSQLI, MYSQLI_METHODS, 3)]
    {
        if let Some(base) = profile.class() {
            declare(profile, base, methods, hidden);
            THROWN.install();
            guard(profile, base);
        }
        if let Some(factory) = POOL.class().method(profile.factory) {
            factory.hide_argument(hidden);
        }
    }
}

/// Registers the classes of a profile. `hidden` is the number of the constructor's argument that is a secret.
fn declare(profile: &'static Profile, base: Class, methods: &'static [FunctionEntry], hidden: u32) {
    let connection = declare_class_extending(profile.connection, base, CONNECTION_METHODS, &[]);
    connection.add_flags(sys::ZEND_ACC_FINAL);
    let pooled = declare_class_extending(profile.pooled, base, methods, &[]);
    if profile.has_properties {
        connection.create_as_base();
        pooled.forward_properties(read_property);
    }
    CLASSES.borrow_mut().push(Classes { profile, connection, pooled });
    pooled.declare_readonly(c"pool", c"Async\\Pool");
    if let Some(constructor) = pooled.method(b"__construct") {
        constructor.hide_argument(hidden);
    }
    for method in pooled.methods() {
        let is_own = method.class() == Some(pooled);
        if is_own || method.flags() & sys::ZEND_ACC_STATIC != 0 {
            continue;
        }
        // SAFETY: it makes the same call on an object of the parent class.
        unsafe { method.set_handler(as_handler(forward)) };
        if let Some(extension) = pooled.extension() {
            method.set_extension(extension);
        }
    }
}

/// Reads a property of a pooled object that is one of its connection: that of the coroutine's last call.
fn read_property(this: &Object, name: &Str) -> Option<Value> {
    let pool = Owned::of(pool_of(this)?);
    let connections = pool.connections.get()?;
    let place = connections.profile.answers.iter().position(|answer| *answer == name.as_bytes())?;
    let me = coroutine::current_id();
    if let Some(lease) = leased(&pool, me).or_else(|| last_used(&pool, me)) {
        let value = connections.profile.answer(&lease.connection, name.as_bytes());
        exception::put_aside(|| drop(lease));
        return Some(value);
    }
    let known = connections.answers.borrow().get(&me).and_then(|answers| answers.get(place).cloned());
    Some(known.or_else(|| connections.first_answers.borrow().get(place).cloned()).unwrap_or(Value::NULL))
}

fn construct_pdo(pool: &Instance<Pool>, arguments: &Arguments<'_>) -> Result<(), Thrown> {
    let class = class_of(&PDO)?;
    let numbers = Numbers { most: 5, least: 6, check_after: (7, 1000), idle_time: 8 };
    let mut values = vec![Value::from(arguments.str(1)?)];
    for number in [2, 3] {
        let is_given = arguments.value(number).is_some_and(|value| value.type_number() != sys::IS_NULL);
        values.push(if is_given { Value::from(arguments.str(number)?) } else { Value::NULL });
    }
    let options = arguments.value(4).filter(|value| value.type_number() != sys::IS_NULL);
    if options.is_some() {
        const PERSISTENT: u64 = 12; // PDO::ATTR_PERSISTENT
        if arguments.array(4)?.at(PERSISTENT).is_some_and(Value::is_truthy) {
            return Err(argument_error(
                4,
                false,
                "must not contain PDO::ATTR_PERSISTENT: the pool keeps the connections",
            ));
        }
    }
    values.push(options.cloned().unwrap_or(Value::NULL));
    let reset = arguments.callable_or_null(9)?.cloned();
    pool::begin(pool, arguments, &numbers)?;
    begin(pool, Connections::new(&PDO, class, values, Vec::new(), reset));
    Ok(())
}

fn construct_redis(pool: &Instance<Pool>, arguments: &Arguments<'_>) -> Result<(), Thrown> {
    let class = class_of(&REDIS)?;
    let numbers = Numbers { most: 6, least: 7, check_after: (8, 1000), idle_time: 9 };
    let host = arguments.value(1).map_or(Ok(Value::from("127.0.0.1")), |_| arguments.str(1).map(Value::from))?;
    let port = Value::from(arguments.long_or(2, 6379)?);
    let timeout = arguments.value(3).cloned().unwrap_or(Value::from(0.0));
    let mut calls: Vec<(&[u8], Vec<Value>)> = vec![(b"connect", vec![host, port, timeout])];
    if let Some(auth) = arguments.value(4).filter(|value| value.type_number() != sys::IS_NULL) {
        calls.push((b"auth", vec![auth.clone()]));
    }
    let database = arguments.long_or(5, 0)?;
    if database != 0 {
        calls.push((b"select", vec![database.into()]));
    }
    let reset = arguments.callable_or_null(10)?.cloned();
    pool::begin(pool, arguments, &numbers)?;
    begin(pool, Connections::new(&REDIS, class, Vec::new(), calls, reset));
    Ok(())
}

fn construct_mysqli(pool: &Instance<Pool>, arguments: &Arguments<'_>) -> Result<(), Thrown> {
    let class = class_of(&MYSQLI)?;
    let numbers = Numbers { most: 7, least: 8, check_after: (9, 1000), idle_time: 10 };
    let mut values = Vec::new();
    for number in 1..=6 {
        let is_given = arguments.value(number).is_some_and(|value| value.type_number() != sys::IS_NULL);
        values.push(match (is_given, number) {
            (false, _) => Value::NULL,
            (true, 5) => Value::from(arguments.long_or(5, 0)?),
            (true, _) => Value::from(arguments.str(number)?),
        });
    }
    if values[0].as_str().is_some_and(|host| host.as_bytes().starts_with(b"p:")) {
        return Err(argument_error(1, false, "must not begin with \"p:\": the pool keeps the connections"));
    }
    let reset = arguments.callable_or_null(11)?.cloned();
    pool::begin(pool, arguments, &numbers)?;
    begin(pool, Connections::new(&MYSQLI, class, values, Vec::new(), reset));
    Ok(())
}

fn begin(pool: &Instance<Pool>, connections: Connections) {
    if pool.connections.set(Box::new(connections)).is_ok() {
        coroutine::hold(1);
    }
}

/// Constructs a pooled object, with a first connection, so that it fails when the constructor of its parent would.
fn construct(call: Call, begin: impl FnOnce(&Instance<Pool>) -> Result<(), Thrown>) -> PhpResult {
    let Some(this) = call.this() else { return Ok(Value::NULL) };
    if pool_of(this).is_some() {
        return Err(fails("The object is constructed already"));
    }
    let Some(class) = pooled_class(this) else { return Ok(Value::NULL) };
    let pool = instance::for_all(|| POOL.make());
    begin(&pool)?;
    pool::fill(&pool, 1)?;
    this.set_property(class, c"pool", &Value::from(Owned::<Object>::from(pool)));
    Ok(Value::NULL)
}

/// An exception was thrown, perhaps by a call on a statement, which [`forward`] does not see. A failure of the connection's
/// class: the coroutine's connections have to be checked. A cancellation: it may have interrupted a call, and the answer is
/// still to come.
extern "C" fn thrown(exception: Option<&Object>) {
    if let Some(original) = THROWN.original() {
        original(exception);
    }
    let Some(exception) = exception else { return };
    pool::each_pool(|pool| {
        let Some(connections) = pool.connections.get() else { return };
        let is_cancellation = exception.is_a(coroutine::cancellation_exception());
        if !is_cancellation && !connections.profile.is_failure(exception) {
            return;
        }
        let me = coroutine::current_id();
        // A statement may have been passed to another coroutine.
        let called = Frame::current().and_then(|frame| frame.this().map(coroutine::connection_of)).unwrap_or(0);
        for entry in pool.entries.borrow().iter() {
            let info = &entry.connection;
            if entry.borrower.get() != me && entry.address() != called {
                continue;
            }
            if is_cancellation {
                info.is_broken.set(true);
            } else if (connections.profile.failure_state)(exception) != Health::Sound {
                info.is_suspect.set(true);
            }
        }
    });
}

/// A cancellation has made a wait of a call fail, and is thrown later: the answer is still to come, on the connection that the
/// call uses, which may be that of a statement that is being freed.
pub fn interrupted() {
    let me = coroutine::current_id();
    pool::each_pool(|pool| {
        if pool.connections.get().is_none() {
            return;
        }
        for entry in pool.entries.borrow().iter() {
            if entry.borrower.get() == me || coroutine::is_in_use(entry.address()) {
                entry.connection.is_broken.set(true);
            }
        }
    });
}

static THROWN: Hook<ThrowException> = Hook::new(&hooks::THROW_EXCEPTION, thrown);

/// The destructor of a connection: it goes back into its pool, if it can be used by others.
fn comes_back(connection: &Object) {
    let mut found = None;
    pool::each_pool(|pool| {
        if let Some(entry) = pool.entry(connection) {
            found = Some((Owned::of(pool), entry));
        }
    });
    let Some((pool, entry)) = found else { return };
    let info = &entry.connection;
    let value = Value::from(connection);
    let is_whole = info.is_whole();
    let is_usable = is_whole
        && !coroutine::is_over()
        && entry.borrower.get() != 0
        && pool.connections.get().is_some_and(|connections| !connections.is_busy(connection));
    let was_leased = info.is_leased.replace(false);
    let is_usable =
        is_usable && pool.connections.get().is_some_and(|known| known.is_sound(connection, info, was_leased));
    pool.returned(&value);
    if !is_usable || pool.places.borrow().is_closed() {
        let user = info.last_user.get();
        if user != 0
            && !coroutine::is_over()
            && let Some(connections) = pool.connections.get()
        {
            connections.keep_answers(user, connection);
        }
        info.is_ending.set(true);
        return;
    }
    connection.revive();
    if let Err(value) = pool.put(value) {
        info.is_ending.set(true);
        connection.skip_destructor();
        drop(value);
    }
}

/// The body of a coroutine has ended: what it has begun on connections is ended, and they go back.
pub fn body_ends(id: u64) {
    for pool in pool::all() {
        let Some(connections) = pool.connections.get() else { continue };
        let answers = connections.answers.borrow_mut().remove(&id);
        drop(answers);
        give_back(&pool, connections, id);
        if exception::is_exit_in_flight() {
            return; // from a callback of a connection's
        }
        for entry in pool.entries.borrow().iter().filter(|entry| entry.connection.last_user.get() == id) {
            entry.connection.last_user.set(0);
        }
        exception::put_aside(|| drop(pool));
    }
}
