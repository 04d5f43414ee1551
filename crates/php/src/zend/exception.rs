//! Exceptions: made, thrown, and put aside.

use crate::zend::zv;
use spindle_php_sys as sys;
use std::cell::Cell;
use std::ffi::CString;
use std::ptr::{addr_of_mut, null_mut};

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
        line => place(file, line),
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

/// The place in the user's code that runs now, `FILE:LINE`.
pub fn here() -> String {
    let mut file = null_mut();
    // SAFETY: walks the running frames.
    let line = unsafe { sys::spindle_user_position(sys::executor_globals.current_execute_data, &mut file) };
    place(file, line)
}

/// `FILE:LINE`, or nothing.
pub fn place(file: *mut sys::zend_string, line: u32) -> String {
    if file.is_null() { String::new() } else { format!("{}:{line}", zv::text(file)) }
}

/// Runs `what` with the exception that is in flight put aside: with one set the engine calls no PHP code, and the
/// handler of a signal that came for another coroutine would be lost. One that `what` throws comes on top of it.
pub fn put_aside(what: impl FnOnce()) {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: asked of live exceptions.
    let exits = |e| unsafe { sys::zend_is_unwind_exit(e) || sys::zend_is_graceful_exit(e) };
    // SAFETY: the exception's reference is moved out of the engine's state and back into it, or to the new one. The
    // opcode before it stays: the engine keeps it around calls. A bailout below ends the request, and its heap.
    unsafe {
        let flying = (*eg).exception;
        if flying.is_null() || exits(flying) {
            return what();
        }
        (*eg).exception = null_mut();
        what();
        let thrown = (*eg).exception;
        if thrown.is_null() {
            (*eg).exception = flying;
        } else if exits(thrown) {
            sys::spindle_object_release(flying);
        } else {
            sys::zend_exception_set_previous(thrown, flying);
        }
    }
}
