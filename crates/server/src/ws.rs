//! WebSockets (RFC 6455): the handshake, and what a handler and the task of its connection share of an open one.
//!
//! tungstenite's context has the protocol. It reads from the socket directly, and writes into a buffer of ours, which the task
//! sends (`link.rs`): a handler can send at any time, and waits when that buffer is full.

use crate::conn::Connection;
use crate::dispatch::Dispatcher;
use crate::encoding::{has_word, words};
use crate::exchange::Exchange;
use crate::fragments::Fragments;
use crate::pipe::Written;
use crate::settings::Settings;
use bytes::{Bytes, BytesMut};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Version};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::{Rc, Weak};
use tungstenite::error::Error;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig, WebSocketContext};

/// A message as a client has sent it. A text is valid UTF-8.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Its content.
    pub data: Bytes,
    /// It is no text.
    pub is_binary: bool,
}

/// Why a request is not upgraded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handshake {
    /// It does not ask for a WebSocket, or asks for another version: status 426.
    NotAsked,
    /// It asks for one in a wrong way: status 400.
    Malformed,
    /// Its response has begun, or its client is gone.
    TooLate,
}

/// The result of asking for a message.
#[derive(Debug)]
pub enum Received {
    /// One.
    Message(Message),
    /// There will be none.
    Closed,
    /// None has arrived yet: [`Handler::wake`](crate::Handler::wake) follows.
    Pending,
}

/// Returns `true` if a request asks for a WebSocket.
pub fn is_asked(head: &Parts) -> bool {
    head.method == Method::GET
        && head.version == Version::HTTP_11
        && has_word(&head.headers, header::UPGRADE, "websocket")
        && has_word(&head.headers, header::CONNECTION, "upgrade")
}

/// Returns the subprotocols that a client offers, the preferred one first.
pub fn offered(head: &Parts) -> impl Iterator<Item = &str> {
    words(&head.headers, header::SEC_WEBSOCKET_PROTOCOL).filter_map(|word| std::str::from_utf8(word).ok())
}

/// Returns the answer to the key of a request.
fn accept(head: &Parts) -> Result<HeaderValue, Handshake> {
    let only = |name: HeaderName| {
        let mut values = head.headers.get_all(name).iter();
        values.next().filter(|_| values.next().is_none()).map(HeaderValue::as_bytes)
    };
    if !is_asked(head) || only(header::SEC_WEBSOCKET_VERSION).is_some_and(|version| version != b"13") {
        return Err(Handshake::NotAsked);
    }
    let (Some(_), Some(key)) = (only(header::SEC_WEBSOCKET_VERSION), only(header::SEC_WEBSOCKET_KEY)) else {
        return Err(Handshake::Malformed);
    };
    // Base64 of 16 bytes.
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    if key.len() != 24 || !key.ends_with(b"==") || !key[..22].iter().all(is_base64) {
        return Err(Handshake::Malformed);
    }
    let accept = tungstenite::handshake::derive_accept_key(key);
    HeaderValue::from_str(&accept).map_err(|_| Handshake::Malformed)
}

/// Returns the headers of the answer that upgrades a request.
pub fn answer(head: &Parts, protocol: Option<HeaderValue>) -> Result<HeaderMap, Handshake> {
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept(head)?);
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    if let Some(protocol) = protocol {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    Ok(headers)
}

/// The state of a WebSocket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Open,
    /// This side has closed it, and waits for the client to close it too.
    Closing,
    /// Buffered frames are still sent, and nothing is read.
    Closed,
}

/// The result of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Something was read.
    Read,
    /// No data is available.
    Blocked,
    /// No more data will arrive.
    Ended,
}

/// What one message counts in the queue besides its bytes: its place there, of which there are up to twice as many as messages,
/// and what an allocation takes.
const OVERHEAD: usize = 2 * size_of::<Message>() + 32;
/// Up to this size a message in the queue is a copy. Otherwise it keeps alive the whole buffer that it was read into, and so
/// do few small messages among many pings.
const COPIED: usize = READ_BUFFER;
/// How much larger the queue may be when the client has left: as nothing more comes, all that the system has is read in one go.
const LAST: usize = 16;
/// The size of tungstenite's buffer for reading.
const READ_BUFFER: usize = 4096;

/// An open WebSocket.
pub struct WebSocket {
    dispatcher: Rc<Dispatcher>,
    connection: Rc<Connection>,
    exchange: Weak<Exchange>,
    protocol: Option<String>,
    context: RefCell<WebSocketContext>,
    fragments: RefCell<Fragments>,
    state: Cell<State>,
    /// Frames that are to be sent.
    out: RefCell<BytesMut>,
    /// Messages that no handler has taken yet, and what they count.
    queue: RefCell<VecDeque<Message>>,
    queued: Cell<usize>,
    /// The task has stopped reading, because the queue or the buffer is full.
    is_paused: Cell<bool>,
    /// The client has closed the connection; what it has sent before is still read.
    is_hung_up: Cell<bool>,
    /// The handler is waiting.
    is_waiting: Cell<bool>,
    /// The handler has asked for messages at least once.
    is_received: Cell<bool>,
    /// The code and reason with which the client closed it.
    close: RefCell<Option<(u16, String)>>,
}

impl WebSocket {
    pub(crate) fn new(
        dispatcher: &Rc<Dispatcher>,
        connection: &Rc<Connection>,
        exchange: &Rc<Exchange>,
        protocol: Option<String>,
    ) -> Rc<WebSocket> {
        Rc::new(WebSocket {
            context: RefCell::new(context(&dispatcher.shared.settings, Bytes::new())),
            fragments: RefCell::default(),
            dispatcher: Rc::clone(dispatcher),
            connection: Rc::clone(connection),
            exchange: Rc::downgrade(exchange),
            protocol,
            state: Cell::new(State::Open),
            out: RefCell::default(),
            queue: RefCell::default(),
            queued: Cell::new(0),
            is_paused: Cell::new(false),
            is_hung_up: Cell::new(false),
            is_waiting: Cell::new(false),
            is_received: Cell::new(false),
            close: RefCell::default(),
        })
    }

    fn settings(&self) -> &Settings {
        &self.dispatcher.shared.settings
    }

    /// Returns the subprotocol that was chosen.
    pub fn protocol(&self) -> Option<&str> {
        self.protocol.as_deref()
    }

    /// Returns the code and the reason with which the client has closed it.
    pub fn close_frame(&self) -> Option<(u16, String)> {
        self.close.borrow().clone()
    }

    /// Returns `true` if no more messages can be sent.
    pub fn is_closed(&self) -> bool {
        self.state.get() != State::Open
    }

    // --- the handler's side ---

    /// Takes the next message.
    pub fn receive(&self) -> Received {
        self.is_received.set(true);
        let message = self.queue.borrow_mut().pop_front();
        if let Some(message) = message {
            self.queued.set(self.queued.get() - message.data.len() - OVERHEAD);
            if self.is_paused.get() && self.wants_read() {
                self.wake_task();
            }
            return Received::Message(message);
        }
        if self.is_closed() {
            return Received::Closed;
        }
        self.is_waiting.set(true);
        Received::Pending
    }

    /// Sends a message. After [`Written::Full`] the handler should wait until [`has_room`](WebSocket::has_room) is true.
    /// A text has to be valid UTF-8, or it is not sent ([`Written::TooMuch`]).
    pub fn send(&self, message: Message) -> Written {
        let message = if message.is_binary {
            tungstenite::Message::Binary(message.data)
        } else {
            match tungstenite::Utf8Bytes::try_from(message.data) {
                Ok(text) => tungstenite::Message::Text(text),
                Err(_) => return Written::TooMuch,
            }
        };
        self.write(message)
    }

    /// Sends a ping, whose content is at most 125 bytes long.
    pub fn ping(&self, content: Bytes) -> Written {
        if content.len() > 125 { Written::TooMuch } else { self.write(tungstenite::Message::Ping(content)) }
    }

    fn write(&self, message: tungstenite::Message) -> Written {
        if self.is_closed() {
            return Written::Gone;
        }
        let written = self.context.borrow_mut().write(&mut Sink(&mut self.out.borrow_mut()), message);
        if written.is_err() {
            return Written::Gone; // the state of the context forbids it; the buffer takes everything
        }
        self.wake_task();
        if self.has_room() { Written::Ok } else { Written::Full }
    }

    /// Returns `true` if a handler need not wait before it sends. If it does wait, [`Handler::wake`](crate::Handler::wake) follows.
    pub fn has_room(&self) -> bool {
        let has_room = self.is_closed() || self.out.borrow().len() < self.settings().write_window;
        if !has_room {
            self.is_waiting.set(true);
        }
        has_room
    }

    /// Begins to close it. Messages that come after are dropped, and the connection is closed when the client has answered, or
    /// after some time.
    pub fn close(&self, code: u16, reason: &str) {
        if self.state.get() != State::Open {
            return;
        }
        self.write_close(code, reason);
        self.state.set(State::Closing);
        self.connection.start_closing();
        self.wake_handler();
        self.wake_task();
    }

    fn write_close(&self, code: u16, reason: &str) {
        let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
        // An error means that it was closed before.
        let _ = self.context.borrow_mut().close(&mut Sink(&mut self.out.borrow_mut()), Some(frame));
    }

    /// Wakes the connection's task.
    fn wake_task(&self) {
        self.connection.wake();
        self.dispatcher.notify();
    }

    fn wake_handler(&self) {
        if self.is_waiting.take()
            && let Some(exchange) = self.exchange.upgrade()
        {
            self.dispatcher.wake_handler(exchange);
        }
    }

    // --- the side of the connection's task ---

    /// Called when the upgrade is complete. Bytes that hyper has already read come first.
    pub(crate) fn start(&self, read: Bytes) {
        if read.is_empty() {
            return;
        }
        // A context that has read nothing holds only frames to send, and those are in our buffer already.
        let is_closing = self.state.get() == State::Closing;
        self.fragments.borrow_mut().take(&read);
        let mut new = context(self.settings(), read);
        if is_closing {
            // The close frame was sent by the old one: this one only has to know.
            let _ = new.close(&mut Sink(&mut BytesMut::new()), None);
        }
        *self.context.borrow_mut() = new;
    }

    /// Returns `true` if there is room for what is read. After a close messages are dropped, and need none.
    pub(crate) fn wants_read(&self) -> bool {
        let times = if self.is_hung_up.get() { LAST } else { 1 };
        let room = self.settings().write_window.saturating_mul(times);
        (self.is_closed() || self.queued.get() < room) && self.out.borrow().len() < room
    }

    /// The task reads, or does not. Returns `wants_read()`.
    pub(crate) fn update_paused(&self) -> bool {
        let wants_read = self.wants_read();
        self.is_paused.set(!wants_read);
        wants_read
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused.get()
    }

    /// Returns `true` if all frames were sent.
    pub(crate) fn is_flushed(&self) -> bool {
        self.out.borrow().is_empty()
    }

    /// Returns `true` if nothing more is read.
    pub(crate) fn is_ended(&self) -> bool {
        self.state.get() == State::Closed
    }

    /// Sends what is buffered by `write`, which returns how much of it was sent, or an error.
    pub(crate) fn flush_with<E>(&self, write: impl FnOnce(&[u8]) -> Result<usize, E>) -> Result<bool, E> {
        let mut out = self.out.borrow_mut();
        if out.is_empty() {
            return Ok(false);
        }
        let count = write(&out)?;
        bytes::Buf::advance(&mut *out, count);
        if out.is_empty() {
            *out = BytesMut::new(); // an idle one has no buffer
        }
        drop(out);
        if self.is_waiting.get() && self.out.borrow().len() < self.settings().write_window {
            self.wake_handler();
        }
        Ok(true)
    }

    /// Reads one message by `read`, which reads bytes of the socket.
    pub(crate) fn read_with(&self, read: &mut dyn FnMut(&mut [u8]) -> io::Result<usize>) -> Step {
        let result = {
            let mut out = self.out.borrow_mut();
            let mut counted = |buffer: &mut [u8]| {
                let count = read(buffer)?;
                self.fragments.borrow_mut().take(&buffer[..count]);
                Ok(count)
            };
            self.context.borrow_mut().read(&mut Source { read: &mut counted, out: &mut out })
        };
        if self.fragments.borrow().are_too_many() {
            self.fail(1008, "The message has too many empty fragments");
            return Step::Ended;
        }
        match result {
            Ok(tungstenite::Message::Text(text)) => self.on_message(text.into(), false),
            Ok(tungstenite::Message::Binary(data)) => self.on_message(data, true),
            Ok(tungstenite::Message::Close(_)) if self.fragments.borrow().close_code().is_some_and(is_forbidden) => {
                self.fail(1002, "The code must not be sent");
                return Step::Ended;
            }
            Ok(tungstenite::Message::Close(frame)) => {
                let frame = frame.map_or((1005, String::new()), |frame| (frame.code.into(), frame.reason.to_string()));
                self.close.borrow_mut().get_or_insert(frame);
            }
            Ok(_) => {} // pings are answered by the context
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return Step::Blocked,
            Err(Error::ConnectionClosed | Error::AlreadyClosed) => {
                self.end(self.is_received.get() || self.state.get() == State::Closing);
                return Step::Ended;
            }
            Err(error) => {
                match failure(&error) {
                    Some((code, reason)) => self.fail(code, reason),
                    None => self.end(false),
                }
                return Step::Ended;
            }
        }
        Step::Read
    }

    fn on_message(&self, data: Bytes, is_binary: bool) {
        if self.state.get() == State::Open {
            let data = if data.len() <= COPIED { Bytes::copy_from_slice(&data) } else { data };
            self.queued.set(self.queued.get() + data.len() + OVERHEAD);
            self.queue.borrow_mut().push_back(Message { data, is_binary });
            self.wake_handler();
        }
    }

    /// Closes it because the client has violated the protocol.
    fn fail(&self, code: u16, reason: &str) {
        self.write_close(code, reason);
        self.end(false);
    }

    /// The client has closed the connection while reading was paused. Its remaining data, if that fits, shows whether the close was
    /// orderly; otherwise it is gone. (The system tells this only if its own buffer has room for all that was sent.)
    pub(crate) fn hang_up(&self) {
        self.is_hung_up.set(true);
        if !self.wants_read() {
            self.end(false);
        }
    }

    /// The client is gone. After an orderly close the handler finds out when it asks for the next message.
    pub(crate) fn end(&self, is_in_order: bool) {
        self.state.set(State::Closed);
        self.connection.start_closing();
        self.wake_handler();
        if let Some(exchange) = self.exchange.upgrade() {
            if is_in_order { exchange.websocket_closed() } else { exchange.disconnect() }
        }
    }
}

fn context(settings: &Settings, read: Bytes) -> WebSocketContext {
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
        .max_write_buffer_size(usize::MAX) // it is emptied into ours immediately
        .max_message_size(Some(settings.websocket_message))
        .max_frame_size(Some(settings.websocket_frame));
    WebSocketContext::from_partially_read(read.to_vec(), Role::Server, Some(config))
}

/// Returns `true` for a close code that must not be sent.
fn is_forbidden(code: u16) -> bool {
    !CloseCode::from(code).is_allowed()
}

/// Returns the close code and reason for an error; `None` if the client is gone.
fn failure(error: &Error) -> Option<(u16, &'static str)> {
    use tungstenite::error::ProtocolError::ResetWithoutClosingHandshake;
    match error {
        Error::Io(_) | Error::Protocol(ResetWithoutClosingHandshake) => None,
        Error::Utf8(_) => Some((1007, "The text is not UTF-8")),
        Error::Capacity(_) => Some((1009, "The message is too large")),
        _ => Some((1002, "The protocol was broken")),
    }
}

/// A stream that never has data to read, and accepts all writes.
struct Sink<'a>(&'a mut BytesMut);

impl io::Read for Sink<'_> {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

impl io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The socket, and the buffer of what is sent.
struct Source<'a> {
    read: &'a mut dyn FnMut(&mut [u8]) -> io::Result<usize>,
    out: &'a mut BytesMut,
}

impl io::Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (self.read)(buffer)
    }
}

impl io::Write for Source<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Sink(self.out).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
