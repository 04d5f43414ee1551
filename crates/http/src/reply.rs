//! Responses: what a handler returns, and what it throws.

use crate::errors::{self, server_error};
use crate::handling::Handling;
use crate::helpers;
use crate::response::{self, RESPONSE};
use crate::writer;
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::{HeaderName, StatusCode};
use spindle_php::coroutine;
use spindle_server::{Body, Exchange, Head, Reason, refusal};
use spindle_zend::{Object, Str, Thrown, Value, class_table, engine, exception, sys};
use std::rc::Rc;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=UTF-8");

/// The codes with which a WebSocket is closed when its handler was cancelled, or has thrown.
const GOING_AWAY: u16 = 1001;
const INTERNAL_ERROR: u16 = 1011;

/// Sends what a handler has returned.
///
/// # Errors
/// It is no response, or making or sending it has thrown.
pub fn send(handling: &Rc<Handling>, result: Value) -> Result<(), Thrown> {
    let exchange = &handling.exchange;
    if exchange.websocket().is_some() {
        if result.type_number() == sys::IS_NULL {
            return Ok(());
        }
        return Err(server_error("A handler that has upgraded its request must return nothing"));
    }
    if let Some(text) = result.as_str() {
        let mut headers = HeaderMap::with_capacity(2);
        headers.insert(header::CONTENT_TYPE, HTML);
        respond(exchange, Head { status: StatusCode::OK, headers }, full(text));
        return Ok(());
    }
    let Some(object) = result.as_object() else {
        if result.type_number() == sys::IS_NULL {
            respond(exchange, Head { status: StatusCode::NO_CONTENT, headers: HeaderMap::new() }, Body::Empty);
            return Ok(());
        }
        let mut headers = HeaderMap::with_capacity(2);
        headers.insert(header::CONTENT_TYPE, HTML);
        return send_body(handling, StatusCode::OK, headers, &result, &[], None);
    };
    if let Some(response) = RESPONSE.of(object) {
        let body = response.body.get();
        let (status, headers) = response.head(object.references() > 1);
        let trailers = response.trailers.borrow().clone();
        return send_body(handling, status, headers, &body, &trailers, response.heartbeat.get());
    }
    if is_psr(object) {
        return send_psr(handling, object);
    }
    let mut headers = HeaderMap::with_capacity(2);
    headers.insert(header::CONTENT_TYPE, HTML);
    send_body(handling, StatusCode::OK, headers, &result, &[], None)
}

fn full(text: &Str) -> Body {
    Body::Full(Bytes::copy_from_slice(text.as_bytes()))
}

fn respond(exchange: &Rc<Exchange>, head: Head, body: Body) {
    // If the client is gone there is nothing to do.
    exchange.respond(head, body);
}

/// Returns `true` if an object is a response.
pub fn is_response(object: &Object) -> bool {
    RESPONSE.of(object).is_some() || is_psr(object)
}

fn is_psr(object: &Object) -> bool {
    let interface = class_table::find(&Str::new("psr\\http\\message\\responseinterface"));
    interface.is_some_and(|interface| object.is_a(interface))
}

fn send_psr(handling: &Rc<Handling>, object: &Object) -> Result<(), Thrown> {
    let exchange = &handling.exchange;
    let head = helpers::call("psrHead", &mut [object.into()])?;
    let part = |index| head.as_array().and_then(|head| head.at(index)).cloned().unwrap_or(Value::NULL);
    let status = response::status(part(0).as_long().unwrap_or(0))?;
    let mut headers = HeaderMap::new();
    if let Some(reason) = part(3).as_str().filter(|reason| !reason.as_bytes().is_empty()) {
        exchange.set_reason(reason.as_bytes());
    }
    if let Some(all) = part(1).as_array() {
        crate::headers::add_all(&mut headers, all)?;
    }
    if exchange.omits_body(status) {
        respond(exchange, Head { status, headers }, Body::Empty);
        return Ok(());
    }
    exchange.respond(Head { status, headers }, Body::Stream { trailers: Vec::new() });
    let writer = writer::make(handling);
    helpers::call("psrBody", &mut [part(2), writer.into()])?;
    exchange.complete(None);
    Ok(())
}

/// Sends a response. A body that is not one string is written piece by piece, in this coroutine.
fn send_body(
    handling: &Rc<Handling>,
    status: StatusCode,
    headers: HeaderMap,
    body: &Value,
    trailers: &[(HeaderName, HeaderValue)],
    heartbeat: Option<f64>,
) -> Result<(), Thrown> {
    let exchange = &handling.exchange;
    let names: Vec<HeaderName> = trailers.iter().map(|(name, _)| name.clone()).collect();
    if let Some(text) = body.as_str() {
        if names.is_empty() {
            respond(exchange, Head { status, headers }, full(text));
            return Ok(());
        }
        exchange.respond(Head { status, headers }, Body::Stream { trailers: names });
        exchange.write(Bytes::copy_from_slice(text.as_bytes()));
    } else {
        let is_closure = body.as_object().is_some_and(|object| object.is_a(engine::closure_class()));
        let is_iterable = body.as_array().is_some()
            || body
                .as_object()
                .is_some_and(|object| object.is_a(engine::iterator_class()) || object.is_a(engine::aggregate_class()));
        let helper = if is_iterable { "iterate" } else { "copy" };
        if !is_closure && !is_iterable && !body.is_open_stream() {
            let text = format!(
                "A handler must return a Response, a string, null, an iterable of strings, a Closure or a stream, {} returned",
                body.type_name()
            );
            return Err(exception::throw_error(&text));
        }
        if exchange.omits_body(status) {
            respond(exchange, Head { status, headers }, Body::Empty); // the body would not be sent
            return Ok(());
        }
        exchange.respond(Head { status, headers }, Body::Stream { trailers: names });
        let writer = writer::make(handling);
        if let Some(heartbeat) = heartbeat {
            helpers::call("events", &mut [body.clone(), writer.into(), heartbeat.into()])?;
        } else if is_closure {
            coroutine::call(body, &mut [writer.into()])?;
        } else {
            helpers::call(helper, &mut [body.clone(), writer.into()])?;
        }
    }
    let map = (!trailers.is_empty()).then(|| trailers.iter().cloned().collect::<HeaderMap>());
    if !exchange.complete(map) && exchange.cancelled().is_none() {
        return Err(server_error("The response is shorter than its Content-Length"));
    }
    Ok(())
}

/// Answers for a handler that has thrown.
pub fn fail(exchange: &Rc<Exchange>, thrown: &Object) {
    if let Some(web) = exchange.websocket() {
        let is_cancellation = thrown.is_a(coroutine::cancellation_exception());
        if !is_cancellation {
            errors::report(thrown);
        }
        let code = if is_cancellation { GOING_AWAY } else { INTERNAL_ERROR };
        return web.close(code, "");
    }
    let status = status_of(exchange, thrown).unwrap_or_else(|| {
        errors::report(thrown);
        StatusCode::INTERNAL_SERVER_ERROR
    });
    refuse(exchange, status);
}

/// Answers with this status in place of a response that has not begun. One that has begun is aborted.
pub fn refuse(exchange: &Rc<Exchange>, status: StatusCode) {
    let (mut head, body) = refusal(status);
    if status == StatusCode::UPGRADE_REQUIRED {
        head.headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    }
    exchange.withdraw_response();
    exchange.respond(head, body);
}

/// Returns the status that an exception of the server stands for; `None` if it is a failure of the handler.
pub fn status_of(exchange: &Exchange, thrown: &Object) -> Option<StatusCode> {
    if let Some(status) = errors::status(thrown) {
        Some(status)
    } else if thrown.is_a(coroutine::cancellation_exception()) {
        match exchange.cancelled() {
            Some(Reason::SlowBody) => Some(StatusCode::REQUEST_TIMEOUT),
            _ => Some(StatusCode::SERVICE_UNAVAILABLE),
        }
    } else {
        None
    }
}
