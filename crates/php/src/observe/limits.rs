//! Time limits of code that computes, and so never gets to the event loop: a thread has the engine interrupt PHP code at intervals,
//! and a [part](crate::Part) then checks whether the time of the running code has passed. The same thread ends the process if it
//! is asked to end twice and does not get to the second request.
//!
//! A *stretch* is code that runs without a return to the scheduler. A switch costs one store for it; all else is done at
//! interrupts.

use crate::c;
use crate::handles::handle_locks;
use crate::isolation;
use crate::observe::slices;
use crate::observe::watch::{self, field};
use crate::runtime::{ctx::Ctx, gate, park, pending_cancel, scheduler};
use crate::settings;
use crate::stack::stacks;
use spindle_reactor::ticks::Ticks;
use spindle_reactor::watchdog::{Errors, Native, word};
use spindle_reactor::{Reactor, signals};
use spindle_zend::{Frame, PhpStatic, Str, engine, exception};
use std::cell::{Cell, RefCell};
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the process may take to get to a second signal.
const LATE: u64 = 1_000_000_000;

/// How long the thread waits for PHP code to report its position.
const ANSWER: Duration = Duration::from_millis(300);

/// The longest interval, which is that of a process that is told to end.
const LONGEST: Duration = Duration::from_millis(500);

/// The shortest one.
const SHORTEST: Duration = Duration::from_millis(10);

/// The code that has run since the last return to the scheduler, as far as it was seen.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// For how long, in nanoseconds.
    pub length: u64,
    /// The processor time of it since the last check, in nanoseconds.
    pub computed: u64,
}

/// The functions by which a part checks the running coroutine.
#[derive(Clone, Copy)]
pub struct Checks {
    /// Checks whether its time has passed. PHP code was interrupted: an exception may be thrown there, by [`throw_cancellation`]
    /// and [`end_coroutine`].
    pub check: fn(Stretch),
    /// Sets how many seconds the running coroutine may compute; 0 for no limit. Returns `false` if it has no limit of its own.
    pub limit: fn(i64) -> bool,
    /// Says in a few words what it does.
    pub describe: fn() -> Option<String>,
}

/// The data that both threads share.
#[derive(Default)]
struct Board {
    is_due: AtomicBool,
    /// The process is ended if it is asked to and does not get to that.
    ends_process: AtomicBool,
    /// How often it had been asked to end before that.
    before: AtomicU32,
    /// PHP code may be interrupted.
    may_interrupt: bool,
    /// The thread wants to know where PHP code is.
    asks: AtomicBool,
    answer: Mutex<Option<String>>,
}

struct State {
    /// The processor time of the thread at the last check.
    computed: Cell<u64>,
    checks: Cell<Option<Checks>>,
    ticks: RefCell<Option<(Ticks, Arc<Board>)>>,
    has_warned: Cell<bool>,
    /// The coroutine that [`end_coroutine`] ends.
    ends: Cell<u64>,
}

/// When the present stretch was first seen; 0: not yet. With [`KEEPS`] it has taken a signal, and kept it from others.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// Part of [`SEEN`], so that one store ends both.
const KEEPS: u64 = 1 << 63;

static STATE: PhpStatic<State> = PhpStatic::new(State {
    computed: Cell::new(0),
    checks: Cell::new(None),
    ticks: RefCell::new(None),
    has_warned: Cell::new(false),
    ends: Cell::new(0),
});

/// Checks the running code from now on, often enough for a limit of this many nanoseconds. From now on PHP's time limit, too, is
/// that of the running code.
pub fn watch(limit: u64, checks: Checks) {
    extern "C" fn set(seconds: i64) -> bool {
        STATE.checks.get().is_some_and(|checks| (checks.limit)(seconds))
    }
    STATE.checks.set(Some(checks));
    c::spindle_time_limit_watch(set);
    tick();
    if let Some((_, board)) = STATE.ticks.borrow().as_ref() {
        board.before.store(signals::endings(), Ordering::Relaxed);
        board.ends_process.store(true, Ordering::Release);
    }
    check_within(limit);
    slices::begin();
}

/// Has PHP code interrupted at intervals, if it may be, and the process ended that does not get to that.
fn tick() {
    if STATE.ticks.borrow().is_none() {
        let may_interrupt = !settings::jit_compiles_functions();
        if !may_interrupt {
            warn();
        }
        let board = Arc::new(Board { may_interrupt, ..Board::default() });
        let mut ending = Ending::new(Arc::clone(&board));
        let tick = move || {
            if ending.board.ends_process.load(Ordering::Acquire) {
                ending.check();
            } else {
                ending.waits = None;
            }
            if may_interrupt {
                ending.board.is_due.store(true, Ordering::Release);
                engine::request_interrupt(); // an atomic flag, made to be set from other threads
            }
        };
        // Without a thread there are no limits for what computes, and no slices.
        *STATE.ticks.borrow_mut() = Ticks::start(LONGEST, tick).ok().map(|ticks| (ticks, board));
    }
}

/// Says why there are no limits: once, and past error handlers, which might throw in the middle of what begins here.
#[cold]
fn warn() {
    if !STATE.has_warned.replace(true) {
        let frame = Frame::current();
        let (file, line) = frame.as_ref().and_then(Frame::position).unwrap_or_default();
        let text = "With opcache.jit=function code that computes has no time limit of a request and no time slices: PHP's \
            compiled loops lose count when they are interrupted. Set opcache.jit=tracing";
        let file = file.map_or(String::new(), Str::to_text);
        gate::without_switch(|| engine::report_at(&file, line, text, isolation::error_reporting()));
    }
}

/// Has PHP code interrupted this often, until the request ends.
pub(crate) fn tick_within(interval: Duration) {
    tick();
    if let Some((ticks, _)) = STATE.ticks.borrow().as_ref() {
        ticks.shorten(interval);
    }
}

/// Checks often enough for a limit of this many nanoseconds.
pub fn check_within(limit: u64) {
    if let Some((ticks, _)) = STATE.ticks.borrow().as_ref()
        && limit > 0
    {
        ticks.shorten(Duration::from_nanos(limit / 8).clamp(SHORTEST, LONGEST));
    }
}

/// Checks nothing any more: PHP's time limit is that of the process again.
pub fn stop() {
    if STATE.checks.take().is_some() {
        c::spindle_time_limit_watch_no_more(true);
    }
    if settings::current().time_slice_ms == 0 {
        drop(STATE.ticks.take());
    } else if let Some((_, board)) = STATE.ticks.borrow().as_ref() {
        board.ends_process.store(false, Ordering::Relaxed);
    }
}

/// At the end of PHP's request, for which no time limit holds any more.
pub(crate) fn request_ended() {
    if STATE.checks.take().is_some() {
        c::spindle_time_limit_watch_no_more(false);
    }
    drop(STATE.ticks.take());
}

/// Returns how many seconds of processor time code may take that has set no limit of its own; 0 if there is no limit.
pub fn usual_limit() -> i64 {
    c::spindle_time_limit()
}

/// Restores PHP's setting after the running code has changed it.
pub fn restore_setting() {
    c::spindle_time_limit_restore();
}

/// The running stretch ends.
#[inline(always)]
pub(crate) fn run_ends() {
    SEEN.store(0, Ordering::Relaxed);
}

/// The running stretch, which continues, has taken a signal that asks the process to end: other code has not got to the
/// signal.
pub(crate) fn keeps_ending() {
    SEEN.store(SEEN.load(Ordering::Relaxed) | KEEPS, Ordering::Relaxed);
}

/// In the child of a fork, which has no other thread: PHP's time limit is the process's again. None holds until one is set, as the
/// timers of a process are not its child's.
pub(crate) fn after_fork() {
    request_ended();
}

/// The engine has interrupted PHP code. Returns `true` if it was for a tick.
pub(crate) fn interrupted(frame: Option<Frame>) -> bool {
    let checks = STATE.checks.get();
    {
        let ticks = STATE.ticks.borrow();
        let Some((_, board)) = ticks.as_ref() else { return false };
        if board.asks.swap(false, Ordering::AcqRel) {
            let (file, line) = frame.as_ref().and_then(Frame::position).unwrap_or_default();
            let file = file.map_or(String::new(), Str::to_text);
            let what = checks.and_then(|checks| (checks.describe)()).map_or(String::new(), |what| format!(" ({what})"));
            let answer = format!("{}{what} computes in {file} on line {line}", coroutine());
            *board.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        }
        if !board.is_due.swap(false, Ordering::AcqRel) {
            return false;
        }
    }
    if let Some(checks) = checks {
        check(checks, frame);
    }
    true
}

/// Checks the running code, if it may be ended here.
fn check(checks: Checks, frame: Option<Frame>) {
    let computed = processor_time();
    let before = STATE.computed.replace(computed);
    let Some(length) = stretch() else { return };
    if frame.is_some_and(runs_code) && !exception::is_in_flight() {
        (checks.check)(Stretch { length, computed: computed.saturating_sub(before) });
    }
}

/// Returns how long the running stretch has lasted, in nanoseconds, as far as it was seen; `None` at its first check.
pub(crate) fn stretch() -> Option<u64> {
    let (now, seen) = (Reactor::now(), SEEN.load(Ordering::Relaxed));
    if seen & !KEEPS == 0 {
        SEEN.store(seen | now, Ordering::Relaxed);
        return None;
    }
    Some(now.saturating_sub(seen & !KEEPS))
}

/// A stretch while others run in its middle, in nanoseconds.
pub(crate) struct Paused {
    length: u64,
    /// What it has computed since the last check.
    computed: u64,
}

/// The running stretch gives way to others, and continues with [`resume`]: its length and its processor time are without theirs.
pub(crate) fn pause(length: u64) -> Paused {
    Paused { length, computed: processor_time().saturating_sub(STATE.computed.get()) }
}

/// Continues a stretch.
pub(crate) fn resume(paused: &Paused) {
    SEEN.store(Reactor::now().saturating_sub(paused.length), Ordering::Relaxed);
    STATE.computed.set(processor_time().saturating_sub(paused.computed));
}

/// Returns the processor time of this thread.
fn processor_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Throws the pending cancellation of the running coroutine, whose PHP code was interrupted. Returns `false` if it cannot be thrown
/// there.
pub fn throw_cancellation() -> bool {
    can_throw() && scheduler::existing().is_some_and(park::throw_cancellation)
}

/// Returns `true` for a frame of PHP code, and `false` for one that is only there for traces, as below a handler: there the engine
/// interrupts when that has ended.
fn runs_code(frame: Frame) -> bool {
    frame.function().is_some_and(|function| function.code().is_some_and(|code| !code.opcodes.is_null()))
}

fn can_throw() -> bool {
    let Some(rt) = scheduler::existing() else { return false };
    let frame = Frame::current();
    frame.is_some_and(runs_code)
        && !pending_cancel::is_inside_failing(rt.context(), frame)
        && !handle_locks::is_inside_marked()
        && !exception::is_in_flight()
}

/// Ends the running coroutine, whose PHP code was interrupted, as an exit does, which no code can catch, after reporting this fatal
/// error. Returns `false` if it cannot be ended there.
pub fn end_coroutine(error: &str) -> bool {
    let Some(rt) = scheduler::existing() else { return false };
    if !can_throw() {
        return false;
    }
    c::spindle_time_is_over(&Str::new(error));
    if exception::is_in_flight() {
        return true; // a handler of output has thrown
    }
    STATE.ends.set(rt.context().id.get());
    exception::throw_exit();
    exception::enter_frame();
    true
}

/// Returns `true` if the exit in flight in the running coroutine, or that has ended it, is that of [`end_coroutine`]: it concerns no
/// other code.
pub fn has_ended_coroutine() -> bool {
    let ends = STATE.ends.get();
    ends != 0 && scheduler::existing().is_some_and(|rt| rt.context().id.get() == ends) && STATE.ends.replace(0) != 0
}

/// The obstacle to a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Obstacle {
    /// The stretch, if it was seen: one that is in a call for as long is not.
    stretch: u64,
    /// How often the process had got to signals before.
    served: u32,
}

impl Obstacle {
    /// Returns the obstacle to a signal that asks the process to end, if the process has not got to one.
    fn present() -> Option<Obstacle> {
        let obstacle = Obstacle { stretch: SEEN.load(Ordering::Relaxed), served: signals::endings_served() };
        (obstacle.stretch & KEEPS != 0 || signals::ending_waits()).then_some(obstacle)
    }
}

/// Checks, on the thread of the ticks, whether the process gets to its end.
struct Ending {
    board: Arc<Board>,
    /// What keeps it from doing so, and since when.
    waits: Option<(Obstacle, u64)>,
    context: usize,
    thread: libc::pid_t,
    errors: Errors,
}

impl Ending {
    fn new(board: Arc<Board>) -> Ending {
        Ending {
            board,
            waits: None,
            context: stacks::running_at(),
            // SAFETY: no arguments.
            thread: unsafe { libc::gettid() },
            errors: Errors::now(),
        }
    }

    fn check(&mut self) {
        // Signals that the process has got to are no reason to end it, however many there were.
        let obstacle = Obstacle::present()
            .filter(|_| signals::endings().wrapping_sub(self.board.before.load(Ordering::Relaxed)) >= 2);
        let Some(obstacle) = obstacle else {
            self.waits = None;
            return;
        };
        let now = Reactor::now();
        let since = self.waits.filter(|(before, _)| *before == obstacle).map_or(now, |(_, since)| since);
        self.waits = Some((obstacle, since));
        if now - since < LATE {
            return;
        }
        if self.board.may_interrupt {
            self.board.asks.store(true, Ordering::Release);
            engine::request_interrupt();
            std::thread::sleep(ANSWER);
        }
        if Obstacle::present() != Some(obstacle) {
            self.board.asks.store(false, Ordering::Release);
            *self.board.answer.lock().unwrap_or_else(PoisonError::into_inner) = None;
            return; // it has got there
        }
        let answer = self.board.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let what = answer.unwrap_or_else(|| {
            let id = field(word(self.context).unwrap_or(0), offset_of!(Ctx, id));
            let who = if id == 0 { "code".to_owned() } else { format!("coroutine #{id}") };
            let place = watch::read_place();
            let at = if place.file.is_empty() {
                String::new()
            } else {
                format!(" in {} on line {}", place.file, place.line)
            };
            format!("{who} runs{}{at}", watch::in_what(&place, &Native::of(self.thread)))
        });
        self.errors.write(&format!("Spindle: ended by a signal, which the event loop did not get to: {what}\n"));
        // SAFETY: ends the process without any code of its own, which belongs to the thread that is stuck.
        unsafe { libc::_exit(1) };
    }
}

/// Returns the name of the running coroutine.
fn coroutine() -> String {
    scheduler::existing().map_or("code".to_owned(), |rt| format!("coroutine #{}", rt.context().id.get()))
}
