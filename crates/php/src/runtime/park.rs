//! Checks around a wait: whether it may begin, and what follows when a signal has interrupted it. Yielding and sleeping.

use crate::c;
use crate::runtime::coroutine::Info;
use crate::runtime::scheduler::{Phase, Runtime};
use crate::runtime::{classes, pending_cancel};
use spindle_core::sched::{Ticket, WaitReason, WakeReason};
use spindle_reactor::Reactor;
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

/// Checks that the running coroutine may wait, and returns the ticket of its next park.
///
/// # Errors
/// As [`may_wait`].
#[inline(always)]
pub fn try_begin_wait(rt: &'static Runtime) -> Result<Ticket, Thrown> {
    if !pending_cancel::is_pending(rt.context())
        && let Some(ticket) = rt.core.borrow_mut().try_begin_wait()
    {
        return Ok(ticket);
    }
    refuse_wait(rt)?;
    Ok(rt.begin_wait())
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

/// Throws the exception for an await where the running coroutine cannot be suspended.
#[cold]
pub fn cannot_await(rt: &'static Runtime) -> Thrown {
    let text = if rt.phase.get() == Phase::Ended {
        "Cannot await here: the coroutines have ended, it would never complete"
    } else {
        "Cannot await here: the engine allows no switch in this place"
    };
    exception::throw_new(classes::async_exception(), text)
}

/// Yields: the coroutines that are ready run first. Does nothing where the running one cannot be suspended.
///
/// # Errors
/// The coroutine is cancelled.
#[inline(always)]
pub fn suspend(rt: &'static Runtime) -> Result<(), Thrown> {
    if rt.can_switch() {
        // A cancellation that is pending in the core makes `yield_now` return at once.
        if pending_cancel::is_pending(rt.context()) || rt.yield_now() {
            may_wait(rt)?;
        }
    }
    Ok(())
}

/// Sleeps for this number of nanoseconds.
///
/// # Errors
/// The coroutine is cancelled, or a signal handler has thrown.
pub fn delay(rt: &'static Runtime, nanoseconds: u64) -> Result<(), Thrown> {
    let deadline = Reactor::now().saturating_add(nanoseconds);
    if !rt.can_switch() {
        std::thread::sleep(std::time::Duration::from_nanos(nanoseconds));
        return Ok(());
    }
    loop {
        may_wait(rt)?;
        rt.begin_wait();
        let info = Info { call: "delay", since: deadline - nanoseconds, ..Info::NONE };
        match rt.park(Some(deadline), WaitReason::Timer, true, info) {
            WakeReason::TimedOut => return Ok(()),
            WakeReason::Interrupted => after_signal()?,
            _ => {}
        }
    }
}

/// Runs the handler of a signal that has interrupted a wait.
///
/// # Errors
/// The handler has thrown.
pub fn after_signal() -> Result<(), Thrown> {
    serve_interrupt(); // an internal function of this module is running, where the engine may run handlers
    if exception::is_in_flight() { Err(Thrown::is_in_flight()) } else { Ok(()) }
}

/// Does what the engine does between two instructions if an interrupt is requested, such as to run the handlers of signals,
/// which may throw. A time-out is left to the engine.
pub fn serve_interrupt() {
    if c::spindle_vm_interrupt_take()
        && let Some(run) = hooks::INTERRUPT.get()
    {
        run(Frame::current());
    }
}

/// Throws the pending cancellation of the running coroutine. Returns `true` if there was one.
pub fn throw_cancellation(rt: &'static Runtime) -> bool {
    rt.take_cancellation().map(exception::throw).is_some()
}
