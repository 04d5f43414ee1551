//! Which coroutine runs next: takes it from the core's run queue, and waits for events while none is ready.
//!
//! ```text
//!   pick ─┬─ one is ready ──► it runs
//!         ├─ none is ready ─► wait for events ─► again
//!         ├─ nothing to wait for ─► deadlock: all are cancelled ─► again
//!         └─ all have ended ─► main's stack, where the script's end waits
//! ```

use crate::c;
use crate::runtime::coroutine::Info;
use crate::runtime::ctx::Ctx;
use crate::runtime::scheduler::{Core, Runtime};
use crate::runtime::{failure, moments, preempted, signal_waits};
use crate::settings;
use crate::stack::arch;
use spindle_core::sched::{CoroutineId, Next, WaitReason};
use spindle_interpose::hooks::time;
use spindle_reactor::Reactor;
use spindle_zend::sys;
use std::ops::Range;

/// The reactor is polled once in this many picks, even if coroutines are ready.
const PICKS_PER_POLL: u64 = 64;

/// How many calls that did not wait a coroutine makes before it polls for events.
pub const CALLS_PER_POLL: u32 = sys::SPINDLE_CALLS_PER_POLL;

/// How far ahead in the run queue memory is prefetched.
const AHEAD: usize = 3;

/// A coroutine that was picked.
pub(super) enum To {
    /// It has not started: it needs a stack.
    Fresh(CoroutineId),
    /// It was suspended in this context.
    Ctx(&'static Ctx),
}

impl Runtime {
    /// Picks the coroutine that runs next. Waits for events while none is ready.
    #[inline(always)]
    pub(super) fn pick(&'static self) -> To {
        if self.is_poll_due() {
            self.poll(Some(0));
        }
        loop {
            let next = {
                let mut core = self.core.borrow_mut();
                let next = core.next_to_run();
                self.warm(&core);
                next
            };
            match self.to(next) {
                _ if self.must_wait(next) => self.core.borrow_mut().defer(next),
                Some(to) => return to,
                None => self.wait_for_events(),
            }
        }
    }

    /// Returns `true` if the coroutine that the core has picked must not run yet.
    #[inline(always)]
    pub(super) fn must_wait(&'static self, next: Next) -> bool {
        preempted::is_any() && self.is_held(next)
    }

    #[cold]
    fn is_held(&'static self, next: Next) -> bool {
        let (Next::Start(co) | Next::CancelledBeforeStart(co) | Next::Resume(co)) = next else { return false };
        let object = self.object(co);
        let instance = object.ctx.get().map_or_else(|| object.inherited.instance(), |ctx| ctx.travelling.instance());
        preempted::holds(co, instance)
    }

    /// Counts a pick. Returns `true` if it is time to poll for events although coroutines are ready.
    #[inline(always)]
    pub(super) fn is_poll_due(&self) -> bool {
        let picks = self.picks.get().wrapping_add(1);
        self.picks.set(picks);
        picks.is_multiple_of(PICKS_PER_POLL)
    }

    /// Returns the target of a switch to the coroutine that the core has picked; `None` if none is ready.
    #[inline(always)]
    pub(super) fn to(&'static self, next: Next) -> Option<To> {
        match next {
            Next::Start(co) | Next::CancelledBeforeStart(co) => Some(To::Fresh(co)),
            Next::Resume(co) => Some(To::Ctx(self.context_of(co))),
            Next::Idle => None,
            Next::Over => Some(To::Ctx(&self.main)),
        }
    }

    /// Waits for events, as no coroutine is ready.
    #[cold]
    #[inline(never)]
    fn wait_for_events(&'static self) {
        let (hope, deadline) = {
            let mut core = self.core.borrow_mut();
            core.update_zombie_timer(Reactor::now(), zombie_grace());
            (core.has_wake_source(), core.next_deadline())
        };
        if hope {
            if let Some(deadline) = deadline
                && settings::current().virtual_time
                && self.only_time_can_wake()
            {
                Reactor::jump_to(deadline);
            }
            self.poll(deadline.map(|d| d.saturating_sub(Reactor::now())));
        } else if !moments::stalled(self) {
            failure::deadlock(self);
        }
    }

    /// Returns `true` if all coroutines wait for each other or for time.
    fn only_time_can_wake(&self) -> bool {
        let core = self.core.borrow();
        let asleep = core.coroutines().filter(|co| time::is_sleep(self.object(*co).info().call)).count();
        core.only_time_can_wake(asleep)
    }

    /// Returns the context of a coroutine that has started and has not ended.
    ///
    /// # Panics
    /// It has none.
    #[inline(always)]
    fn context_of(&self, co: CoroutineId) -> &'static Ctx {
        self.object(co).ctx.get().expect("a coroutine that has started has a context")
    }

    /// Prefetches what the next coroutines in the run queue will touch: with thousands of them, none is in the caches any more
    /// when it is resumed. Each step reads what the one before it has prefetched.
    #[inline(always)]
    pub(super) fn warm(&self, core: &Core) {
        let Some(next) = core.nth_ready(AHEAD) else { return };
        if let Some(ctx) = self.object(next).ctx.get() {
            prefetch(ctx.stack.sp.get(), 0..10); // the frames of C in which it was suspended
            prefetch(ctx, 1..7);
            if let Some(fiber) = ctx.travelling.fiber() {
                prefetch(fiber, 0..1);
            }
            if let Some(frame) = ctx.travelling.frame() {
                prefetch(frame.as_raw(), -3..2); // with that of the caller, which lies below
            }
        }
        let Some(second) = core.nth_ready(2 * AHEAD) else { return };
        if let Some(ctx) = self.object(second).ctx.get() {
            prefetch(ctx, 0..1);
        }
        let Some(third) = core.nth_ready(3 * AHEAD) else { return };
        prefetch(self.object(third), 0..4);
        prefetch(core.place_of(third), 1..3);
    }

    /// Waits for events for at most `timeout` nanoseconds, wakes coroutines and fires timers.
    pub fn poll(&'static self, timeout: Option<u64>) {
        moments::run_ends(self);
        let waits_from = (timeout != Some(0)).then(|| {
            moments::loop_waits();
            let now = Reactor::now();
            self.core.borrow_mut().count_until(now);
            now
        });
        let turn = self.reactor().turn(timeout, |waiter| self.wake(waiter));
        let now = Reactor::now();
        let turns = &self.turns;
        turns.count.set(turns.count.get() + 1);
        if let Some(from) = waits_from {
            moments::loop_wakes();
            turns.idle.set(turns.idle.get() + (now - from));
        }
        let events = {
            let mut core = self.core.borrow_mut();
            if waits_from.is_some() {
                core.count_idle(now);
            }
            turns.lag.set(core.next_deadline().map_or(0, |deadline| now.saturating_sub(deadline)));
            core.expire(now);
            core.waits_are_settled();
            core.update_zombie_timer(now, zombie_grace());
            core.has_events()
        };
        if events {
            failure::carry_out(self);
        }
        if turn.signals != 0 {
            self.signalled(turn.signals, turn.from_outside);
            signal_waits::caught(turn.signals);
        }
        if turn.report {
            moments::dump_requested(self);
        }
    }

    /// Returns how often a coroutine was picked: while the number stays the same, no other coroutine has run.
    pub fn picks(&self) -> u64 {
        self.picks.get()
    }

    /// Counts a call that did not wait. Returns how many there were since the last park.
    pub fn count_call(&self) -> u32 {
        let calls = c::spindle_calls_without_park.get().wrapping_add(1);
        c::spindle_calls_without_park.set(calls);
        calls
    }

    /// Counts a call that did not wait. Returns `true` every `calls_per_poll` calls: [`Runtime::maybe_yield`] is due.
    #[inline]
    pub fn count_toward_poll(&self, calls_per_poll: u32) -> bool {
        self.count_call() >= calls_per_poll
    }

    /// Yields if others are ready; if none is but an event may come, polls the reactor first. Returns `true` if a cancellation is
    /// pending, which came meanwhile or during a call that could not be given up.
    pub fn maybe_yield(&'static self) -> bool {
        c::spindle_calls_without_park.set(0);
        if !self.core.borrow().has_ready() {
            if self.may_have_events() {
                self.poll(Some(0));
            } else {
                moments::run_ends(self); // it blocks no other coroutine
            }
        }
        if self.core.borrow().has_ready() {
            self.begin_wait();
            self.park(None, WaitReason::Yield, false, Info::NONE);
        }
        self.core.borrow().cancellation_waits()
    }

    /// Returns `false` if no other coroutine can run now, nor be woken.
    pub fn may_have_others(&self) -> bool {
        self.core.borrow().has_ready() || self.may_have_events()
    }

    /// Returns `false` if an event could do nothing: the running coroutine is the only one, without a time limit, and there was no
    /// signal.
    pub fn may_have_events(&self) -> bool {
        let core = self.core.borrow();
        core.live() > 1 || core.deadlines() > 0 || spindle_reactor::signals::pending()
    }

    /// Yields immediately if others are ready; polls for events only now and then. Returns the same as [`Runtime::maybe_yield`].
    pub fn yield_if_ready(&'static self) -> bool {
        let calls_per_poll = if self.core.borrow().has_ready() { 0 } else { CALLS_PER_POLL };
        self.count_toward_poll(calls_per_poll) && self.maybe_yield()
    }
}

/// Prefetches these lines of the processor's cache, counted from an address, which may be any.
#[inline(always)]
fn prefetch<T>(address: *const T, lines: Range<isize>) {
    for line in lines {
        arch::prefetch(address.cast::<i8>().wrapping_offset(line * 64));
    }
}

/// Returns for how many nanoseconds zombies may run when nothing else is left.
fn zombie_grace() -> u64 {
    (settings::current().zombie_timeout * 1e9) as u64
}
