//! `dlopen` and `dlmopen`: a library that comes later is patched too.
//!
//! The gate is closed meanwhile: a constructor that were parked would leave the loader's lock, which is
//! recursive and the thread's, to other coroutines. Libraries that other threads load are found at the next
//! load on the PHP thread.
//!
//! What differs from a direct call: glibc looks a relative name up by the `RUNPATH` of the caller, and the
//! caller is us.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::{close_gate, errno, inside, on_php_thread, open_gate, set_errno};
use crate::table::{Entry, Means, Way, cancelled, entries};
use libc::{c_char, c_int, c_long, c_void};

/// The family's functions.
pub fn entries() -> Vec<Entry> {
    const DLOPEN: Way =
        Way { means: Means::Books, about: "the library that was loaded is patched", cancelled: cancelled::NEVER };
    entries![
        c"dlopen" => dlopen, DLOPEN;
        c"dlmopen" => dlmopen, DLOPEN;
    ]
}

fn load(open: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let Some(host) = on_php_thread() else { return open() };
    let was_open = inside().is_some();
    if was_open {
        close_gate();
    }
    let library = open();
    if was_open {
        open_gate();
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

/// `dlmopen(3)`.
pub unsafe extern "C" fn dlmopen(namespace: c_long, name: *const c_char, flags: c_int) -> *mut c_void {
    // SAFETY: the caller's own arguments.
    load(|| unsafe { libc::dlmopen(namespace, name, flags) })
}
