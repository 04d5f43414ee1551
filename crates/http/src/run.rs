//! The loop of `Server::run()`, and the coroutine of a request.

use crate::errors::{self, fails};
use crate::limits::{self, Limits};
use crate::log;
use crate::reply;
use crate::request;
use crate::server::{Inner, Server};
use crate::{server_variables, worker};
use http::StatusCode;
use spindle_php::coroutine::{self, Scope, WaitQueue};
use spindle_php::limits::has_ended_coroutine;
use spindle_php::sapi::{self, Sapi};
use spindle_server::{Event, Exchange, Why};
use spindle_zend::{Instance, Object, Owned, PhpResult, Thrown, Value, exception};
use std::cell::RefCell;
use std::ffi::CStr;
use std::rc::{Rc, Weak};

/// What belongs to an exchange while its handler runs.
pub struct Handling {
    /// Coroutines that wait for data of the request's body, or for room for the response.
    pub waiting: WaitQueue,
    scope: RefCell<Option<Scope>>,
    pub limits: Limits,
    /// The request of PHP's own, in worker mode.
    request: Option<Weak<Sapi>>,
    /// The failure of another coroutine of the scope.
    failure: RefCell<Option<Owned<Object>>>,
}

impl Handling {
    /// Returns `true` if another coroutine of the scope has failed.
    pub fn has_failure(&self) -> bool {
        self.failure.borrow().is_some()
    }

    /// Takes the failure of another coroutine of the scope when the handler has ended, which awaits none any more.
    pub fn last_failure(&self) -> Option<Owned<Object>> {
        let scope = self.scope.borrow().clone();
        if let Some(scope) = scope {
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

/// What calls handlers, in traces.
const RUN: &CStr = c"Async\\Http\\Server::run";

/// Returns it for an exchange.
pub fn handling(exchange: &Exchange) -> Option<&Handling> {
    exchange.data().get().and_then(|data| data.downcast_ref())
}

/// Serves until the server was stopped and has nothing left to do.
///
/// # Errors
/// The coroutine was cancelled, or something is missing. All connections are closed then.
pub fn run(server: &Owned<Instance<Server>>) -> Result<(), Thrown> {
    let inner = Rc::clone(server.inner()?);
    if server.handler.is_empty() {
        return Err(fails("There is no handler: call handle() before"));
    }
    if inner.addresses.borrow().is_empty() {
        return Err(fails("The server listens nowhere: call listen() before"));
    }
    if sapi::live().is_some() {
        return Err(fails("A server cannot run in a request"));
    }
    if inner.is_running.replace(true) {
        return Err(fails("The server runs already, or was stopped"));
    }
    inner.process.set(std::process::id());
    spindle_blocks::keep();
    let is_worker = server.is_worker.get();
    if is_worker {
        worker::server_begins().inspect_err(|_| inner.is_running.set(false))?;
        server_variables::prepare(server);
    }
    limits::watch(inner.core.settings());
    let ended = serve(server, &inner);
    limits::unwatch();
    if is_worker {
        worker::server_ends();
    }
    if ended.is_err() {
        abandon(server, &inner);
    } else if inner.is_poisoned.get() {
        return Err(fails(
            "A request has ended with a fatal error, and the others are answered: start the process again",
        ));
    }
    ended
}

/// Closes everything, and has handlers cancelled, after the coroutine of `run()` was.
fn abandon(server: &Owned<Instance<Server>>, inner: &Rc<Inner>) {
    if exception::is_exit_in_flight() {
        return; // at the end of the request
    }
    let ended_with = exception::in_flight();
    exception::put_aside(|| {
        let running: Vec<Rc<Exchange>> = inner.core.running();
        inner.core.close();
        let reason = errors::stopped("Server::run() was ended", ended_with.as_deref());
        running.iter().for_each(|exchange| cancel(exchange, &reason));
    });
    exception::put_aside(|| log::abandon(server, inner));
}

fn serve(server: &Owned<Instance<Server>>, inner: &Rc<Inner>) -> Result<(), Thrown> {
    loop {
        while let Some(key) = inner.set.next() {
            if inner.core.ready(key) {
                inner.set.descriptor_is_done();
            }
        }
        inner.core.turn();
        while let Some(event) = inner.core.next_event() {
            carry_out(server, inner, event)?;
        }
        loop {
            let failure = inner.failures.borrow_mut().pop();
            let Some(failure) = failure else { break };
            reply::report(&failure);
        }
        if inner.is_to_tell.replace(false) && !server.on_fatal_error.is_empty() {
            let told = server.clone();
            coroutine::spawn(move || coroutine::call(&told.on_fatal_error.get(), &mut []))?;
        }
        if inner.core.is_drained() {
            return log::finish(&server.log);
        }
        if inner.core.has_work() {
            coroutine::suspend()?;
            continue;
        }
        inner.waits.set(true);
        let waited = inner.set.wait("Server::run", inner.core.next_deadline());
        inner.waits.set(false);
        waited?;
    }
}

fn carry_out(server: &Owned<Instance<Server>>, inner: &Rc<Inner>, event: Event) -> Result<(), Thrown> {
    match event {
        Event::Begin(exchange) => begin(server, inner, &exchange),
        Event::Wake(exchange) => {
            if let Some(handling) = handling(&exchange) {
                handling.waiting.wake_all();
            }
            Ok(())
        }
        Event::Log(entry) => log::add(server, inner, *entry),
        Event::Cancel(exchange, why) => {
            let request = handling(&exchange).and_then(|handling| handling.request.as_ref());
            if !request.is_some_and(|request| worker::ignores(request, why)) {
                let reason = match why {
                    Why::Shutdown => errors::stopped(&inner.stops.borrow(), None),
                    _ => errors::cancellation(&exchange, why),
                };
                cancel(&exchange, &reason);
            }
            Ok(())
        }
    }
}

/// Cancels the handler of an exchange, and the other coroutines of its scope.
pub fn cancel(exchange: &Exchange, reason: &Object) {
    let scope = handling(exchange).and_then(|handling| handling.scope.borrow().clone());
    if let Some(scope) = scope {
        scope.cancel(reason);
    }
}

/// Ends the handling of an exchange when it is dropped with the body of a coroutine, which need not have run.
struct Ending(Rc<Exchange>);

impl Drop for Ending {
    fn drop(&mut self) {
        ends(&self.0);
    }
}

/// The handler of an exchange has ended.
pub fn ends(exchange: &Rc<Exchange>) {
    exchange.handler_ends();
    if let Some(handling) = handling(exchange) {
        let scope = handling.scope.take();
        drop(scope); // coroutines that are still in it run on
    }
}

/// Begins a handler.
fn begin(server: &Owned<Instance<Server>>, inner: &Rc<Inner>, exchange: &Rc<Exchange>) -> Result<(), Thrown> {
    let (weak, all) = (Rc::downgrade(exchange), Rc::downgrade(inner));
    let scope = Scope::new(move |failure| {
        let exchange = weak.upgrade();
        match exchange.as_ref().and_then(|exchange| handling(exchange)) {
            Some(handling) if handling.scope.borrow().is_some() => {
                *handling.failure.borrow_mut() = Some(Owned::of(failure));
            }
            _ => {
                if let Some(inner) = all.upgrade() {
                    inner.failures.borrow_mut().push(Owned::of(failure));
                    inner.wake();
                }
            }
        }
    })?;
    let own = server.is_worker.get().then(|| worker::make(exchange, inner));
    let handling = Handling {
        waiting: WaitQueue::new(),
        scope: RefCell::new(Some(scope.clone())),
        limits: Limits::usual(),
        request: own.as_ref().map(Rc::downgrade),
        failure: RefCell::new(None),
    };
    let _ = exchange.data().set(Box::new(handling));
    let (server, ending) = (server.clone(), Ending(Rc::clone(exchange)));
    if let Some(own) = own {
        scope.spawn_in_request(own, move || worker::handle(&server, &ending.0))?.runs_as(RUN);
        return Ok(());
    }
    let request = request::make(exchange);
    request::belongs_to(&request, &scope)?;
    scope.spawn(move || handle(&server, &ending.0, &request))?.runs_as(RUN);
    Ok(())
}

/// The body of the coroutine of a request.
fn handle(
    server: &Instance<Server>,
    exchange: &Rc<Exchange>,
    request: &Owned<Instance<request::Request>>,
) -> PhpResult {
    let handler = server.handler.get();
    let answered = coroutine::call(&handler, &mut [request.object().into()]).and_then(|result| {
        let other = handling(exchange).and_then(Handling::last_failure);
        other.map_or(Ok(()), |other| Err(exception::throw(other)))?;
        reply::send(exchange, result)
    });
    if let Some(handling) = self::handling(exchange) {
        handling.limits.restore_setting();
    }
    if answered.is_err() {
        if exception::is_exit_in_flight() {
            if !has_ended_coroutine() {
                return Err(Thrown::is_in_flight());
            }
            drop(exception::take());
            reply::refuse(exchange, StatusCode::INTERNAL_SERVER_ERROR);
        }
        if let Some(thrown) = exception::take() {
            let (failure, other) = match handling(exchange) {
                Some(handling) => handling.failures(thrown),
                None => (thrown, None),
            };
            if server.inner()?.process.get() == std::process::id() {
                reply::fail(exchange, &failure);
            } else {
                worker::handle_uncaught(&failure); // a child that the handler has forked: nobody gets its response
            }
            other.inspect(|other| reply::report(other));
        }
    } else if let Some(other) = handling(exchange).and_then(Handling::last_failure) {
        reply::report(&other); // of one that was spawned while the response was written
    }
    ends(exchange);
    Ok(Value::NULL)
}
