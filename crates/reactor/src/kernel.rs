//! Probes, for diagnostics, the optional kernel features that are used when present.

use crate::{InternalFd, syscalls};
use std::io::{Error, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::null;

/// A feature of the kernel, as it is for this process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Feature {
    /// The call, and what of it is used.
    pub name: &'static str,
    /// The `errno` of the call if it does not work.
    pub outcome: Result<(), i32>,
    /// Whether coroutines need it. In place of one that they do not need, something else is used.
    pub needed: bool,
    /// The release of Linux that has brought it.
    pub since: &'static str,
    /// What it is used for, or what is used without it.
    pub about: &'static str,
}

/// Tries all of them. Descriptors that this opens are closed again.
pub fn try_features() -> Vec<Feature> {
    let feature = |name, outcome, needed, since, about| Feature { name, outcome, needed, since, about };
    vec![
        feature("epoll_create1", epoll().map(drop), true, "2.6", "waits for descriptors"),
        feature("eventfd", eventfd().map(drop), true, "2.6", "wakes the event loop"),
        feature("epoll_pwait2", epoll_pwait2(), false, "5.11", "without it waits are rounded up to milliseconds"),
        feature("pidfd_open", pidfd_open(), false, "5.3", "without it child processes are waited for by SIGCHLD"),
        feature("preadv2 RWF_NOWAIT", nowait_file(), false, "4.14", "without it files are read by the thread pool"),
        feature(
            "preadv2 RWF_NOWAIT on pipes",
            nowait_pipe(),
            false,
            "6.4",
            "without it pipes are polled before each read",
        ),
        feature("signalfd", signalfd().map(drop), false, "2.6", "without it waits for signals are repeated calls"),
        feature(
            "process_vm_readv",
            process_vm_readv(),
            false,
            "3.2",
            "without it async.block_warning_ms does not see where a call blocks",
        ),
    ]
}

fn errno() -> i32 {
    Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Returns the error of a call that has returned -1.
fn checked(result: libc::c_long) -> Result<libc::c_long, i32> {
    if result == -1 { Err(errno()) } else { Ok(result) }
}

fn opened(fd: RawFd) -> Result<InternalFd, i32> {
    InternalFd::new(fd).map_err(|error| error.raw_os_error().unwrap_or(0))
}

fn epoll() -> Result<InternalFd, i32> {
    // SAFETY: a number is passed.
    opened(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })
}

fn eventfd() -> Result<InternalFd, i32> {
    // SAFETY: numbers are passed.
    opened(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })
}

fn signalfd() -> Result<InternalFd, i32> {
    // SAFETY: all zeros is an empty set.
    let none: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: a set, and numbers.
    opened(unsafe { libc::signalfd(-1, &none, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) })
}

fn epoll_pwait2() -> Result<(), i32> {
    let epoll = epoll()?;
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let (fd, mask) = (epoll.as_raw_fd(), null::<libc::sigset_t>());
    // SAFETY: room for one event, a time, and no mask.
    checked(unsafe { libc::syscall(libc::SYS_epoll_pwait2, fd, &mut event, 1, &at_once, mask, 8usize) }).map(drop)
}

fn pidfd_open() -> Result<(), i32> {
    // SAFETY: numbers are passed.
    opened(unsafe { libc::syscall(libc::SYS_pidfd_open, std::process::id(), 0) } as RawFd).map(drop)
}

/// Reads one byte without waiting. `EAGAIN`, no byte yet, is an answer too.
fn nowait(fd: RawFd, offset: libc::off_t) -> Result<(), i32> {
    let mut byte = 0u8;
    let room = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: room for one byte.
    match checked(unsafe { syscalls::preadv2(fd, &room, 1, offset, libc::RWF_NOWAIT) } as libc::c_long) {
        Err(libc::EAGAIN) => Ok(()),
        other => other.map(drop),
    }
}

fn nowait_file() -> Result<(), i32> {
    let file = std::fs::File::open("/proc/self/exe").map_err(|error| error.raw_os_error().unwrap_or(0))?;
    nowait(file.as_raw_fd(), 0)
}

fn nowait_pipe() -> Result<(), i32> {
    let (reader, _writer) = pipe().map_err(|error| error.raw_os_error().unwrap_or(0))?;
    nowait(reader.as_raw_fd(), -1)
}

fn process_vm_readv() -> Result<(), i32> {
    let (mut from, mut to) = ([1u8], [0u8]);
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: 1 };
    let remote = libc::iovec { iov_base: from.as_mut_ptr().cast(), iov_len: 1 };
    let pid = std::process::id() as libc::pid_t;
    // SAFETY: a byte of this process, and room for it.
    checked(unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) } as libc::c_long)?;
    if to == from { Ok(()) } else { Err(libc::EIO) }
}
