//! Waiting for a descriptor.

use crate::host::{BlockedOn, Host, OnSignal, Wake, errno, set_errno};
use libc::{c_int, c_short};
use spindle_reactor::{Interest, Readiness, Registration};
use std::os::fd::RawFd;

/// Parks until `fd` may be ready, as [`Wake::Woken`] says: try the call again. `deadline` is monotonic, in nanoseconds.
///
/// # Errors
/// The `errno` for a descriptor that cannot be waited for, or was closed meanwhile (`EBADF`).
pub fn for_fd(
    host: &dyn Host,
    fd: RawFd,
    interest: Interest,
    deadline: Option<u64>,
    call: &'static str,
    on_signal: OnSignal,
) -> Result<Wake, c_int> {
    let reactor = host.reactor();
    let generation = reactor.generation(fd);
    let waiter = host.begin_wait();
    match reactor.register(fd, interest, waiter) {
        Registration::Waiting => {}
        Registration::AlwaysReady => return Ok(Wake::Woken),
        Registration::Error(error) => return Err(error),
    }
    let wake = host.park(deadline, BlockedOn { call, fd, on_signal });
    if host.reactor().generation(fd) != generation {
        return Err(libc::EBADF);
    }
    if wake != Wake::Woken {
        host.reactor().deregister(fd, waiter);
    }
    Ok(wake)
}

/// Repeats a call that does not wait while it fails with `EINTR`: the signal may be one that user code does not catch
/// (`SIGCHLD`, which the reactor watches) and is not to be interrupted by. A caught signal interrupts the park that
/// follows.
pub(crate) fn retry_eintr(mut call: impl FnMut() -> c_int) -> c_int {
    let saved = errno();
    loop {
        let result = call();
        if result >= 0 || errno() != libc::EINTR {
            return result;
        }
        set_errno(saved);
    }
}

/// Records that a call on `fd` failed with `EAGAIN`: it is not ready before the next edge.
pub(crate) fn record_not_ready(host: &dyn Host, fd: RawFd, interest: Interest) {
    host.reactor().record_readiness(fd, interest, Readiness::NotReady);
}

/// Polls one descriptor without waiting. Returns those of `events` that hold, errors and hang-ups, or `None` if `poll`
/// fails.
pub(crate) fn poll_now(fd: RawFd, events: c_short) -> Option<c_short> {
    let mut one = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one entry, which lives through the call.
    let result = retry_eintr(|| unsafe { libc::poll(&raw mut one, 1, 0) });
    (result >= 0).then_some(one.revents)
}

/// Returns the error of a call on a non-blocking descriptor: `error`, but `ECANCELED` for `EAGAIN` if a cancellation is
/// pending. Libraries take `EAGAIN` as an invitation to wait and try again, which a cancelled coroutine cannot.
#[inline]
pub(crate) fn nonblocking_error(host: &dyn Host, error: i32) -> i32 {
    if error == libc::EAGAIN && host.has_pending_cancel() { libc::ECANCELED } else { error }
}

/// Records that a call was made that never waits; see [`Host::made_without_waiting`]. `errno` is as for [`yield_after`].
#[inline]
pub(crate) fn made(host: &dyn Host, fd: RawFd, has_failed: bool) {
    host.made_without_waiting(fd, !has_failed);
    if has_failed {
        set_errno(nonblocking_error(host, errno()));
    }
}

/// Yields if the time slice is used up, after a call that did not have to wait. Keeps `errno`, but for a call that has failed see
/// [`nonblocking_error`].
#[inline]
pub(crate) fn yield_after(host: &dyn Host, has_failed: bool) {
    host.yield_if_due();
    if has_failed {
        set_errno(nonblocking_error(host, errno()));
    }
}
