//! The state of a connection: its client, its phase, and its time limits.

use crate::forwarded::Origin;
use crate::io::Hangup;
use crate::proxied::Source;
use crate::shared::Shared;
use crate::timer::{NEVER, Time, limit};
use crate::waiting::Waiting;
use bytes::Bytes;
use http::Version;
use http::request::Parts;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

/// The phase of a connection, which decides its time limit, and when it started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The head of a request is awaited; before that of the first one also the end of a handshake.
    Head(u64),
    /// Waiting for the next request.
    Idle(u64),
    /// Requests are being answered, which have time limits of their own.
    Busy,
    /// It is a WebSocket, whose client sent something at this time.
    Socket(u64),
    /// It is about to be closed.
    Closing(u64),
    /// All is sent, and what the client still sends is read, since the first time until the second one.
    Lingering(u64, u64),
}

/// How long a connection may take to close, in nanoseconds.
const CLOSING: u64 = 5_000_000_000;

/// How many bytes are read from a connection in one turn of its task, so that others get theirs however fast a client sends.
const READ_BUDGET: usize = 64 << 10;
/// What a read call costs besides its bytes, and what a send call costs: there may be an answer to every few bytes.
const READ_CALL: usize = 1024;
const SEND_CALL: usize = 256;

/// How long an HTTP/1.1 connection must be idle before its buffers are released, in nanoseconds: they are most of its memory, and
/// are allocated again for the next request.
const RELEASE_AFTER: u64 = 1_000_000_000;
/// If more connections than this have buffers, they are released immediately.
const MANY_BUFFERED: usize = 1024;
/// The listener of a connection.
pub struct Local {
    /// The address of their listener.
    pub address: String,
    /// They use TLS.
    pub is_tls: bool,
    /// They begin with a header of the PROXY protocol.
    pub is_proxied: bool,
}

impl Local {
    /// Returns the scheme of URLs with this address.
    pub fn scheme(&self) -> &'static str {
        if self.is_tls { "https" } else { "http" }
    }
}

/// The state of a connection.
pub struct Connection {
    shared: Rc<Shared>,
    client: String,
    port: u16,
    /// The client, if a proxy has told it; and whether the proxy does not know it.
    proxied: OnceCell<(String, u16)>,
    is_unknown: Cell<bool>,
    local: Rc<Local>,
    pub phase: Cell<Phase>,
    pub is_h2: Cell<bool>,
    /// Data was read while a request was being answered: it may be the start of the next one.
    pub has_more_input: Cell<bool>,
    /// How many requests are not over.
    pub active: Cell<usize>,
    /// The time at which the task will be woken.
    scheduled: Cell<Option<Time>>,
    pub waker: RefCell<Option<Waker>>,
    /// It is to be closed immediately.
    pub is_aborted: Cell<bool>,
    /// It is to be closed if it is still idle, to make room for another one.
    pub close_if_idle: Cell<bool>,
    /// It has had a request.
    is_used: Cell<bool>,
    /// It is to be closed when its requests are answered.
    pub should_drain: Cell<bool>,
    /// Until then it may still begin a request when it is to be closed; 0 if it may not.
    pub waits_until: Cell<u64>,
    /// Since when the client has taken no data; 0 if it takes them.
    pub blocked_since: Cell<u64>,
    /// When the client has last taken data, or when the first came that waits for it.
    taken_at: Cell<u64>,
    /// The bytes of responses that wait for the client.
    waiting: OnceCell<Arc<Waiting>>,
    /// Watches for unread data, and for the client leaving while its data is not read.
    pub hangup: RefCell<Option<Hangup>>,
    /// A ping was sent since the client has sent something.
    pub is_pinged: Cell<bool>,
    /// The last request is one of HTTP/1.0, whose response may have no end but that of the connection.
    pub is_http10: Cell<bool>,
    /// Everything was sent, and the sending side was shut down.
    pub is_shut: Cell<bool>,
    /// How much may still be read in this turn of its task.
    read_budget: Cell<usize>,
    /// The last request was received completely, so that what follows is the start of another one.
    is_body_received: Cell<bool>,
    /// It is idle, and its buffers were released.
    pub has_no_buffers: Cell<bool>,
}

impl Connection {
    /// Returns the state of a connection that was accepted.
    pub fn new(shared: Rc<Shared>, client: String, port: u16, local: Rc<Local>) -> Rc<Connection> {
        let now = shared.event_loop.now.get();
        Rc::new(Connection {
            client,
            port,
            proxied: OnceCell::new(),
            is_unknown: Cell::new(false),
            local,
            phase: Cell::new(Phase::Head(now)),
            is_h2: Cell::new(false),
            has_more_input: Cell::new(false),
            active: Cell::new(0),
            scheduled: Cell::new(None),
            waker: RefCell::default(),
            is_aborted: Cell::new(false),
            close_if_idle: Cell::new(false),
            is_used: Cell::new(false),
            should_drain: Cell::new(false),
            waits_until: Cell::new(0),
            blocked_since: Cell::new(0),
            taken_at: Cell::new(0),
            waiting: OnceCell::new(),
            hangup: RefCell::default(),
            is_pinged: Cell::new(false),
            is_http10: Cell::new(false),
            is_shut: Cell::new(false),
            read_budget: Cell::new(0),
            is_body_received: Cell::new(false),
            has_no_buffers: Cell::new(false),
            shared,
        })
    }

    pub fn client(&self) -> (&str, u16) {
        self.proxied.get().map_or((&self.client, self.port), |(client, port)| (client, *port))
    }

    /// Returns `true` if the client is known. Otherwise it may be anyone, and is not the proxy whose address stands for it.
    pub fn is_known(&self) -> bool {
        !self.is_unknown.get()
    }

    /// A proxy has told whose connection it is.
    pub fn set_source(&self, source: Source) {
        match source {
            Source::Client(address, port) => {
                let _ = self.proxied.set((address.to_canonical().to_string(), port));
            }
            Source::Unknown => self.is_unknown.set(true),
            Source::Proxy => {}
        }
    }

    /// Returns the client of a request, as a trusted proxy names it, or else that of the connection.
    pub fn client_of<'a>(&'a self, origin: Option<&'a Origin>) -> (&'a str, u16) {
        match origin {
            // The trusted proxy's own request: its port is known.
            Some(Origin { client: (address, 0), .. }) if *address == self.client().0 => self.client(),
            Some(Origin { client: (address, port), .. }) => (address, *port),
            None => self.client(),
        }
    }

    /// Returns the number of this process among those that serve; 0 if it has none.
    pub fn worker(&self) -> u32 {
        self.shared.settings.worker
    }

    /// Returns the scheme that the client of a request uses.
    pub fn scheme_of(&self, origin: Option<&Origin>) -> &'static str {
        origin.and_then(|origin| origin.scheme).unwrap_or(self.local.scheme())
    }

    /// Returns its listener.
    pub fn local(&self) -> &Local {
        &self.local
    }

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

    /// Aborts the connection.
    pub fn abort(&self) {
        self.is_aborted.set(true);
        self.wake();
    }

    /// Closes the connection, unless a request comes before.
    pub fn close_if_idle(&self) {
        self.close_if_idle.set(true);
        self.wake();
    }

    /// Returns `true` if there is unread data. The next read takes it.
    pub fn has_unread(&self) -> bool {
        self.hangup.borrow().as_ref().is_some_and(Hangup::has_unread)
    }

    /// Aborts the connection, unless it is shared by other requests.
    pub fn abort_unless_h2(&self) {
        if !self.is_h2.get() {
            self.abort();
        }
    }

    /// Closes the connection when its requests are answered, also one that begins before this time, or, if it would be its first one,
    /// before the other time.
    pub fn drain(&self, until: u64, until_first: u64) {
        let until = if self.is_used.get() { until } else { until_first };
        let is_first = !self.should_drain.replace(true);
        self.waits_until.set(if is_first { until } else { self.waits_until.get().min(until) });
        self.wake();
    }

    /// Aborts the connection, unless a request of it is being answered, or its client takes the rest of a response.
    pub fn abort_if_silent(&self) {
        let waits = matches!(self.phase.get(), Phase::Head(_) | Phase::Idle(_) | Phase::Closing(_));
        if waits && self.active.get() == 0 && self.blocked_since.get() == 0 {
            self.abort();
        }
    }

    /// The socket is about to be closed.
    pub fn socket_closed(&self) {
        self.hangup.take();
    }

    /// Everything was sent, and the sending side was shut down.
    pub fn set_shut_down(&self) {
        self.is_shut.set(true);
    }

    /// Returns since when it has been idle. It is not while the end of a response still waits for its client.
    pub fn idle_since(&self) -> Option<u64> {
        match self.phase.get() {
            Phase::Idle(since) if self.blocked_since.get() == 0 => Some(since),
            _ => None,
        }
    }

    /// Returns since when it has been lingering: the response was sent, and what the client still sends is discarded.
    pub fn lingers_since(&self) -> Option<u64> {
        if let Phase::Lingering(since, _) = self.phase.get() { Some(since) } else { None }
    }

    /// The connection is closed before a response is complete. An HTTP/1.0 client that was given no length takes the close for the
    /// end of the response, unless the connection is reset.
    pub fn reset_on_close(&self) {
        if self.is_http10.get()
            && let Some(hangup) = &*self.hangup.borrow()
        {
            hangup.reset_on_close();
        }
    }

    /// Resets the read budget for a turn of its task. A whole head fits in it.
    pub fn begin_turn(&self) {
        self.read_budget.set(READ_BUDGET.max(self.shared.settings.max_header_size));
    }

    /// Returns `true` if more may be read in this turn.
    pub fn has_read_budget(&self) -> bool {
        self.read_budget.get() > 0
    }

    /// Counts a call that has read `count` bytes.
    pub fn spend_read(&self, count: usize) {
        self.read_budget.set(self.read_budget.get().saturating_sub(count + READ_CALL));
    }

    /// Counts a call that sends.
    pub fn spend_write(&self) {
        self.read_budget.set(self.read_budget.get().saturating_sub(SEND_CALL));
    }

    /// Bytes were read.
    pub fn on_read(&self, count: usize) {
        if count == 0 || self.is_h2.get() {
            return;
        }
        match self.phase.get() {
            Phase::Idle(_) => {
                self.phase.set(Phase::Head(self.shared.event_loop.now.get()));
                self.schedule_timeout(self.shared.settings.header_timeout);
            }
            Phase::Busy => self.has_more_input.set(true),
            Phase::Socket(_) => {
                self.phase.set(Phase::Socket(self.shared.event_loop.now.get()));
                self.is_pinged.set(false);
            }
            Phase::Head(_) | Phase::Closing(_) | Phase::Lingering(..) => {}
        }
    }

    /// The client does not take data.
    pub fn on_write_blocked(&self) {
        if self.blocked_since.get() == 0 {
            self.blocked_since.set(self.shared.event_loop.now.get().max(1));
            self.schedule_timeout(self.shared.settings.write_timeout);
        }
    }

    /// Counts bytes of a response while they wait to be sent.
    pub fn track(&self, bytes: Bytes) -> Bytes {
        if bytes.is_empty() {
            return bytes;
        }
        let waiting = self.waiting.get_or_init(|| Waiting::new(&self.shared.waiting));
        if waiting.bytes() == 0 {
            self.taken_at.set(self.shared.event_loop.now.get());
        }
        waiting.count(bytes)
    }

    /// Returns the bytes that wait, times the time for which the client has taken none; 0 if that time is less than `least`.
    pub fn backlog(&self, now: u64, least: u64) -> u128 {
        let bytes = self.waiting.get().map_or(0, |waiting| waiting.bytes());
        let time = now.saturating_sub(self.taken_at.get());
        if time < least { 0 } else { bytes as u128 * (u128::from(time) + 1) }
    }

    /// Aborts the connection, because its client takes too little of what waits for it.
    pub fn abort_slow_client(&self) {
        if let Some(waiting) = self.waiting.get() {
            waiting.detach();
        }
        self.abort();
    }

    /// The client has taken data.
    pub fn on_write(&self) {
        self.taken_at.set(self.shared.event_loop.now.get());
        if self.blocked_since.replace(0) > 0
            && let Phase::Idle(_) = self.phase.get()
        {
            self.set_idle();
            self.schedule(self.deadline());
        }
    }

    /// A request was received.
    pub fn start_exchange(&self, version: Version) {
        self.phase.set(Phase::Busy);
        self.is_used.set(true);
        self.has_more_input.set(false);
        self.is_http10.set(version == Version::HTTP_10);
        self.active.set(self.active.get() + 1);
    }

    /// A handler has made the connection a WebSocket: that begins when hyper has sent the answer.
    pub fn set_upgraded(&self) {
        self.phase.set(Phase::Socket(self.shared.event_loop.now.get()));
    }

    /// The WebSocket is to be closed, for which the client has this much time.
    pub fn start_closing(&self) {
        if let Phase::Socket(_) = self.phase.get() {
            self.phase.set(Phase::Closing(self.shared.event_loop.now.get()));
            self.schedule_timeout(CLOSING);
        }
    }

    /// The last request is finished. A new connection may take the place of one that is idle.
    fn set_idle(&self) {
        self.phase.set(Phase::Idle(self.shared.event_loop.now.get()));
        self.shared.notify_accept();
    }

    /// A request was received, and refused without a handler.
    pub fn request_refused(&self) {
        if self.active.get() == 0 {
            self.is_body_received.set(false);
            self.set_idle();
        }
    }

    /// Called when a request has ended. `is_received`: its body was read to its end.
    pub fn finish_exchange(&self, is_received: bool) {
        self.is_body_received.set(is_received);
        let left = self.active.get().saturating_sub(1);
        self.active.set(left);
        if left == 0 && self.phase.get() == Phase::Busy {
            let settings = &self.shared.settings;
            if self.has_more_input.take() {
                self.phase.set(Phase::Head(self.shared.event_loop.now.get()));
                self.schedule_timeout(settings.header_timeout);
            } else {
                self.set_idle();
                let releases_first =
                    self.can_release_buffers() && (settings.keep_alive == 0 || settings.keep_alive > RELEASE_AFTER);
                self.schedule_timeout(if releases_first { RELEASE_AFTER } else { settings.keep_alive });
            }
        }
    }

    pub fn can_release_buffers(&self) -> bool {
        self.is_body_received.get() && !self.has_no_buffers.get() && !self.is_h2.get()
    }

    /// Returns `true` if it has been idle for long enough to release its buffers.
    pub fn should_release_buffers(&self, now: u64) -> bool {
        let time = if self.shared.services.get() > MANY_BUFFERED { 0 } else { RELEASE_AFTER };
        self.can_release_buffers() && self.idle_since().is_some_and(|since| now >= since.saturating_add(time))
    }

    /// Returns when its own next limit passes, not counting those of requests; `NEVER` if it has none.
    pub fn deadline(&self) -> u64 {
        let settings = &self.shared.settings;
        let phase = match self.phase.get() {
            Phase::Head(since) => limit(since, settings.header_timeout),
            Phase::Idle(since) if self.blocked_since.get() == 0 => {
                let light = if self.can_release_buffers() { limit(since, RELEASE_AFTER) } else { NEVER };
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
        let waits = match self.waits_until.get() {
            0 => NEVER,
            until => until,
        };
        phase.min(blocked).min(waits)
    }

    /// Has the task woken when a limit of this length, which starts now, has passed; 0 is no limit. Earlier limits are scheduled
    /// already.
    pub fn schedule_timeout(&self, time: u64) {
        self.schedule(limit(self.shared.event_loop.now.get(), time));
    }

    pub fn schedule(&self, due: u64) {
        let scheduled = self.scheduled.get();
        if due == NEVER || scheduled.is_some_and(|time| time.at <= due) {
            return; // limits are checked then
        }
        if let Some(waker) = self.waker() {
            self.unschedule();
            self.scheduled.set(Some(self.shared.event_loop.timers.add(due, waker)));
        }
    }

    pub fn unschedule(&self) {
        if let Some(time) = self.scheduled.take() {
            self.shared.event_loop.timers.remove(time);
        }
    }

    /// Returns `true` if the scheduled time has passed.
    pub fn is_schedule_due(&self, now: u64) -> bool {
        self.scheduled.get().is_some_and(|time| time.at <= now)
    }

    /// Handles its limits that have passed, except those of requests and WebSockets. Returns `true` if it is to be closed
    /// immediately.
    pub fn check_timeouts(&self, now: u64) -> bool {
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
                self.should_drain.set(true);
                self.phase.set(Phase::Closing(now));
            }
            _ => {}
        }
        self.blocked_since.get() > 0 && is_over(self.blocked_since.get(), settings.write_timeout)
    }

    /// Returns `true` if its task is woken when there is something to read.
    pub fn awaits_input(&self) -> bool {
        self.hangup.borrow().as_ref().is_some_and(Hangup::is_read_awaited)
    }

    /// Returns `true` if the client has closed the connection.
    pub fn is_hung_up(&self, cx: &mut Context<'_>) -> bool {
        self.hangup.borrow().as_ref().is_some_and(|hangup| hangup.poll(cx).is_ready())
    }

    /// The connection is closed.
    pub fn close(&self) {
        self.waker.take();
        self.unschedule();
        if let Some(waiting) = self.waiting.get() {
            waiting.detach();
        }
    }

    /// Returns the client of a request as trusted proxies name it, if the request comes from one.
    pub fn origin(&self, head: &Parts) -> Option<Box<Origin>> {
        let proxies = &self.shared.settings.proxies;
        if proxies.are_none() || !self.is_known() {
            return None;
        }
        proxies.origin(self.client().0, &head.headers).map(Box::new)
    }
}
