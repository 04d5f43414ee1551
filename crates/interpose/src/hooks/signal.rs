//! Signals: setting their handlers, and waiting for them.

pub mod action;
pub(crate) mod pending;
pub mod wait;

use crate::registry::HookedCall;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    [action::hooked_calls(), wait::hooked_calls()].concat()
}
