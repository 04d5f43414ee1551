//! Caught signals: user code's handlers run as before, and the reactor sees that they ran.
//!
//! A handler that user code installs is stored, and ours is installed in its place: it records the signal, writes to an
//! eventfd, and calls the stored one. `signalfd` is not used: it needs blocked signals, and a child process inherits the
//! mask. Questions of user code about its handlers ([`action`]) are answered as if ours were not there.
//!
//! One signal may request a report ([`set_report_signal`]): as long as user code does not use it itself, no handler is
//! called and nothing is interrupted.
//!
//! The table is process-wide, as dispositions are. It is written on the PHP thread only, with the signal blocked.

use crate::{InternalFd, ticks};
use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{IntoRawFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

/// The number of signals, with 0.
const COUNT: usize = 65;

/// What user code wants done on a signal.
struct Disposition {
    /// Our handler is installed.
    ours: AtomicBool,
    /// The action that user code has set. Valid while `ours`.
    wanted: UnsafeCell<MaybeUninit<libc::sigaction>>,
}

struct Table([Disposition; COUNT]);

// SAFETY: `wanted` is written on the PHP thread only, with the signal blocked in it and before `ours` is set;
// handlers on other threads read it after they have seen `ours` (acquire).
unsafe impl Sync for Table {}

static TABLE: Table = Table(
    [const { Disposition { ours: AtomicBool::new(false), wanted: UnsafeCell::new(MaybeUninit::uninit()) } }; COUNT],
);
static EVENT: AtomicI32 = AtomicI32::new(-1);
/// The signal that requests a report, unless user code has set an action for it; 0: none.
static REPORT: AtomicI32 = AtomicI32::new(0);
/// Bit `n - 1`: signal `n` was caught since the last [`take`].
static PENDING: AtomicU64 = AtomicU64::new(0);
/// Those of them that the running code did not send itself, by a `kill` of its own process.
static OUTSIDE: AtomicU64 = AtomicU64::new(0);
/// How many times SIGTERM and SIGINT were caught.
static ENDINGS: AtomicU32 = AtomicU32::new(0);
/// How many turns have got to some of them.
static SERVED: AtomicU32 = AtomicU32::new(0);

/// Functions that are called around each handler of user code.
#[derive(Clone, Copy)]
pub struct HandlerHooks {
    /// Called before it.
    pub enter: fn() -> u64,
    /// Called after it, with the result of `enter`.
    pub leave: fn(u64),
}

struct HandlerHooksCell(UnsafeCell<Option<HandlerHooks>>);
// SAFETY: written before the first handler is chained, and read by handlers afterwards.
unsafe impl Sync for HandlerHooksCell {}
static HANDLER_HOOKS: HandlerHooksCell = HandlerHooksCell(UnsafeCell::new(None));

/// Sets the functions that are called around handlers. To be called before [`chain_all`].
pub fn set_handler_hooks(hooks: HandlerHooks) {
    // SAFETY: no handler of ours is installed yet.
    unsafe { *HANDLER_HOOKS.0.get() = Some(hooks) };
}

/// The signals that were caught since the last turn.
#[derive(Clone, Copy, Default)]
pub struct Caught {
    /// Signals for which a handler of user code ran, bit `n - 1` for signal `n`.
    pub handled: u64,
    /// Those of them that the running code did not send itself.
    pub from_outside: u64,
    /// A child has changed its state.
    pub child: bool,
    /// The signal of [`set_report_signal`] was caught.
    pub report: bool,
}

pub(crate) fn open() -> io::Result<RawFd> {
    if EVENT.load(Ordering::Relaxed) >= 0 {
        return Ok(EVENT.load(Ordering::Relaxed));
    }
    // SAFETY: a plain system call without pointers.
    let event = InternalFd::new(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    let fd = event.into_raw_fd(); // open as long as the process lives
    EVENT.store(fd, Ordering::Release);
    Ok(fd)
}

/// In the child of a fork: forgets the parent's signals and eventfd.
pub(crate) fn after_fork() {
    EVENT.store(-1, Ordering::Release);
    PENDING.store(0, Ordering::Relaxed);
    OUTSIDE.store(0, Ordering::Relaxed);
    ENDINGS.store(0, Ordering::Relaxed);
}

/// Forgets the eventfd, which user code has closed, and returns its number. Signals that are caught before the next one is
/// created are recorded nonetheless.
pub(crate) fn lost() -> RawFd {
    EVENT.swap(-1, Ordering::AcqRel)
}

/// Returns `true` if a signal was caught since the last turn.
#[inline(always)]
pub fn pending() -> bool {
    PENDING.load(Ordering::Acquire) != 0
}

/// The signals that were caught since the last turn, bit `n - 1` for signal `n`.
pub fn caught() -> u64 {
    PENDING.load(Ordering::Acquire)
}

/// The signals that ask a process to end.
const ENDING: u64 = bit(libc::SIGTERM) | bit(libc::SIGINT);

/// Returns how often this process was asked to end, by a signal that is caught.
pub fn endings() -> u32 {
    ENDINGS.load(Ordering::Acquire)
}

/// Returns `true` if such a signal has come, and there was no turn since.
pub fn ending_waits() -> bool {
    caught() & ENDING != 0
}

/// Returns how often the process has got to such signals.
pub fn endings_served() -> u32 {
    SERVED.load(Ordering::Acquire)
}

/// Drops signals that have already interrupted a call, so that they interrupt no other. The end of a child and the request
/// of a report stay.
pub fn acknowledge(signals: u64) {
    let report = match REPORT.load(Ordering::Acquire) {
        0 => 0,
        signal => bit(signal),
    };
    PENDING.fetch_and(!signals | bit(libc::SIGCHLD) | report, Ordering::AcqRel);
    OUTSIDE.fetch_and(!signals, Ordering::AcqRel);
}

pub(crate) fn take() -> Caught {
    super::drain_event(EVENT.load(Ordering::Relaxed));
    let bits = PENDING.swap(0, Ordering::AcqRel);
    let outside = OUTSIDE.swap(0, Ordering::AcqRel);
    if bits & ENDING != 0 {
        SERVED.fetch_add(1, Ordering::AcqRel);
    }
    let report = REPORT.load(Ordering::Acquire);
    let mut caught = Caught { child: bits & bit(libc::SIGCHLD) != 0, ..Caught::default() };
    for signal in 1..COUNT as i32 {
        if signal == report {
            caught.report = bits & bit(signal) != 0;
            continue;
        }
        // One that was reset by SA_RESETHAND is no longer in the table, and had a function.
        if bits & bit(signal) != 0 && wanted(signal).is_none_or(|a| is_function(&a)) {
            caught.handled |= bit(signal);
        }
    }
    caught.from_outside = caught.handled & outside;
    caught
}

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

fn is_function(action: &libc::sigaction) -> bool {
    action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN
}

/// Returns `true` if it makes no difference which of the two actions is set.
///
/// Libraries ignore `SIGPIPE` around all that they do, in a process that does so anyway. Of other signals that are ignored, and
/// blocked, setting the action again drops those that are pending.
fn is_same(one: &libc::sigaction, other: &libc::sigaction) -> bool {
    // What the C library adds by itself.
    const RESTORER: libc::c_int = 0x0400_0000;
    // The kernel's part of the set; the rest may not be initialised.
    // SAFETY: a set is at least so long, and aligned for longs.
    let mask = |action: &libc::sigaction| unsafe { (&raw const action.sa_mask).cast::<u64>().read_unaligned() };
    one.sa_sigaction == other.sa_sigaction
        && one.sa_flags & !RESTORER == other.sa_flags & !RESTORER
        && mask(one) == mask(other)
}

/// Returns `true` for signals that report a fault in the running code. These are never chained.
fn is_fault(signal: i32) -> bool {
    matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGTRAP | libc::SIGABRT)
}

fn slot(signal: i32) -> Option<&'static Disposition> {
    TABLE.0.get(usize::try_from(signal).ok()?).filter(|_| signal > 0)
}

/// The action that user code has set, if our handler is installed in its place.
fn wanted(signal: i32) -> Option<libc::sigaction> {
    let slot = slot(signal)?;
    // SAFETY: `ours` was set after `wanted` was written.
    slot.ours.load(Ordering::Acquire).then(|| unsafe { (*slot.wanted.get()).assume_init() })
}

/// Returns `true` if user code wants this signal to restart the calls that it interrupts (`SA_RESTART`).
pub fn restarts(signal: i32) -> bool {
    wanted(signal).is_some_and(|a| a.sa_flags & libc::SA_RESTART != 0)
}

/// Returns `true` if it was sent by this process while user code ran. A signal that a thread sends to its own process was
/// delivered when `kill(2)` returns.
///
/// # Safety
/// `info` is what the kernel passed to a handler.
unsafe fn is_from_running_code(info: *const libc::siginfo_t) -> bool {
    // SAFETY: by contract; with these codes it names the sender.
    unsafe {
        matches!((*info).si_code, libc::SI_USER | libc::SI_QUEUE | libc::SI_TKILL)
            && (*info).si_pid() == libc::getpid()
            && !ticks::reactor_waits()
    }
}

extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the address of this thread's errno is always valid.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let saved = unsafe { *errno };
    let reports = signal == REPORT.load(Ordering::Acquire);
    if let Some(action) = wanted(signal).filter(|action| is_function(action) && !reports) {
        // SAFETY: set before handlers were chained, and not changed.
        let hooks = unsafe { *HANDLER_HOOKS.0.get() };
        let state = hooks.map(|hooks| (hooks.enter)());
        // SAFETY: user code gave this address to `sigaction` as a handler of the kind that its flags name.
        unsafe {
            if action.sa_flags & libc::SA_SIGINFO != 0 {
                let call: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                    std::mem::transmute(action.sa_sigaction);
                call(signal, info, context);
            } else {
                let call: extern "C" fn(i32) = std::mem::transmute(action.sa_sigaction);
                call(signal);
            }
        }
        if let (Some(hooks), Some(state)) = (hooks, state) {
            (hooks.leave)(state);
        }
        if action.sa_flags & libc::SA_RESETHAND != 0
            && let Some(slot) = slot(signal)
        {
            slot.ours.store(false, Ordering::Release); // the kernel has put the default back
        }
    }
    // SAFETY: by `sigaction(2)`, as the handler was installed with `SA_SIGINFO`.
    if !unsafe { is_from_running_code(info) } {
        OUTSIDE.fetch_or(bit(signal), Ordering::AcqRel);
    }
    if bit(signal) & ENDING != 0 {
        ENDINGS.fetch_add(1, Ordering::AcqRel);
    }
    // After user code's handler: the call that it interrupts returns when it has run, whichever thread the signal came to.
    if PENDING.fetch_or(bit(signal), Ordering::AcqRel) & bit(signal) == 0 {
        let one = 1u64;
        // SAFETY: eight bytes are read from a local; `write` is allowed in a handler, a failure changes nothing.
        unsafe { libc::write(EVENT.load(Ordering::Acquire), (&raw const one).cast(), 8) };
    }
    // SAFETY: as above.
    unsafe { *errno = saved };
}

/// Installs our handler in place of `action`, with its mask and flags. With `reports` it does not call the action.
fn install(signal: i32, action: libc::sigaction, reports: bool) -> i32 {
    let Some(slot) = slot(signal) else { return -1 };
    let mut ours = action;
    ours.sa_sigaction = handler as *const () as usize;
    ours.sa_flags |= libc::SA_SIGINFO;
    if reports {
        ours.sa_flags = ours.sa_flags & !(libc::SA_RESETHAND | libc::SA_NODEFER) | libc::SA_RESTART;
    }
    if !is_function(&action) {
        ours.sa_flags |= libc::SA_RESTART; // a SIGCHLD that only we watch for interrupts nothing
    }
    blocked(signal, || {
        // SAFETY: only the PHP thread writes, and no handler for this signal runs in it now.
        unsafe { (*slot.wanted.get()).write(action) };
        slot.ours.store(true, Ordering::Release);
        if reports {
            REPORT.store(signal, Ordering::Release);
        } else if REPORT.load(Ordering::Acquire) == signal {
            REPORT.store(0, Ordering::Release);
        }
        // SAFETY: `ours` is a complete action whose handler follows the SA_SIGINFO convention.
        let result = unsafe { libc::sigaction(signal, &ours, ptr::null_mut()) };
        if result != 0 {
            slot.ours.store(false, Ordering::Release);
        }
        result
    })
}

fn blocked<T>(signal: i32, then: impl FnOnce() -> T) -> T {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    let mut old = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both sets are initialised by the calls before they are read.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), old.as_mut_ptr());
    }
    let result = then();
    // SAFETY: `old` was filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old.as_ptr(), ptr::null_mut()) };
    result
}

/// `sigaction(2)` as user code sees it: sets `new`, chained if it is a function, and stores in `old` what user code had set
/// before. Returns 0, or -1 with `errno` set.
pub fn action(signal: i32, new: Option<&libc::sigaction>, old: Option<&mut libc::sigaction>) -> i32 {
    let Some(new) = new else {
        return match (wanted(signal), old) {
            // SAFETY: null or a place for an action; a null action only asks.
            (None, old) => unsafe { libc::sigaction(signal, ptr::null(), old.map_or(ptr::null_mut(), ptr::from_mut)) },
            (Some(wanted), Some(old)) => {
                *old = wanted;
                0
            }
            (Some(_), None) => 0,
        };
    };
    let previous = wanted(signal);
    let mut real = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `real` is large enough; a null action only asks.
    if unsafe { libc::sigaction(signal, ptr::null(), real.as_mut_ptr()) } != 0 {
        return -1;
    }
    // SAFETY: filled by the call that succeeded.
    let real = unsafe { real.assume_init_ref() };
    // Only if it is ignored does the kernel reap the children, and do executed programs ignore it too.
    let watches = signal == libc::SIGCHLD && previous.is_some() && new.sa_sigaction != libc::SIG_IGN;
    let keep = is_function(new) && !is_fault(signal) || watches;
    let result = if keep {
        install(signal, *new, false)
    } else {
        let result = if signal == libc::SIGPIPE && is_same(real, new) {
            0
        } else {
            // SAFETY: `new` is user code's own complete action.
            unsafe { libc::sigaction(signal, new, ptr::null_mut()) }
        };
        if let (0, Some(slot)) = (result, slot(signal)) {
            slot.ours.store(false, Ordering::Release);
            let _ = REPORT.compare_exchange(signal, 0, Ordering::AcqRel, Ordering::Relaxed);
        }
        result
    };
    if let (0, Some(old)) = (result, old) {
        *old = previous.unwrap_or(*real);
    }
    result
}

/// Chains all handlers that user code has installed until now.
pub fn chain_all() {
    for signal in 1..COUNT as i32 {
        if is_fault(signal) || wanted(signal).is_some() {
            continue;
        }
        let mut real = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: `real` is large enough; a null action only asks. Signals libc keeps to itself fail.
        if unsafe { libc::sigaction(signal, ptr::null(), real.as_mut_ptr()) } != 0 {
            continue;
        }
        // SAFETY: filled by the call that succeeded.
        let real = unsafe { real.assume_init() };
        if is_function(&real) {
            install(signal, real, false);
        }
    }
}

/// Makes `signal` request a report ([`super::Turn::report`]) in place of its present action, until user code sets another.
pub fn set_report_signal(signal: i32) {
    let mut real = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `real` is large enough; a null action only asks.
    if unsafe { libc::sigaction(signal, ptr::null(), real.as_mut_ptr()) } == 0 {
        // SAFETY: filled by the call that succeeded.
        let real = unsafe { real.assume_init() };
        install(signal, wanted(signal).unwrap_or(real), true);
    }
}

/// Records `SIGCHLD` from now on even if user code does not catch it.
pub(crate) fn watch_children() {
    if wanted(libc::SIGCHLD).is_some() {
        return;
    }
    let mut real = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `real` is large enough; a null action only asks.
    if unsafe { libc::sigaction(libc::SIGCHLD, ptr::null(), real.as_mut_ptr()) } == 0 {
        // SAFETY: filled by the call that succeeded.
        let real = unsafe { real.assume_init() };
        // If it is ignored the kernel reaps the children, which must stay so.
        if real.sa_sigaction != libc::SIG_IGN {
            install(libc::SIGCHLD, real, false);
        }
    }
}

/// Restores user code's own handlers where ours are still installed.
pub fn unchain_all() {
    for signal in 1..COUNT as i32 {
        let (Some(action), Some(slot)) = (wanted(signal), slot(signal)) else { continue };
        let mut real = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: `real` is large enough; a null action only asks; `action` is user code's own.
        unsafe {
            if libc::sigaction(signal, ptr::null(), real.as_mut_ptr()) == 0
                && real.assume_init().sa_sigaction == handler as *const () as usize
            {
                libc::sigaction(signal, &action, ptr::null_mut());
                slot.ours.store(false, Ordering::Release);
            }
        }
    }
    REPORT.store(0, Ordering::Release);
}
