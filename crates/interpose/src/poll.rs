//! `poll`, `select`, `epoll_wait` and their kin.
//!
//! What is not ready at once is waited for in the reactor, all descriptors of the set by one waiter. The `poll` of
//! a single descriptor, which streams make before each read, is answered without the kernel where the levels
//! allow it. A time limit of zero always asks the kernel.
//!
//! A signal mask (`ppoll`, `pselect`, `epoll_pwait`) cannot hold while other coroutines run. Signals that the
//! thread blocks and the mask lets in are watched for, and the call looks again, with the mask, when one is pending:
//! then it is delivered. Signals that only the mask blocks are not held back.

mod epoll;
mod select;

use crate::host::{BlockedOn, Host, OnSignal, Wake, current_host, errno, fail, set_errno};
use crate::net::yield_if_due;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::sigwait::{self, Pending, let_in_by};
use crate::wait;
use libc::{POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, POLLRDNORM, POLLWRNORM};
use libc::{c_int, c_short, nfds_t, pollfd, sigset_t, size_t, timespec};
use spindle_reactor::{FdKind, Interest, Reactor, Readiness, Registration};
use std::os::fd::RawFd;

pub use epoll::{epoll_pwait, epoll_pwait2, epoll_wait};
pub use select::{pselect, select};

const POLLRDHUP: c_short = libc::POLLRDHUP;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const POLL: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "parked until one of the descriptors is ready or the time is over",
        on_cancel: on_cancel::FAILS,
    };
    const MASKED: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "as without the mask, and until a signal that the mask lets in is pending (signalfd)",
        on_cancel: on_cancel::FAILS,
    };
    const LOOP: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "parked until the other loop's epoll descriptor is readable or the time is over",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"poll" => poll, POLL;
        c"__poll" => poll, POLL;
        c"__poll_chk" => __poll_chk, POLL;
        c"ppoll" => ppoll, MASKED;
        c"__ppoll_chk" => __ppoll_chk, MASKED;
        c"select" => select, POLL;
        c"__select" => select, POLL;
        c"pselect" => pselect, MASKED;
        c"epoll_wait" => epoll_wait, LOOP;
        c"epoll_pwait" => epoll_pwait, LOOP;
        c"epoll_pwait2" => epoll_pwait2, LOOP;
    ]
}

/// How long a call may wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    Zero,
    Until(u64),
    Forever,
}

impl Time {
    fn from_ms(ms: c_int) -> Time {
        match ms {
            0 => Time::Zero,
            1.. => Time::Until(wait::after(ms as u64 * 1_000_000)),
            _ => Time::Forever,
        }
    }

    /// `None` for what the kernel calls invalid.
    fn from_spec(seconds: i64, ns: i64) -> Option<Time> {
        if seconds < 0 || !(0..1_000_000_000).contains(&ns) {
            return None;
        }
        if seconds == 0 && ns == 0 {
            return Some(Time::Zero);
        }
        Some(Time::Until(wait::after((seconds as u64).saturating_mul(1_000_000_000).saturating_add(ns as u64))))
    }

    fn deadline(self) -> Option<u64> {
        if let Time::Until(deadline) = self { Some(deadline) } else { None }
    }

    fn over(self) -> bool {
        match self {
            Time::Zero => true,
            Time::Until(deadline) => deadline <= Reactor::now(),
            Time::Forever => false,
        }
    }
}

/// How long those sleep who cannot be woken by what they wait for.
const NAP: u64 = 10_000_000;

const ZERO: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

/// A mask that lets in what the thread blocks, and what tells of such a signal; null for one that does not.
///
/// # Safety
/// `mask` is null or valid.
unsafe fn letting_in(mask: *const sigset_t) -> (*const sigset_t, Option<Pending>) {
    // SAFETY: valid by contract.
    let signals = if mask.is_null() { 0 } else { unsafe { let_in_by(mask) } };
    if signals == 0 { (std::ptr::null(), None) } else { (mask, Some(Pending::of(signals))) }
}

fn interest(events: c_short) -> Interest {
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

/// Registers one waiter for a whole set, parks, and takes the registrations back. The caller has just asked the
/// kernel, or knows that all is *empty*.
fn park_on(
    host: &dyn Host,
    call: &'static str,
    time: Time,
    pending: Option<Pending>,
    each: impl Fn(&mut dyn FnMut(RawFd, Interest)),
) -> Wake {
    let reactor = host.reactor();
    let waiter = host.begin_wait();
    let (mut only, mut count) = (-1, 0);
    let mut soon = pending.is_some_and(|pending| !pending.watch(reactor, waiter));
    each(&mut |fd, interest| {
        (only, count) = (fd, count + 1);
        match reactor.register(fd, interest, waiter) {
            // What is always ready would have been seen, if it were asked for: it never changes.
            Registration::Waiting | Registration::AlwaysReady => {}
            Registration::Error(_) => soon = true,
        }
    });
    let mut deadline = time.deadline();
    if soon {
        let nap = wait::after(NAP);
        deadline = Some(deadline.map_or(nap, |d| d.min(nap)));
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

/// What is known of a single descriptor without asking.
enum Known {
    Ready(c_short),
    Not,
    Nothing,
}

fn known(reactor: &Reactor, fd: RawFd, events: c_short) -> Known {
    const PLAIN: c_short =
        POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM | POLLPRI | POLLERR | POLLHUP | POLLNVAL;
    let (read, write) = (events & (POLLIN | POLLRDNORM | POLLRDHUP) != 0, events & (POLLOUT | POLLWRNORM) != 0);
    if events & !PLAIN != 0 || !(read || write) {
        return Known::Nothing;
    }
    let (level, bits) = reactor.readiness(fd, Interest::READ);
    let read = if read { level } else { Readiness::NotReady };
    let write = if write { reactor.readiness(fd, Interest::WRITE).0 } else { Readiness::NotReady };
    // These may have been true once and not now.
    let unsure = (libc::EPOLLERR | libc::EPOLLHUP | libc::EPOLLPRI) as u32;
    if bits & unsure != 0 || read == Readiness::Unknown || write == Readiness::Unknown {
        return Known::Nothing;
    }
    let mut ready = 0;
    if read == Readiness::Ready && bits & libc::EPOLLIN as u32 != 0 {
        ready |= POLLIN | POLLRDNORM;
    }
    if bits & libc::EPOLLRDHUP as u32 != 0 {
        ready |= POLLRDHUP;
    }
    if write == Readiness::Ready && bits & libc::EPOLLOUT as u32 != 0 {
        ready |= POLLOUT | POLLWRNORM;
    }
    ready &= events;
    if ready & (POLLRDNORM | POLLWRNORM) != 0
        && matches!(reactor.kind(fd), FdKind::Other | FdKind::File | FdKind::Closed)
    {
        return Known::Nothing; // an eventfd has POLLIN alone
    }
    match (ready, read == Readiness::NotReady && write == Readiness::NotReady) {
        (0, true) => Known::Not,
        (0, false) => Known::Nothing,
        _ => Known::Ready(ready),
    }
}

/// # Safety
/// `one` is valid.
unsafe fn poll_one(host: &dyn Host, call: &'static str, one: *mut pollfd, time: Time) -> c_int {
    let before = errno();
    // SAFETY: valid by contract.
    let (fd, events) = unsafe { ((*one).fd, (*one).events) };
    // SAFETY: valid by contract; no reference is kept, others may run between the calls.
    let answer = |revents: c_short| unsafe { (*one).revents = revents };
    loop {
        let mut not = fd < 0;
        if !not {
            match known(host.reactor(), fd, events) {
                Known::Ready(revents) => {
                    answer(revents);
                    set_errno(before);
                    return 1;
                }
                Known::Not => not = true,
                Known::Nothing => {}
            }
        }
        if !not {
            // SAFETY: valid by contract.
            let ready = wait::look(|| unsafe { libc::poll(one, 1, 0) });
            if ready != 0 {
                return ready;
            }
            for side in [Interest::READ, Interest::WRITE] {
                if interest(events).0 & side.0 != 0 {
                    host.reactor().record_readiness(fd, side, Readiness::NotReady);
                }
            }
        }
        if time.over() {
            answer(0);
            set_errno(before);
            return 0;
        }
        let life = host.reactor().generation(fd);
        let wake = park_on(host, call, time, None, |each| {
            if fd >= 0 {
                each(fd, interest(events));
            }
        });
        if host.reactor().generation(fd) != life {
            answer(POLLNVAL);
            set_errno(before);
            return 1;
        }
        match wake {
            Wake::Woken => {}
            Wake::TimedOut => {
                // A last look, at the kernel: an edge may be on its way.
                for side in [Interest::READ, Interest::WRITE].into_iter().filter(|_| fd >= 0) {
                    host.reactor().record_readiness(fd, side, Readiness::Unknown);
                }
            }
            Wake::Cancelled | Wake::Interrupted => {
                answer(0);
                return fail::<i8>(if wake == Wake::Cancelled { libc::ECANCELED } else { libc::EINTR }).into();
            }
        }
    }
}

/// Looks without waiting. No signal interrupts that, unless a mask is there to let one in.
fn ask(mask: *const sigset_t, look: impl Fn() -> c_int) -> c_int {
    if mask.is_null() { wait::look(look) } else { sigwait::interrupting_one(look) }
}

/// # Safety
/// `fds` is as `poll(2)` wants it, `mask` null or valid.
unsafe fn polling(
    host: &dyn Host,
    call: &'static str,
    fds: *mut pollfd,
    count: nfds_t,
    time: Time,
    mask: *const sigset_t,
) -> c_int {
    if time == Time::Zero {
        yield_if_due(host);
        // SAFETY: the caller's own arguments.
        return ask(mask, || unsafe { libc::ppoll(fds, count, &ZERO, mask) });
    }
    // SAFETY: null or valid by contract.
    let (mask, pending) = unsafe { letting_in(mask) };
    if count == 1 && !fds.is_null() && mask.is_null() {
        // SAFETY: one entry, by contract.
        return unsafe { poll_one(host, call, fds, time) };
    }
    // SAFETY: the caller's own arguments.
    let ready = unsafe { poll_all(host, call, fds, count, time, mask, pending) };
    if let Some(pending) = pending {
        pending.close();
    }
    ready
}

/// # Safety
/// As [`polling`].
unsafe fn poll_all(
    host: &dyn Host,
    call: &'static str,
    fds: *mut pollfd,
    count: nfds_t,
    time: Time,
    mask: *const sigset_t,
    pending: Option<Pending>,
) -> c_int {
    let before = errno();
    yield_if_due(host); // before it looks: what it sees shall still be true
    loop {
        // SAFETY: the caller's own arguments.
        let ready = ask(mask, || unsafe { libc::ppoll(fds, count, &ZERO, mask) });
        if ready != 0 {
            return ready;
        }
        if time.over() {
            set_errno(before);
            return 0;
        }
        let wake = park_on(host, call, time, pending, |each| {
            for i in 0..count as usize {
                // SAFETY: the kernel has just accepted so many entries, and they are the caller's until it returns.
                let (fd, events) = unsafe { ((*fds.add(i)).fd, (*fds.add(i)).events) };
                if fd >= 0 {
                    each(fd, interest(events));
                }
            }
        });
        match wake {
            Wake::Woken | Wake::TimedOut => {}
            Wake::Cancelled => return fail::<i8>(libc::ECANCELED).into(),
            Wake::Interrupted => return fail::<i8>(libc::EINTR).into(),
        }
    }
}

/// `poll(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    match current_host() {
        // SAFETY: the caller's own arguments.
        None => unsafe { libc::poll(fds, count, timeout) },
        // SAFETY: as above.
        Some(host) => unsafe { polling(host, "poll", fds, count, Time::from_ms(timeout), std::ptr::null()) },
    }
}

/// `ppoll(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: null or the caller's own timespec.
    let time = unsafe { timeout.as_ref() }.map_or(Some(Time::Forever), |t| Time::from_spec(t.tv_sec, t.tv_nsec));
    match (current_host(), time) {
        // SAFETY: the caller's own arguments.
        (Some(host), Some(time)) => unsafe { polling(host, "ppoll", fds, count, time, mask) },
        // SAFETY: as above.
        _ => unsafe { libc::ppoll(fds, count, timeout, mask) },
    }
}

unsafe extern "C" {
    /// Ends the process: a buffer would have overflowed.
    fn __chk_fail() -> !;
}

/// `poll(2)` of a program built with `_FORTIFY_SOURCE`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn __poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, room: size_t) -> c_int {
    if room / size_of::<pollfd>() < count as usize {
        // SAFETY: it takes nothing and does not return, as the original.
        unsafe { __chk_fail() }
    }
    // SAFETY: the caller's own arguments.
    unsafe { poll(fds, count, timeout) }
}

/// `ppoll(2)` of a program built with `_FORTIFY_SOURCE`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    room: size_t,
) -> c_int {
    if room / size_of::<pollfd>() < count as usize {
        // SAFETY: it takes nothing and does not return, as the original.
        unsafe { __chk_fail() }
    }
    // SAFETY: the caller's own arguments.
    unsafe { ppoll(fds, count, timeout, mask) }
}
