//! `signal()`, and the class of what it returns.

use spindle_php::coroutine::{self, AwaitableClass, SignalWait};
use spindle_zend::{Call, Class, PhpResult, State, Type, Value, argument_error, function_table, object_class};
use std::cell::OnceCell;
use std::rc::Rc;

/// The state of an arrival of a signal.
#[derive(Default)]
struct Arrival(OnceCell<Rc<SignalWait>>);

object_class!(static ARRIVAL: Arrival);

function_table! {
    static METHODS = {
        c"isCompleted"() -> Type::BOOL => |call| {
            Ok(call.this_of(&ARRIVAL).0.get().is_some_and(|wait| wait.completion.is_complete()).into())
        };
    }
}

/// Registers the class. At module start.
pub fn register() {
    let class = ARRIVAL.declare(c"Async\\SignalArrival", METHODS, &[]);
    class.implement(coroutine::awaitable());
    coroutine::declare_awaitable(AwaitableClass {
        completion: |object| ARRIVAL.of(object)?.0.get().map(|wait| &wait.completion),
        deliver: |object| {
            let signal = ARRIVAL.of(object).and_then(|this| this.0.get()).map(|wait| i64::from(wait.signal()));
            Ok(signal.map_or(Value::NULL, Value::from))
        },
        failure: |_| None,
    });
}

impl State for Arrival {
    fn new(_: Class) -> Arrival {
        Arrival::default()
    }
}

/// `signal()`: the next arrival of a signal, which is caught from this call on.
pub fn signal(call: Call) -> PhpResult {
    let given = call.passed().long(1)?;
    let signal = i32::try_from(given).ok().filter(|signal| (1..=64).contains(signal));
    match signal.map(SignalWait::start) {
        Some(Ok(wait)) => {
            let arrival = ARRIVAL.make();
            let _ = arrival.0.set(wait);
            Ok(arrival.into())
        }
        Some(Err(error)) => Err(argument_error(1, false, &format!("must be a signal that can be caught: {error}"))),
        None => Err(argument_error(1, false, "must be the number of a signal")),
    }
}
