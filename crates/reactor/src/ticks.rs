//! A thread that does something at intervals, whatever the PHP thread does meanwhile. While the reactor waits for events it sleeps: an
//! idle process is not woken for it.
//!
//! ```text
//!   ticks:   sleeps = true,  then reads "waits"      one of the two sees what the other has written,
//!   reactor: waits = false,  then reads "sleeps"     so that it does not sleep while code runs
//! ```

use crate::pool::SignalsBlocked;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

const STACK_BYTES: usize = 128 * 1024;

/// The reactor waits for events, during which no user code runs.
static WAITS: AtomicBool = AtomicBool::new(false);

/// The thread sleeps, or is about to.
static SLEEPS: AtomicBool = AtomicBool::new(false);

/// That thread. Only the PHP thread locks it, so that no fork finds it locked.
static SLEEPER: Mutex<Option<Thread>> = Mutex::new(None);

/// The reactor is about to wait.
#[inline]
pub(crate) fn wait_begins() {
    WAITS.store(true, Ordering::SeqCst);
}

/// It does not wait any more.
#[inline]
pub(crate) fn wait_ended() {
    WAITS.store(false, Ordering::SeqCst);
    if SLEEPS.load(Ordering::SeqCst) {
        wake_sleeper();
    }
}

/// Returns `true` while it waits.
pub(crate) fn reactor_waits() -> bool {
    WAITS.load(Ordering::SeqCst)
}

#[cold]
fn wake_sleeper() {
    SLEEPS.store(false, Ordering::SeqCst);
    if let Some(thread) = &*SLEEPER.lock().unwrap_or_else(PoisonError::into_inner) {
        thread.unpark();
    }
}

struct Shared {
    stop: AtomicBool,
    /// The interval in nanoseconds.
    interval: AtomicU64,
}

impl Shared {
    fn sleep_while_reactor_waits(&self) {
        SLEEPS.store(true, Ordering::SeqCst);
        while SLEEPS.load(Ordering::SeqCst) && reactor_waits() && !self.stop.load(Ordering::Acquire) {
            thread::park();
        }
        SLEEPS.store(false, Ordering::SeqCst);
    }
}

/// Ticks, until this is dropped.
pub struct Ticks {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    process: u32,
}

impl Ticks {
    /// Calls `tick` at this interval from now on, on a thread of its own, in which no signal is handled. There is one such thread in
    /// a process.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(interval: Duration, mut tick: impl FnMut() + Send + 'static) -> io::Result<Ticks> {
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), interval: AtomicU64::new(nanoseconds(interval)) });
        let its = Arc::clone(&shared);
        let _mask = SignalsBlocked::new()?;
        let thread =
            thread::Builder::new().name("spindle-ticks".to_owned()).stack_size(STACK_BYTES).spawn(move || {
                while !its.stop.load(Ordering::Acquire) {
                    thread::park_timeout(Duration::from_nanos(its.interval.load(Ordering::Acquire)));
                    its.sleep_while_reactor_waits();
                    tick();
                }
            })?;
        *SLEEPER.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread.thread().clone());
        Ok(Ticks { shared, thread: Some(thread), process: std::process::id() })
    }

    /// Shortens the interval, unless it is already that short. The next tick comes immediately.
    pub fn shorten(&self, interval: Duration) {
        let interval = nanoseconds(interval);
        if self.shared.interval.fetch_min(interval, Ordering::AcqRel) > interval
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
    }
}

fn nanoseconds(interval: Duration) -> u64 {
    u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1_000_000)
}

impl Drop for Ticks {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if self.process != std::process::id() {
            std::mem::forget(self.thread.take()); // the thread is the parent's
        }
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join(); // a panic has printed its message
        }
    }
}
