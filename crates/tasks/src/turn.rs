//! One resumption of a generator of a task, and what its `yield` means for the stack of generators.

use crate::system::RETURNED;
use crate::thrown::{new_exception, release, take_thrown};
use spindle_zend::{Generator, Object, Owned, Resumed, Thrown, Value, exception};

/// What the innermost generator of a task has done.
pub enum Turn {
    /// It has yielded something for the scheduler.
    Yielded(Value),
    /// It has yielded a generator.
    Called(Generator),
    /// It is to be resumed immediately, with this exception.
    Again(Owned<Object>),
    /// It has reached its end, or a `retval()`, after which it is to be ended.
    Returned {
        /// The result, or what it has thrown.
        result: Result<Value, Owned<Object>>,
        /// It stands at a `yield`.
        end: bool,
    },
}

impl Turn {
    /// Returns the turn of a generator that was resumed with this result.
    ///
    /// # Errors
    /// It exits.
    pub fn of(resumed: Resumed) -> Result<Turn, Thrown> {
        let result = match resumed {
            Resumed::Yielded(value) => return Ok(classify(value)),
            Resumed::Returned(value) => Ok(value),
            Resumed::Ended => Ok(Value::NULL),
            Resumed::Thrown(_) => take_thrown()?.map_or(Ok(Value::NULL), Err),
            // User code runs it, or what it delegates to: its frame cannot be touched.
            Resumed::Running => Err(new_exception("error", "The generator of this task is being run by other code")),
        };
        Ok(Turn::Returned { result, end: false })
    }

    /// Returns the turn with an exception that was thrown when values were released after it.
    pub fn fail(self, thrown: Owned<Object>) -> Turn {
        match self {
            Turn::Returned { result: Err(first), end } => {
                exception::set_last_previous(&thrown, first);
                Turn::Returned { result: Err(thrown), end }
            }
            Turn::Returned { result: Ok(value), end } => {
                let thrown = after(thrown, release(value));
                Turn::Returned { result: Err(thrown), end }
            }
            Turn::Again(first) => {
                exception::set_last_previous(&thrown, first);
                Turn::Again(thrown)
            }
            // What was yielded is dropped, and the `yield` throws.
            yielded @ (Turn::Yielded(_) | Turn::Called(_)) => Turn::Again(after(thrown, release(yielded))),
        }
    }
}

/// Returns the later of two exceptions, with the other one as its previous one.
fn after(thrown: Owned<Object>, later: Option<Owned<Object>>) -> Owned<Object> {
    let Some(later) = later else { return thrown };
    exception::set_last_previous(&later, thrown);
    later
}

fn classify(value: Value) -> Turn {
    let Some(object) = value.as_object() else { return Turn::Yielded(value) };
    if let Some(generator) = Generator::of(object) {
        drop(value); // not the last reference
        return Turn::Called(generator);
    }
    if let Some(returned) = RETURNED.of(object) {
        let result = Ok(returned.value.get().some().unwrap_or(Value::NULL));
        drop(value);
        return Turn::Returned { result, end: true };
    }
    Turn::Yielded(value)
}
