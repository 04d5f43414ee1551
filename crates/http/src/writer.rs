//! The class `Async\Http\Writer`: the body of a response, written piece by piece.

use crate::declare;
use crate::errors::{self, fails};
use crate::run::handling;
use bytes::Bytes;
use spindle_php::coroutine;
use spindle_server::{Exchange, Written};
use spindle_zend::{
    Call, Class, Instance, Owned, PhpResult, State, Thrown, Type, Value, exception, function_table, object_class,
};
use std::cell::OnceCell;
use std::rc::Rc;

/// The state of an object of the class.
pub struct Writer(OnceCell<Rc<Exchange>>);

object_class!(static WRITER: Writer = create);

function_table! {
    static METHODS = {
        c"write"(data: Type::STRING) -> Type::VOID => write;
        c"flush"() -> Type::VOID => |call| {
            call.no_arguments()?;
            coroutine::suspend()?;
            Ok(Value::NULL)
        };
    }
}

/// Registers the class. At module start.
pub fn register() {
    declare(&WRITER, create, c"Async\\Http\\Writer", METHODS, &[]);
}

impl State for Writer {
    fn new(_: Class) -> Writer {
        Writer(OnceCell::new())
    }
}

/// Returns the writer for a response.
pub fn make(exchange: &Rc<Exchange>) -> Owned<Instance<Writer>> {
    let writer = WRITER.make();
    let _ = writer.0.set(Rc::clone(exchange));
    writer
}

const COMPLETE: &str = "The response is complete, or longer than its Content-Length";

fn write(call: Call) -> PhpResult {
    let data = call.arguments(1, 1)?.str(1)?;
    let Some(exchange) = call.this_of(&WRITER).0.get().cloned() else {
        return Err(fails("This writer belongs to no response"));
    };
    match exchange.write(Bytes::copy_from_slice(data.as_bytes())) {
        Written::Ok => {}
        Written::Full => wait_for_room(&exchange)?,
        Written::Gone => {
            coroutine::check_cancellation()?;
            return Err(match exchange.cancelled() {
                Some(why) => exception::throw(errors::cancellation(why)),
                None => fails(COMPLETE),
            });
        }
        Written::TooMuch => return Err(fails(COMPLETE)),
    }
    Ok(Value::NULL)
}

fn wait_for_room(exchange: &Exchange) -> Result<(), Thrown> {
    let Some(handling) = handling(exchange) else { return Ok(()) };
    handling.waiting.wait_for("Writer::write", || exchange.has_room().then_some(()))
}
