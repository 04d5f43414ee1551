//! Semaphores: permits handed to waiters in order of arrival.

use crate::wait_list::{WaitList, Waiting};

/// A number of permits, whose waiters are named by `W`. A permit that is released goes to the one that has waited longest, and
/// cannot be taken by another in between.
#[derive(Debug)]
pub struct Semaphore<W> {
    permits: usize,
    held: usize,
    waiters: WaitList<W, Option<()>>,
}

impl<W: Copy> Semaphore<W> {
    /// Returns a semaphore with `permits` permits.
    pub const fn new(permits: usize) -> Semaphore<W> {
        Semaphore { permits, held: 0, waiters: WaitList::new() }
    }

    /// Returns the number of free permits.
    pub fn available(&self) -> usize {
        self.permits
    }

    /// Returns the number of permits held.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Returns the number of waiters.
    pub fn waiters(&self) -> usize {
        self.waiters.len()
    }

    /// Takes a permit, if there is one.
    pub fn try_acquire(&mut self) -> bool {
        let available = self.permits > 0;
        if available {
            self.permits -= 1;
            self.held += 1;
        }
        available
    }

    /// Releases a permit to the longest waiter. Returns `false` if none is held.
    pub fn release(&mut self, wake: impl FnMut(W) -> bool) -> bool {
        if self.held == 0 {
            return false;
        }
        if let Some(granted) = self.waiters.wake_first_holder(wake) {
            *granted = Some(());
            return true;
        }
        self.held -= 1;
        self.permits += 1;
        true
    }

    /// Adds a waiter. `first`: before all others, because it was passed over while it waited.
    pub fn wait(&mut self, waiter: W, first: bool) -> Waiting {
        self.waiters.wait(waiter, first)
    }

    /// Removes a waiter. Returns `true` if it has a permit, which it has to use or to release.
    pub fn end(&mut self, waiting: Waiting) -> bool {
        self.waiters.end(waiting).is_some()
    }
}
