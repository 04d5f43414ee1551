//! Calls that change the mode or the options of a descriptor.

use super::create::duplicated;
use super::locks::poll_record_lock;
use super::tracking::{DIRECT_SET, internal};
use crate::host::{current_host, errno, fail, php_thread_host, set_errno};
use libc::{c_int, c_void, socklen_t};
use spindle_reactor::{Blocking, FdKind, Interest, Readiness};
use std::os::fd::RawFd;
use std::sync::atomic::Ordering;

fn set_mode(fd: RawFd, nonblocking: bool) {
    if let Some(host) = php_thread_host() {
        let error = errno();
        host.reactor().set_blocking(fd, Some(if nonblocking { Blocking::No } else { Blocking::Yes }));
        set_errno(error);
    }
}

/// `fcntl(2)`. It is variadic in C: commands without an argument ignore the third one.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    if internal(fd).is_some() {
        return fail::<i8>(libc::EBADF).into();
    }
    // SAFETY: the caller's own arguments.
    let original = |command| unsafe { libc::fcntl(fd, command, argument) };
    match command {
        libc::F_SETFL => {
            let result = original(command);
            if result == 0 {
                set_mode(fd, argument as c_int & libc::O_NONBLOCK != 0);
                if argument as c_int & libc::O_DIRECT != 0 {
                    DIRECT_SET.store(true, Ordering::Relaxed);
                }
            }
            result
        }
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => duplicated(fd, original(command)),
        libc::F_SETLKW | libc::F_OFD_SETLKW => match current_host().filter(|host| !host.locks_for_process(fd)) {
            Some(host) => {
                let attempt = if command == libc::F_SETLKW { libc::F_SETLK } else { libc::F_OFD_SETLK };
                poll_record_lock(host, fd, "fcntl", || original(attempt))
            }
            None => original(command),
        },
        _ => original(command),
    }
}

/// `ioctl(2)`. It is variadic in C, as `fcntl`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn ioctl(fd: c_int, request: libc::Ioctl, argument: *mut c_void) -> c_int {
    // SAFETY: the caller's own arguments.
    let result = unsafe { libc::ioctl(fd, request, argument) };
    if request == libc::FIONBIO && result == 0 {
        // SAFETY: the kernel has read an int there.
        set_mode(fd, unsafe { argument.cast::<c_int>().read_unaligned() } != 0);
    }
    result
}

/// `setsockopt(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    const NEW_TIMEOUTS: std::ops::RangeInclusive<c_int> = 66..=67;
    const TCP_ULP: c_int = 31;
    // SAFETY: the caller's own arguments.
    let result = unsafe { libc::setsockopt(fd, level, name, value, length) };
    if result == 0
        && let Some(host) = php_thread_host()
    {
        let timeout = matches!(name, libc::SO_RCVTIMEO | libc::SO_SNDTIMEO) || NEW_TIMEOUTS.contains(&name);
        if level == libc::SOL_SOCKET && timeout {
            host.reactor().socket_option_set(fd);
        } else if level == libc::IPPROTO_TCP && name == TCP_ULP {
            // With TLS in the kernel a read ends at a record, so a short one does not mean that nothing is left.
            host.reactor().set_kind(fd, FdKind::Socket);
        }
    }
    result
}

/// `shutdown(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn shutdown(fd: c_int, how: c_int) -> c_int {
    // SAFETY: a system call without pointers.
    let result = unsafe { libc::shutdown(fd, how) };
    if let (Some(host), 0) = (php_thread_host(), result) {
        let error = errno();
        for side in [Interest::READ, Interest::WRITE] {
            host.reactor().record_readiness(fd, side, Readiness::Unknown);
        }
        set_errno(error);
    }
    result
}
