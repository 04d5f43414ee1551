//! `accept` and `accept4`.

use super::socket::{SocketWait, forget_readiness, poll_events, socket_option, with_nonblocking};
use crate::host::{Host, current_host, errno, fail, php_thread_host, set_errno};
use crate::wait::{self, Job};
use libc::{c_int, sockaddr, socklen_t};
use spindle_reactor::{Blocking, FdKind, Interest, InternalFd, Opened, Readiness};
use std::os::fd::{AsRawFd, RawFd};

/// The caller's buffer for the address of the peer.
#[derive(Clone, Copy)]
struct Peer {
    address: *mut sockaddr,
    length: *mut socklen_t,
}

/// `accept(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { accepting("accept", fd, Peer { address, length }, 0) }
}

/// `accept4(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn accept4(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { accepting("accept4", fd, Peer { address, length }, flags) }
}

/// # Safety
/// `peer` is as `accept(2)` wants it.
unsafe fn accepting(call: &'static str, fd: RawFd, peer: Peer, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    let original = || unsafe { libc::accept4(fd, peer.address, peer.length, flags) };
    let Some(host) = current_host() else {
        let new = original();
        forget_readiness(fd, Interest::READ);
        if let (Some(host), 0..) = (php_thread_host(), new) {
            track_accepted(host, fd, new, flags);
        }
        return new;
    };
    let before = errno();
    let reactor = host.reactor();
    if !matches!(reactor.kind(fd), FdKind::Tcp | FdKind::Socket) {
        return original();
    }
    if reactor.blocking(fd) == Blocking::No {
        let new = original();
        let error = errno();
        taken(host, fd, new, flags);
        set_errno(error);
        wait::made(host, fd, new < 0);
        return new;
    }
    let shared = reactor.may_be_shared(fd);
    let mut limit = SocketWait::new(fd, Interest::READ, call);
    let mut waited = false;
    loop {
        let mut level = host.reactor().readiness(fd, Interest::READ).0;
        if level == Readiness::Unknown && poll_events(fd, libc::POLLIN) == 0 {
            if socket_option(fd, libc::SO_ACCEPTCONN) != 1 {
                return original(); // not a listener: the call fails immediately
            }
            wait::record_not_ready(host, fd, Interest::READ);
            level = Readiness::NotReady;
        }
        if level != Readiness::NotReady {
            let new = if shared {
                // SAFETY: the caller's own pointers.
                unsafe { on_worker(host, fd, peer, flags, &mut limit) }
            } else {
                with_nonblocking(fd, original)
            };
            let error = errno();
            taken(host, fd, new, flags);
            set_errno(error);
            if new >= 0 || error != libc::EAGAIN || shared {
                if new >= 0 {
                    set_errno(before);
                }
                if !waited {
                    wait::yield_after(host, new < 0);
                }
                return new;
            }
        }
        waited = true;
        if let Err(error) = limit.wait(host, libc::EAGAIN) {
            return fail(error);
        }
    }
}

/// Records the readiness that an attempt on the listener has shown, and tracks the new connection.
fn taken(host: &dyn Host, listener: RawFd, new: RawFd, flags: c_int) {
    let empty = new < 0 && errno() == libc::EAGAIN;
    host.reactor().record_readiness(
        listener,
        Interest::READ,
        if empty { Readiness::NotReady } else { Readiness::Unknown },
    );
    if new >= 0 {
        track_accepted(host, listener, new, flags);
    }
}

/// Tracks a new connection. What it inherits from the listener need not be asked for.
fn track_accepted(host: &dyn Host, listener: RawFd, new: RawFd, flags: c_int) {
    let reactor = host.reactor();
    let kind = reactor.kind(listener);
    let mode = if flags & libc::SOCK_NONBLOCK != 0 { Blocking::No } else { Blocking::Yes };
    // A TCP connection inherits the timeouts of its listener.
    let timeouts = (kind == FdKind::Tcp)
        .then(|| [Interest::READ, Interest::WRITE].map(|interest| reactor.socket_timeout(listener, interest)));
    let known = Opened { kind: Some(kind), blocking: Some(mode), timeouts, own: true };
    reactor.opened(new, known, |waiter| host.wake(waiter));
}

struct Accepted {
    result: RawFd,
    error: c_int,
    address: libc::sockaddr_storage,
    length: socklen_t,
}

/// Accepts in the thread pool: another process accepts from the listener too, so it may be faster, and the mode of the
/// listener must not be changed. A connection is there, or was a moment ago.
///
/// # Safety
/// `peer` is as `accept(2)` wants it.
unsafe fn on_worker(host: &dyn Host, fd: RawFd, peer: Peer, flags: c_int, limit: &mut SocketWait) -> RawFd {
    let Ok(own) = InternalFd::duplicate(fd) else { return -1 };
    limit.load_timeout(host.reactor());
    let job = move || {
        // SAFETY: all zeros is a valid address storage.
        let mut address: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::sockaddr_storage>() as socklen_t;
        // SAFETY: the descriptor and the storage are the job's own.
        let result = unsafe { libc::accept4(own.as_raw_fd(), (&raw mut address).cast(), &mut length, flags) };
        Accepted { result, error: errno(), address, length }
    };
    let undo = |late: Accepted| {
        if late.result >= 0 {
            // SAFETY: no other code has the descriptor.
            unsafe { libc::close(late.result) };
        }
    };
    match wait::for_job_or_abandon(host, limit.blocked_on(), true, job, undo) {
        Job::Done(done) if done.result >= 0 => {
            if !peer.address.is_null() && !peer.length.is_null() {
                // SAFETY: `length` says how many bytes the caller has for the address, as accept(2) wants it.
                unsafe {
                    let bytes = (*peer.length).min(done.length) as usize;
                    std::ptr::copy_nonoverlapping((&raw const done.address).cast(), peer.address.cast::<u8>(), bytes);
                    *peer.length = done.length;
                }
            }
            done.result
        }
        Job::Done(done) => fail::<i8>(done.error).into(),
        Job::Abandoned(error) => fail(error),
        // In place it could block without bound, if another process has been faster.
        Job::NoWorker => fail::<i8>(libc::EAGAIN).into(),
    }
}
