//! POSIX semaphores. `sem_wait` and the like park until a `sem_post` on any thread notifies them, and poll, since
//! another process may have posted.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::newer;
use crate::host::{BlockedOn, Host, OnSignal, Wake, current_host, errno, fail, set_errno};
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait::time::{deadline_of, deadline_on};
use crate::wait::{Backoff, address_queue};
use libc::{c_int, clockid_t, sem_t, timespec};
use spindle_reactor::Reactor;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const WAIT: Behavior = Behavior {
        wait: WaitKind::Queue,
        summary: "tried, then retried after a sem_post of this process, and every 1 to 10 ms",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"sem_wait" => sem_wait, WAIT;
        c"sem_timedwait" => sem_timedwait, WAIT;
        c"sem_clockwait" => sem_clockwait, WAIT;
        c"sem_post" => sem_post, Behavior { wait: WaitKind::Never, summary: "also wakes a parked coroutine", on_cancel: on_cancel::NEVER };
    ]
}

/// # Safety
/// `semaphore` is one.
unsafe fn wait_for(host: &dyn Host, semaphore: *mut sem_t, deadline: Option<u64>, call: &'static str) -> c_int {
    let saved = errno();
    let mut backoff = Backoff::polling();
    loop {
        // SAFETY: by contract.
        let had = || unsafe { libc::sem_trywait(semaphore) == 0 };
        if had() {
            set_errno(saved);
            return 0;
        }
        if errno() != libc::EAGAIN {
            return -1;
        }
        if deadline.is_some_and(|d| d <= Reactor::now()) {
            return fail(libc::ETIMEDOUT);
        }
        let waiter = host.begin_wait();
        let place = address_queue::enter(host, semaphore.addr(), waiter);
        // Tried again once it is queued: a post in between has notified no waiter.
        let late = had();
        let mut wake = Wake::Woken;
        if !late {
            let blocked_on = BlockedOn { call, fd: -1, on_signal: OnSignal::Restart };
            wake = backoff.park(host, deadline, blocked_on);
        }
        let notified = !address_queue::leave(place);
        if !late && wake.error().is_none() {
            continue;
        }
        if notified {
            address_queue::notify(semaphore.addr(), false); // the post may have been for the next one
        }
        if let Some(error) = wake.error() {
            return fail(error);
        }
        set_errno(saved);
        return 0;
    }
}

/// `sem_wait(3)`.
pub unsafe extern "C" fn sem_wait(semaphore: *mut sem_t) -> c_int {
    match current_host() {
        // SAFETY: the caller's own.
        Some(host) => unsafe { wait_for(host, semaphore, None, "sem_wait") },
        // SAFETY: as above.
        None => unsafe { libc::sem_wait(semaphore) },
    }
}

/// `sem_timedwait(3)`.
pub unsafe extern "C" fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int {
    match (current_host(), deadline_of(until)) {
        // SAFETY: the caller's own.
        (Some(host), Some(deadline)) => unsafe { wait_for(host, semaphore, Some(deadline), "sem_timedwait") },
        // SAFETY: as above.
        _ => unsafe { libc::sem_timedwait(semaphore, until) },
    }
}

type Clockwait = unsafe extern "C" fn(*mut sem_t, clockid_t, *const timespec) -> c_int;

/// `sem_clockwait(3)`.
pub unsafe extern "C" fn sem_clockwait(semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int {
    let deadline = deadline_on(clock, until);
    if let (Some(host), Some(deadline)) = (current_host(), deadline) {
        // SAFETY: the caller's own.
        return unsafe { wait_for(host, semaphore, Some(deadline), "sem_clockwait") };
    }
    // SAFETY: the type of the function of this name.
    match unsafe { newer::<Clockwait>(c"sem_clockwait") } {
        // SAFETY: the caller's own arguments.
        Some(original) => unsafe { original(semaphore, clock, until) },
        None => fail(libc::ENOSYS),
    }
}

/// `sem_post(3)`.
pub unsafe extern "C" fn sem_post(semaphore: *mut sem_t) -> c_int {
    // Only the address is used after the post: the waiter may have freed it by then.
    // SAFETY: the caller's own.
    let result = unsafe { libc::sem_post(semaphore) };
    address_queue::notify(semaphore.addr(), false);
    result
}
