//! What can be awaited, and who follows it: timeouts, sets, and the lists of followers.

use super::{Alarm, Co, Core, Event, Follower, Outcome, ScopeId, SetId, State, Target, Ticket, TimeoutId};
use crate::timers::TimerId;

pub(super) struct Timeout {
    timer: Option<TimerId>,
    done: bool,
    pub(super) followers: Vec<Follower>,
}

pub(super) struct Set {
    /// How many of it are not complete.
    pending: usize,
    failed: Option<Co>,
    /// The first failure completes it.
    fails_fast: bool,
    followers: Vec<Follower>,
}

/// Waiting for something, and not only ending with it.
fn waits(follower: &Follower) -> bool {
    !matches!(follower, Follower::Bound(_))
}

impl<X> Core<X> {
    /// Is it complete?
    pub fn is_done(&self, target: Target) -> bool {
        match target {
            Target::Coroutine(co) => self.slot(co).state == State::Done,
            Target::Timeout(id) => self.timeouts[id.0 as usize].done,
            Target::Scope(id) => self.is_finished(id),
            Target::Set(id) => {
                let set = &self.sets[id.0 as usize];
                set.pending == 0 || set.fails_fast && set.failed.is_some()
            }
        }
    }

    fn followers(&mut self, target: Target) -> &mut Vec<Follower> {
        match target {
            Target::Coroutine(co) => &mut self.slots[co.0 as usize].followers,
            Target::Timeout(id) => &mut self.timeouts[id.0 as usize].followers,
            Target::Scope(id) => &mut self.scopes[id.slot()].followers,
            Target::Set(id) => &mut self.sets[id.0 as usize].followers,
        }
    }

    /// The ticket will be used when `target` completes. The caller has seen that it is not complete.
    pub fn subscribe(&mut self, target: Target, ticket: Ticket) {
        self.follow(target, Follower::Park(ticket));
    }

    /// Takes a subscription back.
    pub fn unsubscribe(&mut self, target: Target, ticket: Ticket) {
        self.unfollow(target, Follower::Park(ticket));
    }

    pub(super) fn follow(&mut self, target: Target, follower: Follower) {
        self.followers(target).push(follower);
        if let Target::Coroutine(co) = target
            && waits(&follower)
        {
            self.slot_mut(co).sought = true;
        }
        self.awaited += usize::from(matches!(target, Target::Timeout(_)) && waits(&follower));
    }

    pub(super) fn unfollow(&mut self, target: Target, follower: Follower) {
        let followers = self.followers(target);
        if let Some(at) = followers.iter().position(|f| *f == follower) {
            followers.remove(at);
            self.awaited -= usize::from(matches!(target, Target::Timeout(_)) && waits(&follower));
        }
    }

    /// Something has completed, `failed` if by a failure or a cancellation of this one.
    pub(super) fn notify(&mut self, follower: Follower, failed: Option<Co>) {
        match follower {
            Follower::Park(ticket) => self.wake(ticket),
            Follower::Set(id) => self.one_of_set(id, failed),
            Follower::Bound(scope) => self.constraint_is_complete(scope),
        }
    }

    /// A point in time that can be awaited.
    pub fn timeout(&mut self, deadline: u64) -> TimeoutId {
        let index = self.free_timeouts.pop().unwrap_or_else(|| {
            self.timeouts.push(Timeout { timer: None, done: false, followers: Vec::new() });
            self.timeouts.len() as u32 - 1
        });
        let timer = self.timers.insert(deadline, Alarm::Timeout(TimeoutId(index)));
        let timeout = &mut self.timeouts[index as usize];
        timeout.timer = Some(timer);
        timeout.done = false;
        TimeoutId(index)
    }

    pub(super) fn timeout_is_over(&mut self, id: TimeoutId) {
        let timeout = &mut self.timeouts[id.0 as usize];
        timeout.timer = None;
        timeout.done = true;
        for follower in std::mem::take(&mut timeout.followers) {
            self.awaited -= usize::from(waits(&follower));
            self.notify(follower, None);
        }
    }

    /// The timeout's object has died: its timer goes too.
    pub fn drop_timeout(&mut self, id: TimeoutId) {
        let timeout = &mut self.timeouts[id.0 as usize];
        if let Some(timer) = timeout.timer.take() {
            self.timers.cancel(timer);
        }
        for follower in std::mem::take(&mut timeout.followers) {
            self.awaited -= usize::from(waits(&follower));
            if let Follower::Bound(scope) = follower {
                self.bound_is_lost(scope);
            }
        }
        self.free_timeouts.push(id.0);
    }

    /// A set of coroutines, which completes when the last of them does; `fails_fast`: or at the first failure.
    /// It counts as an awaiter of each.
    pub fn set(&mut self, fails_fast: bool) -> SetId {
        let set = Set { pending: 0, failed: None, fails_fast, followers: Vec::new() };
        match self.free_sets.pop() {
            Some(index) => {
                self.sets[index as usize] = set;
                SetId(index)
            }
            None => {
                self.sets.push(set);
                SetId(self.sets.len() as u32 - 1)
            }
        }
    }

    /// Adds one.
    pub fn add_to_set(&mut self, id: SetId, co: Co) {
        let slot = self.slot_mut(co);
        if slot.state == State::Done {
            slot.awaited = true;
            let failed = slot.outcome != Outcome::Returned;
            self.sets[id.0 as usize].pending += 1;
            self.one_of_set(id, failed.then_some(co));
        } else {
            self.sets[id.0 as usize].pending += 1;
            self.follow(Target::Coroutine(co), Follower::Set(id));
        }
    }

    fn one_of_set(&mut self, id: SetId, failed: Option<Co>) {
        let set = &mut self.sets[id.0 as usize];
        set.pending -= 1;
        if failed.is_some() && set.failed.is_none() {
            set.failed = failed;
            self.events.push_back(Event::Failed(id));
        }
        if self.is_done(Target::Set(id)) {
            let fails = self.sets[id.0 as usize].failed.is_some();
            for follower in std::mem::take(&mut self.sets[id.0 as usize].followers) {
                if let Follower::Park(ticket) = follower
                    && fails
                    && self.will_take(ticket)
                {
                    self.slot_mut(ticket.co).keeps = true; // the set has taken the failure for it alone
                }
                self.notify(follower, failed);
            }
        }
    }

    /// The first of a set that failed or was cancelled.
    pub fn failed_of_set(&self, id: SetId) -> Option<Co> {
        self.sets[id.0 as usize].failed
    }

    /// Those of a set that are not complete, at most `limit` of them. Looks at everybody: for people who ask.
    pub fn pending_of_set(&self, id: SetId, limit: usize) -> Vec<Co> {
        let waits = |co: &Co| self.slot(*co).followers.contains(&Follower::Set(id));
        self.coroutines().filter(waits).take(limit).collect()
    }

    /// The set is needed no more; `members` are all that were added and are still alive.
    pub fn drop_set(&mut self, id: SetId, members: impl IntoIterator<Item = Co>) {
        for co in members {
            self.unfollow(Target::Coroutine(co), Follower::Set(id));
        }
        self.sets[id.0 as usize].followers.clear();
        self.free_sets.push(id.0);
    }

    /// Nobody is ready: can anything still come from outside, or is it a deadlock? A timeout that nobody awaits wakes
    /// nobody.
    pub fn something_to_wait_for(&self) -> bool {
        self.outside + self.timed + self.awaited > 0 || self.grace.is_some() || self.some_bound_may_come()
    }

    /// Somebody has taken the outcome of a complete coroutine.
    pub fn mark_awaited(&mut self, co: Co) {
        self.slot_mut(co).awaited = true;
    }

    /// Has anybody awaited it up to now?
    pub fn was_awaited(&self, co: Co) -> bool {
        self.slot(co).awaited
    }

    /// Has anybody ever begun to await it, or taken its outcome?
    pub fn was_sought(&self, co: Co) -> bool {
        self.slot(co).sought || self.slot(co).awaited
    }

    /// A failure goes to `co`. If it waits for `scope` it wakes; else it will ask.
    pub fn deliver(&mut self, co: Co, scope: ScopeId, failure: X) {
        self.deliveries.push((co, scope, failure));
        let of = |f: &Follower| if let Follower::Park(ticket) = f { Some(*ticket) } else { None };
        let mut tickets = self.scopes[scope.slot()].followers.iter().filter_map(of);
        if let Some(ticket) = tickets.find(|ticket| ticket.co == co) {
            self.slot_mut(co).keeps |= self.will_take(ticket);
            self.wake(ticket);
        }
    }

    /// The running coroutine asks for the failures of the closed `scope`, until [`Core::collect_no_more`]: they stay there,
    /// and it wakes for each.
    pub fn collect(&mut self, scope: ScopeId) {
        let running = self.running;
        self.scopes[scope.slot()].collectors.push(running);
    }

    /// Ends one [`Core::collect`] of the running coroutine.
    pub fn collect_no_more(&mut self, scope: ScopeId) {
        let running = self.running;
        let collectors = &mut self.scopes[scope.slot()].collectors;
        if let Some(at) = collectors.iter().position(|co| *co == running) {
            collectors.swap_remove(at);
        }
    }

    /// The oldest failure of `scope` that was delivered to the running coroutine and that it has not taken.
    pub fn take_delivery(&mut self, scope: ScopeId) -> Option<X> {
        let running = self.running;
        let at = self.deliveries.iter().position(|(co, from, _)| *co == running && *from == scope)?;
        Some(self.deliveries.remove(at).2)
    }

    /// In the child of a fork: nobody waits. What the running one belongs to or ends goes on.
    pub(super) fn forget_waiters_but_for(&mut self, running: Co) {
        for timeout in &mut self.timeouts {
            timeout.followers.retain(|follower| !waits(follower));
        }
        for set in &mut self.sets {
            set.followers.clear();
            set.pending = 0;
        }
        let followers = &mut self.slots[running.0 as usize].followers;
        followers.retain(|follower| !matches!(follower, Follower::Park(_)));
        for follower in followers {
            if let Follower::Set(id) = follower {
                self.sets[id.0 as usize].pending += 1;
            }
        }
    }
}
