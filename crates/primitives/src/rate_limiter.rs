//! The class `Async\\RateLimiter`: at most some permits in any period.

use crate::arguments::{TOKEN, fails, number, token};
use crate::semaphore;
use spindle_core::rate::Rate;
use spindle_core::semaphore::Semaphore;
use spindle_php::coroutine::{self, Wait, Waker};
use spindle_zend::{
    Arguments, Call, Class, PhpResult, State, Thrown, Type, Value, argument_error, exception, function_table,
    object_class,
};
use std::cell::{Cell, RefCell};

/// The state of a rate limiter.
struct RateLimiter {
    /// `None` before its constructor.
    rate: RefCell<Option<Rate>>,
    /// The turn of who takes next: one waits for permits, the others wait for their turn.
    turn: RefCell<Semaphore<Waker>>,
    /// The process whose coroutines have turns.
    process: Cell<u32>,
}

object_class!(static RATE_LIMITER: RateLimiter);

function_table! {
    static METHODS = {
        c"__construct"(permits: Type::INT, milliseconds: Type::INT) -> Type::NONE => construct;
        c"acquire"(n: Type::INT => c"1", cancellation: TOKEN => c"null") -> Type::VOID => acquire;
        c"tryAcquire"(n: Type::INT => c"1") -> Type::BOOL => try_acquire;
    }
}

/// Registers the class. At module start.
pub fn register() {
    RATE_LIMITER.declare(c"Async\\RateLimiter", METHODS, &[]);
}

impl State for RateLimiter {
    fn new(_: Class) -> RateLimiter {
        let turn = RefCell::new(Semaphore::new(1));
        RateLimiter { rate: RefCell::new(None), turn, process: Cell::new(std::process::id()) }
    }
}

fn construct(call: Call) -> PhpResult {
    let arguments = call.passed();
    let (permits, milliseconds) = (number(&arguments, 1, 0, 1)?, number(&arguments, 2, 0, 1)?);
    let this = call.this_of(&RATE_LIMITER);
    if this.rate.borrow().is_some() {
        return Err(fails("The rate limiter is constructed already"));
    }
    let period = (milliseconds as u64).saturating_mul(1_000_000).min(1 << 62);
    *this.rate.borrow_mut() = Some(Rate::new(permits as u64, period));
    Ok(Value::NULL)
}

/// Returns how many permits are asked for.
///
/// # Errors
/// There are never as many, or the limiter is not constructed.
fn count(this: &RateLimiter, arguments: &Arguments<'_>) -> Result<u64, Thrown> {
    let count = number(arguments, 1, 1, 1)? as u64;
    match this.rate.borrow().as_ref().map(Rate::permits) {
        None => Err(fails("The rate limiter is not constructed")),
        Some(permits) if count > permits => {
            Err(argument_error(1, false, &format!("must not be greater than the {permits} permits of a period")))
        }
        Some(_) => Ok(count),
    }
}

impl RateLimiter {
    /// Forgets, in the child of a fork, who waits in the parent.
    fn is_used(&self) {
        if self.process.replace(std::process::id()) != std::process::id() {
            drop(self.turn.replace(Semaphore::new(1)));
        }
    }

    /// Takes permits. If there are fewer, returns when there will be enough.
    fn take(&self, count: u64) -> Result<(), u64> {
        self.rate.borrow_mut().as_mut().map_or(Err(u64::MAX), |rate| rate.take(count, coroutine::now()))
    }
}

fn acquire(call: Call) -> PhpResult {
    let (this, arguments) = (call.this_of(&RATE_LIMITER), call.passed());
    this.is_used();
    let (count, token) = (count(this, &arguments)?, token(&arguments, 2)?);
    let wait = Wait::new("RateLimiter::acquire", token);
    semaphore::acquire(&this.turn, &wait)?;
    let taken = loop {
        let Err(again) = this.take(count) else { break Ok(Value::NULL) };
        let parked = Wait { deadline: Some(again), ..wait }.begin().map(|begun| begun.park());
        if let Err(thrown) = parked.and_then(|parked| parked.failed()) {
            break Err(thrown);
        }
    };
    if !exception::is_exit_in_flight() {
        this.turn.borrow_mut().release(Waker::wake);
    }
    taken
}

fn try_acquire(call: Call) -> PhpResult {
    let this = call.this_of(&RATE_LIMITER);
    this.is_used();
    let count = count(this, &call.passed())?;
    // Others that wait come first.
    Ok((this.turn.borrow().available() == 1 && this.take(count).is_ok()).into())
}
