//! A request on a connection to a FastCGI server: it is sent and its response read at the same time, as a script may answer before it has
//! read all.

use super::call::{Call, Stop};
use super::head::{self, Given};
use super::record::{self, Record};
use super::sendfile;
use super::socket::Connection;
use super::spool::Body;
use crate::pipe::Written;
use crate::response::{self, Head};
use bytes::{Bytes, BytesMut};
use http::{Method, StatusCode};
use std::io;
use std::task::{Context, Poll};

/// The size up to which a body is sent with the head of the request.
const SMALL: u64 = 16 << 10;

/// How many pieces are sent or read until others have their turns.
const TURN: usize = 16;

const SHORT: &str = "its response is shorter than it declares";

/// How far the response is.
enum Stage {
    /// What has come of its head.
    Head(BytesMut),
    /// Its head, and what has come of its body.
    Held(Head, BytesMut),
    /// Its body is written.
    Streaming,
    /// A file is to be sent in its place, when the script has ended. Its body is dropped.
    File(Head),
}

/// Why a request ends that is not complete.
pub enum End {
    Stop(Stop),
    /// The connection was kept, and has been closed: the request may be sent again, as it has not run or may run twice.
    Stale,
}

impl From<Stop> for End {
    fn from(stop: Stop) -> End {
        End::Stop(stop)
    }
}

pub struct Transfer<'a> {
    call: &'a Call,
    pub connection: Connection,
    body: &'a mut Body,
    /// What is still to be sent.
    out: BytesMut,
    /// All of the body is in it, or sent.
    is_last: bool,
    has_sent: bool,
    /// Something of the response has come.
    has_received: bool,
    /// The request may be sent again when something was sent: its method says so, and its body is still there.
    may_repeat: bool,
    /// Nothing more is to be sent, or can be.
    is_sent: bool,
    failed: Option<io::Error>,
    stage: Stage,
    /// The reason phrase of the response.
    reason: Vec<u8>,
    /// How many bytes of the body are still to come, if the response says so.
    left: Option<u64>,
}

impl<'a> Transfer<'a> {
    pub fn new(call: &'a Call, connection: Connection, params: &[u8], body: &'a mut Body) -> Transfer<'a> {
        let mut out = BytesMut::with_capacity(params.len() + 64);
        record::begin(call.asked.site.backend.keeps(), &mut out);
        record::params(params, &mut out);
        let small = match body {
            Body::Memory(bytes) if bytes.len() as u64 <= SMALL => Some(&*bytes),
            _ => None,
        };
        if let Some(bytes) = small {
            record::body(bytes, &mut out);
            record::end_of_body(&mut out);
        }
        let is_last = small.is_some();
        let stage = Stage::Head(BytesMut::new());
        Transfer {
            call,
            connection,
            body,
            out,
            is_last,
            has_sent: false,
            has_received: false,
            may_repeat: is_last && matches!(call.exchange.head().method, Method::GET | Method::HEAD | Method::OPTIONS),
            is_sent: false,
            failed: None,
            stage,
            reason: Vec::new(),
            left: None,
        }
    }

    /// Polls until the response is complete. Returns its head if a file is to be sent in its place.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Head>, End>> {
        self.call.check(cx)?;
        if !self.is_sent {
            self.send(cx)?;
        }
        for _ in 0..TURN {
            if self.take_records()? {
                self.connection.has_ended = self.is_last && self.out.is_empty() && self.failed.is_none();
                self.connection.is_used = true;
                return Poll::Ready(Ok(match std::mem::replace(&mut self.stage, Stage::Streaming) {
                    Stage::File(head) => Some(head),
                    _ => None,
                }));
            }
            if matches!(self.stage, Stage::Streaming) && !self.call.exchange.has_room() {
                return Poll::Pending; // until the client has taken some
            }
            match self.connection.poll_fill(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(self.closed("closed the connection"))),
                Poll::Ready(Ok(_)) => self.has_received = true,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(self.closed(&error.to_string()))),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn send(&mut self, cx: &mut Context<'_>) -> Result<(), End> {
        for _ in 0..TURN {
            if self.out.is_empty() && !self.is_last {
                match self.body.poll(cx) {
                    Poll::Pending => return Ok(()),
                    Poll::Ready(Err(error)) => return Err(Stop::failed(error).into()),
                    Poll::Ready(Ok(Some(piece))) => record::body(&piece, &mut self.out),
                    Poll::Ready(Ok(None)) => {
                        record::end_of_body(&mut self.out);
                        self.is_last = true;
                    }
                }
            }
            let before = self.out.len();
            let sent = self.connection.poll_send(cx, &mut self.out);
            self.has_sent |= self.out.len() < before;
            match sent {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(())) if self.is_last => {
                    self.is_sent = true;
                    return Ok(());
                }
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) if !self.has_sent && self.connection.is_used => return Err(End::Stale),
                // It may have answered without reading all of the body.
                Poll::Ready(Err(error)) => {
                    (self.is_sent, self.failed) = (true, Some(error));
                    return Ok(());
                }
            }
        }
        cx.waker().wake_by_ref();
        Ok(())
    }

    fn wrong(&self, what: &str) -> Stop {
        let text = format!("FastCGI server {}: {what}", self.call.asked.site.backend.shown);
        Stop::Failed(StatusCode::BAD_GATEWAY, text)
    }

    fn closed(&self, how: &str) -> End {
        // It may have closed what it has kept when the request came, as PHP-FPM does after `pm.max_requests`.
        if self.connection.is_used && !self.has_received && (self.may_repeat || !self.has_sent) {
            return End::Stale;
        }
        let when = if self.call.exchange.is_answered() { "in the middle of" } else { "before" };
        let error = self.failed.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
        self.wrong(&format!("{how} {when} its response{error}")).into()
    }

    /// Takes the records that have come. Returns `true` if the last one was among them.
    fn take_records(&mut self) -> Result<bool, Stop> {
        loop {
            match self.connection.decoder.next().map_err(|error| self.wrong(&error.to_string()))? {
                None => break,
                Some(Record::Output(bytes)) => self.output(bytes)?,
                Some(Record::Error(bytes)) => self.call.log(bytes.trim_ascii_end().to_vec()),
                Some(Record::End(has_run)) => return self.end(has_run).map(|()| true),
            }
        }
        if let Stage::Held(..) = self.stage
            && let Stage::Held(head, first) = std::mem::replace(&mut self.stage, Stage::Streaming)
        {
            self.stream(head, first.freeze())?;
        }
        Ok(false)
    }

    fn output(&mut self, bytes: Bytes) -> Result<(), Stop> {
        match &mut self.stage {
            Stage::Streaming => return self.write(bytes),
            Stage::File(_) => {}
            Stage::Held(_, first) => first.extend_from_slice(&bytes),
            Stage::Head(text) => {
                let seen = text.len();
                text.extend_from_slice(&bytes);
                let most = self.call.exchange.settings().max_header_size;
                match head::read(text, seen, most) {
                    Ok(None) => {}
                    Ok(Some(Given { head, reason, length })) => {
                        if !self.call.asked.site.sendable.is_empty() && sendfile::asked(&head.headers).is_some() {
                            self.stage = Stage::File(head);
                            return Ok(());
                        }
                        self.reason = reason;
                        let rest = text.split_off(length);
                        self.stage = Stage::Held(head, rest);
                    }
                    Err(wrong) => return Err(self.wrong(wrong.0)),
                }
            }
        }
        Ok(())
    }

    fn answer(&self, head: Head, body: response::Body) -> Result<(), Stop> {
        if !self.reason.is_empty() {
            self.call.exchange.set_reason(&self.reason);
        }
        if self.call.exchange.respond(head, body) { Ok(()) } else { Err(Stop::Gone) }
    }

    fn stream(&mut self, head: Head, first: Bytes) -> Result<(), Stop> {
        self.left = response::declared_length(&head.headers);
        self.answer(head, response::Body::Stream { trailers: Vec::new() })?;
        self.write(first)
    }

    /// Writes a piece of the body. What is beyond the length that the response declares is dropped, as by nginx.
    fn write(&mut self, mut bytes: Bytes) -> Result<(), Stop> {
        if let Some(left) = &mut self.left {
            bytes.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= bytes.len() as u64;
        }
        match self.call.exchange.write(bytes) {
            Written::Gone => Err(Stop::Gone),
            // Too much is the body of a response that has none.
            Written::Ok | Written::Full | Written::TooMuch => Ok(()),
        }
    }

    /// All has come at once.
    fn whole(&mut self, head: Head, mut body: Bytes) -> Result<(), Stop> {
        let declared = response::declared_length(&head.headers);
        if self.call.exchange.omits_body(head.status) {
            self.stream(head, Bytes::new())?; // its length is that of a body which is not there
            self.call.exchange.complete(None);
            return Ok(());
        }
        if declared.is_some_and(|length| length > body.len() as u64) {
            return Err(self.wrong(SHORT));
        }
        body.truncate(declared.map_or(body.len(), |length| usize::try_from(length).unwrap_or(usize::MAX)));
        self.answer(head, response::Body::Full(body))
    }

    fn end(&mut self, has_run: bool) -> Result<(), Stop> {
        match std::mem::replace(&mut self.stage, Stage::Streaming) {
            _ if !has_run => Err(Stop::Refused(StatusCode::SERVICE_UNAVAILABLE)),
            Stage::Head(_) => Err(self.wrong("its response has no head")),
            Stage::Held(head, body) => self.whole(head, body.freeze()),
            Stage::Streaming if !self.call.exchange.complete(None) => Err(self.wrong(SHORT)),
            Stage::Streaming => Ok(()),
            Stage::File(head) => {
                self.stage = Stage::File(head);
                Ok(())
            }
        }
    }
}
