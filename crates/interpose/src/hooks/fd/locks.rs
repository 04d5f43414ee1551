//! `flock` and `lockf` without blocking the thread.
//!
//! A lock that is taken is tried again when this process may have released it (an unlock, a close), and by a
//! timer for other processes. Of the waiters for one file only the first one uses the timer; the order they came
//! in is the order they try in. A newcomer that can have the lock at once gets it, as in the kernel.
//!
//! POSIX locks (`lockf`) belong to the process: coroutines never exclude each other by them, as the statements of
//! one process never do. A deadlock between processes is not detected (`EDEADLK`).
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::{BlockedOn, Host, OnSignal, Wake, current_host, errno, fail, php_thread_host, set_errno};
use crate::php_cell::PhpCell;
use crate::wait;
use libc::{c_int, off_t};
use spindle_reactor::Waiter;
use std::os::fd::RawFd;

const MILLISECOND: u64 = 1_000_000;
/// Those behind the first one look by themselves only in case a wake-up was lost.
const SAFETY: u64 = 250 * MILLISECOND;

struct Entry {
    ticket: u64,
    file: (libc::dev_t, libc::ino_t),
    waiter: Option<Waiter>,
}

struct Queue {
    entries: Vec<Entry>,
    next: u64,
}

static QUEUE: PhpCell<Queue> = PhpCell::new(Queue { entries: Vec::new(), next: 0 });

/// Wakes whoever waits for a `flock`, in order.
pub(crate) fn released() {
    if let Some(host) = php_thread_host() {
        wake_all(host);
    }
}

fn wake_all(host: &dyn Host) {
    let mut next = 0;
    while let Some(waiter) = QUEUE.with(host, |q| {
        while let Some(entry) = q.entries.get_mut(next) {
            next += 1;
            if let Some(waiter) = entry.waiter.take() {
                return Some(waiter);
            }
        }
        None
    }) {
        host.wake(waiter);
    }
}

/// Forgets all waiters: after `fork` in the child, and when their coroutines have been abandoned.
pub fn reset() {
    if let Some(host) = php_thread_host() {
        QUEUE.with(host, |q| q.entries.clear());
    }
}

fn file_of(fd: RawFd) -> Option<(libc::dev_t, libc::ino_t)> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the buffer is of the right size and read only when the call has filled it.
    unsafe {
        (libc::fstat(fd, stat.as_mut_ptr()) == 0).then(|| {
            let stat = stat.assume_init();
            (stat.st_dev, stat.st_ino)
        })
    }
}

/// `flock(2)`.
pub unsafe extern "C" fn flock(fd: c_int, operation: c_int) -> c_int {
    let Some(host) = current_host() else {
        // SAFETY: no pointers.
        let result = unsafe { libc::flock(fd, operation) };
        if operation & libc::LOCK_UN != 0 {
            released();
        }
        return result;
    };
    if operation & libc::LOCK_UN != 0 {
        // SAFETY: no pointers.
        let result = unsafe { libc::flock(fd, operation) };
        wake_all(host);
        return result;
    }
    let saved = errno();
    // SAFETY: no pointers.
    let result = unsafe { libc::flock(fd, operation | libc::LOCK_NB) };
    if result == 0 || errno() != libc::EWOULDBLOCK || operation & libc::LOCK_NB != 0 {
        if result == 0 {
            wake_all(host); // an exclusive lock may have become a shared one
            set_errno(saved);
        }
        return result;
    }
    let Some(file) = file_of(fd) else { return -1 };
    let ticket = QUEUE.with(host, |q| {
        q.next += 1;
        q.entries.push(Entry { ticket: q.next, file, waiter: None });
        q.next
    });
    let error = wait_for_flock(host, fd, operation, file, ticket);
    QUEUE.with(host, |q| q.entries.retain(|e| e.ticket != ticket));
    wake_all(host); // somebody else is the first one now
    if error == 0 {
        set_errno(saved);
        return 0;
    }
    fail(error)
}

fn wait_for_flock(
    host: &dyn Host,
    fd: RawFd,
    operation: c_int,
    file: (libc::dev_t, libc::ino_t),
    ticket: u64,
) -> c_int {
    let life = host.reactor().generation(fd);
    let mut pause = MILLISECOND;
    loop {
        let waiter = host.begin_wait();
        let first = QUEUE.with(host, |q| {
            if let Some(entry) = q.entries.iter_mut().find(|e| e.ticket == ticket) {
                entry.waiter = Some(waiter);
            }
            q.entries.iter().find(|e| e.file == file).is_none_or(|e| e.ticket == ticket)
        });
        let deadline = wait::after(if first { pause } else { SAFETY });
        let wake = host.park(Some(deadline), BlockedOn { call: "flock", fd, on_signal: OnSignal::Restart });
        match wake {
            Wake::Cancelled => return libc::ECANCELED,
            Wake::Interrupted => return libc::EINTR,
            Wake::TimedOut => pause = (pause * 2).min(10 * MILLISECOND),
            Wake::Woken => {}
        }
        if host.reactor().generation(fd) != life {
            return libc::EBADF;
        }
        // SAFETY: no pointers.
        if unsafe { libc::flock(fd, operation | libc::LOCK_NB) } == 0 {
            return 0;
        }
        if errno() != libc::EWOULDBLOCK {
            return errno();
        }
    }
}

/// `lockf(3)`.
pub unsafe extern "C" fn lockf(fd: c_int, command: c_int, length: off_t) -> c_int {
    let (Some(host), libc::F_LOCK) = (current_host(), command) else {
        // SAFETY: no pointers.
        return unsafe { libc::lockf(fd, command, length) };
    };
    let saved = errno();
    let life = host.reactor().generation(fd);
    let mut pause = MILLISECOND;
    loop {
        // SAFETY: no pointers.
        if unsafe { libc::lockf(fd, libc::F_TLOCK, length) } == 0 {
            set_errno(saved);
            return 0;
        }
        if !matches!(errno(), libc::EAGAIN | libc::EACCES) {
            return -1;
        }
        host.begin_wait();
        let blocked_on = BlockedOn { call: "lockf", fd, on_signal: OnSignal::Restart };
        match host.park(Some(wait::after(pause)), blocked_on) {
            Wake::Cancelled => return fail(libc::ECANCELED),
            Wake::Interrupted => return fail(libc::EINTR),
            Wake::TimedOut => pause = (pause * 2).min(10 * MILLISECOND),
            Wake::Woken => {}
        }
        if host.reactor().generation(fd) != life {
            return fail(libc::EBADF);
        }
    }
}
