//! What the core knows of one coroutine.
//!
//! Its entry is used again. Only what has to outlive it stays there: the epoch, so that its tickets are void for the next one, and
//! the storage of two lists. Everything else is replaced in one assignment.

use super::cancellation::Cancellation;
use super::list::{Link, List};
use super::{Core, CoroutineId, Maker, Outcome, ScopeId, State, WaitReason, Waiter, WakeReason};
use crate::timers::TimerId;
use std::ops::{Deref, DerefMut};

/// How a coroutine was spawned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SpawnKind {
    /// By another coroutine.
    Child,
    /// By a scope.
    Member,
    /// By the host, to run callbacks and handlers. It is in no list, and only the scope that it holds waits for it.
    Runner { holds: Option<ScopeId> },
}

/// The entry of a coroutine, which others use after it.
pub(super) struct Slot<X> {
    /// Names its present park. The entry's next coroutine continues the count, so earlier tickets stay void.
    pub(super) epoch: u32,
    /// The epoch of the wait that `watched` is about.
    pub(super) watches: u32,
    /// The targets, any one of which ends that wait.
    pub(super) watched: Vec<Maker>,
    /// What is notified of its completion. Empty when the next one begins.
    pub(super) waiters: Vec<Waiter>,
    /// The coroutine itself: replaced in one assignment when one begins, so that nothing of the last one is left.
    pub(super) it: Coroutine<X>,
}

/// A coroutine.
pub(super) struct Coroutine<X> {
    /// Its number, which is never used twice.
    pub(super) id: u64,
    /// The number of the coroutine that spawned it; 0 if none did.
    pub(super) parent: u64,
    /// When it parked last, as the number of the park.
    pub(super) parked_at: u64,
    /// Ends its park at its deadline.
    pub(super) timer: Option<TimerId>,
    /// Its pending cancellation, and what defers it.
    pub(super) cancellation: Cancellation<X>,
    /// The scope that it is in.
    pub(super) scope: ScopeId,
    /// How it was spawned.
    pub(super) kind: SpawnKind,
    /// Its link in the members of its scope.
    pub(super) member: Link,
    /// Its link in the children of its parent.
    pub(super) sibling: Link,
    /// The one in whose children it is.
    pub(super) spawner: Option<CoroutineId>,
    /// Those that it has spawned and that are not complete.
    pub(super) children: List,
    /// Whether it is queued, runs, is parked or has ended.
    pub(super) state: State,
    /// How its park has ended, if it is ready.
    pub(super) reason: WakeReason,
    /// What it is parked on, or was last.
    pub(super) on: WaitReason,
    /// How it has ended.
    pub(super) outcome: Outcome,
    /// The number of cancellations that shutdown has given it.
    pub(super) shutdowns: u8,
    /// It does not keep the application alive for long.
    pub(super) zombie: bool,
    /// A disposal has named it to be warned of.
    pub(super) warned: bool,
    /// It has run.
    pub(super) started: bool,
    /// It was given a stack.
    pub(super) has_stack: bool,
    /// Its body has ended, and it runs the callbacks for that.
    pub(super) in_callbacks: bool,
    /// Its ticket was used before it parked.
    pub(super) woken_early: bool,
    /// What wakes it carries something for it alone, so a cancellation that comes later does not replace that.
    pub(super) wake_prioritized: bool,
    /// It has swallowed the cancellations of shutdown and is never resumed.
    pub(super) abandoned: bool,
    /// The application does not wait for it, and shutdown does not cancel it.
    pub(super) detached: bool,
    /// Its outcome was taken, or something awaited it when it ended.
    pub(super) awaited: bool,
    /// Something awaited it when its body ended.
    pub(super) awaited_at_end: bool,
    /// Something has started to await it.
    pub(super) ever_awaited: bool,
}

impl<X> Coroutine<X> {
    /// One that has not begun.
    pub(super) const NEW: Coroutine<X> = Coroutine {
        id: 0,
        parent: 0,
        parked_at: 0,
        timer: None,
        cancellation: Cancellation::NONE,
        scope: Core::<X>::GLOBAL,
        kind: SpawnKind::Member,
        member: Link::NONE,
        sibling: Link::NONE,
        spawner: None,
        children: List::EMPTY,
        state: State::Queued,
        reason: WakeReason::Woken,
        on: WaitReason::Yield,
        outcome: Outcome::Returned,
        shutdowns: 0,
        zombie: false,
        warned: false,
        started: false,
        has_stack: false,
        in_callbacks: false,
        woken_early: false,
        wake_prioritized: false,
        abandoned: false,
        detached: false,
        awaited: false,
        awaited_at_end: false,
        ever_awaited: false,
    };

    /// Returns `true` if it was woken with something for it alone.
    pub(super) fn wake_wins(&self) -> bool {
        self.wake_prioritized && self.reason != WakeReason::Cancelled
    }

    /// Returns `true` if its body has ended, and what runs, if anything, are callbacks, which only shutdown cancels.
    pub(super) fn is_past_cancelling(&self) -> bool {
        let is_over = matches!(self.state, State::Done | State::Ending);
        is_over || self.abandoned || self.in_callbacks && self.shutdowns == 0
    }
}

impl<X> Slot<X> {
    pub(super) const NEW: Slot<X> =
        Slot { epoch: 0, watches: 0, watched: Vec::new(), waiters: Vec::new(), it: Coroutine::NEW };

    /// Begins a wait: earlier tickets are void.
    #[inline(always)]
    pub(super) fn begin_wait(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.woken_early = false;
        self.wake_prioritized = false;
    }
}

impl<X> Deref for Slot<X> {
    type Target = Coroutine<X>;

    #[inline(always)]
    fn deref(&self) -> &Coroutine<X> {
        &self.it
    }
}

impl<X> DerefMut for Slot<X> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Coroutine<X> {
        &mut self.it
    }
}
