//! A request that a FastCGI server answers, as the server's own tasks see it.

use super::script::Script;
use super::site::Site;
use crate::dispatch::{Dispatcher, Handler};
use crate::event_loop::EventLoop;
use crate::exchange::{Exchange, Reason};
use crate::timer::{NEVER, Time};
use http::StatusCode;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

/// Why a request is not answered by a script, or not to its end.
#[derive(Debug)]
pub enum Stop {
    /// The client is gone.
    Gone,
    /// It is answered with this status, which tells the client all there is to say.
    Refused(StatusCode),
    /// The same, and the error log has a line.
    Failed(StatusCode, String),
}

impl Stop {
    /// The system has failed.
    pub fn failed(error: io::Error) -> Stop {
        Stop::Failed(StatusCode::INTERNAL_SERVER_ERROR, format!("the request cannot be passed on: {error}"))
    }
}

/// What is asked of a site.
pub struct Asked {
    pub site: Rc<Site>,
    pub script: Script,
}

/// A request, while it is answered.
pub struct Call {
    pub exchange: Rc<Exchange>,
    pub dispatcher: Rc<Dispatcher>,
    pub asked: Asked,
    link: Rc<Link>,
    receiving: RefCell<Option<Receiving>>,
}

impl Call {
    pub fn begin(dispatcher: &Rc<Dispatcher>, exchange: &Rc<Exchange>, asked: Asked) -> Call {
        dispatcher.passed_on.set(dispatcher.passed_on.get() + 1);
        let link = Rc::new(Link {
            dispatcher: Rc::clone(dispatcher),
            exchange: Rc::downgrade(exchange),
            cancelled: Cell::new(None),
            waker: RefCell::default(),
        });
        let handler: Rc<dyn Handler> = Rc::clone(&link) as Rc<dyn Handler>;
        exchange.set_handler(Rc::downgrade(&handler));
        let receiving = RefCell::new(Some(Receiving::begin(dispatcher, exchange)));
        Call { exchange: Rc::clone(exchange), dispatcher: Rc::clone(dispatcher), asked, link, receiving }
    }

    /// The body of the request is there: from now on it counts as one that runs.
    pub fn has_received(&self) {
        drop(self.receiving.take());
        self.dispatcher.start_queued(); // another body may be received
    }

    pub fn event_loop(&self) -> &Rc<EventLoop> {
        &self.dispatcher.shared.event_loop
    }

    /// Fails if the request is to end. Otherwise the task is woken when it is, or when its exchange has data or room.
    pub fn check(&self, cx: &Context<'_>) -> Result<(), Stop> {
        let stop = match self.link.cancelled.get() {
            None => {
                let mut waker = self.link.waker.borrow_mut();
                if waker.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
                    *waker = Some(cx.waker().clone());
                }
                return Ok(());
            }
            Some(Reason::Disconnected) => Stop::Gone,
            Some(Reason::Timeout) => Stop::Refused(StatusCode::GATEWAY_TIMEOUT),
            Some(Reason::SlowBody) => Stop::Refused(StatusCode::REQUEST_TIMEOUT),
            Some(Reason::Shutdown) => Stop::Refused(StatusCode::SERVICE_UNAVAILABLE),
        };
        Err(stop)
    }

    /// Adds a line to the error log.
    pub fn log(&self, text: Vec<u8>) {
        self.dispatcher.log_error(&self.exchange, text);
    }

    /// Returns a time at which the task is woken: after this many nanoseconds, or never for 0.
    pub fn alarm(&self, after: u64) -> Alarm<'_> {
        let event_loop = self.event_loop();
        let at = if after > 0 { event_loop.driver.now().saturating_add(after) } else { NEVER };
        Alarm { event_loop, at, time: None }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        drop(self.receiving.take());
        let passed_on = &self.dispatcher.passed_on;
        passed_on.set(passed_on.get().saturating_sub(1));
        self.exchange.finish_handler();
    }
}

/// A request whose body is received.
struct Receiving {
    dispatcher: Rc<Dispatcher>,
    is_large: bool,
}

impl Receiving {
    fn begin(dispatcher: &Rc<Dispatcher>, exchange: &Exchange) -> Receiving {
        let is_large = exchange.has_large_body();
        dispatcher.receiving.set(dispatcher.receiving.get() + 1);
        dispatcher.receiving_large.set(dispatcher.receiving_large.get() + usize::from(is_large));
        Receiving { dispatcher: Rc::clone(dispatcher), is_large }
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        let Dispatcher { receiving, receiving_large, .. } = &*self.dispatcher;
        receiving.set(receiving.get().saturating_sub(1));
        receiving_large.set(receiving_large.get().saturating_sub(usize::from(self.is_large)));
    }
}

/// What the exchange knows of its task.
struct Link {
    dispatcher: Rc<Dispatcher>,
    exchange: Weak<Exchange>,
    cancelled: Cell<Option<Reason>>,
    waker: RefCell<Option<Waker>>,
}

impl Handler for Link {
    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn cancel(&self, reason: Reason) -> bool {
        if self.cancelled.get().is_none() {
            self.cancelled.set(Some(reason));
        }
        self.wake();
        true
    }

    fn is_slow(&self, duration: u64) {
        if let Some(exchange) = self.exchange.upgrade() {
            let seconds = duration as f64 / 1e9;
            self.dispatcher.log_error(&exchange, format!("slow: no response after {seconds:.1} seconds").into_bytes());
        }
    }

    fn places(&self) -> String {
        "  passed on to a FastCGI server\n".to_owned()
    }
}

/// A time.
pub struct Alarm<'a> {
    event_loop: &'a EventLoop,
    at: u64,
    time: Option<Time>,
}

impl Alarm<'_> {
    /// Ready: it has come.
    pub fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.event_loop.now.get() >= self.at {
            return Poll::Ready(());
        }
        if self.time.is_none() && self.at != NEVER {
            self.time = Some(self.event_loop.timers.add(self.at, cx.waker().clone()));
        }
        Poll::Pending
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if let Some(time) = self.time {
            self.event_loop.timers.remove(time);
        }
    }
}
