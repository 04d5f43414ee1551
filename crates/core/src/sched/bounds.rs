//! Bounds of a scope: a deadline, and the completion of an awaitable. The first one that is reached cancels the scope.

use super::scopes::Scope;
use super::{Alarm, Bound, Core, Event, ScopeId, Target, Waiter};

impl<X> Core<X> {
    /// Queues [`Event::Bound`] at this moment, if the scope is not cancelled by then.
    pub fn set_deadline(&mut self, id: ScopeId, deadline: u64) {
        if !self.is_cancelled(id) {
            let timer = self.timers.insert(deadline, Alarm::Bound(id));
            self.scope_mut(id).deadline = Some(timer);
        }
    }

    /// Queues [`Event::Bound`] when `target` completes. Replaces an earlier target.
    pub fn bound_by(&mut self, id: ScopeId, target: Target) {
        if let Some(before) = self.scope_mut(id).bound.take() {
            self.remove_waiter(before, Waiter::Bound(id));
        }
        if self.is_cancelled(id) {
            return;
        }
        if self.is_done(target) {
            self.events.push_back(Event::Bound(id, Bound::Constraint));
        } else {
            self.scope_mut(id).bound = Some(target);
            self.add_waiter(target, Waiter::Bound(id));
        }
    }

    pub(super) fn time_is_over(&mut self, id: ScopeId) {
        self.scope_mut(id).deadline = None;
        self.events.push_back(Event::Bound(id, Bound::Time));
    }

    pub(super) fn constraint_is_complete(&mut self, id: ScopeId) {
        if self.scope_exists(id) {
            self.scope_mut(id).bound = None;
            self.events.push_back(Event::Bound(id, Bound::Constraint));
        }
    }

    /// Forgets a target that was dropped before it completed.
    pub(super) fn bound_is_lost(&mut self, id: ScopeId) {
        self.scope_mut(id).bound = None;
    }

    pub(super) fn unbind(&mut self, id: ScopeId) {
        let scope = self.scope_mut(id);
        let (deadline, disposal, bound) = (scope.deadline.take(), scope.disposal.take(), scope.bound.take());
        for timer in [deadline, disposal].into_iter().flatten() {
            self.timers.cancel(timer);
        }
        if let Some(target) = bound {
            self.remove_waiter(target, Waiter::Bound(id));
        }
    }

    /// Returns `true` if a bound can still cancel coroutines that nothing else would wake.
    pub(super) fn some_bound_may_come(&self) -> bool {
        let coming = |scope: &Scope| {
            scope.deadline.is_some() || scope.disposal.is_some() || matches!(scope.bound, Some(Target::Timeout(_)))
        };
        self.scopes.iter().any(|(_, scope)| scope.active > 0 && coming(scope))
    }
}
