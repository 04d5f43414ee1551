//! A server: its accept loop and connections are coroutines of Rust code, its handler is PHP code.

use crate::object_of;
use spindle_php::{Part, coroutine, coroutine::AsyncFd};
use spindle_zend::{
    Call, Class, Instance, Owned, PhpResult, State, Str, Thrown, Type, Value, exception, function_table, object_class,
};
use std::io::{ErrorKind, Read, Result as IoResult, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

/// The part.
// SAFETY: no destructor here is needed for memory safety, and no thread is started.
pub const PART: Part = unsafe { Part::new(FUNCTIONS) }.on_module_start(register);

function_table! {
    static FUNCTIONS = {
        c"Embedding\\listen"() -> Type::OBJECT => listen;
        c"Embedding\\port"(listener: Type::OBJECT) -> Type::INT => port;
        c"Embedding\\serve"(listener: Type::OBJECT, handler: Type::CALLABLE) -> Type::OBJECT => serve;
        c"Embedding\\connectable"(listener: Type::OBJECT, milliseconds: Type::INT) -> Type::BOOL => connectable;
    }
}

/// A socket that listens. It is closed with its object, and so at the end of the request in any case.
struct Listener(Option<AsyncFd<TcpListener>>);

object_class!(static LISTENER: Listener);

fn register() {
    LISTENER.declare(c"Embedding\\Listener", &[], &[]);
}

impl State for Listener {
    fn new(_: Class) -> Listener {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        Listener(bound.and_then(|socket| socket.set_nonblocking(true).map(|()| AsyncFd::new(socket))).ok())
    }
}

impl Listener {
    fn socket(&self) -> Result<&AsyncFd<TcpListener>, Thrown> {
        self.0.as_ref().ok_or_else(|| exception::throw_error("There is no socket"))
    }
}

/// Repeats a call that would block whenever the descriptor is ready, which `wait` waits for.
fn retry<T>(mut attempt: impl FnMut() -> IoResult<T>, wait: impl Fn() -> Result<bool, Thrown>) -> Result<T, Thrown> {
    loop {
        match attempt() {
            Ok(result) => return Ok(result),
            Err(error) if error.kind() == ErrorKind::WouldBlock => drop(wait()?),
            Err(error) => return Err(exception::throw_error(&error.to_string())),
        }
    }
}

fn listener_of(call: &Call, count: u32) -> Result<Owned<Instance<Listener>>, Thrown> {
    let arguments = call.arguments(count, count)?;
    object_of(&LISTENER, 1, arguments.object(1, LISTENER.class())?)
}

fn listen(call: Call) -> PhpResult {
    call.no_arguments()?;
    Ok(LISTENER.make().into())
}

fn port(call: Call) -> PhpResult {
    let listener = listener_of(&call, 1)?;
    let address = listener.socket()?.get_ref().local_addr();
    Ok(address.map_or(0, |address| i64::from(address.port())).into())
}

/// Returns `true` if a client wants to connect within the time.
fn connectable(call: Call) -> PhpResult {
    let listener = listener_of(&call, 2)?;
    let time = Duration::from_millis(call.arguments(2, 2)?.long(2)?.unsigned_abs());
    Ok(listener.socket()?.readable(Some(time))?.into())
}

/// Serves connections in a coroutine, each in one more, until it is cancelled.
fn serve(call: Call) -> PhpResult {
    let listener = listener_of(&call, 2)?;
    let handler = call.arguments(2, 2)?.callable(2)?.clone();
    let server = coroutine::spawn(move || {
        loop {
            let socket = listener.socket()?;
            let (stream, _) = retry(|| socket.get_ref().accept(), || socket.readable(None))?;
            if let Err(error) = stream.set_nonblocking(true) {
                return Err(exception::throw_error(&error.to_string()));
            }
            // In the captures of a body, which are dropped in any case.
            let (stream, handler) = (AsyncFd::new(stream), handler.clone());
            coroutine::spawn(move || converse(&stream, &handler))?;
        }
    })?;
    Ok(server.into())
}

/// Answers one line after the other with what the handler returns for it.
fn converse(stream: &AsyncFd<TcpStream>, handler: &Value) -> PhpResult {
    let (mut line, mut lines) = (Vec::new(), 0);
    loop {
        let mut bytes = [0; 8192];
        let length = retry(|| stream.get_ref().read(&mut bytes), || stream.readable(None))?;
        if length == 0 {
            return Ok(lines.into());
        }
        for part in bytes[..length].split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            let Some(text) = line.strip_suffix(b"\n") else { continue };
            let text = String::from_utf8_lossy(text).into_owned();
            line.clear();
            let answer = coroutine::call(handler, &mut [text.into()])?;
            let answer = answer.as_str().map_or(String::new(), Str::to_text) + "\n";
            let mut rest = answer.as_bytes();
            while !rest.is_empty() {
                let written = retry(|| stream.get_ref().write(rest), || stream.writable(None))?;
                rest = &rest[written..];
            }
            lines += 1;
        }
    }
}
