//! `race()`: the first task that succeeds.

use crate::arguments::number;
use crate::iteration::{Iteration, add};
use spindle_php::coroutine::{self, Nursery, Wait, Waker};
use spindle_zend::{Array, Call, PhpResult, Thrown, Value, argument_error, engine, exception};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What the caller and the coroutines of the tasks share.
#[derive(Default)]
struct Shared {
    result: RefCell<Option<Value>>,
    /// By the positions of the tasks that have ended, in this order; none of one that has thrown nothing, or was cancelled before
    /// its start.
    failures: RefCell<Vec<(usize, Option<Value>)>>,
    /// Wakes the caller.
    waker: Cell<Option<Waker>>,
}

impl Shared {
    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn has_ended(&self, task: usize) -> bool {
        self.failures.borrow().iter().any(|(at, _)| *at == task)
    }

    /// Waits until a task has succeeded or the nursery is cancelled, or for what `is_met` says, or until the deadline.
    fn wait(&self, nursery: &Nursery, deadline: Option<u64>, is_met: impl Fn(&Shared) -> bool) -> Result<(), Thrown> {
        while self.result.borrow().is_none() && !nursery.is_cancelled() && !is_met(self) {
            if deadline.is_some_and(|deadline| coroutine::now() >= deadline) {
                break;
            }
            let begun = Wait { deadline, ..Wait::new("race", None) }.begin()?;
            self.waker.set(Some(begun.waker()));
            let parked = begun.park();
            self.waker.set(None);
            parked.failed()?;
        }
        Ok(())
    }
}

/// A task, which ends when this is dropped, with the body of its coroutine: that of one which is cancelled before its start never runs.
struct Task {
    shared: Rc<Shared>,
    at: usize,
    failure: Option<Value>,
}

impl Drop for Task {
    fn drop(&mut self) {
        self.shared.failures.borrow_mut().push((self.at, self.failure.take()));
        self.shared.wake();
    }
}

/// `race()`.
pub fn race(call: Call) -> PhpResult {
    let arguments = call.passed();
    let stagger = number(&arguments, 2, 0, 0)?;
    let iteration = Iteration::of(arguments.iterable(1)?)?;
    let shared = Rc::new(Shared::default());
    let waiting = Rc::downgrade(&shared);
    let nursery = Nursery::open("race", move |_| waiting.upgrade().into_iter().for_each(|shared| shared.wake()))?;
    let (run, keys) = match run(&nursery, &shared, iteration, stagger) {
        Ok(keys) => (Ok(()), keys),
        Err(thrown) => (Err(thrown), Vec::new()),
    };
    if run.is_ok() {
        nursery.give_up_rest();
    }
    nursery.end(run)?;
    if let Some(result) = shared.result.take() {
        return Ok(result);
    }
    let mut failures = shared.failures.take();
    failures.sort_by_key(|(at, _)| *at);
    let mut list = Array::new(failures.len());
    for (at, failure) in failures {
        let failure =
            failure.unwrap_or_else(|| coroutine::new_cancellation("The task was cancelled before it started").into());
        add(&mut list, &keys[at], failure)?;
    }
    let text = format!("All {} tasks have failed", keys.len());
    Err(exception::throw(coroutine::composite_exception(&text, list.into())))
}

/// Starts the tasks, and waits until one has succeeded or all have failed. Returns their keys.
fn run(nursery: &Nursery, shared: &Rc<Shared>, mut iteration: Iteration, stagger: usize) -> Result<Vec<Value>, Thrown> {
    let mut keys = Vec::new();
    while let Some((key, task)) = iteration.next()? {
        if !engine::is_callable(&task) {
            let text = format!("must contain callables only, {} given", task.type_name());
            return Err(argument_error(1, true, &text));
        }
        let at = keys.len();
        keys.push(key);
        start(nursery, shared, at, task)?;
        if stagger > 0 {
            let pause = u64::try_from(stagger).unwrap_or(u64::MAX).saturating_mul(1_000_000).min(1 << 62);
            shared.wait(nursery, Some(coroutine::now() + pause), |shared| shared.has_ended(at))?;
        }
        if shared.result.borrow().is_some() || nursery.is_cancelled() {
            return Ok(keys);
        }
    }
    if keys.is_empty() {
        return Err(argument_error(1, false, "must contain at least one task"));
    }
    shared.wait(nursery, None, |shared| shared.failures.borrow().len() == keys.len())?;
    Ok(keys)
}

fn start(nursery: &Nursery, shared: &Rc<Shared>, at: usize, task: Value) -> Result<(), Thrown> {
    let mut this = Task { shared: Rc::clone(shared), at, failure: None };
    nursery.spawn(move || {
        match Nursery::call("race", &task, &[]) {
            Ok(result) => {
                let mut first = this.shared.result.borrow_mut();
                if first.is_none() {
                    *first = Some(result.dereferenced().clone());
                }
            }
            Err(thrown) if exception::is_exit_in_flight() => return Err(thrown),
            Err(_) => this.failure = Some(exception::take().into()),
        }
        Ok(Value::NULL)
    })?;
    Ok(())
}
