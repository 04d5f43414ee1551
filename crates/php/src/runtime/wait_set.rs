//! Waits of one coroutine for many awaitables and descriptors at once.

use crate::runtime::awaiting;
use crate::runtime::coroutine::{COROUTINE, Info};
use crate::runtime::failure;
use crate::runtime::moments;
use crate::runtime::park::{after_signal, cannot_await, may_wait};
use crate::runtime::scheduler::{Core, Runtime, existing, rt};
use crate::runtime::suspension;
use spindle_core::sched::{Target, WaitReason, WaitSetId, WakeReason};
use spindle_reactor::{Interest, Reactor, Readiness, Registration, Waiter};
use spindle_zend::{Object, Thrown};
use std::cell::Cell;
use std::io;
use std::os::fd::RawFd;

/// The wait of a [`WaitSet`] that was registered. No other wait has the same key, unless 2^32 others were registered between.
pub type Key = u32;

/// Waits for many awaitables and descriptors, each with a [`Key`]. One coroutine at a time serves it: it calls
/// [`wait`](WaitSet::wait), and takes the keys of the waits that are over with [`next`](WaitSet::next). A wait is registered
/// once and ends once; how many there are does not matter to one that ends.
///
/// That a wait for a descriptor is over is a hint: the caller asks the descriptor again. That of an awaitable is over when
/// this is complete: the caller takes the result with [`take`](WaitSet::take), or leaves it with
/// [`unwatch`](WaitSet::unwatch), by which a failure that counts as awaited becomes an unawaited one again.
#[derive(Default)]
pub struct WaitSet {
    /// The set, and the request it belongs to.
    id: Cell<Option<(u64, WaitSetId)>>,
    descriptors: Cell<usize>,
}

/// The direction of a wait for a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Data can be read or a connection accepted.
    Read,
    /// Data can be written.
    Write,
}

impl Direction {
    fn interest(self) -> Interest {
        match self {
            Direction::Read => Interest::READ,
            Direction::Write => Interest::WRITE,
        }
    }

    /// Returns `true` if a descriptor is ready or has failed, without waiting.
    ///
    /// # Errors
    /// `EBADF` if it is not open.
    fn is_ready(self, fd: RawFd) -> io::Result<bool> {
        let events = if self == Direction::Read { libc::POLLIN } else { libc::POLLOUT };
        let mut one = libc::pollfd { fd, events, revents: 0 };
        // SAFETY: one entry, which lives through the call.
        let found = unsafe { libc::poll(&raw mut one, 1, 0) };
        match found {
            _ if one.revents & libc::POLLNVAL != 0 => Err(io::Error::from_raw_os_error(libc::EBADF)),
            1.. => Ok(true),
            0 => Ok(false),
            _ if io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => self.is_ready(fd),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl WaitSet {
    /// Returns an empty set.
    pub const fn new() -> WaitSet {
        WaitSet { id: Cell::new(None), descriptors: Cell::new(0) }
    }

    fn existing_id(&self) -> Option<WaitSetId> {
        self.id.get().filter(|(request, _)| *request == suspension::request()).map(|(_, id)| id)
    }

    fn id(&self, rt: &Runtime) -> WaitSetId {
        self.existing_id().unwrap_or_else(|| {
            let id = rt.core.borrow_mut().add_wait_set();
            self.id.set(Some((suspension::request(), id)));
            id
        })
    }

    /// Declares whether a coroutine serves the set. While none does, nothing counts as awaited by it.
    pub fn serve(&self, served: bool) {
        let rt = rt();
        let id = self.id(rt);
        rt.core.borrow_mut().serve(id, served);
    }

    /// Begins a wait for an object of type `Async\Awaitable`, as `Async\await()` does. Returns `None` if it is complete.
    ///
    /// # Errors
    /// It would never complete, or may not be awaited here.
    pub fn watch(&self, awaitable: &Object) -> Result<Option<Key>, Thrown> {
        let rt = rt();
        let target = awaiting::target(awaitable)?;
        awaiting::may_await(rt, target, awaitable)?;
        let id = self.id(rt);
        let mut core = rt.core.borrow_mut();
        if core.is_done(target) {
            return Ok(None);
        }
        let key = core.next_wait_key();
        core.watch_key(id, target, key);
        Ok(Some(key))
    }

    /// Leaves a wait for an awaitable whose result the caller has not taken, whether it is complete or not.
    pub fn unwatch(&self, awaitable: &Object, key: Key) {
        let (Some(rt), Some(id)) = (existing(), self.existing_id()) else { return };
        let Ok(target) = awaiting::target(awaitable) else { return };
        let was_pending = rt.core.borrow_mut().unwatch_key(id, target, key);
        if let (false, Target::Coroutine(co), Some(this)) = (was_pending, target, COROUTINE.of(awaitable)) {
            let route = !this.seen.get() && rt.core.borrow_mut().unmark_awaited(co);
            if route {
                failure::place_failure(rt, this);
            }
        }
    }

    /// Returns the result of an awaitable that is complete.
    ///
    /// # Errors
    /// Its failure.
    pub fn take(&self, awaitable: &Object) -> spindle_zend::PhpResult {
        awaiting::deliver(rt(), awaitable)
    }

    /// Begins a wait for a descriptor. Returns `None` if it is ready, or cannot become unready (a regular file).
    ///
    /// # Errors
    /// It is not open, or cannot be waited for.
    pub fn watch_descriptor(&self, fd: RawFd, direction: Direction) -> io::Result<Option<Key>> {
        let rt = rt();
        if !rt.active.get() && rt.can_switch() {
            moments::first_spawn(rt); // from here on it is seen when a descriptor is closed
        }
        if direction.is_ready(fd)? {
            return Ok(None);
        }
        let id = self.id(rt);
        let key = rt.core.borrow_mut().next_wait_key();
        match rt.reactor().register(fd, direction.interest(), Waiter(Core::wait_number(id, key))) {
            Registration::Waiting => {
                self.descriptors.set(self.descriptors.get() + 1);
                Ok(Some(key))
            }
            Registration::AlwaysReady => Ok(None),
            Registration::Error(error) => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Begins a wait for a descriptor that Rust code uses alone, as [`watch_descriptor`](WaitSet::watch_descriptor) does, but
    /// without asking the kernel: `would_block` says that the last call has shown that it is not ready; otherwise that is
    /// known if [`emptied`](WaitSet::emptied) was called after the last event. Returns `None` if it may be ready.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn watch_used(&self, fd: RawFd, direction: Direction, would_block: bool) -> io::Result<Option<Key>> {
        let rt = rt();
        if !rt.active.get() && rt.can_switch() {
            moments::first_spawn(rt);
        }
        let is_known = || rt.reactor().readiness(fd, direction.interest()).0 == Readiness::NotReady;
        if !would_block && !is_known() {
            return Ok(None);
        }
        let id = self.id(rt);
        let key = rt.core.borrow_mut().next_wait_key();
        match rt.reactor().register(fd, direction.interest(), Waiter(Core::wait_number(id, key))) {
            Registration::Waiting => {
                self.descriptors.set(self.descriptors.get() + 1);
                Ok(Some(key))
            }
            Registration::AlwaysReady => Ok(None),
            Registration::Error(error) => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Notes that a call on a descriptor has taken all that there was.
    pub fn emptied(&self, fd: RawFd, direction: Direction) {
        rt().reactor().record_readiness(fd, direction.interest(), Readiness::NotReady);
    }

    /// Notes that the wait of [`watch_used`](WaitSet::watch_used) whose key was signalled is over, in place of a call of
    /// [`unwatch_descriptor`](WaitSet::unwatch_descriptor).
    pub fn descriptor_is_done(&self) {
        self.descriptors.set(self.descriptors.get().saturating_sub(1));
    }

    /// Ends a wait for a descriptor, whether its key was signalled or not. To be called once for each.
    pub fn unwatch_descriptor(&self, fd: RawFd, key: Key) {
        self.descriptors.set(self.descriptors.get().saturating_sub(1));
        if let (Some(rt), Some(id)) = (existing(), self.existing_id()) {
            rt.reactor().deregister(fd, Waiter(Core::wait_number(id, key)));
        }
    }

    /// Returns the key of a wait that is over, in the order in which they ended. It may be one that was left.
    pub fn next(&self) -> Option<Key> {
        rt().core.borrow_mut().next_signalled(self.existing_id()?)
    }

    /// Ends the present or the next [`wait`](WaitSet::wait), because there is something else to do.
    pub fn wake(&self) {
        let rt = rt();
        let id = self.id(rt);
        let mut core = rt.core.borrow_mut();
        let key = core.next_wait_key();
        core.signal(id, key);
    }

    /// Returns `true`, once, in the child of a fork: all waits have to be left and begun again.
    pub fn take_lost(&self) -> bool {
        self.existing_id().is_some_and(|id| rt().core.borrow_mut().take_lost(id))
    }

    /// Waits until a wait is over, unless one is. `name` is the name of the wait in diagnostics. If nothing can end one any
    /// more, that is a deadlock, as for `Async\await()`.
    ///
    /// # Errors
    /// The coroutine is cancelled, cannot be suspended here, or a signal handler has thrown.
    pub fn wait(&self, name: &'static str) -> Result<(), Thrown> {
        self.wait_until(name, None)
    }

    /// Waits as [`wait`](WaitSet::wait) does, until this time at the latest, in nanoseconds of the event loop's clock.
    ///
    /// # Errors
    /// See [`wait`](WaitSet::wait).
    pub fn wait_until(&self, name: &'static str, deadline: Option<u64>) -> Result<(), Thrown> {
        let rt = rt();
        let id = self.id(rt);
        if !rt.can_switch() {
            return Err(cannot_await(rt));
        }
        may_wait(rt)?;
        if !rt.core.borrow_mut().begin_wait_for_key(id) {
            return Ok(());
        }
        let on = if self.descriptors.get() > 0 {
            WaitReason::External { interruptible: true, restart: false }
        } else {
            WaitReason::Coroutines
        };
        let info = Info { call: name, since: Reactor::recently(), ..Info::NONE };
        let reason = rt.park(deadline, on, true, info);
        rt.core.borrow_mut().end_wait_for_key(id);
        match reason {
            WakeReason::Interrupted => after_signal(),
            WakeReason::Cancelled => may_wait(rt),
            _ => Ok(()),
        }
    }
}

impl Drop for WaitSet {
    fn drop(&mut self) {
        if let (Some(rt), Some(id)) = (existing(), self.existing_id()) {
            rt.core.borrow_mut().drop_wait_set(id);
        }
    }
}
