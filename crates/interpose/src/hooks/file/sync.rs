//! `fsync` and `fdatasync`, in the thread pool.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::hooks::fd::refs::FdRef;
use crate::host::{current_host, errno, fail, set_errno};
use crate::wait;
use libc::c_int;
use spindle_reactor::{FdKind, JobKind};

fn sync(fd: c_int, call: &'static str, original: unsafe extern "C" fn(c_int) -> c_int) -> c_int {
    // SAFETY: `fsync` or `fdatasync`, which take any number.
    let in_place = || unsafe { original(fd) };
    let Some(host) = current_host().filter(|host| host.reactor().kind(fd) == FdKind::File) else { return in_place() };
    let saved = errno();
    let fd_ref = FdRef::new(host, fd);
    let job = move || {
        // SAFETY: as above; the reference keeps the descriptor open.
        let result = unsafe { original(fd) };
        let error = errno();
        drop(fd_ref);
        (result, error)
    };
    match wait::for_job(host, JobKind::Bounded, call, fd, job) {
        Some((0, _)) => {
            set_errno(saved);
            0
        }
        Some((_, error)) => fail(error),
        None => in_place(),
    }
}

/// `fsync(2)`.
pub unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    sync(fd, "fsync", libc::fsync)
}

/// `fdatasync(2)`.
pub unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    sync(fd, "fdatasync", libc::fdatasync)
}
