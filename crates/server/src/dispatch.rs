//! Which requests get a handler and when, and what the owner is told about handlers.

use crate::connections::Connections;
use crate::exchange::{Exchange, Reason};
use crate::fastcgi::site::Site;
use crate::log::Entry;
use crate::response::{Body, Head};
use crate::shared::Shared;
use crate::timer::NEVER;
use http::StatusCode;
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// The handler of a request, as the server knows it: see [`Exchange::set_handler`].
pub trait Handler {
    /// What it waits for is available, or never will be: it tries again.
    fn wake(&self);

    /// It is to return soon. Returns `false` if it goes on, as a handler may whose client has left.
    fn cancel(&self, reason: Reason) -> bool;

    /// It has run for this many nanoseconds without a response, for longer than `slow_request`. Called once.
    fn is_slow(&self, duration: u64);

    /// Returns lines that say where its code is.
    fn places(&self) -> String;
}

/// An event for the owner.
pub enum Event {
    /// A request is to be handled; [`Exchange::finish_handler`] is called in any case.
    Begin(Rc<Exchange>),
    /// A request is finished; only after [`Server::log_requests`](crate::Server::log_requests).
    Log(Box<Entry>),
    /// A line for the error log that belongs to a request: what a script has printed for it, or why a script could not be run.
    Error(Rc<Exchange>, Vec<u8>),
}

/// An event for the owner, or a message to a handler.
enum Notice {
    Event(Event),
    Wake(Rc<Exchange>),
    Cancel(Rc<Exchange>, Reason),
    Slow(Rc<Exchange>, u64),
}

/// How quickly requests leave the queue.
#[derive(Default)]
struct Pace {
    since: Cell<u64>,
    begun: Cell<u64>,
}

impl Pace {
    /// How many must have begun before a pace is known.
    const LEAST: u64 = 16;
    /// After this many the older half is forgotten.
    const MOST: u64 = 256;

    /// The queue was empty.
    fn restart(&self, now: u64) {
        self.since.set(now);
        self.begun.set(0);
    }

    /// A request that has waited begins.
    fn record(&self, now: u64) {
        self.begun.set(self.begun.get() + 1);
        if self.begun.get() >= Self::MOST {
            self.begun.set(Self::MOST / 2);
            self.since.set(now - now.saturating_sub(self.since.get()) / 2);
        }
    }

    /// Estimates how long a request would wait behind `others`; `None` while the pace is unknown.
    fn wait(&self, others: usize, now: u64) -> Option<u64> {
        let elapsed = u128::from(now.saturating_sub(self.since.get()));
        let known = others > 0 && self.begun.get() >= Self::LEAST;
        let wait = known.then(|| elapsed * (others as u128 + 1) / u128::from(self.begun.get()))?;
        Some(u64::try_from(wait).unwrap_or(u64::MAX))
    }
}

/// The requests of a server.
pub struct Dispatcher {
    pub shared: Rc<Shared>,
    pub connections: Connections,
    /// The folders whose scripts a FastCGI server runs.
    pub sites: RefCell<Vec<Rc<Site>>>,
    notices: RefCell<VecDeque<Notice>>,
    /// Requests that wait for a handler.
    queue: RefCell<VecDeque<Rc<Exchange>>>,
    pace: Pace,
    /// The exchanges whose handlers run, and how many of them have a WebSocket.
    running: RefCell<Slab<Rc<Exchange>>>,
    pub websockets: Cell<usize>,
    /// How many of them are answered by FastCGI servers, how many of those still receive the body of their request, and how many of
    /// those bodies are large.
    pub passed_on: Cell<usize>,
    pub receiving: Cell<usize>,
    pub receiving_large: Cell<usize>,
    /// When one of them may be slow that was not told so.
    pub next_slow: Cell<u64>,
    /// When the time of one may have passed that goes on although its client has left.
    pub next_left: Cell<u64>,
    pub is_in_turn: Cell<bool>,
    pub is_logged: Cell<bool>,
}

impl Dispatcher {
    pub fn new(shared: Rc<Shared>) -> Rc<Dispatcher> {
        Rc::new(Dispatcher {
            connections: Connections::new(&shared),
            shared,
            sites: RefCell::default(),
            notices: RefCell::default(),
            queue: RefCell::default(),
            pace: Pace::default(),
            running: RefCell::default(),
            websockets: Cell::new(0),
            passed_on: Cell::new(0),
            receiving: Cell::new(0),
            receiving_large: Cell::new(0),
            next_slow: Cell::new(NEVER),
            next_left: Cell::new(NEVER),
            is_in_turn: Cell::new(false),
            is_logged: Cell::new(false),
        })
    }

    fn push(&self, event: Event) {
        self.notices.borrow_mut().push_back(Notice::Event(event));
    }

    /// Has a handler woken.
    pub fn wake_handler(&self, exchange: Rc<Exchange>) {
        self.notices.borrow_mut().push_back(Notice::Wake(exchange));
    }

    /// Has a handler cancelled.
    pub fn cancel_handler(&self, exchange: Rc<Exchange>, reason: Reason) {
        self.notices.borrow_mut().push_back(Notice::Cancel(exchange, reason));
    }

    /// Returns the exchanges whose handlers are slow, and were not known to be, and for how long they have run.
    pub fn take_slow(&self, now: u64) -> Vec<(Rc<Exchange>, u64)> {
        if now < self.next_slow.get() {
            return Vec::new();
        }
        let running = self.running();
        let slow =
            running.iter().filter_map(|exchange| Some((Rc::clone(exchange), exchange.notice_slow(now)?))).collect();
        self.next_slow.set(running.iter().map(|exchange| exchange.slow_at()).min().unwrap_or(NEVER));
        slow
    }

    /// Has the handlers told that are slow.
    pub fn tell_slow(&self, now: u64) {
        let slow = self.take_slow(now).into_iter().map(|(exchange, duration)| Notice::Slow(exchange, duration));
        self.notices.borrow_mut().extend(slow);
    }

    /// Takes the next event. Wakes and cancels the handlers that come before it.
    pub fn next_event(&self) -> Option<Event> {
        loop {
            let next = self.notices.borrow_mut().pop_front();
            match next? {
                Notice::Event(event) => return Some(event),
                Notice::Wake(exchange) => {
                    exchange.handler().inspect(|handler| handler.wake());
                }
                Notice::Cancel(exchange, reason) => {
                    if exchange.handler().is_some_and(|handler| !handler.cancel(reason)) {
                        exchange.goes_on();
                        self.next_left.set(self.next_left.get().min(exchange.left_due()));
                    }
                }
                Notice::Slow(exchange, duration) => {
                    exchange.handler().inspect(|handler| handler.is_slow(duration));
                }
            }
        }
    }

    /// Adds an event for a request that has ended, if the owner wants it.
    pub fn log(&self, entry: impl FnOnce() -> Entry) {
        if self.is_logged.get() {
            self.push(Event::Log(Box::new(entry())));
        }
    }

    /// Adds an event for a line of the error log.
    pub fn log_error(&self, exchange: &Rc<Exchange>, line: Vec<u8>) {
        self.push(Event::Error(Rc::clone(exchange), line));
    }

    /// Wakes the owner if there is work, or if a drain is complete.
    pub fn notify(&self) {
        if !self.is_in_turn.get() && (self.has_work() || self.is_drained()) {
            self.shared.event_loop.driver.wake();
        }
    }

    pub fn has_work(&self) -> bool {
        self.shared.event_loop.exec.has_ready() || !self.notices.borrow().is_empty()
    }

    /// Returns `true` if the server drains, and has neither connections nor handlers.
    pub fn is_drained(&self) -> bool {
        self.shared.is_draining() && self.connections.count() == 0 && self.running_count() == 0
    }

    pub fn running_count(&self) -> usize {
        self.running.borrow().len()
    }

    pub fn queued_count(&self) -> usize {
        self.queue.borrow().len()
    }

    /// Returns the exchanges whose handlers run, and whose clients are still there.
    fn running(&self) -> Vec<Rc<Exchange>> {
        let mut running = self.all_running();
        running.retain(|exchange| !exchange.is_over());
        running
    }

    /// Has handlers end that go on although their clients have left, when their time has passed.
    pub fn end_left(&self, now: u64) {
        if now >= self.next_left.get() {
            let all = self.all_running();
            all.iter().for_each(|exchange| exchange.end_left(now));
            self.next_left.set(all.iter().map(|exchange| exchange.left_due()).min().unwrap_or(NEVER));
        }
    }

    fn all_running(&self) -> Vec<Rc<Exchange>> {
        self.running.borrow().iter().map(|(_, exchange)| Rc::clone(exchange)).collect()
    }

    /// Returns the exchanges that have a handler, or wait for one, the oldest first.
    pub fn requests(&self) -> Vec<Rc<Exchange>> {
        let mut requests = self.all_running();
        requests.extend(self.queue.borrow().iter().cloned());
        requests.sort_by_key(|exchange| exchange.begun());
        requests
    }

    /// Returns the handlers that run, but for those that were asked to end when their clients left.
    pub fn handlers(&self) -> Vec<Rc<dyn Handler>> {
        let running = self.all_running().into_iter().filter(|exchange| !exchange.is_over() || !exchange.is_to_end());
        running.filter_map(|exchange| exchange.handler()).collect()
    }

    /// Cancels the handlers of all requests: also those that go on after their response, or although their client has left, and those
    /// that have not begun.
    pub fn cancel_all(&self, reason: Reason) {
        let queued: Vec<_> = self.queue.borrow().iter().cloned().collect();
        self.all_running().iter().chain(&queued).for_each(|exchange| exchange.cancel(reason));
    }

    /// Starts a handler for a request, or queues the request.
    pub fn dispatch(&self, exchange: &Rc<Exchange>) {
        if self.has_capacity(exchange) {
            self.start(exchange);
        } else if self.would_time_out() {
            self.shared.refused.set(self.shared.refused.get() + 1);
            exchange.refuse(StatusCode::SERVICE_UNAVAILABLE);
        } else {
            if self.queue.borrow().is_empty() {
                self.pace.restart(self.shared.event_loop.now.get());
            }
            self.queue.borrow_mut().push_back(Rc::clone(exchange));
        }
    }

    fn start(&self, exchange: &Rc<Exchange>) {
        exchange.start(self.running.borrow_mut().insert(Rc::clone(exchange)));
        self.next_slow.set(self.next_slow.get().min(exchange.slow_at()));
        match exchange.take_own() {
            Some(begin) => begin(exchange),
            None => self.push(Event::Begin(Rc::clone(exchange))),
        }
    }

    /// Answers a request for a file.
    pub fn answer_with_file(&self, exchange: &Rc<Exchange>, head: Head, body: Body) {
        self.shared.files.set(self.shared.files.get() + 1);
        exchange.respond(head, body);
    }

    /// A handler has returned: the next request may start.
    pub fn handler_finished(&self, id: usize) {
        let exchange = self.running.borrow_mut().try_remove(id);
        drop(exchange);
        self.start_queued();
    }

    /// Returns `true` if a request may begin. Those with a WebSocket do not count: they are limited by their connections. Nor do those
    /// whose body is still received for a FastCGI server: large bodies have a limit of their own. Another limit of the owner's is not
    /// for what FastCGI servers answer.
    fn has_capacity(&self, exchange: &Exchange) -> bool {
        if self.is_full() {
            return false;
        }
        if exchange.is_own() {
            !exchange.has_large_body() || self.receiving_large.get() < self.shared.settings.max_concurrency
        } else {
            self.running_count().saturating_sub(self.passed_on.get()) < self.shared.most_handlers.get()
        }
    }

    /// Returns `true` if no request may begin, whatever it is for.
    fn is_full(&self) -> bool {
        let uncounted = self.websockets.get() + self.receiving.get();
        self.running_count().saturating_sub(uncounted) >= self.shared.settings.max_concurrency
    }

    /// Starts queued requests while there is capacity.
    pub fn start_queued(&self) {
        while !self.is_full() {
            let next = {
                let mut queue = self.queue.borrow_mut();
                // Where there are sites, the first one may wait for what another one does not need.
                let most = if self.sites.borrow().is_empty() { 1 } else { queue.len() };
                let place = queue.iter().take(most).position(|exchange| self.has_capacity(exchange));
                place.and_then(|place| queue.remove(place))
            };
            let Some(next) = next else { return };
            if next.is_queued() {
                self.pace.record(self.shared.event_loop.now.get());
                self.start(&next);
            }
        }
    }

    /// Returns `true` if a request queued now would be refused after `queue_timeout`, at the pace at which others have started since
    /// the queue was last empty. Refused immediately, it does not lengthen the queue, and its client can go elsewhere.
    fn would_time_out(&self) -> bool {
        let limit = self.shared.settings.queue_timeout;
        limit > 0
            && self
                .pace
                .wait(self.queue.borrow().len(), self.shared.event_loop.now.get())
                .is_some_and(|wait| wait >= limit)
    }

    /// Removes a request from the queue.
    pub fn remove_queued(&self, exchange: &Rc<Exchange>) {
        self.queue.borrow_mut().retain(|other| !Rc::ptr_eq(other, exchange));
    }

    /// Forgets all requests. Of the events, only those to be logged remain.
    pub fn clear(&self) {
        self.connections.clear();
        self.queue.take();
        self.running.take();
        self.sites.borrow().iter().for_each(|site| site.backend.close());
        self.notices.borrow_mut().retain(|notice| matches!(notice, Notice::Event(Event::Log(_))));
    }
}
