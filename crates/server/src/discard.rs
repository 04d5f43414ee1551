//! What a client still sends of a body that nobody reads any more.

use crate::conn::{LINGER, LINGER_BYTES};
use crate::server::Shared;
use crate::timer::Time;
use http_body::Body as _;
use hyper::body::Incoming;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Reads the rest of a request's body on HTTP/2, within limits.
///
/// A stream whose body is dropped before its end is reset after the response. That is no error (RFC 9113, 8.1), but there are
/// clients that forget the response when the reset comes while they still send, curl 7.88 among them. A body that ends within
/// the limits needs no reset.
pub struct Discard {
    shared: Rc<Shared>,
    body: Incoming,
    left: usize,
    until: u64,
    time: Option<Time>,
}

impl Discard {
    pub fn new(shared: &Rc<Shared>, body: Incoming) -> Discard {
        let until = shared.now.get().saturating_add(LINGER);
        Discard { shared: Rc::clone(shared), body, left: LINGER_BYTES, until, time: None }
    }

    fn unschedule(&mut self) {
        if let Some(time) = self.time.take() {
            self.shared.timers.remove(time);
        }
    }
}

impl Future for Discard {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        this.unschedule();
        if this.shared.now.get() >= this.until {
            return Poll::Ready(());
        }
        loop {
            match Pin::new(&mut this.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    let length = frame.data_ref().map_or(0, bytes::Bytes::len);
                    if length > this.left {
                        return Poll::Ready(());
                    }
                    this.left -= length;
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => break,
            }
        }
        this.time = Some(this.shared.timers.add(this.until, cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Discard {
    fn drop(&mut self) {
        self.unschedule();
    }
}
