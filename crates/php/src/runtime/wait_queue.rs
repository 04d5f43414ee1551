//! Wait queues of coroutines that others wake, in order of arrival.

use crate::runtime::coroutine::Info;
use crate::runtime::park::{after_signal, cannot_await, may_wait};
use crate::runtime::request;
use crate::runtime::scheduler::{Runtime, existing, runtime};
use spindle_core::sched::{Ticket, WaitReason, WakeReason};
use spindle_core::wait_list::WaitList;
use spindle_reactor::Reactor;
use spindle_zend::Thrown;
use std::cell::{Cell, RefCell};

/// A queue of coroutines that wait until others have changed something, in order of arrival.
pub struct WaitQueue {
    list: RefCell<WaitList<Ticket, ()>>,
    /// The request whose coroutines are on the list. Those of earlier ones are gone.
    request: Cell<u64>,
}

impl WaitQueue {
    /// Returns an empty queue.
    pub const fn new() -> WaitQueue {
        WaitQueue { list: RefCell::new(WaitList::new()), request: Cell::new(0) }
    }

    /// Calls `with`, which must not run other code, with the waiters of this request.
    fn with<R>(&self, with: impl FnOnce(&mut WaitList<Ticket, ()>) -> R) -> R {
        let mut list = self.list.borrow_mut();
        if self.request.replace(request::number()) != request::number() {
            *list = WaitList::new();
        }
        with(&mut list)
    }

    /// Waits until `attempt` returns a value. It is called immediately, and again whenever this coroutine is woken.
    /// `name` is the wait's name in diagnostics. If nothing can wake the coroutine any more, that is a deadlock, as for
    /// `Async\await()`.
    ///
    /// # Errors
    /// The coroutine is cancelled, cannot be suspended here, or a signal handler has thrown. If it was woken, the
    /// wake-up is passed on to another one.
    pub fn wait_for<T>(&self, name: &'static str, mut attempt: impl FnMut() -> Option<T>) -> Result<T, Thrown> {
        loop {
            runtime()?;
            if let Some(result) = attempt() {
                return Ok(result);
            }
            self.park(runtime()?, name)?; // `attempt` may have thrown
        }
    }

    /// Parks the running coroutine until it is woken; a signal ends the park, too.
    fn park(&self, rt: &'static Runtime, call: &'static str) -> Result<(), Thrown> {
        if !rt.can_switch() {
            return Err(cannot_await(rt));
        }
        may_wait(rt)?;
        let ticket = rt.begin_wait();
        let place = self.with(|list| list.push_back(ticket, ()));
        let info = Info { call, since: Reactor::now(), ..Info::NONE };
        let reason = rt.park(None, WaitReason::Coroutines, true, info);
        let was_woken = self.with(|list| list.take(place)).is_none_or(|((), is_queued)| !is_queued);
        if reason == WakeReason::Woken {
            return Ok(());
        }
        if was_woken {
            self.wake_one();
        }
        if reason == WakeReason::Interrupted {
            after_signal()?;
        }
        may_wait(rt)
    }

    /// Wakes the coroutine that has waited longest. Returns `false` if none waits.
    pub fn wake_one(&self) -> bool {
        request::check_place();
        // A coroutine may have been cancelled meanwhile, or does not exist in the child of a fork.
        existing()
            .is_some_and(|rt| self.with(|list| list.wake_first(|ticket| rt.core.borrow_mut().wake(ticket))).is_some())
    }

    /// Wakes all waiting coroutines.
    pub fn wake_all(&self) {
        while self.wake_one() {}
    }
}

impl Default for WaitQueue {
    fn default() -> WaitQueue {
        WaitQueue::new()
    }
}
