//! Waiting for a descriptor.

use crate::host::{BlockedOn, Host, OnSignal, Wake, errno, set_errno};
use libc::{c_int, c_short};
use spindle_reactor::{Interest, Readiness, Registration};
use std::os::fd::RawFd;

/// How waiting for a descriptor ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitOutcome {
    /// It may be ready: try the call again.
    Ready,
    /// The deadline has passed.
    TimedOut,
    /// The coroutine is cancelled: `ECANCELED`.
    Cancelled,
    /// A caught signal: `EINTR`.
    Interrupted,
    /// The descriptor was closed meanwhile, or cannot be waited for; the `errno`.
    Error(i32),
}

impl WaitOutcome {
    /// The `errno` of a call that ends this way; `timed_out` for the deadline.
    pub fn errno(self, timed_out: i32) -> i32 {
        match self {
            WaitOutcome::Ready => 0,
            WaitOutcome::TimedOut => timed_out,
            WaitOutcome::Cancelled => libc::ECANCELED,
            WaitOutcome::Interrupted => libc::EINTR,
            WaitOutcome::Error(error) => error,
        }
    }
}

/// Parks until `fd` may be ready. `deadline` is monotonic, in nanoseconds.
pub fn for_fd(
    host: &dyn Host,
    fd: RawFd,
    interest: Interest,
    deadline: Option<u64>,
    call: &'static str,
    on_signal: OnSignal,
) -> WaitOutcome {
    let reactor = host.reactor();
    let life = reactor.generation(fd);
    let waiter = host.begin_wait();
    match reactor.register(fd, interest, waiter) {
        Registration::Waiting => {}
        Registration::AlwaysReady => return WaitOutcome::Ready,
        Registration::Error(error) => return WaitOutcome::Error(error),
    }
    let wake = host.park(deadline, BlockedOn { call, fd, on_signal });
    if host.reactor().generation(fd) != life {
        return WaitOutcome::Error(libc::EBADF);
    }
    if wake != Wake::Woken {
        host.reactor().deregister(fd, waiter);
    }
    match wake {
        Wake::Woken => WaitOutcome::Ready,
        Wake::TimedOut => WaitOutcome::TimedOut,
        Wake::Cancelled => WaitOutcome::Cancelled,
        Wake::Interrupted => WaitOutcome::Interrupted,
    }
}

/// A look that does not wait, made again when a signal comes in the middle of it: it may be one that the program does
/// not catch (`SIGCHLD`, which the reactor watches), and would not be interrupted by. Those that it does catch
/// interrupt the wait that follows.
pub(crate) fn retry_eintr(mut call: impl FnMut() -> c_int) -> c_int {
    let before = errno();
    loop {
        let result = call();
        if result >= 0 || errno() != libc::EINTR {
            return result;
        }
        set_errno(before);
    }
}

/// A call on `fd` answered `EAGAIN`: nothing there until an edge comes.
pub fn drained(host: &dyn Host, fd: RawFd, interest: Interest) {
    host.reactor().record_readiness(fd, interest, Readiness::NotReady);
}

/// Polls one descriptor without waiting: what holds of `events`, error and hang-up now. `None` if that fails.
pub(crate) fn poll_now(fd: RawFd, events: c_short) -> Option<c_short> {
    let mut one = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one entry, which lives through the call.
    let result = retry_eintr(|| unsafe { libc::poll(&raw mut one, 1, 0) });
    (result >= 0).then_some(one.revents)
}

/// What a call on a non-blocking descriptor answers: `EAGAIN` is for those who will wait and come again. A coroutine
/// that is cancelled cannot wait, and libraries that only look at this answer would ask for ever.
#[inline]
pub(crate) fn refused(host: &dyn Host, error: i32) -> i32 {
    if error == libc::EAGAIN && host.has_pending_cancel() { libc::ECANCELED } else { error }
}

/// Gives way after a call that needed no waiting; its `errno` stays.
#[inline]
pub(crate) fn yield_if_due(host: &dyn Host) {
    let error = errno();
    host.yield_if_due();
    set_errno(refused(host, error));
}
