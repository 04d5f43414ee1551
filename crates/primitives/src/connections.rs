//! The classes `Async\PooledPDO` and `Async\PooledRedis`: objects that are used like one connection, and use one of a pool for
//! each coroutine.
//!
//! The class extends that of the connections, and has its methods: their code is replaced by [`forward`], which makes the same
//! call on a connection. That is leased to the coroutine while a call is made, and then as long as something refers to it: a
//! statement, or this module for a transaction. When the last reference is gone, the destructor of the connection's class,
//! [`comes_back`], keeps it and puts it into its pool.

mod calls;
mod dependents;

pub use dependents::{forked, request_ends};

use crate::arguments::fails;
use crate::pool::{self, Entry, Numbers, POOL, Pool};
use crate::profiles::{self, Health, MYSQLI, Meaning, PDO, Profile, REDIS, ask};
use calls::{call_by_name, forward};
use dependents::guard;
use spindle_php::coroutine;
use spindle_sql::{Dialect, Effect};
use spindle_zend::argument_error;
use spindle_zend::{
    Arguments, Array, Call, Class, Collected, Frame, FunctionEntry, Hook, Instance, Object, Owned, OwnedCell,
    PhpResult, PhpStatic, Str, Thrown, Type, Value, ValueCell, as_handler, class_table, declare_class_extending,
    engine, exception, function_table,
    hooks::{self, ThrowException},
    sys,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What is known of a connection.
#[derive(Default)]
pub struct Info {
    /// Leased by a method of a pooled object, and not by [`Pool`]'s.
    is_leased: Cell<bool>,
    /// The coroutine that has used it last; 0 for none, or one that has ended.
    last_user: Cell<u64>,
    was_used: Cell<bool>,
    /// A reference that keeps the lease while a transaction is under way.
    pub kept: OwnedCell<Object>,
    /// It must not be used by another coroutine.
    is_broken: Cell<bool>,
    /// It has to be checked before it is used by another coroutine.
    pub is_suspect: Cell<bool>,
    /// A call has changed it for good, or until another call.
    is_changed: Cell<bool>,
    is_begun: Cell<bool>,
    /// Each statement begins a transaction.
    is_manual: Cell<bool>,
    /// How many objects refer to it that do not hold it.
    dependents: Cell<usize>,
    /// A transaction could not be begun on it, and no exception has said so. What user code takes for a part of the transaction
    /// must fail too.
    is_doomed: Cell<bool>,
    /// The number of the last setting that it has.
    configured: Cell<usize>,
    /// It is being freed.
    pub is_ending: Cell<bool>,
}

impl Info {
    /// Returns `true` if another coroutine can use it, as far as calls have told.
    fn is_whole(&self) -> bool {
        !self.is_broken.get() && !self.is_changed.get() && !self.is_begun.get() && !self.is_manual.get()
    }

    /// Returns `true` if calls have left something on it for which its coroutine keeps it.
    fn is_kept_by_calls(&self) -> bool {
        let is_known = self.is_changed.get() || self.is_begun.get() || self.is_manual.get() || self.is_doomed.get();
        !self.kept.is_empty() && (is_known || self.dependents.get() == 0)
    }
}

/// A call that configures all connections.
struct Setting {
    method: String,
    arguments: Vec<Value>,
    number: usize,
}

/// How the connections of a pool are made, and what they have in common.
pub struct Connections {
    profile: &'static Profile,
    class: Class,
    constructor: Vec<Value>,
    /// Calls that a new one needs.
    calls: Vec<(&'static [u8], Vec<Value>)>,
    reset: ValueCell,
    settings: RefCell<Vec<Setting>>,
    last_setting: Cell<usize>,
    /// The answers about their last calls of coroutines whose connections others have got since.
    answers: RefCell<BTreeMap<u64, Vec<Value>>>,
    /// The answers of a new connection.
    first_answers: RefCell<Vec<Value>>,
    /// The language of statements, when there was a connection.
    dialect: Cell<Dialect>,
}

/// The classes of a profile whose extension is loaded.
#[derive(Clone, Copy)]
struct Classes {
    profile: &'static Profile,
    connection: Class,
    pooled: Class,
}

static CLASSES: PhpStatic<RefCell<Vec<Classes>>> = PhpStatic::new(RefCell::new(Vec::new()));

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
            construct_pdo(&pool, &call.arguments(1, 9)?)?;
            pool::fill(&pool, 0)?;
            Ok(pool.into())
        };
        c"redis"(
            host: Type::STRING => c"'127.0.0.1'", port: Type::INT => c"6379", timeout: Type::FLOAT => c"0.0",
            auth: Type::MIXED => c"null", database: Type::INT => c"0", max: Type::INT => c"10", min: Type::INT => c"0",
            healthcheckInterval: Type::INT => c"1000", idleTime: Type::INT => c"0", reset: CALLBACK => c"null",
        ) -> A_POOL => |call| {
            let pool = POOL.make();
            construct_redis(&pool, &call.arguments(0, 10)?)?;
            pool::fill(&pool, 0)?;
            Ok(pool.into())
        };
        c"mysqli"(
            hostname: TEXT => c"null", username: TEXT => c"null", password: TEXT => c"null", database: TEXT => c"null",
            port: Type::INT.or_null() => c"null", socket: TEXT => c"null", max: Type::INT => c"10", min: Type::INT => c"0",
            healthcheckInterval: Type::INT => c"1000", idleTime: Type::INT => c"0", reset: CALLBACK => c"null",
        ) -> A_POOL => |call| {
            let pool = POOL.make();
            construct_mysqli(&pool, &call.arguments(0, 11)?)?;
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
        ) -> Type::NONE => |call| construct(call, |pool| construct_mysqli(pool, &call.arguments(0, 11)?));
    }
}

function_table! {
    static PDO_METHODS = {
        c"__construct"(
            dsn: Type::STRING, username: TEXT => c"null", password: TEXT => c"null", options: OPTIONS => c"null",
            max: Type::INT => c"10", min: Type::INT => c"0", healthcheckInterval: Type::INT => c"1000",
            idleTime: Type::INT => c"0", reset: CALLBACK => c"null",
        ) -> Type::NONE => |call| construct(call, |pool| construct_pdo(pool, &call.arguments(1, 9)?));
        c"__call"(name: Type::STRING, arguments: Type::ARRAY) -> Type::MIXED => call_by_name;
    }
}

function_table! {
    static REDIS_METHODS = {
        c"__construct"(
            host: Type::STRING => c"'127.0.0.1'", port: Type::INT => c"6379", timeout: Type::FLOAT => c"0.0",
            auth: Type::MIXED => c"null", database: Type::INT => c"0", max: Type::INT => c"10", min: Type::INT => c"0",
            healthcheckInterval: Type::INT => c"1000", idleTime: Type::INT => c"0", reset: CALLBACK => c"null",
        ) -> Type::NONE => |call| construct(call, |pool| construct_redis(pool, &call.arguments(0, 10)?));
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
    coroutine::on_body_end(body_ends);
    coroutine::on_interrupt(interrupted);
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

/// Returns the class of connections of a profile.
fn class_of(profile: &Profile) -> Result<Class, Thrown> {
    let found = CLASSES
        .borrow()
        .iter()
        .find(|classes| std::ptr::eq(classes.profile, profile))
        .map(|classes| classes.connection);
    found.ok_or_else(|| fails(&format!("This needs the extension {}, which is not loaded", profile.base)))
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
    let pool = POOL.make();
    begin(&pool)?;
    pool::fill(&pool, 1)?;
    this.set_property(class, c"pool", &Value::from(Owned::<Object>::from(pool)));
    Ok(Value::NULL)
}

/// Returns the class of this module that the object is an instance of, if it is a pooled object.
fn pooled_class(this: &Object) -> Option<Class> {
    this.class().and_parents().find(|class| CLASSES.borrow().iter().any(|classes| classes.pooled == *class))
}

/// Returns the pool of a pooled object, if it was constructed.
fn pool_of(this: &Object) -> Option<&Instance<Pool>> {
    let class = pooled_class(this)?;
    let place = u32::try_from(class.raw().default_properties_count).ok()?.checked_sub(1)?;
    this.property(place)?.as_object().and_then(|pool| POOL.of(pool))
}

impl Connections {
    fn new(
        profile: &'static Profile,
        class: Class,
        constructor: Vec<Value>,
        calls: Vec<(&'static [u8], Vec<Value>)>,
        reset: Option<Value>,
    ) -> Connections {
        Connections {
            profile,
            class,
            constructor,
            calls,
            reset: ValueCell::from(reset.unwrap_or_default()),
            settings: RefCell::default(),
            last_setting: Cell::new(0),
            answers: RefCell::default(),
            first_answers: RefCell::default(),
            dialect: Cell::default(),
        }
    }

    /// Adds the values for the cycle collector.
    pub fn collect(&self, values: &mut Collected) {
        values.cell(&self.reset);
        self.constructor.iter().for_each(|value| values.value(value));
        self.calls.iter().flat_map(|(_, arguments)| arguments).for_each(|value| values.value(value));
        self.settings.borrow().iter().flat_map(|setting| &setting.arguments).for_each(|value| values.value(value));
        self.answers.borrow().values().flatten().for_each(|value| values.value(value));
    }

    /// Returns a new connection.
    ///
    /// # Errors
    /// What its class has thrown.
    pub fn connect(&self) -> PhpResult {
        let connection = engine::new_object(self.class)?;
        self.invoke(&connection, b"__construct", self.constructor.clone())?;
        let mut is_connected = true;
        exception::put_aside(|| {
            is_connected = (self.profile.is_connected)(&connection);
            drop(exception::take());
        });
        if !is_connected {
            // Without exceptions, the extension has warned.
            let class = self.profile.pooled.to_string_lossy();
            return Err(fails(&format!(
                "{class}: the extension has opened no connection, and has thrown no exception"
            )));
        }
        for (method, arguments) in &self.calls {
            let result = self.invoke(&connection, method, arguments.clone())?;
            if result.type_number() == sys::IS_FALSE {
                let class = self.profile.class().map_or(String::new(), |class| class.name().to_text());
                return Err(fails(&format!("{class}::{}() has failed", String::from_utf8_lossy(method))));
            }
        }
        if self.first_answers.borrow().is_empty() {
            let answers = self.profile.answers.iter().map(|name| self.profile.answer(&connection, name)).collect();
            self.first_answers.replace(answers);
        }
        self.dialect.set((self.profile.dialect)(&connection));
        Ok(connection.into())
    }

    /// Returns the effect that a statement leaves on its connection.
    pub fn effect(&self, text: &[u8]) -> Effect {
        let settings = self.settings.borrow();
        // Functions in PHP leave nothing, or by further calls.
        let is_own = |name: &[u8]| {
            let is_it = |setting: &Setting| {
                let own = setting.arguments.first().and_then(Value::as_str);
                self.profile.function_makers.contains(&setting.method.as_str())
                    && own.is_some_and(|own| own.as_bytes().eq_ignore_ascii_case(name))
            };
            settings.iter().any(is_it)
        };
        spindle_sql::effect(text, self.dialect.get(), &is_own)
    }

    /// Calls a method of a connection, also one of its driver.
    fn invoke(&self, connection: &Object, name: &[u8], mut arguments: Vec<Value>) -> PhpResult {
        let result = match self.class.method(name) {
            Some(method) => engine::call_method(connection, method, &mut arguments),
            None => {
                let callable = [Value::from(connection), Value::from(String::from_utf8_lossy(name).into_owned())];
                engine::call(&Array::list(callable.into_iter()).into(), &mut arguments)
            }
        };
        if exception::is_in_flight() { Err(Thrown::is_in_flight()) } else { Ok(result) }
    }

    /// Returns `true` if a transaction is under way.
    fn is_busy(&self, connection: &Object) -> bool {
        let mut busy = Value::UNDEF;
        exception::put_aside(|| busy = ask(connection, self.profile.busy, &mut []));
        let idle = (self.profile.idle)();
        !busy.is_undef() && (busy.type_number() != idle.type_number() || busy.as_long() != idle.as_long())
    }

    /// Ends a transaction without effect. Returns `false` if that has failed.
    fn abort(&self, connection: &Object) -> bool {
        let mut is_idle = false;
        exception::put_aside(|| {
            let ended = profiles::without_failures(self.profile, || ask(connection, self.profile.abort, &mut []));
            let has_ended = matches!(ended, Ok(Some(result)) if result.type_number() != sys::IS_FALSE);
            is_idle = has_ended && !self.is_busy(connection);
        });
        is_idle
    }

    /// Returns `true` if a connection that is released can be used by others: a transaction has been ended.
    pub fn is_clean(&self, pool: &Pool, connection: &Object) -> bool {
        let is_broken = pool.entry(connection).is_none_or(|entry| entry.connection.is_broken.get());
        if self.profile.busy.is_empty() {
            // What was done on it is unknown.
            return !is_broken && self.renew(connection);
        }
        !is_broken && (!self.is_busy(connection) || self.abort(connection))
    }

    /// Resets a connection of `mysqli` to the state of a new one. Returns `false` if that has failed.
    fn renew(&self, connection: &Object) -> bool {
        let arguments = self.constructor.iter().skip(1).take(3).map(|value| match value.is_null() {
            true => Value::from(""),
            false => value.clone(),
        });
        let mut is_new = false;
        exception::put_aside(|| {
            let arguments = arguments.collect();
            let done = profiles::without_failures(self.profile, || self.invoke(connection, b"change_user", arguments));
            is_new = matches!(done, Ok(Some(Ok(result))) if result.type_number() != sys::IS_FALSE);
        });
        is_new
    }

    /// Returns `true` if the other end answers.
    ///
    /// # Errors
    /// The coroutine is cancelled, or the like.
    pub fn answers(&self, connection: &Object) -> Result<bool, Thrown> {
        let silenced = engine::silence((sys::E_WARNING | sys::E_NOTICE) as i32);
        let (method, argument) = self.profile.ping;
        let arguments = argument.into_iter().map(Value::from).collect();
        let answer = profiles::without_failures(self.profile, || self.invoke(connection, method, arguments).ok());
        engine::unsilence(silenced);
        Ok(answer?.flatten().is_some_and(|answer| answer.type_number() != sys::IS_FALSE))
    }

    /// Forgets the other coroutines, in the child of a fork.
    pub fn forked(&self, me: u64) {
        std::mem::forget(self.answers.borrow_mut().split_off(&(me + 1)));
    }

    /// Records a call that configures all connections, and that this one has had.
    fn configure(&self, entry: &Entry, method: String, arguments: Vec<Value>) {
        let number = self.last_setting.get() + 1;
        let is_same = |setting: &Setting| {
            let key = |arguments: &[Value]| {
                let first = arguments.first()?;
                Some((first.as_long(), first.as_str().map(|text| text.as_bytes().to_ascii_lowercase())))
            };
            // Of `select()` and `auth()` the last one counts, whatever its argument.
            let is_keyed = setting.arguments.len() > 1;
            setting.method == method && (!is_keyed || key(&setting.arguments) == key(&arguments))
        };
        let at = self.settings.borrow().iter().position(is_same);
        let replaced = at.map(|at| self.settings.borrow_mut().remove(at));
        self.settings.borrow_mut().push(Setting { method, arguments, number });
        self.last_setting.set(number);
        if entry.connection.configured.get() + 1 == number {
            entry.connection.configured.set(number);
        }
        exception::put_aside(|| drop(replaced));
    }

    /// Makes the calls that a connection lacks.
    fn configured(&self, entry: &Entry, connection: &Object) -> Result<(), Thrown> {
        loop {
            let info = &entry.connection;
            let next = {
                let settings = self.settings.borrow();
                let next = settings.iter().find(|setting| setting.number > info.configured.get());
                next.map(|setting| (setting.method.clone(), setting.arguments.clone(), setting.number))
            };
            let Some((method, arguments, number)) = next else {
                info.configured.set(self.last_setting.get());
                return Ok(());
            };
            let result = self.invoke(connection, method.as_bytes(), arguments);
            let has_failed = result.as_ref().map_or(true, |result| result.type_number() == sys::IS_FALSE);
            if has_failed {
                info.is_broken.set(true);
            }
            result?;
            if has_failed {
                return Err(fails(&format!("{method}() has failed on a connection of the pool")));
            }
            info.configured.set(number);
        }
    }
}

/// A connection that is leased to the running coroutine.
struct Lease {
    entry: Rc<Entry>,
    connection: Owned<Object>,
}

/// Returns the connection that is leased to a coroutine. One that is broken is only if a transaction is under way on it.
fn leased(pool: &Pool, id: u64) -> Option<Lease> {
    let entries = pool.entries.borrow();
    let is_its = |entry: &&Rc<Entry>| {
        let info = &entry.connection;
        info.is_leased.get() && entry.borrower.get() == id && (!info.is_broken.get() || !info.kept.is_empty())
    };
    let entry = entries.iter().find(is_its)?;
    let connection = entry.live()?;
    Some(Lease { entry: Rc::clone(entry), connection })
}

/// Returns the connection that a coroutine used last, if no other coroutine has used it since.
fn last_used(pool: &Pool, id: u64) -> Option<Lease> {
    let entries = pool.entries.borrow();
    let entry = entries.iter().find(|entry| entry.connection.last_user.get() == id)?;
    let connection = entry.live()?;
    Some(Lease { entry: Rc::clone(entry), connection })
}

/// Leases to a coroutine the connection that it used last, if that is free and no other coroutine has used it since.
fn lease_again(pool: &Pool, id: u64) -> Option<Lease> {
    let last = last_used(pool, id)?;
    let is_it = |free: &pool::Free| free.item.as_object().is_some_and(|object| last.entry.is_of(object));
    let free = pool.places.borrow_mut().take_this(is_it)?;
    pool.lend(&free.item);
    last.entry.connection.is_leased.set(true);
    Some(last)
}

/// Leases a connection to the running coroutine, or returns the one that it has.
/// A call that `Reads` is made on the connection that the coroutine used last; so, if possible, is one that `Changes`: it may read.
fn lease(pool: &Instance<Pool>, connections: &Connections, meaning: Meaning) -> Result<Lease, Thrown> {
    let me = coroutine::current_id();
    if let Some(lease) = leased(pool, me) {
        connections.configured(&lease.entry, &lease.connection)?;
        return Ok(lease);
    }
    if matches!(meaning, Meaning::Reads | Meaning::Changes) {
        if let Some(last) = lease_again(pool, me) {
            connections.configured(&last.entry, &last.connection)?;
            return Ok(last);
        }
        if meaning == Meaning::Reads {
            return Err(has_lost(connections));
        }
    }
    loop {
        let item = pool::acquire(pool, connections.profile.wait, None)?;
        let found = item.as_object().map(Owned::of).and_then(|object| Some((pool.entry(&object)?, object)));
        let Some((entry, connection)) = found else { continue };
        drop(item); // another reference
        let info = &entry.connection;
        info.is_leased.set(true);
        // From here on the last call was this coroutine's.
        let before = info.last_user.replace(me);
        if info.was_used.replace(true) && before != me {
            if before != 0 {
                connections.keep_answers(before, &connection);
            }
            let is_fit = if connections.is_busy(&connection) { Ok(false) } else { reset(connections, &connection) };
            if !matches!(is_fit, Ok(true)) {
                info.last_user.set(0);
                info.is_broken.set(true);
                exception::put_aside(|| drop(connection));
                is_fit?;
                continue;
            }
        }
        let replaced = connections.answers.borrow_mut().remove(&me);
        drop(replaced);
        if info.configured.get() < connections.last_setting.get() {
            connections.configured(&entry, &connection)?;
        }
        return Ok(Lease { entry, connection });
    }
}

/// Calls `$reset` for a connection that another coroutine has used.
fn reset(connections: &Connections, connection: &Object) -> Result<bool, Thrown> {
    let Some(reset) = connections.reset.get().some() else { return Ok(true) };
    Ok(coroutine::call(&reset, &mut [connection.into()])?.type_number() != sys::IS_FALSE)
}

#[cold]
fn makes_no_asynchronous_queries() -> Thrown {
    fails("A pooled object makes no asynchronous queries: make them in coroutines")
}

#[cold]
fn has_lost(connections: &Connections) -> Thrown {
    let class = connections.profile.pooled.to_string_lossy();
    fails(&format!(
        "{class}: this asks about the coroutine's last statement, and it has no connection, or another coroutine has used that \
         since. Begin a transaction, or ask before the coroutine waits for something else"
    ))
}

impl Connections {
    fn state(&self, connection: &Object, thrown: Option<&Object>) -> Health {
        if let Some(thrown) = thrown.filter(|thrown| !self.profile.is_failure(thrown)) {
            let of_arguments = |name| class_table::find(&Str::new(name)).is_some_and(|class| thrown.is_a(class));
            // Otherwise it was cancelled in the middle of the call, or the like.
            let is_sound = of_arguments("typeerror") || of_arguments("valueerror");
            return if is_sound { Health::Sound } else { Health::Broken };
        }
        let mut state = Health::Broken;
        exception::put_aside(|| {
            state = match thrown {
                Some(thrown) => (self.profile.failure_state)(thrown),
                None => (self.profile.answer_state)(connection),
            };
        });
        state
    }

    /// Returns `true` if a connection can be used by others, as far as only its class tells: whose statements fail unseen, and
    /// which does not know of transactions.
    fn is_sound(&self, connection: &Object, info: &Info, was_leased: bool) -> bool {
        if !self.profile.busy.is_empty() {
            return true;
        }
        let mut state = Health::Broken;
        exception::put_aside(|| state = (self.profile.answer_state)(connection));
        info.is_suspect.set(info.is_suspect.get() || state == Health::Suspect);
        was_leased && state != Health::Broken
    }

    /// Keeps the answers about a connection's last call for its coroutine, before the connection is checked.
    pub fn keep_last_answers(&self, info: &Info, connection: &Object) {
        let user = info.last_user.replace(0);
        if user != 0 {
            self.keep_answers(user, connection);
        }
    }

    /// Keeps the answers about a coroutine's last call, which was made on this connection.
    fn keep_answers(&self, id: u64, connection: &Object) {
        let mut answers = Vec::new();
        exception::put_aside(|| {
            answers = self.profile.answers.iter().map(|name| self.profile.answer(connection, name)).collect()
        });
        let replaced = self.answers.borrow_mut().insert(id, answers);
        drop(replaced);
    }
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
fn interrupted() {
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

/// Takes a connection that was released out of its pool, because its statements still exist. They keep it, and another one may be
/// made.
pub fn set_aside(pool: &Pool, connection: &Object) {
    if pool.forget(&Value::from(connection)) {
        connection.skip_destructor();
        pool.vacate();
    }
}

/// Takes a broken connection out of its pool, so that another one may be made, even where statements still hold it.
fn retire(pool: &Pool, connections: &Connections, connection: &Object) {
    let Some(entry) = pool.entry(connection) else { return };
    let user = entry.connection.last_user.get();
    if user != 0 {
        connections.keep_answers(user, connection);
    }
    let value = Value::from(connection);
    pool.returned(&value);
    if pool.forget(&value) {
        connection.skip_destructor();
        pool.vacate();
    }
    drop(value); // another reference
}

/// The body of a coroutine has ended: what it has begun on connections is ended, and they go back.
fn body_ends(id: u64) {
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

/// Ends what a coroutine has begun on connections of a pool. They go back, unless something else refers to them.
fn give_back(pool: &Pool, connections: &Connections, id: u64) {
    let is_its = |entry: &&Rc<Entry>| entry.borrower.get() == id && !entry.connection.kept.is_empty();
    let its: Vec<_> = pool.entries.borrow().iter().filter(is_its).cloned().collect();
    for entry in its {
        let info = &entry.connection;
        let Some(connection) = info.kept.take() else { continue };
        let is_open = info.is_begun.replace(false);
        if is_open && (!info.is_whole() || !connections.profile.busy.is_empty() || !connections.abort(&connection)) {
            info.is_broken.set(true);
        }
        if !info.is_whole() || connections.is_busy(&connection) && !connections.abort(&connection) {
            info.is_broken.set(true);
        }
        if exception::is_exit_in_flight() {
            return;
        }
        drop(exception::take());
        if info.is_broken.get() {
            retire(pool, connections, &connection);
        } else if info.dependents.get() > 0 {
            let before = info.kept.replace(Some(connection));
            exception::put_aside(|| drop(before));
            continue;
        }
        exception::put_aside(|| drop(connection));
    }
}
