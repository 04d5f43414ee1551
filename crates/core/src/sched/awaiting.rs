//! Awaitables: timeouts, sets of coroutines, and who is notified of a completion.

use super::coroutine::Awaited;
use super::{
    Alarm, Core, CoroutineId, Event, Maker, Outcome, ScopeId, SetId, State, Target, Ticket, TimeoutId, WaitReason,
    Waiter,
};
use crate::timers::TimerId;

#[derive(Default)]
pub(super) struct Timeout {
    timer: Option<TimerId>,
    done: bool,
    pub(super) waiters: Vec<Waiter>,
}

pub(super) struct Set {
    /// The number of its coroutines that are not complete.
    pub(super) pending: usize,
    failed: Option<CoroutineId>,
    /// Something that it contains has failed, which need not be a coroutine.
    has_failure: bool,
    /// The first failure completes the set.
    fails_fast: bool,
    /// It completes by something outside the process's own coroutines.
    external: bool,
    /// It completes by [`Core::complete_set`].
    pub(super) open: bool,
    /// What alone completes it, if it is open and that is known.
    pub(super) maker: Option<Maker>,
    /// The number of targets that may still notify it, of those of [`Core::add_watch`].
    watched: usize,
    /// All targets that notify it, and some that have done so.
    members: Vec<Maker>,
    pub(super) waiters: Vec<Waiter>,
}

impl Set {
    fn new(pending: usize) -> Set {
        Set {
            pending,
            failed: None,
            has_failure: false,
            fails_fast: false,
            external: false,
            open: false,
            maker: None,
            watched: 0,
            members: Vec::new(),
            waiters: Vec::new(),
        }
    }

    fn is_complete(&self) -> bool {
        self.pending == 0 || self.fails_fast && self.has_failure
    }
}

/// Returns `true` if the waiter awaits the target, and is not only bounded by it.
fn waits(waiter: &Waiter) -> bool {
    !matches!(waiter, Waiter::Bound(_))
}

impl<X> Core<X> {
    /// Returns `true` if the target is complete. A timeout or set that was dropped is.
    #[inline]
    pub fn is_done(&self, target: Target) -> bool {
        match target {
            Target::Coroutine(co) => self.is_complete(co),
            Target::Timeout(id) => self.timeouts.get(id.0).is_none_or(|timeout| timeout.done),
            Target::Scope(id) => self.is_finished(id),
            Target::Set(id) => self.sets.get(id.0).is_none_or(Set::is_complete),
        }
    }

    /// The waiters of `target`; `None` if it was dropped.
    fn waiters(&mut self, target: Target) -> Option<&mut Vec<Waiter>> {
        match target {
            Target::Coroutine(co) => Some(&mut self.coroutines[co.0].waiters),
            Target::Timeout(id) => self.timeouts.get_mut(id.0).map(|timeout| &mut timeout.waiters),
            Target::Scope(id) => self.scopes.get_mut(id.0).map(|scope| &mut scope.waiters),
            Target::Set(id) => self.sets.get_mut(id.0).map(|set| &mut set.waiters),
        }
    }

    /// Uses the ticket when `target` completes. The caller has seen that it is not complete.
    pub fn subscribe(&mut self, target: Target, ticket: Ticket) {
        self.add_waiter(target, Waiter::Park(ticket));
    }

    /// Does the same for a wait that ends when one of several targets completes, or at its limit, and by nothing else.
    pub fn subscribe_to_one(&mut self, target: Target, ticket: Ticket) {
        self.subscribe(target, ticket);
        let watched = self.maker(target);
        let coroutine = self.coroutine_mut(ticket.co);
        if coroutine.watches != ticket.epoch {
            coroutine.watches = ticket.epoch;
            coroutine.watched.clear();
        }
        coroutine.watched.push(watched);
    }

    /// Returns the targets any one of which ends a coroutine's wait.
    pub(super) fn watched_by(&self, co: CoroutineId) -> Vec<Target> {
        let coroutine = self.coroutine(co);
        let is_of_this_wait = coroutine.watches == coroutine.epoch;
        let watched = coroutine.watched.iter().filter(|watched| is_of_this_wait && self.is_pending(**watched));
        watched.filter_map(|watched| self.target_of(*watched)).collect()
    }

    /// Takes back a [`Core::subscribe`] or [`Core::subscribe_to_one`].
    pub fn unsubscribe(&mut self, target: Target, ticket: Ticket) {
        self.remove_waiter(target, Waiter::Park(ticket));
    }

    #[inline]
    pub(super) fn add_waiter(&mut self, target: Target, waiter: Waiter) {
        if let Target::Coroutine(co) = target {
            let coroutine = self.coroutine_mut(co);
            coroutine.waiters.push(waiter);
            if waits(&waiter) {
                coroutine.awaited = coroutine.awaited.max(Awaited::Started);
            }
            return;
        }
        let external = self.is_external(target);
        let Some(waiters) = self.waiters(target) else { return };
        waiters.push(waiter);
        self.awaited += usize::from(external && waits(&waiter));
    }

    /// Returns `false` if it was no waiter.
    #[inline]
    pub(super) fn remove_waiter(&mut self, target: Target, waiter: Waiter) -> bool {
        let external = self.is_external(target);
        let Some(waiters) = self.waiters(target) else { return false };
        let Some(at) = waiters.iter().position(|other| *other == waiter) else { return false };
        waiters.remove(at);
        self.awaited -= usize::from(external && waits(&waiter));
        true
    }

    /// Returns `true` if the target completes without any coroutine's help.
    fn is_external(&self, target: Target) -> bool {
        match target {
            Target::Timeout(_) => true,
            Target::Set(id) => self.sets.get(id.0).is_some_and(|set| set.external),
            Target::Coroutine(_) | Target::Scope(_) => false,
        }
    }

    /// Notifies a waiter of a completion. `failed`: the coroutine whose failure or cancellation it was.
    pub(super) fn notify(&mut self, waiter: Waiter, failed: Option<CoroutineId>) {
        match waiter {
            Waiter::Park(ticket) => {
                self.wake(ticket);
            }
            Waiter::Set(id) => self.one_of_set(id, failed, failed.is_some()),
            Waiter::Bound(scope) => self.constraint_is_complete(scope),
            Waiter::Member(id, key) => self.signal(id, key),
        }
    }

    /// Adds a point in time that can be awaited.
    pub fn add_timeout(&mut self, deadline: u64) -> TimeoutId {
        let (key, timeout) = self.timeouts.insert_vacated(Timeout::default);
        let id = TimeoutId(key);
        timeout.timer = Some(self.timers.insert(deadline, Alarm::Timeout(id)));
        timeout.done = false;
        id
    }

    pub(super) fn timeout_is_over(&mut self, id: TimeoutId) {
        let Some(timeout) = self.timeouts.get_mut(id.0) else { return };
        timeout.timer = None;
        timeout.done = true;
        for waiter in std::mem::take(&mut timeout.waiters) {
            self.awaited -= usize::from(waits(&waiter));
            self.notify(waiter, None);
        }
    }

    /// Drops a timeout and its timer.
    pub fn drop_timeout(&mut self, id: TimeoutId) {
        let Some(timeout) = self.timeouts.get_mut(id.0) else { return };
        if let Some(timer) = timeout.timer.take() {
            self.timers.cancel(timer);
        }
        for waiter in std::mem::take(&mut timeout.waiters) {
            self.awaited -= usize::from(waits(&waiter));
            if let Waiter::Bound(scope) = waiter {
                self.bound_is_lost(scope);
            }
        }
        self.timeouts.vacate(id.0);
    }

    /// Adds a set of coroutines, which completes when the last of them does, or with `fails_fast` at the first failure. It
    /// counts as an awaiter of each.
    pub fn add_set(&mut self, fails_fast: bool) -> SetId {
        SetId(self.sets.insert(Set { fails_fast, ..Set::new(0) }))
    }

    /// Adds a coroutine to a set.
    pub fn add_to_set(&mut self, id: SetId, co: CoroutineId) {
        let Some(set) = self.sets.get_mut(id.0) else { return };
        set.pending += 1;
        let is_complete = self.is_complete(co);
        let coroutine = &mut self.coroutines[co.0];
        if is_complete {
            coroutine.awaited = Awaited::Taken;
            let failed = coroutine.outcome != Outcome::Returned;
            self.one_of_set(id, failed.then_some(co), failed);
        } else {
            self.add_waiter(Target::Coroutine(co), Waiter::Set(id));
            self.note_member(id, Target::Coroutine(co));
        }
    }

    /// Records a target that notifies a set. Forgets those that have done so when there is no room: a set may last, so it takes
    /// only as much room as it needs at any one time.
    fn note_member(&mut self, id: SetId, target: Target) {
        let member = self.maker(target);
        let Some(set) = self.sets.get_mut(id.0) else { return };
        if set.members.len() == set.members.capacity() && !set.members.is_empty() {
            let mut members = std::mem::take(&mut set.members);
            members.retain(|member| self.is_pending(*member));
            if members.len() * 2 > members.capacity() {
                members.reserve(members.capacity());
            }
            let Some(set) = self.sets.get_mut(id.0) else { return };
            set.members = members;
            set.members.push(member);
        } else {
            set.members.push(member);
        }
    }

    /// Returns `true` if it still exists, and is not complete to all.
    fn is_pending(&self, member: Maker) -> bool {
        match self.target_of(member) {
            Some(Target::Coroutine(co)) => self.coroutine(co).state != State::Done,
            Some(target) => !self.is_done(target),
            None => false,
        }
    }

    /// Returns the targets that notify a set.
    pub(super) fn members_of(&self, set: &Set) -> Vec<Target> {
        let pending = set.members.iter().filter(|member| self.is_pending(**member));
        pending.filter_map(|member| self.target_of(*member)).collect()
    }

    #[inline]
    fn one_of_set(&mut self, id: SetId, failed: Option<CoroutineId>, fails: bool) {
        let Some(set) = self.sets.get_mut(id.0) else { return };
        set.pending = set.pending.saturating_sub(1); // more than it waits for may complete
        set.watched = set.watched.saturating_sub(1);
        set.has_failure |= fails;
        if failed.is_some() && set.failed.is_none() {
            set.failed = failed;
            self.events.push_back(Event::Failed(id));
        }
        if !set.is_complete() {
            return;
        }
        let fails = set.has_failure;
        for waiter in std::mem::take(&mut set.waiters) {
            if let Waiter::Park(ticket) = waiter
                && fails
                && self.will_take(ticket)
            {
                self.coroutine_mut(ticket.co).park.prioritized = true; // the set has taken the failure for it alone
            }
            self.notify(waiter, failed);
        }
    }

    /// Adds a set without coroutines, which completes by [`Core::complete_set`].
    pub fn add_open_set(&mut self) -> SetId {
        SetId(self.sets.insert(Set { open: true, ..Set::new(1) }))
    }

    /// Adds an open set that something outside the process's own coroutines completes: its awaiters are not deadlocked.
    pub fn add_external_set(&mut self) -> SetId {
        SetId(self.sets.insert(Set { open: true, external: true, ..Set::new(1) }))
    }

    /// Adds a set that completes when `count` of the targets that are still incomplete complete, or all of them, or with
    /// `fails_fast` at the first failure. It counts as an awaiter of each.
    pub fn add_watch(&mut self, targets: &[Target], count: usize, fails_fast: bool) -> SetId {
        let id = SetId(self.sets.insert(Set { fails_fast, ..Set::new(0) }));
        let mut watched = 0;
        for target in targets {
            if !self.is_done(*target) {
                self.add_waiter(*target, Waiter::Set(id));
                self.note_member(id, *target);
                watched += 1;
            }
        }
        if let Some(set) = self.sets.get_mut(id.0) {
            set.pending = count.min(watched);
            set.watched = watched;
        }
        id
    }

    /// Drops a set of [`Core::add_watch`]. `targets` are those of its targets that may be incomplete.
    pub fn drop_watch(&mut self, id: SetId, targets: impl IntoIterator<Item = Target>) {
        if self.sets.get(id.0).is_some_and(|set| set.watched > 0) {
            for target in targets {
                self.remove_waiter(target, Waiter::Set(id));
            }
        }
        self.sets.vacate(id.0);
    }

    /// Completes an open set and drops it. `fails`: what it stands for has failed. Returns `true` if something awaits it, which
    /// then takes the failure.
    pub fn complete_set(&mut self, id: SetId, fails: bool) -> bool {
        let Some(set) = self.sets.get_mut(id.0) else { return false };
        let waiters = std::mem::take(&mut set.waiters);
        let external = set.external;
        self.sets.vacate(id.0);
        let mut awaited = false;
        for waiter in waiters {
            self.awaited -= usize::from(external && waits(&waiter));
            awaited |= self.takes_outcome(&waiter);
            if let Waiter::Park(ticket) = waiter
                && fails
                && self.will_take(ticket)
            {
                self.coroutine_mut(ticket.co).park.prioritized = true;
            }
            match waiter {
                Waiter::Set(outer) => self.one_of_set(outer, None, fails),
                waiter => self.notify(waiter, None),
            }
        }
        awaited
    }

    /// The first coroutine of a set that failed or was cancelled.
    pub fn failed_in_set(&self, id: SetId) -> Option<CoroutineId> {
        self.sets.get(id.0).and_then(|set| set.failed)
    }

    /// The coroutines of a set that are not complete, at most `limit` of them. Walks all coroutines: for diagnostics.
    pub fn pending_in_set(&self, id: SetId, limit: usize) -> Vec<CoroutineId> {
        let waits = |co: &CoroutineId| self.coroutine(*co).waiters.contains(&Waiter::Set(id));
        self.coroutines().filter(waits).take(limit).collect()
    }

    /// Drops a set. `members` are all coroutines that were added and are not released.
    pub fn drop_set(&mut self, id: SetId, members: impl IntoIterator<Item = CoroutineId>) {
        for co in members {
            self.remove_waiter(Target::Coroutine(co), Waiter::Set(id));
        }
        self.sets.vacate(id.0);
    }

    /// Returns `true` if a parked coroutine can still be woken from outside. If not, and none is ready, it is a deadlock.
    /// Timeouts that nothing awaits do not count.
    pub fn has_wake_source(&self) -> bool {
        self.waits[WaitReason::OUTSIDE].now + self.timed + self.awaited > 0
            || self.grace.is_some()
            || self.some_bound_may_come()
    }

    /// Returns `true` if nothing but time can wake a coroutine. `asleep`: how many of those that wait for something outside wait for
    /// time, which only the host knows.
    pub fn only_time_can_wake(&self, asleep: usize) -> bool {
        let is_awaited = |set: &Set| set.external && set.waiters.iter().any(waits);
        self.waits[WaitReason::OUTSIDE].now == asleep && !self.sets.iter().any(|(_, set)| is_awaited(set))
    }

    /// Records that the outcome of a complete coroutine was taken.
    pub fn mark_awaited(&mut self, co: CoroutineId) {
        self.coroutine_mut(co).awaited = Awaited::Taken;
    }

    /// Returns the outcome of a coroutine that is complete, and records that it was taken.
    #[inline]
    pub fn take_end(&mut self, co: CoroutineId) -> Option<Outcome> {
        let is_complete = self.is_complete(co);
        let coroutine = &mut self.coroutines[co.0];
        if !is_complete {
            return None;
        }
        coroutine.awaited = Awaited::Taken;
        Some(coroutine.outcome)
    }

    /// Returns `true` if its outcome was taken, or something awaited it when it ended.
    pub fn was_awaited(&self, co: CoroutineId) -> bool {
        self.coroutine(co).is_taken()
    }

    /// Returns `true` if it is complete and has failed, and nothing took its outcome or awaited it when it ended.
    #[inline]
    pub fn has_unseen_failure(&self, co: CoroutineId) -> bool {
        let coroutine = self.coroutine(co);
        coroutine.state == State::Done && coroutine.outcome == Outcome::Failed && !coroutine.is_taken()
    }

    /// Returns `true` if anything has ever started to await it, or taken its outcome.
    pub fn ever_awaited(&self, co: CoroutineId) -> bool {
        self.coroutine(co).awaited != Awaited::Never
    }

    /// Delivers a failure of `scope` to `co`, which is woken if it waits for the scope ([`Core::take_delivery`]).
    pub fn deliver(&mut self, co: CoroutineId, scope: ScopeId, failure: X) {
        self.deliveries.push((co, scope, failure));
        let of = |f: &Waiter| if let Waiter::Park(ticket) = f { Some(*ticket) } else { None };
        let mut tickets = self.scope(scope).waiters.iter().filter_map(of);
        if let Some(ticket) = tickets.find(|ticket| ticket.co == co) {
            self.coroutine_mut(co).park.prioritized |= self.will_take(ticket);
            self.wake(ticket);
        }
    }

    /// Wakes the running coroutine for each failure of the closed `scope` until [`Core::stop_collecting`]. It finds them in
    /// the host's list.
    pub fn start_collecting(&mut self, scope: ScopeId) {
        let running = self.running;
        self.scope_mut(scope).collectors.push(running);
    }

    /// Ends one [`Core::start_collecting`] of the running coroutine.
    pub fn stop_collecting(&mut self, scope: ScopeId) {
        let running = self.running;
        let collectors = &mut self.scope_mut(scope).collectors;
        if let Some(at) = collectors.iter().position(|co| *co == running) {
            collectors.swap_remove(at);
        }
    }

    /// Takes the oldest failure of `scope` that was delivered to the running coroutine.
    pub fn take_delivery(&mut self, scope: ScopeId) -> Option<X> {
        let running = self.running;
        let at = self.deliveries.iter().position(|(co, from, _)| *co == running && *from == scope)?;
        Some(self.deliveries.remove(at).2)
    }

    /// In the child of a fork: forgets all waiters but the sets and bounds of the running coroutine.
    pub(super) fn forget_waiters_but_for(&mut self, running: CoroutineId) {
        for (_, timeout) in self.timeouts.iter_mut() {
            timeout.waiters.retain(|waiter| !waits(waiter));
        }
        for (_, set) in self.sets.iter_mut() {
            set.waiters.clear();
            set.pending = usize::from(set.open);
        }
        let waiters = &mut self.coroutines[running.0].waiters;
        waiters.retain(|waiter| !matches!(waiter, Waiter::Park(_) | Waiter::Member(..)));
        for waiter in waiters {
            if let Waiter::Set(id) = waiter
                && let Some(set) = self.sets.get_mut(id.0)
            {
                set.pending += 1;
            }
        }
    }
}
