//! What the hooks need from whoever runs the coroutines, and the gate that decides whether they act at all.
//!
//! The gate is open only on the PHP thread, in a coroutine, where switching is allowed. Closed, a hook is a plain
//! call of the original: other threads, signal handlers' threads and library code before the first coroutine pay
//! a compare of the thread pointer.

use libc::c_int;
use spindle_reactor::{Reactor, Waiter};
use std::cell::Cell;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// How a parked call came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    /// Somebody woke the waiter: look again.
    Woken,
    /// The deadline has passed.
    TimedOut,
    /// The coroutine is cancelled: fail with `ECANCELED` (or return early, as documented) and come to an end.
    Cancelled,
    /// A caught signal interrupts the call: fail with `EINTR`.
    Interrupted,
}

/// Which caught signals interrupt a call (`signal(7)`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnSignal {
    /// Every one, `SA_RESTART` or not: sleeps, `poll`, `select`, `epoll_wait`, socket calls with a timeout.
    Interrupt,
    /// Those without `SA_RESTART`: `read`, `recv`, `accept`, `waitpid`, `flock`, …
    Restart,
    /// None: jobs that must be waited for.
    Ignore,
}

/// What a parked call waits for, for people (`getAwaitingInfo`, deadlock messages) and for signals.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The libc name of the call.
    pub call: &'static str,
    /// The descriptor, or -1.
    pub fd: RawFd,
    /// How caught signals act on it.
    pub on_signal: OnSignal,
}

/// Whoever runs the coroutines. All of it is called on the PHP thread only, with the gate open.
///
/// [`Host::park`] switches to other coroutines: no borrow, guard or lock may be held across it, and nothing whose
/// destructor matters may be alive: an `exit` elsewhere abandons the stack.
pub trait Host {
    /// The reactor of this process.
    fn reactor(&self) -> &Reactor;
    /// A waiter for the running coroutine's next park. It is void once that park has ended.
    fn begin_wait(&self) -> Waiter;
    /// Parks the running coroutine until its waiter is woken, the deadline (monotonic ns) passes, it is cancelled
    /// or interrupted. A wake between `begin_wait` and `park` is not lost.
    fn park(&self, deadline: Option<u64>, waiting: Waiting) -> Wake;
    /// As [`Host::park`] without deadline for what must be waited to its end: neither cancellation nor signals
    /// end it (a pending cancellation is delivered by the next call).
    fn park_through(&self, waiting: Waiting);
    /// As [`Host::park`], for a job that a worker does: what it has done when it wakes the coroutine is the coroutine's,
    /// and a cancellation that comes later waits for the next park.
    fn park_for_job(&self, deadline: Option<u64>, waiting: Waiting) -> Wake {
        self.park(deadline, waiting)
    }
    /// Wakes a waiter; a void one is ignored.
    fn wake(&self, waiter: Waiter);
    /// A call that needed no waiting: gives way to ready coroutines now and then (a time slice is kept).
    fn give_way(&self);
    /// A file read: gives way once if others are ready.
    fn give_way_for_file(&self);
    /// The running coroutine, a number that is never reused.
    fn coroutine(&self) -> u64;
    /// Is the running C code being made to fail, because its coroutine is cancelled or its handle closed?
    fn fails(&self) -> bool {
        false
    }
    /// Was this connection given up when that began? There is nothing to lose by reading from it, and its end is what
    /// libraries look for; phpredis 5 takes an error for a number of bytes.
    fn is_given_up(&self, _fd: RawFd) -> bool {
        false
    }
    /// A wait for a child is cancelled: can the program wait for that child again (`pcntl_waitpid`), or is this its
    /// last word (closing a process handle), so that nobody would ever reap it?
    fn waits_for_child_again(&self) -> bool {
        true
    }
    /// The program is in the middle of something that must not be interrupted by other coroutines for the sake of
    /// a file write (its error log, an output handler): the write is done in place.
    fn writes_in_place(&self) -> bool {
        false
    }
    /// The same for what would go to a worker thread: opening a file, a call on a path, a slow write. Asked only then.
    fn keeps_files_in_place(&self) -> bool {
        self.writes_in_place()
    }
    /// The program has set what is done on this signal.
    fn signal_set(&self, _signal: c_int) {}
    /// A library was loaded: look for entries to patch.
    fn library_loaded(&self);
}

/// The thread pointer of the PHP thread while the gate is open, else 0.
static GATE: AtomicUsize = AtomicUsize::new(0);

struct HostCell(Cell<Option<&'static dyn Host>>);
// SAFETY: written by `set_host` before the gate is first opened, and read only behind the gate, which is on that
// same thread.
unsafe impl Sync for HostCell {}
static HOST: HostCell = HostCell(Cell::new(None));

/// A word that is the same for one thread all its life and differs between threads.
#[inline(always)]
pub fn thread_pointer() -> usize {
    let value: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: on x86-64 Linux the first word of the thread control block is its own address.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) value, options(nostack, preserves_flags, readonly, pure));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads the thread pointer register.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) value, options(nostack, preserves_flags, nomem, pure));
    }
    value
}

/// Names the host. Called once, on the PHP thread, before [`open_gate`].
pub fn set_host(host: &'static dyn Host) {
    HOST.0.set(Some(host));
}

/// Opens the gate for the calling thread.
#[inline(always)]
pub fn open_gate() {
    GATE.store(thread_pointer(), Ordering::Relaxed);
}

/// Closes it: hooks are plain calls from here on.
#[inline(always)]
pub fn close_gate() {
    GATE.store(0, Ordering::Relaxed);
}

/// The host, if the running code may be parked.
#[inline(always)]
pub fn inside() -> Option<&'static dyn Host> {
    if GATE.load(Ordering::Relaxed) != thread_pointer() || holds_signals() { None } else { HOST.0.get() }
}

static NOT_HELD: c_int = 0;
/// Where the program counts how often it holds its signals back.
static HELD: AtomicPtr<c_int> = AtomicPtr::new((&raw const NOT_HELD).cast_mut());

/// As long as `count` is not 0 the running code is in a section that signals must not interrupt, and so must not
/// coroutines: the gate counts as closed.
///
/// # Safety
/// `count` stays valid. It is changed on the PHP thread only.
pub unsafe fn close_gate_while(count: *const c_int) {
    HELD.store(count.cast_mut(), Ordering::Relaxed);
}

#[inline(always)]
fn holds_signals() -> bool {
    // SAFETY: ours, or valid by the contract of `close_gate_while`; only asked with the gate open, on that thread.
    unsafe { HELD.load(Ordering::Relaxed).read() != 0 }
}

/// The host, if this is the PHP thread after activation, gate open or not: for hooks that only keep books (a
/// closed descriptor) and never park.
#[inline(always)]
pub fn on_php_thread() -> Option<&'static dyn Host> {
    if BOOKS.load(Ordering::Relaxed) != thread_pointer() { None } else { HOST.0.get() }
}

static BOOKS: AtomicUsize = AtomicUsize::new(0);

/// From now on the calling thread is the PHP thread (0 with `false`: no thread is).
pub fn keep_books(on: bool) {
    BOOKS.store(if on { thread_pointer() } else { 0 }, Ordering::Relaxed);
}

/// Signal handlers of the program run with gate and books closed: they may come while the books are open, and
/// must not park. Give this to [`spindle_reactor::signals::set_around`].
pub const AROUND_HANDLERS: spindle_reactor::signals::Around = spindle_reactor::signals::Around {
    enter: || {
        let here = thread_pointer();
        let closed = |word: &AtomicUsize| {
            u64::from(word.compare_exchange(here, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok())
        };
        closed(&GATE) | closed(&BOOKS) << 1
    },
    leave: |state| {
        let here = thread_pointer();
        for (bit, word) in [(1, &GATE), (2, &BOOKS)] {
            if state & bit != 0 {
                word.store(here, Ordering::Relaxed);
            }
        }
    },
};

/// The calling thread's `errno`.
pub fn errno() -> i32 {
    // SAFETY: the address of this thread's errno is always valid.
    unsafe { *libc::__errno_location() }
}

/// Sets the calling thread's `errno`.
pub fn set_errno(value: i32) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = value }
}

/// Fails as a libc function does: `errno` and -1.
pub fn fail<T: From<i8>>(error: i32) -> T {
    set_errno(error);
    T::from(-1)
}
