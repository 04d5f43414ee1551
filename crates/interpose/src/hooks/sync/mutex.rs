//! Locks of the thread made locks of the coroutine: `pthread_mutex_*` and `pthread_rwlock_*`.
//!
//! All coroutines run on one thread, so to libc a lock held by a parked coroutine is held by whoever runs: a
//! recursive mutex lets it in, any other stops the thread for good. So the books say what the running coroutine
//! holds. When it parks holding something, that is *published*; another coroutine that wants a published lock
//! parks until it is released, first come first served.
//!
//! What the host owes: at each switch from one coroutine to another, if [`holds_any`] (one load),
//! [`on_park`] of the old and [`on_resume`] of the new one; [`on_end`] when a coroutine has ended; [`reset`] in
//! the child of a fork and when the other coroutines have been abandoned.
//!
//! The books are kept on the PHP thread whether the gate is open or not: a lock may be taken before it opens and
//! released after, or the other way round. Wishing for a published lock with the gate closed cannot be helped:
//! the call goes through as it is.
//!
//! Waiting for a lock is not cancelled and not interrupted; a `timed` one is by its time, and by a cancellation as
//! if that had passed. When locks are published and another *thread* holds the wanted one, the coroutine does not
//! block on it either: that thread may wait for what a parked coroutine holds. Otherwise threads are waited for in
//! place.
//!
//! Readers pass writers that wait, as with libc's default. Condition variables are in `conditions`; one that is waited
//! for in place keeps the books right, since no coroutine runs between releasing the mutex and taking it again. Spin
//! locks, barriers and the `clocklock` functions are not hooked.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::{BlockedOn, Host, OnSignal, Wake, current_host, errno, php_thread_host, set_errno};
use crate::php_cell::PhpCell;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait::time::deadline_of;
use crate::wait::{self, Ticket, WaitQueue};
use libc::{c_int, pthread_mutex_t, pthread_rwlock_t, timespec};
use spindle_reactor::{Reactor, Waiter};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Of calls that take a lock.
pub(super) const LOCK: Behavior = Behavior {
    wait: WaitKind::Queue,
    summary: "parked while another coroutine holds it; another thread is waited for in place",
    on_cancel: on_cancel::TIMED_ONLY,
};

/// Of calls that try to take a lock, or release it.
pub(super) const TRACKED: Behavior =
    Behavior { wait: WaitKind::Never, summary: "the holder of the lock is tracked", on_cancel: on_cancel::NEVER };

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    hooked_calls![
        c"pthread_mutex_lock" => pthread_mutex_lock, LOCK;
        c"pthread_mutex_timedlock" => pthread_mutex_timedlock, LOCK;
        c"pthread_mutex_trylock" => pthread_mutex_trylock, TRACKED;
        c"pthread_mutex_unlock" => pthread_mutex_unlock, TRACKED;
        c"pthread_rwlock_rdlock" => pthread_rwlock_rdlock, LOCK;
        c"pthread_rwlock_wrlock" => pthread_rwlock_wrlock, LOCK;
        c"pthread_rwlock_timedrdlock" => pthread_rwlock_timedrdlock, LOCK;
        c"pthread_rwlock_timedwrlock" => pthread_rwlock_timedwrlock, LOCK;
        c"pthread_rwlock_tryrdlock" => pthread_rwlock_tryrdlock, TRACKED;
        c"pthread_rwlock_trywrlock" => pthread_rwlock_trywrlock, TRACKED;
        c"pthread_rwlock_unlock" => pthread_rwlock_unlock, TRACKED;
    ]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Exclusive,
    Shared,
}

/// A lock held once; a recursive one is in the list as often as it is held.
#[derive(Clone, Copy)]
struct Held {
    object: usize,
    mode: Mode,
}

struct Published {
    owner: u64,
    held: Held,
}

struct Locks {
    held: Vec<Held>,
    published: Vec<Published>,
    waiting: WaitQueue<Held>,
}

static LOCKS: PhpCell<Locks> =
    PhpCell::new(Locks { held: Vec::new(), published: Vec::new(), waiting: WaitQueue::new() });

/// How many entries the books have, held and published.
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Locks {
    #[inline(always)]
    fn update_count(&self) {
        COUNT.store(self.held.len() + self.published.len(), Ordering::Relaxed);
    }

    #[inline(always)]
    fn push(&mut self, held: Held) {
        self.held.push(held);
        self.update_count();
    }

    fn holds(&self, object: usize) -> bool {
        self.held.iter().any(|h| h.object == object)
    }

    /// Does a parked coroutine hold it so that this wish must wait?
    fn conflicts(&self, object: usize, mode: Mode) -> bool {
        self.published
            .iter()
            .any(|p| p.held.object == object && (mode == Mode::Exclusive || p.held.mode == Mode::Exclusive))
    }

    /// Is another one before the one with this ticket?
    fn is_behind(&self, object: usize, mode: Mode, ticket: Ticket) -> bool {
        mode == Mode::Exclusive && self.waiting.keys_before(ticket).any(|wanted| wanted.object == object)
    }

    fn released(&mut self, object: usize) {
        if let Some(index) = self.held.iter().rposition(|h| h.object == object) {
            self.held.remove(index);
        } else if let Some(index) = self.published.iter().position(|p| p.held.object == object) {
            // Released by another than the one who took it.
            self.published.remove(index);
        }
        self.update_count();
    }

    /// The waiter of the first who wants it, if it may try.
    fn next(&mut self, object: usize) -> Option<Waiter> {
        if self.waiting.is_empty() || self.holds(object) {
            return None;
        }
        self.waiting.take_first(|wanted| wanted.object == object)
    }
}

fn locks<R>(here: &dyn Host, then: impl FnOnce(&mut Locks) -> R) -> R {
    LOCKS.with(here, then)
}

/// Does the running coroutine hold a lock, or a parked one? If not, a switch needs none of the calls below.
#[inline(always)]
pub fn holds_any() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// `coroutine`, which has run until now, parks: what it holds is published.
pub fn on_park(coroutine: u64) {
    let Some(here) = php_thread_host() else { return };
    locks(here, |locks| locks.published.extend(locks.held.drain(..).map(|held| Published { owner: coroutine, held })));
}

/// `coroutine` is about to run: what it holds is its own again.
pub fn on_resume(coroutine: u64) {
    let Some(here) = php_thread_host() else { return };
    locks(here, |locks| {
        let held = &mut locks.held;
        locks.published.retain(|p| {
            if p.owner == coroutine {
                held.push(p.held);
            }
            p.owner != coroutine
        });
    });
}

/// `coroutine` has ended, running: what it still holds is nobody's, as with code that left it locked on purpose.
pub fn on_end(coroutine: u64) {
    let Some(here) = php_thread_host() else { return };
    on_park(coroutine);
    locks(here, |locks| {
        locks.published.retain(|p| p.owner != coroutine);
        locks.update_count();
    });
    // Rare: all try again.
    let mut next = 0;
    while let Some(waiter) = locks(here, |locks| locks.waiting.take_next(&mut next, |_| true)) {
        here.wake(waiter);
    }
}

/// Forgets what other coroutines hold and want: they are gone. The running one keeps its own.
pub fn reset() {
    let Some(here) = php_thread_host() else { return };
    locks(here, |locks| {
        locks.published.clear();
        locks.waiting.clear();
        locks.update_count();
    });
}

fn is_acquired(result: c_int) -> bool {
    result == 0 || result == libc::EOWNERDEAD
}

/// `lock` may block the thread, `attempt` answers `EBUSY`. `deadline` is monotonic.
#[inline(always)]
fn acquire(
    held: Held,
    deadline: Option<u64>,
    call: &'static str,
    lock: impl Fn() -> c_int,
    attempt: impl Fn() -> c_int,
) -> c_int {
    let Some(here) = php_thread_host() else { return lock() };
    let direct = locks(here, |locks| locks.published.is_empty() && locks.waiting.is_empty());
    if !direct && let Some(host) = current_host() {
        return contended(host, held, deadline, call, &lock, &attempt);
    }
    let result = lock();
    if is_acquired(result) {
        locks(here, |locks| locks.push(held));
    }
    result
}

#[cold]
fn contended(
    host: &dyn Host,
    held: Held,
    deadline: Option<u64>,
    call: &'static str,
    lock: &dyn Fn() -> c_int,
    attempt: &dyn Fn() -> c_int,
) -> c_int {
    let saved = errno();
    let Held { object, mode } = held;
    let blocked_on = BlockedOn { call, fd: -1, on_signal: OnSignal::Ignore };
    // What the coroutine holds already: recursion, or its own mistake, which libc answers.
    let own = locks(host, |locks| locks.holds(object));
    let ticket = locks(host, |locks| locks.waiting.draw_ticket());
    let result = loop {
        let must_wait =
            locks(host, |locks| !own && (locks.conflicts(object, mode) || locks.is_behind(object, mode, ticket)));
        if !must_wait {
            let result = if own { lock() } else { attempt() };
            if result != libc::EBUSY {
                break result;
            }
        }
        let waiter = host.begin_wait();
        locks(host, |locks| locks.waiting.enqueue(ticket, held, waiter));
        if !must_wait {
            // Another thread holds it: try again soon. No cancellation cuts the pause short.
            if !wait::pause_on_worker(host, call, -1) {
                break lock();
            }
            if deadline.is_some_and(|deadline| deadline <= Reactor::now()) {
                break libc::ETIMEDOUT;
            }
        } else if deadline.is_none() {
            host.park_uncancellable(blocked_on);
        } else if matches!(host.park(deadline, blocked_on), Wake::TimedOut | Wake::Cancelled) {
            break libc::ETIMEDOUT;
        }
    };
    let next = locks(host, |locks| {
        locks.waiting.remove(ticket);
        if is_acquired(result) {
            locks.push(held);
        }
        // A reader lets the next reader in; who gave up lets the next one try.
        if is_acquired(result) && mode == Mode::Exclusive {
            return None;
        }
        locks.waiting.take_first(|w| w.object == object && (w.mode == Mode::Shared || !is_acquired(result)))
    });
    if let Some(waiter) = next {
        host.wake(waiter);
    }
    set_errno(saved);
    result
}

#[inline(always)]
fn try_acquire(held: Held, attempt: impl Fn() -> c_int) -> c_int {
    let Some(here) = php_thread_host() else { return attempt() };
    if locks(here, |locks| !locks.published.is_empty() && locks.conflicts(held.object, held.mode)) {
        return libc::EBUSY;
    }
    let result = attempt();
    if is_acquired(result) {
        locks(here, |locks| locks.push(held));
    }
    result
}

#[inline(always)]
fn release(object: usize, unlock: impl Fn() -> c_int) -> c_int {
    let Some(here) = php_thread_host() else { return unlock() };
    let result = unlock();
    if result == 0 {
        let next = locks(here, |locks| {
            locks.released(object);
            locks.next(object)
        });
        if let Some(waiter) = next {
            here.wake(waiter);
        }
    }
    result
}

unsafe extern "C" {
    #[link_name = "pthread_rwlock_timedrdlock"]
    fn libc_timedrdlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int;
    #[link_name = "pthread_rwlock_timedwrlock"]
    fn libc_timedwrlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int;
}

/// The wish for an object; its address is all that is kept of it.
fn lock_of<T>(object: *mut T, mode: Mode) -> Held {
    Held { object: object.addr(), mode }
}

/// `pthread_mutex_lock(3)`.
pub unsafe extern "C" fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's own mutex.
    let lock = || unsafe { libc::pthread_mutex_lock(mutex) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_mutex_trylock(mutex) };
    acquire(lock_of(mutex, Mode::Exclusive), None, "pthread_mutex_lock", lock, attempt)
}

/// `pthread_mutex_timedlock(3)`.
pub unsafe extern "C" fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's own mutex and time.
    let lock = || unsafe { libc::pthread_mutex_timedlock(mutex, until) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_mutex_trylock(mutex) };
    let Some(deadline) = (if holds_any() { deadline_of(until) } else { Some(u64::MAX) }) else { return lock() };
    acquire(lock_of(mutex, Mode::Exclusive), Some(deadline), "pthread_mutex_timedlock", lock, attempt)
}

/// `pthread_mutex_trylock(3)`.
pub unsafe extern "C" fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's own mutex.
    try_acquire(lock_of(mutex, Mode::Exclusive), || unsafe { libc::pthread_mutex_trylock(mutex) })
}

/// `pthread_mutex_unlock(3)`.
pub unsafe extern "C" fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's own mutex.
    release(mutex.addr(), || unsafe { libc::pthread_mutex_unlock(mutex) })
}

/// `pthread_rwlock_rdlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_rdlock(object: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's own lock.
    let lock = || unsafe { libc::pthread_rwlock_rdlock(object) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_rwlock_tryrdlock(object) };
    acquire(lock_of(object, Mode::Shared), None, "pthread_rwlock_rdlock", lock, attempt)
}

/// `pthread_rwlock_wrlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_wrlock(object: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's own lock.
    let lock = || unsafe { libc::pthread_rwlock_wrlock(object) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_rwlock_trywrlock(object) };
    acquire(lock_of(object, Mode::Exclusive), None, "pthread_rwlock_wrlock", lock, attempt)
}

/// `pthread_rwlock_timedrdlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_timedrdlock(object: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's own lock and time.
    let lock = || unsafe { libc_timedrdlock(object, until) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_rwlock_tryrdlock(object) };
    let Some(deadline) = (if holds_any() { deadline_of(until) } else { Some(u64::MAX) }) else { return lock() };
    acquire(lock_of(object, Mode::Shared), Some(deadline), "pthread_rwlock_timedrdlock", lock, attempt)
}

/// `pthread_rwlock_timedwrlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_timedwrlock(object: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's own lock and time.
    let lock = || unsafe { libc_timedwrlock(object, until) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_rwlock_trywrlock(object) };
    let Some(deadline) = (if holds_any() { deadline_of(until) } else { Some(u64::MAX) }) else { return lock() };
    acquire(lock_of(object, Mode::Exclusive), Some(deadline), "pthread_rwlock_timedwrlock", lock, attempt)
}

/// `pthread_rwlock_tryrdlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_tryrdlock(object: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's own lock.
    try_acquire(lock_of(object, Mode::Shared), || unsafe { libc::pthread_rwlock_tryrdlock(object) })
}

/// `pthread_rwlock_trywrlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_trywrlock(object: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's own lock.
    try_acquire(lock_of(object, Mode::Exclusive), || unsafe { libc::pthread_rwlock_trywrlock(object) })
}

/// `pthread_rwlock_unlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_unlock(object: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's own lock.
    release(object.addr(), || unsafe { libc::pthread_rwlock_unlock(object) })
}
