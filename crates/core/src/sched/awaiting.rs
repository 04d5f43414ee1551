//! What can be awaited, and who follows it: timeouts, sets, and the lists of waiters.

use super::{Alarm, Core, CoroutineId, Event, Outcome, ScopeId, SetId, State, Target, Ticket, TimeoutId, Waiter};
use crate::timers::TimerId;

pub(super) struct Timeout {
    timer: Option<TimerId>,
    done: bool,
    pub(super) waiters: Vec<Waiter>,
}

pub(super) struct Set {
    /// How many of it are not complete.
    pending: usize,
    failed: Option<CoroutineId>,
    /// The first failure completes it.
    fails_fast: bool,
    waiters: Vec<Waiter>,
}

/// Waiting for something, and not only ending with it.
fn waits(waiter: &Waiter) -> bool {
    !matches!(waiter, Waiter::Bound(_))
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

    fn waiters(&mut self, target: Target) -> &mut Vec<Waiter> {
        match target {
            Target::Coroutine(co) => &mut self.slots[co.0 as usize].waiters,
            Target::Timeout(id) => &mut self.timeouts[id.0 as usize].waiters,
            Target::Scope(id) => &mut self.scopes[id.slot()].waiters,
            Target::Set(id) => &mut self.sets[id.0 as usize].waiters,
        }
    }

    /// The ticket will be used when `target` completes. The caller has seen that it is not complete.
    pub fn subscribe(&mut self, target: Target, ticket: Ticket) {
        self.add_waiter(target, Waiter::Park(ticket));
    }

    /// Takes a subscription back.
    pub fn unsubscribe(&mut self, target: Target, ticket: Ticket) {
        self.remove_waiter(target, Waiter::Park(ticket));
    }

    pub(super) fn add_waiter(&mut self, target: Target, waiter: Waiter) {
        self.waiters(target).push(waiter);
        if let Target::Coroutine(co) = target
            && waits(&waiter)
        {
            self.slot_mut(co).ever_awaited = true;
        }
        self.awaited += usize::from(matches!(target, Target::Timeout(_)) && waits(&waiter));
    }

    pub(super) fn remove_waiter(&mut self, target: Target, waiter: Waiter) {
        let waiters = self.waiters(target);
        if let Some(at) = waiters.iter().position(|f| *f == waiter) {
            waiters.remove(at);
            self.awaited -= usize::from(matches!(target, Target::Timeout(_)) && waits(&waiter));
        }
    }

    /// Something has completed, `failed` if by a failure or a cancellation of this one.
    pub(super) fn notify(&mut self, waiter: Waiter, failed: Option<CoroutineId>) {
        match waiter {
            Waiter::Park(ticket) => self.wake(ticket),
            Waiter::Set(id) => self.one_of_set(id, failed),
            Waiter::Bound(scope) => self.constraint_is_complete(scope),
        }
    }

    /// A point in time that can be awaited.
    pub fn add_timeout(&mut self, deadline: u64) -> TimeoutId {
        let index = self.free_timeouts.pop().unwrap_or_else(|| {
            self.timeouts.push(Timeout { timer: None, done: false, waiters: Vec::new() });
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
        for waiter in std::mem::take(&mut timeout.waiters) {
            self.awaited -= usize::from(waits(&waiter));
            self.notify(waiter, None);
        }
    }

    /// The timeout's object has died: its timer goes too.
    pub fn drop_timeout(&mut self, id: TimeoutId) {
        let timeout = &mut self.timeouts[id.0 as usize];
        if let Some(timer) = timeout.timer.take() {
            self.timers.cancel(timer);
        }
        for waiter in std::mem::take(&mut timeout.waiters) {
            self.awaited -= usize::from(waits(&waiter));
            if let Waiter::Bound(scope) = waiter {
                self.bound_is_lost(scope);
            }
        }
        self.free_timeouts.push(id.0);
    }

    /// A set of coroutines, which completes when the last of them does; `fails_fast`: or at the first failure.
    /// It counts as an awaiter of each.
    pub fn add_set(&mut self, fails_fast: bool) -> SetId {
        let set = Set { pending: 0, failed: None, fails_fast, waiters: Vec::new() };
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
    pub fn add_to_set(&mut self, id: SetId, co: CoroutineId) {
        let slot = self.slot_mut(co);
        if slot.state == State::Done {
            slot.awaited = true;
            let failed = slot.outcome != Outcome::Returned;
            self.sets[id.0 as usize].pending += 1;
            self.one_of_set(id, failed.then_some(co));
        } else {
            self.sets[id.0 as usize].pending += 1;
            self.add_waiter(Target::Coroutine(co), Waiter::Set(id));
        }
    }

    fn one_of_set(&mut self, id: SetId, failed: Option<CoroutineId>) {
        let set = &mut self.sets[id.0 as usize];
        set.pending -= 1;
        if failed.is_some() && set.failed.is_none() {
            set.failed = failed;
            self.events.push_back(Event::Failed(id));
        }
        if self.is_done(Target::Set(id)) {
            let fails = self.sets[id.0 as usize].failed.is_some();
            for waiter in std::mem::take(&mut self.sets[id.0 as usize].waiters) {
                if let Waiter::Park(ticket) = waiter
                    && fails
                    && self.will_take(ticket)
                {
                    self.slot_mut(ticket.co).wake_prioritized = true; // the set has taken the failure for it alone
                }
                self.notify(waiter, failed);
            }
        }
    }

    /// The first of a set that failed or was cancelled.
    pub fn failed_in_set(&self, id: SetId) -> Option<CoroutineId> {
        self.sets[id.0 as usize].failed
    }

    /// Those of a set that are not complete, at most `limit` of them. Looks at everybody: for people who ask.
    pub fn pending_in_set(&self, id: SetId, limit: usize) -> Vec<CoroutineId> {
        let waits = |co: &CoroutineId| self.slot(*co).waiters.contains(&Waiter::Set(id));
        self.coroutines().filter(waits).take(limit).collect()
    }

    /// The set is needed no more; `members` are all that were added and are still alive.
    pub fn drop_set(&mut self, id: SetId, members: impl IntoIterator<Item = CoroutineId>) {
        for co in members {
            self.remove_waiter(Target::Coroutine(co), Waiter::Set(id));
        }
        self.sets[id.0 as usize].waiters.clear();
        self.free_sets.push(id.0);
    }

    /// Nobody is ready: can anything still come from outside, or is it a deadlock? A timeout that nobody awaits wakes
    /// nobody.
    pub fn has_wake_source(&self) -> bool {
        self.outside + self.timed + self.awaited > 0 || self.grace.is_some() || self.some_bound_may_come()
    }

    /// Somebody has taken the outcome of a complete coroutine.
    pub fn mark_awaited(&mut self, co: CoroutineId) {
        self.slot_mut(co).awaited = true;
    }

    /// Has anybody awaited it up to now?
    pub fn was_awaited(&self, co: CoroutineId) -> bool {
        self.slot(co).awaited
    }

    /// Has anybody ever begun to await it, or taken its outcome?
    pub fn ever_awaited(&self, co: CoroutineId) -> bool {
        self.slot(co).ever_awaited || self.slot(co).awaited
    }

    /// A failure goes to `co`. If it waits for `scope` it wakes; else it will ask.
    pub fn deliver(&mut self, co: CoroutineId, scope: ScopeId, failure: X) {
        self.deliveries.push((co, scope, failure));
        let of = |f: &Waiter| if let Waiter::Park(ticket) = f { Some(*ticket) } else { None };
        let mut tickets = self.scopes[scope.slot()].waiters.iter().filter_map(of);
        if let Some(ticket) = tickets.find(|ticket| ticket.co == co) {
            self.slot_mut(co).wake_prioritized |= self.will_take(ticket);
            self.wake(ticket);
        }
    }

    /// The running coroutine asks for the failures of the closed `scope`, until [`Core::stop_collecting`]: they stay there,
    /// and it wakes for each.
    pub fn start_collecting(&mut self, scope: ScopeId) {
        let running = self.running;
        self.scopes[scope.slot()].collectors.push(running);
    }

    /// Ends one [`Core::start_collecting`] of the running coroutine.
    pub fn stop_collecting(&mut self, scope: ScopeId) {
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
    pub(super) fn forget_waiters_but_for(&mut self, running: CoroutineId) {
        for timeout in &mut self.timeouts {
            timeout.waiters.retain(|waiter| !waits(waiter));
        }
        for set in &mut self.sets {
            set.waiters.clear();
            set.pending = 0;
        }
        let waiters = &mut self.slots[running.0 as usize].waiters;
        waiters.retain(|waiter| !matches!(waiter, Waiter::Park(_)));
        for waiter in waiters {
            if let Waiter::Set(id) = waiter {
                self.sets[id.0 as usize].pending += 1;
            }
        }
    }
}
