//! Waits of the running coroutine: whether one may begin, the park itself, and what follows when a signal has interrupted it.
//! Yielding and sleeping.

use crate::c;
use crate::runtime::coroutine::{Info, Wants};
use crate::runtime::scheduler::Runtime;
use crate::runtime::{classes, fork, moments, pending_cancel};
use spindle_core::sched::{Ticket, WaitReason, WakeReason};
use spindle_reactor::Reactor;
use spindle_zend::{Frame, Thrown, exception, hooks};

impl Runtime {
    /// Returns a ticket for the running coroutine's next park.
    #[inline(always)]
    pub fn begin_wait(&self) -> Ticket {
        self.core.borrow_mut().begin_wait()
    }

    /// Parks the running coroutine (after [`Runtime::begin_wait`]) until it is woken, while others run, and returns the reason of
    /// the wake-up. Only where [`Runtime::can_switch`].
    pub fn park(&'static self, deadline: Option<u64>, on: WaitReason, cancellable: bool, info: Info) -> WakeReason {
        self.park_inline(deadline, on, cancellable, info)
    }

    /// Does the same for the most frequent waits.
    #[inline(always)]
    pub fn park_inline(
        &'static self,
        deadline: Option<u64>,
        on: WaitReason,
        cancellable: bool,
        info: Info,
    ) -> WakeReason {
        if fork::forked_unseen() {
            fork::in_child(self);
        }
        if spindle_reactor::signals::pending() {
            self.poll(Some(0)); // a signal interrupts what was blocked when it came, not what comes after
        }
        if self.is_interrupted_before(on) {
            return WakeReason::Interrupted;
        }
        if let Some(reason) = self.core.borrow_mut().park(deadline, on, cancellable) {
            return reason;
        }
        let this = self.running();
        c::spindle_calls_without_park.set(0);
        this.suspended_at.set_to_code_of(Frame::current());
        this.waits(info);
        moments::suspending(self);
        if !matches!(info.wants, Wants::Unknown) && !self.waits_to_give_up.borrow().is_empty() {
            moments::awaits_others(self);
        }
        self.suspend(matches!(on, WaitReason::External { .. }));
        this.waits_no_more();
        self.interrupt_signal_target();
        self.core.borrow_mut().resumed(cancellable)
    }

    /// Yields to the coroutines that are ready, in as few steps as possible. Returns `true` if a cancellation is pending then.
    #[inline]
    pub fn yield_now(&'static self) -> bool {
        if fork::forked_unseen() {
            fork::in_child(self);
        }
        moments::run_ends(self);
        if self.is_poll_due() || spindle_reactor::signals::pending() {
            self.poll(Some(0));
        }
        let this = self.running();
        c::spindle_calls_without_park.set(0);
        this.suspended_at.set_to_code_of(Frame::current());
        moments::suspending(self);
        let next = {
            let mut core = self.core.borrow_mut();
            let next = core.yield_now();
            self.warm(&core);
            next
        };
        if let Some(next) = next {
            // None is ready if this one has been abandoned.
            let to = if self.must_wait(next) {
                self.core.borrow_mut().defer(next);
                None
            } else {
                self.to(next)
            };
            self.suspend_for(to.unwrap_or_else(|| self.pick()), false);
        }
        self.interrupt_signal_target();
        self.core.borrow().refuses_wait()
    }
}

/// Checks that the running coroutine may wait.
///
/// # Errors
/// A cancellation was pending and has been thrown.
#[inline(always)]
pub fn may_wait(rt: &'static Runtime) -> Result<(), Thrown> {
    if rt.core.borrow().refuses_wait() { refuse_wait(rt) } else { Ok(()) }
}

/// Checks that the running coroutine may wait, and returns the ticket of its next park.
///
/// # Errors
/// As [`may_wait`].
#[inline(always)]
pub fn try_begin_wait(rt: &'static Runtime) -> Result<Ticket, Thrown> {
    if let Some(ticket) = rt.core.borrow_mut().try_begin_wait() {
        return Ok(ticket);
    }
    refuse_wait(rt)?;
    Ok(rt.begin_wait())
}

#[cold]
fn refuse_wait(rt: &'static Runtime) -> Result<(), Thrown> {
    match pending_cancel::take(rt) {
        Some(reason) => Err(exception::throw(reason)),
        None => Ok(()),
    }
}

/// Throws the exception for an await where the running coroutine cannot be suspended.
#[cold]
pub fn cannot_await(rt: &'static Runtime) -> Thrown {
    let text = if rt.has_ended() {
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
    // A cancellation that is pending makes `yield_now` return immediately.
    if rt.can_switch() && rt.yield_now() { refuse_wait(rt) } else { Ok(()) }
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
