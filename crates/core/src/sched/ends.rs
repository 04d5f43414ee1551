//! Ends: who is told that a coroutine is complete, who is not to outlive it, and where a failure goes.
//!
//! ```text
//!   body ends ─┬─ failed, nobody awaits it ─► its scope's handler
//!              │                               │ none: the scope is cancelled, children first
//!              │                               ├─► those who wait for the scope: it stops there
//!              │                               │ none
//!              │                               ▼
//!              │                              the parent's child handler, or its handler … up to the top: unhandled
//!              ├─ TopDown: those it spawned are cancelled
//!              ├─ BottomUp: it is `Ending` until those it spawned are complete
//!              ▼
//!          complete ─► its awaiters wake ─► was it the scope's last one? finished ─► the scope's waiters wake
//! ```
//! A handler of the program runs in a coroutine of its own, which holds the scope: it does not finish meanwhile.

use super::{Co, Core, End, Event, Follower, Kind, Lifetime, NONE, Outcome, Reason, Route, ScopeId, State, Ticket};

impl<X> Core<X> {
    /// The body of a coroutine has ended, or will never begin. Its awaiters are not woken yet.
    #[inline]
    pub fn end(&mut self, co: Co, outcome: Outcome) -> End {
        let slot = self.slot_mut(co);
        slot.outcome = outcome;
        // From now on no cancellation reaches it: its own failure may be what cancels its scope.
        slot.state = State::Ending;
        let alone = slot.children.first == NONE;
        let told = self.slot(co).followers.iter().any(|follower| match follower {
            Follower::Park(ticket) => self.will_take(*ticket),
            Follower::Set(_) => true,
            Follower::Bound(_) => false,
        });
        self.slot_mut(co).awaited |= told;
        if alone {
            return End { told, complete: true, orphans: Vec::new() };
        }
        let lifetime = self.scopes[self.slot(co).scope.slot()].lifetime;
        let orphans = if lifetime == Lifetime::TopDown && co != Self::MAIN { self.children_of(co) } else { Vec::new() };
        End { told, complete: lifetime != Lifetime::BottomUp, orphans }
    }

    /// Will it see what it waits for? Whose wait a cancellation has ended, though its turn has not come, throws that.
    fn will_take(&self, ticket: Ticket) -> bool {
        let slot = self.slot(ticket.co);
        slot.epoch == ticket.epoch
            && match slot.state {
                State::Parked => true,
                State::Ready => slot.reason != Reason::Cancelled,
                _ => false,
            }
    }

    /// A coroutine that has ended is complete: its awaiters are woken, and its scope may be finished.
    #[inline]
    pub fn complete(&mut self, co: Co) {
        let slot = self.slot_mut(co);
        let failed = (slot.outcome != Outcome::Returned).then_some(co);
        slot.state = State::Done;
        let (kind, scope, zombie) = (slot.kind, slot.scope, slot.zombie);
        self.live -= 1;
        self.zombies -= usize::from(zombie);
        if !self.slot(co).followers.is_empty() {
            self.tell(co, failed);
        }
        if self.slot(co).children.first != NONE {
            self.orphan_children(co);
        }
        if let Some(parent) = self.leave_parent(co)
            && self.slot(parent).state == State::Ending
            && self.slot(parent).children.first == NONE
        {
            self.events.push_back(Event::Complete(parent));
        }
        match kind {
            Kind::Runner { holds } => {
                if let Some(held) = holds {
                    self.disengage(held);
                }
                self.unpin(scope);
            }
            _ => self.part(co, scope),
        }
    }

    fn tell(&mut self, co: Co, failed: Option<Co>) {
        let mut followers = std::mem::take(&mut self.slot_mut(co).followers);
        for follower in followers.drain(..) {
            self.notify(follower, failed);
        }
        self.slot_mut(co).followers = followers; // the storage serves the slot's next coroutine
    }

    /// Gives an ended coroutine's slot back. Its cancellation, if any is left, is returned.
    pub fn release(&mut self, co: Co) -> Option<X> {
        let slot = self.slot_mut(co);
        debug_assert_eq!(slot.state, State::Done);
        let left = slot.cancellation.take();
        self.free.push(co.0);
        left
    }

    /// Where a failure that nobody awaited goes, at the scope of its coroutine or callback.
    pub fn failure(&mut self, scope: ScopeId) -> Route {
        if scope == Self::GLOBAL {
            return Route::Unhandled;
        }
        if self.scopes[scope.slot()].handler {
            return Route::Handler(scope);
        }
        self.cancelled_by_failure(scope)
    }

    /// Where a failure goes that `scope` has not stopped.
    pub fn failure_above(&mut self, scope: ScopeId) -> Route {
        match self.parent_scope(scope) {
            None => Route::Unhandled,
            Some(parent) if parent == Self::GLOBAL => Route::Unhandled,
            Some(parent) if self.scopes[parent.slot()].child_handler => Route::ChildHandler(parent),
            Some(parent) => self.failure(parent),
        }
    }

    fn cancelled_by_failure(&mut self, scope: ScopeId) -> Route {
        let order = self.cancel_scope(scope).unwrap_or_default();
        let waits = |follower: &Follower| match follower {
            Follower::Park(ticket) if self.will_take(*ticket) => Some(ticket.co),
            _ => None,
        };
        let waited = &self.scopes[scope.slot()];
        let mut tell: Vec<Co> = waited.followers.iter().filter_map(waits).collect();
        for co in &waited.collectors {
            if !tell.contains(co) {
                tell.push(*co);
            }
        }
        Route::Cancelled { scope, order, tell }
    }
}
