//! Processes: how one is started, what it inherits, and how its end is learnt of.
#![allow(unsafe_code)]

use super::user::User;
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_getfd, fcntl_setfd};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, set_parent_process_death_signal, wait, waitid,
};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

/// What an upgrade leaves to the program that takes over: see `handover.rs`.
pub const HANDOVER: &str = "SPINDLE_HANDOVER";

/// The variables that are meant for this process, and for no program that it starts: most are systemd's.
pub const VARIABLES: [&str; 7] =
    ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", HANDOVER];

/// Starts a program that has these descriptors, too, with the same numbers. The kernel kills it if this process ends first.
///
/// # Errors
/// There is no such program, or no room for a process.
pub fn spawn(command: &mut Command, inherits: &[BorrowedFd<'_>]) -> io::Result<Pid> {
    spawn_until(command, inherits, Signal::KILL)
}

/// The same, but the kernel sends it this signal then: it has to end processes of its own.
///
/// # Errors
/// As those of [`spawn`].
pub fn spawn_until(command: &mut Command, inherits: &[BorrowedFd<'_>], last: Signal) -> io::Result<Pid> {
    let (parent, numbers) = (getpid(), inherits.iter().map(AsRawFd::as_raw_fd).collect::<Vec<_>>());
    let prepare = move || {
        // After a change of the user, which would undo it.
        set_parent_process_death_signal(Some(last))?;
        if getppid() != Some(parent) {
            return Err(Errno::SRCH.into()); // it has ended before
        }
        for number in &numbers {
            // SAFETY: the parent has it open until the program runs, and this is a copy of the parent.
            let inherited = unsafe { BorrowedFd::borrow_raw(*number) };
            fcntl_setfd(inherited, FdFlags::empty())?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec it makes a few system calls, allocates nothing, and takes no locks.
    unsafe { command.pre_exec(prepare) };
    let child = command.spawn()?;
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| io::ErrorKind::Other.into())
}

/// Starts a program that has none of this process's descriptors but the standard ones: also none of those that this process was itself
/// started with, which other programs inherit.
///
/// # Errors
/// As those of [`spawn`].
pub fn spawn_alone(command: &mut Command) -> io::Result<Pid> {
    let numbers = inheritable()?;
    let prepare = move || {
        for number in &numbers {
            // SAFETY: the parent had it open at the fork, and this is a copy of the parent.
            let kept = unsafe { BorrowedFd::borrow_raw(*number) };
            fcntl_setfd(kept, FdFlags::CLOEXEC)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec it makes a few system calls, allocates nothing, and takes no locks.
    unsafe { command.pre_exec(prepare) };
    spawn(command, &[])
}

/// The descriptors beyond the standard ones that programs would inherit.
///
/// # Errors
/// It is not known which there are.
pub fn inheritable() -> io::Result<Vec<RawFd>> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if number > 2 {
            // SAFETY: it is in the folder of those that are open, and no other thread of this process closes any.
            let open = unsafe { BorrowedFd::borrow_raw(number) };
            if !fcntl_getfd(open)?.contains(FdFlags::CLOEXEC) {
                numbers.push(number);
            }
        }
    }
    Ok(numbers)
}

/// How a process has ended.
pub fn how(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with status {code}"),
        None => format!("was ended by signal {}", status.signal().unwrap_or(0)),
    }
}

/// Has a program run as another user, and with nothing of what this one may do beyond that.
pub fn run_as(command: &mut Command, user: &User) {
    let (uid, gid, groups) = (user.uid, user.gid, user.groups.clone());
    let become_user = move || {
        set_thread_groups(&groups)?;
        set_thread_gid(gid)?;
        set_thread_uid(uid)?; // the last one, after which the others would be refused
        Ok(())
    };
    // SAFETY: between fork and exec it makes three system calls, allocates nothing, and takes no locks. The child has one thread.
    unsafe { command.pre_exec(become_user) };
}

/// Returns a copy of a descriptor that this process was started with. Programs that it starts do not get the original.
///
/// # Errors
/// There is no such descriptor.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: it is used in this function only, and nothing closes it meanwhile: the command has one thread before it serves. If it is
    // not open, the system says so.
    let original = unsafe { BorrowedFd::borrow_raw(number) };
    let copy = fcntl_dupfd_cloexec(original, 3)?;
    fcntl_setfd(original, FdFlags::CLOEXEC)?;
    Ok(copy)
}

/// Keeps from programs what this process was started with, but for the standard descriptors and these.
///
/// # Errors
/// It is not known which there are.
pub fn keep_descriptors(except: &[RawFd]) -> io::Result<()> {
    for number in inheritable()?.into_iter().filter(|number| !except.contains(number)) {
        // SAFETY: it is used for this call only, and no other thread of this process closes any.
        let inherited = unsafe { BorrowedFd::borrow_raw(number) };
        fcntl_setfd(inherited, FdFlags::CLOEXEC)?;
    }
    Ok(())
}

/// A descriptor that the program which is executed in this process gets, by its number.
#[derive(Serialize, Deserialize)]
pub struct Descriptor(RawFd);

impl Descriptor {
    /// Has that program get it.
    ///
    /// # Errors
    /// The system refuses that.
    pub fn keep(kept: &impl AsFd) -> io::Result<Descriptor> {
        fcntl_setfd(kept, FdFlags::empty())?;
        Ok(Descriptor(kept.as_fd().as_raw_fd()))
    }

    /// The one of this number, which that program was told.
    pub fn of(number: RawFd) -> Descriptor {
        Descriptor(number)
    }

    pub fn number(&self) -> RawFd {
        self.0
    }

    /// Takes it in that program, whose own programs do not get it.
    ///
    /// # Errors
    /// There is no such descriptor.
    pub fn take(self) -> io::Result<OwnedFd> {
        if self.0 < 0 {
            return Err(Errno::BADF.into());
        }
        // SAFETY: the number is that of an open descriptor, which was kept for this value alone, and nothing else here knows it. If it is
        // not open, the system says so below, before it is used for anything else.
        let taken = unsafe { OwnedFd::from_raw_fd(self.0) };
        if let Err(error) = fcntl_setfd(&taken, FdFlags::CLOEXEC) {
            std::mem::forget(taken); // it is none
            return Err(error.into());
        }
        Ok(taken)
    }
}

/// Returns the child of this number, if its end was not yet learnt of. A program that has come between, in this process, may have done so.
pub fn child(pid: i32) -> Option<Pid> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Pid::from_raw(pid).filter(|pid| waitid(WaitId::Pid(*pid), options).is_ok())
}

/// Returns a process that has ended, and how: one that was started here, or, in the first process of a container, that another one has
/// left behind.
pub fn reap() -> Option<(Pid, ExitStatus)> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => return Some((pid, ExitStatus::from_raw(status.as_raw()))),
            Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return None, // there are none
        }
    }
}
