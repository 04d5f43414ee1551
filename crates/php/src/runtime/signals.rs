//! Decides which coroutine a caught signal interrupts, and runs PHP's handler in that coroutine, so that it receives
//! what the handler throws. The engine's flag alone would run the handler in whichever coroutine is running.
//!
//! The *owner* of a signal is the coroutine that set its disposition; main, if none did.
//!
//! | sent by | interrupts | the handler runs |
//! |---|---|---|
//! | the running code (`posix_kill` of its own process) | the owner's call, if it is parked in one | immediately, in the running code |
//! | another process or thread | the owner's call; if it is in none that can be interrupted, main's, else that of the coroutine parked longest | in the interrupted coroutine |
//! | the same, while the owner is ready in the middle of a call | that call, if it parks again | in the owner |

use crate::runtime::moments;
use crate::runtime::scheduler::{Runtime, waiter};
use spindle_core::sched::{CoroutineId, State, WaitReason, Wakeup};
use spindle_reactor::{JobKind, Reactor, signals};
use spindle_zend::engine;
use std::time::Duration;

/// How long a handler is deferred until its coroutine runs, in nanoseconds.
const HANDLER_DELAY: u64 = 10_000_000;

/// The coroutine whose call was interrupted, and in which PHP's handler runs.
#[derive(Clone, Copy)]
pub(crate) struct SignalTarget {
    co: CoroutineId,
    id: u64,
    /// From this time on, the handler runs in whichever coroutine is running.
    until: u64,
    /// The handlers were deferred when the engine was about to run them in another coroutine.
    deferred: bool,
    /// The coroutine was ready, perhaps in the middle of a call, which is interrupted if it parks. `true` if the signal
    /// restarts calls.
    about_to_run: Option<bool>,
}

/// The owner of each signal: a coroutine and its id.
pub(crate) struct Owners([(CoroutineId, u64); 65]);

impl Owners {
    pub(crate) fn new() -> Owners {
        Owners([(crate::runtime::scheduler::Core::MAIN, crate::runtime::scheduler::Core::MAIN_ID); 65])
    }
}

impl Runtime {
    /// Makes the running coroutine the owner of this signal.
    pub(crate) fn signal_set(&self, signal: i32) {
        let owner = {
            let core = self.core.borrow();
            (core.running(), core.id(core.running()))
        };
        let mut owners = self.signal_owners.borrow_mut();
        if let Some(place) = usize::try_from(signal).ok().and_then(|signal| owners.0.get_mut(signal)) {
            *place = owner;
        }
    }

    /// Returns the signal's owner; main if that one has ended.
    fn signal_owner(&self, core: &crate::runtime::scheduler::Core, signal: i32) -> CoroutineId {
        let (co, id) = self.signal_owners.borrow().0[signal as usize];
        if core.id(co) == id && core.state(co) != State::Done { co } else { crate::runtime::scheduler::Core::MAIN }
    }

    /// Handles caught signals (bit `n - 1` for signal `n`): each interrupts a call, as described in `signal(7)`.
    #[cold]
    pub(crate) fn signalled(&self, mut caught: u64, from_outside: u64) {
        let mut core = self.core.borrow_mut();
        let running = core.running();
        let mut target = None;
        let (mut about_to_run, mut undelivered) = (None, None);
        let here = from_outside & caught != caught;
        while caught != 0 {
            let signal = caught.trailing_zeros() as i32 + 1;
            caught &= caught - 1;
            let restart = signals::restarts(signal);
            let owner = self.signal_owner(&core, signal);
            let interrupted = core.interrupt_one(owner, restart);
            if from_outside >> (signal - 1) & 1 == 0 {
                continue;
            }
            let signal_target = if interrupted {
                Some(owner)
            } else if core.will_resume_call(owner) {
                about_to_run = about_to_run.or(Some(restart).filter(|_| target.is_none()));
                Some(owner)
            } else {
                core.interrupt(restart)
            };
            undelivered = undelivered.or(Some(owner).filter(|_| signal_target.is_none()));
            target = target.or(signal_target);
        }
        if here {
            (target, about_to_run) = (Some(running), None); // handlers run immediately, all together
        }
        if let Some(owner) = undelivered
            && target.is_none()
            && !core.has_ready()
        {
            target = if core.wake_one_for_signal(owner) { Some(owner) } else { core.wake_for_signal() };
        }
        if let Some(co) = target {
            let until = Reactor::now() + HANDLER_DELAY;
            self.signal_target.set(Some(SignalTarget { co, id: core.id(co), until, deferred: false, about_to_run }));
        }
    }

    /// Returns `true`, and defers PHP's handlers, if they are to run in another coroutine, whose call the signal has
    /// interrupted.
    #[cold]
    pub fn defers_handlers(&'static self) -> bool {
        if signals::pending() {
            let is_ending = signals::ending_waits();
            self.poll(Some(0));
            if is_ending {
                moments::keeps_ending();
            }
        }
        let Some(signal_target) = self.signal_target.get() else { return false };
        let waits = {
            let core = self.core.borrow();
            let another = signal_target.co != core.running() && core.id(signal_target.co) == signal_target.id;
            another && core.state(signal_target.co) != State::Done && Reactor::now() < signal_target.until
        };
        // A coroutine that computes without a break is interrupted again after this time.
        let alarm = || {
            std::thread::sleep(Duration::from_nanos(HANDLER_DELAY));
            engine::request_interrupt();
        };
        let no_waiter = waiter(Wakeup::NOTHING);
        if waits && (signal_target.deferred || self.reactor().submit(JobKind::Bounded, alarm, no_waiter).is_ok()) {
            self.signal_target.set(Some(SignalTarget { deferred: true, ..signal_target }));
            return true;
        }
        self.signal_target.set(None);
        false
    }

    /// Requests an interrupt if the coroutine that was just resumed is the one in which PHP's handlers are to run.
    #[inline(always)]
    pub(crate) fn interrupt_signal_target(&self) {
        if self.signal_target.get().is_some_and(|signal_target| {
            (signal_target.deferred || signal_target.about_to_run.is_some())
                && signal_target.co == self.core.borrow().running()
        }) {
            engine::request_interrupt();
        }
    }

    /// Returns `true` if a signal interrupts the park `on`: it came while other coroutines ran and the running one was
    /// ready in the middle of a call, in which it now parks again.
    #[inline(always)]
    pub(crate) fn is_interrupted_before(&self, on: WaitReason) -> bool {
        self.signal_target.get().is_some_and(|signal_target| {
            let WaitReason::External { interruptible: true, restart } = on else { return false };
            let fits = signal_target.about_to_run.is_some_and(|restarts| !(restarts && restart));
            let interrupted = fits && signal_target.co == self.core.borrow().running();
            if interrupted {
                self.signal_target.set(Some(SignalTarget { about_to_run: None, deferred: true, ..signal_target }));
            }
            interrupted
        })
    }
}
