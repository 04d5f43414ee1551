//! What all parts of a server share.

use crate::compress::Compressing;
use crate::ended::Ended;
use crate::event_loop::{Driver, EventLoop};
use crate::files::Root;
use crate::forwarded::Origin;
use crate::identity::{self, Ids};
use crate::settings::Settings;
use http::request::Parts;
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

/// How far the server is from its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifecycle {
    Serving,
    /// Requests are answered until this time, if there is one; then handlers are cancelled.
    Draining(Option<u64>),
    /// Handlers were cancelled; at this time connections are closed.
    Cancelling(u64),
    /// All connections were closed.
    Closed,
}

/// Settings, counters, and what tasks are woken for.
pub struct Shared {
    pub settings: Settings,
    /// How many handlers may run: another limit than that of the settings.
    pub most_handlers: Cell<usize>,
    pub event_loop: Rc<EventLoop>,
    pub lifecycle: Cell<Lifecycle>,
    /// The folders whose files are sent.
    pub roots: RefCell<Vec<Arc<Root>>>,
    pub compressing: Rc<Compressing>,
    /// How many bytes of responses wait for their clients.
    pub waiting: Arc<AtomicUsize>,
    /// How many connections have hyper's buffers.
    pub services: Cell<usize>,
    pub accepted: Cell<u64>,
    pub requests: Cell<u64>,
    pub files: Cell<u64>,
    pub refused: Cell<u64>,
    pub cancelled: Cell<u64>,
    pub handshakes_failed: Cell<u64>,
    pub ended: Ended,
    pub ids: Ids,
    /// Tasks that accept connections, and wait until one is closed or idle.
    accepting: RefCell<Vec<Waker>>,
    /// Tasks that accept connections, until the server drains.
    draining: RefCell<Vec<Waker>>,
    /// Tasks that discard what clients still send, for which a drain does not wait long.
    pub discarding: RefCell<Slab<Waker>>,
}

impl Shared {
    pub fn new(settings: Settings, driver: Box<dyn Driver>) -> Rc<Shared> {
        Rc::new(Shared {
            settings,
            most_handlers: Cell::new(usize::MAX),
            event_loop: EventLoop::new(driver),
            lifecycle: Cell::new(Lifecycle::Serving),
            roots: RefCell::default(),
            compressing: Rc::default(),
            waiting: Arc::default(),
            services: Cell::new(0),
            accepted: Cell::new(0),
            requests: Cell::new(0),
            files: Cell::new(0),
            refused: Cell::new(0),
            cancelled: Cell::new(0),
            handshakes_failed: Cell::new(0),
            ended: Ended::default(),
            ids: Ids::default(),
            accepting: RefCell::default(),
            draining: RefCell::default(),
            discarding: RefCell::default(),
        })
    }

    /// Returns the id of the request with this number: what a trusted proxy calls it, or one of this server.
    pub fn id_of(&self, number: u64, origin: Option<&Origin>, head: &Parts) -> String {
        let given = origin.and_then(|_| identity::given(&head.headers));
        given.map_or_else(|| self.ids.of(number), str::to_owned)
    }

    pub fn is_draining(&self) -> bool {
        self.lifecycle.get() != Lifecycle::Serving
    }

    /// Returns `true` if too many bytes wait for clients.
    #[inline]
    pub fn is_over_buffered(&self) -> bool {
        let most = self.settings.max_buffered;
        most > 0 && self.waiting.load(Ordering::Relaxed) > most
    }

    /// Wakes a task when a connection is closed or idle.
    pub fn notify_when_free(&self, waker: &Waker) {
        add(&self.accepting, waker);
    }

    /// A connection was closed, or is idle and may make room for a new one.
    pub fn notify_accept(&self) {
        self.accepting.take().into_iter().for_each(Waker::wake);
    }

    /// Wakes a task when the server drains.
    pub fn notify_on_drain(&self, waker: &Waker) {
        add(&self.draining, waker);
    }

    /// Wakes the tasks that a drain concerns.
    pub fn wake_draining(&self) {
        self.draining.take().into_iter().for_each(Waker::wake);
        self.discarding.borrow().iter().for_each(|(_, waker)| waker.wake_by_ref());
    }

    /// Forgets the tasks, which are gone.
    pub fn clear(&self) {
        self.accepting.take();
        self.draining.take();
    }
}

fn add(wakers: &RefCell<Vec<Waker>>, waker: &Waker) {
    let mut wakers = wakers.borrow_mut();
    if !wakers.iter().any(|other| other.will_wake(waker)) {
        wakers.push(waker.clone());
    }
}
