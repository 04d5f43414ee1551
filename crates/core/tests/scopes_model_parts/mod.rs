//! The steps, and what each one does; indexes choose among what there is.

use super::scopes_host::{Ends, For, GLOBAL, Handler, Host, MAIN, Way, Word};
use proptest::prelude::*;
use proptest::sample::Index;
use spindle_core::sched::{CoroutineId, Disposal, Lifetime, Order, ScopeId, SetId, Target, TimeoutId};

mod check;

pub const LIFETIMES: [Lifetime; 3] = [Lifetime::Scope, Lifetime::TopDown, Lifetime::BottomUp];

/// What a run can meet, as the log says it.
pub const MET: [&str; 16] = [
    "returns",
    "fails",
    "is cancelled: parent ended",
    "is cancelled: bounded",
    "is cancelled: disposed",
    "is cancelled: zombie",
    "warning of",
    "catches",
    "child handler:",
    " handler:",
    "callback",
    "unhandled",
    "set failed",
    "zombies are due",
    "finished",
    "gone",
];

#[derive(Clone, Debug)]
pub enum Step {
    Spawn,
    SpawnIn(Index),
    NewScope { parent: Option<Index>, lifetime: Lifetime },
    ObjectDies(Index),
    ObjectAgain,
    CancelScope(Index),
    Dispose(Index, Disposal),
    BoundInTime(Index, u64),
    BoundByCoroutine(Index, Index),
    BoundByTimeout(Index, Index),
    OwnHandler(Index, Handler),
    ChildHandler(Index, Handler),
    ScopeCallback(Index, Handler),
    Callback(Handler),
    Cancel(Index),
    AwaitCoroutine(Index, Option<Index>),
    AwaitScope(Index, Way, Option<Index>),
    AwaitSet(Index),
    NewSet { fails_fast: bool, members: Vec<Index> },
    DropSet(Index),
    Timeout(u64),
    DropTimeout(Index),
    Sleep(u64),
    Wait { outside: bool },
    Turn,
    Shield,
    Unshield,
    Catch(bool),
    End { throws: bool },
    Wake(Index),
    Time(u64),
    Forget(Index),
}

pub fn steps(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Step>> {
    let index = any::<Index>;
    let some = || prop::option::weighted(0.3, any::<Index>());
    let lifetime = prop::sample::select(&LIFETIMES[..]);
    let handler = || prop::sample::select(vec![Handler::Handles, Handler::Throws(""), Handler::Turns, Handler::Spawns]);
    let way = prop::sample::select(vec![Way::Completion, Way::Plain, Way::AfterCancel]);
    let disposal = prop_oneof![
        1 => Just(Disposal::Cancel),
        2 => Just(Disposal::Safely),
        1 => (0..200_u64).prop_map(Disposal::Until),
    ];
    let lives = prop_oneof![
        14 => Just(Step::Spawn),
        12 => index().prop_map(Step::SpawnIn),
        10 => prop::bool::weighted(0.1).prop_map(|outside| Step::Wait { outside }),
        4 => Just(Step::Turn),
        6 => (1..100_u64).prop_map(Step::Sleep),
        8 => prop::bool::weighted(0.5).prop_map(|throws| Step::End { throws }),
        12 => index().prop_map(Step::Wake),
        5 => (1..150_u64).prop_map(Step::Time),
        3 => any::<bool>().prop_map(Step::Catch),
        1 => Just(Step::Shield),
        2 => Just(Step::Unshield),
        2 => index().prop_map(Step::Cancel),
        3 => index().prop_map(Step::Forget),
    ];
    let waits = prop_oneof![
        3 => (index(), some()).prop_map(|(what, token)| Step::AwaitCoroutine(what, token)),
        3 => (index(), way, some()).prop_map(|(what, way, token)| Step::AwaitScope(what, way, token)),
        1 => index().prop_map(Step::AwaitSet),
        2 => (any::<bool>(), prop::collection::vec(index(), 0..4))
            .prop_map(|(fails_fast, members)| Step::NewSet { fails_fast, members }),
        1 => index().prop_map(Step::DropSet),
        2 => (1..300_u64).prop_map(Step::Timeout),
        1 => index().prop_map(Step::DropTimeout),
    ];
    let scopes = prop_oneof![
        8 => (prop::option::weighted(0.7, index()), lifetime)
            .prop_map(|(parent, lifetime)| Step::NewScope { parent, lifetime }),
        2 => index().prop_map(Step::ObjectDies),
        1 => Just(Step::ObjectAgain),
        1 => index().prop_map(Step::CancelScope),
        2 => (index(), disposal).prop_map(|(scope, how)| Step::Dispose(scope, how)),
        2 => (index(), 1..200_u64).prop_map(|(scope, time)| Step::BoundInTime(scope, time)),
        1 => (index(), index()).prop_map(|(scope, by)| Step::BoundByCoroutine(scope, by)),
        1 => (index(), index()).prop_map(|(scope, by)| Step::BoundByTimeout(scope, by)),
        2 => (index(), handler()).prop_map(|(scope, handler)| Step::OwnHandler(scope, handler)),
        6 => (index(), handler()).prop_map(|(scope, handler)| Step::ChildHandler(scope, handler)),
        1 => (index(), handler()).prop_map(|(scope, handler)| Step::ScopeCallback(scope, handler)),
        1 => handler().prop_map(Step::Callback),
    ];
    prop::collection::vec(prop_oneof![5 => lives, 1 => waits, 2 => scopes], count)
}

pub struct World {
    pub host: Host,
    timeouts: Vec<TimeoutId>,
    sets: Vec<(SetId, Vec<CoroutineId>)>,
    bounded: Vec<ScopeId>,
    words: usize,
}

fn pick<T: Copy>(from: &[T], index: Index) -> Option<T> {
    (!from.is_empty()).then(|| from[index.index(from.len())])
}

impl World {
    pub fn new(order: Order, lifetime: Lifetime) -> World {
        let mut host = Host::ordered(order, lifetime);
        host.grace = 40;
        host.body_mut(MAIN).catches = true;
        World { host, timeouts: Vec::new(), sets: Vec::new(), bounded: Vec::new(), words: 0 }
    }

    /// A new failure's word.
    fn word(&mut self) -> Word {
        self.words += 1;
        Box::leak(format!("boom {}", self.words).into_boxed_str())
    }

    fn with_word(&mut self, handler: Handler) -> Handler {
        if let Handler::Throws(_) = handler { Handler::Throws(self.word()) } else { handler }
    }

    /// The scopes that the program has an object of, but for the global one.
    fn scopes(&self) -> Vec<ScopeId> {
        let places = self.host.known().1;
        let mut ids: Vec<_> = places.iter().filter(|(id, it)| it.object && **id != GLOBAL).map(|(id, _)| *id).collect();
        ids.sort_by_key(|id| id.slot());
        ids
    }

    /// The coroutines that the program knows.
    fn coroutines(&self) -> Vec<CoroutineId> {
        let bodies = self.host.known().0;
        let mut cos: Vec<_> = bodies.iter().filter(|(_, it)| !it.is_runner()).map(|(co, it)| (it.id, *co)).collect();
        cos.sort_by_key(|(id, _)| *id);
        cos.into_iter().map(|(_, co)| co).collect()
    }

    fn one_scope(&self, index: Index) -> Option<ScopeId> {
        pick(&self.scopes(), index)
    }

    /// Returns `true` if a coroutine waits for it, or with it as the token.
    fn is_waited_for(&self, what: For, token: Option<Target>) -> bool {
        let waits = self.host.known().0.values().filter_map(|it| it.waits);
        waits.into_iter().any(|wait| wait.what == what || token.is_some() && wait.token == token)
    }

    pub fn step(&mut self, step: Step) {
        if self.host.current.is_none() {
            self.host.next();
        }
        self.anywhere(&step);
        if self.host.current.is_some() {
            self.inside(step);
        }
        self.host.drain();
    }

    /// What needs no coroutine that does it.
    fn anywhere(&mut self, step: &Step) {
        match step.clone() {
            Step::Wake(index) => {
                let mut cos = self.coroutines();
                cos.retain(|co| self.host.body(*co).waits.is_some_and(|wait| wait.what == For::Nothing));
                if let Some(co) = pick(&cos, index) {
                    self.host.wakes(co);
                }
            }
            Step::Time(time) => self.host.time_passes(time),
            Step::NewScope { parent: Some(index), lifetime } => {
                let parents = [vec![GLOBAL], self.scopes()].concat();
                self.host.scope("s", pick(&parents, index), lifetime);
            }
            Step::NewScope { parent: None, lifetime } => _ = self.host.scope("s", None, lifetime),
            Step::SpawnIn(index) => {
                if let Some(scope) = self.one_scope(index) {
                    self.host.spawns_in(scope, "m");
                }
            }
            Step::ObjectDies(index) => {
                let mut scopes = self.scopes();
                let held = |id: ScopeId| [Way::Completion, Way::Plain, Way::AfterCancel].map(|way| For::Scope(id, way));
                scopes.retain(|id| !held(*id).into_iter().any(|what| self.is_waited_for(what, None)));
                if let Some(scope) = pick(&scopes, index) {
                    self.host.object_dies(scope);
                }
            }
            Step::CancelScope(index) => {
                if let Some(scope) = self.one_scope(index) {
                    self.host.cancels_scope(scope, "stop");
                }
            }
            Step::Dispose(index, how) => {
                if let Some(scope) = self.one_scope(index) {
                    let how =
                        if let Disposal::Until(after) = how { Disposal::Until(self.host.now + after) } else { how };
                    self.host.disposes(scope, how);
                }
            }
            Step::BoundInTime(index, after) => {
                let free = |id: &ScopeId| !self.bounded.contains(id);
                if let Some(scope) = self.one_scope(index).filter(free) {
                    let deadline = self.host.now + after;
                    self.host.set_deadline(scope, deadline);
                    self.bounded.push(scope);
                }
            }
            Step::BoundByCoroutine(index, by) => {
                if let (Some(scope), Some(co)) = (self.one_scope(index), pick(&self.coroutines(), by)) {
                    self.host.bound_by(scope, Target::Coroutine(co));
                }
            }
            Step::BoundByTimeout(index, by) => {
                if let (Some(scope), Some(id)) = (self.one_scope(index), pick(&self.timeouts, by)) {
                    self.host.bound_by(scope, Target::Timeout(id));
                }
            }
            Step::OwnHandler(index, handler) => {
                if let Some(scope) = self.one_scope(index) {
                    let handler = self.with_word(handler);
                    self.host.own_handler(scope, handler);
                }
            }
            Step::ChildHandler(index, handler) => {
                if let Some(scope) = self.one_scope(index) {
                    let handler = self.with_word(handler);
                    self.host.child_handler(scope, handler);
                }
            }
            Step::ScopeCallback(index, handler) => {
                if let Some(scope) = self.one_scope(index) {
                    let handler = self.with_word(handler);
                    self.host.scope_callback(scope, handler);
                }
            }
            Step::Cancel(index) => {
                if let Some(co) = pick(&self.coroutines(), index) {
                    self.host.cancels(co, "stop");
                }
            }
            Step::NewSet { fails_fast, members } => {
                let set = self.host.add_set(fails_fast);
                let mut all: Vec<CoroutineId> =
                    members.iter().filter_map(|index| pick(&self.coroutines(), *index)).collect();
                all.sort_by_key(|co| co.0);
                all.dedup();
                for co in &all {
                    self.host.add_to_set(set, *co);
                }
                self.sets.push((set, all));
            }
            Step::DropSet(index) if !self.sets.is_empty() => {
                let n = index.index(self.sets.len());
                if !self.is_waited_for(For::Set(self.sets[n].0), None) {
                    let (set, members) = self.sets.remove(n);
                    self.host.drop_set(set, members);
                }
            }
            Step::Timeout(after) => {
                let deadline = self.host.now + after;
                let id = self.host.add_timeout(deadline);
                self.timeouts.push(id);
            }
            Step::DropTimeout(index) if !self.timeouts.is_empty() => {
                let n = index.index(self.timeouts.len());
                if !self.is_waited_for(For::Coroutine(CoroutineId(u32::MAX)), Some(Target::Timeout(self.timeouts[n]))) {
                    let id = self.timeouts.remove(n);
                    self.host.drop_timeout(id);
                }
            }
            Step::Forget(index) => {
                let mut cos = self.coroutines();
                cos.retain(|co| {
                    let in_a_set = self.sets.iter().any(|(_, members)| members.contains(co));
                    let needed = in_a_set || self.is_waited_for(For::Coroutine(*co), None);
                    self.host.body(*co).complete && *co != MAIN && !needed
                });
                if let Some(co) = pick(&cos, index) {
                    self.host.forgets(co);
                }
            }
            _ => {}
        }
    }

    /// What the running one does.
    fn inside(&mut self, step: Step) {
        let co = self.host.current.expect("one runs");
        let token = |world: &World, index: Option<Index>| {
            index.and_then(|index| pick(&world.timeouts, index)).map(Target::Timeout)
        };
        match step {
            Step::Spawn => _ = self.host.spawns("c"),
            Step::ObjectAgain => {
                let scope = self.host.body(co).scope;
                self.host.object_is_back(scope);
            }
            Step::Callback(handler) => {
                let handler = self.with_word(handler);
                self.host.body_mut(co).callback = Some(handler);
            }
            Step::AwaitCoroutine(index, by) => {
                if let Some(other) = pick(&self.coroutines(), index).filter(|other| *other != co) {
                    let token = token(self, by);
                    self.host.awaits(For::Coroutine(other), token);
                }
            }
            Step::AwaitScope(index, way, by) => {
                if let Some(scope) = self.one_scope(index).filter(|scope| !self.host.is_within(co, *scope)) {
                    let token = token(self, by);
                    self.host.awaits(For::Scope(scope, way), token);
                }
            }
            Step::AwaitSet(index) if !self.sets.is_empty() => {
                let (set, members) = &self.sets[index.index(self.sets.len())];
                if !members.contains(&co) {
                    let set = *set;
                    self.host.awaits(For::Set(set), None);
                }
            }
            Step::Sleep(time) => self.host.sleeps(time),
            Step::Wait { outside: true } => self.host.waits(),
            Step::Wait { outside: false } => self.host.waits_for_others(),
            Step::Turn => self.host.turns(),
            Step::Shield => self.host.shields(),
            Step::Unshield if self.host.body(co).shields > 0 => self.host.unshields(),
            Step::Catch(catches) => self.host.body_mut(co).catches = catches || co == MAIN,
            // Main lives long.
            Step::End { .. } if co == MAIN && self.words % 8 != 3 => self.host.waits_for_others(),
            Step::End { throws } => {
                let how = if throws { Ends::Throws(self.word()) } else { Ends::Returns };
                self.host.ends(how);
            }
            _ => {}
        }
    }
}
