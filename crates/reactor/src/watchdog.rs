//! The watchdog: a thread that looks at the PHP thread while that keeps the event loop from turning, since afterwards
//! nobody knows what it was.
//!
//! The loop says when a *run* begins (something has its turn from now on) and when it waits. Of a run that lasts:
//!
//! ```text
//!   begin ────── ½ limit ────── limit ────── 1½ limit ──── … a quarter later each ──── end
//!                   ask         look, ask    look, ask                                 the last finding is reported
//! ```
//! To *ask* is to have the subject say where it is, at the next point where it can ([`Watchdog::answer`]): for code that
//! computes, nothing else is exact. Who has not answered by the next look is stuck in one call, and can be looked at
//! from outside: it holds still.
//!
//! Time in which this thread did not run either (the process was stopped) is not held against anybody.

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

/// This thread woke so much later than it wanted: nothing ran meanwhile.
const STOPPED: u64 = 500_000_000;

/// A run that lasts ten limits, and at least this long, is told of at once: it may never end.
const PATIENCE: u64 = 5_000_000_000;

const STACK_BYTES: usize = 128 * 1024;

/// What is watched. Its methods are called on the watchdog's thread.
pub trait Subject: Send + 'static {
    /// Where it is.
    type Place: Clone + PartialEq + Send + 'static;

    /// Makes it call [`Watchdog::answer`] as soon as it can.
    fn ask(&self);

    /// Where it is, seen from outside.
    fn look(&self) -> Self::Place;

    /// It has been there for so many nanoseconds, and may stay for good: what standard error is to say.
    fn too_long(&self, finding: &Finding<Self::Place>, elapsed: u64) -> String;
}

/// What was found out about a run.
#[derive(Clone, Debug)]
pub struct Finding<P> {
    /// Where it was.
    pub place: P,
    /// What C code it was stuck in; nothing when it was computing and could answer.
    pub native: Native,
    run: u64,
    stopped: u64,
}

struct Notes<P> {
    answer: Option<(u64, P)>,
    finding: Option<Finding<P>>,
}

/// What both threads see.
struct Board<P> {
    /// When the present run began, which is also its name; 0: none.
    run: AtomicU64,
    asked: AtomicBool,
    found: AtomicBool,
    stop: AtomicBool,
    notes: Mutex<Notes<P>>,
}

impl<P> Board<P> {
    fn notes(&self) -> MutexGuard<'_, Notes<P>> {
        // Under the lock values are only moved.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The watchdog of the thread that made it.
pub struct Watchdog<P> {
    board: Arc<Board<P>>,
    thread: Option<JoinHandle<()>>,
    process: u32,
}

impl<P: Clone + PartialEq + Send + 'static> Watchdog<P> {
    /// Watches the calling thread for runs longer than `limit` nanoseconds.
    ///
    /// # Errors
    /// When no thread can be started.
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

    /// A run begins, and the one before has ended.
    pub fn begin(&self) {
        self.board.run.store(Reactor::now(), Ordering::Release);
    }

    /// Nothing runs: the loop waits.
    pub fn idle(&self) {
        self.board.run.store(0, Ordering::Release);
    }

    /// Is there a finding?
    #[inline]
    pub fn has_found(&self) -> bool {
        self.board.found.load(Ordering::Acquire)
    }

    /// What was found out about the present run, and its length until now.
    pub fn take(&self) -> Option<(Finding<P>, u64)> {
        if !self.board.found.swap(false, Ordering::AcqRel) {
            return None;
        }
        let run = self.board.run.load(Ordering::Relaxed);
        let finding = self.board.notes().finding.take().filter(|finding| finding.run == run)?;
        let elapsed = Reactor::now().saturating_sub(run).saturating_sub(finding.stopped);
        Some((finding, elapsed))
    }

    /// Is the subject asked where it is?
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.board.asked.load(Ordering::Acquire)
    }

    /// The subject's answer.
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
            let _ = thread.join(); // if it has panicked it has said so
        }
    }
}

/// What the thread does next.
#[derive(PartialEq, Eq, Debug)]
enum Step {
    Sleep { until: u64 },
    Ask,
    Look { elapsed: u64 },
}

/// What the thread knows of a run.
#[derive(Default)]
struct Run {
    began: u64,
    stopped: u64,
    /// Its length at which something is to be done.
    due: u64,
    asked: bool,
    told: bool,
}

impl Run {
    /// It is `now`; the thread has slept from and wanted to sleep until `sleep`, and sees the run that began at `began`.
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
            // When in its sleep it was stopped is not known: the whole of it does not count.
            self.stopped += now - slept.max(began);
        }
        let elapsed = now.saturating_sub(began).saturating_sub(self.stopped);
        if elapsed < self.due {
            // No longer than half the limit: the next run may have begun by then.
            return Step::Sleep { until: now + (self.due - elapsed).min(half) };
        }
        self.due = (elapsed + half).max(elapsed + elapsed / 4);
        if !std::mem::replace(&mut self.asked, true) {
            self.due = limit.max(elapsed + half / 2);
            return Step::Ask;
        }
        Step::Look { elapsed }
    }
}

/// What standard error was when the watchdog started. A program may close it, and open something else by its number.
struct Errors(Option<(u64, u64)>);

impl Errors {
    fn identity() -> Option<(u64, u64)> {
        let mut stat = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the kernel fills `stat` when it answers 0.
        unsafe {
            if libc::fstat(2, stat.as_mut_ptr()) != 0 {
                return None;
            }
            let stat = stat.assume_init();
            Some((stat.st_dev, stat.st_ino))
        }
    }

    fn now() -> Errors {
        Errors(Errors::identity())
    }

    fn write(&self, text: &str) {
        if self.0.is_some() && self.0 == Errors::identity() {
            // SAFETY: as many bytes as the text has. There is nobody to tell of a failure.
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
            Step::Look { elapsed } => {
                let finding = look(board, subject, &run, watched);
                if board.run.load(Ordering::Acquire) != run.began {
                    continue; // over before it was seen
                }
                let tell = elapsed >= PATIENCE.max(limit.saturating_mul(10)) && !run.told;
                if tell {
                    run.told = true;
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

fn look<S: Subject>(board: &Board<S::Place>, subject: &S, run: &Run, watched: libc::pid_t) -> Finding<S::Place> {
    let answer = board.notes().answer.take().filter(|(of, _)| *of == run.began);
    let (place, native) = match answer {
        Some((_, place)) => (place, Native::default()),
        None => (subject.look(), Native::of(watched)),
    };
    // In between, or just before it goes on, it may be in no system call.
    let notes = board.notes();
    let before = notes.finding.as_ref().filter(|before| before.run == run.began && before.place == place);
    let native = if native.call.is_some() { native } else { before.map_or(native, |before| before.native.clone()) };
    Finding { place, native, run: run.began, stopped: run.stopped }
}

#[cfg(test)]
mod tests;
