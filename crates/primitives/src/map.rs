//! `map()`: a callback for each item, in coroutines of their own, and all results.

use crate::arguments::{fails, number, token};
use crate::iteration::{Iteration, add};
use spindle_php::coroutine::{self, Nursery, Wait, Waker};
use spindle_zend::{Array, Call, PhpResult, Thrown, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What the caller and the coroutines of the callbacks share.
#[derive(Default)]
struct Shared {
    /// By the positions of the items; none of a callback that has not returned.
    results: RefCell<Vec<Option<Value>>>,
    active: Cell<usize>,
    /// Wakes the caller, which waits for room.
    waker: Cell<Option<Waker>>,
}

impl Shared {
    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// Counts a callback as active until it is dropped, with the body of its coroutine.
struct Active(Rc<Shared>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.set(self.0.active.get() - 1);
        self.0.wake();
    }
}

/// `map()`.
pub fn map(call: Call) -> PhpResult {
    let arguments = call.passed();
    let callback = arguments.callable(2)?;
    let concurrency = match number(&arguments, 3, 0, 0)? {
        0 => usize::MAX,
        limit => limit,
    };
    let token = token(&arguments, 4)?;
    let iteration = Iteration::of(arguments.iterable(1)?)?;
    let shared = Rc::new(Shared::default());
    let waiting = Rc::downgrade(&shared);
    let nursery = Nursery::open("map", move |_| waiting.upgrade().into_iter().for_each(|shared| shared.wake()))?;
    let fed = nursery.limit_by(token).and_then(|()| feed(&nursery, &shared, iteration, callback, concurrency));
    let (fed, keys) = match fed {
        Ok(keys) => (Ok(()), keys),
        Err(thrown) => (Err(thrown), Vec::new()),
    };
    nursery.end(fed)?;
    let mut results = Array::new(keys.len());
    for (at, (key, result)) in keys.iter().zip(shared.results.take()).enumerate() {
        let Some(result) = result else {
            return Err(fails(&format!("The call for item {at} was cancelled, and has no result")));
        };
        add(&mut results, key, result)?;
    }
    Ok(results.into())
}

/// Starts the callbacks, up to the allowed number at a time, until the nursery is cancelled. An item is asked for when there is room.
/// Returns the keys.
fn feed(
    nursery: &Nursery,
    shared: &Rc<Shared>,
    mut iteration: Iteration,
    callback: &Value,
    concurrency: usize,
) -> Result<Vec<Value>, Thrown> {
    let mut keys = Vec::new();
    loop {
        while shared.active.get() >= concurrency && !nursery.is_cancelled() {
            let begun = Wait::new("map", None).begin()?;
            shared.waker.set(Some(begun.waker()));
            let parked = begun.park();
            shared.waker.set(None);
            parked.failed()?;
        }
        if nursery.is_cancelled() {
            return Ok(keys);
        }
        let Some((key, value)) = iteration.next()? else { return Ok(keys) };
        if nursery.is_cancelled() {
            return Ok(keys); // while the iterator was suspended
        }
        shared.active.set(shared.active.get() + 1);
        let (active, at, callback) = (Active(Rc::clone(shared)), keys.len(), callback.clone());
        let mut arguments = [value, key.clone()];
        shared.results.borrow_mut().push(None);
        keys.push(key);
        nursery.spawn(move || {
            let result = coroutine::call(&callback, &mut arguments)?;
            let before = active.0.results.borrow_mut()[at].replace(result.dereferenced().clone());
            debug_assert!(before.is_none());
            Ok(Value::NULL)
        })?;
    }
}
