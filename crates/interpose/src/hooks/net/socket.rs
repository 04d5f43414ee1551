//! Waiting on sockets, and what the calls on them have in common.

use crate::host::{BlockedOn, Host, OnSignal, errno, php_thread_host, set_errno};
use crate::wait::{self, Backoff};
use libc::{c_int, c_short};
use spindle_reactor::{FdKind, Interest, Reactor, Readiness};
use std::os::fd::RawFd;

/// A wait of a call on a socket. Its timeout and what interrupts it are loaded when it first parks.
pub(super) struct SocketWait {
    fd: RawFd,
    interest: Interest,
    call: &'static str,
    timeout_loaded: bool,
    deadline: Option<u64>,
    on_signal: OnSignal,
    backoff: Backoff,
}

impl SocketWait {
    pub(super) fn new(fd: RawFd, interest: Interest, call: &'static str) -> SocketWait {
        SocketWait {
            fd,
            interest,
            call,
            timeout_loaded: false,
            deadline: None,
            on_signal: OnSignal::Restart,
            backoff: Backoff::polling(),
        }
    }

    pub(super) fn load_timeout(&mut self, reactor: &Reactor) {
        if !self.timeout_loaded {
            self.timeout_loaded = true;
            let ns = reactor.socket_timeout(self.fd, self.interest);
            if ns != 0 {
                // signal(7): with a timeout set, SA_RESTART restarts nothing.
                self.deadline = Some(wait::deadline_after(ns));
                self.on_signal = OnSignal::Interrupt;
            }
        }
    }

    pub(super) fn blocked_on(&self) -> BlockedOn {
        BlockedOn { call: self.call, fd: self.fd, on_signal: self.on_signal }
    }

    /// Parks until the descriptor may be ready. The caller has just seen that it is not, or knows it.
    ///
    /// # Errors
    /// The `errno` of the call, which ends: `timed_out` when its time has passed.
    pub(super) fn wait(&mut self, host: &dyn Host, timed_out: c_int) -> Result<(), c_int> {
        self.load_timeout(host.reactor());
        match wait::for_fd(host, self.fd, self.interest, self.deadline, self.call, self.on_signal) {
            // Epoll cannot register it (memory, `max_user_watches`): it is polled.
            Err(error) if error != libc::EBADF => self.pause(host, timed_out),
            waited => waited?.check(timed_out),
        }
    }

    /// Pauses before the next attempt, where no event will tell when it can succeed.
    ///
    /// # Errors
    /// As [`SocketWait::wait`].
    pub(super) fn pause(&mut self, host: &dyn Host, timed_out: c_int) -> Result<(), c_int> {
        self.load_timeout(host.reactor());
        host.begin_wait();
        let blocked_on = self.blocked_on();
        self.backoff.park(host, self.deadline, blocked_on).check(timed_out)
    }
}

/// Makes a call while suspension is disabled.
#[cold]
#[inline(never)]
pub(super) fn not_suspended(fd: RawFd, interest: Interest, attempt: impl FnOnce() -> isize) -> isize {
    let result = attempt();
    forget_readiness(fd, interest);
    result
}

/// Forgets the readiness of `fd` after a call made while suspension is disabled.
#[inline]
pub(super) fn forget_readiness(fd: RawFd, interest: Interest) {
    if let Some(host) = php_thread_host() {
        let error = errno();
        host.reactor().record_readiness(fd, interest, Readiness::Unknown);
        set_errno(error);
    }
}

/// Returns an `int` socket option, or -1.
pub(super) fn socket_option(fd: RawFd, name: c_int) -> c_int {
    let mut value = 0;
    let mut length = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: `value` and `length` are valid and of the size that is passed.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &mut length) };
    if result == 0 { value } else { -1 }
}

/// Returns `true` if it is a byte stream.
pub(super) fn is_stream(reactor: &Reactor, fd: RawFd) -> bool {
    match reactor.kind(fd) {
        FdKind::Tcp => true,
        FdKind::Socket => socket_option(fd, libc::SO_TYPE) == libc::SOCK_STREAM,
        _ => false,
    }
}

/// Runs `call` with `O_NONBLOCK` set on `fd`. Keeps the `errno` of `call`, which must not switch. For descriptions that
/// no other process has.
pub(super) fn with_nonblocking(fd: RawFd, call: impl FnOnce() -> c_int) -> c_int {
    let (mut on, mut off): (c_int, c_int) = (1, 0);
    // SAFETY: FIONBIO reads an int, which lives through the call.
    unsafe { libc::ioctl(fd, libc::FIONBIO, &raw mut on) };
    let result = call();
    let error = errno();
    // SAFETY: as above.
    unsafe { libc::ioctl(fd, libc::FIONBIO, &raw mut off) };
    set_errno(error);
    result
}

/// Polls `fd` without waiting. Returns those of `events` that hold, errors and hang-ups.
pub(super) fn poll_events(fd: RawFd, events: c_short) -> c_short {
    wait::poll_now(fd, events).unwrap_or(0)
}
