//! State outside a coroutine's stacks that travels with it.

pub mod globals;
pub mod marks;
pub mod openssl;
pub mod state;
pub mod switch_hooks;
