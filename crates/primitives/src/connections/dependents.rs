//! Objects that refer to a connection and do not hold it, such as statements: they keep it for their coroutine as long as they
//! exist, and the functions of an extension that use them are checked before they run.

use super::classes::{CLASSES, makes_no_asynchronous_queries, pooled_class};
use crate::arguments::fails;
use crate::pool::{self, Entry, Pool};
use crate::profiles::{self, Guard, Meaning, Profile};
use spindle_php::coroutine;
use spindle_zend::{
    Class, Frame, FreeWatch, Function, Handler, Instance, Object, Owned, PhpStatic, Str, Thrown, Value, ValueCell,
    as_handler, class_table, engine, exception, sys,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Objects that refer to a connection and do not hold it, by their addresses.
static DEPENDENTS: PhpStatic<RefCell<BTreeMap<usize, Rc<Entry>>>> = PhpStatic::new(RefCell::new(BTreeMap::new()));

static DEPENDENT_ENDS: PhpStatic<FreeWatch> = PhpStatic::new(FreeWatch::new(dependent_ends));

/// Keeps a connection for as long as an object that a call on it has returned exists.
pub(super) fn depends(entry: &Rc<Entry>, object: &Object) {
    if DEPENDENT_ENDS.add(object) {
        entry.connection.dependents.set(entry.connection.dependents.get() + 1);
        DEPENDENTS.borrow_mut().insert(object.as_raw().expose_provenance(), Rc::clone(entry));
    }
}

/// Called when such an object has been freed, and its extension is done with the connection.
extern "C" fn dependent_ends(address: &Value) {
    let address = address.as_long().unwrap_or(0) as usize;
    let Some(entry) = DEPENDENTS.borrow_mut().remove(&address) else { return };
    let info = &entry.connection;
    info.dependents.set(info.dependents.get() - 1);
    let is_changed = info.is_doomed.get() || info.is_changed.get() || info.is_begun.get() || info.is_manual.get();
    if info.dependents.get() > 0 || is_changed || coroutine::is_over() {
        return;
    }
    let kept = info.kept.take();
    exception::put_aside(|| drop(kept));
}

/// In the child of a fork, these objects belong to connections of the parent: freeing them would send something there.
pub fn forked() {
    for address in DEPENDENTS.take().into_keys() {
        let object = std::ptr::with_exposed_provenance::<sys::zend_object>(address);
        // SAFETY: an object that is watched, and has not been freed.
        if let Some(object) = unsafe { Object::borrow(object) } {
            object.abandon();
        }
    }
    DEPENDENT_ENDS.clear();
}

/// Forgets these objects, at the end of the request.
pub fn request_ends() {
    DEPENDENTS.take().clear();
    DEPENDENT_ENDS.clear();
}

/// A function of an extension that is called by [`guarded`], and its own code.
struct Guarded {
    class: Option<Class>,
    guard: Guard,
    handler: Handler,
}

/// All of them, by their names.
static GUARDED: PhpStatic<RefCell<BTreeMap<Vec<u8>, Vec<Guarded>>>> = PhpStatic::new(RefCell::new(BTreeMap::new()));

/// Puts [`guarded`] in front of the functions of a profile's extension that use statements or connections.
pub(super) fn guard(profile: &Profile, base: Class) {
    for (class, name, guard) in profile.guards {
        let class = class.and_then(|class| class_table::find(&Str::new(class)));
        let function = match class {
            Some(class) => class.method(name),
            None => Function::all().find(|function| function.name().is_some_and(|own| own.as_bytes() == *name)),
        };
        function.into_iter().for_each(|function| guard_one(function, class, *guard));
    }
    let Some(prefix) = profile.functions else { return };
    let begins = |function: &Function| {
        function.extension() == base.extension()
            && function.name().is_some_and(|name| name.as_bytes().starts_with(prefix.as_bytes()))
            && !profile
                .guards
                .iter()
                .any(|(class, name, _)| class.is_none() && function.name().is_some_and(|own| own.as_bytes() == *name))
    };
    Function::all().filter(begins).for_each(|function| guard_one(function, None, Guard::Calls));
}

fn guard_one(function: Function, class: Option<Class>, guard: Guard) {
    let handler = function.internal().and_then(|function| function.handler);
    if let (Some(name), Some(handler)) = (function.name(), handler) {
        GUARDED.borrow_mut().entry(name.as_bytes().to_vec()).or_default().push(Guarded { class, guard, handler });
        // SAFETY: it calls the function's own code.
        unsafe { function.set_handler(as_handler(guarded)) };
    }
}

/// The code of functions that use statements or connections.
extern "C" fn guarded(frame: Frame, result: &ValueCell) {
    let Some(function) = frame.function() else { return };
    let known = {
        let all = GUARDED.borrow();
        let same_name = function.name().and_then(|name| all.get(name.as_bytes()));
        let found = same_name.and_then(|same| same.iter().find(|one| one.class == function.class()));
        found.map(|one| (one.guard, one.handler))
    };
    let Some((guard, handler)) = known else { return };
    let arguments = frame.arguments();
    let object = |place: usize| arguments.get(place).and_then(|value| value.dereferenced().as_object());
    let checked = match guard {
        Guard::Runs => frame.this().or(object(0)).map_or(Ok(()), may_run),
        Guard::Prepares => {
            let text = if frame.this().is_some() { arguments } else { arguments.get(1..).unwrap_or(&[]) };
            if let Some(statement) = frame.this().or(object(0)) {
                prepares(statement, text);
            }
            Ok(())
        }
        Guard::Makes => match object(0).filter(|link| pooled_class(link).is_some()) {
            Some(_) => Err(fails(
                "The connections of a pooled object make their own statements: call prepare() or stmt_init()",
            )),
            None => Ok(()),
        },
        Guard::Polls => {
            let lists = arguments.iter().filter_map(|value| value.dereferenced().as_array());
            let is_pooled =
                |value: &Value| value.dereferenced().as_object().is_some_and(|link| pooled_class(link).is_some());
            if lists.flat_map(|list| list.values()).any(is_pooled) {
                Err(makes_no_asynchronous_queries())
            } else {
                Ok(())
            }
        }
        Guard::Uses | Guard::Closes => Ok(()),
        Guard::Calls => match object(0).filter(|link| pooled_class(link).is_some()) {
            // The exception is in flight, if there is one.
            Some(link) => return drop(call_method_of(link, function, arguments, result)),
            None => Ok(()),
        },
    };
    if checked.is_err() {
        return; // the exception is in flight
    }
    // SAFETY: the function's own code, and the engine's arguments.
    unsafe { handler(frame.as_raw(), result.as_raw()) };
    if guard == Guard::Closes
        && let Some(closed) = frame.this().or(object(0))
    {
        exception::put_aside(|| DEPENDENT_ENDS.remove(closed));
        return;
    }
    let is_use = matches!(guard, Guard::Runs | Guard::Prepares | Guard::Uses);
    if is_use
        && result.get().type_number() == sys::IS_FALSE
        && let Some((pool, entry)) = frame.this().or(object(0)).and_then(connection_of)
    {
        // Without exceptions, nothing else tells of a lost connection: the statement's end succeeds.
        entry.connection.is_suspect.set(true);
        exception::put_aside(|| drop(pool));
    }
}

/// Calls the method of a pooled object that a function stands for, or reads the property.
fn call_method_of(this: &Object, function: Function, arguments: &[Value], result: &ValueCell) -> Result<(), Thrown> {
    let name = function.name().map_or(Vec::new(), |name| name.as_bytes().to_vec());
    let class = pooled_class(this);
    let profile = CLASSES.borrow().iter().find(|classes| Some(classes.pooled) == class).map(|classes| classes.profile);
    let (Some(class), Some(profile)) = (class, profile) else { return Ok(()) };
    let short = name.strip_prefix(profile.functions.unwrap_or("").as_bytes()).unwrap_or(&name);
    let value = if let Some(method) = class.method(short) {
        let mut values: Vec<Value> = arguments.iter().skip(1).map(|value| value.dereferenced().clone()).collect();
        engine::call_method(this, method, &mut values)
    } else {
        let property: &[u8] = match short {
            b"get_host_info" => b"host_info",
            b"get_proto_info" => b"protocol_version",
            b"get_server_version" => b"server_version",
            other => other,
        };
        if !profile.answers.contains(&property) {
            let name = String::from_utf8_lossy(&name).into_owned();
            return Err(fails(&format!("{name}() cannot be called with an object of {}", class.name().to_text())));
        }
        profiles::property(this, property)
    };
    exception::check()?;
    if !value.is_undef() {
        result.set(value);
    }
    Ok(())
}

/// Returns the entry of the connection that a statement belongs to.
fn connection_of(statement: &Object) -> Option<(Owned<Instance<Pool>>, Rc<Entry>)> {
    let connection = coroutine::connection_of(statement);
    let mut found = None;
    pool::each_pool(|pool| {
        if let Some(entry) = pool.entries.borrow().iter().find(|entry| entry.address() == connection) {
            found = Some((Owned::of(pool), Rc::clone(entry)));
        }
    });
    found
}

/// Notes what the new text of a statement means for its connection.
fn prepares(statement: &Object, arguments: &[Value]) {
    let Some((pool, entry)) = connection_of(statement) else { return };
    let Some(connections) = pool.connections.get() else { return };
    if entry.connection.is_leased.get()
        && !matches!(
            profiles::meaning_of_prepared(arguments, &|text| connections.effect(text)),
            Meaning::Plain | Meaning::Reads
        )
    {
        entry.connection.is_changed.set(true);
    }
    exception::put_aside(|| drop(pool));
}

/// Checks that a statement runs in the transaction in which the coroutine expects it to.
///
/// # Errors
/// It belongs to a connection of a pool on which another coroutine is in a transaction, or the running coroutine is in a
/// transaction on another connection of that pool.
fn may_run(statement: &Object) -> Result<(), Thrown> {
    let connection = coroutine::connection_of(statement);
    if connection == statement.address() {
        return Ok(());
    }
    let me = coroutine::current_id();
    let mut is_foreign = false;
    pool::each_pool(|pool| {
        let entries = pool.entries.borrow();
        let of_leases = |entry: &&Rc<Entry>| entry.connection.is_leased.get();
        let Some(own) = entries.iter().filter(of_leases).find(|entry| entry.address() == connection) else { return };
        if own.borrower.get() != me {
            let is_kept = |entry: &Rc<Entry>| entry.connection.is_kept_by_calls();
            let is_mine = |entry: &&Rc<Entry>| entry.borrower.get() == me;
            is_foreign |= is_kept(own) || entries.iter().filter(of_leases).filter(is_mine).any(is_kept);
        }
    });
    if is_foreign {
        return Err(fails(
            "The statement belongs to the connection of another coroutine, and would run outside of this one's transaction, or \
             in that one's. Prepare it in the coroutine that executes it",
        ));
    }
    Ok(())
}
