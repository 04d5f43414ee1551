//! Where switching is forbidden, whether the script has ended, and whether a request runs on this thread. Recorded even
//! before there is a runtime.

use crate::runtime::{moments, scheduler};
use spindle_interpose::host;
use spindle_php_sys as sys;
use spindle_zend::{PhpStatic, globals};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct State {
    /// How many nested sections forbid switching.
    forbidden: Cell<u32>,
    is_over: Cell<bool>,
    /// The number of requests that have begun.
    requests: Cell<u64>,
}

static STATE: PhpStatic<State> =
    PhpStatic::new(State { forbidden: Cell::new(0), is_over: Cell::new(false), requests: Cell::new(0) });

/// The thread pointer of the thread that runs a request; 0 if none does.
static THREAD: AtomicUsize = AtomicUsize::new(0);

/// Resets the state at the start of a request.
pub fn reset() {
    STATE.forbidden.set(0);
    STATE.is_over.set(false);
    STATE.requests.set(STATE.requests.get() + 1);
    THREAD.store(host::thread_pointer(), Ordering::Relaxed);
}

/// Records the end of the request, after all its objects were freed.
pub fn end_request() {
    THREAD.store(0, Ordering::Relaxed);
}

/// Returns `true` on the PHP thread while a request runs, until all its objects were freed.
pub fn is_in_request() -> bool {
    THREAD.load(Ordering::Relaxed) == host::thread_pointer()
}

/// Returns the number of the request.
pub fn request() -> u64 {
    STATE.requests.get()
}

/// Returns `true` if the script's own code has ended.
pub fn has_script_ended() -> bool {
    STATE.is_over.get()
}

/// Records that the script's own code has ended.
pub fn set_script_over() {
    STATE.is_over.set(true);
}

/// Returns how many nested sections around the running code forbid switching.
pub fn no_switch() -> u32 {
    STATE.forbidden.get()
}

/// Runs `what` with switching forbidden. A bailout may jump over this function; the request ends then, and switching is
/// no longer needed.
pub fn without_switch<R>(what: impl FnOnce() -> R) -> R {
    STATE.forbidden.set(STATE.forbidden.get() + 1);
    let before = scheduler::existing();
    if let Some(rt) = before {
        rt.forbid_switch();
    }
    let result = what();
    STATE.forbidden.set(STATE.forbidden.get() - 1);
    if let Some(rt) = scheduler::existing() {
        rt.allow_switch();
    }
    result
}

/// Allows switching again after a fatal error that has ended code of one coroutine alone: what had forbidden it was left.
pub fn survived() {
    STATE.forbidden.set(0);
    if let Some(rt) = scheduler::existing() {
        rt.survived();
        moments::survived(rt);
    }
}

/// Returns `true` if the script's own code has ended, or the engine shuts down: only shutdown functions and destructors
/// follow.
pub fn script_is_over() -> bool {
    STATE.is_over.get() || globals::executor(|eg| u32::from(eg.flags) & sys::EG_FLAGS_IN_SHUTDOWN != 0)
}
