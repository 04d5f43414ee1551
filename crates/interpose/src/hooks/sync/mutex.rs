//! Locks of the thread made locks of the coroutine: `pthread_mutex_*` and `pthread_rwlock_*`.
//!
//! All coroutines run on one thread, so to libc a lock held by a parked coroutine is held by the running one: a
//! recursive mutex would let it in, any other would deadlock. So the locks that the running coroutine holds are
//! tracked. When it parks holding some, they are *published*; another coroutine that wants a published lock parks until
//! it is released, in order of arrival.
//!
//! The host calls, at each switch from one coroutine to another and if [`holds_any`] (one load), [`on_park`] for the
//! old and [`on_resume`] for the new one; [`on_end`] when a coroutine has ended; [`reset`] in the child of a fork and
//! once the other coroutines have been abandoned.
//!
//! Locks are tracked on the PHP thread whether suspension is enabled or not: one may be taken before it is enabled and
//! released after, or the other way round. A published lock that is wanted while suspension is disabled, or whose
//! holder was abandoned, would be waited for for ever: where libc does not give it, the process ends.
//!
//! A wait for a lock is neither cancelled nor interrupted; a timed one ends with its time, and a cancellation ends it
//! as if that had passed. While locks are published, a coroutine does not block on one that another *thread* holds
//! either: that thread may wait for what a parked coroutine holds. Otherwise threads are waited for in place.
//!
//! Readers overtake writers that wait, as by default in libc. Condition variables are in `condition`; a wait for one in
//! place keeps the tracking right, since no coroutine runs between the release of the mutex and taking it again. Spin
//! locks and barriers are not hooked.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::newer;
use crate::host::{
    BlockedOn, Host, OnSignal, Wake, current_host, errno, known_host, php_thread_host, set_errno, thread_pointer,
};
use crate::php_cell::PhpCell;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait::time::{deadline_of, deadline_on};
use crate::wait::{self, Place, WaitQueue};
use libc::{c_int, clockid_t, pthread_mutex_t, pthread_rwlock_t, timespec};
use spindle_reactor::{Reactor, Waiter};
use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Of calls that take a lock.
pub(super) const LOCK: Behavior = Behavior {
    wait: WaitKind::Queue,
    summary: "parks while another coroutine holds it; waits for another thread in place",
    on_cancel: on_cancel::TIMED_OUT,
};

/// Of calls that try to take a lock, or release it.
pub(super) const TRACKED: Behavior =
    Behavior { wait: WaitKind::Never, summary: "the holder of the lock is tracked", on_cancel: on_cancel::NEVER };

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    hooked_calls![
        c"pthread_mutex_lock" => pthread_mutex_lock, LOCK;
        c"pthread_mutex_timedlock" => pthread_mutex_timedlock, LOCK;
        c"pthread_mutex_clocklock" => pthread_mutex_clocklock, LOCK;
        c"pthread_mutex_trylock" => pthread_mutex_trylock, TRACKED;
        c"pthread_mutex_unlock" => pthread_mutex_unlock, TRACKED;
        c"pthread_rwlock_rdlock" => pthread_rwlock_rdlock, LOCK;
        c"pthread_rwlock_wrlock" => pthread_rwlock_wrlock, LOCK;
        c"pthread_rwlock_timedrdlock" => pthread_rwlock_timedrdlock, LOCK;
        c"pthread_rwlock_timedwrlock" => pthread_rwlock_timedwrlock, LOCK;
        c"pthread_rwlock_clockrdlock" => pthread_rwlock_clockrdlock, LOCK;
        c"pthread_rwlock_clockwrlock" => pthread_rwlock_clockwrlock, LOCK;
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

/// A lock, held or wanted. A recursive one is in the list once for each time it is held.
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

/// Locks whose holders have been abandoned, and will not release them. Only the thread uses it that [`LOST_ON`] says: also when it is no
/// longer the PHP thread, as at the end of a request.
static LOST: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The thread that has lost locks; 0: there are none.
static LOST_ON: AtomicUsize = AtomicUsize::new(0);

fn lost() -> MutexGuard<'static, Vec<usize>> {
    LOST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of locks that are held or published.
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

    /// Returns `true` if a parked coroutine holds the lock in a mode that excludes this one.
    fn conflicts(&self, object: usize, mode: Mode) -> bool {
        self.published
            .iter()
            .any(|p| p.held.object == object && (mode == Mode::Exclusive || p.held.mode == Mode::Exclusive))
    }

    /// Returns `true` if another coroutine that arrived earlier waits for the lock.
    fn is_behind(&self, object: usize, mode: Mode, place: Place) -> bool {
        mode == Mode::Exclusive && self.waiting.keys_before(place).any(|wanted| wanted.object == object)
    }

    fn released(&mut self, object: usize) {
        if let Some(index) = self.held.iter().rposition(|h| h.object == object) {
            self.held.remove(index);
        } else if let Some(index) = self.published.iter().position(|p| p.held.object == object) {
            // Released by a coroutine other than the one that took it.
            self.published.remove(index);
        }
        self.update_count();
    }

    /// Returns the waiter of the first coroutine that wants the lock, if it may try.
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

/// Returns `true` if the running coroutine or a parked one holds a lock. If not, a switch needs none of the calls
/// below.
#[inline(always)]
pub fn holds_any() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// Publishes the locks of `coroutine`, which has run until now and parks.
pub fn on_park(coroutine: u64) {
    let Some(here) = php_thread_host() else { return };
    locks(here, |locks| locks.published.extend(locks.held.drain(..).map(|held| Published { owner: coroutine, held })));
}

/// Takes back the locks of `coroutine`, which is about to run.
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

/// Forgets the locks of `coroutine`, which has ended and is still running: a lock it leaves locked has no owner.
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

/// Forgets what other coroutines want: they have been abandoned. What they hold is lost. The running one keeps its own.
pub fn reset() {
    let Some(here) = php_thread_host() else { return };
    locks(here, |locks| {
        let held = locks.published.drain(..).map(|published| published.held.object);
        lost().extend(held.filter(|object| !is_shared_by_processes(*object)));
        if !lost().is_empty() {
            LOST_ON.store(thread_pointer(), Ordering::Relaxed);
        }
        locks.waiting.clear();
        locks.update_count();
    });
}

/// Returns whether a lock is held for ever. Until the process ends, calls that want it have to be seen.
pub fn any_is_lost() -> bool {
    LOST_ON.load(Ordering::Relaxed) != 0
}

/// Forgets which locks are held for ever.
pub fn forget_lost() {
    if any_is_lost() {
        lost().clear();
        LOST_ON.store(0, Ordering::Relaxed);
    }
}

/// Returns whether another process may release this mutex, or read-write lock, in memory that they share.
fn is_shared_by_processes(object: usize) -> bool {
    /// `PTHREAD_MUTEX_PSHARED_BIT` of glibc, and the same of musl.
    const SHARED: c_int = 128;
    let kind_at = if cfg!(target_env = "musl") { 0 } else { 16 };
    // SAFETY: the word of a mutex that is locked in which its kind is; that of a read-write lock there is unused, or not the kind.
    let kind = unsafe { ((object + kind_at) as *const c_int).read() };
    kind & SHARED != 0
}

fn is_acquired(result: c_int) -> bool {
    result == 0 || result == libc::EOWNERDEAD
}

/// Takes a lock. `lock` may block the thread, `attempt` returns `EBUSY` instead.
#[inline(always)]
fn acquire(
    held: Held,
    deadline: Option<u64>,
    call: &'static str,
    lock: impl Fn() -> c_int,
    attempt: impl Fn() -> c_int,
) -> c_int {
    let Some(here) = php_thread_host() else {
        let result = if any_is_lost() { acquire_lost(None, held, deadline, call, &lock, &attempt) } else { None };
        return result.unwrap_or_else(lock);
    };
    let direct = locks(here, |locks| locks.published.is_empty() && locks.waiting.is_empty()) && !any_is_lost();
    if !direct && let Some(result) = acquire_lost(Some(here), held, deadline, call, &lock, &attempt) {
        return result;
    }
    if !direct && let Some(host) = current_host() {
        return contended(host, held, deadline, call, &lock, &attempt);
    }
    let result = lock();
    if is_acquired(result) {
        locks(here, |locks| locks.push(held));
    }
    result
}

/// Takes a lock whose holder was abandoned, or cannot run meanwhile, if it can be had: by recursion, or because it is another one at the
/// same address by now. Returns `None` if the lock is none of these. A wait for it would last for ever, and the process ends instead.
#[cold]
fn acquire_lost(
    here: Option<&dyn Host>,
    held: Held,
    deadline: Option<u64>,
    call: &'static str,
    lock: &dyn Fn() -> c_int,
    attempt: &dyn Fn() -> c_int,
) -> Option<c_int> {
    let is_lost = LOST_ON.load(Ordering::Relaxed) == thread_pointer() && lost().contains(&held.object);
    let suspends = current_host().is_some();
    let is_parked = |here: &dyn Host| !suspends && locks(here, |locks| locks.conflicts(held.object, held.mode));
    if !is_lost && !here.is_some_and(is_parked) {
        return None;
    }
    let result = if deadline.is_some() { lock() } else { attempt() };
    if result == libc::EBUSY
        && let Some(host) = known_host()
    {
        host.ends_without_lock(call);
    }
    if is_acquired(result) && held.mode == Mode::Exclusive {
        lost().retain(|object| *object != held.object);
    }
    if is_acquired(result)
        && let Some(here) = here
    {
        locks(here, |locks| locks.push(held));
    }
    Some(result)
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
    // Held by this coroutine already: a recursion, or a mistake that libc reports.
    let own = locks(host, |locks| locks.holds(object));
    let place = locks(host, |locks| locks.waiting.next_place());
    let result = loop {
        let must_wait =
            locks(host, |locks| !own && (locks.conflicts(object, mode) || locks.is_behind(object, mode, place)));
        if !must_wait {
            let result = if own { lock() } else { attempt() };
            if result != libc::EBUSY {
                break result;
            }
        }
        let waiter = host.begin_wait();
        locks(host, |locks| locks.waiting.enqueue(place, held, waiter));
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
        locks.waiting.remove(place);
        if is_acquired(result) {
            locks.push(held);
        }
        // A reader wakes the next reader; one that has given up wakes the next in the queue.
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

/// Returns `true` if a parked coroutine holds the lock.
pub(super) fn held_by_another(here: &dyn Host, object: usize) -> bool {
    locks(here, |locks| locks.conflicts(object, Mode::Exclusive))
}

/// Waits until no other coroutine holds the lock.
pub(super) fn wait_until_free(object: usize, call: &'static str) {
    acquire(Held { object, mode: Mode::Exclusive }, None, call, || 0, || 0);
    release(object, || 0);
}

/// Makes the running coroutine the holder of a lock that libc does not know. [`release`] ends it.
pub(super) fn hold(here: &dyn Host, object: usize) {
    locks(here, |locks| locks.push(Held { object, mode: Mode::Exclusive }));
}

#[inline(always)]
pub(super) fn release(object: usize, unlock: impl Fn() -> c_int) -> c_int {
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

/// Returns the lock of an object, known by its address.
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

/// Takes a lock until a time of this clock, by the function of this name where libc is to wait.
fn acquire_by_clock<T>(
    name: &'static CStr,
    held: Held,
    object: *mut T,
    clock: clockid_t,
    until: *const timespec,
    attempt: impl Fn() -> c_int,
) -> c_int {
    let lock = || {
        // SAFETY: the functions that are named have this type.
        match unsafe { newer::<unsafe extern "C" fn(*mut T, clockid_t, *const timespec) -> c_int>(name) } {
            // SAFETY: the caller's own arguments.
            Some(original) => unsafe { original(object, clock, until) },
            None => libc::ENOSYS,
        }
    };
    let Some(deadline) = (if holds_any() { deadline_on(clock, until) } else { Some(u64::MAX) }) else { return lock() };
    acquire(held, Some(deadline), name.to_str().unwrap_or_default(), lock, attempt)
}

/// `pthread_mutex_clocklock(3)`.
pub unsafe extern "C" fn pthread_mutex_clocklock(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's own mutex.
    let attempt = || unsafe { libc::pthread_mutex_trylock(mutex) };
    acquire_by_clock(c"pthread_mutex_clocklock", lock_of(mutex, Mode::Exclusive), mutex, clock, until, attempt)
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

/// `pthread_rwlock_clockrdlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_clockrdlock(
    object: *mut pthread_rwlock_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's own lock.
    let attempt = || unsafe { libc::pthread_rwlock_tryrdlock(object) };
    acquire_by_clock(c"pthread_rwlock_clockrdlock", lock_of(object, Mode::Shared), object, clock, until, attempt)
}

/// `pthread_rwlock_clockwrlock(3)`.
pub unsafe extern "C" fn pthread_rwlock_clockwrlock(
    object: *mut pthread_rwlock_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's own lock.
    let attempt = || unsafe { libc::pthread_rwlock_trywrlock(object) };
    acquire_by_clock(c"pthread_rwlock_clockwrlock", lock_of(object, Mode::Exclusive), object, clock, until, attempt)
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
