//! Sleeps: `sleep`, `usleep`, `nanosleep`, `clock_nanosleep`.
//!
//! A cancelled sleep returns as an interrupted one does, with the remaining time, and `errno` is `ECANCELED`.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::{Host, Wake, current_host, errno, fail, set_errno};
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait;
use crate::wait::time::{SECOND, duration, real_time, timespec_of};
use libc::{c_int, c_uint, clockid_t, timespec, useconds_t};
use spindle_reactor::Reactor;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const SLEEP: Behavior =
        Behavior { wait: WaitKind::Timer, summary: "parks for the duration", on_cancel: on_cancel::EARLY };
    hooked_calls![
        c"sleep" => sleep, SLEEP;
        c"usleep" => usleep, SLEEP;
        c"nanosleep" => nanosleep, SLEEP;
        c"__nanosleep" => nanosleep, SLEEP;
        c"clock_nanosleep" => clock_nanosleep, Behavior { wait: WaitKind::Timer, summary: "parks for the duration; with clocks other than CLOCK_MONOTONIC and CLOCK_REALTIME in place", on_cancel: on_cancel::EARLY };
    ]
}

/// Returns `true` for the names of the calls that wait for time only.
pub fn is_sleep(call: &str) -> bool {
    matches!(call, "sleep" | "usleep" | "nanosleep" | "clock_nanosleep")
}

/// Sleeps until `deadline`. Fails with the `errno` that ended it and the nanoseconds left.
fn sleep_until(host: &dyn Host, deadline: u64, call: &'static str) -> Result<(), (c_int, u64)> {
    loop {
        let error = match wait::park_until(host, deadline, call) {
            Wake::TimedOut => return Ok(()),
            Wake::Woken if Reactor::now() >= deadline => return Ok(()),
            Wake::Woken => continue,
            Wake::Interrupted => libc::EINTR,
            Wake::Cancelled => libc::ECANCELED,
        };
        return Err((error, deadline.saturating_sub(Reactor::now())));
    }
}

/// `sleep(3)`. Returns the whole seconds left when it is interrupted.
pub unsafe extern "C" fn sleep(seconds: c_uint) -> c_uint {
    let Some(host) = current_host() else {
        // SAFETY: no pointers.
        return unsafe { libc::sleep(seconds) };
    };
    let saved = errno();
    match sleep_until(host, wait::deadline_after(u64::from(seconds) * SECOND), "sleep") {
        Ok(()) => {
            set_errno(saved);
            0
        }
        Err((error, left)) => {
            set_errno(error);
            (left / SECOND) as c_uint // truncated, as glibc does
        }
    }
}

/// `usleep(3)`.
pub unsafe extern "C" fn usleep(microseconds: useconds_t) -> c_int {
    let Some(host) = current_host() else {
        // SAFETY: no pointers.
        return unsafe { libc::usleep(microseconds) };
    };
    let saved = errno();
    match sleep_until(host, wait::deadline_after(u64::from(microseconds) * 1_000), "usleep") {
        Ok(()) => {
            set_errno(saved);
            0
        }
        Err((error, _)) => fail(error),
    }
}

/// `nanosleep(2)`.
pub unsafe extern "C" fn nanosleep(wanted: *const timespec, left: *mut timespec) -> c_int {
    // SAFETY: the caller passes a valid time or null, as for libc's.
    let ns = unsafe { wanted.as_ref() }.and_then(duration);
    let (Some(host), Some(ns)) = (current_host(), ns) else {
        // SAFETY: the caller's own arguments; an invalid time fails there.
        return unsafe { libc::nanosleep(wanted, left) };
    };
    let saved = errno();
    match sleep_until(host, wait::deadline_after(ns), "nanosleep") {
        Ok(()) => {
            set_errno(saved);
            0
        }
        Err((error, rest)) => {
            if !left.is_null() {
                // SAFETY: the caller passes null or a place for the rest.
                unsafe { left.write(timespec_of(rest)) };
            }
            fail(error)
        }
    }
}

/// `clock_nanosleep(2)` for the monotonic and the real-time clock; with others it is made in place. A sleep until a
/// real time becomes a duration once: setting the clock does not change it.
pub unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    wanted: *const timespec,
    left: *mut timespec,
) -> c_int {
    // SAFETY: the caller passes a valid time or null, as for libc's.
    let ns = unsafe { wanted.as_ref() }.and_then(duration);
    let known = clock == libc::CLOCK_MONOTONIC || clock == libc::CLOCK_REALTIME;
    let (Some(host), Some(ns), true) = (current_host(), ns, known) else {
        // SAFETY: the caller's own arguments; invalid ones fail there.
        return unsafe { libc::clock_nanosleep(clock, flags, wanted, left) };
    };
    let saved = errno();
    let absolute = flags & libc::TIMER_ABSTIME != 0;
    let deadline = match (absolute, clock) {
        (false, _) => wait::deadline_after(ns),
        (true, libc::CLOCK_MONOTONIC) => ns,
        (true, _) => wait::deadline_after(ns.saturating_sub(real_time())),
    };
    let result = match sleep_until(host, deadline, "clock_nanosleep") {
        Ok(()) => 0,
        Err((error, rest)) => {
            if !absolute && !left.is_null() {
                // SAFETY: the caller passes null or a place for the rest.
                unsafe { left.write(timespec_of(rest)) };
            }
            error
        }
    };
    set_errno(saved); // it returns the error itself itself
    result
}
