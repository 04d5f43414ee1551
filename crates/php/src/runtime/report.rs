//! Reports of failures that nothing handles: PHP's own report of an uncaught exception, extended by the coroutine that
//! threw it.
//!
//! A failure is reported as soon as the shutdown that it causes is over, or at once if coroutines in independent scopes
//! keep the application alive; after [`REPORT_AFTER_MS`] at the latest.

use crate::c;
use crate::isolation::LastError;
use crate::runtime::cancellation::Notes;
use crate::runtime::coroutine::{CoroutineObject, NO_SLOT};
use crate::runtime::failure::Level;
use crate::runtime::runner::{self, Work};
use crate::runtime::scheduler::{Core, Phase, Runtime};
use crate::runtime::{cancellation, scope};
use spindle_zend::{Object, Owned, Text, Value, exception, globals, sys};
use std::cell::{Cell, RefCell};

/// The time that an application may take to shut down before its failures are reported, in milliseconds.
const REPORT_AFTER_MS: i64 = 1000;

/// Failures that are to be reported, and those that have been.
pub struct Reports {
    pending: RefCell<Vec<Report>>,
    /// Exceptions that an earlier report contains, or the text of this one.
    known: Notes,
    /// A runner or a timer is scheduled that will report.
    expected: Cell<bool>,
    last_error: Cell<Option<LastError>>,
}

struct Report {
    exception: Owned<Object>,
    /// Text that is appended to the report.
    more: String,
}

impl Reports {
    /// Returns an empty list.
    pub const fn new() -> Reports {
        Reports {
            pending: RefCell::new(Vec::new()),
            known: Notes::new(),
            expected: Cell::new(false),
            last_error: Cell::new(None),
        }
    }

    /// Forgets the lists without freeing their values: the engine has freed the request's memory.
    pub fn forget(&self) {
        self.known.forget();
        for report in self.pending.take() {
            std::mem::forget(report.exception);
        }
    }
}

/// Adds an exception that was thrown by `about`, or by a runner that worked for it.
pub fn add(rt: &'static Runtime, exception: Owned<Object>, about: Option<&CoroutineObject>) {
    let more = about.map_or(String::new(), |about| origin(rt, about));
    rt.reports.pending.borrow_mut().push(Report { exception, more });
}

/// Registers a failure whose handler has thrown another one: it is reported as the cause of that one, not on its own.
pub fn register_cause(rt: &'static Runtime, failure: &Object) {
    rt.reports.known.add(&cancellation::original(rt, failure), Value::from(0));
}

/// Schedules the report of the failures that were added.
pub fn schedule(rt: &'static Runtime) {
    let at_once = {
        let core = rt.core.borrow();
        core.is_forced() || !core.all_are_global()
    };
    if at_once {
        start_runner(rt);
    } else if !rt.reports.expected.replace(true) {
        rt.core.borrow_mut().schedule_reports(scope::deadline(REPORT_AFTER_MS));
    }
}

/// Queues a runner that reports, if there is anything to report.
pub fn start_runner(rt: &'static Runtime) {
    if !rt.reports.pending.borrow().is_empty() && rt.phase.get() != Phase::Ended {
        runner::start(rt, Work::Report, Core::GLOBAL, None, Level::At(Core::GLOBAL), Core::GLOBAL);
    }
}

/// Reports in the runner, without a switch. The last error is kept for the script's shutdown functions, which may call
/// `error_get_last()`.
pub fn in_runner(rt: &'static Runtime) {
    rt.forbid_switch();
    report_all(rt);
    if let Some(last) = LastError::take() {
        rt.reports.last_error.set(Some(last));
    }
    rt.allow_switch();
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
    let thrown = exception::take();
    let status = globals::exit_status().get();
    report_all(rt);
    if thrown.is_some() {
        drop(exception::put(thrown));
    }
    if exits {
        globals::exit_status().set(status);
    }
}

fn report_all(rt: &'static Runtime) {
    loop {
        let next = {
            let mut pending = rt.reports.pending.borrow_mut();
            if pending.is_empty() {
                return;
            }
            pending.remove(0)
        };
        if !report_one(rt, &next.exception, next.more) {
            return;
        }
    }
}

/// Passes the exception in flight to the handler of `set_exception_handler()`, if there is one.
fn call_user_handler() {
    if exception::is_in_flight() && !globals::user_exception_handler().is_empty() {
        // SAFETY: calls PHP code with the exception in flight, as where a script has ended.
        unsafe { sys::zend_user_exception_handler() };
    }
}

/// Reports an exception as PHP does. Returns `false` if user code's handler exits.
fn report_one(rt: &'static Runtime, exception: &Owned<Object>, mut more: String) -> bool {
    drop(exception::put(Some(exception.clone())));
    call_user_handler();
    if let Some(left) = exception::in_flight() {
        if exception::is_exit(&left) {
            return false;
        }
        let is_same = left == *exception;
        let cut = if is_same { detach_reported(rt, &left) } else { None };
        if let Some((_, cause)) = &cut {
            more = format!("\n  after {}{}", described(cause), more);
        }
        if !is_same {
            more.clear(); // it is the handler's own exception
        }
        if let Some(own) = exception::take() {
            c::spindle_report_uncaught(own, Text::of(&exception::c_text(&more)));
        }
        if let Some((holder, cause)) = cut {
            exception::replace_previous(&holder, Some(&cause));
        }
    }
    globals::exit_status().set(255);
    for at in exception::chain(exception) {
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
