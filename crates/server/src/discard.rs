//! The rest of a request's body, read and dropped after the response.

use crate::settings::SECOND;
use crate::shared::Shared;
use crate::timer::{Time, limit};
use http_body::Body as _;
use hyper::body::Incoming;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Reads and drops the rest of an HTTP/2 request's body, within limits.
///
/// A stream whose body is dropped before its end is reset after the response. That is not an error (RFC 9113, 8.1), but
/// some clients, curl 7.88 among them, forget the response if the reset arrives while they still send. A body that is complete
/// within the limits needs no reset.
pub struct Discard {
    shared: Rc<Shared>,
    body: Incoming,
    budget: Budget,
    time: Option<Time>,
    /// Its slot among the tasks that a drain wakes.
    place: Option<usize>,
}

/// How long the client may pause. It has its answer, and most clients stop sending.
const PAUSE: u64 = 5 * SECOND;

/// The limit while the server drains.
const LAST: u64 = 2 * SECOND;

/// How much is still read from a client, and for how long.
pub struct Budget {
    left: u64,
    until: u64,
    pause: u64,
}

impl Budget {
    /// Creates the budget of a body from now on.
    pub fn new(shared: &Shared) -> Budget {
        let (settings, now) = (&shared.settings, shared.event_loop.now.get());
        let until = limit(now, settings.discard_timeout);
        let mut budget = Budget { left: settings.discard_size, until, pause: now.saturating_add(PAUSE) };
        if shared.is_draining() {
            budget.shorten(shared);
        }
        budget
    }

    /// The server drains, and must not wait long.
    pub fn shorten(&mut self, shared: &Shared) {
        self.until = self.until.min(shared.event_loop.now.get().saturating_add(LAST));
    }

    /// Counts bytes that were read. Returns `false` if that is too many.
    pub fn spend(&mut self, shared: &Shared, count: usize) -> bool {
        self.pause = shared.event_loop.now.get().saturating_add(PAUSE);
        let left = self.left.checked_sub(count as u64);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// When it has taken too long.
    pub fn deadline(&self) -> u64 {
        self.until.min(self.pause)
    }
}

impl Discard {
    pub fn new(shared: &Rc<Shared>, body: Incoming) -> Discard {
        Discard { shared: Rc::clone(shared), body, budget: Budget::new(shared), time: None, place: None }
    }

    fn unschedule(&mut self) {
        if let Some(time) = self.time.take() {
            self.shared.event_loop.timers.remove(time);
        }
    }
}

impl Future for Discard {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        this.unschedule();
        if this.shared.is_draining() {
            this.budget.shorten(&this.shared); // for the first time: later ones allow no less
        } else if this.place.is_none() {
            this.place = Some(this.shared.discarding.borrow_mut().insert(cx.waker().clone()));
        }
        loop {
            match Pin::new(&mut this.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    let length = frame.data_ref().map_or(0, bytes::Bytes::len);
                    if !this.budget.spend(&this.shared, length) {
                        return Poll::Ready(());
                    }
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => break,
            }
        }
        // What has arrived is read before the time limit is checked: the whole server may have been held up.
        if this.shared.event_loop.now.get() >= this.budget.deadline() {
            return Poll::Ready(());
        }
        this.time = Some(this.shared.event_loop.timers.add(this.budget.deadline(), cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Discard {
    fn drop(&mut self) {
        self.unschedule();
        if let Some(place) = self.place.take() {
            let waker = self.shared.discarding.borrow_mut().try_remove(place);
            drop(waker);
        }
    }
}
