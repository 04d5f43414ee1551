//! `dlopen` and `dlmopen`, after which the loaded library is patched.
//!
//! Suspension is disabled meanwhile: a constructor that parked would leave the loader's lock, which is recursive and
//! held by the thread, to other coroutines. Libraries that other threads load are found at the next load on the PHP
//! thread.
//!
//! Unlike a direct call: glibc looks a relative name up by the `RUNPATH` of its caller, which is Spindle.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::{current_host, disable_suspension, enable_suspension, errno, php_thread_host, set_errno};
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
#[cfg(target_env = "gnu")]
use libc::c_long;
use libc::{c_char, c_int, c_void};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const DLOPEN: Behavior =
        Behavior { wait: WaitKind::Never, summary: "the loaded library is patched", on_cancel: on_cancel::NEVER };
    [
        hooked_calls![
            c"dlopen" => dlopen, DLOPEN;
        ],
        #[cfg(target_env = "gnu")]
        hooked_calls![
            c"dlmopen" => dlmopen, DLOPEN;
        ],
    ]
    .concat()
}

fn load(open: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let Some(host) = php_thread_host() else { return open() };
    let was_open = current_host().is_some();
    if was_open {
        disable_suspension();
    }
    let library = open();
    if was_open {
        enable_suspension();
    }
    if !library.is_null() {
        let saved = errno();
        host.library_loaded();
        set_errno(saved);
    }
    library
}

/// `dlopen(3)`.
pub unsafe extern "C" fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the caller's own arguments.
    load(|| unsafe { libc::dlopen(name, flags) })
}

/// `dlmopen(3)`, which musl does not have.
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn dlmopen(namespace: c_long, name: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the caller's own arguments.
    load(|| unsafe { libc::dlmopen(namespace, name, flags) })
}
