//! Checks around a wait: whether it may begin, and what follows when a signal has interrupted it.

use crate::c;
use crate::runtime::pending_cancel;
use crate::runtime::scheduler::Runtime;
use spindle_zend::{Frame, Thrown, exception, hooks};

/// Checks that the running coroutine may wait.
///
/// # Errors
/// A cancellation was pending and has been thrown.
#[inline(always)]
pub fn may_wait(rt: &'static Runtime) -> Result<(), Thrown> {
    if pending_cancel::is_pending(rt.context()) || rt.core.borrow().cancellation_waits() {
        return refuse_wait(rt);
    }
    Ok(())
}

#[cold]
fn refuse_wait(rt: &'static Runtime) -> Result<(), Thrown> {
    if let Some(exception) = pending_cancel::take_exception(rt.context()) {
        return Err(exception::throw(exception));
    }
    match rt.take_cancellation() {
        Some(reason) => Err(exception::throw(reason)),
        None => Ok(()),
    }
}

/// Runs the handler of a signal that has interrupted a wait.
///
/// # Errors
/// The handler has thrown.
pub fn after_signal() -> Result<(), Thrown> {
    if c::spindle_vm_interrupt_take()
        && let Some(run) = hooks::INTERRUPT.get()
    {
        run(Frame::current()); // an internal function of this module is running, where the engine may run handlers
    }
    if exception::is_in_flight() { Err(Thrown::is_in_flight()) } else { Ok(()) }
}

/// Throws the pending cancellation of the running coroutine. Returns `true` if there was one.
pub fn throw_cancellation(rt: &'static Runtime) -> bool {
    rt.take_cancellation().map(exception::throw).is_some()
}
