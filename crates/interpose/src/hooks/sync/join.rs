//! `pthread_join` and C11's `thrd_join`, in the thread pool: a worker may join a thread as well as any other. (libcurl
//! joins the thread of an unfinished name look-up when its handle is closed.)
//!
//! A thread is joined once, and the joiner then frees what it used: so the job is waited for, and nothing ends
//! the wait, as without Spindle.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::{current_host, set_errno};
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::{host, wait};
use libc::{c_int, c_void, pthread_t};
use spindle_reactor::JobKind;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const JOIN: Behavior =
        Behavior { wait: WaitKind::Worker, summary: "in the thread pool", on_cancel: on_cancel::NONE };
    hooked_calls![
        c"pthread_join" => pthread_join, JOIN;
        c"thrd_join" => thrd_join, JOIN;
    ]
}

/// Joins a thread that has ended. `soon`: waits a moment for one that may be just about to end, as the thread of a name
/// look-up whose result libcurl has found.
fn ended(thread: pthread_t, soon: bool) -> Option<(c_int, usize)> {
    const MOMENT: std::time::Duration = std::time::Duration::from_millis(10);
    let end = std::time::Instant::now() + MOMENT;
    loop {
        let mut value = std::ptr::null_mut();
        // SAFETY: the caller's own thread, and a place of ours.
        match unsafe { libc::pthread_tryjoin_np(thread, &mut value) } {
            libc::EBUSY if soon && std::time::Instant::now() < end => std::thread::yield_now(),
            libc::EBUSY => return None,
            error => return Some((error, value.expose_provenance())),
        }
    }
}

/// Returns the error and, if it is 0, the value of the thread.
fn join(thread: pthread_t, call: &'static str) -> (c_int, usize) {
    let number = thread as usize; // a pointer in musl
    let in_place = move || {
        let thread = number as pthread_t;
        let mut value = std::ptr::null_mut();
        // SAFETY: the caller's own thread, and a place of ours.
        let error = unsafe { libc::pthread_join(thread, &mut value) };
        (error, value.expose_provenance())
    };
    // A thread that joins itself fails; a worker would wait for it.
    // SAFETY: no pointers.
    let host = current_host().filter(|_| unsafe { libc::pthread_self() } != thread);
    let Some(host) = host else { return in_place() };
    let saved = host::errno();
    if let Some(joined) = ended(thread, host.never_waits()) {
        return joined;
    }
    let joined = wait::for_job(host, JobKind::Unbounded, call, -1, in_place).unwrap_or_else(in_place);
    set_errno(saved);
    joined
}

/// `pthread_join(3)`.
pub unsafe extern "C" fn pthread_join(thread: pthread_t, to: *mut *mut c_void) -> c_int {
    let (error, value) = join(thread, "pthread_join");
    if error == 0 && !to.is_null() {
        // SAFETY: the caller's own place.
        unsafe { to.write(std::ptr::with_exposed_provenance_mut(value)) };
    }
    error
}

/// `thrd_join(3)`.
pub unsafe extern "C" fn thrd_join(thread: pthread_t, to: *mut c_int) -> c_int {
    let (error, value) = join(thread, "thrd_join");
    if error == 0 && !to.is_null() {
        // SAFETY: the caller's own place; such a thread returns an int.
        unsafe { to.write(value as c_int) };
    }
    super::condition::thrd(error)
}
