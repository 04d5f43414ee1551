//! Coroutines that wait for what any thread may bring summary: a condition that is signalled, a semaphore that is posted.
//!
//! The one place of this crate that several threads share. Who waits is listed under the address of what it waits for;
//! whoever changes that, on whatever thread, takes one or all off the list and wakes them. With nobody listed this is
//! one load.

use crate::host::{Host, php_thread_host};
use spindle_reactor::{Remote, Waiter};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Listed {
    ticket: u64,
    address: usize,
    waiter: Waiter,
    remote: Remote,
}

#[derive(Default)]
struct List {
    listed: Vec<Listed>,
    tickets: u64,
}

/// Made at the first wait, and anew in a fork's child, where a thread that does not exist may hold the lock.
static LIST: AtomicPtr<Mutex<List>> = AtomicPtr::new(std::ptr::null_mut());
/// How many are listed.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn list() -> Option<MutexGuard<'static, List>> {
    // SAFETY: null, or a list that is never freed.
    let list = unsafe { LIST.load(Ordering::Acquire).as_ref() }?;
    Some(list.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Forgets all: in the child of a fork, and when their coroutines have been abandoned.
pub(crate) fn reset() {
    // SAFETY: null, or a list that is never freed.
    let Some(list) = (unsafe { LIST.load(Ordering::Acquire).as_ref() }) else { return };
    match list.try_lock() {
        Ok(mut list) => list.listed.clear(),
        // Locked for good, perhaps: it is leaked.
        Err(_) => LIST.store(Box::into_raw(Box::default()), Ordering::Release),
    }
    COUNT.store(0, Ordering::SeqCst);
}

/// Lists the waiter of the running coroutine.
pub(crate) fn enter(host: &dyn Host, address: usize, waiter: Waiter) -> u64 {
    if LIST.load(Ordering::Relaxed).is_null() {
        LIST.store(Box::into_raw(Box::default()), Ordering::Release); // on the PHP thread only
    }
    let remote = host.reactor().remote();
    let Some(mut list) = list() else { return 0 };
    list.tickets += 1;
    let ticket = list.tickets;
    list.listed.push(Listed { ticket, address, waiter, remote });
    COUNT.store(list.listed.len(), Ordering::SeqCst);
    drop(list);
    // Who changes something after this sees the entry; what was changed before is seen by who looks now.
    fence(Ordering::SeqCst);
    ticket
}

/// Takes it off. `false`: it was taken off already, by who woke it.
pub(crate) fn leave(ticket: u64) -> bool {
    let Some(mut list) = list() else { return false };
    let place = list.listed.iter().position(|l| l.ticket == ticket);
    let found = place.map(|place| list.listed.remove(place));
    COUNT.store(list.listed.len(), Ordering::SeqCst);
    found.is_some()
}

/// Something has happened there: wakes the first, or all, who are listed for it. On any thread.
#[inline(always)]
pub(crate) fn notify(address: usize, all: bool) {
    fence(Ordering::SeqCst);
    if COUNT.load(Ordering::Relaxed) != 0 {
        wake(address, all);
    }
}

#[cold]
fn wake(address: usize, all: bool) {
    loop {
        let next = list().and_then(|mut list| {
            let place = list.listed.iter().position(|l| l.address == address)?;
            let listed = list.listed.remove(place);
            COUNT.store(list.listed.len(), Ordering::SeqCst);
            Some(listed)
        });
        let Some(listed) = next else { return };
        match php_thread_host() {
            Some(host) => host.wake(listed.waiter),
            None => listed.remote.wake(listed.waiter),
        }
        if !all {
            return;
        }
    }
}
