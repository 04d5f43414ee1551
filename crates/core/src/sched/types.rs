//! The types in which the scheduler and its host talk to each other.

use crate::arena::Key;

/// Names a coroutine until [`super::Core::release`]. Unlike the other ids it has no generation: a holder that keeps one for longer
/// compares [`super::Core::id`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CoroutineId(pub u32);

/// Names one park of one coroutine, and wakes it ([`super::Core::wake`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    /// The coroutine that parks.
    pub co: CoroutineId,
    pub(super) epoch: u32,
}

/// What an event outside wakes ([`super::Core::wake_up`]). To the event loop it is a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wakeup {
    /// A park.
    Park(Ticket),
    /// A wait in a wait set ([`WaitSetId::wakeup`]).
    Wait {
        /// The index of the set.
        set: u32,
        /// The key of the wait.
        key: u32,
    },
}

/// The bit that tells the number of a wait from that of a park, where it belongs to the coroutine; there are never that many.
const WAIT: u64 = 1 << 31;

impl Wakeup {
    /// Wakes nothing: there are never that many sets.
    pub const NOTHING: Wakeup = Wakeup::Wait { set: (WAIT - 1) as u32, key: u32::MAX };

    /// Returns it as one number.
    #[inline]
    pub fn to_u64(self) -> u64 {
        match self {
            Wakeup::Park(Ticket { co, epoch }) => u64::from(epoch) << 32 | u64::from(co.0),
            Wakeup::Wait { set, key } => u64::from(key) << 32 | WAIT | u64::from(set),
        }
    }

    /// Returns the wakeup with this number.
    #[inline]
    pub fn from_u64(number: u64) -> Wakeup {
        let high = (number >> 32) as u32;
        if number & WAIT == 0 {
            Wakeup::Park(Ticket { co: CoroutineId(number as u32), epoch: high })
        } else {
            Wakeup::Wait { set: (number & (WAIT - 1)) as u32, key: high }
        }
    }
}

/// Why a park ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WakeReason {
    /// Its ticket was used.
    Woken,
    /// Its deadline passed.
    TimedOut,
    /// A cancellation is pending: [`super::Core::take_cancellation`].
    Cancelled,
    /// A signal was caught.
    Interrupted,
}

/// What a park is blocked on, for deadlock detection and signals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitReason {
    /// Other coroutines only: if none can run, the park never ends.
    Coroutines,
    /// Something outside the process's own coroutines, as I/O.
    External {
        /// Caught signals end the park.
        interruptible: bool,
        /// Signals with `SA_RESTART` do not.
        restart: bool,
    },
    /// Its deadline only.
    Timer,
    /// Nothing: the coroutine yielded and is in the run queue.
    Yield,
}

impl WaitReason {
    /// How many kinds of waits there are, and that of those for something outside.
    pub const KINDS: usize = 3;
    pub(super) const OUTSIDE: usize = 1;

    /// What it waits for: coroutines, something outside, or time.
    pub(super) fn kind(self) -> usize {
        match self {
            WaitReason::Coroutines => 0,
            WaitReason::External { .. } => Self::OUTSIDE,
            WaitReason::Timer | WaitReason::Yield => 2,
        }
    }
}

/// Waits of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waits {
    /// How many coroutines wait.
    pub now: usize,
    /// How often one has begun to wait.
    pub total: u64,
    /// How long all have waited together.
    pub nanoseconds: u64,
}

/// How many coroutines there were, without those that work for the runtime, and how they have ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ends {
    /// All that there were.
    pub spawned: u64,
    /// Those that have ended, in whatever way.
    pub ended: u64,
    /// Those that have ended with an exception,
    pub failed: u64,
    /// and those with a cancellation.
    pub cancelled: u64,
}

/// How long the coroutines of a scope live, relative to the coroutine that spawned them and to the scope's object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// As long as they run. The death of the object makes them zombies.
    Scope,
    /// Not longer than the coroutine that spawned them, nor than the object.
    TopDown,
    /// As long as they run. The coroutine that spawned them is not complete before they are.
    BottomUp,
}

/// Names a scope until it is gone ([`super::Event::Gone`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScopeId(pub(super) Key);

impl ScopeId {
    /// Its index: unique among the scopes that exist.
    pub fn slot(self) -> usize {
        self.0.index as usize
    }
}

/// What happens to the coroutines of a scope that is disposed of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disposal {
    /// They are about to be cancelled by [`super::Core::cancel_scope`].
    Cancel,
    /// They run on as zombies.
    Safely,
    /// They run on as zombies because the scope's object has died. User code has not disposed of the scope, so failures in
    /// it are routed as before.
    Released,
    /// They run on until this moment, in monotonic nanoseconds.
    Until(u64),
}

/// What follows when the body of a coroutine has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// Something awaits the coroutine. Otherwise a failure has to be routed: [`super::Core::failure`].
    pub awaited: bool,
    /// It is complete: [`super::Core::complete`]. Otherwise it waits for the coroutines it spawned, and
    /// [`super::Event::Complete`] follows.
    pub complete: bool,
    /// The coroutines it spawned that must not outlive it: cancel them.
    pub orphans: Vec<CoroutineId>,
}

/// Where a failure goes next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Route {
    /// To the scope's own handler. If that throws, on to [`super::Core::failure_above`].
    Handler(ScopeId),
    /// To the scope's handler for failures of its child scopes. If that throws, on to [`super::Core::failure_above`].
    ChildHandler(ScopeId),
    /// It cancels the scope.
    Cancelled {
        /// The scope.
        scope: ScopeId,
        /// The coroutines to cancel, in this order.
        order: Vec<CoroutineId>,
        /// The coroutines that wait for the scope and get the failure.
        notify: Vec<CoroutineId>,
        /// They get it, or others find it together with an earlier one. Otherwise it continues to
        /// [`super::Core::failure_above`].
        handled: bool,
    },
    /// Nowhere: it came while the scope was winding down.
    Stays,
    /// Nowhere: no scope is left above.
    Unhandled,
}

/// Something that has happened and that the host has to carry out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The last coroutine that this one waited for is complete, so it is too: [`super::Core::complete`].
    Complete(CoroutineId),
    /// The last coroutine of a scope and of those below it is complete: run its callbacks, then
    /// [`super::Core::notify_finished`].
    Finished(ScopeId),
    /// A scope is finished and no callback or handler runs in it or below it, unless one has begun since.
    Idle(ScopeId),
    /// A bound of the scope was reached: cancel it.
    Bound(ScopeId, Bound),
    /// The time that its disposal gave its coroutines has passed: cancel it.
    DisposalDue(ScopeId),
    /// A coroutine of a set has failed or was cancelled, the first one.
    Failed(SetId),
    /// Only zombies are left, and their grace has passed: cancel them.
    ZombiesDue,
    /// A cancelled coroutine has not ended in time ([`super::Core::schedule_overdue_check`]).
    Overdue(CoroutineId),
    /// Nothing has awaited a failed coroutine in time ([`super::Core::schedule_unawaited_check`]).
    Unawaited(CoroutineId),
    /// The moment of [`super::Core::schedule_reports`] has come.
    ReportsDue,
    /// Nothing refers to a scope any more.
    Gone(ScopeId),
}

/// What bounds a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Its deadline.
    Time,
    /// The completion of an awaitable.
    Constraint,
}

/// What is notified of a completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waiter {
    /// A parked coroutine, which is woken.
    Park(Ticket),
    /// A set, which then has one coroutine less pending.
    Set(SetId),
    /// A scope that it bounds.
    Bound(ScopeId),
    /// A wait set, whose key of this number is signalled.
    Member(WaitSetId, u32),
}

/// The state of a coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// In the run queue, not started.
    Queued,
    /// The running one.
    Running,
    /// Suspended until something wakes it.
    Parked,
    /// Its body has ended; its completion is under way, or waits for the coroutines it spawned ([`Lifetime::BottomUp`]).
    Ending,
    /// In the run queue, to be resumed.
    Ready,
    /// Complete.
    Done,
}

/// How a coroutine ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It returned.
    Returned,
    /// It threw.
    Failed,
    /// It did not catch its cancellation, or was cancelled before it started.
    Cancelled,
}

/// Something that can be awaited.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// The completion of a coroutine.
    Coroutine(CoroutineId),
    /// A point in time.
    Timeout(TimeoutId),
    /// The completion of all coroutines of a scope and of those below it.
    Scope(ScopeId),
    /// The completion of a set.
    Set(SetId),
}

/// Names a timeout. After [`super::Core::drop_timeout`] it names nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TimeoutId(pub(super) Key);

/// Names a set of coroutines. After [`super::Core::drop_set`] it names nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetId(pub(super) Key);

/// Names a wait set. After [`super::Core::drop_wait_set`] it names nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WaitSetId(pub(super) Key);

impl WaitSetId {
    /// Returns the wakeup that signals this key. Once the set is dropped it does nothing: no other set knows the key.
    pub fn wakeup(self, key: u32) -> Wakeup {
        Wakeup::Wait { set: self.0.index, key }
    }
}

impl SetId {
    /// Its index: unique among the sets that exist.
    pub fn slot(self) -> usize {
        self.0.index as usize
    }
}

/// The result of [`super::Core::cancel`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancel {
    /// The cancellation is pending; a parked coroutine was woken for it.
    Accepted,
    /// An earlier cancellation is still pending; this one is not delivered.
    Pending,
    /// The coroutine has ended; nothing happens.
    TooLate,
}

/// The coroutines that the host is to cancel, in this order ([`super::Core::shut_down`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ToCancel {
    /// By [`super::Core::cancel`].
    Gently(Vec<CoroutineId>),
    /// By [`super::Core::cancel_by_force`].
    ByForce(Vec<CoroutineId>),
    /// None: it is too late, or was tried.
    No,
}

/// The order in which ready coroutines run.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// First in, first out.
    Fifo,
    /// Random, by a seed: for tests that must not depend on the order.
    Seeded(u64),
}

/// What the host has to run next ([`super::Core::next_to_run`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Start this coroutine.
    Start(CoroutineId),
    /// Resume this one.
    Resume(CoroutineId),
    /// End this one, which was cancelled before it started.
    CancelledBeforeStart(CoroutineId),
    /// No coroutine is ready: wait for events.
    Idle,
    /// Nothing is left to wait for: main's stack runs, and ends the request if [`super::Core::life`] says why.
    Over,
}
