//! What a task waits for.

use spindle_php::coroutine::{self, Coroutine, Direction, Key, WaitSet};
use spindle_zend::{Collected, Object, Owned, Str, Thrown, Value, exception};
use std::cell::Cell;

/// A wait of a task.
pub struct Wait {
    /// Its key, while it is registered.
    pub key: Cell<Option<Key>>,
    target: Target,
}

enum Target {
    Awaitable(Owned<Object>),
    /// A scope, which this coroutine awaits.
    Scope(Coroutine),
    Stream {
        stream: Value,
        direction: Direction,
        descriptor: Cell<i32>,
        then: Operation,
    },
}

/// What is done when a stream is ready.
#[derive(Clone)]
pub enum Operation {
    /// Nothing: the task is resumed with `null`.
    None,
    /// A connection is accepted.
    Accept,
    /// At most this many bytes are read.
    Read(i64),
    /// The string is written from this byte on.
    Write(Owned<Str>, Cell<usize>),
}

/// How often a stream may be ready without an operation on it making progress.
const MAX_STALLS: u32 = 3;

impl Operation {
    fn name(&self) -> &'static str {
        match self {
            Operation::None => "react",
            Operation::Accept => "accept a connection",
            Operation::Read(_) => "give data",
            Operation::Write(..) => "take data",
        }
    }
}

/// The result of [`Wait::begin`].
pub enum Begun {
    /// It is registered with this key.
    Waiting(Key),
    /// It has ended already.
    Over,
}

impl Wait {
    /// Returns a wait for an object of type `Async\Awaitable`.
    ///
    /// # Errors
    /// It is a scope, and no coroutine can be spawned to await it.
    pub fn of_awaitable(object: Owned<Object>) -> Result<Wait, Thrown> {
        let target = if coroutine::is_scope(&object) {
            Target::Scope(coroutine::spawn(move || coroutine::await_object(&object))?)
        } else {
            Target::Awaitable(object)
        };
        Ok(Wait { key: Cell::new(None), target })
    }

    /// Returns a wait for a stream, and what follows.
    pub fn of_stream(stream: Value, direction: Direction, then: Operation) -> Wait {
        let descriptor = Cell::new(-1);
        Wait { key: Cell::new(None), target: Target::Stream { stream, direction, descriptor, then } }
    }

    /// Adds what it refers to for the cycle collector.
    pub fn collect(&self, values: &mut Collected) {
        match &self.target {
            Target::Awaitable(object) => values.owned_object(object),
            Target::Scope(waiter) => values.owned_object(waiter.object()),
            Target::Stream { stream, .. } => values.value(stream),
        }
    }

    /// Registers the wait, unless it has ended. `is_used` returns `true` for the key of another wait.
    ///
    /// # Errors
    /// It cannot end, or what it is for has been closed.
    pub fn begin(&self, set: &WaitSet, is_used: impl Fn(Key) -> bool) -> Result<Begun, Thrown> {
        let key = match &self.target {
            Target::Awaitable(object) => set.watch(object, is_used)?,
            Target::Scope(waiter) => set.watch(waiter.object(), is_used)?,
            Target::Stream { stream, direction, descriptor, .. } => {
                if !stream.is_open_stream() {
                    return Err(closed(descriptor.get() >= 0));
                }
                if *direction == Direction::Read && stream.has_buffered() {
                    return Ok(Begun::Over);
                }
                // A user wrapper's code may run here, and close the stream.
                let number = stream.stream_descriptor();
                exception::check()?;
                let Some(number) = number else {
                    let text = if stream.is_open_stream() {
                        "Cannot wait for this stream: it has no descriptor that could be polled"
                    } else {
                        return Err(closed(descriptor.get() >= 0));
                    };
                    return Err(exception::throw_new(coroutine::async_exception(), text));
                };
                descriptor.set(number);
                set.watch_descriptor(number, *direction, is_used).map_err(|error| {
                    let text = format!("Cannot wait for this stream: {error}");
                    exception::throw_new(coroutine::async_exception(), &text)
                })?
            }
        };
        self.key.set(key);
        Ok(key.map_or(Begun::Over, Begun::Waiting))
    }

    /// Removes the registration. The wait can begin again.
    pub fn leave(&self, set: &WaitSet) {
        let Some(key) = self.key.take() else { return };
        match &self.target {
            Target::Awaitable(object) => set.unwatch(object, key),
            Target::Scope(waiter) => set.unwatch(waiter.object(), key),
            Target::Stream { descriptor, .. } => set.unwatch_descriptor(descriptor.get(), key),
        }
    }

    /// Ends a wait whose task no longer waits.
    pub fn abandon(&self, set: &WaitSet) {
        self.leave(set);
        if let Target::Scope(waiter) = &self.target {
            waiter.cancel();
        }
    }

    /// Records that its key was signalled. That is a hint for a stream, which is asked again by [`Wait::begin`]; an awaitable is
    /// complete.
    pub fn signalled(&self, set: &WaitSet) {
        if let Target::Stream { .. } = &self.target {
            self.leave(set);
        }
        self.key.set(None);
    }

    /// Returns the value that the task is sent when the wait has ended; `None` if it has to wait again. `stalls` is how often it
    /// ended before, without any progress since.
    ///
    /// # Errors
    /// What the task is thrown.
    pub fn result(&self, set: &WaitSet, stalls: u32) -> Result<Option<Value>, Thrown> {
        match &self.target {
            Target::Awaitable(object) => set.take(object).map(Some),
            Target::Scope(waiter) => set.take(waiter.object()).map(Some),
            Target::Stream { then, .. } if stalls > MAX_STALLS => {
                let text = format!("The stream is ready, but does not {}", then.name());
                Err(exception::throw_new(coroutine::async_exception(), &text))
            }
            Target::Stream { stream, then, .. } => then.run(stream),
        }
    }

    /// Returns the object whose completion ends it, while it is registered.
    pub fn depends_on(&self) -> Option<&Object> {
        self.key.get()?;
        match &self.target {
            Target::Awaitable(object) => Some(object),
            Target::Scope(waiter) => Some(waiter.object()),
            Target::Stream { .. } => None,
        }
    }

    /// Returns the object that it waits for, if it is an awaitable.
    pub fn awaitable(&self) -> Option<&Object> {
        if let Target::Awaitable(object) = &self.target { Some(object) } else { None }
    }
}

fn closed(has_waited: bool) -> Thrown {
    let text = if has_waited { "The stream was closed while a task waited for it" } else { "The stream is closed" };
    exception::throw_new(coroutine::async_exception(), text)
}
