//! Reading and changing the attributes of files: `stat`, `access`, `chmod`, `chown`, `utime`, `truncate`.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::job::{is_absolute, on_worker, path_only, with_path};
use crate::hooks::fd::refs::FdRef;
use crate::host::{Host, current_host, errno, fail, set_errno};
use libc::{c_char, c_int, c_uint, gid_t, mode_t, off_t, timespec, timeval, uid_t, utimbuf};
use spindle_reactor::{FdKind, syscalls};
use std::mem::MaybeUninit;

/// # Safety
/// As `fstatat(2)`.
unsafe fn stat_at(call: &'static str, at: c_int, path: *const c_char, to: *mut libc::stat, flags: c_int) -> c_int {
    let ask = move |at, path| {
        let mut found = MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: a path and a place of the job's.
        let result = unsafe { libc::fstatat(at, path, found.as_mut_ptr(), flags) };
        (result as isize, found)
    };
    // SAFETY: by contract.
    match unsafe { with_path(call, at, path, ask) } {
        Some((0, found)) => {
            // SAFETY: filled by the call; the caller's place.
            unsafe { to.write(found.assume_init()) };
            0
        }
        Some((failed, _)) => failed as c_int,
        // SAFETY: the caller's own arguments.
        None => unsafe { libc::fstatat(at, path, to, flags) },
    }
}

/// `stat(2)`.
pub unsafe extern "C" fn stat(path: *const c_char, to: *mut libc::stat) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { stat_at("stat", libc::AT_FDCWD, path, to, 0) }
}

/// `lstat(2)`.
pub unsafe extern "C" fn lstat(path: *const c_char, to: *mut libc::stat) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { stat_at("lstat", libc::AT_FDCWD, path, to, libc::AT_SYMLINK_NOFOLLOW) }
}

/// `fstatat(2)`.
pub unsafe extern "C" fn fstatat(at: c_int, path: *const c_char, to: *mut libc::stat, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { stat_at("fstatat", at, path, to, flags) }
}

/// Returns `true` for the versions of `struct stat` in old binaries that are the present one.
fn is_present(version: c_int) -> bool {
    (0..=1).contains(&version)
}

/// `stat` as binaries built with an older C library call it.
pub unsafe extern "C" fn xstat(version: c_int, path: *const c_char, to: *mut libc::stat) -> c_int {
    // SAFETY: the caller's own arguments.
    if is_present(version) { unsafe { stat(path, to) } } else { fail(libc::EINVAL) }
}

/// `lstat` as binaries built with an older C library call it.
pub unsafe extern "C" fn lxstat(version: c_int, path: *const c_char, to: *mut libc::stat) -> c_int {
    // SAFETY: the caller's own arguments.
    if is_present(version) { unsafe { lstat(path, to) } } else { fail(libc::EINVAL) }
}

/// `fstatat` as binaries built with an older C library call it.
pub unsafe extern "C" fn fxstatat(
    version: c_int,
    at: c_int,
    path: *const c_char,
    to: *mut libc::stat,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's own arguments.
    if is_present(version) { unsafe { fstatat(at, path, to, flags) } } else { fail(libc::EINVAL) }
}

/// `statx(2)`.
pub unsafe extern "C" fn statx(
    at: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    to: *mut libc::statx,
) -> c_int {
    let ask = move |at, path| {
        let mut found = MaybeUninit::<libc::statx>::zeroed();
        // SAFETY: a path and a place of the job's.
        let result = unsafe { syscalls::statx(at, path, flags, mask, found.as_mut_ptr()) };
        (result as isize, found)
    };
    // SAFETY: the caller's own arguments.
    match unsafe { with_path("statx", at, path, ask) } {
        Some((0, found)) => {
            // SAFETY: filled by the call; the caller's place.
            unsafe { to.write(found.assume_init()) };
            0
        }
        Some((failed, _)) => failed as c_int,
        // SAFETY: the caller's own arguments.
        None => unsafe { syscalls::statx(at, path, flags, mask, to) },
    }
}

/// Queries the file system of a path, by a descriptor opened with `O_PATH`.
///
/// # Safety
/// `ask` fills the place that it is given when it answers 0; `to` is the caller's place.
unsafe fn of_file_system<T: Copy + Send + 'static>(
    call: &'static str,
    path: *const c_char,
    to: *mut T,
    ask: unsafe extern "C" fn(c_int, *mut T) -> c_int,
    in_place: unsafe extern "C" fn(*const c_char, *mut T) -> c_int,
) -> c_int {
    let look = move |at, path| {
        let mut found = MaybeUninit::<T>::zeroed();
        // SAFETY: a path and a place of the job's; the descriptor is new.
        unsafe {
            let fd = libc::openat(at, path, libc::O_PATH | libc::O_CLOEXEC);
            if fd < 0 {
                return (-1, found);
            }
            let result = ask(fd, found.as_mut_ptr());
            let error = errno();
            libc::close(fd);
            set_errno(error);
            (result as isize, found)
        }
    };
    // SAFETY: by contract.
    match unsafe { with_path(call, libc::AT_FDCWD, path, look) } {
        Some((0, found)) => {
            // SAFETY: filled by the call; the caller's place.
            unsafe { to.write(found.assume_init()) };
            0
        }
        Some((failed, _)) => failed as c_int,
        // SAFETY: the caller's own arguments.
        None => unsafe { in_place(path, to) },
    }
}

/// `statfs(2)`.
pub unsafe extern "C" fn statfs(path: *const c_char, to: *mut libc::statfs) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { of_file_system("statfs", path, to, libc::fstatfs, libc::statfs) }
}

/// `statvfs(3)`.
pub unsafe extern "C" fn statvfs(path: *const c_char, to: *mut libc::statvfs) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { of_file_system("statvfs", path, to, libc::fstatvfs, libc::statvfs) }
}

/// `access(2)`.
pub unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { faccessat(libc::AT_FDCWD, path, mode, 0) }
}

/// `eaccess(3)`.
pub unsafe extern "C" fn eaccess(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { faccessat(libc::AT_FDCWD, path, mode, libc::AT_EACCESS) }
}

/// `faccessat(2)`.
pub unsafe extern "C" fn faccessat(at: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments, on the worker a path of the job's.
    unsafe {
        path_only("access", at, path, move |at, path| libc::faccessat(at, path, mode, flags))
            .unwrap_or_else(|| libc::faccessat(at, path, mode, flags))
    }
}

/// `chmod(2)`.
pub unsafe extern "C" fn chmod(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { fchmodat(libc::AT_FDCWD, path, mode, 0) }
}

/// `fchmodat(2)`.
pub unsafe extern "C" fn fchmodat(at: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments, on the worker a path of the job's.
    unsafe {
        path_only("chmod", at, path, move |at, path| libc::fchmodat(at, path, mode, flags))
            .unwrap_or_else(|| libc::fchmodat(at, path, mode, flags))
    }
}

/// `chown(2)`.
pub unsafe extern "C" fn chown(path: *const c_char, user: uid_t, group: gid_t) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { fchownat(libc::AT_FDCWD, path, user, group, 0) }
}

/// `lchown(2)`.
pub unsafe extern "C" fn lchown(path: *const c_char, user: uid_t, group: gid_t) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { fchownat(libc::AT_FDCWD, path, user, group, libc::AT_SYMLINK_NOFOLLOW) }
}

/// `fchownat(2)`.
pub unsafe extern "C" fn fchownat(at: c_int, path: *const c_char, user: uid_t, group: gid_t, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments, on the worker a path of the job's.
    unsafe {
        path_only("chown", at, path, move |at, path| libc::fchownat(at, path, user, group, flags))
            .unwrap_or_else(|| libc::fchownat(at, path, user, group, flags))
    }
}

/// `utime(2)`.
pub unsafe extern "C" fn utime(path: *const c_char, times: *const utimbuf) -> c_int {
    let spec = |seconds| timespec { tv_sec: seconds, tv_nsec: 0 };
    // SAFETY: null or the caller's times.
    let times = unsafe { times.as_ref() }.map(|t| [spec(t.actime), spec(t.modtime)]);
    // SAFETY: the caller's own path.
    unsafe { set_times("utime", libc::AT_FDCWD, path, times, 0) }
}

/// # Safety
/// `times` is null or points to two.
unsafe fn from_timeval(times: *const timeval) -> Option<[timespec; 2]> {
    if times.is_null() {
        return None;
    }
    // An invalid number of microseconds becomes an invalid number of nanoseconds.
    let spec = |t: timeval| timespec { tv_sec: t.tv_sec, tv_nsec: t.tv_usec.saturating_mul(1_000) };
    // SAFETY: by contract.
    Some(unsafe { [spec(*times), spec(*times.add(1))] })
}

/// `utimes(2)`.
pub unsafe extern "C" fn utimes(path: *const c_char, times: *const timeval) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { set_times("utimes", libc::AT_FDCWD, path, from_timeval(times), 0) }
}

/// `lutimes(3)`.
pub unsafe extern "C" fn lutimes(path: *const c_char, times: *const timeval) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { set_times("lutimes", libc::AT_FDCWD, path, from_timeval(times), libc::AT_SYMLINK_NOFOLLOW) }
}

/// `utimensat(2)`.
pub unsafe extern "C" fn utimensat(at: c_int, path: *const c_char, times: *const timespec, flags: c_int) -> c_int {
    // SAFETY: null or the caller's two times.
    let times = if times.is_null() { None } else { Some(unsafe { [*times, *times.add(1)] }) };
    // SAFETY: the caller's own path.
    unsafe { set_times("utimensat", at, path, times, flags) }
}

/// # Safety
/// `path` is as `utimensat(2)` wants it.
unsafe fn set_times(
    call: &'static str,
    at: c_int,
    path: *const c_char,
    times: Option<[timespec; 2]>,
    flags: c_int,
) -> c_int {
    let set = move |at, path| {
        let times = times.as_ref().map_or(std::ptr::null(), |t| t.as_ptr());
        // SAFETY: a path that lives through the call, and times of ours.
        unsafe { libc::utimensat(at, path, times, flags) }
    };
    // SAFETY: by contract.
    unsafe { path_only(call, at, path, set) }.unwrap_or_else(|| set(at, path))
}

/// `truncate(2)`.
pub unsafe extern "C" fn truncate(path: *const c_char, length: off_t) -> c_int {
    // SAFETY: the caller's own arguments, on the worker a path of the job's.
    unsafe {
        if is_absolute(path)
            && let Some(result) =
                path_only("truncate", libc::AT_FDCWD, path, move |_, path| libc::truncate(path, length))
        {
            return result;
        }
        libc::truncate(path, length)
    }
}

/// `ftruncate(2)`.
pub unsafe extern "C" fn ftruncate(fd: c_int, length: off_t) -> c_int {
    // SAFETY: a system call without pointers.
    let cut = move || unsafe { libc::ftruncate(fd, length) };
    let is_for_worker = |host: &&dyn Host| host.reactor().kind(fd) == FdKind::File && !host.keeps_files_in_place();
    let Some(host) = current_host().filter(is_for_worker) else { return cut() };
    let fd_ref = FdRef::new(host, fd);
    let done = on_worker(host, "ftruncate", errno(), move || {
        let result = cut();
        drop(fd_ref);
        (result as isize, ())
    });
    done.map_or_else(cut, |(result, ())| result as c_int)
}
