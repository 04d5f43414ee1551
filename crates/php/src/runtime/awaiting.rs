//! BlockedOn for what can be awaited: `await()` and its relatives.

use crate::runtime::timeout::{TIMEOUT, Timeout};
use crate::runtime::{
    coroutine::{self, Coroutine, Info},
    failure, group, park,
    scheduler::{Core, Phase, Runtime},
    scope,
};
use crate::zend::{exception, zv};
use spindle_core::sched::{CoroutineId, Lifetime, Outcome, ScopeId, Target, WaitReason, WakeReason};
use spindle_php_sys as sys;
use spindle_reactor::Reactor;
use spindle_zend::Object;
use std::ptr::{addr_of_mut, null_mut};

type Value = *mut sys::zval;

/// How a wait has ended.
pub enum Waited {
    /// What was waited for has come.
    Done,
    /// A failure of this scope, which was waited for, has come, with a reference.
    Failure(ScopeId, *mut sys::zend_object),
    /// Something else was thrown.
    Thrown,
}

/// What an awaitable object is to the core. `None`: nothing that can complete, see [`never_spawned`].
///
/// # Safety
/// The object implements `Awaitable`, or is a `Scope`.
pub unsafe fn target(object: *mut sys::zend_object) -> Option<Target> {
    // SAFETY: the caller's promise: it is of one of our classes.
    unsafe {
        let class = (*object).ce;
        if class == sys::spindle_ce.coroutine {
            let co = (*coroutine::of(object)).co;
            (co != coroutine::NO_SLOT).then_some(Target::Coroutine(co))
        } else if class == sys::spindle_ce.timeout {
            timeout_of(object).and_then(|timeout| timeout.target())
        } else if class == sys::spindle_ce.group {
            Some(group::target(object))
        } else {
            scope::peek(object).map(Target::Scope)
        }
    }
}

/// Throws for an object that was made without its constructor or by reflection.
pub fn never_spawned() {
    // SAFETY: filled at module start.
    let class = unsafe { sys::spindle_ce.async_exception };
    exception::throw(class, "This object has never been spawned or constructed, and would never complete");
}

/// What to say of a wait for one or the other.
pub fn info_of(rt: &'static Runtime, wanted: Target, limit: Option<Target>) -> Info {
    let both = [Some(wanted), limit];
    let awaits = both.map(|target| match target {
        Some(Target::Coroutine(co)) => rt.core.borrow().id(co),
        _ => 0,
    });
    let scope = both.into_iter().find_map(|target| if let Some(Target::Scope(id)) = target { Some(id) } else { None });
    let set = both.into_iter().find_map(|target| if let Some(Target::Set(id)) = target { Some(id) } else { None });
    Info { call: "await", awaits, scope, set, since: Reactor::now(), ..Info::NONE }
}

/// Parks until `done`, asked whenever one of the targets may have completed.
pub fn wait(rt: &'static Runtime, targets: &[Target], info: Info, done: impl Fn(&Core) -> bool) -> Waited {
    let delivered = || {
        let scopes = targets.iter().filter_map(|target| if let Target::Scope(id) = target { Some(*id) } else { None });
        scopes.into_iter().find_map(|id| rt.core.borrow_mut().take_delivery(id).map(|failure| (id, failure)))
    };
    // Several may have come at once, and a caller who asks for each is called again.
    if let Some((id, failure)) = delivered() {
        return Waited::Failure(id, failure);
    }
    if done(&rt.core.borrow()) {
        return Waited::Done;
    }
    if !rt.can_switch() {
        let text = if rt.phase.get() == Phase::Ended {
            "Cannot await here: the coroutines have ended, it would never complete"
        } else {
            "Cannot await here: the engine allows no switch in this place"
        };
        // SAFETY: filled at module start.
        exception::throw(unsafe { sys::spindle_ce.async_exception }, text);
        return Waited::Thrown;
    }
    while park::may_wait(rt) {
        let ticket = rt.begin_wait();
        {
            let mut core = rt.core.borrow_mut();
            for target in targets {
                core.subscribe(*target, ticket);
            }
        }
        let reason = rt.park(None, WaitReason::Coroutines, true, info);
        {
            let mut core = rt.core.borrow_mut();
            for target in targets {
                core.unsubscribe(*target, ticket);
            }
        }
        if let Some((id, failure)) = delivered() {
            return Waited::Failure(id, failure);
        }
        // Who is cancelled takes no outcome: the core has counted on that when a failure looked for its place.
        if reason != WakeReason::Cancelled && done(&rt.core.borrow()) {
            return Waited::Done;
        }
        if reason == WakeReason::Interrupted && !park::after_signal() {
            return Waited::Thrown;
        }
    }
    Waited::Thrown
}

/// Throws a failure of the scope `from` that came during a wait for the scope `wanted`: if it is another one, it is the
/// token. Those that came behind it go on upwards.
pub fn throw_failure(
    rt: &'static Runtime,
    targets: &[Target],
    wanted: Option<ScopeId>,
    from: ScopeId,
    failure: *mut sys::zend_object,
) {
    if wanted == Some(from) {
        // SAFETY: the reference is passed on.
        unsafe { sys::spindle_throw(failure) };
    } else {
        token_has_failed(failure);
    }
    pass_on(rt, targets);
}

/// Failures that were delivered to a waiter which waits no longer go on upwards.
pub fn pass_on(rt: &'static Runtime, targets: &[Target]) {
    for target in targets {
        let Target::Scope(id) = *target else { continue };
        loop {
            let failure = rt.core.borrow_mut().take_delivery(id);
            let Some(failure) = failure else { break };
            let co = rt.core.borrow().running();
            failure::route(rt, failure, failure::Level::Beyond(id), id, rt.object(co));
        }
    }
}

/// Throws when the running coroutine may not await this.
pub unsafe fn may_await(rt: &'static Runtime, wanted: Target, object: *mut sys::zend_object) -> bool {
    let running = rt.core.borrow().running();
    let text = match wanted {
        Target::Coroutine(co) if co == running => {
            // SAFETY: a live coroutine's object.
            let place = unsafe {
                let this = coroutine::of(object);
                exception::place((*this).spawn_file, (*this).spawn_line)
            };
            let place = if place.is_empty() { "{main}".to_owned() } else { place };
            format!("A coroutine cannot await itself. Coroutine spawned at {place}")
        }
        // SAFETY: a live object that stands for the target.
        Target::Set(_) if unsafe { group::has(object, running) } => {
            "A coroutine cannot await a group that it is in: it would never complete".to_owned()
        }
        Target::Scope(id) if id == Core::GLOBAL || rt.core.borrow().is_within(running, id) => scope::within(rt, id),
        Target::Scope(id) if rt.core.borrow().lifetime(id) == Lifetime::Scope => {
            // SAFETY: a live scope's object.
            if unsafe { sys::spindle_instance_of(object, sys::spindle_ce.bounded_scope) } {
                return true;
            }
            "A Scope of Lifetime::Scope cannot be awaited: use its awaitCompletion(), with a limit, or a BoundedScope"
                .to_owned()
        }
        _ => return true,
    };
    // SAFETY: filled at module start.
    exception::throw(unsafe { sys::spindle_ce.async_exception }, &text);
    false
}

/// The outcome of a complete awaitable, as result or exception.
pub unsafe fn deliver(rt: &'static Runtime, awaitable: *mut sys::zend_object, result: Value) {
    // SAFETY: a live object of one of our classes, complete.
    unsafe {
        if (*awaitable).ce == sys::spindle_ce.group {
            return group::deliver(awaitable, result);
        }
        if (*awaitable).ce != sys::spindle_ce.coroutine {
            zv::set_null(result);
            if let Some(Target::Scope(id)) = target(awaitable) {
                scope::throw_failure_of(rt, id);
            }
            return;
        }
        let this = coroutine::of(awaitable);
        (*this).seen = true;
        let outcome = {
            let mut core = rt.core.borrow_mut();
            core.mark_awaited((*this).co);
            core.outcome((*this).co)
        };
        if outcome != Outcome::Returned && !(*this).exception.is_null() {
            zv::add_object_ref((*this).exception);
            sys::spindle_throw((*this).exception);
        } else if zv::is_undef(&(*this).result) {
            zv::set_null(result);
        } else {
            sys::spindle_zval_copy(result, &(*this).result);
        }
    }
}

/// Throws that a wait has ended by its token, which is complete.
///
/// # Safety
/// A live object that can be awaited.
pub unsafe fn token_was_first(rt: &'static Runtime, token: *mut sys::zend_object) {
    // SAFETY: the caller's promise; it is of one of our classes.
    unsafe {
        if let Some(timeout) = timeout_of(token) {
            let text = format!("The wait was given up after {} ms", timeout.milliseconds());
            let previous = exception::new(sys::spindle_ce.timeout_exception, &text);
            let text = format!("{TOKEN}, a timeout of {} ms", timeout.milliseconds());
            let exception = exception::new(sys::spindle_ce.await_cancelled, &text);
            sys::zend_exception_set_previous(exception, previous);
            return sys::spindle_throw(exception);
        }
        let exception = exception::new(sys::spindle_ce.await_cancelled, TOKEN);
        let mut of_token = null_mut();
        if (*token).ce == sys::spindle_ce.coroutine {
            let this: *mut Coroutine = coroutine::of(token);
            rt.core.borrow_mut().mark_awaited((*this).co);
            of_token = (*this).exception;
        } else if (*token).ce == sys::spindle_ce.group {
            of_token = group::take_failure(token);
        }
        if !of_token.is_null() {
            zv::add_object_ref(of_token);
            sys::zend_exception_set_previous(exception, of_token);
        }
        sys::spindle_throw(exception);
    }
}

const TOKEN: &str = "The wait was cancelled by its token";

/// The same for a token that is a scope, with its failure.
fn token_has_failed(failure: *mut sys::zend_object) {
    // SAFETY: filled at module start; the failure's reference is passed on.
    unsafe {
        let exception = exception::new(sys::spindle_ce.await_cancelled, TOKEN);
        sys::zend_exception_set_previous(exception, failure);
        sys::spindle_throw(exception);
    }
}

/// Waits for these coroutines, and throws the first failure.
pub fn wait_for_all(rt: &'static Runtime, members: &[CoroutineId], call: &'static str, token: *mut sys::zend_object) {
    if members.is_empty() {
        return;
    }
    // SAFETY: an object that can be awaited, which the caller keeps alive, if it is there.
    let limit = if token.is_null() { None } else { unsafe { target(token) } };
    if limit.is_none() && !token.is_null() {
        return never_spawned();
    }
    let set = {
        let mut core = rt.core.borrow_mut();
        let set = core.add_set(true);
        for co in members {
            core.add_to_set(set, *co);
        }
        set
    };
    // SAFETY: live objects, each kept by a reference while we wait. A bailout leaks the list.
    unsafe {
        let objects: Vec<_> = members.iter().map(|co| addr_of_mut!((*rt.object(*co)).std)).collect();
        objects.iter().for_each(|object| zv::add_object_ref(*object));
        let info = Info { call, ..info_of(rt, Target::Set(set), limit) };
        let done = |core: &Core| core.is_done(Target::Set(set));
        let over = |core: &Core| done(core) || limit.is_some_and(|limit| core.is_done(limit));
        let (both, alone) = ([Target::Set(set), limit.unwrap_or(Target::Set(set))], [Target::Set(set)]);
        let targets = if limit.is_some() { &both[..] } else { &alone[..] };
        let waited = wait(rt, targets, info, over);
        let in_time = done(&rt.core.borrow());
        let failed = {
            let mut core = rt.core.borrow_mut();
            let failed = core.failed_in_set(set);
            core.drop_set(set, members.iter().copied());
            failed
        };
        match (waited, failed) {
            (Waited::Done, _) if !in_time => token_was_first(rt, token),
            (Waited::Done, Some(co)) => {
                let exception = (*rt.object(co)).exception;
                if !exception.is_null() {
                    zv::add_object_ref(exception);
                    sys::spindle_throw(exception);
                }
            }
            (Waited::Failure(from, failure), _) => throw_failure(rt, targets, None, from, failure),
            _ => {}
        }
        for object in objects {
            sys::spindle_object_release(object);
        }
    }
}

/// The object as a `Timeout`, if it is one.
///
/// # Safety
/// A live object.
unsafe fn timeout_of<'a>(object: *mut sys::zend_object) -> Option<&'a Timeout> {
    // SAFETY: the caller's promise.
    let object = unsafe { Object::borrow(object) }?;
    TIMEOUT.of(object).map(|timeout| &**timeout)
}
