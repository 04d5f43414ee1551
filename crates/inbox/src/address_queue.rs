//! Wait queues keyed by address.

#[cfg(not(loom))]
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering, fence},
};

#[cfg(loom)]
use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering, fence},
};

/// Wait queues keyed by address, first in, first out. All methods may be called on any thread.
///
/// A waiter enters the queue of an address and then checks the condition that it waits for; the code that changes the
/// condition does so and then notifies the address. Either the notification finds the waiter, or the check finds the
/// condition changed: no wake-up is lost. A notification that finds all queues empty takes no lock.
pub struct AddressQueue<W> {
    entries: Mutex<Entries<W>>,
    /// The number of entries, written under the lock.
    len: AtomicUsize,
}

struct Entries<W> {
    list: Vec<Entry<W>>,
    last_place: u64,
}

struct Entry<W> {
    place: u64,
    address: usize,
    waiter: W,
}

impl<W> Default for AddressQueue<W> {
    fn default() -> Self {
        AddressQueue { entries: Mutex::new(Entries { list: Vec::new(), last_place: 0 }), len: AtomicUsize::new(0) }
    }
}

impl<W> AddressQueue<W> {
    /// Returns empty queues.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `waiter` to the queue of `address`. Returns the place for [`AddressQueue::leave`].
    pub fn enter(&self, address: usize, waiter: W) -> u64 {
        let mut entries = self.lock();
        entries.last_place += 1;
        let place = entries.last_place;
        entries.list.push(Entry { place, address, waiter });
        self.len.store(entries.list.len(), Ordering::Relaxed);
        drop(entries);
        // Pairs with the fence in `notify`: of a check after this one and a notification, one sees the other.
        fence(Ordering::SeqCst);
        place
    }

    /// Removes the entry. Returns `false` if a notification has removed it.
    pub fn leave(&self, place: u64) -> bool {
        self.remove(|entry| entry.place == place).is_some()
    }

    /// Removes the first waiter of `address`, or all of them, and passes each to `wake`, without a lock held.
    #[inline(always)]
    pub fn notify(&self, address: usize, all: bool, wake: impl FnMut(W)) {
        fence(Ordering::SeqCst);
        if self.len.load(Ordering::Relaxed) != 0 {
            self.notify_queued(address, all, wake);
        }
    }

    #[cold]
    fn notify_queued(&self, address: usize, all: bool, mut wake: impl FnMut(W)) {
        while let Some(entry) = self.remove(|entry| entry.address == address) {
            wake(entry.waiter);
            if !all {
                return;
            }
        }
    }

    /// Removes all entries. Returns `false`, and removes nothing, if another thread holds the lock.
    pub fn try_clear(&self) -> bool {
        let Ok(mut entries) = self.entries.try_lock() else { return false };
        entries.list.clear();
        self.len.store(0, Ordering::Relaxed);
        true
    }

    fn remove(&self, is_it: impl Fn(&Entry<W>) -> bool) -> Option<Entry<W>> {
        let mut entries = self.lock();
        let index = entries.list.iter().position(is_it)?;
        let entry = entries.list.remove(index);
        self.len.store(entries.list.len(), Ordering::Relaxed);
        Some(entry)
    }

    fn lock(&self) -> MutexGuard<'_, Entries<W>> {
        // Each change under the lock is a single one.
        self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_queue_in_order_of_arrival() {
        let queue = AddressQueue::new();
        let places: Vec<u64> = [(8, 'a'), (16, 'b'), (8, 'c'), (8, 'd')]
            .into_iter()
            .map(|(address, waiter)| queue.enter(address, waiter))
            .collect();
        let notified = |address, all| {
            let mut woken = String::new();
            queue.notify(address, all, |waiter| woken.push(waiter));
            woken
        };
        assert_eq!(notified(24, true), "");
        assert_eq!(notified(8, false), "a");
        assert!(!queue.leave(places[0]), "it was notified");
        assert!(queue.leave(places[2]));
        assert!(!queue.leave(places[2]), "it has left");
        assert_eq!((notified(8, true), notified(16, true)), ("d".into(), "b".into()));
        queue.enter(8, 'e');
        assert!(queue.try_clear());
        assert_eq!(notified(8, true), "");
    }
}
