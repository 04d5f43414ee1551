//! What a running call has set in the engine for its coroutine alone: put aside while the coroutine is not running.
//!
//! Such calls are on their coroutine's list as long as they run. A stack that is abandoned is never resumed, and its list is not
//! looked at again.

use spindle_zend::{PhpStatic, engine};
use std::cell::Cell;
use std::ptr::null;

/// State of a running call.
pub trait CallState {
    /// The coroutine is left: puts in place what others are to see.
    fn leave(&self);

    /// The coroutine goes on: puts back what the call has set.
    fn resume(&self);
}

/// A call that is running, on the stack of its coroutine.
pub(super) struct Entry<'a> {
    outer: Calls,
    state: &'a dyn CallState,
}

/// The calls of a coroutine, the innermost first.
pub(super) type Calls = *const Entry<'static>;

/// Those of the running coroutine.
static RUNNING: PhpStatic<Cell<Calls>> = PhpStatic::new(Cell::new(null()));

/// Makes a call, and has its state put aside whenever its coroutine is left before it returns.
pub fn during(state: &dyn CallState, call: impl FnOnce()) {
    let entry = Entry { outer: RUNNING.get(), state };
    let this: Calls = (&raw const entry).cast();
    RUNNING.set(this);
    let returned = engine::guarded(call);
    // In a fiber that goes on in another coroutine it is on the list of the one that it began in.
    if RUNNING.get() == this {
        RUNNING.set(entry.outer);
    }
    if !returned {
        engine::bail_out();
    }
}

/// No call runs any more: the request ends.
pub fn forget_all() {
    RUNNING.set(null());
}

/// The running coroutine is left. Returns its list, whose calls have put their state aside.
#[inline(always)]
pub(super) fn leave() -> Calls {
    let list = RUNNING.get();
    if !list.is_null() {
        leave_each(list);
    }
    list
}

/// A coroutine goes on, which had this list when it was left.
#[inline(always)]
pub(super) fn resume(list: Calls) {
    RUNNING.set(list);
    if !list.is_null() {
        resume_each(list);
    }
}

fn innermost(list: Calls) -> Option<&'static Entry<'static>> {
    // SAFETY: null, or a call that is running on the stack that is switched from or to: `during` has not returned.
    unsafe { list.as_ref() }
}

/// The innermost first.
#[cold]
fn leave_each(list: Calls) {
    let mut next = innermost(list);
    while let Some(call) = next {
        call.state.leave();
        next = innermost(call.outer);
    }
}

/// The outermost first. Calls within calls of these kinds are a few.
#[cold]
fn resume_each(list: Calls) {
    if let Some(call) = innermost(list) {
        resume_each(call.outer);
        call.state.resume();
    }
}
