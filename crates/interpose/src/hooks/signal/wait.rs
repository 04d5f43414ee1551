//! Waiting for signals: `sigwait`, `sigwaitinfo`, `sigtimedwait`, `pause`, `sigsuspend`.
//!
//! Callers of `sigwait` and the like have blocked the signals, so no handler reports them. Those that are not blocked
//! are blocked while the wait lasts, since the kernel prefers a waiter to a handler; a signal that arrives all the same
//! goes to its handler, which POSIX leaves open. A `signalfd` that lives as long as the wait is watched, never read:
//! the signal is taken by `sigtimedwait` with a time limit of zero, with all that the kernel knows of it.
//!
//! A `signalfd` would not do as a general mechanism: signals would have to be blocked for it, and children inherit
//! that. Here user code has blocked them itself. Workers block every signal and wait for none.
//!
//! Coroutines that wait for the same signal get it in order of arrival.
//!
//! `sigsuspend`, and polls with a signal mask, unblock signals for a moment each time they try. A `signalfd` makes them
//! try again, for the signals that the thread blocks and the mask does not. Signals that the mask alone blocks are not
//! held back while others run.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::pending::{Pending, Signals, interrupting_one, let_in_by, set_of, signals_of};
use crate::host::{BlockedOn, Host, OnSignal, current_host, errno, fail, php_thread_host, set_errno};
use crate::php_cell::PhpCell;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait::time::duration;
use crate::wait::{self, WaitQueue, wake_matching};
use libc::{c_int, siginfo_t, sigset_t, timespec};
use spindle_reactor::Reactor;
use std::mem::MaybeUninit;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const WAIT: Behavior = Behavior {
        wait: WaitKind::Signal,
        summary: "tried, else parks until such a signal is pending (signalfd) or the timeout",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"sigwait" => sigwait, WAIT;
        c"sigwaitinfo" => sigwaitinfo, WAIT;
        c"sigtimedwait" => sigtimedwait, WAIT;
        c"pause" => pause, Behavior { wait: WaitKind::Signal, summary: "parks until a caught signal interrupts it", on_cancel: on_cancel::FAILS };
        c"sigsuspend" => sigsuspend, Behavior { wait: WaitKind::Signal, summary: "parks until a caught signal interrupts it; the mask is in force when it polls", on_cancel: on_cancel::FAILS };
    ]
}

const NOW: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

static QUEUE: PhpCell<WaitQueue<Signals>> = PhpCell::new(WaitQueue::new());

/// The signals that are blocked for waiters alone.
static BLOCKED: PhpCell<Signals> = PhpCell::new(0);

fn union<'a>(sets: impl Iterator<Item = &'a Signals>) -> Signals {
    sets.fold(0, |all, set| all | set)
}

/// Empties the queue: in the child of a fork, and once the waiting coroutines have been abandoned.
pub fn reset() {
    if let Some(host) = php_thread_host() {
        QUEUE.with(host, WaitQueue::clear);
        unblock(host);
    }
}

/// Blocks these while a coroutine waits for them.
fn block(host: &dyn Host, signals: Signals) {
    let mut before = MaybeUninit::uninit();
    // SAFETY: sets of our own.
    let open = unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &set_of(signals), before.as_mut_ptr());
        signals & !signals_of(before.as_ptr())
    };
    BLOCKED.with(host, |blocked| *blocked |= open);
}

/// Unblocks those that no coroutine waits for any more.
fn unblock(host: &dyn Host) {
    let wanted = QUEUE.with(host, |queue| union(queue.keys()));
    let open = BLOCKED.with(host, |blocked| {
        let open = *blocked & !wanted;
        *blocked &= wanted;
        open
    });
    if open != 0 {
        let saved = errno();
        // SAFETY: a set of our own; handlers of what has come run here, as they would after a wait.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &set_of(open), std::ptr::null_mut()) };
        set_errno(saved);
    }
}

/// Takes one of these signals if it is pending. Returns its number, 0 for none, or -1 with `errno`.
fn take(signals: Signals, info: *mut siginfo_t) -> c_int {
    // SAFETY: sets and times of our own; null or the caller's place for what is known of the signal.
    let taken = unsafe { libc::sigtimedwait(&set_of(signals), info, &NOW) };
    if taken < 0 && errno() == libc::EAGAIN { 0 } else { taken }
}

/// Waits for one of these signals. Fails with an `errno`, which is `EAGAIN` when the deadline has passed.
fn wait_for(
    host: &dyn Host,
    signals: Signals,
    info: *mut siginfo_t,
    deadline: Option<u64>,
    call: &'static str,
    on_signal: OnSignal,
) -> Result<c_int, c_int> {
    let saved = errno();
    let place = QUEUE.with(host, WaitQueue::next_place);
    let mut pending = Pending::NONE;
    let mut ended = None;
    block(host, signals);
    let result = loop {
        let taken = take(signals & !QUEUE.with(host, |queue| union(queue.keys_before(place))), info);
        if taken != 0 {
            break if taken > 0 { Ok(taken) } else { Err(errno()) };
        }
        if let Some(error) = ended.or(deadline.filter(|d| *d <= Reactor::now()).map(|_| libc::EAGAIN)) {
            break Err(error);
        }
        let waiter = host.begin_wait();
        if !pending.is_open() {
            pending = Pending::of(signals);
        }
        QUEUE.with(host, |queue| queue.enqueue(place, signals, waiter));
        // A signal that has arrived is taken first, whatever ended the park.
        ended = pending.park(host, waiter, deadline, call, on_signal).error();
    };
    pending.close();
    // Later waiters try again: what this one waited for may be theirs now.
    if let Some(behind) = QUEUE.with(host, |queue| queue.remove(place)) {
        wake_matching(&QUEUE, host, behind, |_| true);
    }
    unblock(host);
    if result.is_ok() {
        set_errno(saved);
    }
    result
}

/// `sigtimedwait(2)`.
pub unsafe extern "C" fn sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, timeout: *const timespec) -> c_int {
    let host = current_host().filter(|_| !set.is_null());
    // SAFETY: null or the caller's time.
    let limit = unsafe { timeout.as_ref() }.map(duration);
    let (Some(host), None | Some(Some(_))) = (host, limit) else {
        // SAFETY: the caller's own arguments; a time that is none fails there.
        return unsafe { libc::sigtimedwait(set, info, timeout) };
    };
    let deadline = limit.flatten().map(wait::deadline_after);
    host.yield_if_due(); // user code may poll in a loop
    // SAFETY: the caller's own set.
    let signals = unsafe { signals_of(set) };
    wait_for(host, signals, info, deadline, "sigtimedwait", OnSignal::Interrupt).unwrap_or_else(fail::<c_int>)
}

/// `sigwaitinfo(2)`.
pub unsafe extern "C" fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int {
    // SAFETY: the caller's own arguments; no time limit.
    unsafe { sigtimedwait(set, info, std::ptr::null()) }
}

/// `sigwait(3)`. Returns the error itself, and no handler interrupts it.
pub unsafe extern "C" fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int {
    let Some(host) = current_host().filter(|_| !set.is_null()) else {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::sigwait(set, signal) };
    };
    let saved = errno();
    // SAFETY: the caller's own set.
    let signals = unsafe { signals_of(set) };
    let result = wait_for(host, signals, std::ptr::null_mut(), None, "sigwait", OnSignal::Ignore);
    set_errno(saved);
    match result {
        Ok(taken) => {
            if !signal.is_null() {
                // SAFETY: null or the caller's place for the number.
                unsafe { signal.write(taken) };
            }
            0
        }
        Err(error) => error,
    }
}

/// `pause(2)`.
pub unsafe extern "C" fn pause() -> c_int {
    let Some(host) = current_host() else {
        // SAFETY: no arguments.
        return unsafe { libc::pause() };
    };
    suspended(host, Pending::NONE, std::ptr::null(), "pause")
}

/// `sigsuspend(2)`.
pub unsafe extern "C" fn sigsuspend(mask: *const sigset_t) -> c_int {
    let Some(host) = current_host().filter(|_| !mask.is_null()) else {
        // SAFETY: the caller's own argument.
        return unsafe { libc::sigsuspend(mask) };
    };
    // SAFETY: the caller's own mask.
    let let_in = unsafe { let_in_by(mask) };
    let pending = if let_in == 0 { Pending::NONE } else { Pending::of(let_in) };
    let result = suspended(host, pending, if let_in == 0 { std::ptr::null() } else { mask }, "sigsuspend");
    pending.close();
    result
}

fn suspended(host: &dyn Host, pending: Pending, mask: *const sigset_t, call: &'static str) -> c_int {
    loop {
        // SAFETY: no descriptors; a valid mask.
        let look = || unsafe { libc::ppoll(std::ptr::null_mut(), 0, &NOW, mask) };
        if !mask.is_null() && interrupting_one(look) < 0 {
            return -1;
        }
        let waiter = host.begin_wait();
        let wake = if mask.is_null() {
            host.park(None, BlockedOn { call, fd: -1, on_signal: OnSignal::Interrupt })
        } else {
            pending.park(host, waiter, None, call, OnSignal::Interrupt)
        };
        if let Some(error) = wake.error() {
            return fail(error);
        }
    }
}
