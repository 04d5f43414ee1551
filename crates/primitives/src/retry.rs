//! `retry()`.

use crate::arguments::number;
use crate::random;
use spindle_php::coroutine;
use spindle_zend::{Arguments, Call, Owned, PhpResult, Thrown, argument_error, exception};
use std::time::Duration;

/// The pauses between the attempts.
struct Pauses {
    /// The next one, in milliseconds, without what chance adds.
    next: f64,
    factor: f64,
    jitter: f64,
}

impl Pauses {
    fn of(arguments: &Arguments<'_>) -> Result<Pauses, Thrown> {
        let next = number(arguments, 3, 100, 0)? as f64;
        let factor = arguments.double_or(4, 2.0)?;
        if !(1.0..f64::INFINITY).contains(&factor) {
            return Err(argument_error(4, false, "must be a finite number of at least 1"));
        }
        let jitter = arguments.double_or(5, 0.1)?;
        if !(0.0..=1.0).contains(&jitter) {
            return Err(argument_error(5, false, "must be between 0 and 1"));
        }
        Ok(Pauses { next, factor, jitter })
    }

    fn next(&mut self) -> Duration {
        const STEPS: usize = 1 << 20;
        let chance = random::from_to(0, STEPS + 1) as f64 / STEPS as f64 * 2.0 - 1.0;
        let seconds = self.next * (1.0 + self.jitter * chance) / 1000.0;
        self.next *= self.factor;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// `retry()`.
pub fn retry(call: Call) -> PhpResult {
    let arguments = call.passed();
    let task = arguments.callable(1)?;
    let attempts = number(&arguments, 2, 3, 1)?;
    let mut pauses = Pauses::of(&arguments)?;
    let when = arguments.callable_or_null(6)?;
    let is_cleanup = coroutine::was_cancelled();
    for attempt in 1.. {
        let thrown = match coroutine::call(task, &mut [(attempt as i64).into()]) {
            Ok(result) => return Ok(result),
            Err(thrown) => thrown,
        };
        if attempt >= attempts || exception::is_exit_in_flight() {
            return Err(thrown);
        }
        let Some(failure) = exception::take() else { return Err(thrown) };
        // A task may wrap its cancellation in an exception of its own.
        let is_cancelled = !is_cleanup && coroutine::was_cancelled();
        let is_worth_it = !is_cancelled
            && !failure.is_a(coroutine::cancellation_exception())
            && match when {
                Some(when) => coroutine::call(when, &mut [failure.clone().into()])?.is_truthy(),
                None => true,
            };
        if !is_worth_it {
            return Err(exception::throw(Owned::of(&failure)));
        }
        drop(failure);
        coroutine::sleep(pauses.next())?;
    }
    unreachable!("the last attempt has returned")
}
