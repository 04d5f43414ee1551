//! The exceptions of `Async\Http`.

use http::StatusCode;
use spindle_php::coroutine;
use spindle_server::{Exchange, Reason};
use spindle_zend::{Class, Object, Owned, PhpStatic, Str, Thrown, declare_class_extending, engine, exception};
use std::cell::Cell;
use std::ffi::CStr;

static SERVER: PhpStatic<Cell<Option<Class>>> = PhpStatic::new(Cell::new(None));
static TOO_LARGE: PhpStatic<Cell<Option<Class>>> = PhpStatic::new(Cell::new(None));
static BAD: PhpStatic<Cell<Option<Class>>> = PhpStatic::new(Cell::new(None));
static UPGRADE: PhpStatic<Cell<Option<Class>>> = PhpStatic::new(Cell::new(None));
static FORBIDDEN: PhpStatic<Cell<Option<Class>>> = PhpStatic::new(Cell::new(None));
static DISCONNECTED: PhpStatic<Cell<Option<Class>>> = PhpStatic::new(Cell::new(None));
static TIMEOUT: PhpStatic<Cell<Option<Class>>> = PhpStatic::new(Cell::new(None));
static STOPPED: PhpStatic<Cell<Option<Class>>> = PhpStatic::new(Cell::new(None));

static LOST: PhpStatic<Cell<Option<Class>>> = PhpStatic::new(Cell::new(None));

/// Registers the classes. At module start.
pub fn register() {
    let server = extend(c"Async\\Http\\ServerException", coroutine::async_exception());
    SERVER.set(Some(server));
    TOO_LARGE.set(Some(extend(c"Async\\Http\\PayloadTooLarge", server)));
    BAD.set(Some(extend(c"Async\\Http\\BadRequest", server)));
    UPGRADE.set(Some(extend(c"Async\\Http\\UpgradeRequired", server)));
    FORBIDDEN.set(Some(extend(c"Async\\Http\\Forbidden", server)));
    LOST.set(Some(extend(c"Async\\Http\\MessagesLost", server)));
    let cancellation = coroutine::cancellation_exception();
    DISCONNECTED.set(Some(extend(c"Async\\Http\\ClientDisconnected", cancellation)));
    TIMEOUT.set(Some(extend(c"Async\\Http\\RequestTimeout", cancellation)));
    STOPPED.set(Some(extend(c"Async\\Http\\ServerStopped", cancellation)));
}

fn extend(name: &CStr, parent: Class) -> Class {
    declare_class_extending(name, parent, &[], &[])
}

fn class(of: &'static PhpStatic<Cell<Option<Class>>>) -> Class {
    of.get().expect("registered at module start")
}

/// Throws a `ServerException`.
#[cold]
pub fn server_error(text: &str) -> Thrown {
    exception::throw_new(class(&SERVER), text)
}

/// Throws a `PayloadTooLarge`.
#[cold]
pub fn too_large() -> Thrown {
    exception::throw_new(class(&TOO_LARGE), "The body of the request is larger than allowed")
}

/// Throws a `BadRequest`.
#[cold]
pub fn bad_request(text: &str) -> Thrown {
    exception::throw_new(class(&BAD), text)
}

/// Throws an `UpgradeRequired`.
#[cold]
pub fn upgrade_required() -> Thrown {
    exception::throw_new(class(&UPGRADE), "The request asks for no WebSocket of version 13")
}

/// Throws a `Forbidden`.
#[cold]
pub fn forbidden(text: &str) -> Thrown {
    exception::throw_new(class(&FORBIDDEN), text)
}

/// Throws a `MessagesLost`.
#[cold]
pub fn messages_lost(text: &str) -> Thrown {
    exception::throw_new(class(&LOST), text)
}

/// Returns the status of the answer to a request whose handler has thrown this, if the failure is the client's fault.
pub fn status(exception: &Object) -> Option<StatusCode> {
    let all = [
        (&TOO_LARGE, StatusCode::PAYLOAD_TOO_LARGE),
        (&BAD, StatusCode::BAD_REQUEST),
        (&UPGRADE, StatusCode::UPGRADE_REQUIRED),
        (&FORBIDDEN, StatusCode::FORBIDDEN),
    ];
    all.into_iter().find(|(of, _)| exception.is_a(class(of))).map(|(_, status)| status)
}

/// Throws a `ValueError`.
#[cold]
pub fn value_error(text: &str) -> Thrown {
    exception::throw_new(engine::value_error_class(), text)
}

/// Returns the exception with which the handler of an exchange is cancelled. If a time limit has passed, the limit is its
/// previous one.
pub fn cancellation(exchange: &Exchange, why: Reason) -> Owned<Object> {
    let (class, text, waits_for) = match why {
        Reason::Disconnected => (class(&DISCONNECTED), "The client has closed the connection", ""),
        Reason::Timeout => (class(&TIMEOUT), "The response has not begun in time", "the response"),
        Reason::SlowBody => {
            (class(&TIMEOUT), "The body of the request has not come in time", "the body of the request")
        }
        Reason::Shutdown => return stopped("The server stops", None),
    };
    let reason = exception::new(class, text);
    if let Some(limit) = exchange.limit(why) {
        let text = format!("The wait for {waits_for} was given up after {} ms", limit / 1_000_000);
        let limit = exception::new(coroutine::timeout_exception(), &text);
        exception::replace_previous(&reason, Some(&limit));
    }
    reason
}

/// Returns the exception with which a handler is cancelled because the server stops. If `run()` has ended with an exception, its
/// cause is named, and is the previous one.
pub fn stopped(text: &str, ended_with: Option<&Object>) -> Owned<Object> {
    let cause = ended_with.and_then(coroutine::failure_behind);
    let text = cause.map_or(text.to_owned(), |cause| format!("{text} because of {}", coroutine::told(cause)));
    let reason = exception::new(class(&STOPPED), &text);
    exception::replace_previous(&reason, cause);
    reason
}

/// Reports an exception that no code has caught, as a warning.
pub fn report(thrown: &Object) {
    let text = format!("Uncaught {}", exception::text_of(thrown));
    let (file, line) = exception::position(thrown).unwrap_or((None, 0));
    let file = file.map_or(String::new(), Str::to_text);
    let before = exception::take();
    engine::report_at(&file, line, &text, engine::error_reporting());
    if before.is_some() {
        exception::put(before);
    }
}
