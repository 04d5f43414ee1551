//! Waits of C code: for a wake-up, a descriptor, a time, a job.

use super::arguments::{Callback, text};
use super::wakes;
use crate::engine::interposition;
use crate::runtime::scheduler::rt;
use crate::runtime::{fork, request};
use spindle_core::sched::Wakeup;
use spindle_interpose::hooks::poll;
use spindle_interpose::host::{self, BlockedOn, Host, OnSignal, Wake, errno, set_errno};
use spindle_interpose::wait::{Job, for_job_or_abandon};
use spindle_php_sys as sys;
use spindle_reactor::{Interest, Reactor};
use spindle_zend::PhpStatic;
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Returns the host, where the running code may be suspended.
#[inline]
fn parking_host() -> Option<&'static dyn Host> {
    host::current_host().filter(|_| request::is_in_request())
}

/// Returns `true` if the running code may be suspended.
pub extern "C" fn can_park() -> bool {
    parking_host().is_some()
}

fn failed(error: c_int) -> sys::spindle_why {
    set_errno(error);
    sys::SPINDLE_FAILED
}

fn why(wake: Wake) -> sys::spindle_why {
    match wake {
        Wake::Woken => sys::SPINDLE_WOKEN,
        Wake::TimedOut => sys::SPINDLE_TIMED_OUT,
        Wake::Cancelled => sys::SPINDLE_CANCELLED,
        Wake::Interrupted => sys::SPINDLE_INTERRUPTED,
    }
}

/// Returns a deadline of C code for the runtime.
fn deadline_of(deadline: u64) -> Option<u64> {
    (deadline != u64::MAX).then_some(deadline)
}

/// Begins a wait of the running coroutine, and returns its ticket; 0 where it may not be suspended.
pub extern "C" fn begin_wait() -> u64 {
    let Some(host) = parking_host() else { return 0 };
    let rt = rt();
    if fork::forked_unseen() {
        fork::in_child(rt); // its event loop is another one
    }
    wakes::open(rt);
    match host.begin_wait().0 {
        0 => host.begin_wait().0, // the one number of four thousand million that means something else
        ticket => ticket,
    }
}

/// Parks the running coroutine until its ticket is woken.
pub unsafe extern "C" fn park(ticket: u64, deadline: u64, what: *const c_char) -> sys::spindle_why {
    let (Some(host), true) = (parking_host(), ticket != 0) else { return failed(libc::EPERM) };
    // SAFETY: by contract null, or a text that stays as long as the wait, whose description it is.
    let call = unsafe { text(what) }.filter(|what| !what.is_empty()).unwrap_or("park");
    let blocked_on = BlockedOn { call, fd: -1, on_signal: OnSignal::Interrupt };
    if is_of_next_park(ticket) {
        return why(host.park(deadline_of(deadline), blocked_on));
    }
    // Code that parks again and again with an old ticket does not keep the others from running.
    host.begin_wait();
    match host.park(Some(Reactor::now()), blocked_on) {
        Wake::TimedOut => sys::SPINDLE_WOKEN,
        wake => why(wake),
    }
}

/// Returns `true` for the ticket of the wait that the running coroutine has begun last.
fn is_of_next_park(ticket: u64) -> bool {
    let core = rt().core.borrow();
    matches!(Wakeup::from_u64(ticket), Wakeup::Park(ticket) if ticket.co == core.running() && core.can_wake(ticket))
}

/// Waits until a descriptor is ready.
pub extern "C" fn wait_fd(fd: c_int, events: c_int, deadline: u64) -> sys::spindle_why {
    if fd < 0 {
        return failed(libc::EBADF); // which poll() takes for an entry to skip
    }
    if let Some(host) = parking_host() {
        // What uses the descriptor may be unseen: what is known of it is believed once for an edge.
        let known = match events as i16 {
            libc::POLLIN => host.reactor().answer(fd, Interest::READ),
            libc::POLLOUT => host.reactor().answer(fd, Interest::WRITE),
            _ => None,
        };
        if known.is_none() {
            host.reactor().reset_readiness(fd);
        }
    }
    let time = deadline_of(deadline).map(|deadline| timespec(deadline.saturating_sub(Reactor::now())));
    let mut one = libc::pollfd { fd, events: events as i16, revents: 0 };
    // SAFETY: one entry and a time, which live through the call; no mask.
    let ready = unsafe { poll::ppoll(&raw mut one, 1, time.as_ref().map_or(ptr::null(), ptr::from_ref), ptr::null()) };
    match ready {
        0 => sys::SPINDLE_TIMED_OUT,
        1.. if one.revents & libc::POLLNVAL != 0 => failed(libc::EBADF),
        1.. => sys::SPINDLE_WOKEN,
        _ => after_error(),
    }
}

/// Returns how a call of libc has ended that has failed.
fn after_error() -> sys::spindle_why {
    match errno() {
        libc::EINTR => sys::SPINDLE_INTERRUPTED,
        libc::ECANCELED => sys::SPINDLE_CANCELLED,
        _ => sys::SPINDLE_FAILED,
    }
}

fn timespec(nanoseconds: u64) -> libc::timespec {
    const SECOND: u64 = 1_000_000_000;
    libc::timespec { tv_sec: (nanoseconds / SECOND) as _, tv_nsec: (nanoseconds % SECOND) as libc::c_long }
}

/// Waits for a time.
pub extern "C" fn sleep(nanoseconds: u64) -> sys::spindle_why {
    if let Some(host) = parking_host() {
        host.begin_wait();
        let deadline = Reactor::now().saturating_add(nanoseconds);
        return why(host.park(Some(deadline), BlockedOn { call: "sleep", fd: -1, on_signal: OnSignal::Interrupt }));
    }
    let time = timespec(nanoseconds);
    // SAFETY: a valid time, and no place for the rest.
    if unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) } == 0 {
        sys::SPINDLE_TIMED_OUT
    } else {
        after_error()
    }
}

/// What a job works with, and who releases it: its submitter, unless that has given it up.
struct Argument {
    pointer: *mut c_void,
    drop: Option<Callback>,
    fate: Arc<AtomicU8>,
}

/// The submitter waits, and has it back at the end.
const LENT: u8 = 0;
/// The submitter has given it up: who is done with it drops it.
const GIVEN_UP: u8 = 1;
/// The job is done with it.
const RETURNED: u8 = 2;

// SAFETY: by the contract of `job`, whose argument is used on a worker thread.
unsafe impl Send for Argument {}

impl Drop for Argument {
    fn drop(&mut self) {
        if self.fate.swap(RETURNED, Ordering::AcqRel) == GIVEN_UP {
            drop_argument(self.drop, self.pointer);
        }
    }
}

fn drop_argument(drop: Option<Callback>, pointer: *mut c_void) {
    if let Some(drop) = drop {
        // SAFETY: by the contract of `job`: once, with its argument, when nothing uses that.
        unsafe { drop(pointer) };
    }
}

/// The code whose object is kept loaded, if it was that of the last job.
static KEPT: PhpStatic<Cell<usize>> = PhpStatic::new(Cell::new(0));

/// Prevents the extension with this job from being unloaded: one that is given up may run until the process has ended.
fn keep_loaded(run: Callback) {
    if KEPT.replace(run as usize) != run as usize {
        interposition::keep_loaded(run as *const c_void);
    }
}

/// Runs a job on a worker thread and waits for its end.
pub unsafe extern "C" fn job(run: Option<Callback>, pointer: *mut c_void, drop: Option<Callback>) -> sys::spindle_why {
    let Some(run) = run else { return failed(libc::EINVAL) };
    let in_place = || {
        // SAFETY: by contract.
        unsafe { run(pointer) };
        sys::SPINDLE_WOKEN
    };
    let Some(host) = parking_host() else { return in_place() };
    keep_loaded(run);
    let fate = Arc::new(AtomicU8::new(LENT));
    let argument = Argument { pointer, drop, fate: Arc::clone(&fate) };
    let work = move || {
        let argument = argument;
        // SAFETY: by contract, on any thread.
        unsafe { run(argument.pointer) };
        argument
    };
    let blocked_on = BlockedOn { call: "job", fd: -1, on_signal: OnSignal::Ignore };
    match for_job_or_abandon(host, blocked_on, false, work, std::mem::drop) {
        Job::Done(_) => sys::SPINDLE_WOKEN,
        Job::NoWorker => in_place(),
        Job::Abandoned(_) => {
            if fate.swap(GIVEN_UP, Ordering::AcqRel) == RETURNED {
                drop_argument(drop, pointer);
            }
            sys::SPINDLE_CANCELLED
        }
    }
}
