//! Work that may block, on a thread of the event loop's.

use crate::server::Shared;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// What a task that waits for a job, and the server, know of it.
#[derive(Default)]
pub struct Wait {
    has_ended: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Wait {
    /// The job has ended.
    pub fn is_signalled(&self) {
        self.has_ended.set(true);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// A job that was begun. It runs on when this is dropped: it owns all that it uses.
pub struct Job<T> {
    result: Arc<Mutex<Option<T>>>,
    wait: Rc<Wait>,
}

impl<T: Send + 'static> Job<T> {
    /// Has work done by another thread.
    pub fn begin(shared: &Shared, work: impl FnOnce() -> T + Send + 'static) -> Job<T> {
        let job = Job { result: Arc::default(), wait: Rc::default() };
        let result = Arc::clone(&job.result);
        let run = Box::new(move || {
            let done = work();
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        });
        match shared.driver.submit(run, &|key| shared.is_used(key)) {
            Some(key) => drop(shared.jobs.borrow_mut().insert(key, Rc::clone(&job.wait))),
            None => job.wait.is_signalled(),
        }
        job
    }

    /// Returns what it has returned; nothing if no thread has done it. Called until it is ready.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if self.wait.has_ended.get() {
            return Poll::Ready(self.result.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
        *self.wait.waker.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }
}
