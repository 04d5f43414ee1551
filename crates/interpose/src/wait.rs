//! The mechanisms by which hooks suspend their coroutine.

pub(crate) mod address_queue;
mod backoff;
mod fd;
pub(crate) mod identity;
mod job;
mod queue;
pub(crate) mod time;
pub mod turns;

pub(crate) use backoff::Backoff;
pub use fd::for_fd;
pub(crate) use fd::{made, nonblocking_error, poll_now, record_not_ready, retry_eintr, yield_after};
pub use job::{Job, for_job, for_job_or_abandon};
pub(crate) use job::{UNCANCELLABLE_PAUSE, pause_on_worker};
pub(crate) use queue::{Place, WaitQueue, retry_in_queue, wake_matching};
pub(crate) use time::{deadline_after, park_until};
