//! A host for scopes without PHP: exceptions are words, handlers are data, and it writes down what happens. It takes
//! the steps that follow from what the core decides; what the bodies do, the test says, always for the one that runs.
#![allow(dead_code, reason = "each test program uses a part")]

mod carry_out;
mod wait;

use spindle_core::sched::{
    Cancel, Core, CoroutineId, Disposal, Lifetime, Order, Outcome, ScopeId, SetId, Target, Ticket, WaitReason,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::{Deref, DerefMut};

pub type Word = &'static str;
pub type Sched = Core<Word>;

pub const MAIN: CoroutineId = Sched::MAIN;
pub const GLOBAL: ScopeId = Sched::GLOBAL;
/// A wait for the world.
pub const SOCKET: WaitReason = WaitReason::External { interruptible: true, restart: false };

/// What flies through a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Thrown {
    Failure(Word),
    Cancellation(Word),
}

/// How a body ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    Returns,
    Throws(Word),
    Cancelled(Word),
}

impl From<Thrown> for Ends {
    fn from(thrown: Thrown) -> Ends {
        match thrown {
            Thrown::Failure(word) => Ends::Throws(word),
            Thrown::Cancellation(word) => Ends::Cancelled(word),
        }
    }
}

/// What a handler or a callback of the program does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handler {
    Handles,
    Throws(Word),
    /// Gives way first.
    Turns,
    /// Leaves a new coroutine behind in its scope.
    Spawns,
}

/// Where a failure has gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Awaiters,
    Handler(ScopeId),
    ChildHandler(ScopeId),
    Waiters(ScopeId),
    /// It came while its scope wound down.
    Stays,
    Unhandled,
}

/// How a scope is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Its cancellation is thrown.
    Completion,
    /// Its cancellation is its end.
    Plain,
    AfterCancel,
}

/// What a body waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum For {
    Nothing,
    Coroutine(CoroutineId),
    Scope(ScopeId, Way),
    Set(SetId),
}

#[derive(Clone, Copy)]
pub struct Wait {
    pub what: For,
    pub token: Option<Target>,
    pub on: WaitReason,
    ticket: Option<Ticket>,
}

#[derive(Clone, Copy)]
enum Job {
    Handle { handler: Handler, at: ScopeId, word: Word, of_child: bool },
    Callback { handler: Handler, scope: ScopeId },
    ScopeCallback { handler: Handler, scope: ScopeId },
}

pub struct Body {
    pub name: Word,
    /// It goes on after whatever is thrown into it.
    pub catches: bool,
    /// What happens when it completes.
    pub callback: Option<Handler>,
    /// How its body has ended.
    pub ended: Option<Ends>,
    pub complete: bool,
    pub waits: Option<Wait>,
    // What the core should know, by the host's own account.
    pub id: u64,
    pub scope: ScopeId,
    /// The number of the coroutine that has spawned it, if one did.
    pub spawner: Option<u64>,
    pub zombie: bool,
    /// A cancellation that was accepted for it, and that it has not got.
    pub pending: bool,
    pub shields: u32,
    /// A runner's: it is not finished before this one.
    pub holds: Option<ScopeId>,
    job: Option<Job>,
}

impl Body {
    pub fn is_runner(&self) -> bool {
        self.job.is_some()
    }
}

pub struct Place {
    name: Word,
    pub parent: Option<ScopeId>,
    /// The program has its object.
    pub object: bool,
    pub zombies: bool,
    own: Option<Handler>,
    child: Option<Handler>,
    callback: Option<Handler>,
    cancelled_by: Option<Word>,
    /// The failures that have come by.
    pub errors: Vec<Word>,
}

pub struct Host {
    core: Sched,
    pub now: u64,
    /// What zombies get when only they are left.
    pub grace: u64,
    bodies: HashMap<CoroutineId, Body>,
    places: HashMap<ScopeId, Place>,
    /// The body that runs, if one does.
    pub current: Option<CoroutineId>,
    /// What has happened, in order.
    pub log: Vec<String>,
    /// Each failure, and where it has gone.
    pub fates: BTreeMap<Word, Vec<Fate>>,
    /// How often each failure was thrown out of a body, a handler or a callback.
    pub thrown: BTreeMap<Word, usize>,
    /// Which body got which failure or cancellation where it waited.
    pub got: Vec<(Word, Thrown)>,
    pub shut_down: bool,
}

impl Deref for Host {
    type Target = Sched;

    fn deref(&self) -> &Sched {
        &self.core
    }
}

impl DerefMut for Host {
    fn deref_mut(&mut self) -> &mut Sched {
        &mut self.core
    }
}

impl Host {
    /// Main runs.
    pub fn new() -> Host {
        Host::ordered(Order::Fifo, Lifetime::Scope)
    }

    pub fn ordered(order: Order, lifetime: Lifetime) -> Host {
        let mut host = Host {
            core: Sched::new(0, order, lifetime),
            now: 0,
            grace: 1_000,
            bodies: HashMap::new(),
            places: HashMap::new(),
            current: Some(MAIN),
            log: Vec::new(),
            fates: BTreeMap::new(),
            thrown: BTreeMap::new(),
            got: Vec::new(),
            shut_down: false,
        };
        host.placed(GLOBAL, "global", None);
        host.born(MAIN, "main", GLOBAL, None);
        host
    }

    fn born(&mut self, co: CoroutineId, name: Word, scope: ScopeId, spawner: Option<u64>) {
        let body = Body {
            name,
            catches: false,
            callback: None,
            ended: None,
            complete: false,
            waits: None,
            id: self.core.id(co),
            scope,
            spawner,
            zombie: self.places[&scope].zombies,
            pending: false,
            shields: 0,
            holds: None,
            job: None,
        };
        self.bodies.insert(co, body);
    }

    fn placed(&mut self, id: ScopeId, name: Word, parent: Option<ScopeId>) {
        let zombies = parent.is_some_and(|parent| self.places[&parent].zombies);
        let (own, child, callback, cancelled_by) = (None, None, None, None);
        let errors = Vec::new();
        let place = Place { name, parent, object: true, zombies, own, child, callback, cancelled_by, errors };
        self.places.insert(id, place);
    }

    /// Those whose slots are not released, and the scopes that are not gone.
    pub fn known(&self) -> (&HashMap<CoroutineId, Body>, &HashMap<ScopeId, Place>) {
        (&self.bodies, &self.places)
    }

    /// Returns `true` if it is this scope or below it, by the host's own account.
    pub fn below(&self, id: ScopeId, top: ScopeId) -> bool {
        id == top || self.places[&id].parent.is_some_and(|parent| self.below(parent, top))
    }

    fn zombies_in(&mut self, top: ScopeId, zombies: bool, but_for_cancelled: bool) {
        let ids: Vec<ScopeId> = self.places.keys().copied().filter(|id| self.below(*id, top)).collect();
        for id in ids {
            if but_for_cancelled && self.core.is_cancelled(id) {
                continue;
            }
            self.place(id).zombies = zombies;
            let theirs = self.bodies.values_mut().filter(|it| it.scope == id && !it.complete && !it.is_runner());
            theirs.for_each(|it| it.zombie = zombies);
        }
    }

    pub fn body(&self, co: CoroutineId) -> &Body {
        &self.bodies[&co]
    }

    pub fn body_mut(&mut self, co: CoroutineId) -> &mut Body {
        self.bodies.get_mut(&co).expect("a coroutine of this host")
    }

    pub fn name(&self, co: CoroutineId) -> Word {
        self.bodies[&co].name
    }

    pub fn scope_name(&self, id: ScopeId) -> Word {
        self.places[&id].name
    }

    fn say(&mut self, line: String) {
        self.log.push(line);
    }

    /// What has happened that has to do with this.
    pub fn said(&self, about: &str) -> Vec<&str> {
        self.log.iter().map(String::as_str).filter(|line| line.contains(about)).collect()
    }

    /// The names in the lines that end so.
    pub fn who(&self, ending: &str) -> Vec<&str> {
        self.log.iter().filter_map(|line| line.strip_suffix(ending)?.strip_suffix(' ')).collect()
    }

    // --- scopes ---------------------------------------------------------------------------------------------------

    pub fn scope(&mut self, name: Word, parent: Option<ScopeId>, lifetime: Lifetime) -> ScopeId {
        let id = self.core.add_scope(parent, lifetime);
        self.placed(id, name, parent);
        id
    }

    fn place(&mut self, id: ScopeId) -> &mut Place {
        self.places.get_mut(&id).expect("a scope of this host")
    }

    pub fn own_handler(&mut self, id: ScopeId, handler: Handler) {
        self.core.set_handlers(id, Some(true), None);
        self.place(id).own = Some(handler);
    }

    pub fn child_handler(&mut self, id: ScopeId, handler: Handler) {
        self.core.set_handlers(id, None, Some(true));
        self.place(id).child = Some(handler);
    }

    pub fn scope_callback(&mut self, id: ScopeId, handler: Handler) {
        self.place(id).callback = Some(handler);
    }

    /// What has cancelled it: the nearest cancellation from there up.
    pub fn cancelled_by(&self, id: ScopeId) -> Option<Word> {
        let mut at = Some(id);
        while let Some(scope) = at.filter(|scope| self.core.is_cancelled(*scope)) {
            if let Some(word) = self.places[&scope].cancelled_by {
                return Some(word);
            }
            at = self.core.parent_scope(scope);
        }
        None
    }

    /// `false`: it was cancelled before.
    pub fn cancels_scope(&mut self, id: ScopeId, word: Word) -> bool {
        let Some(order) = self.core.cancel_scope(id) else { return false };
        let scopes: Vec<ScopeId> = order.iter().map(|co| self.body(*co).scope).collect();
        for (n, first) in scopes.iter().enumerate() {
            let later = scopes[n..].iter().find(|later| *later != first && self.below(**later, *first));
            assert_eq!(later, None, "children first");
        }
        self.place(id).cancelled_by = Some(word);
        for co in order {
            self.cancels_one(co, word);
        }
        self.core.notify_cancelled(id);
        self.drain();
        true
    }

    /// Says whom it has warned of.
    pub fn disposes(&mut self, id: ScopeId, how: Disposal) -> Vec<Word> {
        if how != Disposal::Cancel {
            self.zombies_in(id, matches!(how, Disposal::Safely | Disposal::Released), true);
        }
        let warned: Vec<Word> = self.core.dispose_scope(id, how).into_iter().map(|co| self.name(co)).collect();
        for name in &warned {
            self.say(format!("warning of {name}"));
        }
        if how == Disposal::Cancel {
            self.cancels_scope(id, "disposed");
        }
        self.drain();
        warned
    }

    /// The program's object dies. A disposal that has been asked for is not undone.
    pub fn object_dies(&mut self, id: ScopeId) {
        match self.core.lifetime(id) {
            Lifetime::Scope if !self.core.is_closed(id) => _ = self.disposes(id, Disposal::Released),
            Lifetime::TopDown => _ = self.cancels_scope(id, "object died"),
            Lifetime::Scope | Lifetime::BottomUp => {}
        }
        self.drop_handle(id);
        self.drain();
    }

    /// Its object is no more.
    pub fn drop_handle(&mut self, id: ScopeId) {
        if let Some(place) = self.places.get_mut(&id) {
            place.object = false; // the global one has no place
        }
        if self.core.drop_handle(id) {
            self.is_gone(id);
        }
    }

    /// The program takes its object again.
    pub fn object_is_back(&mut self, id: ScopeId) {
        self.place(id).object = true;
        self.core.take_handle(id);
    }

    // --- coroutines -----------------------------------------------------------------------------------------------

    /// The running one spawns. `None`: its scope refuses.
    pub fn spawns(&mut self, name: Word) -> Option<CoroutineId> {
        let scope = self.core.scope_of(self.core.running());
        if self.core.is_cancelled(scope) {
            return None;
        }
        let spawner = self.current.map(|co| self.body(co).id);
        let co = self.core.spawn();
        self.born(co, name, scope, spawner);
        Some(co)
    }

    /// A child of the running one.
    pub fn child(&mut self, name: Word) -> CoroutineId {
        self.spawns(name).expect("an open scope")
    }

    /// A scope spawns. `None`: it refuses.
    pub fn spawns_in(&mut self, scope: ScopeId, name: Word) -> Option<CoroutineId> {
        if self.core.is_closed(scope) {
            return None;
        }
        let co = self.core.spawn_in(scope);
        self.born(co, name, scope, None);
        Some(co)
    }

    /// A member of the scope.
    pub fn member(&mut self, scope: ScopeId, name: Word) -> CoroutineId {
        self.spawns_in(scope, name).expect("an open scope")
    }

    /// Cancels a coroutine, or those it waits for.
    pub fn cancels(&mut self, co: CoroutineId, word: Word) {
        for co in self.core.cancel_targets(co) {
            self.cancels_one(co, word);
        }
        self.drain();
    }

    fn cancels_one(&mut self, co: CoroutineId, word: Word) {
        if self.core.cancel(co, word).0 == Cancel::Accepted {
            self.body_mut(co).pending = true;
            self.say(format!("{} is to end: {word}", self.name(co)));
        }
    }

    fn cancels_one_after_failure(&mut self, co: CoroutineId, word: Word) {
        if self.core.cancel_after_failure(co, word).0 == Cancel::Accepted {
            self.body_mut(co).pending = true;
            self.say(format!("{} is to end: {word}", self.name(co)));
        }
    }

    /// The running one ends.
    pub fn ends(&mut self, how: Ends) {
        let co = self.current.take().expect("a body runs");
        self.body_ends(co, how);
    }

    /// Something is thrown in the running one: it catches it, or ends.
    pub fn throws(&mut self, thrown: Thrown) {
        let co = self.current.expect("a body runs");
        self.got.push((self.name(co), thrown));
        if self.body(co).catches {
            self.say(format!(
                "{} catches {}",
                self.name(co),
                match thrown {
                    Thrown::Failure(word) | Thrown::Cancellation(word) => word,
                }
            ));
        } else {
            self.ends(thrown.into());
        }
    }

    /// Cancellations do not reach the running one until [`Host::unshields`].
    pub fn shields(&mut self) {
        self.core.shield();
        let co = self.core.running();
        self.body_mut(co).shields += 1;
    }

    pub fn unshields(&mut self) {
        self.core.unshield();
        let co = self.core.running();
        self.body_mut(co).shields -= 1;
    }

    /// How it has ended, to those who await it.
    pub fn outcome_of(&self, co: CoroutineId) -> Result<(), Thrown> {
        match self.body(co).ended.expect("it has ended") {
            Ends::Returns => Ok(()),
            Ends::Throws(word) => Err(Thrown::Failure(word)),
            Ends::Cancelled(word) => Err(Thrown::Cancellation(word)),
        }
    }

    /// The program forgets one that is complete.
    pub fn forgets(&mut self, co: CoroutineId) {
        assert!(self.bodies.remove(&co).is_some_and(|it| it.complete));
        self.core.release(co);
    }

    // --- time -----------------------------------------------------------------------------------------------------

    pub fn time_passes(&mut self, time: u64) {
        self.now += time;
        self.core.expire(self.now);
        self.drain();
    }
}

fn outcome(ends: Ends) -> Outcome {
    match ends {
        Ends::Returns => Outcome::Returned,
        Ends::Throws(_) => Outcome::Failed,
        Ends::Cancelled(_) => Outcome::Cancelled,
    }
}
