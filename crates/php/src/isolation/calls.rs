//! State that a call in progress has set in the engine for its coroutine only: exchanged when the coroutine is
//! suspended and resumed.
//!
//! Such calls are on a list of their coroutine while they are in progress. A stack that is abandoned is never resumed,
//! and its list is not used again.

use spindle_zend::{PhpStatic, engine};
use std::cell::Cell;
use std::ptr::null;

/// State of a call in progress.
pub trait CallState {
    /// Restores what others are to see, when the coroutine is suspended.
    fn suspend(&self);

    /// Restores what the call has set, when the coroutine is resumed.
    fn resume(&self);
}

/// A call in progress, on the stack of its coroutine.
pub(super) struct Entry<'a> {
    outer: Calls,
    state: &'a dyn CallState,
}

/// The calls of a coroutine, the innermost first.
pub(super) type Calls = *const Entry<'static>;

/// The calls of the running coroutine.
static RUNNING: PhpStatic<Cell<Calls>> = PhpStatic::new(Cell::new(null()));

/// Makes a call, whose state is exchanged whenever its coroutine is suspended before it returns.
pub fn during(state: &dyn CallState, call: impl FnOnce()) {
    let entry = Entry { outer: RUNNING.get(), state };
    let this: Calls = (&raw const entry).cast();
    RUNNING.set(this);
    let returned = engine::guarded(call);
    // If it is in a fiber that was resumed in another coroutine, it is on the list of the coroutine in which it began.
    if RUNNING.get() == this {
        RUNNING.set(entry.outer);
    }
    if !returned {
        engine::bail_out();
    }
}

/// Clears the list at the end of the request.
pub fn forget_all() {
    RUNNING.set(null());
}

/// Takes the list of the running coroutine, which is being suspended, after exchanging the state of its calls.
#[inline(always)]
pub(super) fn suspend() -> Calls {
    let list = RUNNING.get();
    if !list.is_null() {
        suspend_each(list);
    }
    list
}

/// Restores the list of a coroutine that is resumed, and the state of its calls.
#[inline(always)]
pub(super) fn resume(list: Calls) {
    RUNNING.set(list);
    if !list.is_null() {
        resume_each(list);
    }
}

fn innermost(list: Calls) -> Option<&'static Entry<'static>> {
    // SAFETY: null, or a call in progress on the stack that is switched from or to: `during` has not returned.
    unsafe { list.as_ref() }
}

/// Calls `suspend` for each entry, the innermost first.
#[cold]
fn suspend_each(list: Calls) {
    let mut next = innermost(list);
    while let Some(call) = next {
        call.state.suspend();
        next = innermost(call.outer);
    }
}

/// Calls `resume` for each entry, the outermost first. Such calls are nested only a few levels deep.
#[cold]
fn resume_each(list: Calls) {
    if let Some(call) = innermost(list) {
        resume_each(call.outer);
        call.state.resume();
    }
}
