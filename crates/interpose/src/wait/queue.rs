//! Wait queues of coroutines that try again when they are woken, in order of arrival.
//!
//! A coroutine keeps its place while it tries, since other processes may be faster: so what it waits for is never handed to it, as it
//! is by the wait lists of the scheduler's core. The queues belong to the PHP thread; one that other threads notify is an
//! [`super::address_queue`].

use super::backoff::Backoff;
use super::time::MILLISECOND;
use crate::host::{BlockedOn, Host};
use crate::php_cell::PhpCell;
use spindle_reactor::{Reactor, Waiter};

/// A place in the order of arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(u64);

/// A wait queue. The key says what an entry waits for.
///
/// An entry holds the waiter of its coroutine's present park; waking it takes the waiter, so it is woken once for each
/// [`WaitQueue::enqueue`], and stays in its place until [`WaitQueue::remove`].
pub(crate) struct WaitQueue<K> {
    /// In the order of their places: a coroutine takes one and enqueues itself before another one runs.
    entries: Vec<Entry<K>>,
    last_place: u64,
}

struct Entry<K> {
    place: Place,
    key: K,
    waiter: Option<Waiter>,
}

impl<K> WaitQueue<K> {
    pub(crate) const fn new() -> Self {
        WaitQueue { entries: Vec::new(), last_place: 0 }
    }

    /// Returns a new place, behind all others.
    pub(crate) fn next_place(&mut self) -> Place {
        self.last_place += 1;
        Place(self.last_place)
    }

    /// Adds an entry, or gives the one with this place a new waiter.
    pub(crate) fn enqueue(&mut self, place: Place, key: K, waiter: Waiter) {
        match self.entries.iter_mut().find(|entry| entry.place == place) {
            Some(entry) => entry.waiter = Some(waiter),
            None => self.entries.push(Entry { place, key, waiter: Some(waiter) }),
        }
    }

    /// Removes an entry. Returns the index of those behind it.
    pub(crate) fn remove(&mut self, place: Place) -> Option<usize> {
        let index = self.entries.iter().position(|entry| entry.place == place)?;
        self.entries.remove(index);
        Some(index)
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the keys of all entries.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.entries.iter().map(|entry| &entry.key)
    }

    /// Returns the keys of the entries that arrived before this place.
    pub(crate) fn keys_before(&self, place: Place) -> impl Iterator<Item = &K> {
        self.entries.iter().filter(move |entry| entry.place < place).map(|entry| &entry.key)
    }

    /// Takes the waiter of the first entry that matches, if it has one.
    pub(crate) fn take_first(&mut self, matches: impl Fn(&K) -> bool) -> Option<Waiter> {
        self.entries.iter_mut().find(|entry| matches(&entry.key)).and_then(|entry| entry.waiter.take())
    }

    /// Takes the next waiter that matches, from the index `next` on, and moves `next` past it.
    pub(crate) fn take_next(&mut self, next: &mut usize, matches: impl Fn(&K) -> bool) -> Option<Waiter> {
        while let Some(entry) = self.entries.get_mut(*next) {
            *next += 1;
            if matches(&entry.key)
                && let Some(waiter) = entry.waiter.take()
            {
                return Some(waiter);
            }
        }
        None
    }
}

/// Wakes the entries that match, from the index `first` on, in order.
pub(crate) fn wake_matching<K>(
    queue: &PhpCell<WaitQueue<K>>,
    host: &dyn Host,
    first: usize,
    matches: impl Fn(&K) -> bool,
) {
    let mut next = first;
    while let Some(waiter) = queue.with(host, |queue| queue.take_next(&mut next, &matches)) {
        host.wake(waiter);
    }
}

/// Entries after the first one with their key are woken by it; they also try by themselves this often, in case it is gone.
const FALLBACK: u64 = 250 * MILLISECOND;

/// Parks in `queue` until `attempt` returns a result, which it is asked for when the entry is woken, and by polling:
/// another process may change what is waited for. Of the entries with the same key only the first one polls.
///
/// Fails with `ECANCELED` or `EINTR`, and with `EAGAIN` when the deadline has passed.
pub(crate) fn retry_in_queue<K: Copy + PartialEq, T>(
    queue: &PhpCell<WaitQueue<K>>,
    host: &dyn Host,
    key: K,
    deadline: Option<u64>,
    blocked_on: BlockedOn,
    mut attempt: impl FnMut() -> Option<Result<T, i32>>,
) -> Result<T, i32> {
    let place = queue.with(host, WaitQueue::next_place);
    let (mut polling, mut fallback) = (Backoff::polling(), Backoff::every(FALLBACK));
    let result = loop {
        if deadline.is_some_and(|deadline| deadline <= Reactor::now()) {
            break Err(libc::EAGAIN);
        }
        let waiter = host.begin_wait();
        let is_first = queue.with(host, |queue| {
            queue.enqueue(place, key, waiter);
            !queue.keys_before(place).any(|other| *other == key)
        });
        let backoff = if is_first { &mut polling } else { &mut fallback };
        if let Some(error) = backoff.park(host, deadline, blocked_on).error() {
            break Err(error);
        }
        if let Some(result) = attempt() {
            break result;
        }
    };
    queue.with(host, |queue| queue.remove(place));
    result
}
