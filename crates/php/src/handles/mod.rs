//! Calls of internal functions: which handles they use, and which of them other coroutines may use while a call is
//! suspended.

pub mod after_call;
pub mod calls;
pub mod classify;
pub mod connection_groups;
pub mod curl_shares;
pub mod declared;
pub mod function_table;
pub(crate) mod groups;
pub mod handle_locks;
pub(crate) mod hidden;
pub mod iterators;
pub mod kinds;
pub mod matches;
pub mod multi;
pub mod persistent;
pub mod polling;
pub mod streams;
pub mod trampolines;
pub(crate) mod transactions;
pub mod verdicts;
