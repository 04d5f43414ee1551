//! The scheduler and its timers, channels, pools, semaphores, rates and the table of locks: decisions only, without I/O, a clock, or PHP.
#![forbid(unsafe_code)]

mod arena;
pub mod channel;
pub mod lifecycle;
pub mod locks;
pub mod pool;
pub mod rate;
pub mod sched;
pub mod semaphore;
pub mod timers;
pub mod wait_list;
