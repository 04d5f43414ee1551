//! The words that the scheduler and its host speak in.

use crate::arena::Key;

/// Names a coroutine as long as its slot is held (until [`super::Core::release`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CoroutineId(pub u32);

/// One park of one coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    /// Whose.
    pub co: CoroutineId,
    pub(super) epoch: u32,
}

impl Ticket {
    /// The ticket in one word.
    pub fn to_u64(self) -> u64 {
        u64::from(self.epoch) << 32 | u64::from(self.co.0)
    }

    /// The ticket from its word.
    pub fn from_u64(word: u64) -> Ticket {
        Ticket { co: CoroutineId(word as u32), epoch: (word >> 32) as u32 }
    }
}

/// Why a park ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WakeReason {
    /// Somebody used the ticket.
    Woken,
    /// Its deadline passed.
    TimedOut,
    /// A cancellation waits: [`super::Core::take_cancellation`].
    Cancelled,
    /// A caught signal.
    Interrupted,
}

/// What a parked coroutine depends on, for the deadlock question and for signals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitReason {
    /// Other coroutines only: if none can run, it waits for ever.
    Coroutines,
    /// The world outside; `true`: a caught signal ends it.
    External {
        /// Caught signals end this park, if `restart` does not forbid.
        interruptible: bool,
        /// A signal with `SA_RESTART` does not end it.
        restart: bool,
    },
    /// A time only.
    Timer,
    /// Its place in the queue: it gave way.
    Yield,
}

/// How long the coroutines of a scope live, by who spawned them and by the scope's object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// As long as they need; the object's death makes them zombies.
    Scope,
    /// Not longer than the coroutine that spawned them, nor than the object.
    TopDown,
    /// As long as they need; who spawned them is complete when they are.
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
    /// They will be cancelled at once, by [`super::Core::cancel_scope`].
    Cancel,
    /// They run on as zombies.
    Safely,
    /// The same, because the program's object has died: it has not given them up, and a failure is what it was.
    Released,
    /// They run on until this moment, in monotonic nanoseconds.
    Until(u64),
}

/// How the body of a coroutine has ended, and what follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// Somebody awaits it. Else a failure has to find another place: [`super::Core::failure`].
    pub awaited: bool,
    /// It is complete: [`super::Core::complete`]. Else it waits for those it spawned, and [`super::Event::Complete`]
    /// comes.
    pub complete: bool,
    /// Those it spawned, who do not outlive it: cancel them.
    pub orphans: Vec<CoroutineId>,
}

/// Where a failure goes next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Route {
    /// To the scope's own handler. If that throws, on to [`super::Core::failure_above`].
    Handler(ScopeId),
    /// To the handler for failures of child scopes, in the same way.
    ChildHandler(ScopeId),
    /// The scope is cancelled by it.
    Cancelled {
        /// Which.
        scope: ScopeId,
        /// Whom to cancel, in this order.
        order: Vec<CoroutineId>,
        /// Who waits for the scope and gets the failure.
        notify: Vec<CoroutineId>,
        /// It stops there: these get it, or somebody else will find it with the first one. Else: on to
        /// [`super::Core::failure_above`].
        handled: bool,
    },
    /// It has come while the scope winds down, and ends nothing else.
    Stays,
    /// Nobody is left to ask.
    Unhandled,
}

/// What has come about and is the host's to carry out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The last one that this coroutine had to wait for is complete, so it is: [`super::Core::complete`].
    Complete(CoroutineId),
    /// The last coroutine of a scope and of those below it is complete: callbacks first, then
    /// [`super::Core::notify_finished`].
    Finished(ScopeId),
    /// A scope is finished, and no callback or handler runs in it or below it any more, if none has begun since.
    Idle(ScopeId),
    /// A bound of the scope has come: cancel it.
    Bound(ScopeId, Bound),
    /// The time that its disposal left its coroutines is over: cancel it.
    DisposalDue(ScopeId),
    /// One of a set has failed or was cancelled, the first one.
    Failed(SetId),
    /// Only zombies are left, and their time is over: cancel them.
    ZombiesDue,
    /// A cancelled coroutine has not ended in its time ([`super::Core::schedule_overdue_check`]).
    Overdue(CoroutineId),
    /// Nobody has awaited a failed coroutine in its time ([`super::Core::schedule_unawaited_check`]).
    Unawaited(CoroutineId),
    /// What has been asked for by [`super::Core::schedule_reports`].
    ReportsDue,
    /// Nothing refers to a scope any more.
    Gone(ScopeId),
}

/// What has bounded a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Its time.
    Time,
    /// The end of something that can be awaited.
    Constraint,
}

/// Who wants to know of a completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiter {
    /// A parked coroutine.
    Park(Ticket),
    /// A set that it belongs to.
    Set(SetId),
    /// A scope that does not outlive it.
    Bound(ScopeId),
}

/// Where a coroutine is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// In the queue, never run.
    Queued,
    /// The one that runs.
    Running,
    /// Waits for something.
    Parked,
    /// Its body has ended; what follows is under way, or it waits for those it spawned ([`Lifetime::BottomUp`]).
    Ending,
    /// In the queue, to go on.
    Ready,
    /// Ended.
    Done,
}

/// How a coroutine ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It returned.
    Returned,
    /// It threw.
    Failed,
    /// Its cancellation was not caught, or came before its start.
    Cancelled,
}

/// What can be awaited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The end of a coroutine.
    Coroutine(CoroutineId),
    /// A point in time.
    Timeout(TimeoutId),
    /// The end of all coroutines of a scope and of those below it.
    Scope(ScopeId),
    /// The end of all of a set.
    Set(SetId),
}

/// Names a timeout until [`super::Core::drop_timeout`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeoutId(pub(super) Key);

/// Names a set until [`super::Core::drop_set`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SetId(pub(super) Key);

impl SetId {
    /// Its index: unique among the sets that exist.
    pub fn slot(self) -> usize {
        self.0.index as usize
    }
}

/// The answer to a cancellation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancel {
    /// It will be delivered; a coroutine that waited goes on now.
    Accepted,
    /// An earlier one still waits to be delivered: this one is ignored.
    Pending,
    /// It has ended: nothing happens.
    TooLate,
}

/// In which order the ready ones run.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// First in, first out.
    Fifo,
    /// Any, by a seed: for tests that must not depend on the order.
    Seeded(u64),
}

/// What [`super::Core::next_to_run`] says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Start this one.
    Start(CoroutineId),
    /// This one goes on.
    Resume(CoroutineId),
    /// This one was cancelled before it ever ran: end it.
    CancelledBeforeStart(CoroutineId),
    /// Nobody is ready.
    Idle,
}
