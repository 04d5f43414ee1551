//! `send` and its relatives.

use super::message::{self, Rest};
use super::socket::{SocketWait, forget_readiness, is_stream, not_suspended, poll_events, socket_option};
use crate::host::{Host, current_host, errno, fail, set_errno};
use crate::wait;
use crate::wait::turns::{self, Turn};
use libc::{
    MSG_DONTWAIT, MSG_FASTOPEN, MSG_NOSIGNAL, c_int, c_uint, c_void, msghdr, size_t, sockaddr, socklen_t, ssize_t,
};
use spindle_reactor::{Blocking, FdKind, Interest, Reactor, Readiness};
use std::os::fd::RawFd;

/// Sends. `attempt(offset, flags)` calls the original for the rest after `offset` bytes. `named`: the call gives the
/// destination.
#[inline(always)]
fn transmit(
    call: &'static str,
    fd: RawFd,
    flags: c_int,
    length: usize,
    named: bool,
    attempt: impl Fn(usize, c_int) -> ssize_t,
) -> ssize_t {
    let Some(host) = current_host() else { return not_suspended(fd, Interest::WRITE, || attempt(0, flags)) };
    let reactor = host.reactor();
    let waits = flags & (MSG_DONTWAIT | MSG_FASTOPEN) == 0 && reactor.blocking(fd) == Blocking::Yes;
    if !waits {
        let sent = attempt(0, flags);
        let full = sent < 0 && errno() == libc::EAGAIN;
        record(reactor, fd, full);
        if sent > 0 {
            host.progressed();
        }
        if full {
            set_errno(wait::nonblocking_error(host, libc::EAGAIN));
        }
        return sent;
    }
    let before = errno();
    let turn = match turns::enter(host, fd, call) {
        Ok(turn) => turn,
        Err(error) => return fail::<i8>(error).into(),
    };
    let sent = attempt(0, flags | MSG_DONTWAIT);
    let full = sent < 0 && errno() == libc::EAGAIN;
    record(reactor, fd, full);
    if !full && (sent < 0 || sent as usize >= length) {
        turns::leave(host, turn);
        return sent;
    }
    rest(host, call, fd, flags, length, named, sent, before, turn, attempt)
}

/// Records the readiness that a call has shown.
#[inline]
fn record(reactor: &Reactor, fd: RawFd, full: bool) {
    reactor.record_readiness(fd, Interest::WRITE, if full { Readiness::NotReady } else { Readiness::Unknown });
}

/// Continues until everything is sent, once the buffer is full.
#[allow(clippy::too_many_arguments)] // the cold half of `transmit`
#[cold]
#[inline(never)]
fn rest(
    host: &dyn Host,
    call: &'static str,
    fd: RawFd,
    flags: c_int,
    length: usize,
    named: bool,
    sent: ssize_t,
    before: c_int,
    mut turn: Turn,
    attempt: impl Fn(usize, c_int) -> ssize_t,
) -> ssize_t {
    let mut done = sent.max(0) as usize;
    let mut full = sent < 0;
    let mut limit = SocketWait::new(fd, Interest::WRITE, call);
    // A Unix datagram to a full queue: the readiness of the sender does not say when there is room in it, and each
    // attempt causes an edge.
    let blind =
        named && host.reactor().kind(fd) == FdKind::Socket && socket_option(fd, libc::SO_DOMAIN) == libc::AF_UNIX;
    if is_stream(host.reactor(), fd) {
        turns::take(host, &mut turn, fd); // a datagram is sent in one piece
    }
    let error = loop {
        if full {
            let waited = if blind { limit.pause(host, libc::EAGAIN) } else { limit.wait(host, libc::EAGAIN) };
            if let Err(error) = waited {
                break if done > 0 { 0 } else { error };
            }
        }
        if done > 0 {
            // A part is sent: an error is for the next call of user code, and so is SIGPIPE.
            let seen = poll_events(fd, libc::POLLOUT);
            if seen & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) != 0 {
                break 0;
            }
            if seen & libc::POLLOUT == 0 {
                wait::record_not_ready(host, fd, Interest::WRITE);
                full = true;
                continue;
            }
        }
        let quiet = if done > 0 { MSG_NOSIGNAL } else { 0 };
        let sent = attempt(done, flags | MSG_DONTWAIT | quiet);
        full = sent < 0 && errno() == libc::EAGAIN;
        record(host.reactor(), fd, full);
        if sent < 0 && !full {
            break if done > 0 { 0 } else { errno() };
        }
        done += sent.max(0) as usize;
        if done >= length || sent == 0 {
            break 0;
        }
    };
    turns::leave(host, turn);
    if error != 0 {
        return fail::<i8>(error).into();
    }
    set_errno(before);
    done as ssize_t
}

/// `send(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn send(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    transmit("send", fd, flags, length, false, move |offset, flags| {
        // SAFETY: the caller's own arguments; `offset` bytes of the buffer have been sent already.
        unsafe { libc::send(fd, buffer.byte_add(offset), length - offset, flags) }
    })
}

/// `sendto(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn sendto(
    fd: c_int,
    buffer: *const c_void,
    length: size_t,
    flags: c_int,
    to: *const sockaddr,
    to_length: socklen_t,
) -> ssize_t {
    transmit("sendto", fd, flags, length, !to.is_null(), move |offset, flags| {
        // SAFETY: the caller's own arguments; `offset` bytes of the buffer have been sent already.
        unsafe { libc::sendto(fd, buffer.byte_add(offset), length - offset, flags, to, to_length) }
    })
}

/// `sendmsg(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's own header.
    let Some(length) = (unsafe { message::length(message) }) else {
        // SAFETY: the caller's own arguments; the kernel refuses them.
        return unsafe { libc::sendmsg(fd, message, flags) };
    };
    // SAFETY: `length` has accepted the header.
    let named = unsafe { !(*message).msg_name.is_null() };
    transmit("sendmsg", fd, flags, length, named, |offset, flags| {
        // SAFETY: the caller's own arguments; `offset` bytes of the buffers have been sent already, and `rest`
        // lives through the call.
        unsafe {
            if offset == 0 {
                return libc::sendmsg(fd, message, flags);
            }
            let mut rest = Rest::after(message, offset);
            let mut header = rest.header(message);
            // It was sent with the first part.
            header.msg_control = std::ptr::null_mut();
            header.msg_controllen = 0;
            libc::sendmsg(fd, &header, flags)
        }
    })
}

/// `sendmmsg(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn sendmmsg(fd: c_int, messages: *mut libc::mmsghdr, count: c_uint, flags: c_int) -> c_int {
    let waits = current_host().filter(|h| flags & MSG_DONTWAIT == 0 && h.reactor().blocking(fd) == Blocking::Yes);
    if waits.is_none() || messages.is_null() {
        // SAFETY: the caller's own arguments.
        let sent = unsafe { libc::sendmmsg(fd, messages, count, flags as _) };
        forget_readiness(fd, Interest::WRITE);
        return sent;
    }
    let mut sent = 0;
    while sent < count.min(1024) {
        // SAFETY: the caller says that there are `count`.
        let one = unsafe { messages.add(sent as usize) };
        // SAFETY: the caller's own header.
        let result = unsafe { sendmsg(fd, &raw const (*one).msg_hdr, flags) };
        if result < 0 {
            break;
        }
        // SAFETY: as above.
        unsafe { (*one).msg_len = result as c_uint };
        sent += 1;
    }
    if sent == 0 && count > 0 { -1 } else { sent as c_int }
}
