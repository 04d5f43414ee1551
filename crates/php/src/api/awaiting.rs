//! The functions that await: `await()` and `awaitChildren()`.

use crate::runtime::awaiting::{
    deliver, info_of, may_await, target, throw_failure, token_was_first, wait, wait_for_all,
};
use crate::runtime::scheduler::{Core, rt};
use crate::runtime::{classes, scope};
use spindle_core::sched::Target;
use spindle_zend::{Call, Object, PhpResult, Thrown, Value, argument_error, functions};

functions! {
    zif_Async_await => await_one;
    zif_Async_awaitChildren => await_children;
}

/// Returns the first argument, which is of type `Awaitable|Scope`.
fn awaitable(value: Option<&Value>) -> Result<&Object, Thrown> {
    let object = value.and_then(Value::as_object);
    if let Some(object) = object
        && is_awaitable(object)
    {
        return Ok(object);
    }
    let given = match (object, value) {
        (Some(object), _) => object.class().name().to_text(),
        (None, value) => value.unwrap_or(const { &Value::NULL }).type_name(),
    };
    let instead = if given == "array" { " (Async\\awaitAll() awaits the members of an array)" } else { "" };
    Err(argument_error(1, true, &format!("must be of type Async\\Awaitable|Async\\Scope, {given} given{instead}")))
}

/// Returns `true` if the object is of type `Awaitable|Scope`.
#[inline(always)]
pub fn is_awaitable(object: &Object) -> bool {
    object.is_a(classes::awaitable()) || object.is_a(classes::scope())
}

fn await_one(call: Call) -> PhpResult {
    let arguments = call.arguments(1, 2)?;
    let token = arguments.object_or_null(2, classes::awaitable())?;
    await_object(awaitable(arguments.value(1))?, token)
}

/// Waits for an object of type `Awaitable|Scope`, or for the token. Returns the result.
///
/// # Errors
/// Its failure, or the exception that ended the wait.
pub fn await_object(awaitable: &Object, token: Option<&Object>) -> PhpResult {
    let rt = rt();
    let wanted = target(awaitable)?;
    let limit = token.map(target).transpose()?;
    may_await(rt, wanted, awaitable)?;
    let over = |core: &Core| core.is_done(wanted) || limit.is_some_and(|limit| core.is_done(limit));
    let (both, alone) = ([wanted, limit.unwrap_or(wanted)], [wanted]);
    let targets = if limit.is_some() { &both[..] } else { &alone[..] };
    let is_over = over(&rt.core.borrow());
    let waited = if is_over { Ok(None) } else { wait(rt, targets, info_of(wanted, limit), over) };
    match waited {
        Err(thrown) => {
            if let Target::Scope(id) = wanted
                && rt.core.borrow().is_finished(id)
            {
                scope::schedule_warning(rt, id); // it stopped waiting before it could receive them
            }
            Err(thrown)
        }
        Ok(Some(failure)) => {
            let wanted = if let Target::Scope(id) = wanted { Some(id) } else { None };
            Err(throw_failure(rt, targets, wanted, failure))
        }
        Ok(None) => {
            let has_come = rt.core.borrow().is_done(wanted);
            match token {
                Some(token) if !has_come => Err(token_was_first(rt, token)),
                _ => deliver(rt, awaitable),
            }
        }
    }
}

fn await_children(call: Call) -> PhpResult {
    let token = call.arguments(0, 1)?.object_or_null(1, classes::awaitable())?;
    let rt = rt();
    let children = {
        let core = rt.core.borrow();
        core.children_of(core.running())
    };
    wait_for_all(rt, &children, "awaitChildren", token)?;
    Ok(Value::NULL)
}
