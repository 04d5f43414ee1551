//! A table of the locks of handles, by the handles' addresses.
//!
//! Nearly every lock has one holder and no waiter, and is gone when its holder's call returns: one is made and
//! removed at each wait for a network. Such a lock is kept in place, in an array that the key's hash indexes, and
//! costs no search and no allocation. It moves to a map when it gets a second holder or a queue, or when another handle's
//! lock is in its place already.

use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::slice;

/// The number of places, a power of two: enough that the handles of a few hundred busy connections rarely meet.
const PLACES: usize = 1024;

/// A lock with holders `H` that `W` wait for.
#[derive(Debug)]
pub struct Lock<H, W> {
    /// In place; a stream may have a reader and a writer.
    pub holders: SmallVec<[H; 2]>,
    /// In order of arrival.
    pub queue: VecDeque<W>,
    /// Its handle is about to be closed.
    pub closing: bool,
}

impl<H, W> Default for Lock<H, W> {
    fn default() -> Lock<H, W> {
        Lock { holders: SmallVec::new(), queue: VecDeque::new(), closing: false }
    }
}

/// Who holds a lock, and who waits for it.
#[derive(Clone, Copy, Debug)]
pub struct Users<'a, H, W> {
    /// In no order.
    pub holders: &'a [H],
    queue: Option<&'a VecDeque<W>>,
}

impl<'a, H, W> Users<'a, H, W> {
    /// Returns those that wait, in order of arrival.
    pub fn waiters(&self) -> impl Iterator<Item = &'a W> + use<'a, H, W> {
        self.queue.into_iter().flatten()
    }
}

#[derive(Clone, Copy, Debug)]
struct Place<H> {
    key: usize,
    /// The only holder of the lock of `key`, whose lock is here.
    holder: Option<H>,
    /// How many locks in the map have a key whose place this is.
    elsewhere: u32,
}

/// The locks that have a holder or a queue.
#[derive(Debug)]
pub struct Locks<H, W> {
    places: [Place<H>; PLACES],
    in_place: usize,
    map: HashMap<usize, Lock<H, W>, FxBuildHasher>,
}

impl<H: Copy, W> Locks<H, W> {
    /// Returns an empty table.
    pub const fn new() -> Locks<H, W> {
        let nothing = Place { key: 0, holder: None, elsewhere: 0 };
        Locks { places: [nothing; PLACES], in_place: 0, map: HashMap::with_hasher(FxBuildHasher) }
    }

    /// Returns `false` if the key has no lock, and `true` if it may have one.
    #[inline(always)]
    pub fn may_have(&self, key: usize) -> bool {
        let place = &self.places[index(key)];
        place.elsewhere != 0 || is_in(place, key)
    }

    /// Returns `true` if there are no locks.
    pub fn is_empty(&self) -> bool {
        self.in_place == 0 && self.map.is_empty()
    }

    /// Returns who uses the lock of a key, if it has one.
    #[inline]
    pub fn users(&self, key: usize) -> Option<Users<'_, H, W>> {
        let place = &self.places[index(key)];
        if let Some(holder) = &place.holder
            && place.key == key
        {
            return Some(Users { holders: slice::from_ref(holder), queue: None });
        }
        if place.elsewhere == 0 {
            return None;
        }
        self.map.get(&key).map(|lock| Users { holders: &lock.holders, queue: Some(&lock.queue) })
    }

    /// Returns the lock of a key, if it has one, to be changed. [`Locks::tidy`] follows.
    pub fn get_mut(&mut self, key: usize) -> Option<&mut Lock<H, W>> {
        let place = &mut self.places[index(key)];
        if !is_in(place, key) {
            return self.map.get_mut(&key);
        }
        let mut lock = Lock::default();
        lock.holders.extend(place.holder.take());
        place.elsewhere += 1;
        self.in_place -= 1;
        Some(self.map.entry(key).insert_entry(lock).into_mut())
    }

    /// Adds a holder.
    #[inline]
    pub fn hold(&mut self, key: usize, holder: H) {
        let place = &mut self.places[index(key)];
        if place.holder.is_none() && (place.elsewhere == 0 || !self.map.contains_key(&key)) {
            (place.key, place.holder) = (key, Some(holder));
            self.in_place += 1;
        } else if let Some(lock) = self.get_mut(key) {
            lock.holders.push(holder);
        } else {
            self.places[index(key)].elsewhere += 1;
            self.map.entry(key).or_default().holders.push(holder);
        }
    }

    /// Removes the holder of a lock that has one holder and no queue, if `is` returns `true` for it. Returns `false` if nothing was
    /// done, because the lock has other users or there is none.
    #[inline]
    pub fn end_only_use(&mut self, key: usize, is: impl FnOnce(&H) -> bool) -> bool {
        let place = &mut self.places[index(key)];
        let is_only = place.key == key && place.holder.as_ref().is_some_and(is);
        if is_only {
            place.holder = None;
            self.in_place -= 1;
        }
        is_only
    }

    /// Removes the lock of a key if it has neither holders nor a queue any more.
    pub fn tidy(&mut self, key: usize) {
        if self.map.get(&key).is_some_and(|lock| lock.holders.is_empty() && lock.queue.is_empty()) {
            self.map.remove(&key);
            self.places[index(key)].elsewhere -= 1;
        }
    }

    /// Removes all locks. If there are none, as at the end of most requests, the array is not touched.
    pub fn clear(&mut self) {
        if !self.is_empty() {
            *self = Locks::new();
        }
    }
}

impl<H: Copy, W> Default for Locks<H, W> {
    fn default() -> Locks<H, W> {
        Locks::new()
    }
}

fn is_in<H>(place: &Place<H>, key: usize) -> bool {
    place.holder.is_some() && place.key == key
}

/// Returns the place of a key. Keys are addresses at least eight bytes apart, or small numbers.
#[inline(always)]
fn index(key: usize) -> usize {
    /// 2^64 divided by the golden ratio: multiples of it are spread evenly over the upper bits.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    (key as u64).wrapping_mul(SPREAD) as usize >> (usize::BITS - PLACES.ilog2())
}
