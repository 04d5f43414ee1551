//! `flock`, `lockf` and the locking commands of `fcntl`, without blocking the thread.
//!
//! A `flock` that is held is tried again when this process may have released it (by an unlock or a close), and by polling
//! for other processes. Waiters for one file try in order of arrival; a newcomer that can have the lock immediately gets it,
//! as in the kernel.
//!
//! POSIX locks belong to the process: coroutines never exclude each other by them, and one that is held is held by another
//! process. A deadlock between processes is not detected (`EDEADLK`).
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::{BlockedOn, Host, OnSignal, current_host, errno, fail, php_thread_host, set_errno};
use crate::php_cell::PhpCell;
use crate::wait::identity::{File, file_of};
use crate::wait::{Backoff, WaitQueue, retry_in_queue, wake_matching};
use libc::{c_int, off_t};
use std::os::fd::RawFd;

static QUEUE: PhpCell<WaitQueue<File>> = PhpCell::new(WaitQueue::new());

/// Wakes every waiter for a `flock`: a lock was released, or may have been by a close. They try again when the
/// running coroutine parks.
pub(crate) fn released() {
    if let Some(host) = php_thread_host() {
        wake_matching(&QUEUE, host, 0, |_| true);
    }
}

/// Empties the queue: in the child of a fork, and once the waiting coroutines have been abandoned.
pub fn reset() {
    if let Some(host) = php_thread_host() {
        QUEUE.with(host, WaitQueue::clear);
    }
}

/// `flock(2)`.
pub unsafe extern "C" fn flock(fd: c_int, operation: c_int) -> c_int {
    // SAFETY: no pointers.
    let original = |operation| unsafe { libc::flock(fd, operation) };
    let unlocks = operation & libc::LOCK_UN != 0;
    let Some(host) = current_host().filter(|_| !unlocks) else {
        let result = original(operation);
        if unlocks {
            released();
        }
        return result;
    };
    let saved = errno();
    let result = original(operation | libc::LOCK_NB);
    if result == 0 {
        released(); // an exclusive lock may have become a shared one
        set_errno(saved);
    }
    if result == 0 || errno() != libc::EWOULDBLOCK || operation & libc::LOCK_NB != 0 {
        return result;
    }
    let Some(file) = file_of(fd) else { return -1 };
    let generation = host.reactor().generation(fd);
    let blocked_on = BlockedOn { call: "flock", fd, on_signal: OnSignal::Restart };
    let locked = retry_in_queue(&QUEUE, host, file, None, blocked_on, || {
        if host.reactor().generation(fd) != generation {
            return Some(Err(libc::EBADF));
        }
        match original(operation | libc::LOCK_NB) {
            0 => Some(Ok(())),
            _ if errno() == libc::EWOULDBLOCK => None,
            _ => Some(Err(errno())),
        }
    });
    released(); // another waiter is the first one now
    match locked {
        Ok(()) => {
            set_errno(saved);
            0
        }
        Err(error) => fail(error),
    }
}

/// `lockf(3)`.
pub unsafe extern "C" fn lockf(fd: c_int, command: c_int, length: off_t) -> c_int {
    // SAFETY: no pointers.
    let original = |command| unsafe { libc::lockf(fd, command, length) };
    match (current_host(), command) {
        (Some(host), libc::F_LOCK) => poll_record_lock(host, fd, "lockf", || original(libc::F_TLOCK)),
        _ => original(command),
    }
}

/// Polls for a record lock. `attempt` fails with `EAGAIN` or `EACCES` while another process has it.
pub(super) fn poll_record_lock(host: &dyn Host, fd: RawFd, call: &'static str, attempt: impl Fn() -> c_int) -> c_int {
    let saved = errno();
    let generation = host.reactor().generation(fd);
    let mut backoff = Backoff::polling();
    loop {
        let result = attempt();
        if result == 0 {
            set_errno(saved);
            return 0;
        }
        if !matches!(errno(), libc::EAGAIN | libc::EACCES) {
            return result;
        }
        host.begin_wait();
        let wake = backoff.park(host, None, BlockedOn { call, fd, on_signal: OnSignal::Restart });
        if let Some(error) = wake.error() {
            return fail(error);
        }
        if host.reactor().generation(fd) != generation {
            return fail(libc::EBADF);
        }
    }
}
