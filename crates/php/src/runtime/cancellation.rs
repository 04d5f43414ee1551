//! Whose the exceptions are that cancel coroutines.
//!
//! Code that an exception passes through changes it: what was in flight already becomes its previous one. So each coroutine
//! that is cancelled gets an object of its own, or what one does would show in the others.

use crate::c;
use crate::runtime::classes;
use crate::runtime::coroutine::Coroutine;
use crate::runtime::scheduler::{self, rt};
use spindle_core::sched::State;
use spindle_zend::{Object, Owned, Value, WeakTable, exception};

/// Values by exceptions, which are held weakly.
pub struct Notes(WeakTable);

impl Notes {
    /// Returns a table without notes.
    pub const fn new() -> Notes {
        Notes(WeakTable::new())
    }

    /// Returns what is noted of an exception.
    pub fn of(&self, exception: &Object) -> Option<Value> {
        self.0.get(exception)
    }

    /// Returns `true` if anything is noted of it.
    pub fn has(&self, exception: &Object) -> bool {
        self.0.has(exception)
    }

    /// Notes a value, unless there is one.
    pub fn add(&self, exception: &Object, value: Value) {
        if !self.0.has(exception) {
            self.0.set(exception, value);
        }
    }

    /// Lets go of the table, whose memory the request has taken with it.
    pub fn forget(&self) {
        self.0.forget();
    }
}

/// Returns a `CancellationException` with the message that names the place of `cancel()`.
pub fn default_cancellation() -> Owned<Object> {
    exception::new(classes::cancellation(), &format!("cancelled at {}", exception::here()))
}

/// Returns a `CancellationException` with this message, from the code that runs.
pub fn cancellation(message: &str) -> Owned<Object> {
    exception::new(classes::cancellation(), message)
}

/// Returns one that no running code has caused: each coroutine gets it with its own position.
pub fn detached_cancellation(message: &str) -> Owned<Object> {
    exception::detached(classes::cancellation(), message)
}

/// Returns one because of a failure: it has its position, and is its previous one.
pub fn cancellation_because(message: &str, failure: &Object) -> Owned<Object> {
    let reason = detached_cancellation(message);
    exception::set_position_as(&reason, failure);
    exception::replace_previous(&reason, Some(failure));
    reason
}

/// User code has handed in this exception to cancel with: notes what its previous ones were, for who changes them only adds to
/// the end of their chain. Returns whether it did before.
fn handed_in(exception: &Object) -> bool {
    let given = &rt().given;
    if given.has(exception) {
        return true;
    }
    given.add(exception, exception::previous(exception).map(copy_chain).into());
    false
}

/// Returns a copy of an exception and of its previous ones, which nobody else has.
fn copy_chain(exception: &Object) -> Owned<Object> {
    let first = copy(exception);
    let mut last = first.clone();
    for _ in 0..exception::CHAIN {
        let Some(own) = exception::previous(&last).map(copy) else { return first };
        exception::replace_previous(&last, Some(&own));
        last = own;
    }
    exception::replace_previous(&last, None); // it was a circle
    first
}

fn copy(exception: &Object) -> Owned<Object> {
    let copy = exception::copy(exception);
    rt().copies.add(&copy, exception.into());
    copy
}

/// Returns what it is a copy of, or itself.
pub fn original(exception: &Object) -> Owned<Object> {
    let noted = rt().copies.of(exception);
    let original = noted.as_ref().and_then(Value::as_object);
    Owned::of(original.unwrap_or(exception))
}

/// Returns how many exceptions are before it.
fn length(exception: &Object) -> usize {
    exception::chain(exception).count() - 1
}

/// User code cancels several with this exception: see [`for_each`].
pub fn for_several(exception: &Object) {
    handed_in(exception);
}

/// User code cancels one coroutine with this exception: returns what that gets.
pub fn for_one(exception: &Object, this: &Coroutine) -> Owned<Object> {
    if handed_in(exception) {
        return for_each(exception, this); // another one may have it
    }
    Owned::of(exception)
}

/// Returns what one of several coroutines gets for an exception that cancels them. Of ours each gets a copy; of user code's own
/// only where it could be changed on its way, and as it was when user code handed it in. Where it could be changed the
/// previous ones are copies too. A copy without a position is from where the coroutine waits.
pub fn for_each(exception: &Object, this: &Coroutine) -> Owned<Object> {
    let unchanged = passes_unchanged(this);
    let own = if let Some(noted) = rt().given.of(exception) {
        let previous = noted.as_object();
        let before = previous.map_or(0, |previous| length(previous) + 1);
        if unchanged && length(exception) == before {
            return Owned::of(exception);
        }
        let own = copy(exception);
        let previous = previous.map(copy_chain);
        exception::replace_previous(&own, previous.as_deref());
        own
    } else if unchanged {
        exception::copy(exception)
    } else {
        copy_chain(exception)
    };
    let at = if this.suspended_at.is_known() { &this.suspended_at } else { &this.spawned_at };
    exception::set_position(&own, at.file().as_deref(), at.line());
    own
}

/// Returns `true` if an exception that is thrown where the coroutine waits would pass through it as it is.
fn passes_unchanged(this: &Coroutine) -> bool {
    let co = this.co.get();
    let (state, has_stack) = scheduler::core(|core| (core.state(co), core.has_stack(co)));
    match state {
        State::Queued => true,
        State::Parked | State::Ready if has_stack => {
            rt().frame_of(this).is_some_and(|frame| c::spindle_passes_unchanged(frame))
        }
        _ => false,
    }
}
