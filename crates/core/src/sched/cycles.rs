//! Cycles of waits: coroutines none of which can continue before another one of them does.
//!
//! What a parked coroutine needs is known to its host ([`Needs`]), and what a set or a scope needs is known here. The search
//! follows these from one coroutine. A need that is unknown, and anything that is not a coroutine, can always end a wait. So a
//! coroutine cannot continue if no number of steps shows that it can. A wait closes a cycle if its coroutine cannot continue,
//! and is itself among the things for which it waits.
//!
//! The search visits each coroutine, set and scope once, however many ways lead to it and however long they are. A wait that has
//! begun closes a cycle of interest only if one that may be given up needs its coroutine. Which of them need it is searched
//! for at the same pace, and there are few: so a coroutine that nothing waits for is dealt with quickly, whatever it waits for.

use super::{Core, CoroutineId, ScopeId, SetId, SpawnKind, State, Target, WaitSetId};
use std::collections::{HashMap, HashSet};

/// What the wait of a parked coroutine needs to end. A limit of the wait, such as a timeout, does not count: it gives the wait up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Unknown, or not a coroutine.
    Unknown,
    /// This. For what a coroutine holds, or is about to do, that is the coroutine.
    One(Target),
    /// Each of these.
    All(Vec<Target>),
    /// One of these.
    Any(Vec<Target>),
    /// One of the targets that it [watches](Core::subscribe_to_one).
    Subscribed,
    /// Each of the targets that this [wait set](Core::add_wait_set_for_all) [watches](Core::watch_key), whatever else the set
    /// waits for.
    Watched(WaitSetId),
}

/// A target that is kept for later, such as what alone completes an open set ([`Core::complete_set`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Maker {
    target: Target,
    /// The id of the coroutine, if it is one: its slot may be another one's later.
    id: u64,
}

struct Node {
    target: Target,
    /// What it needs.
    children: Vec<usize>,
    /// What needs it.
    parents: Vec<usize>,
    /// How many more of its children have to be known to continue before it is.
    missing: usize,
    /// It can continue.
    goes_on: bool,
}

struct Search<'a, X, N> {
    core: &'a Core<X>,
    needs: N,
    nodes: Vec<Node>,
    places: HashMap<Target, usize>,
    /// The runners, once they were asked for.
    runners: Option<Vec<CoroutineId>>,
}

impl<X> Core<X> {
    /// Returns `true` if a wait of the running coroutine that needs this would close a cycle. `needs` returns the needs of others'
    /// waits.
    pub fn closes_cycle(&self, own: &Needs, needs: impl Fn(CoroutineId) -> Needs) -> bool {
        let me = self.running;
        !Search::from(self, me, |co| if co == me { own.clone() } else { needs(co) }).cycle().is_empty()
    }

    /// Returns the coroutines whose waits are to be given up so that `co`, which is parked and has closed cycles, can continue;
    /// none if it has closed none. If its own wait may be given up, that is enough. `needs` returns the needs of waits, and
    /// `may_give_up` are those whose waits may be given up.
    pub fn breaks_of_cycle(
        &self,
        co: CoroutineId,
        needs: impl Fn(CoroutineId) -> Needs,
        may_give_up: &[CoroutineId],
    ) -> Vec<CoroutineId> {
        let gives_up = |co| may_give_up.contains(&co);
        let Some(mut search) = Search::if_needed(self, co, &needs, may_give_up) else { return Vec::new() };
        let cycle = search.cycle();
        if !cycle.is_empty() && gives_up(co) {
            return vec![co];
        }
        let mut chosen = Vec::new();
        for at in cycle {
            if let Target::Coroutine(co) = search.nodes[at].target
                && !search.nodes[at].goes_on
                && gives_up(co)
            {
                chosen.push(co);
                search.goes_on(at);
                if search.nodes[0].goes_on {
                    break;
                }
            }
        }
        chosen
    }

    /// Returns the description of what completes an open set.
    pub fn maker(&self, target: Target) -> Maker {
        let id = if let Target::Coroutine(co) = target { self.id(co) } else { 0 };
        Maker { target, id }
    }

    /// Declares what alone completes an open set from now on; `None` if that is not known.
    pub fn set_maker(&mut self, id: SetId, maker: Option<Maker>) {
        if let Some(set) = self.sets.get_mut(id.0) {
            set.maker = maker;
        }
    }

    /// Returns the target that completes an open set, if it is known and still exists.
    pub(super) fn target_of(&self, maker: Maker) -> Option<Target> {
        match maker.target {
            Target::Coroutine(co) if self.id(co) != maker.id => None,
            target => Some(target),
        }
    }
}

impl<'a, X, N: Fn(CoroutineId) -> Needs> Search<'a, X, &'a N> {
    /// Finds out what can continue, as far as `co` needs it, unless none of these coroutines needs `co`.
    fn if_needed(core: &'a Core<X>, co: CoroutineId, needs: &'a N, by: &[CoroutineId]) -> Option<Self> {
        let (mut search, mut others) = (Search::new(core, needs), Search::new(core, needs));
        let mut open: Vec<Target> = by.iter().rev().map(|co| Target::Coroutine(*co)).collect();
        let mut seen: HashSet<Target> = open.iter().copied().collect();
        let (mut is_needed, mut is_none_left) = (false, false);
        search.run(co, || {
            if is_needed {
                return true;
            }
            let Some(target) = open.pop() else {
                is_none_left = true;
                return false;
            };
            for next in others.needed(target, false).1 {
                is_needed |= next == Target::Coroutine(co);
                if seen.insert(next) {
                    open.push(next);
                }
            }
            true
        });
        (!is_none_left).then_some(search)
    }
}

impl<'a, X, N: Fn(CoroutineId) -> Needs> Search<'a, X, N> {
    /// Finds out what can continue, as far as `co` needs it. Ends early once `co` itself, the first node, is known to continue.
    fn from(core: &'a Core<X>, co: CoroutineId, needs: N) -> Search<'a, X, N> {
        let mut search = Search::new(core, needs);
        search.run(co, || true);
        search
    }

    fn new(core: &'a Core<X>, needs: N) -> Search<'a, X, N> {
        Search { core, needs, nodes: Vec::new(), places: HashMap::new(), runners: None }
    }

    /// Searches from `co`, as long as `goes_on` says so at each step.
    fn run(&mut self, co: CoroutineId, mut goes_on: impl FnMut() -> bool) {
        let search = self;
        search.place(Target::Coroutine(co));
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let target = search.nodes[at].target;
            let (count, targets) = search.needed(target, at == 0);
            search.nodes[at].missing = count;
            for target in targets {
                let known = search.nodes.len();
                let child = search.place(target);
                if child == known {
                    open.push(child);
                }
                search.nodes[at].children.push(child);
                search.nodes[child].parents.push(at);
                if search.nodes[child].goes_on {
                    search.nodes[at].missing = search.nodes[at].missing.saturating_sub(1);
                }
            }
            if search.nodes[at].missing == 0 {
                search.goes_on(at);
            }
            if search.nodes[0].goes_on || !goes_on() {
                return;
            }
        }
    }

    /// Returns the place of a target's node, which is added if there is none.
    fn place(&mut self, target: Target) -> usize {
        let next = self.nodes.len();
        let at = *self.places.entry(target).or_insert(next);
        if at == next {
            let (children, parents) = (Vec::new(), Vec::new());
            self.nodes.push(Node { target, children, parents, missing: usize::MAX, goes_on: false });
        }
        at
    }

    /// Returns how many of its needs a target waits for, and these needs. It waits for none if it can always continue.
    /// `is_about_to_wait`: the running coroutine counts as one that waits.
    fn needed(&mut self, target: Target, is_about_to_wait: bool) -> (usize, Vec<Target>) {
        const GOES_ON: (usize, Vec<Target>) = (0, Vec::new());
        let (core, all) = (self.core, |targets: Vec<Target>| (targets.len(), targets));
        match target {
            Target::Timeout(_) => GOES_ON,
            // A coroutine's state says it: in the callbacks for its end, one is complete to itself and may still wait.
            target @ (Target::Scope(_) | Target::Set(_)) if core.is_done(target) => GOES_ON,
            Target::Scope(id) => all(self.awaited_by_scope(id)),
            Target::Set(id) => {
                let Some(set) = core.sets.get(id.0) else { return GOES_ON };
                if !set.open {
                    let (pending, members) = (set.pending, core.members_of(set));
                    return (pending.min(members.len()), members);
                }
                all(set.maker.and_then(|maker| core.target_of(maker)).into_iter().collect())
            }
            Target::Coroutine(co) => match core.state(co) {
                State::Ending => all(core.children_of(co).into_iter().map(Target::Coroutine).collect()),
                State::Parked => self.needed_by(co),
                State::Running if is_about_to_wait => self.needed_by(co),
                State::Queued | State::Running | State::Ready | State::Done => GOES_ON,
            },
        }
    }

    fn needed_by(&mut self, co: CoroutineId) -> (usize, Vec<Target>) {
        match (self.needs)(co) {
            Needs::Unknown => (0, Vec::new()),
            Needs::One(target) => (1, vec![target]),
            Needs::All(targets) => (targets.len(), targets),
            Needs::Any(targets) => (1.min(targets.len()), targets),
            Needs::Subscribed => {
                let targets = self.core.watched_by(co);
                (1.min(targets.len()), targets)
            }
            Needs::Watched(id) => {
                let targets = self.core.watched_by_set(id);
                (targets.len(), targets)
            }
        }
    }

    /// Returns the targets a scope waits for: the coroutines in it and below it, and the runners that hold one of these scopes.
    fn awaited_by_scope(&mut self, id: ScopeId) -> Vec<Target> {
        let core = self.core;
        let mut found = Vec::new();
        for id in core.bottom_up(id, |_| false) {
            found.extend(core.members(id));
        }
        let is_runner = |co: &CoroutineId| matches!(core.coroutine(*co).kind, SpawnKind::Runner { .. });
        let runners = self.runners.get_or_insert_with(|| core.coroutines().filter(is_runner).collect());
        found.extend(runners.iter().filter(|co| core.is_within(**co, id)));
        found.into_iter().map(Target::Coroutine).collect()
    }

    /// Records that a node can continue, and what follows from that.
    fn goes_on(&mut self, at: usize) {
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut self.nodes[at].goes_on, true) {
                continue;
            }
            for place in 0..self.nodes[at].parents.len() {
                let parent = self.nodes[at].parents[place];
                let parent = (parent, &mut self.nodes[parent]);
                parent.1.missing = parent.1.missing.saturating_sub(1);
                if parent.1.missing == 0 {
                    open.push(parent.0);
                }
            }
        }
    }

    /// Returns the nodes in a cycle with the first one, the nearest first: they cannot continue, they need it, and it needs them.
    fn cycle(&self) -> Vec<usize> {
        let needed = self.reached(|node| &node.children);
        let mut need = vec![false; self.nodes.len()];
        self.reached(|node| &node.parents).into_iter().for_each(|at| need[at] = true);
        needed.into_iter().filter(|at| need[*at]).collect()
    }

    /// Returns the nodes that cannot continue and are at least one step away from the first one, the nearest first.
    fn reached(&self, next: impl Fn(&Node) -> &Vec<usize>) -> Vec<usize> {
        let (mut found, mut seen) = (Vec::new(), vec![false; self.nodes.len()]);
        if self.nodes[0].goes_on {
            return found;
        }
        let mut from = 0;
        let mut done = 0;
        loop {
            for at in next(&self.nodes[from]) {
                if !self.nodes[*at].goes_on && !std::mem::replace(&mut seen[*at], true) {
                    found.push(*at);
                }
            }
            let Some(at) = found.get(done) else { return found };
            (from, done) = (*at, done + 1);
        }
    }
}
