//! Which connection a coroutine uses, and when it goes back into its pool.

use crate::arguments::fails;
use crate::connection::Connections;
use crate::pool::{self, Entry, Pool};
use crate::profiles::Meaning;
use spindle_php::coroutine;
use spindle_zend::{Instance, Object, Owned, Thrown, Value, exception, sys};
use std::rc::Rc;

/// A connection that is leased to the running coroutine.
pub struct Lease {
    pub entry: Rc<Entry>,
    pub connection: Owned<Object>,
}

/// Returns the connection that is leased to a coroutine. One that is broken is only if a transaction is under way on it.
pub fn leased(pool: &Pool, id: u64) -> Option<Lease> {
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
pub fn last_used(pool: &Pool, id: u64) -> Option<Lease> {
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
pub fn lease(pool: &Instance<Pool>, connections: &Connections, meaning: Meaning) -> Result<Lease, Thrown> {
    let me = coroutine::current_id();
    if let Some(lease) = leased(pool, me) {
        connections.configured(&lease.entry.connection, &lease.connection)?;
        return Ok(lease);
    }
    if matches!(meaning, Meaning::Reads | Meaning::Changes) {
        if let Some(last) = lease_again(pool, me) {
            connections.configured(&last.entry.connection, &last.connection)?;
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
            connections.configured(info, &connection)?;
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
pub fn has_lost(connections: &Connections) -> Thrown {
    let class = connections.profile.pooled.to_string_lossy();
    fails(&format!(
        "{class}: this asks about the coroutine's last statement, and it has no connection, or another coroutine has used that \
         since. Begin a transaction, or ask before the coroutine waits for something else"
    ))
}

/// Takes a broken connection out of its pool, so that another one may be made, even where statements still hold it.
pub fn retire(pool: &Pool, connections: &Connections, connection: &Object) {
    let Some(entry) = pool.entry(connection) else { return };
    let user = entry.connection.last_user.get();
    if user != 0 {
        connections.keep_answers(user, connection);
    }
    let value = Value::from(connection);
    pool.returned(&value);
    drop(value); // another reference
    pool.set_aside(connection);
}

/// Ends what a coroutine has begun on connections of a pool. They go back, unless something else refers to them.
pub fn give_back(pool: &Pool, connections: &Connections, id: u64) {
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
