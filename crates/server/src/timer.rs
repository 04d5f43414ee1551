//! Times at which tasks are woken.

use std::cell::RefCell;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::task::Waker;

struct Entry {
    at: u64,
    waker: Waker,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.at == other.at
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        self.at.cmp(&other.at)
    }
}

/// The times, the earliest first. None is taken back: a task that is woken looks at the time itself.
#[derive(Default)]
pub struct Timers(RefCell<BinaryHeap<Reverse<Entry>>>);

impl Timers {
    /// Wakes a task at this time.
    pub fn add(&self, at: u64, waker: Waker) {
        self.0.borrow_mut().push(Reverse(Entry { at, waker }));
    }

    /// Returns the earliest time.
    pub fn next(&self) -> Option<u64> {
        self.0.borrow().peek().map(|entry| entry.0.at)
    }

    /// Wakes the tasks whose time has come.
    pub fn expire(&self, now: u64) {
        while self.next().is_some_and(|at| at <= now) {
            let entry = self.0.borrow_mut().pop();
            if let Some(Reverse(entry)) = entry {
                entry.waker.wake();
            }
        }
    }

    /// Forgets all times.
    pub fn clear(&self) {
        drop(self.0.take());
    }
}
