//! The class `Async\Http\Writer`: the body of a response, written piece by piece.

use crate::errors::{self, server_error};
use crate::handling::Handling;
use bytes::Bytes;
use spindle_php::coroutine;
use spindle_server::Written;
use spindle_zend::{
    Arguments, Call, Class, Instance, Owned, PhpResult, State, Thrown, Type, Value, argument_error, exception,
    function_table, object_class, sys,
};
use std::cell::OnceCell;
use std::rc::Rc;

/// The state of an object of the class.
pub struct Writer(OnceCell<Rc<Handling>>);

object_class!(static WRITER: Writer);

function_table! {
    static METHODS = {
        c"write"(data: Type::STRING) -> Type::VOID => write;
        c"event"(data: Type::STRING, event: Type::STRING.or_null() => c"null", id: Type::STRING.or_null() => c"null", retry: Type::INT.or_null() => c"null") -> Type::VOID => event;
        c"flush"() -> Type::VOID => |_| {
            coroutine::suspend()?;
            Ok(Value::NULL)
        };
    }
}

/// Registers the class. At module start.
pub fn register() {
    WRITER.declare(c"Async\\Http\\Writer", METHODS, &[]);
}

impl State for Writer {
    fn new(_: Class) -> Writer {
        Writer(OnceCell::new())
    }
}

/// Returns the writer for a response.
pub fn make(handling: &Rc<Handling>) -> Owned<Instance<Writer>> {
    let writer = WRITER.make();
    let _ = writer.0.set(Rc::clone(handling));
    writer
}

const COMPLETE: &str = "The response is complete, or longer than its Content-Length";

fn write(call: Call) -> PhpResult {
    let data = call.passed().str(1)?;
    send(&call, Bytes::copy_from_slice(data.as_bytes()))
}

/// Returns the text of an argument that may be null.
fn text_or_null<'a>(arguments: &'a Arguments, index: u32) -> Result<Option<&'a [u8]>, Thrown> {
    match arguments.value(index) {
        Some(value) if value.type_number() != sys::IS_NULL => arguments.str(index).map(|text| Some(text.as_bytes())),
        _ => Ok(None),
    }
}

/// Writes an event of a `text/event-stream`. Where its data has line breaks, the client gets them as `\n`.
fn event(call: Call) -> PhpResult {
    let arguments = call.passed();
    let mut frame = Vec::new();
    for (index, name) in [(2, "event"), (3, "id")] {
        let Some(text) = text_or_null(&arguments, index)? else { continue };
        if text.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err(argument_error(index, false, "must not contain line breaks or zeros"));
        }
        frame.extend_from_slice(format!("{name}: ").as_bytes());
        frame.extend_from_slice(text);
        frame.push(b'\n');
    }
    if arguments.value(4).is_some_and(|retry| retry.type_number() != sys::IS_NULL) {
        let retry = arguments.long(4)?;
        if retry < 0 {
            return Err(argument_error(4, false, "must be greater than or equal to 0"));
        }
        frame.extend_from_slice(format!("retry: {retry}\n").as_bytes());
    }
    let mut rest = Some(arguments.str(1)?.as_bytes());
    while let Some(data) = rest {
        let end = data.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        let line = &data[..end.unwrap_or(data.len())];
        frame.extend_from_slice(b"data: ");
        frame.extend_from_slice(line);
        frame.push(b'\n');
        rest = end.map(|end| {
            let length = if data[end..].starts_with(b"\r\n") { 2 } else { 1 };
            &data[end + length..]
        });
    }
    frame.push(b'\n');
    send(&call, frame.into())
}

fn send(call: &Call, data: Bytes) -> PhpResult {
    let Some(handling) = call.this_of(&WRITER).0.get().cloned() else {
        return Err(server_error("This writer belongs to no response"));
    };
    let exchange = &handling.exchange;
    match exchange.write(data) {
        Written::Ok => {}
        Written::Full => handling.waiting.wait_for("Writer::write", || exchange.has_room().then_some(()))?,
        Written::Gone => {
            coroutine::check_cancellation()?;
            return Err(match exchange.cancelled() {
                Some(why) => exception::throw(errors::cancellation(exchange, why)),
                None => server_error(COMPLETE),
            });
        }
        Written::TooMuch => return Err(server_error(COMPLETE)),
    }
    Ok(Value::NULL)
}
