//! Running a job on a worker thread.

use super::fd::WaitOutcome;
use crate::host::{BlockedOn, Host, OnSignal, Wake};
use spindle_reactor::{Interrupt, JobKind};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, PoisonError};

enum Slot<T> {
    Queued,
    Running,
    Done(T),
    Abandoned(fn(T)),
}

/// Runs `job` on a worker thread, parked meanwhile, and waits for its end whatever happens: for jobs that must not be
/// abandoned. The job owns all that it touches.
///
/// `None` when no worker could be had: the caller does it in place.
pub fn for_job<T: Send + 'static>(
    host: &dyn Host,
    kind: JobKind,
    call: &'static str,
    fd: RawFd,
    job: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let slot = Arc::new(Mutex::new(None));
    let result = Arc::clone(&slot);
    let waiter = host.begin_wait();
    let run = move || {
        let value = job();
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    };
    host.reactor().submit(kind, run, waiter).ok()?;
    host.park_uncancellable(BlockedOn { call, fd, on_signal: OnSignal::Ignore });
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// How a job that may be abandoned ended.
pub enum Job<T> {
    /// With this result.
    Done(T),
    /// It goes on by itself; a late result goes to `undo`.
    Abandoned(WaitOutcome),
    /// No worker could be had, and nothing has been done: the caller does it in place or fails.
    NoWorker,
}

/// Runs `job`, which may wait for ever, on a worker thread, parked meanwhile; a cancellation, a signal or the deadline
/// abandons it: it goes on, and `undo` gets its result on the worker (close the descriptor, free the list). The job owns all that it
/// touches, descriptors too (a duplicate). `stop`: abandoned, its system call is made to fail with `EINTR`, for one
/// that might never return.
pub fn for_job_or_abandon<T: Send + 'static>(
    host: &dyn Host,
    blocked_on: BlockedOn,
    deadline: Option<u64>,
    stop: bool,
    job: impl FnOnce() -> T + Send + 'static,
    undo: fn(T),
) -> Job<T> {
    let slot = Arc::new(Mutex::new(Slot::Queued));
    let result = Arc::clone(&slot);
    let waiter = host.begin_wait();
    let stop = stop.then(Arc::<Interrupt>::default);
    let stopped = stop.clone();
    let run = move || {
        {
            let mut slot = result.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*slot, Slot::Queued) {
                *slot = Slot::Running;
            }
        }
        let value = match &stopped {
            Some(stopped) => stopped.run(job),
            None => Some(job()),
        };
        let Some(value) = value else { return };
        let mut slot = result.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *slot, Slot::Running) {
            Slot::Abandoned(undo) => undo(value),
            _ => *slot = Slot::Done(value),
        }
    };
    if host.reactor().submit(JobKind::Unbounded, run, waiter).is_err() {
        return Job::NoWorker;
    }
    let wake = host.park_for_job(deadline, blocked_on);
    // Asked once, under the lock: it has either succeeded or is too late.
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let found = std::mem::replace(&mut *slot, Slot::Abandoned(undo));
    match found {
        Slot::Done(value) => Job::Done(value),
        Slot::Queued if wake == Wake::Woken => Job::NoWorker, // refused
        _ => {
            drop(slot);
            if let Some(stop) = stop {
                host.reactor().abandon(stop);
            }
            Job::Abandoned(match wake {
                Wake::TimedOut => WaitOutcome::TimedOut,
                Wake::Interrupted => WaitOutcome::Interrupted,
                // A job that panicked wakes without a result; there is nothing to go on with.
                Wake::Cancelled | Wake::Woken => WaitOutcome::Cancelled,
            })
        }
    }
}
