//! A value that is made once in a request.

use crate::runtime::request;
use spindle_zend::{Value, ValueCell};
use std::cell::Cell;

/// A place of a static for a value that is made once in a request, when it is first needed.
///
/// User code runs even after [`Part::on_request_end`](crate::Part::on_request_end), which releases it: session handlers do when
/// `session` ends, after this module. A value that is made then is the engine's to free with the request's memory, and nothing
/// may touch it in the next one.
#[derive(Default)]
pub struct RequestValue {
    value: ValueCell,
    /// The number of the request that has made it.
    request: Cell<u64>,
}

impl RequestValue {
    /// Returns an empty place.
    pub const fn new() -> RequestValue {
        RequestValue { value: ValueCell::new(), request: Cell::new(0) }
    }

    /// Returns the value of this request, if it has been made.
    pub fn get(&self) -> Option<Value> {
        if self.request.get() == request::number() { self.value.get().some() } else { None }
    }

    /// Stores the value of this request.
    pub fn set(&self, value: Value) {
        let before = self.value.replace(value);
        if self.request.replace(request::number()) == request::number() {
            drop(before);
        } else {
            std::mem::forget(before); // its memory was freed with its request
        }
    }

    /// Releases the value. At the end of a request.
    pub fn release(&self) {
        self.set(Value::UNDEF);
    }
}
