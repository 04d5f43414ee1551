//! Generators.

use crate::{Object, Owned, Thrown, Value, c, exception};

/// A `Generator` object.
#[repr(transparent)]
#[derive(Clone, PartialEq, Eq)]
pub struct Generator(Owned<Object>);

/// What a generator has done when it was resumed.
pub enum Resumed {
    /// It has yielded this value.
    Yielded(Value),
    /// It has returned this value.
    Returned(Value),
    /// It has thrown, or was already at its end without having returned.
    Ended(Result<(), Thrown>),
}

impl Generator {
    /// Returns the object as a generator, if it is one.
    pub fn of(object: &Object) -> Option<Generator> {
        c::spindle_is_generator(object).then(|| Generator(Owned::of(object)))
    }

    /// Returns the object.
    pub fn object(&self) -> &Object {
        &self.0
    }

    /// Returns `true` if its code has ended.
    pub fn is_finished(&self) -> bool {
        c::spindle_generator_is_finished(&self.0)
    }

    /// Returns `true` if its code runs, or that of a generator that it delegates to.
    pub fn is_running(&self) -> bool {
        c::spindle_generator_is_running(&self.0)
    }

    /// Runs it to its first `yield`, unless it has begun, and returns where it is.
    pub fn begin(&self) -> Resumed {
        let mut result = Value::NULL;
        c::spindle_generator_current(&self.0, &mut result);
        self.resumed(result)
    }

    /// Resumes it with the value of its `yield`.
    pub fn send(&self, value: &Value) -> Resumed {
        let mut result = Value::NULL;
        c::spindle_generator_send(&self.0, value, &mut result);
        self.resumed(result)
    }

    /// Resumes it by an exception at its `yield`.
    pub fn throw(&self, exception: &Object) -> Resumed {
        let mut result = Value::NULL;
        c::spindle_generator_throw(&self.0, exception, &mut result);
        self.resumed(result)
    }

    fn resumed(&self, result: Value) -> Resumed {
        if exception::is_in_flight() {
            return Resumed::Ended(Err(Thrown::is_in_flight()));
        }
        if !self.is_finished() {
            return Resumed::Yielded(result);
        }
        let mut returned = Value::UNDEF;
        c::spindle_generator_returned(&self.0, &mut returned);
        returned.some().map_or(Resumed::Ended(Ok(())), Resumed::Returned)
    }

    /// Ends it where it is suspended, as when its last reference is dropped: its `finally` blocks run. Does nothing while it
    /// runs.
    pub fn end(&self) {
        if !self.is_running() {
            c::spindle_generator_end(&self.0);
        }
    }
}

impl From<Generator> for Value {
    fn from(generator: Generator) -> Value {
        generator.0.into()
    }
}
