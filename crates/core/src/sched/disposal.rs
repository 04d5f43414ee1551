//! Cancellation and disposal of scopes, and their zombies.

use super::coroutine::Standing;
use super::scopes::{Cancellation, Disposed, Scope};
use super::{Alarm, Core, CoroutineId, Disposal, Event, ScopeId, State, Waiter};

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

    /// Turns the coroutines of a scope and of those below it into zombies.
    pub fn make_zombies(&mut self, id: ScopeId) {
        for id in self.bottom_up(id, |_| false) {
            self.set_zombies(id, true);
        }
    }

    fn set_zombies(&mut self, id: ScopeId, zombie: bool) {
        self.scope_mut(id).zombies = zombie;
        for co in self.members(id) {
            let zombie = zombie || self.life.is_forced();
            let standing = Standing::zombie_if(zombie);
            let before = std::mem::replace(&mut self.coroutine_mut(co).standing, standing);
            self.zombies = self.zombies + usize::from(zombie) - usize::from(before == Standing::Zombie);
        }
    }

    pub(super) fn disposal_is_due(&mut self, id: ScopeId) {
        self.scope_mut(id).disposal = None;
        self.events.push_back(Event::DisposalDue(id));
    }
}
