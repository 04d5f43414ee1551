//! One connection: finding out the protocol, hyper's state machine for it, and the watchdog that enforces time limits.

use crate::discard::Rest;
use crate::exchange::{Exchange, NEVER, Why, limit};
use crate::exec::Executor;
use crate::forwarded::Origin;
use crate::io::{Hangup, Socket};
use crate::link::Link;
use crate::listen::Local;
use crate::proxied::{self, Found, Whose};
use crate::server::Shared;
use crate::service::Service;
use crate::stream::{Failed, Session, Stream};
use crate::timer::Time;
use crate::tls::Tls;
use crate::waiting::Waiting;
use bytes::Bytes;
use http::Version;
use hyper::server::conn::{http1, http2};
use std::cell::{Cell, OnceCell, RefCell};
use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// What a connection does, as far as its time limits are concerned, and since when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The head of a request is awaited; before that of the first one also the end of a handshake.
    Head(u64),
    /// No request is there or has begun to come.
    Idle(u64),
    /// Requests are being answered, which have time limits of their own.
    Busy,
    /// It is a WebSocket, of which the client has sent something then.
    Socket(u64),
    /// It is about to be closed.
    Closing(u64),
    /// All is sent, and what the client still sends is read, since the first time until the second one.
    Lingering(u64, u64),
}

/// How long a connection may take to close, in nanoseconds.
const CLOSING: u64 = 5_000_000_000;

/// How many bytes are read of a connection in one turn of its task, if no head is larger: so others have theirs, however quickly
/// a client sends.
const READABLE: usize = 64 << 10;
/// What a call that reads counts besides its bytes, and what one that sends does: there may be an answer to each few bytes.
const READ_CALL: usize = 1024;
const SEND_CALL: usize = 256;

/// How long a connection of HTTP/1.1 has to be idle to lose its buffers, in nanoseconds: they are most of its memory, and are made
/// anew for the next request.
const LIGHT: u64 = 1_000_000_000;
/// If more connections than these have buffers, it loses them at once.
const BUFFERED: usize = 1024;
/// How much of that request is read before they are.
const FIRST_READ: usize = 1024;

/// The code with which WebSockets are closed when the server stops.
const GOING_AWAY: u16 = 1001;

/// What client code of HTTP/2 sends first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The answer to a client that speaks HTTP where TLS is spoken.
const NOT_HTTPS: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 36\r\n\
    Connection: close\r\n\r\nUse https:// for this host and port\n";

/// The state of a connection.
pub struct Connection {
    shared: Rc<Shared>,
    id: Cell<usize>,
    client: String,
    port: u16,
    /// The client, if a proxy has told it; and whether the proxy does not know it.
    proxied: OnceCell<(String, u16)>,
    is_unknown: Cell<bool>,
    local: Rc<Local>,
    phase: Cell<Phase>,
    is_h2: Cell<bool>,
    /// Data has been read while a request was being answered: it may be the begin of the next one.
    has_more: Cell<bool>,
    active: RefCell<Vec<Rc<Exchange>>>,
    /// The time at which the task will be woken.
    scheduled: Cell<Option<Time>>,
    waker: RefCell<Option<Waker>>,
    /// It is to be closed at once.
    is_killed: Cell<bool>,
    /// It is to be closed if it is still idle, so that another one has its place.
    makes_room: Cell<bool>,
    /// It is to be closed when its requests are answered.
    drains: Cell<bool>,
    /// Since when the client has taken no data; 0 if it takes them.
    blocked_since: Cell<u64>,
    /// When the client has last taken data, or when the first came that waits for it.
    taken_at: Cell<u64>,
    /// The bytes of responses that wait for the client.
    waiting: OnceCell<Arc<Waiting>>,
    /// By which it is seen that the client leaves while what it has sent is not read, and that something has come.
    hangup: RefCell<Option<Hangup>>,
    /// The exchange whose handler has made it a WebSocket.
    upgraded: RefCell<Option<Rc<Exchange>>>,
    /// A ping was sent since the client has sent something.
    is_pinged: Cell<bool>,
    /// The last request is one of HTTP/1.0, whose response may have no end but that of the connection.
    is_http10: Cell<bool>,
    /// All that was to be sent is sent, and the client was told that it is all.
    is_shut: Cell<bool>,
    /// How much may still be read in this turn of its task.
    readable: Cell<usize>,
    /// The last request has come as a whole, so that what follows is the begin of another one.
    is_between: Cell<bool>,
    /// It is idle, and has no buffers.
    is_light: Cell<bool>,
}

impl Connection {
    /// Returns the state of a connection that was accepted.
    pub fn new(shared: Rc<Shared>, client: String, port: u16, local: Rc<Local>) -> Rc<Connection> {
        let now = shared.now.get();
        let connection = Rc::new(Connection {
            id: Cell::new(0),
            client,
            port,
            proxied: OnceCell::new(),
            is_unknown: Cell::new(false),
            local,
            phase: Cell::new(Phase::Head(now)),
            is_h2: Cell::new(false),
            has_more: Cell::new(false),
            active: RefCell::default(),
            scheduled: Cell::new(None),
            waker: RefCell::default(),
            is_killed: Cell::new(false),
            makes_room: Cell::new(false),
            drains: Cell::new(false),
            blocked_since: Cell::new(0),
            taken_at: Cell::new(0),
            waiting: OnceCell::new(),
            hangup: RefCell::default(),
            upgraded: RefCell::default(),
            is_pinged: Cell::new(false),
            is_http10: Cell::new(false),
            is_shut: Cell::new(false),
            readable: Cell::new(0),
            is_between: Cell::new(false),
            is_light: Cell::new(false),
            shared,
        });
        connection.id.set(connection.shared.connection_begins(Rc::clone(&connection)));
        connection
    }

    pub fn client(&self) -> (&str, u16) {
        self.proxied.get().map_or((&self.client, self.port), |(client, port)| (client, *port))
    }

    /// Returns `true` if the client is known. Otherwise it may be anybody, and is not the proxy whose address stands for it.
    pub fn is_known(&self) -> bool {
        !self.is_unknown.get()
    }

    /// A proxy has told whose connection it is.
    fn is_of(&self, whose: Whose) {
        match whose {
            Whose::Client(address, port) => {
                let _ = self.proxied.set((address.to_canonical().to_string(), port));
            }
            Whose::Unknown => self.is_unknown.set(true),
            Whose::Proxy => {}
        }
    }

    /// Returns the client of a request, of which trusted proxies may say something else.
    pub fn client_of<'a>(&'a self, origin: Option<&'a Origin>) -> (&'a str, u16) {
        match origin {
            // A trusted proxy for which nobody has asked: its port is known.
            Some(Origin { client: (address, 0), .. }) if *address == self.client().0 => self.client(),
            Some(Origin { client: (address, port), .. }) => (address, *port),
            None => self.client(),
        }
    }

    /// Returns the scheme that the client of a request uses.
    pub fn scheme_of(&self, origin: Option<&Origin>) -> &'static str {
        origin.and_then(|origin| origin.scheme).unwrap_or(self.local.scheme())
    }

    /// Returns where it has come in.
    pub fn local(&self) -> &Local {
        &self.local
    }

    /// Returns what it shares with the others.
    pub fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }

    /// Returns the waker of its task.
    pub fn waker(&self) -> Option<Waker> {
        self.waker.borrow().clone()
    }

    /// Wakes its task.
    pub fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    /// Closes the connection at once.
    pub fn kill(&self) {
        self.is_killed.set(true);
        self.wake();
    }

    /// Closes the connection, unless a request comes before.
    pub fn make_room(&self) {
        self.makes_room.set(true);
        self.wake();
    }

    /// Returns `true` if bytes have come that are not read. The next read takes them.
    pub fn has_unread(&self) -> bool {
        self.hangup.borrow().as_ref().is_some_and(Hangup::has_unread)
    }

    /// Closes the connection at once, unless others use it, too.
    pub fn kill_unless_h2(&self) {
        if !self.is_h2.get() {
            self.kill();
        }
    }

    /// Closes the connection when its requests are answered.
    pub fn drain(&self) {
        self.drains.set(true);
        self.wake();
    }

    /// The socket is about to be closed.
    pub fn socket_ends(&self) {
        self.hangup.take();
    }

    /// All that was to be sent is sent, and the client was told that it is all.
    pub fn is_shut_down(&self) {
        self.is_shut.set(true);
    }

    /// Returns since when it has had nothing to do. The end of a response may still wait for the client to take it.
    pub fn idle_since(&self) -> Option<u64> {
        match self.phase.get() {
            Phase::Idle(since) if self.blocked_since.get() == 0 => Some(since),
            _ => None,
        }
    }

    /// Returns since when nothing has been missing but its end: what its client still sends is read, so that it gets the response.
    pub fn lingers_since(&self) -> Option<u64> {
        if let Phase::Lingering(since, _) = self.phase.get() { Some(since) } else { None }
    }

    /// The connection ends although a response is not complete. A client of HTTP/1.0 that is told no length takes the end of
    /// the connection for that of the response, unless the connection is reset.
    fn breaks_off(&self) {
        if self.is_http10.get()
            && let Some(hangup) = &*self.hangup.borrow()
        {
            hangup.resets();
        }
    }

    /// Begins a turn of its task. A head that has come as a whole is read in one.
    fn turn_begins(&self) {
        self.readable.set(READABLE.max(self.shared.settings.max_header_size));
    }

    /// Returns `true` if more may be read in this turn.
    pub fn may_read(&self) -> bool {
        self.readable.get() > 0
    }

    /// A call has read so many bytes of the socket.
    pub fn counts_read(&self, count: usize) {
        self.readable.set(self.readable.get().saturating_sub(count + READ_CALL));
    }

    /// A call has sent something.
    pub fn counts_send(&self) {
        self.readable.set(self.readable.get().saturating_sub(SEND_CALL));
    }

    /// Bytes were read.
    pub fn has_read(&self, count: usize) {
        if count == 0 || self.is_h2.get() {
            return;
        }
        match self.phase.get() {
            Phase::Idle(_) => {
                self.phase.set(Phase::Head(self.shared.now.get()));
                self.limit_begins(self.shared.settings.header_timeout);
            }
            Phase::Busy => self.has_more.set(true),
            Phase::Socket(_) => {
                self.phase.set(Phase::Socket(self.shared.now.get()));
                self.is_pinged.set(false);
            }
            Phase::Head(_) | Phase::Closing(_) | Phase::Lingering(..) => {}
        }
    }

    /// The client takes no data.
    pub fn cannot_write(&self) {
        if self.blocked_since.get() == 0 {
            self.blocked_since.set(self.shared.now.get().max(1));
            self.reschedule();
        }
    }

    /// Counts bytes of a response until they are sent or dropped.
    pub fn counts(&self, bytes: Bytes) -> Bytes {
        if bytes.is_empty() {
            return bytes;
        }
        let waiting = self.waiting.get_or_init(|| Waiting::new(&self.shared.waiting));
        if waiting.bytes() == 0 {
            self.taken_at.set(self.shared.now.get());
        }
        waiting.count(bytes)
    }

    /// Returns how much it costs that the client takes nothing: bytes, times the time for which it has taken none. It is 0 if
    /// that time is less than `least`, or if there are none.
    pub fn burden(&self, now: u64, least: u64) -> u128 {
        let bytes = self.waiting.get().map_or(0, |waiting| waiting.bytes());
        let time = now.saturating_sub(self.taken_at.get());
        if time < least { 0 } else { bytes as u128 * (u128::from(time) + 1) }
    }

    /// Closes the connection, because its client takes too little of what waits for it.
    pub fn takes_too_little(&self) {
        if let Some(waiting) = self.waiting.get() {
            waiting.leaves();
        }
        self.kill();
    }

    /// The client has taken data.
    pub fn has_written(&self) {
        self.taken_at.set(self.shared.now.get());
        if self.blocked_since.replace(0) > 0
            && let Phase::Idle(_) = self.phase.get()
        {
            self.is_idle_now();
            self.reschedule();
        }
    }

    /// A request has come.
    pub fn exchange_begins(&self, exchange: &Rc<Exchange>) {
        self.phase.set(Phase::Busy);
        self.has_more.set(false);
        self.is_http10.set(exchange.head().version == Version::HTTP_10);
        self.active.borrow_mut().push(Rc::clone(exchange));
    }

    /// A handler has made the connection a WebSocket: that begins when hyper has sent the answer.
    pub fn is_upgraded(&self, exchange: &Rc<Exchange>) {
        self.phase.set(Phase::Socket(self.shared.now.get()));
        *self.upgraded.borrow_mut() = Some(Rc::clone(exchange));
    }

    /// The WebSocket is to be closed, for which the client has so much time.
    pub fn socket_closes(&self) {
        if let Phase::Socket(_) = self.phase.get() {
            self.phase.set(Phase::Closing(self.shared.now.get()));
            self.reschedule();
        }
    }

    /// The client of a WebSocket has sent nothing for a while: asks it whether it is still there. Returns `true` if it has not
    /// answered for as long again.
    fn is_silent(&self, now: u64, since: u64) -> bool {
        let web = self.upgraded.borrow().as_ref().and_then(|exchange| exchange.websocket());
        let Some(web) = web else { return true };
        if web.is_paused() {
            // Its answer would not be read. But if the client is gone, the network says so when something is sent.
            if web.has_sent_all() {
                web.ping(Bytes::new());
            }
            self.phase.set(Phase::Socket(now));
            self.is_pinged.set(false);
        } else if self.is_pinged.get() {
            return now >= since.saturating_add(self.shared.settings.websocket_ping.saturating_mul(2));
        } else {
            web.ping(Bytes::new());
            self.is_pinged.set(true);
        }
        false
    }

    /// No request is there any more. Another connection may wait for the place of one that is idle.
    fn is_idle_now(&self) {
        self.phase.set(Phase::Idle(self.shared.now.get()));
        self.shared.one_is_idle();
    }

    /// A request has come, and is refused without a handler.
    pub fn is_answered_here(&self) {
        if self.active.borrow().is_empty() {
            self.is_between.set(false);
            self.is_idle_now();
        }
    }

    /// A request is over.
    pub fn exchange_ends(&self, exchange: &Rc<Exchange>) {
        self.shared.log(|| exchange.log_entry());
        self.is_between.set(exchange.is_received());
        let left = {
            let mut active = self.active.borrow_mut();
            active.retain(|other| !Rc::ptr_eq(other, exchange));
            active.len()
        };
        if left == 0 && self.phase.get() == Phase::Busy {
            let settings = &self.shared.settings;
            if self.has_more.take() {
                self.phase.set(Phase::Head(self.shared.now.get()));
                self.limit_begins(settings.header_timeout);
            } else {
                self.is_idle_now();
                let is_light_first = self.can_be_light() && (settings.keep_alive == 0 || settings.keep_alive > LIGHT);
                self.limit_begins(if is_light_first { LIGHT } else { settings.keep_alive });
            }
        }
    }

    fn can_be_light(&self) -> bool {
        self.is_between.get() && !self.is_light.get() && !self.is_h2.get()
    }

    /// Returns `true` if it has been idle for long enough to lose its buffers.
    fn is_heavy(&self, now: u64) -> bool {
        let time = if self.shared.services.get() > BUFFERED { 0 } else { LIGHT };
        self.can_be_light() && self.idle_since().is_some_and(|since| now >= since.saturating_add(time))
    }

    /// Returns when a limit passes; `NEVER` if there is none.
    fn due(&self) -> u64 {
        let settings = &self.shared.settings;
        let phase = match self.phase.get() {
            Phase::Head(since) => limit(since, settings.header_timeout),
            Phase::Idle(since) if self.blocked_since.get() == 0 => {
                let light = if self.can_be_light() { limit(since, LIGHT) } else { NEVER };
                light.min(limit(since, settings.keep_alive))
            }
            Phase::Idle(_) | Phase::Busy => NEVER, // the rest of the response has a limit of its own
            Phase::Closing(since) => limit(since, CLOSING),
            Phase::Lingering(_, until) => until,
            Phase::Socket(since) => {
                limit(since, settings.websocket_ping.saturating_mul(if self.is_pinged.get() { 2 } else { 1 }))
            }
        };
        let blocked = match self.blocked_since.get() {
            0 => NEVER,
            since => limit(since, settings.write_timeout),
        };
        self.active.borrow().iter().fold(phase.min(blocked), |due, exchange| due.min(exchange.due()))
    }

    /// Has the task woken when the next limit passes.
    pub fn reschedule(&self) {
        self.wake_at(self.due());
    }

    /// A limit begins that passes after this time, or has none if that is 0: has the task woken then. What has begun before has been
    /// seen to.
    pub fn limit_begins(&self, time: u64) {
        self.wake_at(limit(self.shared.now.get(), time));
    }

    fn wake_at(&self, due: u64) {
        let scheduled = self.scheduled.get();
        if due == NEVER || scheduled.is_some_and(|time| time.at <= due) {
            return; // it looks again then
        }
        if let Some(waker) = self.waker() {
            self.unschedule();
            self.scheduled.set(Some(self.shared.timers.add(due, waker)));
        }
    }

    fn unschedule(&self) {
        if let Some(time) = self.scheduled.take() {
            self.shared.timers.remove(time);
        }
    }

    /// Returns `true` if a limit has passed.
    fn has_limit_passed(&self, now: u64) -> bool {
        self.scheduled.get().is_some_and(|time| time.at <= now) && self.due() <= now
    }

    /// Carries out what follows from limits that have passed. Returns `true` if the connection is to be closed at once.
    fn check(&self, now: u64) -> bool {
        if self.scheduled.get().is_some_and(|time| time.at <= now) {
            self.unschedule();
        }
        let settings = &self.shared.settings;
        let is_over = |since: u64, time: u64| time > 0 && now >= since.saturating_add(time);
        match self.phase.get() {
            Phase::Head(since) if is_over(since, settings.header_timeout) => return true,
            Phase::Closing(since) if is_over(since, CLOSING) => return true,
            Phase::Lingering(_, until) if now >= until => return true,
            Phase::Idle(since) if self.blocked_since.get() == 0 && is_over(since, settings.keep_alive) => {
                if !self.is_h2.get() {
                    return true;
                }
                self.drains.set(true);
                self.phase.set(Phase::Closing(now));
            }
            Phase::Socket(since) if is_over(since, settings.websocket_ping) && self.is_silent(now, since) => {
                return true;
            }
            _ => {}
        }
        if self.blocked_since.get() > 0 && is_over(self.blocked_since.get(), settings.write_timeout) {
            return true;
        }
        if self.active.borrow().iter().any(|exchange| exchange.is_due(now)) {
            let active = self.active.borrow().clone();
            for exchange in active {
                exchange.check(now);
                exchange.check_rate(now);
            }
        }
        self.is_killed.get()
    }

    /// Returns `true` if a request is being answered, and hyper does not read what the client sends meanwhile: the rest of the
    /// request's body, or the next request. So it does not see its end.
    fn reads_nothing(&self) -> bool {
        let active = self.active.borrow();
        active.first().is_some_and(|exchange| !exchange.is_reading() && (self.has_more.get() || exchange.has_unread()))
    }

    /// Returns `true` if the client has closed the connection.
    fn has_hung_up(&self, cx: &mut Context<'_>) -> bool {
        self.hangup.borrow().as_ref().is_some_and(|hangup| hangup.poll(cx).is_ready())
    }

    /// The connection is closed.
    fn ends(&self) {
        let active = self.active.take();
        for exchange in active {
            exchange.client_leaves();
        }
        self.upgraded.take();
        self.waker.take();
        self.unschedule();
        if let Some(waiting) = self.waiting.get() {
            waiting.leaves();
        }
        self.shared.connection_ends(self.id.get());
    }
}

#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each connection, and it is almost always the large one"
)]
enum Protocol {
    /// What a proxy says of the client, as far as it has come; then that is spoken which the listener says.
    Proxied(Socket, Vec<u8>, Option<Rc<Tls>>),
    /// The handshake of TLS, after which the protocol is known.
    Handshaking(Box<Session>),
    /// So many bytes of the preface of HTTP/2 have come.
    Unknown(Socket, [u8; PREFACE.len()], usize),
    Http1(http1::Connection<Stream, Service>),
    /// Nothing is there but what is needed until the next request of HTTP/1.1 begins to come.
    Idle(Stream),
    Http2(Pin<Box<http2::Connection<Stream, Service, Executor>>>),
    WebSocket(Link),
    /// What was encrypted is sent before the socket is shut down.
    Finishing(Box<Session>),
    /// What the client still sends is read and dropped.
    Lingering(Socket, Rest),
    Closed,
}

/// The task of a connection.
pub struct Task {
    connection: Rc<Connection>,
    protocol: Protocol,
    is_draining: bool,
}

impl Task {
    /// Returns the task of a connection, which uses TLS if there are certificates.
    pub fn new(connection: Rc<Connection>, socket: Socket, tls: Option<Rc<Tls>>) -> Task {
        *connection.hangup.borrow_mut() = Some(socket.hangup());
        let protocol = if !connection.local.is_proxied {
            begin(socket, tls.as_deref())
        } else if connection.shared.settings.proxies.trusts(connection.client().0) {
            Protocol::Proxied(socket, Vec::new(), tls)
        } else {
            Protocol::Closed
        };
        Task { connection, protocol, is_draining: false }
    }

    /// Reads what a proxy says of the client. Ready: it is known, or what was sent is something else.
    fn introduce(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Protocol::Proxied(socket, start, _) = &mut self.protocol else { return Poll::Ready(()) };
        let (whose, length) = loop {
            let mut bytes = [0; 512];
            match socket.poll_fill(cx, &mut bytes) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(count)) if count > 0 => start.extend_from_slice(&bytes[..count]),
                Poll::Ready(_) => {
                    self.protocol = Protocol::Closed;
                    return Poll::Ready(());
                }
            }
            match proxied::parse(start) {
                Found::Part => {}
                Found::Header(whose, length) => break (whose, length),
                Found::Malformed => {
                    self.protocol = Protocol::Closed;
                    return Poll::Ready(());
                }
            }
        };
        self.connection.is_of(whose);
        if let Protocol::Proxied(socket, start, tls) = std::mem::replace(&mut self.protocol, Protocol::Closed) {
            socket.put_back(Bytes::copy_from_slice(&start[length..]));
            self.protocol = begin(socket, tls.as_deref());
        }
        Poll::Ready(())
    }

    /// Goes on with the handshake. Ready: it has ended.
    fn shake_hands(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Protocol::Handshaking(session) = &mut self.protocol else { return Poll::Ready(()) };
        let ended = ready!(session.poll_handshake(cx));
        let Protocol::Handshaking(session) = std::mem::replace(&mut self.protocol, Protocol::Closed) else {
            return Poll::Ready(());
        };
        let shared = &self.connection.shared;
        let now = shared.now.get();
        if ended.is_err() {
            shared.handshakes_failed.set(shared.handshakes_failed.get() + 1);
        }
        match ended {
            Ok(()) => {
                let is_h2 = session.is_h2();
                let stream = Stream::Tls(session);
                self.protocol = if is_h2 { self.http2(stream) } else { self.http1(stream) };
            }
            Err(Failed::PlainHttp) => {
                let socket = session.into_socket();
                let _ = socket.poll_send(cx, &[IoSlice::new(NOT_HTTPS.as_bytes())]); // there is room for it
                self.linger(socket);
            }
            Err(Failed::Refused) => {
                self.connection.phase.set(Phase::Closing(now));
                self.protocol = Protocol::Finishing(session);
            }
            Err(Failed::Gone) => {}
        }
        Poll::Ready(())
    }

    /// Reads until it is certain which protocol the client speaks.
    fn detect(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Protocol::Unknown(socket, start, length) = &mut self.protocol else { return Poll::Ready(()) };
        let is_h2 = loop {
            match socket.poll_fill(cx, &mut start[*length..]) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0) | Err(_)) => {
                    self.protocol = Protocol::Closed;
                    return Poll::Ready(());
                }
                Poll::Ready(Ok(count)) => *length += count,
            }
            if start[..*length] != PREFACE[..*length] {
                break false;
            }
            if *length == PREFACE.len() {
                break true;
            }
        };
        let Protocol::Unknown(socket, start, length) = std::mem::replace(&mut self.protocol, Protocol::Closed) else {
            return Poll::Ready(());
        };
        socket.put_back(Bytes::copy_from_slice(&start[..length]));
        let stream = Stream::Plain(socket);
        self.protocol = if is_h2 { self.http2(stream) } else { self.http1(stream) };
        Poll::Ready(())
    }

    fn http1(&self, stream: Stream) -> Protocol {
        let settings = &self.connection.shared.settings;
        let mut builder = http1::Builder::new();
        builder
            .half_close(false)
            .keep_alive(true)
            .max_headers(settings.max_headers)
            .max_buf_size(settings.max_header_size.max(8192));
        Protocol::Http1(builder.serve_connection(stream, Service::new(&self.connection)))
    }

    fn http2(&self, stream: Stream) -> Protocol {
        self.connection.is_h2.set(true);
        let shared = &self.connection.shared;
        let settings = &shared.settings;
        let mut builder = http2::Builder::new(shared.exec.clone());
        builder
            .max_concurrent_streams(settings.h2_streams)
            .max_pending_accept_reset_streams(settings.h2_reset_streams)
            .max_local_error_reset_streams(settings.h2_local_resets)
            .max_send_buf_size(settings.h2_send_buffer)
            .max_header_list_size(settings.h2_header_list)
            .initial_stream_window_size(256 << 10)
            .initial_connection_window_size(1 << 20);
        Protocol::Http2(Box::pin(builder.serve_connection(stream, Service::new(&self.connection))))
    }

    fn begin_drain(&mut self) {
        if self.is_draining || !self.connection.drains.get() {
            return;
        }
        self.is_draining = true;
        match &mut self.protocol {
            Protocol::Proxied(..) | Protocol::Handshaking(_) | Protocol::Unknown(..) => {
                self.protocol = Protocol::Closed
            }
            Protocol::Idle(_) => {
                self.resume();
                self.shut_down();
            }
            Protocol::Http1(_) => self.shut_down(),
            Protocol::Http2(http) => http.as_mut().graceful_shutdown(),
            Protocol::WebSocket(link) => link.web.close(GOING_AWAY, "The server stops"),
            Protocol::Lingering(_, rest) => {
                rest.hurries(&self.connection.shared);
                let since = self.connection.lingers_since().unwrap_or_default();
                self.connection.phase.set(Phase::Lingering(since, rest.due()));
            }
            Protocol::Finishing(_) | Protocol::Closed => {}
        }
    }

    /// Ends a connection of HTTP/1.1 when its request is answered, if it has one.
    fn shut_down(&mut self) {
        if let Protocol::Http1(http) = &mut self.protocol {
            Pin::new(http).graceful_shutdown();
        }
    }

    /// Drops the buffers of a connection that has been idle for long enough.
    fn lighten(&mut self, now: u64) {
        if !self.connection.is_heavy(now) {
            return;
        }
        self.connection.is_light.set(true); // whatever comes of it, this is not tried again and again
        if !matches!(self.protocol, Protocol::Http1(_)) {
            return;
        }
        let Protocol::Http1(http) = std::mem::replace(&mut self.protocol, Protocol::Closed) else { return };
        let http1::Parts { mut io, read_buf, .. } = http.into_parts();
        if read_buf.is_empty() {
            self.protocol = Protocol::Idle(io);
        } else {
            // It came together with the last request.
            self.connection.is_light.set(false);
            self.connection.has_read(read_buf.len());
            io.put_back(read_buf);
            self.protocol = self.http1(io);
            self.connection.wake();
        }
    }

    /// Gives an idle connection the buffers for the next request, or for its end.
    fn resume(&mut self) {
        if let Protocol::Idle(stream) = std::mem::replace(&mut self.protocol, Protocol::Closed) {
            self.connection.is_light.set(false);
            self.protocol = self.http1(stream);
        }
    }

    /// Ends what is sent. `is_whole`: nothing is missing, of which TLS assures the client.
    fn finish(&mut self, stream: Stream, is_whole: bool) {
        match stream {
            Stream::Plain(_) if !is_whole && self.connection.is_http10.get() => self.connection.breaks_off(),
            Stream::Plain(socket) => self.linger(socket),
            Stream::Tls(mut session) => {
                if is_whole {
                    session.close();
                }
                self.connection.phase.set(Phase::Busy); // as long as the client takes data
                self.protocol = Protocol::Finishing(session);
            }
        }
    }

    /// Tells the client of an idle connection that it is closed, if that can be done at once.
    fn take_leave(&mut self, cx: &mut Context<'_>) {
        let stream = match std::mem::replace(&mut self.protocol, Protocol::Closed) {
            Protocol::Http1(http) => http.into_parts().io,
            Protocol::Idle(stream) => stream,
            _ => return,
        };
        if let Stream::Tls(mut session) = stream {
            session.close();
            let _ = session.poll_flush(cx);
        }
    }

    /// Reads for a while what the client still sends, and drops it: otherwise the system would tell it that the connection is
    /// broken, before it has read the last response.
    fn linger(&mut self, socket: Socket) {
        socket.shutdown();
        let shared = &self.connection.shared;
        let rest = Rest::new(shared);
        self.connection.phase.set(Phase::Lingering(shared.now.get(), rest.due()));
        self.protocol = Protocol::Lingering(socket, rest);
        self.connection.shared.one_is_idle();
    }

    /// Does what can be done now. Ready: the connection is to be closed.
    fn work(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match &mut self.protocol {
                Protocol::Proxied(..) => {
                    if self.introduce(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
                Protocol::Handshaking(_) => {
                    if self.shake_hands(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
                Protocol::Unknown(..) => {
                    if self.detect(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
                Protocol::Idle(stream) => {
                    let mut first = [0; FIRST_READ];
                    let read = ready!(stream.poll_fill(cx, &mut first));
                    // An end, or an error, is found again.
                    stream.put_back(Bytes::copy_from_slice(&first[..read.unwrap_or(0)]));
                    self.resume();
                }
                Protocol::Http1(http) => {
                    let Poll::Ready(ended) = Pin::new(http).poll(cx) else { return Poll::Pending };
                    let protocol = std::mem::replace(&mut self.protocol, Protocol::Closed);
                    let Protocol::Http1(http) = protocol else { return Poll::Ready(()) };
                    let upgraded = self.connection.upgraded.borrow().clone();
                    let web = upgraded.and_then(|exchange| exchange.begins_websocket());
                    let is_whole = self.connection.is_shut.get();
                    if ended.is_ok() && web.is_none() && !is_whole {
                        // The client has asked for another protocol, and was answered with this one.
                        self.protocol = Protocol::Http1(http);
                        continue;
                    }
                    let parts = http.into_parts();
                    if let Some(web) = web {
                        web.begins(parts.read_buf);
                        self.protocol = Protocol::WebSocket(Link { stream: parts.io, web });
                        self.is_draining = false;
                        self.begin_drain();
                        continue;
                    }
                    match parts.io {
                        Stream::Tls(session) if is_whole => self.linger(session.into_socket()),
                        stream => self.finish(stream, is_whole),
                    }
                }
                Protocol::WebSocket(link) => {
                    if link.poll(cx).is_pending() {
                        if link.web.is_paused() && !link.web.has_ended() && self.connection.has_hung_up(cx) {
                            link.web.client_has_left();
                            continue;
                        }
                        return Poll::Pending;
                    }
                    let protocol = std::mem::replace(&mut self.protocol, Protocol::Closed);
                    if let Protocol::WebSocket(link) = protocol {
                        self.finish(link.stream, true);
                    }
                }
                Protocol::Finishing(session) => {
                    if session.poll_flush(cx).is_pending() {
                        return Poll::Pending;
                    }
                    let protocol = std::mem::replace(&mut self.protocol, Protocol::Closed);
                    if let Protocol::Finishing(session) = protocol {
                        self.linger(session.into_socket());
                    }
                }
                Protocol::Http2(http) => return http.as_mut().poll(cx).map(drop),
                Protocol::Lingering(socket, rest) => {
                    // The socket is closed with the task.
                    let shared = Rc::clone(&self.connection.shared);
                    let mut scratch = shared.scratch.borrow_mut();
                    match socket.poll_fill(cx, &mut scratch[..]) {
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(Ok(count)) if count > 0 && rest.comes(&shared, count) => {
                            let since = self.connection.lingers_since().unwrap_or_default();
                            self.connection.phase.set(Phase::Lingering(since, rest.due()));
                        }
                        Poll::Ready(_) => return Poll::Ready(()),
                    }
                }
                Protocol::Closed => return Poll::Ready(()),
            }
        }
    }
}

/// Returns the begin of a connection, which uses TLS if there are certificates.
fn begin(socket: Socket, tls: Option<&Tls>) -> Protocol {
    match tls {
        None => Protocol::Unknown(socket, [0; PREFACE.len()], 0),
        Some(tls) => Session::new(socket, tls.config())
            .map_or(Protocol::Closed, |session| Protocol::Handshaking(Box::new(session))),
    }
}

impl Task {
    /// Does what can be done now. Ready: the connection is to be closed.
    fn go_on(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let connection = Rc::clone(&self.connection);
        if self.work(cx).is_ready() || connection.is_killed.get() {
            return Poll::Ready(());
        }
        if connection.active.borrow().iter().any(|exchange| exchange.is_reading()) {
            let active = connection.active.borrow().clone();
            for exchange in active {
                exchange.pull(cx);
            }
        }
        Poll::Pending
    }
}

impl Future for Task {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let connection = Rc::clone(&this.connection);
        {
            let mut waker = connection.waker.borrow_mut();
            if waker.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
                *waker = Some(cx.waker().clone());
            }
        }
        connection.turn_begins();
        let now = connection.shared.now.get();
        let is_to_drain = connection.drains.get() && !this.is_draining;
        if is_to_drain || connection.has_limit_passed(now) {
            connection.has_unread();
            if this.go_on(cx).is_ready() {
                return Poll::Ready(()); // what has come is read before that is judged: all may have been held up
            }
        }
        if connection.makes_room.take() {
            if connection.lingers_since().is_some() {
                return Poll::Ready(());
            }
            if connection.idle_since().is_some() && !connection.has_unread() {
                this.take_leave(cx);
                return Poll::Ready(());
            }
            connection.shared.one_is_idle(); // which may be another one
        }
        if connection.check(now) {
            if connection.idle_since().is_some() {
                this.take_leave(cx);
            }
            if matches!(this.protocol, Protocol::Handshaking(_)) && !connection.is_killed.get() {
                let failed = &connection.shared.handshakes_failed;
                failed.set(failed.get() + 1);
            }
            return Poll::Ready(());
        }
        this.begin_drain();
        if this.go_on(cx).is_ready() {
            return Poll::Ready(());
        }
        if matches!(this.protocol, Protocol::Http1(_)) && connection.reads_nothing() && connection.has_hung_up(cx) {
            return Poll::Ready(());
        }
        this.lighten(now);
        connection.shared.limit_waiting();
        connection.reschedule();
        Poll::Pending
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let connection = &self.connection;
        let has_unsent = !connection.active.borrow().is_empty() || connection.blocked_since.get() > 0;
        if matches!(self.protocol, Protocol::Http1(_)) && has_unsent {
            connection.breaks_off();
        }
        self.protocol = Protocol::Closed; // hyper drops what is under way
        self.connection.ends();
    }
}

impl Connection {
    /// Returns the exchanges whose handlers run.
    pub fn handled(&self) -> Vec<Rc<Exchange>> {
        self.active.borrow().iter().filter(|exchange| exchange.is_handled()).cloned().collect()
    }

    /// Asks all handlers of the connection to end.
    pub fn cancel_all(&self, why: Why) {
        let active = self.active.borrow().clone();
        for exchange in active {
            exchange.cancel(why);
        }
    }
}
