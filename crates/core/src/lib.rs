//! The scheduler and its timers: decisions only, without I/O, a clock, or PHP.
#![forbid(unsafe_code)]

mod arena;
pub mod sched;
pub mod timers;
