//! `recv` and its relatives.

use super::message::{self, Rest};
use super::socket::{SocketWait, forget_readiness, is_stream, not_suspended, poll_events};
use crate::host::{Host, current_host, errno, fail, php_thread_host, set_errno};
use crate::wait;
use crate::wait::time::{duration, timespec_of};
use libc::{MSG_DONTWAIT, MSG_ERRQUEUE, MSG_OOB, MSG_PEEK, MSG_WAITALL};
use libc::{c_int, c_uint, c_void, msghdr, size_t, sockaddr, socklen_t, ssize_t, timespec};
use spindle_reactor::{Blocking, Interest, Reactor, Readiness};
use std::os::fd::RawFd;

/// Records the readiness that a call has shown.
#[inline(always)]
fn record(reactor: &Reactor, fd: RawFd, flags: c_int, length: usize, got: ssize_t) {
    if got > 0 && (got as usize) < length && flags & MSG_PEEK == 0 {
        reactor.record_short_read(fd);
    } else {
        record_other(reactor, fd, flags, length, got);
    }
}

#[inline(never)]
fn record_other(reactor: &Reactor, fd: RawFd, flags: c_int, length: usize, got: ssize_t) {
    if got >= 0 && (flags & MSG_PEEK != 0 || length == 0) {
        return; // nothing was consumed
    }
    let is_empty = got < 0 && errno() == libc::EAGAIN;
    reactor.record_readiness(fd, Interest::READ, if is_empty { Readiness::NotReady } else { Readiness::Unknown });
}

/// Receives. `attempt(offset, flags)` calls the original for the rest after `offset` bytes.
#[inline(always)]
fn receive(
    call: &'static str,
    fd: RawFd,
    flags: c_int,
    length: usize,
    attempt: impl Fn(usize, c_int) -> ssize_t,
) -> ssize_t {
    let Some(host) = current_host() else { return not_suspended(fd, Interest::READ, || attempt(0, flags)) };
    if flags & (MSG_OOB | MSG_ERRQUEUE) != 0 || host.has_pending_cancel() {
        return refuse(host, fd, flags, attempt);
    }
    let reactor = host.reactor();
    if flags & MSG_DONTWAIT != 0 || reactor.blocking(fd) == Blocking::No {
        let got = attempt(0, flags);
        record(reactor, fd, flags, length, got);
        wait::made(host, fd, got < 0);
        return got;
    }
    let before = errno();
    if reactor.readiness(fd, Interest::READ).0 != Readiness::NotReady {
        let got = attempt(0, flags | MSG_DONTWAIT);
        record(reactor, fd, flags, length, got);
        if got >= 0 || errno() != libc::EAGAIN {
            wait::yield_after(host, got < 0);
            return if flags & MSG_WAITALL == 0 { got } else { whole(host, call, fd, flags, length, got, attempt) };
        }
    }
    wait_and_receive(host, call, fd, flags, length, before, attempt)
}

/// Urgent data and the error queue are never waited for, and a cancelled coroutine does not receive.
#[cold]
#[inline(never)]
fn refuse(host: &dyn Host, fd: RawFd, flags: c_int, attempt: impl Fn(usize, c_int) -> ssize_t) -> ssize_t {
    if flags & (MSG_OOB | MSG_ERRQUEUE) != 0 {
        return attempt(0, flags);
    }
    let got = if host.is_shut_down(fd) { attempt(0, flags | MSG_DONTWAIT) } else { -1 };
    // What a cancelled call received now would be lost with its result.
    if got >= 0 { got } else { fail::<i8>(libc::ECANCELED).into() }
}

#[inline(never)]
fn wait_and_receive(
    host: &dyn Host,
    call: &'static str,
    fd: RawFd,
    flags: c_int,
    length: usize,
    before: c_int,
    attempt: impl Fn(usize, c_int) -> ssize_t,
) -> ssize_t {
    let mut limit = SocketWait::new(fd, Interest::READ, call);
    loop {
        if let Err(error) = limit.wait(host, libc::EAGAIN) {
            return fail(error);
        }
        let got = attempt(0, flags | MSG_DONTWAIT);
        record(host.reactor(), fd, flags, length, got);
        if got >= 0 || errno() != libc::EAGAIN {
            if got >= 0 {
                set_errno(before);
            }
            return whole(host, call, fd, flags, length, got, attempt);
        }
    }
}

/// Continues a call with `MSG_WAITALL` whose first part has arrived.
fn whole(
    host: &dyn Host,
    call: &'static str,
    fd: RawFd,
    flags: c_int,
    length: usize,
    got: ssize_t,
    attempt: impl Fn(usize, c_int) -> ssize_t,
) -> ssize_t {
    if flags & MSG_WAITALL == 0 || got <= 0 || got as usize >= length || !is_stream(host.reactor(), fd) {
        return got;
    }
    let before = errno();
    let mut done = got as usize;
    let mut limit = SocketWait::new(fd, Interest::READ, call);
    while done < length {
        // Polled before receiving: the end of the stream, or an error, is for the next call of user code.
        let seen = poll_events(fd, libc::POLLIN | libc::POLLRDHUP);
        let last = seen & (libc::POLLERR | libc::POLLHUP | libc::POLLRDHUP | libc::POLLNVAL) != 0;
        let peeked = if flags & MSG_PEEK != 0 { done } else { 0 };
        if last && queued(fd) <= peeked {
            break;
        }
        let waited = if peeked != 0 && queued(fd) <= peeked {
            limit.pause(host, libc::EAGAIN) // what was peeked at keeps it readable: no edge will come
        } else if seen & libc::POLLIN == 0 {
            wait::record_not_ready(host, fd, Interest::READ);
            limit.wait(host, libc::EAGAIN)
        } else {
            let got = attempt(done - peeked, flags | MSG_DONTWAIT);
            record(host.reactor(), fd, flags, length - done, got);
            if got > 0 {
                done = done - peeked + got as usize;
                continue;
            }
            if got == 0 || errno() != libc::EAGAIN {
                break;
            }
            limit.pause(host, libc::EAGAIN)
        };
        if waited.is_err() {
            break;
        }
    }
    set_errno(before);
    done as ssize_t
}

/// Returns the number of bytes that could be received now.
fn queued(fd: RawFd) -> usize {
    let mut bytes: c_int = 0;
    // SAFETY: FIONREAD writes an int, which lives through the call.
    unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut bytes) };
    usize::try_from(bytes).unwrap_or(0)
}

/// `recv(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn recv(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    receive("recv", fd, flags, length, move |offset, flags| {
        // SAFETY: the caller's own arguments; `offset` bytes of the buffer have been filled already.
        unsafe { libc::recv(fd, buffer.byte_add(offset), length - offset, flags) }
    })
}

/// `recvfrom(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    flags: c_int,
    from: *mut sockaddr,
    from_length: *mut socklen_t,
) -> ssize_t {
    receive("recvfrom", fd, flags, length, move |offset, flags| {
        // SAFETY: the caller's own arguments; `offset` bytes of the buffer have been filled already.
        unsafe { libc::recvfrom(fd, buffer.byte_add(offset), length - offset, flags, from, from_length) }
    })
}

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    /// Ends the process: a buffer would have overflowed.
    fn __chk_fail() -> !;
}

/// `recv(2)` of a program built with `_FORTIFY_SOURCE`.
///
/// # Safety
/// As the original.
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn __recv_chk(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    room: size_t,
    flags: c_int,
) -> ssize_t {
    if length > room {
        // SAFETY: it takes nothing and does not return, as the original.
        unsafe { __chk_fail() }
    }
    // SAFETY: the caller's own arguments.
    unsafe { recv(fd, buffer, length, flags) }
}

/// `recvfrom(2)` of a program built with `_FORTIFY_SOURCE`.
///
/// # Safety
/// As the original.
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn __recvfrom_chk(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    room: size_t,
    flags: c_int,
    from: *mut sockaddr,
    from_length: *mut socklen_t,
) -> ssize_t {
    if length > room {
        // SAFETY: it takes nothing and does not return, as the original.
        unsafe { __chk_fail() }
    }
    // SAFETY: the caller's own arguments.
    unsafe { recvfrom(fd, buffer, length, flags, from, from_length) }
}

/// `recvmsg(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's own header.
    let Some(length) = (unsafe { message::length(message) }) else {
        // SAFETY: the caller's own arguments; the kernel refuses them.
        return unsafe { libc::recvmsg(fd, message, flags) };
    };
    // SAFETY: `length` has accepted the header.
    let (name_room, control_room) = unsafe { ((*message).msg_namelen, (*message).msg_controllen) };
    let got = receive("recvmsg", fd, flags, length, |offset, flags| {
        // SAFETY: the caller's own arguments; `offset` bytes of the buffers have been filled already, and `rest`
        // lives through the call. Lengths that an earlier part has overwritten are put back.
        unsafe {
            if offset == 0 {
                return libc::recvmsg(fd, message, flags);
            }
            if (*message).msg_controllen > 0 && control_room > 0 {
                return 0; // ancillary data ends a message
            }
            let mut rest = Rest::after(message, offset);
            let mut header = rest.header(message);
            (header.msg_namelen, header.msg_controllen) = (name_room, control_room);
            let got = libc::recvmsg(fd, &mut header, flags);
            if got >= 0 {
                (*message).msg_namelen = header.msg_namelen;
                (*message).msg_controllen = header.msg_controllen;
                (*message).msg_flags = header.msg_flags;
            }
            got
        }
    });
    if got >= 0
        && let Some(host) = php_thread_host()
    {
        // SAFETY: a successful call has filled the header.
        unsafe {
            message::received_fds(message, |fd| host.reactor().opened(fd, Default::default(), |w| host.wake(w)));
        }
    }
    got
}

/// `recvmmsg(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut libc::mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    let waits = current_host().filter(|h| flags & MSG_DONTWAIT == 0 && h.reactor().blocking(fd) == Blocking::Yes);
    if waits.is_none() || messages.is_null() || flags & MSG_ERRQUEUE != 0 {
        // SAFETY: the caller's own arguments.
        let got = unsafe { libc::recvmmsg(fd, messages, count, flags as _, timeout) };
        if got > 0 {
            if let Some(host) = php_thread_host() {
                for i in 0..got as usize {
                    // SAFETY: the call has filled `got` headers.
                    unsafe {
                        message::received_fds(&raw const (*messages.add(i)).msg_hdr, |fd| {
                            host.reactor().opened(fd, Default::default(), |w| host.wake(w));
                        });
                    }
                }
            }
            forget_readiness(fd, Interest::READ);
        }
        return got;
    }
    // SAFETY: null or the caller's own timespec.
    let limit = unsafe { timeout.as_ref() }.map(duration);
    if limit == Some(None) {
        return fail::<i8>(libc::EINVAL).into();
    }
    let deadline = limit.flatten().map(wait::deadline_after);
    let mut flags = flags;
    let mut got = 0;
    while got < count.min(1024) {
        // SAFETY: the caller says that there are `count`.
        let one = unsafe { messages.add(got as usize) };
        // SAFETY: the caller's own header.
        let result = unsafe { recvmsg(fd, &raw mut (*one).msg_hdr, flags & !libc::MSG_WAITFORONE) };
        if result < 0 {
            break;
        }
        // SAFETY: as above.
        unsafe { (*one).msg_len = result as c_uint };
        got += 1;
        if flags & libc::MSG_WAITFORONE != 0 {
            flags |= MSG_DONTWAIT;
        }
        if deadline.is_some_and(|d| d <= Reactor::now()) {
            break;
        }
    }
    // SAFETY: not null if there is a deadline.
    if let (Some(deadline), Some(timeout)) = (deadline, unsafe { timeout.as_mut() }) {
        *timeout = timespec_of(deadline.saturating_sub(Reactor::now()));
    }
    if got == 0 && count > 0 { -1 } else { got as c_int }
}
