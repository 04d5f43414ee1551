//! Which coroutine a caught signal interrupts, and where PHP's handler of it runs: there, since what it throws is for
//! that one. By the engine's flag alone it would run in whichever coroutine runs.
//!
//! A signal is meant for the coroutine that has set what is done on it, its *owner*: main, unless another has.
//!
//! | sent by | interrupts | the handler runs |
//! |---|---|---|
//! | the running code (`posix_kill` of its own process) | the owner's call, if it waits in one | at once, in the running code |
//! | somebody else | the owner's call; if the owner is in none that is interrupted, main's, else the one parked longest | in the one whose call it was |
//! | somebody else, while the owner is to go on in the middle of a call | that call, if it parks again | in the owner |

use crate::runtime::scheduler::Runtime;
use spindle_core::sched::{CoroutineId, State, WaitReason};
use spindle_reactor::{JobKind, Reactor, Waiter, signals};
use spindle_zend::engine;
use std::time::Duration;

/// How long a handler waits for its coroutine to run, in nanoseconds.
const PATIENCE: u64 = 10_000_000;

/// The coroutine whose call was interrupted, and in which PHP's handler is to run.
#[derive(Clone, Copy)]
pub(crate) struct SignalTarget {
    co: CoroutineId,
    id: u64,
    /// When it computes that long it is interrupted after all.
    until: u64,
    /// PHP wanted to run handlers elsewhere, and was put off.
    put_off: bool,
    /// It was about to run, perhaps in the middle of a call, which is interrupted if it parks. `true` if the signal is one that
    /// restarts calls.
    about_to_run: Option<bool>,
}

/// Who has set what is done on each signal: a coroutine's id.
pub(crate) struct Owners([(CoroutineId, u64); 65]);

impl Owners {
    pub(crate) fn new() -> Owners {
        Owners([(crate::runtime::scheduler::Core::MAIN, crate::runtime::scheduler::Core::MAIN_ID); 65])
    }
}

impl Runtime {
    /// The running coroutine has set what is done on this signal.
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

    /// The signal's owner; main if that one has ended.
    fn signal_owner(&self, core: &crate::runtime::scheduler::Core, signal: i32) -> CoroutineId {
        let (co, id) = self.signal_owners.borrow().0[signal as usize];
        if core.id(co) == id && core.state(co) != State::Done { co } else { crate::runtime::scheduler::Core::MAIN }
    }

    /// Signals (bit `n - 1` for signal `n`) have been caught: they interrupt a call each, as `signal(7)` has it.
    #[cold]
    pub(crate) fn signalled(&self, mut caught: u64, from_outside: u64) {
        let mut core = self.core.borrow_mut();
        let running = core.running();
        let mut target = None;
        let (mut about_to_run, mut unheard) = (None, None);
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
            unheard = unheard.or(Some(owner).filter(|_| signal_target.is_none()));
            target = target.or(signal_target);
        }
        if here {
            (target, about_to_run) = (Some(running), None); // handlers run at once, all together
        }
        if let Some(owner) = unheard
            && target.is_none()
            && !core.has_ready()
        {
            target = if core.wake_one_for_signal(owner) { Some(owner) } else { core.wake_for_signal() };
        }
        if let Some(co) = target {
            let until = Reactor::now() + PATIENCE;
            self.signal_target.set(Some(SignalTarget { co, id: core.id(co), until, put_off: false, about_to_run }));
        }
    }

    /// Returns `true` if PHP's handlers are to run in another coroutine, whose call the signal has interrupted.
    #[cold]
    pub fn leaves_handlers(&'static self) -> bool {
        if signals::pending() {
            self.poll(Some(0));
        }
        let Some(signal_target) = self.signal_target.get() else { return false };
        let waits = {
            let core = self.core.borrow();
            let another = signal_target.co != core.running() && core.id(signal_target.co) == signal_target.id;
            another && core.state(signal_target.co) != State::Done && Reactor::now() < signal_target.until
        };
        // Who computes without a break is interrupted again then, when it has been long enough.
        let alarm = || {
            std::thread::sleep(Duration::from_nanos(PATIENCE));
            engine::request_interrupt();
        };
        let nobody = Waiter(u64::MAX);
        if waits && (signal_target.put_off || self.reactor().submit(JobKind::Bounded, alarm, nobody).is_ok()) {
            self.signal_target.set(Some(SignalTarget { put_off: true, ..signal_target }));
            return true;
        }
        self.signal_target.set(None);
        false
    }

    /// Requests an interrupt if the coroutine that was just resumed is the one in which PHP's handlers are to run.
    #[inline(always)]
    pub(crate) fn interrupt_signal_target(&self) {
        if self.signal_target.get().is_some_and(|signal_target| {
            (signal_target.put_off || signal_target.about_to_run.is_some())
                && signal_target.co == self.core.borrow().running()
        }) {
            engine::request_interrupt();
        }
    }

    /// Returns `true` if a signal interrupts the park `on`: it came while other coroutines ran, and the running coroutine, then
    /// in the middle of a call, parks in that again.
    #[inline(always)]
    pub(crate) fn is_interrupted_before(&self, on: WaitReason) -> bool {
        self.signal_target.get().is_some_and(|signal_target| {
            let WaitReason::External { interruptible: true, restart } = on else { return false };
            let fits = signal_target.about_to_run.is_some_and(|restarts| !(restarts && restart));
            let ours = fits && signal_target.co == self.core.borrow().running();
            if ours {
                self.signal_target.set(Some(SignalTarget { about_to_run: None, put_off: true, ..signal_target }));
            }
            ours
        })
    }
}
