//! Running a job in the thread pool.

use crate::host::{BlockedOn, Host, OnSignal, Wake};
use libc::c_int;
use spindle_reactor::{Interrupt, JobKind};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The state of a job that may be abandoned.
enum JobState<T> {
    Queued,
    Running,
    Done(T),
    /// With what to do with a late result.
    Abandoned(fn(T)),
}

/// Runs `job` in the thread pool and parks until it has ended, whatever happens: for jobs that must not be abandoned.
/// The job owns all that it uses.
///
/// Returns `None`, and drops the job, if there is no worker: the caller makes the call in place.
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

/// Parks for 200 µs, which neither a cancellation nor a signal cuts short, since a worker sleeps that long. Returns
/// `false`, and has not waited, if there is no worker.
pub(crate) fn pause_on_worker(host: &dyn Host, call: &'static str, fd: RawFd) -> bool {
    for_job(host, JobKind::Bounded, call, fd, || std::thread::sleep(UNCANCELLABLE_PAUSE)).is_some()
}

/// How long [`pause_on_worker`] parks.
pub(crate) const UNCANCELLABLE_PAUSE: Duration = Duration::from_micros(200);

/// How a job that may be abandoned ended.
pub enum Job<T> {
    /// With this result.
    Done(T),
    /// It continues by itself, and its result is undone. The call fails with this `errno`.
    Abandoned(c_int),
    /// There is no worker and nothing has been done: the caller makes the call in place, or fails.
    NoWorker,
}

/// Runs `job`, which may block without bound, in the thread pool and parks until it has ended. A cancellation or a
/// signal abandons it: it continues, and the worker passes its result to `undo` (which closes the descriptor or frees the
/// list). The job owns all that it uses, descriptors too (duplicates).
///
/// With `interrupt`, the system call of an abandoned job is made to fail with `EINTR`, since it might never return.
pub fn for_job_or_abandon<T: Send + 'static>(
    host: &dyn Host,
    blocked_on: BlockedOn,
    interrupt: bool,
    job: impl FnOnce() -> T + Send + 'static,
    undo: fn(T),
) -> Job<T> {
    let state = Arc::new(Mutex::new(JobState::Queued));
    let shared = Arc::clone(&state);
    let waiter = host.begin_wait();
    let interrupt = interrupt.then(Arc::<Interrupt>::default);
    let interruptible = interrupt.clone();
    let run = move || {
        {
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*state, JobState::Queued) {
                *state = JobState::Running;
            }
        }
        let value = match &interruptible {
            Some(interrupt) => interrupt.run(job),
            None => Some(job()),
        };
        let Some(value) = value else { return };
        let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, JobState::Running) {
            JobState::Abandoned(undo) => undo(value),
            _ => *state = JobState::Done(value),
        }
    };
    if host.reactor().submit(JobKind::Unbounded, run, waiter).is_err() {
        return Job::NoWorker;
    }
    let wake = host.park_for_job(blocked_on);
    // The lock decides: the job has ended, or its result is undone.
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let found = std::mem::replace(&mut *state, JobState::Abandoned(undo));
    match found {
        JobState::Done(value) => Job::Done(value),
        JobState::Queued if wake == Wake::Woken => Job::NoWorker, // refused by the pool
        _ => {
            drop(state);
            if let Some(interrupt) = interrupt {
                host.reactor().abandon(interrupt);
            }
            Job::Abandoned(wake.error().unwrap_or(libc::ECANCELED)) // one that has panicked wakes without a result
        }
    }
}
