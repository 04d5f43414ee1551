//! The scheduler: which coroutine runs next, what is woken and why, what is cancelled, and what is notified.
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
//! Each park has an *epoch*: a [`Ticket`] names one park of one coroutine, and is void once that park has ended. So a late
//! wake-up, timer or cancellation reaches neither the coroutine's next park nor the next coroutine with its id.
//!
//! A cancellation is a pending reason that is delivered once, at a park; the first one wins while it is pending. A coroutine
//! that was woken and has not run since is still parked in this sense: the cancellation is delivered there, unless the
//! wake-up carried something for that coroutine alone ([`Core::prioritize_wake`]). One that is still pending when the
//! coroutine ends is left to the host ([`Core::discard_cancellation`]). The reasons `X` are the host's (PHP exceptions); the
//! core only keeps them.

use crate::arena::{Arena, Key};
use crate::lifecycle::Lifecycle;
use crate::timers::{TimerId, Timers};
use cancellation::Cancellation;
use list::{Link, List};
use scopes::Scope;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

mod awaiting;
mod bounds;
mod cancellation;
mod completion;
mod cycles;
mod disposal;
mod list;
mod scopes;
mod shutdown;
mod signals;
mod types;
mod wait_sets;

pub use cycles::{Maker, Needs};
use types::Waiter;
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

/// How a coroutine was spawned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpawnKind {
    /// By another coroutine.
    Child,
    /// By a scope.
    Member,
    /// By the host, to run callbacks and handlers. It is in no list, and only the scope that it holds waits for it.
    Runner { holds: Option<ScopeId> },
}

/// The entry of a coroutine, which others use after it.
struct Slot<X> {
    /// Names its present park, and goes on for the entry's next coroutine: earlier tickets stay void.
    epoch: u32,
    /// The epoch of the wait that `watched` is about.
    watches: u32,
    /// The targets of which one ends that wait.
    watched: Vec<Maker>,
    /// What is notified of its completion. Empty when the next one begins.
    waiters: Vec<Waiter>,
    /// The coroutine itself: assigned as a whole when one begins, so that nothing of the last one is left.
    it: Coroutine<X>,
}

/// A coroutine.
struct Coroutine<X> {
    /// Its number, which is never used twice.
    id: u64,
    /// The number of the coroutine that spawned it; 0 if none did.
    parent: u64,
    /// When it parked last, as the number of the park.
    parked_at: u64,
    /// Ends its park at its deadline.
    timer: Option<TimerId>,
    cancellation: Cancellation<X>,
    scope: ScopeId,
    kind: SpawnKind,
    /// Its link in the members of its scope.
    member: Link,
    /// Its link in the children of its parent.
    sibling: Link,
    /// The one in whose children it is.
    spawner: Option<CoroutineId>,
    /// Those that it has spawned and that are not complete.
    children: List,
    state: State,
    /// How its park has ended, if it is ready.
    reason: WakeReason,
    /// What it is parked on, or was last.
    on: WaitReason,
    /// How it has ended.
    outcome: Outcome,
    /// The number of cancellations that shutdown has given it.
    shutdowns: u8,
    /// It does not keep the application alive for long.
    zombie: bool,
    /// A disposal has named it to be warned of.
    warned: bool,
    /// It has run.
    started: bool,
    /// It was given a stack.
    has_stack: bool,
    /// Its body has ended, and it runs the callbacks for that.
    in_callbacks: bool,
    /// Its ticket was used before it parked.
    woken_early: bool,
    /// What wakes it carries something for it alone, so a cancellation that comes later does not replace that.
    wake_prioritized: bool,
    /// It has swallowed the cancellations of shutdown and is never resumed.
    abandoned: bool,
    /// The application does not wait for it, and shutdown does not cancel it.
    detached: bool,
    /// Its outcome was taken, or something awaited it when it ended.
    awaited: bool,
    /// Something awaited it when its body ended.
    awaited_at_end: bool,
    /// Something has started to await it.
    ever_awaited: bool,
}

impl<X> Coroutine<X> {
    /// One that has not begun.
    const NEW: Coroutine<X> = Coroutine {
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
    fn wake_wins(&self) -> bool {
        self.wake_prioritized && self.reason != WakeReason::Cancelled
    }

    /// Returns `true` if its body has ended, and what runs, if anything, are callbacks, which only shutdown cancels.
    fn is_past_cancelling(&self) -> bool {
        let is_over = matches!(self.state, State::Done | State::Ending);
        is_over || self.abandoned || self.in_callbacks && self.shutdowns == 0
    }
}

impl<X> Slot<X> {
    const NEW: Slot<X> = Slot { epoch: 0, watches: 0, watched: Vec::new(), waiters: Vec::new(), it: Coroutine::NEW };

    /// Begins a wait: earlier tickets are void.
    #[inline(always)]
    fn begin_wait(&mut self) {
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

/// The scheduler. `X` is the reason that a cancellation carries.
pub struct Core<X> {
    coroutines: Arena<Slot<X>>,
    ready: VecDeque<u32>,
    timeouts: Arena<awaiting::Timeout>,
    sets: Arena<awaiting::Set>,
    wait_sets: Arena<wait_sets::WaitSet>,
    scopes: Arena<Scope>,
    events: VecDeque<Event>,
    deliveries: Vec<(CoroutineId, ScopeId, X)>,
    timers: Timers<Alarm>,
    order: Order,
    running: CoroutineId,
    next_id: u64,
    next_wait_key: u32,
    parks: u64,
    live: usize,
    /// The number of parks that wait for something outside.
    outside: usize,
    /// The number of live coroutines that are zombies.
    zombies: usize,
    /// Runs while only zombies are left, and ends them.
    grace: Option<TimerId>,
    life: Lifecycle,
    /// The number of coroutines that were abandoned in the second phase of shutdown.
    abandoned: usize,
    /// The number of parks with a deadline.
    timed: usize,
    /// The number of waiters of pending timeouts.
    awaited: usize,
}

impl<X> Core<X> {
    /// A scheduler whose main coroutine is running. `now`: monotonic nanoseconds. `lifetime`: of the global scope.
    pub fn new(now: u64, order: Order, lifetime: Lifetime) -> Core<X> {
        let mut core = Core {
            coroutines: Arena::new(),
            ready: VecDeque::new(),
            timeouts: Arena::new(),
            sets: Arena::new(),
            wait_sets: Arena::new(),
            scopes: Arena::new(),
            events: VecDeque::new(),
            deliveries: Vec::new(),
            timers: Timers::new(now),
            order,
            running: Self::MAIN,
            next_id: Self::MAIN_ID,
            next_wait_key: 0,
            parks: 0,
            live: 0,
            outside: 0,
            zombies: 0,
            grace: None,
            life: Lifecycle::new(),
            abandoned: 0,
            timed: 0,
            awaited: 0,
        };
        core.add_scope(None, lifetime);
        let main = core.add(Self::GLOBAL, SpawnKind::Member);
        core.ready.clear();
        let coroutine = core.coroutine_mut(main);
        coroutine.state = State::Running;
        coroutine.started = true;
        coroutine.has_stack = true;
        core
    }

    /// The main coroutine.
    pub const MAIN: CoroutineId = CoroutineId(0);
    /// Its number ([`Core::id`]).
    pub const MAIN_ID: u64 = 1;
    /// The scope of the main coroutine, and of all coroutines that are in no other.
    pub const GLOBAL: ScopeId = ScopeId(Key::FIRST);

    fn coroutine(&self, co: CoroutineId) -> &Slot<X> {
        &self.coroutines[co.0]
    }

    fn coroutine_mut(&mut self, co: CoroutineId) -> &mut Slot<X> {
        &mut self.coroutines[co.0]
    }

    /// Adds a coroutine to the run queue, as a child of the running one and in its scope.
    #[inline]
    pub fn spawn(&mut self) -> CoroutineId {
        let running = self.coroutine(self.running);
        let childless = matches!(running.kind, SpawnKind::Runner { .. }) || running.state != State::Running;
        let scope = running.scope;
        self.add(scope, if childless { SpawnKind::Member } else { SpawnKind::Child })
    }

    /// Adds a coroutine to the run queue, in this scope and without a parent.
    pub fn spawn_in(&mut self, scope: ScopeId) -> CoroutineId {
        self.add(scope, SpawnKind::Member)
    }

    /// Adds a coroutine for callbacks and handlers of `scope`, of which it is no member. `holds` is not finished before it.
    pub fn spawn_runner(&mut self, scope: ScopeId, holds: Option<ScopeId>) -> CoroutineId {
        self.add_runner(scope);
        if let Some(held) = holds {
            self.add_active(held);
        }
        self.add(scope, SpawnKind::Runner { holds })
    }

    /// Adds a coroutine that belongs to no scope of user code: the application does not wait for its end until
    /// [`Core::attach`], and neither shutdown nor a deadlock cancels it.
    pub fn spawn_detached(&mut self) -> CoroutineId {
        let co = self.spawn_runner(Self::GLOBAL, None);
        self.live -= 1;
        let coroutine = self.coroutine_mut(co);
        coroutine.detached = true;
        if std::mem::take(&mut coroutine.zombie) {
            self.zombies -= 1;
        }
        co
    }

    /// Makes the application wait for the end of a detached coroutine; as for a zombie, if shutdown is in its second phase.
    pub fn attach(&mut self, co: CoroutineId) {
        let forced = self.life.is_forced();
        let coroutine = self.coroutine_mut(co);
        if coroutine.state != State::Done && std::mem::take(&mut coroutine.detached) {
            coroutine.zombie = forced;
            self.live += 1;
            self.zombies += usize::from(forced);
        }
    }

    /// Undoes [`Core::attach`] for a coroutine that was added as a detached one and has not ended.
    pub fn detach(&mut self, co: CoroutineId) {
        let coroutine = self.coroutine_mut(co);
        if coroutine.state != State::Done && !std::mem::replace(&mut coroutine.detached, true) {
            let was_zombie = std::mem::take(&mut coroutine.zombie);
            self.live -= 1;
            self.zombies -= usize::from(was_zombie);
        }
    }

    /// Returns `true` for a coroutine that the application does not wait for.
    pub fn is_detached(&self, co: CoroutineId) -> bool {
        self.coroutine(co).detached
    }

    fn add(&mut self, scope: ScopeId, kind: SpawnKind) -> CoroutineId {
        let id = self.next_id;
        self.next_id += 1;
        self.live += 1;
        let spawner = (kind == SpawnKind::Child).then_some(self.running);
        let parent = spawner.map_or(0, |spawner| self.coroutine(spawner).id);
        let zombie = self.life.is_forced() || self.scope(scope).zombies && !matches!(kind, SpawnKind::Runner { .. });
        self.zombies += usize::from(zombie);
        let (key, slot) = self.coroutines.insert_vacated(|| Slot::NEW);
        slot.epoch = slot.epoch.wrapping_add(1); // tickets of the last one stay void
        slot.it = Coroutine { id, parent, scope, kind, spawner, zombie, ..Coroutine::NEW };
        let co = CoroutineId(key.index);
        if !matches!(kind, SpawnKind::Runner { .. }) {
            self.join(co, scope);
        }
        if let Some(spawner) = spawner {
            self.adopt(co, spawner);
        }
        self.ready.push_back(co.0);
        co
    }

    /// The running coroutine.
    pub fn running(&self) -> CoroutineId {
        self.running
    }

    /// The number of live coroutines, main included.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Returns `true` if a coroutine is ready to run.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The number of coroutines that are ready to run.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// The live coroutines, in order of their ids.
    pub fn coroutines(&self) -> impl Iterator<Item = CoroutineId> + '_ {
        let live = |coroutine: &Coroutine<X>| coroutine.state != State::Done;
        self.coroutines.iter().filter(move |(_, coroutine)| live(coroutine)).map(|(key, _)| CoroutineId(key.index))
    }

    /// Takes the next coroutine from the run queue and makes it the running one.
    #[inline(always)]
    pub fn next_to_run(&mut self) -> Next {
        if self.gives_up() {
            return self.over();
        }
        let index = match self.order {
            Order::Fifo => self.ready.pop_front(),
            Order::Seeded(_) => self.take_by_seed(),
        };
        let Some(index) = index else { return if self.is_over() { self.over() } else { Next::Idle } };
        let co = CoroutineId(index);
        self.running = co;
        let coroutine = self.coroutine_mut(co);
        coroutine.state = State::Running;
        if std::mem::replace(&mut coroutine.has_stack, true) {
            Next::Resume(co)
        } else if coroutine.cancellation.is_requested() && !matches!(coroutine.kind, SpawnKind::Runner { .. }) {
            Next::CancelledBeforeStart(co)
        } else {
            coroutine.started = true;
            Next::Start(co)
        }
    }

    /// Takes a coroutine from the run queue that depends on the seed: whoever has just yielded only if it is alone, since a yield
    /// promises to let another one run.
    #[cold]
    fn take_by_seed(&mut self) -> Option<u32> {
        let Order::Seeded(seed) = &mut self.order else { return None };
        let has_yielded = self.ready.len() > 1 && self.ready.back() == Some(&self.running.0);
        let choices = self.ready.len() - usize::from(has_yielded);
        if choices == 0 {
            return None;
        }
        // xorshift64*: any order that the seed reproduces will do.
        *seed ^= *seed >> 12;
        *seed ^= *seed << 25;
        *seed ^= *seed >> 27;
        let at = (seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % choices;
        self.ready.remove(at)
    }

    /// Yields: [`Core::begin_wait`], [`Core::park`] with [`WaitReason::Yield`] and [`Core::next_to_run`] in one. Returns `None`
    /// if a cancellation is pending instead. When the coroutine is resumed it asks [`Core::refuses_wait`], not
    /// [`Core::resumed`].
    pub fn yield_now(&mut self) -> Option<Next> {
        let (co, parks) = (self.running, self.parks);
        let is_abandoned = self.life.is_forced() && self.abandon_if_unstoppable();
        if !is_abandoned {
            let gives_up = self.gives_up();
            let coroutine = self.coroutine_mut(co);
            if coroutine.cancellation.refuses_wait() && !gives_up {
                return None;
            }
            coroutine.begin_wait();
            coroutine.on = WaitReason::Yield;
            coroutine.parked_at = parks;
            coroutine.state = State::Ready;
            coroutine.reason = WakeReason::Woken;
            self.parks += 1;
            self.ready.push_back(co.0);
        }
        Some(self.next_to_run())
    }

    /// The coroutine that will run after so many others, if the order is kept.
    pub fn nth_ready(&self, after: usize) -> Option<CoroutineId> {
        self.ready.get(after).map(|index| CoroutineId(*index))
    }

    /// Returns the address of a coroutine's state, to be prefetched.
    pub fn place_of(&self, co: CoroutineId) -> *const u8 {
        std::ptr::from_ref(self.coroutine(co)).cast()
    }

    /// Does what [`Core::begin_wait`] does, unless it [must not](Core::refuses_wait).
    #[inline(always)]
    pub fn try_begin_wait(&mut self) -> Option<Ticket> {
        let co = self.running;
        let coroutine = self.coroutine_mut(co);
        if coroutine.cancellation.refuses_wait() {
            return None;
        }
        coroutine.begin_wait();
        Some(Ticket { co, epoch: coroutine.epoch })
    }

    /// Returns a ticket for the running coroutine's next park, and voids earlier ones.
    pub fn begin_wait(&mut self) -> Ticket {
        let co = self.running;
        let coroutine = self.coroutine_mut(co);
        coroutine.begin_wait();
        Ticket { co, epoch: coroutine.epoch }
    }

    /// Declares that the use of the running coroutine's ticket gives it something that would be lost: once woken it resumes as
    /// woken, and a cancellation that comes later is delivered at the next park.
    pub fn prioritize_wake(&mut self) {
        self.coroutine_mut(self.running).wake_prioritized = true;
    }

    /// Parks the running coroutine (after [`Core::begin_wait`]); with [`WaitReason::Yield`] at the tail of the run queue. Returns
    /// a reason if the park has ended already.
    #[inline]
    pub fn park(&mut self, deadline: Option<u64>, on: WaitReason, cancellable: bool) -> Option<WakeReason> {
        let (co, parks) = (self.running, self.parks);
        if self.life.is_forced() && cancellable && self.abandon_if_unstoppable() {
            return None;
        }
        let coroutine = &mut self.coroutines[co.0];
        if cancellable && coroutine.cancellation.ends_park() {
            return Some(WakeReason::Cancelled);
        }
        if coroutine.woken_early {
            return Some(WakeReason::Woken);
        }
        coroutine.on = on;
        coroutine.parked_at = parks;
        if !cancellable {
            coroutine.cancellation.shield();
        }
        self.parks = parks + 1;
        if on == WaitReason::Yield {
            coroutine.state = State::Ready;
            coroutine.reason = WakeReason::Woken;
            self.ready.push_back(co.0);
            return None;
        }
        coroutine.state = State::Parked;
        if let Some(deadline) = deadline {
            let ticket = Ticket { co, epoch: coroutine.epoch };
            coroutine.timer = Some(self.timers.insert(deadline, Alarm::Park(ticket)));
            self.timed += 1;
        }
        if matches!(on, WaitReason::External { .. }) {
            self.outside += 1;
        }
        None
    }

    /// Why the running coroutine was resumed after a park. `cancellable` as it was for [`Core::park`].
    pub fn resumed(&mut self, cancellable: bool) -> WakeReason {
        let coroutine = self.coroutine_mut(self.running);
        coroutine.epoch = coroutine.epoch.wrapping_add(1);
        if !cancellable {
            coroutine.cancellation.unshield();
        }
        if cancellable && coroutine.cancellation.ends_park() && !coroutine.wake_wins() {
            return WakeReason::Cancelled;
        }
        coroutine.reason
    }

    fn make_ready(&mut self, co: CoroutineId, reason: WakeReason) {
        let coroutine = &mut self.coroutines[co.0];
        coroutine.state = State::Ready;
        coroutine.reason = reason;
        if matches!(coroutine.on, WaitReason::External { .. }) {
            self.outside -= 1;
        }
        if let Some(timer) = coroutine.timer.take() {
            self.timers.cancel(timer);
            self.timed -= 1;
        }
        self.ready.push_back(co.0);
    }

    /// Uses a ticket: ends its park, or the one about to begin. Returns `false` for a void ticket, and one whose park has been
    /// ended before, which do nothing.
    pub fn wake(&mut self, ticket: Ticket) -> bool {
        let Some(coroutine) = self.coroutines.at_mut(ticket.co.0) else { return false };
        if coroutine.epoch != ticket.epoch {
            return false;
        }
        match coroutine.state {
            State::Parked => self.make_ready(ticket.co, WakeReason::Woken),
            State::Running => coroutine.woken_early = true,
            _ => return false,
        }
        true
    }

    /// Returns `true` if [`Core::wake`] would end a park by this ticket.
    pub fn can_wake(&self, ticket: Ticket) -> bool {
        self.coroutines.at(ticket.co.0).is_some_and(|coroutine| {
            coroutine.epoch == ticket.epoch && matches!(coroutine.state, State::Parked | State::Running)
        })
    }

    /// Fires all timers that are due at `now`.
    pub fn expire(&mut self, now: u64) {
        if self.timers.next_deadline().is_none_or(|d| d > now) {
            return;
        }
        let mut due = Vec::new();
        self.timers.expire(now, |_, alarm| due.push(alarm));
        for alarm in due {
            match alarm {
                Alarm::Park(ticket) => {
                    let coroutine = self.coroutine_mut(ticket.co);
                    if coroutine.epoch == ticket.epoch && coroutine.state == State::Parked {
                        coroutine.timer = None;
                        self.timed -= 1;
                        self.make_ready(ticket.co, WakeReason::TimedOut);
                    }
                }
                Alarm::Timeout(id) => self.timeout_is_over(id),
                Alarm::Bound(scope) => self.time_is_over(scope),
                Alarm::Disposal(scope) => self.disposal_is_due(scope),
                Alarm::Overdue { co, id } => {
                    let coroutine = self.coroutine(co);
                    if coroutine.id == id && !matches!(coroutine.state, State::Done | State::Ending) {
                        self.events.push_back(Event::Overdue(co));
                    }
                }
                Alarm::Unawaited { co, id } => {
                    let coroutine = self.coroutine(co);
                    if coroutine.id == id && coroutine.state == State::Done && !coroutine.awaited {
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

    /// When to call [`Core::expire`] next, as [`Timers::next_deadline`].
    pub fn next_deadline(&self) -> Option<u64> {
        self.timers.next_deadline()
    }

    /// The number of pending timers.
    pub fn deadlines(&self) -> usize {
        self.timers.len()
    }

    /// Queues [`Event::Overdue`] at this moment if the coroutine, which was cancelled, has not ended by then.
    pub fn schedule_overdue_check(&mut self, co: CoroutineId, deadline: u64) {
        let id = self.coroutine(co).id;
        self.timers.insert(deadline, Alarm::Overdue { co, id });
    }

    /// Queues [`Event::Unawaited`] at this moment if the coroutine, which has failed, was not awaited by then.
    pub fn schedule_unawaited_check(&mut self, co: CoroutineId, deadline: u64) {
        let id = self.coroutine(co).id;
        self.timers.insert(deadline, Alarm::Unawaited { co, id });
    }

    /// Queues [`Event::ReportsDue`] at this moment.
    pub fn schedule_reports(&mut self, deadline: u64) {
        self.timers.insert(deadline, Alarm::Reports);
    }

    /// Takes the next event for the host to carry out.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns `true` if events are queued.
    #[inline(always)]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// In the child of a fork: forgets all coroutines but the running one, and their timers. Returns those that were
    /// dropped; their ids stay until released.
    pub fn after_fork(&mut self) -> Vec<CoroutineId> {
        self.ready.clear();
        self.outside = 0;
        self.timed = 0;
        self.awaited = 0;
        let running = self.running;
        let mut dropped = Vec::new();
        for (key, coroutine) in self.coroutines.iter_mut() {
            if key.index == running.0 || coroutine.state == State::Done {
                continue;
            }
            if key.index == Self::MAIN.0 {
                self.life.lose_main();
            }
            coroutine.state = State::Done;
            coroutine.outcome = Outcome::Cancelled;
            coroutine.awaited = true;
            coroutine.in_callbacks = false;
            coroutine.abandoned = false;
            coroutine.detached = false;
            coroutine.waiters.clear();
            if let Some(timer) = coroutine.timer.take() {
                self.timers.cancel(timer);
            }
            dropped.push(CoroutineId(key.index));
        }
        self.forget_waiters_but_for(running);
        self.lose_wait_sets();
        self.coroutine_mut(running).detached = false;
        self.coroutine_mut(running).awaited = false; // the awaiters are in the parent process
        self.live = 1;
        self.zombies = usize::from(self.coroutine(running).zombie);
        self.abandoned = 0;
        self.events.clear();
        self.deliveries.clear();
        self.empty_scopes_but_for(running);
        dropped
    }

    /// The coroutine's number, which is never used twice.
    pub fn id(&self, co: CoroutineId) -> u64 {
        self.coroutine(co).id
    }

    /// The number of the coroutine that spawned it; 0 if none did.
    pub fn parent_id(&self, co: CoroutineId) -> u64 {
        self.coroutine(co).parent
    }

    /// The coroutine's state.
    pub fn state(&self, co: CoroutineId) -> State {
        self.coroutine(co).state
    }

    /// How it ended, once it has.
    pub fn outcome(&self, co: CoroutineId) -> Outcome {
        self.coroutine(co).outcome
    }

    /// Returns `true` if it has ever run.
    pub fn is_started(&self, co: CoroutineId) -> bool {
        self.coroutine(co).started
    }

    /// Returns `true` if it was given a stack. One that was cancelled before it started gets one too, to release what it was to
    /// run with, which may park.
    pub fn has_stack(&self, co: CoroutineId) -> bool {
        self.coroutine(co).has_stack
    }
}
