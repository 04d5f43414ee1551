//! C stacks: placement, guards, overflows, and the switch between them.

pub mod arch;
#[cfg(asan)]
pub mod asan;
pub mod guard;
pub mod memory;
pub mod overflow;
pub mod stacks;
