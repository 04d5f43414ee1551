//! The watchdog: a thread that finds out what the PHP thread does while it blocks the event loop.
//!
//! The loop announces when a *run* begins (a coroutine runs from now on) and when it waits. In a run that lasts:
//!
//! ```text
//!   begin ────── ½ limit ────── limit ────── 1½ limit ──── … a quarter later each ──── end
//!                   ask      inspect, ask  inspect, ask                                the last finding is reported
//! ```
//! To *ask* is to have the subject report its place at the next point where it can ([`Watchdog::answer`]); for code that
//! computes nothing else is exact. A subject that has not answered by the next inspection is stuck in one call, and can be
//! inspected from outside, since it does not move.
//!
//! Time in which this thread did not run either (the process was stopped) does not count.

mod native;

pub use native::{Native, bytes, word};

use crate::Reactor;
use crate::pool::SignalsBlocked;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// If this thread wakes this many nanoseconds late, the process was stopped.
const STOPPED: u64 = 500_000_000;

/// A run of ten limits and at least this many nanoseconds is reported before its end, which may never come.
const REPORT_UNENDED_AFTER: u64 = 5_000_000_000;

const STACK_BYTES: usize = 128 * 1024;

/// What the watchdog watches. Its methods are called on the watchdog's thread.
pub trait Subject: Send + 'static {
    /// A place in its code.
    type Place: Clone + PartialEq + Send + 'static;

    /// Requests that it call [`Watchdog::answer`] as soon as it can.
    fn ask(&self);

    /// Its present place, as seen from outside.
    fn inspect(&self) -> Self::Place;

    /// The message for standard error when it has been there for `elapsed` nanoseconds and may never leave.
    fn too_long(&self, finding: &Finding<Self::Place>, elapsed: u64) -> String;
}

/// What was found out about a run.
#[derive(Clone, Debug)]
pub struct Finding<P> {
    /// Where it was.
    pub place: P,
    /// The C code that it was stuck in; empty if it was computing and could answer.
    pub native: Native,
    run: u64,
    stopped: u64,
}

struct Notes<P> {
    answer: Option<(u64, P)>,
    finding: Option<Finding<P>>,
}

/// What both threads share.
struct Board<P> {
    /// When the present run began, which also names it; 0: none.
    run: AtomicU64,
    asked: AtomicBool,
    found: AtomicBool,
    stop: AtomicBool,
    notes: Mutex<Notes<P>>,
}

impl<P> Board<P> {
    fn notes(&self) -> MutexGuard<'_, Notes<P>> {
        // Values are only moved under the lock.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A watchdog of the thread that started it.
pub struct Watchdog<P> {
    board: Arc<Board<P>>,
    thread: Option<JoinHandle<()>>,
    process: u32,
}

impl<P: Clone + PartialEq + Send + 'static> Watchdog<P> {
    /// Starts to watch the calling thread for runs longer than `limit` nanoseconds.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start<S: Subject<Place = P>>(limit: u64, subject: S) -> io::Result<Watchdog<P>> {
        let board = Arc::new(Board {
            run: AtomicU64::new(0),
            asked: AtomicBool::new(false),
            found: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            notes: Mutex::new(Notes { answer: None, finding: None }),
        });
        let shared = Arc::clone(&board);
        let errors = Errors::now();
        // SAFETY: no arguments.
        let watched = unsafe { libc::gettid() };
        let _mask = SignalsBlocked::new()?;
        let thread = thread::Builder::new()
            .name("spindle-watch".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || watch(&shared, &subject, limit.max(1), watched, &errors))?;
        Ok(Watchdog { board, thread: Some(thread), process: std::process::id() })
    }

    /// Begins a run, and ends the one before.
    pub fn begin(&self) {
        self.board.run.store(Reactor::now(), Ordering::Release);
    }

    /// Ends the run: the loop waits.
    pub fn idle(&self) {
        self.board.run.store(0, Ordering::Release);
    }

    /// Returns `true` if there is a finding.
    #[inline]
    pub fn has_found(&self) -> bool {
        self.board.found.load(Ordering::Acquire)
    }

    /// Takes what was found out about the present run, with its length until now.
    pub fn take(&self) -> Option<(Finding<P>, u64)> {
        if !self.board.found.swap(false, Ordering::AcqRel) {
            return None;
        }
        let run = self.board.run.load(Ordering::Relaxed);
        let finding = self.board.notes().finding.take().filter(|finding| finding.run == run)?;
        let elapsed = Reactor::now().saturating_sub(run).saturating_sub(finding.stopped);
        Some((finding, elapsed))
    }

    /// Returns `true` if the subject was asked for its place.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.board.asked.load(Ordering::Acquire)
    }

    /// Answers with the subject's place.
    pub fn answer(&self, place: P) {
        if self.board.asked.swap(false, Ordering::AcqRel) {
            self.board.notes().answer = Some((self.board.run.load(Ordering::Relaxed), place));
        }
    }
}

impl<P> Drop for Watchdog<P> {
    fn drop(&mut self) {
        self.board.stop.store(true, Ordering::Release);
        if self.process != std::process::id() {
            std::mem::forget(self.thread.take()); // the thread is the parent's
        }
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join(); // a panic has printed its message
        }
    }
}

/// What the thread does next.
#[derive(PartialEq, Eq, Debug)]
enum Step {
    Sleep { until: u64 },
    Ask,
    Inspect { elapsed: u64 },
}

/// The watchdog's state of a run.
#[derive(Default)]
struct Run {
    began: u64,
    stopped: u64,
    /// Its length at which the next step is due.
    due: u64,
    asked: bool,
    reported: bool,
}

impl Run {
    /// Returns the next step at `now`. `sleep`: since when the thread has slept and until when it meant to; `began`: the run
    /// that it sees.
    fn step(&mut self, now: u64, sleep: (u64, u64), began: u64, limit: u64) -> Step {
        let half = limit.div_ceil(2);
        if began != self.began {
            *self = Run { began, due: half, ..Run::default() };
        }
        if began == 0 {
            return Step::Sleep { until: now + half };
        }
        let (slept, planned) = sleep;
        if now.saturating_sub(planned) >= STOPPED && began < planned {
            // It is not known when during the sleep the process was stopped: none of it counts.
            self.stopped += now - slept.max(began);
        }
        let elapsed = now.saturating_sub(began).saturating_sub(self.stopped);
        if elapsed < self.due {
            // Not longer than half the limit, for the next run may have begun by then.
            return Step::Sleep { until: now + (self.due - elapsed).min(half) };
        }
        self.due = (elapsed + half).max(elapsed + elapsed / 4);
        if !std::mem::replace(&mut self.asked, true) {
            self.due = limit.max(elapsed + half / 2);
            return Step::Ask;
        }
        Step::Inspect { elapsed }
    }
}

/// The identity of standard error when the watchdog started. User code may close it and open something else by its number.
pub struct Errors(Option<(u64, u64)>);

impl Errors {
    fn identity() -> Option<(u64, u64)> {
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the kernel has filled `stat` if it returns 0.
        unsafe {
            if libc::fstat(2, stat.as_mut_ptr()) != 0 {
                return None;
            }
            let stat = stat.assume_init();
            Some((stat.st_dev, stat.st_ino))
        }
    }

    /// Returns the present one.
    pub fn now() -> Errors {
        Errors(Errors::identity())
    }

    /// Writes to standard error, if it is still the same.
    pub fn write(&self, text: &str) {
        if self.0.is_some() && self.0 == Errors::identity() {
            // SAFETY: as many bytes as the text has. A failure cannot be reported.
            unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        }
    }
}

fn watch<S: Subject>(board: &Board<S::Place>, subject: &S, limit: u64, watched: libc::pid_t, errors: &Errors) {
    let mut run = Run::default();
    let mut sleep = (0, u64::MAX);
    while !board.stop.load(Ordering::Acquire) {
        let now = Reactor::now();
        match run.step(now, sleep, board.run.load(Ordering::Acquire), limit) {
            Step::Sleep { until } => {
                sleep = (now, until);
                thread::park_timeout(Duration::from_nanos(until - now));
                continue;
            }
            Step::Ask => {}
            Step::Inspect { elapsed } => {
                let finding = inspect(board, subject, &run, watched);
                if board.run.load(Ordering::Acquire) != run.began {
                    continue; // the run has ended meanwhile
                }
                let report = elapsed >= REPORT_UNENDED_AFTER.max(limit.saturating_mul(10)) && !run.reported;
                if report {
                    run.reported = true;
                    errors.write(&subject.too_long(&finding, elapsed));
                }
                board.notes().finding = Some(finding);
                board.found.store(true, Ordering::Release);
            }
        }
        board.notes().answer = None;
        board.asked.store(true, Ordering::Release);
        subject.ask();
        sleep = (now, u64::MAX);
    }
}

fn inspect<S: Subject>(board: &Board<S::Place>, subject: &S, run: &Run, watched: libc::pid_t) -> Finding<S::Place> {
    let answer = board.notes().answer.take().filter(|(of, _)| *of == run.began);
    let (place, native) = match answer {
        Some((_, place)) => (place, Native::default()),
        None => (subject.inspect(), Native::of(watched)),
    };
    // Between two calls, or just before it resumes, it may be in no system call.
    let notes = board.notes();
    let before = notes.finding.as_ref().filter(|before| before.run == run.began && before.place == place);
    let native = if native.call.is_some() { native } else { before.map_or(native, |before| before.native.clone()) };
    Finding { place, native, run: run.began, stopped: run.stopped }
}

#[cfg(test)]
mod tests;
