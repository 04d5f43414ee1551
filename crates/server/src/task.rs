//! The task of a connection: it detects the protocol, drives hyper's state machine for it, and enforces time limits.

use crate::conn::{Connection, Phase};
use crate::discard::Budget;
use crate::dispatch::Dispatcher;
use crate::exchange::Exchange;
use crate::exec::Executor;
use crate::io::Socket;
use crate::link::Link;
use crate::proxied::{self, Parsed};
use crate::service::{Active, Service};
use crate::shared::Shared;
use crate::stream::{HandshakeError, Session, Stream};
use crate::tls::Tls;
use bytes::Bytes;
use hyper::server::conn::{http1, http2};
use std::future::Future;
use std::io::IoSlice;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// How much of the next request is read before an idle connection gets buffers again.
const FIRST_READ: usize = 1024;

/// The code with which WebSockets are closed when the server stops.
const GOING_AWAY: u16 = 1001;

/// What client code of HTTP/2 sends first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The answer to a client that speaks HTTP where TLS is spoken.
const NOT_HTTPS: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 36\r\n\
    Connection: close\r\n\r\nUse https:// for this host and port\n";

#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each connection, and it is almost always the large one"
)]
enum Protocol {
    /// The header of a proxy, as far as it was received; the protocol of the listener follows.
    Proxied(Socket, Vec<u8>, Option<Rc<Tls>>),
    /// The handshake of TLS, after which the protocol is known.
    Handshaking(Box<Session>),
    /// This many bytes of the HTTP/2 preface were received.
    Unknown(Socket, [u8; PREFACE.len()], usize),
    Http1(http1::Connection<Stream, Service>),
    /// HTTP/1.1 between requests, without buffers.
    Idle(Stream),
    Http2(Pin<Box<http2::Connection<Stream, Service, Executor>>>),
    WebSocket(Link),
    /// What was encrypted is sent before the socket is shut down.
    Finishing(Box<Session>),
    /// What the client still sends is read and dropped.
    Lingering(Socket, Budget),
    Closed,
}

/// The task of a connection.
pub struct Task {
    dispatcher: Rc<Dispatcher>,
    connection: Rc<Connection>,
    /// The number of the connection.
    id: usize,
    active: Active,
    protocol: Protocol,
    is_draining: bool,
}

impl Task {
    /// Returns the task of a connection, which uses TLS if there are certificates.
    pub fn new(dispatcher: Rc<Dispatcher>, connection: Rc<Connection>, socket: Socket, tls: Option<Rc<Tls>>) -> Task {
        let id = dispatcher.connections.add(&connection);
        *connection.hangup.borrow_mut() = Some(socket.hangup());
        let protocol = if !connection.local().is_proxied {
            initial_protocol(socket, tls.as_deref())
        } else if dispatcher.shared.settings.proxies.trusts(connection.client().0) {
            Protocol::Proxied(socket, Vec::new(), tls)
        } else {
            Protocol::Closed
        };
        Task { dispatcher, connection, id, active: Active::default(), protocol, is_draining: false }
    }

    fn shared(&self) -> &Rc<Shared> {
        &self.dispatcher.shared
    }

    /// Reads the header of a proxy. Ready: the client is known, or it is not such a header.
    fn poll_proxy_header(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Protocol::Proxied(socket, start, _) = &mut self.protocol else { return Poll::Ready(()) };
        let (source, length) = loop {
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
                Parsed::Partial => {}
                Parsed::Header(source, length) => break (source, length),
                Parsed::Malformed => {
                    self.protocol = Protocol::Closed;
                    return Poll::Ready(());
                }
            }
        };
        self.connection.set_source(source);
        if let Protocol::Proxied(socket, start, tls) = std::mem::replace(&mut self.protocol, Protocol::Closed) {
            socket.put_back(Bytes::copy_from_slice(&start[length..]));
            self.protocol = initial_protocol(socket, tls.as_deref());
        }
        Poll::Ready(())
    }

    /// Continues the TLS handshake. Ready: it is complete, or has failed.
    fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Protocol::Handshaking(session) = &mut self.protocol else { return Poll::Ready(()) };
        let ended = ready!(session.poll_handshake(cx));
        let Protocol::Handshaking(session) = std::mem::replace(&mut self.protocol, Protocol::Closed) else {
            return Poll::Ready(());
        };
        let shared = self.shared();
        let now = shared.event_loop.now.get();
        if ended.is_err() {
            shared.handshakes_failed.set(shared.handshakes_failed.get() + 1);
        }
        match ended {
            Ok(()) => {
                let is_h2 = session.is_h2();
                let stream = Stream::Tls(session);
                self.protocol = if is_h2 { self.http2(stream) } else { self.http1(stream) };
            }
            Err(HandshakeError::PlainHttp) => {
                let socket = session.into_socket();
                let _ = socket.poll_send(cx, &[IoSlice::new(NOT_HTTPS.as_bytes())]); // there is room for it
                self.linger(socket);
            }
            Err(HandshakeError::Refused) => {
                self.connection.phase.set(Phase::Closing(now));
                self.protocol = Protocol::Finishing(session);
            }
            Err(HandshakeError::Gone) => {}
        }
        Poll::Ready(())
    }

    /// Reads until the client's protocol is known.
    fn poll_preface(&mut self, cx: &mut Context<'_>) -> Poll<()> {
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
        let settings = &self.shared().settings;
        let mut builder = http1::Builder::new();
        builder
            .half_close(false)
            .keep_alive(true)
            .max_headers(settings.max_headers)
            .max_buf_size(settings.max_header_size.max(8192));
        Protocol::Http1(
            builder.serve_connection(stream, Service::new(&self.dispatcher, &self.connection, &self.active)),
        )
    }

    fn http2(&self, stream: Stream) -> Protocol {
        self.connection.is_h2.set(true);
        let shared = self.shared();
        let settings = &shared.settings;
        let mut builder = http2::Builder::new(shared.event_loop.exec.clone());
        builder
            .max_concurrent_streams(settings.h2_streams)
            .max_pending_accept_reset_streams(settings.h2_reset_streams)
            .max_local_error_reset_streams(settings.h2_local_resets)
            .max_send_buf_size(settings.h2_send_buffer)
            .max_header_list_size(settings.h2_header_list)
            .initial_stream_window_size(256 << 10)
            .initial_connection_window_size(1 << 20);
        Protocol::Http2(Box::pin(
            builder.serve_connection(stream, Service::new(&self.dispatcher, &self.connection, &self.active)),
        ))
    }

    /// Returns `true` if it is time for a request to begin, before the connection is closed: one that the client may have sent already
    /// would be lost.
    fn waits_for_request(&self) -> bool {
        let connection = &self.connection;
        self.shared().event_loop.now.get() < connection.waits_until.get()
            && match &self.protocol {
                Protocol::Proxied(..) | Protocol::Handshaking(_) | Protocol::Unknown(..) | Protocol::Idle(_) => true,
                Protocol::Http1(_) => matches!(connection.phase.get(), Phase::Head(_) | Phase::Idle(_)),
                _ => false,
            }
    }

    fn graceful_shutdown(&mut self) {
        if self.is_draining || !self.connection.should_drain.get() || self.waits_for_request() {
            return;
        }
        self.connection.waits_until.set(0);
        self.is_draining = true;
        match &mut self.protocol {
            Protocol::Proxied(..) | Protocol::Handshaking(_) | Protocol::Unknown(..) => {
                self.protocol = Protocol::Closed
            }
            Protocol::Idle(_) => {
                self.resume();
                self.shut_down_http1();
            }
            Protocol::Http1(_) => self.shut_down_http1(),
            Protocol::Http2(http) => http.as_mut().graceful_shutdown(),
            Protocol::WebSocket(link) => link.web.close(GOING_AWAY, "The server stops"),
            Protocol::Lingering(_, rest) => {
                rest.shorten(&self.dispatcher.shared);
                let since = self.connection.lingers_since().unwrap_or_default();
                self.connection.phase.set(Phase::Lingering(since, rest.deadline()));
            }
            Protocol::Finishing(_) | Protocol::Closed => {}
        }
    }

    /// Closes an HTTP/1.1 connection when its request is answered.
    fn shut_down_http1(&mut self) {
        if let Protocol::Http1(http) = &mut self.protocol {
            Pin::new(http).graceful_shutdown();
        }
    }

    /// Releases the buffers of a connection that has been idle for long enough.
    fn release_buffers(&mut self, now: u64) {
        if !self.connection.should_release_buffers(now) {
            return;
        }
        self.connection.has_no_buffers.set(true); // also if it fails, so that it is not retried on each poll
        if !matches!(self.protocol, Protocol::Http1(_)) {
            return;
        }
        let Protocol::Http1(http) = std::mem::replace(&mut self.protocol, Protocol::Closed) else { return };
        let http1::Parts { mut io, read_buf, .. } = http.into_parts();
        if read_buf.is_empty() {
            self.protocol = Protocol::Idle(io);
        } else {
            // It came together with the last request.
            self.connection.has_no_buffers.set(false);
            self.connection.on_read(read_buf.len());
            io.put_back(read_buf);
            self.protocol = self.http1(io);
            self.connection.wake();
        }
    }

    /// Gives an idle connection buffers again, for the next request or the end of the connection.
    fn resume(&mut self) {
        if let Protocol::Idle(stream) = std::mem::replace(&mut self.protocol, Protocol::Closed) {
            self.connection.has_no_buffers.set(false);
            self.protocol = self.http1(stream);
        }
    }

    /// Ends the sending side. `is_whole`: nothing is missing, which TLS confirms to the client.
    fn finish(&mut self, stream: Stream, is_whole: bool) {
        match stream {
            Stream::Plain(_) if !is_whole && self.connection.is_http10.get() => self.connection.reset_on_close(),
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

    /// Sends `close_notify` on an idle connection, if that does not block.
    fn send_close_notify(&mut self, cx: &mut Context<'_>) {
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

    /// Discards what the client still sends for a while: otherwise the kernel would reset the connection, and the client might lose
    /// the last response.
    fn linger(&mut self, socket: Socket) {
        socket.shutdown();
        let shared = self.shared();
        let rest = Budget::new(shared);
        self.connection.phase.set(Phase::Lingering(shared.event_loop.now.get(), rest.deadline()));
        self.protocol = Protocol::Lingering(socket, rest);
        self.shared().notify_accept();
    }

    /// Makes progress without blocking. Ready: the connection is to be closed.
    fn poll_protocol(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match &mut self.protocol {
                Protocol::Proxied(..) => {
                    if self.poll_proxy_header(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
                Protocol::Handshaking(_) => {
                    if self.poll_handshake(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
                Protocol::Unknown(..) => {
                    if self.poll_preface(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
                Protocol::Idle(stream) => {
                    let mut first = [0; FIRST_READ];
                    let read = ready!(stream.poll_fill(cx, &mut first));
                    // An end, or an error, will be seen again.
                    stream.put_back(Bytes::copy_from_slice(&first[..read.unwrap_or(0)]));
                    self.resume();
                }
                Protocol::Http1(http) => {
                    let Poll::Ready(ended) = Pin::new(http).poll(cx) else { return Poll::Pending };
                    let protocol = std::mem::replace(&mut self.protocol, Protocol::Closed);
                    let Protocol::Http1(http) = protocol else { return Poll::Ready(()) };
                    let web = self.active.borrow().iter().find_map(|exchange| exchange.upgraded_websocket());
                    let is_whole = self.connection.is_shut.get();
                    if ended.is_ok() && web.is_none() && !is_whole {
                        // The client has asked for another protocol, and was answered with this one.
                        self.protocol = Protocol::Http1(http);
                        continue;
                    }
                    let parts = http.into_parts();
                    if let Some(web) = web {
                        web.start(parts.read_buf);
                        self.protocol = Protocol::WebSocket(Link { stream: parts.io, web });
                        self.is_draining = false;
                        self.graceful_shutdown();
                        continue;
                    }
                    match parts.io {
                        Stream::Tls(session) if is_whole => self.linger(session.into_socket()),
                        stream => self.finish(stream, is_whole),
                    }
                }
                Protocol::WebSocket(link) => {
                    if link.poll(cx).is_pending() {
                        if link.web.is_paused() && !link.web.is_ended() && self.connection.is_hung_up(cx) {
                            link.web.hang_up();
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
                    let shared = Rc::clone(&self.dispatcher.shared);
                    let mut scratch = shared.event_loop.scratch.borrow_mut();
                    match socket.poll_fill(cx, &mut scratch[..]) {
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(Ok(count)) if count > 0 && rest.spend(&shared, count) => {
                            let since = self.connection.lingers_since().unwrap_or_default();
                            self.connection.phase.set(Phase::Lingering(since, rest.deadline()));
                        }
                        Poll::Ready(_) => return Poll::Ready(()),
                    }
                }
                Protocol::Closed => return Poll::Ready(()),
            }
        }
    }
}

/// Returns the first state of a connection, which uses TLS if there are certificates.
fn initial_protocol(socket: Socket, tls: Option<&Tls>) -> Protocol {
    match tls {
        None => Protocol::Unknown(socket, [0; PREFACE.len()], 0),
        Some(tls) => Session::new(socket, tls.config())
            .map_or(Protocol::Closed, |session| Protocol::Handshaking(Box::new(session))),
    }
}

impl Task {
    /// Makes progress without blocking. Ready: the connection is to be closed.
    fn poll_work(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.poll_protocol(cx).is_ready() || self.connection.is_aborted.get() {
            return Poll::Ready(());
        }
        self.drop_finished();
        if self.active.borrow().iter().any(|exchange| exchange.is_reading()) {
            let active = self.active.borrow().clone();
            for exchange in active {
                exchange.poll_read_ahead(cx);
            }
        }
        Poll::Pending
    }

    /// Drops the exchanges that have ended. One that has become a WebSocket stays as long as its connection.
    fn drop_finished(&self) {
        self.active.borrow_mut().retain(|exchange| !exchange.is_over() || exchange.websocket().is_some());
    }

    /// Has the task woken when the next limit passes.
    fn reschedule(&self) {
        let due = self.connection.deadline();
        self.connection.schedule(self.active.borrow().iter().fold(due, |due, exchange| due.min(exchange.deadline())));
    }

    /// Returns `true` if a limit has passed.
    fn has_timed_out(&self, now: u64) -> bool {
        let is_due = |exchange: &Rc<Exchange>| exchange.deadline() <= now;
        self.connection.is_schedule_due(now)
            && (self.connection.deadline() <= now || self.active.borrow().iter().any(is_due))
    }

    /// Handles limits that have passed. Returns `true` if the connection is to be closed immediately.
    fn check_timeouts(&self, now: u64) -> bool {
        if self.connection.is_schedule_due(now) {
            self.connection.unschedule();
        }
        if self.connection.check_timeouts(now) || self.check_ping(now) {
            return true;
        }
        if self.active.borrow().iter().any(|exchange| exchange.is_due(now)) {
            let active = self.active.borrow().clone();
            for exchange in active {
                exchange.check_timeouts(now);
                exchange.check_body_rate(now);
            }
        }
        self.connection.is_aborted.get()
    }

    /// Pings the client of a WebSocket that has been silent for a while. Returns `true` if it does not answer for as long again.
    fn check_ping(&self, now: u64) -> bool {
        let connection = &self.connection;
        let ping = self.shared().settings.websocket_ping;
        let Phase::Socket(since) = connection.phase.get() else { return false };
        if ping == 0 || now < since.saturating_add(ping) {
            return false;
        }
        let Some(web) = self.active.borrow().iter().find_map(|exchange| exchange.websocket()) else { return true };
        if web.is_paused() {
            // Its answer would not be read. But if the client is gone, the network says so when something is sent.
            if web.is_flushed() {
                web.ping(Bytes::new());
            }
            connection.phase.set(Phase::Socket(now));
            connection.is_pinged.set(false);
        } else if connection.is_pinged.get() {
            return now >= since.saturating_add(ping.saturating_mul(2));
        } else {
            web.ping(Bytes::new());
            connection.is_pinged.set(true);
        }
        false
    }

    /// Returns `true` if a request is being answered, and hyper does not read what the client sends meanwhile: the rest of the
    /// request's body, or what follows the start of the next request that it has. So it does not see its end.
    fn ignores_input(&self) -> bool {
        let active = self.active.borrow();
        let first = active.iter().find(|exchange| !exchange.is_over());
        first.is_some_and(|exchange| {
            !exchange.is_reading() && (exchange.has_unread_body() || !self.connection.awaits_input())
        })
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
        connection.begin_turn();
        this.drop_finished();
        let now = this.shared().event_loop.now.get();
        let is_to_drain = connection.should_drain.get() && !this.is_draining;
        if is_to_drain || this.has_timed_out(now) {
            connection.has_unread();
            if this.poll_work(cx).is_ready() {
                return Poll::Ready(()); // data that arrived in time counts, even if this task was delayed
            }
        }
        if connection.close_if_idle.take() {
            if connection.lingers_since().is_some() {
                return Poll::Ready(());
            }
            if connection.idle_since().is_some() && !connection.has_unread() {
                this.send_close_notify(cx);
                return Poll::Ready(());
            }
            this.shared().notify_accept(); // another one may make room
        }
        if this.check_timeouts(now) {
            if connection.idle_since().is_some() {
                this.send_close_notify(cx);
            }
            if matches!(this.protocol, Protocol::Handshaking(_)) && !connection.is_aborted.get() {
                let failed = &this.shared().handshakes_failed;
                failed.set(failed.get() + 1);
            }
            return Poll::Ready(());
        }
        this.graceful_shutdown();
        if this.poll_work(cx).is_ready() {
            return Poll::Ready(());
        }
        if matches!(this.protocol, Protocol::Http1(_)) && this.ignores_input() && connection.is_hung_up(cx) {
            return Poll::Ready(());
        }
        this.release_buffers(now);
        this.dispatcher.connections.enforce_max_buffered();
        this.reschedule();
        Poll::Pending
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let connection = &self.connection;
        let has_unsent = connection.active.get() > 0 || connection.blocked_since.get() > 0;
        if matches!(self.protocol, Protocol::Http1(_)) && has_unsent {
            connection.reset_on_close();
        }
        self.protocol = Protocol::Closed; // hyper drops what is in progress
        for exchange in self.active.take() {
            exchange.disconnect();
        }
        self.connection.close();
        self.dispatcher.connections.remove(self.id);
    }
}
