//! The class `Async\Scope`: its objects, and what the runtime keeps of a scope while its object may be gone.
//!
//! An object is a handle. What belongs to the scope (handlers, callbacks, values) is in a [`Record`], which lives until
//! the core says that the scope is gone: coroutines of it may outlive the object, and then ask for it again.

use crate::runtime::{
    cancellation, coroutine,
    failure::{self, Level},
    life, report,
    runner::{self, What},
    scheduler::{self, Core, Phase, Runtime, rt},
    slots::Slots,
};
use crate::zend::{class::Handlers, exception, zv};
use spindle_core::sched::{Bound, CoroutineId, Disposal, Lifetime, ScopeId};
use spindle_php_sys as sys;
use spindle_reactor::Reactor;
use std::cell::Cell;
use std::ptr::{addr_of_mut, null_mut};
use std::rc::Rc;

/// The object. The engine's part is last, as it wants; it is made zeroed.
#[repr(C)]
struct Object {
    id: ScopeId,
    /// It has a scope: its constructor has run.
    made: bool,
    /// Its death has had its effect on the scope.
    dead: bool,
    std: sys::zend_object,
}

const OFFSET: usize = std::mem::offset_of!(Object, std);

/// What the runtime keeps of a scope. The values are owned.
pub struct Record {
    /// The program's object, borrowed; null when there is none.
    pub object: *mut sys::zend_object,
    /// It is a `BoundedScope`.
    pub bounded: bool,
    /// What gets its failures, or undefined.
    pub handler: sys::zval,
    /// What gets failures of those below it, or undefined.
    pub child_handler: sys::zval,
    /// Callbacks for its end (an array), or undefined.
    pub finally: sys::zval,
    /// Values that are kept for it.
    pub slots: Slots,
    /// What bounds it, or undefined.
    pub constraint: sys::zval,
    /// Its time in milliseconds.
    pub timeout: Option<i64>,
    /// Which bound has come.
    pub reached: Option<Bound>,
    /// Its cancellation, or null.
    pub reason: *mut sys::zend_object,
    /// The failures that it or a scope above was cancelled for, and those that came later.
    pub errors: Vec<Listed>,
    /// Where it was created: the file, or null.
    pub file: *mut sys::zend_string,
    /// The line of that.
    pub line: u32,
}

impl Record {
    /// Takes the values out, for whoever destroys them.
    fn take(&mut self) -> (Vec<sys::zval>, Slots) {
        let reason = std::mem::replace(&mut self.reason, null_mut());
        let reason = if reason.is_null() { zv::undef() } else { zv::object(reason) };
        let places = [&mut self.handler, &mut self.child_handler, &mut self.finally, &mut self.constraint];
        let values = places.map(|place| std::mem::replace(place, zv::undef()));
        let errors = std::mem::take(&mut self.errors).into_iter().map(|listed| zv::object(listed.exception));
        let values = values.into_iter().chain([reason]).filter(|value| !zv::is_undef(value)).chain(errors).collect();
        (values, std::mem::take(&mut self.slots))
    }

    fn keeps_any(&self) -> bool {
        let values = [&self.handler, &self.child_handler, &self.finally, &self.constraint];
        !(self.reason.is_null() && self.slots.is_empty() && self.errors.is_empty())
            || values.into_iter().any(|value| !zv::is_undef(value))
    }
}

/// A failure on the list of a scope; the reference is the list's.
pub struct Listed {
    /// What was thrown.
    pub exception: *mut sys::zend_object,
    note: Rc<Note>,
}

/// What is known of a failure, on whatever lists it is.
struct Note {
    /// Somebody has been given it, has asked for it, or can.
    known: Cell<bool>,
    /// The scope that warns when it finishes and the failure is not known.
    warns: Cell<Option<ScopeId>>,
    /// The coroutine it is from.
    name: String,
}

/// A failure on its way through the scopes.
pub struct Failed {
    exception: *mut sys::zend_object,
    note: Rc<Note>,
    last: Option<ScopeId>,
}

impl Failed {
    /// WaitReason no list yet. `name`: of the coroutine.
    pub fn new(exception: *mut sys::zend_object, name: String) -> Failed {
        let note = Rc::new(Note { known: Cell::new(false), warns: Cell::new(None), name });
        Failed { exception, note, last: None }
    }

    /// Adds it to the list of a scope that exists.
    pub fn add_to(&mut self, rt: &'static Runtime, id: ScopeId) {
        zv::add_object_ref(self.exception);
        let listed = Listed { exception: self.exception, note: Rc::clone(&self.note) };
        // SAFETY: the record of a scope that exists.
        unsafe { (*record(rt, id)).errors.push(listed) };
        self.last = Some(id);
    }

    /// Is it on any list?
    pub fn is_listed(&self) -> bool {
        self.last.is_some()
    }

    /// Somebody gets it, or finds it: nobody needs to be warned.
    pub fn is_known(&self) {
        self.note.known.set(true);
    }
}

impl Listed {
    /// Somebody is given it.
    pub fn know(&self) {
        self.note.known.set(true);
    }
}

/// A failure that stays on the lists it is on, for who asks.
pub fn stays(rt: &'static Runtime, failed: &Failed) {
    let Some(id) = failed.last else { return };
    failed.note.warns.set(Some(id));
    if rt.core.borrow().is_finished(id) {
        ask(rt, id);
    }
}

/// A scope is finished, or nobody waits for its end any more: when those who have got its first failure have had a turn to
/// ask for others, warns of what nobody knows.
pub fn ask(rt: &'static Runtime, id: ScopeId) {
    let Some(record) = existing_record(rt, id) else { return };
    let unknown = |listed: &Listed| listed.note.warns.get() == Some(id) && !listed.note.known.get();
    // SAFETY: the record of a scope that exists.
    let any = unsafe { (*record).errors.iter().any(unknown) };
    if any && !rt.core.borrow().has_failure_waiter(id) {
        runner::start(rt, What::Errors, id, None, Level::At(id), id);
    }
}

/// Warns of the failures of a scope that nobody knows.
pub fn warn_of_unknown(rt: &'static Runtime, id: ScopeId) {
    let Some(record) = existing_record(rt, id) else { return };
    // SAFETY: the record of a scope that exists.
    unsafe {
        for listed in &(*record).errors {
            if listed.note.warns.get() != Some(id) || listed.note.known.replace(true) {
                continue;
            }
            let text = report::described(listed.exception);
            let name = if listed.note.name.is_empty() { String::new() } else { format!(", {}", listed.note.name) };
            let text = format!("Unhandled exception in a scope that has failed already: {text}{name}");
            let mut file = null_mut();
            let line = sys::spindle_exception_position(listed.exception, &mut file);
            runner::warn(rt, &text, if line == 0 { null_mut() } else { file }, line);
        }
    }
}

/// Which failure on the list of a scope that exists is the first that nobody knows.
pub fn first_unknown(rt: &'static Runtime, id: ScopeId) -> usize {
    // SAFETY: the record of a scope that exists.
    unsafe { (*record(rt, id)).errors.iter().take_while(|listed| listed.note.known.get()).count() }
}

/// Is there a failure in this place of the list of a scope that exists?
pub fn has_failure_at(rt: &'static Runtime, id: ScopeId, place: usize) -> bool {
    // SAFETY: the record of a scope that exists.
    unsafe { (*record(rt, id)).errors.len() > place }
}

/// The failure in this place of the list of a scope that exists (borrowed), for somebody who takes it.
pub fn failure_at(rt: &'static Runtime, id: ScopeId, place: usize) -> Option<*mut sys::zend_object> {
    // SAFETY: the record of a scope that exists.
    let errors = unsafe { &(*record(rt, id)).errors };
    let listed = errors.get(place)?;
    listed.know();
    Some(listed.exception)
}

/// The first failure that is listed for a scope (borrowed), for who waits for it: now all are known.
///
/// # Safety
/// The scope exists.
pub unsafe fn first_failure(rt: &'static Runtime, id: ScopeId) -> Option<*mut sys::zend_object> {
    let record = existing_record(rt, id)?;
    // SAFETY: the caller's promise.
    unsafe {
        (*record).errors.iter().for_each(Listed::know);
        (*record).errors.first().map(|listed| listed.exception)
    }
}

static HANDLERS: Handlers = Handlers::new();

/// Fills the handlers. At module start.
pub fn init_handlers() {
    HANDLERS.fill(OFFSET, |handlers| {
        handlers.dtor_obj = Some(dies);
        handlers.free_obj = Some(free);
        handlers.get_gc = Some(get_gc);
    });
    // SAFETY: module start, one thread; filled by the registration of classes.
    unsafe {
        for class in [sys::spindle_ce.scope, sys::spindle_ce.bounded_scope] {
            (*class).ce_flags |= sys::ZEND_ACC_NOT_SERIALIZABLE;
        }
    }
}

unsafe fn of(object: *mut sys::zend_object) -> *mut Object {
    // SAFETY: the object is the last field of an `Object`.
    unsafe { object.byte_sub(OFFSET).cast() }
}

/// The scope of an object of the class; throws when its constructor has not run.
///
/// # Safety
/// An object of the class.
pub unsafe fn id_of(object: *mut sys::zend_object) -> Option<ScopeId> {
    // SAFETY: the caller's promise.
    let this = unsafe { of(object) };
    // SAFETY: a live object.
    unsafe {
        if !(*this).made {
            exception::throw(
                sys::spindle_ce.async_exception,
                "This scope was not constructed: call parent::__construct() in its constructor",
            );
            return None;
        }
        Some((*this).id)
    }
}

/// The scope of an object, without a word about one that has none.
///
/// # Safety
/// An object of the class.
pub unsafe fn peek(object: *mut sys::zend_object) -> Option<ScopeId> {
    // SAFETY: the caller's promise.
    unsafe { (*of(object)).made.then_some((*of(object)).id) }
}

#[unsafe(no_mangle)]
extern "C" fn spindle_scope_create(class: *mut sys::zend_class_entry) -> *mut sys::zend_object {
    // SAFETY: allocated for the object and the properties that a class of the program's may declare, which the engine
    // puts behind it; one is part of its own structure.
    unsafe {
        let properties = (*class).default_properties_count as usize;
        let size = size_of::<Object>() + properties * size_of::<sys::zval>();
        let this = sys::_emalloc(size).cast::<Object>();
        this.write_bytes(0, 1);
        (*this).id = Core::GLOBAL;
        sys::spindle_object_std_init(addr_of_mut!((*this).std), class);
        (*this).std.handlers = HANDLERS.get();
        addr_of_mut!((*this).std)
    }
}

/// The lifetime that the ini setting names.
pub fn default_lifetime() -> Lifetime {
    // SAFETY: read after module start.
    match unsafe { sys::spindle_settings.lifetime } {
        1 => Lifetime::TopDown,
        2 => Lifetime::BottomUp,
        _ => Lifetime::Scope,
    }
}

/// Gives a new object its scope.
///
/// # Safety
/// An object of the class, whose constructor runs in the frame `from` or below.
pub unsafe fn make(object: *mut sys::zend_object, parent: Option<ScopeId>, lifetime: Lifetime) {
    let rt = rt();
    let id = rt.core.borrow_mut().add_scope(parent, lifetime);
    // SAFETY: the caller's promise.
    unsafe {
        (*of(object)).id = id;
        (*of(object)).made = true;
        let record = keep_record(rt, id, object);
        let mut file = null_mut();
        (*record).line = sys::spindle_user_position(sys::executor_globals.current_execute_data, &mut file);
        if !file.is_null() {
            zv::add_ref(file);
            (*record).file = file;
        }
    }
}

unsafe fn keep_record(rt: &'static Runtime, id: ScopeId, object: *mut sys::zend_object) -> *mut Record {
    // SAFETY: a live object.
    let bounded = unsafe { sys::spindle_instance_of(object, sys::spindle_ce.bounded_scope) };
    let record = Box::new(Record {
        object,
        bounded,
        handler: zv::undef(),
        child_handler: zv::undef(),
        finally: zv::undef(),
        slots: Slots::default(),
        constraint: zv::undef(),
        timeout: None,
        reached: None,
        reason: null_mut(),
        errors: Vec::new(),
        file: null_mut(),
        line: 0,
    });
    let record = Box::into_raw(record);
    let mut scopes = rt.scopes.borrow_mut();
    if scopes.len() <= id.slot() {
        scopes.resize(id.slot() + 1, null_mut());
    }
    scopes[id.slot()] = record;
    record
}

/// What is kept of a scope that exists.
pub fn record(rt: &'static Runtime, id: ScopeId) -> *mut Record {
    let known = rt.scopes.borrow().get(id.slot()).copied().unwrap_or(null_mut());
    if known.is_null() && id == Core::GLOBAL {
        return global(rt);
    }
    known
}

/// The same, but for the global scope's that nobody has asked for.
pub fn existing_record(rt: &'static Runtime, id: ScopeId) -> Option<*mut Record> {
    let known = rt.scopes.borrow().get(id.slot()).copied()?;
    (!known.is_null()).then_some(known)
}

/// The global scope's, made at the first use; its object stays until the request ends.
fn global(rt: &'static Runtime) -> *mut Record {
    let object = new_object(class_of(false), Core::GLOBAL);
    // SAFETY: just made.
    unsafe { keep_record(rt, Core::GLOBAL, object) }
}

fn class_of(bounded: bool) -> *mut sys::zend_class_entry {
    // SAFETY: filled at module start.
    unsafe { if bounded { sys::spindle_ce.bounded_scope } else { sys::spindle_ce.scope } }
}

fn new_object(class: *mut sys::zend_class_entry, id: ScopeId) -> *mut sys::zend_object {
    let object = spindle_scope_create(class);
    // SAFETY: just made.
    unsafe {
        (*of(object)).id = id;
        (*of(object)).made = true;
    }
    object
}

/// The object of a scope that exists, with a reference for the caller. When the program's own has died it gets a new
/// one, whose death ends nothing that has not been ended.
pub fn object_of(rt: &'static Runtime, id: ScopeId) -> *mut sys::zend_object {
    let record = record(rt, id);
    // SAFETY: the record of a scope that exists; its object, if any, is alive.
    unsafe {
        if (*record).object.is_null() {
            (*record).object = new_object(class_of((*record).bounded), id);
            rt.core.borrow_mut().take_handle(id);
        } else {
            zv::add_object_ref((*record).object);
        }
        (*record).object
    }
}

/// `FILE:LINE` of its creation.
pub fn created(rt: &'static Runtime, id: ScopeId) -> String {
    if id == Core::GLOBAL {
        return "{main}".to_owned();
    }
    // SAFETY: the record of a scope that exists.
    unsafe {
        let record = record(rt, id);
        exception::place((*record).file, (*record).line)
    }
}

/// What it says to a coroutine that would await the scope which it is in.
pub fn within(rt: &'static Runtime, id: ScopeId) -> String {
    let created = created(rt, id);
    format!("Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {created}")
}

unsafe extern "C" fn get_gc(
    object: *mut sys::zend_object,
    table: *mut *mut sys::zval,
    count: *mut i32,
) -> *mut sys::HashTable {
    // SAFETY: the buffer is the engine's, filled with values that the record owns for its object.
    unsafe {
        let buffer = sys::zend_get_gc_buffer_create();
        if let (Some(id), Some(rt)) = (peek(object), scheduler::existing())
            && rt.core.borrow().scope_exists(id)
            && id != Core::GLOBAL
            && rt.core.borrow().is_idle(id)
        {
            // Before that they are its coroutines': a handler that knows its scope keeps it as long as it may be called.
            // Only then do they go with the object: what coroutines still need must not count as garbage.
            let record = record(rt, id);
            for value in [
                addr_of_mut!((*record).handler),
                addr_of_mut!((*record).child_handler),
                addr_of_mut!((*record).finally),
                addr_of_mut!((*record).constraint),
            ] {
                if (*value).u1.v.type_flags != 0 {
                    zv::gc_add(buffer, value);
                }
            }
            (*record).slots.gc(buffer);
            if !(*record).reason.is_null() {
                zv::gc_add(buffer, &mut zv::object((*record).reason));
            }
            for listed in &(*record).errors {
                zv::gc_add(buffer, &mut zv::object(listed.exception));
            }
        }
        zv::gc_use(buffer, table, count);
        let own = (*(*object).ce).default_properties_count > 0 || !(*object).properties.is_null();
        if own { sys::zend_std_get_properties(object) } else { null_mut() }
    }
}

/// The object's last reference is gone: so are its coroutines, by the scope's lifetime.
unsafe extern "C" fn dies(object: *mut sys::zend_object) {
    // SAFETY: called once by the engine; first the destructor of a class of the program's.
    unsafe {
        sys::zend_objects_destroy_object(object);
        (*of(object)).dead = true;
        end_with_object(object);
    }
}

/// Ends what does not outlive the object of a scope.
unsafe fn end_with_object(object: *mut sys::zend_object) {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: an object of the class, still whole. An exception in flight is put aside, as the engine does for
    // destructors: error handlers are not called, and new exceptions are not told from it, while there is one.
    unsafe {
        let (Some(id), Some(rt)) = (peek(object), scheduler::existing()) else { return };
        let thrown = (*eg).exception;
        let is_exit = |thrown| sys::zend_is_unwind_exit(thrown) || sys::zend_is_graceful_exit(thrown);
        let exits = !thrown.is_null() && is_exit(thrown);
        if rt.phase.get() == Phase::Ended || exits || !rt.core.borrow().scope_exists(id) {
            return;
        }
        if !thrown.is_null() {
            sys::zend_throw_exception_internal(null_mut()); // the frame that it leaves to has it now
        }
        let opline = (*eg).opline_before_exception;
        let (lifetime, finished, closed) = {
            let core = rt.core.borrow();
            (core.lifetime(id), core.is_finished(id), core.is_closed(id))
        };
        (*eg).exception = null_mut();
        match lifetime {
            // Not once more: a time that was left to its coroutines holds.
            Lifetime::Scope if closed => {}
            Lifetime::Scope => dispose(rt, id, Disposal::Released, RELEASED),
            _ if finished => dispose(rt, id, Disposal::Released, RELEASED),
            Lifetime::TopDown => {
                let reason = cancellation::cancellation("cancelled because the object of its Scope was released");
                cancel(rt, id, reason);
                sys::spindle_object_release(reason);
            }
            Lifetime::BottomUp => {}
        }
        if thrown.is_null() {
            return;
        }
        (*eg).opline_before_exception = opline;
        let later = (*eg).exception;
        if later.is_null() {
            (*eg).exception = thrown;
        } else if is_exit(later) {
            sys::spindle_object_release(thrown);
        } else {
            sys::zend_exception_set_previous(later, thrown);
        }
    }
}

/// What stands for the place of an implicit disposal.
const RELEASED: &str = "[its object was released]:0";

unsafe extern "C" fn free(object: *mut sys::zend_object) {
    // SAFETY: called once by the engine when the object dies.
    unsafe {
        let mut left = None;
        if let (Some(id), Some(rt)) = (peek(object), scheduler::existing())
            && rt.core.borrow().scope_exists(id)
            && (*record(rt, id)).object == object
        {
            (*record(rt, id)).object = null_mut();
            if !std::mem::replace(&mut (*of(object)).dead, true) {
                end_with_object(object); // its constructor has thrown: the engine calls no destructor then
            }
            let record = record(rt, id);
            // An error handler may have asked for an object again.
            if (*record).object.is_null() {
                let idle = {
                    let core = rt.core.borrow();
                    id != Core::GLOBAL && core.is_idle(id)
                };
                if idle {
                    warn_of_unknown(rt, id);
                    // The cycle collector, which has been told of these, may free what they refer to right after this.
                    left = Some((*record).take());
                }
                if rt.core.borrow_mut().drop_handle(id) {
                    forget(rt, id); // idle: there is nothing left in it
                }
                failure::carry_out(rt);
            }
        }
        sys::zend_object_std_dtor(object);
        if let Some((values, slots)) = left {
            runner::destroy(values, &slots);
        }
    }
}

/// A scope is finished: what is kept of it goes when nobody can need it.
pub fn collect_if_idle(rt: &'static Runtime, id: ScopeId) {
    let Some(record) = existing_record(rt, id) else { return };
    let (idle, closed) = {
        let core = rt.core.borrow();
        (core.scope_exists(id) && core.is_idle(id), core.is_closed(id))
    };
    if !idle || id == Core::GLOBAL {
        return;
    }
    // SAFETY: the record of a scope that exists; its object, if any, is alive.
    unsafe {
        if (*record).object.is_null() {
            if closed && (*record).keeps_any() {
                warn_of_unknown(rt, id);
                let (values, slots) = (*record).take();
                failure::let_go(rt, values, slots);
            }
        } else if (*record).keeps_any() {
            // The cycle collector may have looked at it while the values were not yet its own: let it look again.
            zv::add_object_ref((*record).object);
            sys::spindle_object_release((*record).object);
        }
    }
}

/// A scope is gone: takes what was kept of it, and gives the values that have to be destroyed.
pub fn forget(rt: &'static Runtime, id: ScopeId) -> (Vec<sys::zval>, Slots) {
    let record = std::mem::replace(&mut rt.scopes.borrow_mut()[id.slot()], null_mut());
    if record.is_null() {
        return (Vec::new(), Slots::default());
    }
    // SAFETY: made by `keep_record`, and no longer in the list.
    let mut record = *unsafe { Box::from_raw(record) };
    if !record.file.is_null() {
        // SAFETY: the record's reference.
        unsafe { sys::spindle_string_release(record.file) };
    }
    record.take()
}

/// The request is over: the values die with the engine's heap.
pub fn forget_all(rt: &'static Runtime) {
    for record in std::mem::take(&mut *rt.scopes.borrow_mut()) {
        if !record.is_null() {
            // SAFETY: made by `keep_record`, and no longer in the list. Nothing in it has a destructor of Rust's.
            drop(unsafe { Box::from_raw(record) });
        }
    }
}

/// Destroys the values that are kept for a scope, which may run PHP code.
///
/// # Safety
/// The scope exists.
pub unsafe fn free_values(rt: &'static Runtime, id: ScopeId) {
    if let Some(record) = existing_record(rt, id) {
        // SAFETY: the caller's promise.
        unsafe { (*record).slots.clear() };
    }
}

/// Cancels a scope and those below it with an exception (borrowed). `false`: it was cancelled before.
pub fn cancel(rt: &'static Runtime, id: ScopeId, reason: *mut sys::zend_object) -> bool {
    let order = rt.core.borrow_mut().cancel_scope(id);
    let Some(order) = order else { return false };
    propagate_cancel(rt, id, &order, reason, life::cancel);
    true
}

/// Cancels those that the core has named, for a scope that it has closed with those below it.
pub fn propagate_cancel(
    rt: &'static Runtime,
    id: ScopeId,
    order: &[CoroutineId],
    reason: *mut sys::zend_object,
    cancel: fn(&'static Runtime, CoroutineId, *mut sys::zend_object),
) {
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        let record = record(rt, id);
        // SAFETY: the record of a scope that exists.
        unsafe {
            if !(*record).reason.is_null() {
                continue; // cancelled before, with all below it
            }
            if rt.core.borrow().is_cancelled(id) {
                zv::add_object_ref(reason);
                (*record).reason = reason;
            }
        }
        open.extend(rt.core.borrow().child_scopes(id));
    }
    for co in order {
        cancel(rt, *co, reason);
    }
    rt.core.borrow_mut().notify_cancelled(id);
    failure::carry_out(rt);
}

/// Disposes of a scope and of those below it. `place`: where, `FILE:LINE`.
pub fn dispose(rt: &'static Runtime, id: ScopeId, how: Disposal, place: &str) {
    let warn = rt.core.borrow_mut().dispose_scope(id, how);
    warn_of_zombies(rt, warn, &format!("in Scope disposed at {place}"));
    if how == Disposal::Cancel && rt.core.borrow().scope_exists(id) {
        let reason = cancellation::default_cancellation();
        cancel(rt, id, reason);
        // SAFETY: our reference.
        unsafe { sys::spindle_object_release(reason) };
    }
    failure::carry_out(rt);
}

/// Warns of coroutines that have not ended, `in` what. An error handler may run code, park and throw; after a throw the
/// rest is left out.
pub fn warn_of_zombies(rt: &'static Runtime, all: Vec<CoroutineId>, what: &str) {
    let warning = |co: &CoroutineId| {
        let this = rt.object(*co);
        // SAFETY: a live coroutine's object. The reference to the file is the warning's: the coroutine may end meanwhile.
        unsafe {
            let (file, line) = ((*this).spawn_file, (*this).spawn_line);
            let text = format!("Coroutine is zombie at {} {what}", exception::place(file, line));
            if !file.is_null() {
                zv::add_ref(file);
            }
            (exception::c_text(&text), file, line)
        }
    };
    let all: Vec<_> = all.iter().map(warning).collect();
    for (text, file, line) in &all {
        // SAFETY: a terminated text and a file of our own. A bailout in a handler leaks the list.
        unsafe {
            if sys::executor_globals.exception.is_null() {
                sys::spindle_warning_here(*file, *line, text.as_ptr());
            }
            if !file.is_null() {
                sys::spindle_string_release(*file);
            }
        }
    }
}

/// Monotonic nanoseconds, `ms` milliseconds from now.
pub fn deadline(ms: i64) -> u64 {
    Reactor::now().saturating_add((ms.max(0) as u64).saturating_mul(1_000_000).min(1 << 62))
}

/// What it says when a coroutine is to be started in a scope that takes none.
pub const CLOSED: &str = "Coroutine scope is closed";

/// Throws the first failure that is listed for a scope, if there is one.
///
/// # Safety
/// The scope exists.
pub unsafe fn throw_failure_of(rt: &'static Runtime, id: ScopeId) -> bool {
    // SAFETY: the caller's promise; the thrown one gets a reference.
    unsafe {
        let Some(failure) = first_failure(rt, id) else { return false };
        zv::add_object_ref(failure);
        sys::spindle_throw(failure);
    }
    true
}

/// The scope of a coroutine as an object, if there still is one.
pub fn of_coroutine(this: *mut coroutine::Coroutine) -> Option<*mut sys::zend_object> {
    let rt = rt();
    // SAFETY: a live object.
    let co = unsafe { (*this).co };
    if co == coroutine::NO_SLOT {
        return None;
    }
    let id = rt.core.borrow().scope_of(co);
    let exists = rt.core.borrow().scope_exists(id);
    exists.then(|| object_of(rt, id))
}
