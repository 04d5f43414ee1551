//! Scopes: who belongs together, who has spawned whom, and what ends together.
//!
//! A scope is *busy* as long as a coroutine of it is not complete, a failure of one looks for its place, or a scope below
//! it is busy. When that ends it is finished, and may become busy again.
//!
//! The program holds a scope by its object (`handle`). It is gone when nothing needs it: no object, no coroutine, no scope
//! below it.

use super::{
    Alarm, Core, Coroutine, CoroutineId, Disposal, EMPTY, Event, Lifetime, Link, List, NO_LINK, NONE, ScopeId,
    SpawnKind, State, Target, WaitReason, Waiter,
};
use crate::timers::TimerId;

pub(super) struct Scope {
    pub(super) generation: u32,
    /// Its slot is taken.
    pub(super) allocated: bool,
    pub(super) parent: u32,
    pub(super) children: List,
    pub(super) sibling: Link,
    pub(super) members: List,
    pub(super) lifetime: Lifetime,
    /// Coroutines, failures under way, and busy scopes below.
    pub(super) active: usize,
    /// Runners that are in it, and scopes below that have any.
    pub(super) runners: u32,
    /// The program has an object for it.
    pub(super) handle: bool,
    /// The host has been told that it is gone.
    pub(super) gone: bool,
    /// It has had a coroutine.
    pub(super) used: bool,
    pub(super) handler: bool,
    pub(super) child_handler: bool,
    pub(super) cancelled: bool,
    /// Those who wait for it have been told that it is cancelled.
    pub(super) cancel_notified: bool,
    pub(super) disposed: bool,
    /// By the program, not by the death of its object.
    pub(super) given_up: bool,
    /// Its coroutines do not keep the application alive.
    pub(super) zombies: bool,
    /// Nobody has taken the failure that it was cancelled for.
    pub(super) failure_unhandled: bool,
    pub(super) waiters: Vec<Waiter>,
    /// Those who ask for each failure of it while they wait for its end.
    pub(super) collectors: Vec<CoroutineId>,
    pub(super) time: Option<TimerId>,
    pub(super) disposal: Option<TimerId>,
    pub(super) bound: Option<Target>,
}

/// Appends to a list; `links` gives a slot's place in it.
#[inline]
fn append<T>(slots: &mut [T], list: &mut List, index: u32, link: fn(&mut T) -> &mut Link) {
    *link(&mut slots[index as usize]) = Link { before: list.last, after: NONE };
    match list.last {
        NONE => list.first = index,
        last => link(&mut slots[last as usize]).after = index,
    }
    list.last = index;
}

/// Takes one out of a list.
#[inline]
fn remove<T>(slots: &mut [T], list: &mut List, index: u32, link: fn(&mut T) -> &mut Link) {
    let Link { before, after } = std::mem::replace(link(&mut slots[index as usize]), NO_LINK);
    match before {
        NONE => list.first = after,
        before => link(&mut slots[before as usize]).after = after,
    }
    match after {
        NONE => list.last = before,
        after => link(&mut slots[after as usize]).before = before,
    }
}

impl<X> Core<X> {
    /// A new scope: below `parent`, or independent of all others. It has a handle ([`Core::drop_handle`]). Below a
    /// cancelled one it is cancelled, too.
    pub fn add_scope(&mut self, parent: Option<ScopeId>, lifetime: Lifetime) -> ScopeId {
        let index = self.free_scopes.pop().unwrap_or(self.scopes.len() as u32);
        let generation = self.scopes.get(index as usize).map_or(0, |scope| scope.generation.wrapping_add(1));
        let above = parent.map(|parent| &self.scopes[parent.slot()]);
        let zombies = above.is_some_and(|above| above.zombies);
        let cancelled = above.is_some_and(|above| above.cancelled);
        let scope = Scope {
            generation,
            allocated: true,
            parent: parent.map_or(NONE, |parent| parent.index),
            children: EMPTY,
            sibling: NO_LINK,
            members: EMPTY,
            lifetime,
            active: 0,
            runners: 0,
            handle: true,
            gone: false,
            used: false,
            handler: false,
            child_handler: false,
            cancelled,
            cancel_notified: cancelled,
            disposed: false,
            given_up: false,
            zombies,
            failure_unhandled: false,
            waiters: Vec::new(),
            collectors: Vec::new(),
            time: None,
            disposal: None,
            bound: None,
        };
        match self.scopes.get_mut(index as usize) {
            Some(slot) => *slot = scope,
            None => self.scopes.push(scope),
        }
        if let Some(parent) = parent {
            let mut children = self.scopes[parent.slot()].children;
            append(&mut self.scopes, &mut children, index, |s| &mut s.sibling);
            self.scopes[parent.slot()].children = children;
        }
        ScopeId { index, generation }
    }

    pub(super) fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.slot()]
    }

    pub(super) fn scope_mut(&mut self, id: ScopeId) -> &mut Scope {
        &mut self.scopes[id.slot()]
    }

    fn scope_at(&self, index: u32) -> ScopeId {
        ScopeId { index, generation: self.scopes[index as usize].generation }
    }

    /// Is it not gone yet?
    pub fn scope_exists(&self, id: ScopeId) -> bool {
        self.scopes.get(id.slot()).is_some_and(|scope| scope.allocated && scope.generation == id.generation)
    }

    /// The one above it.
    pub fn parent_scope(&self, id: ScopeId) -> Option<ScopeId> {
        match self.scope(id).parent {
            NONE => None,
            parent => Some(self.scope_at(parent)),
        }
    }

    /// Those directly below it, the oldest first.
    pub fn child_scopes(&self, id: ScopeId) -> Vec<ScopeId> {
        let mut found = Vec::new();
        let mut at = self.scope(id).children.first;
        while at != NONE {
            found.push(self.scope_at(at));
            at = self.scopes[at as usize].sibling.after;
        }
        found
    }

    /// Those that are nobody's child, the global one first.
    pub fn root_scopes(&self) -> Vec<ScopeId> {
        let roots = (0..).zip(&self.scopes).filter(|(_, scope)| scope.allocated && scope.parent == NONE);
        roots.map(|(index, _)| self.scope_at(index)).collect()
    }

    /// It and all below it, children before their parents; but for those that fit, and what is below these.
    fn bottom_up(&self, id: ScopeId, but: fn(&Scope) -> bool) -> Vec<ScopeId> {
        let (mut found, mut open) = (Vec::new(), vec![id]);
        while let Some(scope) = open.pop() {
            if but(self.scope(scope)) {
                continue;
            }
            found.push(scope);
            let mut at = self.scope(scope).children.first;
            while at != NONE {
                open.push(self.scope_at(at));
                at = self.scopes[at as usize].sibling.after;
            }
        }
        found.reverse();
        found
    }

    /// Its coroutines that are not complete, the oldest first.
    pub fn members(&self, id: ScopeId) -> Vec<CoroutineId> {
        let mut found = Vec::new();
        let mut at = self.scope(id).members.first;
        while at != NONE {
            found.push(CoroutineId(at));
            at = self.slots[at as usize].member.after;
        }
        found
    }

    /// Those of them that the scope itself has spawned.
    pub fn direct_members(&self, id: ScopeId) -> Vec<CoroutineId> {
        let mut members = self.members(id);
        members.retain(|co| self.slot(*co).kind == SpawnKind::Member);
        members
    }

    /// The scope of a coroutine.
    pub fn scope_of(&self, co: CoroutineId) -> ScopeId {
        self.slot(co).scope
    }

    /// Is `co` in `scope` or in one below it? A runner is also in the one that it holds.
    pub fn is_within(&self, co: CoroutineId, scope: ScopeId) -> bool {
        let slot = self.slot(co);
        let held = if let SpawnKind::Runner { holds } = slot.kind { holds } else { None };
        [Some(slot.scope), held].into_iter().any(|at| {
            let mut at = at;
            while let Some(id) = at {
                if id == scope {
                    return true;
                }
                at = self.parent_scope(id);
            }
            false
        })
    }

    /// Those that `co` has spawned and that are not complete.
    pub fn children_of(&self, co: CoroutineId) -> Vec<CoroutineId> {
        let mut found = Vec::new();
        let mut at = self.slot(co).children.first;
        while at != NONE {
            found.push(CoroutineId(at));
            at = self.slots[at as usize].sibling.after;
        }
        found
    }

    /// How long its coroutines live.
    pub fn lifetime(&self, id: ScopeId) -> Lifetime {
        self.scope(id).lifetime
    }

    /// Does anybody wait for its end who will look at its failures?
    pub fn has_failure_waiter(&self, id: ScopeId) -> bool {
        let scope = self.scope(id);
        let got = |co: CoroutineId| self.deliveries.iter().any(|(to, from, _)| *to == co && *from == id);
        let waits = |waiter: &Waiter| match waiter {
            Waiter::Park(ticket) => self.will_take(*ticket) && !got(ticket.co),
            _ => false,
        };
        !scope.collectors.is_empty() || scope.waiters.iter().any(waits)
    }

    /// Is everybody who has not ended in the global scope or below it, where graceful shutdown reaches them?
    pub fn all_are_global(&self) -> bool {
        self.coroutines().all(|co| self.is_within(co, Self::GLOBAL))
    }

    /// Does no coroutine of it or below it run or wait, and no failure of one look for its place?
    pub fn is_finished(&self, id: ScopeId) -> bool {
        self.scope(id).active == 0
    }

    /// Is it finished, and does no callback or handler run in it or below it? Then no failure can come to it as long as
    /// nobody spawns in it.
    pub fn is_idle(&self, id: ScopeId) -> bool {
        self.scope(id).active == 0 && self.scope(id).runners == 0
    }

    /// Has it had a coroutine, and is it finished; or has it been ended?
    pub fn has_completed(&self, id: ScopeId) -> bool {
        let scope = self.scope(id);
        scope.active == 0 && (scope.used || scope.cancelled || scope.disposed)
    }

    /// Was it cancelled?
    pub fn is_cancelled(&self, id: ScopeId) -> bool {
        self.scope(id).cancelled
    }

    /// Was it disposed of?
    pub fn is_disposed(&self, id: ScopeId) -> bool {
        self.scope(id).disposed
    }

    /// May it not be given new coroutines? Those that are in it may spawn until it is cancelled.
    pub fn is_closed(&self, id: ScopeId) -> bool {
        self.scope(id).cancelled || self.scope(id).disposed
    }

    /// Has it failed, or has the program cancelled it or disposed of it? What fails then is a consequence, more often than
    /// not.
    pub fn is_winding_down(&self, id: ScopeId) -> bool {
        self.scope(id).cancelled || self.scope(id).given_up
    }

    /// Do its coroutines not keep the application alive?
    pub fn is_zombie(&self, co: CoroutineId) -> bool {
        self.slot(co).zombie
    }

    /// Which handlers the program has set for failures of it, and of those below it.
    pub fn set_handlers(&mut self, id: ScopeId, own: Option<bool>, child: Option<bool>) {
        let scope = self.scope_mut(id);
        scope.handler = own.unwrap_or(scope.handler);
        scope.child_handler = child.unwrap_or(scope.child_handler);
    }

    // --- membership -----------------------------------------------------------------------------------------------

    #[inline]
    pub(super) fn join(&mut self, co: CoroutineId, id: ScopeId) {
        let scope = &mut self.scopes[id.slot()];
        append(&mut self.slots, &mut scope.members, co.0, |s| &mut s.member);
        self.add_active(id);
    }

    #[inline]
    pub(super) fn part(&mut self, co: CoroutineId, id: ScopeId) {
        let scope = &mut self.scopes[id.slot()];
        remove(&mut self.slots, &mut scope.members, co.0, |s| &mut s.member);
        self.remove_active(id);
    }

    #[inline]
    pub(super) fn add_active(&mut self, id: ScopeId) {
        let mut at = id.index;
        while at != NONE {
            let scope = &mut self.scopes[at as usize];
            scope.active += 1;
            scope.used = true;
            if scope.active > 1 {
                break;
            }
            at = scope.parent;
        }
    }

    #[inline]
    pub(super) fn remove_active(&mut self, id: ScopeId) {
        let mut at = id.index;
        while at != NONE {
            let scope = &mut self.scopes[at as usize];
            scope.active -= 1;
            if scope.active > 0 {
                break;
            }
            let (generation, parent) = (scope.generation, scope.parent);
            self.events.push_back(Event::Finished(ScopeId { index: at, generation }));
            at = parent;
        }
    }

    /// A runner is in it.
    pub(super) fn add_runner(&mut self, id: ScopeId) {
        let mut at = id.index;
        while at != NONE {
            let scope = &mut self.scopes[at as usize];
            scope.runners += 1;
            if scope.runners > 1 {
                break;
            }
            at = scope.parent;
        }
    }

    /// A runner of it has ended.
    pub(super) fn remove_runner(&mut self, id: ScopeId) {
        let mut at = id.index;
        while at != NONE {
            let scope = &mut self.scopes[at as usize];
            scope.runners -= 1;
            if scope.runners > 0 {
                break;
            }
            let parent = scope.parent;
            let id = self.scope_at(at);
            if self.is_idle(id) {
                self.events.push_back(Event::Idle(id));
            }
            self.check_if_gone(id);
            at = parent;
        }
    }

    #[inline]
    pub(super) fn adopt(&mut self, co: CoroutineId, parent: CoroutineId) {
        let mut children = self.slot(parent).children;
        append(&mut self.slots, &mut children, co.0, |s| &mut s.sibling);
        self.slot_mut(parent).children = children;
    }

    #[inline]
    pub(super) fn leave_parent(&mut self, co: CoroutineId) -> Option<CoroutineId> {
        let parent = CoroutineId(std::mem::replace(&mut self.slot_mut(co).spawner, NONE));
        if parent.0 == NONE {
            return None;
        }
        let mut children = self.slot(parent).children;
        remove(&mut self.slots, &mut children, co.0, |s| &mut s.sibling);
        self.slot_mut(parent).children = children;
        Some(parent)
    }

    pub(super) fn orphan_children(&mut self, co: CoroutineId) {
        let mut at = std::mem::replace(&mut self.slot_mut(co).children, EMPTY).first;
        while at != NONE {
            let child = &mut self.slots[at as usize];
            child.spawner = NONE;
            at = std::mem::replace(&mut child.sibling, NO_LINK).after;
        }
    }

    /// The host has run the callbacks of a finished scope: those who wait for it are woken, if it still is.
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

    /// The program's object has died. `true`: nothing else needs the scope, and it is no more.
    pub fn drop_handle(&mut self, id: ScopeId) -> bool {
        self.scope_mut(id).handle = false;
        self.release_scope(id)
    }

    /// The program has an object for it again.
    pub fn take_handle(&mut self, id: ScopeId) {
        self.scope_mut(id).handle = true;
    }

    fn is_needed(&self, id: ScopeId) -> bool {
        let scope = self.scope(id);
        scope.handle || scope.active > 0 || scope.runners > 0 || scope.children.first != NONE || id == Self::GLOBAL
    }

    pub(super) fn check_if_gone(&mut self, id: ScopeId) {
        if !self.is_needed(id) && !self.scope(id).gone {
            self.scope_mut(id).gone = true;
            self.events.push_back(Event::Gone(id));
        }
    }

    /// Gives up the slot of a scope that is gone. `false`: it is needed again, or has been given up.
    pub fn release_scope(&mut self, id: ScopeId) -> bool {
        if !self.scope_exists(id) {
            return false;
        }
        self.scope_mut(id).gone = false;
        if self.is_needed(id) {
            return false;
        }
        self.unbind(id);
        let scope = self.scope_mut(id);
        scope.allocated = false;
        let parent = scope.parent;
        if parent != NONE {
            let mut children = self.scopes[parent as usize].children;
            remove(&mut self.scopes, &mut children, id.index, |s| &mut s.sibling);
            self.scopes[parent as usize].children = children;
            self.check_if_gone(self.scope_at(parent));
        }
        self.free_scopes.push(id.index);
        true
    }

    // --- cancellation and disposal --------------------------------------------------------------------------------

    /// Closes a scope and those below it. `Some`: whom to cancel, in this order; then [`Core::notify_cancelled`].
    /// `None`: it has been cancelled before.
    pub fn cancel_scope(&mut self, id: ScopeId) -> Option<Vec<CoroutineId>> {
        if self.scope(id).cancelled {
            return None;
        }
        let mut order = Vec::new();
        // A failure that goes up comes by here at each scope: what is below a cancelled one has been cancelled with it.
        for id in self.bottom_up(id, |scope| scope.cancelled) {
            self.unbind(id);
            let scope = self.scope_mut(id);
            scope.cancelled = true;
            let idle = scope.active == 0;
            order.extend(self.bodies(id));
            if idle {
                self.events.push_back(Event::Finished(id));
            }
        }
        Some(order)
    }

    /// Whom graceful shutdown cancels: what is in the global scope, which stays open, and in those below it, also who
    /// has swallowed an earlier cancellation. Then [`Core::notify_cancelled`] of the global scope.
    pub fn shut_down(&mut self) -> Vec<CoroutineId> {
        for child in self.child_scopes(Self::GLOBAL) {
            if self.cancel_scope(child).is_some() {
                self.scope_mut(child).failure_unhandled = true;
            }
        }
        let scopes = self.bottom_up(Self::GLOBAL, |_| false);
        let mut order: Vec<CoroutineId> = scopes.into_iter().flat_map(|id| self.bodies(id)).collect();
        let runs = |co: &CoroutineId| {
            matches!(self.slot(*co).kind, SpawnKind::Runner { .. }) && self.is_within(*co, Self::GLOBAL)
        };
        let runners: Vec<CoroutineId> = self.coroutines().filter(runs).collect();
        order.extend(runners);
        for co in &order {
            let slot = self.slot_mut(*co);
            slot.shutdowns = slot.shutdowns.max(1);
        }
        order
    }

    /// Begins the second phase of shutdown, or goes on with it. Whom to cancel by force: everybody. From now on nobody
    /// keeps the application alive for longer than zombies do, and who waits again after a second cancellation of
    /// shutdown's is abandoned: it never goes on.
    pub fn force_shut_down(&mut self) -> Vec<CoroutineId> {
        self.forced = true;
        let mut order: Vec<CoroutineId> = self.coroutines().collect();
        order.retain(|co| self.slot(*co).state != State::Ending);
        for co in &order {
            let slot = self.slot_mut(*co);
            // One that has not been thrown yet is replaced.
            let given = if slot.cancellation.is_some() { 0 } else { 1 };
            slot.shutdowns = (slot.shutdowns + given).clamp(1, 2);
        }
        for slot in self.slots.iter_mut().filter(|slot| slot.state != State::Done) {
            slot.zombie = true;
        }
        self.zombies = self.live;
        order
    }

    /// Is shutdown in its second phase?
    pub fn is_forced(&self) -> bool {
        self.forced
    }

    /// How many have been abandoned.
    pub fn abandoned(&self) -> usize {
        self.abandoned
    }

    /// Abandons the running coroutine, which is about to wait, if it has swallowed two cancellations of shutdown.
    #[cold]
    pub(super) fn abandons(&mut self) -> bool {
        let slot = self.slot_mut(self.running);
        if slot.shutdowns < 2 || slot.cancellation.is_some() || slot.state != State::Running {
            return false;
        }
        slot.abandoned = true;
        slot.state = State::Parked;
        slot.on = WaitReason::Yield; // no signal is for it
        slot.epoch = slot.epoch.wrapping_add(1);
        self.abandoned += 1;
        true
    }

    /// Its members whose bodies have not ended.
    fn bodies(&self, id: ScopeId) -> Vec<CoroutineId> {
        let mut members = self.members(id);
        members.retain(|co| self.slot(*co).state != State::Ending);
        members
    }

    /// Those whom a cancellation of `co` concerns: it, or those it waits for when its body has ended.
    pub fn cancel_targets(&self, co: CoroutineId) -> Vec<CoroutineId> {
        let (mut found, mut open) = (Vec::new(), vec![co]);
        while let Some(co) = open.pop() {
            match self.slot(co).state {
                State::Done => {}
                State::Ending => open.extend(self.children_of(co).into_iter().rev()),
                _ => found.push(co),
            }
        }
        found
    }

    /// Wakes those who wait for a cancelled scope or for one below it, once.
    pub fn notify_cancelled(&mut self, id: ScopeId) {
        for id in self.bottom_up(id, |scope| scope.cancel_notified) {
            let scope = self.scope_mut(id);
            scope.cancel_notified = scope.cancelled;
            if !scope.cancel_notified {
                continue; // the global one
            }
            for at in 0..self.scope(id).waiters.len() {
                if let Waiter::Park(ticket) = self.scope(id).waiters[at] {
                    self.wake(ticket);
                }
            }
        }
    }

    /// Disposes of a scope and of those below it: says of which coroutines to warn, in this order. Each is warned of
    /// once.
    pub fn dispose_scope(&mut self, id: ScopeId, how: Disposal) -> Vec<CoroutineId> {
        let mut warn = Vec::new();
        for at in self.bottom_up(id, |_| false) {
            let scope = self.scope_mut(at);
            scope.disposed = true;
            scope.given_up |= how != Disposal::Released;
            if let Some(timer) = scope.disposal.take() {
                self.timers.cancel(timer);
            }
            if !self.scope(at).cancelled && how != Disposal::Cancel {
                self.set_zombies(at, matches!(how, Disposal::Safely | Disposal::Released));
            }
            for co in self.bodies(at) {
                if !std::mem::replace(&mut self.slot_mut(co).warned, true) {
                    warn.push(co);
                }
            }
            if self.is_finished(at) {
                self.events.push_back(Event::Finished(at));
            }
        }
        if let Disposal::Until(deadline) = how
            && !self.scope(id).cancelled
        {
            let timer = self.timers.insert(deadline, Alarm::Disposal(id));
            self.scope_mut(id).disposal = Some(timer);
        }
        warn
    }

    /// The coroutines of a scope and of those below it are zombies from now on.
    pub fn make_zombies(&mut self, id: ScopeId) {
        for id in self.bottom_up(id, |_| false) {
            self.set_zombies(id, true);
        }
    }

    fn set_zombies(&mut self, id: ScopeId, zombie: bool) {
        self.scope_mut(id).zombies = zombie;
        for co in self.members(id) {
            let zombie = zombie || self.forced;
            let was = std::mem::replace(&mut self.slot_mut(co).zombie, zombie);
            self.zombies = self.zombies + usize::from(zombie) - usize::from(was);
        }
    }

    pub(super) fn disposal_is_due(&mut self, id: ScopeId) {
        self.scope_mut(id).disposal = None;
        self.events.push_back(Event::DisposalDue(id));
    }

    /// When only zombies are left their time runs, `grace` nanoseconds; else it does not.
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

    /// Are those that have not ended all zombies?
    pub fn only_zombies(&self) -> bool {
        self.live == self.zombies && self.zombies > 0
    }

    /// The zombies.
    pub fn zombies(&self) -> Vec<CoroutineId> {
        let ends = |slot: &Coroutine<X>| slot.state == State::Ending || slot.abandoned;
        self.coroutines().filter(|co| self.slot(*co).zombie && !ends(self.slot(*co))).collect()
    }

    /// In the child of a fork: what the scopes know of coroutines that are no more.
    pub(super) fn empty_scopes_but_for(&mut self, running: CoroutineId) {
        for scope in &mut self.scopes {
            scope.active = 0;
            scope.members = EMPTY;
            scope.waiters.retain(|f| !matches!(f, Waiter::Park(_)));
            scope.collectors.retain(|co| *co == running);
            scope.runners = 0;
            scope.gone = false; // the event has been forgotten
            // The others will never complete.
            scope.bound = scope.bound.filter(|target| match target {
                Target::Coroutine(co) => *co == running,
                Target::Timeout(_) => true,
                Target::Scope(_) | Target::Set(_) => false,
            });
        }
        for slot in &mut self.slots {
            slot.spawner = NONE;
            slot.children = EMPTY;
            slot.member = NO_LINK;
            slot.sibling = NO_LINK;
        }
        let (id, kind) = (self.slot(running).scope, self.slot(running).kind);
        match kind {
            SpawnKind::Runner { holds } => {
                self.add_runner(id);
                if let Some(held) = holds {
                    self.add_active(held);
                }
            }
            _ => self.join(running, id),
        }
    }
}
