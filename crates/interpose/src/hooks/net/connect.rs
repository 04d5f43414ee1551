//! `connect`.

use super::socket::{SocketWait, poll_events, socket_option, with_nonblocking};
use crate::host::{Host, current_host, errno, fail, php_thread_host, set_errno};
use crate::wait::{self, Job};
use libc::{c_int, sockaddr, socklen_t};
use spindle_reactor::{Blocking, FdKind, Interest, InternalFd, Readiness};
use std::os::fd::{AsRawFd, RawFd};

/// Forgets the readiness of a socket that begins a new connection. Returns `result`.
fn begun(fd: RawFd, result: c_int) -> c_int {
    if let Some(host) = php_thread_host() {
        let error = errno();
        host.reactor().reset_readiness(fd);
        set_errno(error);
    }
    result
}

/// `connect(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller's own arguments.
    let original = || unsafe { libc::connect(fd, address, length) };
    let Some(host) = current_host() else { return begun(fd, original()) };
    let before = errno();
    let reactor = host.reactor();
    let kind = reactor.kind(fd);
    let waits = match kind {
        FdKind::Tcp => true,
        FdKind::Socket => socket_option(fd, libc::SO_TYPE) != libc::SOCK_DGRAM,
        _ => false,
    };
    if !waits || reactor.blocking(fd) == Blocking::No || address.is_null() {
        host.progressed();
        return begun(fd, original());
    }
    if reactor.may_be_shared(fd) {
        // SAFETY: the caller's own address, not null.
        return unsafe { on_worker(host, fd, address, length) };
    }
    let mut limit = SocketWait::new(fd, Interest::WRITE, "connect");
    loop {
        reactor.reset_readiness(fd);
        let result = with_nonblocking(fd, original);
        match (result, errno()) {
            (0, _) => {
                set_errno(before);
                return 0;
            }
            (_, libc::EINPROGRESS | libc::EALREADY) => {}
            // A Unix listener with a full queue: there is no event for room in it.
            (_, libc::EAGAIN) if kind == FdKind::Socket => match limit.pause(host, libc::EAGAIN) {
                Ok(()) => continue,
                Err(error) => return fail(error),
            },
            _ => return result,
        }
        return decided(host, fd, kind, before, &mut limit, original);
    }
}

/// Waits for the end of an attempt that the kernel has begun.
fn decided(
    host: &dyn Host,
    fd: RawFd,
    kind: FdKind,
    before: c_int,
    limit: &mut SocketWait,
    original: impl FnOnce() -> c_int,
) -> c_int {
    loop {
        if let Err(error) = limit.wait(host, libc::EINPROGRESS) {
            return fail(error);
        }
        let fresh = host.reactor().readiness(fd, Interest::WRITE).0 == Readiness::Ready;
        if fresh || poll_events(fd, libc::POLLOUT) != 0 {
            break;
        }
    }
    if kind == FdKind::Tcp {
        // Called again, now that it does not have to wait: as the call that would have waited, it takes the socket out
        // of its connecting state.
        let result = original();
        if result == 0 || errno() == libc::EISCONN {
            set_errno(before);
            return 0;
        }
        return result;
    }
    match socket_option(fd, libc::SO_ERROR) {
        0 => {
            set_errno(before);
            0
        }
        error => fail::<i8>(if error < 0 { errno() } else { error }).into(),
    }
}

/// Connects in the thread pool: another process may have the socket too, so its mode must not be changed.
///
/// # Safety
/// `address` is valid for `length` bytes.
unsafe fn on_worker(host: &dyn Host, fd: RawFd, address: *const sockaddr, length: socklen_t) -> c_int {
    let room = size_of::<libc::sockaddr_storage>();
    // SAFETY: all zeros is a valid address storage.
    let mut copy: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    if length as usize > room {
        return fail::<i8>(libc::EINVAL).into();
    }
    // SAFETY: valid for `length` bytes by contract, and they fit.
    unsafe {
        std::ptr::copy_nonoverlapping(address.cast::<u8>(), (&raw mut copy).cast(), length as usize);
    }
    let Ok(own) = InternalFd::duplicate(fd) else { return -1 };
    let mut limit = SocketWait::new(fd, Interest::WRITE, "connect");
    limit.load_timeout(host.reactor());
    host.reactor().reset_readiness(fd);
    let before = errno();
    let job = move || {
        // SAFETY: the descriptor and the address are the job's own.
        let result = unsafe { libc::connect(own.as_raw_fd(), (&raw const copy).cast(), length) };
        (result, errno())
    };
    match wait::for_job_or_abandon(host, limit.blocked_on(), true, job, |_| ()) {
        Job::Done((0, _)) => {
            set_errno(before);
            0
        }
        Job::Done((_, error)) => fail::<i8>(error).into(),
        Job::Abandoned(error) => fail(error),
        Job::NoWorker => fail::<i8>(libc::EAGAIN).into(),
    }
}
