//! The exceptions that cancel coroutines: their creation, and the copies that coroutines get.
//!
//! Code that an exception passes through changes it: an exception that is already in flight becomes its previous one.
//! So each cancelled coroutine gets an object of its own; otherwise the changes made in one coroutine would be visible
//! in the others.

use crate::c;
use crate::runtime::coroutine::Coroutine;
use crate::runtime::position::Position;
use crate::runtime::scheduler::Runtime;
use crate::runtime::{classes, life, report};
use spindle_core::sched::State;
use spindle_zend::{Object, Owned, Value, WeakTable, exception};

/// Values keyed by exceptions, which are held weakly.
pub struct Notes(WeakTable);

impl Notes {
    /// Returns an empty table.
    pub const fn new() -> Notes {
        Notes(WeakTable::new())
    }

    /// Returns the value of an exception.
    pub fn of(&self, exception: &Object) -> Option<Value> {
        self.0.get(exception)
    }

    /// Returns `true` if an exception has a value.
    pub fn has(&self, exception: &Object) -> bool {
        self.0.has(exception)
    }

    /// Sets the value of an exception, unless it has one.
    pub fn add(&self, exception: &Object, value: Value) {
        if !self.0.has(exception) {
            self.0.set(exception, value);
        }
    }

    /// Forgets the table without freeing it: the engine has freed the request's memory.
    pub fn forget(&self) {
        self.0.forget();
    }
}

/// Returns a `CancellationException` whose message names the place of the call of `cancel()`.
pub fn default_cancellation() -> Owned<Object> {
    exception::new(classes::cancellation(), &format!("cancelled at {}", exception::here()))
}

/// Returns a `CancellationException` with this message and the position of the running code.
pub fn cancellation(message: &str) -> Owned<Object> {
    exception::new(classes::cancellation(), message)
}

/// Returns a `CancellationException` without a position, for cancellations that no running code has caused: each
/// coroutine's copy gets the coroutine's own position.
pub fn detached_cancellation(message: &str) -> Owned<Object> {
    exception::detached(classes::cancellation(), message)
}

/// Returns a `CancellationException` caused by a failure: its message is this text and [`report::told`] of the failure, it has the
/// failure's position, and the failure as its previous exception. `name` describes the coroutine that has failed, or is empty.
pub fn cancellation_because(text: &str, failure: &Object, name: &str) -> Owned<Object> {
    let reason = detached_cancellation(&format!("{text} {}", report::told(failure, name)));
    exception::set_position_as(&reason, failure);
    exception::replace_previous(&reason, Some(failure));
    reason
}

/// Returns a `CancellationException` for something that does not outlive `what`, which has ended, by this exception if there is
/// one.
pub fn cancellation_after(what: &str, ended_with: Option<&Object>, name: &str) -> Owned<Object> {
    let text = format!("cancelled because {what}");
    match ended_with {
        Some(failure) if !life::is_cancellation(failure) => {
            cancellation_because(&format!("{text} has failed with"), failure, name)
        }
        Some(cancellation) => match failure_behind(cancellation) {
            Some(failure) => cancellation_because(&format!("{text} was cancelled because of"), failure, ""),
            None => detached_cancellation(&named(&format!("{text} was cancelled"), name)),
        },
        None => detached_cancellation(&named(&format!("{text} has completed"), name)),
    }
}

fn named(text: &str, name: &str) -> String {
    if name.is_empty() { text.to_owned() } else { format!("{text}: {name}") }
}

/// Returns the origin of an exception: itself, or the first failure behind a cancellation.
pub fn failure_behind(exception: &Object) -> Option<&Object> {
    exception::chain(exception).find(|at| !life::is_cancellation(at))
}

/// Returns a `CancellationException` for something whose time limit has passed: its previous exception is a
/// `TimeoutException` with the place at which the limit was set.
pub fn over(message: &str, milliseconds: i64, set_at: &Position) -> Owned<Object> {
    let text = format!("The scope was given up after {milliseconds} ms");
    let limit = exception::detached(classes::timeout_exception(), &text);
    exception::set_position(&limit, set_at.file().as_deref(), set_at.line());
    let reason = detached_cancellation(message);
    exception::replace_previous(&reason, Some(&limit));
    reason
}

/// Registers an exception with which user code cancels, together with a copy of its previous exceptions: later changes
/// only append to that chain. Returns `true` if it was registered before.
fn handed_in(rt: &Runtime, exception: &Object) -> bool {
    if rt.given.has(exception) {
        return true;
    }
    rt.given.add(exception, exception::previous(exception).map(|previous| copy_chain(rt, previous)).into());
    false
}

/// Returns a copy of an exception and of its previous ones.
fn copy_chain(rt: &Runtime, exception: &Object) -> Owned<Object> {
    let first = copy(rt, exception);
    let mut last = first.clone();
    for _ in 0..exception::CHAIN {
        let Some(own) = exception::previous(&last).map(|previous| copy(rt, previous)) else { return first };
        exception::replace_previous(&last, Some(&own));
        last = own;
    }
    exception::replace_previous(&last, None); // the chain is circular
    first
}

fn copy(rt: &Runtime, exception: &Object) -> Owned<Object> {
    let copy = exception::copy(exception);
    rt.copies.add(&copy, exception.into());
    copy
}

/// Returns the exception of which this is a copy, or itself.
pub fn original(rt: &Runtime, exception: &Object) -> Owned<Object> {
    let noted = rt.copies.of(exception);
    let original = noted.as_ref().and_then(Value::as_object);
    Owned::of(original.unwrap_or(exception))
}

/// Returns the number of its previous exceptions.
fn length(exception: &Object) -> usize {
    exception::chain(exception).count() - 1
}

/// Prepares an exception with which user code cancels several coroutines: see [`for_each`].
pub fn for_several(rt: &Runtime, exception: &Object) {
    handed_in(rt, exception);
}

/// Returns the exception with which to cancel one coroutine, if user code cancels that one only.
pub fn for_one(rt: &'static Runtime, exception: &Object, this: &Coroutine) -> Owned<Object> {
    if handed_in(rt, exception) {
        return for_each(rt, exception, this); // another coroutine may have it
    }
    Owned::of(exception)
}

/// Returns the exception with which to cancel one of several coroutines.
///
/// For an exception of this module it is a copy; for one of user code the exception itself if it will pass through the
/// coroutine unchanged, and otherwise a copy of it as it was when user code passed it in. Where the exception could be
/// changed its previous ones are copied too. A copy without a position gets the position at which the coroutine is
/// suspended.
pub fn for_each(rt: &'static Runtime, exception: &Object, this: &Coroutine) -> Owned<Object> {
    let unchanged = passes_unchanged(rt, this);
    let own = if let Some(noted) = rt.given.of(exception) {
        let previous = noted.as_object();
        let before = previous.map_or(0, |previous| length(previous) + 1);
        if unchanged && length(exception) == before {
            return Owned::of(exception);
        }
        let own = copy(rt, exception);
        let previous = previous.map(|previous| copy_chain(rt, previous));
        exception::replace_previous(&own, previous.as_deref());
        own
    } else if unchanged {
        exception::copy(exception)
    } else {
        copy_chain(rt, exception)
    };
    let at = if this.suspended_at.is_known() { &this.suspended_at } else { &this.spawned_at };
    exception::set_position(&own, at.file().as_deref(), at.line());
    own
}

/// Returns `true` if an exception that is thrown where the coroutine is suspended would pass through it unchanged.
fn passes_unchanged(rt: &'static Runtime, this: &Coroutine) -> bool {
    let co = this.co.get();
    let (state, has_stack) = {
        let core = rt.core.borrow();
        (core.state(co), core.has_stack(co))
    };
    match state {
        State::Queued => true,
        State::Parked | State::Ready if has_stack => {
            rt.frame_of(this).is_some_and(|frame| c::spindle_passes_unchanged(frame))
        }
        _ => false,
    }
}
