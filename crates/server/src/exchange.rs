//! One request and its response.
//!
//! ```text
//!             head parsed              handler begins            head of the response
//!   Queued ─────────────────► Running ─────────────────► Answered ─────────────────► Over
//!     │ queue_timeout: 503       │ request_timeout: cancelled     body sent
//!     ▼                          ▼ any state, the client is gone: cancelled
//!    Over                       Over
//! ```
//!
//! A handler may make the connection a WebSocket instead of giving a response (`Upgraded`): see `ws.rs`.

mod incoming;
mod limits;

use crate::compress::{self, Compressed, Source};
use crate::conn::Connection;
use crate::dispatch::{Dispatcher, Handler};
use crate::encoding::has_word;
use crate::ended::NO_RESPONSE;
use crate::files::sending::Sending;
use crate::forwarded::Origin;
use crate::identity;
use crate::log::Entry;
use crate::pipe::{Pipe, Written};
use crate::response::{
    Body, Content, Head, MANAGED_HEADERS, NO_REASON, SENDFILE_HEADERS, copy_version, declared_length, refusal,
    set_length,
};
use crate::settings::Settings;
use crate::shared::Shared;
use crate::ws::{self, Handshake, WebSocket};
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode, Version};
use http_body::Body as _;
use hyper::ext::ReasonPhrase;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker, ready};

/// Reason a handler is cancelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The client has closed the connection, or reset the stream, or takes no data.
    Disconnected,
    /// The response has not begun in time.
    Timeout,
    /// The body of the request has not come in time.
    SlowBody,
    /// The server is shutting down.
    Shutdown,
}

/// The result of reading a request's body.
#[derive(Debug)]
pub enum Incoming {
    /// A piece of it.
    Data(Bytes),
    /// Its end.
    End,
    /// Nothing has arrived yet: [`Handler::wake`] follows.
    Pending,
    /// It is larger than allowed.
    TooLarge,
    /// It violates the protocol.
    Malformed,
    /// The client has gone away.
    Failed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Queued,
    Running,
    Answered,
    /// It has become a WebSocket.
    Upgraded,
    Over,
}

/// Begins what answers a request in place of a handler.
pub type Begin = Box<dyn FnOnce(&Rc<Exchange>)>;

/// A request, its response, and how far both are.
pub struct Exchange {
    dispatcher: Rc<Dispatcher>,
    connection: Rc<Connection>,
    parts: Parts,
    /// How many requests had come, with this one.
    number: u64,
    /// The coroutine of the handler, as its owner numbers it; 0: it has none.
    coroutine: Cell<u64>,
    /// What trusted proxies say of the client.
    origin: Option<Box<Origin>>,
    state: Cell<State>,
    /// The handler has been asked to end.
    cancelled: Cell<Option<Reason>>,
    /// The handler runs, and has this number.
    is_handled: Cell<bool>,
    running_id: Cell<usize>,
    /// When it was received.
    begun: u64,
    /// When it entered this state.
    since: Cell<u64>,
    /// The status of the response, and how many bytes of its body hyper has taken.
    status: Cell<Option<StatusCode>>,
    sent: Cell<u64>,
    /// When the handler was cancelled because of a time limit; 0: it was not.
    timed_out_at: Cell<u64>,
    /// It was told that it is slow.
    is_known_slow: Cell<bool>,
    /// The handler goes on although the client has left.
    runs_on: Cell<bool>,

    incoming: RefCell<Option<hyper::body::Incoming>>,
    read_ahead: RefCell<Option<Incoming>>,
    received: Cell<u64>,
    /// All of the body was received.
    is_received: Cell<bool>,
    /// The handler has asked for the body.
    is_body_requested: Cell<bool>,
    /// The response says that the connection is closed.
    says_close: Cell<bool>,
    /// How many pieces of the body were read before the response was sent.
    drained_pieces: Cell<u8>,
    request_trailers: RefCell<Option<HeaderMap>>,
    /// Since when a handler has been waiting for data of the body; 0 while none is.
    reads_since: Cell<u64>,
    /// How long it has waited before, altogether.
    waited: Cell<u64>,

    /// The reason phrase of the response, if it is not the usual one.
    reason: RefCell<Option<ReasonPhrase>>,
    response: RefCell<Option<Response<Content>>>,
    is_aborted: Cell<bool>,
    reply_waker: RefCell<Option<Waker>>,
    pipe: RefCell<Option<Rc<Pipe>>>,
    /// A file that is sent.
    file: RefCell<Option<Rc<Sending>>>,
    /// Since when the client has taken nothing of it, or with HTTP/2 of a response that no handler writes to; else 0.
    taken_since: Cell<u64>,
    /// Since when a handler has been waiting for room; 0 while none is.
    writes_since: Cell<u64>,

    websocket: OnceCell<Rc<WebSocket>>,
    handler: OnceCell<Weak<dyn Handler>>,
    /// What begins in place of a handler of the owner.
    own: RefCell<Option<Begin>>,
}

impl Exchange {
    pub(crate) fn new(
        dispatcher: Rc<Dispatcher>,
        connection: Rc<Connection>,
        parts: Parts,
        incoming: hyper::body::Incoming,
    ) -> Rc<Exchange> {
        let is_received = incoming.is_end_stream();
        let incoming = (!is_received).then_some(incoming);
        let now = dispatcher.shared.event_loop.now.get();
        let origin = connection.origin(&parts);
        Rc::new(Exchange {
            number: dispatcher.shared.requests.get(),
            coroutine: Cell::new(0),
            dispatcher,
            connection,
            origin,
            parts,
            state: Cell::new(State::Queued),
            cancelled: Cell::new(None),
            is_handled: Cell::new(false),
            running_id: Cell::new(0),
            begun: now,
            since: Cell::new(now),
            status: Cell::new(None),
            sent: Cell::new(0),
            timed_out_at: Cell::new(0),
            is_known_slow: Cell::new(false),
            runs_on: Cell::new(false),
            incoming: RefCell::new(incoming),
            read_ahead: RefCell::new(None),
            received: Cell::new(0),
            is_received: Cell::new(is_received),
            is_body_requested: Cell::new(false),
            says_close: Cell::new(false),
            drained_pieces: Cell::new(0),
            request_trailers: RefCell::new(None),
            reads_since: Cell::new(0),
            waited: Cell::new(0),
            reason: RefCell::new(None),
            response: RefCell::new(None),
            is_aborted: Cell::new(false),
            reply_waker: RefCell::new(None),
            pipe: RefCell::new(None),
            file: RefCell::new(None),
            taken_since: Cell::new(0),
            writes_since: Cell::new(0),
            websocket: OnceCell::new(),
            handler: OnceCell::new(),
            own: RefCell::new(None),
        })
    }

    fn shared(&self) -> &Shared {
        &self.dispatcher.shared
    }

    /// Returns the head of the request.
    pub fn head(&self) -> &Parts {
        &self.parts
    }

    /// Returns the text of the client's address, and its port; an empty text and 0 for a socket without addresses.
    pub fn client(&self) -> (&str, u16) {
        self.connection.client_of(self.origin())
    }

    /// What trusted proxies say about the client.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// Returns its id: that of a trusted proxy, or one of the server's own.
    pub fn id(&self) -> String {
        self.shared().id_of(self.number, self.origin(), &self.parts)
    }

    /// Returns the id of the trace that it is a part of, as its client says.
    pub fn trace(&self) -> Option<&str> {
        identity::trace(&self.parts.headers)
    }

    /// Its handler is the coroutine with this number.
    pub fn set_coroutine(&self, number: u64) {
        self.coroutine.set(number);
    }

    /// Returns the number of the coroutine that handles it; 0 if there is none.
    pub fn coroutine(&self) -> u64 {
        self.coroutine.get()
    }

    /// Returns `true` if a trusted proxy gets the response.
    fn is_of_proxy(&self) -> bool {
        self.connection.is_known() && self.shared().settings.proxies.trusts(self.connection.client().0)
    }

    /// Returns the address of the listener that accepted its connection.
    pub fn local(&self) -> &str {
        &self.connection.local().address
    }

    /// Returns the scheme of the URL that the client has asked for.
    pub fn scheme(&self) -> &'static str {
        self.connection.scheme_of(self.origin())
    }

    /// Sets the handler, which is woken when data of the body or room for the response is available, and may be cancelled.
    pub fn set_handler(&self, handler: Weak<dyn Handler>) {
        let _ = self.handler.set(handler);
    }

    /// Returns its handler, while there is one.
    pub fn handler(&self) -> Option<Rc<dyn Handler>> {
        self.handler.get()?.upgrade()
    }

    /// Returns when its head was received, by the clock of the event loop.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// Returns how far it is, for an operator.
    pub fn stage(&self) -> &'static str {
        match self.state.get() {
            State::Queued => "queued",
            State::Running => "running",
            State::Answered => "responding",
            State::Upgraded => "websocket",
            State::Over => "ended",
        }
    }

    /// Returns `true` if the client is gone, or the response complete.
    pub fn is_over(&self) -> bool {
        self.state.get() == State::Over
    }

    /// Returns `true` if the head of a response was given.
    pub fn is_answered(&self) -> bool {
        matches!(self.state.get(), State::Answered | State::Upgraded | State::Over)
    }

    /// Returns why the handler was cancelled, if it was.
    pub fn cancelled(&self) -> Option<Reason> {
        self.cancelled.get()
    }

    /// The handler begins.
    pub(crate) fn start(&self, id: usize) {
        self.running_id.set(id);
        self.state.set(State::Running);
        self.is_handled.set(true);
        self.since.set(self.shared().event_loop.now.get());
        self.connection.schedule_timeout(self.shared().settings.request_timeout);
    }

    /// The time of its handler begins now.
    pub(crate) fn restart_clock(&self) {
        self.since.set(self.shared().event_loop.driver.now());
    }

    /// A task of the server's own answers it, and no handler of the owner. It is begun by this.
    pub(crate) fn set_own(&self, begin: Begin) {
        self.own.replace(Some(begin));
    }

    /// Returns `true` if it waits for such a task.
    pub(crate) fn is_own(&self) -> bool {
        self.own.borrow().is_some()
    }

    /// Takes what begins such a task, if it is for one.
    pub(crate) fn take_own(&self) -> Option<Begin> {
        self.own.take()
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.state.get() == State::Queued
    }

    /// The handler has returned. If its response is not complete, that is a failure.
    pub fn finish_handler(self: &Rc<Self>) {
        if self.is_handled.replace(false) {
            // Handlers end between two turns, long after the last one if they compute.
            let event_loop = &self.shared().event_loop;
            event_loop.now.set(event_loop.driver.now());
            match self.state.get() {
                State::Queued | State::Running => self.abort(),
                State::Answered => {
                    if let Some(pipe) = &*self.pipe.borrow() {
                        pipe.fail(); // unless it is complete
                    }
                    // With HTTP/2 it may wait for room on its stream, where the socket is not blocked.
                    if self.parts.version == Version::HTTP_2 && self.taken_since.get() == 0 {
                        self.taken_since.set(self.shared().event_loop.now.get().max(1));
                        self.connection.schedule_timeout(self.shared().settings.write_timeout);
                    }
                }
                State::Upgraded => {
                    if let Some(web) = self.websocket.get() {
                        web.close(1000, "");
                    }
                    self.websocket_closed();
                }
                State::Over => {}
            }
            if self.websocket.get().is_some() {
                self.dispatcher.websockets.set(self.dispatcher.websockets.get().saturating_sub(1));
            }
            self.dispatcher.handler_finished(self.running_id.get());
        }
        self.dispatcher.notify();
    }

    /// Ends the exchange.
    fn finish(&self) {
        let duration = self.shared().event_loop.now.get().saturating_sub(self.begun);
        self.shared().ended.count(self.logged_status(), self.websocket.get().is_none().then_some(duration));
        self.dispatcher.log(|| self.log_entry());
        self.connection.finish_exchange(self.is_received.get());
    }

    // --- the response ---

    /// Sets the reason phrase of the response that is to begin, which clients of HTTP/1 see. One that cannot be sent is not.
    pub fn set_reason(&self, phrase: &[u8]) {
        self.reason.replace(ReasonPhrase::try_from(phrase).ok());
    }

    /// Begins the response. Returns `false` if it has already begun, or the client is gone.
    pub fn respond(self: &Rc<Self>, head: Head, body: Body) -> bool {
        if self.is_answered() || self.is_aborted.get() {
            return false;
        }
        let Head { status, mut headers } = head;
        // hyper sends its own text for a status without a name.
        let reason = self.reason.take().or_else(|| status.canonical_reason().is_none().then(|| NO_REASON.clone()));
        if headers.keys().any(|name| SENDFILE_HEADERS.contains(name)) && !self.is_of_proxy() {
            SENDFILE_HEADERS.iter().for_each(|name| drop(headers.remove(name)));
        }
        let (mut declared, mut closes) = (None, false);
        if headers.keys().any(|name| MANAGED_HEADERS.contains(name)) {
            declared = declared_length(&headers);
            closes = has_word(&headers, header::CONNECTION, "close");
            for name in &MANAGED_HEADERS {
                headers.remove(name);
            }
        }
        let is_h2 = self.parts.version == Version::HTTP_2;
        if (closes || self.shared().is_draining()) && !is_h2 {
            self.says_close.set(true);
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if status == StatusCode::UPGRADE_REQUIRED && !is_h2 {
            headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade, close"));
        }
        self.add_id(&mut headers);
        let is_head = self.parts.method == Method::HEAD;
        let has_none = status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED;
        let mut pipe = None;
        let length = match &body {
            // For a response to HEAD the handler may give the head alone.
            Body::Full(bytes) if is_head && bytes.is_empty() => declared.or(Some(0)),
            Body::Full(bytes) => Some(bytes.len() as u64),
            Body::File(file) => Some(file.length()),
            Body::Empty if !is_head => Some(0),
            Body::Empty | Body::Stream { .. } => declared,
        };
        let compressed = match &body {
            Body::File(_) => None, // which may have been compressed before
            _ => compress::negotiate(
                &self.shared().settings,
                &self.shared().compressing,
                &self.parts,
                status,
                &mut headers,
                length,
            ),
        };
        if is_head && !has_none && compressed.is_none() {
            set_length(&mut headers, length);
        }
        let content = match body {
            Body::Full(bytes) if !has_none && !is_head && !bytes.is_empty() => match (compressed, self.track(bytes)) {
                (Some(chosen), bytes) => {
                    let source = Source::Full(bytes);
                    Content::Compressed(Box::new(Compressed::new(&self.shared().compressing, chosen, source)))
                }
                (None, bytes) => {
                    if is_h2 {
                        self.taken_since.set(self.shared().event_loop.now.get().max(1));
                    }
                    Content::Full(bytes)
                }
            },
            Body::File(file) if !has_none && !is_head && file.length() > 0 => {
                let sending = Sending::new(Rc::clone(&self.shared().event_loop), file);
                *self.file.borrow_mut() = Some(Rc::clone(&sending));
                self.taken_since.set(self.shared().event_loop.now.get().max(1));
                Content::File(sending)
            }
            Body::Stream { trailers } => {
                let new = Rc::new(Pipe::new(declared));
                pipe = Some(Rc::clone(&new));
                if is_head || has_none {
                    new.end(None); // what is written to it is dropped
                    Content::Empty
                } else {
                    if !trailers.is_empty() && !is_h2 {
                        let names = trailers.iter().map(HeaderName::as_str).collect::<Vec<_>>().join(", ");
                        if let Ok(names) = HeaderValue::from_str(&names) {
                            headers.insert(header::TRAILER, names);
                        }
                    }
                    match compressed {
                        Some(chosen) => {
                            let source = Source::Stream(new);
                            Content::Compressed(Box::new(Compressed::new(&self.shared().compressing, chosen, source)))
                        }
                        None => Content::Stream(new),
                    }
                }
            }
            _ => Content::Empty,
        };
        let mut response = Head { status, headers }.with_body(content);
        copy_version(&mut response, &self.parts);
        if let Some(reason) = reason {
            response.extensions_mut().insert(reason);
        }
        *self.pipe.borrow_mut() = pipe;
        self.status.set(Some(status));
        self.state.set(State::Answered);
        self.since.set(self.shared().event_loop.now.get());
        *self.response.borrow_mut() = Some(response);
        self.wake_reply();
        if self.taken_since.get() > 0 {
            self.connection.schedule_timeout(self.shared().settings.write_timeout);
        }
        self.dispatcher.notify();
        true
    }

    /// Adds the id to the head of a response that has none of its own, if clients are told it.
    fn add_id(&self, headers: &mut HeaderMap) {
        if self.settings().send_request_id {
            identity::add(headers, &self.id());
        }
    }

    /// Withdraws a response of which nothing was sent yet. Returns `false` if there is none.
    pub fn withdraw_response(&self) -> bool {
        if self.state.get() == State::Upgraded {
            return false;
        }
        if self.response.take().is_none() {
            return false;
        }
        *self.pipe.borrow_mut() = None;
        *self.file.borrow_mut() = None;
        self.taken_since.set(0);
        self.writes_since.set(0);
        self.state.set(State::Running);
        true
    }

    /// Writes a piece of the body. After [`Written::Full`] the handler should wait until [`has_room`](Exchange::has_room) is
    /// true, to be asked at [`Handler::wake`].
    pub fn write(&self, bytes: Bytes) -> Written {
        let pipe = self.pipe.borrow().clone();
        let Some(pipe) = pipe else { return Written::TooMuch };
        let is_head_only = self.parts.method == Method::HEAD;
        if self.has_no_reader() {
            return if is_head_only { Written::Ok } else { Written::Gone };
        }
        if !pipe.write(self.connection.track(bytes)) && !is_head_only {
            return Written::TooMuch;
        }
        self.dispatcher.notify();
        if self.has_room() { Written::Ok } else { Written::Full }
    }

    /// Returns `true` if a handler need not wait before it writes. If it does wait, [`Handler::wake`] follows.
    pub fn has_room(&self) -> bool {
        let window = if self.shared().is_over_buffered() { 1 } else { self.shared().settings.write_window };
        let is_full = self.pipe.borrow().as_ref().is_some_and(|pipe| pipe.buffered() >= window);
        if !is_full || self.has_no_reader() {
            self.writes_since.set(0);
            return true;
        }
        if self.writes_since.get() == 0 {
            self.writes_since.set(self.shared().event_loop.driver.now().max(1));
            self.connection.schedule_timeout(self.shared().settings.write_timeout);
        }
        false
    }

    /// Returns `true` if what is written would be dropped.
    fn has_no_reader(&self) -> bool {
        self.is_over() || self.cancelled.get() == Some(Reason::Disconnected)
    }

    /// Completes a body that was written piece by piece. Returns `false` if it is shorter than it declares, so that the client
    /// notices that it is incomplete.
    pub fn complete(&self, trailers: Option<HeaderMap>) -> bool {
        let is_whole = self.pipe.borrow().as_ref().is_none_or(|pipe| pipe.end(trailers));
        self.dispatcher.notify();
        is_whole
    }

    /// Ends the response as a failure: the client notices that it is incomplete.
    pub fn abort(self: &Rc<Self>) {
        match self.state.get() {
            State::Queued | State::Running => {
                self.is_aborted.set(true);
                self.state.set(State::Over);
                self.wake_reply();
                self.finish();
            }
            State::Answered => {
                if let Some(pipe) = &*self.pipe.borrow() {
                    pipe.fail();
                }
            }
            State::Upgraded | State::Over => {}
        }
        self.dispatcher.notify();
    }

    fn wake_reply(&self) {
        if let Some(waker) = self.reply_waker.take() {
            waker.wake();
        }
    }

    /// Polls for the response; an error if there will be none.
    pub(crate) fn poll_reply(&self, cx: &mut Context<'_>) -> Poll<Result<Response<Content>, ()>> {
        if self.response.borrow().is_some() {
            if !self.is_received.get() {
                ready!(self.poll_drain_request(cx));
            }
            return Poll::Ready(self.response.take().ok_or(()));
        }
        if self.is_aborted.get() {
            return Poll::Ready(Err(()));
        }
        let mut waker = self.reply_waker.borrow_mut();
        if waker.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// hyper has taken a piece of the body, or waits for one.
    pub(crate) fn on_body_polled(self: &Rc<Self>) {
        if self.writes_since.get() > 0 && self.has_room() {
            self.dispatcher.wake_handler(Rc::clone(self));
        }
    }

    /// Counts a body, or the pieces that are read or made of it, while it waits for the client. A small one is no more than
    /// what a request takes anyway.
    pub(crate) fn track(&self, bytes: Bytes) -> Bytes {
        if bytes.len() < COUNTED { bytes } else { self.connection.track(bytes) }
    }

    /// hyper has taken `count` bytes of the body.
    pub(crate) fn on_sent(&self, count: usize) {
        self.sent.set(self.sent.get() + count as u64);
        if self.taken_since.get() > 0 {
            self.taken_since.set(self.shared().event_loop.now.get().max(1));
        }
    }

    /// Its entry in the access log.
    pub(crate) fn log_entry(&self) -> Entry {
        let duration = self.shared().event_loop.driver.now().saturating_sub(self.begun);
        let entry = Entry::new(&self.connection, self.origin(), &self.parts, self.id());
        let (status, coroutine) = (self.logged_status(), self.coroutine.get());
        Entry { status, bytes: self.sent.get(), duration, coroutine, ..entry }
    }

    fn logged_status(&self) -> u16 {
        self.status.get().map_or(NO_RESPONSE, |status| status.as_u16())
    }

    /// hyper has dropped the body.
    pub(crate) fn finish_body(self: &Rc<Self>, is_sent: bool) {
        if self.state.replace(State::Over) != State::Over {
            if !is_sent && self.is_handled.get() {
                self.cancel(Reason::Disconnected);
            }
            self.discard_body();
            self.file.take();
            self.taken_since.set(0);
            self.wake_handler();
            self.finish();
        }
    }

    /// The client is gone before it got a response.
    pub(crate) fn disconnect(self: &Rc<Self>) {
        let before = self.state.replace(State::Over);
        if before != State::Over {
            if before == State::Queued {
                self.dispatcher.remove_queued(self);
            }
            self.discard_body();
            if self.response.take().is_some() {
                self.status.set(None); // it was not sent
                self.file.take();
                self.taken_since.set(0);
            }
            self.cancel(Reason::Disconnected);
            self.wake_handler();
            self.finish();
        }
    }

    /// What a handler waits for will not come. It may continue although it is cancelled.
    fn wake_handler(self: &Rc<Self>) {
        if self.is_reading() || self.writes_since.get() > 0 {
            self.stop_reading();
            self.writes_since.set(0);
            self.dispatcher.wake_handler(Rc::clone(self));
        }
    }

    /// Returns `true` if a response with this status has no body.
    pub fn omits_body(&self, status: StatusCode) -> bool {
        let has_none = status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED;
        has_none || self.parts.method == Method::HEAD
    }

    /// Returns the limits of its server.
    pub fn settings(&self) -> &Settings {
        &self.shared().settings
    }

    /// Asks the handler to end, if it runs.
    pub(crate) fn cancel(self: &Rc<Self>, reason: Reason) {
        let is_first = self.cancelled.get().is_none();
        if is_first || reason != Reason::Disconnected && self.runs_on.take() {
            self.cancelled.set(Some(reason));
            if self.is_handled.get() {
                self.shared().cancelled.set(self.shared().cancelled.get() + u64::from(is_first));
                self.dispatcher.cancel_handler(Rc::clone(self), reason);
            }
        }
    }

    /// Returns `true` if the handler was asked to end, and does not go on nevertheless.
    pub(crate) fn is_to_end(&self) -> bool {
        self.cancelled.get().is_some() && !self.runs_on.get()
    }

    /// The handler goes on although its client has left.
    pub(crate) fn goes_on(&self) {
        self.runs_on.set(self.is_handled.get());
    }

    /// Answers in place of the handler.
    pub(crate) fn refuse(self: &Rc<Self>, status: StatusCode) {
        let (head, body) = refusal(status);
        self.respond(head, body);
    }

    // --- WebSockets ---

    /// Makes the connection a WebSocket, with this subprotocol. It is closed when the handler returns.
    ///
    /// # Errors
    /// The request does not ask for it correctly, or is already answered.
    pub fn upgrade(self: &Rc<Self>, protocol: Option<&str>) -> Result<Rc<WebSocket>, Handshake> {
        let chosen = protocol.map(HeaderValue::from_str).transpose().map_err(|_| Handshake::Malformed)?;
        let mut headers = ws::answer(&self.parts, chosen)?;
        self.add_id(&mut headers);
        if self.has_unread_body() {
            return Err(Handshake::Malformed); // what comes next would be the body
        }
        if self.state.get() != State::Running || self.is_aborted.get() {
            return Err(Handshake::TooLate);
        }
        let web = WebSocket::new(&self.dispatcher, &self.connection, self, protocol.map(str::to_owned));
        let _ = self.websocket.set(Rc::clone(&web));
        let status = StatusCode::SWITCHING_PROTOCOLS;
        let response = Head { status, headers }.with_body(Content::Empty);
        self.status.set(Some(status));
        self.state.set(State::Upgraded);
        *self.response.borrow_mut() = Some(response);
        self.connection.set_upgraded();
        self.dispatcher.websockets.set(self.dispatcher.websockets.get() + 1);
        self.dispatcher.start_queued(); // it no longer counts as a running handler
        self.wake_reply();
        self.dispatcher.notify();
        Ok(web)
    }

    /// Returns the WebSocket that it has become.
    pub fn websocket(&self) -> Option<Rc<WebSocket>> {
        self.websocket.get().cloned()
    }

    /// Called when hyper has sent the answer to the handshake. Returns the WebSocket, if one was asked for.
    pub(crate) fn upgraded_websocket(&self) -> Option<Rc<WebSocket>> {
        self.websocket().filter(|_| self.response.borrow().is_none())
    }

    /// Called when its WebSocket was closed in good order, or its handler has ended.
    pub(crate) fn websocket_closed(self: &Rc<Self>) {
        if self.state.replace(State::Over) != State::Over {
            self.finish();
        }
    }
}

/// Bodies of this size are counted.
const COUNTED: usize = 1024;

/// Returns `true` if a value starts or ends with whitespace, which makes an HTTP/2 request malformed (RFC 9113, 8.2.1): forwarded
/// as HTTP/1.1, it would change.
pub fn has_surrounding_space(headers: &HeaderMap) -> bool {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    headers.values().map(HeaderValue::as_bytes).any(|value| is_blank(value.first()) || is_blank(value.last()))
}
