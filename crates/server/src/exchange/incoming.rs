//! The body of a request: what its handler reads, what is read before the response or dropped after it, and how slowly it may come.

use super::{Exchange, Incoming, Reason, has_surrounding_space};
use crate::discard::Discard;
use crate::encoding::has_word;
use crate::response::{copy_version, declared_length};
use http::header::{self, HeaderMap, HeaderValue};
use http::{StatusCode, Version};
use http_body::Body as _;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// How much of a body is read before the response is sent, and in how many pieces. It delays the response by a turn of the
/// connection for each.
const DRAIN_BYTES: usize = 64 << 10;
const DRAIN_PIECES: u8 = 16;

/// The size up to which a body takes no more memory than a request does anyway.
const SMALL: u64 = 16 << 10;

impl Exchange {
    /// Returns the headers that have followed the body of the request, when that was read.
    pub fn request_trailers(&self) -> Option<HeaderMap> {
        self.request_trailers.borrow().clone()
    }

    /// Reads the next piece of the body. After [`Incoming::Pending`] it is to be called again at [`Handler::wake`](crate::Handler::wake).
    pub fn read(&self) -> Incoming {
        let read_ahead = self.read_ahead.take();
        let read = match read_ahead {
            Some(read_ahead) => read_ahead,
            None => {
                if self.incoming.borrow().is_none() {
                    return if self.is_received.get() { Incoming::End } else { Incoming::Failed };
                }
                self.is_body_requested.set(true);
                let Some(waker) = self.connection.waker() else { return Incoming::Failed };
                self.poll_body(&mut Context::from_waker(&waker))
            }
        };
        match &read {
            Incoming::Pending => {
                if self.reads_since.get() == 0 {
                    self.reads_since.set(self.shared().event_loop.driver.now().max(1));
                    self.connection.schedule_timeout(self.shared().settings.body_timeout);
                }
            }
            Incoming::TooLarge | Incoming::Malformed | Incoming::Failed => {
                self.stop_reading();
                // The next call finds the same.
                *self.read_ahead.borrow_mut() = Some(match read {
                    Incoming::TooLarge => Incoming::TooLarge,
                    Incoming::Malformed => Incoming::Malformed,
                    _ => Incoming::Failed,
                });
            }
            Incoming::Data(_) | Incoming::End => self.stop_reading(),
        }
        self.dispatcher.notify();
        read
    }

    /// Returns `true` if the body has not been read to its end.
    pub(crate) fn has_unread_body(&self) -> bool {
        self.incoming.borrow().is_some()
    }

    /// Returns `true` if more of the body is to be received than what is small, or may be.
    pub(crate) fn has_large_body(&self) -> bool {
        !self.is_received.get() && declared_length(&self.parts.headers).is_none_or(|length| length > SMALL)
    }

    /// Returns `true` if a handler waits for data of the body.
    pub(crate) fn is_reading(&self) -> bool {
        self.reads_since.get() > 0
    }

    /// A handler no longer waits for data of the body.
    pub fn stop_reading(&self) {
        let since = self.reads_since.replace(0);
        if since > 0 {
            self.waited.set(self.waited.get() + self.shared().event_loop.driver.now().saturating_sub(since));
        }
    }

    fn poll_body(&self, cx: &mut Context<'_>) -> Incoming {
        let mut incoming = self.incoming.borrow_mut();
        let Some(body) = &mut *incoming else { return Incoming::End };
        loop {
            let frame = match Pin::new(&mut *body).poll_frame(cx) {
                Poll::Pending => return Incoming::Pending,
                Poll::Ready(None) => {
                    *incoming = None;
                    self.is_received.set(true);
                    return Incoming::End;
                }
                Poll::Ready(Some(Err(error))) => {
                    *incoming = None;
                    let is_malformed = std::error::Error::source(&error)
                        .and_then(|source| source.downcast_ref::<std::io::Error>())
                        .is_some_and(|error| {
                            matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)
                        });
                    return if is_malformed { Incoming::Malformed } else { Incoming::Failed };
                }
                Poll::Ready(Some(Ok(frame))) => frame,
            };
            match frame.into_data() {
                Ok(data) => {
                    let received = self.received.get() + data.len() as u64;
                    self.received.set(received);
                    if received > self.shared().settings.max_body_size {
                        *incoming = None;
                        return Incoming::TooLarge;
                    }
                    self.is_received.set(body.is_end_stream());
                    if !data.is_empty() {
                        return Incoming::Data(data);
                    }
                }
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        if self.parts.version == Version::HTTP_2 && has_surrounding_space(&trailers) {
                            *incoming = None;
                            return Incoming::Malformed;
                        }
                        *self.request_trailers.borrow_mut() = Some(trailers);
                    }
                }
            }
        }
    }

    /// Reads ahead for a handler that waits for data. Called after the connection was polled.
    pub(crate) fn poll_read_ahead(self: &Rc<Self>, cx: &mut Context<'_>) {
        if self.reads_since.get() == 0 || self.read_ahead.borrow().is_some() {
            return;
        }
        match self.poll_body(cx) {
            Incoming::Pending => {}
            read => {
                if matches!(read, Incoming::Failed) {
                    self.cancel(Reason::Disconnected);
                }
                *self.read_ahead.borrow_mut() = Some(read);
                self.stop_reading(); // the handler continues
                self.dispatcher.wake_handler(Rc::clone(self));
            }
        }
    }

    /// Called when there is a response, and the body of the request has not been read to its end. With HTTP/1.1, if the end has
    /// already arrived, the connection can be used further. Otherwise it is closed after the response, which says so: it is not
    /// known whether and when the rest comes, and what follows it on the connection cannot be told from it. Only a handler that
    /// reads while it writes the response is trusted to read all of it. What is read here is there for it.
    pub(super) fn poll_drain_request(&self, cx: &mut Context<'_>) -> Poll<()> {
        let wake_task = self.is_body_requested.get() && self.pipe.borrow().is_some();
        if self.parts.version == Version::HTTP_2 || wake_task {
            return Poll::Ready(());
        }
        let mut has_read = false;
        while self.may_drain_request() {
            match self.poll_body(cx) {
                Incoming::Data(bytes) => {
                    has_read = true;
                    self.drained_pieces.set(self.drained_pieces.get() + 1);
                    let mut read_ahead = self.read_ahead.borrow_mut();
                    *read_ahead = Some(Incoming::Data(match read_ahead.take() {
                        Some(Incoming::Data(before)) => [before, bytes].concat().into(),
                        _ => bytes,
                    }));
                }
                Incoming::End => return Poll::Ready(()),
                // hyper reads on after a piece was taken, before it comes here again, and after others have had their turns.
                Incoming::Pending if has_read || !self.connection.has_read_budget() => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Incoming::Pending => break,
                failed => {
                    self.read_ahead.replace(Some(failed));
                    break;
                }
            }
        }
        if !self.is_received.get()
            && let Some(response) = &mut *self.response.borrow_mut()
            && response.status() != StatusCode::UPGRADE_REQUIRED
        {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            copy_version(response, &self.parts);
            self.says_close.set(true);
        }
        Poll::Ready(())
    }

    /// Returns `true` if more of the body may be read before the response is sent.
    fn may_drain_request(&self) -> bool {
        let read_ahead = match &*self.read_ahead.borrow() {
            None => 0,
            Some(Incoming::Data(bytes)) => bytes.len(),
            Some(_) => return false,
        };
        !self.is_received.get()
            && !self.is_reading()
            && self.has_unread_body()
            && self.drained_pieces.get() < DRAIN_PIECES
            && read_ahead < DRAIN_BYTES
    }

    /// Discards the rest of the body. A handler that reads on finds it incomplete.
    pub(super) fn discard_body(&self) {
        let Some(body) = self.incoming.take() else { return };
        self.is_received.set(body.is_end_stream());
        self.read_ahead.borrow_mut().get_or_insert(Incoming::Failed);
        // If the connection is to be closed, hyper closes it immediately, and the connection's task reads what comes.
        if self.parts.version == Version::HTTP_2 || !self.closes_connection() {
            self.shared().event_loop.exec.spawn(Discard::new(&self.dispatcher.shared, body));
        }
    }

    /// Returns `true` if hyper closes the connection after the response.
    fn closes_connection(&self) -> bool {
        self.says_close.get()
            || self.parts.version == Version::HTTP_10
            || has_word(&self.parts.headers, header::CONNECTION, "close")
    }

    /// Returns `true` if the body arrives too slowly on average.
    pub(crate) fn is_body_slow(&self, now: u64) -> bool {
        let settings = &self.shared().settings;
        let since = self.reads_since.get();
        let waited = self.waited.get() + if since > 0 { now.saturating_sub(since) } else { 0 };
        settings.min_body_rate > 0
            && settings.body_timeout > 0
            && waited > settings.body_timeout
            && u128::from(self.received.get()) * 1_000_000_000 < u128::from(settings.min_body_rate) * u128::from(waited)
    }

    /// Ends a body that trickles.
    pub(crate) fn check_body_rate(self: &Rc<Self>, now: u64) {
        if self.reads_since.get() > 0 && self.is_body_slow(now) {
            self.fail_slow_body(now);
        }
    }

    pub(super) fn fail_slow_body(self: &Rc<Self>, now: u64) {
        self.reads_since.set(0);
        *self.read_ahead.borrow_mut() = Some(Incoming::Failed);
        self.incoming.take();
        self.dispatcher.wake_handler(Rc::clone(self));
        if self.timed_out_at.get() == 0 {
            self.timed_out_at.set(now);
        }
        self.cancel(Reason::SlowBody);
    }
}
