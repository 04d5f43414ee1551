//! A thread that does something at intervals, whatever the PHP thread does meanwhile.

use crate::pool::SignalsBlocked;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const STACK_BYTES: usize = 128 * 1024;

struct Shared {
    stop: AtomicBool,
    /// The interval in nanoseconds.
    interval: AtomicU64,
}

/// Ticks, until this is dropped.
pub struct Ticks {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    process: u32,
}

impl Ticks {
    /// Calls `tick` at this interval from now on, on a thread of its own, in which no signal is handled.
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
                    tick();
                }
            })?;
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
