//! The scheduler and its timers, channels and semaphores: decisions only, without I/O, a clock, or PHP.
#![forbid(unsafe_code)]

mod arena;
pub mod channel;
pub mod sched;
pub mod semaphore;
pub mod timers;
pub mod wait_list;
