//! The class `Async\CoroutineGroup`: coroutines that are awaited together.

use crate::runtime::cancellation;
use crate::runtime::classes;
use crate::runtime::coroutine::CoroutineObject;
use crate::runtime::failure::{self, Level};
use crate::runtime::life;
use crate::runtime::report;
use crate::runtime::scheduler::{self, Core, Runtime, rt};
use crate::runtime::scope::SCOPE;
use spindle_core::sched::{CoroutineId, Outcome, ScopeId, SetId, State as CoroutineState, Target};
use spindle_zend::{
    Array, Class, Collected, Instance, Object, Owned, OwnedCell, PhpResult, State, exception, object_class, sys,
};
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

/// The state of an object of the class.
pub struct Group {
    set: SetId,
    members: RefCell<Vec<Owned<CoroutineObject>>>,
    /// The scope in which its coroutines are spawned, if one was given.
    scope: OwnedCell<Object>,
    /// User code has received the failure.
    seen: Cell<bool>,
}

object_class!(
    /// The class.
    pub static GROUP: Group
);

/// An object of the class.
pub type GroupObject = Instance<Group>;

/// Registers the class. At module start.
pub fn register() {
    GROUP.register(classes::group(), sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |_| {});
}

/// Groups of user code by their sets, held weakly: a group removes itself when it is freed.
#[derive(Default)]
pub struct Groups(RefCell<Vec<(SetId, NonNull<GroupObject>)>>);

impl Groups {
    /// Returns the group that a set belongs to, if any.
    fn of_set(&self, set: SetId) -> Option<Owned<GroupObject>> {
        let groups = self.0.borrow();
        // SAFETY: those on the list are alive.
        groups.iter().find(|(known, _)| *known == set).map(|(_, group)| Owned::of(unsafe { group.as_ref() }))
    }

    fn has(&self, group: &GroupObject) -> bool {
        self.0.borrow().iter().any(|(_, known)| std::ptr::eq(known.as_ptr(), group))
    }

    fn all(&self) -> Vec<Owned<GroupObject>> {
        // SAFETY: those on the list are alive.
        self.0.borrow().iter().map(|(_, group)| Owned::of(unsafe { group.as_ref() })).collect()
    }
}

impl State for Group {
    const DESTRUCT: Option<fn(&GroupObject)> = Some(destruct);

    fn new(_: Class) -> Group {
        let set = rt().core.borrow_mut().add_set(false);
        Group { set, members: RefCell::new(Vec::new()), scope: OwnedCell::new(), seen: Cell::new(false) }
    }

    fn made(this: &GroupObject) {
        rt().groups.0.borrow_mut().push((this.set, NonNull::from(this)));
    }

    fn free(this: &GroupObject) {
        let members = this.members.take();
        if let Some(rt) = scheduler::existing()
            && rt.groups.has(this)
        {
            rt.groups.0.borrow_mut().retain(|(_, known)| !std::ptr::eq(known.as_ptr(), this));
            rt.core.borrow_mut().drop_set(this.set, members.iter().map(|member| member.co.get()));
        }
    }

    fn collect(&self, values: &mut Collected) {
        self.members.borrow().iter().for_each(|member| values.owned(member));
        values.object(&self.scope);
    }
}

/// Routes a failure that user code has not received, when the group becomes unreachable. This happens in the
/// destructor, because the cycle collector may have freed the failure before it frees the object.
fn destruct(this: &GroupObject) {
    let Some(rt) = scheduler::existing() else { return };
    if rt.has_ended() || !rt.groups.has(this) {
        return;
    }
    if let Some(member) = this.unseen_failure(rt)
        && let Some(failure) = member.exception.get()
    {
        this.seen.set(true);
        let id = rt.core.borrow().scope_of(member.co.get());
        let id = if rt.core.borrow().scope_exists(id) { id } else { Core::GLOBAL };
        failure::route(rt, failure, Level::At(id), id, &member);
    }
}

impl Group {
    /// Returns the group as the core's target of a wait.
    pub fn target(&self) -> Target {
        Target::Set(self.set)
    }

    /// Returns its coroutines in the order in which they were added.
    pub fn members(&self) -> Vec<Owned<CoroutineObject>> {
        self.members.borrow().clone()
    }

    /// Returns `true` if the group contains a coroutine for which `is_it`, which runs no PHP code, returns `true`.
    pub fn has_any(&self, is_it: impl Fn(CoroutineId) -> bool) -> bool {
        self.members.borrow().iter().any(|member| is_it(member.co.get()))
    }

    /// Sets the scope in which its coroutines are spawned.
    pub fn set_scope(&self, scope: &Object) {
        self.scope.set(Some(Owned::of(scope)));
    }

    /// Returns the scope in which it spawns, and whether that scope is closed.
    pub fn spawns_in(&self, rt: &Runtime) -> (ScopeId, bool) {
        let given = self.scope.get();
        let core = rt.core.borrow();
        match given.as_deref().and_then(|object| SCOPE.of(object)) {
            None => {
                let id = core.scope_of(core.running());
                (id, core.is_cancelled(id))
            }
            Some(scope) => {
                let id = scope.id().unwrap_or(Core::GLOBAL);
                (id, core.is_closed(id))
            }
        }
    }

    /// Adds a coroutine, unless it is in the group already.
    pub fn add(&self, rt: &'static Runtime, member: &CoroutineObject) {
        let co = member.co.get();
        if self.has_any(|member| member == co) {
            return;
        }
        self.members.borrow_mut().push(Owned::of(member));
        rt.core.borrow_mut().add_to_set(self.set, co);
        failure::carry_out(rt);
    }

    /// Cancels its coroutines.
    pub fn cancel(&self, rt: &'static Runtime, reason: &Object) {
        for member in self.members() {
            life::cancel(rt, member.co.get(), reason);
        }
    }

    /// Returns the results of a complete group by index, or throws its failure.
    pub fn deliver(&self, rt: &Runtime) -> PhpResult {
        match self.take_failure(rt) {
            Some(failure) => Err(exception::throw(failure)),
            None => Ok(self.results(rt).into()),
        }
    }

    /// Returns its failure, if it has failed, and marks it as received.
    pub fn take_failure(&self, rt: &Runtime) -> Option<Owned<Object>> {
        let failed = self.failed_member(rt)?;
        self.seen.set(true);
        failed.exception.get()
    }

    /// Returns the coroutine whose failure is the group's.
    pub fn failed_member(&self, rt: &Runtime) -> Option<Owned<CoroutineObject>> {
        let failed = rt.core.borrow().failed_in_set(self.set)?;
        rt.find_object(failed)
    }

    /// Marks its failure, which it may have later, as received.
    pub fn mark_seen(&self) {
        self.seen.set(true);
    }

    /// Returns the available results by index.
    pub fn results(&self, rt: &Runtime) -> Owned<Array> {
        let mut results = Array::new(0);
        for (place, member) in self.members().into_iter().enumerate() {
            if state_of(rt, &member) == (CoroutineState::Done, Outcome::Returned) {
                results.set_at(place as u64, member.result.get().some().into());
            }
        }
        results
    }

    /// Returns the failures by index, and marks the group's failure as received.
    pub fn errors(&self, rt: &Runtime) -> Owned<Array> {
        let mut errors = Array::new(0);
        for (place, member) in self.members().into_iter().enumerate() {
            if state_of(rt, &member) == (CoroutineState::Done, Outcome::Failed)
                && let Some(failure) = member.exception.get()
            {
                errors.set_at(place as u64, failure.into());
                self.seen.set(true);
            }
        }
        errors
    }

    /// Returns the coroutine whose failure is the group's, if user code has not received it.
    fn unseen_failure(&self, rt: &Runtime) -> Option<Owned<CoroutineObject>> {
        if self.seen.get() {
            return None;
        }
        let co = rt.core.borrow().failed_in_set(self.set)?;
        let member = rt.find_object(co)?; // otherwise the collector has freed it, with the group
        (state_of(rt, &member).1 == Outcome::Failed && !member.seen.get()).then_some(member)
    }
}

/// Returns the state and the outcome of a coroutine.
pub fn state_of(rt: &Runtime, member: &CoroutineObject) -> (CoroutineState, Outcome) {
    let (core, co) = (rt.core.borrow(), member.co.get());
    (core.state(co), core.outcome(co))
}

/// Cancels the other coroutines of a group of which the first one has failed. `set` may be no group's.
pub fn member_failed(rt: &'static Runtime, set: SetId) {
    let Some(group) = rt.groups.of_set(set) else { return };
    let failed = group.failed_member(rt);
    let name = failed.as_ref().map_or(String::new(), |failed| report::name(rt, failed));
    let failure = failed.and_then(|failed| failed.exception.get());
    let reason = cancellation::cancellation_after("another coroutine of its group", failure.as_deref(), &name);
    group.cancel(rt, &reason);
}

/// Returns, at the end of the script, a coroutine whose failure is that of a group, and was not received by user code.
pub fn take_unseen(rt: &'static Runtime) -> Option<Owned<CoroutineObject>> {
    rt.groups.all().into_iter().find_map(|group| {
        let found = group.unseen_failure(rt)?;
        group.seen.set(true);
        Some(found)
    })
}
