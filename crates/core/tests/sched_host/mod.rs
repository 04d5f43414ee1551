//! The scheduler with the steps that a host always takes together.
#![allow(dead_code, reason = "each test program uses a part")]

use spindle_core::sched::{
    Cancel, Core, CoroutineId, Lifetime, Next, Order, Outcome, Target, Ticket, WaitReason, WakeReason,
};
use std::ops::{Deref, DerefMut};

/// Cancellations carry a word.
pub type Sched = Core<&'static str>;

/// The main coroutine.
pub const MAIN: CoroutineId = Sched::MAIN;

/// A wait for the world that a signal ends.
pub const SOCKET: WaitReason = WaitReason::External { interruptible: true, restart: false };

/// Main runs; first in, first out.
pub struct Host(Sched);

impl Deref for Host {
    type Target = Sched;

    fn deref(&self) -> &Sched {
        &self.0
    }
}

impl DerefMut for Host {
    fn deref_mut(&mut self) -> &mut Sched {
        &mut self.0
    }
}

impl Host {
    pub fn new() -> Host {
        Host::ordered(Order::Fifo)
    }

    pub fn with_epochs_after(self, last: u32) -> Host {
        Host(self.0.with_epochs_after(last))
    }

    pub fn ordered(order: Order) -> Host {
        Host(Sched::new(0, order, Lifetime::Scope))
    }

    pub fn spawn_many<const N: usize>(&mut self) -> [CoroutineId; N] {
        [(); N].map(|()| self.spawn())
    }

    pub fn cancel(&mut self, co: CoroutineId, reason: &'static str) -> Cancel {
        let (answer, back) = self.0.cancel(co, reason);
        assert_eq!(back, (answer != Cancel::Accepted).then_some(reason), "a reason is kept or handed back");
        answer
    }

    pub fn cancel_after_failure(&mut self, co: CoroutineId, reason: &'static str) -> Cancel {
        self.0.cancel_after_failure(co, reason).0
    }

    /// The running one parks, and may be cancelled.
    pub fn waits(&mut self, deadline: Option<u64>, on: WaitReason) -> Ticket {
        let ticket = self.begin_wait();
        assert_eq!(self.park(deadline, on, true), None);
        ticket
    }

    /// The running one parks, and is not to be cancelled: to be followed by `resumed(false)`.
    pub fn waits_through(&mut self, on: WaitReason) -> Ticket {
        let ticket = self.begin_wait();
        assert_eq!(self.park(None, on, false), None);
        ticket
    }

    /// The running coroutine yields.
    pub fn turn(&mut self) {
        self.waits(None, WaitReason::Yield);
    }

    /// The running one waits for any of these.
    pub fn awaits(&mut self, targets: &[Target]) -> Ticket {
        let ticket = self.begin_wait();
        for target in targets {
            self.subscribe(*target, ticket);
        }
        assert_eq!(self.park(None, WaitReason::Coroutines, true), None);
        ticket
    }

    /// It is the turn of `co`, for the first time.
    pub fn starts(&mut self, co: CoroutineId) {
        assert_eq!(self.next_to_run(), Next::Start(co));
    }

    /// It is the turn of `co`, which waited: why it goes on.
    pub fn goes_on(&mut self, co: CoroutineId) -> WakeReason {
        assert_eq!(self.next_to_run(), Next::Resume(co));
        self.resumed(true)
    }

    /// The running coroutine returns. Returns `true` if it was awaited.
    pub fn ends(&mut self) -> bool {
        let co = self.running();
        self.finish(co, Outcome::Returned)
    }

    /// Ends and completes a coroutine. Returns `true` if it was awaited.
    pub fn finish(&mut self, co: CoroutineId, outcome: Outcome) -> bool {
        let end = self.end(co, outcome);
        assert!(end.complete && end.orphans.is_empty());
        self.complete(co);
        end.awaited
    }

    /// Spawns coroutines that park one after the other. Afterwards main runs and none is ready.
    pub fn parked<const N: usize>(&mut self, on: WaitReason) -> [(CoroutineId, Ticket); N] {
        assert!(!self.has_ready());
        [(); N].map(|()| {
            let co = self.spawn();
            self.turn();
            self.starts(co);
            let ticket = self.waits(None, on);
            self.goes_on(MAIN);
            (co, ticket)
        })
    }
}
