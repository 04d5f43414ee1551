//! Polling for changes that wake no waiter.

use super::time::{MILLISECOND, deadline_after};
use crate::host::{BlockedOn, Host, Wake};

/// A pause between attempts that doubles each time, up to a maximum.
pub(crate) struct Backoff {
    pause: u64,
    max: u64,
}

impl Backoff {
    /// Starts at `first` nanoseconds and grows to `max`.
    pub(crate) const fn new(first: u64, max: u64) -> Backoff {
        Backoff { pause: first, max }
    }

    /// For what another process may change at any time: 1 ms, growing to 10 ms.
    pub(crate) const fn polling() -> Backoff {
        Backoff::new(MILLISECOND, 10 * MILLISECOND)
    }

    /// Pauses that do not grow.
    pub(crate) const fn every(pause: u64) -> Backoff {
        Backoff::new(pause, pause)
    }

    /// Parks for the pause, of which `begin_wait` has been called. Returns [`Wake::Woken`] when the next attempt is due,
    /// and [`Wake::TimedOut`] only when `deadline` has passed.
    pub(crate) fn park(&mut self, host: &dyn Host, deadline: Option<u64>, blocked_on: BlockedOn) -> Wake {
        let due = deadline_after(self.pause);
        let end = deadline.map_or(due, |deadline| deadline.min(due));
        match host.park(Some(end), blocked_on) {
            Wake::TimedOut if deadline == Some(end) => Wake::TimedOut,
            Wake::TimedOut => {
                self.pause = (self.pause * 2).min(self.max);
                Wake::Woken
            }
            wake => wake,
        }
    }
}
