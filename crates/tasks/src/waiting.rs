//! How the waits of tasks begin and end.

use crate::ends;
use crate::scheduler::{self, SchedulerObject};
use crate::task::{Status, TaskObject};
use crate::thrown::{release, take_unless_exit};
use crate::waits::{Begun, Wait};
use spindle_zend::{Owned, Thrown, Value, exception};

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
            Err(_) => break take_unless_exit(),
            Ok(Begun::Waiting(_)) if task.is_killed.get() => {
                wait.leave(&this.waits);
                break None;
            }
            Ok(Begun::Waiting(key)) => {
                this.waiting.borrow_mut().insert(key, Owned::of(task));
                task.wait.replace(Some(wait));
                task.status.set(Status::Waiting);
                this.waiting_count.set(this.waiting_count.get() + 1);
                scheduler::goes_on(task);
                return;
            }
            Ok(Begun::Over) => {}
        }
        match wait.result(&this.waits, stalls) {
            Err(_) => break take_unless_exit(),
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

/// Gives tasks what they have waited for.
pub fn end_waits(this: &SchedulerObject) -> Result<(), Thrown> {
    while let Some(key) = this.waits.next() {
        let task = this.waiting.borrow_mut().remove(&key);
        let Some(task) = task else { continue };
        let Some(wait) = task.wait.take() else { continue };
        this.waiting_count.set(this.waiting_count.get() - 1);
        task.status.set(Status::Running);
        wait.signalled(&this.waits);
        proceed(this, &task, wait);
        ends::release_task(this, task);
        exception::check()?;
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
pub fn begin_waits(this: &SchedulerObject) -> Result<(), Thrown> {
    for task in waiting_tasks(this) {
        let Some(wait) = task.wait.take() else { continue };
        this.waiting_count.set(this.waiting_count.get() - 1);
        task.status.set(Status::Running);
        proceed(this, &task, wait);
        exception::check()?;
    }
    Ok(())
}

/// Removes the registrations of all waits, which stay the tasks' own.
pub fn leave_waits(this: &SchedulerObject) {
    let waiting = this.waiting.take();
    for task in waiting.values() {
        if let Some(wait) = &*task.wait.borrow() {
            wait.leave(&this.waits);
        }
    }
    exception::put_aside(|| drop(waiting));
}
