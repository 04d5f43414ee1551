//! Arguments of functions and methods.

use spindle_zend::{Call, Generator, Thrown, Value, argument_error};

/// Returns a generator that is an argument.
pub fn generator_of(call: &Call, number: u32) -> Result<Generator, Thrown> {
    let argument = call.passed().value(number);
    argument.and_then(Value::as_object).and_then(Generator::of).ok_or_else(|| {
        let given = argument.map_or_else(|| "none".to_owned(), describe);
        argument_error(number, true, &format!("must be of type Generator, {given} given"))
    })
}

/// Returns the type of a value for messages.
pub fn describe(value: &Value) -> String {
    value.as_object().map_or_else(|| value.type_name(), |object| object.class().name().to_text())
}

/// Returns an argument that is an open stream.
pub fn stream_of(call: &Call, number: u32) -> Result<Value, Thrown> {
    let value = call.passed().value(number).cloned().unwrap_or_default();
    match value.as_resource() {
        _ if value.is_open_stream() => Ok(value),
        Some(_) => Err(argument_error(number, true, "must be an open stream resource")),
        None => {
            let given = describe(&value);
            Err(argument_error(number, true, &format!("must be of type resource, {given} given")))
        }
    }
}
