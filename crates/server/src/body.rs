//! Bodies of responses, as hyper sends them.

use crate::exchange::Exchange;
use crate::pipe::Incomplete;
use crate::response::Content;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// The body of a response. When it is dropped, the exchange has ended.
pub struct Outgoing {
    content: Content,
    exchange: Option<Rc<Exchange>>,
}

impl Outgoing {
    /// Creates the body of a response. `exchange` is finished when it is dropped.
    pub fn new(content: Content, exchange: Option<Rc<Exchange>>) -> Outgoing {
        Outgoing { content, exchange }
    }
}

/// Tracks bytes until they are sent.
fn tracked(exchange: Option<&Rc<Exchange>>, bytes: Bytes) -> Bytes {
    match exchange {
        Some(exchange) => exchange.track(bytes),
        None => bytes,
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            exchange.finish_body(self.content.is_sent());
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
                    exchange.on_sent(bytes.len());
                }
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            Content::File(file) => file.poll(cx).map_ok(|bytes| Frame::data(tracked(this.exchange.as_ref(), bytes))),
            Content::Stream(pipe) => pipe.poll(cx),
            Content::Compressed(body) => {
                body.poll(cx).map_ok(|frame| frame.map_data(|bytes| tracked(this.exchange.as_ref(), bytes)))
            }
        };
        if let Some(exchange) = &this.exchange {
            if let Poll::Ready(Some(Ok(frame))) = &piped {
                exchange.on_sent(frame.data_ref().map_or(0, Bytes::len));
            }
            exchange.on_body_polled();
        }
        piped
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Full(bytes) => bytes.is_empty(),
            content => content.is_sent(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Empty => SizeHint::with_exact(0),
            Content::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::File(file) => SizeHint::with_exact(file.left()),
            Content::Compressed(_) => SizeHint::new(),
            Content::Stream(pipe) => pipe.size_hint(),
        }
    }
}
