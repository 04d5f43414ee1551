//! Wait queues of coroutines, in order of arrival. They belong to the PHP thread; a queue that other threads notify is an
//! [`super::address_queue`].

use super::backoff::Backoff;
use super::time::MILLISECOND;
use crate::host::{BlockedOn, Host, Wake};
use crate::php_cell::PhpCell;
use spindle_reactor::{Reactor, Waiter};

/// A place in the order of arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// A wait queue. The key says what an entry waits for.
///
/// An entry holds the waiter of its coroutine's present park; waking it takes the waiter, so it is woken once for each
/// [`WaitQueue::enqueue`], and stays in its place until [`WaitQueue::remove`].
pub(crate) struct WaitQueue<K> {
    /// By ticket: a coroutine draws one and enqueues itself before another one runs.
    entries: Vec<Entry<K>>,
    last_ticket: u64,
}

struct Entry<K> {
    ticket: Ticket,
    key: K,
    waiter: Option<Waiter>,
}

impl<K> WaitQueue<K> {
    pub(crate) const fn new() -> Self {
        WaitQueue { entries: Vec::new(), last_ticket: 0 }
    }

    /// Returns a new place, behind all others.
    pub(crate) fn draw_ticket(&mut self) -> Ticket {
        self.last_ticket += 1;
        Ticket(self.last_ticket)
    }

    /// Adds an entry, or gives the one with this ticket a new waiter.
    pub(crate) fn enqueue(&mut self, ticket: Ticket, key: K, waiter: Waiter) {
        match self.entries.iter_mut().find(|entry| entry.ticket == ticket) {
            Some(entry) => entry.waiter = Some(waiter),
            None => self.entries.push(Entry { ticket, key, waiter: Some(waiter) }),
        }
    }

    /// Removes an entry. Returns the index of those behind it.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<usize> {
        let index = self.entries.iter().position(|entry| entry.ticket == ticket)?;
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

    /// Returns the keys of the entries that arrived before this ticket.
    pub(crate) fn keys_before(&self, ticket: Ticket) -> impl Iterator<Item = &K> {
        self.entries.iter().filter(move |entry| entry.ticket < ticket).map(|entry| &entry.key)
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
    let ticket = queue.with(host, WaitQueue::draw_ticket);
    let (mut polling, mut fallback) = (Backoff::polling(), Backoff::every(FALLBACK));
    let result = loop {
        if deadline.is_some_and(|deadline| deadline <= Reactor::now()) {
            break Err(libc::EAGAIN);
        }
        let waiter = host.begin_wait();
        let is_first = queue.with(host, |queue| {
            queue.enqueue(ticket, key, waiter);
            !queue.keys_before(ticket).any(|other| *other == key)
        });
        let backoff = if is_first { &mut polling } else { &mut fallback };
        match backoff.park(host, deadline, blocked_on) {
            Wake::Woken | Wake::TimedOut => {}
            Wake::Cancelled => break Err(libc::ECANCELED),
            Wake::Interrupted => break Err(libc::EINTR),
        }
        if let Some(result) = attempt() {
            break result;
        }
    };
    queue.with(host, |queue| queue.remove(ticket));
    result
}
