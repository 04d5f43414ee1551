//! What the tasks of a server wait for: the owner's event loop, and what is known of descriptors, jobs and times.

use crate::exec::Executor;
use crate::timer::Timers;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// The number of a wait for a descriptor.
pub type Key = u32;

/// What a server needs of its event loop.
pub trait Driver {
    /// Returns monotonic nanoseconds.
    fn now(&self) -> u64;

    /// Begins a wait: [`Server::ready`](crate::Server::ready) is to be called, once, with the key that this returns. `would_block`: the last call has
    /// shown that the descriptor is not ready. `is_used` returns `true` for keys of other waits, which must not be returned.
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

    /// Has another thread run a job that may block: when it has ended, [`Server::ready`](crate::Server::ready) is to be called,
    /// once, with the key that this returns. `is_used`: see [`watch`](Driver::watch). Returns `None` if no thread does it, and
    /// drops the job.
    fn submit(&self, job: Box<dyn FnOnce() + Send>, is_used: &dyn Fn(Key) -> bool) -> Option<Key>;

    /// Ends a wait.
    fn unwatch(&self, fd: RawFd, key: Key);

    /// The last call has drained the descriptor, as far as it can tell.
    fn emptied(&self, fd: BorrowedFd<'_>, direction: Direction);

    /// A descriptor of the server's is new.
    fn opened(&self, fd: BorrowedFd<'_>, is_tcp: bool);

    /// A descriptor of the server's is about to be closed.
    fn closing(&self, fd: BorrowedFd<'_>);

    /// There is something to do: [`Server::turn`](crate::Server::turn) is to be called soon. Called when handlers do something.
    fn wake(&self);

    /// Many connections have ended: memory that is free is to be given back to the system. Called at most once a second.
    fn release_memory(&self);
}

/// A direction in which a descriptor is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Data can be read or a connection accepted.
    Read,
    /// Data can be written.
    Write,
}

/// Hashes keys, which are different numbers already.
#[derive(Default)]
struct KeyHasher(u64);

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

/// A wait for a descriptor or a job.
#[derive(Default)]
struct Wait {
    /// It has ended. For a descriptor: the next call may succeed.
    is_over: Cell<bool>,
    /// The key with which the event loop reports it, while it is registered.
    key: Cell<Option<Key>>,
    waker: RefCell<Option<Waker>>,
}

impl Wait {
    fn end(&self) {
        self.key.set(None);
        self.is_over.set(true);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn set_waker(&self, cx: &Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        if waker.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
    }
}

/// The tasks of a server, and what they wait for.
pub struct EventLoop {
    pub driver: Box<dyn Driver>,
    pub exec: Executor,
    pub timers: Timers,
    /// The time at which this turn began.
    pub now: Cell<u64>,
    waits: RefCell<HashMap<Key, Rc<Wait>, BuildHasherDefault<KeyHasher>>>,
    /// Where TLS sessions read encrypted data before they decrypt it.
    pub scratch: RefCell<Box<[u8; SCRATCH]>>,
}

/// The size of the largest TLS record, and some of the next one.
const SCRATCH: usize = 17 << 10;

impl EventLoop {
    pub fn new(driver: Box<dyn Driver>) -> Rc<EventLoop> {
        Rc::new(EventLoop {
            now: Cell::new(driver.now()),
            driver,
            exec: Executor::default(),
            timers: Timers::default(),
            waits: RefCell::default(),
            scratch: RefCell::new(Box::new([0; SCRATCH])),
        })
    }

    /// Ends the wait with this key. Returns `false` if there is none.
    pub fn signal(&self, key: Key) -> bool {
        let wait = self.waits.borrow_mut().remove(&key);
        wait.inspect(|wait| wait.end()).is_some()
    }

    fn is_used(&self, key: Key) -> bool {
        self.waits.borrow().contains_key(&key)
    }

    fn register(&self, key: Key, wait: &Rc<Wait>) {
        wait.key.set(Some(key));
        self.waits.borrow_mut().insert(key, Rc::clone(wait));
    }

    /// Drops all tasks, and forgets what they waited for.
    pub fn clear(&self) {
        self.exec.clear();
        self.timers.clear();
        self.waits.take();
    }
}

/// One direction of a descriptor.
pub struct Side {
    direction: Direction,
    /// The last call would have blocked, so that the kernel need not be asked before a wait.
    would_block: Cell<bool>,
    wait: Rc<Wait>,
}

impl Side {
    /// Returns a side that may be ready.
    pub fn new(direction: Direction) -> Side {
        let side = Side { direction, would_block: Cell::new(false), wait: Rc::default() };
        side.set_ready();
        side
    }

    /// The next call may succeed, although no wait has ended.
    pub fn set_ready(&self) {
        self.wait.is_over.set(true);
    }

    /// Returns `true` if a wait has begun and not ended.
    pub fn is_waiting(&self) -> bool {
        self.wait.key.get().is_some()
    }

    /// Calls `attempt` when it may succeed, until it would not block.
    pub fn poll<T>(
        &self,
        event_loop: &EventLoop,
        fd: BorrowedFd<'_>,
        cx: &mut Context<'_>,
        mut attempt: impl FnMut() -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        loop {
            if self.wait.is_over.get() {
                match attempt() {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.wait.is_over.set(false);
                        self.would_block.set(true);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    result => return Poll::Ready(result),
                }
            }
            if self.wait.key.get().is_none() {
                let is_used = |key: Key| event_loop.is_used(key);
                match event_loop.driver.watch(fd, self.direction, self.would_block.take(), &is_used)? {
                    Some(key) => event_loop.register(key, &self.wait),
                    None => {
                        self.set_ready();
                        continue;
                    }
                }
            }
            self.wait.set_waker(cx);
            return Poll::Pending;
        }
    }

    /// A call has taken all there was: the next one would block, unless more has come meanwhile.
    pub fn set_drained(&self, event_loop: &EventLoop, fd: BorrowedFd<'_>) {
        self.wait.is_over.set(false);
        event_loop.driver.emptied(fd, self.direction);
    }

    /// Cancels the wait that is registered.
    pub fn cancel(&self, event_loop: &EventLoop, fd: RawFd) {
        if let Some(key) = self.wait.key.take() {
            event_loop.waits.borrow_mut().remove(&key);
            event_loop.driver.unwatch(fd, key);
        }
        self.wait.waker.take();
    }
}

/// Work that may block, on a thread of the event loop. It keeps running when this is dropped: it owns all that it uses.
pub struct Job<T> {
    result: Arc<Mutex<Option<T>>>,
    wait: Rc<Wait>,
}

impl<T: Send + 'static> Job<T> {
    /// Starts the work.
    pub fn spawn(event_loop: &EventLoop, work: impl FnOnce() -> T + Send + 'static) -> Job<T> {
        let job = Job { result: Arc::default(), wait: Rc::default() };
        let result = Arc::clone(&job.result);
        let run = Box::new(move || {
            let done = work();
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        });
        match event_loop.driver.submit(run, &|key| event_loop.is_used(key)) {
            Some(key) => event_loop.register(key, &job.wait),
            None => job.wait.end(),
        }
        job
    }

    /// Polls for what the work has returned; `None` if no thread has done it. Not to be called again when it is ready.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if self.wait.is_over.get() {
            return Poll::Ready(self.result.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
        self.wait.set_waker(cx);
        Poll::Pending
    }
}
