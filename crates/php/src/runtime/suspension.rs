//! Where coroutines may be suspended: what the engine forbids, and when the script is over, counted also before there is a
//! runtime.

use crate::runtime::scheduler;
use spindle_php_sys as sys;
use spindle_zend::{PhpStatic, globals};
use std::cell::Cell;

struct State {
    /// Depth of what forbids switching.
    forbidden: Cell<u32>,
    is_over: Cell<bool>,
}

static STATE: PhpStatic<State> = PhpStatic::new(State { forbidden: Cell::new(0), is_over: Cell::new(false) });

/// A request begins.
pub fn reset() {
    STATE.forbidden.set(0);
    STATE.is_over.set(false);
}

/// Has the script's own code ended?
pub fn has_script_ended() -> bool {
    STATE.is_over.get()
}

/// The script's own code has ended.
pub fn set_script_over() {
    STATE.is_over.set(true);
}

/// How deep in what forbids switching the running code is.
pub fn no_switch() -> u32 {
    STATE.forbidden.get()
}

/// Runs `what` without a switch. A bailout may jump over it: the request ends then, and no switch is wanted.
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

/// Has the script's own code ended? Shutdown functions and destructors are all that comes.
pub fn script_is_over() -> bool {
    STATE.is_over.get() || globals::executor(|eg| u32::from(eg.flags) & sys::EG_FLAGS_IN_SHUTDOWN != 0)
}
