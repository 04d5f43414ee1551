//! One resumption of a generator of a task, and what its `yield` means for the stack of generators.

use crate::calls::RETURNED;
use crate::ends::release;
use crate::task::{Task, take_thrown};
use spindle_zend::{Generator, Object, Owned, Resumed, Thrown, Value, exception};

/// What the innermost generator of a task has done.
pub enum Turn {
    /// It has yielded something for the scheduler.
    Yielded(Value),
    /// It has yielded a generator.
    Called(Generator),
    /// It is to be resumed at once, by this exception.
    Again(Owned<Object>),
    /// It has come to its end, or to a `retval()`, after which it is to be ended.
    Returned {
        /// The result, or what it has thrown.
        result: Result<Value, Owned<Object>>,
        /// It stands at a `yield`.
        end: bool,
    },
}

impl Turn {
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

/// Returns the last one of two exceptions, with the other one as its previous one.
fn after(thrown: Owned<Object>, later: Option<Owned<Object>>) -> Owned<Object> {
    let Some(later) = later else { return thrown };
    exception::set_last_previous(&later, thrown);
    later
}

/// Resumes the innermost generator of a task.
///
/// # Errors
/// It exits.
pub fn resume(task: &Task, generator: &Generator) -> Result<Turn, Thrown> {
    if generator.is_running() {
        // User code runs it, or what it delegates to: its frame cannot be touched.
        let refused = crate::new_exception("error", "The generator of this task is being run by other code");
        return Ok(Turn::Returned { result: Err(refused), end: false });
    }
    let (is_fresh, thrown, value) = task.take_input();
    let resumed = match &thrown {
        _ if is_fresh => generator.begin(),
        Some(thrown) => generator.throw(thrown),
        None => generator.send(&value),
    };
    let turn = match resumed {
        Resumed::Yielded(value) => classify(value),
        Resumed::Returned(value) => Turn::Returned { result: Ok(value), end: false },
        Resumed::Ended(Ok(())) => Turn::Returned { result: Ok(Value::NULL), end: false },
        Resumed::Ended(Err(_)) => match take_thrown()? {
            Some(thrown) => Turn::Returned { result: Err(thrown), end: false },
            None => Turn::Returned { result: Ok(Value::NULL), end: false },
        },
    };
    drop(value); // the caller takes what its destructor throws
    exception::put_aside(|| drop(thrown));
    Ok(turn)
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
