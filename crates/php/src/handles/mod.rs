//! Calls of internal functions: what they use, and who else may use it while their coroutine is suspended.

pub mod classify;
pub mod connection_groups;
pub mod handle_locks;
pub mod iterators;
pub mod persistent;
pub mod streams;
pub mod trampolines;
pub mod verdicts;
