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
//! | what | where |
//! |---|---|
//! | a coroutine, and what it leaves to the next one | `coroutine` |
//! | the run queue, parks and tickets | `parks` |
//! | the pending cancellation | `cancellation` |
//! | timers | `alarms` |
//! | signals that interrupt a park | `signals` |
//! | ends, completion and the routing of failures | `completion` |
//! | scopes, who belongs to them, their bounds and disposal | `scopes`, `bounds`, `disposal` |
//! | shutdown, zombies and the end of the application | `shutdown`, and [`crate::lifecycle`] |
//! | what can be awaited, and concurrent waits of one coroutine | `awaiting`, `wait_sets` |
//! | waits that can never end | `cycles` |
//!
//! Rules:
//! 1. Nothing here runs the host's code. What has happened is queued as an [`Event`], which the host takes when it holds no borrow.
//! 2. A coroutine is in the run queue exactly while it is `Queued` or `Ready`, and is named there once.
//! 3. The reasons `X` that cancellations carry are the host's (PHP exceptions). Each is handed back once.
//!
//! Not guaranteed: an order among coroutines that different things wake at the same time.

use crate::arena::{Arena, Key};
use crate::lifecycle::Lifecycle;
use crate::timers::{TimerId, Timers};
use alarms::Alarm;
use coroutine::{Awaited, Begun, Body, Coroutine, Slot, SpawnKind, Standing};
use scopes::Scope;
use std::collections::VecDeque;

mod alarms;
mod awaiting;
mod bounds;
mod cancellation;
mod completion;
mod coroutine;
mod cycles;
mod disposal;
mod list;
mod parks;
mod scopes;
mod shutdown;
mod signals;
mod types;
mod wait_sets;

pub use cycles::{Maker, Needs};
use types::Waiter;
pub use types::*;

/// The scheduler. `X` is the reason that a cancellation carries.
pub struct Core<X> {
    /// All coroutines, by slot.
    coroutines: Arena<Slot<X>>,
    /// The run queue: slots of those that are queued or ready, each once.
    ready: VecDeque<u32>,
    /// Points in time that can be awaited.
    timeouts: Arena<awaiting::Timeout>,
    /// Sets of targets that can be awaited as one.
    sets: Arena<awaiting::Set>,
    /// Concurrent waits of one coroutine.
    wait_sets: Arena<wait_sets::WaitSet>,
    /// The tree of scopes.
    scopes: Arena<Scope>,
    /// What the host has to carry out, in this order.
    events: VecDeque<Event>,
    /// Failures of scopes, for coroutines that wait for them.
    deliveries: Vec<(CoroutineId, ScopeId, X)>,
    /// All that depends on time.
    timers: Timers<Alarm>,
    /// In which order ready coroutines run.
    order: Order,
    /// The one that was taken from the run queue last.
    running: CoroutineId,
    /// The number of the next coroutine.
    next_id: u64,
    /// The epoch before the first one of each slot.
    epoch_before: u32,
    /// The key before the next one.
    next_wait_key: u32,
    /// The number of parks so far.
    parks: u64,
    /// The number of coroutines that are not complete, without detached ones.
    live: usize,
    /// What parks wait for, by [`WaitReason::kind`].
    waits: [Waits; WaitReason::KINDS],
    /// The time until which their times are counted, and how many there were then.
    counted_until: u64,
    counted: [usize; WaitReason::KINDS],
    /// How coroutines have ended.
    ends: Ends,
    /// The number of live coroutines that are zombies.
    zombies: usize,
    /// Runs while only zombies are left, and ends them.
    grace: Option<TimerId>,
    /// Whether the application is shutting down, or has ended.
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
            epoch_before: 0,
            next_wait_key: 0,
            parks: 0,
            live: 0,
            waits: [Waits::default(); WaitReason::KINDS],
            counted_until: now,
            counted: [0; WaitReason::KINDS],
            ends: Ends::default(),
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
        coroutine.begun = Begun::Yes;
        core
    }

    /// Makes the tickets of a new scheduler others than those of an earlier one whose [`Core::last_epoch`] this is.
    #[must_use]
    pub fn with_epochs_after(mut self, last: u32) -> Core<X> {
        self.epoch_before = last;
        self.coroutine_mut(Self::MAIN).epoch = last.wrapping_add(1);
        self
    }

    /// The last epoch of any coroutine.
    pub fn last_epoch(&self) -> u32 {
        let since = |slot: &Slot<X>| slot.epoch.wrapping_sub(self.epoch_before);
        self.epoch_before.wrapping_add(self.coroutines.all().map(since).max().unwrap_or(0))
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

    /// Adds a coroutine for callbacks and handlers of `scope`, without being a member of it. `holds` is not finished before it is.
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
        let before = std::mem::replace(&mut self.coroutine_mut(co).standing, Standing::Detached);
        self.zombies -= usize::from(before == Standing::Zombie);
        co
    }

    /// Makes the application wait for the end of a detached coroutine; as for a zombie, if shutdown is in its second phase.
    pub fn attach(&mut self, co: CoroutineId) {
        let forced = self.life.is_forced();
        let coroutine = self.coroutine_mut(co);
        if coroutine.state != State::Done && coroutine.standing == Standing::Detached {
            coroutine.standing = Standing::zombie_if(forced);
            self.live += 1;
            self.zombies += usize::from(forced);
        }
    }

    /// Undoes [`Core::attach`] for a coroutine that was added as a detached one and has not ended.
    pub fn detach(&mut self, co: CoroutineId) {
        let coroutine = self.coroutine_mut(co);
        if coroutine.state != State::Done && coroutine.standing != Standing::Detached {
            let before = std::mem::replace(&mut coroutine.standing, Standing::Detached);
            self.live -= 1;
            self.zombies -= usize::from(before == Standing::Zombie);
        }
    }

    /// Returns `true` for a coroutine that the application does not wait for.
    pub fn is_detached(&self, co: CoroutineId) -> bool {
        self.coroutine(co).standing == Standing::Detached
    }

    fn add(&mut self, scope: ScopeId, kind: SpawnKind) -> CoroutineId {
        let id = self.next_id;
        self.next_id += 1;
        self.live += 1;
        self.ends.spawned += u64::from(!matches!(kind, SpawnKind::Runner { .. }));
        let spawner = (kind == SpawnKind::Child).then_some(self.running);
        let parent = spawner.map_or(0, |spawner| self.coroutine(spawner).id);
        let zombie = self.life.is_forced() || self.scope(scope).zombies && !matches!(kind, SpawnKind::Runner { .. });
        self.zombies += usize::from(zombie);
        let standing = Standing::zombie_if(zombie);
        let epoch = self.epoch_before;
        let (key, slot) = self.coroutines.insert_vacated(|| Slot { epoch, ..Slot::NEW });
        slot.epoch = slot.epoch.wrapping_add(1); // tickets of the last one stay void
        slot.it = Coroutine { id, parent, scope, kind, spawner, standing, ..Coroutine::NEW };
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

    /// The coroutine that will run after `after` others, if the order is kept.
    pub fn nth_ready(&self, after: usize) -> Option<CoroutineId> {
        self.ready.get(after).map(|index| CoroutineId(*index))
    }

    /// Returns the address of a coroutine's state, to be prefetched.
    pub fn place_of(&self, co: CoroutineId) -> *const u8 {
        std::ptr::from_ref(self.coroutine(co)).cast()
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
        self.waits.iter_mut().for_each(|waits| waits.now = 0);
        self.counted = [0; WaitReason::KINDS];
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
            coroutine.body = Body::Ended { awaited: false };
            coroutine.awaited = Awaited::Taken;
            coroutine.standing = Standing::Regular;
            coroutine.waiters.clear();
            if let Some(timer) = coroutine.park.timer.take() {
                self.timers.cancel(timer);
            }
            dropped.push(CoroutineId(key.index));
        }
        self.forget_waiters_but_for(running);
        self.lose_wait_sets();
        let coroutine = self.coroutine_mut(running);
        coroutine.awaited = coroutine.awaited.min(Awaited::Started); // the awaiters are in the parent process
        if coroutine.standing == Standing::Detached {
            coroutine.standing = Standing::Regular;
        }
        self.live = 1;
        self.zombies = usize::from(self.is_zombie(running));
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

    /// Returns `true` if the coroutine with this number is in this slot, and has not ended.
    pub fn is_alive(&self, co: CoroutineId, id: u64) -> bool {
        self.coroutines.at(co.0).is_some_and(|coroutine| coroutine.id == id && coroutine.state != State::Done)
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
        self.coroutine(co).begun == Begun::Yes
    }

    /// Returns `true` if it was given a stack. A coroutine that was cancelled before it started gets one too, to release what it
    /// was to run with, which may park.
    pub fn has_stack(&self, co: CoroutineId) -> bool {
        self.coroutine(co).begun != Begun::No
    }
}
