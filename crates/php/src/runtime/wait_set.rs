//! Waits of one coroutine for many awaitables and descriptors together.

use crate::runtime::awaiting;
use crate::runtime::coroutine::{COROUTINE, Info, Wants};
use crate::runtime::failure;
use crate::runtime::moments;
use crate::runtime::park::{self, after_signal, cannot_await, may_wait};
use crate::runtime::scheduler::{Runtime, existing, rt, waiter};
use crate::runtime::{gate, request};
use spindle_core::sched::{Target, WaitReason, WaitSetId, WakeReason};
use spindle_reactor::{Interest, JobKind, Reactor, Readiness, Registration};
use spindle_zend::{Object, Thrown};
use std::cell::Cell;
use std::io;
use std::os::fd::RawFd;

/// The wait of a [`WaitSet`] that was registered. No other wait that is registered in any set has the same key.
pub type Key = u32;

/// Waits for many awaitables and descriptors, each with a [`Key`]. One coroutine at a time serves it: it calls
/// [`wait`](WaitSet::wait), and takes the keys of the waits that have ended with [`next`](WaitSet::next). A wait is registered once
/// and ends once; the end of one costs the same however many there are.
///
/// The end of a wait for a descriptor is a hint: the caller checks the descriptor again. A wait for an awaitable ends when the
/// awaitable is complete: the caller takes the result with [`take`](WaitSet::take), or leaves it with
/// [`unwatch`](WaitSet::unwatch), by which a failure that counts as awaited becomes an unawaited one again.
#[derive(Default)]
pub struct WaitSet {
    /// The set, and the request it belongs to.
    id: Cell<Option<(u64, WaitSetId)>>,
    /// The number of its waits that something outside of the coroutines ends.
    external: Cell<usize>,
    /// The coroutine that waits needs each of its waits to end, not just one.
    needs_all: bool,
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

    fn entry(self, fd: RawFd) -> libc::pollfd {
        let events = if self == Direction::Read { libc::POLLIN } else { libc::POLLOUT };
        libc::pollfd { fd, events, revents: 0 }
    }

    /// Returns `true` if a descriptor is ready or has failed, without waiting.
    ///
    /// # Errors
    /// `EBADF` if it is not open.
    fn is_ready(self, fd: RawFd) -> io::Result<bool> {
        let mut one = [self.entry(fd)];
        poll_now(&mut one)?;
        if one[0].revents & libc::POLLNVAL != 0 {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        Ok(one[0].revents != 0)
    }
}

/// How many entries `poll(2)` is given in one call. It refuses more than a process may have descriptors, and one descriptor may
/// have two entries.
const MAX_ENTRIES: usize = 256;

/// Asks the kernel about descriptors, without waiting.
fn poll_now(entries: &mut [libc::pollfd]) -> io::Result<()> {
    entries.chunks_mut(MAX_ENTRIES).try_for_each(poll_chunk)
}

fn poll_chunk(entries: &mut [libc::pollfd]) -> io::Result<()> {
    loop {
        // SAFETY: this many entries, which live through the call.
        let found = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, 0) };
        if found >= 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}

/// Waits for descriptors in the kernel, for at most this many nanoseconds, or until there is a caught signal that was not handled
/// yet.
fn poll_in_place(entries: &mut [libc::pollfd], nanoseconds: Option<u64>) -> io::Result<()> {
    let time = nanoseconds.map(|nanoseconds| libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as _,
        tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: a place for the set.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: the first set is filled, the second is a place for one. No signal arrives between the check and the wait.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    let mut result = Ok(());
    if !spindle_reactor::signals::pending() {
        let (entries, count) = (entries.as_mut_ptr(), entries.len() as libc::nfds_t);
        // SAFETY: this many entries, a time or none, and the mask that was replaced; all live through the call.
        if unsafe { libc::ppoll(entries, count, time, before.as_ptr()) } < 0 {
            result = Err(io::Error::last_os_error());
        }
    }
    // SAFETY: the mask that was replaced.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    match result {
        Err(error) if error.raw_os_error() != Some(libc::EINTR) => Err(error),
        _ => Ok(()),
    }
}

impl WaitSet {
    /// Returns an empty set.
    pub const fn new() -> WaitSet {
        WaitSet { id: Cell::new(None), external: Cell::new(0), needs_all: false }
    }

    /// Returns an empty set for a coroutine that is not done before all waits in it have ended.
    pub const fn for_all() -> WaitSet {
        WaitSet { id: Cell::new(None), external: Cell::new(0), needs_all: true }
    }

    fn existing_id(&self) -> Option<WaitSetId> {
        self.id.get().filter(|(request, _)| *request == request::number()).map(|(_, id)| id)
    }

    fn id(&self, rt: &Runtime) -> WaitSetId {
        self.existing_id().unwrap_or_else(|| {
            let mut core = rt.core.borrow_mut();
            let id = if self.needs_all { core.add_wait_set_for_all() } else { core.add_wait_set() };
            self.id.set(Some((request::number(), id)));
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
    /// `is_used` returns `true` for the keys of the caller's other waits.
    ///
    /// # Errors
    /// It would never complete, or may not be awaited here.
    pub fn watch(&self, awaitable: &Object, is_used: impl Fn(Key) -> bool) -> Result<Option<Key>, Thrown> {
        let rt = rt();
        let target = awaiting::target(awaitable)?;
        awaiting::may_await(rt, target, awaitable)?;
        let id = self.id(rt);
        let mut core = rt.core.borrow_mut();
        if core.is_done(target) {
            return Ok(None);
        }
        let key = core.next_wait_key(is_used);
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

    /// Begins a wait for a descriptor. Returns `None` if it is ready, or cannot become unready (a regular file). `is_used`
    /// returns `true` for the keys of the caller's other waits.
    ///
    /// # Errors
    /// It is not open, or cannot be waited for.
    pub fn watch_descriptor(
        &self,
        fd: RawFd,
        direction: Direction,
        is_used: impl Fn(Key) -> bool,
    ) -> io::Result<Option<Key>> {
        activate(rt());
        if direction.is_ready(fd)? {
            return Ok(None);
        }
        self.register(fd, direction, is_used)
    }

    /// As [`watch_descriptor`](WaitSet::watch_descriptor), for one that was not ready when [`ask`](Questions::ask) was called. No
    /// coroutine has run since.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn register(&self, fd: RawFd, direction: Direction, is_used: impl Fn(Key) -> bool) -> io::Result<Option<Key>> {
        self.begin(fd, direction.interest().and(Interest::CONSUMED), is_used)
    }

    fn begin(&self, fd: RawFd, interest: Interest, is_used: impl Fn(Key) -> bool) -> io::Result<Option<Key>> {
        let rt = rt();
        let id = self.id(rt);
        let key = rt.core.borrow_mut().next_wait_key(is_used);
        match rt.reactor().register(fd, interest, waiter(id.wakeup(key))) {
            Registration::Waiting => {
                self.add_external();
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
    pub fn watch_used(
        &self,
        fd: RawFd,
        direction: Direction,
        would_block: bool,
        is_used: impl Fn(Key) -> bool,
    ) -> io::Result<Option<Key>> {
        activate(rt());
        let is_known = || rt().reactor().readiness(fd, direction.interest()).0 == Readiness::NotReady;
        if !would_block && !is_known() {
            return Ok(None);
        }
        self.begin(fd, direction.interest(), is_used)
    }

    /// Notes that a call on a descriptor has taken all that there was.
    pub fn emptied(&self, fd: RawFd, direction: Direction) {
        rt().reactor().record_readiness(fd, direction.interest(), Readiness::NotReady);
    }

    /// Notes that the wait of [`watch_used`](WaitSet::watch_used) or [`submit`](WaitSet::submit) whose key was signalled has ended,
    /// for the first in place of a call of [`unwatch_descriptor`](WaitSet::unwatch_descriptor).
    pub fn descriptor_is_done(&self) {
        self.remove_external();
    }

    /// Gives a job to a thread of the pool for files; its key is signalled when it has ended, and then
    /// [`descriptor_is_done`](WaitSet::descriptor_is_done) is to be called. Returns `None` if there is no thread, and the job was
    /// dropped. `is_used` returns `true` for the keys of the caller's other waits.
    pub fn submit(&self, job: Box<dyn FnOnce() + Send>, is_used: impl Fn(Key) -> bool) -> Option<Key> {
        let rt = rt();
        activate(rt);
        let id = self.id(rt);
        let key = rt.core.borrow_mut().next_wait_key(is_used);
        rt.reactor().submit(JobKind::Bounded, job, waiter(id.wakeup(key))).ok()?;
        self.add_external();
        Some(key)
    }

    /// Ends a wait for a descriptor, whether its key was signalled or not. To be called once for each.
    pub fn unwatch_descriptor(&self, fd: RawFd, key: Key) {
        self.remove_external();
        if let (Some(rt), Some(id)) = (existing(), self.existing_id()) {
            rt.reactor().deregister(fd, waiter(id.wakeup(key)));
        }
    }

    /// Counts a wait that something outside of the coroutines ends, by [`wake`](WaitSet::wake): while there is one, waiting
    /// is no deadlock.
    pub fn add_external(&self) {
        self.external.set(self.external.get() + 1);
    }

    /// Takes back one [`add_external`](WaitSet::add_external).
    pub fn remove_external(&self) {
        self.external.set(self.external.get().saturating_sub(1));
    }

    /// Returns the known readiness of descriptors here.
    pub fn known(&self) -> Known {
        let rt = rt();
        activate(rt);
        Known(rt.can_switch().then(|| rt.reactor()))
    }

    /// Collects events and lets the coroutines that are ready run, without waiting. Returns `true` if there were any.
    ///
    /// # Errors
    /// The coroutine is cancelled.
    pub fn turn(&self) -> Result<bool, Thrown> {
        let rt = rt();
        rt.poll(Some(0));
        let are_others = rt.core.borrow().has_ready();
        park::suspend(rt)?;
        Ok(are_others)
    }

    /// Returns `true` if [`turn`](WaitSet::turn) could only wake what the set itself waits for: the running coroutine is the only
    /// one, there is no timer, and there was no signal.
    ///
    /// # Errors
    /// The coroutine is cancelled.
    pub fn is_alone(&self) -> Result<bool, Thrown> {
        let rt = rt();
        if rt.may_have_events() {
            return Ok(false);
        }
        park::suspend(rt).map(|()| true)
    }

    /// Waits as [`wait`](WaitSet::wait) does, with the whole process: where the coroutine cannot be suspended, or none runs any
    /// more. Returns when one of these descriptors is ready, when the time has passed, or after a signal.
    ///
    /// # Errors
    /// Nothing can end the wait; or a signal handler has thrown.
    pub fn wait_in_place(&self, asked: Questions, deadline: Option<u64>) -> Result<(), Thrown> {
        let rt = rt();
        let mut entries = asked.0;
        if entries.is_empty() && deadline.is_none() && self.external.get() == 0 {
            return Err(cannot_await(rt));
        }
        entries.sort_by_key(|entry| entry.fd);
        entries.dedup_by(|later, first| {
            let is_same = later.fd == first.fd;
            first.events |= if is_same { later.events } else { 0 };
            is_same
        });
        // Descriptors are in the kernel's hands: one that cannot be polled is found by the caller's next question.
        let _ = poll_in_place(&mut entries, deadline.map(|deadline| deadline.saturating_sub(Reactor::now())));
        drop(entries);
        rt.poll(Some(0));
        after_signal()
    }

    /// Returns `true` if a wait suspends the coroutine here. Where it does not, the process waits.
    pub fn can_suspend(&self) -> bool {
        rt().can_switch()
    }

    /// Returns the key of a wait that has ended, in the order in which they ended. It may be one that was left.
    pub fn next(&self) -> Option<Key> {
        rt().core.borrow_mut().next_signalled(self.existing_id()?)
    }

    /// Ends the present or the next [`wait`](WaitSet::wait), because there is something else to do.
    pub fn wake(&self) {
        let rt = rt();
        let id = self.id(rt);
        rt.core.borrow_mut().wake_wait_set(id);
    }

    /// Returns `true`, once, in the child of a fork: all waits have to be left and begun again.
    pub fn take_lost(&self) -> bool {
        self.existing_id().is_some_and(|id| rt().core.borrow_mut().take_lost(id))
    }

    /// Waits until a wait has ended, unless one has, or [`wake`](WaitSet::wake) was called. Returns `false` if the deadline (see
    /// [`deadline_in`]) has passed first, or a signal handler of user code has run. `name` is the name of the wait in diagnostics. If
    /// nothing can end one any more, that is a deadlock, as for `Async\await()`.
    ///
    /// # Errors
    /// The coroutine is cancelled, cannot be suspended here, or a signal handler has thrown.
    pub fn wait(&self, name: &'static str, deadline: Option<u64>) -> Result<bool, Thrown> {
        let rt = rt();
        let id = self.id(rt);
        if !rt.can_switch() {
            return Err(cannot_await(rt));
        }
        may_wait(rt)?;
        if !rt.core.borrow_mut().begin_wait_for_key(id) {
            return Ok(true);
        }
        let on = if self.external.get() > 0 {
            WaitReason::External { interruptible: true, restart: false }
        } else if deadline.is_some() {
            WaitReason::Timer
        } else {
            WaitReason::Coroutines
        };
        let wants = if self.needs_all { Wants::Watched(id) } else { Wants::Unknown };
        let info = Info { call: name, wants, since: Reactor::recently(), ..Info::NONE };
        let reason = rt.park(deadline, on, true, info);
        rt.core.borrow_mut().end_wait_for_key(id);
        match reason {
            WakeReason::Woken => Ok(true),
            WakeReason::TimedOut => Ok(false),
            WakeReason::Interrupted => after_signal().map(|()| false),
            WakeReason::Cancelled => may_wait(rt).map(|()| true),
        }
    }
}

/// The readiness of descriptors as far as it is known without asking the kernel: not at all where the running code cannot be
/// suspended.
#[derive(Clone, Copy)]
pub struct Known(Option<&'static Reactor>);

impl Known {
    /// Nothing is known.
    pub const NOTHING: Known = Known(None);

    /// Returns whether a descriptor is ready, if that is known. Readiness by the last event is reported once; if nothing has used
    /// the descriptor by the next call, its readiness is unknown, because code that uses it unseen would leave it ready for ever.
    #[inline]
    pub fn is_ready(self, fd: RawFd, direction: Direction) -> Option<bool> {
        self.0?.answer(fd, direction.interest())
    }
}

/// Descriptors of which the kernel is asked whether they are ready or have failed, or are not open.
#[derive(Default)]
pub struct Questions(Vec<libc::pollfd>);

impl Questions {
    /// Removes all, and keeps the room.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a descriptor. One that is negative is never ready.
    #[inline]
    pub fn push(&mut self, fd: RawFd, direction: Direction) {
        self.0.push(direction.entry(fd));
    }

    /// Asks the kernel, without waiting.
    ///
    /// # Errors
    /// It has no memory.
    pub fn ask(&mut self) -> io::Result<()> {
        poll_now(&mut self.0)
    }

    /// Returns each descriptor and whether it is ready: so it was when the kernel was asked last.
    pub fn answers(&self) -> impl Iterator<Item = (RawFd, bool)> + '_ {
        self.0.iter().map(|entry| (entry.fd, entry.revents != 0))
    }
}

/// Returns the deadline of a wait that begins now: the time, in nanoseconds, rounded up.
pub fn deadline_in(seconds: f64) -> u64 {
    // Centuries are enough, and a deadline must not overflow.
    let nanoseconds = (seconds * 1e9).ceil().min((1u64 << 62) as f64) as u64;
    Reactor::now().saturating_add(nanoseconds)
}

/// Activates the runtime, so that it is seen from here on when a descriptor is closed, or the process forks.
pub fn activate(rt: &'static Runtime) {
    if !gate::is_active() && rt.can_switch() {
        moments::first_spawn(rt);
    }
}

impl Drop for WaitSet {
    fn drop(&mut self) {
        if let (Some(rt), Some(id)) = (existing(), self.existing_id()) {
            rt.core.borrow_mut().drop_wait_set(id);
        }
    }
}
