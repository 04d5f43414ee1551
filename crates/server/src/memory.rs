//! When the memory of connections that have ended is given back to the system.
//!
//! Blocks of many connections lie side by side. Blocks that an allocator keeps, or that live on, keep pages from the system
//! that have nothing else in them. Each wave of connections leaves other such blocks, and what the next wave needs fits less
//! well between them.

use crate::timer::NEVER;
use std::cell::Cell;

/// If there were fewer connections, it does not matter.
const MANY: usize = 256;
/// How long after half of them have ended, in nanoseconds: most others that leave with them have left by then. It is also the time
/// between two returns.
const PAUSE: u64 = 1_000_000_000;
/// If no more than this part of them is left, it is done immediately: the next ones may come soon.
const FEW: usize = 16;

/// Watches how many connections there are.
pub struct Memory {
    /// The most that there were since memory was given back.
    most: Cell<usize>,
    due: Cell<u64>,
    last: Cell<u64>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { most: Cell::new(0), due: Cell::new(NEVER), last: Cell::new(0) }
    }
}

impl Memory {
    /// A connection was opened: there are `count` now.
    pub fn connection_opened(&self, count: usize) {
        self.most.set(self.most.get().max(count));
    }

    /// A connection was closed: `count` are left.
    pub fn connection_closed(&self, count: usize, now: u64) {
        if self.has_shrunk(count) {
            let due = if count <= self.most.get() / FEW { now } else { now.saturating_add(PAUSE) };
            let due = due.max(self.last.get().saturating_add(PAUSE));
            self.due.set(self.due.get().min(due));
        }
    }

    fn has_shrunk(&self, count: usize) -> bool {
        self.most.get() >= MANY && count <= self.most.get() / 2
    }

    /// Returns when [`is_due`](Memory::is_due) is to be asked; `NEVER` if it need not be.
    pub fn deadline(&self) -> u64 {
        self.due.get()
    }

    /// Returns `true` if memory is to be given back now, and records that it was.
    pub fn is_due(&self, count: usize, now: u64) -> bool {
        if self.due.get() > now {
            return false;
        }
        self.due.set(NEVER);
        let is_due = self.has_shrunk(count);
        if is_due {
            self.most.set(count);
            self.last.set(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_given_back_after_half_of_many_have_left() {
        let memory = Memory::default();
        memory.connection_opened(1000);
        memory.connection_closed(501, 5);
        assert_eq!(memory.deadline(), NEVER);
        memory.connection_closed(500, 5);
        assert_eq!(memory.deadline(), 5 + PAUSE);
        memory.connection_closed(499, 6);
        assert_eq!(memory.deadline(), 5 + PAUSE, "once");
        assert!(!memory.is_due(300, 4 + PAUSE));
        assert!(memory.is_due(300, 5 + PAUSE));
        assert_eq!(memory.deadline(), NEVER);
        // Half of those that are left, and then of too few.
        memory.connection_closed(151, 3 * PAUSE);
        assert_eq!(memory.deadline(), NEVER);
        memory.connection_closed(150, 3 * PAUSE);
        assert!(memory.is_due(100, 4 * PAUSE));
        memory.connection_closed(0, 9 * PAUSE);
        assert_eq!(memory.deadline(), NEVER);
    }

    #[test]
    fn if_few_are_left_it_is_given_back_at_once_but_not_again_and_again() {
        let memory = Memory::default();
        memory.connection_opened(1600);
        memory.connection_closed(800, 5 * PAUSE);
        memory.connection_closed(101, 5 * PAUSE + 1);
        assert_eq!(memory.deadline(), 6 * PAUSE);
        memory.connection_closed(100, 5 * PAUSE + 2);
        assert_eq!(memory.deadline(), 5 * PAUSE + 2);
        assert!(memory.is_due(100, 5 * PAUSE + 2));
        memory.connection_opened(1600);
        memory.connection_closed(0, 5 * PAUSE + 3);
        assert_eq!(memory.deadline(), 6 * PAUSE + 2);
    }

    #[test]
    fn those_that_come_back_keep_it() {
        let memory = Memory::default();
        memory.connection_opened(1000);
        memory.connection_closed(500, 0);
        memory.connection_opened(900);
        assert!(!memory.is_due(900, PAUSE));
        assert_eq!(memory.deadline(), NEVER);
        memory.connection_closed(500, PAUSE);
        assert!(memory.is_due(500, 2 * PAUSE));
    }
}
