//! Communication between processes: message queues and semaphores.

pub mod mqueue;
pub mod sysv;

use crate::registry::HookedCall;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    [mqueue::hooked_calls(), sysv::hooked_calls()].concat()
}
