//! A request that is handled: what its coroutines share with the loop of the server.

use crate::application::Place;
use crate::ending::Limits;
use crate::errors;
use crate::slow;
use crate::state::Inner;
use spindle_php::coroutine::{self, Scope, WaitQueue};
use spindle_php::sapi::Sapi;
use spindle_server::{Exchange, Handler, Reason};
use spindle_zend::{Object, Owned, Thrown, exception};
use std::cell::{OnceCell, RefCell};
use std::rc::{Rc, Weak};

/// What belongs to an exchange while its handler runs.
pub struct Handling {
    pub exchange: Rc<Exchange>,
    pub server: Weak<Inner>,
    /// Coroutines that wait for data of the request's body, or for room for the response.
    pub waiting: WaitQueue,
    scope: RefCell<Option<Scope>>,
    pub limits: Limits,
    /// The PHP request state, in worker mode.
    pub request: OnceCell<Weak<Sapi>>,
    /// The place of the instance that serves it, in application mode.
    place: RefCell<Option<Rc<Place>>>,
    /// The failure of another coroutine of the scope.
    failure: RefCell<Option<Owned<Object>>>,
}

impl Handling {
    /// Begins to handle a request: in a scope of its own, which in application mode is one of its instance.
    ///
    /// # Errors
    /// No scope can be made.
    pub fn begin(exchange: Rc<Exchange>, inner: &Rc<Inner>, place: Option<Rc<Place>>) -> Result<Rc<Handling>, Thrown> {
        let parent = place.as_ref().and_then(|place| place.scope());
        let handling = Rc::new(Handling {
            exchange,
            server: Rc::downgrade(inner),
            waiting: WaitQueue::new(),
            scope: RefCell::new(None),
            limits: Limits::usual(),
            request: OnceCell::new(),
            place: RefCell::new(place),
            failure: RefCell::new(None),
        });
        let (weak, all) = (Rc::downgrade(&handling), Rc::downgrade(inner));
        let on_failure = move |failure: &Object| match weak.upgrade() {
            Some(handling) if handling.scope.borrow().is_some() => {
                *handling.failure.borrow_mut() = Some(Owned::of(failure));
            }
            _ => {
                if let Some(inner) = all.upgrade() {
                    inner.failures.borrow_mut().push(Owned::of(failure));
                    inner.wake();
                }
            }
        };
        let scope = match parent {
            Some(parent) => parent.below(on_failure),
            None => Scope::new(on_failure),
        }?;
        *handling.scope.borrow_mut() = Some(scope);
        handling.exchange.set_handler(Rc::downgrade(&handling) as Weak<dyn Handler>);
        Ok(handling)
    }

    /// Returns the scope of its coroutines, until the handler has ended.
    pub fn scope(&self) -> Option<Scope> {
        self.scope.borrow().clone()
    }

    /// Cancels the handler, and the other coroutines of its scope.
    pub fn cancel_scope(&self, reason: &Object) {
        if let Some(scope) = self.scope() {
            scope.cancel(reason);
        }
    }

    /// Returns the place of the instance that serves it, in application mode.
    pub fn place(&self) -> Option<Rc<Place>> {
        self.place.borrow().clone()
    }

    /// The handler has ended.
    pub fn finish(&self) {
        if let (Some(place), Some(server)) = (self.place.take(), self.server.upgrade()) {
            place.give_back(&server.owner());
        }
        self.exchange.finish_handler();
        let scope = self.scope.take();
        drop(scope); // coroutines that are still in it run on
    }

    /// Returns `true` if another coroutine of the scope has failed.
    pub fn has_failure(&self) -> bool {
        self.failure.borrow().is_some()
    }

    /// Takes the failure of another coroutine of the scope when the handler, which awaits none any more, has ended.
    pub fn last_failure(&self) -> Option<Owned<Object>> {
        if let Some(scope) = self.scope() {
            scope.end_held_failures();
        }
        self.take_failure()
    }

    /// Takes the failure that the request has ended with, if its handler has thrown this exception: that of another coroutine if
    /// this one is a consequence of it. Otherwise there are two.
    pub fn failures(&self, thrown: Owned<Object>) -> (Owned<Object>, Option<Owned<Object>>) {
        let is_consequence = exception::chain(&thrown).any(|at| at.is_a(coroutine::cancellation_exception()));
        match self.take_failure() {
            Some(other) if is_consequence => (other, None),
            other => (thrown, other),
        }
    }

    /// Takes the failure of another coroutine of the scope.
    pub fn take_failure(&self) -> Option<Owned<Object>> {
        self.failure.take()
    }
}

impl Handler for Handling {
    fn wake(&self) {
        self.waiting.wake_all();
    }

    fn cancel(&self, reason: Reason) -> bool {
        if let (Reason::Disconnected, Some(request)) = (reason, self.request.get()) {
            // As with PHP's other servers, the script continues, and exits when it prints, unless `ignore_user_abort` is set.
            if let Some(request) = request.upgrade() {
                request.is_aborted();
            }
            return false;
        }
        let reason = match (reason, self.server.upgrade()) {
            (Reason::Shutdown, Some(server)) => {
                errors::stopped(&server.stop_text.borrow(), server.ended_with.borrow().as_deref())
            }
            _ => errors::cancellation(&self.exchange, reason),
        };
        self.cancel_scope(&reason);
        true
    }

    fn is_slow(&self, duration: u64) {
        slow::log(self, duration);
    }

    fn places(&self) -> String {
        self.scope().map_or(String::new(), |scope| scope.describe())
    }
}
