//! Functions that wait for several awaitables.

use crate::arguments::{fails, number, token};
use crate::iteration::{Iteration, add};
use spindle_php::coroutine::{self, Wait};
use spindle_zend::{Arguments, Array, Call, Object, Owned, PhpResult, Thrown, Value, argument_error, exception};

/// The awaitables that were passed, and their keys.
pub struct Many {
    /// `None` if they are 0, 1, 2, … in this order.
    keys: Option<Vec<Value>>,
    objects: Vec<Owned<Object>>,
}

impl Many {
    /// Returns those of an argument.
    ///
    /// # Errors
    /// One of them is no awaitable, or the iterator has thrown.
    pub fn of(iterable: &Value, number: u32) -> Result<Many, Thrown> {
        if let Some(list) = iterable.as_array().and_then(|array| array.as_list()) {
            let mut objects = Vec::with_capacity(list.len());
            for value in list {
                objects.push(awaitable(value.dereferenced(), number)?);
            }
            return Ok(Many { keys: None, objects });
        }
        let room = iterable.as_array().map_or(0, |array| array.len());
        let (mut keys, mut objects) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let mut iteration = Iteration::of(iterable)?;
        while let Some((key, value)) = iteration.next()? {
            objects.push(awaitable(&value, number)?);
            keys.push(key);
        }
        Ok(Many { keys: Some(keys), objects })
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Waits until `count` of them are complete, or with `fails_fast` until one has failed.
    ///
    /// # Errors
    /// The coroutine is cancelled, the token was first, or a scope among them has failed.
    fn wait(&self, name: &'static str, token: Option<&Object>, count: usize, fails_fast: bool) -> Result<(), Thrown> {
        if fails_fast {
            coroutine::none_has_failed(&self.objects).inspect_err(|_| self.give_up_rest())?;
        }
        let failures = coroutine::await_some(Wait::new(name, token), &self.objects, count, fails_fast)?;
        let thrown = coroutine::throw_first(&self.objects, failures);
        if thrown.is_err() || count < self.len() {
            self.give_up_rest();
        }
        thrown
    }

    /// Gives up those that are not complete: the caller has its answer, and a later failure of theirs is not an unhandled one.
    fn give_up_rest(&self) {
        self.objects.iter().for_each(|object| give_up(object));
    }

    /// Waits until `count` of them have succeeded, or all are complete, and returns their results and failures.
    ///
    /// # Errors
    /// The coroutine is cancelled, or the token was first.
    pub fn settle(&self, name: &'static str, token: Option<&Object>, count: usize) -> Result<Settled, Thrown> {
        let mut settled = Settled { results: Vec::new(), errors: Vec::new() };
        let mut open: Vec<usize> = (0..self.len()).collect();
        loop {
            let mut still = Vec::new();
            for at in open {
                if settled.results.len() >= count || !coroutine::is_complete(&self.objects[at])? {
                    still.push(at);
                    continue;
                }
                match result_or_failure(&self.objects[at])? {
                    Ok(value) => settled.results.push((at, value)),
                    Err(failure) => settled.errors.push((at, failure)),
                }
            }
            let missing = count.saturating_sub(settled.results.len());
            if missing == 0 || still.is_empty() {
                still.iter().for_each(|at| give_up(&self.objects[*at]));
                return Ok(settled);
            }
            let objects: Vec<_> = still.iter().map(|at| self.objects[*at].clone()).collect();
            let wanted = missing.min(objects.len());
            for (failed, failure) in coroutine::await_some(Wait::new(name, token), &objects, wanted, false)? {
                for at in still.extract_if(.., |at| self.objects[*at] == objects[failed]) {
                    settled.errors.push((at, failure.clone().into()));
                }
            }
            open = still;
        }
    }

    /// Waits until `count` of them are complete, and returns their results.
    ///
    /// # Errors
    /// One of them has failed, the coroutine is cancelled, or the token was first.
    pub fn settle_or_fail(
        &self,
        name: &'static str,
        token: Option<&Object>,
        count: usize,
    ) -> Result<Vec<(usize, Value)>, Thrown> {
        let mut results = Vec::with_capacity(count);
        if count == 0 {
            return Ok(results);
        }
        let mut complete = Vec::with_capacity(self.len());
        for object in &self.objects {
            complete.push(coroutine::is_complete(object)?);
        }
        let missing = count.saturating_sub(complete.iter().filter(|complete| **complete).count());
        if missing > 0 {
            self.wait(name, token, missing, true)?;
        }
        for (at, object) in self.objects.iter().enumerate() {
            if results.len() < count && coroutine::is_complete(object)? {
                results.push((at, coroutine::result_of(object).inspect_err(|_| self.give_up_rest())?));
            }
        }
        if results.len() < self.len() {
            self.give_up_rest();
        }
        Ok(results)
    }

    /// Returns an array with the keys of these.
    ///
    /// # Errors
    /// A key is none, and no next one is left.
    pub fn with_keys(&self, mut values: Vec<(usize, Value)>, in_order: bool) -> PhpResult {
        if in_order {
            values.sort_by_key(|(at, _)| *at);
        }
        let mut array = Array::new(values.len());
        for (at, value) in values {
            match &self.keys {
                Some(keys) => add(&mut array, &keys[at], value)?,
                None => array.set_key(&(at as i64).into(), value),
            }
        }
        Ok(array.into())
    }

    /// Returns an array of all results with their keys.
    ///
    /// # Errors
    /// As [`Many::with_keys`].
    fn all_with_keys(&self, results: Vec<Value>) -> PhpResult {
        let Some(keys) = &self.keys else { return Ok(Array::of_values(results).into()) };
        let mut array = Array::new(results.len());
        for (key, result) in keys.iter().zip(results) {
            add(&mut array, key, result)?;
        }
        Ok(array.into())
    }
}

/// Returns an element of the argument with this number.
///
/// # Errors
/// It is no awaitable.
#[inline]
fn awaitable(value: &Value, number: u32) -> Result<Owned<Object>, Thrown> {
    match value.as_object().filter(|object| coroutine::is_awaitable(object)) {
        Some(object) => Ok(Owned::of(object)),
        None => {
            let text = format!("must contain instances of Async\\Awaitable only, {} given", value.type_name());
            Err(argument_error(number, true, &text))
        }
    }
}

/// Gives up an awaitable if it is not complete.
fn give_up(object: &Object) {
    if exception::is_in_flight() {
        exception::put_aside(|| give_up(object));
    } else if let Ok(false) = coroutine::is_complete(object) {
        coroutine::give_up(object);
    }
}

/// Results and failures by the positions of their awaitables, in the order in which they were found.
pub struct Settled {
    /// The results.
    pub results: Vec<(usize, Value)>,
    /// The failures.
    pub errors: Vec<(usize, Value)>,
}

/// Returns the result of a complete awaitable, or its failure as a value.
fn result_or_failure(object: &Object) -> Result<Result<Value, Value>, Thrown> {
    match coroutine::result_of(object) {
        Ok(value) => Ok(Ok(value)),
        Err(thrown) => {
            if exception::is_exit_in_flight() {
                return Err(thrown);
            }
            exception::take().map(|failure| Err(failure.into())).ok_or(thrown)
        }
    }
}

/// `awaitAll()`: all results, or the first failure.
pub fn all(call: Call) -> PhpResult {
    all_of(&call.passed())
}

/// Waits for all awaitables of the first argument; the second one is the token.
///
/// # Errors
/// The first failure, the coroutine is cancelled, or the token was first.
pub fn all_of(arguments: &Arguments<'_>) -> PhpResult {
    let token = token(arguments, 2)?;
    let many = Many::of(arguments.iterable(1)?, 1)?;
    many.wait("awaitAll", token, many.len(), true)?;
    match coroutine::results_if_complete(&many.objects).inspect_err(|_| many.give_up_rest())? {
        Some(results) => many.all_with_keys(results),
        None => Err(fails("An awaitable has failed and has no failure")),
    }
}

/// `awaitAny()`: the result or the failure of the one that completes first.
pub fn any(call: Call) -> PhpResult {
    let arguments = call.passed();
    let token = token(&arguments, 2)?;
    let many = not_empty(Many::of(arguments.iterable(1)?, 1)?, 1)?;
    if many.objects.iter().map(|object| coroutine::is_complete(object)).any(|complete| complete.unwrap_or(true)) {
        many.give_up_rest();
    } else {
        many.wait("awaitAny", token, 1, false)?;
    }
    for object in &many.objects {
        if coroutine::is_complete(object)? {
            return coroutine::result_of(object);
        }
    }
    Err(fails("No awaitable is complete"))
}

/// `awaitAllSettled()`: how each has ended.
pub fn all_settled(call: Call) -> PhpResult {
    let arguments = call.passed();
    let token = token(&arguments, 2)?;
    let many = Many::of(arguments.iterable(1)?, 1)?;
    let Settled { results, errors } = many.settle("awaitAllSettled", token, many.len())?;
    let results = results.into_iter().map(|(at, value)| (at, coroutine::settled(Ok(value)).into()));
    let errors = errors.into_iter().map(|(at, failure)| (at, coroutine::settled(Err(failure)).into()));
    many.with_keys(results.chain(errors).collect(), true)
}

fn not_empty(many: Many, number: u32) -> Result<Many, Thrown> {
    if many.len() == 0 { Err(argument_error(number, false, "must contain at least one awaitable")) } else { Ok(many) }
}

/// `awaitFirst()`: the first result; the failures are thrown together if all have failed.
pub fn first(call: Call) -> PhpResult {
    let arguments = call.passed();
    let token = token(&arguments, 2)?;
    let many = not_empty(Many::of(arguments.iterable(1)?, 1)?, 1)?;
    let mut settled = many.settle("awaitFirst", token, 1)?;
    match settled.results.pop() {
        Some((_, value)) => Ok(value),
        None => Err(all_failed(&many, settled)),
    }
}

/// `awaitAnyOf()`: the first results, in the order of completion.
pub fn any_of(call: Call) -> PhpResult {
    let arguments = call.passed();
    let count = number(&arguments, 1, 0, 0)?;
    let token = token(&arguments, 3)?;
    let many = Many::of(arguments.iterable(2)?, 2)?;
    if many.len() < count {
        return Err(argument_error(1, false, "must not be greater than the number of awaitables"));
    }
    let settled = many.settle("awaitAnyOf", token, count)?;
    if settled.results.len() < count {
        return Err(all_failed(&many, settled));
    }
    many.with_keys(settled.results, false)
}

fn all_failed(many: &Many, settled: Settled) -> Thrown {
    let text = format!("{} of {} awaitables have failed", settled.errors.len(), many.len());
    match many.with_keys(settled.errors, true) {
        Ok(errors) => exception::throw(coroutine::composite_exception(&text, errors)),
        Err(thrown) => thrown,
    }
}
