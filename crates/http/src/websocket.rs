//! The classes `Async\Http\WebSocket` and `Async\Http\Message`.

use crate::errors::{self, bad_request, forbidden, server_error, upgrade_required, value_error};
use crate::handling::Handling;
use crate::{headers, helpers};
use bytes::Bytes;
use http::header::{self, HeaderMap};
use spindle_php::coroutine;
use spindle_server::{Handshake, Reason, Received, WebSocket as Core, Written};
use spindle_zend::{
    Array, Call, Class, PhpResult, State, Str, Thrown, Type, Value, ValueCell, argument_error, engine, exception,
    function_table, object_class,
};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// The state of an object of the class.
pub struct WebSocket(OnceCell<(Rc<Handling>, Rc<Core>)>);

/// A received message.
pub struct Message {
    data: ValueCell,
    is_binary: Cell<bool>,
}

object_class!(static WEB_SOCKET: WebSocket);
object_class!(static MESSAGE: Message);

function_table! {
    static METHODS = {
        c"receive"() -> Type::class(c"Async\\Http\\Message").or_null() => receive;
        c"send"(text: Type::STRING) -> Type::VOID => |call| send(call, false);
        c"sendBinary"(data: Type::STRING) -> Type::VOID => |call| send(call, true);
        c"ping"(data: Type::STRING => c"''") -> Type::VOID => ping;
        c"close"(code: Type::INT => c"1000", reason: Type::STRING => c"''") -> Type::VOID => close;
        c"isClosed"() -> Type::BOOL => |call| of(call, |socket| socket.is_closed().into());
        c"protocol"() -> Type::STRING.or_null() => |call| of(call, |socket| socket.protocol().map(Str::new).into());
        c"closeCode"() -> Type::INT.or_null() => |call| of(call, |socket| match socket.close_frame() {
            Some((code, _)) => i64::from(code).into(),
            None => Value::NULL,
        });
        c"closeReason"() -> Type::STRING.or_null() => |call| of(call, |socket| {
            socket.close_frame().map(|(_, reason)| Str::new(&reason)).into()
        });
        c"getIterator"() -> Type::class(c"Iterator") => |call| {
            helpers::call("messages", &mut [call.this_of(&WEB_SOCKET).object().into()])
        };
    }
}

function_table! {
    static MESSAGE_METHODS = {
        c"data"() -> Type::STRING => |call| of_message(call, |message| message.data.get());
        c"isBinary"() -> Type::BOOL => |call| of_message(call, |message| message.is_binary.get().into());
        c"__toString"() -> Type::STRING => |call| of_message(call, |message| message.data.get());
    }
}

/// Registers the classes. At module start.
pub fn register() {
    let class = WEB_SOCKET.declare(c"Async\\Http\\WebSocket", METHODS, &[]);
    class.implement(engine::aggregate_class());
    MESSAGE.declare(c"Async\\Http\\Message", MESSAGE_METHODS, &[]);
}

impl State for WebSocket {
    fn new(_: Class) -> WebSocket {
        WebSocket(OnceCell::new())
    }
}

impl State for Message {
    fn new(_: Class) -> Message {
        Message { data: ValueCell::from(Value::from("")), is_binary: Cell::new(false) }
    }
}

// --- the handshake ---

/// Makes the connection of a request a WebSocket.
///
/// # Errors
/// The request does not ask for it, comes from a page of another site, or is already answered.
pub fn upgrade(handling: &Rc<Handling>, protocols: Option<&Array>, origins: Option<&Array>) -> PhpResult {
    let (protocols, origins) = (texts(protocols, "subprotocols")?, texts(origins, "origins")?);
    let is_token = |text: &String| http::HeaderName::from_bytes(text.as_bytes()).is_ok();
    if let Some(wrong) = protocols.iter().find(|text| !is_token(text)) {
        return Err(value_error(&format!("\"{}\" is not the name of a subprotocol", wrong.escape_default())));
    }
    let exchange = &handling.exchange;
    let head = exchange.head();
    if spindle_server::is_asked(head) && !is_allowed(&head.headers, &headers::host(exchange), &origins) {
        return Err(forbidden("The request comes from a page of another site, which is not among the allowed origins"));
    }
    let offered: Vec<&str> = spindle_server::offered(head).collect();
    let chosen = protocols.iter().find(|protocol| offered.contains(&protocol.as_str()));
    let socket = match exchange.upgrade(chosen.map(String::as_str)) {
        Ok(socket) => socket,
        Err(Handshake::NotAsked) => return Err(upgrade_required()),
        Err(Handshake::Malformed) => return Err(bad_request("The handshake of the WebSocket is malformed")),
        Err(Handshake::TooLate) => {
            coroutine::check_cancellation()?;
            return Err(server_error("The request is answered or upgraded already"));
        }
    };
    let object = WEB_SOCKET.make();
    let _ = object.0.set((Rc::clone(handling), socket));
    Ok(object.into())
}

fn texts(list: Option<&Array>, what: &str) -> Result<Vec<String>, Thrown> {
    let mut texts = Vec::new();
    let Some(list) = list else { return Ok(texts) };
    let mut position = 0;
    while let Some((_, text)) = list.next_from(&mut position) {
        match text.as_str() {
            Some(text) => texts.push(text.to_text()),
            None => return Err(value_error(&format!("The {what} of a WebSocket must be strings"))),
        }
    }
    Ok(texts)
}

/// Returns `true` if a page of this origin may use the WebSocket: one of the same host, or one that is allowed. Browsers send
/// the origin, and the cookies of the user; other clients do as they like in any case.
fn is_allowed(all: &HeaderMap, host: &Value, origins: &[String]) -> bool {
    let mut values = all.get_all(header::ORIGIN).iter();
    let Some(origin) = values.next() else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    if values.next().is_some() {
        return false;
    }
    if origins.iter().any(|allowed| allowed == "*" || allowed.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let host = host.as_str().map(Str::to_text).unwrap_or_default();
    origin.split_once("://").is_some_and(|(_, authority)| !host.is_empty() && authority.eq_ignore_ascii_case(&host))
}

// --- an open one ---

fn this(call: &Call) -> Result<&(Rc<Handling>, Rc<Core>), Thrown> {
    call.this_of(&WEB_SOCKET).0.get().ok_or_else(|| server_error("This WebSocket belongs to no request"))
}

fn of(call: Call, what: impl FnOnce(&Core) -> Value) -> PhpResult {
    Ok(what(&this(&call)?.1))
}

fn of_message(call: Call, what: impl FnOnce(&Message) -> Value) -> PhpResult {
    Ok(what(call.this_of(&MESSAGE)))
}

fn receive(call: Call) -> PhpResult {
    let (handling, socket) = this(&call)?.clone();
    let mut received = socket.receive();
    if matches!(received, Received::Pending) {
        received = handling.waiting.wait_for("WebSocket::receive", || match socket.receive() {
            Received::Pending => None,
            received => Some(received),
        })?;
    }
    let Received::Message(message) = received else { return Ok(Value::NULL) };
    let object = MESSAGE.make();
    object.data.set(Str::new(&message.data[..]).into());
    object.is_binary.set(message.is_binary);
    Ok(object.into())
}

/// Waits if the client is behind, or throws if it is gone.
fn finish(handling: &Handling, socket: &Core, written: Written) -> PhpResult {
    match written {
        Written::Ok | Written::TooMuch => {}
        Written::Full => {
            handling.waiting.wait_for("WebSocket::send", || socket.has_room().then_some(()))?;
        }
        Written::Gone => {
            coroutine::check_cancellation()?;
            let exchange = &handling.exchange;
            let why = exchange.cancelled().unwrap_or(Reason::Disconnected);
            return Err(exception::throw(errors::cancellation(exchange, why)));
        }
    }
    Ok(Value::NULL)
}

fn send(call: Call, is_binary: bool) -> PhpResult {
    let data = call.passed().str(1)?;
    let (handling, socket) = this(&call)?.clone();
    let data = Bytes::copy_from_slice(data.as_bytes());
    let written = socket.send(spindle_server::Message { data, is_binary });
    if written == Written::TooMuch {
        return Err(value_error("The text of a message must be valid UTF-8: use sendBinary() for other data"));
    }
    finish(&handling, &socket, written)
}

fn ping(call: Call) -> PhpResult {
    let arguments = call.passed();
    let data = arguments.value(1).map(|_| arguments.str(1)).transpose()?.map_or(&b""[..], Str::as_bytes);
    let (handling, socket) = this(&call)?.clone();
    let written = socket.ping(Bytes::copy_from_slice(data));
    if written == Written::TooMuch {
        return Err(argument_error(1, false, "must be at most 125 bytes long"));
    }
    finish(&handling, &socket, written)
}

fn close(call: Call) -> PhpResult {
    let arguments = call.passed();
    let code = arguments.long_or(1, 1000)?;
    let Some(code) = u16::try_from(code).ok().filter(|code| matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999))
    else {
        return Err(argument_error(1, false, "must be a code of RFC 6455 that may be sent, or from 3000 to 4999"));
    };
    let reason = arguments.value(2).map(|_| arguments.str(2)).transpose()?.map_or(&b""[..], Str::as_bytes);
    let Some(reason) = std::str::from_utf8(reason).ok().filter(|reason| reason.len() <= 123) else {
        return Err(argument_error(2, false, "must be valid UTF-8 of at most 123 bytes"));
    };
    this(&call)?.1.close(code, reason);
    Ok(Value::NULL)
}
