//! Parking on a set of descriptors.

use crate::hooks::signal::pending::{self, Pending, let_in_by};
use crate::host::{BlockedOn, Host, OnSignal, Wake};
use crate::wait;
use crate::wait::time::{MILLISECOND, duration};
use libc::{POLLIN, POLLOUT, POLLPRI, POLLRDHUP, POLLRDNORM, POLLWRNORM, c_int, c_short, sigset_t, timespec};
use spindle_reactor::{Interest, Reactor, Registration, Waiter};
use std::os::fd::RawFd;

/// How long a call may wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Zero,
    Until(u64),
    Forever,
}

impl Time {
    pub(super) fn from_ms(ms: c_int) -> Time {
        match ms {
            0 => Time::Zero,
            1.. => Time::Until(wait::deadline_after(ms as u64 * MILLISECOND)),
            _ => Time::Forever,
        }
    }

    /// Returns `None` if the kernel rejects the time.
    pub(super) fn from_spec(time: &timespec) -> Option<Time> {
        duration(time).map(|ns| if ns == 0 { Time::Zero } else { Time::Until(wait::deadline_after(ns)) })
    }

    /// Returns the limit of a call with a null or valid time.
    ///
    /// # Safety
    /// `timeout` is null or valid.
    pub(super) unsafe fn from_pointer(timeout: *const timespec) -> Option<Time> {
        // SAFETY: by contract.
        unsafe { timeout.as_ref() }.map_or(Some(Time::Forever), Time::from_spec)
    }

    pub(super) fn deadline(self) -> Option<u64> {
        if let Time::Until(deadline) = self { Some(deadline) } else { None }
    }

    pub(super) fn over(self) -> bool {
        match self {
            Time::Zero => true,
            Time::Until(deadline) => deadline <= Reactor::now(),
            Time::Forever => false,
        }
    }
}

/// The interval of polling where a descriptor or signal cannot be watched.
const POLL_INTERVAL: u64 = 10 * MILLISECOND;

pub(super) const ZERO: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

/// Returns the mask if it unblocks signals that the thread blocks, and what watches for those; else null and `None`.
///
/// # Safety
/// `mask` is null or valid.
pub(super) unsafe fn letting_in(mask: *const sigset_t) -> (*const sigset_t, Option<Pending>) {
    // SAFETY: valid by contract.
    let signals = if mask.is_null() { 0 } else { unsafe { let_in_by(mask) } };
    if signals == 0 { (std::ptr::null(), None) } else { (mask, Some(Pending::of(signals))) }
}

pub(super) fn interest(events: c_short) -> Interest {
    let mut interest = Interest(0);
    if events & (POLLIN | POLLRDNORM | libc::POLLRDBAND | POLLRDHUP) != 0 {
        interest = interest.and(Interest::READ);
    }
    if events & (POLLOUT | POLLWRNORM | libc::POLLWRBAND) != 0 {
        interest = interest.and(Interest::WRITE);
    }
    if events & POLLPRI != 0 {
        interest = interest.and(Interest::PRIORITY);
    }
    interest
}

/// Registers one waiter for a whole set, parks, and removes the registrations. The caller has just asked the kernel, or
/// knows that nothing is ready.
pub(super) fn park_on(
    host: &dyn Host,
    call: &'static str,
    time: Time,
    pending: Option<Pending>,
    each: impl Fn(&mut dyn FnMut(RawFd, Interest)),
) -> Wake {
    park_with(host, host.begin_wait(), call, time, pending, each)
}

/// The same with this waiter.
pub(super) fn park_with(
    host: &dyn Host,
    waiter: Waiter,
    call: &'static str,
    time: Time,
    pending: Option<Pending>,
    each: impl Fn(&mut dyn FnMut(RawFd, Interest)),
) -> Wake {
    let reactor = host.reactor();
    let (mut only, mut count) = (-1, 0);
    let mut soon = pending.is_some_and(|pending| !pending.watch(reactor, waiter));
    each(&mut |fd, interest| {
        (only, count) = (fd, count + 1);
        match reactor.register(fd, interest, waiter) {
            // An always-ready one would have been reported if asked for: it never changes.
            Registration::Waiting | Registration::AlwaysReady => {}
            Registration::Error(_) => soon = true,
        }
    });
    let mut deadline = time.deadline();
    if soon {
        let due = wait::deadline_after(POLL_INTERVAL);
        deadline = Some(deadline.map_or(due, |deadline| deadline.min(due)));
    }
    let fd = if count == 1 { only } else { -1 };
    let wake = host.park(deadline, BlockedOn { call, fd, on_signal: OnSignal::Interrupt });
    let reactor = host.reactor();
    each(&mut |fd, _| reactor.deregister(fd, waiter));
    if let Some(pending) = pending {
        pending.unwatch(reactor, waiter);
    }
    wake
}

/// Polls without waiting. Signals interrupt that only with a mask, which unblocks some.
pub(super) fn ask(mask: *const sigset_t, look: impl Fn() -> c_int) -> c_int {
    if mask.is_null() { wait::retry_eintr(look) } else { pending::interrupting_one(look) }
}
