//! `fsync`, `fdatasync` and `msync`, in the thread pool.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::hooks::fd::refs::FdRef;
use crate::host::{Host, current_host, errno, fail, set_errno};
use crate::wait;
use libc::{c_int, c_void};
use spindle_reactor::{FdKind, JobKind};
use std::os::fd::RawFd;

/// Has a worker run `job`, which returns a result and its `errno`, or runs it here if there is no worker.
fn on_worker(
    host: &dyn Host,
    call: &'static str,
    fd: RawFd,
    job: impl FnOnce() -> (c_int, c_int) + Send + 'static,
    in_place: impl FnOnce() -> c_int,
) -> c_int {
    let saved = errno();
    match wait::for_job(host, JobKind::Bounded, call, fd, job) {
        Some((0, _)) => {
            set_errno(saved);
            0
        }
        Some((_, error)) => fail(error),
        None => in_place(),
    }
}

fn sync(fd: c_int, call: &'static str, original: unsafe extern "C" fn(c_int) -> c_int) -> c_int {
    // SAFETY: `fsync` or `fdatasync`, which take any number.
    let in_place = || unsafe { original(fd) };
    let Some(host) = current_host().filter(|host| host.reactor().kind(fd) == FdKind::File) else { return in_place() };
    let fd_ref = FdRef::new(host, fd);
    let job = move || {
        // SAFETY: as above; the reference keeps the descriptor open.
        let result = unsafe { original(fd) };
        let error = errno();
        drop(fd_ref);
        (result, error)
    };
    on_worker(host, call, fd, job, in_place)
}

/// `fsync(2)`.
pub unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    sync(fd, "fsync", libc::fsync)
}

/// `fdatasync(2)`.
pub unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    sync(fd, "fdatasync", libc::fdatasync)
}

/// `msync(2)`. Without `MS_SYNC` it starts no I/O, so it is made in place. Memory that is unmapped meanwhile is not touched:
/// the kernel holds the files that it writes, and reports the gap.
pub unsafe extern "C" fn msync(memory: *mut c_void, length: usize, flags: c_int) -> c_int {
    let address = memory.expose_provenance();
    let made = move || {
        // SAFETY: the kernel looks the range up in the table of mappings, and takes any.
        unsafe { libc::msync(std::ptr::with_exposed_provenance_mut(address), length, flags) }
    };
    let Some(host) = current_host().filter(|_| flags & libc::MS_SYNC != 0) else { return made() };
    on_worker(host, "msync", -1, move || (made(), errno()), made)
}
