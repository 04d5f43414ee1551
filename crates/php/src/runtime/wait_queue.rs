//! Wait queues of coroutines that others wake, in order of arrival.

use crate::runtime::coroutine::Info;
use crate::runtime::park::{after_signal, cannot_await, may_wait};
use crate::runtime::request;
use crate::runtime::scheduler::{Runtime, existing};
use spindle_core::sched::{Ticket, WaitReason, WakeReason};
use spindle_reactor::Reactor;
use spindle_zend::Thrown;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// The tickets of parked coroutines. Tickets of previous requests are void.
pub struct Tickets {
    list: RefCell<VecDeque<Ticket>>,
    request: Cell<u64>,
}

impl Tickets {
    /// Returns an empty queue.
    pub const fn new() -> Tickets {
        Tickets { list: RefCell::new(VecDeque::new()), request: Cell::new(0) }
    }

    /// Calls `with`, which must not run other code, with the tickets of this request.
    fn with<R>(&self, with: impl FnOnce(&mut VecDeque<Ticket>) -> R) -> R {
        let mut list = self.list.borrow_mut();
        if self.request.replace(request::number()) != request::number() {
            list.clear();
        }
        with(&mut list)
    }

    /// Parks the running coroutine until it is woken; a signal ends the park, too. `call` is the wait's name in
    /// diagnostics.
    ///
    /// # Errors
    /// The coroutine is cancelled, cannot be suspended here, or a signal handler has thrown. If it was woken, the
    /// wake-up is passed on to another one.
    pub fn park(&self, rt: &'static Runtime, call: &'static str) -> Result<(), Thrown> {
        if !rt.can_switch() {
            return Err(cannot_await(rt));
        }
        may_wait(rt)?;
        let ticket = rt.begin_wait();
        self.with(|list| list.push_back(ticket));
        let info = Info { call, since: Reactor::now(), ..Info::NONE };
        let reason = rt.park(None, WaitReason::Coroutines, true, info);
        let was_woken = self.with(|list| {
            let place = list.iter().position(|other| *other == ticket);
            place.and_then(|place| list.remove(place)).is_none()
        });
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
        let Some(rt) = existing() else { return false };
        while let Some(ticket) = self.with(VecDeque::pop_front) {
            // A coroutine may have been cancelled meanwhile, or does not exist in the child of a fork.
            if rt.core.borrow_mut().wake(ticket) {
                return true;
            }
        }
        false
    }
}
