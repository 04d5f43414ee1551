//! Caught signals: the program's handlers go on running, and the reactor is told that they did.
//!
//! A handler that the program installs is stored, and ours is installed in its place: it notes the signal,
//! writes an eventfd, and calls the stored one. No `signalfd`: it needs blocked signals, and a child process
//! inherits the mask. What the program asks about its handlers ([`action`]) is answered as if we were not there.
//!
//! One signal may ask for a report of ours ([`set_report_signal`]): as long as the program wants nothing of it, no handler is
//! called, and it interrupts nothing.
//!
//! The table is process-wide, as dispositions are. It is written on the PHP thread only, with the signal blocked.

use crate::InternalFd;
use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{IntoRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

const COUNT: usize = 65;

struct Disposition {
    /// Is our handler installed?
    ours: AtomicBool,
    /// What the program wants: valid while `ours`.
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
/// The signal that asks for a report and that the program has not taken for itself; 0: none.
static REPORT: AtomicI32 = AtomicI32::new(0);
/// Bit `n - 1`: signal `n` came since the last [`take`].
static PENDING: AtomicU64 = AtomicU64::new(0);
/// Those of them that did not come from the running code, by a `kill` of its own process.
static OUTSIDE: AtomicU64 = AtomicU64::new(0);
/// Does the reactor wait for events?
static WAITING: AtomicBool = AtomicBool::new(false);

/// Called hooks each handler of the program, with what `enter` answered.
#[derive(Clone, Copy)]
pub struct HandlerHooks {
    /// Before it.
    pub enter: fn() -> u64,
    /// After it.
    pub leave: fn(u64),
}

struct HandlerHooksCell(UnsafeCell<Option<HandlerHooks>>);
// SAFETY: written before the first handler is chained, read by handlers after.
unsafe impl Sync for HandlerHooksCell {}
static HANDLER_HOOKS: HandlerHooksCell = HandlerHooksCell(UnsafeCell::new(None));

/// Names what is called around handlers. Before [`chain_all`].
pub fn set_handler_hooks(hooks: HandlerHooks) {
    // SAFETY: no handler of ours is installed yet.
    unsafe { *HANDLER_HOOKS.0.get() = Some(hooks) };
}

/// What came since the last turn.
#[derive(Clone, Copy, Default)]
pub struct Caught {
    /// Signals for which a handler of the program ran, bit `n - 1` for signal `n`.
    pub by_the_program: u64,
    /// Those of them that came from outside.
    pub from_outside: u64,
    /// A child has changed its state.
    pub child: bool,
    /// The signal of [`set_report_signal`].
    pub report: bool,
}

pub(crate) fn open() -> io::Result<RawFd> {
    if EVENT.load(Ordering::Relaxed) >= 0 {
        return Ok(EVENT.load(Ordering::Relaxed));
    }
    // SAFETY: a plain system call without pointers.
    let event = InternalFd::new(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    let fd = event.into_raw_fd(); // as long as the process lives
    EVENT.store(fd, Ordering::Release);
    Ok(fd)
}

/// The child of a fork has none of the parent's signals, and no descriptor yet.
pub(crate) fn after_fork() {
    EVENT.store(-1, Ordering::Release);
    PENDING.store(0, Ordering::Relaxed);
    OUTSIDE.store(0, Ordering::Relaxed);
}

/// The program has closed the eventfd behind our back: the number that it had. Signals that are caught before the next
/// is made are noted nonetheless.
pub(crate) fn lost() -> RawFd {
    EVENT.swap(-1, Ordering::AcqRel)
}

/// Has a signal come since the last turn?
#[inline(always)]
pub fn pending() -> bool {
    PENDING.load(Ordering::Acquire) != 0
}

/// The signals that came since the last turn, bit `n - 1` for signal `n`.
pub fn caught() -> u64 {
    PENDING.load(Ordering::Acquire)
}

/// These have interrupted a call already, as its caller saw: they interrupt no other. (The end of a child is told to
/// whoever waits for one nonetheless, and a report is made.)
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
    let report = REPORT.load(Ordering::Acquire);
    let mut caught = Caught { child: bits & bit(libc::SIGCHLD) != 0, ..Caught::default() };
    for signal in 1..COUNT as i32 {
        if signal == report {
            caught.report = bits & bit(signal) != 0;
            continue;
        }
        // One that reset itself (SA_RESETHAND) is no longer in the table, and was a function.
        if bits & bit(signal) != 0 && wanted(signal).is_none_or(|a| is_function(&a)) {
            caught.by_the_program |= bit(signal);
        }
    }
    caught.from_outside = caught.by_the_program & outside;
    caught
}

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

fn is_function(action: &libc::sigaction) -> bool {
    action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN
}

/// Signals that mean a fault in the code that runs: never ours to chain.
fn is_fault(signal: i32) -> bool {
    matches!(signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGTRAP | libc::SIGABRT)
}

fn slot(signal: i32) -> Option<&'static Disposition> {
    TABLE.0.get(usize::try_from(signal).ok()?).filter(|_| signal > 0)
}

/// What the program has asked for, if our handler stands in its place.
fn wanted(signal: i32) -> Option<libc::sigaction> {
    let slot = slot(signal)?;
    // SAFETY: `ours` was set after `wanted` was written.
    slot.ours.load(Ordering::Acquire).then(|| unsafe { (*slot.wanted.get()).assume_init() })
}

/// Does the program want this signal to restart the calls that it interrupts (`SA_RESTART`)?
pub fn restarts(signal: i32) -> bool {
    wanted(signal).is_some_and(|a| a.sa_flags & libc::SA_RESTART != 0)
}

/// Brackets the reactor's wait for events: no code of the program runs then.
pub(crate) fn waiting(on: bool) {
    WAITING.store(on, Ordering::Relaxed);
}

/// Was it sent by this process, while code of the program ran? A signal that a thread sends to its process has been
/// delivered when `kill(2)` returns.
///
/// # Safety
/// What the kernel gives a handler.
unsafe fn is_from_running_code(info: *const libc::siginfo_t) -> bool {
    // SAFETY: by contract; with these codes it names the sender.
    unsafe {
        matches!((*info).si_code, libc::SI_USER | libc::SI_QUEUE | libc::SI_TKILL)
            && (*info).si_pid() == libc::getpid()
            && !WAITING.load(Ordering::Relaxed)
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
        // SAFETY: the program gave this address to `sigaction` as a handler of the kind that its flags name.
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
    // After the program's handler: the call that is interrupted by it returns when it has run, whichever thread
    // the signal came to.
    if PENDING.fetch_or(bit(signal), Ordering::AcqRel) & bit(signal) == 0 {
        let one = 1u64;
        // SAFETY: eight bytes are read from a local; `write` is allowed in a handler, a failure changes nothing.
        unsafe { libc::write(EVENT.load(Ordering::Acquire), (&raw const one).cast(), 8) };
    }
    // SAFETY: as above.
    unsafe { *errno = saved };
}

/// Installs ours in place of `action`, with its mask and flags; `reports`: without calling it.
fn install(signal: i32, action: libc::sigaction, reports: bool) -> i32 {
    let Some(slot) = slot(signal) else { return -1 };
    let mut ours = action;
    ours.sa_sigaction = handler as *const () as usize;
    ours.sa_flags |= libc::SA_SIGINFO;
    if reports {
        ours.sa_flags = ours.sa_flags & !(libc::SA_RESETHAND | libc::SA_NODEFER) | libc::SA_RESTART;
    }
    if !is_function(&action) {
        ours.sa_flags |= libc::SA_RESTART; // a watched SIGCHLD that the program does not catch interrupts nothing
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
        let result = unsafe { libc::sigaction(signal, &ours, std::ptr::null_mut()) };
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
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old.as_ptr(), std::ptr::null_mut()) };
    result
}

/// `sigaction(2)` as the program sees it: sets `new` (chained when it is a function), answers what was wanted
/// before. Returns 0, or -1 with `errno` set.
pub fn action(signal: i32, new: Option<&libc::sigaction>, old: Option<&mut libc::sigaction>) -> i32 {
    let previous = wanted(signal);
    let mut real = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `real` is large enough; a null action only asks.
    if unsafe { libc::sigaction(signal, std::ptr::null(), real.as_mut_ptr()) } != 0 {
        return -1;
    }
    // SAFETY: filled by the call that succeeded.
    let real = unsafe { real.assume_init() };
    if let Some(new) = new {
        let keep = is_function(new) && !is_fault(signal) || signal == libc::SIGCHLD && previous.is_some();
        let result = if keep {
            install(signal, *new, false)
        } else {
            // SAFETY: `new` is the program's own complete action.
            let result = unsafe { libc::sigaction(signal, new, std::ptr::null_mut()) };
            if let (0, Some(slot)) = (result, slot(signal)) {
                slot.ours.store(false, Ordering::Release);
                let _ = REPORT.compare_exchange(signal, 0, Ordering::AcqRel, Ordering::Relaxed);
            }
            result
        };
        if result != 0 {
            return result;
        }
    }
    if let Some(old) = old {
        *old = previous.unwrap_or(real);
    }
    0
}

/// Chains every handler that the program has installed up to now.
pub fn chain_all() {
    for signal in 1..COUNT as i32 {
        if is_fault(signal) || wanted(signal).is_some() {
            continue;
        }
        let mut real = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: `real` is large enough; a null action only asks. Signals libc keeps to itself fail.
        if unsafe { libc::sigaction(signal, std::ptr::null(), real.as_mut_ptr()) } != 0 {
            continue;
        }
        // SAFETY: filled by the call that succeeded.
        let real = unsafe { real.assume_init() };
        if is_function(&real) {
            install(signal, real, false);
        }
    }
}

/// From now on `signal` asks for a report ([`super::Turn::report`]) and does nothing else, whatever was set for it up to
/// now. What the program sets for it later takes its place.
pub fn set_report_signal(signal: i32) {
    let mut real = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `real` is large enough; a null action only asks.
    if unsafe { libc::sigaction(signal, std::ptr::null(), real.as_mut_ptr()) } == 0 {
        // SAFETY: filled by the call that succeeded.
        let real = unsafe { real.assume_init() };
        install(signal, wanted(signal).unwrap_or(real), true);
    }
}

/// From now on `SIGCHLD` is noted even when the program does not catch it.
pub(crate) fn watch_children() {
    if wanted(libc::SIGCHLD).is_some() {
        return;
    }
    let mut real = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `real` is large enough; a null action only asks.
    if unsafe { libc::sigaction(libc::SIGCHLD, std::ptr::null(), real.as_mut_ptr()) } == 0 {
        // SAFETY: filled by the call that succeeded.
        let real = unsafe { real.assume_init() };
        // Ignored means that children are reaped by the kernel: that must stay.
        if real.sa_sigaction != libc::SIG_IGN {
            install(libc::SIGCHLD, real, false);
        }
    }
}

/// Puts the program's own handlers back where ours still stand.
pub fn unchain_all() {
    for signal in 1..COUNT as i32 {
        let (Some(action), Some(slot)) = (wanted(signal), slot(signal)) else { continue };
        let mut real = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: `real` is large enough; a null action only asks; `action` is the program's own.
        unsafe {
            if libc::sigaction(signal, std::ptr::null(), real.as_mut_ptr()) == 0
                && real.assume_init().sa_sigaction == handler as *const () as usize
            {
                libc::sigaction(signal, &action, std::ptr::null_mut());
                slot.ours.store(false, Ordering::Release);
            }
        }
    }
    REPORT.store(0, Ordering::Release);
}
