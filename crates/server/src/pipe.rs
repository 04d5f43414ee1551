//! Bodies that handlers write piece by piece.

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Frame, SizeHint};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::task::{Context, Poll, Waker};

/// What happened to bytes that were written to a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// They were buffered, and there is room for more.
    Ok,
    /// They were buffered, and the buffer is full: wait before writing more.
    Full,
    /// They were dropped: the client is gone.
    Gone,
    /// They were dropped: the response is complete, or longer than it declares.
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

/// The end of the body.
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
    /// Returns an empty pipe; `length` is the number of bytes that will be written, if that is known.
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

    /// Ends the body. If it is shorter than it declares, that is a failure, and `false` is returned.
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

    /// Returns `true` if all of it was taken.
    pub fn is_end(&self) -> bool {
        self.buffered.get() == 0 && matches!(*self.end.borrow(), End::Complete(None) | End::Taken)
    }

    /// Returns the remaining length, if it is known.
    pub fn size_hint(&self) -> SizeHint {
        match self.left.get() {
            Some(left) => SizeHint::with_exact(left + self.buffered.get() as u64),
            None if self.is_end() => SizeHint::with_exact(0),
            None => SizeHint::new(),
        }
    }
}
