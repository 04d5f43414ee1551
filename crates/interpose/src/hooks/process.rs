//! Child processes.
//!
//! `fork` needs no hook.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

mod stdio;
mod system;
mod wait;

use crate::hooks::fd::tracking::OPENS;
use crate::host::php_thread_host;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use libc::{c_char, c_int, pid_t};

pub use stdio::{pclose, popen};
pub use system::system;
pub use wait::{wait, wait3, wait4, waitid, waitpid};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const WAIT: Behavior = Behavior {
        wait: WaitKind::Child,
        summary: "tried, else parks until the child ends (pidfd), or until SIGCHLD",
        on_cancel: on_cancel::FAILS,
    };
    const SPAWN: Behavior = Behavior {
        wait: WaitKind::Never,
        summary: "open descriptors count as shared with the child",
        on_cancel: on_cancel::NEVER,
    };
    hooked_calls![
        c"wait" => wait, WAIT;
        c"waitpid" => waitpid, WAIT;
        c"__waitpid" => waitpid, WAIT;
        c"wait3" => wait3, WAIT;
        c"wait4" => wait4, WAIT;
        c"waitid" => waitid, WAIT;
        c"vfork" => vfork, Behavior { wait: WaitKind::Never, summary: "made as a fork, since a child that shares memory would change the runtime's state", on_cancel: on_cancel::NEVER };
        c"posix_spawn" => posix_spawn, SPAWN;
        c"posix_spawnp" => posix_spawnp, SPAWN;
        c"popen" => popen, OPENS;
        c"pclose" => pclose, Behavior { wait: WaitKind::Worker, summary: "in the thread pool", on_cancel: on_cancel::ABANDONED };
        c"system" => system, Behavior { wait: WaitKind::Child, summary: "waits for the shell as waitpid does", on_cancel: on_cancel::KILLED };
    ]
}

/// Records that a child is about to inherit the open descriptors. libc announces forks only.
fn share_descriptors() {
    if let Some(host) = php_thread_host() {
        host.reactor().mark_descriptions_shared();
    }
}

/// `posix_spawn(3)`.
pub unsafe extern "C" fn posix_spawn(
    pid: *mut pid_t,
    path: *const c_char,
    actions: *const libc::posix_spawn_file_actions_t,
    attributes: *const libc::posix_spawnattr_t,
    arguments: *const *mut c_char,
    environment: *const *mut c_char,
) -> c_int {
    share_descriptors();
    // SAFETY: the caller's own arguments.
    unsafe { libc::posix_spawn(pid, path, actions, attributes, arguments, environment) }
}

/// `posix_spawnp(3)`.
pub unsafe extern "C" fn posix_spawnp(
    pid: *mut pid_t,
    file: *const c_char,
    actions: *const libc::posix_spawn_file_actions_t,
    attributes: *const libc::posix_spawnattr_t,
    arguments: *const *mut c_char,
    environment: *const *mut c_char,
) -> c_int {
    share_descriptors();
    // SAFETY: the caller's own arguments.
    unsafe { libc::posix_spawnp(pid, file, actions, attributes, arguments, environment) }
}

/// `vfork(2)`, as `fork(2)`: a child that shares the parent's memory would change the runtime's state.
pub unsafe extern "C" fn vfork() -> pid_t {
    // SAFETY: as the caller's own call would be; a fork may be used wherever a vfork may.
    unsafe { libc::fork() }
}
