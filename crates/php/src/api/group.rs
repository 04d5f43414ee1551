//! The methods of `Async\CoroutineGroup`.

use crate::runtime::coroutine::{COROUTINE, NO_SLOT};
use crate::runtime::group::{GROUP, state_of};
use crate::runtime::scheduler::rt;
use crate::runtime::scope::{self, SCOPE};
use crate::runtime::{awaiting, cancellation, classes, spawn};
use spindle_core::sched::State;
use spindle_zend::{Call, Owned, PhpResult, Value, exception, functions};

functions! {
    zim_Async_CoroutineGroup___construct => construct;
    zim_Async_CoroutineGroup_spawn => spawn;
    zim_Async_CoroutineGroup_add => add;
    zim_Async_CoroutineGroup_cancel => cancel;
    zim_Async_CoroutineGroup_dispose => dispose;
    zim_Async_CoroutineGroup_getResults => get_results;
    zim_Async_CoroutineGroup_getErrors => get_errors;
}

fn construct(call: Call) -> PhpResult {
    let arguments = call.arguments(0, 1)?;
    if let Some(scope) = arguments.object_or_null(1, classes::scope())?
        && let Some(state) = SCOPE.of(scope)
    {
        state.constructed()?;
        call.this_of(&GROUP).set_scope(scope);
    }
    Ok(Value::NULL)
}

fn spawn(call: Call) -> PhpResult {
    let group = call.this_of(&GROUP);
    let rt = rt();
    let (id, is_closed) = group.spawns_in(rt);
    if is_closed {
        return Err(exception::throw_new(classes::async_exception(), scope::CLOSED));
    }
    let member = spawn::spawn(rt, call, |core| core.spawn_in(id))?;
    group.add(rt, &member);
    Ok(member.into())
}

fn add(call: Call) -> PhpResult {
    let object = call.arguments(1, 1)?.object(1, classes::coroutine())?;
    match COROUTINE.of(object).filter(|member| member.co.get() != NO_SLOT) {
        Some(member) => call.this_of(&GROUP).add(rt(), member),
        None => return Err(awaiting::never_spawned()),
    }
    Ok(Value::NULL)
}

fn cancel(call: Call) -> PhpResult {
    let rt = rt();
    let reason = match call.arguments(0, 1)?.object_or_null(1, classes::cancellation())? {
        Some(reason) => {
            cancellation::for_several(rt, reason);
            Owned::of(reason)
        }
        None => cancellation::default_cancellation(),
    };
    call.this_of(&GROUP).cancel(rt, &reason);
    Ok(Value::NULL)
}

fn dispose(call: Call) -> PhpResult {
    call.no_arguments()?;
    let (rt, group, here) = (rt(), call.this_of(&GROUP), exception::here());
    let left = group.members().into_iter().filter(|member| state_of(rt, member).0 != State::Done);
    let left = left.map(|member| member.co.get()).collect();
    scope::warn_of_zombies(rt, left, &format!("in CoroutineGroup disposed at {here}"));
    group.cancel(rt, &cancellation::default_cancellation());
    Ok(Value::NULL)
}

fn get_results(call: Call) -> PhpResult {
    call.no_arguments()?;
    Ok(call.this_of(&GROUP).results(rt()).into())
}

fn get_errors(call: Call) -> PhpResult {
    call.no_arguments()?;
    Ok(call.this_of(&GROUP).errors(rt()).into())
}
