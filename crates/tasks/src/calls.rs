//! System calls, `retval()`, and the functions that return them.

use crate::scheduler::{self, SCHEDULER, SchedulerObject};
use crate::task::{TASK, TaskObject, generator_of};
use crate::waits::{Operation, Wait};
use crate::{socket, stacked};
use spindle_php::{RequestValue, coroutine::Direction};
use spindle_zend::{
    Call, Class, Collected, FunctionEntry, Generator, Owned, PhpResult, PhpStatic, State, Thrown, Type, Value,
    ValueCell, argument_error, declare_class, engine, exception, function_table, object_class, sys,
};
use std::cell::RefCell;

const SYSTEM_CALL: Type = Type::class(c"Async\\Task\\SystemCall");

function_table! {
    static ALL_FUNCTIONS = {
        c"Async\\Task\\getTaskId"() -> SYSTEM_CALL => |call| {
            call.no_arguments()?;
            Ok(task_id())
        };
        c"Async\\Task\\newTask"(coroutine: Type::class(c"Generator")) -> SYSTEM_CALL => |call| {
            call.arguments(1, 1)?;
            Ok(make(Kind::NewTask(generator_of(&call, 1)?)))
        };
        c"Async\\Task\\killTask"(tid: Type::INT) -> SYSTEM_CALL => |call| {
            Ok(make(Kind::Kill(call.arguments(1, 1)?.long(1)?)))
        };
        c"Async\\Task\\waitForRead"(socket: Type::MIXED) -> SYSTEM_CALL => |call| {
            Ok(make(Kind::Wait(stream_of(&call, 1, 1)?, Direction::Read)))
        };
        c"Async\\Task\\waitForWrite"(socket: Type::MIXED) -> SYSTEM_CALL => |call| {
            Ok(make(Kind::Wait(stream_of(&call, 1, 1)?, Direction::Write)))
        };
        c"Async\\Task\\retval"(value: Type::MIXED) -> Type::class(c"Async\\Task\\CoroutineReturnValue") => |call| {
            let value = call.arguments(1, 1)?.value(1).cloned().unwrap_or_default();
            let returned = RETURNED.make();
            returned.value.set(value);
            Ok(returned.into())
        };
        c"Async\\Task\\stackedCoroutine"(gen: Type::class(c"Generator")) -> Type::class(c"Generator") => stacked::make;
    }
}

/// The functions of this crate.
pub const FUNCTIONS: &[FunctionEntry] = ALL_FUNCTIONS;

/// What a system call does with the task that yields it.
#[derive(Clone)]
pub enum Kind {
    /// It calls the callable of the object.
    Callback,
    /// Sends the task its id.
    TaskId,
    /// Adds a task, and sends its id.
    NewTask(Generator),
    /// Kills the task with this id.
    Kill(i64),
    /// Waits for a stream.
    Wait(Value, Direction),
    /// Waits for a stream, and sends the result of an operation on it.
    Operate(Value, Operation),
}

/// The state of an object of the class `SystemCall`.
pub struct SystemCall {
    callback: ValueCell,
    kind: RefCell<Kind>,
}

object_class!(
    /// The class `SystemCall`.
    pub static SYSTEM: SystemCall = create_call
);

/// The state of an object of the class `CoroutineReturnValue`.
pub struct Returned {
    pub value: ValueCell,
}

object_class!(
    /// The class `CoroutineReturnValue`.
    pub static RETURNED: Returned = create_returned
);

function_table! {
    static CALL_METHODS = {
        c"__construct"(callback: Type::CALLABLE) -> Type::NONE => |call| {
            let callback = call.arguments(1, 1)?.callable(1)?.clone();
            call.this_of(&SYSTEM).callback.set(callback);
            Ok(Value::NULL)
        };
        c"__invoke"(task: Type::class(c"Async\\Task\\Task"), scheduler: Type::class(c"Async\\Task\\Scheduler")) -> Type::MIXED => |call| {
            let arguments = call.arguments(2, 2)?;
            let task = TASK.of(arguments.object(1, TASK.class())?).map(Owned::of);
            let scheduler = SCHEDULER.of(arguments.object(2, SCHEDULER.class())?).map(Owned::of);
            match (task, scheduler) {
                (Some(task), Some(scheduler)) => run(&Owned::of(call.this_of(&SYSTEM)), &task, &scheduler),
                _ => Ok(Value::NULL),
            }
        };
    }
}

function_table! {
    static RETURNED_METHODS = {
        c"__construct"(value: Type::MIXED) -> Type::NONE => |call| {
            let value = call.arguments(1, 1)?.value(1).cloned().unwrap_or_default();
            call.this_of(&RETURNED).value.set(value);
            Ok(Value::NULL)
        };
        c"getValue"() -> Type::MIXED => |call| {
            call.no_arguments()?;
            Ok(call.this_of(&RETURNED).value.get())
        };
    }
}

/// Registers the classes. At module start.
pub fn register() {
    let flags = sys::ZEND_ACC_FINAL | sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES;
    SYSTEM.register(declare_class(c"Async\\Task\\SystemCall", CALL_METHODS), create_call, flags, |_| {});
    let class = declare_class(c"Async\\Task\\CoroutineReturnValue", RETURNED_METHODS);
    RETURNED.register(class, create_returned, flags, |_| {});
}

impl State for SystemCall {
    fn new(_: Class) -> SystemCall {
        SystemCall { callback: ValueCell::new(), kind: RefCell::new(Kind::Callback) }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.callback);
        if let Kind::NewTask(generator) = &*self.kind.borrow() {
            values.owned_object(generator.object());
        }
    }
}

impl State for Returned {
    fn new(_: Class) -> Returned {
        Returned { value: ValueCell::new() }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.value);
    }
}

/// The system call that `getTaskId()` returns: it holds nothing, so there is one for all tasks of a request.
static TASK_ID: PhpStatic<RequestValue> = PhpStatic::new(RequestValue::new());

fn task_id() -> Value {
    TASK_ID.get().unwrap_or_else(|| {
        let call = make(Kind::TaskId);
        TASK_ID.set(call.clone());
        call
    })
}

/// Releases the system call. At the end of a request.
pub fn request_ends() {
    TASK_ID.release();
}

/// Returns a system call of this crate.
pub fn make(kind: Kind) -> Value {
    let object = SYSTEM.make();
    object.kind.replace(kind);
    object.into()
}

/// Returns an argument that is an open stream.
pub fn stream_of(call: &Call, number: u32, count: u32) -> Result<Value, Thrown> {
    let value = call.arguments(count, count)?.value(number).cloned().unwrap_or_default();
    match value.as_resource() {
        _ if value.is_open_stream() => Ok(value),
        Some(_) => Err(argument_error(number, true, "must be an open stream resource")),
        None => {
            let given = crate::task::describe(&value);
            Err(argument_error(number, true, &format!("must be of type resource, {given} given")))
        }
    }
}

/// Runs a system call for the task that has yielded it. What it throws is in flight.
pub fn run(this: &SystemCall, task: &TaskObject, scheduler: &SchedulerObject) -> PhpResult {
    if matches!(*this.kind.borrow(), Kind::TaskId) {
        drop(task.put_value(task.id().into()));
        return scheduler::schedule(scheduler, task);
    }
    let kind = this.kind.borrow().clone();
    match kind {
        Kind::Callback => {
            let callback = this.callback.get();
            let result = engine::call(&callback, &mut [Value::from(task.object()), scheduler.object().into()]);
            if exception::is_in_flight() { Err(Thrown::is_in_flight()) } else { Ok(result) }
        }
        Kind::TaskId => Ok(Value::NULL), // see above
        Kind::NewTask(generator) => {
            let id = scheduler::new_task(scheduler, generator)?;
            drop(task.put_value(id.into()));
            scheduler::schedule(scheduler, task)
        }
        Kind::Kill(id) => {
            if !scheduler::kill(scheduler, id) {
                let thrown = crate::new_exception("invalidargumentexception", "Invalid task ID!");
                return Err(exception::throw(thrown));
            }
            scheduler::schedule(scheduler, task)
        }
        Kind::Wait(stream, direction) => {
            scheduler::wait(scheduler, task, Wait::of_stream(stream, direction, Operation::None))
        }
        Kind::Operate(stream, operation) => {
            let direction = socket::direction_of(&operation);
            scheduler::wait(scheduler, task, Wait::of_stream(stream, direction, operation))
        }
    }
    .map(|_| Value::NULL)
}
