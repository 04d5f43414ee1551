//! What a scheduler can be told, by its methods and by system calls.

use crate::scheduler::SchedulerObject;
use crate::system::{Kind, SystemCall};
use crate::task::{self, Status, TaskObject};
use crate::thrown::new_exception;
use crate::waits::{Operation, Wait};
use crate::{ends, socket, waiting};
use spindle_php::coroutine;
use spindle_zend::{Generator, PhpResult, Thrown, Value, exception};

/// Adds a task for a generator. Returns its id.
///
/// # Errors
/// The generator belongs to a task.
pub fn new_task(this: &SchedulerObject, generator: Generator) -> Result<i64, Thrown> {
    let id = this.last_id.get() + 1;
    let task = task::make(id, generator)?;
    this.last_id.set(id);
    task.owner.set(this.number);
    this.tasks.borrow_mut().insert(id, task.clone());
    this.enqueue(&task);
    Ok(id)
}

/// Adds a task to the queue; one that waits leaves its wait. Has no effect on one that runs, is queued or has ended.
///
/// # Errors
/// It belongs to another scheduler.
pub fn schedule(this: &SchedulerObject, task: &TaskObject) -> PhpResult {
    if task.status.get() != Status::Finished {
        this.adopt(task)?;
    }
    if task.status.get() == Status::Waiting {
        waiting::leave_wait(this, task);
    }
    if task.status.get() == Status::Idle {
        this.enqueue(task);
    }
    exception::check().map(|()| Value::NULL)
}

/// Kills the task with this id. Returns `false` if there is none.
pub fn kill(this: &SchedulerObject, id: i64) -> bool {
    let task = this.tasks.borrow().get(&id).cloned();
    let Some(task) = task else { return false };
    ends::kill(&task);
    ends::release_task(this, task);
    true
}

/// Lets a task wait. If `run()` is not active, the wait begins with it.
///
/// # Errors
/// It cannot wait for this, or is not to be resumed by `schedule()`.
pub fn wait(this: &SchedulerObject, task: &TaskObject, wait: Wait) -> PhpResult {
    if task.status.get() == Status::Finished {
        return Ok(Value::NULL);
    }
    this.adopt(task)?;
    match task.status.get() {
        Status::Running | Status::Queued => {
            let text = "A task that runs, or is queued, cannot be made to wait: it waits by what it yields";
            return Err(exception::throw_error(text));
        }
        Status::Waiting => waiting::leave_wait(this, task),
        Status::Idle | Status::Finished => {}
    }
    if wait.awaitable().is_some_and(|object| object == task.object()) {
        return Err(exception::throw_new(coroutine::async_exception(), "A task cannot await itself"));
    }
    waiting::begin_wait(this, task, Box::new(wait));
    exception::check().map(|()| Value::NULL)
}

/// Carries out a system call for the task that has yielded it. What it throws is in flight.
pub fn carry_out(this: &SystemCall, task: &TaskObject, scheduler: &SchedulerObject) -> PhpResult {
    if matches!(*this.kind.borrow(), Kind::TaskId) {
        drop(task.put_value(task.id().into()));
        return schedule(scheduler, task);
    }
    let kind = this.kind.borrow().clone();
    match kind {
        Kind::Callback => coroutine::call(&this.callback.get(), &mut [task.object().into(), scheduler.object().into()]),
        Kind::TaskId => Ok(Value::NULL), // see above
        Kind::NewTask(generator) => {
            let id = new_task(scheduler, generator)?;
            drop(task.put_value(id.into()));
            schedule(scheduler, task)
        }
        Kind::Kill(id) => {
            if !kill(scheduler, id) {
                let thrown = new_exception("invalidargumentexception", "Invalid task ID!");
                return Err(exception::throw(thrown));
            }
            schedule(scheduler, task)
        }
        Kind::Wait(stream, direction) => wait(scheduler, task, Wait::of_stream(stream, direction, Operation::None)),
        Kind::Operate(stream, operation) => {
            let direction = socket::direction_of(&operation);
            wait(scheduler, task, Wait::of_stream(stream, direction, operation))
        }
    }
    .map(|_| Value::NULL)
}
