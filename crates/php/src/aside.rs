//! What a running call has set in the engine for its coroutine alone: put aside while the coroutine is not running.
//!
//! Such a call has an [`Aside`] as the first field of its own structure, on its coroutine's list for as long as it runs.
//! A stack that is abandoned is never resumed, and its list is not looked at again.

use crate::runtime;
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

/// The call begins. Without coroutines there is nobody to put anything aside for.
///
/// # Safety
/// It stays where it is until [`end`], which is called on the same coroutine, the innermost first.
pub unsafe fn begin(aside: *mut Aside) {
    if let Some(rt) = runtime::existing() {
        // SAFETY: the running context, and the caller's promise.
        unsafe {
            let ctx = rt.context();
            (*aside).outer = (*ctx).aside;
            (*ctx).aside = aside;
        }
    }
}

/// The call is over.
///
/// # Safety
/// As [`begin`].
pub unsafe fn end(aside: *mut Aside) {
    if let Some(rt) = runtime::existing() {
        // SAFETY: the running context, and the caller's promise. One that began before there were coroutines is on no list.
        unsafe {
            let ctx = rt.context();
            if (*ctx).aside == aside {
                (*ctx).aside = (*aside).outer;
            }
        }
    }
}

/// The coroutine with this list is left: the innermost first.
#[cold]
pub fn leave(mut aside: *mut Aside) {
    // SAFETY: calls that are running on the stack that is being left.
    unsafe {
        while !aside.is_null() {
            ((*aside).switched)(aside, Turn::Left);
            aside = (*aside).outer;
        }
    }
}

/// It goes on: the outermost first. Calls within calls of these kinds are a few.
#[cold]
pub fn go_on(aside: *mut Aside) {
    if !aside.is_null() {
        // SAFETY: as `leave`, which was called for them.
        unsafe {
            go_on((*aside).outer);
            ((*aside).switched)(aside, Turn::GoesOn);
        }
    }
}
