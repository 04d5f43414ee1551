//! Decisions only: who runs next, who is cancelled, who is told. No I/O, no clock, no PHP.
#![forbid(unsafe_code)]

mod arena;
pub mod sched;
pub mod timers;
