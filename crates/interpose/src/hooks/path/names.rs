//! Creating, moving and removing names: `rename`, `link`, `unlink`, `mkdir`, `readlink`, `realpath`, `mkstemp`.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::job::{is_absolute, path_only, two_paths, with_path};
use crate::hooks::fd::tracking::opened;
use crate::host::errno;
use libc::{c_char, c_int, mode_t, size_t, ssize_t};
use spindle_reactor::{Blocking, FdKind, Opened};
use std::ffi::{CStr, CString};

/// `rename(2)`.
pub unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { renameat(libc::AT_FDCWD, from, libc::AT_FDCWD, to) }
}

/// `renameat(2)`.
pub unsafe extern "C" fn renameat(at: c_int, from: *const c_char, new_at: c_int, to: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments, on the worker paths of the job's.
    unsafe {
        two_paths("rename", (at, from), (new_at, to), |at, from, new_at, to| libc::renameat(at, from, new_at, to))
            .unwrap_or_else(|| libc::renameat(at, from, new_at, to))
    }
}

/// `link(2)`.
pub unsafe extern "C" fn link(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { linkat(libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0) }
}

/// `linkat(2)`.
pub unsafe extern "C" fn linkat(
    at: c_int,
    from: *const c_char,
    new_at: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's own arguments, on the worker paths of the job's.
    unsafe {
        let link = move |at, from, new_at, to| libc::linkat(at, from, new_at, to, flags);
        two_paths("link", (at, from), (new_at, to), link).unwrap_or_else(|| link(at, from, new_at, to))
    }
}

/// `symlink(2)`.
pub unsafe extern "C" fn symlink(target: *const c_char, path: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { symlinkat(target, libc::AT_FDCWD, path) }
}

/// `symlinkat(2)`.
pub unsafe extern "C" fn symlinkat(target: *const c_char, at: c_int, path: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments, on the worker texts of the job's.
    unsafe {
        if !target.is_null() {
            let text: CString = CStr::from_ptr(target).to_owned();
            let link = move |at, path| libc::symlinkat(text.as_ptr(), at, path);
            if let Some(result) = path_only("symlink", at, path, link) {
                return result;
            }
        }
        libc::symlinkat(target, at, path)
    }
}

/// `readlink(2)`.
pub unsafe extern "C" fn readlink(path: *const c_char, to: *mut c_char, room: size_t) -> ssize_t {
    // SAFETY: the caller's own arguments.
    unsafe { readlinkat(libc::AT_FDCWD, path, to, room) }
}

/// `readlinkat(2)`.
pub unsafe extern "C" fn readlinkat(at: c_int, path: *const c_char, to: *mut c_char, room: size_t) -> ssize_t {
    // No link is longer than a page.
    let most = room.min(1 << 13);
    let read = move |at, path| {
        let mut text = vec![0u8; most];
        // SAFETY: a path and a place of the job's.
        let length = unsafe { libc::readlinkat(at, path, text.as_mut_ptr().cast(), most) };
        (length, text)
    };
    // SAFETY: the caller's own path. (No room at all is the kernel's to refuse.)
    match if room == 0 { None } else { unsafe { with_path("readlink", at, path, read) } } {
        Some((length, text)) => {
            if length > 0 {
                // SAFETY: the caller's place has room for `length` bytes, and `length` bytes were read.
                unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), length as usize) };
            }
            length
        }
        // SAFETY: the caller's own arguments.
        None => unsafe { libc::readlinkat(at, path, to, room) },
    }
}

/// `unlink(2)`.
pub unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: the caller's own argument.
    unsafe { unlinkat(libc::AT_FDCWD, path, 0) }
}

/// `rmdir(2)`.
pub unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    // SAFETY: the caller's own argument.
    unsafe { unlinkat(libc::AT_FDCWD, path, libc::AT_REMOVEDIR) }
}

/// `unlinkat(2)`.
pub unsafe extern "C" fn unlinkat(at: c_int, path: *const c_char, flags: c_int) -> c_int {
    let call = if flags & libc::AT_REMOVEDIR != 0 { "rmdir" } else { "unlink" };
    // SAFETY: the caller's own arguments, on the worker a path of the job's.
    unsafe {
        path_only(call, at, path, move |at, path| libc::unlinkat(at, path, flags))
            .unwrap_or_else(|| libc::unlinkat(at, path, flags))
    }
}

/// `mkdir(2)`.
pub unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { mkdirat(libc::AT_FDCWD, path, mode) }
}

/// `mkdirat(2)`.
pub unsafe extern "C" fn mkdirat(at: c_int, path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's own arguments, on the worker a path of the job's.
    unsafe {
        path_only("mkdir", at, path, move |at, path| libc::mkdirat(at, path, mode))
            .unwrap_or_else(|| libc::mkdirat(at, path, mode))
    }
}

/// `mkstemp(3)`.
pub unsafe extern "C" fn mkstemp(template: *mut c_char) -> c_int {
    const KNOWN: Opened = Opened { kind: Some(FdKind::File), blocking: Some(Blocking::Yes), timeouts: None, own: true };
    let make = |_: c_int, path: *const c_char| {
        // SAFETY: the job's own copy, which is written to and known only to it.
        unsafe {
            let mut name = CStr::from_ptr(path).to_owned().into_bytes_with_nul();
            let fd = libc::mkstemp(name.as_mut_ptr().cast());
            (fd as isize, name)
        }
    };
    // SAFETY: the caller's own template.
    let done =
        unsafe { if is_absolute(template) { with_path("mkstemp", libc::AT_FDCWD, template, make) } else { None } };
    match done {
        Some((fd, name)) => {
            if fd >= 0 {
                // SAFETY: as long as the caller's own.
                unsafe { std::ptr::copy_nonoverlapping(name.as_ptr(), template.cast(), name.len()) };
            }
            opened(fd as c_int, KNOWN)
        }
        // SAFETY: the caller's own argument.
        None => opened(unsafe { libc::mkstemp(template) }, KNOWN),
    }
}

/// `realpath(3)`. A relative path is made absolute first, which does not change the result.
pub unsafe extern "C" fn realpath(path: *const c_char, to: *mut c_char) -> *mut c_char {
    // SAFETY: the caller's own arguments.
    let whole =
        unsafe { if path.is_null() || *path == 0 || is_absolute(path) { None } else { from_working_directory(path) } };
    let start = whole.as_ref().map_or(path, |whole| whole.as_ptr());
    let find = |_: c_int, path: *const c_char| {
        // SAFETY: a path of the job's; the answer is memory of malloc's.
        let found = unsafe { libc::realpath(path, std::ptr::null_mut()) };
        (if found.is_null() { -1 } else { 0 }, found.expose_provenance())
    };
    // SAFETY: a C string; one that is still relative is used in place.
    let done = unsafe { if is_absolute(start) { with_path("realpath", libc::AT_FDCWD, start, find) } else { None } };
    match done {
        Some((0, found)) => {
            let found = std::ptr::with_exposed_provenance_mut::<c_char>(found);
            if to.is_null() {
                return found;
            }
            // SAFETY: the caller's place has room for any path; what was found is freed once.
            unsafe {
                libc::strcpy(to, found);
                libc::free(found.cast());
            }
            to
        }
        Some(_) => {
            if !to.is_null() && errno() != libc::ENOMEM {
                // As glibc does, it writes the part that could not be resolved there.
                // SAFETY: the caller's own arguments: it fails again, or has come to be.
                return unsafe { libc::realpath(path, to) };
            }
            std::ptr::null_mut()
        }
        // SAFETY: the caller's own arguments.
        None => unsafe { libc::realpath(path, to) },
    }
}

/// # Safety
/// `path` is a C string.
unsafe fn from_working_directory(path: *const c_char) -> Option<CString> {
    let mut whole = std::env::current_dir().ok()?.into_os_string().into_encoded_bytes();
    whole.push(b'/');
    // SAFETY: by contract.
    whole.extend_from_slice(unsafe { CStr::from_ptr(path) }.to_bytes());
    CString::new(whole).ok()
}

/// `realpath` as `_FORTIFY_SOURCE` calls it.
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn realpath_chk(path: *const c_char, to: *mut c_char, room: size_t) -> *mut c_char {
    unsafe extern "C" {
        fn __realpath_chk(path: *const c_char, to: *mut c_char, room: size_t) -> *mut c_char;
    }
    if room < libc::PATH_MAX as usize {
        // SAFETY: the caller's own arguments; it ends the process.
        return unsafe { __realpath_chk(path, to, room) };
    }
    // SAFETY: the caller's own arguments.
    unsafe { realpath(path, to) }
}
