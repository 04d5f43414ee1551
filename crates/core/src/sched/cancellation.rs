//! The pending cancellation of a coroutine: one place, which every wait asks.
//!
//! ```text
//!            cancel                delivered at a park, or asked for before a wait
//!   None ───────────► Requested ───────────────────────────────────────────────► Thrown
//!                      │    ▲ │                                                    │ │
//!                      │    │ │ delivered to C code                                │ │ cancel
//!                      │    │ └────────────► FailingCalls ── the C code returns ───┘ ▼
//!                      │    │                  to PHP code                        Requested
//!                      ▼    └── cancel by force, in place of the earlier one
//!                 the host discards it: the coroutine never starts, or has ended
//! ```
//!
//! | state | a wait that begins | a park | a further cancellation |
//! |---|---|---|---|
//! | None, Thrown | begins | waits | Requested; wakes a park |
//! | Requested | is refused, and the reason thrown | ends as cancelled | refused: the first one wins |
//! | FailingCalls | is refused, and the reason thrown | waits; the host lets the first ones fail | refused, but a park ends |
//!
//! Rules:
//! 1. A *shield* defers the delivery of what is requested; calls that fail already are not deferred. Shields nest.
//! 2. What has woken a coroutine comes first if it carries something for that coroutine alone
//!    ([`Core::prioritize_wake`]): the cancellation is delivered at the next park.
//! 3. A cancellation by force clears all shields and takes the place of the pending one. Failing calls keep failing, and its
//!    reason is thrown.
//! 4. Reasons are the host's. Each that is handed in is handed back once: by a `take`, by [`Core::discard_cancellation`], as the
//!    earlier one, or by [`Core::release`].
//!
//! Not guaranteed: that a coroutine which is cancelled ends. It may catch the reason, or never wait again.

use super::{Cancel, Core, CoroutineId, State, WaitReason, WakeReason};

/// How far the cancellation of a coroutine is.
#[derive(Default)]
enum Pending<X> {
    /// It was never cancelled.
    #[default]
    None,
    /// It is delivered at its next park that may be cancelled.
    Requested(X),
    /// It was delivered in the middle of C code, whose calls fail until it returns to PHP code.
    FailingCalls(X),
    /// The last one was delivered.
    Thrown,
}

/// The cancellation of one coroutine.
pub(super) struct Cancellation<X> {
    pending: Pending<X>,
    /// How many sections defer it.
    shields: u32,
}

impl<X> Cancellation<X> {
    pub(super) const NONE: Cancellation<X> = Cancellation { pending: Pending::None, shields: 0 };

    /// Returns `true` if one waits to be delivered, whether it is deferred or not.
    #[inline(always)]
    pub(super) fn is_requested(&self) -> bool {
        matches!(self.pending, Pending::Requested(_))
    }

    /// Returns `true` if its reason has not been thrown yet.
    #[inline(always)]
    pub(super) fn is_pending(&self) -> bool {
        matches!(self.pending, Pending::Requested(_) | Pending::FailingCalls(_))
    }

    /// Returns `true` if a park ends as cancelled.
    #[inline(always)]
    pub(super) fn ends_park(&self) -> bool {
        self.is_requested() && self.shields == 0
    }

    /// Returns `true` if a wait does not begin.
    #[inline(always)]
    pub(super) fn refuses_wait(&self) -> bool {
        self.is_pending() && (self.shields == 0 || matches!(self.pending, Pending::FailingCalls(_)))
    }

    /// Returns `true` if it can be delivered now.
    #[inline(always)]
    pub(super) fn is_unshielded(&self) -> bool {
        self.shields == 0
    }

    #[inline(always)]
    pub(super) fn shield(&mut self) {
        self.shields += 1;
    }

    #[inline(always)]
    pub(super) fn unshield(&mut self) {
        self.shields = self.shields.saturating_sub(1); // a cancellation by force has cleared it
    }

    /// Takes what is pending: it is thrown, or will never be.
    #[inline]
    pub(super) fn take(&mut self) -> Option<X> {
        match std::mem::replace(&mut self.pending, Pending::Thrown) {
            Pending::Requested(reason) | Pending::FailingCalls(reason) => Some(reason),
            Pending::None => {
                self.pending = Pending::None;
                None
            }
            Pending::Thrown => None,
        }
    }

    /// Puts a reason in the place of a pending one, which is returned.
    fn replace(&mut self, reason: X) -> Option<X> {
        let fails_calls = matches!(self.pending, Pending::FailingCalls(_));
        let earlier = self.take();
        self.pending = if fails_calls { Pending::FailingCalls(reason) } else { Pending::Requested(reason) };
        earlier
    }
}

impl<X> Core<X> {
    /// Cancels a coroutine. Also returns the reason, unless it was accepted.
    pub fn cancel(&mut self, co: CoroutineId, reason: X) -> (Cancel, Option<X>) {
        let coroutine = self.coroutine_mut(co);
        if coroutine.is_past_cancelling() {
            return (Cancel::TooLate, Some(reason));
        }
        if coroutine.cancellation.is_pending() {
            if !coroutine.cancellation.is_requested() {
                self.abort_park(co);
            }
            return (Cancel::Pending, Some(reason));
        }
        coroutine.cancellation.replace(reason);
        self.deliver_cancellation(co);
        (Cancel::Accepted, None)
    }

    /// Cancels a coroutine because another one has failed. If it was woken already, perhaps by what made the other fail, it
    /// resumes as woken, and the cancellation is delivered at its next park. Returns the same as [`Core::cancel`].
    pub fn cancel_after_failure(&mut self, co: CoroutineId, reason: X) -> (Cancel, Option<X>) {
        let coroutine = self.coroutine_mut(co);
        coroutine.park.prioritized |= coroutine.state == State::Ready && coroutine.park.on != WaitReason::Yield;
        self.cancel(co, reason)
    }

    /// Cancels a coroutine even if it is shielded, in place of a pending cancellation, which is returned. So is `reason` if the
    /// coroutine has ended.
    pub fn cancel_by_force(&mut self, co: CoroutineId, reason: X) -> Option<X> {
        let coroutine = self.coroutine_mut(co);
        if coroutine.is_past_force() {
            return Some(reason);
        }
        coroutine.cancellation.shields = 0;
        let earlier = coroutine.cancellation.replace(reason);
        self.deliver_cancellation(co);
        earlier
    }

    /// Ends the park of a coroutine that is cancelled, unless it defers that or was woken by what comes first.
    fn deliver_cancellation(&mut self, co: CoroutineId) {
        let coroutine = self.coroutine_mut(co);
        if !coroutine.cancellation.is_unshielded() {
            return;
        }
        if coroutine.state == State::Parked {
            self.make_ready(co, WakeReason::Cancelled);
        } else if coroutine.state == State::Ready && !coroutine.wake_wins() {
            // It was woken and has not run since. What it waited for is not lost.
            coroutine.park.woken = Some(WakeReason::Cancelled);
        }
    }

    /// Ends the park of a coroutine as cancelled without a cancellation to deliver: its call fails.
    pub fn abort_park(&mut self, co: CoroutineId) {
        let coroutine = self.coroutine_mut(co);
        if coroutine.state == State::Parked && coroutine.cancellation.is_unshielded() && !coroutine.is_past_force() {
            self.make_ready(co, WakeReason::Cancelled);
        }
    }

    /// Returns `true` if the running coroutine has a requested cancellation and is not shielded.
    #[inline]
    pub fn cancellation_waits(&self) -> bool {
        self.coroutine(self.running).cancellation.ends_park()
    }

    /// Takes the requested cancellation of the running coroutine, unless it is shielded.
    #[inline]
    pub fn take_cancellation(&mut self) -> Option<X> {
        let cancellation = &mut self.coroutine_mut(self.running).cancellation;
        if cancellation.ends_park() { cancellation.take() } else { None }
    }

    /// Returns `true` if the running coroutine must not begin to wait: [`Core::take_pending`]. Every wait has to ask this.
    #[inline]
    pub fn refuses_wait(&self) -> bool {
        self.coroutine(self.running).cancellation.refuses_wait()
    }

    /// Takes the cancellation for which the running coroutine must not begin to wait.
    pub fn take_pending(&mut self) -> Option<X> {
        let cancellation = &mut self.coroutine_mut(self.running).cancellation;
        if cancellation.refuses_wait() { cancellation.take() } else { None }
    }

    /// Delivers the requested cancellation of the running coroutine to C code, whose calls are to fail until it returns. Returns
    /// `false` if there is none, or it is deferred.
    pub fn fail_calls(&mut self) -> bool {
        let cancellation = &mut self.coroutine_mut(self.running).cancellation;
        let fails = cancellation.ends_park();
        if fails {
            cancellation.pending = cancellation.take().map_or(Pending::Thrown, Pending::FailingCalls);
        }
        fails
    }

    /// Takes the cancellation for which the calls of a coroutine's C code fail, which returns or has ended.
    pub fn take_failing(&mut self, co: CoroutineId) -> Option<X> {
        let cancellation = &mut self.coroutine_mut(co).cancellation;
        if cancellation.is_requested() { None } else { cancellation.take() }
    }

    /// Takes a coroutine's pending cancellation, shielded or not: for one that never starts, or has ended.
    pub fn discard_cancellation(&mut self, co: CoroutineId) -> Option<X> {
        self.coroutine_mut(co).cancellation.take()
    }

    /// Defers cancellations of the running coroutine until [`Core::unshield`]. Nests.
    pub fn shield(&mut self) {
        self.coroutine_mut(self.running).cancellation.shield();
    }

    /// Ends one [`Core::shield`].
    pub fn unshield(&mut self) {
        self.coroutine_mut(self.running).cancellation.unshield();
    }

    /// Returns the reason of a coroutine's cancellation that waits to be delivered.
    pub fn requested_reason(&self, co: CoroutineId) -> Option<&X> {
        if let Pending::Requested(reason) = &self.coroutine(co).cancellation.pending { Some(reason) } else { None }
    }

    /// Returns `true` if a cancellation was accepted for it.
    pub fn is_cancel_requested(&self, co: CoroutineId) -> bool {
        !matches!(self.coroutine(co).cancellation.pending, Pending::None)
    }

    /// Returns `true` if it defers cancellations.
    pub fn is_shielded(&self, co: CoroutineId) -> bool {
        !self.coroutine(co).cancellation.is_unshielded()
    }

    /// Returns `true` if its last cancellation was delivered.
    pub fn was_cancellation_thrown(&self, co: CoroutineId) -> bool {
        matches!(self.coroutine(co).cancellation.pending, Pending::Thrown)
    }
}
