//! Puts handles into groups: those created from one another, and those of one persistent connection.
//!
//! Functions that create handles have trampolines from the first request on, not only from the first `spawn`, so that a
//! statement prepared before the `spawn`, too, is known to belong to its connection. Two things are done in the
//! handlers of objects: freeing one may communicate with its server, and some find methods in a table of their own
//! (`PDO::pgsqlGetNotify`).

use crate::handles::{
    classify,
    function_table::FunctionTable,
    groups, handle_locks,
    kinds::{CallKind, Mode},
    persistent, trampolines,
};
use spindle_php_sys as sys;
use spindle_zend::{
    Class, Frame, Function, Hook, Object, PhpStatic, Resource, Str, Value, ValueCell, engine, exception, hooks,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;
use std::ptr::null;

type FreeObject = unsafe extern "C" fn(*mut sys::zend_object);
type GetMethod = unsafe extern "C" fn(
    *mut *mut sys::zend_object,
    *mut sys::zend_string,
    *const sys::zval,
) -> *mut sys::zend_function;

struct Changes {
    /// The groups on which calls were in progress in coroutines that the end of the request has abandoned.
    abandoned: RefCell<BTreeSet<usize>>,
    /// The original handlers of objects whose handlers were changed, by the addresses of their tables.
    originals: RefCell<BTreeMap<usize, Originals>>,
}

/// The original entries of a table; `None` for those that were not changed.
#[derive(Clone, Copy)]
struct Originals {
    table: FunctionTable<sys::zend_object_handlers>,
    free_object: Option<FreeObject>,
    get_method: Option<GetMethod>,
}

static CHANGES: PhpStatic<Changes> =
    PhpStatic::new(Changes { abandoned: RefCell::new(BTreeSet::new()), originals: RefCell::new(BTreeMap::new()) });

/// Puts a resource that a call has returned into the group of the handle that it was created from.
pub(crate) fn link_resource(frame: Frame, resource: &Resource) {
    if let Some(group) = group_of_call(frame, None) {
        groups::link_stream(resource, group);
    }
}

/// Returns the group of the first handle of a call other than `except`.
fn group_of_call(frame: Frame, except: Option<&Object>) -> Option<usize> {
    let mut group = None;
    classify::handles(frame, CallKind::Handle, |key, mode| {
        let is_other = except.is_none_or(|object| object.address() != key);
        group = group.or((is_other && mode != Mode::Shared).then_some(key));
    });
    group
}

/// Puts `object`, which is the `$this` or the result of a call, into the group of the first other handle of the call.
/// This also removes the group of an earlier object at the same address, since every handle is created by a constructor
/// or returned by a call.
pub(crate) fn link(frame: Frame, object: &Object) {
    let extension = classify::extension_of_call(frame);
    if !classify::is_of(object, extension) {
        return;
    }
    if classify::has_called_for(frame) {
        return; // the method call that has made it has done this
    }
    let group = group_of_call(frame, Some(object)).filter(|_| !classify::makes_own_connections(extension));
    if group != Some(groups::group_id(object.address())) {
        groups::set(object, group);
    }
    change_handlers(object, group.is_some());
}

/// Puts an object into a group.
pub(crate) fn link_to(object: &Object, group: usize) {
    groups::set(object, Some(group));
    change_handlers(object, true);
}

/// Moves an object, with all others of its present group, into a group. The running call uses both.
pub(crate) fn join(object: &Object, group: usize) {
    let own = groups::group_id(object.address());
    if own == group {
        return;
    }
    if own != object.address() {
        groups::merge(own, group);
    }
    link_to(object, group);
}

/// Removes the group of an earlier object at the address of a new one. (Objects without handlers of their own are freed
/// unnoticed.)
pub(crate) fn forget(object: &Object) {
    groups::set(object, None);
}

/// Notes the groups whose locks are held at the end of the request: by calls that never return, on stacks that are abandoned.
pub(crate) fn request_ends() {
    CHANGES
        .abandoned
        .borrow_mut()
        .extend(groups::of_objects().into_iter().filter(|group| handle_locks::is_held(*group)));
}

/// Forgets all groups at the end of the request, after its objects were freed.
pub fn forget_all() {
    CHANGES.abandoned.borrow_mut().clear();
    groups::forget_all();
}

/// Replaces handlers of the objects that share this one's table, if freeing them or finding their methods needs it.
fn change_handlers(object: &Object, shares: bool) {
    // SAFETY: the handlers of a live object, which are its extension's.
    let Some(table) = (unsafe { FunctionTable::from_raw(object.handlers()) }) else { return };
    if table.address() == &raw const sys::std_object_handlers as usize {
        return;
    }
    let handlers = table.read();
    let replacements = [get_method as *const () as usize, free_object as *const () as usize];
    let own_methods = handlers.get_method.filter(|find| {
        *find as usize != sys::zend_std_get_method as *const () as usize && !replacements.contains(&(*find as usize))
    });
    let own_end = handlers.free_obj.filter(|free| shares && !replacements.contains(&(*free as usize)));
    if own_methods.is_none() && own_end.is_none() {
        return;
    }
    let mut originals = CHANGES.originals.borrow_mut();
    let entry = originals.entry(table.address()).or_insert(Originals { table, free_object: None, get_method: None });
    if own_methods.is_some()
        && table.replace(offset_of!(sys::zend_object_handlers, get_method), replacements[0]).is_ok()
    {
        entry.get_method = own_methods;
    }
    if own_end.is_some() && table.replace(offset_of!(sys::zend_object_handlers, free_obj), replacements[1]).is_ok() {
        entry.free_object = own_end;
    }
}

/// Puts trampolines in front of the methods that objects of a class have in place of those in its table.
pub(crate) fn change_methods_of_objects(class: Class, names: &[&[u8]]) {
    let Ok(object) = engine::new_object(class) else { return drop(exception::take()) };
    // SAFETY: the handlers of a live object, which are its extension's.
    let Some(table) = (unsafe { FunctionTable::from_raw(object.handlers()) }) else { return };
    let Some(find) = table.read().get_method else { return };
    for name in names.iter().copied().map(Str::new) {
        let mut place = object.as_raw();
        // SAFETY: the handler of this object, and the name of a method.
        let function = unsafe { find(&raw mut place, name.as_raw(), null()) };
        // SAFETY: null, or a function of the class's extension.
        unsafe { Function::from_raw(function) }.into_iter().for_each(trampolines::trampoline_found);
    }
}

/// Restores the handlers, at module shutdown.
pub fn remove() {
    for Originals { table, free_object, get_method } in
        std::mem::take(&mut *CHANGES.originals.borrow_mut()).into_values()
    {
        // If one cannot be restored, this module stays loaded.
        if let Some(find) = get_method {
            let _ = table.replace(offset_of!(sys::zend_object_handlers, get_method), find as usize);
        }
        if let Some(free) = free_object {
            let _ = table.replace(offset_of!(sys::zend_object_handlers, free_obj), free as usize);
        }
    }
}

/// Returns the original entries of an object's handlers.
fn originals(object: &Object) -> Option<Originals> {
    CHANGES.originals.borrow().get(&(object.handlers() as usize)).copied()
}

fn free_with(free: FreeObject, object: &Object) {
    // SAFETY: the engine frees the object, by a handler of its extension or by its own.
    unsafe { free(object.as_raw()) };
}

/// The handler that frees an object: `zend_object_handlers.free_obj`.
extern "C" fn free_object(object: &Object) {
    let Some(free) = originals(object).and_then(|original| original.free_object) else {
        return free_with(sys::zend_object_std_dtor, object);
    };
    let group = groups::take(object);
    match group {
        None => free_with(free, object),
        // The state of an object is unknown if a call was abandoned in its middle: a PostgreSQL statement of PDO, for example,
        // refers to a result that has been freed.
        Some(group) if CHANGES.abandoned.borrow().contains(&group) => free_with(sys::zend_object_std_dtor, object),
        Some(group) => {
            // If waiting for the lock would be a deadlock, the object's own data is not freed: what it has on its
            // connection stays until that ends.
            if handle_locks::with_lock(group, || persistent::with_view(group, || free_with(free, object))).is_none() {
                free_with(sys::zend_object_std_dtor, object);
            }
            persistent::remove_user(group);
        }
    }
}

/// Hooks the freeing of resources in the running request: like that of objects it may communicate with a server.
pub fn watch_resources() {
    RESOURCE_ENDS.install();
}

static RESOURCE_ENDS: Hook<hooks::EndResource> = Hook::new(&hooks::END_RESOURCE, end_resource);

extern "C" fn end_resource(place: &ValueCell) {
    let Some(end) = RESOURCE_ENDS.original() else { return };
    // SAFETY: nothing changes the place before `end` does. No reference is counted, as there is none any more.
    let Some(resource) = unsafe { Value::borrow(place.as_raw()) }.and_then(Value::as_resource) else { return };
    let group = groups::group_of_resource(resource).filter(|_| resource.is_open());
    groups::unlink_stream(resource);
    match group {
        None => end(place),
        // If waiting for the lock would be a deadlock, the resource is not freed: what it has on its connection stays
        // until that ends.
        Some(group) => drop(handle_locks::with_lock(group, || end(place))),
    }
}

/// The handler that finds a method: `zend_object_handlers.get_method`.
unsafe extern "C" fn get_method(
    object: *mut &Object,
    name: *mut sys::zend_string,
    key: *const sys::zval,
) -> *mut sys::zend_function {
    // SAFETY: the engine's own argument: a place with a live object.
    let original = originals(unsafe { object.read() }).and_then(|original| original.get_method);
    let find = original.unwrap_or(sys::zend_std_get_method);
    // SAFETY: a handler of the object's, and the engine's own arguments.
    let function = unsafe { find(object.cast(), name, key) };
    // SAFETY: null, or the function that was found.
    let found = unsafe { Function::from_raw(function) };
    if let Some(found) = found.filter(|found| original.is_some() && found.is_internal()) {
        trampolines::trampoline_found(found);
    }
    function
}
