//! What a running call has set in the engine for its coroutine alone: put aside while the coroutine is not running.
//!
//! Such a call has an [`Aside`] as the first field of its own structure, on its coroutine's list for as long as it runs.
//! A stack that is abandoned is never resumed, and its list is not looked at again.

use std::cell::Cell;
use std::ptr::null_mut;

/// The coroutine is left, or it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// What others are to see is put in place.
    Left,
    /// What its calls have set is put back.
    GoesOn,
}

/// The beginning of a structure of a running call.
#[repr(C)]
#[derive(Debug)]
pub struct Aside {
    outer: *mut Aside,
    switched: unsafe fn(*mut Aside, Turn),
}

impl Aside {
    /// `switched` is called with the structure that this begins.
    pub fn new(switched: unsafe fn(*mut Aside, Turn)) -> Aside {
        Aside { outer: null_mut(), switched }
    }
}

struct Running(Cell<*mut Aside>);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Running {}
/// The list of the running coroutine.
static RUNNING: Running = Running(Cell::new(null_mut()));

/// The call begins.
///
/// # Safety
/// It stays where it is until [`end`], which is called on the same coroutine, the innermost first.
pub unsafe fn begin(aside: *mut Aside) {
    // SAFETY: the caller's promise.
    unsafe { (*aside).outer = RUNNING.0.get() };
    RUNNING.0.set(aside);
}

/// The call is over.
///
/// # Safety
/// As [`begin`].
pub unsafe fn end(aside: *mut Aside) {
    // In a fiber that goes on in another coroutine it is on the list of the one that it began in.
    if RUNNING.0.get() == aside {
        // SAFETY: the caller's promise.
        RUNNING.0.set(unsafe { (*aside).outer });
    }
}

/// Nothing runs that has begun anything: the request ends.
pub fn forget_all() {
    RUNNING.0.set(null_mut());
}

/// The running coroutine is left: its list, whose entries have put their state aside.
#[inline(always)]
pub fn leave() -> *mut Aside {
    let list = RUNNING.0.get();
    if !list.is_null() {
        leave_each(list);
    }
    list
}

/// A coroutine goes on, which had this list when it was left.
#[inline(always)]
pub fn resume(list: *mut Aside) {
    RUNNING.0.set(list);
    if !list.is_null() {
        resume_each(list);
    }
}

/// The innermost first.
#[cold]
fn leave_each(mut aside: *mut Aside) {
    // SAFETY: calls that are running on the stack that is being left.
    unsafe {
        while !aside.is_null() {
            ((*aside).switched)(aside, Turn::Left);
            aside = (*aside).outer;
        }
    }
}

/// The outermost first. Calls within calls of these kinds are a few.
#[cold]
fn resume_each(aside: *mut Aside) {
    if !aside.is_null() {
        // SAFETY: as `leave_each`, which was called for them.
        unsafe {
            resume_each((*aside).outer);
            ((*aside).switched)(aside, Turn::GoesOn);
        }
    }
}
