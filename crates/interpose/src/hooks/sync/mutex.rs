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

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const LOCK: Behavior = Behavior {
        wait: WaitKind::Queue,
        summary: "parked while another coroutine holds it; another thread is waited for in place",
        on_cancel: on_cancel::TIMED_ONLY,
    };
    const OTHERS: Behavior =
        Behavior { wait: WaitKind::Never, summary: "noted: who holds the lock", on_cancel: on_cancel::NEVER };
    hooked_calls![
        c"pthread_mutex_lock" => pthread_mutex_lock, LOCK;
        c"pthread_mutex_timedlock" => pthread_mutex_timedlock, LOCK;
        c"pthread_mutex_trylock" => pthread_mutex_trylock, OTHERS;
        c"pthread_mutex_unlock" => pthread_mutex_unlock, OTHERS;
        c"pthread_rwlock_rdlock" => pthread_rwlock_rdlock, LOCK;
        c"pthread_rwlock_wrlock" => pthread_rwlock_wrlock, LOCK;
        c"pthread_rwlock_timedrdlock" => pthread_rwlock_timedrdlock, LOCK;
        c"pthread_rwlock_timedwrlock" => pthread_rwlock_timedwrlock, LOCK;
        c"pthread_rwlock_tryrdlock" => pthread_rwlock_tryrdlock, OTHERS;
        c"pthread_rwlock_trywrlock" => pthread_rwlock_trywrlock, OTHERS;
        c"pthread_rwlock_unlock" => pthread_rwlock_unlock, OTHERS;
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

struct Books {
    held: Vec<Held>,
    published: Vec<Published>,
    waiting: WaitQueue<Held>,
}

static BOOKS: PhpCell<Books> =
    PhpCell::new(Books { held: Vec::new(), published: Vec::new(), waiting: WaitQueue::new() });

/// How many entries the books have, held and published.
static INVOLVED: AtomicUsize = AtomicUsize::new(0);

impl Books {
    #[inline(always)]
    fn note(&self) {
        INVOLVED.store(self.held.len() + self.published.len(), Ordering::Relaxed);
    }

    #[inline(always)]
    fn push(&mut self, held: Held) {
        self.held.push(held);
        self.note();
    }

    fn holds(&self, object: usize) -> bool {
        self.held.iter().any(|h| h.object == object)
    }

    /// Does a parked coroutine hold it so that this wish must wait?
    fn taken(&self, object: usize, mode: Mode) -> bool {
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
        self.note();
    }

    /// The waiter of the first who wants it, if it may try.
    fn next(&mut self, object: usize) -> Option<Waiter> {
        if self.waiting.is_empty() || self.holds(object) {
            return None;
        }
        self.waiting.take_first(|wanted| wanted.object == object)
    }
}

fn books<R>(here: &dyn Host, then: impl FnOnce(&mut Books) -> R) -> R {
    BOOKS.with(here, then)
}

/// Does the running coroutine hold a lock, or a parked one? If not, a switch needs none of the calls below.
#[inline(always)]
pub fn holds_any() -> bool {
    INVOLVED.load(Ordering::Relaxed) != 0
}

/// `coroutine`, which has run until now, parks: what it holds is published.
pub fn on_park(coroutine: u64) {
    let Some(here) = php_thread_host() else { return };
    books(here, |b| b.published.extend(b.held.drain(..).map(|held| Published { owner: coroutine, held })));
}

/// `coroutine` is about to run: what it holds is its own again.
pub fn on_resume(coroutine: u64) {
    let Some(here) = php_thread_host() else { return };
    books(here, |b| {
        let held = &mut b.held;
        b.published.retain(|p| {
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
    books(here, |b| {
        b.published.retain(|p| p.owner != coroutine);
        b.note();
    });
    // Rare: all try again.
    let mut next = 0;
    while let Some(waiter) = books(here, |b| b.waiting.take_next(&mut next, |_| true)) {
        here.wake(waiter);
    }
}

/// Forgets what other coroutines hold and want: they are gone. The running one keeps its own.
pub fn reset() {
    let Some(here) = php_thread_host() else { return };
    books(here, |b| {
        b.published.clear();
        b.waiting.clear();
        b.note();
    });
}

fn got(result: c_int) -> bool {
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
    let direct = books(here, |b| b.published.is_empty() && b.waiting.is_empty());
    if !direct && let Some(host) = current_host() {
        return contended(host, held, deadline, call, &lock, &attempt);
    }
    let result = lock();
    if got(result) {
        books(here, |b| b.push(held));
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
    let own = books(host, |b| b.holds(object));
    let ticket = books(host, |b| b.waiting.draw_ticket());
    let result = loop {
        let must_wait = books(host, |b| !own && (b.taken(object, mode) || b.is_behind(object, mode, ticket)));
        if !must_wait {
            let result = if own { lock() } else { attempt() };
            if result != libc::EBUSY {
                break result;
            }
        }
        let waiter = host.begin_wait();
        books(host, |b| b.waiting.enqueue(ticket, held, waiter));
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
    let next = books(host, |b| {
        b.waiting.remove(ticket);
        if got(result) {
            b.push(held);
        }
        // A reader lets the next reader in; who gave up lets the next one try.
        if got(result) && mode == Mode::Exclusive {
            return None;
        }
        b.waiting.take_first(|w| w.object == object && (w.mode == Mode::Shared || !got(result)))
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
    if books(here, |b| !b.published.is_empty() && b.taken(held.object, held.mode)) {
        return libc::EBUSY;
    }
    let result = attempt();
    if got(result) {
        books(here, |b| b.push(held));
    }
    result
}

#[inline(always)]
fn release(object: usize, unlock: impl Fn() -> c_int) -> c_int {
    let Some(here) = php_thread_host() else { return unlock() };
    let result = unlock();
    if result == 0 {
        let next = books(here, |b| {
            b.released(object);
            b.next(object)
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
fn wish<T>(object: *mut T, mode: Mode) -> Held {
    Held { object: object.addr(), mode }
}

/// `pthread_mutex_lock(3)`.
pub unsafe extern "C" fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's own mutex.
    let lock = || unsafe { libc::pthread_mutex_lock(mutex) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_mutex_trylock(mutex) };
    acquire(wish(mutex, Mode::Exclusive), None, "pthread_mutex_lock", lock, attempt)
}

/// `pthread_mutex_timedlock(3)`.
pub unsafe extern "C" fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's own mutex and time.
    let lock = || unsafe { libc::pthread_mutex_timedlock(mutex, until) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_mutex_trylock(mutex) };
    let Some(deadline) = (if holds_any() { deadline_of(until) } else { Some(u64::MAX) }) else { return lock() };
    acquire(wish(mutex, Mode::Exclusive), Some(deadline), "pthread_mutex_timedlock", lock, attempt)
}

/// `pthread_mutex_trylock(3)`.
pub unsafe extern "C" fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's own mutex.
    try_acquire(wish(mutex, Mode::Exclusive), || unsafe { libc::pthread_mutex_trylock(mutex) })
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
    acquire(wish(object, Mode::Shared), None, "pthread_rwlock_rdlock", lock, attempt)
}

/// `pthread_rwlock_wrlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_wrlock(object: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's own lock.
    let lock = || unsafe { libc::pthread_rwlock_wrlock(object) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_rwlock_trywrlock(object) };
    acquire(wish(object, Mode::Exclusive), None, "pthread_rwlock_wrlock", lock, attempt)
}

/// `pthread_rwlock_timedrdlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_timedrdlock(object: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's own lock and time.
    let lock = || unsafe { libc_timedrdlock(object, until) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_rwlock_tryrdlock(object) };
    let Some(deadline) = (if holds_any() { deadline_of(until) } else { Some(u64::MAX) }) else { return lock() };
    acquire(wish(object, Mode::Shared), Some(deadline), "pthread_rwlock_timedrdlock", lock, attempt)
}

/// `pthread_rwlock_timedwrlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_timedwrlock(object: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's own lock and time.
    let lock = || unsafe { libc_timedwrlock(object, until) };
    // SAFETY: as above.
    let attempt = || unsafe { libc::pthread_rwlock_trywrlock(object) };
    let Some(deadline) = (if holds_any() { deadline_of(until) } else { Some(u64::MAX) }) else { return lock() };
    acquire(wish(object, Mode::Exclusive), Some(deadline), "pthread_rwlock_timedwrlock", lock, attempt)
}

/// `pthread_rwlock_tryrdlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_tryrdlock(object: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's own lock.
    try_acquire(wish(object, Mode::Shared), || unsafe { libc::pthread_rwlock_tryrdlock(object) })
}

/// `pthread_rwlock_trywrlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_trywrlock(object: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's own lock.
    try_acquire(wish(object, Mode::Exclusive), || unsafe { libc::pthread_rwlock_trywrlock(object) })
}

/// `pthread_rwlock_unlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_unlock(object: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's own lock.
    release(object.addr(), || unsafe { libc::pthread_rwlock_unlock(object) })
}
