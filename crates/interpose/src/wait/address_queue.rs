//! Wait queues keyed by address, which any thread may notify: of condition variables and semaphores.
//!
//! Coroutines enter and leave on the PHP thread; the hooks of `pthread_cond_signal`, `sem_post` and the like notify on
//! whatever thread they are called.

use crate::host::{Host, php_thread_host};
use spindle_inbox::AddressQueue;
use spindle_reactor::{Remote, Waiter};
use std::sync::atomic::{AtomicPtr, Ordering, fence};

/// A waiter, and how another thread wakes it.
struct Parked {
    waiter: Waiter,
    remote: Remote,
}

/// Created by the first [`enter`], and never freed.
static QUEUE: AtomicPtr<AddressQueue<Parked>> = AtomicPtr::new(std::ptr::null_mut());

#[inline(always)]
fn queue() -> Option<&'static AddressQueue<Parked>> {
    // SAFETY: null, or a queue that is never freed.
    unsafe { QUEUE.load(Ordering::Acquire).as_ref() }
}

fn replace() -> &'static AddressQueue<Parked> {
    let queue = Box::leak(Box::default());
    QUEUE.store(queue, Ordering::Release);
    queue
}

/// Empties the queues: in the child of a fork, and once the waiting coroutines have been abandoned.
pub(crate) fn reset() {
    // In the child of a fork a thread that does not exist may hold the lock for good: then the queue is leaked.
    if queue().is_some_and(|queue| !queue.try_clear()) {
        replace();
    }
}

/// Adds the waiter of the running coroutine's next park to the queue of `address`. Check what is waited for after this,
/// then park. Returns the place for [`leave`].
pub(crate) fn enter(host: &dyn Host, address: usize, waiter: Waiter) -> u64 {
    // Only the PHP thread, which has the host, gets here.
    queue().unwrap_or_else(replace).enter(address, Parked { waiter, remote: host.reactor().remote() })
}

/// Takes a waiter off its queue. Returns `false` if a notification has done so.
pub(crate) fn leave(place: u64) -> bool {
    queue().is_some_and(|queue| queue.leave(place))
}

/// Wakes the first waiter of `address`, or all of them. Call it after what they wait for has changed, on any thread.
/// Takes no lock when there are no waiters.
#[inline(always)]
pub(crate) fn notify(address: usize, all: bool) {
    let queue = queue().or_else(|| {
        // Pairs with the fence in `AddressQueue::enter`, as the one in `AddressQueue::notify`: the first waiter of the
        // process creates the queue, then enters, then checks.
        fence(Ordering::SeqCst);
        queue()
    });
    if let Some(queue) = queue {
        queue.notify(address, all, |parked| match php_thread_host() {
            Some(host) => host.wake(parked.waiter),
            None => parked.remote.wake(parked.waiter),
        });
    }
}
