//! Times as another program in the same process can be told them.

use std::time::{Duration, Instant};

/// When something was that long ago.
pub fn ago(age: Duration) -> Instant {
    let now = Instant::now();
    now.checked_sub(age).unwrap_or(now)
}

/// How long it is until then.
pub fn left(time: Instant) -> Duration {
    time.saturating_duration_since(Instant::now())
}

/// When that time will have passed.
pub fn from_now(time: Duration) -> Instant {
    Instant::now() + time
}
