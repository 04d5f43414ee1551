//! A server, its event loop and its handlers, on the thread of a test: time is a number, and clients are sockets.
#![allow(dead_code)]

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use spindle_server::{
    Address, Body, Direction, Driver, Entry, Exchange, Handler, Head, Key, Listener, Reason, Server, Settings, Tls,
};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Loop {
    now: Cell<u64>,
    next: Cell<Key>,
    waits: RefCell<HashMap<Key, (RawFd, Direction)>>,
    wakes: Cell<u64>,
    releases: Cell<u64>,
    open: Cell<i64>,
    jobs: RefCell<Vec<(Key, Job)>>,
    holds_jobs: Cell<bool>,
    has_no_threads: Cell<bool>,
}

type Job = Box<dyn FnOnce() + Send>;

struct Shared(Rc<Loop>);

impl Driver for Shared {
    fn now(&self) -> u64 {
        self.0.now.get()
    }

    fn watch(
        &self,
        fd: BorrowedFd<'_>,
        direction: Direction,
        _: bool,
        is_used: &dyn Fn(Key) -> bool,
    ) -> io::Result<Option<Key>> {
        let key = self.0.next.get() + 1;
        assert!(!is_used(key));
        self.0.next.set(key);
        self.0.waits.borrow_mut().insert(key, (fd.as_raw_fd(), direction));
        Ok(Some(key))
    }

    fn submit(&self, job: Job, is_used: &dyn Fn(Key) -> bool) -> Option<Key> {
        if self.0.has_no_threads.get() {
            return None;
        }
        let key = self.0.next.get() + 1;
        assert!(!is_used(key));
        self.0.next.set(key);
        self.0.jobs.borrow_mut().push((key, job));
        Some(key)
    }

    fn unwatch(&self, _: RawFd, key: Key) {
        self.0.waits.borrow_mut().remove(&key);
    }

    fn emptied(&self, _: BorrowedFd<'_>, _: Direction) {}

    fn opened(&self, _: BorrowedFd<'_>, _: bool) {
        self.0.open.set(self.0.open.get() + 1);
    }

    fn closing(&self, _: BorrowedFd<'_>) {
        self.0.open.set(self.0.open.get() - 1);
    }

    fn wake(&self) {
        self.0.wakes.set(self.0.wakes.get() + 1);
    }

    fn release_memory(&self) {
        self.0.releases.set(self.0.releases.get() + 1);
    }
}

/// What the server says, of all exchanges, in its order.
pub enum Event {
    Begin(Rc<Exchange>),
    Wake(Rc<Exchange>),
    Cancel(Rc<Exchange>, Reason),
    Log(Box<Entry>),
    Slow(Rc<Exchange>, u64),
}

type Events = Rc<RefCell<VecDeque<Event>>>;

/// The handler of an exchange, which says so.
struct Telling {
    exchange: Weak<Exchange>,
    to: Events,
    goes_on: Rc<Cell<bool>>,
}

impl Handler for Telling {
    fn wake(&self) {
        self.to.borrow_mut().extend(self.exchange.upgrade().map(Event::Wake));
    }

    fn cancel(&self, reason: Reason) -> bool {
        self.to.borrow_mut().extend(self.exchange.upgrade().map(|exchange| Event::Cancel(exchange, reason)));
        reason != Reason::Disconnected || !self.goes_on.get()
    }

    fn is_slow(&self, duration: u64) {
        self.to.borrow_mut().extend(self.exchange.upgrade().map(|exchange| Event::Slow(exchange, duration)));
    }

    fn places(&self) -> String {
        String::new()
    }
}

/// Called for each event.
pub type OnEvent = Box<dyn FnMut(&World, Event)>;

pub struct World {
    pub server: Server,
    events: Rc<Loop>,
    handler: RefCell<Option<OnEvent>>,
    pub address: String,
    pub seen: RefCell<Vec<String>>,
    pub logged: RefCell<Vec<Entry>>,
    told: Events,
    tellings: RefCell<Vec<Rc<Telling>>>,
    /// Handlers go on whose clients have left.
    pub goes_on: Rc<Cell<bool>>,
    /// What has come of the bodies of exchanges that are echoed.
    bodies: RefCell<HashMap<*const Exchange, Vec<u8>>>,
}

/// How long a test waits for what it expects.
const HANG: Duration = Duration::from_secs(250);
pub const SECOND: u64 = 1_000_000_000;

impl World {
    pub fn new(settings: Settings, handler: impl FnMut(&World, Event) + 'static) -> World {
        World::with_tls(settings, None, handler)
    }

    pub fn with_tls(settings: Settings, tls: Option<Rc<Tls>>, handler: impl FnMut(&World, Event) + 'static) -> World {
        let listener = Listener::bind(&Address::parse("127.0.0.1:0").unwrap()).unwrap();
        World::at(listener, settings, tls, handler)
    }

    pub fn at(
        listener: Listener,
        settings: Settings,
        tls: Option<Rc<Tls>>,
        handler: impl FnMut(&World, Event) + 'static,
    ) -> World {
        let events = Rc::new(Loop::default());
        events.now.set(1000 * SECOND);
        let server = Server::new(settings, Box::new(Shared(Rc::clone(&events))));
        let address = listener.address().to_owned();
        server.listen(listener, tls);
        World {
            server,
            events,
            handler: RefCell::new(Some(Box::new(handler))),
            address,
            seen: RefCell::default(),
            logged: RefCell::default(),
            told: Events::default(),
            tellings: RefCell::default(),
            goes_on: Rc::default(),
            bodies: RefCell::default(),
        }
    }

    /// A server whose handler answers each request at once, with its method, its target and its body.
    pub fn echo(settings: Settings) -> World {
        World::new(settings, answer_at_once)
    }

    pub fn advance(&self, nanoseconds: u64) {
        self.events.now.set(self.events.now.get() + nanoseconds);
        self.step();
    }

    /// Lets time pass in which the server does nothing.
    pub fn hold_up(&self, nanoseconds: u64) {
        self.events.now.set(self.events.now.get() + nanoseconds);
    }

    pub fn open_descriptors(&self) -> i64 {
        self.events.open.get()
    }

    /// Jobs of other threads do not end from now on.
    pub fn hold_jobs(&self, holds: bool) {
        self.events.holds_jobs.set(holds);
    }

    /// Returns how many jobs have not ended.
    pub fn jobs(&self) -> usize {
        self.events.jobs.borrow().len()
    }

    /// Jobs are refused from now on.
    pub fn refuse_jobs(&self) {
        self.events.has_no_threads.set(true);
    }

    pub fn wakes(&self) -> u64 {
        self.events.wakes.get()
    }

    /// Returns how often memory was to be given back to the system.
    pub fn releases(&self) -> u64 {
        self.events.releases.get()
    }

    /// Takes what the server says next.
    pub fn next_event(&self) -> Option<Event> {
        self.tellings.borrow_mut().retain(|telling| telling.exchange.strong_count() > 0);
        let before = self.told.borrow_mut().pop_front();
        before.or_else(|| {
            // Lines of the error log are for no handler.
            let next = loop {
                match self.server.next_event() {
                    Some(spindle_server::Event::Error(_, line)) => {
                        self.seen.borrow_mut().push(String::from_utf8(line).unwrap());
                    }
                    next => break next,
                }
            };
            let event = next.map(|event| match event {
                spindle_server::Event::Begin(exchange) => {
                    let (weak, to) = (Rc::downgrade(&exchange), Rc::clone(&self.told));
                    let telling = Rc::new(Telling { exchange: weak, to, goes_on: Rc::clone(&self.goes_on) });
                    exchange.set_handler(Rc::downgrade(&telling) as Weak<dyn Handler>);
                    self.tellings.borrow_mut().push(telling);
                    Event::Begin(exchange)
                }
                spindle_server::Event::Log(entry) => Event::Log(entry),
                spindle_server::Event::Error(..) => unreachable!("it was taken"),
            });
            let mut told = self.told.borrow_mut();
            told.extend(event);
            told.pop_front()
        })
    }

    /// One turn of the server. Events stay.
    pub fn turn(&self) {
        self.poll();
        self.server.turn();
    }

    /// One turn of the server, which knows what has happened before and not what `meanwhile` does.
    pub fn turn_after(&self, meanwhile: impl FnOnce()) {
        let start = Instant::now();
        while self.poll() == 0 {
            assert!(start.elapsed() < HANG, "nothing happens");
            std::thread::yield_now();
        }
        meanwhile();
        self.server.turn();
    }

    /// Takes events until there is nothing more to do at once.
    pub fn step(&self) {
        loop {
            self.poll();
            self.server.turn();
            let mut any = false;
            while let Some(event) = self.next_event() {
                any = true;
                if let Event::Log(entry) = event {
                    self.logged.borrow_mut().push(*entry);
                    continue;
                }
                let handler = self.handler.borrow_mut().take();
                if let Some(mut handler) = handler {
                    handler(self, event);
                    *self.handler.borrow_mut() = Some(handler);
                }
            }
            if !any && !self.server.has_work() {
                return;
            }
        }
    }

    /// Returns how many waits were over.
    fn poll(&self) -> usize {
        if !self.events.holds_jobs.get() {
            let jobs = self.events.jobs.take();
            for (key, job) in jobs {
                job();
                assert!(self.server.ready(key));
            }
        }
        let waits: Vec<_> = self.events.waits.borrow().iter().map(|(key, wait)| (*key, *wait)).collect();
        let mut polled: Vec<libc::pollfd> = waits
            .iter()
            .map(|(_, (fd, direction))| libc::pollfd {
                fd: *fd,
                events: if *direction == Direction::Read { libc::POLLIN } else { libc::POLLOUT },
                revents: 0,
            })
            .collect();
        // SAFETY: as many entries as there are.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, 0) };
        let over: Vec<_> = waits.iter().zip(&polled).filter(|(_, one)| one.revents != 0).collect();
        for ((key, _), _) in &over {
            self.events.waits.borrow_mut().remove(key);
            self.server.ready(*key);
        }
        over.len()
    }

    /// Runs the loop until something is there.
    pub fn until<T>(&self, mut what: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            self.step();
            if let Some(found) = what() {
                return found;
            }
            assert!(start.elapsed() < HANG, "it does not come; seen: {:?}", self.seen.borrow());
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// A client that the server may not have accepted yet.
    pub fn client_without_wait(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, buffer: RefCell::default(), is_closed: Cell::new(false), is_reset: Cell::new(false) }
    }

    pub fn client(&self) -> Client {
        let before = self.server.stats().accepted;
        let client = self.client_without_wait();
        self.until(|| (self.server.stats().accepted > before).then_some(()));
        client
    }

    /// Sends bytes on a new connection, and returns all that comes until the server closes it.
    pub fn exchange(&self, bytes: impl AsRef<[u8]>) -> String {
        let client = self.client();
        client.send(self, bytes);
        client.rest(self)
    }
}

/// What the handler of [`World::echo`] does.
pub fn answer_at_once(world: &World, event: Event) {
    match event {
        Event::Begin(exchange) | Event::Wake(exchange) => echo(world, &exchange),
        Event::Log(_) | Event::Slow(..) => {}
        Event::Cancel(exchange, why) => {
            world.seen.borrow_mut().push(format!("cancelled: {why:?}"));
            exchange.finish_handler();
        }
    }
}

pub fn echo(world: &World, exchange: &Rc<Exchange>) {
    let mut bodies = world.bodies.borrow_mut();
    let body = bodies.entry(Rc::as_ptr(exchange)).or_default();
    loop {
        match exchange.read() {
            spindle_server::Incoming::Data(bytes) => body.extend_from_slice(&bytes),
            spindle_server::Incoming::Pending => return,
            spindle_server::Incoming::End => break,
            spindle_server::Incoming::TooLarge => {
                answer(exchange, 413, "too large");
                return exchange.finish_handler();
            }
            spindle_server::Incoming::Failed | spindle_server::Incoming::Malformed => {
                world.seen.borrow_mut().push("body failed".into());
                return exchange.finish_handler();
            }
        }
    }
    let head = exchange.head();
    let body = String::from_utf8_lossy(&bodies.remove(&Rc::as_ptr(exchange)).unwrap_or_default()).into_owned();
    let text = format!("[{} {} {}]", head.method, head.uri, body);
    world.seen.borrow_mut().push(text.clone());
    answer(exchange, 200, &text);
    exchange.finish_handler();
}

pub fn answer(exchange: &Rc<Exchange>, status: u16, text: &str) {
    let head = Head { status: StatusCode::from_u16(status).unwrap(), headers: HeaderMap::new() };
    exchange.respond(head, Body::Full(Bytes::copy_from_slice(text.as_bytes())));
}

pub fn why(event: &Event) -> Option<Reason> {
    if let Event::Cancel(_, why) = event { Some(*why) } else { None }
}

pub struct Client {
    stream: TcpStream,
    buffer: RefCell<Vec<u8>>,
    is_closed: Cell<bool>,
    is_reset: Cell<bool>,
}

impl Client {
    pub fn send(&self, world: &World, bytes: impl AsRef<[u8]>) {
        let mut rest = bytes.as_ref();
        while !rest.is_empty() {
            match (&self.stream).write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => world.step(),
                Err(_) => return self.is_reset.set(true), // the server has closed it
            }
        }
        world.step();
    }

    /// Sends a few bytes while the server does nothing. They have arrived when this returns.
    pub fn send_meanwhile(&self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        assert_eq!((&self.stream).write(bytes).unwrap(), bytes.len());
        let start = Instant::now();
        let mut on_the_way: libc::c_int = 1;
        while on_the_way > 0 {
            assert!(start.elapsed() < HANG, "it does not arrive");
            std::thread::yield_now();
            // SAFETY: an open descriptor, and the place of an integer.
            let asked = unsafe { libc::ioctl(self.stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut on_the_way) };
            assert_eq!(asked, 0);
        }
    }

    /// Takes as much as has come.
    pub fn fill(&self) {
        let mut bytes = [0; 65536];
        loop {
            match (&self.stream).read(&mut bytes) {
                Ok(0) => return self.is_closed.set(true),
                Ok(count) => self.buffer.borrow_mut().extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.is_reset.set(true);
                    return self.is_closed.set(true);
                }
            }
        }
    }

    /// Drops what has come.
    pub fn forget(&self) {
        self.fill();
        self.buffer.take();
    }

    pub fn text(&self) -> String {
        self.fill();
        String::from_utf8_lossy(&self.buffer.borrow()).into_owned()
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.fill();
        self.buffer.borrow().clone()
    }

    pub fn is_closed(&self) -> bool {
        self.fill();
        self.is_closed.get()
    }

    /// Returns all that has come when a text is among it.
    pub fn expect(&self, world: &World, text: &str) -> String {
        world.until(|| Some(self.text()).filter(|got| got.contains(text)))
    }

    /// Returns all that comes until the server closes the connection.
    pub fn rest(&self, world: &World) -> String {
        world.until(|| self.is_closed().then_some(()));
        self.text()
    }

    /// Returns `true` if the server has closed the connection without having read all that was sent.
    pub fn is_reset(&self) -> bool {
        self.is_reset.get()
    }

    /// Resets the connection.
    pub fn reset(self) {
        let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
        // SAFETY: an open descriptor, and an option of this size.
        let set = unsafe {
            libc::setsockopt(
                self.stream.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                (&raw const at_once).cast(),
                size_of::<libc::linger>() as libc::socklen_t,
            )
        };
        assert_eq!(set, 0);
    }

    /// Closes its direction of the connection.
    pub fn finish(&self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }
}
