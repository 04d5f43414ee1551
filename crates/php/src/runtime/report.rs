//! Reports of failures that nothing handles: PHP's own report of an uncaught exception, extended by the coroutine that
//! threw it.
//!
//! A failure is reported as soon as the shutdown that it causes has ended, or immediately if coroutines in independent
//! scopes keep the application alive; after [`REPORT_AFTER_MS`] at the latest.

use crate::c;
use crate::isolation::LastError;
use crate::runtime::cancellation::Notes;
use crate::runtime::coroutine::{CoroutineObject, NO_SLOT};
use crate::runtime::failure::Level;
use crate::runtime::runner::{self, Work};
use crate::runtime::scheduler::{Core, Runtime};
use crate::runtime::{cancellation, gate, life, scope};
use spindle_zend::{Object, Owned, Text, Value, engine, exception, globals};
use std::cell::{Cell, RefCell};

/// The time that an application may take to shut down before its failures are reported, in milliseconds.
const REPORT_AFTER_MS: i64 = 1000;

/// Failures that are to be reported, and those that have been.
pub struct Reports {
    pending: RefCell<Vec<Report>>,
    /// Exceptions that an earlier report contains, or the text of this one.
    known: Notes,
    /// Exceptions that a handler of `set_exception_handler()` was called with.
    handed: Notes,
    /// Exceptions that PHP has reported itself.
    reported: Notes,
    /// The text that is appended to the report of the failure with which such a handler runs. It is not suspended meanwhile.
    handled: RefCell<Option<String>>,
    /// A runner or a timer is scheduled that will report.
    expected: Cell<bool>,
    last_error: Cell<Option<LastError>>,
}

struct Report {
    exception: Owned<Object>,
    /// No handler is called with it.
    by_php: bool,
    /// Text that is appended to the report.
    more: String,
}

impl Reports {
    /// Returns an empty list.
    pub const fn new() -> Reports {
        Reports {
            pending: RefCell::new(Vec::new()),
            known: Notes::new(),
            handed: Notes::new(),
            reported: Notes::new(),
            handled: RefCell::new(None),
            expected: Cell::new(false),
            last_error: Cell::new(None),
        }
    }

    /// Forgets the lists without freeing their values: the engine has freed the request's memory.
    pub fn forget(&self) {
        [&self.known, &self.handed, &self.reported].into_iter().for_each(Notes::forget);
        for report in self.pending.take() {
            std::mem::forget(report.exception);
        }
    }
}

/// Adds an exception that was thrown by `about`, or by a runner that worked for it.
pub fn add(rt: &'static Runtime, exception: Owned<Object>, about: Option<&CoroutineObject>) {
    let more = about.map_or(String::new(), |about| origin(rt, about));
    rt.reports.pending.borrow_mut().push(Report { exception, by_php: false, more });
}

/// Adds an exception with which user code asks for a shutdown. If a handler asks with it, or was called with it or with what it
/// wraps, PHP reports it itself: the handler would ask again, without end. What has been or will be reported is not added again.
pub fn add_asked(rt: &'static Runtime, exception: &Object, about: &CoroutineObject) {
    let original = cancellation::original(rt, exception);
    let is_same = |report: &Report| cancellation::original(rt, &report.exception) == original;
    let is_pending = rt.reports.pending.borrow().iter().any(is_same);
    if is_pending || rt.reports.reported.has(&original) {
        return;
    }
    let by_php = was_handed(rt, Some(exception));
    let handled = rt.reports.handled.borrow().clone();
    let more = handled.unwrap_or_else(|| origin(rt, about));
    let report = Report { exception: Owned::of(exception), by_php, more };
    if rt.has_ended() {
        report_at_once(rt, report);
    } else {
        rt.reports.pending.borrow_mut().push(report);
    }
}

/// Makes PHP report a failure after the script's end, as in a shutdown function, where PHP calls no handler either.
fn report_at_once(rt: &'static Runtime, mut report: Report) {
    report.by_php = true;
    exception::put_aside(|| {
        report_one(rt, report);
    });
}

/// Returns `true` if a handler of `set_exception_handler()` runs, or was called with this exception or with one that it wraps.
/// The failure behind a cancellation, which the runtime has put there, does not count as wrapped.
pub fn was_handed(rt: &'static Runtime, exception: Option<&Object>) -> bool {
    let wraps = |exception| {
        let (first, rest) = (exception::chain(exception).take(1), exception::chain(exception).skip(1));
        first.chain(rest.take_while(|at| !life::is_cancellation(at)))
    };
    let is_handed = |at: &Object| rt.reports.handed.has(&cancellation::original(rt, at));
    is_in_handler(rt) || exception.is_some_and(|exception| wraps(exception).any(is_handed))
}

fn is_in_handler(rt: &'static Runtime) -> bool {
    rt.reports.handled.borrow().is_some()
}

/// Registers an exception that a handler of `set_exception_handler()` is called with.
pub fn hand(rt: &'static Runtime, exception: &Object) {
    rt.reports.handed.add(&cancellation::original(rt, exception), Value::from(0));
}

/// Registers a failure whose handler has thrown another one: it is reported as the cause of that one, not on its own.
pub fn register_cause(rt: &'static Runtime, failure: &Object) {
    rt.reports.known.add(&cancellation::original(rt, failure), Value::from(0));
}

/// Schedules the report of the failures that were added.
pub fn schedule(rt: &'static Runtime) {
    if rt.has_ended() {
        // Failures that come while a handler runs are left to the code that has called it.
        let due = if is_in_handler(rt) { Vec::new() } else { rt.reports.pending.take() };
        return due.into_iter().for_each(|report| report_at_once(rt, report));
    }
    let at_once = {
        let core = rt.core.borrow();
        core.life().is_forced() || !core.all_are_global()
    };
    if at_once {
        start_runner(rt);
    } else if !rt.reports.expected.replace(true) {
        rt.core.borrow_mut().schedule_reports(scope::deadline(REPORT_AFTER_MS));
    }
}

/// Queues a runner that reports, if there is anything to report.
pub fn start_runner(rt: &'static Runtime) {
    if !rt.reports.pending.borrow().is_empty() && !rt.has_ended() {
        runner::start(rt, Work::Report, Core::GLOBAL, None, Level::At(Core::GLOBAL), Core::GLOBAL);
    }
}

/// Reports in the runner, without a switch. The last error is kept for the script's shutdown functions, which may call
/// `error_get_last()`.
pub fn in_runner(rt: &'static Runtime) {
    gate::forbid();
    report_all(rt);
    if let Some(last) = LastError::take() {
        rt.reports.last_error.set(Some(last));
    }
    gate::allow();
}

/// Reports, on main's stack at the request's end, the failures that have not been reported. `exits`: the exit status
/// stays.
pub fn report_rest(rt: &'static Runtime, exits: bool) {
    if let Some(last) = rt.reports.last_error.take() {
        last.become_current();
    }
    if rt.reports.pending.borrow().is_empty() {
        return;
    }
    let (mut thrown, mut exits) = (exception::take(), exits);
    let mut status = globals::exit_status().get();
    let mut is_done = false;
    let is_sound = engine::guarded(|| is_done = report_all(rt));
    if !is_done {
        // A handler has exited, or has died. None is called any more, and PHP reports what is left itself.
        (exits, status, thrown) = (true, globals::exit_status().get(), exception::take());
        rt.reports.handled.take();
        rt.reports.pending.borrow_mut().iter_mut().for_each(|report| report.by_php = true);
        report_all(rt);
    }
    if thrown.is_some() {
        drop(exception::put(thrown));
    }
    if exits {
        globals::exit_status().set(status);
    }
    if !is_sound {
        engine::bail_out();
    }
}

/// Reports what is left. Returns `false` if user code's handler has exited before that.
fn report_all(rt: &'static Runtime) -> bool {
    loop {
        let next = {
            let mut pending = rt.reports.pending.borrow_mut();
            if pending.is_empty() {
                return true;
            }
            pending.remove(0)
        };
        if !report_one(rt, next) {
            return false;
        }
    }
}

/// Calls the handler of `set_exception_handler()`. Returns `false` if there is none, or it cannot be called.
fn call_user_handler(rt: &'static Runtime, exception: &Object, more: &str) -> bool {
    if globals::user_exception_handler().is_empty() {
        return false;
    }
    hand(rt, exception);
    rt.reports.handled.replace(Some(more.to_owned()));
    let called = c::spindle_call_exception_handler(exception);
    rt.reports.handled.take();
    called
}

/// Reports an exception as PHP does. Returns `false` if user code's handler exits.
fn report_one(rt: &'static Runtime, report: Report) -> bool {
    let Report { exception, by_php, mut more } = report;
    if by_php || !call_user_handler(rt, &exception, &more) {
        drop(exception::put(Some(exception.clone())));
    }
    if let Some(left) = exception::in_flight() {
        if exception::is_exit(&left) {
            return false;
        }
        // The handler's own exception is shown with what it wraps, which PHP has not reported.
        let cut = if left == exception { detach_reported(rt, &left) } else { None };
        if let Some((_, cause)) = &cut {
            more = format!("\n  after {}{}", described(cause), more);
        }
        if let Some(own) = exception::take() {
            rt.reports.reported.add(&cancellation::original(rt, &own), Value::from(0));
            c::spindle_report_uncaught(own, Text::of(&exception::c_text(&more)));
        }
        if let Some((holder, cause)) = cut {
            exception::replace_previous(&holder, Some(&cause));
        }
    }
    globals::exit_status().set(255);
    for at in exception::chain(&exception) {
        rt.reports.known.add(&cancellation::original(rt, at), Value::from(0));
    }
    true
}

/// Detaches the part of the chain of previous exceptions that was reported before. Returns the exception that it was
/// detached from, and the first exception of that part.
fn detach_reported(rt: &'static Runtime, exception: &Object) -> Option<(Owned<Object>, Owned<Object>)> {
    for holder in exception::chain(exception) {
        let previous = exception::previous(holder)?;
        if rt.reports.known.has(&cancellation::original(rt, previous)) {
            let (holder, previous) = (Owned::of(holder), Owned::of(previous));
            exception::replace_previous(&holder, None);
            return Some((holder, previous));
        }
    }
    None
}

/// Returns `CLASS: message in FILE:LINE`.
pub fn described(exception: &Object) -> String {
    match exception::place_of(exception) {
        place if place.is_empty() => exception::text_of(exception),
        place => format!("{} in {place}", exception::text_of(exception)),
    }
}

/// How many characters of a failure's message are repeated in another exception's.
const TOLD: usize = 200;

/// Returns `CLASS: message, thrown at FILE:LINE in NAME`, with the first line of the message, for the text of another exception.
/// `name` describes the coroutine that has failed, or is empty.
pub fn told(failure: &Object, name: &str) -> String {
    let text = exception::text_of(failure);
    let line = text.lines().next().unwrap_or_default();
    let mut told: String = line.chars().take(TOLD).collect();
    if told.len() < text.trim_end().len() {
        told.push('…');
    }
    let place = exception::place_of(failure);
    if !place.is_empty() {
        told += &format!(", thrown at {place}");
        if !name.is_empty() {
            told += &format!(" in {name}");
        }
    }
    told
}

/// Returns `coroutine #12, spawned at FILE:LINE`; for a runner a description of its work; an empty text for the script
/// itself and for internal runners.
pub fn name(rt: &'static Runtime, this: &CoroutineObject) -> String {
    if let Some(job) = this.job() {
        if job.is_internal() {
            return String::new();
        }
        let (what, of) = job.about();
        return match of.map(|of| name(rt, &of)) {
            Some(of) if !of.is_empty() => format!("{what} {}", of.trim_start_matches("coroutine ")),
            _ => what.to_owned(),
        };
    }
    let (place, co) = (this.spawned_at.text(), this.co.get());
    if place.is_empty() || co == NO_SLOT {
        return String::new();
    }
    let id = rt.core.borrow().id(co);
    format!("coroutine #{id}, spawned at {place}")
}

/// Returns the coroutine and those that spawned it, as lines of a report.
fn origin(rt: &'static Runtime, this: &CoroutineObject) -> String {
    let name = name(rt, this);
    if name.is_empty() {
        return name;
    }
    let mut text = format!("\n  in {name}");
    if let Some(spawners) = this.spawners.get() {
        for spawner in spawners.texts() {
            text += &format!("\n  by {spawner}");
        }
    }
    text
}
