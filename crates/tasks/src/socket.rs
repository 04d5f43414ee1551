//! The class `CoSocket`: a stream whose operations are system calls that wait for it.

use crate::arguments::stream_of;
use crate::system::{self, Kind};
use crate::waits::Operation;
use spindle_php::coroutine::{self, Direction};
use spindle_zend::{
    Class, Collected, Owned, PhpResult, State, Str, Thrown, Type, Value, ValueCell, argument_error, engine,
    function_table, object_class, sys,
};
use std::cell::Cell;

/// The state of an object of the class.
struct CoSocket {
    stream: ValueCell,
}

object_class!(static SOCKET: CoSocket);

const CALL: Type = Type::class(c"Async\\Task\\SystemCall");

function_table! {
    static METHODS = {
        c"__construct"(socket: Type::MIXED) -> Type::NONE => |call| {
            let stream = stream_of(&call, 1)?;
            call.this_of(&SOCKET).stream.set(stream);
            Ok(Value::NULL)
        };
        c"accept"() -> CALL => |call| operation(call.this_of(&SOCKET), Operation::Accept);
        c"read"(size: Type::INT) -> CALL => |call| {
            let size = call.passed().long(1)?;
            if size <= 0 {
                return Err(argument_error(1, false, "must be greater than 0"));
            }
            operation(call.this_of(&SOCKET), Operation::Read(size))
        };
        c"write"(string: Type::STRING) -> CALL => |call| {
            let string = Owned::of(call.passed().str(1)?);
            operation(call.this_of(&SOCKET), Operation::Write(string, Cell::new(0)))
        };
        c"close"() -> Type::VOID => |call| {
            let stream = call.this_of(&SOCKET).stream.get();
            if stream.is_open_stream() {
                call_function("fclose", &mut [stream])?;
            }
            Ok(Value::NULL)
        };
    }
}

/// Registers the class. At module start.
pub fn register() {
    SOCKET.declare(c"Async\\Task\\CoSocket", METHODS, &[]);
}

impl State for CoSocket {
    fn new(_: Class) -> CoSocket {
        CoSocket { stream: ValueCell::new() }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.stream);
    }
}

fn operation(socket: &CoSocket, operation: Operation) -> PhpResult {
    Ok(system::make(Kind::Operate(socket.stream.get(), operation)))
}

/// Returns the direction in which an operation needs the stream to be ready.
pub fn direction_of(operation: &Operation) -> Direction {
    if matches!(operation, Operation::Write(..)) { Direction::Write } else { Direction::Read }
}

/// Calls a function of PHP.
fn call_function(name: &str, arguments: &mut [Value]) -> PhpResult {
    coroutine::call(&name.into(), arguments)
}

impl Operation {
    /// Carries it out on a stream that is ready. Returns the result; `None` if the stream has to be waited for again.
    ///
    /// # Errors
    /// A function of PHP, or a handler of its warnings, has thrown.
    pub fn run(&self, stream: &Value) -> Result<Option<Value>, Thrown> {
        match self {
            Operation::None => Ok(Some(Value::NULL)),
            Operation::Accept => {
                // Another task or process may have accepted the connection, which is a warning.
                let silenced = engine::silence(sys::E_WARNING as i32);
                let accepted = call_function("stream_socket_accept", &mut [stream.clone(), 0.into()]);
                engine::unsilence(silenced);
                let accepted = accepted?;
                if !accepted.is_open_stream() {
                    return Ok(None);
                }
                let socket = SOCKET.make();
                socket.stream.set(accepted);
                Ok(Some(socket.into()))
            }
            Operation::Read(size) => call_function("fread", &mut [stream.clone(), (*size).into()]).map(Some),
            Operation::Write(string, at) => {
                let rest = string.as_bytes().get(at.get()..).unwrap_or_default();
                if rest.is_empty() {
                    return Ok(Some((at.get() as i64).into()));
                }
                let rest: Value = if at.get() == 0 { Owned::clone(string).into() } else { Str::new(rest).into() };
                let written = call_function("fwrite", &mut [stream.clone(), rest])?;
                let Some(written) = written.as_long().and_then(|count| usize::try_from(count).ok()) else {
                    return Ok(Some(false.into())); // with a warning, as `fwrite()` returns it
                };
                at.set(at.get() + written);
                if at.get() < string.as_bytes().len() { Ok(None) } else { Ok(Some((at.get() as i64).into())) }
            }
        }
    }
}
