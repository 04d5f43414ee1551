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

/// Whether a coroutine has begun.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begun {
    /// Its turn has not come.
    No,
    /// It was cancelled before that. It got a stack all the same, to release what it was to run with.
    Cancelled,
    /// It runs, or has run.
    Yes,
}

/// The body of a coroutine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// It has not ended.
    Runs,
    /// It has. `awaited`: something awaited the coroutine then.
    Ended { awaited: bool },
    /// It has, and callbacks for that run. They may wait, so the coroutine may have any state.
    CallsBack { awaited: bool },
}

/// What the end of a coroutine is to the application.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The application waits for it.
    Regular,
    /// It waits, but not for long.
    Zombie,
    /// It does not wait, and shutdown does not cancel the coroutine.
    Detached,
}

impl Standing {
    /// Returns that of a coroutine for which the application waits, as for a zombie or not.
    #[inline(always)]
    pub(super) fn zombie_if(zombie: bool) -> Standing {
        if zombie { Standing::Zombie } else { Standing::Regular }
    }
}

/// How hard shutdown has pressed a coroutine to end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pressed {
    /// Not at all.
    No,
    /// It was given a cancellation.
    Once,
    /// It was given another one. If it waits again after that it is abandoned.
    Twice,
    /// It is abandoned: it stays parked, and is never resumed.
    Abandoned,
}

/// Whether something awaits a coroutine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Awaited {
    /// Nothing ever has.
    Never,
    /// Something has started to.
    Started,
    /// Its outcome was taken, or something awaited it when it ended.
    Taken,
}

/// The present park of a coroutine, or the last one.
pub(super) struct Park {
    /// The number of the park: when it began.
    pub(super) number: u64,
    /// Ends it at its deadline.
    pub(super) timer: Option<TimerId>,
    /// What it waits for.
    pub(super) on: WaitReason,
    /// What has ended it, which may come before it has begun.
    pub(super) woken: Option<WakeReason>,
    /// What wakes the coroutine carries something for it alone, so a cancellation that comes later does not replace that.
    pub(super) prioritized: bool,
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
    /// Its park.
    pub(super) park: Park,
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
    /// Whether it has begun.
    pub(super) begun: Begun,
    /// Its body.
    pub(super) body: Body,
    /// How its body has ended, once it has.
    pub(super) outcome: Outcome,
    /// Whether something awaits it.
    pub(super) awaited: Awaited,
    /// What its end is to the application.
    pub(super) standing: Standing,
    /// How hard shutdown has pressed it.
    pub(super) pressed: Pressed,
    /// A disposal has named it to be warned of.
    pub(super) warned: bool,
}

impl<X> Coroutine<X> {
    /// One that has not begun.
    pub(super) const NEW: Coroutine<X> = Coroutine {
        id: 0,
        parent: 0,
        park: Park { number: 0, timer: None, on: WaitReason::Yield, woken: None, prioritized: false },
        cancellation: Cancellation::NONE,
        scope: Core::<X>::GLOBAL,
        kind: SpawnKind::Member,
        member: Link::NONE,
        sibling: Link::NONE,
        spawner: None,
        children: List::EMPTY,
        state: State::Queued,
        begun: Begun::No,
        body: Body::Runs,
        outcome: Outcome::Returned,
        awaited: Awaited::Never,
        standing: Standing::Regular,
        pressed: Pressed::No,
        warned: false,
    };

    /// Returns `true` if it was woken with something for it alone.
    pub(super) fn wake_wins(&self) -> bool {
        self.park.prioritized && self.park.woken != Some(WakeReason::Cancelled)
    }

    /// Returns `true` if its body has ended, and it runs the callbacks for that.
    #[inline(always)]
    pub(super) fn calls_back(&self) -> bool {
        matches!(self.body, Body::CallsBack { .. })
    }

    /// Lets it run the callbacks for the end of its body.
    pub(super) fn call_back(&mut self) {
        self.body = Body::CallsBack { awaited: self.was_awaited_at_end() };
    }

    /// Returns `true` if something awaited it when its body ended.
    pub(super) fn was_awaited_at_end(&self) -> bool {
        matches!(self.body, Body::Ended { awaited: true } | Body::CallsBack { awaited: true })
    }

    /// Returns `true` if its outcome was taken, or something awaited it when it ended.
    #[inline(always)]
    pub(super) fn is_taken(&self) -> bool {
        self.awaited == Awaited::Taken
    }

    /// Returns `true` if its body has ended, and what runs, if anything, are callbacks, which only shutdown cancels.
    pub(super) fn is_past_cancelling(&self) -> bool {
        self.is_past_force() || self.calls_back() && self.pressed == Pressed::No
    }

    /// Returns `true` if no cancellation reaches it, not even by force.
    pub(super) fn is_past_force(&self) -> bool {
        matches!(self.state, State::Done | State::Ending) || self.pressed == Pressed::Abandoned
    }
}

impl<X> Slot<X> {
    pub(super) const NEW: Slot<X> =
        Slot { epoch: 0, watches: 0, watched: Vec::new(), waiters: Vec::new(), it: Coroutine::NEW };

    /// Begins a wait: earlier tickets are void.
    #[inline(always)]
    pub(super) fn begin_wait(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.park.woken = None;
        self.park.prioritized = false;
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
