//! Wake-ups by other threads.
//!
//! A thread that has a ticket knows nothing of requests: it finds the event loop of the present one here, or none. Tickets are not
//! used twice in a process (`Core::with_epochs_after`), so one that comes late wakes nothing.

use crate::runtime::scheduler::Runtime;
use spindle_core::sched::Wakeup;
use spindle_interpose::host::{errno, php_thread_host, set_errno};
use spindle_reactor::{Remote, Waiter};
use spindle_zend::PhpStatic;
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How threads reach the event loop of the present request, if it has begun a wait. Made by the first wait of the process, and never
/// freed. The child of a fork makes another one: a thread that it does not have may hold the lock.
static LOOP: AtomicPtr<Mutex<Option<Remote>>> = AtomicPtr::new(std::ptr::null_mut());

/// Threads reach the event loop of this request.
static IS_OPEN: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

fn event_loop() -> Option<MutexGuard<'static, Option<Remote>>> {
    // SAFETY: null, or one that is never freed.
    let place = unsafe { LOOP.load(Ordering::Acquire).as_ref() }?;
    Some(place.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Lets other threads wake waits of this request.
#[inline]
pub fn open(rt: &Runtime) {
    if !IS_OPEN.get() {
        open_first(rt);
    }
}

#[cold]
fn open_first(rt: &Runtime) {
    let remote = rt.reactor().remote();
    match event_loop() {
        Some(mut place) => *place = Some(remote),
        None => LOOP.store(Box::leak(Box::new(Mutex::new(Some(remote)))), Ordering::Release),
    }
    IS_OPEN.set(true);
}

/// Wakes of other threads come to nothing from here on.
pub fn close() {
    if IS_OPEN.replace(false)
        && let Some(mut place) = event_loop()
    {
        *place = None;
    }
}

/// The process is the child of a fork: its event loop is a new one. So is its lock, also if no wait has begun in this request: a thread
/// may have been waking the tickets of an earlier one.
pub fn forked() {
    IS_OPEN.set(false);
    LOOP.store(std::ptr::null_mut(), Ordering::Release);
}

/// Wakes the wait with this ticket, on any thread. Keeps `errno`.
pub extern "C" fn wake(ticket: u64) {
    if ticket == 0 || !matches!(Wakeup::from_u64(ticket), Wakeup::Park(_)) {
        return;
    }
    let saved = errno();
    match php_thread_host() {
        Some(host) => host.wake(Waiter(ticket)),
        None => {
            if let Some(remote) = event_loop().as_deref().and_then(Option::as_ref) {
                remote.wake(Waiter(ticket));
            }
        }
    }
    set_errno(saved);
}
