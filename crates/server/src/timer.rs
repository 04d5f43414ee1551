//! Times at which tasks are woken.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::task::Waker;

/// A time that does not come.
pub const NEVER: u64 = u64::MAX;

/// Returns when a limit that started at `since` passes; `NEVER` for a limit of 0, which is none.
#[inline]
pub fn limit(since: u64, time: u64) -> u64 {
    if time > 0 { since.saturating_add(time) } else { NEVER }
}

/// A time at which a task is woken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Time {
    /// When.
    pub at: u64,
    number: u64,
}

/// The times, the earliest first.
#[derive(Default)]
pub struct Timers {
    all: RefCell<BTreeMap<Time, Waker>>,
    added: Cell<u64>,
}

impl Timers {
    /// Wakes a task at this time.
    pub fn add(&self, at: u64, waker: Waker) -> Time {
        self.added.set(self.added.get() + 1);
        let time = Time { at, number: self.added.get() };
        self.all.borrow_mut().insert(time, waker);
        time
    }

    /// Removes a time. Does nothing if it has passed.
    pub fn remove(&self, time: Time) {
        let waker = self.all.borrow_mut().remove(&time);
        drop(waker);
    }

    /// Returns the earliest time.
    pub fn next(&self) -> Option<u64> {
        self.all.borrow().first_key_value().map(|(time, _)| time.at)
    }

    /// Wakes the tasks whose time has come.
    pub fn expire(&self, now: u64) {
        while self.next().is_some_and(|at| at <= now) {
            let first = self.all.borrow_mut().pop_first();
            if let Some((_, waker)) = first {
                waker.wake();
            }
        }
    }

    /// Forgets all times.
    pub fn clear(&self) {
        drop(self.all.take());
    }
}
