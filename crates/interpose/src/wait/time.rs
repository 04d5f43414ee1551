//! Deadlines, durations and their conversions. A deadline is in nanoseconds of the monotonic clock.

use crate::host::{BlockedOn, Host, OnSignal, Wake};
use libc::{clockid_t, timespec};
use spindle_reactor::Reactor;

pub(crate) const MILLISECOND: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000_000_000;

/// Returns the deadline that is `ns` nanoseconds from now. Saturates.
pub(crate) fn deadline_after(ns: u64) -> u64 {
    Reactor::now().saturating_add(ns)
}

/// Parks until `deadline`. A sleep that has run its full time returns [`Wake::TimedOut`].
pub(crate) fn park_until(host: &dyn Host, deadline: u64, call: &'static str) -> Wake {
    host.begin_wait();
    host.park(Some(deadline), BlockedOn { call, fd: -1, on_signal: OnSignal::Interrupt })
}

/// Returns a point in time as nanoseconds, one before the start of its clock as 0. `None` if the kernel rejects it.
fn instant(time: &timespec) -> Option<u64> {
    let valid = (0..SECOND as i64).contains(&time.tv_nsec);
    valid.then(|| (time.tv_sec.max(0) as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec as u64))
}

/// Returns a duration as nanoseconds. `None` if the kernel rejects it.
pub(crate) fn duration(time: &timespec) -> Option<u64> {
    if time.tv_sec < 0 { None } else { instant(time) }
}

/// Returns a duration of nanoseconds as a `timespec`.
pub(crate) fn timespec_of(ns: u64) -> timespec {
    timespec { tv_sec: (ns / SECOND) as _, tv_nsec: (ns % SECOND) as libc::c_long }
}

/// Returns `CLOCK_REALTIME`, and what it has jumped, in nanoseconds.
pub(crate) fn real_time() -> u64 {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut now) };
    instant(&now).unwrap_or(0).saturating_add(Reactor::ahead())
}

/// Returns the deadline at a point in time of `clock`. `None` for a null or invalid time, and for clocks other than the
/// monotonic and the real-time one: the original handles those.
pub(crate) fn deadline_on(clock: clockid_t, until: *const timespec) -> Option<u64> {
    // SAFETY: the caller passes a valid time or null, as for libc's.
    let until = instant(unsafe { until.as_ref() }?)?;
    match clock {
        libc::CLOCK_MONOTONIC => Some(until),
        libc::CLOCK_REALTIME => Some(deadline_after(until.saturating_sub(real_time()))),
        _ => None,
    }
}

/// Returns the deadline at a real time. `None` for a null or invalid one.
pub(crate) fn deadline_of(until: *const timespec) -> Option<u64> {
    deadline_on(libc::CLOCK_REALTIME, until)
}
