//! A PHP module for tests: makes libc calls fail as planned.
//!
//! It points the entries of loaded objects at functions of its own, with Spindle's own patcher; a preloaded library
//! would not reach PHP's extensions, which are loaded with `RTLD_DEEPBIND`. Beside Spindle it is in Spindle's object
//! alone: what fails then is the original that a hook calls, as if the kernel had said so. Without Spindle it is in
//! all objects, and the same fault shows what stock PHP makes of it.
//!
//! The environment says what happens:
//!
//! - `SPINDLE_FAULTS`: rules `CALL:WHEN=WHAT`, with commas between them. WHEN is the number of the call, counted from
//!   1, or a share of the calls: `25%`. WHAT is the name of an `errno` (of an `EAI_…` for `getaddrinfo`), or `short`
//!   (half of what was asked for, or a part), `ready` (`poll` says so of all that is asked about) or `stale`
//!   (`epoll_wait` gives an event again that it gave before). No rule: calls are only counted.
//! - `SPINDLE_FAULTS_SEED`: a number that decides which calls make up a share.
//! - `SPINDLE_FAULTS_IN`: the prefix of the objects' file names, empty for all.
//! - `SPINDLE_FAULTS_REPORT`: the file for the report: a line `calls CALL COUNT` for each call that was made and
//!   `injected CALL NUMBER WHAT` for each fault.
//!
//! A fault that the call cannot give (`short` on a datagram, `ECONNRESET` on a file) is left out and not reported. A
//! socket on which a connection is said to be lost is shut down, so that later calls behave as they would.
//!
//! Spindle must not patch this module: `-d async.interpose_exclude=` its file.

mod calls;
mod plan;

use spindle_interpose::patch::Patcher;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};

thread_local! {
    static PATCHER: RefCell<Option<Patcher>> = const { RefCell::new(None) };
    static PROBLEM: RefCell<CString> = RefCell::new(CString::default());
}

unsafe extern "C" {
    /// In `module.c`; a structure of PHP's.
    static mut faults_module_entry: c_void;
}

/// What PHP asks an extension for.
#[unsafe(no_mangle)]
extern "C" fn get_module() -> *mut c_void {
    &raw mut faults_module_entry
}

fn begin() -> Result<(), String> {
    plan::read()?;
    let objects = std::env::var("SPINDLE_FAULTS_IN").unwrap_or_default();
    let only: Vec<String> = objects.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    PATCHER.with_borrow_mut(|patcher| {
        let patcher = patcher.get_or_insert_with(|| Patcher::new(&calls::hooks(), Vec::new()).only(only));
        let report = patcher.patch();
        if !report.errors.is_empty() {
            return Err(report.errors.join("; "));
        }
        if patcher.objects().next().is_none() {
            return Err(format!("no object is patched (SPINDLE_FAULTS_IN={objects})"));
        }
        Ok(())
    })?;
    plan::arm();
    Ok(())
}

/// Patches and arms; null, or what is wrong.
#[unsafe(no_mangle)]
extern "C" fn faults_begin() -> *const c_char {
    match begin() {
        Ok(()) => std::ptr::null(),
        Err(problem) => {
            PROBLEM.set(CString::new(problem).unwrap_or_default());
            PROBLEM.with_borrow(|problem| problem.as_ptr())
        }
    }
}

/// Calls are plain calls again. The entries stay patched.
#[unsafe(no_mangle)]
extern "C" fn faults_end() {
    plan::disarm();
}

/// Writes the report; in a child of a fork, nothing.
#[unsafe(no_mangle)]
extern "C" fn faults_report() {
    if let Err(error) = plan::report() {
        eprintln!("faults: the report cannot be written: {error}");
    }
}
