//! Clocks: `time`, `gettimeofday`, `clock_gettime`. Hooked with `async.virtual_time` only: on PHP's thread they have jumped as far as
//! the event loop's clock. Other threads, whose waits the kernel times, have the kernel's.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::php_thread_host;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait::time::SECOND;
use libc::{c_int, clockid_t, time_t, timespec, timeval};
use spindle_reactor::Reactor;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const READS: Behavior =
        Behavior { wait: WaitKind::Never, summary: "with what has been skipped", on_cancel: on_cancel::NEVER };
    hooked_calls![
        c"time" => time, READS;
        c"gettimeofday" => gettimeofday, READS;
        c"clock_gettime" => clock_gettime, READS;
    ]
}

/// Returns by how much the clocks of the calling thread have jumped.
fn ahead() -> u64 {
    if php_thread_host().is_some() { Reactor::ahead() } else { 0 }
}

fn add(time: &mut timespec, nanoseconds: u64) {
    let nanoseconds = time.tv_nsec as u64 + nanoseconds;
    time.tv_sec += (nanoseconds / SECOND) as time_t;
    time.tv_nsec = (nanoseconds % SECOND) as libc::c_long;
}

/// `clock_gettime(2)`. Clocks of the time that was used do not jump.
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, now: *mut timespec) -> c_int {
    // SAFETY: the caller's own arguments.
    let result = unsafe { libc::clock_gettime(clock, now) };
    let jumps = matches!(
        clock,
        libc::CLOCK_REALTIME
            | libc::CLOCK_REALTIME_COARSE
            | libc::CLOCK_MONOTONIC
            | libc::CLOCK_MONOTONIC_COARSE
            | libc::CLOCK_MONOTONIC_RAW
            | libc::CLOCK_BOOTTIME
            | libc::CLOCK_TAI
    );
    if result == 0 && jumps {
        // SAFETY: the kernel has written to it.
        add(unsafe { &mut *now }, ahead());
    }
    result
}

/// `gettimeofday(2)`.
pub unsafe extern "C" fn gettimeofday(now: *mut timeval, zone: *mut libc::c_void) -> c_int {
    // SAFETY: the caller's own arguments.
    let result = unsafe { libc::gettimeofday(now, zone.cast()) };
    // SAFETY: null, or what was written to.
    if let (0, Some(now)) = (result, unsafe { now.as_mut() }) {
        let mut time = timespec { tv_sec: now.tv_sec, tv_nsec: (now.tv_usec * 1_000) as libc::c_long };
        add(&mut time, ahead());
        now.tv_sec = time.tv_sec;
        now.tv_usec = (time.tv_nsec / 1_000) as libc::suseconds_t;
    }
    result
}

/// `time(2)`.
pub unsafe extern "C" fn time(place: *mut time_t) -> time_t {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the result; this clock always exists.
    unsafe { clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut now) };
    if !place.is_null() {
        // SAFETY: the caller passes null or a place for the result.
        unsafe { place.write(now.tv_sec) };
    }
    now.tv_sec
}
