//! Ends: who is told that a coroutine is complete, who is not to outlive it, and where a failure goes.
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
        if told && outcome == Outcome::Failed {
            self.promise(co);
        }
        let slot = self.slot_mut(co);
        slot.awaited |= told;
        slot.told = told;
        if alone {
            return End { told, complete: true, orphans: Vec::new() };
        }
        let lifetime = self.scopes[self.slot(co).scope.slot()].lifetime;
        let orphans = if lifetime == Lifetime::TopDown && co != Self::MAIN { self.children_of(co) } else { Vec::new() };
        End { told, complete: lifetime != Lifetime::BottomUp, orphans }
    }

    /// A failure goes to those who await it alone: none of them loses it to a cancellation that comes later.
    fn promise(&mut self, co: Co) {
        for at in 0..self.slot(co).followers.len() {
            if let Follower::Park(ticket) = self.slot(co).followers[at]
                && self.will_take(ticket)
            {
                self.slot_mut(ticket.co).keeps = true;
            }
        }
    }

    /// Will it see what it waits for? Whose wait a cancellation has ended, though its turn has not come, throws that.
    pub(super) fn will_take(&self, ticket: Ticket) -> bool {
        let slot = self.slot(ticket.co);
        slot.epoch == ticket.epoch
            && match slot.state {
                State::Parked => true,
                State::Ready => slot.reason != Reason::Cancelled,
                _ => false,
            }
    }

    /// Has it failed, and have those who awaited it gone since, as it is complete only with those it spawned?
    pub fn is_told_no_more(&self, co: Co) -> bool {
        let slot = self.slot(co);
        if slot.outcome != Outcome::Failed || !slot.told {
            return false;
        }
        let takes = |follower: &Follower| match follower {
            Follower::Park(ticket) => self.will_take(*ticket),
            Follower::Set(_) => true,
            Follower::Bound(_) => false,
        };
        !slot.followers.iter().any(takes)
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

    /// Where a failure goes that `scope` has not stopped. `late`: the scope was winding down before it came
    /// ([`Core::is_late`]). It goes up as long as the scopes above do so too, and ends nothing else.
    pub fn failure_above(&mut self, scope: ScopeId, late: bool) -> Route {
        let parent = self.parent_scope(scope).filter(|parent| *parent != Self::GLOBAL);
        match parent {
            Some(parent) if late && !self.winds_down(parent) => Route::Stays,
            Some(parent) if self.scopes[parent.slot()].child_handler => Route::ChildHandler(parent),
            Some(parent) => self.failure(parent),
            None if late => Route::Stays,
            None => {
                self.scope_mut(scope).lost = true;
                Route::Unhandled
            }
        }
    }

    /// Would a failure in this scope come while that winds down, for a failure that somebody has taken, or because the
    /// program wants it? What has failed before is asked about before a failure looks for its place.
    pub fn is_late(&self, scope: ScopeId) -> bool {
        let mut at = Some(scope).filter(|scope| self.winds_down(*scope));
        let winds_down = at.is_some();
        while let Some(id) = at {
            if self.scope(id).lost {
                return false;
            }
            at = self.parent_scope(id);
        }
        winds_down
    }

    fn cancelled_by_failure(&mut self, scope: ScopeId) -> Route {
        let order = self.cancel_scope(scope).unwrap_or_default();
        let waits = |follower: &Follower| match follower {
            Follower::Park(ticket) if self.will_take(*ticket) => Some(ticket.co),
            _ => None,
        };
        let waited = &self.scopes[scope.slot()];
        let mut tell: Vec<Co> = waited.followers.iter().filter_map(waits).collect();
        // Who ends the scope's time takes its failures from the host's list.
        tell.retain(|co| !waited.collectors.contains(co));
        let stops = !tell.is_empty() || !waited.collectors.is_empty();
        // Who has not run since the first one finds this one with it.
        tell.retain(|co| !self.deliveries.iter().any(|(to, from, _)| to == co && *from == scope));
        for at in 0..self.scopes[scope.slot()].followers.len() {
            let waited = &self.scopes[scope.slot()];
            if let Follower::Park(ticket) = waited.followers[at]
                && waited.collectors.contains(&ticket.co)
            {
                self.wake(ticket);
            }
        }
        Route::Cancelled { scope, order, tell, stops }
    }
}
