//! The mechanisms by which hooks suspend their coroutine.

pub(crate) mod address_queue;
mod fd;
mod job;
pub(crate) mod time;

pub use fd::{WaitOutcome, for_fd};
pub(crate) use fd::{drained, poll_now, refused, retry_eintr, yield_if_due};
pub use job::{Job, for_job, for_job_or_abandon};
pub use time::{after, until};
