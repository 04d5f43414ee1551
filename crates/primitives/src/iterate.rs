//! `iterate()`: a callback for each element, in coroutines of their own.

use crate::arguments::number;
use crate::iteration::Iteration;
use spindle_core::sched::CoroutineId;
use spindle_php::coroutine::{self, Coroutine, Held, Holders, Wait, Waker};
use spindle_zend::{Call, Object, OwnedCell, PhpResult, PhpStatic, Thrown, Value, exception};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What the caller and the coroutines of the callbacks share.
#[derive(Default)]
struct Shared {
    active: Cell<usize>,
    /// Those that may not have ended.
    running: RefCell<Vec<Coroutine>>,
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

    /// Waits until `is_met`, which is asked again when a callback has ended: `on` says which callbacks have to end.
    fn wait(&self, on: ListCallbacks, is_met: impl Fn(&Shared) -> bool) -> Result<(), Thrown> {
        while !is_met(self) {
            let holders = Some(Holders(on, std::ptr::from_ref(self).addr()));
            let begun = Wait { holders, ..Wait::new("iterate", None) }.begin()?;
            self.waker.set(Some(begun.waker()));
            let parked = begun.park();
            self.waker.set(None);
            parked.failed()?;
        }
        Ok(())
    }
}

/// How the coroutines that a wait depends on are listed ([`Holders`]).
type ListCallbacks = fn(&mut Held<'_>, usize, CoroutineId);

/// The calls of `iterate()` in progress.
static IN_PROGRESS: PhpStatic<RefCell<Vec<Rc<Shared>>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// Lists the callbacks of a call that have not ended: all of them have to.
fn all_callbacks(held: &mut Held<'_>, address: usize, _: CoroutineId) {
    let calls = IN_PROGRESS.borrow();
    let Some(shared) = calls.iter().find(|shared| Rc::as_ptr(shared).addr() == address) else { return };
    shared.running.borrow().iter().for_each(|coroutine| held.by_unless_done(coroutine));
}

/// Does the same where one of them has to end.
fn one_callback(held: &mut Held<'_>, address: usize, co: CoroutineId) {
    held.one_is_enough();
    all_callbacks(held, address, co);
}

/// Keeps a call on the list of those in progress.
struct InProgress(Rc<Shared>);

impl InProgress {
    fn begin() -> InProgress {
        let shared = Rc::new(Shared::default());
        IN_PROGRESS.borrow_mut().push(Rc::clone(&shared));
        InProgress(shared)
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        IN_PROGRESS.borrow_mut().retain(|shared| !Rc::ptr_eq(shared, &self.0));
        drop(self.0.running.take());
    }
}

/// Forgets the calls that a fatal error or the end of the request has cut off, and their coroutines, which are freed with all
/// objects.
pub fn forget_all() {
    IN_PROGRESS.borrow_mut().drain(..).for_each(std::mem::forget);
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
    let arguments = call.passed();
    let concurrency = match number(&arguments, 3, 0, 0)? {
        0 => usize::MAX,
        limit => limit,
    };
    let callback = arguments.callable(2)?.clone();
    let iteration = Iteration::of(arguments.iterable(1)?)?;
    let call = InProgress::begin();
    let shared = &call.0;
    let fed = feed(shared, iteration, &callback, concurrency);
    let is_over = |shared: &Shared| shared.active.get() == 0 || !shared.failure.is_empty();
    let ended = fed.and_then(|()| shared.wait(all_callbacks, is_over));
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
    let running = shared.running.borrow().clone();
    running.iter().for_each(|coroutine| coroutine.cancel_after("iterate()", thrown.as_deref()));
    let waited = shared.wait(all_callbacks, |shared| shared.active.get() == 0);
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

/// Starts the callbacks, up to the allowed number at a time. An element is asked for when there is a place for it.
fn feed(shared: &Rc<Shared>, mut iteration: Iteration, callback: &Value, concurrency: usize) -> Result<(), Thrown> {
    loop {
        shared.wait(one_callback, |shared| shared.active.get() < concurrency || shared.is_over())?;
        if shared.is_over() {
            return Ok(());
        }
        let Some((key, value)) = iteration.next()? else { return Ok(()) };
        if shared.is_over() {
            return Ok(()); // while the iterator was suspended
        }
        let started = start(shared, callback, value, key)?;
        let mut running = shared.running.borrow_mut();
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
