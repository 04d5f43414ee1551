//! The classes `Async\Task\Task` and `Async\Task\Scheduler`.

use crate::arguments::{generator_of, stream_of};
use crate::scheduler::{self, SCHEDULER, Scheduler, SchedulerObject};
use crate::task::{Status, Step, TASK, Task, TaskObject};
use crate::waits::{Operation, Wait};
use crate::{commands, ends, run};
use spindle_php::coroutine::{self, AwaitableClass, Completion, Direction};
use spindle_zend::{
    Call, Class, Collected, Object, Owned, PhpResult, State, Thrown, Type, Value, engine, exception, function_table,
};

function_table! {
    static TASK_METHODS = {
        c"__construct"(taskId: Type::INT, coroutine: Type::class(c"Generator")) -> Type::NONE => construct;
        c"getTaskId"() -> Type::INT => |call| Ok(call.this_of(&TASK).id().into());
        c"setSendValue"(sendValue: Type::MIXED) -> Type::VOID => |call| {
            let value = call.passed().value(1).cloned().unwrap_or_default();
            let task = call.this_of(&TASK);
            if task.status.get() != Status::Finished {
                drop(task.put_value(value));
            }
            Ok(Value::NULL)
        };
        c"setException"(exception: Type::class(c"Throwable")) -> Type::VOID => |call| {
            let thrown = call.passed().object(1, engine::throwable_class())?;
            let task = call.this_of(&TASK);
            if task.status.get() != Status::Finished {
                task.exception.set(Some(Owned::of(thrown)));
            }
            Ok(Value::NULL)
        };
        c"run"() -> Type::MIXED => run_by_hand;
        c"isFinished"() -> Type::BOOL => |call| Ok((call.this_of(&TASK).status.get() == Status::Finished).into());
    }
}

function_table! {
    static SCHEDULER_METHODS = {
        c"newTask"(coroutine: Type::class(c"Generator")) -> Type::INT => |call| {
            commands::new_task(call.this_of(&SCHEDULER), generator_of(&call, 1)?).map(Value::from)
        };
        c"schedule"(task: Type::class(c"Async\\Task\\Task")) -> Type::VOID => |call| {
            let task = task_of(&call, 1)?;
            commands::schedule(call.this_of(&SCHEDULER), &task)
        };
        c"killTask"(tid: Type::INT) -> Type::BOOL => |call| {
            Ok(commands::kill(call.this_of(&SCHEDULER), call.passed().long(1)?).into())
        };
        c"waitForRead"(socket: Type::MIXED, task: Type::class(c"Async\\Task\\Task")) -> Type::VOID => |call| {
            wait_for_stream(&call, Direction::Read)
        };
        c"waitForWrite"(socket: Type::MIXED, task: Type::class(c"Async\\Task\\Task")) -> Type::VOID => |call| {
            wait_for_stream(&call, Direction::Write)
        };
        c"run"() -> Type::VOID => |call| {
            run::run(call.this_of(&SCHEDULER))?;
            Ok(Value::NULL)
        };
    }
}

/// Registers the classes. At module start.
pub fn register() {
    TASK.declare(c"Async\\Task\\Task", TASK_METHODS, &[]).implement(coroutine::awaitable());
    TASK.stands_for_result();
    coroutine::declare_awaitable(AwaitableClass {
        completion: completion_of,
        deliver: |object| TASK.of(object).map_or(Ok(Value::NULL), |task| task.outcome()),
        failure: |object| TASK.of(object)?.exception.get(),
    });
    SCHEDULER.declare(c"Async\\Task\\Scheduler", SCHEDULER_METHODS, &[]);
}

fn completion_of(object: &Object) -> Option<&Completion> {
    let task = TASK.of(object)?;
    if !task.completion.is_asked_for() {
        scheduler::note_maker(task);
    }
    Some(&task.completion)
}

impl State for Task {
    const DESTRUCT: Option<fn(&TaskObject)> = Some(ends::kill);

    fn new(_: Class) -> Task {
        Task::new()
    }

    fn collect(&self, values: &mut Collected) {
        self.collect_values(values);
    }
}

impl State for Scheduler {
    const DESTRUCT: Option<fn(&SchedulerObject)> = Some(destruct);

    fn new(_: Class) -> Scheduler {
        Scheduler::new()
    }

    fn made(this: &SchedulerObject) {
        scheduler::list(this);
    }

    fn free(this: &SchedulerObject) {
        this.unlist();
    }

    fn collect(&self, values: &mut Collected) {
        self.collect_values(values);
    }
}

fn construct(call: Call) -> PhpResult {
    let id = call.passed().long(1)?;
    let generator = generator_of(&call, 2)?;
    let task = call.this_of(&TASK);
    if task.is_constructed.get() {
        return Err(exception::throw_error("A task is constructed once"));
    }
    task.begin(id, generator)?;
    Ok(Value::NULL)
}

/// `Task::run()`: runs a task that no scheduler has queued to its next `yield`, and returns the value that it yields.
fn run_by_hand(call: Call) -> PhpResult {
    let task = Owned::of(call.this_of(&TASK));
    match task.status.get() {
        Status::Idle => {}
        Status::Finished => return Ok(Value::NULL),
        Status::Running => return Err(exception::throw_error("The task is running")),
        Status::Queued | Status::Waiting => {
            return Err(exception::throw_error("A task that is queued, or waits, is run by its scheduler"));
        }
    }
    match task.step() {
        Step::Yielded(value) => {
            task.status.set(Status::Idle);
            Ok(value)
        }
        Step::Ended(value) => {
            ends::conclude(&task, Ok(value), false);
            ended_by_hand()
        }
        Step::Failed(failure) => {
            // The caller receives it, so it is not reported for the task.
            ends::conclude(&task, Err(failure.clone()), true);
            ended_by_hand()?;
            Err(exception::throw(failure))
        }
        Step::Killed => {
            ends::conclude(&task, Ok(Value::UNDEF), false);
            ended_by_hand()
        }
        Step::Exits(thrown) => Err(thrown),
    }
}

fn ended_by_hand() -> PhpResult {
    exception::check().map(|()| Value::NULL)
}

fn task_of(call: &Call, number: u32) -> Result<Owned<TaskObject>, Thrown> {
    let object = call.passed().object(number, TASK.class())?;
    TASK.of(object).map(Owned::of).ok_or_else(|| exception::throw_error("This object is no task"))
}

fn wait_for_stream(call: &Call, direction: Direction) -> PhpResult {
    let stream = stream_of(call, 1)?;
    let task = task_of(call, 2)?;
    commands::wait(call.this_of(&SCHEDULER), &task, Wait::of_stream(stream, direction, Operation::None))
}

/// Kills the tasks of a scheduler that user code has let go, in the order of their ids.
fn destruct(this: &SchedulerObject) {
    loop {
        // What is run here may add others.
        let all = this.in_order();
        if all.is_empty() {
            return;
        }
        for task in all {
            ends::kill(&task);
            // One whose code runs ends later, or never after an `exit`.
            drop(this.remove(&task));
        }
    }
}
