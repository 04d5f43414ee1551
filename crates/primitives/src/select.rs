//! `select()`: one of several operations, whichever can be carried out first.

use crate::channel::{self, CHANNEL, Shared};
use crate::{random, token};
use spindle_core::channel::{Ended, Received, Refused, Waiting};
use spindle_php::coroutine::{self, Wait, Waker};
use spindle_zend::{Array, Call, Object, Owned, PhpResult, Thrown, Value, argument_error, exception};
use std::rc::Rc;

/// An operation.
enum Operation {
    Receive(Rc<Shared>),
    /// The value is taken out while it waits in the channel.
    Send(Rc<Shared>, Option<Value>),
    Await(Owned<Object>),
}

/// An operation with its key, and its place in the channel while it waits.
struct Case {
    key: Value,
    operation: Operation,
    waiting: Option<Waiting>,
}

/// What an attempt has come to: the result, or the exception that is in flight.
type Attempt = Option<PhpResult>;

/// What the end of the wait has brought for one operation.
enum Outcome {
    Nothing,
    /// The value, and the number of the hand-off.
    Received(Value, u64),
    Sent,
    Closed,
}

impl Operation {
    /// Carries the operation out if that needs no wait.
    fn attempt(&mut self) -> Attempt {
        match self {
            Operation::Receive(channel) => match channel.try_receive() {
                Received::Value(value) => Some(Ok(value)),
                Received::Closed => Some(Err(channel.is_closed_error())),
                Received::Empty => None,
            },
            Operation::Send(channel, value) => match channel.try_send(value.take()?) {
                Ok(()) => Some(Ok(Value::NULL)),
                Err((_, Refused::Closed)) => Some(Err(channel.is_closed_error())),
                Err((refused, Refused::Full)) => {
                    *value = Some(refused);
                    None
                }
            },
            Operation::Await(object) => match coroutine::is_complete(object) {
                Ok(true) => Some(coroutine::result_of(object)),
                Ok(false) => None,
                Err(thrown) => Some(Err(thrown)),
            },
        }
    }

    fn begin(&mut self, waker: Waker) -> Option<Waiting> {
        match self {
            Operation::Receive(channel) => Some(channel.wait_to_receive(waker, false)),
            Operation::Send(channel, value) => {
                let value = value.take()?;
                Some(channel.wait_to_send(value, waker, false))
            }
            Operation::Await(_) => None,
        }
    }

    fn end(&mut self, waiting: Waiting) -> Outcome {
        let ended = match self {
            Operation::Receive(channel) => channel.end_receive(waiting),
            Operation::Send(channel, _) => channel.end_send(waiting),
            Operation::Await(_) => return Outcome::Nothing,
        };
        let (given_back, outcome) = match ended {
            Ended::Received(value, number) => (None, Outcome::Received(value, number)),
            Ended::Sent => (None, Outcome::Sent),
            Ended::Closed(value) => (value, Outcome::Closed),
            Ended::Pending(value, _) => (value, Outcome::Nothing),
        };
        if let Operation::Send(_, value) = self {
            *value = given_back;
        }
        outcome
    }
}

/// Returns the operations of the argument: a channel to receive from, an array of a channel and a value to send, or an
/// awaitable.
fn cases(list: &Array) -> Result<Vec<Case>, Thrown> {
    let (mut cases, mut position) = (Vec::with_capacity(list.len()), 0);
    while let Some((key, value)) = list.next_from(&mut position) {
        let operation = match (value.as_object(), value.as_array()) {
            (Some(object), _) => match CHANNEL.of(object) {
                Some(channel) => Operation::Receive(Rc::clone(channel::shared(channel))),
                None if object.is_a(coroutine::awaitable()) => Operation::Await(Owned::of(object)),
                None => return Err(no_operation()),
            },
            (None, Some(pair)) if pair.len() == 2 => {
                let channel = pair.at(0).map(Value::dereferenced).and_then(Value::as_object);
                match (channel.and_then(|object| CHANNEL.of(object)), pair.at(1)) {
                    (Some(channel), Some(value)) => {
                        Operation::Send(Rc::clone(channel::shared(channel)), Some(value.dereferenced().clone()))
                    }
                    _ => return Err(no_operation()),
                }
            }
            _ => return Err(no_operation()),
        };
        cases.push(Case { key, operation, waiting: None });
    }
    if cases.is_empty() {
        return Err(argument_error(1, false, "must contain at least one operation"));
    }
    Ok(cases)
}

fn no_operation() -> Thrown {
    let text = "must contain channels to receive from, arrays of a channel and a value to send, and awaitables only";
    argument_error(1, true, text)
}

/// Tries the operations in a random order, and returns the first that needs no wait. The order of all is random, not only the
/// beginning: of those that need no wait each is as likely, wherever the others are.
fn attempt(cases: &mut [Case]) -> Option<(usize, PhpResult)> {
    let count = cases.len();
    (0..count).find_map(|at| {
        cases.swap(at, at + random::below(count - at));
        Some((at, cases[at].operation.attempt()?))
    })
}

fn result(key: &Value, value: Value) -> PhpResult {
    Ok(Array::list([key.clone(), value].into_iter()).into())
}

/// `select()`.
pub fn select(call: Call) -> PhpResult {
    let arguments = call.arguments(1, 2)?;
    let token = token(&arguments, 2)?;
    let mut cases = cases(arguments.array(1)?)?;
    // One that is an operation, too, is awaited: its result comes before its being the token.
    let is_operation = |token: &Object| {
        cases.iter().any(|case| matches!(&case.operation, Operation::Await(object) if **object == *token))
    };
    let token = token.filter(|token| !is_operation(token));
    loop {
        if let Some((at, found)) = attempt(&mut cases) {
            return result(&cases[at].key, found?);
        }
        if let Some(found) = wait(&mut cases, token)? {
            let (at, value) = found;
            return result(&cases[at].key, value?);
        }
    }
}

/// `trySelect()`.
pub fn try_select(call: Call) -> PhpResult {
    let arguments = call.arguments(1, 1)?;
    let mut cases = cases(arguments.array(1)?)?;
    match attempt(&mut cases) {
        Some((at, found)) => result(&cases[at].key, found?),
        None => Ok(Value::NULL),
    }
}

/// Waits for all operations at once. All have the same waker, which works once: only one of them is carried out.
fn wait(cases: &mut [Case], token: Option<&Object>) -> Result<Option<(usize, PhpResult)>, Thrown> {
    let sends = cases.iter().any(|case| matches!(case.operation, Operation::Send(..)));
    let begun = Wait { keeps: sends, ..Wait::new("select", token) }.begin()?;
    let mut watched = Ok(());
    for case in cases.iter_mut() {
        case.waiting = case.operation.begin(begun.waker());
        if let Operation::Await(object) = &case.operation
            && watched.is_ok()
        {
            watched = begun.watch(object);
        }
    }
    let parked = watched.is_ok().then(|| begun.park());
    let (mut found, mut failures) = (None, Vec::new());
    for (at, case) in cases.iter_mut().enumerate() {
        if let Operation::Await(object) = &case.operation
            && let Some(failure) = begun.unwatch(object)
        {
            failures.push((at, failure));
        }
        let Some(waiting) = case.waiting.take() else { continue };
        match case.operation.end(waiting) {
            Outcome::Nothing => {}
            outcome => found = Some((at, outcome)),
        }
    }
    let failed = if found.is_none() && !failures.is_empty() { Some(failures.remove(0)) } else { None };
    for (at, failure) in failures {
        if let Operation::Await(object) = &cases[at].operation {
            begun.pass_on(object, failure);
        }
    }
    let Some(parked) = parked else { return watched.map(|()| None) };
    if let Some((at, failure)) = failed {
        parked.taken();
        return Ok(Some((at, Err(exception::throw(failure)))));
    }
    match found {
        Some((at, Outcome::Sent)) => {
            parked.taken();
            Ok(Some((at, Ok(Value::NULL))))
        }
        Some((at, Outcome::Received(value, number))) => {
            let channel = match &cases[at].operation {
                Operation::Receive(channel) => channel,
                _ => unreachable!("only a receiver has received"),
            };
            if parked.is_cancelled() {
                channel.give_back(value, number);
                parked.failed()?;
                return Ok(None);
            }
            // With senders among them the wait has ended as woken, although the coroutine may have been cancelled since.
            if let Err(thrown) = coroutine::check_cancellation() {
                channel.give_back(value, number);
                return Err(thrown);
            }
            parked.taken();
            Ok(Some((at, Ok(value))))
        }
        Some((at, Outcome::Closed)) if !parked.is_cancelled() => {
            parked.taken();
            match &cases[at].operation {
                Operation::Receive(channel) | Operation::Send(channel, _) => {
                    Ok(Some((at, Err(channel.is_closed_error()))))
                }
                Operation::Await(_) => Ok(None),
            }
        }
        _ => {
            // The token does not count if an awaitable is complete, too: the next attempt finds that.
            let is_complete = |case: &Case| match &case.operation {
                Operation::Await(object) => coroutine::is_complete(object).unwrap_or(true),
                _ => false,
            };
            if !parked.is_cancelled() && cases.iter().any(is_complete) {
                parked.taken();
            } else {
                parked.failed()?;
            }
            Ok(None)
        }
    }
}
