//! Exceptions of ours: where they come from, and whose they are.
//!
//! Code that an exception passes through changes it: what was in flight already becomes its previous one. So each coroutine
//! that is cancelled gets an object of its own, or what one does would show in the others.

use crate::coroutine::{self, Coroutine};
use crate::runtime::{self, rt};
use crate::zv;
use spindle_core::sched::State;
use spindle_php_sys as sys;
use std::cell::Cell;
use std::ffi::CString;
use std::ptr::null_mut;

/// A text for C, without the zeros that would end it.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// A new exception of a class of ours, from the code that runs.
pub fn new(ce: *mut sys::zend_class_entry, message: &str) -> *mut sys::zend_object {
    // SAFETY: a throwable class and a terminated text.
    unsafe { sys::spindle_exception_new(ce, c_text(message).as_ptr()) }
}

/// A new exception of a class of ours that no code has caused which runs now: it has no place.
pub fn apart(ce: *mut sys::zend_class_entry, message: &str) -> *mut sys::zend_object {
    // SAFETY: a throwable class and a terminated text.
    unsafe { sys::spindle_exception_apart(ce, c_text(message).as_ptr()) }
}

/// Throws a new exception of a class of ours in the running code.
pub fn throw(ce: *mut sys::zend_class_entry, message: &str) {
    // SAFETY: the new object's reference is passed on.
    unsafe { sys::spindle_throw(new(ce, message)) }
}

/// The place in the user's code that runs now, `FILE:LINE`.
pub fn here() -> String {
    let mut file = null_mut();
    // SAFETY: walks the running frames.
    let line = unsafe { sys::spindle_user_position(sys::executor_globals.current_execute_data, &mut file) };
    coroutine::place(file, line)
}

fn class() -> *mut sys::zend_class_entry {
    // SAFETY: filled at module start.
    unsafe { sys::spindle_ce.cancellation }
}

/// `CancellationException` with the message that names the place of `cancel()`.
pub fn default_cancellation() -> *mut sys::zend_object {
    new(class(), &format!("cancelled at {}", here()))
}

/// `CancellationException` with this message, from the code that runs.
pub fn cancellation(message: &str) -> *mut sys::zend_object {
    new(class(), message)
}

/// The same that no code has caused which runs now: each coroutine gets it with its own place.
pub fn cancellation_apart(message: &str) -> *mut sys::zend_object {
    apart(class(), message)
}

/// The same for a failure (borrowed): it has its place, and is its previous one.
pub fn cancellation_because(message: &str, failure: *mut sys::zend_object) -> *mut sys::zend_object {
    let reason = cancellation_apart(message);
    place_as(reason, failure);
    // SAFETY: live exceptions.
    unsafe { sys::spindle_exception_replace_previous(reason, failure) };
    reason
}

/// Gives an exception without a place this one, if it is known.
pub fn set_place(exception: *mut sys::zend_object, file: *mut sys::zend_string, line: u32) {
    let mut unused = null_mut();
    // SAFETY: a live exception and a live string, or null.
    unsafe {
        if !file.is_null() && sys::spindle_exception_position(exception, &mut unused) == 0 {
            sys::spindle_exception_set_position(exception, file, line);
        }
    }
}

/// Gives an exception without a place that of another one.
pub fn place_as(exception: *mut sys::zend_object, other: *mut sys::zend_object) {
    let mut file = null_mut();
    // SAFETY: live exceptions; the file is the other one's.
    unsafe {
        let line = sys::spindle_exception_position(other, &mut file);
        if line != 0 {
            set_place(exception, file, line);
        }
    }
}

/// `FILE:LINE` where an exception was created; nothing when no place is known.
pub fn place_of(exception: *mut sys::zend_object) -> String {
    let mut file = null_mut();
    // SAFETY: a live exception.
    match unsafe { sys::spindle_exception_position(exception, &mut file) } {
        0 => String::new(),
        line => coroutine::place(file, line),
    }
}

/// `CLASS: message`.
pub fn text_of(exception: *mut sys::zend_object) -> String {
    // SAFETY: a live exception.
    unsafe {
        let message = sys::spindle_exception_message(exception);
        let message = if message.is_null() { String::new() } else { zv::text(message) };
        format!("{}: {message}", zv::text((*(*exception).ce).name))
    }
}

/// Is `other` the exception, or among its previous ones?
pub fn has_in_chain(exception: *mut sys::zend_object, other: *mut sys::zend_object) -> bool {
    let mut at = exception;
    for _ in 0..CHAIN {
        if at.is_null() || at == other {
            break;
        }
        // SAFETY: a live exception keeps its previous one.
        at = unsafe { sys::spindle_exception_previous(at) };
    }
    at == other
}

/// How far chains of previous exceptions are followed: the program may have made a circle.
pub const CHAIN: usize = 100;

/// Values by exceptions, which are held weakly.
pub struct Notes(Cell<*mut sys::HashTable>);

impl Notes {
    /// None yet.
    pub const fn new() -> Notes {
        Notes(Cell::new(null_mut()))
    }

    /// What is noted of it.
    pub fn of(&self, exception: *mut sys::zend_object) -> Option<*mut sys::zval> {
        if self.0.get().is_null() {
            return None;
        }
        // SAFETY: our table; a live object.
        let found = unsafe { sys::spindle_weak_find(self.0.get(), exception) };
        (!found.is_null()).then_some(found)
    }

    /// Notes a value, which is passed on, unless there is one.
    pub fn add(&self, exception: *mut sys::zend_object, mut value: sys::zval) {
        // SAFETY: our table, made on the request's heap and gone with it; a live object.
        unsafe {
            if self.of(exception).is_some() {
                return sys::spindle_zval_dtor(&mut value);
            }
            if self.0.get().is_null() {
                self.0.set(sys::spindle_table_new());
            }
            sys::zend_weakrefs_hash_add(self.0.get(), exception, &mut value);
        }
    }
}

/// The program has handed in this exception to cancel with: notes what its previous ones were, for who changes them only
/// adds to the end of their chain. Says whether it did before.
fn handed_in(exception: *mut sys::zend_object) -> bool {
    let given = &rt().given;
    if given.of(exception).is_some() {
        return true;
    }
    // SAFETY: a live exception.
    let previous = copy_chain(unsafe { sys::spindle_exception_previous(exception) });
    given.add(exception, if previous.is_null() { zv::null() } else { zv::object(previous) });
    false
}

/// A copy of an exception (or of none) and of those before it, which nobody else has.
fn copy_chain(exception: *mut sys::zend_object) -> *mut sys::zend_object {
    if exception.is_null() {
        return exception;
    }
    // SAFETY: live exceptions; each copy's reference is passed to the one before it, or to the caller.
    unsafe {
        let first = copy(exception);
        let mut last = first;
        for _ in 0..CHAIN {
            let previous = sys::spindle_exception_previous(last);
            if previous.is_null() {
                return first;
            }
            let own = copy(previous);
            sys::spindle_exception_replace_previous(last, own);
            sys::spindle_object_release(own);
            last = own;
        }
        sys::spindle_exception_replace_previous(last, null_mut()); // it was a circle
        first
    }
}

fn copy(exception: *mut sys::zend_object) -> *mut sys::zend_object {
    // SAFETY: live exceptions; the note gets a reference.
    unsafe {
        let copy = sys::spindle_exception_copy(exception);
        let mut original = zv::null();
        zv::set_object_copy(&mut original, exception);
        rt().copies.add(copy, original);
        copy
    }
}

/// What it is a copy of (borrowed), or itself.
pub fn original(exception: *mut sys::zend_object) -> *mut sys::zend_object {
    // SAFETY: what is noted of a copy is an exception.
    rt().copies.of(exception).map_or(exception, |original| unsafe { (*original).value.obj })
}

/// How many exceptions are before it.
fn length(exception: *mut sys::zend_object) -> usize {
    let before = |at: &*mut sys::zend_object| {
        // SAFETY: a live exception keeps its previous one.
        Some(unsafe { sys::spindle_exception_previous(*at) }).filter(|previous| !previous.is_null())
    };
    std::iter::successors(Some(exception), before).take(CHAIN).count() - 1
}

/// The program cancels several with this exception: see [`for_each`].
pub fn for_several(exception: *mut sys::zend_object) {
    handed_in(exception);
}

/// The program cancels one coroutine with this exception: what that gets, with a reference.
///
/// # Safety
/// A live coroutine's object, and an exception.
pub unsafe fn for_one(exception: *mut sys::zend_object, this: *mut Coroutine) -> *mut sys::zend_object {
    if handed_in(exception) {
        // SAFETY: the caller's promise.
        return unsafe { for_each(exception, this) }; // another one may have it
    }
    zv::add_object_ref(exception);
    exception
}

/// What one of several coroutines gets for an exception that cancels them, with a reference. Of ours each gets a copy; of
/// the program's own only where it could be changed on its way, and as it was when the program handed it in. Where it
/// could be changed the previous ones are copies too. A copy without a place is from where the coroutine waits.
///
/// # Safety
/// A live coroutine's object, and an exception.
pub unsafe fn for_each(exception: *mut sys::zend_object, this: *mut Coroutine) -> *mut sys::zend_object {
    // SAFETY: the caller's promise; what is noted of an exception is null or an exception.
    unsafe {
        let unchanged = passes_unchanged(this);
        let own = if let Some(noted) = rt().given.of(exception) {
            let is_object = u32::from((*noted).u1.v.type_) == sys::IS_OBJECT;
            let previous = if is_object { (*noted).value.obj } else { null_mut() };
            let before = if is_object { length(previous) + 1 } else { 0 };
            if unchanged && length(exception) == before {
                zv::add_object_ref(exception);
                return exception;
            }
            let own = copy(exception);
            let previous = copy_chain(previous);
            sys::spindle_exception_replace_previous(own, previous);
            if !previous.is_null() {
                sys::spindle_object_release(previous);
            }
            own
        } else if unchanged {
            sys::spindle_exception_copy(exception)
        } else {
            copy_chain(exception)
        };
        match (*this).suspend_file {
            file if file.is_null() => set_place(own, (*this).spawn_file, (*this).spawn_line),
            file => set_place(own, file, (*this).suspend_line),
        }
        own
    }
}

/// Would an exception that is thrown where the coroutine waits pass through it as it is?
unsafe fn passes_unchanged(this: *mut Coroutine) -> bool {
    // SAFETY: the caller's promise; the frames of one that waits stand on its own stack.
    unsafe {
        let (state, has_stack) = runtime::core(|core| (core.state((*this).co), core.has_stack((*this).co)));
        match state {
            State::Queued => true,
            State::Parked | State::Ready if has_stack && !(*this).ctx.is_null() => {
                sys::spindle_passes_unchanged(rt().frame_of((*this).ctx))
            }
            _ => false,
        }
    }
}
