//! The scheduler's decisions: who runs next, who is woken and why, who is cancelled, who is told of an end.
//!
//! ```text
//!            spawn                 next                    finish
//!   (free) ────────► Queued ─────────────────► Running ───────────────► Done ──► (free)
//!                      │                        │    ▲                   ▲
//!                      │ cancelled before       │    │ next              │ never started
//!                      └────────────────────────┼────┼───────────────────┘
//!                                          park ▼    │
//!                                             Parked ──► Ready      (wake, timer, cancel, signal)
//! ```
//! Each park has an *epoch*: a [`Ticket`] names one park of one coroutine, and is void once that park has ended.
//! So a late wake-up, timer or cancellation can neither reach the next park nor the next coroutine in the slot.
//!
//! A cancellation is a reason that waits to be delivered, once, at a park: the first one wins while it waits. Who has been
//! woken and has not run since still waits: it is delivered there, unless being woken has given it what nobody else gets.
//! One that nobody has delivered when its coroutine ends is the host's to deliver there ([`Core::discard_cancellation`]).
//! The reasons `X` are the host's (PHP exceptions); the core only keeps them and hands them over.

use crate::timers::{TimerId, Timers};
use scopes::Scope;
use std::collections::VecDeque;

mod awaiting;
mod bounds;
mod ends;
mod scopes;
mod signals;
mod types;

pub use types::*;

enum Alarm {
    Park(Ticket),
    Timeout(TimeoutId),
    Bound(ScopeId),
    Disposal(ScopeId),
    Zombies,
    Overdue { co: CoroutineId, id: u64 },
    Unawaited { co: CoroutineId, id: u64 },
    Reports,
}

/// No slot.
const NONE: u32 = u32::MAX;

/// A place in a list of slots.
#[derive(Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
}

/// A list of slots.
#[derive(Clone, Copy)]
struct List {
    first: u32,
    last: u32,
}

const NO_LINK: Link = Link { before: NONE, after: NONE };
const EMPTY: List = List { first: NONE, last: NONE };

/// What a coroutine is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpawnKind {
    /// Spawned by another one.
    Child,
    /// Spawned by a scope.
    Member,
    /// Runs callbacks and handlers of the program: in no list, and no scope waits for it, but for the one it holds.
    Runner { holds: Option<ScopeId> },
}

struct Coroutine<X> {
    id: u64,
    parent: u64,
    scope: ScopeId,
    kind: SpawnKind,
    /// Its place in its scope.
    member: Link,
    /// Its place among those that its parent spawned, and whose.
    sibling: Link,
    spawner: u32,
    children: List,
    zombie: bool,
    warned: bool,
    state: State,
    started: bool,
    has_stack: bool,
    shielded: u32,
    epoch: u32,
    woken_early: bool,
    /// Being woken gives it what nobody else gets: a cancellation that comes later does not take the place of that.
    wake_prioritized: bool,
    reason: WakeReason,
    on: WaitReason,
    parked_at: u64,
    timer: Option<TimerId>,
    cancellation: Option<X>,
    cancel_requested: bool,
    /// How many cancellations shutdown has given it; and it is never resumed, for it has swallowed them.
    shutdowns: u8,
    abandoned: bool,
    outcome: Outcome,
    awaited: bool,
    /// Somebody awaited it when its body ended.
    awaited_at_end: bool,
    /// Somebody has begun to await it.
    ever_awaited: bool,
    waiters: Vec<Waiter>,
}

impl<X> Coroutine<X> {
    /// Has it been woken with what nobody else gets?
    fn wake_wins(&self) -> bool {
        self.wake_prioritized && self.reason != WakeReason::Cancelled
    }
}

/// The scheduler's state. `X` is what a cancellation carries.
pub struct Core<X> {
    slots: Vec<Coroutine<X>>,
    free: Vec<u32>,
    ready: VecDeque<u32>,
    timeouts: Vec<awaiting::Timeout>,
    free_timeouts: Vec<u32>,
    sets: Vec<awaiting::Set>,
    free_sets: Vec<u32>,
    scopes: Vec<Scope>,
    free_scopes: Vec<u32>,
    events: VecDeque<Event>,
    deliveries: Vec<(CoroutineId, ScopeId, X)>,
    timers: Timers<Alarm>,
    order: Order,
    running: CoroutineId,
    next_id: u64,
    parks: u64,
    live: usize,
    outside: usize,
    /// How many of the live ones are zombies, and the timer that ends them when no others are left.
    zombies: usize,
    grace: Option<TimerId>,
    /// Shutdown is in its second phase, and how many have been abandoned in it.
    forced: bool,
    abandoned: usize,
    /// Parks with a deadline.
    timed: usize,
    /// Waits for pending timeouts.
    awaited: usize,
}

impl<X> Core<X> {
    /// A core whose main coroutine runs: it is [`Core::MAIN`]. `now`: monotonic nanoseconds. `lifetime`: that of the
    /// global scope.
    pub fn new(now: u64, order: Order, lifetime: Lifetime) -> Core<X> {
        let mut core = Core {
            slots: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            timeouts: Vec::new(),
            free_timeouts: Vec::new(),
            sets: Vec::new(),
            free_sets: Vec::new(),
            scopes: Vec::new(),
            free_scopes: Vec::new(),
            events: VecDeque::new(),
            deliveries: Vec::new(),
            timers: Timers::new(now),
            order,
            running: Self::MAIN,
            next_id: Self::MAIN_ID,
            parks: 0,
            live: 0,
            outside: 0,
            zombies: 0,
            grace: None,
            forced: false,
            abandoned: 0,
            timed: 0,
            awaited: 0,
        };
        core.add_scope(None, lifetime);
        let main = core.add(Self::GLOBAL, SpawnKind::Member);
        core.ready.clear();
        core.slots[main.0 as usize].state = State::Running;
        core.slots[main.0 as usize].started = true;
        core.slots[main.0 as usize].has_stack = true;
        core
    }

    /// The main coroutine.
    pub const MAIN: CoroutineId = CoroutineId(0);
    /// Its id.
    pub const MAIN_ID: u64 = 1;
    /// The scope of the main coroutine, and of all that are in no other.
    pub const GLOBAL: ScopeId = ScopeId { index: 0, generation: 0 };

    fn slot(&self, co: CoroutineId) -> &Coroutine<X> {
        &self.slots[co.0 as usize]
    }

    fn slot_mut(&mut self, co: CoroutineId) -> &mut Coroutine<X> {
        &mut self.slots[co.0 as usize]
    }

    /// A new coroutine at the tail of the queue, in the scope of the running one, and a child of it.
    #[inline]
    pub fn spawn(&mut self) -> CoroutineId {
        let running = self.slot(self.running);
        let childless = matches!(running.kind, SpawnKind::Runner { .. }) || running.state != State::Running;
        let scope = running.scope;
        self.add(scope, if childless { SpawnKind::Member } else { SpawnKind::Child })
    }

    /// The same in another scope, and nobody's child.
    pub fn spawn_in(&mut self, scope: ScopeId) -> CoroutineId {
        self.add(scope, SpawnKind::Member)
    }

    /// A coroutine for callbacks and handlers of `scope`, which it is in without being a member. `holds` is not
    /// finished before it.
    pub fn spawn_runner(&mut self, scope: ScopeId, holds: Option<ScopeId>) -> CoroutineId {
        self.add_runner(scope);
        if let Some(held) = holds {
            self.add_active(held);
        }
        self.add(scope, SpawnKind::Runner { holds })
    }

    fn add(&mut self, scope: ScopeId, kind: SpawnKind) -> CoroutineId {
        let id = self.next_id;
        self.next_id += 1;
        self.live += 1;
        let spawner = if kind == SpawnKind::Child { self.running.0 } else { NONE };
        let parent = if spawner == NONE { 0 } else { self.slot(self.running).id };
        let zombie = self.forced || self.scopes[scope.slot()].zombies && !matches!(kind, SpawnKind::Runner { .. });
        self.zombies += usize::from(zombie);
        let index = if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.id = id;
            slot.parent = parent;
            slot.scope = scope;
            slot.kind = kind;
            slot.spawner = spawner;
            slot.children = EMPTY;
            slot.zombie = zombie;
            slot.warned = false;
            slot.state = State::Queued;
            slot.started = false;
            slot.has_stack = false;
            slot.shielded = 0;
            slot.epoch = slot.epoch.wrapping_add(1);
            slot.woken_early = false;
            slot.wake_prioritized = false;
            slot.cancel_requested = false;
            slot.shutdowns = 0;
            slot.abandoned = false;
            slot.awaited = false;
            slot.awaited_at_end = false;
            slot.ever_awaited = false;
            index
        } else {
            let index = self.slots.len() as u32;
            self.slots.push(Coroutine {
                id,
                parent,
                scope,
                kind,
                member: NO_LINK,
                sibling: NO_LINK,
                spawner,
                children: EMPTY,
                zombie,
                warned: false,
                state: State::Queued,
                started: false,
                has_stack: false,
                shielded: 0,
                epoch: 0,
                woken_early: false,
                wake_prioritized: false,
                reason: WakeReason::Woken,
                on: WaitReason::Yield,
                parked_at: 0,
                timer: None,
                cancellation: None,
                cancel_requested: false,
                shutdowns: 0,
                abandoned: false,
                outcome: Outcome::Returned,
                awaited: false,
                awaited_at_end: false,
                ever_awaited: false,
                waiters: Vec::new(),
            });
            index
        };
        if !matches!(kind, SpawnKind::Runner { .. }) {
            self.join(CoroutineId(index), scope);
        }
        if spawner != NONE {
            self.adopt(CoroutineId(index), CoroutineId(spawner));
        }
        self.ready.push_back(index);
        CoroutineId(index)
    }

    /// The one that runs.
    pub fn running(&self) -> CoroutineId {
        self.running
    }

    /// Nobody else will run: what runs from now on runs as main.
    pub fn run_as_main(&mut self) {
        self.running = Self::MAIN;
    }

    /// How many have not ended, main included.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Is anybody ready to run?
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// How many are ready to run.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// The live ones, in order of their slots.
    pub fn coroutines(&self) -> impl Iterator<Item = CoroutineId> + '_ {
        let free = |slot: &Coroutine<X>| slot.state == State::Done;
        self.slots.iter().enumerate().filter(move |(_, s)| !free(s)).map(|(i, _)| CoroutineId(i as u32))
    }

    /// Takes the next from the queue and makes it the running one.
    pub fn next_to_run(&mut self) -> Next {
        let index = match &mut self.order {
            Order::Fifo => self.ready.pop_front(),
            Order::Seeded(_) if self.ready.is_empty() => None,
            Order::Seeded(seed) => {
                // xorshift64*: any order will do, as long as the seed repeats it.
                *seed ^= *seed >> 12;
                *seed ^= *seed << 25;
                *seed ^= *seed >> 27;
                let at = (seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % self.ready.len();
                self.ready.remove(at)
            }
        };
        let Some(index) = index else { return Next::Idle };
        let co = CoroutineId(index);
        self.running = co;
        let slot = self.slot_mut(co);
        slot.state = State::Running;
        if std::mem::replace(&mut slot.has_stack, true) {
            Next::Resume(co)
        } else if slot.cancellation.is_some() && !matches!(slot.kind, SpawnKind::Runner { .. }) {
            Next::CancelledBeforeStart(co)
        } else {
            slot.started = true;
            Next::Start(co)
        }
    }

    /// [`Core::begin_wait`], [`Core::park`] on its turn and [`Core::next_to_run`] in one, for the coroutine that
    /// gives way. `None`: it need not, because a cancellation waits. Afterwards it asks [`Core::cancellation_waits`]
    /// in place of [`Core::resumed`].
    pub fn yield_now(&mut self) -> Option<Next> {
        let (co, parks) = (self.running, self.parks);
        if self.forced && self.abandons() {
            return Some(self.next_to_run());
        }
        let slot = self.slot_mut(co);
        if slot.shielded == 0 && slot.cancellation.is_some() {
            return None;
        }
        slot.epoch = slot.epoch.wrapping_add(1);
        slot.woken_early = false;
        slot.wake_prioritized = false;
        slot.on = WaitReason::Yield;
        slot.parked_at = parks;
        slot.state = State::Ready;
        slot.reason = WakeReason::Woken;
        self.parks += 1;
        self.ready.push_back(co.0);
        Some(self.next_to_run())
    }

    /// The one that will run after so many others, if the order stays.
    pub fn nth_ready(&self, after: usize) -> Option<CoroutineId> {
        self.ready.get(after).map(|index| CoroutineId(*index))
    }

    /// A ticket for the running coroutine's next park. Earlier ones are void.
    pub fn begin_wait(&mut self) -> Ticket {
        let co = self.running;
        let slot = self.slot_mut(co);
        slot.epoch = slot.epoch.wrapping_add(1);
        slot.woken_early = false;
        slot.wake_prioritized = false;
        Ticket { co, epoch: slot.epoch }
    }

    /// Whoever uses the running coroutine's ticket has taken something for it: once woken it goes on as woken, and a
    /// cancellation that comes later waits for the next park.
    pub fn prioritize_wake(&mut self) {
        self.slot_mut(self.running).wake_prioritized = true;
    }

    /// The running coroutine parks (after [`Core::begin_wait`]). `Some`: it need not, for this reason.
    /// With `WaitReason::Yield` it goes to the tail of the queue.
    pub fn park(&mut self, deadline: Option<u64>, on: WaitReason, cancellable: bool) -> Option<WakeReason> {
        let (co, parks) = (self.running, self.parks);
        if self.forced && cancellable && self.abandons() {
            return None;
        }
        let slot = self.slot_mut(co);
        if cancellable && slot.shielded == 0 && slot.cancellation.is_some() {
            return Some(WakeReason::Cancelled);
        }
        if slot.woken_early {
            return Some(WakeReason::Woken);
        }
        slot.on = on;
        slot.parked_at = parks;
        if !cancellable {
            slot.shielded += 1;
        }
        self.parks += 1;
        if on == WaitReason::Yield {
            let slot = self.slot_mut(co);
            slot.state = State::Ready;
            slot.reason = WakeReason::Woken;
            self.ready.push_back(co.0);
            return None;
        }
        let slot = self.slot_mut(co);
        slot.state = State::Parked;
        if let Some(deadline) = deadline {
            let ticket = Ticket { co, epoch: slot.epoch };
            let timer = self.timers.insert(deadline, Alarm::Park(ticket));
            self.slot_mut(co).timer = Some(timer);
            self.timed += 1;
        }
        if matches!(on, WaitReason::External { .. }) {
            self.outside += 1;
        }
        None
    }

    /// The running coroutine goes on after a park: why. `cancellable` as it was for [`Core::park`].
    pub fn resumed(&mut self, cancellable: bool) -> WakeReason {
        let slot = self.slot_mut(self.running);
        slot.epoch = slot.epoch.wrapping_add(1);
        if !cancellable {
            slot.shielded = slot.shielded.saturating_sub(1);
        }
        if cancellable && slot.shielded == 0 && slot.cancellation.is_some() && !slot.wake_wins() {
            return WakeReason::Cancelled;
        }
        slot.reason
    }

    fn make_ready(&mut self, co: CoroutineId, reason: WakeReason) {
        let slot = self.slot_mut(co);
        slot.state = State::Ready;
        slot.reason = reason;
        let outside = matches!(slot.on, WaitReason::External { .. });
        let timer = slot.timer.take();
        if let Some(timer) = timer {
            self.timers.cancel(timer);
            self.timed -= 1;
        }
        if outside {
            self.outside -= 1;
        }
        self.ready.push_back(co.0);
    }

    /// Uses a ticket. A void one does nothing; before the park it is remembered.
    pub fn wake(&mut self, ticket: Ticket) {
        let Some(slot) = self.slots.get_mut(ticket.co.0 as usize) else { return };
        if slot.epoch != ticket.epoch {
            return;
        }
        match slot.state {
            State::Parked => self.make_ready(ticket.co, WakeReason::Woken),
            State::Running => slot.woken_early = true,
            _ => {}
        }
    }

    /// Lets every timer fire that is due at `now`.
    pub fn expire(&mut self, now: u64) {
        if self.timers.next_deadline().is_none_or(|d| d > now) {
            return;
        }
        let mut due = Vec::new();
        self.timers.expire(now, |_, alarm| due.push(alarm));
        for alarm in due {
            match alarm {
                Alarm::Park(ticket) => {
                    let slot = self.slot_mut(ticket.co);
                    if slot.epoch == ticket.epoch && slot.state == State::Parked {
                        slot.timer = None;
                        self.timed -= 1;
                        self.make_ready(ticket.co, WakeReason::TimedOut);
                    }
                }
                Alarm::Timeout(id) => self.timeout_is_over(id),
                Alarm::Bound(scope) => self.time_is_over(scope),
                Alarm::Disposal(scope) => self.disposal_is_due(scope),
                Alarm::Overdue { co, id } => {
                    let slot = self.slot(co);
                    if slot.id == id && !matches!(slot.state, State::Done | State::Ending) {
                        self.events.push_back(Event::Overdue(co));
                    }
                }
                Alarm::Unawaited { co, id } => {
                    let slot = self.slot(co);
                    if slot.id == id && slot.state == State::Done && !slot.awaited {
                        self.events.push_back(Event::Unawaited(co));
                    }
                }
                Alarm::Reports => self.events.push_back(Event::ReportsDue),
                Alarm::Zombies => {
                    self.grace = None;
                    if self.only_zombies() {
                        self.events.push_back(Event::ZombiesDue);
                    }
                }
            }
        }
    }

    /// When the next timer is due, or a moment before.
    pub fn next_deadline(&self) -> Option<u64> {
        self.timers.next_deadline()
    }

    /// How many deadlines are pending: of parks and of timeouts.
    pub fn deadlines(&self) -> usize {
        self.timers.len()
    }

    /// Asks for the end of a coroutine.
    pub fn cancel(&mut self, co: CoroutineId, reason: X) -> Cancel {
        let slot = self.slot_mut(co);
        if matches!(slot.state, State::Done | State::Ending) || slot.abandoned {
            return Cancel::TooLate;
        }
        if slot.cancellation.is_some() {
            return Cancel::Pending;
        }
        slot.cancellation = Some(reason);
        slot.cancel_requested = true;
        if slot.state == State::Parked && slot.shielded == 0 {
            self.make_ready(co, WakeReason::Cancelled);
        } else if slot.state == State::Ready && slot.shielded == 0 && !slot.wake_wins() {
            // It was woken, and has not run since: whatever it waited for loses nothing by staying there.
            slot.reason = WakeReason::Cancelled;
        }
        Cancel::Accepted
    }

    /// As [`Core::cancel`], because another one has failed: one that has been woken by what has made that one fail gets to
    /// say so first. It meets the cancellation where it waits next.
    pub fn cancel_after_failure(&mut self, co: CoroutineId, reason: X) -> Cancel {
        let slot = self.slot_mut(co);
        slot.wake_prioritized |= slot.state == State::Ready && slot.on != WaitReason::Yield;
        self.cancel(co, reason)
    }

    /// Takes the cancellation that waits for the running coroutine, if it may be delivered now.
    pub fn take_cancellation(&mut self) -> Option<X> {
        let slot = self.slot_mut(self.running);
        if slot.shielded > 0 { None } else { slot.cancellation.take() }
    }

    /// Takes a cancellation whatever shields it: for one that never starts, or has ended.
    pub fn discard_cancellation(&mut self, co: CoroutineId) -> Option<X> {
        self.slot_mut(co).cancellation.take()
    }

    /// Does a cancellation wait that may be delivered to the running coroutine now?
    pub fn cancellation_waits(&self) -> bool {
        let slot = self.slot(self.running);
        slot.shielded == 0 && slot.cancellation.is_some()
    }

    /// Cancellations are held back until [`Core::unshield`]; nests.
    pub fn shield(&mut self) {
        self.slot_mut(self.running).shielded += 1;
    }

    /// Ends one [`Core::shield`].
    pub fn unshield(&mut self) {
        let slot = self.slot_mut(self.running);
        slot.shielded = slot.shielded.saturating_sub(1); // a forced cancellation has cleared it
    }

    /// As [`Core::cancel`], through every shield and in place of a cancellation that waits, which is returned.
    pub fn cancel_by_force(&mut self, co: CoroutineId, reason: X) -> Option<X> {
        let slot = self.slot_mut(co);
        if matches!(slot.state, State::Done | State::Ending) || slot.abandoned {
            return Some(reason);
        }
        slot.shielded = 0;
        let earlier = slot.cancellation.take();
        self.cancel(co, reason);
        earlier
    }

    /// [`Event::Overdue`] comes at this moment if the coroutine, which has been cancelled, has not ended by then.
    pub fn schedule_overdue_check(&mut self, co: CoroutineId, deadline: u64) {
        let id = self.slot(co).id;
        self.timers.insert(deadline, Alarm::Overdue { co, id });
    }

    /// [`Event::Unawaited`] comes at this moment if the coroutine, which has failed, has not been awaited by then.
    pub fn schedule_unawaited_check(&mut self, co: CoroutineId, deadline: u64) {
        let id = self.slot(co).id;
        self.timers.insert(deadline, Alarm::Unawaited { co, id });
    }

    /// [`Event::ReportsDue`] comes at this moment.
    pub fn schedule_reports(&mut self, deadline: u64) {
        self.timers.insert(deadline, Alarm::Reports);
    }

    /// Ends the park of a coroutine as a cancellation does, with none to deliver: its call has to fail.
    pub fn abort_park(&mut self, co: CoroutineId) {
        let slot = self.slot_mut(co);
        if slot.state == State::Parked && slot.shielded == 0 && !slot.abandoned {
            self.make_ready(co, WakeReason::Cancelled);
        }
    }

    /// The next thing for the host to carry out.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Is there any?
    #[inline(always)]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// In the child of a fork only the running coroutine lives on: forgets all others and their timers. Returns
    /// those that were dropped (their slots stay until released).
    pub fn after_fork(&mut self) -> Vec<CoroutineId> {
        self.ready.clear();
        self.outside = 0;
        self.timed = 0;
        self.awaited = 0;
        let running = self.running;
        let mut dropped = Vec::new();
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            if index as u32 == running.0 || slot.state == State::Done {
                continue;
            }
            slot.state = State::Done;
            slot.outcome = Outcome::Cancelled;
            slot.awaited = true;
            slot.abandoned = false;
            slot.waiters.clear();
            if let Some(timer) = slot.timer.take() {
                self.timers.cancel(timer);
            }
            dropped.push(CoroutineId(index as u32));
        }
        self.forget_waiters_but_for(running);
        self.slot_mut(running).awaited = false; // whoever did is not there
        self.live = 1;
        self.zombies = usize::from(self.slot(running).zombie);
        self.abandoned = 0;
        self.events.clear();
        self.deliveries.clear();
        self.empty_scopes_but_for(running);
        dropped
    }

    /// Its number, never used twice.
    pub fn id(&self, co: CoroutineId) -> u64 {
        self.slot(co).id
    }

    /// The number of the coroutine that spawned it; 0 for main.
    pub fn parent_id(&self, co: CoroutineId) -> u64 {
        self.slot(co).parent
    }

    /// Where it is in its life.
    pub fn state(&self, co: CoroutineId) -> State {
        self.slot(co).state
    }

    /// How it ended, once it has.
    pub fn outcome(&self, co: CoroutineId) -> Outcome {
        self.slot(co).outcome
    }

    /// Has it ever run?
    pub fn is_started(&self, co: CoroutineId) -> bool {
        self.slot(co).started
    }

    /// Has it been given a stack? So is one that never starts, to let go of what it was to run with, which may wait.
    pub fn has_stack(&self, co: CoroutineId) -> bool {
        self.slot(co).has_stack
    }

    /// Was a cancellation accepted for it?
    pub fn is_cancel_requested(&self, co: CoroutineId) -> bool {
        self.slot(co).cancel_requested
    }
}
