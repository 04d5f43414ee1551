//! `Scheduler::run()`: the rounds of its tasks, and their waits.

use crate::calls::{self, SYSTEM};
use crate::ends::{self, release};
use crate::scheduler::{self, SchedulerObject};
use crate::task::{Status, Step, TaskObject, describe, take_thrown};
use crate::waits::{Begun, Wait};
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
    let result = begin_waits(this).and_then(|()| rounds(this));
    this.is_suspended.set(false);
    if exception::is_exit_in_flight() {
        return result; // nothing runs again
    }
    leave_waits(this);
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
        end_waits(this)?;
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
            leave_waits(this);
            begin_waits(this)?;
        }
        end_waits(this)?;
    }
}

/// Returns an error if something is in flight, which ends `run()`.
fn nothing_in_flight() -> Result<(), Thrown> {
    if exception::is_in_flight() { Err(Thrown::is_in_flight()) } else { Ok(()) }
}

/// Runs a queued task to its next `yield`, and carries out what it yields.
fn turn(this: &SchedulerObject, task: Owned<TaskObject>) -> Result<(), Thrown> {
    if task.status.get() == Status::Queued {
        task.goes_on();
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
    nothing_in_flight()
}

/// Does what a task yields.
fn yielded(this: &SchedulerObject, task: &TaskObject, value: Value) -> Result<(), Thrown> {
    let done = match value.as_object() {
        Some(object) if let Some(call) = SYSTEM.of(object) => calls::run(call, task, this),
        Some(object) if object.is_a(coroutine::awaitable()) => {
            Wait::of_awaitable(Owned::of(object)).and_then(|wait| scheduler::wait(this, task, wait))
        }
        _ => {
            let text = format!(
                "A task cannot yield {}: only null, a Generator, a SystemCall, an Async\\Awaitable or retval()",
                describe(&value)
            );
            Err(exception::throw(crate::new_exception("typeerror", &text)))
        }
    };
    if let Some(thrown) = take_thrown()? {
        throw_into(this, task, thrown);
    }
    if let Some(thrown) = release((done, value)) {
        throw_into(this, task, thrown);
    }
    nothing_in_flight()
}

/// Gives a task an exception that was thrown by what it has yielded, or was released for it. Its `yield` throws it.
fn throw_into(this: &SchedulerObject, task: &TaskObject, thrown: Owned<Object>) {
    match task.status.get() {
        Status::Finished => return ends::failed_after_end(task, thrown),
        Status::Waiting => leave_wait(this, task),
        _ => {}
    }
    task.put_exception(thrown);
    if task.status.get() == Status::Idle {
        this.enqueue(task);
    }
}

/// Begins a wait of a task that does nothing else.
pub fn begin_wait(this: &SchedulerObject, task: &TaskObject, wait: Box<Wait>) {
    if this.is_active.get() {
        // Code of user wrappers may run: the task counts as running meanwhile.
        task.status.set(Status::Running);
        proceed(this, task, wait);
    } else {
        task.wait.replace(Some(wait));
        task.status.set(Status::Waiting);
        this.waiting_count.set(this.waiting_count.get() + 1);
    }
}

/// Registers a wait, or gives the task its result if it has ended.
fn proceed(this: &SchedulerObject, task: &TaskObject, wait: Box<Wait>) {
    let mut stalls = 0;
    let thrown = loop {
        let begun = wait.begin(&this.waits, |key| this.waiting.borrow().contains_key(&key));
        match begun {
            Err(_) => break exception_in_flight(),
            Ok(Begun::Waiting(_)) if task.is_killed.get() => {
                wait.leave(&this.waits);
                break None;
            }
            Ok(Begun::Waiting(key)) => {
                this.waiting.borrow_mut().insert(key, Owned::of(task));
                task.wait.replace(Some(wait));
                task.status.set(Status::Waiting);
                this.waiting_count.set(this.waiting_count.get() + 1);
                task.goes_on();
                return;
            }
            Ok(Begun::Over) => {}
        }
        match wait.result(&this.waits, stalls) {
            Err(_) => break exception_in_flight(),
            Ok(Some(value)) => break release(task.put_value(value)),
            Ok(None) => stalls += 1,
        }
    };
    task.status.set(Status::Idle);
    if let Some(thrown) = thrown {
        task.put_exception(thrown);
    }
    if let Some(thrown) = release(wait) {
        task.put_exception(thrown);
    }
    if task.is_killed.get() {
        ends::conclude(task, Ok(Value::UNDEF), false);
    } else {
        this.enqueue(task);
    }
}

/// Takes what was thrown, unless it is an `exit`, which stays in flight.
fn exception_in_flight() -> Option<Owned<Object>> {
    take_thrown().unwrap_or_default()
}

/// Gives tasks what they have waited for.
fn end_waits(this: &SchedulerObject) -> Result<(), Thrown> {
    while let Some(key) = this.waits.next() {
        let task = this.waiting.borrow_mut().remove(&key);
        let Some(task) = task else { continue };
        let Some(wait) = task.wait.take() else { continue };
        this.waiting_count.set(this.waiting_count.get() - 1);
        task.status.set(Status::Running);
        wait.signalled(&this.waits);
        proceed(this, &task, wait);
        ends::release_task(this, task);
        nothing_in_flight()?;
    }
    Ok(())
}

/// Ends the wait of a task, which then does nothing. What its release throws is the task's.
pub fn leave_wait(this: &SchedulerObject, task: &TaskObject) {
    let Some(wait) = task.wait.take() else { return };
    task.status.set(Status::Idle);
    this.waiting_count.set(this.waiting_count.get() - 1);
    if let Some(key) = wait.key.get() {
        drop(this.waiting.borrow_mut().remove(&key)); // the caller has a reference, too
    }
    wait.abandon(&this.waits);
    this.interrupt();
    if let Some(thrown) = release(wait) {
        task.put_exception(thrown);
    }
}

fn waiting_tasks(this: &SchedulerObject) -> Vec<Owned<TaskObject>> {
    if this.waiting_count.get() == 0 {
        return Vec::new();
    }
    let mut tasks = this.in_order();
    tasks.retain(|task| task.status.get() == Status::Waiting);
    tasks
}

/// Registers the waits of tasks that wait since before.
fn begin_waits(this: &SchedulerObject) -> Result<(), Thrown> {
    for task in waiting_tasks(this) {
        let Some(wait) = task.wait.take() else { continue };
        this.waiting_count.set(this.waiting_count.get() - 1);
        task.status.set(Status::Running);
        proceed(this, &task, wait);
        nothing_in_flight()?;
    }
    Ok(())
}

/// Removes the registrations of all waits, which stay the tasks' own.
fn leave_waits(this: &SchedulerObject) {
    let waiting = this.waiting.take();
    for task in waiting.values() {
        if let Some(wait) = &*task.wait.borrow() {
            wait.leave(&this.waits);
        }
    }
    exception::put_aside(|| drop(waiting));
}
