//! The reactor: descriptors (epoll), caught signals, worker threads, and the wake-up from other threads.
//!
//! It knows nothing of coroutines. Callers register a [`Waiter`], an opaque number, and [`Reactor::turn`] hands it to its
//! callback when what it waits for may have happened. Waking is a hint: the caller checks again.
//!
//! *Not* guaranteed: that a woken waiter finds its descriptor ready (another may have been faster), or that one that is
//! registered for several descriptors is woken only once (it deregisters the others itself).
//!
//! No method calls out while it holds a borrow, except for the `wake` callback of `turn`, which must not call back in.

mod fds;
mod internal;
mod interrupt;
pub mod kernel;
mod pool;
pub mod signals;
pub mod stderr;
pub mod syscalls;
pub mod ticks;
pub mod watchdog;

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use fds::Fds;
pub use fds::{Bits, Blocking, FdKind, Interest, Opened, Readiness, Registration};
pub use internal::{InternalFd, internal_fds, is_internal};
pub use interrupt::Interrupt;
pub use pool::{JobKind, SpawnError};
use spindle_inbox::Inbox;

/// What is woken, as a number that the caller chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiter(pub u64);

/// The number of worker threads of each kind that are started as jobs are submitted. Further ones are started when no job
/// ends.
const POOL_THREADS: usize = 64;

/// Nanoseconds until an abandoned job is interrupted again.
const INTERRUPT_AGAIN: u64 = 10_000_000;

/// How long a turn without an epoll instance sleeps at most, in nanoseconds.
const SLEEP_WITHOUT_EPOLL: u64 = 10_000_000;

/// Epoll data of the eventfd of the inbox.
const INBOX: u64 = u64::MAX;
/// Epoll data of the eventfd of caught signals.
const SIGNALS: u64 = u64::MAX - 1;

/// A waiter to wake, from another thread.
struct Message {
    waiter: Waiter,
    /// It is the end of a submitted job.
    job: bool,
}

struct Shared {
    inbox: Inbox<Message>,
    /// The eventfd that the reactor polls, or -1.
    event: AtomicI32,
}

impl Shared {
    fn push(&self, message: Message) {
        if self.inbox.push(message) {
            // SAFETY: the descriptor, if there is one, is open as long as `self` lives; eight bytes are read from a static.
            unsafe { libc::write(self.event(), (&raw const ONE).cast(), 8) };
        }
    }

    fn new() -> Arc<Shared> {
        Arc::new(Shared { inbox: Inbox::new(), event: AtomicI32::new(-1) })
    }

    fn event(&self) -> RawFd {
        self.event.load(Ordering::Acquire)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.event() >= 0 {
            // SAFETY: ours, made in `Reactor::epoll`; this is its last owner.
            drop(unsafe { InternalFd::from_raw_fd(self.event()) });
        }
    }
}

/// Wakes waiters of one reactor from any thread.
#[derive(Clone)]
pub struct Remote(Arc<Shared>);

impl Remote {
    /// Wakes the waiter in the reactor's next turn, and ends the present one's wait.
    pub fn wake(&self, waiter: Waiter) {
        self.0.push(Message { waiter, job: false });
    }
}

/// What a [`Reactor::turn`] returns besides the waiters it woke.
#[derive(Clone, Copy, Default, Debug)]
pub struct Turn {
    /// Signals for which a handler of user code ran since the last turn, bit `n - 1` for signal `n`.
    pub signals: u64,
    /// Those of them that the running code did not send itself.
    pub from_outside: u64,
    /// The signal that requests a report was caught ([`signals::set_report_signal`]).
    pub report: bool,
}

/// The epoll instance, worker threads and signals of a process. Used on one thread only.
pub struct Reactor {
    /// `None` in the child of a fork until it is needed: most children execute another program.
    epoll: RefCell<Option<InternalFd>>,
    fds: RefCell<Fds>,
    shared: RefCell<Arc<Shared>>,
    pools: RefCell<Pools>,
    jobs: Cell<usize>,
    done: RefCell<Vec<Message>>,
    child_waiters: RefCell<Vec<Waiter>>,
    orphans: RefCell<Vec<libc::pid_t>>,
    abandoned: RefCell<Vec<Arc<Interrupt>>>,
    events: RefCell<Vec<libc::epoll_event>>,
    pwait2: Cell<bool>,
}

fn event_fd() -> io::Result<InternalFd> {
    // SAFETY: a plain system call without pointers.
    InternalFd::new(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })
}

fn epoll_with(inbox: RawFd, signals: RawFd) -> io::Result<InternalFd> {
    // SAFETY: a plain system call without pointers.
    let epoll = InternalFd::new(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
    for (fd, data) in [(inbox, INBOX), (signals, SIGNALS)] {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: data };
        // SAFETY: both descriptors are open and `event` lives through the call.
        if unsafe { libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &mut event) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(epoll)
}

/// Threads for each kind of job.
struct Pools {
    unbounded: pool::Pool,
    bounded: pool::Pool,
}

impl Pools {
    fn new() -> Pools {
        let of = |kind, name| pool::Pool::new(pool::Limits::of(kind, POOL_THREADS), name);
        Pools { unbounded: of(JobKind::Unbounded, "spindle-waits"), bounded: of(JobKind::Bounded, "spindle") }
    }

    fn of(&self, kind: JobKind) -> &pool::Pool {
        match kind {
            JobKind::Unbounded => &self.unbounded,
            JobKind::Bounded => &self.bounded,
        }
    }

    /// Starts threads where jobs are stalled. Returns in how many nanoseconds to call it again.
    fn grow_if_stalled(&self) -> Option<u64> {
        [&self.unbounded, &self.bounded]
            .iter()
            .filter_map(|pool| pool.grow_if_stalled())
            .min()
            .map(|time| time.as_nanos() as u64)
    }
}

/// How far the time of this process has jumped ahead of the kernel's, in nanoseconds.
static AHEAD: AtomicU64 = AtomicU64::new(0);

/// The time beyond which no jump leads: what waits for 146 years waits for ever, and times can be added without an overflow.
const END_OF_JUMPS: u64 = 1 << 62;

#[inline(always)]
fn read_clock(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec; these clocks always exist on Linux.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64 + Reactor::ahead()
}

impl Reactor {
    /// Creates the epoll instance and the descriptors that wake it. No thread is started yet.
    ///
    /// # Errors
    /// Those of `epoll_create1(2)`, `eventfd(2)` and `epoll_ctl(2)`.
    pub fn new() -> io::Result<Reactor> {
        let reactor = Reactor {
            epoll: RefCell::new(None),
            fds: RefCell::new(Fds::default()),
            shared: RefCell::new(Shared::new()),
            pools: RefCell::new(Pools::new()),
            jobs: Cell::new(0),
            done: RefCell::new(Vec::new()),
            child_waiters: RefCell::new(Vec::new()),
            orphans: RefCell::new(Vec::new()),
            abandoned: RefCell::new(Vec::new()),
            events: RefCell::new(vec![libc::epoll_event { events: 0, u64: 0 }; 256]),
            pwait2: Cell::new(true),
        };
        reactor.epoll()?;
        Ok(reactor)
    }

    /// The epoll instance.
    fn epoll(&self) -> io::Result<RawFd> {
        if let Some(epoll) = &*self.epoll.borrow() {
            return Ok(epoll.as_raw_fd());
        }
        let shared = self.shared.borrow();
        if shared.event() < 0 {
            shared.event.store(event_fd()?.into_raw_fd(), Ordering::Release);
        }
        let epoll = epoll_with(shared.event(), signals::open()?)?;
        Ok(self.epoll.borrow_mut().insert(epoll).as_raw_fd())
    }

    /// Lets the time of this process jump forward to this one, unless that is beyond 146 years.
    pub fn jump_to(time: u64) {
        if time <= END_OF_JUMPS {
            AHEAD.fetch_add(time.saturating_sub(Reactor::now()), Ordering::Relaxed);
        }
    }

    /// By how many nanoseconds it has jumped.
    #[inline(always)]
    pub fn ahead() -> u64 {
        AHEAD.load(Ordering::Relaxed)
    }

    /// Monotonic time in nanoseconds (`CLOCK_MONOTONIC`, and what it has [jumped](Reactor::jump_to)).
    pub fn now() -> u64 {
        read_clock(libc::CLOCK_MONOTONIC)
    }

    /// The same, as of the kernel's last tick, a few milliseconds ago at most. It takes a fraction of the time of
    /// [`Reactor::now`]: for what is only reported.
    pub fn recently() -> u64 {
        read_clock(libc::CLOCK_MONOTONIC_COARSE)
    }

    /// Waits for events for at most `timeout` nanoseconds (`None`: until one comes) and wakes the waiters. A caught signal ends
    /// the wait.
    pub fn turn(&self, timeout: Option<u64>, mut wake: impl FnMut(Waiter)) -> Turn {
        let shared = Arc::clone(&self.shared.borrow());
        let again = self.interrupt_abandoned().then_some(INTERRUPT_AGAIN);
        let grow = if self.jobs.get() > 0 { self.pools.borrow().grow_if_stalled() } else { None };
        let timeout = [timeout, again, grow].into_iter().flatten().min();
        let consumed = std::mem::take(&mut self.fds.borrow_mut().consumed);
        // Before the inbox is armed: who finds it so writes to the eventfd, which a child has from here on. Without descriptors no wait
        // is long.
        let _ = self.epoll();
        let asleep = shared.inbox.arm() && !signals::pending() && consumed.is_empty();
        let timeout = if asleep { timeout } else { Some(0) };
        let ready = if timeout == Some(0) {
            self.wait(timeout)
        } else {
            ticks::wait_begins();
            let ready = self.wait(timeout);
            ticks::wait_ended();
            ready
        };
        shared.inbox.disarm();
        consumed.into_iter().for_each(&mut wake);
        let events = self.events.borrow();
        let mut signalled = signals::pending();
        for event in events.iter().take(ready) {
            let data = event.u64;
            match data {
                INBOX => drain_event(shared.event()),
                SIGNALS => signalled = true,
                data => self.fds.borrow_mut().edge(data, event.events, &mut wake),
            }
        }
        drop(events);
        if ready == self.events.borrow().len() && ready < 8192 {
            self.events.borrow_mut().resize(ready * 2, libc::epoll_event { events: 0, u64: 0 });
        }
        let mut done = self.done.borrow_mut();
        shared.inbox.drain(&mut done);
        for message in done.drain(..) {
            self.jobs.set(self.jobs.get() - usize::from(message.job));
            wake(message.waiter);
        }
        let mut turn = Turn::default();
        if signalled {
            let caught = signals::take();
            turn.signals = caught.handled;
            turn.from_outside = caught.from_outside;
            turn.report = caught.report;
            if caught.child {
                self.reap_orphans();
                for waiter in self.child_waiters.borrow_mut().drain(..) {
                    wake(waiter);
                }
            }
        }
        turn
    }

    fn wait(&self, timeout: Option<u64>) -> usize {
        let Ok(epoll) = self.epoll() else {
            // The child of a fork in which descriptors have run out: only timers can end a wait.
            std::thread::sleep(Duration::from_nanos(
                timeout.map_or(SLEEP_WITHOUT_EPOLL, |time| time.min(SLEEP_WITHOUT_EPOLL)),
            ));
            return 0;
        };
        let mut events = self.events.borrow_mut();
        let (buffer, room) = (events.as_mut_ptr(), events.len() as i32);
        let mut count = -1;
        if self.pwait2.get() {
            let time = timeout.map(|ns| libc::timespec {
                tv_sec: (ns / 1_000_000_000) as _,
                tv_nsec: (ns % 1_000_000_000) as libc::c_long,
            });
            let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: `buffer` has `room` entries, `time` is null or points to a timespec that lives through the
            // call, and a null mask leaves the signal mask alone. (By number: older glibc lacks the wrapper.)
            count = unsafe { libc::syscall(libc::SYS_epoll_pwait2, epoll, buffer, room, time, 0usize, 8usize) } as i32;
            if count < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS) {
                self.pwait2.set(false);
            }
        }
        if !self.pwait2.get() {
            // Rounded up: late by less than a millisecond is allowed, early is not.
            let ms = timeout.map_or(-1, |ns| ns.div_ceil(1_000_000).min(i32::MAX as u64) as i32);
            // SAFETY: `buffer` has `room` entries.
            count = unsafe { libc::epoll_wait(epoll, buffer, room, ms) };
        }
        if count < 0 && matches!(io::Error::last_os_error().raw_os_error(), Some(libc::EBADF | libc::EINVAL)) {
            self.lost();
        }
        count.max(0) as usize
    }

    /// Returns `true` if the descriptor is still our epoll instance.
    #[cold]
    fn is_epoll(&self, epoll: RawFd) -> bool {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: INBOX };
        // SAFETY: `event` lives through the call. What is registered there stays as it is.
        unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_MOD, self.shared.borrow().event(), &mut event) == 0 }
    }

    /// Replaces our descriptors after user code has closed or replaced them. Their numbers are not touched, since they may be
    /// user code's now. Waiters are registered again, or woken to check for themselves.
    #[cold]
    fn lost(&self) {
        if let Some(epoll) = self.epoll.take() {
            internal::disown(epoll.into_raw_fd());
        }
        internal::disown(self.shared.borrow().event.swap(-1, Ordering::AcqRel));
        internal::disown(signals::lost());
        let Ok(epoll) = self.epoll() else { return };
        let refused = self.fds.borrow_mut().register_again(epoll);
        let shared = Arc::clone(&self.shared.borrow());
        for waiter in refused {
            shared.push(Message { waiter, job: false });
        }
        // Messages that were pushed meanwhile have written to the lost eventfd.
        // SAFETY: an eventfd of ours; eight bytes are read from a static.
        unsafe { libc::write(shared.event(), (&raw const ONE).cast(), 8) };
    }

    /// Runs `job` on a worker thread and wakes `waiter` when it has ended, or was dropped without being run because the system
    /// gives no thread for it.
    ///
    /// # Errors
    /// When there is no thread and none could be started; the job is dropped without being run.
    pub fn submit(&self, kind: JobKind, job: impl FnOnce() + Send + 'static, waiter: Waiter) -> Result<(), SpawnError> {
        let shared = Arc::clone(&self.shared.borrow());
        // On drop, so that the waiter is woken even if the job panics or is never run.
        let wake = WakeOnDrop { shared, waiter };
        self.jobs.set(self.jobs.get() + 1);
        self.pools.borrow().of(kind).submit(Box::new(move || {
            let _wake = wake;
            job();
        }))?;
        Ok(())
    }

    /// A handle for other threads. In the child of a fork one made by the parent wakes nothing, nor does one that is older than
    /// [`Self::forget_all`].
    pub fn remote(&self) -> Remote {
        Remote(Arc::clone(&self.shared.borrow()))
    }

    /// The number of descriptors that are watched.
    pub fn descriptors(&self) -> usize {
        self.fds.borrow().registered()
    }

    /// The number of jobs that were submitted and not yet reported by a turn.
    pub fn jobs(&self) -> usize {
        self.jobs.get()
    }

    /// Wakes `waiter` at the next `SIGCHLD`. The caller checks (`WNOHANG`) after this and before it parks.
    pub fn wait_any_child(&self, waiter: Waiter) {
        signals::watch_children();
        self.child_waiters.borrow_mut().push(waiter);
    }

    /// Takes back what [`Self::wait_any_child`] registered.
    pub fn forget_child_waiter(&self, waiter: Waiter) {
        self.child_waiters.borrow_mut().retain(|w| *w != waiter);
    }

    /// Reaps this child when it ends.
    pub fn adopt_orphan(&self, child: libc::pid_t) {
        signals::watch_children();
        self.orphans.borrow_mut().push(child);
        self.reap_orphans();
    }

    fn reap_orphans(&self) {
        // SAFETY: no pointers; it does not wait.
        let runs = |child: &i32| unsafe { libc::waitpid(*child, std::ptr::null_mut(), libc::WNOHANG) } == 0;
        self.orphans.borrow_mut().retain(runs);
    }

    /// Interrupts the call in which an abandoned job blocks, again in each turn until the job has ended.
    pub fn abandon(&self, job: Arc<Interrupt>) {
        if job.interrupt() {
            self.abandoned.borrow_mut().push(job);
        }
    }

    /// Interrupts all abandoned jobs. Returns `true` if some have not ended.
    fn interrupt_abandoned(&self) -> bool {
        let mut abandoned = self.abandoned.borrow_mut();
        abandoned.retain(|job| job.interrupt());
        !abandoned.is_empty()
    }

    /// Registers `waiter` for `fd`.
    #[inline]
    pub fn register(&self, fd: RawFd, interest: Interest, waiter: Waiter) -> Registration {
        if self.fds.borrow_mut().add_waiter_if_registered(fd, interest, waiter) {
            return Registration::Waiting;
        }
        self.register_first(fd, interest, waiter)
    }

    #[cold]
    fn register_first(&self, fd: RawFd, interest: Interest, waiter: Waiter) -> Registration {
        match self.epoll() {
            Ok(epoll) => {
                let answer = self.fds.borrow_mut().register(epoll, fd, interest, waiter);
                if matches!(answer, Registration::Error(_)) && !self.is_epoll(epoll) {
                    self.lost();
                    return self.register(fd, interest, waiter);
                }
                answer
            }
            Err(error) => Registration::Error(error.raw_os_error().unwrap_or(libc::EMFILE)),
        }
    }

    /// Takes back a [`Self::register`]. Does nothing if the waiter was already woken.
    pub fn deregister(&self, fd: RawFd, waiter: Waiter) {
        self.fds.borrow_mut().deregister(fd, waiter);
    }

    /// The descriptor's generation: a number that changes when `fd` comes to name another description, as far as hooked calls
    /// show it.
    pub fn generation(&self, fd: RawFd) -> u32 {
        self.fds.borrow_mut().generation(fd)
    }

    /// The kind of the descriptor. The kernel is asked once per generation.
    #[inline]
    pub fn kind(&self, fd: RawFd) -> FdKind {
        self.fds.borrow_mut().kind(fd)
    }

    /// The mode of the descriptor. The kernel is asked once, and again when it may have changed.
    #[inline]
    pub fn blocking(&self, fd: RawFd) -> Blocking {
        self.fds.borrow_mut().blocking(fd)
    }

    /// Records that the end of a file was seen, with which the next `reads` reads are to be answered.
    pub fn record_end(&self, fd: RawFd, reads: u8) {
        self.fds.borrow_mut().record_end(fd, reads);
    }

    /// Returns `true` if a read is to be answered with the end, and counts it.
    #[inline]
    pub fn take_end(&self, fd: RawFd) -> bool {
        self.fds.borrow_mut().take_end(fd)
    }

    /// Records that a hooked call has set the mode; `None` if it is not known to what.
    pub fn set_blocking(&self, fd: RawFd, mode: Option<Blocking>) {
        self.fds.borrow_mut().set_blocking(fd, mode);
    }

    /// `SO_RCVTIMEO` or `SO_SNDTIMEO` of a socket in nanoseconds, 0 for none. The kernel is asked once, and again when an option
    /// was set.
    pub fn socket_timeout(&self, fd: RawFd, interest: Interest) -> u64 {
        self.fds.borrow_mut().socket_timeout(fd, interest)
    }

    /// Records that a socket option was set.
    pub fn socket_option_set(&self, fd: RawFd) {
        self.fds.borrow_mut().socket_option_set(fd);
    }

    /// What is known of readiness without asking the kernel, and the event bits of the last edge.
    pub fn readiness(&self, fd: RawFd, interest: Interest) -> (Readiness, Bits) {
        self.fds.borrow_mut().readiness(fd, interest)
    }

    /// Returns whether `fd` is ready, if that is known, once for an edge: the next time the kernel is to be asked, unless a call
    /// has used `fd` meanwhile. What uses it unseen would leave it ready forever.
    #[inline]
    pub fn answer(&self, fd: RawFd, interest: Interest) -> Option<bool> {
        self.fds.borrow_mut().answer(fd, interest)
    }

    /// Records what a call on `fd` has shown of its readiness. After a hang-up or an error it is never `NotReady`.
    #[inline]
    pub fn record_readiness(&self, fd: RawFd, interest: Interest, readiness: Readiness) {
        if !self.fds.borrow_mut().record_simple(fd, interest, readiness) {
            self.record_any(fd, interest, readiness);
        }
    }

    /// Records that a call has read less from `fd` than it had room for: that is all there was, if it is a TCP socket.
    #[inline(always)]
    pub fn record_short_read(&self, fd: RawFd) {
        if !self.fds.borrow_mut().record_emptied_tcp(fd) {
            self.record_any_short_read(fd);
        }
    }

    #[inline(never)]
    fn record_any_short_read(&self, fd: RawFd) {
        let is_tcp = self.kind(fd) == FdKind::Tcp;
        self.record_readiness(fd, Interest::READ, if is_tcp { Readiness::NotReady } else { Readiness::Unknown });
    }

    #[inline(never)]
    fn record_any(&self, fd: RawFd, interest: Interest, readiness: Readiness) {
        let epoll = || self.epoll.borrow().as_ref().map(InternalFd::as_raw_fd);
        self.fds.borrow_mut().record_readiness(epoll, fd, interest, readiness);
    }

    /// Forgets all that is known of `fd`, which was opened, closed or replaced, or is about to be, and wakes its waiters.
    pub fn forget(&self, fd: RawFd, mut wake: impl FnMut(Waiter)) {
        self.fds.borrow_mut().forget(fd, &mut wake);
    }

    /// As [`Self::forget`] for a range of descriptors, ends included.
    pub fn forget_range(&self, first: RawFd, last: RawFd, mut wake: impl FnMut(Waiter)) {
        let known = self.fds.borrow().len() as RawFd;
        for fd in first..=last.min(known - 1) {
            self.fds.borrow_mut().forget(fd, &mut wake);
        }
    }

    /// Records a fork: all open descriptions are now shared with another process, so their mode must not be changed, not even
    /// for a moment.
    pub fn mark_descriptions_shared(&self) {
        self.fds.borrow_mut().mark_descriptions_shared();
    }

    /// Records that `fd` was duplicated: its mode can change through the duplicate.
    pub fn duplicated(&self, fd: RawFd) {
        self.fds.borrow_mut().duplicated(fd);
    }

    /// Returns `true` if another process may have the description too.
    pub fn may_be_shared(&self, fd: RawFd) -> bool {
        self.fds.borrow_mut().may_be_shared(fd)
    }

    /// Records that `fd` was just opened, and what the caller knows of it. Otherwise as [`Self::forget`].
    pub fn opened(&self, fd: RawFd, opened: Opened, mut wake: impl FnMut(Waiter)) {
        self.fds.borrow_mut().opened(fd, opened, &mut wake);
    }

    /// Treats the descriptor as one of this kind from now on.
    pub fn set_kind(&self, fd: RawFd, kind: FdKind) {
        self.fds.borrow_mut().set_kind(fd, kind);
    }

    /// Forgets the readiness of a socket that begins a new connection, a hang-up too.
    pub fn reset_readiness(&self, fd: RawFd) {
        self.fds.borrow_mut().reset_readiness(fd);
    }

    /// Forgets all waiters, and what is known of descriptors: from now on the same numbers may name other waiters, and
    /// descriptors may be opened and closed unseen. Our own descriptors and idle threads stay. Jobs that have begun run to
    /// their end and queued ones are dropped; they wake nothing.
    pub fn forget_all(&self) {
        let epoll = self.epoll.borrow().as_ref().map(|epoll| epoll.as_raw_fd());
        self.fds.borrow_mut().forget_all(epoll);
        self.child_waiters.borrow_mut().clear();
        self.reap_orphans();
        self.interrupt_abandoned();
        if self.jobs.replace(0) > 0 {
            drop(self.pools.replace(Pools::new()));
        }
        let mut shared = self.shared.borrow_mut();
        if Arc::strong_count(&shared) > 1 {
            // Holders of the old one find no descriptor there, or have found one that is still ours.
            let event = AtomicI32::new(shared.event.swap(-1, Ordering::AcqRel));
            *shared = Arc::new(Shared { inbox: Inbox::new(), event });
        }
        let mut done = self.done.borrow_mut();
        shared.inbox.drain(&mut done);
        done.clear();
        if shared.event() >= 0 {
            drain_event(shared.event());
        }
        if signals::pending() {
            signals::take();
        }
    }

    /// In the child of a fork, where the epoll instance, the eventfds and the threads are the parent's: forgets all of them.
    /// New descriptors are created when they are needed.
    pub fn after_fork(&self) {
        // The threads of the old pools do not exist here, and their locks may be held by one of them.
        std::mem::forget(self.pools.replace(Pools::new()));
        self.jobs.set(0);
        self.child_waiters.borrow_mut().clear();
        self.orphans.borrow_mut().clear();
        std::mem::take(&mut *self.abandoned.borrow_mut()).into_iter().for_each(std::mem::forget);
        // Its descriptor is closed below; and a thread that does not exist here may hold the inbox's lock.
        std::mem::forget(self.epoll.take());
        let fresh = Shared::new();
        std::mem::forget(self.shared.replace(fresh));
        signals::after_fork();
        internal::after_fork();
        self.fds.borrow_mut().after_fork();
    }
}

static ONE: u64 = 1;

/// Wakes its waiter when it is dropped.
struct WakeOnDrop {
    shared: Arc<Shared>,
    waiter: Waiter,
}

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        self.shared.push(Message { waiter: self.waiter, job: true });
    }
}

fn drain_event(fd: RawFd) {
    let mut count = 0u64;
    // SAFETY: eight bytes are written to a local; the descriptor is ours and non-blocking.
    unsafe { libc::read(fd, (&raw mut count).cast(), 8) };
}
