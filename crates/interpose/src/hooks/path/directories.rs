//! Reading directories: `opendir`, `scandir`, `glob`.
//!
//! `readdir` does not tell in advance that it would wait. So the job that opens a directory reads its entries once, and
//! the `readdir`s that follow find them cached.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::job::{is_absolute, with_path};
use crate::hooks::fd::tracking::opened;
use crate::host::{errno, set_errno};
use libc::{DIR, c_char, c_int, c_void};
use spindle_reactor::{Blocking, FdKind, Opened};

/// Reads all entries of the directory, and rewinds it.
fn read_ahead(fd: c_int) {
    let mut room = vec![0u64; 8 << 10];
    // SAFETY: a place of that size; the descriptor is the job's.
    unsafe {
        while libc::syscall(libc::SYS_getdents64, fd, room.as_mut_ptr(), room.len() * 8) > 0 {}
        libc::lseek(fd, 0, libc::SEEK_SET);
    }
}

/// Opens a directory and reads it ahead. Returns the descriptor, or -1.
///
/// # Safety
/// `path` is a C string.
unsafe fn open_ahead(at: c_int, path: *const c_char) -> c_int {
    const FLAGS: c_int = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: by contract.
    let fd = unsafe { libc::openat(at, path, FLAGS) };
    if fd >= 0 {
        read_ahead(fd);
    }
    fd
}

/// `opendir(3)`.
pub unsafe extern "C" fn opendir(path: *const c_char) -> *mut DIR {
    const KNOWN: Opened = Opened { kind: Some(FdKind::File), blocking: Some(Blocking::No), timeouts: None, own: true };
    let open = |at: c_int, path: *const c_char| {
        // SAFETY: a path of the job's; the descriptor is the directory's from then on, or is closed.
        unsafe {
            let fd = open_ahead(at, path);
            let directory = if fd < 0 { std::ptr::null_mut() } else { libc::fdopendir(fd) };
            if directory.is_null() && fd >= 0 {
                let error = errno();
                libc::close(fd);
                set_errno(error);
            }
            (if directory.is_null() { -1 } else { 0 }, directory.expose_provenance())
        }
    };
    // SAFETY: the caller's own path.
    let directory = match unsafe { with_path("opendir", libc::AT_FDCWD, path, open) } {
        Some((0, directory)) => std::ptr::with_exposed_provenance_mut::<DIR>(directory),
        Some(_) => return std::ptr::null_mut(),
        // SAFETY: the caller's own argument.
        None => unsafe { libc::opendir(path) },
    };
    if !directory.is_null() {
        // SAFETY: a directory just opened.
        opened(unsafe { libc::dirfd(directory) }, KNOWN);
    }
    directory
}

/// `scandir(3)`. The caller's functions must run here, so only the reading is done ahead.
pub unsafe extern "C" fn scandir(
    path: *const c_char,
    list: *mut c_void,
    filter: *mut c_void,
    compare: *mut c_void,
) -> c_int {
    unsafe extern "C" {
        #[link_name = "scandir"]
        fn libc_scandir(path: *const c_char, list: *mut c_void, filter: *mut c_void, compare: *mut c_void) -> c_int;
    }
    let saved = errno();
    let read = |at: c_int, path: *const c_char| {
        // SAFETY: a path and a descriptor of the job's.
        unsafe {
            let fd = open_ahead(at, path);
            if fd >= 0 {
                libc::close(fd);
            }
        }
        (0, ())
    };
    // SAFETY: the caller's own arguments. What went wrong goes wrong again.
    unsafe {
        let _read_or_not = with_path("scandir", libc::AT_FDCWD, path, read);
        set_errno(saved);
        libc_scandir(path, list, filter, compare)
    }
}

/// A `glob_t`, filled by the caller and by libc.
struct Found(libc::glob_t);
// SAFETY: plain memory of malloc's that only its holder knows.
unsafe impl Send for Found {}

/// `glob(3)`.
pub unsafe extern "C" fn glob(
    pattern: *const c_char,
    flags: c_int,
    failed: Option<extern "C" fn(*const c_char, c_int) -> c_int>,
    to: *mut libc::glob_t,
) -> c_int {
    /// Flags that ask for home folders, or for other functions in place of the C library's.
    #[cfg(target_env = "gnu")]
    const OTHERS: c_int = libc::GLOB_TILDE | libc::GLOB_TILDE_CHECK | libc::GLOB_ALTDIRFUNC;
    /// As above: `GLOB_TILDE` and `GLOB_TILDE_CHECK` of musl.
    #[cfg(not(target_env = "gnu"))]
    const OTHERS: c_int = 0x1000 | 0x4000;
    // SAFETY: the caller's own pattern.
    let may = failed.is_none() && flags & OTHERS == 0 && !to.is_null() && unsafe { is_absolute(pattern) };
    if may {
        // SAFETY: the caller's own; a copy, which is put back.
        let given = Found(unsafe { to.read() });
        let find = move |_: c_int, pattern: *const c_char| {
            let mut found = given;
            // SAFETY: a pattern of the job's, and the caller's list, which nothing else uses meanwhile.
            let result = unsafe { libc::glob(pattern, flags, None, &raw mut found.0) };
            (result as isize, found)
        };
        // SAFETY: the caller's own pattern.
        if let Some((result, found)) = unsafe { with_path("glob", libc::AT_FDCWD, pattern, find) } {
            // SAFETY: the caller's own place.
            unsafe { to.write(found.0) };
            return result as c_int;
        }
    }
    // SAFETY: the caller's own arguments.
    unsafe { libc::glob(pattern, flags, failed, to) }
}
