//! The completion of coroutines: orphan handling, notification, and the routing of failures.
//!
//! ```text
//!   body ends ─┬─ failed and not awaited ─► its scope's handler
//!              │                               │ none: the scope is cancelled, children first
//!              │                               ├─► coroutines that wait for the scope: handled
//!              │                               │ none
//!              │                               ▼
//!              │                              the parent's child handler, or its handler … up to the root: unhandled
//!              │                              (in a scope that is winding down it stays, for `getErrors()`)
//!              ├─ TopDown: the coroutines it spawned are cancelled
//!              ├─ BottomUp: it is `Ending` until the coroutines it spawned are complete
//!              ├─ callbacks for its end: it runs them, and ends once more
//!              ▼
//!          complete ─► its awaiters are woken ─► the scope's last one? finished ─► the scope's waiters are woken
//! ```
//! A handler runs in a coroutine of its own, which holds the scope: it is not finished before that.

use super::coroutine::{Awaited, Body, Standing};
use super::{
    Core, CoroutineId, End, Event, Lifetime, Outcome, Route, ScopeId, SpawnKind, State, Ticket, WaitReason, Waiter,
    WakeReason,
};
use std::collections::HashSet;

impl<X> Core<X> {
    /// Ends a coroutine whose body has ended, or will never begin. Its awaiters are woken by [`Core::complete`].
    #[inline]
    pub fn end(&mut self, co: CoroutineId, outcome: Outcome) -> End {
        let coroutine = self.coroutine_mut(co);
        coroutine.outcome = outcome;
        // No cancellation reaches it any more: its own failure may be what cancels its scope.
        coroutine.state = State::Ending;
        let alone = coroutine.children.is_empty();
        let awaited = self.has_awaiters(co);
        if awaited && outcome == Outcome::Failed {
            self.prioritize_awaiters(co);
        }
        let coroutine = self.coroutine_mut(co);
        coroutine.body = Body::Ended { awaited };
        if awaited {
            coroutine.awaited = Awaited::Taken;
        }
        if alone {
            return End { awaited, complete: true, orphans: Vec::new() };
        }
        let lifetime = self.lifetime(self.coroutine(co).scope);
        let orphans = if lifetime == Lifetime::TopDown && co != Self::MAIN { self.children_of(co) } else { Vec::new() };
        End { awaited, complete: lifetime != Lifetime::BottomUp, orphans }
    }

    /// Lets the running coroutine, which has ended and waits for no coroutine that it has spawned, run the callbacks for its end.
    /// Its outcome is known. Cancellations do not reach it any more, except by shutdown or by force. When the callbacks
    /// have returned: [`Core::end_again`].
    pub fn begin_callbacks(&mut self, co: CoroutineId) {
        let coroutine = self.coroutine_mut(co);
        coroutine.state = State::Running;
        coroutine.call_back();
    }

    /// Queues a coroutine that has ended and has waited on its stack for those that it has spawned: it does what
    /// [`Core::begin_callbacks`] says when it runs.
    pub fn resume_ended(&mut self, co: CoroutineId) {
        let coroutine = self.coroutine_mut(co);
        coroutine.state = State::Ready;
        coroutine.call_back();
        coroutine.park.on = WaitReason::Yield;
        coroutine.park.woken = Some(WakeReason::Woken);
        self.ready.push_back(co.0);
    }

    /// Ends a coroutine whose callbacks have returned, with the outcome that it has. As with [`Core::end`], it may have to wait
    /// for those that they have spawned. Its failure is to be routed if it had awaiters, and they have left meanwhile.
    pub fn end_again(&mut self, co: CoroutineId) -> End {
        let (outcome, had_awaiters) = (self.coroutine(co).outcome, self.coroutine(co).was_awaited_at_end());
        let end = self.end(co, outcome);
        self.coroutine_mut(co).body = Body::Ended { awaited: end.awaited && had_awaiters };
        End { awaited: end.awaited || !had_awaiters, ..end }
    }

    /// Returns `true` if its outcome is known, and only callbacks of its end may still run.
    pub fn has_outcome(&self, co: CoroutineId) -> bool {
        let coroutine = self.coroutine(co);
        coroutine.state == State::Done || coroutine.calls_back()
    }

    /// Returns `true` if it is complete. The running coroutine counts as complete to itself in the callbacks for its end.
    #[inline]
    pub(super) fn is_complete(&self, co: CoroutineId) -> bool {
        let coroutine = self.coroutine(co);
        coroutine.state == State::Done || coroutine.calls_back() && co == self.running
    }

    /// Lets the awaiters of a failed coroutine resume as woken even if they are cancelled first: only they receive the failure.
    fn prioritize_awaiters(&mut self, co: CoroutineId) {
        for at in 0..self.coroutine(co).waiters.len() {
            if let Waiter::Park(ticket) = self.coroutine(co).waiters[at]
                && self.will_take(ticket)
            {
                self.coroutine_mut(ticket.co).park.prioritized = true;
            }
        }
    }

    /// Returns `true` if the coroutine will resume as woken by this ticket, not as cancelled.
    pub(super) fn will_take(&self, ticket: Ticket) -> bool {
        let coroutine = self.coroutine(ticket.co);
        coroutine.epoch == ticket.epoch
            && match coroutine.state {
                State::Parked => true,
                State::Ready => coroutine.park.woken != Some(WakeReason::Cancelled),
                _ => false,
            }
    }

    /// Returns `true` if it has failed and no longer has the awaiters it had then: they may leave while it waits for the
    /// coroutines it spawned.
    pub fn has_lost_awaiters(&self, co: CoroutineId) -> bool {
        let coroutine = self.coroutine(co);
        if coroutine.outcome != Outcome::Failed || !coroutine.was_awaited_at_end() {
            return false;
        }
        !self.has_awaiters(co)
    }

    /// Returns `true` if a coroutine or a set will take its outcome.
    #[inline]
    fn has_awaiters(&self, co: CoroutineId) -> bool {
        self.coroutine(co).waiters.iter().any(|waiter| self.takes_outcome(waiter))
    }

    /// Returns `true` if the waiter will take the outcome of what it waits for.
    #[inline]
    pub(super) fn takes_outcome(&self, waiter: &Waiter) -> bool {
        match waiter {
            Waiter::Park(ticket) => self.will_take(*ticket),
            Waiter::Set(_) => true,
            Waiter::Bound(_) => false,
            Waiter::Member(id, _) => self.is_served(*id),
        }
    }

    /// Completes a coroutine that has ended: wakes its awaiters and leaves its scope, which may finish the scope.
    #[inline]
    pub fn complete(&mut self, co: CoroutineId) {
        let coroutine = &mut self.coroutines[co.0];
        let failed = (coroutine.outcome != Outcome::Returned).then_some(co);
        coroutine.state = State::Done;
        if !matches!(coroutine.kind, SpawnKind::Runner { .. }) {
            self.ends.ended += 1;
            self.ends.failed += u64::from(coroutine.outcome == Outcome::Failed);
            self.ends.cancelled += u64::from(coroutine.outcome == Outcome::Cancelled);
        }
        let (kind, scope, has_children) = (coroutine.kind, coroutine.scope, !coroutine.children.is_empty());
        match coroutine.standing {
            Standing::Regular => self.live -= 1,
            Standing::Zombie => {
                self.live -= 1;
                self.zombies -= 1;
            }
            Standing::Detached => {}
        }
        match coroutine.waiters.len() {
            0 => {}
            1 => {
                let waiter = coroutine.waiters.pop();
                waiter.into_iter().for_each(|waiter| self.notify(waiter, failed));
            }
            _ => self.notify_awaiters(co, failed),
        }
        if has_children {
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
        self.coroutine_mut(co).waiters = waiters; // its storage is reused by the next coroutine
    }

    /// Releases the id of a complete coroutine. Returns the cancellation that is still pending, if any.
    pub fn release(&mut self, co: CoroutineId) -> Option<X> {
        let coroutine = self.coroutine_mut(co);
        debug_assert_eq!(coroutine.state, State::Done);
        let left = coroutine.cancellation.take();
        self.coroutines.vacate(self.coroutines.key(co.0));
        left
    }

    /// Routes a failure that was not awaited, at the scope of its coroutine or callback.
    pub fn failure(&mut self, scope: ScopeId) -> Route {
        if scope == Self::GLOBAL {
            return Route::Unhandled;
        }
        if self.scope(scope).handlers.own {
            return Route::Handler(scope);
        }
        self.cancelled_by_failure(scope)
    }

    /// Routes a failure that `scope` has not handled. A `secondary` one, which came while the scope was winding down
    /// ([`Core::is_secondary_failure`]), goes up as long as the scopes above wind down too, and cancels nothing else.
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

    /// Returns `true` if a failure in this scope is a consequence of its winding down: for a failure that was handled, or
    /// because user code has ended the scope. To be asked before the failure is routed.
    pub fn is_secondary_failure(&self, scope: ScopeId) -> bool {
        self.is_winding_down(scope) && self.ancestors(scope).all(|id| !self.scope(id).failure_unhandled)
    }

    fn cancelled_by_failure(&mut self, scope: ScopeId) -> Route {
        let order = self.cancel_scope(scope).unwrap_or_default();
        let waits = |waiter: &Waiter| match waiter {
            Waiter::Park(ticket) if self.will_take(*ticket) => Some(ticket.co),
            _ => None,
        };
        let waited = self.scope(scope);
        let mut notify: Vec<CoroutineId> = waited.waiters.iter().filter_map(waits).collect();
        // Collectors take the failures from the host's list.
        notify.retain(|co| !waited.collectors.contains(co));
        // A coroutine may wait for the scope several times over: as one of many, and as a token.
        if notify.len() > 1 {
            let mut known = HashSet::with_capacity(notify.len());
            notify.retain(|co| known.insert(*co));
        }
        let handled = !notify.is_empty() || !waited.collectors.is_empty();
        // A coroutine that has not run since an earlier failure finds this one with it.
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
