//! The class `Async\Http\Response`.

use crate::errors::value_error;
use crate::headers;
use http::StatusCode;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use spindle_php::coroutine;
use spindle_zend::{
    Array, Call, Class, Collected, Owned, PhpResult, State, Str, Thrown, Type, Value, ValueCell, argument_error,
    engine, exception, function_table, object_class,
};
use std::cell::{Cell, RefCell};

/// The state of an object of the class.
pub struct Response {
    status: Cell<StatusCode>,
    headers: RefCell<HeaderMap>,
    pub body: ValueCell,
    pub trailers: RefCell<Vec<(HeaderName, HeaderValue)>>,
    /// The body is a stream of events, with a heartbeat at this interval in seconds; 0: without one.
    pub heartbeat: Cell<Option<f64>>,
}

object_class!(pub static RESPONSE: Response);

const STATIC: Type = Type::class(c"Async\\Http\\Response");

function_table! {
    static METHODS = {
        c"__construct"(body: Type::MIXED => c"''", status: Type::INT => c"200", headers: Type::ARRAY => c"[]") -> Type::NONE => construct;
        c"status"() -> Type::INT => |call| Ok(i64::from(call.this_of(&RESPONSE).status.get().as_u16()).into());
        c"headers"() -> Type::ARRAY => |call| Ok(headers::to_array(&call.this_of(&RESPONSE).headers.borrow()).into());
        c"header"(name: Type::STRING, value: Type::MIXED, replace: Type::BOOL => c"true") -> STATIC => |call| {
            let arguments = call.passed();
            let (name, values) = (arguments.str(1)?, arguments.value(2).cloned().unwrap_or_default());
            let replace = arguments.bool_or(3, true)?;
            let this = call.this_of(&RESPONSE);
            headers::set(&mut this.headers.borrow_mut(), name.as_bytes(), &values, replace)?;
            Ok(this.object().into())
        };
        c"cookie"(name: Type::STRING, value: Type::STRING => c"''", options: Type::ARRAY => c"[]") -> STATIC => cookie;
        c"trailer"(name: Type::STRING, value: Type::STRING) -> STATIC => trailer;
    }
}

function_table! {
    static STATICS = {
        c"json"(value: Type::MIXED, status: Type::INT => c"200", flags: Type::INT => c"0") -> STATIC => json;
        c"events"(events: Type::MIXED, heartbeat: Type::FLOAT => c"15.0") -> STATIC => events;
        c"redirect"(location: Type::STRING, status: Type::INT => c"302") -> STATIC => redirect;
    }
}

/// Registers the class. At module start.
pub fn register() {
    RESPONSE.declare(c"Async\\Http\\Response", METHODS, STATICS);
}

impl State for Response {
    fn new(_: Class) -> Response {
        Response {
            status: Cell::new(StatusCode::OK),
            headers: RefCell::new(HeaderMap::new()),
            body: ValueCell::from(Value::from("")),
            trailers: RefCell::default(),
            heartbeat: Cell::new(None),
        }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.body);
    }
}

impl Response {
    /// Returns its head, or a copy if the object may be sent again.
    pub fn head(&self, again: bool) -> (StatusCode, HeaderMap) {
        let headers = if again { self.headers.borrow().clone() } else { self.headers.take() };
        (self.status.get(), headers)
    }
}

/// Returns the status of a response.
///
/// # Errors
/// `ValueError` if a handler cannot send it.
pub fn status(code: i64) -> Result<StatusCode, Thrown> {
    if (100..200).contains(&code) {
        return Err(value_error("The status of a response must be from 200 to 599: informational ones cannot be sent"));
    }
    u16::try_from(code)
        .ok()
        .filter(|code| (200..600).contains(code))
        .and_then(|code| StatusCode::from_u16(code).ok())
        .ok_or_else(|| value_error("The status of a response must be from 200 to 599"))
}

fn construct(call: Call) -> PhpResult {
    let arguments = call.passed();
    let this = call.this_of(&RESPONSE);
    let code = status(arguments.long_or(2, 200)?)?;
    let mut headers = HeaderMap::new();
    if arguments.value(3).is_some() {
        headers::add_all(&mut headers, arguments.array(3)?)?;
    }
    let body = match arguments.value(1) {
        None => Str::new("").into(),
        Some(body) if is_body(body) => body.clone(),
        Some(_) => Owned::of(arguments.str(1)?).into(),
    };
    if !headers.contains_key(header::CONTENT_TYPE) && body.as_str().is_none_or(|text| !text.as_bytes().is_empty()) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=UTF-8"));
    }
    this.status.set(code);
    *this.headers.borrow_mut() = headers;
    this.body.set(body);
    Ok(Value::NULL)
}

/// Returns `true` for a body that is not a string: an object that is called or iterated, an array, a stream.
fn is_body(value: &Value) -> bool {
    let is_stringable = value.as_object().is_some_and(|object| {
        object.is_a(spindle_zend::engine::stringable_class()) && !object.is_a(spindle_zend::engine::aggregate_class())
    });
    value.as_array().is_some() || value.as_object().is_some() && !is_stringable || value.is_open_stream()
}

fn make(body: Value, code: StatusCode, headers: HeaderMap) -> Value {
    let response = RESPONSE.make();
    response.status.set(code);
    *response.headers.borrow_mut() = headers;
    response.body.set(body);
    response.into()
}

/// `JSON_THROW_ON_ERROR`.
pub const JSON_THROWS: i64 = 1 << 22;

fn json(call: Call) -> PhpResult {
    let arguments = call.passed();
    let value = arguments.value(1).cloned().unwrap_or(Value::NULL);
    let code = status(arguments.long_or(2, 200)?)?;
    let flags = arguments.long_or(3, 0)? | JSON_THROWS;
    let text = coroutine::call(&"json_encode".into(), &mut [value, flags.into()])?;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(make(text, code, headers))
}

fn events(call: Call) -> PhpResult {
    let arguments = call.passed();
    let events = arguments.value(1).cloned().unwrap_or(Value::NULL);
    let is_iterable = events.as_array().is_some()
        || events.as_object().is_some_and(|object| {
            [engine::iterator_class(), engine::aggregate_class(), engine::closure_class()]
                .into_iter()
                .any(|class| object.is_a(class))
        });
    if !is_iterable {
        return Err(exception::throw_error(&format!(
            "The events of a response must be an iterable or a Closure, {} given",
            events.type_name()
        )));
    }
    let heartbeat = match arguments.value(2) {
        None => 15.0,
        Some(value) => value.as_double().or_else(|| value.as_long().map(|seconds| seconds as f64)).unwrap_or(-1.0),
    };
    if !(0.0..=86_400.0).contains(&heartbeat) {
        return Err(argument_error(2, false, "must be a number of seconds from 0 to 86400"));
    }
    let mut headers = HeaderMap::with_capacity(3);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no")); // proxies pass them on immediately
    let response = RESPONSE.make();
    *response.headers.borrow_mut() = headers;
    response.body.set(events);
    response.heartbeat.set(Some(heartbeat));
    Ok(response.into())
}

fn redirect(call: Call) -> PhpResult {
    let arguments = call.passed();
    let code = status(arguments.long_or(2, 302)?)?;
    if !code.is_redirection() {
        return Err(value_error("The status of a redirection must be from 300 to 399"));
    }
    let mut headers = HeaderMap::new();
    headers.insert(header::LOCATION, headers::value(&header::LOCATION, arguments.str(1)?.as_bytes())?);
    Ok(make(Str::new("").into(), code, headers))
}

fn trailer(call: Call) -> PhpResult {
    let arguments = call.passed();
    let name = headers::name(arguments.str(1)?.as_bytes())?;
    let forbidden =
        [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::TRAILER, header::HOST, header::SET_COOKIE];
    if forbidden.contains(&name) {
        return Err(value_error(&format!("The header {name} cannot follow a body")));
    }
    let value = headers::value(&name, arguments.str(2)?.as_bytes())?;
    let this = call.this_of(&RESPONSE);
    this.trailers.borrow_mut().push((name, value));
    Ok(this.object().into())
}

/// Appends an attribute of a cookie, whose text must not end it.
fn attribute(cookie: &mut Vec<u8>, name: &str, value: &Value) -> Result<(), Thrown> {
    let Some(text) = value.as_str() else {
        return Err(value_error(&format!("The option \"{name}\" of a cookie must be a string")));
    };
    if text.as_bytes().iter().any(|byte| matches!(byte, b';' | 0..=31 | 127)) {
        return Err(value_error(&format!(
            "The option \"{name}\" of a cookie must not contain \";\" or control characters"
        )));
    }
    cookie.extend_from_slice(format!("; {name}=").as_bytes());
    cookie.extend_from_slice(text.as_bytes());
    Ok(())
}

fn cookie(call: Call) -> PhpResult {
    let arguments = call.passed();
    let name = arguments.str(1)?.as_bytes();
    let is_token = |byte: &u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(byte);
    if name.is_empty() || !name.iter().all(is_token) {
        return Err(value_error("The name of a cookie must not be empty, and must not contain spaces or separators"));
    }
    let mut cookie = name.to_vec();
    cookie.push(b'=');
    let value = arguments.value(2).map(|_| arguments.str(2)).transpose()?;
    for byte in value.map_or(&b""[..], Str::as_bytes) {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(byte) {
            cookie.push(*byte);
        } else {
            cookie.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    if arguments.value(3).is_some() {
        cookie_options(&mut cookie, arguments.array(3)?)?;
    }
    let line =
        HeaderValue::from_bytes(&cookie).map_err(|_| value_error("A cookie must not contain control characters"))?;
    let this = call.this_of(&RESPONSE);
    this.headers.borrow_mut().append(header::SET_COOKIE, line);
    Ok(this.object().into())
}

fn cookie_options(cookie: &mut Vec<u8>, options: &Array) -> Result<(), Thrown> {
    let mut position = 0;
    while let Some((key, value)) = options.next_from(&mut position) {
        let name = key.as_str().map_or(String::new(), Str::to_text).to_ascii_lowercase();
        match (name.as_str(), value.as_long()) {
            ("expires", Some(0)) => {}
            ("expires", Some(time)) => {
                let format = "D, d M Y H:i:s \\G\\M\\T";
                let date = coroutine::call(&"gmdate".into(), &mut [format.into(), time.into()])?;
                attribute(cookie, "Expires", &date)?;
            }
            ("max-age" | "maxage" | "max_age", Some(time)) => {
                cookie.extend_from_slice(format!("; Max-Age={time}").as_bytes());
            }
            ("path", _) => attribute(cookie, "Path", value)?,
            ("domain", _) => attribute(cookie, "Domain", value)?,
            ("samesite", _) => attribute(cookie, "SameSite", value)?,
            ("secure", _) if value.is_truthy() => cookie.extend_from_slice(b"; Secure"),
            ("httponly", _) if value.is_truthy() => cookie.extend_from_slice(b"; HttpOnly"),
            ("secure" | "httponly", _) => {}
            _ => {
                return Err(exception::throw_new(
                    spindle_zend::engine::value_error_class(),
                    &format!("There is no option \"{name}\" of a cookie, or it has another type"),
                ));
            }
        }
    }
    Ok(())
}
