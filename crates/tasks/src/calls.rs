//! System calls, `retval()`, and the functions that return them.

use crate::arguments::{generator_of, stream_of};
use crate::scheduler::SCHEDULER;
use crate::system::{Kind, RETURNED, SYSTEM, make};
use crate::task::TASK;
use crate::{commands, stacked};
use spindle_php::{RequestValue, coroutine::Direction};
use spindle_zend::{Owned, PhpStatic, Type, Value, function_table};

const SYSTEM_CALL: Type = Type::class(c"Async\\Task\\SystemCall");

function_table! {
    /// The functions of this crate.
    pub static FUNCTIONS = {
        c"Async\\Task\\getTaskId"() -> SYSTEM_CALL => |_| Ok(task_id());
        c"Async\\Task\\newTask"(coroutine: Type::class(c"Generator")) -> SYSTEM_CALL => |call| {
            Ok(make(Kind::NewTask(generator_of(&call, 1)?)))
        };
        c"Async\\Task\\killTask"(tid: Type::INT) -> SYSTEM_CALL => |call| Ok(make(Kind::Kill(call.passed().long(1)?)));
        c"Async\\Task\\waitForRead"(socket: Type::MIXED) -> SYSTEM_CALL => |call| {
            Ok(make(Kind::Wait(stream_of(&call, 1)?, Direction::Read)))
        };
        c"Async\\Task\\waitForWrite"(socket: Type::MIXED) -> SYSTEM_CALL => |call| {
            Ok(make(Kind::Wait(stream_of(&call, 1)?, Direction::Write)))
        };
        c"Async\\Task\\retval"(value: Type::MIXED) -> Type::class(c"Async\\Task\\CoroutineReturnValue") => |call| {
            let value = call.passed().value(1).cloned().unwrap_or_default();
            let returned = RETURNED.make();
            returned.value.set(value);
            Ok(returned.into())
        };
        c"Async\\Task\\stackedCoroutine"(gen: Type::class(c"Generator")) -> Type::class(c"Generator") => stacked::make;
    }
}

function_table! {
    static CALL_METHODS = {
        c"__construct"(callback: Type::CALLABLE) -> Type::NONE => |call| {
            let callback = call.passed().callable(1)?.clone();
            call.this_of(&SYSTEM).callback.set(callback);
            Ok(Value::NULL)
        };
        c"__invoke"(task: Type::class(c"Async\\Task\\Task"), scheduler: Type::class(c"Async\\Task\\Scheduler")) -> Type::MIXED => |call| {
            let arguments = call.passed();
            let task = TASK.of(arguments.object(1, TASK.class())?).map(Owned::of);
            let scheduler = SCHEDULER.of(arguments.object(2, SCHEDULER.class())?).map(Owned::of);
            match (task, scheduler) {
                (Some(task), Some(scheduler)) => commands::carry_out(&Owned::of(call.this_of(&SYSTEM)), &task, &scheduler),
                _ => Ok(Value::NULL),
            }
        };
    }
}

function_table! {
    static RETURNED_METHODS = {
        c"__construct"(value: Type::MIXED) -> Type::NONE => |call| {
            let value = call.passed().value(1).cloned().unwrap_or_default();
            call.this_of(&RETURNED).value.set(value);
            Ok(Value::NULL)
        };
        c"getValue"() -> Type::MIXED => |call| Ok(call.this_of(&RETURNED).value.get());
    }
}

/// Registers the classes. At module start.
pub fn register() {
    SYSTEM.declare(c"Async\\Task\\SystemCall", CALL_METHODS, &[]);
    RETURNED.declare(c"Async\\Task\\CoroutineReturnValue", RETURNED_METHODS, &[]);
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
