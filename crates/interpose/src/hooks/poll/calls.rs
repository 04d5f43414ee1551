//! `poll` and `ppoll`.

use super::park::{Time, ZERO, ask, interest, letting_in, park_on, park_with};
use crate::hooks::signal::pending::Pending;
use crate::host::{Host, Wake, current_host, errno, fail, set_errno};
use crate::wait;
use libc::{POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, POLLRDHUP, POLLRDNORM, POLLWRNORM};
use libc::{c_int, c_short, nfds_t, pollfd, sigset_t, timespec};
use spindle_reactor::{FdKind, Interest, Reactor, Readiness, Waiter};
use std::os::fd::RawFd;

/// What the reactor knows of a single descriptor.
enum Known {
    Ready(c_short),
    Not,
    Nothing,
}

fn known(reactor: &Reactor, fd: RawFd, events: c_short) -> Known {
    const PLAIN: c_short =
        POLLIN | POLLRDNORM | POLLRDHUP | POLLOUT | POLLWRNORM | POLLPRI | POLLERR | POLLHUP | POLLNVAL;
    /// These may hold no longer.
    const UNSURE: u32 = (libc::EPOLLERR | libc::EPOLLHUP | libc::EPOLLPRI) as u32;
    if events | POLLERR | POLLHUP == POLLIN | POLLERR | POLLHUP {
        // As PHP's streams ask.
        return match reactor.readiness(fd, Interest::READ) {
            (Readiness::NotReady, bits) if bits & UNSURE == 0 => Known::Not,
            (Readiness::Ready, bits) if bits & (UNSURE | libc::EPOLLIN as u32) == libc::EPOLLIN as u32 => {
                Known::Ready(POLLIN)
            }
            _ => Known::Nothing,
        };
    }
    let (read, write) = (events & (POLLIN | POLLRDNORM | POLLRDHUP) != 0, events & (POLLOUT | POLLWRNORM) != 0);
    if events & !PLAIN != 0 || !(read || write) {
        return Known::Nothing;
    }
    let (level, bits) = reactor.readiness(fd, Interest::READ);
    let read = if read { level } else { Readiness::NotReady };
    let write = if write { reactor.readiness(fd, Interest::WRITE).0 } else { Readiness::NotReady };
    if bits & UNSURE != 0 || read == Readiness::Unknown || write == Readiness::Unknown {
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
        return Known::Nothing; // an eventfd sets POLLIN alone
    }
    match (ready, read == Readiness::NotReady && write == Readiness::NotReady) {
        (0, true) => Known::Not,
        (0, false) => Known::Nothing,
        _ => Known::Ready(ready),
    }
}

/// The largest set that the reactor is asked about before the kernel.
const FEW: nfds_t = 8;

/// Returns how many entries of a whole set the reactor knows to be ready, and sets their events. `None` if it does not know this
/// of each.
///
/// # Safety
/// `fds` is as `poll(2)` wants it.
unsafe fn known_all(reactor: &Reactor, fds: *mut pollfd, count: nfds_t) -> Option<c_int> {
    let mut found = [0; FEW as usize];
    let mut ready = 0;
    for (i, found) in found.iter_mut().enumerate().take(count as usize) {
        // SAFETY: valid by contract.
        let (fd, events) = unsafe { ((*fds.add(i)).fd, (*fds.add(i)).events) };
        if fd < 0 {
            continue;
        }
        match known(reactor, fd, events) {
            Known::Ready(revents) => (*found, ready) = (revents, ready + 1),
            Known::Not => {}
            Known::Nothing => return None,
        }
    }
    for (i, revents) in found.into_iter().enumerate().take(count as usize) {
        // SAFETY: valid by contract.
        unsafe { (*fds.add(i)).revents = revents };
    }
    Some(ready)
}

/// Records that the kernel has just found nothing ready in a set.
///
/// # Safety
/// `fds` is as `poll(2)` wants it.
unsafe fn record_none_ready(reactor: &Reactor, fds: *mut pollfd, count: nfds_t) {
    for i in 0..count as usize {
        // SAFETY: valid by contract.
        let (fd, events) = unsafe { ((*fds.add(i)).fd, (*fds.add(i)).events) };
        // Bands and priority are not all that there is to read.
        for (side, all) in [(Interest::READ, POLLIN), (Interest::WRITE, POLLOUT)] {
            if fd >= 0 && events & all != 0 {
                reactor.record_readiness(fd, side, Readiness::NotReady);
            }
        }
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
    let mut has_waited = false;
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
            let ready = wait::retry_eintr(|| unsafe { libc::poll(one, 1, 0) });
            if ready != 0 {
                return ready;
            }
            for side in [Interest::READ, Interest::WRITE] {
                if interest(events).0 & side.0 != 0 {
                    host.reactor().record_readiness(fd, side, Readiness::NotReady);
                }
            }
        }
        if has_waited && time.over() {
            answer(0);
            set_errno(before);
            return 0;
        }
        has_waited = true;
        let generation = host.reactor().generation(fd);
        let wake = park_on(host, call, time, None, |each| {
            if fd >= 0 {
                each(fd, interest(events));
            }
        });
        if host.reactor().generation(fd) != generation {
            answer(POLLNVAL);
            set_errno(before);
            return 1;
        }
        match wake {
            Wake::Woken => {}
            Wake::TimedOut => {
                // Ask the kernel a last time: an edge may be on its way.
                for side in [Interest::READ, Interest::WRITE].into_iter().filter(|_| fd >= 0) {
                    host.reactor().record_readiness(fd, side, Readiness::Unknown);
                }
            }
            Wake::Cancelled | Wake::Interrupted => {
                answer(0);
                return fail::<i8>(wake.error().unwrap_or(0)).into();
            }
        }
    }
}

/// Asks the kernel, without waiting. `poll` takes three quarters of the time of `ppoll`.
///
/// # Safety
/// `fds` is as `poll(2)` wants it, `mask` null or valid.
unsafe fn poll_now(fds: *mut pollfd, count: nfds_t, mask: *const sigset_t) -> c_int {
    let look = || {
        if mask.is_null() {
            // SAFETY: valid by contract.
            return unsafe { libc::poll(fds, count, 0) };
        }
        // SAFETY: valid by contract.
        unsafe { libc::ppoll(fds, count, &ZERO, mask) }
    };
    ask(mask, look)
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
        // SAFETY: the caller's own arguments.
        let ready = unsafe { poll_now(fds, count, mask) };
        if ready == 0 && count <= FEW {
            // SAFETY: the kernel has just accepted this many entries.
            unsafe { record_none_ready(host.reactor(), fds, count) };
        }
        // SAFETY: the kernel has just accepted this many entries.
        let first = if count == 0 { -1 } else { unsafe { (*fds).fd } };
        host.made_without_waiting(first, ready != 0);
        return ready;
    }
    if mask.is_null() && host.leaves_waits() {
        // SAFETY: the caller's own arguments.
        return unsafe { leave(host, fds, count, time) };
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

/// Asks without waiting, and leaves the wait to the host.
///
/// # Safety
/// `fds` is as `poll(2)` wants it.
unsafe fn leave(host: &dyn Host, fds: *mut pollfd, count: nfds_t, time: Time) -> c_int {
    // SAFETY: by contract.
    let ready = unsafe { poll_now(fds, count, std::ptr::null()) };
    if ready == 0 {
        let entries = if count == 0 {
            &[]
        } else {
            // SAFETY: the kernel has just accepted this many entries.
            unsafe { std::slice::from_raw_parts(fds, count as usize) }
        };
        host.leave_wait(entries, time.deadline());
    }
    ready
}

/// Parks until one of these descriptors has one of its events, the deadline passes, or the waiter that `before` gets is woken. The
/// caller has just asked the kernel, which found nothing.
pub fn wait_left(
    host: &dyn Host,
    fds: &[(RawFd, c_short)],
    deadline: Option<u64>,
    before: impl FnOnce(Waiter),
) -> Wake {
    let time = deadline.map_or(Time::Forever, Time::Until);
    let waiter = host.begin_wait();
    before(waiter);
    park_with(host, waiter, "poll", time, None, |each| fds.iter().for_each(|(fd, events)| each(*fd, interest(*events))))
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
    host.yield_if_due(); // before polling, so that the result is not outdated
    let is_few = count <= FEW && !fds.is_null() && mask.is_null();
    let (mut ask_kernel, mut is_woken) = (false, false);
    loop {
        // Readiness is known for certain only just after it has woken this call: another thread may read meanwhile.
        let answer = if is_few && !ask_kernel {
            // SAFETY: valid by contract.
            unsafe { known_all(host.reactor(), fds, count) }.filter(|ready| *ready == 0 || is_woken)
        } else {
            None
        };
        // SAFETY: the caller's own arguments.
        let ready = answer.unwrap_or_else(|| unsafe { poll_now(fds, count, mask) });
        if ready != 0 {
            if answer.is_some() {
                set_errno(before);
            }
            return ready;
        }
        if is_few && answer.is_none() {
            // SAFETY: the kernel has just accepted this many entries.
            unsafe { record_none_ready(host.reactor(), fds, count) };
        }
        if time.over() {
            set_errno(before);
            return 0;
        }
        let wake = park_on(host, call, time, pending, |each| {
            for i in 0..count as usize {
                // SAFETY: the kernel has just accepted this many entries, and they are the caller's until it returns.
                let (fd, events) = unsafe { ((*fds.add(i)).fd, (*fds.add(i)).events) };
                if fd >= 0 {
                    each(fd, interest(events));
                }
            }
        });
        if let Some(error) = wake.error() {
            return fail::<i8>(error).into();
        }
        // After the time the kernel is asked: an edge may be on its way.
        (is_woken, ask_kernel) = (wake == Wake::Woken, wake == Wake::TimedOut);
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
    let time = unsafe { Time::from_pointer(timeout) };
    match (current_host(), time) {
        // SAFETY: the caller's own arguments.
        (Some(host), Some(time)) => unsafe { polling(host, "ppoll", fds, count, time, mask) },
        // SAFETY: as above.
        _ => unsafe { libc::ppoll(fds, count, timeout, mask) },
    }
}

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    /// Ends the process: a buffer would have overflowed.
    fn __chk_fail() -> !;
}

/// `poll(2)` of a program built with `_FORTIFY_SOURCE`.
///
/// # Safety
/// As the original.
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn __poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, room: usize) -> c_int {
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
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    room: usize,
) -> c_int {
    if room / size_of::<pollfd>() < count as usize {
        // SAFETY: it takes nothing and does not return, as the original.
        unsafe { __chk_fail() }
    }
    // SAFETY: the caller's own arguments.
    unsafe { ppoll(fds, count, timeout, mask) }
}
