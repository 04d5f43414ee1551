//! Rates: a number of permits in any period.

use std::collections::VecDeque;

/// Grants at most `permits` in any period of this length, wherever it begins.
#[derive(Debug)]
pub struct Rate {
    permits: u64,
    period: u64,
    /// The permits that were granted in the last period, and when they may be granted again, the oldest first.
    granted: VecDeque<(u64, u64)>,
    /// Their sum.
    taken: u64,
}

impl Rate {
    /// Returns a rate of which nothing was taken.
    pub const fn new(permits: u64, period: u64) -> Rate {
        Rate { permits, period, granted: VecDeque::new(), taken: 0 }
    }

    /// The permits of one period. No more can be taken together.
    pub fn permits(&self) -> u64 {
        self.permits
    }

    /// Takes `count` permits at the time `now`, which never decreases.
    ///
    /// # Errors
    /// There are fewer: the time at which there will be, if none is taken before.
    pub fn take(&mut self, count: u64, now: u64) -> Result<(), u64> {
        while let Some((_, granted)) = self.granted.front().copied().filter(|(again, _)| *again <= now) {
            self.taken -= granted;
            self.granted.pop_front();
        }
        let mut missing = (self.taken + count).saturating_sub(self.permits);
        if missing == 0 {
            self.taken += count;
            let again = now.saturating_add(self.period);
            match self.granted.back_mut() {
                Some((last, granted)) if *last == again => *granted += count,
                _ => self.granted.push_back((again, count)),
            }
            return Ok(());
        }
        for (again, granted) in &self.granted {
            missing = missing.saturating_sub(*granted);
            if missing == 0 {
                return Err(*again);
            }
        }
        Err(u64::MAX) // more than there ever are
    }
}
