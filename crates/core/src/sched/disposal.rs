//! Cancellation and disposal of scopes, zombies, and shutdown.

use super::scopes::{Cancellation, Disposed, Scope};
use super::{Alarm, Core, Coroutine, CoroutineId, Disposal, Event, ScopeId, SpawnKind, State, WaitReason, Waiter};

impl<X> Core<X> {
    /// Closes a scope and those below it. Returns the coroutines to cancel, in this order, after which
    /// [`Core::notify_cancelled`] is due; `None` if it was cancelled before.
    pub fn cancel_scope(&mut self, id: ScopeId) -> Option<Vec<CoroutineId>> {
        if self.is_cancelled(id) {
            return None;
        }
        let mut order = Vec::new();
        // A failure on its way up cancels each scope it passes: what is below a cancelled one was cancelled with it.
        for id in self.bottom_up(id, Scope::is_cancelled) {
            self.unbind(id);
            self.scope_mut(id).cancellation = Cancellation::Requested;
            order.extend(self.bodies(id));
            if self.is_finished(id) {
                self.events.push_back(Event::Finished(id));
            }
        }
        Some(order)
    }

    /// Begins graceful shutdown. Returns the coroutines to cancel: all in the global scope, which stays open, and in those
    /// below it, also those that have swallowed an earlier cancellation. Then [`Core::notify_cancelled`] of the global scope
    /// is due.
    pub fn shut_down(&mut self) -> Vec<CoroutineId> {
        for child in self.child_scopes(Self::GLOBAL) {
            if self.cancel_scope(child).is_some() {
                self.scope_mut(child).failure_unhandled = true;
            }
        }
        let scopes = self.bottom_up(Self::GLOBAL, |_| false);
        let mut order: Vec<CoroutineId> = scopes.into_iter().flat_map(|id| self.bodies(id)).collect();
        let is_runner = |co: &CoroutineId| matches!(self.coroutine(*co).kind, SpawnKind::Runner { .. });
        order.extend(self.coroutines().filter(|co| is_runner(co) && self.is_within(*co, Self::GLOBAL)));
        order.retain(|co| !self.is_detached(*co));
        for co in &order {
            let coroutine = self.coroutine_mut(*co);
            coroutine.shutdowns = coroutine.shutdowns.max(1);
        }
        order
    }

    /// Begins the second phase of shutdown, or continues it. Returns the coroutines to cancel by force: all. From now on no
    /// coroutine keeps the application alive for longer than zombies do, and one that waits again after a second
    /// cancellation by shutdown is abandoned: it is never resumed.
    pub fn force_shut_down(&mut self) -> Vec<CoroutineId> {
        self.forced = true;
        let mut order: Vec<CoroutineId> = self.coroutines().collect();
        order.retain(|co| self.coroutine(*co).state != State::Ending && !self.is_detached(*co));
        for co in &order {
            let coroutine = self.coroutine_mut(*co);
            // A cancellation that was not delivered yet is replaced.
            let given = if coroutine.cancellation.is_some() { 0 } else { 1 };
            coroutine.shutdowns = (coroutine.shutdowns + given).clamp(1, 2);
        }
        for (_, coroutine) in self.coroutines.iter_mut().filter(|(_, it)| it.state != State::Done && !it.detached) {
            coroutine.zombie = true;
        }
        self.zombies = self.live;
        order
    }

    /// Returns `true` if shutdown is in its second phase.
    pub fn is_forced(&self) -> bool {
        self.forced
    }

    /// The number of abandoned coroutines.
    pub fn abandoned(&self) -> usize {
        self.abandoned
    }

    /// Abandons the running coroutine, which is about to wait, if it has swallowed two cancellations by shutdown.
    #[cold]
    pub(super) fn abandon_if_unstoppable(&mut self) -> bool {
        let coroutine = self.coroutine_mut(self.running);
        if coroutine.shutdowns < 2 || coroutine.cancellation.is_some() || coroutine.state != State::Running {
            return false;
        }
        coroutine.abandoned = true;
        coroutine.state = State::Parked;
        coroutine.on = WaitReason::Yield; // no signal interrupts it
        coroutine.epoch = coroutine.epoch.wrapping_add(1);
        self.abandoned += 1;
        true
    }

    /// The coroutines that a cancellation of `co` cancels: itself, or those it waits for if its body has ended.
    pub fn cancel_targets(&self, co: CoroutineId) -> Vec<CoroutineId> {
        let (mut found, mut open) = (Vec::new(), vec![co]);
        while let Some(co) = open.pop() {
            match self.coroutine(co).state {
                State::Done => {}
                State::Ending => open.extend(self.children_of(co).into_iter().rev()),
                _ => found.push(co),
            }
        }
        found
    }

    /// Wakes those who wait for a cancelled scope or for one below it, once.
    pub fn notify_cancelled(&mut self, id: ScopeId) {
        for id in self.bottom_up(id, |scope| scope.cancellation == Cancellation::Notified) {
            if !self.is_cancelled(id) {
                continue; // the global one
            }
            self.scope_mut(id).cancellation = Cancellation::Notified;
            for at in 0..self.scope(id).waiters.len() {
                if let Waiter::Park(ticket) = self.scope(id).waiters[at] {
                    self.wake(ticket);
                }
            }
        }
    }

    /// Disposes of a scope and of those below it. Returns the coroutines to warn of, in this order; no coroutine is
    /// returned twice.
    pub fn dispose_scope(&mut self, id: ScopeId, how: Disposal) -> Vec<CoroutineId> {
        let mut warn = Vec::new();
        for at in self.bottom_up(id, |_| false) {
            let scope = self.scope_mut(at);
            if how != Disposal::Released {
                scope.disposed = Disposed::Explicitly;
            } else if scope.disposed == Disposed::No {
                scope.disposed = Disposed::Released;
            }
            if let Some(timer) = scope.disposal.take() {
                self.timers.cancel(timer);
            }
            if !self.is_cancelled(at) && how != Disposal::Cancel {
                self.set_zombies(at, matches!(how, Disposal::Safely | Disposal::Released));
            }
            for co in self.bodies(at) {
                if !std::mem::replace(&mut self.coroutine_mut(co).warned, true) {
                    warn.push(co);
                }
            }
            if self.is_finished(at) {
                self.events.push_back(Event::Finished(at));
            }
        }
        if let Disposal::Until(deadline) = how
            && !self.is_cancelled(id)
        {
            let timer = self.timers.insert(deadline, Alarm::Disposal(id));
            self.scope_mut(id).disposal = Some(timer);
        }
        warn
    }

    /// Makes zombies of the coroutines of a scope and of those below it.
    pub fn make_zombies(&mut self, id: ScopeId) {
        for id in self.bottom_up(id, |_| false) {
            self.set_zombies(id, true);
        }
    }

    fn set_zombies(&mut self, id: ScopeId, zombie: bool) {
        self.scope_mut(id).zombies = zombie;
        for co in self.members(id) {
            let zombie = zombie || self.forced;
            let was = std::mem::replace(&mut self.coroutine_mut(co).zombie, zombie);
            self.zombies = self.zombies + usize::from(zombie) - usize::from(was);
        }
    }

    pub(super) fn disposal_is_due(&mut self, id: ScopeId) {
        self.scope_mut(id).disposal = None;
        self.events.push_back(Event::DisposalDue(id));
    }

    /// Starts a timer of `grace` nanoseconds when only zombies are left ([`Event::ZombiesDue`]), and stops it when others
    /// are there again.
    pub fn update_zombie_timer(&mut self, now: u64, grace: u64) {
        if self.zombies == 0 && self.grace.is_none() {
            return;
        }
        let alone = self.only_zombies();
        match self.grace {
            None if alone => self.grace = Some(self.timers.insert(now.saturating_add(grace), Alarm::Zombies)),
            Some(timer) if !alone => {
                self.timers.cancel(timer);
                self.grace = None;
            }
            _ => {}
        }
    }

    /// Returns `true` if all live coroutines are zombies, and there is one.
    pub fn only_zombies(&self) -> bool {
        self.live == self.zombies && self.zombies > 0
    }

    /// The zombies whose bodies have not ended.
    pub fn zombies(&self) -> Vec<CoroutineId> {
        let ends = |coroutine: &Coroutine<X>| coroutine.state == State::Ending || coroutine.abandoned;
        let is_zombie = |co: &CoroutineId| self.coroutine(*co).zombie && !ends(self.coroutine(*co));
        self.coroutines().filter(is_zombie).collect()
    }
}
