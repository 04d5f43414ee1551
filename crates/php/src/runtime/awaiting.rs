//! Waits for awaitables.

use crate::runtime::classes;
use crate::runtime::completion;
use crate::runtime::coroutine::{COROUTINE, Info, NO_SLOT, Wants};
use crate::runtime::failure::{self, Level};
use crate::runtime::group::GROUP;
use crate::runtime::park::{after_signal, cannot_await, may_wait};
use crate::runtime::report;
use crate::runtime::scheduler::{Core, Runtime};
use crate::runtime::scope::{self, SCOPE};
use crate::runtime::timeout::TIMEOUT;
use spindle_core::sched::{CoroutineId, Lifetime, Outcome, ScopeId, Target, WaitReason, WakeReason};
use spindle_reactor::Reactor;
use spindle_zend::{Object, Owned, PhpResult, Thrown, Value, exception};

/// A failure of this scope, delivered to a coroutine because it awaits the scope.
pub type Delivered = (ScopeId, Owned<Object>);

/// Returns the core's target for an awaitable object or a `Scope`.
///
/// # Errors
/// The object was made without its constructor or by reflection, and would never complete.
#[inline]
pub fn target(object: &Object) -> Result<Target, Thrown> {
    known_target(object).ok_or_else(never_spawned)
}

/// Returns the core's target for an awaitable object or a `Scope`, if it has one.
#[inline]
pub fn known_target(object: &Object) -> Option<Target> {
    if let Some(this) = COROUTINE.of(object) {
        Some(this.co.get()).filter(|co| *co != NO_SLOT).map(Target::Coroutine)
    } else if let Some(timeout) = TIMEOUT.of(object) {
        timeout.target()
    } else if let Some(group) = GROUP.of(object) {
        Some(group.target())
    } else if let Some(scope) = SCOPE.of(object) {
        scope.id().map(Target::Scope)
    } else {
        completion::target(object)
    }
}

/// Throws for an object that was made without its constructor or by reflection.
pub fn never_spawned() -> Thrown {
    let text = "This object has never been spawned or constructed, and would never complete";
    exception::throw_new(classes::async_exception(), text)
}

/// Returns the description of a wait for `wanted` or `limit`.
#[inline]
pub fn info_of(wanted: Target, limit: Option<Target>) -> Info {
    Info { call: "await", wants: Wants::Target(wanted), limit, since: Reactor::recently(), ..Info::NONE }
}

/// Takes a failure that was delivered to the running coroutine because it awaits one of these scopes.
#[inline(always)]
fn delivered(rt: &'static Runtime, targets: &[Target]) -> Option<Delivered> {
    let mut scopes = targets.iter().filter_map(|target| if let Target::Scope(id) = target { Some(*id) } else { None });
    scopes.find_map(|id| rt.take_delivery(id).map(|failure| (id, failure)))
}

/// Parks until `done` returns `true`. It is evaluated whenever one of the targets may have completed. Returns the failure if one of a
/// scope among the targets was delivered instead.
///
/// # Errors
/// The coroutine is cancelled, cannot be suspended here, or a signal handler has thrown.
#[inline(always)] // each frame between switch and PHP code costs a mispredicted return later
pub fn wait(
    rt: &'static Runtime,
    targets: &[Target],
    info: Info,
    done: impl Fn(&Core) -> bool,
) -> Result<Option<Delivered>, Thrown> {
    // Several failures may have been delivered together; a caller that wants each of them calls again.
    if let Some(failure) = delivered(rt, targets) {
        return Ok(Some(failure));
    }
    if done(&rt.core.borrow()) {
        return Ok(None);
    }
    if !rt.can_switch() {
        return Err(cannot_await(rt));
    }
    loop {
        may_wait(rt)?;
        let ticket = rt.begin_wait();
        {
            let mut core = rt.core.borrow_mut();
            for target in targets {
                core.subscribe(*target, ticket);
            }
        }
        let reason = rt.park_inline(None, WaitReason::Coroutines, true, info);
        {
            let mut core = rt.core.borrow_mut();
            for target in targets {
                core.unsubscribe(*target, ticket);
            }
        }
        if let Some(failure) = delivered(rt, targets) {
            return Ok(Some(failure));
        }
        // A cancelled waiter receives no outcome: the core has relied on that when it routed a failure.
        if reason != WakeReason::Cancelled && done(&rt.core.borrow()) {
            return Ok(None);
        }
        if reason == WakeReason::Interrupted {
            after_signal()?;
        }
    }
}

/// Throws a failure of the scope `from` that was delivered during a wait for the scope `wanted`; if these differ,
/// `from` is the token. Failures delivered after it are routed upwards.
pub fn throw_failure(
    rt: &'static Runtime,
    targets: &[Target],
    wanted: Option<ScopeId>,
    (from, failure): Delivered,
) -> Thrown {
    let thrown = if wanted == Some(from) { exception::throw(failure) } else { token_has_failed(failure) };
    pass_on(rt, targets);
    thrown
}

/// Routes failures upwards that were delivered to a waiter which no longer waits.
pub fn pass_on(rt: &'static Runtime, targets: &[Target]) {
    for target in targets {
        let Target::Scope(id) = *target else { continue };
        while let Some(failure) = rt.take_delivery(id) {
            failure::route(rt, failure, Level::Beyond(id), id, rt.running());
        }
    }
}

/// Returns `true` if a coroutine runs, or waits as for a call for the running one, which acts for it.
#[inline]
fn is_running_or_its_caller(rt: &'static Runtime, co: CoroutineId) -> bool {
    let running = rt.core.borrow().running();
    if co == running {
        return true;
    }
    let owner = rt.owner().co.get();
    if owner == running || co == owner {
        return co == owner;
    }
    // Those in between act for the same one, and wait for a scope that the running one is in.
    let is_within = |id| rt.core.borrow().is_within(running, id);
    rt.find_object(co).is_some_and(|other| {
        let waits = matches!(other.info().wants, Wants::Target(Target::Scope(id)) if is_within(id));
        waits && other.acts_for.get().0 == owner
    })
}

/// Checks that the running coroutine may await this object.
///
/// # Errors
/// The wait would never end, or a scope of this kind cannot be awaited.
#[inline]
pub fn may_await(rt: &'static Runtime, wanted: Target, object: &Object) -> Result<(), Thrown> {
    let running = rt.core.borrow().running();
    let text = match wanted {
        // In the callbacks for its end it can: it gets its own result.
        Target::Coroutine(co) if is_running_or_its_caller(rt, co) && !rt.core.borrow().has_outcome(co) => {
            let place = COROUTINE.of(object).map_or(String::new(), |this| this.spawned_at.text());
            let place = if place.is_empty() { "{main}".to_owned() } else { place };
            format!("A coroutine cannot await itself. Coroutine spawned at {place}")
        }
        Target::Set(_)
            if GROUP.of(object).is_some_and(|group| group.has_any(|co| is_running_or_its_caller(rt, co))) =>
        {
            "A coroutine cannot await a group that it is in: it would never complete".to_owned()
        }
        Target::Scope(id) if id == Core::GLOBAL || rt.core.borrow().is_within(running, id) => {
            scope::message_within(rt, id)
        }
        Target::Scope(id) if rt.core.borrow().lifetime(id) == Lifetime::Scope => {
            if object.is_a(classes::bounded_scope()) {
                return Ok(());
            }
            "A Scope of Lifetime::Scope cannot be awaited: use its awaitCompletion(), with a limit, or a BoundedScope"
                .to_owned()
        }
        _ => return Ok(()),
    };
    Err(exception::throw_new(classes::async_exception(), &text))
}

/// Returns the result of a complete awaitable, or throws its failure.
#[inline]
pub fn deliver(rt: &'static Runtime, awaitable: &Object) -> PhpResult {
    let Some(this) = COROUTINE.of(awaitable) else { return deliver_other(rt, awaitable) };
    this.seen.set(true);
    let outcome = {
        let mut core = rt.core.borrow_mut();
        core.mark_awaited(this.co.get());
        core.outcome(this.co.get())
    };
    if outcome != Outcome::Returned
        && let Some(exception) = this.exception.get()
    {
        return Err(exception::throw(exception));
    }
    Ok(this.result.get().some().unwrap_or(Value::NULL))
}

/// Does the same for an awaitable that is no coroutine.
fn deliver_other(rt: &'static Runtime, awaitable: &Object) -> PhpResult {
    if let Some(group) = GROUP.of(awaitable) {
        return group.deliver(rt);
    }
    if let Some(id) = SCOPE.of(awaitable).and_then(|scope| scope.id()) {
        scope::throw_failure_of(rt, id)?;
    }
    completion::deliver(awaitable).unwrap_or(Ok(Value::NULL))
}

/// Returns the exception with which something awaitable has ended, and a description of the coroutine that has thrown it. It does
/// not count as received.
pub fn failure_of(rt: &'static Runtime, awaitable: &Object) -> (Option<Owned<Object>>, String) {
    let coroutine = COROUTINE.of(awaitable).map(Owned::of);
    let coroutine = coroutine.or_else(|| GROUP.of(awaitable)?.failed_member(rt));
    if let Some(coroutine) = coroutine {
        return (coroutine.exception.get(), report::name(rt, &coroutine));
    }
    let scope = SCOPE.of(awaitable).and_then(|scope| scope::existing_record(rt, scope.id()?));
    let failure = scope.map_or_else(|| completion::failure(awaitable), |scope| scope.reason.get());
    (failure, String::new())
}

const TOKEN: &str = "The wait was cancelled by its token";

/// Throws the exception for a wait that was ended by its token, which is complete.
pub fn token_was_first(rt: &'static Runtime, token: &Object) -> Thrown {
    if let Some(timeout) = TIMEOUT.of(token) {
        let text = format!("The wait was given up after {} ms", timeout.milliseconds());
        return exception::throw_new(classes::timeout_exception(), &text);
    }
    let exception = exception::new(classes::await_cancelled(), TOKEN);
    let of_token = if let Some(this) = COROUTINE.of(token) {
        rt.core.borrow_mut().mark_awaited(this.co.get());
        this.exception.get()
    } else if let Some(group) = GROUP.of(token) {
        group.take_failure(rt)
    } else {
        match completion::deliver(token) {
            Some(Err(thrown)) if exception::is_exit_in_flight() => return thrown,
            Some(Err(_)) => exception::take(),
            Some(Ok(_)) | None => None,
        }
    };
    if let Some(of_token) = of_token {
        exception::set_last_previous(&exception, of_token);
    }
    exception::throw(exception)
}

/// Returns the same for a token that is a scope and has failed with this failure.
pub fn token_has_failed(failure: Owned<Object>) -> Thrown {
    let exception = exception::new(classes::await_cancelled(), TOKEN);
    exception::set_last_previous(&exception, failure);
    exception::throw(exception)
}

/// Waits for all of these coroutines.
///
/// # Errors
/// The first failure among them, or the exception that ended the wait.
pub fn wait_for_all(
    rt: &'static Runtime,
    members: &[CoroutineId],
    call: &'static str,
    token: Option<&Object>,
) -> Result<(), Thrown> {
    if members.is_empty() {
        return Ok(());
    }
    let limit = token.map(target).transpose()?;
    let set = {
        let mut core = rt.core.borrow_mut();
        let set = core.add_set(true);
        for co in members {
            core.add_to_set(set, *co);
        }
        set
    };
    // Held during the wait. A bailout leaks the list.
    let objects: Vec<_> = members.iter().map(|co| Owned::of(rt.object(*co))).collect();
    let info = Info { call, ..info_of(Target::Set(set), limit) };
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
    let result = match (waited, failed) {
        (Ok(None), _) if !in_time => Err(match token {
            Some(token) => token_was_first(rt, token),
            None => never_spawned(),
        }),
        (Ok(None), Some(co)) => match rt.find_object(co).and_then(|failed| failed.exception.get()) {
            Some(failure) => Err(exception::throw(failure)),
            None => Ok(()),
        },
        (Ok(Some(failure)), _) => Err(throw_failure(rt, targets, None, failure)),
        (Err(thrown), _) => Err(thrown),
        _ => Ok(()),
    };
    drop(objects);
    result
}
