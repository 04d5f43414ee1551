//! How a call on a pooled object is made on the connection of its coroutine, and what it leaves there.

use super::classes::{makes_no_asynchronous_queries, pool_of, pooled_class};
use super::dependents::depends;
use super::leases::{Lease, give_back, has_lost, last_used, lease, leased, retire};
use crate::arguments::fails;
use crate::connection::Connections;
use crate::pool::Pool;
use crate::profiles::{Health, Meaning, Profile};
use spindle_php::coroutine;
use spindle_zend::{
    Array, Call, Frame, Function, Instance, Object, Owned, PhpResult, Thrown, Value, ValueCell, engine, exception, sys,
};

/// The code of the methods that a pooled object has from its parent.
pub(super) extern "C" fn forward(frame: Frame, result: &ValueCell) {
    // The exception is in flight.
    let _ = forwarded(frame, result);
}

fn forwarded(frame: Frame, result: &ValueCell) -> Result<(), Thrown> {
    let Some((this, function)) = frame.this().zip(frame.function()) else { return Ok(()) };
    let name = function.name().map_or(Vec::new(), |name| name.as_bytes().to_ascii_lowercase());
    if pooled_class(this).is_none() {
        // A closure of the method, which was bound to another object.
        if let Some(method) = function.class().and_then(|class| class.method(&name)) {
            // SAFETY: the method itself, whose code this is called instead of.
            unsafe { frame.redirect(result, this, method) };
        }
        return Ok(());
    }
    let (pool, meaning) = pool_for(this, &name, frame.arguments())?;
    let Some(connections) = pool.connections.get() else { return Ok(()) };
    let Some(method) = connections.class.method(&name) else { return Ok(()) };
    let me = coroutine::current_id();
    if meaning == Meaning::Closes {
        give_back(&pool, connections, me);
        result.set(true.into());
        return Ok(());
    }
    let own = leased(&pool, me);
    if own.is_none() {
        if name == connections.profile.busy {
            result.set((connections.profile.idle)());
            return Ok(());
        }
        let is_text = connections.profile.answers.is_empty() || frame.argument_count() > 0 && name != b"lastinsertid";
        if meaning == Meaning::Reads && !is_text {
            return reads(frame, result, &pool, connections, method, &name);
        }
    }
    drop(own);
    let lease = lease(&pool, connections, meaning)?;
    // SAFETY: the frame of a method that the pooled class has from the same parent; the lease holds the connection.
    unsafe { frame.redirect(result, &lease.connection, method) };
    let transaction = Transaction::of(connections.profile, &name, meaning);
    let is_needed = (connections.profile.needs_connection)(&name, frame.arguments(), &result.get());
    after(&pool, connections, lease, &Done { meaning, transaction, is_needed, result, this }, || {
        (
            String::from_utf8_lossy(&name).into_owned(),
            frame.arguments().iter().map(|value| value.dereferenced().clone()).collect(),
        )
    });
    Ok(())
}

/// Returns the pool of a pooled object, and what a call of this method means.
fn pool_for(this: &Object, name: &[u8], arguments: &[Value]) -> Result<(Owned<Instance<Pool>>, Meaning), Thrown> {
    let Some(pool) = pool_of(this) else {
        let text = format!("The {} object was not constructed", this.class().name().to_text());
        return Err(exception::throw_error(&text));
    };
    let meaning = pool
        .connections
        .get()
        .map_or(Meaning::Refused, |known| (known.profile.meaning)(name, arguments, &|text| known.effect(text)));
    if meaning == Meaning::Refused {
        if matches!(name, b"query" | b"reap_async_query") {
            return Err(makes_no_asynchronous_queries());
        }
        let text = format!(
            "{}::{}() cannot be called: the connections belong to a pool",
            this.class().name().to_text(),
            String::from_utf8_lossy(name)
        );
        return Err(fails(&text));
    }
    Ok((Owned::of(pool), meaning))
}

/// Makes a call about the coroutine's last one, on the same connection.
fn reads(
    frame: Frame,
    result: &ValueCell,
    pool: &Pool,
    connections: &Connections,
    method: Function,
    name: &[u8],
) -> Result<(), Thrown> {
    let me = coroutine::current_id();
    if let Some(last) = last_used(pool, me) {
        // If another coroutine gets the connection meanwhile, its calls wait for the end of this one.
        // SAFETY: the frame of a method that the pooled class has from the same parent; `last` holds the connection.
        unsafe { frame.redirect(result, &last.connection, method) };
        exception::put_aside(|| drop(last));
        return Ok(());
    }
    let place = connections.profile.answers.iter().position(|answer| *answer == name);
    let answers = connections.answers.borrow();
    let known = place.and_then(|place| match answers.get(&me) {
        Some(answers) => answers.get(place).cloned(),
        None => connections.first_answers.borrow().get(place).cloned(),
    });
    drop(answers);
    match known {
        Some(answer) => {
            result.set(answer);
            Ok(())
        }
        None => Err(has_lost(connections)),
    }
}

/// What a call does to a transaction, unless it fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transaction {
    Begins,
    Ends,
    Neither,
}

impl Transaction {
    fn of(profile: &Profile, method: &[u8], meaning: Meaning) -> Transaction {
        if profile.begins.contains(&method) || matches!(meaning, Meaning::Begins | Meaning::LeavesAutocommit) {
            Transaction::Begins
        } else if profile.ends.contains(&method)
            || matches!(meaning, Meaning::Ends | Meaning::EndsAnyhow | Meaning::EntersAutocommit)
        {
            Transaction::Ends
        } else {
            Transaction::Neither
        }
    }
}

/// A call that was made.
struct Done<'a> {
    meaning: Meaning,
    transaction: Transaction,
    /// Its result needs the connection.
    is_needed: bool,
    result: &'a ValueCell,
    /// The pooled object.
    this: &'a Object,
}

/// Ends a call: records what it has left on the connection, and ends the lease unless something holds it.
fn after(
    pool: &Instance<Pool>,
    connections: &Connections,
    lease: Lease,
    done: &Done<'_>,
    call: impl FnOnce() -> (String, Vec<Value>),
) {
    let Done { meaning, transaction, is_needed, result, this } = *done;
    if exception::is_exit_in_flight() {
        return;
    }
    let Lease { entry, connection } = lease;
    let info = &entry.connection;
    let thrown = exception::in_flight();
    let value = result.get();
    let was_kept = info.is_kept_by_calls();
    let has_thrown = thrown.is_some();
    let has_failed = has_thrown || value.type_number() == sys::IS_FALSE;
    let state = if has_failed { connections.state(&connection, thrown.as_deref()) } else { Health::Sound };
    match state {
        Health::Sound => {}
        Health::Suspect => info.is_suspect.set(true),
        Health::Broken => info.is_broken.set(true),
    }
    drop(thrown);
    match meaning {
        Meaning::Configures if !has_failed => {
            let (method, arguments) = call();
            connections.configure(info, method, arguments);
        }
        Meaning::Begins if !has_failed => info.is_begun.set(true),
        Meaning::Ends if !has_failed => info.is_begun.set(false),
        Meaning::EndsAnyhow => info.is_begun.set(false),
        Meaning::LeavesAutocommit if !has_failed => info.is_manual.set(true),
        Meaning::EntersAutocommit if !has_failed => {
            info.is_manual.set(false);
            info.is_begun.set(false);
        }
        Meaning::InTransaction
            if !info.is_begun.get() && !info.is_manual.get() && !connections.is_busy(&connection) =>
        {
            info.is_changed.set(true)
        }
        Meaning::Changes => info.is_changed.set(true),
        _ => {}
    }
    if is_needed && let Some(object) = value.as_object() {
        depends(&entry, object);
    }
    if value.as_object().is_some_and(|value| *value == *connection) {
        result.set(this.into()); // a fluent interface
    }
    drop(value);
    let is_mine = info.is_leased.get() && entry.borrower.get() == coroutine::current_id();
    if is_mine && pool.entry(&connection).is_some() {
        match transaction {
            Transaction::Begins if has_failed && !has_thrown && state != Health::Sound => {
                info.is_doomed.set(true);
                info.is_broken.set(true);
            }
            Transaction::Ends => info.is_doomed.set(false),
            _ => {}
        }
        let is_doomed = info.is_doomed.get();
        let mut is_kept = is_doomed
            || info.is_changed.get()
            || info.is_begun.get()
            || info.is_manual.get()
            || info.dependents.get() > 0
            || connections.is_busy(&connection);
        let is_lost = state == Health::Broken || state == Health::Suspect && !info.is_changed.get();
        let is_end = transaction == Transaction::Ends;
        let is_free = is_end || info.kept.is_empty() || state == Health::Broken && !was_kept;
        if is_kept && is_lost && !is_doomed && !info.is_manual.get() && is_free {
            // A transaction that was lost with the connection has been ended by user code, or there was none: it does not continue
            // there. Statements end with their connection.
            info.is_broken.set(true);
            is_kept = false;
        }
        let before = info.kept.replace(is_kept.then(|| connection.clone()));
        exception::put_aside(|| drop(before));
        if info.is_broken.get() && !is_kept {
            retire(pool, connections, &connection);
        }
    }
    exception::put_aside(|| drop(connection));
}

/// `__call()`: calls a method that the driver adds to a connection.
pub(super) fn call_by_name(call: Call) -> PhpResult {
    let arguments = call.passed();
    let (name, values) = (arguments.str(1)?, arguments.array(2)?);
    let Some(this) = call.this() else { return Ok(Value::NULL) };
    let lower = name.as_bytes().to_ascii_lowercase();
    let values: Vec<Value> = values.values().cloned().collect();
    let (pool, meaning) = pool_for(this, &lower, &values)?;
    let Some(connections) = pool.connections.get() else { return Ok(Value::NULL) };
    let lease = lease(&pool, connections, meaning)?;
    let callable = [Value::from(&*lease.connection), Value::from(name)];
    let callable = Value::from(Array::list(callable.into_iter()));
    if !engine::is_callable(&callable) {
        let result = &ValueCell::from(Value::NULL);
        let done = Done { meaning: Meaning::Plain, transaction: Transaction::Neither, is_needed: false, result, this };
        after(&pool, connections, lease, &done, || unreachable!());
        let text = format!("Call to undefined method {}::{}()", this.class().name().to_text(), name.to_text());
        return Err(exception::throw_error(&text));
    }
    drop(callable);
    let made = connections.invoke(&lease.connection, name.as_bytes(), values.clone());
    let result = ValueCell::from(made.unwrap_or(Value::NULL));
    let transaction = Transaction::of(connections.profile, &lower, meaning);
    after(&pool, connections, lease, &Done { meaning, transaction, is_needed: false, result: &result, this }, || {
        (String::from_utf8_lossy(&lower).into_owned(), values)
    });
    exception::check().map(|()| result.take())
}
