//! What tasks yield to their scheduler: system calls and `retval()`.

use crate::waits::Operation;
use spindle_php::coroutine::Direction;
use spindle_zend::{Class, Collected, Generator, State, Value, ValueCell, object_class};
use std::cell::RefCell;

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
    pub callback: ValueCell,
    pub kind: RefCell<Kind>,
}

object_class!(
    /// The class `SystemCall`.
    pub static SYSTEM: SystemCall
);

/// The state of an object of the class `CoroutineReturnValue`.
pub struct Returned {
    pub value: ValueCell,
}

object_class!(
    /// The class `CoroutineReturnValue`.
    pub static RETURNED: Returned
);

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

/// Returns a system call of this crate.
pub fn make(kind: Kind) -> Value {
    let object = SYSTEM.make();
    object.kind.replace(kind);
    object.into()
}
