//! Locks, condition variables, semaphores, joins of threads and routines that run once.

pub mod condition;
pub mod join;
pub mod mutex;
pub mod once;
pub mod semaphore;

use crate::registry::HookedCall;
use std::ffi::CStr;

/// Returns a function that older C libraries do not have. If a caller of a hook has found it, this finds it too.
///
/// # Safety
/// `F` is the type of the function of this name.
unsafe fn newer<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut libc::c_void>()) };
    // SAFETY: a terminated name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: the caller's promise.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    [
        mutex::hooked_calls(),
        condition::hooked_calls(),
        semaphore::hooked_calls(),
        join::hooked_calls(),
        once::hooked_calls(),
    ]
    .concat()
}
