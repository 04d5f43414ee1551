//! `select()`: one of several operations, whichever can be carried out first.

use crate::arguments::token;
use crate::channel::{self, CHANNEL, Shared};
use crate::random;
use spindle_core::channel::{Ended, Received, Refused};
use spindle_core::wait_list::Waiting;
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

/// The outcome of an attempt: the result, or the exception that is in flight.
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
            Operation::Receive(channel) => receive(channel),
            Operation::Send(channel, value) => match channel.try_send(value.take()?) {
                Ok(()) => Some(Ok(Value::NULL)),
                Err((_, Refused::Closed)) => Some(Err(channel.is_closed_error())),
                Err((refused, Refused::Full)) => {
                    *value = Some(refused);
                    None
                }
            },
            Operation::Await(object) => result_if_complete(object),
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
            Ended::Pending(value) => (value, Outcome::Nothing),
        };
        if let Operation::Send(_, value) = self {
            *value = given_back;
        }
        outcome
    }
}

/// An operation as it stands in the argument. No other code may run while there is one.
#[derive(Clone, Copy)]
enum Given<'a> {
    Receive(&'a Rc<Shared>),
    Send(&'a Rc<Shared>, &'a Value),
    Await(&'a Object),
}

impl<'a> Given<'a> {
    /// Returns the operation that a value of the argument stands for: a channel to receive from, an array of a channel and a value
    /// to send, or an awaitable.
    #[inline(always)]
    fn of(value: &'a Value) -> Result<Given<'a>, Thrown> {
        match as_channel(value) {
            Some(channel) => Ok(Given::Receive(channel)),
            None => Given::other(value),
        }
    }

    fn other(value: &'a Value) -> Result<Given<'a>, Thrown> {
        match (value.as_object(), value.as_array()) {
            (Some(object), _) if coroutine::is_awaitable(object) => Ok(Given::Await(object)),
            (None, Some(pair)) if pair.len() == 2 => {
                let channel = pair.at(0).map(Value::dereferenced).and_then(Value::as_object);
                match (channel.and_then(|object| CHANNEL.of(object)), pair.at(1)) {
                    (Some(channel), Some(value)) => Ok(Given::Send(channel::shared(channel), value.dereferenced())),
                    _ => Err(no_operation()),
                }
            }
            _ => Err(no_operation()),
        }
    }

    fn keep(self) -> Operation {
        match self {
            Given::Receive(channel) => Operation::Receive(Rc::clone(channel)),
            Given::Send(channel, value) => Operation::Send(Rc::clone(channel), Some(value.clone())),
            Given::Await(object) => Operation::Await(Owned::of(object)),
        }
    }

    /// Returns `true` if carrying it out may need no wait.
    fn may_be_ready(self) -> bool {
        match self {
            Given::Receive(channel) => channel.may_receive(),
            Given::Send(channel, _) => channel.may_send(),
            Given::Await(_) => true,
        }
    }

    /// Carries the operation out if that needs no wait. If it is not carried out, no other code has run.
    fn attempt(self) -> Attempt {
        match self {
            Given::Receive(channel) => receive(channel),
            Given::Send(channel, value) => match channel.try_send(value.clone()) {
                Ok(()) => Some(Ok(Value::NULL)),
                Err((_, Refused::Closed)) => Some(Err(channel.is_closed_error())),
                Err((_, Refused::Full)) => None, // the argument has the value too
            },
            Given::Await(object) => result_if_complete(object),
        }
    }
}

#[inline]
fn receive(channel: &Shared) -> Attempt {
    match channel.try_receive() {
        Received::Value(value) => Some(Ok(value)),
        Received::Closed => Some(Err(channel.is_closed_error())),
        Received::Empty => None,
    }
}

fn result_if_complete(object: &Object) -> Attempt {
    match coroutine::is_complete(object) {
        Ok(true) => Some(coroutine::result_of(object)),
        Ok(false) => None,
        Err(thrown) => Some(Err(thrown)),
    }
}

/// Tries the operations of the argument, and returns the result of the one that was carried out with its key; or what is to be
/// waited for.
#[inline(always)]
fn first_attempt(list: &Array) -> Result<PhpResult, Vec<Case>> {
    match list.as_list().and_then(receive_from_only_one) {
        Some((at, value)) => Ok(Ok(Array::pair((at as i64).into(), value).into())),
        None => first_attempt_of_all(list),
    }
}

/// Does the same for all kinds of operations.
#[inline(never)]
fn first_attempt_of_all(list: &Array) -> Result<PhpResult, Vec<Case>> {
    if let Some(values) = list.as_list() {
        return first_of(values.iter(), |at| values[at].dereferenced(), |at| (at as i64).into());
    }
    let mut position = 0;
    let entries: Vec<(Value, &Value)> = std::iter::from_fn(|| list.next_from(&mut position)).collect();
    first_of(entries.iter().map(|entry| entry.1), |at| entries[at].1, |at| entries[at].0.clone())
}

#[inline(always)]
fn as_channel(value: &Value) -> Option<&Rc<Shared>> {
    value.as_object().and_then(|object| CHANNEL.of(object)).map(channel::shared)
}

/// Receives a value if all of these are channels to receive from, and one of them has a value or a sender: returns the value and
/// the position of the channel. This is the most frequent use, and takes few instructions for each channel.
#[inline(always)]
fn receive_from_only_one(values: &[Value]) -> Option<(usize, Value)> {
    if values.len() > MANY {
        return None;
    }
    let mut ready = 0_u64;
    for value in values {
        ready = ready << 1 | u64::from(as_channel(value)?.may_receive());
    }
    if !ready.is_power_of_two() {
        return None;
    }
    let at = values.len() - 1 - ready.trailing_zeros() as usize;
    match as_channel(values.get(at)?)?.try_receive() {
        Received::Value(value) => Some((at, value)),
        Received::Empty | Received::Closed => None, // the others are to be checked too
    }
}

/// The number of operations that each have a bit.
const MANY: usize = u64::BITS as usize;

/// As [`first_attempt`], for the operations that these values stand for.
#[inline(always)]
fn first_of<'a>(
    values: impl ExactSizeIterator<Item = &'a Value>,
    value: impl Fn(usize) -> &'a Value,
    key: impl Fn(usize) -> Value,
) -> Result<PhpResult, Vec<Case>> {
    let count = values.len();
    if count == 0 {
        return Ok(Err(argument_error(1, false, "must contain at least one operation")));
    }
    let operation = |at| Given::of(value(at));
    let try_one = |at| {
        let found = operation(at).map_or_else(|thrown| Some(Err(thrown)), Given::attempt)?;
        Some(found.map(|value| Array::pair(key(at), value).into()))
    };
    // All are checked before one is carried out.
    if count <= MANY {
        // Those that may need no wait are noted: the last one is the lowest bit.
        let mut ready = 0_u64;
        for value in values {
            match may_be_ready(value) {
                Ok(may_be_ready) => ready = ready << 1 | u64::from(may_be_ready),
                Err(thrown) => return Ok(Err(thrown)),
            }
        }
        while ready != 0 {
            let mut others = ready;
            for _ in 0..random::from_to(0, ready.count_ones() as usize) {
                others &= others - 1; // without the lowest one
            }
            let lowest = others.trailing_zeros() as usize;
            if let Some(found) = try_one(count - 1 - lowest) {
                return Ok(found);
            }
            ready &= !(1 << lowest);
        }
    } else {
        let mut is_any_ready = false;
        for value in values {
            match may_be_ready(value) {
                Ok(may_be_ready) => is_any_ready |= may_be_ready,
                Err(thrown) => return Ok(Err(thrown)),
            }
        }
        let mut order: Vec<usize> = if is_any_ready { (0..count).collect() } else { Vec::new() };
        for place in 0..order.len() {
            order.swap(place, random::from_to(place, count));
            if let Some(found) = try_one(order[place]) {
                return Ok(found);
            }
        }
    }
    let keep = |at| Some(Case { key: key(at), operation: operation(at).ok()?.keep(), waiting: None });
    Err((0..count).filter_map(keep).collect())
}

/// Returns `true` if the operation that a value of the argument stands for may need no wait.
///
/// # Errors
/// It is no operation.
fn may_be_ready(value: &Value) -> Result<bool, Thrown> {
    Given::of(value.dereferenced()).map(Given::may_be_ready)
}

fn no_operation() -> Thrown {
    let text = "must contain channels to receive from, arrays of a channel and a value to send, and awaitables only";
    argument_error(1, true, text)
}

/// Tries the operations in a random order, and returns the first that needs no wait. The whole order is random, not only its
/// beginning: each operation that needs no wait is equally likely, wherever the others are.
fn attempt(cases: &mut [Case]) -> Option<(usize, PhpResult)> {
    (0..cases.len()).find_map(|at| {
        cases.swap(at, random::from_to(at, cases.len()));
        Some((at, cases[at].operation.attempt()?))
    })
}

fn result(key: Value, value: Value) -> PhpResult {
    Ok(Array::pair(key, value).into())
}

/// `select()`.
pub fn select(call: Call) -> PhpResult {
    let arguments = call.passed();
    let token = token(&arguments, 2)?;
    let mut cases = match first_attempt(arguments.array(1)?) {
        Ok(found) => return found,
        Err(cases) => cases,
    };
    // One that is also an operation is awaited: its result comes before its being the token.
    let is_operation = |token: &Object| {
        cases.iter().any(|case| matches!(&case.operation, Operation::Await(object) if **object == *token))
    };
    let token = token.filter(|token| !is_operation(token));
    loop {
        if let Some((at, found)) = wait(&mut cases, token)? {
            return result(cases[at].key.clone(), found?);
        }
        if let Some((at, found)) = attempt(&mut cases) {
            return result(cases[at].key.clone(), found?);
        }
    }
}

/// `trySelect()`.
pub fn try_select(call: Call) -> PhpResult {
    let arguments = call.passed();
    first_attempt(arguments.array(1)?).unwrap_or(Ok(Value::NULL))
}

/// Waits for all operations together. All have the same waker, which works once: only one of them is carried out.
fn wait(cases: &mut [Case], token: Option<&Object>) -> Result<Option<(usize, PhpResult)>, Thrown> {
    let only_watches = cases.iter().all(|case| matches!(case.operation, Operation::Await(_)));
    let begun = Wait { only_watches, ..Wait::new("select", token) }.begin()?;
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
        // The receiver has the value: if the coroutine was cancelled since, that belongs to its next wait.
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
            // The token does not count if an awaitable is complete too: the next attempt finds that.
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
