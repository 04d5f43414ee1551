//! The class `Async\\Settled`: how something awaitable has ended.

use crate::runtime::classes;
use spindle_zend::{Call, Object, Owned, PhpResult, Value, engine, exception, functions};

functions! {
    zim_Async_Settled___construct => |_| Ok(Value::NULL);
    zim_Async_Settled_unwrap => unwrap;
}

/// Returns a new object for a result, or a failure.
pub fn make(outcome: Result<Value, Value>) -> Owned<Object> {
    let class = classes::settled();
    let object = engine::new_object(class).unwrap_or_else(|_| unreachable!("the class is not abstract"));
    let (value, error) = match outcome {
        Ok(value) => (value, Value::NULL),
        Err(error) => (Value::NULL, error),
    };
    object.set_property(class, c"ok", &(error.type_number() == spindle_zend::sys::IS_NULL).into());
    object.set_property(class, c"value", &value);
    object.set_property(class, c"error", &error);
    object
}

fn unwrap(call: Call) -> PhpResult {
    call.no_arguments()?;
    let (this, class) = (call.this(), classes::settled());
    let read = |name| this.map_or(Value::NULL, |this| this.read_property(class, name));
    match read(c"error").as_object() {
        Some(error) => Err(exception::throw(Owned::of(error))),
        None => Ok(read(c"value")),
    }
}
