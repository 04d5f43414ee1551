//! Nurseries: scopes whose coroutines do not outlive the call that has made them, such as `group()`.

use crate::runtime::coroutine::{CoroutineObject, Info, Wants};
use crate::runtime::park::{cannot_await, may_wait};
use crate::runtime::scheduler::{Core, Runtime};
use crate::runtime::scope::{self, Boundary, ScopeObject};
use crate::runtime::spawn::{self, Body};
use crate::runtime::{awaiting, cancellation, classes, failure, life};
use spindle_core::sched::{Bound, Disposal, Lifetime, ScopeId, Target};
use spindle_reactor::Reactor;
use spindle_zend::{Frame, Object, Owned, Thrown, exception};
use std::cell::Cell;

/// A scope in the current one. The call that opens it ends it, by [`Nursery::end`], which waits for its coroutines.
///
/// It is cancelled with its caller, and not by the scope of that: so it can be opened in the clean-up of a cancelled one, and what
/// protects its caller protects it. It sees the values of the current scope.
///
/// A failure in it that no coroutine of it awaits cancels the others, and goes no further.
pub struct Nursery {
    rt: &'static Runtime,
    id: ScopeId,
    /// The call, in messages.
    name: &'static str,
    /// The call has got what it wants.
    gave_up: Cell<bool>,
    /// It holds the scope, whose coroutines may ask for it.
    object: Owned<ScopeObject>,
}

impl Nursery {
    /// Opens a nursery for the function with this name. `on_failure` is called with each failure in it, and must not run PHP code.
    ///
    /// # Errors
    /// The coroutine is cancelled, or cannot wait here.
    pub fn open(
        rt: &'static Runtime,
        name: &'static str,
        on_failure: impl Fn(&Object) + 'static,
    ) -> Result<Nursery, Thrown> {
        spawn::is_not_excluded()?;
        if !rt.can_switch() {
            return Err(cannot_await(rt));
        }
        may_wait(rt)?;
        let current = {
            let core = rt.core.borrow();
            core.scope_of(core.running())
        };
        let object = scope::SCOPE.create(classes::scope());
        let id = scope::make(rt, &object, None, Lifetime::Scope);
        let boundary = Boundary { take: Box::new(on_failure), is_nursery: true };
        let record = scope::record(rt, id);
        rt.core.borrow_mut().put_inside(id, current);
        *record.boundary.borrow_mut() = Some(boundary);
        rt.core.borrow_mut().start_collecting(id);
        Ok(Nursery { rt, id, name, gave_up: Cell::new(false), object })
    }

    /// Returns its scope.
    pub fn id(&self) -> ScopeId {
        self.id
    }

    /// Cancels its coroutines after this time, for which [`Nursery::end`] throws a `TimeoutException`.
    pub fn limit(&self, milliseconds: i64) {
        let record = scope::record(self.rt, self.id);
        record.timeout.set(Some(milliseconds));
        record.limited_at.set_to_code_of(Frame::current().and_then(Frame::user_frame));
        self.rt.core.borrow_mut().set_deadline(self.id, scope::deadline(milliseconds));
    }

    /// Spawns a coroutine in it.
    ///
    /// # Errors
    /// It is cancelled, or was disposed of.
    pub fn spawn(&self, body: Body) -> Result<Owned<CoroutineObject>, Thrown> {
        let is_closed = self.rt.core.borrow().is_closed(self.id);
        if is_closed {
            return Err(exception::throw_new(classes::async_exception(), scope::CLOSED));
        }
        Ok(spawn::spawn_body_in(self.rt, self.id, body))
    }

    /// Cancels its coroutines when this awaitable completes, for which [`Nursery::end`] throws what a wait with that token throws.
    ///
    /// # Errors
    /// It can never complete.
    pub fn limit_by(&self, token: &Object) -> Result<(), Thrown> {
        let target = awaiting::target(token)?;
        let record = scope::record(self.rt, self.id);
        record.constraint.set(token.into());
        record.bounded_at.set_to_code_of(Frame::current().and_then(Frame::user_frame));
        self.rt.core.borrow_mut().bound_by(self.id, target);
        failure::carry_out(self.rt);
        Ok(())
    }

    /// Returns `true` if it was cancelled, because of a failure, its limit, or by other code.
    pub fn is_cancelled(&self) -> bool {
        self.rt.core.borrow().is_cancelled(self.id)
    }

    /// Cancels its coroutines, because the call has got what it wants.
    pub fn give_up_rest(&self) {
        if !self.is_cancelled() {
            self.gave_up.set(true);
            let reason = cancellation::cancellation_after(&format!("{}()", self.name), None, "");
            scope::cancel(self.rt, self.id, &reason);
        }
    }

    /// Waits until all its coroutines have ended, and closes it. `so_far` is how the call itself has gone: if it was cancelled or
    /// has failed, so are its coroutines.
    ///
    /// # Errors
    /// The call was cancelled; its limit has passed; it, or a coroutine, has failed; its scope was cancelled. The first of these that
    /// holds is thrown, with the failure as its last previous exception.
    pub fn end(self, so_far: Result<(), Thrown>) -> Result<(), Thrown> {
        let ended = self.wait_for_all(so_far);
        self.rt.core.borrow_mut().stop_collecting(self.id);
        // What comes later, of callbacks for its end or of coroutines that could not be waited for, goes where it goes from other scopes.
        drop(scope::record(self.rt, self.id).boundary.take());
        self.close(ended?)
    }

    /// Waits until all its coroutines have ended, and cancels them if the call or that wait fails. Returns the exception of that, if there is one.
    ///
    /// # Errors
    /// They may not have ended: the script exits, or waiting on would last for ever.
    fn wait_for_all(&self, so_far: Result<(), Thrown>) -> Result<Option<Owned<Object>>, Thrown> {
        let mut thrown = None;
        let mut next = so_far;
        loop {
            if next.is_err() {
                if exception::is_exit_in_flight() {
                    exception::put_aside(|| self.cancel(None));
                    return next.map(|()| None);
                }
                let Some(later) = exception::take() else { return next.map(|()| None) };
                let is_stuck = self.rt.is_deadlock(&later) && thrown.is_some();
                let first = later_than(thrown, later);
                if is_stuck {
                    return Err(exception::throw(first)); // waiting on would end in the same way
                }
                self.cancel(Some(&first));
                thrown = Some(first);
            }
            next = self.wait();
            if next.is_ok() {
                return Ok(thrown);
            }
        }
    }

    /// Cancels its coroutines, unless that was done, because of what the call ends with.
    fn cancel(&self, because_of: Option<&Object>) {
        if !self.is_cancelled() {
            let text = format!("{}()", self.name);
            scope::cancel(self.rt, self.id, &cancellation::cancellation_after(&text, because_of, ""));
        }
    }

    /// Waits until all its coroutines have ended.
    fn wait(&self) -> Result<(), Thrown> {
        scope::record(self.rt, self.id).is_ending.set(true);
        let targets = [Target::Scope(self.id)];
        let info = Info { call: self.name, wants: Wants::Target(targets[0]), since: Reactor::recently(), ..Info::NONE };
        // One that collects the scope's failures gets none delivered.
        awaiting::wait(self.rt, &targets, info, |core: &Core| core.is_finished(self.id)).map(drop)
    }

    /// Closes it: all its coroutines have ended.
    fn close(self, thrown: Option<Owned<Object>>) -> Result<(), Thrown> {
        let (rt, id) = (self.rt, self.id);
        let failure = scope::failure_at(rt, id, 0);
        let record = scope::record(rt, id);
        let limit = match record.reached.get() {
            None => None,
            Some(Bound::Time) => Some(record.limit_exception()),
            Some(Bound::Constraint) => record.constraint.get().as_object().and_then(|token| {
                let _ = awaiting::token_was_first(rt, token);
                exception::take()
            }),
        };
        let reason = record.reason.get().filter(|_| !self.gave_up.get());
        scope::schedule_warning(rt, id);
        if self.object.object().references() > 1 || rt.core.borrow().has_child_scopes(id) {
            scope::dispose(rt, id, Disposal::Safely, "");
        } else {
            scope::spare_destructor(&self.object);
        }
        let outcome = match (thrown, limit) {
            (Some(thrown), _) | (None, Some(thrown)) => {
                if let Some(failure) = failure
                    && !exception::chain(&thrown).any(|at| *at == *failure)
                {
                    exception::set_last_previous(&thrown, failure);
                }
                Some(thrown)
            }
            (None, None) => failure.or(reason),
        };
        drop(self);
        outcome.map_or(Ok(()), |outcome| Err(exception::throw(outcome)))
    }
}

/// Returns the exception to throw if `later` was thrown while `first` waited for the coroutines to end. A cancellation comes before anything
/// else, and the first one before others.
fn later_than(first: Option<Owned<Object>>, later: Owned<Object>) -> Owned<Object> {
    let Some(first) = first else { return later };
    if life::is_cancellation(&first) && life::is_cancellation(&later) {
        return first;
    }
    let (thrown, other) = if life::is_cancellation(&first) { (first, later) } else { (later, first) };
    exception::set_last_previous(&thrown, other);
    thrown
}
