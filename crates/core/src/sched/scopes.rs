//! Scopes: the tree of scopes, which coroutines belong to each, and who spawned whom.
//!
//! A scope is *active* while a coroutine of it is not complete, a failure of one is being routed, or a scope below it is
//! active. When that ends the scope is finished, and it may become active again.
//!
//! User code holds a scope by its object (the *handle*). A scope is gone when nothing needs it: no handle, no coroutine, no
//! scope below it.

use super::coroutine::Standing;
use super::list::{Link, List};
use super::{Core, Coroutine, CoroutineId, Event, Lifetime, ScopeId, SpawnKind, State, Target, Waiter};
use crate::timers::TimerId;

/// What keeps a scope besides what is in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Handle {
    /// User code has an object for it.
    Held,
    /// The object has died.
    Dropped,
    /// The object has died and nothing else needs the scope: [`Event::Gone`] is queued.
    GoneQueued,
}

/// How far the cancellation of a scope is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancellation {
    None,
    /// It is cancelled; those who wait for it have not been woken for that yet.
    Requested,
    /// Those who wait for it have been woken.
    Notified,
}

/// Whether a scope was disposed of, and by what.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Disposed {
    No,
    /// By the death of its object only.
    Released,
    /// By a call of user code.
    Explicitly,
}

/// Which handlers for failures user code has set.
#[derive(Clone, Copy, Default)]
pub(super) struct Handlers {
    /// For failures of its own coroutines.
    pub(super) own: bool,
    /// For failures of scopes below it.
    pub(super) child: bool,
}

pub(super) struct Scope {
    pub(super) parent: Option<ScopeId>,
    /// The scope of the call that it belongs to, if it has no parent.
    inside: Option<ScopeId>,
    pub(super) children: List,
    sibling: Link,
    members: List,
    lifetime: Lifetime,
    /// The number of its coroutines that are not complete, failures that are being routed, and active scopes below it.
    pub(super) active: usize,
    /// The number of runners in it, and of scopes below it that have any.
    runners: u32,
    handle: Handle,
    pub(super) cancellation: Cancellation,
    pub(super) disposed: Disposed,
    pub(super) handlers: Handlers,
    /// A coroutine has ever been in it.
    used: bool,
    /// Its coroutines do not keep the application alive.
    pub(super) zombies: bool,
    /// The failure that it was cancelled for was not handled.
    pub(super) failure_unhandled: bool,
    pub(super) waiters: Vec<Waiter>,
    /// Coroutines that take each failure of it while they wait for its end.
    pub(super) collectors: Vec<CoroutineId>,
    pub(super) deadline: Option<TimerId>,
    pub(super) disposal: Option<TimerId>,
    pub(super) bound: Option<Target>,
}

impl Scope {
    fn new(lifetime: Lifetime) -> Scope {
        Scope {
            parent: None,
            inside: None,
            children: List::EMPTY,
            sibling: Link::NONE,
            members: List::EMPTY,
            lifetime,
            active: 0,
            runners: 0,
            handle: Handle::Held,
            cancellation: Cancellation::None,
            disposed: Disposed::No,
            handlers: Handlers::default(),
            used: false,
            zombies: false,
            failure_unhandled: false,
            waiters: Vec::new(),
            collectors: Vec::new(),
            deadline: None,
            disposal: None,
            bound: None,
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancellation != Cancellation::None
    }

    fn is_needed(&self) -> bool {
        self.handle == Handle::Held || self.active > 0 || self.runners > 0 || !self.children.is_empty()
    }
}

impl<X> Core<X> {
    /// Adds a scope below `parent`, or one that is independent of all others. It has a handle ([`Core::drop_handle`]). Below
    /// a cancelled scope it is cancelled too.
    pub fn add_scope(&mut self, parent: Option<ScopeId>, lifetime: Lifetime) -> ScopeId {
        let above = parent.map(|parent| self.scope(parent));
        let zombies = above.is_some_and(|above| above.zombies);
        let cancelled = above.is_some_and(Scope::is_cancelled);
        let cancellation = if cancelled { Cancellation::Notified } else { Cancellation::None };
        let (key, scope) = self.scopes.insert_vacated(|| Scope::new(lifetime));
        *scope = Scope { parent, cancellation, zombies, ..Scope::new(lifetime) };
        let id = ScopeId(key);
        if let Some(parent) = parent {
            let mut children = self.scope(parent).children;
            children.append(&mut self.scopes, id.0.index, |scope| &mut scope.sibling);
            self.scope_mut(parent).children = children;
        }
        id
    }

    #[inline]
    pub(super) fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0.index]
    }

    #[inline]
    pub(super) fn scope_mut(&mut self, id: ScopeId) -> &mut Scope {
        &mut self.scopes[id.0.index]
    }

    /// Returns `true` until the scope is gone.
    pub fn scope_exists(&self, id: ScopeId) -> bool {
        self.scopes.get(id.0).is_some()
    }

    /// The scope above it.
    pub fn parent_scope(&self, id: ScopeId) -> Option<ScopeId> {
        self.scope(id).parent
    }

    /// Has a scope without a parent belong to a call in another one, which waits for it: it is within that, but not cancelled with it.
    pub fn put_inside(&mut self, id: ScopeId, outer: ScopeId) {
        self.scope_mut(id).inside = Some(outer);
    }

    /// The scope above it, or that of the call which it belongs to.
    pub fn scope_above(&self, id: ScopeId) -> Option<ScopeId> {
        self.parent_scope(id).or_else(|| self.scope(id).inside.filter(|outer| self.scope_exists(*outer)))
    }

    /// It and the scopes above it, up to the root.
    pub(super) fn ancestors(&self, id: ScopeId) -> impl Iterator<Item = ScopeId> {
        std::iter::successors(Some(id), |id| self.parent_scope(*id))
    }

    fn child_scopes_of(&self, id: ScopeId) -> impl Iterator<Item = ScopeId> {
        let children = self.scope(id).children.iter(&self.scopes, |scope| scope.sibling);
        children.map(|index| ScopeId(self.scopes.key(index)))
    }

    /// The scopes directly below it, the oldest first.
    pub fn child_scopes(&self, id: ScopeId) -> Vec<ScopeId> {
        self.child_scopes_of(id).collect()
    }

    /// Returns `true` if there are scopes below it.
    pub fn has_child_scopes(&self, id: ScopeId) -> bool {
        self.child_scopes_of(id).next().is_some()
    }

    /// The scopes without a parent, the global one first.
    pub fn root_scopes(&self) -> Vec<ScopeId> {
        self.scopes.iter().filter(|(_, scope)| scope.parent.is_none()).map(|(key, _)| ScopeId(key)).collect()
    }

    /// It and all scopes below it, children before their parents; without those for which `skip` is true and all scopes below
    /// them.
    pub(super) fn bottom_up(&self, id: ScopeId, skip: fn(&Scope) -> bool) -> Vec<ScopeId> {
        let (mut found, mut open) = (Vec::new(), vec![id]);
        while let Some(id) = open.pop() {
            if !skip(self.scope(id)) {
                found.push(id);
                open.extend(self.child_scopes_of(id));
            }
        }
        found.reverse();
        found
    }

    /// Its coroutines that are not complete, the oldest first.
    pub fn members(&self, id: ScopeId) -> Vec<CoroutineId> {
        let members = self.scope(id).members.iter(&self.coroutines, |coroutine| coroutine.member);
        members.map(CoroutineId).collect()
    }

    /// Those of its members that the scope itself has spawned.
    pub fn direct_members(&self, id: ScopeId) -> Vec<CoroutineId> {
        let mut members = self.members(id);
        members.retain(|co| self.coroutine(*co).kind == SpawnKind::Member);
        members
    }

    /// The scope of a coroutine.
    pub fn scope_of(&self, co: CoroutineId) -> ScopeId {
        self.coroutine(co).scope
    }

    /// Returns `true` if `co` is in `scope`, in one below it, or in that of a call in one of these. A runner is also in the scope that it
    /// holds.
    pub fn is_within(&self, co: CoroutineId, scope: ScopeId) -> bool {
        let coroutine = self.coroutine(co);
        let held = if let SpawnKind::Runner { holds } = coroutine.kind { holds } else { None };
        [Some(coroutine.scope), held]
            .into_iter()
            .flatten()
            .any(|at| std::iter::successors(Some(at), |id| self.scope_above(*id)).any(|id| id == scope))
    }

    /// The coroutines that `co` has spawned and that are not complete.
    pub fn children_of(&self, co: CoroutineId) -> Vec<CoroutineId> {
        let children = self.coroutine(co).children.iter(&self.coroutines, |coroutine| coroutine.sibling);
        children.map(CoroutineId).collect()
    }

    /// How long its coroutines live.
    pub fn lifetime(&self, id: ScopeId) -> Lifetime {
        self.scope(id).lifetime
    }

    /// Returns `true` if a coroutine that will see its failures waits for its end.
    pub fn has_failure_waiter(&self, id: ScopeId) -> bool {
        let scope = self.scope(id);
        let got = |co: CoroutineId| self.deliveries.iter().any(|(to, from, _)| *to == co && *from == id);
        let waits = |waiter: &Waiter| match waiter {
            Waiter::Park(ticket) => self.will_take(*ticket) && !got(ticket.co),
            _ => false,
        };
        !scope.collectors.is_empty() || scope.waiters.iter().any(waits)
    }

    /// Returns `true` if all live coroutines are in the global scope or below it, where graceful shutdown reaches them.
    pub fn all_are_global(&self) -> bool {
        self.coroutines().all(|co| self.is_within(co, Self::GLOBAL))
    }

    /// Returns `true` if no coroutine of it or below it is incomplete, and no failure of one is being routed.
    pub fn is_finished(&self, id: ScopeId) -> bool {
        self.scope(id).active == 0
    }

    /// Returns `true` if it is finished and no callback or handler runs in it or below it. Then no failure can reach it as
    /// long as nothing is spawned in it.
    pub fn is_idle(&self, id: ScopeId) -> bool {
        self.scope(id).active == 0 && self.scope(id).runners == 0
    }

    /// Returns `true` if it is finished and has had a coroutine, or was cancelled or disposed of.
    pub fn has_completed(&self, id: ScopeId) -> bool {
        self.is_finished(id) && (self.scope(id).used || self.is_closed(id))
    }

    /// Returns `true` if it was cancelled.
    pub fn is_cancelled(&self, id: ScopeId) -> bool {
        self.scope(id).is_cancelled()
    }

    /// Returns `true` if it was disposed of.
    pub fn is_disposed(&self, id: ScopeId) -> bool {
        self.scope(id).disposed != Disposed::No
    }

    /// Returns `true` if it takes no new coroutines. Those that are in it may spawn until it is cancelled.
    pub fn is_closed(&self, id: ScopeId) -> bool {
        self.is_cancelled(id) || self.is_disposed(id)
    }

    /// Returns `true` if it has failed, or user code has cancelled it or disposed of it. A failure in it is then probably a
    /// consequence.
    pub fn is_winding_down(&self, id: ScopeId) -> bool {
        self.is_cancelled(id) || self.scope(id).disposed == Disposed::Explicitly
    }

    /// Returns `true` if the coroutine does not keep the application alive.
    pub fn is_zombie(&self, co: CoroutineId) -> bool {
        self.coroutine(co).standing == Standing::Zombie
    }

    /// Records which handlers user code has set for failures of it, and of scopes below it. `None` changes nothing.
    pub fn set_handlers(&mut self, id: ScopeId, own: Option<bool>, child: Option<bool>) {
        let handlers = &mut self.scope_mut(id).handlers;
        handlers.own = own.unwrap_or(handlers.own);
        handlers.child = child.unwrap_or(handlers.child);
    }

    // --- membership -----------------------------------------------------------------------------------------------

    #[inline]
    pub(super) fn join(&mut self, co: CoroutineId, id: ScopeId) {
        let scope = &mut self.scopes[id.0.index];
        scope.members.append(&mut self.coroutines, co.0, |coroutine| &mut coroutine.member);
        self.add_active(id);
    }

    #[inline]
    pub(super) fn leave(&mut self, co: CoroutineId, id: ScopeId) {
        let scope = &mut self.scopes[id.0.index];
        scope.members.remove(&mut self.coroutines, co.0, |coroutine| &mut coroutine.member);
        self.remove_active(id);
    }

    #[inline]
    pub(super) fn add_active(&mut self, id: ScopeId) {
        let mut next = Some(id);
        while let Some(id) = next {
            let scope = self.scope_mut(id);
            scope.active += 1;
            scope.used = true;
            next = if scope.active == 1 { scope.parent } else { None };
        }
    }

    #[inline]
    pub(super) fn remove_active(&mut self, id: ScopeId) {
        let mut next = Some(id);
        while let Some(id) = next {
            let scope = self.scope_mut(id);
            scope.active -= 1;
            if scope.active > 0 {
                break;
            }
            next = scope.parent;
            self.events.push_back(Event::Finished(id));
        }
    }

    /// Keeps a scope that exists from being finished, and from being gone, until [`Core::end_hold`]. Nests.
    pub fn hold(&mut self, id: ScopeId) {
        self.add_active(id);
    }

    /// Ends one [`Core::hold`].
    pub fn end_hold(&mut self, id: ScopeId) {
        self.remove_active(id);
    }

    pub(super) fn add_runner(&mut self, id: ScopeId) {
        let mut next = Some(id);
        while let Some(id) = next {
            let scope = self.scope_mut(id);
            scope.runners += 1;
            next = if scope.runners == 1 { scope.parent } else { None };
        }
    }

    pub(super) fn remove_runner(&mut self, id: ScopeId) {
        let mut next = Some(id);
        while let Some(id) = next {
            let scope = self.scope_mut(id);
            scope.runners -= 1;
            if scope.runners > 0 {
                break;
            }
            next = scope.parent;
            if self.is_idle(id) {
                self.events.push_back(Event::Idle(id));
            }
            self.check_if_gone(id);
        }
    }

    #[inline]
    pub(super) fn adopt(&mut self, co: CoroutineId, parent: CoroutineId) {
        let mut children = self.coroutine(parent).children;
        children.append(&mut self.coroutines, co.0, |coroutine| &mut coroutine.sibling);
        self.coroutine_mut(parent).children = children;
    }

    #[inline]
    pub(super) fn leave_parent(&mut self, co: CoroutineId) -> Option<CoroutineId> {
        let parent = self.coroutines[co.0].spawner.take()?;
        let mut children = self.coroutine(parent).children;
        children.remove(&mut self.coroutines, co.0, |coroutine| &mut coroutine.sibling);
        self.coroutine_mut(parent).children = children;
        Some(parent)
    }

    pub(super) fn orphan_children(&mut self, co: CoroutineId) {
        let mut children = std::mem::replace(&mut self.coroutine_mut(co).children, List::EMPTY);
        while let Some(child) = children.pop(&mut self.coroutines, |coroutine| &mut coroutine.sibling) {
            self.coroutines[child].spawner = None;
        }
    }

    /// Wakes those who wait for a finished scope whose callbacks the host has run, if it still is finished.
    pub fn notify_finished(&mut self, id: ScopeId) {
        if !self.scope_exists(id) {
            return;
        }
        if self.is_finished(id) {
            for waiter in std::mem::take(&mut self.scope_mut(id).waiters) {
                self.notify(waiter, None);
            }
        }
        self.check_if_gone(id);
    }

    /// The scope's object has died. Returns `true` if nothing else needs the scope and it has been released.
    pub fn drop_handle(&mut self, id: ScopeId) -> bool {
        self.scope_mut(id).handle = Handle::Dropped;
        self.release_scope(id)
    }

    /// User code has an object for the scope again.
    pub fn take_handle(&mut self, id: ScopeId) {
        self.scope_mut(id).handle = Handle::Held;
    }

    pub(super) fn check_if_gone(&mut self, id: ScopeId) {
        let scope = self.scope_mut(id);
        if scope.handle == Handle::Dropped && !scope.is_needed() && id != Self::GLOBAL {
            scope.handle = Handle::GoneQueued;
            self.events.push_back(Event::Gone(id));
        }
    }

    /// Releases a scope that is gone. Returns `false` if it is needed again, or has been released before.
    pub fn release_scope(&mut self, id: ScopeId) -> bool {
        let Some(scope) = self.scopes.get_mut(id.0) else { return false };
        if scope.handle == Handle::GoneQueued {
            scope.handle = Handle::Dropped;
        }
        if scope.is_needed() || id == Self::GLOBAL {
            return false;
        }
        let parent = scope.parent;
        self.unbind(id);
        if let Some(parent) = parent {
            let mut children = self.scope(parent).children;
            children.remove(&mut self.scopes, id.0.index, |scope| &mut scope.sibling);
            self.scope_mut(parent).children = children;
            self.check_if_gone(parent);
        }
        self.scopes.vacate(id.0)
    }

    /// In the child of a fork: forgets all coroutines but the running one.
    pub(super) fn empty_scopes_but_for(&mut self, running: CoroutineId) {
        for (_, scope) in self.scopes.iter_mut() {
            scope.active = 0;
            scope.members = List::EMPTY;
            scope.waiters.retain(|waiter| !matches!(waiter, Waiter::Park(_) | Waiter::Member(..)));
            scope.collectors.retain(|co| *co == running);
            scope.runners = 0;
            if scope.handle == Handle::GoneQueued {
                scope.handle = Handle::Dropped; // the event has been forgotten
            }
            // The others will never complete.
            scope.bound = scope.bound.filter(|target| match target {
                Target::Coroutine(co) => *co == running,
                Target::Timeout(_) => true,
                Target::Scope(_) | Target::Set(_) => false,
            });
        }
        for (_, coroutine) in self.coroutines.iter_mut() {
            coroutine.spawner = None;
            coroutine.children = List::EMPTY;
            coroutine.member = Link::NONE;
            coroutine.sibling = Link::NONE;
        }
        let Coroutine { scope, kind, .. } = self.coroutine(running).it;
        match kind {
            SpawnKind::Runner { holds } => {
                self.add_runner(scope);
                if let Some(held) = holds {
                    self.add_active(held);
                }
            }
            _ => self.join(running, scope),
        }
    }

    /// Its members whose bodies have not ended.
    pub(super) fn bodies(&self, id: ScopeId) -> Vec<CoroutineId> {
        let mut members = self.members(id);
        members.retain(|co| self.coroutine(*co).state != State::Ending);
        members
    }
}
