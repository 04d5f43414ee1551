//! The methods of `Async\Scope` and `Async\BoundedScope`, and the functions that return scopes.

use crate::runtime::awaiting;
use crate::runtime::coroutine::{CoroutineObject, Info};
use crate::runtime::registered::Registered;
use crate::runtime::scheduler::{Core, Runtime, rt};
use crate::runtime::scope::{self, Record, SCOPE};
use crate::runtime::{cancellation, classes, failure, spawn};
use spindle_core::sched::{Bound, Disposal, Lifetime, ScopeId, Target};
use spindle_zend::{
    Array, Call, Frame, Object, Owned, PhpResult, Thrown, Value, argument_error, engine, exception, functions,
};
use std::rc::Rc;

functions! {
    zim_Async_Scope___construct => construct;
    zim_Async_Scope_inherit => inherit;
    zim_Async_Scope_spawn => |call| Ok(spawn_in(call)?.1.into());
    zim_Async_Scope_awaitCompletion => await_completion;
    zim_Async_Scope_awaitAfterCancellation => await_after_cancellation;
    zim_Async_Scope_awaitDirectChildren => await_direct_children;
    zim_Async_Scope_getErrors => get_errors;
    zim_Async_Scope_cancel => cancel;
    zim_Async_Scope_dispose => |call| {
        call.no_arguments()?;
        dispose(call, Disposal::Cancel)
    };
    zim_Async_Scope_disposeSafely => |call| {
        call.no_arguments()?;
        dispose(call, Disposal::Safely)
    };
    zim_Async_Scope_disposeAfterTimeout => dispose_after_timeout;
    zim_Async_Scope_setExceptionHandler => |call| set_handler(call, false);
    zim_Async_Scope_setChildScopeExceptionHandler => |call| set_handler(call, true);
    zim_Async_Scope_onFinally => on_finally;
    zim_Async_Scope_getParentScope => get_parent_scope;
    zim_Async_Scope_getChildScopes => get_child_scopes;
    zim_Async_Scope_getCoroutines => get_coroutines;
    zim_Async_Scope_isFinished => |call| ask(call, Core::is_finished);
    zim_Async_Scope_isClosed => |call| ask(call, Core::is_closed);
    zim_Async_Scope_isCancelled => |call| ask(call, Core::is_cancelled);
    zim_Async_Scope_isDisposed => |call| ask(call, Core::is_disposed);
    zif_Async_currentScope => current_scope;
    zif_Async_globalScope => global_scope;
    zim_Async_BoundedScope_withTimeout => with_timeout;
    zim_Async_BoundedScope_boundedBy => bounded_by;
    zim_Async_BoundedScope_spawnAndBound => spawn_and_bound;
    zim_Async_BoundedScope_getBoundsInfo => get_bounds_info;
}

/// Returns the scope whose method is called.
///
/// # Errors
/// Its constructor has not run.
fn this(call: Call) -> Result<ScopeId, Thrown> {
    call.this_of(&SCOPE).constructed()
}

/// Returns the scope whose method is called, and its record.
fn this_and_record(call: Call) -> Result<(ScopeId, Rc<Record>), Thrown> {
    let id = this(call)?;
    Ok((id, scope::record(rt(), id)))
}

fn throw(text: &str) -> Thrown {
    exception::throw_new(classes::async_exception(), text)
}

/// Checks that a scope is not the global one; throws `what` otherwise.
fn refuse_global(id: ScopeId, what: &str) -> Result<(), Thrown> {
    if id == Core::GLOBAL { Err(throw(what)) } else { Ok(()) }
}

/// Implements a method that asks the core about the scope.
fn ask(call: Call, ask: impl FnOnce(&Core, ScopeId) -> bool) -> PhpResult {
    call.no_arguments()?;
    let id = this(call)?;
    Ok(ask(&rt().core.borrow(), id).into())
}

fn construct(call: Call) -> PhpResult {
    let lifetime = match call.arguments(0, 1)?.object_or_null(1, classes::lifetime())? {
        None => scope::default_lifetime(),
        Some(case) => match case.enum_case_name().as_bytes() {
            b"Scope" => Lifetime::Scope,
            b"TopDown" => Lifetime::TopDown,
            _ => Lifetime::BottomUp,
        },
    };
    let object = call.this_of(&SCOPE);
    if object.id().is_some() {
        return Err(throw("The scope has been constructed already"));
    }
    scope::make(rt(), object, None, lifetime);
    Ok(Value::NULL)
}

fn inherit(call: Call) -> PhpResult {
    let given = call.arguments(0, 1)?.object_or_null(1, classes::scope())?;
    let rt = rt();
    let parent = match given.and_then(|given| SCOPE.of(given)) {
        Some(given) => given.constructed()?,
        None => {
            let core = rt.core.borrow();
            core.scope_of(core.running())
        }
    };
    let closed = {
        let core = rt.core.borrow();
        core.is_cancelled(parent) || given.is_some() && core.is_closed(parent)
    };
    if closed {
        return Err(throw(scope::CLOSED));
    }
    // The class on which the method was called (`static`).
    let object = engine::new_object(call.called_class().unwrap_or_else(classes::scope))?;
    let lifetime = rt.core.borrow().lifetime(parent);
    if let Some(made) = SCOPE.of(&object) {
        scope::make(rt, made, Some(parent), lifetime);
    }
    Ok(object.into())
}

fn spawn_in(call: Call) -> Result<(ScopeId, Owned<CoroutineObject>), Thrown> {
    let id = this(call)?;
    let rt = rt();
    let is_closed = rt.core.borrow().is_closed(id);
    if is_closed {
        return Err(throw(scope::CLOSED));
    }
    Ok((id, spawn::spawn(rt, call, |core| core.spawn_in(id))?))
}

/// Checks that the running coroutine may await the scope.
fn may_await(rt: &'static Runtime, id: ScopeId) -> Result<(), Thrown> {
    let within = {
        let core = rt.core.borrow();
        id == Core::GLOBAL || core.is_within(core.running(), id)
    };
    if within { Err(throw(&scope::message_within(rt, id))) } else { Ok(()) }
}

/// Throws the exception that the scope was cancelled with.
fn throw_reason(rt: &'static Runtime, id: ScopeId) -> Thrown {
    // It may have been released with the scope's previous object.
    let reason = scope::record(rt, id).reason.get();
    exception::throw(reason.unwrap_or_else(|| cancellation::cancellation("The scope was cancelled")))
}

/// The frame holds the scope and the token during the wait.
fn await_completion(call: Call) -> PhpResult {
    let token = call.arguments(1, 1)?.object(1, classes::awaitable())?;
    let id = this(call)?;
    let rt = rt();
    may_await(rt, id)?;
    let limit = awaiting::target(token)?;
    let info = Info { call: "awaitCompletion", ..awaiting::info_of(Target::Scope(id), Some(limit)) };
    let over = |core: &Core| core.is_cancelled(id) || core.is_finished(id);
    let targets = [Target::Scope(id), limit];
    match awaiting::wait(rt, &targets, info, |core| over(core) || core.is_done(limit))? {
        Some(failure) => Err(awaiting::throw_failure(rt, &targets, Some(id), failure)),
        None => {
            let (is_over, is_cancelled) = {
                let core = rt.core.borrow();
                (over(&core), core.is_cancelled(id))
            };
            if !is_over {
                return Err(awaiting::token_was_first(rt, token));
            }
            // A failure that was delivered before is not thrown again; the cancellation is thrown instead. Otherwise a
            // coroutine that awaits in a loop would get the failure for ever.
            if let Some(failure) = scope::failure_at(rt, id, scope::first_unknown(rt, id)) {
                scope::first_failure(rt, id); // from now on all are known
                return Err(exception::throw(failure));
            }
            if is_cancelled { Err(throw_reason(rt, id)) } else { Ok(Value::NULL) }
        }
    }
}

/// The frame holds the scope, the token and the handler during the wait.
fn await_after_cancellation(call: Call) -> PhpResult {
    let arguments = call.arguments(0, 2)?;
    let handler = arguments.callable_or_null(1)?.cloned();
    let token = arguments.object_or_null(2, classes::awaitable())?;
    let id = this(call)?;
    let rt = rt();
    may_await(rt, id)?;
    let is_cancelled = rt.core.borrow().is_cancelled(id);
    if !is_cancelled {
        return Err(throw("The scope has not been cancelled: call cancel() before, or use awaitCompletion()"));
    }
    let limit = token.map(awaiting::target).transpose()?;
    let info = Info { call: "awaitAfterCancellation", ..awaiting::info_of(Target::Scope(id), limit) };
    let targets: Vec<Target> = [Some(Target::Scope(id)), limit].into_iter().flatten().collect();
    // Failures that come while the handler runs are passed to it, too.
    rt.core.borrow_mut().start_collecting(id);
    let result = wind_down(rt, call, id, handler.as_ref(), token, &targets, info);
    rt.core.borrow_mut().stop_collecting(id);
    awaiting::pass_on(rt, &targets);
    let has_completed = rt.core.borrow().has_completed(id);
    if has_completed {
        scope::schedule_warning(rt, id); // for the failures that were not passed on
    }
    result.map(|()| Value::NULL)
}

/// Waits for the end of a cancelled scope. Calls the handler with each failure that is not known, or throws the first
/// of them at the end.
fn wind_down(
    rt: &'static Runtime,
    call: Call,
    id: ScopeId,
    handler: Option<&Value>,
    token: Option<&Object>,
    targets: &[Target],
    info: Info,
) -> Result<(), Thrown> {
    let mut next = scope::first_unknown(rt, id); // the list grows at its end only
    loop {
        if let Some(handler) = handler {
            while let Some(failure) = scope::failure_at(rt, id, next) {
                next += 1;
                drop(engine::call(handler, &mut [failure.into(), call.this().into()]));
                exception::check()?;
            }
        }
        let hands = handler.is_some();
        let over = |core: &Core| targets.iter().any(|target| core.is_done(*target));
        let more = |core: &Core| over(core) || hands && scope::has_failure_at(rt, id, next);
        match awaiting::wait(rt, targets, info, more)? {
            Some(failure) => return Err(awaiting::throw_failure(rt, targets, Some(id), failure)),
            None if hands && scope::has_failure_at(rt, id, next) => {}
            None => {
                let (is_finished, is_over) = {
                    let core = rt.core.borrow();
                    (core.is_finished(id), over(&core))
                };
                if is_finished {
                    let Some(first) = scope::failure_at(rt, id, next) else { return Ok(()) };
                    scope::first_failure(rt, id); // from now on all are known
                    return Err(exception::throw(first));
                }
                if let (true, Some(token)) = (is_over, token) {
                    return Err(awaiting::token_was_first(rt, token));
                }
            }
        }
    }
}

fn get_errors(call: Call) -> PhpResult {
    call.no_arguments()?;
    let errors = scope::existing_record(rt(), this(call)?).map_or_else(Vec::new, |record| record.errors());
    Ok(Array::list(errors.into_iter()).into())
}

fn await_direct_children(call: Call) -> PhpResult {
    call.no_arguments()?;
    let id = this(call)?;
    let rt = rt();
    may_await(rt, id)?;
    let members = rt.core.borrow().direct_members(id);
    awaiting::wait_for_all(rt, &members, "awaitDirectChildren", None)?;
    Ok(Value::NULL)
}

fn cancel(call: Call) -> PhpResult {
    let reason = call.arguments(0, 1)?.object_or_null(1, classes::cancellation())?;
    let id = this(call)?;
    refuse_global(id, "The global scope cannot be cancelled: use Async\\gracefulShutdown()")?;
    let rt = rt();
    let is_cancelled = rt.core.borrow().is_cancelled(id);
    if is_cancelled {
        if reason.is_some() {
            let text = c"The scope has been cancelled before: this cancellation is ignored";
            engine::warn_at(None, 0, text);
        }
        return Ok(Value::NULL);
    }
    let reason = match reason {
        None => cancellation::default_cancellation(),
        Some(reason) => {
            cancellation::for_several(rt, reason);
            Owned::of(reason)
        }
    };
    scope::cancel(rt, id, &reason);
    Ok(Value::NULL)
}

fn dispose(call: Call, how: Disposal) -> PhpResult {
    let id = this(call)?;
    refuse_global(id, "The global scope cannot be disposed of: use Async\\gracefulShutdown()")?;
    scope::dispose(rt(), id, how, &exception::here());
    Ok(Value::NULL)
}

fn dispose_after_timeout(call: Call) -> PhpResult {
    let milliseconds = call.arguments(1, 1)?.long(1)?;
    if !(1..600_000).contains(&milliseconds) {
        return Err(argument_error(1, false, "must be between 1 and 599999"));
    }
    dispose(call, Disposal::Until(scope::deadline(milliseconds)))
}

fn set_handler(call: Call, is_for_children: bool) -> PhpResult {
    let handler = Registered::new(call.arguments(1, 1)?.callable(1)?.clone());
    let (id, record) = this_and_record(call)?;
    refuse_global(id, "The global scope takes no exception handler: use a Scope, or set_exception_handler()")?;
    let place = if is_for_children { &record.child_handler } else { &record.handler };
    let old = place.replace(Some(handler));
    let (own, of_children) = if is_for_children { (None, Some(true)) } else { (Some(true), None) };
    rt().core.borrow_mut().set_handlers(id, own, of_children);
    drop(old);
    Ok(Value::NULL)
}

fn on_finally(call: Call) -> PhpResult {
    let closure = call.arguments(1, 1)?.closure(1)?;
    let (id, record) = this_and_record(call)?;
    record.finally.borrow_mut().push(Registered::new(closure.into()));
    let rt = rt();
    let has_completed = rt.core.borrow().has_completed(id);
    if has_completed {
        failure::scope_ends(rt, id);
    }
    Ok(Value::NULL)
}

fn get_parent_scope(call: Call) -> PhpResult {
    call.no_arguments()?;
    let id = this(call)?;
    let rt = rt();
    let parent = rt.core.borrow().scope_above(id);
    Ok(parent.map(|parent| scope::object_of(rt, parent)).into())
}

fn get_child_scopes(call: Call) -> PhpResult {
    call.no_arguments()?;
    let id = this(call)?;
    let rt = rt();
    let children = rt.core.borrow().child_scopes(id);
    Ok(Array::list(children.into_iter().map(|child| scope::object_of(rt, child))).into())
}

fn get_coroutines(call: Call) -> PhpResult {
    call.no_arguments()?;
    let id = this(call)?;
    let rt = rt();
    let members = rt.core.borrow().members(id);
    Ok(Array::list(members.into_iter().map(|co| rt.object(co).object())).into())
}

fn current_scope(call: Call) -> PhpResult {
    call.no_arguments()?;
    let rt = rt();
    let id = {
        let core = rt.core.borrow();
        core.scope_of(core.running())
    };
    Ok(scope::object_of(rt, id).into())
}

fn global_scope(call: Call) -> PhpResult {
    call.no_arguments()?;
    Ok(scope::object_of(rt(), Core::GLOBAL).into())
}

fn with_timeout(call: Call) -> PhpResult {
    let milliseconds = call.arguments(1, 1)?.long(1)?;
    if milliseconds < 0 {
        return Err(argument_error(1, false, "must be greater than or equal to 0"));
    }
    let (id, record) = this_and_record(call)?;
    if record.timeout.get().is_some() {
        return Err(throw("The scope has a timeout already; it can be set once"));
    }
    record.timeout.set(Some(milliseconds));
    record.limited_at.set_to_code_of(Frame::current());
    rt().core.borrow_mut().set_deadline(id, scope::deadline(milliseconds));
    Ok(call.this().into())
}

/// Sets the constraint of a scope, an awaitable object.
fn bound_by(rt: &'static Runtime, id: ScopeId, record: &Record, constraint: &Object, target: Target) {
    rt.core.borrow_mut().bound_by(id, target);
    record.constraint.set(constraint.into());
    record.bounded_at.set_to_code_of(Frame::current());
    failure::carry_out(rt);
}

fn bounded_by(call: Call) -> PhpResult {
    let arguments = call.arguments(1, 1)?;
    let value = arguments.value(1).unwrap_or(const { &Value::NULL });
    let (id, record) = this_and_record(call)?;
    let Some(constraint) = value.as_object().filter(|object| object.is_a(classes::awaitable())) else {
        let given = value.type_name();
        return Err(argument_error(1, true, &format!("must be of type Async\\Awaitable, {given} given")));
    };
    let target = awaiting::target(constraint)?;
    if target == Target::Scope(id) {
        return Err(throw("A scope cannot be bounded by itself"));
    }
    bound_by(rt(), id, &record, constraint, target);
    Ok(call.this().into())
}

fn spawn_and_bound(call: Call) -> PhpResult {
    let (id, coroutine) = spawn_in(call)?;
    let rt = rt();
    let record = scope::record(rt, id);
    bound_by(rt, id, &record, coroutine.object(), Target::Coroutine(coroutine.co.get()));
    Ok(coroutine.into())
}

fn get_bounds_info(call: Call) -> PhpResult {
    call.no_arguments()?;
    let (_, record) = this_and_record(call)?;
    let mut answer = Array::new(3);
    answer.set(c"timeout", record.timeout.get());
    answer.set(c"constraint", record.constraint.get().some());
    let reached = record.reached.get().map(|bound| match bound {
        Bound::Time => "timeout",
        Bound::Constraint => "constraint",
    });
    answer.set(c"reached", reached);
    Ok(answer.into())
}
