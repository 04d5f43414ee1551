//! `epoll_wait` of other event loops. Their epoll descriptor can itself be watched.

use super::park::{Time, letting_in, park_on};
use crate::hooks::signal::pending::{Pending, interrupting_one};
use crate::host::{Host, current_host, errno, fail, set_errno};
use libc::{c_int, epoll_event, sigset_t, timespec};
use spindle_reactor::Interest;

/// # Safety
/// The arguments are as `epoll_pwait(2)` wants them.
unsafe fn wait_for_events(
    host: &dyn Host,
    call: &'static str,
    epoll: c_int,
    events: *mut epoll_event,
    room: c_int,
    time: Time,
    mask: *const sigset_t,
) -> c_int {
    if time == Time::Zero {
        // SAFETY: the caller's own arguments.
        let ready = unsafe { libc::epoll_pwait(epoll, events, room, 0, mask) };
        host.made_without_waiting(epoll, ready != 0);
        return ready;
    }
    // SAFETY: null or valid by contract.
    let (mask, pending) = unsafe { letting_in(mask) };
    // SAFETY: the caller's own arguments.
    let ready = unsafe { wait_all(host, call, epoll, events, room, time, mask, pending) };
    if let Some(pending) = pending {
        pending.close();
    }
    ready
}

/// # Safety
/// As [`wait_for_events`].
#[allow(clippy::too_many_arguments, reason = "those of `epoll_pwait`, and what has been made of them")]
unsafe fn wait_all(
    host: &dyn Host,
    call: &'static str,
    epoll: c_int,
    events: *mut epoll_event,
    room: c_int,
    time: Time,
    mask: *const sigset_t,
    pending: Option<Pending>,
) -> c_int {
    let before = errno();
    let generation = host.reactor().generation(epoll);
    loop {
        // SAFETY: the caller's own arguments.
        let ready = unsafe { libc::epoll_wait(epoll, events, room, 0) };
        if ready != 0 {
            return ready;
        }
        if !mask.is_null() {
            // Delivers the signals that the mask unblocks; `epoll_pwait` without a time limit does not.
            let now = timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: no descriptors, and a valid mask.
            if interrupting_one(|| unsafe { libc::ppoll(std::ptr::null_mut(), 0, &now, mask) }) < 0 {
                return -1;
            }
        }
        if time.over() {
            set_errno(before);
            return 0;
        }
        let wake = park_on(host, call, time, pending, |each| each(epoll, Interest::READ));
        if host.reactor().generation(epoll) != generation {
            return fail::<i8>(libc::EBADF).into();
        }
        if let Some(error) = wake.error() {
            return fail::<i8>(error).into();
        }
    }
}

/// `epoll_wait(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn epoll_wait(epoll: c_int, events: *mut epoll_event, room: c_int, timeout: c_int) -> c_int {
    match current_host() {
        // SAFETY: the caller's own arguments.
        None => unsafe { libc::epoll_wait(epoll, events, room, timeout) },
        // SAFETY: as above.
        Some(host) => unsafe {
            wait_for_events(host, "epoll_wait", epoll, events, room, Time::from_ms(timeout), std::ptr::null())
        },
    }
}

/// `epoll_pwait(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    room: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    match current_host() {
        // SAFETY: the caller's own arguments.
        None => unsafe { libc::epoll_pwait(epoll, events, room, timeout, mask) },
        // SAFETY: as above.
        Some(host) => unsafe {
            wait_for_events(host, "epoll_pwait", epoll, events, room, Time::from_ms(timeout), mask)
        },
    }
}

/// `epoll_pwait2(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    room: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: null or the caller's own timespec.
    let time = unsafe { Time::from_pointer(timeout) };
    match (current_host(), time) {
        // SAFETY: the caller's own arguments.
        (Some(host), Some(time)) => unsafe { wait_for_events(host, "epoll_pwait2", epoll, events, room, time, mask) },
        // The C library may be too old to have it. The caller has found it, so the kernel has it or says ENOSYS.
        // SAFETY: as above; the size is that of the kernel's own set.
        _ => unsafe { libc::syscall(libc::SYS_epoll_pwait2, epoll, events, room, timeout, mask, 8usize) as c_int },
    }
}
