//! What a wait of ours does before it parks, and after a signal has interrupted it.

use crate::runtime::{ctx::Failing, pending_cancel, scheduler::Runtime};
use spindle_php_sys as sys;

/// Throws what is to be thrown before the running coroutine may wait: `false` if there is something.
pub fn may_wait(rt: &'static Runtime) -> bool {
    let ctx = rt.context();
    // SAFETY: the running context is alive; the exception's reference is passed on.
    unsafe {
        if let Failing::Throw(exception) = (*ctx).failing {
            pending_cancel::take_failing(ctx);
            pending_cancel::refresh_checks(ctx);
            sys::spindle_throw(exception);
            return false;
        }
    }
    let reason = rt.core.borrow_mut().take_cancellation();
    match reason {
        Some(reason) => {
            // SAFETY: the core's reference is passed on.
            unsafe { sys::spindle_throw(reason) };
            false
        }
        None => true,
    }
}

/// A wait of ours was interrupted by a signal: lets its handler run. `false`: it has thrown.
pub fn after_signal() -> bool {
    // SAFETY: an internal function of ours is running, a place where the engine may run handlers.
    unsafe {
        if sys::spindle_vm_interrupt_take()
            && let Some(run) = sys::zend_interrupt_function
        {
            run(sys::executor_globals.current_execute_data);
        }
        sys::executor_globals.exception.is_null()
    }
}
