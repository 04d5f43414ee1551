//! The loop of `Server::run()`, and the coroutine of a request.

use crate::application::Place;
use crate::error_log::{self, Subject};
use crate::errors::{self, server_error};
use crate::handling::Handling;
use crate::state::{Inner, Server};
use crate::{limits, log, reply, request, server_variables, slow, topics, worker};
use http::StatusCode;
use spindle_php::coroutine;
use spindle_php::limits::has_ended_coroutine;
use spindle_php::sapi;
use spindle_server::{Event, Exchange, Handler, Reason};
use spindle_zend::{Instance, Owned, PhpResult, Thrown, Value, exception};
use std::ffi::CStr;
use std::rc::Rc;

/// What calls handlers, in traces.
const RUN: &CStr = c"Async\\Http\\Server::run";

/// Serves until the server was stopped and is drained.
///
/// # Errors
/// The coroutine was cancelled, or something is missing. All connections are closed then.
pub fn run(server: &Owned<Instance<Server>>) -> Result<(), Thrown> {
    let inner = Rc::clone(server.inner()?);
    if server.handler.is_empty() && !server.application.is_set() && !inner.core.has_sites() {
        return Err(server_error("There is no handler: call handle() before"));
    }
    if inner.addresses.borrow().is_empty() {
        return Err(server_error("The server listens nowhere: call listen() before"));
    }
    if sapi::live().is_some() {
        return Err(server_error("A server cannot run in a request"));
    }
    if inner.is_running.replace(true) {
        return Err(server_error("The server runs already, or was stopped"));
    }
    inner.process.set(std::process::id());
    spindle_blocks::keep();
    let is_worker = server.is_worker.get();
    if is_worker {
        worker::server_started().inspect_err(|_| inner.is_running.set(false))?;
        let _ = server.variables.set(server_variables::prepare());
    }
    limits::watch(inner.core.settings());
    topics::listen()?;
    let is_application = server.application.is_set();
    if is_application {
        inner.core.limit_handlers(server.application.instances.get());
    }
    let begun = if is_application { server.application.begin(&inner.owner()) } else { Ok(()) };
    let ended = begun.and_then(|()| serve(server, &inner));
    if ended.is_err() {
        abandon(server, &inner);
    }
    if is_application && !exception::is_exit_in_flight() {
        exception::put_aside(|| server.application.end(&inner.owner()));
    }
    limits::unwatch();
    if is_worker {
        worker::requests_end();
    }
    ended?;
    if inner.is_poisoned.get() {
        return Err(server_error(
            "A request has ended with a fatal error, and the others are answered: start the process again",
        ));
    }
    Ok(())
}

/// Closes everything and has handlers cancelled, after the coroutine of `run()` was cancelled.
fn abandon(server: &Owned<Instance<Server>>, inner: &Rc<Inner>) {
    if exception::is_exit_in_flight() {
        return; // at the end of the request
    }
    inner.ended_with.replace(exception::in_flight());
    exception::put_aside(|| {
        let running = inner.core.running();
        inner.core.close();
        inner.stop_text.replace("Server::run() was ended".to_owned());
        for handler in running {
            handler.cancel(Reason::Shutdown);
        }
    });
    inner.ended_with.take();
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
        log::tell(server, inner);
        while let Some(event) = inner.core.next_event() {
            match event {
                Event::Begin(exchange) if server.application.is_set() => server.application.add(exchange),
                Event::Begin(exchange) if server.handler.is_empty() => {
                    reply::refuse(&exchange, StatusCode::NOT_FOUND); // it is for no site
                    exchange.finish_handler();
                }
                Event::Begin(exchange) => begin(server, inner, exchange, None)?,
                Event::Error(exchange, line) => error_log::warn_of(&Subject::of(&exchange, 0), &line),
                Event::Log(entry) => log::add(server, inner, *entry)?,
            }
        }
        while let Some((exchange, place)) = server.application.next() {
            place.boot(&server.application.boot, &inner.owner())?;
            begin(server, inner, exchange, Some(place))?;
        }
        loop {
            let failure = inner.failures.borrow_mut().pop();
            let Some(failure) = failure else { break };
            errors::report(&failure);
        }
        if inner.should_notify.replace(false) && !server.on_fatal_error.is_empty() {
            let told = server.clone();
            coroutine::spawn(move || coroutine::call(&told.on_fatal_error.get(), &mut []))?;
        }
        if inner.core.is_drained() {
            return log::end(server, inner);
        }
        let ends_by = server.application.ends.cut();
        if inner.core.has_work() {
            coroutine::suspend()?;
            continue;
        }
        inner.waits.set(true);
        let deadline = inner.core.next_deadline().into_iter().chain(ends_by).min();
        let waited = inner.set.wait("Server::run", deadline);
        inner.waits.set(false);
        waited?;
    }
}

/// Finishes a request when the body of its coroutine is dropped, even if it never ran.
struct FinishOnDrop(Rc<Handling>);

impl Drop for FinishOnDrop {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// Begins a handler.
fn begin(
    server: &Owned<Instance<Server>>,
    inner: &Rc<Inner>,
    exchange: Rc<Exchange>,
    place: Option<Rc<Place>>,
) -> Result<(), Thrown> {
    let given = place.clone();
    let begun = Handling::begin(exchange, inner, place).inspect_err(|_| {
        given.inspect(|place| place.give_back(&inner.owner()));
    });
    let ending = FinishOnDrop(begun?);
    let handling = Rc::clone(&ending.0);
    let Some(scope) = handling.scope() else { return Ok(()) };
    let server = server.clone();
    if server.is_worker.get() {
        let own = worker::make(&handling);
        scope.spawn_in_request(own, move || worker::handle(&server, &ending.0))?.runs_as(RUN);
        // It may have waited for its place.
        if let Some(reason) = handling.exchange.cancelled() {
            handling.cancel(reason);
        }
        return Ok(());
    }
    let request = request::make(&handling);
    request::attach(&request, &scope)?;
    scope.spawn(move || handle(&server, &ending.0, &request))?.runs_as(RUN);
    Ok(())
}

/// The body of the coroutine of a request.
fn handle(
    server: &Instance<Server>,
    handling: &Rc<Handling>,
    request: &Owned<Instance<request::Request>>,
) -> PhpResult {
    handling.exchange.set_coroutine(coroutine::running_id());
    let handler = server.handler.get();
    let returned = coroutine::call(&handler, &mut [request.object().into()]);
    slow::has_returned(handling);
    let answered = returned.and_then(|result| {
        handling.last_failure().map_or(Ok(()), |other| Err(exception::throw(other)))?;
        reply::send(handling, result)
    });
    handling.limits.restore_setting();
    if answered.is_err() {
        if exception::is_exit_in_flight() {
            if !has_ended_coroutine() {
                return Err(Thrown::is_in_flight());
            }
            drop(exception::take());
            reply::refuse(&handling.exchange, StatusCode::INTERNAL_SERVER_ERROR);
        }
        if let Some(thrown) = exception::take() {
            let (failure, other) = handling.failures(thrown);
            if server.inner()?.is_here() {
                reply::fail(&handling.exchange, &failure);
            } else {
                worker::handle_uncaught(&failure); // in a child that the handler has forked: it has no client
            }
            other.inspect(|other| errors::report(other));
        }
    } else if let Some(other) = handling.last_failure() {
        errors::report(&other); // of one that was spawned while the response was written
    }
    handling.finish();
    Ok(Value::NULL)
}
