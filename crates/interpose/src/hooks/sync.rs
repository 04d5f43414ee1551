//! Locks, condition variables, semaphores, joins of threads and routines that run once.

pub mod condition;
pub mod join;
pub mod mutex;
pub mod once;
pub mod semaphore;

use crate::registry::HookedCall;

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
