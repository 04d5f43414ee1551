//! Which coroutine a caught signal interrupts, and where PHP's handler of it runs: there, since what it throws is for
//! that one. By the engine's flag alone it would run in whichever coroutine runs.

use crate::runtime::Runtime;
use spindle_core::sched::{Co, State};
use spindle_php_sys as sys;
use spindle_reactor::{JobKind, Reactor, Waiter, signals};
use std::time::Duration;

/// How long a handler waits for its coroutine to run, in nanoseconds.
const PATIENCE: u64 = 10_000_000;

/// The coroutine whose call was interrupted, and in which PHP's handler is to run.
#[derive(Clone, Copy)]
pub(crate) struct Hearer {
    co: Co,
    id: u64,
    /// Who computes that long is interrupted after all.
    until: u64,
    /// PHP wanted to run handlers elsewhere, and was put off.
    put_off: bool,
}

impl Runtime {
    /// Signals (bit `n - 1` for signal `n`) have been caught: they interrupt a call each, as `signal(7)` has it.
    #[cold]
    pub(crate) fn signalled(&self, mut caught: u64) {
        let mut core = self.core.borrow_mut();
        let (mut hears, mut unheard) = (None, false);
        while caught != 0 {
            let signal = caught.trailing_zeros() as i32 + 1;
            caught &= caught - 1;
            let interrupted = core.interrupt(signals::restarts(signal));
            unheard |= interrupted.is_none();
            hears = hears.or(interrupted);
        }
        if unheard && !core.anybody_ready() {
            hears = hears.or(core.nudge());
        }
        if let Some(co) = hears {
            let until = Reactor::now() + PATIENCE;
            self.hearer.set(Some(Hearer { co, id: core.id(co), until, put_off: false }));
        }
    }

    /// Should the running coroutine leave PHP's handlers to the one whose call was interrupted?
    #[cold]
    pub fn leaves_handlers(&'static self) -> bool {
        if signals::pending() {
            self.poll(Some(0));
        }
        let Some(hearer) = self.hearer.get() else { return false };
        let waits = {
            let core = self.core.borrow();
            let another = hearer.co != core.running() && core.id(hearer.co) == hearer.id;
            another && core.state(hearer.co) != State::Done && Reactor::now() < hearer.until
        };
        // Who computes without a break is interrupted again then, when it has been long enough.
        let alarm = || {
            std::thread::sleep(Duration::from_nanos(PATIENCE));
            // SAFETY: an atomic flag of the engine, made to be set from anywhere.
            unsafe { sys::spindle_vm_interrupt_set() };
        };
        let nobody = Waiter(u64::MAX);
        if waits && (hearer.put_off || self.reactor().submit(JobKind::EndsByItself, alarm, nobody).is_ok()) {
            self.hearer.set(Some(Hearer { put_off: true, ..hearer }));
            return true;
        }
        self.hearer.set(None);
        false
    }

    /// A coroutine goes on: is it the one that handlers wait for?
    #[inline(always)]
    pub(crate) fn hears(&self) {
        if self.hearer.get().is_some_and(|hearer| hearer.put_off && hearer.co == self.core.borrow().running()) {
            // SAFETY: a flag of the engine.
            unsafe { sys::spindle_vm_interrupt_set() };
        }
    }
}
