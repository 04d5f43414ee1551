//! `copy_file_range`, in the thread pool.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::hooks::fd::refs::FdRef;
use crate::host::{current_host, errno, set_errno};
use crate::wait;
use libc::{c_int, c_uint, off64_t, size_t, ssize_t};
use spindle_reactor::{FdKind, JobKind};

fn at(offset: &mut Option<off64_t>) -> *mut off64_t {
    offset.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut)
}

/// `copy_file_range(2)`. The job is bounded, so it is waited for.
pub unsafe extern "C" fn copy_file_range(
    from: c_int,
    from_at: *mut off64_t,
    to: c_int,
    to_at: *mut off64_t,
    size: size_t,
    flags: c_uint,
) -> ssize_t {
    // SAFETY: the caller's own arguments.
    let in_place = || unsafe { libc::copy_file_range(from, from_at, to, to_at, size, flags) };
    let files =
        |reactor: &spindle_reactor::Reactor| reactor.kind(from) == FdKind::File && reactor.kind(to) == FdKind::File;
    let Some(host) = current_host().filter(|host| size > 0 && files(host.reactor())) else { return in_place() };
    let saved = errno();
    // SAFETY: null or the caller's own.
    let mut offsets = unsafe { [from_at.as_ref().copied(), to_at.as_ref().copied()] };
    let fd_refs = [FdRef::new(host, from), FdRef::new(host, to)];
    let job = move || {
        let [from_at, to_at] = &mut offsets;
        // SAFETY: offsets of the job's; the references keep the descriptors open.
        let copied = unsafe { libc::copy_file_range(from, at(from_at), to, at(to_at), size, flags) };
        let error = errno();
        drop(fd_refs);
        (copied, offsets, error)
    };
    let done = wait::for_job(host, JobKind::Bounded, "copy_file_range", from, job);
    let Some((copied, offsets, error)) = done else { return in_place() };
    for (place, offset) in [from_at, to_at].into_iter().zip(offsets) {
        if let Some(offset) = offset {
            // SAFETY: not null, or there would be no offset; the caller's own place.
            unsafe { place.write(offset) };
        }
    }
    set_errno(if copied < 0 { error } else { saved });
    copied
}
