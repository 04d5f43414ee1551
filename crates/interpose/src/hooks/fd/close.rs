//! Calls that close descriptors, or replace what one refers to.

use super::create::duplicated;
use super::locks;
use super::refs::wait_for_jobs;
use super::tracking::{closed, internal};
use crate::host::{errno, fail, php_thread_host, set_errno};
use libc::{c_char, c_int, c_uint};

/// `close(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    if internal(fd).is_some() {
        return fail::<i8>(libc::EBADF).into();
    }
    about_to_close(fd); // before the call: another thread may get the number right after it
    // SAFETY: the caller's own descriptor.
    unsafe { libc::close(fd) }
}

fn replaced(old: c_int, new: c_int, replace: impl FnOnce() -> c_int) -> c_int {
    if internal(old).is_some() {
        return fail::<i8>(libc::EBADF).into();
    }
    if internal(new).is_some() {
        return fail::<i8>(libc::EBUSY).into();
    }
    if old != new {
        wait_for_jobs(new, new);
    }
    let result = replace();
    // `dup2` of a descriptor to itself changes nothing.
    if result >= 0 && old != new {
        locks::released();
        duplicated(old, result)
    } else {
        result
    }
}

/// `dup2(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn dup2(old: c_int, new: c_int) -> c_int {
    // SAFETY: a system call without pointers.
    replaced(old, new, || unsafe { libc::dup2(old, new) })
}

/// `dup3(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
    // SAFETY: a system call without pointers.
    replaced(old, new, || unsafe { libc::dup3(old, new, flags) })
}

fn range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    // SAFETY: a system call without pointers. (By number: older C libraries lack the wrapper.)
    unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) as c_int }
}

/// `close_range(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    const CLOEXEC: c_int = 4; // closes nothing
    let host = php_thread_host().filter(|_| flags & CLOEXEC == 0 && first <= last);
    let Some(host) = host else { return range(first, last, flags) };
    let limit = |fd: c_uint| c_int::try_from(fd).unwrap_or(c_int::MAX);
    wait_for_jobs(limit(first), limit(last));
    let mut from = first;
    for own in spindle_reactor::internal_fds().into_iter().map(|fd| fd as c_uint) {
        if own < from || own > last {
            continue;
        }
        if own > from && range(from, own - 1, flags) != 0 {
            return -1;
        }
        from = own + 1;
    }
    if from <= last && range(from, last, flags) != 0 {
        return -1;
    }
    let error = errno();
    host.reactor().forget_range(limit(first), limit(last), |waiter| host.wake(waiter));
    locks::released();
    set_errno(error);
    0
}

/// `closefrom(3)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn closefrom(first: c_int) {
    let first = first.max(0);
    // SAFETY: as the original.
    if unsafe { close_range(first as c_uint, c_uint::MAX, 0) } == 0 {
        return;
    }
    // SAFETY: a call without pointers.
    let limit = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
    for fd in first..c_int::try_from(limit).unwrap_or(c_int::MAX).max(first) {
        // SAFETY: the caller wants them all closed.
        unsafe { close(fd) };
    }
}

/// Returns the descriptor of a stream, or -1. Keeps `errno`.
///
/// # Safety
/// `stream` is null or an open stream.
unsafe fn under(stream: *mut libc::FILE) -> c_int {
    if stream.is_null() {
        return -1;
    }
    let error = errno();
    // SAFETY: an open stream, by contract.
    let fd = unsafe { libc::fileno(stream) };
    set_errno(error);
    fd
}

fn about_to_close(fd: c_int) {
    wait_for_jobs(fd, fd);
    closed(fd);
}

/// `fclose(3)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn fclose(stream: *mut libc::FILE) -> c_int {
    // SAFETY: the caller's own stream.
    unsafe {
        about_to_close(under(stream));
        libc::fclose(stream)
    }
}

/// `freopen(3)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn freopen(path: *const c_char, mode: *const c_char, stream: *mut libc::FILE) -> *mut libc::FILE {
    // SAFETY: the caller's own arguments.
    unsafe {
        about_to_close(under(stream));
        libc::freopen(path, mode, stream)
    }
}

/// `freopen64(3)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn freopen64(
    path: *const c_char,
    mode: *const c_char,
    stream: *mut libc::FILE,
) -> *mut libc::FILE {
    // SAFETY: the caller's own arguments.
    unsafe {
        about_to_close(under(stream));
        libc::freopen64(path, mode, stream)
    }
}

/// `closedir(3)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn closedir(directory: *mut libc::DIR) -> c_int {
    // SAFETY: the caller's own open directory, or null, which the original refuses.
    unsafe {
        if !directory.is_null() {
            closed(libc::dirfd(directory)); // jobs hold no reference to a directory stream
        }
        libc::closedir(directory)
    }
}
