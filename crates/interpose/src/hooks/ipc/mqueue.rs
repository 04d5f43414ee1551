//! POSIX message queues. Epoll supports their descriptors. A call is tried with an expired deadline; if it would block,
//! the coroutine parks until the queue is ready.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::hooks::fd::tracking::{CLOSES, OPENS, closed, opened};
use crate::host::{Host, OnSignal, current_host, errno, fail, set_errno};
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait;
use crate::wait::time::deadline_of;
use libc::{c_char, c_int, c_uint, mode_t, mq_attr, mqd_t, size_t, ssize_t, timespec};
use spindle_reactor::{FdKind, Interest, Opened};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const WAIT: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "tried, else parks until the queue is ready or the timeout",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"mq_send" => mq_send, WAIT;
        c"mq_timedsend" => mq_timedsend, WAIT;
        c"mq_receive" => mq_receive, WAIT;
        c"mq_timedreceive" => mq_timedreceive, WAIT;
        c"mq_open" => mq_open, OPENS;
        #[cfg(target_env = "gnu")]
        c"__mq_open_2" => mq_open_2, OPENS;
        c"mq_close" => mq_close, CLOSES;
    ]
}

const OVER: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

/// Repeats `attempt`, which takes a deadline, until it does not have to wait.
fn waited_for(
    host: &dyn Host,
    queue: mqd_t,
    interest: Interest,
    deadline: Option<u64>,
    call: &'static str,
    attempt: &dyn Fn(*const timespec) -> ssize_t,
) -> ssize_t {
    let saved = errno();
    loop {
        let result = attempt(&OVER);
        if result >= 0 {
            set_errno(saved);
            return result;
        }
        if errno() != libc::ETIMEDOUT {
            return result;
        }
        // `fstat` reports a regular file, which epoll would not support.
        host.reactor().set_kind(queue, FdKind::Other);
        let waited = wait::for_fd(host, queue, interest, deadline, call, OnSignal::Restart);
        if let Err(error) = waited.and_then(|wake| wake.check(libc::ETIMEDOUT)) {
            return fail(error);
        }
    }
}

/// Returns the host and the deadline, unless suspension is disabled or the time is invalid.
unsafe fn host_and_deadline(until: *const timespec) -> Option<(&'static dyn Host, Option<u64>)> {
    let host = current_host()?;
    if until.is_null() { Some((host, None)) } else { deadline_of(until).map(|deadline| (host, Some(deadline))) }
}

/// `mq_timedsend(3)`.
pub unsafe extern "C" fn mq_timedsend(
    queue: mqd_t,
    message: *const c_char,
    size: size_t,
    priority: c_uint,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's own arguments, with its time or another.
    let send = |until| unsafe { libc::mq_timedsend(queue, message, size, priority, until) };
    // SAFETY: null or the caller's own time.
    match unsafe { host_and_deadline(until) } {
        Some((host, deadline)) => {
            let attempt = |until: *const timespec| send(until) as ssize_t;
            waited_for(host, queue, Interest::WRITE, deadline, "mq_send", &attempt) as c_int
        }
        None => send(until),
    }
}

/// `mq_send(3)`.
pub unsafe extern "C" fn mq_send(queue: mqd_t, message: *const c_char, size: size_t, priority: c_uint) -> c_int {
    // SAFETY: the caller's own arguments; no time limit.
    unsafe { mq_timedsend(queue, message, size, priority, std::ptr::null()) }
}

/// `mq_timedreceive(3)`.
pub unsafe extern "C" fn mq_timedreceive(
    queue: mqd_t,
    place: *mut c_char,
    size: size_t,
    priority: *mut c_uint,
    until: *const timespec,
) -> ssize_t {
    // SAFETY: the caller's own arguments, with its time or another.
    let receive = |until| unsafe { libc::mq_timedreceive(queue, place, size, priority, until) };
    // SAFETY: null or the caller's own time.
    match unsafe { host_and_deadline(until) } {
        Some((host, deadline)) => waited_for(host, queue, Interest::READ, deadline, "mq_receive", &receive),
        None => receive(until),
    }
}

/// `mq_receive(3)`.
pub unsafe extern "C" fn mq_receive(queue: mqd_t, place: *mut c_char, size: size_t, priority: *mut c_uint) -> ssize_t {
    // SAFETY: the caller's own arguments; no time limit.
    unsafe { mq_timedreceive(queue, place, size, priority, std::ptr::null()) }
}

/// `mq_open(3)`. It is variadic in C, as `open`: the kernel ignores arguments that were not passed.
pub unsafe extern "C" fn mq_open(name: *const c_char, flags: c_int, mode: mode_t, attributes: *mut mq_attr) -> mqd_t {
    // SAFETY: the caller's own arguments.
    opened(
        unsafe { libc::mq_open(name, flags, mode, attributes) },
        Opened { kind: Some(FdKind::Other), ..Opened::default() },
    )
}

/// `mq_open` without a mode as `_FORTIFY_SOURCE` calls it.
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn mq_open_2(name: *const c_char, flags: c_int) -> mqd_t {
    unsafe extern "C" {
        fn __mq_open_2(name: *const c_char, flags: c_int) -> mqd_t;
    }
    // SAFETY: the caller's own arguments.
    opened(unsafe { __mq_open_2(name, flags) }, Opened { kind: Some(FdKind::Other), ..Opened::default() })
}

/// `mq_close(3)`.
pub unsafe extern "C" fn mq_close(queue: mqd_t) -> c_int {
    closed(queue);
    // SAFETY: the caller's own.
    unsafe { libc::mq_close(queue) }
}
