//! The connections of a pool: how they are made, what they have in common, and what is known of each.

use crate::arguments::fails;
use crate::profiles::{self, Health, Profile, ask};
use spindle_php::sapi::instance;
use spindle_sql::{Dialect, Effect};
use spindle_zend::{
    Array, Class, Collected, Object, OwnedCell, PhpResult, Str, Thrown, Value, ValueCell, class_table, engine,
    exception, sys,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// What is known of a connection.
#[derive(Default)]
pub struct Info {
    /// Leased by a method of a pooled object, and not by those of `Pool`.
    pub is_leased: Cell<bool>,
    /// The coroutine that has used it last; 0 for none, or one that has ended.
    pub last_user: Cell<u64>,
    pub was_used: Cell<bool>,
    /// A reference that keeps the lease while a transaction is under way.
    pub kept: OwnedCell<Object>,
    /// It must not be used by another coroutine.
    pub is_broken: Cell<bool>,
    /// It has to be checked before it is used by another coroutine.
    pub is_suspect: Cell<bool>,
    /// A call has changed it for good, or until another call.
    pub is_changed: Cell<bool>,
    pub is_begun: Cell<bool>,
    /// Each statement begins a transaction.
    pub is_manual: Cell<bool>,
    /// How many objects refer to it that do not hold it.
    pub dependents: Cell<usize>,
    /// A transaction could not be begun on it, and no exception has said so. What user code takes for a part of the transaction
    /// must fail too.
    pub is_doomed: Cell<bool>,
    /// The number of the last setting that it has.
    pub configured: Cell<usize>,
    /// It is being freed.
    pub is_ending: Cell<bool>,
}

impl Info {
    /// Returns `true` if another coroutine can use it, as far as calls have told.
    pub fn is_whole(&self) -> bool {
        !self.is_broken.get() && !self.is_changed.get() && !self.is_begun.get() && !self.is_manual.get()
    }

    /// Returns `true` if calls have left something on it for which its coroutine keeps it.
    pub fn is_kept_by_calls(&self) -> bool {
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
    pub profile: &'static Profile,
    pub class: Class,
    constructor: Vec<Value>,
    /// Calls that a new one needs.
    calls: Vec<(&'static [u8], Vec<Value>)>,
    pub reset: ValueCell,
    settings: RefCell<Vec<Setting>>,
    pub last_setting: Cell<usize>,
    /// The answers about their last calls of coroutines whose connections others have got since.
    pub answers: RefCell<BTreeMap<u64, Vec<Value>>>,
    /// The answers of a new connection.
    pub first_answers: RefCell<Vec<Value>>,
    /// The language of statements, when there was a connection.
    dialect: Cell<Dialect>,
}

impl Connections {
    pub fn new(
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
        let connection = instance::for_all(|| engine::new_object(self.class))?;
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
    pub fn invoke(&self, connection: &Object, name: &[u8], mut arguments: Vec<Value>) -> PhpResult {
        let result = match self.class.method(name) {
            Some(method) => engine::call_method(connection, method, &mut arguments),
            None => {
                let callable = [Value::from(connection), Value::from(String::from_utf8_lossy(name).into_owned())];
                engine::call(&Array::list(callable.into_iter()).into(), &mut arguments)
            }
        };
        exception::check().map(|()| result)
    }

    /// Returns `true` if a transaction is under way.
    pub fn is_busy(&self, connection: &Object) -> bool {
        let mut busy = Value::UNDEF;
        exception::put_aside(|| busy = ask(connection, self.profile.busy, &mut []));
        let idle = (self.profile.idle)();
        !busy.is_undef() && (busy.type_number() != idle.type_number() || busy.as_long() != idle.as_long())
    }

    /// Ends a transaction without effect. Returns `false` if that has failed.
    pub fn abort(&self, connection: &Object) -> bool {
        let mut is_idle = false;
        exception::put_aside(|| {
            let ended = profiles::without_failures(self.profile, || ask(connection, self.profile.abort, &mut []));
            let has_ended = matches!(ended, Ok(Some(result)) if result.type_number() != sys::IS_FALSE);
            is_idle = has_ended && !self.is_busy(connection);
        });
        is_idle
    }

    /// Returns `true` if a connection that is released can be used by others: a transaction has been ended.
    pub fn is_clean(&self, info: Option<&Info>, connection: &Object) -> bool {
        let is_broken = info.is_none_or(|info| info.is_broken.get());
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
    pub fn configure(&self, info: &Info, method: String, arguments: Vec<Value>) {
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
        if info.configured.get() + 1 == number {
            info.configured.set(number);
        }
        exception::put_aside(|| drop(replaced));
    }

    /// Makes the calls that a connection lacks.
    pub fn configured(&self, info: &Info, connection: &Object) -> Result<(), Thrown> {
        loop {
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

    /// Returns the health of a connection whose call has thrown this, or was answered with `false`.
    pub fn state(&self, connection: &Object, thrown: Option<&Object>) -> Health {
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
    pub fn is_sound(&self, connection: &Object, info: &Info, was_leased: bool) -> bool {
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
    pub fn keep_answers(&self, id: u64, connection: &Object) {
        let mut answers = Vec::new();
        exception::put_aside(|| {
            answers = self.profile.answers.iter().map(|name| self.profile.answer(connection, name)).collect()
        });
        let replaced = self.answers.borrow_mut().insert(id, answers);
        drop(replaced);
    }
}
