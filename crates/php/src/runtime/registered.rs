//! Callbacks and handlers that run in another coroutine than the one that has registered them.

use crate::isolation::ErrorHandling;
use spindle_zend::{Collected, Value, engine};

/// A callback or handler. It is called with the error handler of the code that has registered it.
#[derive(Clone)]
pub struct Registered {
    callable: Value,
    errors: ErrorHandling,
}

impl Registered {
    /// Returns the callback for a callable that the running code registers.
    pub fn new(callable: Value) -> Registered {
        Registered { callable, errors: ErrorHandling::capture() }
    }

    /// Returns the callable.
    pub fn callable(&self) -> &Value {
        &self.callable
    }

    /// Calls it. An exception that it throws is in flight afterwards.
    pub fn call(&self, arguments: &mut [Value]) {
        drop(self.errors.during(|| engine::call(&self.callable, arguments)));
    }

    /// Returns the values that it holds.
    pub fn into_values(self) -> impl Iterator<Item = Value> {
        [self.callable, self.errors.into_value()].into_iter()
    }

    /// Adds the values for the cycle collector.
    pub fn collect(&self, values: &mut Collected) {
        values.value(&self.callable);
        self.errors.collect(values);
    }
}
