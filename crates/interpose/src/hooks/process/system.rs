//! `system`, as glibc implements it, but waiting as the hook of `waitpid` does. Not libc's own in the thread pool:
//! workers block every signal, and the shell and everything that it starts would inherit that.
//!
//! It changes what `system` changes of the caller's environment: `SIGINT` and `SIGQUIT` are ignored until the last
//! shell has ended. `SIGCHLD` is not blocked meanwhile: other coroutines wait for their children. A cancellation kills
//! the shell, as glibc does when a thread is cancelled.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::wait::waitpid;
use crate::host::{Host, current_host, errno, fail, set_errno};
use crate::php_cell::PhpCell;
use libc::{c_char, c_int, pid_t, sigset_t};
use std::mem::MaybeUninit;

const IGNORED: [c_int; 2] = [libc::SIGINT, libc::SIGQUIT];

/// The number of running shells, and the actions of the two signals before the first one.
struct Shells {
    running: usize,
    before: [Option<libc::sigaction>; 2],
}

static SHELLS: PhpCell<Shells> = PhpCell::new(Shells { running: 0, before: [None; 2] });

fn disposition(signal: c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    let mut old = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `new` is null or complete, `old` has room and is read only when it was filled. What the reactor
    // knows of the program's wishes stays: the real disposition is put back.
    unsafe {
        let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
        (libc::sigaction(signal, new, old.as_mut_ptr()) == 0).then(|| old.assume_init())
    }
}

/// Ignores the two signals. Returns which of them a child must have reset to their default.
fn begin(host: &dyn Host) -> [bool; 2] {
    SHELLS.with(host, |shells| {
        shells.running += 1;
        if shells.running == 1 {
            // SAFETY: a zeroed `sigaction` is one; its mask is empty.
            let mut ignore: libc::sigaction = unsafe { std::mem::zeroed() };
            ignore.sa_sigaction = libc::SIG_IGN;
            shells.before = IGNORED.map(|signal| disposition(signal, Some(&ignore)));
        }
        shells.before.map(|before| before.is_none_or(|action| action.sa_sigaction != libc::SIG_IGN))
    })
}

fn end(host: &dyn Host) {
    SHELLS.with(host, |shells| {
        shells.running -= 1;
        if shells.running == 0 {
            for (signal, before) in IGNORED.into_iter().zip(shells.before) {
                disposition(signal, before.as_ref());
            }
        }
    });
}

/// Starts the shell. Fails with the error of `posix_spawn`.
fn spawn(command: *const c_char, reset: [bool; 2]) -> Result<pid_t, c_int> {
    unsafe extern "C" {
        static environ: *const *mut c_char;
    }
    let mut attributes = MaybeUninit::<libc::posix_spawnattr_t>::uninit();
    let mut defaults = MaybeUninit::<sigset_t>::uninit();
    let arguments = [c"sh".as_ptr(), c"-c".as_ptr(), command, std::ptr::null()];
    let mut pid = 0;
    super::share_descriptors();
    // SAFETY: attributes and set are initialised before they are used; `arguments` ends with null, and its strings
    // live through the call; `posix_spawn` does not write to them.
    let error = unsafe {
        libc::posix_spawnattr_init(attributes.as_mut_ptr());
        libc::sigemptyset(defaults.as_mut_ptr());
        for (signal, reset) in IGNORED.into_iter().zip(reset) {
            if reset {
                libc::sigaddset(defaults.as_mut_ptr(), signal);
            }
        }
        libc::posix_spawnattr_setsigdefault(attributes.as_mut_ptr(), defaults.as_ptr());
        libc::posix_spawnattr_setflags(attributes.as_mut_ptr(), libc::POSIX_SPAWN_SETSIGDEF as libc::c_short);
        let error = libc::posix_spawn(
            &mut pid,
            c"/bin/sh".as_ptr(),
            std::ptr::null(),
            attributes.as_ptr(),
            arguments.as_ptr().cast(),
            environ,
        );
        libc::posix_spawnattr_destroy(attributes.as_mut_ptr());
        error
    };
    if error == 0 { Ok(pid) } else { Err(error) }
}

/// `system(3)`.
pub unsafe extern "C" fn system(command: *const c_char) -> c_int {
    let Some(host) = current_host().filter(|_| !command.is_null()) else {
        // SAFETY: the caller's own argument.
        return unsafe { libc::system(command) };
    };
    let saved = errno();
    let reset = begin(host);
    let pid = match spawn(command, reset) {
        Ok(pid) => pid,
        Err(error) => {
            end(host);
            set_errno(error);
            return 127 << 8; // as if the shell had ended with 127
        }
    };
    let mut status = 0;
    let error = loop {
        // SAFETY: a status of our own.
        if unsafe { waitpid(pid, &mut status, 0) } == pid {
            break 0;
        }
        match errno() {
            libc::EINTR => {}
            libc::ECANCELED => {
                // SAFETY: the child has not been reaped; the call writes nothing.
                unsafe {
                    libc::kill(pid, libc::SIGKILL);
                    libc::waitpid(pid, std::ptr::null_mut(), 0);
                }
                break libc::ECANCELED;
            }
            error => break error,
        }
    };
    end(host);
    if error != 0 {
        return fail(error);
    }
    set_errno(saved);
    status
}
