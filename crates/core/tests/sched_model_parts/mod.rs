//! The model, and the steps that it takes together with the scheduler.

use proptest::prelude::*;
use proptest::sample::Index;
use spindle_core::sched::{
    Cancel, Core, CoroutineId, Lifetime, Next, Order, Outcome, State, Target, Ticket, TimeoutId, WaitReason,
    WakeReason, Wakeup,
};

/// What happens between steps; indexes choose among what there is.
#[derive(Clone, Debug)]
pub enum Step {
    Spawn,
    Next { discard: bool },
    BeginWait,
    Wait(Wait),
    GiveTurn,
    WakeAny(Index),
    WakeParked(Index),
    Cancel(Index),
    CancelAfterFailure(Index),
    Force(Index),
    BreakOff(Index),
    Take,
    Shield,
    Unshield,
    Finish(Outcome),
    Release(Index),
    Timeout(i64),
    DropTimeout(Index),
    Expire(u64),
    ExpireAtNext { early: bool },
    Interrupt { restart: bool },
    Nudge,
    Fork,
}

#[derive(Clone, Debug)]
pub struct Wait {
    after: Option<i64>,
    on: WaitReason,
    cancellable: bool,
    awaits: Vec<Index>,
    /// It forgets to take its subscriptions back, and the cancellation that ends the wait.
    careless: bool,
    woken_early: bool,
    /// What wakes it is for it alone.
    keeps: bool,
}

pub fn steps(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Step>> {
    let on = prop_oneof![
        2 => Just(WaitReason::Coroutines),
        5 => (prop::bool::weighted(0.8), any::<bool>()).prop_map(|(interruptible, restart)| WaitReason::External { interruptible, restart }),
        1 => Just(WaitReason::Timer),
        2 => Just(WaitReason::Yield),
    ];
    let rarely = || prop::bool::weighted(0.1);
    let flags = (prop::bool::weighted(0.8), rarely(), rarely(), rarely());
    let awaits = prop::collection::vec(any::<Index>(), 0..3);
    let wait = (prop::option::of(-5..200_i64), on, flags, awaits);
    let outcome = prop_oneof![Just(Outcome::Returned), Just(Outcome::Failed), Just(Outcome::Cancelled)];
    let index = any::<Index>;
    let step = prop_oneof![
        16 => Just(Step::Spawn),
        24 => any::<bool>().prop_map(|discard| Step::Next { discard }),
        1 => Just(Step::BeginWait),
        30 => wait.prop_map(|(after, on, (cancellable, careless, woken_early, keeps), awaits)| {
            Step::Wait(Wait { after, on, cancellable, awaits, careless, woken_early, keeps })
        }),
        4 => Just(Step::GiveTurn),
        5 => index().prop_map(Step::WakeAny),
        7 => index().prop_map(Step::WakeParked),
        4 => index().prop_map(Step::Cancel),
        2 => index().prop_map(Step::CancelAfterFailure),
        1 => index().prop_map(Step::Force),
        1 => index().prop_map(Step::BreakOff),
        2 => Just(Step::Take),
        2 => Just(Step::Shield),
        2 => Just(Step::Unshield),
        5 => outcome.prop_map(Step::Finish),
        6 => index().prop_map(Step::Release),
        3 => (-5..300_i64).prop_map(Step::Timeout),
        2 => index().prop_map(Step::DropTimeout),
        3 => prop_oneof![0..50_u64, 0..1_000_000_u64].prop_map(Step::Expire),
        3 => any::<bool>().prop_map(|early| Step::ExpireAtNext { early }),
        6 => any::<bool>().prop_map(|restart| Step::Interrupt { restart }),
        1 => Just(Step::Nudge),
        1 => prop::bool::weighted(0.2).prop_map(|fork| if fork { Step::Fork } else { Step::Nudge }),
    ];
    prop::collection::vec(step, count)
}

/// What a run of steps can meet, for the test that they do.
pub const EVENTS: &[&str] = &[
    "spawned in a used slot",
    "never started",
    "parked",
    "gave way",
    "gave way in one step",
    "did not park: cancelled",
    "did not park: woken early",
    "went on: Woken",
    "went on: TimedOut",
    "went on: Cancelled",
    "went on: Interrupted",
    "stale ticket",
    "ended: awaited",
    "ended: not awaited",
    "cancel: Accepted",
    "cancel: Pending",
    "cancel: TooLate",
    "forced: in place of another",
    "held off",
    "cancelled: woken",
    "cancelled: woken with what it keeps",
    "interrupted: main before an older",
    "left undelivered",
    "timeout passed",
    "timeout dropped",
    "several fired",
    "nobody ready",
    "deadlock",
    "forked",
];

/// A coroutine, or a timeout, by its number in the model: never used twice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum What {
    Coroutine(usize),
    Timeout(usize),
}

struct Coroutine {
    co: CoroutineId,
    id: u64,
    parent: u64,
    state: State,
    started: bool,
    ends: u32,
    shields: u32,
    /// Its ticket that is good now, as an index of all tickets.
    ticket: Option<usize>,
    woken_early: bool,
    keeps: bool,
    /// Of its last park.
    on: WaitReason,
    cancellable: bool,
    careless: bool,
    /// It yielded by `yield_now`, which needs no `resumed`.
    in_one_step: bool,
    /// Parked with that deadline, the how manieth that was set.
    deadline: Option<(u64, usize)>,
    /// The how manieth park it was.
    parked: usize,
    reason: WakeReason,
    /// The uncancellable wait it is in: a force goes through it.
    held: bool,
    cancellation: Option<u32>,
    cancel_requested: bool,
    outcome: Outcome,
    awaited: bool,
    released: bool,
    /// What it has subscribed to, and with which ticket.
    awaits: Vec<(What, usize)>,
    waiters: Vec<usize>,
}

struct Point {
    id: TimeoutId,
    deadline: Option<(u64, usize)>,
    done: bool,
    dropped: bool,
    waiters: Vec<usize>,
}

pub struct Both {
    core: Core<u32>,
    fifo: bool,
    now: u64,
    all: Vec<Coroutine>,
    points: Vec<Point>,
    tickets: Vec<Ticket>,
    queue: Vec<usize>,
    running: Option<usize>,
    parks: usize,
    deadlines_set: usize,
    reasons: u32,
    /// What has been met: of [`EVENTS`].
    pub events: Vec<&'static str>,
}

mod drive;
mod model;
