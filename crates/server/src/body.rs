//! Bodies of responses, as hyper sends them.

use crate::compress::Compressed;
use crate::exchange::Exchange;
use crate::files::Sending;
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// What became of bytes that were written to a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// They are sent, and there is room for more.
    Ok,
    /// They are sent, and the buffer is full: wait before more is written.
    Full,
    /// They are dropped: the client is gone.
    Gone,
    /// They are dropped: the response is complete, or longer than it declares.
    TooMuch,
}

/// A response was not completed.
#[derive(Debug)]
pub struct Incomplete;

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the handler has not completed its response")
    }
}

impl std::error::Error for Incomplete {}

/// How a stream ends.
enum End {
    Open,
    Complete(Option<HeaderMap>),
    Failed,
    Taken,
}

/// A body that is written piece by piece.
pub struct Pipe {
    chunks: RefCell<VecDeque<Bytes>>,
    buffered: Cell<usize>,
    end: RefCell<End>,
    /// The number of bytes still to be written, if the response declares its length.
    left: Cell<Option<u64>>,
    waker: RefCell<Option<Waker>>,
}

impl Pipe {
    /// Returns an empty one; `length` is the number of bytes that will be written, if that is known.
    pub fn new(length: Option<u64>) -> Pipe {
        Pipe {
            chunks: RefCell::default(),
            buffered: Cell::new(0),
            end: RefCell::new(End::Open),
            left: Cell::new(length),
            waker: RefCell::default(),
        }
    }

    /// Returns the number of bytes that were written and not yet taken.
    pub fn buffered(&self) -> usize {
        self.buffered.get()
    }

    fn is_open(&self) -> bool {
        matches!(*self.end.borrow(), End::Open)
    }

    /// Appends bytes. Returns `false` if they do not belong to the body.
    pub fn write(&self, bytes: Bytes) -> bool {
        let fits = self.left.get().is_none_or(|left| bytes.len() as u64 <= left);
        if !self.is_open() || !fits {
            return bytes.is_empty() && fits;
        }
        if !bytes.is_empty() {
            self.left.set(self.left.get().map(|left| left - bytes.len() as u64));
            self.buffered.set(self.buffered.get() + bytes.len());
            self.chunks.borrow_mut().push_back(bytes);
            self.wake();
        }
        true
    }

    /// Ends the body; as a failure, and returns `false`, if it is shorter than it declares.
    pub fn end(&self, trailers: Option<HeaderMap>) -> bool {
        let mut is_short = false;
        if self.is_open() {
            is_short = self.left.get().is_some_and(|left| left > 0);
            *self.end.borrow_mut() = if is_short { End::Failed } else { End::Complete(trailers) };
            self.wake();
        }
        !is_short
    }

    /// Ends the body as a failure: the client notices that it is incomplete.
    pub fn fail(&self) {
        if self.is_open() {
            *self.end.borrow_mut() = End::Failed;
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Returns the next piece, or the trailers; `None` at the end.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Incomplete>>> {
        let next = self.chunks.borrow_mut().pop_front();
        if let Some(bytes) = next {
            self.buffered.set(self.buffered.get() - bytes.len());
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        let mut end = self.end.borrow_mut();
        if let End::Open = *end {
            *self.waker.borrow_mut() = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(match std::mem::replace(&mut *end, End::Taken) {
            End::Complete(Some(trailers)) => Some(Ok(Frame::trailers(trailers))),
            End::Failed => Some(Err(Incomplete)),
            _ => None,
        })
    }

    fn is_end(&self) -> bool {
        self.buffered.get() == 0 && matches!(*self.end.borrow(), End::Complete(None) | End::Taken)
    }
}

/// The content of a body.
pub enum Content {
    /// Nothing.
    Empty,
    /// All of it.
    Full(Bytes),
    /// What is written to a pipe.
    Stream(Rc<Pipe>),
    /// A file.
    File(Rc<Sending>),
    /// What is compressed as it is sent.
    Compressed(Box<Compressed>),
}

/// The body of a response. When it is dropped, the exchange is over.
pub struct Outgoing {
    content: Content,
    exchange: Option<Rc<Exchange>>,
}

impl Outgoing {
    /// Returns the body of a response; `exchange` is the one that it ends.
    pub fn new(content: Content, exchange: Option<Rc<Exchange>>) -> Outgoing {
        Outgoing { content, exchange }
    }

    /// Makes it nobody's: its end does not matter.
    pub fn detach(&mut self) {
        self.exchange = None;
    }
}

/// Counts bytes while they wait for the client.
fn counted(exchange: Option<&Rc<Exchange>>, bytes: Bytes) -> Bytes {
    match exchange {
        Some(exchange) => exchange.counts(bytes),
        None => bytes,
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            let is_sent = match &self.content {
                Content::Empty => true,
                Content::Full(_) => false,
                Content::Stream(pipe) => pipe.is_end(),
                Content::File(file) => file.left() == 0,
                Content::Compressed(body) => body.is_end(),
            };
            exchange.body_ends(is_sent);
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Incomplete;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Incomplete>>> {
        let this = self.get_mut();
        let piped = match &mut this.content {
            Content::Empty => return Poll::Ready(None),
            Content::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                this.content = Content::Empty;
                if let Some(exchange) = &this.exchange {
                    exchange.sends(bytes.len());
                }
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            Content::File(file) => file.poll(cx).map_ok(|bytes| Frame::data(counted(this.exchange.as_ref(), bytes))),
            Content::Stream(pipe) => pipe.poll(cx),
            Content::Compressed(body) => {
                body.poll(cx).map_ok(|frame| frame.map_data(|bytes| counted(this.exchange.as_ref(), bytes)))
            }
        };
        if let Some(exchange) = &this.exchange {
            if let Poll::Ready(Some(Ok(frame))) = &piped {
                exchange.sends(frame.data_ref().map_or(0, Bytes::len));
            }
            exchange.body_was_taken();
        }
        piped
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Empty => true,
            Content::Full(bytes) => bytes.is_empty(),
            Content::Stream(pipe) => pipe.is_end(),
            Content::File(file) => file.left() == 0,
            Content::Compressed(body) => body.is_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Empty => SizeHint::with_exact(0),
            Content::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::File(file) => SizeHint::with_exact(file.left()),
            Content::Compressed(_) => SizeHint::new(),
            Content::Stream(pipe) => match pipe.left.get() {
                Some(left) => SizeHint::with_exact(left + pipe.buffered.get() as u64),
                None if pipe.is_end() => SizeHint::with_exact(0),
                None => SizeHint::new(),
            },
        }
    }
}
