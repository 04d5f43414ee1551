//! Calls of internal functions: what they use, and what other coroutines may use while theirs is suspended.

pub mod calls;
pub mod classify;
pub mod connection_groups;
pub mod function_table;
pub mod handle_locks;
pub mod iterators;
pub mod persistent;
pub mod streams;
pub mod trampolines;
pub mod verdicts;
