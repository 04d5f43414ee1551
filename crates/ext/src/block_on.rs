//! A future that is polled on the stack of the coroutine that waits for it.
//!
//! ```text
//!   coroutine                                        the waker, on any thread
//!   ─────────                                        ────────────────────────
//!   woken = false
//!   poll ── pending
//!   ticket = begin_wait()                            woken = true
//!   woken? ── yes: poll again                        wake(ticket)
//!     no: park(ticket)
//! ```
//! Both sides write before they read, in one order for all: either the coroutine sees `woken`, or the waker sees the ticket, and a
//! ticket that is woken before its park is not lost.

use crate::api::{Cancelled, Why, begin_wait, can_park, park, sleep, wake};
use std::cell::Cell;
use std::ffi::CStr;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

const WHAT: &CStr = c"block_on";

struct Signal {
    woken: AtomicBool,
    /// The present wait; 0 if the thread is blocked instead.
    ticket: AtomicU64,
    thread: Thread,
}

thread_local! {
    /// One that the last call of this thread has left: most futures that are ready at once need nothing else of the allocator.
    static SPARE: Cell<Option<Arc<Signal>>> = const { Cell::new(None) };
}

impl Signal {
    /// Returns one that no waker has.
    fn take() -> Arc<Signal> {
        if let Ok(Some(mut spare)) = SPARE.try_with(Cell::take) // a thread that ends has none
            && let Some(signal) = Arc::get_mut(&mut spare)
        {
            *signal.woken.get_mut() = false;
            *signal.ticket.get_mut() = 0;
            return spare;
        }
        Arc::new(Signal { woken: AtomicBool::new(false), ticket: AtomicU64::new(0), thread: thread::current() })
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.woken.swap(true, Ordering::SeqCst) {
            return; // whoever has set it wakes
        }
        match self.ticket.load(Ordering::SeqCst) {
            0 => self.thread.unpark(),
            ticket => wake(ticket),
        }
    }
}

/// Waits for a future, which is polled by the running coroutine, and returns its result. Where the coroutine cannot be suspended,
/// and without Spindle, the thread is blocked.
///
/// # Errors
/// The coroutine is cancelled. The future has been dropped.
pub fn block_on<F: Future>(future: F) -> Result<F::Output, Cancelled> {
    // On the heap: the stack of a coroutine that is never resumed is used again, without a destructor.
    poll_to_end(Box::pin(future).as_mut())
}

/// Polls a future, which is on the heap, until it is ready.
pub fn poll_to_end<F: Future>(mut future: Pin<&mut F>) -> Result<F::Output, Cancelled> {
    let signal = Signal::take();
    let waker = Waker::from(Arc::clone(&signal));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            drop(waker);
            let _ = SPARE.try_with(|spare| spare.set(Some(signal)));
            return Ok(result);
        }
        wait(&signal)?;
        signal.woken.store(false, Ordering::SeqCst);
    }
}

/// Waits until the future is to be polled again.
fn wait(signal: &Signal) -> Result<(), Cancelled> {
    if signal.woken.load(Ordering::SeqCst) {
        return if can_park() { sleep(Duration::ZERO) } else { Ok(()) }; // it yields: others are to run
    }
    loop {
        let ticket = begin_wait();
        signal.ticket.store(ticket, Ordering::SeqCst);
        if signal.woken.load(Ordering::SeqCst) {
            return Ok(());
        }
        if ticket == 0 {
            thread::park();
        } else if park(ticket, None, WHAT) == Why::Cancelled {
            return Err(Cancelled);
        }
        if signal.woken.load(Ordering::SeqCst) {
            return Ok(());
        }
    }
}
