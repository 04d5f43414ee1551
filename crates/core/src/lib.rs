//! The scheduler and its timers, channels, pools and semaphores: decisions only, without I/O, a clock, or PHP.
#![forbid(unsafe_code)]

mod arena;
pub mod channel;
pub mod pool;
pub mod sched;
pub mod semaphore;
pub mod timers;
pub mod wait_list;
