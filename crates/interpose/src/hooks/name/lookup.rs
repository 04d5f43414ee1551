//! Look-ups in the thread pool.

use crate::host::{BlockedOn, Host, OnSignal, errno, set_errno};
use crate::wait::{self, Job};
use libc::c_int;
use std::ffi::CStr;
use std::net::IpAddr;

unsafe extern "C" {
    fn __h_errno_location() -> *mut c_int;
}

pub(crate) fn h_errno() -> c_int {
    // SAFETY: the address of this thread's h_errno is always valid.
    unsafe { *__h_errno_location() }
}

pub(crate) fn set_h_errno(value: c_int) {
    // SAFETY: as above.
    unsafe { *__h_errno_location() = value }
}

/// The result of a look-up: its value and the thread's error numbers.
pub(crate) struct Answer<T> {
    pub value: T,
    pub errno: c_int,
    pub h_errno: c_int,
}

pub(crate) enum Lookup<T> {
    Done(T),
    /// The coroutine is cancelled; `errno` is set.
    Cancelled,
    /// There is no worker: the caller makes the call in place.
    InPlace,
}

/// Runs `job` on this thread, which has the result with its error numbers.
pub(super) fn ask<T>(job: impl FnOnce() -> T) -> Answer<T> {
    set_errno(0);
    let value = job();
    Answer { value, errno: errno(), h_errno: h_errno() }
}

/// Sets the error numbers of an answer. `saved` is the caller's `errno`, which a success leaves as it was.
pub(super) fn answered<T>(answer: Answer<T>, saved: c_int) -> T {
    set_errno(if answer.errno == 0 { saved } else { answer.errno });
    set_h_errno(answer.h_errno);
    answer.value
}

/// Runs `job` in the thread pool and sets the error numbers that it left.
pub(crate) fn look_up<T: Send + 'static>(
    host: &dyn Host,
    call: &'static str,
    job: impl FnOnce() -> T + Send + 'static,
    undo: fn(Answer<T>),
) -> Lookup<T> {
    let blocked_on = BlockedOn { call, fd: -1, on_signal: OnSignal::Ignore };
    let saved = errno();
    match wait::for_job_or_abandon(host, blocked_on, false, || ask(job), undo) {
        Job::Done(answer) => Lookup::Done(answered(answer, saved)),
        Job::Abandoned(error) => {
            set_errno(error);
            Lookup::Cancelled
        }
        Job::NoWorker => {
            set_errno(saved);
            Lookup::InPlace
        }
    }
}

/// Returns `true` if a host is given as a number, which needs no look-up.
pub(crate) fn is_numeric(name: &CStr) -> bool {
    let text = name.to_bytes();
    let v6 = text.split(|&b| b == b'%').next().unwrap_or(text); // the zone is a number or an interface
    let parsed = std::str::from_utf8(v6).ok().and_then(|text| text.parse::<IpAddr>().ok());
    if parsed.is_some() {
        return true;
    }
    // The short forms of IPv4: digits, dots, hexadecimal.
    text.first().is_some_and(u8::is_ascii_digit) && text.iter().all(|b| b.is_ascii_hexdigit() || b".xX".contains(b))
}
