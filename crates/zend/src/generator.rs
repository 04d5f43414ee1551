//! Generators.

use crate::{Object, Owned, Thrown, Value, declare, exception, sys};

declare! {
    // The object is a generator, or the answer says that it is not. What is written is a place without a counted value.
    safe fn spindle_is_generator(object: &Object) -> bool;
    safe fn spindle_generator_is_running(generator: &Object) -> bool;
    safe fn spindle_generator_resume(
        generator: &Object,
        value: &Value,
        result: &mut Value,
    ) -> sys::spindle_generator_state;
    safe fn spindle_generator_throw(
        generator: &Object,
        exception: &Object,
        result: &mut Value,
    ) -> sys::spindle_generator_state;
    safe fn spindle_generator_end(generator: &Object);
}

/// A `Generator` object.
#[repr(transparent)]
#[derive(Clone, PartialEq, Eq)]
pub struct Generator(Owned<Object>);

/// The outcome of resuming a generator.
pub enum Resumed {
    /// It has yielded this value.
    Yielded(Value),
    /// It has returned this value.
    Returned(Value),
    /// It has thrown.
    Thrown(Thrown),
    /// It had ended by an exception before.
    Ended,
    /// Nothing: its code runs, or that of a generator that it delegates to.
    Running,
}

impl Generator {
    /// Returns the object as a generator, if it is one.
    pub fn of(object: &Object) -> Option<Generator> {
        spindle_is_generator(object).then(|| Generator(Owned::of(object)))
    }

    /// Returns the object.
    pub fn object(&self) -> &Object {
        &self.0
    }

    /// Returns `true` if its code runs, or that of a generator that it delegates to.
    pub fn is_running(&self) -> bool {
        spindle_generator_is_running(&self.0)
    }

    /// Resumes it with the value of its `yield`. If that is undefined, runs it to its first `yield`, unless it has begun.
    #[inline]
    pub fn resume(&self, value: &Value) -> Resumed {
        let mut result = Value::NULL;
        let state = spindle_generator_resume(&self.0, value, &mut result);
        Resumed::of(state, result)
    }

    /// Resumes it by an exception at its `yield`.
    pub fn throw(&self, exception: &Object) -> Resumed {
        let mut result = Value::NULL;
        let state = spindle_generator_throw(&self.0, exception, &mut result);
        Resumed::of(state, result)
    }

    /// Ends it where it is suspended, as when its last reference is dropped: its `finally` blocks run. Does nothing while it
    /// runs.
    pub fn end(&self) {
        if !self.is_running() {
            spindle_generator_end(&self.0);
        }
    }
}

impl Resumed {
    #[inline(always)]
    fn of(state: sys::spindle_generator_state, result: Value) -> Resumed {
        match state {
            sys::SPINDLE_GENERATOR_YIELDED => Resumed::Yielded(result),
            sys::SPINDLE_GENERATOR_RETURNED => Resumed::Returned(result),
            sys::SPINDLE_GENERATOR_RUNNING => Resumed::Running,
            _ if exception::is_in_flight() => Resumed::Thrown(Thrown::is_in_flight()),
            _ => Resumed::Ended,
        }
    }
}

impl From<Generator> for Value {
    fn from(generator: Generator) -> Value {
        generator.0.into()
    }
}
