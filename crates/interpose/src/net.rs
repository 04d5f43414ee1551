//! Sockets: receiving, sending, connecting, accepting.
//!
//! The call is tried first, without waiting; only `EAGAIN` on a descriptor that the caller has in blocking mode
//! parks the coroutine. What a call shows about readiness is remembered (see the reactor's levels), under these
//! rules: `EAGAIN` is *empty*; so is a short read of a TCP socket that looked at neither urgent nor peeked data;
//! every other use is *unknown*.
//!
//! Not as without Spindle: a blocking `recv` on a socket with `SO_RCVLOWAT` may return fewer bytes than that;
//! `send` with `MSG_FASTOPEN` on a blocking socket waits in place.

mod accept;
mod connect;
mod message;
mod recv;
mod send;

use crate::host::{BlockedOn, Host, OnSignal, Wake, errno, php_thread_host, set_errno};
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait::{self, WaitOutcome};
use libc::{c_int, c_short};
use spindle_reactor::{FdKind, Interest, Reactor, Readiness};
use std::os::fd::RawFd;

pub use accept::{accept, accept4};
pub use connect::connect;
pub use recv::{__recv_chk, __recvfrom_chk, recv, recvfrom, recvmmsg, recvmsg};
pub use send::{send, sendmmsg, sendmsg, sendto};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const RECEIVE: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "tried at once, else parked until readable or SO_RCVTIMEO; MSG_WAITALL and MSG_DONTWAIT honoured",
        on_cancel: on_cancel::PARTIAL,
    };
    const SEND: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "sends what fits, parked until writable or SO_SNDTIMEO, until all is sent; MSG_FASTOPEN in place",
        on_cancel: on_cancel::PARTIAL,
    };
    const CONNECT: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "begun without waiting, parked until it is decided",
        on_cancel: on_cancel::GOES_ON,
    };
    const ACCEPT: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "parked until a connection is there; a listener shared with other processes: on a worker thread",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"recv" => recv, RECEIVE;
        c"__recv_chk" => __recv_chk, RECEIVE;
        c"recvfrom" => recvfrom, RECEIVE;
        c"__recvfrom_chk" => __recvfrom_chk, RECEIVE;
        c"recvmsg" => recvmsg, RECEIVE;
        c"recvmmsg" => recvmmsg, Behavior { wait: WaitKind::Readiness, summary: "as recvmsg for each message; the time limit is looked at after each", on_cancel: on_cancel::PARTIAL };
        c"send" => send, SEND;
        c"__send" => send, SEND;
        c"sendto" => sendto, SEND;
        c"sendmsg" => sendmsg, Behavior { wait: WaitKind::Readiness, summary: "as send; ancillary data goes with the first part only", on_cancel: on_cancel::PARTIAL };
        c"sendmmsg" => sendmmsg, Behavior { wait: WaitKind::Readiness, summary: "as sendmsg for each message", on_cancel: on_cancel::PARTIAL };
        c"connect" => connect, CONNECT;
        c"__connect" => connect, CONNECT;
        c"accept" => accept, ACCEPT;
        c"accept4" => accept4, ACCEPT;
    ]
}

/// How long a call on a socket may wait, and what interrupts it: asked when it first has to wait.
pub(crate) struct Limit {
    fd: RawFd,
    interest: Interest,
    call: &'static str,
    asked: bool,
    deadline: Option<u64>,
    on_signal: OnSignal,
    nap: u64,
}

/// The first nap of those who cannot be woken, and the longest.
const NAPS: (u64, u64) = (1_000_000, 10_000_000);

impl Limit {
    pub(crate) fn new(fd: RawFd, interest: Interest, call: &'static str) -> Limit {
        Limit { fd, interest, call, asked: false, deadline: None, on_signal: OnSignal::Restart, nap: NAPS.0 }
    }

    fn ask(&mut self, reactor: &Reactor) {
        if !self.asked {
            self.asked = true;
            let ns = reactor.socket_timeout(self.fd, self.interest);
            if ns != 0 {
                // signal(7): with a timeout set, SA_RESTART restarts nothing.
                self.deadline = Some(wait::after(ns));
                self.on_signal = OnSignal::Interrupt;
            }
        }
    }

    fn blocked_on(&self) -> BlockedOn {
        BlockedOn { call: self.call, fd: self.fd, on_signal: self.on_signal }
    }

    /// Parks until the descriptor may be ready. The caller has just seen that it is not, or it is *empty*.
    pub(crate) fn wait(&mut self, host: &dyn Host) -> WaitOutcome {
        self.ask(host.reactor());
        match wait::for_fd(host, self.fd, self.interest, self.deadline, self.call, self.on_signal) {
            // Epoll has no room for it (memory, max_user_watches): looked at again and again.
            WaitOutcome::Error(error) if error != libc::EBADF => self.nap(host),
            waited => waited,
        }
    }

    /// Sleeps 1 ms, then longer each time up to 10.
    pub(crate) fn nap(&mut self, host: &dyn Host) -> WaitOutcome {
        self.ask(host.reactor());
        let soon = wait::after(self.next_nap());
        let end = self.deadline.map_or(soon, |d| d.min(soon));
        host.begin_wait();
        match host.park(Some(end), self.blocked_on()) {
            Wake::TimedOut if self.deadline == Some(end) => WaitOutcome::TimedOut,
            Wake::TimedOut | Wake::Woken => WaitOutcome::Ready,
            Wake::Cancelled => WaitOutcome::Cancelled,
            Wake::Interrupted => WaitOutcome::Interrupted,
        }
    }

    fn next_nap(&mut self) -> u64 {
        let nap = self.nap;
        self.nap = (nap * 2).min(NAPS.1);
        nap
    }
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

/// What a call outside coroutines did to the readiness of `fd` is not known to anybody.
#[inline]
pub(crate) fn used_outside(fd: RawFd, interest: Interest) {
    if let Some(host) = php_thread_host() {
        let error = errno();
        host.reactor().record_readiness(fd, interest, Readiness::Unknown);
        set_errno(error);
    }
}

/// Asks the kernel what holds of `fd` now, of `events` and of error and hang-up.
pub(crate) fn ask(fd: RawFd, events: c_short) -> c_short {
    let mut one = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one entry, which lives through the call.
    if wait::look(|| unsafe { libc::poll(&raw mut one, 1, 0) }) > 0 { one.revents } else { 0 }
}

/// An `int` socket option, or -1.
pub(crate) fn option(fd: RawFd, name: c_int) -> c_int {
    let mut value = 0;
    let mut length = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: `value` and `length` are valid and of the size that is passed.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &mut length) };
    if result == 0 { value } else { -1 }
}

/// Do bytes flow through it without boundaries?
pub(crate) fn is_stream(reactor: &Reactor, fd: RawFd) -> bool {
    match reactor.kind(fd) {
        FdKind::Tcp => true,
        FdKind::Socket => option(fd, libc::SO_TYPE) == libc::SOCK_STREAM,
        _ => false,
    }
}

/// Runs `call` with `O_NONBLOCK` set on `fd` for this moment; its `errno` stays. For descriptions that nobody
/// else has. Nothing may switch in `call`.
pub(crate) fn without_blocking(fd: RawFd, call: impl FnOnce() -> c_int) -> c_int {
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
