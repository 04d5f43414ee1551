//! Running calls on paths in the thread pool.

use crate::hooks::fd::refs::FdRef;
use crate::host::{Host, current_host, errno, set_errno};
use crate::wait;
use libc::{c_char, c_int};
use spindle_reactor::{InternalFd, JobKind};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, RawFd};

/// What a relative path starts from.
enum Base {
    /// The path is absolute.
    Nothing,
    /// The working directory at the time of the call.
    Working(InternalFd),
    /// The caller's descriptor, which is not closed before the job has ended.
    Descriptor(RawFd, #[allow(dead_code, reason = "held")] FdRef),
}

/// A path that a job owns.
pub(crate) struct OwnedPath {
    base: Base,
    path: CString,
}

impl OwnedPath {
    /// Copies a path. Returns `None` if no descriptor is left for its directory: then the call is made in place.
    ///
    /// # Safety
    /// `path` is a C string.
    pub(crate) unsafe fn new(host: &dyn Host, at: RawFd, path: *const c_char) -> Option<OwnedPath> {
        // SAFETY: by contract.
        let path = unsafe { CStr::from_ptr(path) }.to_owned();
        let base = match path.to_bytes().first() {
            Some(b'/') => Base::Nothing,
            _ if at != libc::AT_FDCWD => Base::Descriptor(at, FdRef::new(host, at)),
            _ => Base::Working(working_directory().ok()?),
        };
        Some(OwnedPath { base, path })
    }

    pub(crate) fn at(&self) -> RawFd {
        match &self.base {
            Base::Nothing => libc::AT_FDCWD,
            Base::Working(fd) => fd.as_raw_fd(),
            Base::Descriptor(fd, _) => *fd,
        }
    }

    pub(crate) fn path(&self) -> *const c_char {
        self.path.as_ptr()
    }
}

pub(crate) fn working_directory() -> io::Result<InternalFd> {
    // SAFETY: a literal.
    InternalFd::new(unsafe { libc::open(c".".as_ptr(), libc::O_PATH | libc::O_CLOEXEC) })
}

/// Runs a job that returns a result below zero when it fails, with `errno` set.
pub(super) fn on_worker<T: Send + 'static>(
    host: &dyn Host,
    call: &'static str,
    saved: c_int,
    job: impl FnOnce() -> (isize, T) + Send + 'static,
) -> Option<(isize, T)> {
    let done = wait::for_job(host, JobKind::Bounded, call, -1, move || {
        let (result, value) = job();
        (result, value, errno())
    });
    let Some((result, value, error)) = done else {
        set_errno(saved);
        return None;
    };
    set_errno(if result < 0 { error } else { saved });
    Some((result, value))
}

/// Runs `job` with a path in the thread pool. Returns `None`, and has done nothing, if the call is to be made in place.
///
/// # Safety
/// `path` is null or a C string.
pub(super) unsafe fn with_path<T: Send + 'static>(
    call: &'static str,
    at: RawFd,
    path: *const c_char,
    job: impl FnOnce(RawFd, *const c_char) -> (isize, T) + Send + 'static,
) -> Option<(isize, T)> {
    let host = current_host().filter(|host| !path.is_null() && !host.keeps_files_in_place())?;
    let saved = errno();
    // SAFETY: by contract.
    let place = unsafe { OwnedPath::new(host, at, path) };
    let Some(place) = place else {
        set_errno(saved);
        return None;
    };
    on_worker(host, call, saved, move || job(place.at(), place.path()))
}

/// Runs a job that returns a number alone, as [`with_path`].
///
/// # Safety
/// As [`with_path`].
pub(super) unsafe fn path_only(
    call: &'static str,
    at: RawFd,
    path: *const c_char,
    job: impl FnOnce(RawFd, *const c_char) -> c_int + Send + 'static,
) -> Option<c_int> {
    // SAFETY: by contract.
    let done = unsafe { with_path(call, at, path, move |at, path| (job(at, path) as isize, ())) };
    done.map(|(result, ())| result as c_int)
}

/// Runs a job with two paths, as [`path_only`].
///
/// # Safety
/// As [`with_path`], both.
pub(super) unsafe fn two_paths(
    call: &'static str,
    one: (RawFd, *const c_char),
    other: (RawFd, *const c_char),
    job: impl FnOnce(RawFd, *const c_char, RawFd, *const c_char) -> c_int + Send + 'static,
) -> Option<c_int> {
    let host = current_host().filter(|host| !one.1.is_null() && !other.1.is_null() && !host.keeps_files_in_place())?;
    let saved = errno();
    // SAFETY: by contract.
    let paths = unsafe { (OwnedPath::new(host, one.0, one.1), OwnedPath::new(host, other.0, other.1)) };
    let (Some(one), Some(other)) = paths else {
        set_errno(saved);
        return None;
    };
    let job = move || (job(one.at(), one.path(), other.at(), other.path()) as isize, ());
    on_worker(host, call, saved, job).map(|(result, ())| result as c_int)
}

/// Returns `true` if the path is absolute. Calls that only know the working directory are made in place for others.
///
/// # Safety
/// `path` is null or a C string.
pub(super) unsafe fn is_absolute(path: *const c_char) -> bool {
    // SAFETY: by contract.
    !path.is_null() && unsafe { *path } == b'/' as c_char
}
