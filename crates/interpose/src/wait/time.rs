//! Deadlines, durations and their conversions. Deadlines are in nanoseconds of the monotonic clock.

use crate::host::{BlockedOn, Host, OnSignal, Wake};
use libc::timespec;
use spindle_reactor::Reactor;

pub(crate) const SECOND: u64 = 1_000_000_000;

/// The monotonic time `ns` from now; saturates.
pub fn after(ns: u64) -> u64 {
    Reactor::now().saturating_add(ns)
}

/// Parks until the monotonic time `deadline`; [`Wake::TimedOut`] is the natural end.
pub fn until(host: &dyn Host, deadline: u64, call: &'static str) -> Wake {
    host.begin_wait();
    host.park(Some(deadline), BlockedOn { call, fd: -1, on_signal: OnSignal::Interrupt })
}

/// The nanoseconds of a valid time.
pub(crate) fn nanoseconds(time: &timespec) -> Option<u64> {
    let valid = time.tv_sec >= 0 && (0..SECOND as i64).contains(&time.tv_nsec);
    valid.then(|| (time.tv_sec as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec as u64))
}

pub(crate) fn timespec_of(ns: u64) -> timespec {
    timespec { tv_sec: (ns / SECOND) as libc::time_t, tv_nsec: (ns % SECOND) as libc::c_long }
}

/// `CLOCK_REALTIME` now, in nanoseconds.
pub(crate) fn real_time() -> u64 {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut now) };
    nanoseconds(&now).unwrap_or(0)
}

/// The monotonic deadline of a real time; `None` for an invalid one, which libc is to refuse.
pub(crate) fn deadline_of(until: *const timespec) -> Option<u64> {
    // SAFETY: the caller passes a valid time or null, as for libc's.
    let until = unsafe { until.as_ref() }.filter(|t| (0..1_000_000_000).contains(&t.tv_nsec))?;
    let ns = (until.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(until.tv_nsec as u64);
    Some(after(ns.saturating_sub(real_time())))
}

/// The same of a time of the monotonic clock.
pub(crate) fn monotonic_deadline_of(until: *const timespec) -> Option<u64> {
    // SAFETY: the caller passes a valid time or null, as for libc's.
    let until = unsafe { until.as_ref() }.filter(|t| (0..1_000_000_000).contains(&t.tv_nsec))?;
    Some((until.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(until.tv_nsec as u64))
}
