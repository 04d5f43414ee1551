//! The server: what its connections share, and what its owner calls.

use crate::compress::Compressing;
use crate::conn::Connection;
use crate::exchange::{Exchange, NEVER, Why};
use crate::exec::Executor;
use crate::files::Root;
use crate::io::{Direction, Side};
use crate::job;
use crate::listen::{Accepting, Listener};
use crate::log::Entry;
use crate::memory::Memory;
use crate::settings::Settings;
use crate::timer::Timers;
use crate::tls::Tls;
use http::StatusCode;
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

/// The number of a wait for a descriptor.
pub type Key = u32;

/// What a server needs of its event loop.
pub trait Driver {
    /// Returns monotonic nanoseconds.
    fn now(&self) -> u64;

    /// Begins a wait: [`Server::ready`] is to be called, once, with the key that this returns. `would_block`: the last call has
    /// shown that the descriptor is not ready. `is_used` returns `true` for the keys of other waits, of which this is to be none.
    /// Returns `None` if it may be ready.
    ///
    /// # Errors
    /// It cannot be waited for.
    fn watch(
        &self,
        fd: BorrowedFd<'_>,
        direction: Direction,
        would_block: bool,
        is_used: &dyn Fn(Key) -> bool,
    ) -> io::Result<Option<Key>>;

    /// Has a job done by another thread, as it may block: [`Server::ready`] is to be called, once, with the key that this returns,
    /// when it has ended. `is_used`: see [`watch`](Driver::watch). Returns `None` if no thread does it: it is dropped.
    fn submit(&self, job: Box<dyn FnOnce() + Send>, is_used: &dyn Fn(Key) -> bool) -> Option<Key>;

    /// Ends a wait.
    fn unwatch(&self, fd: RawFd, key: Key);

    /// The last call has taken all that there was, as far as it can tell.
    fn emptied(&self, fd: BorrowedFd<'_>, direction: Direction);

    /// A descriptor of the server's is new.
    fn opened(&self, fd: BorrowedFd<'_>, is_tcp: bool);

    /// A descriptor of the server's is about to be closed.
    fn closing(&self, fd: BorrowedFd<'_>);

    /// There is something to do: [`Server::turn`] is to be called soon. Called by what handlers do.
    fn wake(&self);

    /// Many connections have ended: memory that is free is to be given back to the system. Called once in a second at most.
    fn release_memory(&self);
}

/// Something that concerns a handler.
#[derive(Clone)]
pub enum Event {
    /// A request is to be handled; [`Exchange::handler_ends`] is called in any case.
    Begin(Rc<Exchange>),
    /// A handler that waits for its exchange may look again.
    Wake(Rc<Exchange>),
    /// A handler is to end.
    Cancel(Rc<Exchange>, Why),
    /// A request is over; only after [`Server::log_requests`].
    Log(Box<Entry>),
}

/// How the server is doing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Connections that were accepted.
    pub accepted: u64,
    /// Open connections.
    pub connections: usize,
    /// Requests that are being handled.
    pub running: usize,
    /// Those of them that have become WebSockets.
    pub websockets: usize,
    /// Requests that wait for a handler.
    pub queued: usize,
    /// Requests that have come.
    pub requests: u64,
    /// Requests that were answered with a file, or about one.
    pub files: u64,
    /// Requests that were refused without a handler.
    pub refused: u64,
    /// Handlers that were cancelled.
    pub cancelled: u64,
    /// Handshakes of TLS that have failed, or were not complete in time.
    pub handshakes_failed: u64,
    /// Bytes of responses that wait for their clients.
    pub waiting: usize,
}

/// Hashes keys, which are different numbers already.
#[derive(Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// The waits by their keys.
pub type Waits = HashMap<Key, Rc<Side>, BuildHasherDefault<KeyHasher>>;

/// What is left of the life of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Serving,
    /// Until this time, if there is one; then handlers are cancelled.
    Draining(Option<u64>),
    /// Handlers were cancelled; at this time connections are closed.
    Cancelling(u64),
    /// All connections were closed.
    Closed,
}

/// What the parts of a server share.
pub struct Shared {
    pub settings: Settings,
    pub driver: Box<dyn Driver>,
    pub exec: Executor,
    pub timers: Timers,
    /// The time at the begin of this turn.
    pub now: Cell<u64>,
    pub waits: RefCell<Waits>,
    pub jobs: RefCell<HashMap<Key, Rc<job::Wait>>>,
    pub roots: RefCell<Vec<Arc<Root>>>,
    pub connections: RefCell<Slab<Rc<Connection>>>,
    memory: Memory,
    /// How many bytes of responses wait for their clients.
    pub waiting: Arc<AtomicUsize>,
    /// Not before then are clients looked for that take nothing, where none was found.
    relieves_at: Cell<u64>,
    /// How many connections have hyper's buffers.
    pub services: Cell<usize>,
    pub accepted: Cell<u64>,
    pub requests: Cell<u64>,
    pub files: Cell<u64>,
    pub refused: Cell<u64>,
    pub cancelled: Cell<u64>,
    pub handshakes_failed: Cell<u64>,
    pub compressing: Compressing,
    /// Where sessions of TLS read what has come, before they decrypt it.
    pub scratch: RefCell<Box<[u8; SCRATCH]>>,
    events: RefCell<VecDeque<Event>>,
    /// Requests that wait for a handler.
    queue: RefCell<VecDeque<Rc<Exchange>>>,
    pace: Pace,
    /// Handlers that run, and those of them that have a WebSocket.
    running: Cell<usize>,
    pub sockets: Cell<usize>,
    life: Cell<Life>,
    /// Tasks that wait for a connection to end, and for the server to drain.
    ends: RefCell<Vec<Waker>>,
    drains: RefCell<Vec<Waker>>,
    /// Tasks that read what nobody wants, which a stop does not wait for so long.
    pub discarding: RefCell<Slab<Waker>>,
    is_in_turn: Cell<bool>,
    is_logged: Cell<bool>,
}

/// How quickly requests leave the queue.
#[derive(Default)]
pub(crate) struct Pace {
    since: Cell<u64>,
    begun: Cell<u64>,
}

impl Pace {
    /// So many have begun before anything is concluded from it.
    const LEAST: u64 = 16;
    /// When so many have begun, the older half is forgotten.
    const MOST: u64 = 256;

    /// The queue was empty.
    fn restart(&self, now: u64) {
        self.since.set(now);
        self.begun.set(0);
    }

    /// A request that has waited begins.
    fn count(&self, now: u64) {
        self.begun.set(self.begun.get() + 1);
        if self.begun.get() >= Self::MOST {
            self.begun.set(Self::MOST / 2);
            self.since.set(now - now.saturating_sub(self.since.get()) / 2);
        }
    }

    /// Returns how long a request would wait behind so many others, if that can be said.
    fn wait(&self, others: usize, now: u64) -> Option<u64> {
        let elapsed = u128::from(now.saturating_sub(self.since.get()));
        let known = others > 0 && self.begun.get() >= Self::LEAST;
        let wait = known.then(|| elapsed * (others as u128 + 1) / u128::from(self.begun.get()))?;
        Some(u64::try_from(wait).unwrap_or(u64::MAX))
    }
}

impl Shared {
    /// Adds an event.
    pub fn push(&self, event: Event) {
        self.events.borrow_mut().push_back(event);
    }

    /// Has the owner woken, if something is to be done, or the last thing has ended.
    pub fn notify(&self) {
        if !self.is_in_turn.get() && (self.has_work() || self.is_empty_while_draining()) {
            self.driver.wake();
        }
    }

    fn has_work(&self) -> bool {
        self.exec.has_ready() || !self.events.borrow().is_empty()
    }

    /// Returns `true` if the server drains, and has neither connections nor handlers.
    fn is_empty_while_draining(&self) -> bool {
        self.is_draining() && self.connection_count() == 0 && self.running.get() == 0
    }

    /// Makes an event of a request that is over, if that is wanted.
    pub fn log(&self, entry: impl FnOnce() -> Entry) {
        if self.is_logged.get() {
            self.push(Event::Log(Box::new(entry())));
        }
    }

    /// Returns `true` if a wait or a job has this key.
    pub fn is_used(&self, key: Key) -> bool {
        self.waits.borrow().contains_key(&key) || self.jobs.borrow().contains_key(&key)
    }

    pub fn is_draining(&self) -> bool {
        self.life.get() != Life::Serving
    }

    pub fn connection_count(&self) -> usize {
        self.connections.borrow().len()
    }

    /// A request has come: a handler begins, or it waits for one.
    pub fn request_comes(&self, exchange: &Rc<Exchange>) {
        if self.has_place() {
            self.begin(exchange);
        } else if self.waits_in_vain() {
            self.refused.set(self.refused.get() + 1);
            exchange.refuse(StatusCode::SERVICE_UNAVAILABLE);
        } else {
            if self.queue.borrow().is_empty() {
                self.pace.restart(self.now.get());
            }
            self.queue.borrow_mut().push_back(Rc::clone(exchange));
        }
    }

    fn begin(&self, exchange: &Rc<Exchange>) {
        self.running.set(self.running.get() + 1);
        exchange.begins();
        self.push(Event::Begin(Rc::clone(exchange)));
    }

    /// A handler has ended: the next request has its place.
    pub fn handler_has_ended(&self) {
        self.running.set(self.running.get().saturating_sub(1));
        self.begin_next();
    }

    /// Returns `true` if another handler may begin. Those with a WebSocket do not count: they are limited by their connections.
    fn has_place(&self) -> bool {
        self.running.get() - self.sockets.get() < self.settings.max_concurrency
    }

    /// Begins the next handlers, if there is room for them.
    pub fn begin_next(&self) {
        while self.has_place() {
            let next = self.queue.borrow_mut().pop_front();
            let Some(next) = next else { return };
            if next.is_queued() {
                self.pace.count(self.now.get());
                self.begin(&next);
            }
        }
    }

    /// Returns `true` if a request that came now would be refused after `queue_timeout`, by the pace at which others have begun
    /// since the queue was last empty. Refused at once it does not lengthen the queue, and its client can go elsewhere.
    fn waits_in_vain(&self) -> bool {
        let limit = self.settings.queue_timeout;
        limit > 0 && self.pace.wait(self.queue.borrow().len(), self.now.get()).is_some_and(|wait| wait >= limit)
    }

    /// A request waits for a handler no more.
    pub fn leave_queue(&self, exchange: &Rc<Exchange>) {
        self.queue.borrow_mut().retain(|other| !Rc::ptr_eq(other, exchange));
    }

    /// Wakes a task when a connection has ended.
    pub fn wake_when_one_ends(&self, waker: &Waker) {
        let mut ends = self.ends.borrow_mut();
        if !ends.iter().any(|other| other.will_wake(waker)) {
            ends.push(waker.clone());
        }
    }

    /// Wakes a task when the server drains.
    pub fn watch_drain(&self, waker: &Waker) {
        let mut drains = self.drains.borrow_mut();
        if !drains.iter().any(|other| other.will_wake(waker)) {
            drains.push(waker.clone());
        }
    }

    /// Adds a connection. Returns its number.
    pub fn connection_begins(&self, connection: Rc<Connection>) -> usize {
        let id = self.connections.borrow_mut().insert(connection);
        self.memory.grows(self.connection_count());
        id
    }

    pub fn connection_ends(&self, id: usize) {
        let connection = self.connections.borrow_mut().try_remove(id);
        drop(connection);
        self.memory.shrinks(self.connection_count(), self.now.get());
        self.one_is_idle();
    }

    /// A connection has ended, or may be closed for another one: those look again that wait for a place.
    pub fn one_is_idle(&self) {
        self.ends.take().into_iter().for_each(Waker::wake);
    }

    /// Closes the connection that has been idle for longest. If something has come on it meanwhile, it stays, and those look
    /// again that wait for a place.
    pub fn close_idle(&self) {
        let connections = self.connections.borrow();
        let idle = connections.iter().filter_map(|(_, it)| it.idle_since().map(|since| (since, it)));
        let lingering = connections.iter().filter_map(|(_, it)| it.lingers_since().map(|since| (since, it)));
        let chosen = idle.min_by_key(|(since, _)| *since).or_else(|| lingering.min_by_key(|(since, _)| *since));
        if let Some((_, connection)) = chosen {
            connection.make_room();
        }
    }

    /// Returns `true` if too much waits for clients.
    #[inline]
    pub fn is_overfull(&self) -> bool {
        let most = self.settings.max_buffered;
        most > 0 && self.waiting.load(Ordering::Relaxed) > most
    }

    /// Closes connections if too much waits for their clients. It is called when one of them has sent what it could.
    #[inline]
    pub fn limit_waiting(&self) {
        if self.is_overfull() {
            self.relieve(self.settings.max_buffered);
        }
    }

    #[cold]
    fn relieve(&self, most: usize) {
        let now = self.now.get();
        loop {
            let waiting = self.waiting.load(Ordering::Relaxed);
            let is_far_beyond = waiting > most.saturating_mul(2);
            if waiting <= most || now < self.relieves_at.get() && !is_far_beyond {
                return;
            }
            let connections = self.connections.borrow();
            let least = if is_far_beyond { 0 } else { PATIENCE };
            let worst = connections.iter().map(|(_, it)| (it.burden(now, least), it)).max_by_key(|(burden, _)| *burden);
            match worst {
                Some((burden, connection)) if burden > 0 => connection.takes_too_little(),
                _ => return self.relieves_at.set(now.saturating_add(PATIENCE / 8)),
            }
        }
    }

    fn each_connection(&self, what: impl Fn(&Connection)) {
        let all: Vec<_> = self.connections.borrow().iter().map(|(_, connection)| Rc::clone(connection)).collect();
        all.iter().for_each(|connection| what(connection));
    }

    /// Goes on with the end of the server.
    fn check_life(&self, now: u64) {
        match self.life.get() {
            Life::Draining(Some(until)) if now >= until => {
                self.each_connection(|connection| connection.cancel_all(Why::Shutdown));
                self.life.set(Life::Cancelling(now.saturating_add(self.settings.cancel_grace)));
            }
            Life::Cancelling(until) if now >= until => {
                self.each_connection(Connection::kill);
                self.life.set(Life::Closed);
            }
            _ => {}
        }
    }
}

/// A server.
pub struct Server(Rc<Shared>);

/// The size of the largest record of TLS, and some of the next one.
const SCRATCH: usize = 17 << 10;

/// How long a client may take nothing, in nanoseconds, where too much waits for all of them.
const PATIENCE: u64 = 1_000_000_000;

/// How many tasks are polled in a turn.
const TASKS: usize = 64;

impl Server {
    /// Returns a server that listens nowhere.
    pub fn new(settings: Settings, driver: Box<dyn Driver>) -> Server {
        let now = driver.now();
        Server(Rc::new(Shared {
            settings,
            driver,
            exec: Executor::default(),
            timers: Timers::default(),
            now: Cell::new(now),
            waits: RefCell::default(),
            jobs: RefCell::default(),
            roots: RefCell::default(),
            connections: RefCell::default(),
            memory: Memory::default(),
            waiting: Arc::default(),
            relieves_at: Cell::new(0),
            services: Cell::new(0),
            accepted: Cell::new(0),
            requests: Cell::new(0),
            files: Cell::new(0),
            refused: Cell::new(0),
            cancelled: Cell::new(0),
            handshakes_failed: Cell::new(0),
            compressing: Compressing::default(),
            scratch: RefCell::new(Box::new([0; SCRATCH])),
            events: RefCell::default(),
            queue: RefCell::default(),
            pace: Pace::default(),
            running: Cell::new(0),
            sockets: Cell::new(0),
            life: Cell::new(Life::Serving),
            ends: RefCell::default(),
            drains: RefCell::default(),
            discarding: RefCell::default(),
            is_in_turn: Cell::new(false),
            is_logged: Cell::new(false),
        }))
    }

    /// Accepts connections of this socket from now on. They use TLS if there are certificates.
    pub fn listen(&self, listener: Listener, tls: Option<Rc<Tls>>) {
        self.0.exec.spawn(Accepting::new(Rc::clone(&self.0), listener, tls));
        self.0.notify();
    }

    /// Returns its limits, and whom it trusts.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// From now on there is an event for each request that is over.
    pub fn log_requests(&self) {
        self.0.is_logged.set(true);
    }

    /// Sends files of a folder from now on, before any handler is asked. Of several folders the one that was added first is looked at
    /// first.
    pub fn add_files(&self, root: Root) {
        self.0.roots.borrow_mut().push(Arc::new(root));
    }

    /// Sends files of this folder alone.
    #[doc(hidden)]
    pub fn replace_files(&self, root: Root) {
        self.0.roots.take();
        self.add_files(root);
    }

    /// A wait or a job is over. Returns `false` if there is no such wait.
    pub fn ready(&self, key: Key) -> bool {
        let side = self.0.waits.borrow_mut().remove(&key);
        if let Some(side) = side {
            side.is_signalled();
            return true;
        }
        let job = self.0.jobs.borrow_mut().remove(&key);
        job.inspect(|job| job.is_signalled()).is_some()
    }

    /// Returns the exchanges whose handlers run, as far as their clients are still there.
    pub fn running(&self) -> Vec<Rc<Exchange>> {
        self.0.connections.borrow().iter().flat_map(|(_, connection)| connection.handled()).collect()
    }

    /// Does what can be done at once.
    pub fn turn(&self) {
        let shared = &self.0;
        let now = shared.driver.now();
        shared.now.set(now);
        shared.is_in_turn.set(true);
        shared.timers.expire(now);
        shared.check_life(now);
        shared.compressing.turn_begins();
        shared.exec.run(TASKS);
        shared.compressing.turn_ends();
        if shared.memory.is_due(shared.connection_count(), now) {
            shared.driver.release_memory();
        }
        shared.is_in_turn.set(false);
    }

    /// Takes the next event.
    pub fn next_event(&self) -> Option<Event> {
        self.0.events.borrow_mut().pop_front()
    }

    /// Returns `true` if the next turn has something to do.
    pub fn has_work(&self) -> bool {
        self.0.has_work()
    }

    /// Returns the time of the next turn at the latest.
    pub fn next_deadline(&self) -> Option<u64> {
        let end = match self.0.life.get() {
            Life::Draining(until) => until,
            Life::Cancelling(until) => Some(until),
            Life::Serving | Life::Closed => None,
        };
        let memory = self.0.memory.due();
        [self.0.timers.next(), end, (memory != NEVER).then_some(memory)].into_iter().flatten().min()
    }

    /// Accepts no more connections, and closes those that there are when their requests are answered. After `grace`
    /// nanoseconds handlers are cancelled; without a limit if that is `None`.
    pub fn drain(&self, grace: Option<u64>) {
        let shared = &self.0;
        let until = grace.map(|grace| shared.driver.now().saturating_add(grace));
        match shared.life.get() {
            Life::Serving => {}
            Life::Draining(before) if until.is_some_and(|until| before.is_none_or(|before| until < before)) => {}
            _ => return,
        }
        shared.life.set(Life::Draining(until));
        shared.drains.take().into_iter().for_each(Waker::wake);
        shared.discarding.borrow().iter().for_each(|(_, waker)| waker.wake_by_ref());
        shared.each_connection(Connection::drain);
        shared.driver.wake();
    }

    /// Returns `true` if the server has drained, and has nothing left to do.
    pub fn is_drained(&self) -> bool {
        self.0.is_empty_while_draining() && !self.0.has_work()
    }

    /// Returns how the server is doing.
    pub fn stats(&self) -> Stats {
        let shared = &self.0;
        Stats {
            accepted: shared.accepted.get(),
            connections: shared.connection_count(),
            running: shared.running.get(),
            websockets: shared.sockets.get(),
            queued: shared.queue.borrow().len(),
            requests: shared.requests.get(),
            files: shared.files.get(),
            refused: shared.refused.get(),
            cancelled: shared.cancelled.get(),
            handshakes_failed: shared.handshakes_failed.get(),
            waiting: shared.waiting.load(Ordering::Relaxed),
        }
    }

    /// Closes everything at once. Of the events those remain that are logged.
    pub fn close(&self) {
        let shared = &self.0;
        shared.is_in_turn.set(true); // nobody needs to be woken
        shared.life.set(Life::Closed);
        shared.exec.clear();
        shared.connections.take();
        shared.queue.take();
        shared.events.borrow_mut().retain(|event| matches!(event, Event::Log(_)));
        shared.timers.clear();
        shared.ends.take();
        shared.drains.take();
        shared.waits.take();
        shared.jobs.take();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}
