//! What has to hold.

use super::*;
use crate::scopes_host::Body;
use spindle_core::sched::State;
use std::collections::{BTreeMap, HashSet};

impl World {
    pub fn check(&self) {
        let (bodies, places) = self.host.known();
        let by_id: BTreeMap<u64, (CoroutineId, &Body)> = bodies.iter().map(|(co, it)| (it.id, (*co, it))).collect();
        for (co, it) in bodies.iter().filter(|(_, it)| !it.is_runner()) {
            self.check_coroutine(*co, it, &by_id);
        }
        let mut roots = Vec::new();
        for (id, place) in places {
            self.check_scope(*id, &by_id);
            let parent = place.parent;
            assert_eq!(self.host.parent_scope(*id), parent);
            if parent.is_none() {
                roots.push(*id);
            }
        }
        roots.sort_by_key(|id| id.slot());
        assert_eq!(self.host.root_scopes(), roots, "scopes that nobody knows");
        let live = bodies.values().filter(|it| !it.complete).count();
        assert_eq!(self.host.live(), live);
        let mut zombies: Vec<CoroutineId> =
            bodies.iter().filter(|(_, it)| it.zombie && it.ended.is_none()).map(|(co, _)| *co).collect();
        zombies.sort_by_key(|co| co.0);
        assert_eq!(self.host.zombies(), zombies);
        for (word, times) in &self.host.thrown {
            assert_eq!(self.host.fates[word].len(), *times, "{word}: {:?}", self.host.fates[word]);
        }
    }

    fn check_coroutine(&self, co: CoroutineId, it: &Body, by_id: &BTreeMap<u64, (CoroutineId, &Body)>) {
        let host = &self.host;
        let children: Vec<CoroutineId> =
            by_id.values().filter(|(_, c)| c.spawner == Some(it.id) && !c.complete).map(|(co, _)| *co).collect();
        assert_eq!((host.state(co) == State::Done, host.id(co)), (it.complete, it.id));
        if it.complete {
            let lifetime = host.known().1.get(&it.scope).map(|_| host.lifetime(it.scope));
            assert!(lifetime != Some(Lifetime::BottomUp) || children.is_empty(), "complete before its children");
            return;
        }
        assert_eq!(host.children_of(co), children);
        assert_eq!((host.scope_of(co), host.is_zombie(co)), (it.scope, it.zombie));
        if it.ended.is_some() {
            assert!(host.lifetime(it.scope) == Lifetime::BottomUp && !children.is_empty(), "it is not completed");
            return;
        }
        assert!(!host.is_cancelled(it.scope) || host.is_cancel_requested(co), "its scope is cancelled, and it is not");
        let parent = it.spawner.and_then(|id| by_id.get(&id));
        if let Some((parent, its)) = parent
            && its.ended.is_some()
            && *parent != MAIN
            && host.lifetime(it.scope) == Lifetime::TopDown
        {
            assert!(host.is_cancel_requested(co), "its parent has ended, and it was not cancelled");
        }
    }

    fn check_scope(&self, id: ScopeId, by_id: &BTreeMap<u64, (CoroutineId, &Body)>) {
        let (host, places) = (&self.host, self.host.known().1);
        let place = &places[&id];
        assert!(host.scope_exists(id));
        let living = || by_id.values().filter(|(_, it)| !it.complete);
        let own = || living().filter(|(_, it)| it.scope == id);
        let members: Vec<CoroutineId> = own().filter(|(_, it)| !it.is_runner()).map(|(co, _)| *co).collect();
        assert_eq!(host.members(id), members);
        let direct: Vec<CoroutineId> =
            own().filter(|(_, it)| !it.is_runner() && it.spawner.is_none()).map(|(co, _)| *co).collect();
        assert_eq!(host.direct_members(id), direct);
        let below: HashSet<ScopeId> = places.keys().copied().filter(|it| host.below(*it, id)).collect();
        let busy = living().any(|(_, it)| match it.is_runner() {
            true => it.holds.is_some_and(|held| below.contains(&held)),
            false => below.contains(&it.scope),
        });
        assert_eq!(host.is_finished(id), !busy);
        let needed = place.object || busy || own().next().is_some() || below.len() > 1 || id == GLOBAL;
        assert!(needed, "nobody needs it, and it is not gone");
        let parent_cancelled = place.parent.is_some_and(|parent| host.is_cancelled(parent));
        assert!(host.is_cancelled(id) || !parent_cancelled, "it outlives its parent");
    }

    /// Checks, when none is ready, that none was forgotten.
    fn check_waits(&self) {
        let host = &self.host;
        for (co, it) in self.host.known().0.iter().filter(|(_, it)| it.ended.is_none()) {
            let wait = it.waits.unwrap_or_else(|| panic!("{} {co:?} is nowhere", it.name));
            assert!(!(it.pending && it.shields == 0), "a cancellation that it has not got");
            let done = match wait.what {
                For::Nothing => false,
                For::Coroutine(of) => host.is_done(Target::Coroutine(of)),
                For::Set(set) => host.is_done(Target::Set(set)),
                For::Scope(scope, way) => host.is_finished(scope) || way == Way::Completion && host.is_cancelled(scope),
            };
            assert!(!done, "{:?} is there, and {co:?} waits", wait.what);
            assert!(!wait.token.is_some_and(|token| host.is_done(token)), "the token is there, and {co:?} waits");
        }
    }

    /// Parks the running coroutine until none is ready.
    fn quiet(&mut self) {
        // Who catches what comes instead of the wait waits again.
        let waits = |host: &mut Host| {
            while host.current.is_some() {
                host.waits_for_others();
            }
        };
        waits(&mut self.host);
        let mut turns = 0;
        self.host.run(|host, _| {
            turns += 1;
            assert!(turns < 10_000, "they run for ever");
            waits(host);
        });
        self.check();
        self.check_waits();
    }

    /// All end, in the way that the program has left them, and nothing is left.
    pub fn wind_down(&mut self) {
        self.quiet();
        self.timers_come();
        self.all_end(true);
        self.timers_come();
        self.all_end(false);
        self.nothing_is_left();
    }

    /// What the timers still wake is known to the core.
    fn timers_come(&mut self) {
        // Zombies in a shield are due again and again: not for ever.
        for _ in 0..40 {
            let hope = self.host.has_wake_source();
            let waits_outside = |it: &Body| it.waits.is_some_and(|wait| wait.on == crate::scopes_host::SOCKET);
            let outside = self.host.known().0.values().any(waits_outside);
            assert!(hope || !outside, "the world may wake somebody");
            let Some(next) = self.host.next_deadline() else {
                assert!(outside || !hope, "there is nothing to wait for");
                break;
            };
            self.host.time_passes(next.max(self.host.now) - self.host.now);
            let woken = |co: &CoroutineId| self.host.state(*co) == State::Ready;
            assert!(hope || !self.coroutines().iter().any(woken), "a timer wakes somebody");
            self.quiet();
            // Zombies that swallow what ends them get it again and again.
            for co in self.host.zombies() {
                self.host.body_mut(co).catches = false;
            }
        }
    }

    /// Zombies are left to themselves, if so wanted.
    fn all_end(&mut self, but_zombies: bool) {
        let mut rounds = 0;
        let wanted = |host: &Host, co: CoroutineId| !(host.body(co).complete || but_zombies && host.body(co).zombie);
        while self.coroutines().into_iter().any(|co| wanted(&self.host, co)) {
            rounds += 1;
            assert!(rounds < 100, "they do not end: {:#?}", self.host.log);
            for co in self.coroutines().into_iter().filter(|co| wanted(&self.host, *co)).collect::<Vec<_>>() {
                let it = self.host.body_mut(co);
                it.catches = false;
                match it.waits.map(|wait| wait.what) {
                    Some(For::Nothing) => self.host.wakes(co),
                    Some(_) if rounds > 1 => self.host.cancels(co, "the end"),
                    _ => {}
                }
            }
            self.host.run(|host, co| {
                if but_zombies && host.body(co).zombie {
                    while host.current.is_some() {
                        host.waits_for_others();
                    }
                    return;
                }
                while host.body(co).shields > 0 {
                    host.unshields();
                }
                host.ends(Ends::Returns);
            });
            self.check();
            if rounds > 50 {
                for co in self.coroutines().into_iter().filter(|co| wanted(&self.host, *co)).collect::<Vec<_>>() {
                    self.host.cancel_by_force(co, "by force");
                    let it = self.host.body_mut(co);
                    (it.shields, it.pending) = (0, true); // nothing shields from that
                }
            }
        }
    }

    fn nothing_is_left(&mut self) {
        for scope in self.scopes() {
            if self.host.known().1.contains_key(&scope) {
                self.host.object_dies(scope);
            }
        }
        self.host.run(|host, _| host.ends(Ends::Returns));
        assert_eq!(self.host.live(), 0);
        for (set, members) in std::mem::take(&mut self.sets) {
            self.host.drop_set(set, members);
        }
        for id in std::mem::take(&mut self.timeouts) {
            self.host.drop_timeout(id);
        }
        self.check();
        assert_eq!((self.host.known().1.len(), self.host.root_scopes()), (1, vec![GLOBAL]), "{:#?}", self.host.log);
        assert_eq!((self.host.deadlines(), self.host.has_wake_source()), (0, false));
        for co in self.coroutines() {
            assert!(self.host.body(co).complete);
        }
    }
}
