//! The functions of the namespace `Async`.

use crate::observe::metrics;
use crate::runtime::park::{self, may_wait};
use crate::runtime::scheduler::{Core, rt};
use crate::runtime::timeout::Timeout;
use crate::runtime::{failure, finally, spawn};
use spindle_zend::{Array, Call, PhpResult, Thrown, Value, argument_error, engine, exception, functions};

functions! {
    zif_Async_spawn => spawn;
    zif_Async_suspend => suspend;
    zif_Async_delay => delay;
    zif_Async_timeout => timeout;
    zif_Async_currentCoroutine => current_coroutine;
    zif_Async_getCoroutines => get_coroutines;
    zif_Async_protect => protect;
    zif_Async_onFinally => on_finally;
    zif_Async_onExit => on_finally;
    zif_Async_gracefulShutdown => graceful_shutdown;
    zif_Async_metrics => metrics;
}

fn spawn(call: Call) -> PhpResult {
    let rt = rt();
    spawn::scope_is_open(rt)?;
    Ok(spawn::spawn(rt, call, Core::spawn)?.into())
}

fn suspend(call: Call) -> PhpResult {
    call.no_arguments()?;
    park::suspend(rt())?;
    Ok(Value::NULL)
}

fn delay(call: Call) -> PhpResult {
    park::delay(rt(), nanoseconds(call.arguments(1, 1)?.long(1)?)?)?;
    Ok(Value::NULL)
}

/// Returns the nanoseconds for an argument in milliseconds.
///
/// # Errors
/// The argument is negative.
fn nanoseconds(milliseconds: i64) -> Result<u64, Thrown> {
    let Ok(milliseconds) = u64::try_from(milliseconds) else {
        return Err(argument_error(1, false, "must be greater than or equal to 0"));
    };
    // Centuries are enough, and a deadline must not overflow.
    Ok(milliseconds.saturating_mul(1_000_000).min(1 << 62))
}

fn timeout(call: Call) -> PhpResult {
    let milliseconds = call.arguments(1, 1)?.long(1)?;
    Ok(Timeout::start(rt(), milliseconds, nanoseconds(milliseconds)?).into())
}

fn current_coroutine(call: Call) -> PhpResult {
    call.no_arguments()?;
    Ok(rt().acting().into())
}

fn get_coroutines(call: Call) -> PhpResult {
    call.no_arguments()?;
    let rt = rt();
    let live: Vec<_> = rt.core.borrow().coroutines().collect();
    let live: Vec<_> = live.into_iter().map(|co| rt.object(co)).filter(|this| this.job().is_none()).collect();
    Ok(Array::list(live.into_iter().map(|this| this.object())).into())
}

fn protect(call: Call) -> PhpResult {
    let closure = call.arguments(1, 1)?.closure(1)?;
    let rt = rt();
    rt.core.borrow_mut().shield();
    let result = engine::call(&closure.into(), &mut []);
    rt.core.borrow_mut().unshield();
    exception::check()?;
    may_wait(rt)?;
    Ok(result)
}

fn on_finally(call: Call) -> PhpResult {
    let closure = call.arguments(1, 1)?.closure(1)?;
    let rt = rt();
    finally::register(rt, &rt.acting(), closure);
    Ok(Value::NULL)
}

fn graceful_shutdown(call: Call) -> PhpResult {
    let cause = call.arguments(0, 1)?.object_or_null(1, engine::throwable_class())?;
    failure::shut_down_as_asked(rt(), cause);
    Ok(Value::NULL)
}

fn metrics(call: Call) -> PhpResult {
    call.no_arguments()?;
    Ok(metrics::array(rt()).into())
}
