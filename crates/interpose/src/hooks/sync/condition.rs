//! Condition variables: `pthread_cond_*`, and C11's `cnd_*` and `mtx_*`, which are the same objects in the C library.
//!
//! A coroutine that waits enters the queue of the condition's address, releases the mutex, and parks. A signal, on
//! whatever thread, goes to libc and also wakes one queued coroutine: of the waiters in libc and those that are
//! parked at least one is woken. POSIX allows spurious wake-ups.
//!
//! So the signal must be made through a patched entry, as the wait was. Conditions in memory that is shared with other
//! processes are waited for in place: the signals of those processes are not seen.
//!
//! As with locks, such a wait is not interrupted; a cancellation ends a timed one as if its time had passed, any other
//! continues. Which clock a condition uses is private to libc: a time within the last years or later is taken as a real
//! time, any other as a time of the monotonic clock, which starts with the machine.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::mutex::{
    LOCK, TRACKED, pthread_mutex_lock, pthread_mutex_timedlock, pthread_mutex_trylock, pthread_mutex_unlock,
};
use super::newer;
use crate::host::{BlockedOn, Host, OnSignal, current_host, errno, set_errno};
use crate::php_cell::PhpCell;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait::address_queue;
use crate::wait::time::{SECOND, deadline_on, real_time};
use libc::{c_int, clockid_t, pthread_cond_t, pthread_mutex_t, timespec};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const WAIT: Behavior = Behavior {
        wait: WaitKind::Queue,
        summary: "parks until it is signalled or the timeout; in shared memory, in place",
        on_cancel: on_cancel::TIMED_OUT,
    };
    const SIGNAL: Behavior =
        Behavior { wait: WaitKind::Never, summary: "also wakes a parked coroutine", on_cancel: on_cancel::NEVER };
    hooked_calls![
        c"pthread_cond_wait" => pthread_cond_wait, WAIT;
        c"pthread_cond_timedwait" => pthread_cond_timedwait, WAIT;
        c"pthread_cond_clockwait" => pthread_cond_clockwait, WAIT;
        c"cnd_wait" => cnd_wait, WAIT;
        c"cnd_timedwait" => cnd_timedwait, WAIT;
        c"pthread_cond_signal" => pthread_cond_signal, SIGNAL;
        c"pthread_cond_broadcast" => pthread_cond_broadcast, SIGNAL;
        c"cnd_signal" => cnd_signal, SIGNAL;
        c"cnd_broadcast" => cnd_broadcast, SIGNAL;
        c"mtx_lock" => mtx_lock, LOCK;
        c"mtx_timedlock" => mtx_timedlock, LOCK;
        c"mtx_trylock" => mtx_trylock, TRACKED;
        c"mtx_unlock" => mtx_unlock, TRACKED;
    ]
}

/// Addresses, and whether they are in memory that is shared with other processes.
static KNOWN: PhpCell<Vec<(usize, bool)>> = PhpCell::new(Vec::new());

fn is_shared(host: &dyn Host, address: usize) -> bool {
    if let Some(known) = KNOWN.with(host, |all| all.iter().find(|k| k.0 == address).map(|k| k.1)) {
        return known;
    }
    let saved = errno();
    // Without procfs every address is taken for shared.
    let shared = std::fs::read_to_string("/proc/self/maps").map_or(true, |maps| {
        maps.lines().any(|line| {
            let mut words = line.split(' ');
            let range = words.next().and_then(|range| range.split_once('-'));
            let [from, to] =
                range.map_or([0; 2], |(from, to)| [from, to].map(|n| usize::from_str_radix(n, 16).unwrap_or(0)));
            (from..to).contains(&address) && words.next().is_some_and(|rights| rights.ends_with('s'))
        })
    });
    KNOWN.with(host, |all| {
        if all.len() == 256 {
            all.clear();
        }
        all.push((address, shared));
    });
    set_errno(saved);
    shared
}

/// Returns the host if a wait for this condition is to park.
fn who_waits(condition: *mut pthread_cond_t) -> Option<&'static dyn Host> {
    current_host().filter(|host| !is_shared(*host, condition.addr()))
}

/// # Safety
/// The mutex is one that the caller holds.
unsafe fn wait(
    host: &dyn Host,
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: Option<u64>,
    call: &'static str,
) -> c_int {
    let saved = errno();
    let waiter = host.begin_wait();
    // Before the mutex is released: a thread that then takes it and signals finds the entry.
    let place = address_queue::enter(host, condition.addr(), waiter);
    // SAFETY: by contract.
    let given_up = unsafe { pthread_mutex_unlock(mutex) };
    if given_up != 0 {
        address_queue::leave(place);
        return given_up;
    }
    let blocked_on = BlockedOn { call, fd: -1, on_signal: OnSignal::Ignore };
    match deadline {
        Some(_) => _ = host.park(deadline, blocked_on),
        None => host.park_uncancellable(blocked_on),
    }
    let signalled = !address_queue::leave(place);
    // SAFETY: by contract: it is the caller's again.
    let had = unsafe { pthread_mutex_lock(mutex) };
    set_errno(saved);
    match had {
        0 if !signalled && deadline.is_some() => libc::ETIMEDOUT,
        had => had,
    }
}

/// `pthread_cond_wait(3)`.
pub unsafe extern "C" fn pthread_cond_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int {
    match who_waits(condition) {
        // SAFETY: the caller's own.
        Some(host) => unsafe { wait(host, condition, mutex, None, "pthread_cond_wait") },
        // SAFETY: as above.
        None => unsafe { libc::pthread_cond_wait(condition, mutex) },
    }
}

/// Returns the deadline at a time of the condition's own clock. `None` if it is invalid.
fn deadline_by_its_clock(until: *const timespec) -> Option<u64> {
    const YEARS: i64 = 10 * 365 * 86_400;
    // SAFETY: the caller passes a valid time, as for libc's.
    let seconds = unsafe { until.as_ref() }?.tv_sec;
    let now = (real_time() / SECOND) as i64;
    deadline_on(if seconds >= now - YEARS { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }, until)
}

/// `pthread_cond_timedwait(3)`.
pub unsafe extern "C" fn pthread_cond_timedwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    until: *const timespec,
) -> c_int {
    match (who_waits(condition), deadline_by_its_clock(until)) {
        // SAFETY: the caller's own.
        (Some(host), Some(deadline)) => unsafe {
            wait(host, condition, mutex, Some(deadline), "pthread_cond_timedwait")
        },
        // SAFETY: as above.
        _ => unsafe { libc::pthread_cond_timedwait(condition, mutex, until) },
    }
}

type Clockwait = unsafe extern "C" fn(*mut pthread_cond_t, *mut pthread_mutex_t, clockid_t, *const timespec) -> c_int;

/// `pthread_cond_clockwait(3)`.
pub unsafe extern "C" fn pthread_cond_clockwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    let deadline = deadline_on(clock, until);
    if let (Some(host), Some(deadline)) = (who_waits(condition), deadline) {
        // SAFETY: the caller's own.
        return unsafe { wait(host, condition, mutex, Some(deadline), "pthread_cond_clockwait") };
    }
    // SAFETY: the type of the function of this name.
    match unsafe { newer::<Clockwait>(c"pthread_cond_clockwait") } {
        // SAFETY: the caller's own arguments.
        Some(original) => unsafe { original(condition, mutex, clock, until) },
        None => libc::ENOSYS,
    }
}

/// `pthread_cond_signal(3)`.
pub unsafe extern "C" fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int {
    // SAFETY: the caller's own.
    let result = unsafe { libc::pthread_cond_signal(condition) };
    address_queue::notify(condition.addr(), false);
    result
}

/// `pthread_cond_broadcast(3)`.
pub unsafe extern "C" fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int {
    // SAFETY: the caller's own.
    let result = unsafe { libc::pthread_cond_broadcast(condition) };
    address_queue::notify(condition.addr(), true);
    result
}

/// Returns the result of a C11 function that fails with this error.
pub(crate) fn thrd(error: c_int) -> c_int {
    match error {
        0 => 0,
        libc::EBUSY => 1,
        libc::ENOMEM => 3,
        libc::ETIMEDOUT => 4,
        _ => 2,
    }
}

/// `cnd_wait(3)`.
pub unsafe extern "C" fn cnd_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's own.
    thrd(unsafe { pthread_cond_wait(condition, mutex) })
}

/// `cnd_timedwait(3)`.
pub unsafe extern "C" fn cnd_timedwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's own.
    thrd(unsafe { pthread_cond_timedwait(condition, mutex, until) })
}

/// `cnd_signal(3)`.
pub unsafe extern "C" fn cnd_signal(condition: *mut pthread_cond_t) -> c_int {
    // SAFETY: the caller's own.
    thrd(unsafe { pthread_cond_signal(condition) })
}

/// `cnd_broadcast(3)`.
pub unsafe extern "C" fn cnd_broadcast(condition: *mut pthread_cond_t) -> c_int {
    // SAFETY: the caller's own.
    thrd(unsafe { pthread_cond_broadcast(condition) })
}

/// `mtx_lock(3)`.
pub unsafe extern "C" fn mtx_lock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's own.
    thrd(unsafe { pthread_mutex_lock(mutex) })
}

/// `mtx_timedlock(3)`.
pub unsafe extern "C" fn mtx_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's own.
    thrd(unsafe { pthread_mutex_timedlock(mutex, until) })
}

/// `mtx_trylock(3)`.
pub unsafe extern "C" fn mtx_trylock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's own.
    thrd(unsafe { pthread_mutex_trylock(mutex) })
}

/// `mtx_unlock(3)`.
pub unsafe extern "C" fn mtx_unlock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's own.
    thrd(unsafe { pthread_mutex_unlock(mutex) })
}
