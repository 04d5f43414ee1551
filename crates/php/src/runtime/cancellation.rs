//! Whose the exceptions are that cancel coroutines.
//!
//! Code that an exception passes through changes it: what was in flight already becomes its previous one. So each coroutine
//! that is cancelled gets an object of its own, or what one does would show in the others.

use crate::runtime::{
    coroutine::Coroutine,
    scheduler::{self, rt},
};
use crate::zend::{exception, zv};
use spindle_core::sched::State;
use spindle_php_sys as sys;
use std::ptr::null_mut;

fn class() -> *mut sys::zend_class_entry {
    // SAFETY: filled at module start.
    unsafe { sys::spindle_ce.cancellation }
}

/// `CancellationException` with the message that names the place of `cancel()`.
pub fn default_cancellation() -> *mut sys::zend_object {
    exception::new(class(), &format!("cancelled at {}", exception::here()))
}

/// `CancellationException` with this message, from the code that runs.
pub fn cancellation(message: &str) -> *mut sys::zend_object {
    exception::new(class(), message)
}

/// The same that no code has caused which runs now: each coroutine gets it with its own place.
pub fn cancellation_apart(message: &str) -> *mut sys::zend_object {
    exception::apart(class(), message)
}

/// The same for a failure (borrowed): it has its place, and is its previous one.
pub fn cancellation_because(message: &str, failure: *mut sys::zend_object) -> *mut sys::zend_object {
    let reason = cancellation_apart(message);
    exception::place_as(reason, failure);
    // SAFETY: live exceptions.
    unsafe { sys::spindle_exception_replace_previous(reason, failure) };
    reason
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
        for _ in 0..exception::CHAIN {
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
    std::iter::successors(Some(exception), before).take(exception::CHAIN).count() - 1
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
            file if file.is_null() => exception::set_place(own, (*this).spawn_file, (*this).spawn_line),
            file => exception::set_place(own, file, (*this).suspend_line),
        }
        own
    }
}

/// Would an exception that is thrown where the coroutine waits pass through it as it is?
unsafe fn passes_unchanged(this: *mut Coroutine) -> bool {
    // SAFETY: the caller's promise; the frames of one that waits stand on its own stack.
    unsafe {
        let (state, has_stack) = scheduler::core(|core| (core.state((*this).co), core.has_stack((*this).co)));
        match state {
            State::Queued => true,
            State::Parked | State::Ready if has_stack && !(*this).ctx.is_null() => {
                sys::spindle_passes_unchanged(rt().frame_of((*this).ctx))
            }
            _ => false,
        }
    }
}
