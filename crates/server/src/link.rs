//! The socket of a WebSocket, as the task of its connection drives it.

use crate::stream::Stream;
use crate::ws::{Step, WebSocket};
use hyper::rt::Write;
use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// How many messages are read in one turn of the task, so that others have theirs.
const MESSAGES: usize = 64;
/// How many bytes: a message may come in any number of pieces.
const BYTES: usize = 64 << 10;

/// A WebSocket and what it is read from.
pub struct Link {
    pub stream: Stream,
    pub web: Rc<WebSocket>,
}

impl Link {
    /// Reads and sends without blocking. Ready: only the socket is left to be closed.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let is_blocked = self.read(cx);
        let sent = self.send(cx); // with the answers to pings that were read
        if sent.is_err() && !self.web.is_ended() {
            self.web.end(false);
        }
        if self.web.is_ended() {
            return if matches!(sent, Ok(false)) { Poll::Pending } else { Poll::Ready(()) };
        }
        // Sending may have made room.
        if !is_blocked && self.web.update_paused() {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Reads some of the available data. Returns `true` if that was all.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        let left = Cell::new(BYTES);
        for _ in 0..MESSAGES {
            if self.web.is_ended() || !self.web.update_paused() {
                return false; // until the handler takes a message, or the client some data
            }
            let stream = &mut self.stream;
            let step = self.web.read_with(&mut |buffer| {
                if left.get() == 0 {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                let Poll::Ready(read) = stream.poll_fill(cx, buffer) else {
                    return Err(io::ErrorKind::WouldBlock.into());
                };
                left.set(left.get().saturating_sub(*read.as_ref().unwrap_or(&0)));
                read
            });
            if step == Step::Blocked {
                return left.get() > 0;
            }
        }
        false
    }

    /// Sends buffered frames. Returns `true` if all were sent.
    fn send(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let stream = &mut self.stream;
        loop {
            let sent = self.web.flush_with(|bytes| match Pin::new(&mut *stream).poll_write(cx, bytes) {
                Poll::Ready(written) => written,
                Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
            });
            match sent {
                Ok(true) => {}
                // With TLS, some of it may still wait for the client to take it.
                Ok(false) => {
                    return match Pin::new(stream).poll_flush(cx) {
                        Poll::Ready(flushed) => flushed.map(|()| true),
                        Poll::Pending => Ok(false),
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }
}
