//! The functions of the table as safe functions. Without Spindle, and where a coroutine cannot be suspended, waits block the thread.

use crate::table::table;
use std::any::Any;
use std::ffi::{CStr, c_int, c_void};
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

/// The running coroutine is cancelled: return to PHP, where the exception is thrown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the coroutine is cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// How a park has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// It was woken, perhaps by chance.
    Woken,
    /// The time has passed.
    TimedOut,
    /// The coroutine is cancelled.
    Cancelled,
    /// A signal was caught. Its handler runs when PHP code goes on.
    Interrupted,
    /// There was no wait, as [`can_park`] is false here.
    Failed,
}

impl Why {
    fn of(number: u32) -> Why {
        match number {
            0 => Why::Woken,
            1 => Why::TimedOut,
            2 => Why::Cancelled,
            3 => Why::Interrupted,
            _ => Why::Failed,
        }
    }
}

/// Returns `true` if Spindle is loaded.
pub fn is_loaded() -> bool {
    table().is_some()
}

/// Returns `true` if the running code can be suspended here.
pub fn can_park() -> bool {
    // SAFETY: on any thread.
    table().is_some_and(|table| unsafe { (table.can_park)() })
}

/// Returns the number of the running coroutine; 0 without Spindle, and where there is none.
pub fn current() -> u64 {
    // SAFETY: on any thread.
    table().map_or(0, |table| unsafe { (table.current)() })
}

/// Begins a wait of the running coroutine, and returns its ticket; 0 where it cannot be suspended.
pub fn begin_wait() -> u64 {
    // SAFETY: on any thread.
    table().map_or(0, |table| unsafe { (table.begin_wait)() })
}

/// Returns the deadline that is this far from now, for [`park`].
fn deadline_in(time: Option<Duration>) -> u64 {
    let Some(time) = time else { return u64::MAX };
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    now().saturating_add(nanoseconds(time))
}

/// Suspends the running coroutine until its ticket is woken, or for this time.
pub fn park(ticket: u64, time: Option<Duration>, what: &'static CStr) -> Why {
    park_until(ticket, deadline_in(time), what)
}

fn park_until(ticket: u64, deadline: u64, what: &'static CStr) -> Why {
    // SAFETY: on any thread; the text stays.
    table().map_or(Why::Failed, |table| Why::of(unsafe { (table.park)(ticket, deadline, what.as_ptr()) }))
}

/// Wakes a wait, on any thread, at any time.
pub fn wake(ticket: u64) {
    if let Some(table) = table() {
        // SAFETY: on any thread, with any ticket.
        unsafe { (table.wake)(ticket) }
    }
}

/// Returns `true` if the running coroutine is cancelled and the exception has not been thrown: for loops that compute.
pub fn is_cancelled() -> bool {
    // SAFETY: on any thread.
    table().is_some_and(|table| unsafe { (table.cancelled)() })
}

/// Runs `what` without a switch to another coroutine.
pub fn without_switch<R>(what: impl FnOnce() -> R) -> R {
    let Some(table) = table() else { return what() };
    // SAFETY: on any thread.
    unsafe { (table.forbid)() };
    let result = catch_unwind(AssertUnwindSafe(what));
    // SAFETY: on any thread.
    unsafe { (table.allow)() };
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Waits for a time. A signal does not end it.
///
/// # Errors
/// The coroutine is cancelled.
pub fn sleep(time: Duration) -> Result<(), Cancelled> {
    if !can_park() {
        std::thread::sleep(time);
        return Ok(());
    }
    let end = deadline_in(Some(time));
    loop {
        match park_until(begin_wait(), end, c"sleep") {
            Why::TimedOut | Why::Failed => return Ok(()),
            Why::Cancelled => return Err(Cancelled),
            Why::Woken | Why::Interrupted => {}
        }
    }
}

/// What a descriptor is to be ready for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    /// Reading: `POLLIN`.
    Read,
    /// Writing: `POLLOUT`.
    Write,
}

/// Waits until a descriptor is ready, or for this time. Returns `false` if the time has passed.
///
/// # Errors
/// `ECANCELED` if the coroutine is cancelled; `EINTR` for a signal; those of `poll(2)`.
pub fn wait_fd(fd: BorrowedFd<'_>, ready: Ready, time: Option<Duration>) -> io::Result<bool> {
    const CANCELED: i32 = 125;
    const INTERRUPTED: i32 = 4;
    let events = if ready == Ready::Read { 1 } else { 4 };
    let why = match table() {
        // SAFETY: on any thread, with any descriptor.
        Some(table) => Why::of(unsafe { (table.wait_fd)(fd.as_raw_fd(), events, deadline_in(time)) }),
        None => poll(fd.as_raw_fd(), events as i16, time),
    };
    match why {
        Why::Woken => Ok(true),
        Why::TimedOut => Ok(false),
        Why::Cancelled => Err(io::Error::from_raw_os_error(CANCELED)),
        Why::Interrupted => Err(io::Error::from_raw_os_error(INTERRUPTED)),
        Why::Failed => Err(io::Error::last_os_error()),
    }
}

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: i16,
    revents: i16,
}

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

// SAFETY: functions of the C library of 64-bit Linux.
unsafe extern "C" {
    #[link_name = "poll"]
    fn libc_poll(fds: *mut PollFd, count: u64, milliseconds: c_int) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

fn now() -> u64 {
    const MONOTONIC: c_int = 1;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: a valid place; the clock is always there.
    unsafe { clock_gettime(MONOTONIC, &raw mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// Waits as `poll(2)`, without Spindle.
fn poll(fd: c_int, events: i16, time: Option<Duration>) -> Why {
    let milliseconds =
        time.map_or(-1, |time| c_int::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX));
    let mut one = PollFd { fd, events, revents: 0 };
    // SAFETY: one entry, which lives through the call.
    match unsafe { libc_poll(&raw mut one, 1, milliseconds) } {
        0 => Why::TimedOut,
        1.. => Why::Woken,
        _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => Why::Interrupted,
        _ => Why::Failed,
    }
}

/// A job, and its result.
struct Work<F, T> {
    run: Option<F>,
    result: Option<Result<T, Box<dyn Any + Send>>>,
}

unsafe extern "C" fn run_work<F: FnOnce() -> T, T>(work: *mut c_void) {
    // SAFETY: the work of `job`, which only the job uses until it has run.
    let work = unsafe { &mut *work.cast::<Work<F, T>>() };
    if let Some(run) = work.run.take() {
        work.result = Some(catch_unwind(AssertUnwindSafe(run)));
    }
}

unsafe extern "C" fn drop_work<F, T>(work: *mut c_void) {
    // SAFETY: made by `job`, which has given it up; called once.
    drop(unsafe { Box::from_raw(work.cast::<Work<F, T>>()) });
}

/// Runs a function that blocks on a worker thread, and waits for its result; without Spindle, and where the coroutine cannot be
/// suspended, in place.
///
/// # Errors
/// The coroutine is cancelled. The function runs to its end all the same, or never begins, and what it owns is dropped then, on
/// whatever thread.
///
/// # Panics
/// The function has panicked.
pub fn job<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> Result<T, Cancelled> {
    fn submit<F: FnOnce() -> T + Send, T: Send>(run: F) -> Result<T, Cancelled> {
        let Some(table) = table() else { return Ok(run()) };
        let work = Box::into_raw(Box::new(Work { run: Some(run), result: None }));
        // SAFETY: functions of this work, which is memory of the heap.
        let why = unsafe { (table.job)(Some(run_work::<F, T>), work.cast(), Some(drop_work::<F, T>)) };
        if Why::of(why) == Why::Cancelled {
            return Err(Cancelled);
        }
        // SAFETY: it has run, and is ours again.
        let work = unsafe { Box::from_raw(work) };
        match work.result {
            Some(Ok(result)) => Ok(result),
            Some(Err(panic)) => resume_unwind(panic),
            None => Err(Cancelled),
        }
    }
    submit(run)
}

/// What calls of an extension's functions hold while their coroutine is suspended in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Holds {
    /// The whole extension: one call at a time.
    All = 0,
    /// The objects among their arguments: one call at a time on each.
    Handles = 1,
    /// Nothing.
    Nothing = 2,
}

/// Declares what calls hold: of one function of an extension, or of all without a declaration of their own. In `MINIT`. Returns
/// `false` without Spindle, and when it is too late.
///
/// # Safety
/// `module` is the extension's `zend_module_entry`.
pub unsafe fn declare(module: *const c_void, function: Option<&CStr>, holds: Holds) -> bool {
    let function = function.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: the caller's promise.
    table().is_some_and(|table| unsafe { (table.declare)(module, function, holds as u32) })
}
