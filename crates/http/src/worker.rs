//! Worker mode: each request has superglobals, headers, output, a session and functions for its end of its own, as PHP has them
//! for the one request of a process.

use crate::application::Place;
use crate::errors::{self, server_error};
use crate::handling::Handling;
use crate::reply;
use crate::server_variables;
use crate::slow;
use crate::state::{Inner, Server};
use bytes::{Buf, Bytes};
use http::header::{self, HeaderMap, HeaderValue};
use http::{HeaderName, StatusCode, Version};
use spindle_php::coroutine;
use spindle_php::sapi::{self, Client, Sapi};
use spindle_server::{Body, Exchange, Head, Incoming, Written, refusal};
use spindle_zend::{
    Array, FunctionEntry, Instance, Object, PhpResult, PhpStatic, Str, Thrown, Type, Value, engine, exception,
    forget_functions, function_table, make_functions,
};
use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

/// The size from which on a response is sent in pieces.
const BUFFER: usize = 32 * 1024;

/// The initial capacity for headers. Above a limit of the type, reserving more would panic.
const USUAL_HEADERS: usize = 64;

/// The initial capacity for texts, in bytes.
const USUAL_TEXTS: usize = 512;

/// The exit status of a process with an uncaught exception.
const FAILED: i32 = 255;

/// The size of a request's output buffer in PHP, as in the settings that PHP recommends. The command line has none.
const OUTPUT_BUFFERING: i64 = 4096;

/// The client of a request, as PHP's output and input layers see it.
pub struct Worker {
    /// Until the response is complete.
    handling: RefCell<Option<Rc<Handling>>>,
    /// Until its coroutine has ended.
    handled: Weak<Handling>,
    server: Weak<Inner>,
    texts: OnceCell<Texts>,
    /// The head of the response, once PHP has sent it.
    head: RefCell<Option<Head>>,
    /// The body of a response that has not begun.
    buffer: RefCell<Vec<u8>>,
    has_begun: Cell<bool>,
    /// What was read of the body and not yet returned.
    rest: RefCell<Bytes>,
    /// Another coroutine of the request has exited.
    has_exited: Cell<bool>,
    /// What the client gets in place of the response.
    refused: Cell<Option<StatusCode>>,
    /// The response must not look complete.
    has_failed: Cell<bool>,
    /// A fatal error has ended one of its coroutines.
    has_died: Cell<bool>,
}

/// Texts that PHP uses until the request has ended: one after the other, each with a zero at its end.
struct Texts {
    all: Vec<u8>,
    /// Where they begin.
    uri: usize,
    query: usize,
    content_type: Option<usize>,
    cookies: Option<usize>,
    authorization: Option<usize>,
}

/// How many servers in worker mode run, and instances without one.
static SERVERS: PhpStatic<Cell<u32>> = PhpStatic::new(Cell::new(0));

/// Whether [`FUNCTIONS_OF_FPM`] exist.
static HAS_FUNCTIONS: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// A server in worker mode begins to run.
///
/// # Errors
/// A setting names something that does not exist.
pub fn server_started() -> Result<(), Thrown> {
    requests_begin()?;
    // Compiled code that calls them may be shared with other requests of a process, but not with those of the command line.
    if engine::sapi_name() == c"cli" && !HAS_FUNCTIONS.replace(true) {
        make_functions(FUNCTIONS_OF_FPM);
    }
    Ok(())
}

/// From now on coroutines may have a native PHP request of their own.
///
/// # Errors
/// A setting names something that does not exist.
pub fn requests_begin() -> Result<(), Thrown> {
    if SERVERS.get() == 0
        && let Err(why) = sapi::prepare()
    {
        return Err(if exception::is_in_flight() { Thrown::is_in_flight() } else { server_error(&why) });
    }
    SERVERS.set(SERVERS.get() + 1);
    sapi::watch_errors(true);
    Ok(())
}

/// What has made this possible has ended: a server, or an instance. It may outlive PHP's request.
pub fn requests_end() {
    SERVERS.set(SERVERS.get().saturating_sub(1));
    sapi::watch_errors(SERVERS.get() > 0);
}

/// No server runs any more. At the end of PHP's request.
pub fn process_request_ends() {
    SERVERS.set(0);
    sapi::watch_errors(false);
    sapi::abandon();
    sapi::forget_statics();
    if HAS_FUNCTIONS.replace(false) {
        forget_functions();
    }
}

/// Adds a text. Neither targets nor headers can have a zero in them. Returns its offset.
fn add(all: &mut Vec<u8>, text: &[u8]) -> usize {
    let start = all.len();
    all.extend_from_slice(text);
    all.push(0);
    start
}

impl Texts {
    fn of(exchange: &Exchange) -> Texts {
        let parts = exchange.head();
        let mut all = Vec::with_capacity(USUAL_TEXTS);
        add(&mut all, parts.method.as_str().as_bytes());
        let uri = add(&mut all, parts.uri.path_and_query().map_or("*", |target| target.as_str()).as_bytes());
        let query = parts.uri.query().unwrap_or_default();
        let query = all.len() - 1 - query.len(); // it is the end of the target
        let (mut content_type, mut cookies, mut authorization) = (None, None, None);
        let mut joined = None; // the last header whose values were: a client of HTTP/2 may send a thousand cookies
        for (name, value) in &parts.headers {
            let place = match *name {
                header::COOKIE => &mut cookies,
                header::CONTENT_TYPE => &mut content_type,
                header::AUTHORIZATION => &mut authorization,
                _ => continue,
            };
            match place {
                None => *place = Some(add(&mut all, value.as_bytes())),
                // The values of a header come one after the other.
                Some(_) if joined.replace(name) == Some(name) => {}
                Some(_) => {
                    let line = crate::headers::line(&parts.headers, name);
                    let line = line.as_ref().and_then(Value::as_str).map_or(value.as_bytes(), Str::as_bytes);
                    *place = Some(add(&mut all, line));
                }
            }
        }
        Texts { all, uri, query, content_type, cookies, authorization }
    }

    /// Returns the bytes from `start`: a text and its zero, and what follows.
    fn at(&self, start: usize) -> &[u8] {
        &self.all[start..]
    }
}

/// Creates the PHP request state for a request.
pub fn make(handling: &Rc<Handling>) -> Rc<Sapi> {
    let (instance, base) = handling.place().map_or((None, None), |place| place.belongs_to());
    let own = Sapi::new(instance, base, |_| {
        Box::new(Worker {
            handling: RefCell::new(Some(Rc::clone(handling))),
            handled: Rc::downgrade(handling),
            server: Weak::clone(&handling.server),
            texts: OnceCell::new(),
            head: RefCell::new(None),
            buffer: RefCell::new(Vec::new()),
            has_begun: Cell::new(false),
            rest: RefCell::default(),
            has_exited: Cell::new(false),
            refused: Cell::new(None),
            has_failed: Cell::new(false),
            has_died: Cell::new(false),
        })
    });
    let _ = handling.request.set(Rc::downgrade(&own));
    own
}

/// The functions that PHP-FPM has and the command line has not. They exist when a server in worker mode runs: libraries that look for
/// them take their absence for a reason to declare them.
pub static FUNCTIONS_OF_FPM: &[FunctionEntry] = FPM;

function_table! {
    static FPM = {
        c"getallheaders"() -> Type::ARRAY => |_| headers_of_request("getallheaders");
        c"apache_request_headers"() -> Type::ARRAY => |_| headers_of_request("apache_request_headers");
        c"fastcgi_finish_request"() -> Type::BOOL => |_| {
            in_request("fastcgi_finish_request")?;
            Ok(finish().into())
        };
    }
}

/// Checks that a request is running: only then does such a function exist.
fn in_request(function: &str) -> Result<(), Thrown> {
    match sapi::live() {
        Some(_) => Ok(()),
        None => Err(exception::throw_error(&format!("Call to undefined function {function}()"))),
    }
}

/// Returns the headers of the request as PHP-FPM does, which has them as variables only.
fn headers_of_request(function: &str) -> PhpResult {
    in_request(function)?;
    let variables = sapi::server_variables();
    let mut headers = Array::new(16);
    let mut position = 0;
    while let Some((key, value)) = variables.as_array().and_then(|all| all.next_from(&mut position)) {
        let name = key.as_str().map(Str::as_bytes).and_then(|name| match name {
            b"CONTENT_TYPE" | b"CONTENT_LENGTH" => Some(name),
            _ => name.strip_prefix(server_variables::PREFIX),
        });
        if let Some(name) = name {
            headers.set_key(&Str::new(header_name(name)).into(), value.clone());
        }
    }
    // It has no variable.
    let handling = running().and_then(Worker::handling);
    if let Some(proxy) = handling.and_then(|handling| handling.exchange.head().headers.get("proxy").cloned()) {
        headers.set_text(b"Proxy", Str::new(proxy.as_bytes()).into());
    }
    Ok(headers.into())
}

/// Returns the usual spelling of a header's name, for that of its variable.
fn header_name(variable: &[u8]) -> Vec<u8> {
    let mut begins = true;
    let letter = |byte: &u8| {
        let letter = match *byte {
            b'_' => b'-',
            byte if begins => byte,
            byte => byte.to_ascii_lowercase(),
        };
        begins = letter == b'-';
        letter
    };
    variable.iter().map(letter).collect()
}

/// Returns the client of the running request, if a server has received the request.
pub fn running() -> Option<&'static Worker> {
    sapi::live()?.client().as_any().downcast_ref()
}

/// The body of the coroutine that handles a request.
pub fn handle(server: &Instance<Server>, handling: &Rc<Handling>) -> PhpResult {
    let (Some(request), Some(worker)) = (sapi::live(), running()) else {
        return Err(server_error("The request has no state of PHP's"));
    };
    handling.exchange.set_coroutine(coroutine::running_id());
    let steps: [&dyn Fn(); 6] = [
        &|| match handling.place() {
            Some(place) => serve_by_instance(&place, server, handling, request, worker),
            None => serve(server, handling, request, worker),
        },
        &sapi::end::call_shutdown_functions,
        &sapi::end::close_session,
        &sapi::end::end_buffers,
        &sapi::end::end_output,
        &sapi::end::forget_client,
    ];
    // After a fatal error in one step the next one still runs.
    let next = Cell::new(0);
    while next.get() < steps.len() {
        let is_sound = sapi::survive(|| {
            while let Some(step) = steps.get(next.get()) {
                next.set(next.get() + 1);
                step();
                if engine::has_bailed_out() {
                    return; // and was caught: `survive` sees it
                }
                handle_thrown(worker);
            }
        });
        if !is_sound {
            worker.dies();
            handle_thrown(worker);
        }
    }
    worker.complete();
    sapi::ends_in_child();
    handling.finish();
    Ok(Value::NULL)
}

/// Handles what a step has thrown. What the handler has thrown, `serve` has handled already.
fn handle_thrown(worker: &Worker) {
    if let Some(thrown) = exception::take()
        && !exception::is_exit(&thrown)
    {
        worker.fail();
        sapi::survive(|| sapi::report_uncaught(&thrown));
        drop(exception::take());
    }
}

/// Serves the request when the instance is ready that has it.
fn serve_by_instance(place: &Place, server: &Instance<Server>, handling: &Handling, request: &Sapi, worker: &Worker) {
    match place.ready() {
        Ok(true) => {
            place.install_error_handler();
            serve(server, handling, request, worker);
        }
        Ok(false) => {
            worker.refused.set(Some(StatusCode::SERVICE_UNAVAILABLE));
            worker.has_failed.set(true);
        }
        Err(_) => handle_failure(handling, worker),
    }
}

/// Begins the request and calls the handler.
fn serve(server: &Instance<Server>, handling: &Handling, request: &Sapi, worker: &Worker) {
    let exchange = &*handling.exchange;
    let Some(variables) = server.variables.get() else { return }; // they are prepared when the server begins to run
    let texts = worker.texts.get_or_init(|| Texts::of(exchange));
    let head = sapi::Head {
        method: texts.at(0),
        uri: texts.at(texts.uri),
        query: texts.at(texts.query),
        content_type: texts.content_type.map(|start| texts.at(start)),
        content_length: content_length(exchange),
        cookies: texts.cookies.map(|start| texts.at(start)),
        authorization: texts.authorization.map(|start| texts.at(start)),
        is_http_10: exchange.head().version == Version::HTTP_10,
    };
    let variables = server_variables::of(variables, exchange);
    // SAFETY: the texts stay as long as the client, which stays as long as the request.
    unsafe { request.begin(&head, &variables, OUTPUT_BUFFERING) };
    drop(variables);
    if exception::is_in_flight() {
        return handle_failure(handling, worker);
    }
    let handler = handling.place().map_or_else(|| server.handler.get(), |place| place.handler());
    let returned = coroutine::call(&handler, &mut []);
    slow::has_returned(handling);
    match returned {
        Err(_) => {
            // An exit, too, may have left the application in the middle of something.
            handling.place().inspect(|place| place.breaks());
            handle_failure(handling, worker);
        }
        Ok(result) if result.as_object().is_some_and(reply::is_response) => {
            let text = "A handler in worker mode prints its response: it must not return one";
            let _ = exception::throw_error(text);
            handle_failure(handling, worker);
        }
        Ok(result) => {
            drop(result);
            if let Some(other) = handling.last_failure() {
                uncaught(worker, &other);
            }
        }
    }
}

fn content_length(exchange: &Exchange) -> Option<i64> {
    let length = exchange.head().headers.get(header::CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
}

/// Handles the exception in flight, with which the handler has ended.
fn handle_failure(handling: &Handling, worker: &Worker) {
    let Some(thrown) = exception::take() else { return };
    if exception::is_exit(&thrown) {
        return;
    }
    let is_cancellation = thrown.is_a(coroutine::cancellation_exception());
    if is_cancellation && worker.has_exited.get() && !handling.has_failure() {
        return;
    }
    let (thrown, other) = handling.failures(thrown);
    other.inspect(|other| sapi::report_uncaught(other));
    if worker.has_died.get() {
        sapi::set_status(500); // the fatal error was reported
        return;
    }
    if let Some(status) = reply::status_of(&handling.exchange, &thrown) {
        worker.refused.set(Some(status));
        worker.has_failed.set(true);
        return;
    }
    uncaught(worker, &thrown);
}

/// Handles an uncaught exception as PHP does. The status is 500, unless a handler sets another one.
fn uncaught(worker: &Worker, thrown: &Object) {
    sapi::set_status(500);
    if !handle_uncaught(thrown) {
        worker.has_failed.set(true);
    }
}

/// Calls the handler of uncaught exceptions, or reports the exception. Returns `false` if that, or one that the handler has thrown, was
/// reported.
pub fn handle_uncaught(thrown: &Object) -> bool {
    engine::set_exit_status(FAILED); // unless the handler exits with another one
    if !sapi::call_exception_handler(thrown) {
        sapi::report_uncaught(thrown);
        return false;
    }
    let Some(later) = exception::take().filter(|later| !exception::is_exit(later)) else { return true };
    sapi::report_uncaught(&later);
    false
}

impl Worker {
    /// The response must not look complete. Its status is 500, unless a part of it was sent.
    pub fn fail(&self) {
        self.has_failed.set(true);
        sapi::set_status(500);
        if let Some(head) = &mut *self.head.borrow_mut() {
            head.status = StatusCode::INTERNAL_SERVER_ERROR; // PHP has sent it, but no client has got it
        }
    }

    /// Returns the handling, also after the response is complete, until its coroutine has returned.
    pub fn handled(&self) -> Option<Rc<Handling>> {
        self.handled.upgrade()
    }

    fn handling(&self) -> Option<Rc<Handling>> {
        self.handling.borrow().clone()
    }

    /// Begins a response that is sent in pieces.
    fn begin(&self) {
        let (Some(handling), Some(head)) = (self.handling(), self.head.take()) else { return };
        self.has_begun.set(true);
        let is_gone = !handling.exchange.respond(head, Body::Stream { trailers: Vec::new() });
        let begun = self.buffer.take();
        if is_gone {
            on_disconnected();
        } else if !begun.is_empty() {
            self.send(&handling, Bytes::from(begun));
        }
    }

    fn send(&self, handling: &Handling, bytes: Bytes) {
        let exchange = &handling.exchange;
        match exchange.write(bytes) {
            Written::Ok | Written::TooMuch => {}
            Written::Full => {
                if !may_wait() {
                    return;
                }
                // A cancellation is thrown where the output was made.
                let _ = handling.waiting.wait_for("echo", || exchange.has_room().then_some(()));
            }
            Written::Gone => on_disconnected(),
        }
    }

    /// Completes the response. What is printed afterwards is discarded.
    pub fn complete(&self) {
        let Some(handling) = self.handling.take() else { return };
        let exchange = &handling.exchange;
        if self.has_begun.get() {
            if self.has_failed.get() {
                exchange.abort();
            } else {
                exchange.complete(None);
            }
            return;
        }
        let body = Bytes::from(self.buffer.take());
        let head = self.head.take().filter(|_| self.refused.get().is_none());
        let Some(head) = head else {
            let status = self.refused.get().unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let (head, body) = refusal(status);
            exchange.respond(head, body);
            return;
        };
        exchange.respond(head, if body.is_empty() { Body::Empty } else { Body::Full(body) });
    }

    fn next_piece(&self, handling: &Handling) -> Option<Bytes> {
        let exchange = &handling.exchange;
        let mut read = exchange.read();
        if matches!(read, Incoming::Pending) {
            if !may_wait() {
                return None;
            }
            let waited = handling.waiting.wait_for("php://input", || match exchange.read() {
                Incoming::Pending => None,
                read => Some(read),
            });
            match waited {
                Ok(next) => read = next,
                Err(_) => {
                    exchange.stop_reading();
                    return None;
                }
            }
        }
        match read {
            Incoming::Data(bytes) => return Some(bytes),
            Incoming::TooLarge if !exception::is_in_flight() => {
                let _ = errors::too_large();
            }
            Incoming::Malformed if !exception::is_in_flight() => {
                let _ = errors::bad_request("The body of the request is malformed");
            }
            // The client has left before the end of the body. The script must not take this for the end.
            Incoming::Failed if !exception::is_in_flight() => {
                let _ = errors::bad_request("The body of the request is incomplete");
            }
            _ => {}
        }
        None
    }
}

/// Returns `true` if this coroutine may wait for the client.
fn may_wait() -> bool {
    sapi::can_wait() && !exception::is_in_flight()
}

/// The client is gone: as in PHP, the script exits, unless `ignore_user_abort` is set.
fn on_disconnected() {
    if sapi::output_failed() && !exception::is_in_flight() {
        exception::throw_exit();
        exception::enter_frame(); // which is the script's own for echo
    }
}

/// Returns the number and the reason phrase of a status line, after the version.
fn status_and_reason(line: &[u8]) -> (Option<i32>, &[u8]) {
    let line = line.trim_ascii_start();
    let (number, reason) = line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(line.len()));
    (std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()), reason.trim_ascii())
}

/// Returns the head of a response for what PHP has collected, and its reason phrase, if it has one of its own.
fn head_of(mut status: i32, lines: &[Vec<u8>]) -> (Head, Vec<u8>) {
    let line = sapi::status_line().unwrap_or_default();
    let (of_line, reason) =
        status_and_reason(line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(line.len())).1);
    // It wins over http_response_code(), as with PHP's other servers.
    let mut reason = reason.to_vec();
    status = of_line.unwrap_or(status);
    let mut headers = HeaderMap::with_capacity(lines.len().min(USUAL_HEADERS));
    for line in lines {
        let at = line.iter().position(|byte| *byte == b':');
        let parsed = at.and_then(|at| {
            let name = HeaderName::from_bytes(line[..at].trim_ascii()).ok()?;
            Some((name, HeaderValue::from_bytes(line[at + 1..].trim_ascii()).ok()?))
        });
        match parsed {
            // The way in which CGI programs set it.
            Some((name, value)) if name == "status" => {
                let (code, text) = status_and_reason(value.as_bytes());
                if let Some(code) = code.filter(|_| status == 200) {
                    (status, reason) = (code, text.to_vec());
                }
            }
            Some((name, value)) => {
                if !crate::headers::append(&mut headers, name, value) {
                    warn("There are too many headers: the last ones were not sent");
                    break;
                }
            }
            None => {
                let shown: String =
                    String::from_utf8_lossy(line).chars().take(60).flat_map(char::escape_debug).collect();
                warn(&format!("The header \"{shown}\" is malformed and was not sent"));
            }
        }
    }
    let found = status_of(status);
    if found == StatusCode::NOT_MODIFIED {
        headers.remove(header::CONTENT_TYPE); // PHP's usual one: caches would take it for a new one of what they have
    }
    if i32::from(found.as_u16()) != status {
        reason.clear();
    }
    (Head { status: found, headers }, reason)
}

/// Returns the status of a response for what PHP has collected.
fn status_of(code: i32) -> StatusCode {
    let known = u16::try_from(code).ok().and_then(|code| StatusCode::from_u16(code).ok());
    match known {
        // hyper sends one response for a request. What was meant to go before it, headers above all, goes with it.
        Some(status) if status.is_informational() && status != StatusCode::SWITCHING_PROTOCOLS => {
            warn(&format!("Informational responses ({code}) cannot be sent: 200 was sent"));
            StatusCode::OK
        }
        Some(status) if status.as_u16() >= 200 => status,
        _ => {
            warn(&format!("{code} is not the status of a response: 500 was sent"));
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

fn warn(message: &str) {
    engine::warn_here(None, 0, &exception::c_text(message));
}

impl Client for Worker {
    fn write(&self, bytes: &[u8]) {
        let Some(handling) = self.handling() else { return };
        if self.has_begun.get() {
            return self.send(&handling, Bytes::copy_from_slice(bytes));
        }
        // Also if the client is gone: only what is sent meets that. A script that prints its whole response at its end has its say
        // then, and so do its destructors and what it does after the response.
        self.buffer.borrow_mut().extend_from_slice(bytes);
        if self.buffer.borrow().len() > BUFFER {
            self.begin();
        }
    }

    fn flush(&self) {
        if !self.has_begun.get() {
            self.begin();
        }
        if self.has_begun.get() && may_wait() {
            let _ = coroutine::suspend(); // the connection is written to meanwhile
        }
    }

    fn send_headers(&self, status: i32, lines: &[Vec<u8>]) {
        let (head, reason) = head_of(status, lines);
        *self.head.borrow_mut() = Some(head);
        if let Some(handling) = self.handling().filter(|_| !reason.is_empty()) {
            handling.exchange.set_reason(&reason);
        }
    }

    fn read(&self, buffer: &mut [u8]) -> usize {
        let Some(handling) = self.handling() else { return 0 };
        let mut filled = 0;
        while filled < buffer.len() {
            let mut rest = self.rest.take();
            if rest.is_empty() {
                match self.next_piece(&handling) {
                    Some(piece) => rest = piece,
                    None => break,
                }
            }
            let length = rest.len().min(buffer.len() - filled);
            buffer[filled..filled + length].copy_from_slice(&rest[..length]);
            rest.advance(length);
            filled += length;
            *self.rest.borrow_mut() = rest;
        }
        filled
    }

    fn exits(&self) {
        sapi::ends_in_child(); // in which the coroutine that handles the request is not there
        if let Some(handling) = self.handling()
            && !self.has_exited.replace(true)
        {
            exception::put_aside(|| {
                handling.cancel_scope(&coroutine::new_cancellation("The request exits"));
            });
        }
    }

    fn dies(&self) {
        self.has_died.set(true);
        self.fail();
        if let Some(place) = self.handled().and_then(|handling| handling.place()) {
            place.breaks();
            if sapi::fatal_error_was_asked_for() {
                return; // no memory was damaged: the instance alone ends
            }
        }
        self.server.upgrade().into_iter().for_each(|server| server.owner().is_damaged());
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Completes the response of the running request, whose coroutine continues. Returns `false` if there is nothing to complete.
pub fn finish() -> bool {
    let Some(worker) = running() else { return false };
    if worker.handling.borrow().is_none() {
        return false;
    }
    sapi::end::end_buffers();
    sapi::end::end_output();
    worker.complete();
    true
}
