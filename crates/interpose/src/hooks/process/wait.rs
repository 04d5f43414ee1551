//! Waiting for child processes: `wait*`.
//!
//! A single child is waited for through a pidfd; any child, or one without a pidfd, through `SIGCHLD` and `WNOHANG`,
//! and by polling, since the handler of another library may consume the signal. Never in the thread pool: a worker
//! could reap a child that another coroutine waits for.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::hooks::fd::tracking::{closed, opened};
use crate::host::{BlockedOn, Host, OnSignal, Wake, current_host, errno, fail, set_errno};
use crate::wait::time::{MILLISECOND, SECOND};
use crate::wait::{self, Backoff};
use libc::{c_int, id_t, idtype_t, pid_t, rusage, siginfo_t};
use spindle_reactor::{Interest, InternalFd, Opened};
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};

/// Calls `try_wait` (a wait with `WNOHANG`) until it returns anything but 0. `child_ref` is a child that can be waited
/// for alone.
fn wait_until(host: &dyn Host, call: &'static str, child_ref: ChildRef, mut try_wait: impl FnMut() -> c_int) -> c_int {
    let saved = errno();
    let first = try_wait();
    if first != 0 {
        if first > 0 {
            set_errno(saved);
        }
        return first;
    }
    let pidfd = child_ref.open();
    let ended = match pidfd {
        Some(fd) => by_pidfd(host, call, fd, &mut try_wait),
        None => Err(()),
    };
    if let (ChildRef::Child(_), Some(fd)) = (child_ref, pidfd) {
        closed(fd);
        // SAFETY: ours, made by `open`.
        drop(unsafe { InternalFd::from_raw_fd(fd) });
    }
    let result = ended.unwrap_or_else(|()| by_signal(host, call, &mut try_wait));
    match result {
        Ok(found) => {
            if found > 0 {
                set_errno(saved);
            }
            found
        }
        Err(error) => {
            if let (libc::ECANCELED, ChildRef::Child(child)) = (error, child_ref)
                && !host.can_wait_for_child_again()
            {
                host.reactor().adopt_orphan(child);
            }
            fail(error)
        }
    }
}

/// A child that can be waited for by a descriptor.
#[derive(Clone, Copy)]
enum ChildRef {
    Child(pid_t),
    PidFd(RawFd),
    No,
}

impl ChildRef {
    fn open(self) -> Option<RawFd> {
        match self {
            ChildRef::Child(pid) => {
                // SAFETY: a system call without pointers.
                let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as RawFd;
                InternalFd::new(fd).ok().map(|pidfd| opened(pidfd.into_raw_fd(), Opened::default()))
            }
            ChildRef::PidFd(fd) => Some(fd),
            ChildRef::No => None,
        }
    }
}

/// What `try_wait` returned (with its `errno` set if it failed), or the `errno` to fail with.
type Reaped = Result<c_int, c_int>;

/// Waits by a pidfd. Fails if the caller has to wait by signal.
fn by_pidfd(
    host: &dyn Host,
    call: &'static str,
    fd: RawFd,
    try_wait: &mut impl FnMut() -> c_int,
) -> Result<Reaped, ()> {
    loop {
        let waited = wait::for_fd(host, fd, Interest::READ, None, call, OnSignal::Restart);
        let wake = waited.map_err(|_| ())?;
        if wake == Wake::Cancelled {
            return Ok(Err(libc::ECANCELED));
        }
        // A child that has ended takes precedence over the signal that reports it.
        let found = try_wait();
        if found != 0 {
            return Ok(if found > 0 { Ok(found) } else { Err(errno()) });
        }
        if wake == Wake::Interrupted {
            return Ok(Err(libc::EINTR));
        }
        if wait::poll_now(fd, libc::POLLIN) != Some(0) {
            return Err(()); // ended, but cannot be reaped yet (it is traced, or has threads left)
        }
    }
}

fn by_signal(host: &dyn Host, call: &'static str, try_wait: &mut impl FnMut() -> c_int) -> Reaped {
    let mut backoff = Backoff::new(50 * MILLISECOND, SECOND);
    loop {
        let waiter = host.begin_wait();
        host.reactor().wait_any_child(waiter);
        let found = try_wait();
        if found != 0 {
            let error = errno();
            host.reactor().forget_child_waiter(waiter);
            return if found > 0 { Ok(found) } else { Err(error) };
        }
        let blocked_on = BlockedOn { call, fd: -1, on_signal: OnSignal::Restart };
        let wake = backoff.park(host, None, blocked_on);
        host.reactor().forget_child_waiter(waiter);
        match wake {
            Wake::Woken | Wake::TimedOut => {}
            Wake::Cancelled => return Err(libc::ECANCELED),
            Wake::Interrupted => {
                let found = try_wait();
                return match found {
                    0 => Err(libc::EINTR),
                    -1 => Err(errno()),
                    _ => Ok(found),
                };
            }
        }
    }
}

/// Waits with `WNOHANG`. A child whose handle is being closed before it has ended is adopted by the reactor: nothing
/// else would reap it.
fn try_wait_once(host: &dyn Host, pid: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
    // SAFETY: the caller's own arguments.
    let found = unsafe { libc::wait4(pid, status, options, usage) };
    if found == 0 && pid > 0 && options == libc::WNOHANG && !host.can_wait_for_child_again() {
        host.reactor().adopt_orphan(pid);
    }
    found
}

fn wait_in_coroutine(
    host: &dyn Host,
    call: &'static str,
    pid: pid_t,
    status: *mut c_int,
    options: c_int,
    usage: *mut rusage,
) -> pid_t {
    // A pidfd reports the end only.
    let one = if pid > 0 && options & (libc::WUNTRACED | libc::WCONTINUED) == 0 {
        ChildRef::Child(pid)
    } else {
        ChildRef::No
    };
    if options & libc::WNOHANG != 0 {
        return try_wait_once(host, pid, status, options, usage);
    }
    // SAFETY: the caller's own arguments; nothing is written when there is nothing to tell.
    wait_until(host, call, one, || unsafe { libc::wait4(pid, status, options | libc::WNOHANG, usage) })
}

/// `waitpid(2)`.
pub unsafe extern "C" fn waitpid(pid: pid_t, status: *mut c_int, options: c_int) -> pid_t {
    match current_host() {
        Some(host) => wait_in_coroutine(host, "waitpid", pid, status, options, std::ptr::null_mut()),
        // SAFETY: the caller's own arguments.
        None => unsafe { libc::waitpid(pid, status, options) },
    }
}

/// `wait(2)`.
pub unsafe extern "C" fn wait(status: *mut c_int) -> pid_t {
    match current_host() {
        Some(host) => wait_in_coroutine(host, "wait", -1, status, 0, std::ptr::null_mut()),
        // SAFETY: the caller's own argument.
        None => unsafe { libc::wait(status) },
    }
}

/// `wait4(2)`.
pub unsafe extern "C" fn wait4(pid: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
    match current_host() {
        Some(host) => wait_in_coroutine(host, "wait4", pid, status, options, usage),
        // SAFETY: the caller's own arguments.
        None => unsafe { libc::wait4(pid, status, options, usage) },
    }
}

/// `wait3(2)`.
pub unsafe extern "C" fn wait3(status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t {
    match current_host() {
        Some(host) => wait_in_coroutine(host, "wait3", -1, status, options, usage),
        // SAFETY: the caller's own arguments; `wait3` is this.
        None => unsafe { libc::wait4(-1, status, options, usage) },
    }
}

/// `waitid(2)`.
pub unsafe extern "C" fn waitid(kind: idtype_t, id: id_t, info: *mut siginfo_t, options: c_int) -> c_int {
    let Some(host) = current_host() else {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::waitid(kind, id, info, options) };
    };
    let ends_only = options & (libc::WSTOPPED | libc::WCONTINUED) == 0;
    let one = match kind {
        libc::P_PID if ends_only => ChildRef::Child(id as pid_t),
        libc::P_PIDFD if ends_only => ChildRef::PidFd(id as RawFd),
        _ => ChildRef::No,
    };
    let mut own = std::mem::MaybeUninit::<siginfo_t>::zeroed();
    let result = wait_until(host, "waitid", one, || {
        // SAFETY: `own` is a zeroed `siginfo_t`, valid as plain data; it says 0 when there is nothing to tell.
        unsafe {
            match libc::waitid(kind, id, own.as_mut_ptr(), options | libc::WNOHANG) {
                0 => own.assume_init_ref().si_pid(),
                failed => failed,
            }
        }
    });
    if result < 0 {
        return -1;
    }
    if !info.is_null() {
        // SAFETY: the caller passes null or a place for the answer.
        unsafe { info.write(own.assume_init()) };
    }
    0
}
