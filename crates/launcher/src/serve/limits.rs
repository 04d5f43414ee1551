//! When a worker has served for long enough, and when it stands still.

use super::worker::Worker;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// How often workers are looked at.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// A worker that reaches its limit of memory before it has had this many requests, or this long after it was ready, needs that much
/// rather than leaks it.
const FEW: u64 = 10;
const SOON: Duration = Duration::from_secs(5);

/// The longest time in which no worker is replaced for its memory.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// The limits of a worker.
#[derive(Clone, Copy, Default, Debug)]
pub struct Limits {
    pub requests: Option<u64>,
    /// In bytes.
    pub memory: Option<u64>,
    pub lifetime: Option<Duration>,
    /// How long its event loop may stand still.
    pub stuck: Option<Duration>,
}

impl Limits {
    pub fn are_any(&self) -> bool {
        self.requests.is_some() || self.memory.is_some() || self.lifetime.is_some() || self.stuck.is_some()
    }

    /// Returns why another one should take the place of a worker that serves, and has taken this many requests.
    pub fn exceeded(&self, worker: &mut Worker, requests: u64, now: Instant) -> Option<&'static str> {
        // Those that began together do not end together.
        let share = |limit: u64| limit.saturating_mul(900 + worker.jitter) / 1000;
        if self.requests.is_some_and(|limit| requests >= share(limit).max(1)) {
            return Some("max-requests");
        }
        let age = u64::try_from((now - worker.began).as_millis()).unwrap_or(u64::MAX);
        if self.lifetime.is_some_and(|limit| age >= share(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))) {
            return Some("max-lifetime");
        }
        let is_over = self.memory.is_some_and(|limit| memory(worker).is_some_and(|bytes| bytes >= limit));
        // A peak is over when it is looked at again.
        let was_over = std::mem::replace(&mut worker.is_over_memory, is_over);
        (is_over && was_over).then_some("max-memory")
    }
}

/// When workers are replaced for their memory: at growing intervals where each needs too much from its start, which would go on for ever.
#[derive(Default, Debug)]
pub struct Appetite {
    /// How many did, one after the other.
    early: u32,
    rests_until: Option<Instant>,
}

impl Appetite {
    pub fn rests(&self, now: Instant) -> bool {
        self.rests_until.is_some_and(|until| now < until)
    }

    /// A worker has reached the limit of memory. Returns `true` if it is to be said that this does not help.
    pub fn reached(&mut self, requests: u64, served: Duration, now: Instant) -> bool {
        if requests >= FEW && served >= SOON {
            *self = Appetite::default();
            return false;
        }
        self.early = self.early.saturating_add(1);
        let rest = Duration::from_secs(2u64.saturating_pow(self.early)).min(LONGEST_REST);
        self.rests_until = Some(now + rest);
        self.early == 2
    }
}

/// Returns a number from 0 to 200, for a share from 90 to 110 percent.
pub fn jitter() -> u64 {
    RandomState::new().hash_one(()) % 201
}

/// Returns how many bytes of memory a worker has for itself: what it shares with others, such as opcache, is not its own.
pub fn memory(worker: &Worker) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{}/statm", worker.pid()?.as_raw_pid())).ok()?;
    let mut pages = text.split(' ').skip(1).map(|number| number.parse::<u64>().ok());
    let (resident, shared) = (pages.next()??, pages.next()??);
    Some(resident.saturating_sub(shared) * u64::try_from(rustix::param::page_size()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::Appetite;
    use std::time::{Duration, Instant};

    #[test]
    fn who_needs_too_much_is_replaced_at_growing_intervals() {
        let (mut appetite, mut now) = (Appetite::default(), Instant::now());
        let second = Duration::from_secs(1);
        for (times, rest) in [2, 4, 8, 16, 32, 60, 60].into_iter().enumerate() {
            assert!(!appetite.rests(now));
            // Few requests, or many in a short time.
            let (requests, served) = if times % 2 == 0 { (9, second * 3600) } else { (100_000, second * 4) };
            assert_eq!(appetite.reached(requests, served, now), times == 1, "said once");
            now += second * rest;
            assert!(appetite.rests(now - second / 2));
        }
        // One that has grown ends that.
        assert!(!appetite.reached(10, second * 5, now));
        assert!(!appetite.rests(now));
        assert!(!appetite.reached(0, second, now));
        assert!(appetite.reached(0, second, now), "said again");
    }
}
