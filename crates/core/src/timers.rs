//! Timers: a timing wheel with exact deadlines in nanoseconds.
//!
//! This is no published wheel, because `slab-wheel` and `nexus-timer` round to a tick and have no order within it, and
//! tokio's cannot be used without its runtime. A timer here never fires early, and timers fire strictly in order of
//! (deadline, insertion).
//!
//! # How it works
//!
//! ```text
//!            slot 0   1   2   3  …  63      a slot of this level spans
//! level 0   [past]                          everything up to `elapsed`
//! level 1   [    |   |   |   | … |   ]      1 ns
//! level 2   [    |   |   |   | … |   ]      64 ns
//! level 3   [    |   |   |   | … |   ]      4,096 ns
//!   …
//! level 11  [    |   | … |15 ]              2^60 ns
//! ```
//!
//! A deadline goes to the level of the highest group of six bits in which it differs from
//! `elapsed`, and there to the slot that those six bits name. So all of level `n` comes before all
//! of level `n + 1`, and the earliest timers are those in the first occupied slot of the first
//! occupied level: two `trailing_zeros`.
//!
//! `expire` takes whole slots in that order. A slot that reaches beyond `now` is split: what is
//! due fires, the rest is placed again, always on a lower level, so a timer moves at most ten
//! times in its life and usually once or twice.
//!
//! # Invariants
//!
//! 1. Level 0 holds exactly the waiting timers with `deadline <= elapsed`.
//! 2. Where a timer is depends on its deadline and `elapsed` only, and `elapsed` never passes an
//!    occupied slot without emptying it. Therefore timers of one deadline are always in one list,
//!    in order of insertion, and no sequence number is needed.
//! 3. `List::min` is never later than the earliest deadline in its list.

use crate::arena::{Arena, Key, NONE};

const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
/// Eleven groups of six bits cover 64; one more level for what is already past.
const LEVELS: usize = 12;
/// `Timer::home` of a timer that has left the wheel and is about to be reported.
const DUE: u32 = (LEVELS * SLOTS) as u32;

/// Names one inserted timer.
///
/// The same [`Timers`] never gives out an id twice, so one that is kept too long names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId(Key);

struct Timer<T> {
    deadline: u64,
    prev: u32,
    next: u32,
    /// The list that holds it (level and slot as one number), or [`DUE`].
    home: u32,
    /// `None` once the timer has fired or was cancelled.
    value: Option<T>,
}

#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
    /// Meaningless while the list is empty. Not raised by a cancel.
    min: u64,
}

const EMPTY: List = List { head: NONE, tail: NONE, min: 0 };

/// A timer on its way out of the wheel.
struct Due {
    deadline: u64,
    /// Its place in the list it came from: the order of insertion within one deadline.
    order: u32,
    id: TimerId,
}

/// Values that wait for their deadline, in nanoseconds of a monotonic clock that the caller reads.
///
/// Insert and cancel take constant time. Storage is reused and not given back: no call allocates
/// once the largest number of timers was reached.
pub struct Timers<T> {
    /// The time up to which all has been reported; lags behind the clock.
    elapsed: u64,
    /// Bit per level: has an occupied slot.
    levels: u16,
    /// Bit per slot: has timers.
    occupied: [u64; LEVELS],
    lists: Box<[List; LEVELS * SLOTS]>,
    timers: Arena<Timer<T>>,
    len: usize,
    due: Vec<Due>,
    /// How many of `due` were reported. Differs from 0 between calls only after `fire` panicked.
    reported: usize,
}

impl<T> Timers<T> {
    /// No timers yet; `now` is the clock's present value in nanoseconds.
    pub fn new(now: u64) -> Self {
        Self {
            elapsed: now,
            levels: 0,
            occupied: [0; LEVELS],
            lists: Box::new([EMPTY; LEVELS * SLOTS]),
            timers: Arena::new(),
            len: 0,
            due: Vec::new(),
            reported: 0,
        }
    }

    /// Adds a timer. A deadline in the past is allowed: it fires at the next
    /// [`expire`](Self::expire).
    ///
    /// # Panics
    /// If there are 2^32 - 1 timers.
    #[inline]
    pub fn insert(&mut self, deadline: u64, value: T) -> TimerId {
        let new = |value| Timer { deadline, prev: NONE, next: NONE, home: DUE, value };
        let (key, timer) = self.timers.insert_vacated(|| new(None));
        *timer = new(Some(value)); // written in place
        self.len += 1;
        self.link(key.index);
        TimerId(key)
    }

    /// Cancels a timer. Returns `None` if it has fired or was cancelled before.
    #[inline]
    pub fn cancel(&mut self, id: TimerId) -> Option<T> {
        let timer = self.timers.get_mut(id.0)?;
        let value = timer.value.take()?;
        if timer.home != DUE {
            let (home, prev, next) = (timer.home as usize, timer.prev, timer.next);
            self.unlink(home, prev, next);
        }
        self.release(id);
        Some(value)
    }

    /// The number of pending timers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if no timer is pending.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// When to call [`expire`](Self::expire) next, in nanoseconds; `None` if no timer is pending.
    ///
    /// Never later than the earliest deadline. It is that deadline unless the timer that had been
    /// the earliest of its slot was cancelled; then it may be earlier, an `expire` at that time
    /// fires nothing, and the answer after it is a better one.
    #[inline]
    pub fn next_deadline(&self) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        let waiting = self.first().map(|(home, _)| self.lists[home].min);
        let unreported = self.due.get(self.reported).map(|due| due.deadline);
        match (waiting, unreported) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        }
    }

    /// Hands every timer with `deadline <= now` to `fire`, in order of deadline, those of one
    /// deadline in order of insertion. None is early. Costs a few nanoseconds when nothing is due,
    /// however far the clock has gone.
    ///
    /// The clock does not go back: a `now` before that of an earlier call may be taken for it.
    ///
    /// If `fire` panics, the timers it was not yet given still wait (and can be cancelled); they
    /// come first in the next call.
    #[inline]
    pub fn expire(&mut self, now: u64, mut fire: impl FnMut(TimerId, T)) {
        self.report(&mut fire);
        let now = now.max(self.elapsed);
        while let Some((home, last)) = self.first() {
            if self.lists[home].min > now {
                return;
            }
            self.take_slot(home, last, now);
            self.report(&mut fire);
        }
        self.elapsed = now;
    }

    /// The first occupied list and the last nanosecond it may hold.
    #[inline]
    fn first(&self) -> Option<(usize, u64)> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros() as usize;
        if level == 0 {
            return Some((0, self.elapsed));
        }
        let slot = self.occupied[level].trailing_zeros() as usize;
        let shift = BITS * (level as u32 - 1);
        // All timers of a level share with `elapsed` the bits above the level's own.
        let above = self.elapsed & u64::MAX.checked_shl(shift + BITS).unwrap_or(0);
        let last = above | (slot as u64) << shift | ((1 << shift) - 1);
        Some((level * SLOTS + slot, last))
    }

    /// Empties a list: timers due by `now` go to `due` in order, the rest back into the wheel.
    fn take_slot(&mut self, home: usize, last: u64, now: u64) {
        let list = std::mem::replace(&mut self.lists[home], EMPTY);
        self.clear(home);
        // Before the rest is placed again, which depends on the new time.
        self.elapsed = last.min(now);
        let mut index = list.head;
        while index != NONE {
            let timer = &mut self.timers[index];
            let next = timer.next;
            if timer.deadline <= now {
                timer.home = DUE;
                self.due.push(Due {
                    deadline: timer.deadline,
                    order: self.due.len() as u32,
                    id: TimerId(self.timers.key(index)),
                });
            } else {
                self.link(index);
            }
            index = next;
        }
        // Not the stable sort: it allocates.
        self.due.sort_unstable_by_key(|due| (due.deadline, due.order));
    }

    #[inline]
    fn report(&mut self, fire: &mut impl FnMut(TimerId, T)) {
        while let Some(due) = self.due.get(self.reported) {
            let id = due.id;
            self.reported += 1;
            // It may have been cancelled if an earlier `fire` panicked.
            if let Some(value) = self.timers.get_mut(id.0).and_then(|timer| timer.value.take()) {
                self.release(id);
                fire(id, value);
            }
        }
        self.due.clear();
        self.reported = 0;
    }

    /// Appends the timer to the list its deadline belongs to.
    #[inline]
    fn link(&mut self, index: u32) {
        let deadline = self.timers[index].deadline;
        let (level, slot) = if deadline <= self.elapsed {
            (0, 0)
        } else {
            let group = (deadline ^ self.elapsed).ilog2() / BITS;
            let slot = (deadline >> (BITS * group)) as usize % SLOTS;
            (group as usize + 1, slot)
        };
        let home = level * SLOTS + slot;
        let list = &mut self.lists[home];
        let tail = std::mem::replace(&mut list.tail, index);
        if tail == NONE {
            list.head = index;
            list.min = deadline;
            self.occupied[level] |= 1 << slot;
            self.levels |= 1 << level;
        } else {
            list.min = list.min.min(deadline);
            self.timers[tail].next = index;
        }
        let timer = &mut self.timers[index];
        timer.prev = tail;
        timer.next = NONE;
        timer.home = home as u32;
    }

    #[inline]
    fn unlink(&mut self, home: usize, prev: u32, next: u32) {
        match next {
            NONE => self.lists[home].tail = prev,
            _ => self.timers[next].prev = prev,
        }
        match prev {
            NONE => self.lists[home].head = next,
            _ => self.timers[prev].next = next,
        }
        if prev == NONE && next == NONE {
            self.clear(home);
        }
    }

    /// Records that a list has become empty.
    #[inline]
    fn clear(&mut self, home: usize) {
        let level = home / SLOTS;
        self.occupied[level] &= !(1 << (home % SLOTS));
        if self.occupied[level] == 0 {
            self.levels &= !(1 << level);
        }
    }

    /// Vacates the entry of a timer that is in no list and whose value was taken.
    #[inline]
    fn release(&mut self, id: TimerId) {
        self.len -= 1;
        self.timers.vacate(id.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn fired<T>(timers: &mut Timers<T>, now: u64) -> Vec<T> {
        let mut out = Vec::new();
        timers.expire(now, |_, value| out.push(value));
        out
    }

    #[test]
    fn fires_in_order_and_never_early() {
        let mut timers = Timers::new(1_000);
        for deadline in [5_000, 1_001, 70_000, 1_064, 4_999] {
            timers.insert(deadline, deadline);
        }
        assert_eq!(timers.next_deadline(), Some(1_001));
        assert_eq!(fired(&mut timers, 1_000), []);
        assert_eq!(fired(&mut timers, 4_999), [1_001, 1_064, 4_999]);
        assert_eq!(timers.next_deadline(), Some(5_000));
        assert_eq!(fired(&mut timers, 69_999), [5_000]);
        assert_eq!(fired(&mut timers, 70_000), [70_000]);
        assert_eq!((timers.len(), timers.next_deadline()), (0, None));
    }

    #[test]
    fn the_past_fires_at_once_and_before_the_rest() {
        let mut timers = Timers::new(100);
        timers.insert(101, "next");
        timers.insert(100, "now");
        timers.insert(0, "zero");
        timers.insert(7, "past");
        assert_eq!(timers.next_deadline(), Some(0));
        assert_eq!(fired(&mut timers, 100), ["zero", "past", "now"]);
        assert_eq!(fired(&mut timers, 101), ["next"]);
    }

    #[test]
    fn one_deadline_is_first_in_first_out_on_every_level() {
        let mut timers = Timers::new(0);
        let deadline = 123_456_789_012;
        timers.insert(deadline, 0);
        // Each step takes the timer down some levels before its next twin comes.
        for (twin, left) in [10_000_000_000, 5_000_000, 70_000, 900, 50, 1].iter().enumerate() {
            let now = deadline - left;
            timers.insert(now, 100);
            assert_eq!(fired(&mut timers, now), [100]);
            timers.insert(deadline, twin + 1);
        }
        assert_eq!(fired(&mut timers, deadline), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn the_ends_of_the_clock() {
        let mut timers = Timers::new(0);
        timers.insert(u64::MAX, "last");
        timers.insert(u64::MAX - 1, "before");
        timers.insert(0, "first");
        assert_eq!(fired(&mut timers, 0), ["first"]);
        assert_eq!(fired(&mut timers, u64::MAX - 1), ["before"]);
        assert_eq!(fired(&mut timers, u64::MAX), ["last"]);
        timers.insert(u64::MAX, "again");
        assert_eq!(timers.next_deadline(), Some(u64::MAX));
        assert_eq!(fired(&mut timers, u64::MAX), ["again"]);
    }

    #[test]
    fn stale_ids_are_harmless() {
        let mut timers = Timers::new(0);
        let cancelled = timers.insert(10, 'a');
        assert_eq!(timers.cancel(cancelled), Some('a'));
        assert_eq!(timers.cancel(cancelled), None);
        let fires = timers.insert(10, 'b');
        assert_eq!(fires.0.index, cancelled.0.index);
        assert_eq!(timers.cancel(cancelled), None);
        assert_eq!(fired(&mut timers, 10), ['b']);
        assert_eq!(timers.cancel(fires), None);
        assert!(timers.is_empty());
    }

    #[test]
    fn a_cancelled_earliest_leaves_a_lower_bound() {
        let mut timers = Timers::new(0);
        let earliest = timers.insert(5_000, 'a');
        timers.insert(5_001, 'b');
        timers.cancel(earliest);
        assert!(timers.next_deadline() <= Some(5_001));
        assert_eq!(fired(&mut timers, 5_000), []);
        assert_eq!(timers.next_deadline(), Some(5_001));
        assert_eq!(fired(&mut timers, 5_001), ['b']);
    }

    #[test]
    fn a_panic_in_fire_loses_no_other_timer() {
        let mut timers = Timers::new(0);
        let ids: Vec<_> = (0..5).map(|n| timers.insert(1_000 + n, n)).collect();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            timers.expire(2_000, |_, n| assert_ne!(n, 1));
        }));
        assert!(caught.is_err());
        assert_eq!(timers.len(), 3);
        // Those left over can still be cancelled, in a slot of their own or reused.
        assert_eq!(timers.cancel(ids[1]), None);
        assert_eq!(timers.cancel(ids[2]), Some(2));
        timers.insert(0, 9);
        assert_eq!(timers.next_deadline(), Some(0));
        assert_eq!(fired(&mut timers, 2_000), [3, 4, 9]);
        assert!(timers.is_empty());
    }

    /// Otherwise a crowded slot would be walked again at every expire.
    #[test]
    fn what_is_left_of_a_split_slot_moves_down() {
        let mut timers = Timers::new(0);
        timers.insert(70_000, 'a');
        let left = timers.insert(73_000, 'b').0.index;
        let level = |timers: &Timers<char>| timers.timers[left].home as usize / SLOTS;
        let before = level(&timers);
        assert_eq!(fired(&mut timers, 70_000), ['a']);
        assert!(level(&timers) < before);
        assert_eq!(fired(&mut timers, 73_000), ['b']);
    }

    #[test]
    fn storage_is_reused() {
        let mut timers = Timers::new(0);
        for now in 0..1_000 {
            for n in 0..10 {
                timers.insert(now * 100 + n * 7, n);
            }
            timers.expire(now * 100 + 99, |_, _| ());
        }
        assert!(timers.is_empty());
        assert!((0..10).all(|n| timers.insert(u64::MAX, n).0.index < 10));
        assert!(timers.due.capacity() <= 16);
    }
}
