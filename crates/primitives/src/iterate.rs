//! `iterate()`: a callback for each element, in coroutines of their own.

use crate::iteration::Iteration;
use crate::number;
use spindle_php::coroutine::{self, Coroutine, Wait, Waker};
use spindle_zend::{Call, Object, OwnedCell, PhpResult, Thrown, Value, exception};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What the caller and the coroutines of the callbacks share.
#[derive(Default)]
struct Shared {
    active: Cell<usize>,
    failure: OwnedCell<Object>,
    /// A callback has returned `false`.
    is_stopped: Cell<bool>,
    /// Wakes the caller.
    waker: Cell<Option<Waker>>,
}

impl Shared {
    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Returns `true` if no further element is to be asked for.
    fn is_over(&self) -> bool {
        self.is_stopped.get() || !self.failure.is_empty()
    }

    /// Waits until `is_met`, which is asked again when a callback has ended.
    fn wait(&self, is_met: impl Fn(&Shared) -> bool) -> Result<(), Thrown> {
        while !is_met(self) {
            let begun = Wait::new("iterate", None).begin()?;
            self.waker.set(Some(begun.waker()));
            let parked = begun.park();
            self.waker.set(None);
            parked.failed()?;
        }
        Ok(())
    }
}

/// Counts a coroutine as active until it is dropped, with the coroutine's body.
struct Active(Rc<Shared>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.set(self.0.active.get() - 1);
        self.0.wake();
    }
}

/// `iterate()`.
pub fn iterate(call: Call) -> PhpResult {
    let arguments = call.arguments(2, 3)?;
    let concurrency = match number(&arguments, 3, 0, 0)? {
        0 => usize::MAX,
        limit => limit,
    };
    let callback = arguments.callable(2)?.clone();
    let shared = Rc::new(Shared::default());
    let running = RefCell::new(Vec::new());
    let iteration = Iteration::of(arguments.iterable(1)?)?;
    let fed = feed(&shared, iteration, &callback, concurrency, &running);
    let ended = fed.and_then(|()| shared.wait(|shared| shared.active.get() == 0 || !shared.failure.is_empty()));
    let failure = shared.failure.take();
    if ended.is_ok() && failure.is_none() {
        return Ok(Value::NULL);
    }
    // What was thrown here, by the iterator or a cancellation, comes before a failure of a callback.
    let thrown = match (ended, failure) {
        (Err(thrown), _) if exception::is_exit_in_flight() => return Err(thrown),
        (Err(_), failure) => {
            drop(failure);
            exception::take()
        }
        (Ok(()), failure) => failure,
    };
    let running = running.take();
    running.iter().for_each(Coroutine::cancel);
    let waited = shared.wait(|shared| shared.active.get() == 0);
    match thrown {
        Some(thrown) => {
            if waited.is_err() {
                if exception::is_exit_in_flight() {
                    return Err(Thrown::is_in_flight());
                }
                drop(exception::take()); // a further cancellation: the first one is thrown
            }
            Err(exception::throw(thrown))
        }
        None => waited.map(|()| Value::NULL),
    }
}

/// Starts the callbacks, as many at a time as is allowed. An element is asked for when there is a place for it.
fn feed(
    shared: &Rc<Shared>,
    mut iteration: Iteration,
    callback: &Value,
    concurrency: usize,
    running: &RefCell<Vec<Coroutine>>,
) -> Result<(), Thrown> {
    loop {
        shared.wait(|shared| shared.active.get() < concurrency || shared.is_over())?;
        if shared.is_over() {
            return Ok(());
        }
        let Some((key, value)) = iteration.next()? else { return Ok(()) };
        if shared.is_over() {
            return Ok(()); // while the iterator was suspended
        }
        let started = start(shared, callback, value, key)?;
        let mut running = running.borrow_mut();
        if running.len() == running.capacity() {
            running.retain(|coroutine: &Coroutine| !coroutine.is_done());
        }
        running.push(started);
    }
}

fn start(shared: &Rc<Shared>, callback: &Value, value: Value, key: Value) -> Result<Coroutine, Thrown> {
    shared.active.set(shared.active.get() + 1);
    let active = Active(Rc::clone(shared));
    let callback = callback.clone();
    let mut arguments = [value, key];
    coroutine::spawn(move || {
        let shared = &active.0;
        match coroutine::call(&callback, &mut arguments) {
            Ok(result) => {
                if result.type_number() == spindle_zend::sys::IS_FALSE {
                    shared.is_stopped.set(true);
                }
                Ok(Value::NULL)
            }
            Err(thrown) if exception::is_exit_in_flight() => Err(thrown),
            Err(_) => {
                let failure = exception::take();
                if shared.failure.is_empty() {
                    shared.failure.set(failure);
                    shared.wake();
                }
                Ok(Value::NULL)
            }
        }
    })
}
