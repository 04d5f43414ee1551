//! The interface between the hooks and the runtime that schedules coroutines, and the switch that enables suspension.
//!
//! Suspension is enabled only on the PHP thread, in a coroutine, where a switch is allowed. Everywhere else a hook is a
//! plain call of the original: other threads, signal handlers' threads and library code before the first coroutine pay
//! one compare of the thread pointer.

use libc::c_int;
use spindle_reactor::{Reactor, Waiter};
use std::cell::Cell;
use std::ffi::CStr;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Why a park ended, as the call that waits has to understand it. The host decides that: a coroutine may be cancelled, and a call that
/// knows only signals is told of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    /// The waiter was woken: check the condition again.
    Woken,
    /// The deadline has passed.
    TimedOut,
    /// The coroutine is cancelled: fail with `ECANCELED` (or return early, as documented) and return to the caller.
    Cancelled,
    /// A caught signal interrupts the call: fail with `EINTR`.
    Interrupted,
}

impl Wake {
    /// Returns the `errno` of a call that ends here, `None` if it continues.
    pub fn error(self) -> Option<c_int> {
        match self {
            Wake::Woken | Wake::TimedOut => None,
            Wake::Cancelled => Some(libc::ECANCELED),
            Wake::Interrupted => Some(libc::EINTR),
        }
    }

    /// Checks that the waiter was woken.
    ///
    /// # Errors
    /// The `errno` of a call that ends here: `timed_out` if the deadline has passed.
    pub fn check(self, timed_out: c_int) -> Result<(), c_int> {
        if self == Wake::Woken { Ok(()) } else { Err(self.error().unwrap_or(timed_out)) }
    }
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

/// What a park is blocked on, for diagnostics (`getAwaitingInfo`, deadlock messages) and signals.
#[derive(Clone, Copy, Debug)]
pub struct BlockedOn {
    /// The libc name of the call.
    pub call: &'static str,
    /// The descriptor, or -1.
    pub fd: RawFd,
    /// How caught signals act on it.
    pub on_signal: OnSignal,
}

/// The runtime that schedules the coroutines. All methods are called on the PHP thread only, with suspension enabled.
///
/// [`Host::park`] switches to other coroutines: no borrow, guard or lock may be held across it, and no value whose
/// destructor matters may be alive, since an `exit` elsewhere abandons the stack.
pub trait Host {
    /// Returns the reactor of this process.
    fn reactor(&self) -> &Reactor;
    /// Returns a waiter for the running coroutine's next park. It becomes stale once that park has ended.
    fn begin_wait(&self) -> Waiter;
    /// Parks the running coroutine until its waiter is woken, the deadline (monotonic ns) passes, it is cancelled
    /// or interrupted. A wake between `begin_wait` and `park` is not lost.
    fn park(&self, deadline: Option<u64>, blocked_on: BlockedOn) -> Wake;
    /// Parks without a deadline until the waiter is woken: neither cancellation nor signals end the park (a pending
    /// cancellation is delivered by the next call).
    fn park_uncancellable(&self, blocked_on: BlockedOn);
    /// Parks like [`Host::park`] without a deadline, for a job in the thread pool: a wake by the job takes precedence over a cancellation
    /// that arrives later, which then ends the next park.
    fn park_for_job(&self, blocked_on: BlockedOn) -> Wake {
        self.park(None, blocked_on)
    }
    /// Wakes a waiter; a stale one is ignored.
    fn wake(&self, waiter: Waiter);
    /// Yields to ready coroutines if the time slice is used up. Called by calls that did not have to wait. Keeps `errno`.
    fn yield_if_due(&self);
    /// A call has been made that never waits: on a non-blocking descriptor, or with a time of zero. `did`: it has
    /// moved data, or found something to do. `fd` is the descriptor, or the first of several. Yields now and then, where that is
    /// allowed. Keeps `errno`.
    fn made_without_waiting(&self, _fd: RawFd, _did: bool) {
        self.yield_if_due();
    }
    /// Something was done that may end another coroutine's wait for the same connections: data was sent on a non-blocking
    /// descriptor, or a connection begun.
    fn progressed(&self) {}
    /// Returns `true` if the running function leaves its waits to its trampoline: `poll` then asks without waiting, and passes on
    /// what it would have waited for if there is nothing yet.
    fn leaves_waits(&self) -> bool {
        false
    }
    /// What the running function would have waited for, and until when; see [`Host::leaves_waits`].
    fn leave_wait(&self, _fds: &[libc::pollfd], _deadline: Option<u64>) {}
    /// Returns `true` if the running function never waits, and so must not be suspended where it need not be for long.
    fn never_waits(&self) -> bool {
        false
    }
    /// Yields if other coroutines are ready, at the latest when the running call returns to PHP code. Called after file
    /// reads that did not have to wait. `at_end`: at the end of the file, where only one in several calls counts.
    fn yield_for_file(&self, at_end: bool);
    /// Returns the id of the running coroutine, which is never reused.
    fn coroutine(&self) -> u64;
    /// Ends the process: this call would wait for ever, for a lock that a coroutine holds which does not go on. Called whether
    /// suspension is enabled or not.
    fn ends_without_lock(&self, call: &'static str) -> !;
    /// Returns `true` while the calls of the running C code are to fail, because its coroutine is cancelled or its
    /// handle closed.
    fn has_pending_cancel(&self) -> bool {
        false
    }
    /// Returns `true` if the pending cancellation has shut this connection down. Reading from it is then safe, and
    /// libraries detect its end that way; phpredis 5 takes an error for a number of bytes.
    fn is_shut_down(&self, _fd: RawFd) -> bool {
        false
    }
    /// Returns `true` if user code can wait for a child again after a cancelled wait (`pcntl_waitpid`), `false` if this
    /// is its last chance to be reaped (the process handle is being closed).
    fn can_wait_for_child_again(&self) -> bool {
        true
    }
    /// Returns `true` while a file write must not switch to other coroutines (the error log, an output handler): it is
    /// then made in place.
    fn writes_in_place(&self) -> bool {
        false
    }
    /// Returns `true` if calls that would go to the thread pool must be made in place too: opening a file, a call on a
    /// path, a slow write. Asked only then.
    fn keeps_files_in_place(&self) -> bool {
        self.writes_in_place()
    }
    /// Returns `true` if the running call, which opens the file with this path, will read it from its beginning up to its end and
    /// close it, with no other call on its descriptor, and run no other code meanwhile. Nothing can then observe when it has looked
    /// for more data after its last read.
    fn reads_whole(&self, _path: &CStr) -> bool {
        false
    }
    /// Returns `true` if names in `/etc/hosts` are looked up in place.
    fn reads_hosts_in_place(&self) -> bool {
        true
    }
    /// Returns `true` if this file's record locks are those of the runtime around coroutines, which the whole process
    /// waits for.
    fn locks_for_process(&self, _fd: RawFd) -> bool {
        false
    }
    /// User code has changed the action of this signal.
    fn signal_action_changed(&self, _signal: c_int) {}
    /// A library was loaded, whose entries may need patching.
    fn library_loaded(&self);
}

/// The thread pointer of the PHP thread while suspension is enabled, else 0.
static SUSPENSION: AtomicUsize = AtomicUsize::new(0);

struct HostCell(Cell<Option<&'static dyn Host>>);
// SAFETY: written by `set_host` before suspension is first enabled, and read only where `SUSPENSION` or
// `PHP_THREAD` names the reading thread, which is that same thread.
unsafe impl Sync for HostCell {}
static HOST: HostCell = HostCell(Cell::new(None));

/// Returns the thread pointer: constant for the life of a thread, and distinct between live threads.
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

/// Sets the host. Called once, on the PHP thread, before [`enable_suspension`].
pub fn set_host(host: &'static dyn Host) {
    HOST.0.set(Some(host));
}

/// Enables suspension on the calling thread.
#[inline(always)]
pub fn enable_suspension() {
    SUSPENSION.store(thread_pointer(), Ordering::Relaxed);
}

/// Disables suspension: hooks are plain calls from here on.
#[inline(always)]
pub fn disable_suspension() {
    SUSPENSION.store(0, Ordering::Relaxed);
}

/// Returns the host if suspension is enabled here: the running code may be parked.
#[inline(always)]
pub fn current_host() -> Option<&'static dyn Host> {
    if SUSPENSION.load(Ordering::Relaxed) != thread_pointer() || blocks_interrupts() { None } else { HOST.0.get() }
}

static ZERO: c_int = 0;
/// Counts the sections of the host program that block its signals. While it is not 0, suspension is disabled.
static BLOCKED_INTERRUPTS: AtomicPtr<c_int> = AtomicPtr::new((&raw const ZERO).cast_mut());

/// Disables suspension whenever `count` is not 0: the running code is in a section that signals must not interrupt,
/// and so must not coroutines.
///
/// # Safety
/// `count` stays valid. It is changed on the PHP thread only.
pub unsafe fn disable_suspension_while(count: *const c_int) {
    BLOCKED_INTERRUPTS.store(count.cast_mut(), Ordering::Relaxed);
}

#[inline(always)]
fn blocks_interrupts() -> bool {
    // SAFETY: `ZERO`, or valid by the contract of `disable_suspension_while`; only read on the PHP thread.
    unsafe { BLOCKED_INTERRUPTS.load(Ordering::Relaxed).read() != 0 }
}

/// The thread pointer of the PHP thread between [`attach_thread`] and [`detach_thread`], else 0.
static PHP_THREAD: AtomicUsize = AtomicUsize::new(0);

/// Returns the host if this is the PHP thread, whether suspension is enabled or not: for hooks that only keep track of
/// state (a closed descriptor) and never park.
#[inline(always)]
pub fn php_thread_host() -> Option<&'static dyn Host> {
    if PHP_THREAD.load(Ordering::Relaxed) != thread_pointer() { None } else { HOST.0.get() }
}

/// Returns the host that there is, on the thread that is or was the PHP thread.
pub(crate) fn known_host() -> Option<&'static dyn Host> {
    HOST.0.get()
}

/// Makes the calling thread the PHP thread.
pub fn attach_thread() {
    PHP_THREAD.store(thread_pointer(), Ordering::Relaxed);
}

/// No thread is the PHP thread from here on.
pub fn detach_thread() {
    PHP_THREAD.store(0, Ordering::Relaxed);
}

/// Runs signal handlers of user code as if on another thread: they may arrive at any point and must not park. For
/// [`spindle_reactor::signals::set_handler_hooks`].
pub const AROUND_HANDLERS: spindle_reactor::signals::HandlerHooks = spindle_reactor::signals::HandlerHooks {
    enter: || {
        let here = thread_pointer();
        let closed = |word: &AtomicUsize| {
            u64::from(word.compare_exchange(here, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok())
        };
        closed(&SUSPENSION) | closed(&PHP_THREAD) << 1
    },
    leave: |state| {
        let here = thread_pointer();
        for (bit, word) in [(1, &SUSPENSION), (2, &PHP_THREAD)] {
            if state & bit != 0 {
                word.store(here, Ordering::Relaxed);
            }
        }
    },
};

/// Returns the calling thread's `errno`.
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
