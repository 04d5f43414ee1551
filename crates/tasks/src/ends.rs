//! The end of tasks: what is released then, and where a failure goes.

use crate::generators;
use crate::scheduler::{self, SchedulerObject};
use crate::task::{Status, TaskObject};
use crate::thrown::release;
use crate::waiting;
use spindle_php::coroutine::{self, Coroutine, Meaning};
use spindle_zend::{Object, Owned, Value, exception};

/// Ends a task before its end. If its code runs, it ends when that returns.
pub fn kill(task: &TaskObject) {
    match task.status.get() {
        Status::Finished => return,
        Status::Running => {
            task.is_killed.set(true);
            forget(task);
            return;
        }
        Status::Waiting => {
            if let Some(scheduler) = scheduler::of_task(task) {
                waiting::leave_wait(&scheduler, task);
            }
        }
        Status::Idle | Status::Queued => {}
    }
    task.is_killed.set(true);
    conclude(task, Ok(Value::UNDEF), false);
}

/// Removes a task from its scheduler.
fn forget(task: &TaskObject) {
    if let Some(scheduler) = scheduler::of_task(task) {
        drop(scheduler.remove(task)); // the caller has a reference, too
        scheduler.interrupt();
    }
}

/// Ends a task whose code does not run: ends its generators, stores the outcome and wakes what awaits it. A failure that
/// nothing awaits is reported, unless it is `seen`. In flight after this is an `exit`, the cancellation of the running
/// coroutine, or what cannot be reported any more.
pub fn conclude(task: &TaskObject, outcome: Result<Value, Owned<Object>>, seen: bool) {
    let _keep = Owned::of(task);
    if !task.finish() {
        return;
    }
    forget(task);
    let before = exception::take();
    let mut outcome = outcome;
    // The generators first: the `finally` block of one may use what the task holds.
    let generators = task.take_generators();
    generators::end_all(generators);
    fail(&mut outcome);
    drop(task.take_held());
    fail(&mut outcome);
    if exception::is_in_flight() {
        return; // an `exit`
    }
    let failure = outcome.as_ref().err().cloned();
    let awaited = task.complete(outcome);
    drop(exception::put(before));
    if let Some(failure) = failure
        && !awaited
        && !seen
    {
        report(task, failure);
    }
}

/// Reports an exception that was thrown for a task after it had ended.
pub fn failed_after_end(task: &TaskObject, thrown: Owned<Object>) {
    report(task, thrown);
}

/// Makes what is in flight the outcome, unless it is an `exit`.
fn fail(outcome: &mut Result<Value, Owned<Object>>) {
    while !exception::is_exit_in_flight()
        && let Some(thrown) = exception::take()
    {
        match std::mem::replace(outcome, Err(thrown.clone())) {
            Err(first) => exception::set_last_previous(&thrown, first),
            Ok(value) => drop(value), // its destructor may throw, too
        }
    }
}

/// Releases a reference to a task. What the destructor of its result throws is reported.
pub fn release_task(scheduler: &SchedulerObject, task: Owned<TaskObject>) {
    if let Some(thrown) = release(task)
        && let Some(reporter) = spawn_reporter(thrown)
    {
        scheduler.failed.borrow_mut().push(reporter.into());
    }
}

/// Reports a failure that nothing awaits as that of a coroutine. The scheduler keeps the task until `run()` returns, so that it
/// can still be awaited.
fn report(task: &TaskObject, failure: Owned<Object>) {
    let Some(reporter) = spawn_reporter(failure) else { return };
    task.set_reporter(reporter);
    if let Some(scheduler) = scheduler::of_task(task) {
        scheduler.failed.borrow_mut().push(task.object().into());
    }
}

/// Spawns a coroutine that fails with this. In flight after this is the cancellation of the running coroutine, or what no
/// coroutine can report any more.
fn spawn_reporter(failure: Owned<Object>) -> Option<Coroutine> {
    let meaning = coroutine::meaning_of(&failure);
    let mut spawned = None;
    match meaning {
        Meaning::Cancellation => return None,
        Meaning::Failure if !coroutine::have_ended() => exception::put_aside(|| {
            let thrown = failure.clone();
            match coroutine::spawn(move || Err(exception::throw(thrown.clone()))) {
                Ok(reporter) => spawned = Some(reporter),
                Err(_) => drop(exception::take()), // the scope is closed
            }
        }),
        Meaning::Failure | Meaning::OwnCancellation => {}
    }
    if spawned.is_none() {
        exception::put_aside(|| drop(exception::throw(failure)));
    }
    spawned
}
