//! Pools: a limited number of items, each used by one at a time, handed to waiters in order of arrival.
//!
//! Every item that exists, is being made, or is being destroyed has a *place*; there are `limit` places. A place that was taken is
//! given back in one of two ways: with an item ([`Pool::put`]), or without ([`Pool::vacate`]).
//!
//! No item is dropped here: dropping one may run code that uses the pool.

use crate::wait_list::{WaitList, Waiting};
use std::collections::VecDeque;

/// A place that was taken.
#[derive(Debug, PartialEq, Eq)]
pub enum Place<T> {
    /// With an item.
    Item(T),
    /// Without: an item may be made.
    Vacant,
}

/// The result of an attempt to take a place.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken<T> {
    /// A place.
    Place(Place<T>),
    /// All places are taken.
    Empty,
    /// The pool is closed.
    Closed,
}

/// A pool of items of type `T`, whose waiters are named by `W`.
#[derive(Debug)]
pub struct Pool<T, W> {
    limit: usize,
    count: usize,
    /// The idle items. The last one was used most recently.
    free: VecDeque<T>,
    waiters: WaitList<W, Option<Place<T>>>,
    closed: bool,
}

impl<T, W: Copy> Pool<T, W> {
    /// Returns an empty pool with `limit` places.
    pub const fn new(limit: usize) -> Pool<T, W> {
        Pool { limit, count: 0, free: VecDeque::new(), waiters: WaitList::new(), closed: false }
    }

    /// Returns how many places are not vacant: with items, or taken.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of idle items.
    pub fn idle(&self) -> usize {
        self.free.len()
    }

    /// Returns the number of waiters.
    pub fn waiters(&self) -> usize {
        self.waiters.len()
    }

    /// Returns `true` if it is closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Takes a place: that of the item which was used most recently, or a vacant one.
    #[inline]
    pub fn try_take(&mut self) -> Taken<T> {
        if self.closed {
            return Taken::Closed;
        }
        if let Some(item) = self.free.pop_back() {
            return Taken::Place(Place::Item(item));
        }
        if self.count < self.limit {
            self.count += 1;
            return Taken::Place(Place::Vacant);
        }
        Taken::Empty
    }

    /// Takes a vacant place. Returns `false` if there is none.
    pub fn take_vacant(&mut self) -> bool {
        let is_one = !self.closed && self.count < self.limit;
        self.count += usize::from(is_one);
        is_one
    }

    /// Adds a waiter. `first`: before all others, because it was passed over while it waited.
    pub fn wait(&mut self, waiter: W, first: bool) -> Waiting {
        self.waiters.wait(waiter, first)
    }

    /// Removes a waiter, and returns the place that it has, if any, which it has to use or to give back.
    pub fn end(&mut self, waiting: Waiting) -> Option<Place<T>> {
        self.waiters.end(waiting)
    }

    /// Gives a place back with an item, which goes to the one that has waited longest.
    ///
    /// # Errors
    /// The item, if the pool is closed. Its place stays taken: destroy the item, and [`vacate`](Pool::vacate) the place.
    #[inline(always)]
    pub fn put(&mut self, item: T, wake: impl FnMut(W) -> bool) -> Result<(), T> {
        if self.closed {
            return Err(item);
        }
        match self.first_waiter(wake) {
            Some(granted) => *granted = Some(Place::Item(item)),
            None => self.free.push_back(item),
        }
        Ok(())
    }

    /// Gives a place back without an item. The one that has waited longest may make one.
    pub fn vacate(&mut self, wake: impl FnMut(W) -> bool) {
        debug_assert!(self.count > 0);
        if self.closed {
            self.count -= 1;
            return;
        }
        match self.first_waiter(wake) {
            Some(granted) => *granted = Some(Place::Vacant),
            None => self.count -= 1,
        }
    }

    /// Gives back a place that was granted and is not used.
    ///
    /// # Errors
    /// Its item, as for [`Pool::put`].
    pub fn give_back(&mut self, place: Place<T>, wake: impl FnMut(W) -> bool) -> Result<(), T> {
        match place {
            Place::Item(item) => self.put(item, wake),
            Place::Vacant => {
                self.vacate(wake);
                Ok(())
            }
        }
    }

    /// Wakes the one that has waited longest, and returns where the place that it gets is put.
    #[inline]
    fn first_waiter(&mut self, wake: impl FnMut(W) -> bool) -> Option<&mut Option<Place<T>>> {
        self.waiters.wake_first_holder(wake)
    }

    /// Returns the item that has been idle longest.
    pub fn oldest(&self) -> Option<&T> {
        self.free.front()
    }

    /// Takes that item out. Its place stays taken.
    pub fn take_oldest(&mut self) -> Option<T> {
        self.free.pop_front()
    }

    /// Takes out the item for which `is_it` returns `true`, if it is idle. Its place stays taken.
    pub fn take_this(&mut self, is_it: impl FnMut(&T) -> bool) -> Option<T> {
        let at = self.free.iter().position(is_it)?;
        self.free.remove(at)
    }

    /// Closes the pool, and wakes all waiters. Returns `false` if it was closed before. Idle items are to be
    /// [taken out](Pool::take_oldest).
    pub fn close(&mut self, mut wake: impl FnMut(W) -> bool) -> bool {
        if std::mem::replace(&mut self.closed, true) {
            return false;
        }
        while self.waiters.wake_first(&mut wake).is_some() {}
        true
    }

    /// Forgets all waiters and items but `kept` taken places, and returns the items: the users of the others are gone, as in
    /// the child of a fork.
    pub fn reset(&mut self, kept: usize) -> Vec<T> {
        self.count = kept;
        let waiters = std::mem::take(&mut self.waiters);
        let granted = waiters.into_contents().filter_map(|place| match place {
            Some(Place::Item(item)) => Some(item),
            _ => None,
        });
        std::mem::take(&mut self.free).into_iter().chain(granted).collect()
    }

    /// Returns all items that it holds, including those that were granted but not yet taken.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        let granted = self.waiters.contents().filter_map(|place| match place {
            Some(Place::Item(item)) => Some(item),
            _ => None,
        });
        self.free.iter().chain(granted)
    }
}
