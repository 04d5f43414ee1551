//! `Scheduler::run()`: the rounds of its tasks, and their waits.

use crate::arguments::describe;
use crate::scheduler::{self, SchedulerObject};
use crate::system::SYSTEM;
use crate::task::{Status, Step, TaskObject};
use crate::thrown::{new_exception, release, take_thrown};
use crate::waits::Wait;
use crate::{commands, ends, waiting};
use spindle_php::coroutine;
use spindle_zend::{Object, Owned, Thrown, Value, exception};

/// The number of steps after which other coroutines get their turn.
const STEPS_PER_YIELD: usize = 256;

/// Runs tasks until none is queued or waits.
///
/// # Errors
/// It is active already; the coroutine is cancelled, or cannot be suspended here; or a task exits.
pub fn run(this: &SchedulerObject) -> Result<(), Thrown> {
    if this.is_active.replace(true) {
        return Err(exception::throw_error("run() of this scheduler is active already"));
    }
    this.runner.set(Some(coroutine::running_maker()));
    this.waits.serve(true);
    let result = waiting::begin_waits(this).and_then(|()| rounds(this));
    this.is_suspended.set(false);
    if exception::is_exit_in_flight() {
        return result; // nothing runs again
    }
    waiting::leave_waits(this);
    this.waits.serve(false);
    this.is_active.set(false);
    let failed = this.failed.take();
    exception::put_aside(|| drop(failed)); // what user code does not hold is reported
    result
}

fn rounds(this: &SchedulerObject) -> Result<(), Thrown> {
    loop {
        let mut left = this.queue.borrow().len();
        while left > 0 {
            let round = left.min(STEPS_PER_YIELD);
            left -= round;
            for _ in 0..round {
                let next = this.queue.borrow_mut().pop_front();
                let Some(task) = next else { break };
                turn(this, task)?;
            }
            coroutine::suspend()?;
        }
        waiting::end_waits(this)?;
        if !this.queue.borrow().is_empty() {
            continue;
        }
        if this.waiting_count.get() == 0 {
            return Ok(());
        }
        this.is_suspended.set(true);
        this.waits.wait("Async\\Task\\Scheduler::run", None)?;
        this.is_suspended.set(false);
        if this.waits.take_lost() {
            waiting::leave_waits(this);
            waiting::begin_waits(this)?;
        }
        waiting::end_waits(this)?;
    }
}

/// Runs a queued task to its next `yield`, and carries out what it yields.
fn turn(this: &SchedulerObject, task: Owned<TaskObject>) -> Result<(), Thrown> {
    if task.status.get() == Status::Queued {
        scheduler::goes_on(&task);
        match task.step() {
            Step::Yielded(value) if value.is_null() => {
                this.enqueue_again(task);
                return Ok(());
            }
            Step::Yielded(value) => {
                task.status.set(Status::Idle);
                yielded(this, &task, value)?;
            }
            Step::Ended(value) => ends::conclude(&task, Ok(value), false),
            Step::Failed(failure) => ends::conclude(&task, Err(failure), false),
            Step::Killed => ends::conclude(&task, Ok(Value::UNDEF), false),
            Step::Exits(thrown) => return Err(thrown),
        }
    }
    ends::release_task(this, task);
    exception::check()
}

/// Does what a task yields.
fn yielded(this: &SchedulerObject, task: &TaskObject, value: Value) -> Result<(), Thrown> {
    let done = match value.as_object() {
        Some(object) if let Some(call) = SYSTEM.of(object) => commands::carry_out(call, task, this),
        Some(object) if object.is_a(coroutine::awaitable()) => {
            Wait::of_awaitable(Owned::of(object)).and_then(|wait| commands::wait(this, task, wait))
        }
        _ => {
            let text = format!(
                "A task cannot yield {}: only null, a Generator, a SystemCall, an Async\\Awaitable or retval()",
                describe(&value)
            );
            Err(exception::throw(new_exception("typeerror", &text)))
        }
    };
    if let Some(thrown) = take_thrown()? {
        throw_into(this, task, thrown);
    }
    if let Some(thrown) = release((done, value)) {
        throw_into(this, task, thrown);
    }
    exception::check()
}

/// Gives a task an exception that was thrown by what it has yielded, or was released for it. Its `yield` throws it.
fn throw_into(this: &SchedulerObject, task: &TaskObject, thrown: Owned<Object>) {
    match task.status.get() {
        Status::Finished => return ends::failed_after_end(task, thrown),
        Status::Waiting => waiting::leave_wait(this, task),
        _ => {}
    }
    task.put_exception(thrown);
    if task.status.get() == Status::Idle {
        this.enqueue(task);
    }
}
