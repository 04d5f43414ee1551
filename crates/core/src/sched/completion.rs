//! Ends: who is awaited that a coroutine is complete, who is not to outlive it, and where a failure goes.
//!
//! ```text
//!   body ends ─┬─ failed, nobody awaits it ─► its scope's handler
//!              │                               │ none: the scope is cancelled, children first
//!              │                               ├─► those who wait for the scope: it stops there
//!              │                               │ none
//!              │                               ▼
//!              │                              the parent's child handler, or its handler … up to the top: unhandled
//!              │                              (while the scope winds down: it stays there, for who asks)
//!              ├─ TopDown: those it spawned are cancelled
//!              ├─ BottomUp: it is `Ending` until those it spawned are complete
//!              ▼
//!          complete ─► its awaiters wake ─► was it the scope's last one? finished ─► the scope's waiters wake
//! ```
//! A handler of the program runs in a coroutine of its own, which holds the scope: it does not finish meanwhile.

use super::{
    Core, CoroutineId, End, Event, Lifetime, Outcome, Route, ScopeId, SpawnKind, State, Ticket, Waiter, WakeReason,
};

impl<X> Core<X> {
    /// The body of a coroutine has ended, or will never begin. Its awaiters are not woken yet.
    #[inline]
    pub fn end(&mut self, co: CoroutineId, outcome: Outcome) -> End {
        let coroutine = self.coroutine_mut(co);
        coroutine.outcome = outcome;
        // From now on no cancellation reaches it: its own failure may be what cancels its scope.
        coroutine.state = State::Ending;
        let alone = coroutine.children.is_empty();
        let awaited = self.coroutine(co).waiters.iter().any(|waiter| match waiter {
            Waiter::Park(ticket) => self.will_take(*ticket),
            Waiter::Set(_) => true,
            Waiter::Bound(_) => false,
        });
        if awaited && outcome == Outcome::Failed {
            self.prioritize_awaiters(co);
        }
        let coroutine = self.coroutine_mut(co);
        coroutine.awaited |= awaited;
        coroutine.awaited_at_end = awaited;
        if alone {
            return End { awaited, complete: true, orphans: Vec::new() };
        }
        let lifetime = self.lifetime(self.coroutine(co).scope);
        let orphans = if lifetime == Lifetime::TopDown && co != Self::MAIN { self.children_of(co) } else { Vec::new() };
        End { awaited, complete: lifetime != Lifetime::BottomUp, orphans }
    }

    /// A failure goes to those who await it alone: none of them loses it to a cancellation that comes later.
    fn prioritize_awaiters(&mut self, co: CoroutineId) {
        for at in 0..self.coroutine(co).waiters.len() {
            if let Waiter::Park(ticket) = self.coroutine(co).waiters[at]
                && self.will_take(ticket)
            {
                self.coroutine_mut(ticket.co).wake_prioritized = true;
            }
        }
    }

    /// Will it see what it waits for? Whose wait a cancellation has ended, though its turn has not come, throws that.
    pub(super) fn will_take(&self, ticket: Ticket) -> bool {
        let coroutine = self.coroutine(ticket.co);
        coroutine.epoch == ticket.epoch
            && match coroutine.state {
                State::Parked => true,
                State::Ready => coroutine.reason != WakeReason::Cancelled,
                _ => false,
            }
    }

    /// Has it failed, and have those who awaited it gone since, as it is complete only with those it spawned?
    pub fn has_lost_awaiters(&self, co: CoroutineId) -> bool {
        let coroutine = self.coroutine(co);
        if coroutine.outcome != Outcome::Failed || !coroutine.awaited_at_end {
            return false;
        }
        let takes = |waiter: &Waiter| match waiter {
            Waiter::Park(ticket) => self.will_take(*ticket),
            Waiter::Set(_) => true,
            Waiter::Bound(_) => false,
        };
        !coroutine.waiters.iter().any(takes)
    }

    /// A coroutine that has ended is complete: its awaiters are woken, and its scope may be finished.
    #[inline]
    pub fn complete(&mut self, co: CoroutineId) {
        let coroutine = self.coroutine_mut(co);
        let failed = (coroutine.outcome != Outcome::Returned).then_some(co);
        coroutine.state = State::Done;
        let (kind, scope, zombie) = (coroutine.kind, coroutine.scope, coroutine.zombie);
        self.live -= 1;
        self.zombies -= usize::from(zombie);
        if !self.coroutine(co).waiters.is_empty() {
            self.notify_awaiters(co, failed);
        }
        if !self.coroutine(co).children.is_empty() {
            self.orphan_children(co);
        }
        if let Some(parent) = self.leave_parent(co)
            && self.coroutine(parent).state == State::Ending
            && self.coroutine(parent).children.is_empty()
        {
            self.events.push_back(Event::Complete(parent));
        }
        match kind {
            SpawnKind::Runner { holds } => {
                if let Some(held) = holds {
                    self.remove_active(held);
                }
                self.remove_runner(scope);
            }
            _ => self.leave(co, scope),
        }
    }

    fn notify_awaiters(&mut self, co: CoroutineId, failed: Option<CoroutineId>) {
        let mut waiters = std::mem::take(&mut self.coroutine_mut(co).waiters);
        for waiter in waiters.drain(..) {
            self.notify(waiter, failed);
        }
        self.coroutine_mut(co).waiters = waiters; // the storage serves the slot's next coroutine
    }

    /// Gives an ended coroutine's slot back. Its cancellation, if any is left, is returned.
    pub fn release(&mut self, co: CoroutineId) -> Option<X> {
        let coroutine = self.coroutine_mut(co);
        debug_assert_eq!(coroutine.state, State::Done);
        let left = coroutine.cancellation.take();
        self.coroutines.vacate(self.coroutines.key(co.0));
        left
    }

    /// Where a failure that nobody awaited goes, at the scope of its coroutine or callback.
    pub fn failure(&mut self, scope: ScopeId) -> Route {
        if scope == Self::GLOBAL {
            return Route::Unhandled;
        }
        if self.scope(scope).handlers.own {
            return Route::Handler(scope);
        }
        self.cancelled_by_failure(scope)
    }

    /// Where a failure goes that `scope` has not stopped. `late`: the scope was winding down before it came
    /// ([`Core::is_secondary_failure`]). It goes up as long as the scopes above do so too, and ends nothing else.
    pub fn failure_above(&mut self, scope: ScopeId, secondary: bool) -> Route {
        let parent = self.parent_scope(scope).filter(|parent| *parent != Self::GLOBAL);
        match parent {
            Some(parent) if secondary && !self.is_winding_down(parent) => Route::Stays,
            Some(parent) if self.scope(parent).handlers.child => Route::ChildHandler(parent),
            Some(parent) => self.failure(parent),
            None if secondary => Route::Stays,
            None => {
                self.scope_mut(scope).failure_unhandled = true;
                Route::Unhandled
            }
        }
    }

    /// Would a failure in this scope come while that winds down, for a failure that somebody has taken, or because the
    /// program wants it? What has failed before is asked about before a failure looks for its place.
    pub fn is_secondary_failure(&self, scope: ScopeId) -> bool {
        let mut at = Some(scope).filter(|scope| self.is_winding_down(*scope));
        let is_winding_down = at.is_some();
        while let Some(id) = at {
            if self.scope(id).failure_unhandled {
                return false;
            }
            at = self.parent_scope(id);
        }
        is_winding_down
    }

    fn cancelled_by_failure(&mut self, scope: ScopeId) -> Route {
        let order = self.cancel_scope(scope).unwrap_or_default();
        let waits = |waiter: &Waiter| match waiter {
            Waiter::Park(ticket) if self.will_take(*ticket) => Some(ticket.co),
            _ => None,
        };
        let waited = self.scope(scope);
        let mut notify: Vec<CoroutineId> = waited.waiters.iter().filter_map(waits).collect();
        // Who ends the scope's time takes its failures from the host's list.
        notify.retain(|co| !waited.collectors.contains(co));
        let handled = !notify.is_empty() || !waited.collectors.is_empty();
        // Who has not run since the first one finds this one with it.
        notify.retain(|co| !self.deliveries.iter().any(|(to, from, _)| to == co && *from == scope));
        for at in 0..self.scope(scope).waiters.len() {
            let waited = self.scope(scope);
            if let Waiter::Park(ticket) = waited.waiters[at]
                && waited.collectors.contains(&ticket.co)
            {
                self.wake(ticket);
            }
        }
        Route::Cancelled { scope, order, notify, handled }
    }
}
