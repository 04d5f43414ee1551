//! Functions of the upstream extension, by its names and with its results.

use crate::arguments::{number, token};
use crate::await_many::{Many, all_of};
use spindle_zend::{Arguments, Array, Call, Object, Owned, PhpResult, Value, argument_error};

fn pair(first: Value, second: Value) -> PhpResult {
    Ok(Array::list([first, second].into_iter()).into())
}

/// `await_all()`: results and failures apart.
pub fn await_all(call: Call) -> PhpResult {
    let arguments = call.passed();
    settled(&arguments, 1, usize::MAX)
}

/// `await_any_of()`: the first results, and the failures until then.
pub fn await_any_of(call: Call) -> PhpResult {
    let arguments = call.passed();
    let count = number(&arguments, 1, 0, 0)?;
    settled(&arguments, 2, count)
}

/// Waits for `count` results of the awaitables in argument `number`. The next arguments are the token, whether results and
/// failures keep the order of the awaitables, and whether a failure leaves a null among the results.
fn settled(arguments: &Arguments<'_>, number: u32, count: usize) -> PhpResult {
    let token = token(arguments, number + 1)?;
    let (in_order, fill) = (arguments.bool_or(number + 2, true)?, arguments.bool_or(number + 3, false)?);
    let many = Many::of(arguments.iterable(number)?, number)?;
    let mut settled = many.settle("await_all", token, count.min(many.len()))?;
    if fill {
        let failed: Vec<_> = settled.errors.iter().map(|(at, _)| (*at, Value::NULL)).collect();
        settled.results.extend(failed);
    }
    pair(many.with_keys(settled.results, in_order)?, many.with_keys(settled.errors, in_order)?)
}

/// `await_all_or_fail()`: all results; the first failure is thrown.
pub fn await_all_or_fail(call: Call) -> PhpResult {
    all_of(&call.passed())
}

/// `await_first_success()`: the first result, and the failures until then.
pub fn await_first_success(call: Call) -> PhpResult {
    let arguments = call.passed();
    let token = token(&arguments, 2)?;
    let many = Many::of(arguments.iterable(1)?, 1)?;
    let mut settled = many.settle("await_first_success", token, 1)?;
    let first = settled.results.pop().map_or(Value::NULL, |(_, value)| value);
    pair(first, many.with_keys(settled.errors, true)?)
}

/// `await_any_of_or_fail()`: the first to complete; a failure among them is thrown.
pub fn await_any_of_or_fail(call: Call) -> PhpResult {
    let arguments = call.passed();
    let count = number(&arguments, 1, 0, 0)?;
    let token = token(&arguments, 3)?;
    arguments.bool_or(4, true)?; // those that are found immediately have the order of the awaitables
    let many = Many::of(arguments.iterable(2)?, 2)?;
    if many.len() < count {
        return Err(argument_error(1, false, "must not be greater than the number of awaitables"));
    }
    let settled = many.settle_or_fail("await_any_of_or_fail", token, count)?;
    many.with_keys(settled, true)
}

/// Calls a function of this extension.
fn function(name: &str, arguments: &mut [Value]) -> PhpResult {
    spindle_php::coroutine::call(&name.into(), arguments)
}

/// `current_coroutine()`.
pub fn current_coroutine(_: Call) -> PhpResult {
    function("Async\\currentCoroutine", &mut [])
}

/// `get_coroutines()`.
pub fn get_coroutines(_: Call) -> PhpResult {
    function("Async\\getCoroutines", &mut [])
}

/// `coroutine_context()`.
pub fn coroutine_context(_: Call) -> PhpResult {
    function("Async\\localContext", &mut [])
}

/// `graceful_shutdown()`.
pub fn graceful_shutdown(call: Call) -> PhpResult {
    let arguments = call.passed();
    let given: Option<&Object> = arguments.object_or_null(1, spindle_zend::engine::throwable_class())?;
    function("Async\\gracefulShutdown", &mut [given.map(Owned::of).into()])
}
