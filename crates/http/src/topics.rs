//! Who has subscribed to which topic in this process, and the way to other processes.
//!
//! A message comes to the subscriptions of this process at once. Under `spindle serve` the command passes it on to all other workers:
//! a coroutine beside `Server::run()` waits for what comes from there, and for room for what is left to be sent.

use bytes::Bytes;
use spindle_php::coroutine::{self, Direction, WaitQueue, WaitSet};
use spindle_server::{Key, Rest, Told, Uplink};
use spindle_zend::{PhpResult, PhpStatic, Thrown, Value};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::rc::{Rc, Weak};

/// Why a subscription has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Closed,
    /// More messages have come than it has room for.
    Overrun,
    /// Messages were lost between processes.
    Lost,
}

/// What has come for a subscription.
pub struct Inbox {
    messages: RefCell<VecDeque<Bytes>>,
    capacity: usize,
    end: Cell<Option<End>>,
    pub waiting: WaitQueue,
}

impl Inbox {
    /// Returns a message, or the end behind the last one; `None` if there is nothing yet.
    pub fn take(&self) -> Option<Result<Bytes, End>> {
        let message = self.messages.borrow_mut().pop_front();
        message.map(Ok).or_else(|| self.end.get().map(Err))
    }

    /// Adds a message. Returns `false` if no more are to come.
    fn offer(&self, message: &Bytes) -> bool {
        if self.end.get().is_some() {
            return false;
        }
        if self.is_full() {
            self.end(End::Overrun);
            return false;
        }
        self.messages.borrow_mut().push_back(message.clone());
        self.waiting.wake_one();
        true
    }

    fn is_full(&self) -> bool {
        self.messages.borrow().len() >= self.capacity
    }

    /// What has come before is still received.
    fn end(&self, end: End) {
        if self.end.get().is_none() {
            self.end.set(Some(end));
            self.waiting.wake_all();
        }
    }

    /// Nothing is received any more.
    pub fn close(&self) {
        self.messages.take();
        self.end(End::Closed);
    }
}

/// Those of a topic.
#[derive(Default)]
struct Subscribers {
    inboxes: Vec<Weak<Inbox>>,
    /// One of them had no room for another message when the last one had come.
    is_any_full: bool,
}

static SUBSCRIBERS: PhpStatic<RefCell<BTreeMap<Vec<u8>, Subscribers>>> = PhpStatic::new(RefCell::new(BTreeMap::new()));

/// The way to the other workers.
struct Link {
    uplink: RefCell<Uplink>,
    set: WaitSet,
    is_listening: Cell<bool>,
}

static LINK: PhpStatic<RefCell<Option<Rc<Link>>>> = PhpStatic::new(RefCell::new(None));

/// Returns an inbox to which messages of a topic come from now on.
pub fn subscribe(name: &[u8], capacity: usize) -> Rc<Inbox> {
    let messages = RefCell::default();
    let inbox = Rc::new(Inbox { messages, capacity, end: Cell::new(None), waiting: WaitQueue::new() });
    let mut all = SUBSCRIBERS.borrow_mut();
    let subscribers = all.entry(name.to_vec()).or_default();
    // Those that are gone make room before the list grows.
    if subscribers.inboxes.len() == subscribers.inboxes.capacity() {
        subscribers.inboxes.retain(|inbox| inbox.strong_count() > 0);
    }
    subscribers.inboxes.push(Rc::downgrade(&inbox));
    inbox
}

/// Forgets a topic that no one has subscribed to any more.
pub fn left(name: &[u8]) {
    let mut all = SUBSCRIBERS.borrow_mut();
    if all.get(name).is_some_and(|subscribers| subscribers.inboxes.iter().all(|inbox| inbox.strong_count() == 0)) {
        all.remove(name);
    }
}

/// Gives a message to all that have subscribed, in all processes.
pub fn publish(name: &[u8], message: &[u8]) {
    deliver(name, &Bytes::copy_from_slice(message));
    let Some(link) = LINK.borrow().clone() else { return };
    let mut uplink = link.uplink.borrow_mut();
    if uplink.is_of_this_process() {
        uplink.publish(name, message); // the others are told if it is lost
        if !uplink.flush() {
            link.set.wake();
        }
    }
}

fn deliver(name: &[u8], message: &Bytes) {
    if let Some(subscribers) = SUBSCRIBERS.borrow_mut().get_mut(name) {
        subscribers.is_any_full = false;
        let is_any_full = &mut subscribers.is_any_full;
        subscribers.inboxes.retain(|inbox| {
            let Some(inbox) = inbox.upgrade() else { return false };
            let stays = inbox.offer(message);
            *is_any_full |= inbox.is_full();
            stays
        });
    }
}

/// Lets subscribers of a topic that have no room run once, before the next message: who could have received what has come does not
/// count as slow.
///
/// # Errors
/// The coroutine is cancelled.
pub fn give_way(name: &[u8]) -> Result<(), Thrown> {
    let is_any_full = SUBSCRIBERS.borrow().get(name).is_some_and(|subscribers| subscribers.is_any_full);
    if is_any_full { coroutine::suspend() } else { Ok(()) }
}

fn told(told: Told) {
    match told {
        Told::Message { name, message } => deliver(&name, &message),
        Told::Lost => {
            let all = SUBSCRIBERS.take();
            all.values().flat_map(|all| &all.inboxes).filter_map(Weak::upgrade).for_each(|inbox| inbox.end(End::Lost));
        }
    }
}

/// Has messages passed on.
pub fn connect(uplink: Uplink) {
    let link = Link { uplink: RefCell::new(uplink), set: WaitSet::new(), is_listening: Cell::new(false) };
    LINK.replace(Some(Rc::new(link)));
}

/// Begins to take what other workers publish.
///
/// # Errors
/// There can be no coroutine.
pub fn listen() -> Result<(), Thrown> {
    let Some(link) = LINK.borrow().clone() else { return Ok(()) };
    if !link.is_listening.replace(true) {
        coroutine::spawn(move || serve(&link))?;
    }
    Ok(())
}

fn serve(link: &Link) -> PhpResult {
    let fd = link.uplink.borrow().as_fd().as_raw_fd();
    coroutine::descriptor_opened(link.uplink.borrow().as_fd(), false);
    let (reads, writes) = (Watch::default(), Watch::default());
    loop {
        let (all, rest) = link.uplink.borrow_mut().receive();
        for one in all {
            if let Told::Message { name, .. } = &one {
                give_way(name)?;
            }
            told(one);
        }
        let is_sent = link.uplink.borrow_mut().flush();
        match rest {
            Rest::Ended => return Ok(Value::NULL),
            Rest::Perhaps => {
                coroutine::suspend()?;
                continue;
            }
            Rest::Nothing => {}
        }
        reads.begin(&link.set, fd, Direction::Read, &writes)?;
        if !is_sent {
            writes.begin(&link.set, fd, Direction::Write, &reads)?;
        }
        link.set.wait("Topic", None)?;
        while let Some(key) = link.set.next() {
            if reads.ended(key) || writes.ended(key) {
                link.set.descriptor_is_done();
            }
        }
    }
}

/// A wait for the socket.
#[derive(Default)]
struct Watch(Cell<Option<Key>>);

impl Watch {
    fn begin(&self, set: &WaitSet, fd: RawFd, direction: Direction, other: &Watch) -> Result<(), Thrown> {
        if self.0.get().is_none() {
            let key = set.watch_used(fd, direction, true, |key| other.0.get() == Some(key));
            self.0.set(
                key.map_err(|error| crate::errors::server_error(&format!("Topics cannot be passed on: {error}")))?,
            );
        }
        Ok(())
    }

    fn ended(&self, key: Key) -> bool {
        let is_this = self.0.get() == Some(key);
        if is_this {
            self.0.set(None);
        }
        is_this
    }
}

/// Ends all. At the end of the request.
pub fn forget() {
    SUBSCRIBERS.take();
    LINK.take();
}
