//! Reports of failures that nothing handles: PHP's own, of an uncaught exception, with the coroutine that it is from.
//!
//! One is made as soon as the shutdown that it causes is over, or the application lives on in independent scopes; and in
//! [`PATIENCE`] at the latest.

use crate::isolation::state::LastError;
use crate::runtime::{
    cancellation,
    coroutine::{self, Coroutine},
    failure::Level,
    runner::{self, What},
    scheduler::{Core, Phase, Runtime},
    scope,
};
use crate::zend::{
    exception::{self, Notes},
    zv,
};
use spindle_php_sys as sys;
use std::cell::{Cell, RefCell};
use std::ptr::{addr_of_mut, null_mut};

/// What an application that ends may take with it before its failures are reported, in milliseconds.
const PATIENCE: i64 = 1000;

/// What is to be reported, and what has been.
pub struct Reports {
    pending: RefCell<Vec<Report>>,
    /// Exceptions that are known from an earlier report, or from the text of this one.
    known: Notes,
    /// A runner or a timer will come to it.
    expected: Cell<bool>,
    last_error: Cell<Option<LastError>>,
}

struct Report {
    /// Owned.
    exception: *mut sys::zend_object,
    /// What is said behind it.
    more: String,
}

impl Reports {
    /// None.
    pub const fn new() -> Reports {
        Reports {
            pending: RefCell::new(Vec::new()),
            known: Notes::new(),
            expected: Cell::new(false),
            last_error: Cell::new(None),
        }
    }
}

/// Adds an exception (the reference is passed on) that `about` has thrown, or what it was for.
pub fn add(rt: &'static Runtime, exception: *mut sys::zend_object, about: *mut Coroutine) {
    let more = if about.is_null() { String::new() } else { origin(rt, about) };
    rt.reports.pending.borrow_mut().push(Report { exception, more });
}

/// A failure has become another one in its handler (both borrowed): it is told with that one, not before it.
pub fn is_cause(rt: &'static Runtime, failure: *mut sys::zend_object) {
    rt.reports.known.add(cancellation::original(failure), zv::long(0));
}

/// Sees to it that what has been added will be reported.
pub fn expect(rt: &'static Runtime) {
    let at_once = {
        let core = rt.core.borrow();
        core.is_forced() || !core.all_are_global()
    };
    if at_once {
        due(rt);
    } else if !rt.reports.expected.replace(true) {
        rt.core.borrow_mut().schedule_reports(scope::deadline(PATIENCE));
    }
}

/// Queues a runner that reports.
pub fn due(rt: &'static Runtime) {
    if !rt.reports.pending.borrow().is_empty() && rt.phase.get() != Phase::Ended {
        runner::start(rt, What::Report, Core::GLOBAL, None, Level::At(Core::GLOBAL), Core::GLOBAL);
    }
}

/// In that runner: reports, without a switch. What `error_get_last()` answers then is for the script's shutdown functions.
///
/// # Safety
/// Called where PHP code may run.
pub unsafe fn in_runner(rt: &'static Runtime) {
    rt.forbid_switch();
    all(rt);
    // SAFETY: the caller's promise.
    let last = unsafe { LastError::taken() };
    if last.is_some() {
        let replaced = rt.reports.last_error.replace(last);
        if let Some(replaced) = replaced {
            // SAFETY: ours alone.
            unsafe { replaced.release() };
        }
    }
    rt.allow_switch();
}

/// At the end, on main's stack: reports what has not been. `exits`: with the status that there is.
pub fn rest(rt: &'static Runtime, exits: bool) {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: main's stack; what is in flight is put aside, and back.
    unsafe {
        if let Some(last) = rt.reports.last_error.take() {
            last.become_current();
        }
        if rt.reports.pending.borrow().is_empty() {
            return;
        }
        let thrown = std::mem::replace(&mut (*eg).exception, null_mut());
        let status = (*eg).exit_status;
        all(rt);
        if !thrown.is_null() {
            if !(*eg).exception.is_null() {
                sys::spindle_object_release((*eg).exception);
            }
            (*eg).exception = thrown;
        }
        if exits {
            (*eg).exit_status = status;
        }
    }
}

fn all(rt: &'static Runtime) {
    loop {
        let next = {
            let mut pending = rt.reports.pending.borrow_mut();
            if pending.is_empty() {
                return;
            }
            pending.remove(0)
        };
        // SAFETY: PHP code may run here, as the callers say; our reference is passed on.
        if !unsafe { one(rt, next.exception, next.more) } {
            return;
        }
    }
}

/// Reports one as PHP does. `false`: the program's handler exits.
unsafe fn one(rt: &'static Runtime, exception: *mut sys::zend_object, mut more: String) -> bool {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: as `zend_execute_scripts` does with what a script leaves; each consumes the exception, of which a reference
    // is kept for the notes.
    unsafe {
        zv::add_object_ref(exception);
        (*eg).exception = exception;
        if !zv::is_undef(&(*eg).user_exception_handler) {
            sys::zend_user_exception_handler();
        }
        let left = (*eg).exception;
        if !left.is_null() && (sys::zend_is_unwind_exit(left) || sys::zend_is_graceful_exit(left)) {
            sys::spindle_object_release(exception);
            return false;
        }
        if !left.is_null() {
            let cut = if left == exception { cut(rt, left) } else { None };
            if let Some((_, cause)) = cut {
                more = format!("\n  after {}{}", described(cause), more);
            }
            if left != exception {
                more.clear(); // the handler's own
            }
            zv::add_object_ref(left);
            sys::spindle_report_uncaught(left, exception::c_text(&more).as_ptr());
            if let Some((holder, cause)) = cut {
                sys::spindle_exception_replace_previous(holder, cause);
                sys::spindle_object_release(cause);
            }
            sys::spindle_object_release(left);
        }
        (*eg).exit_status = 255;
        let mut at = exception;
        for _ in 0..exception::CHAIN {
            if at.is_null() {
                break;
            }
            rt.reports.known.add(cancellation::original(at), zv::long(0));
            at = sys::spindle_exception_previous(at);
        }
        sys::spindle_object_release(exception);
    }
    true
}

/// Takes off what is known already of the chain of previous exceptions: from whom, and the first that is known (with a
/// reference).
unsafe fn cut(
    rt: &'static Runtime,
    exception: *mut sys::zend_object,
) -> Option<(*mut sys::zend_object, *mut sys::zend_object)> {
    let mut holder = exception;
    // SAFETY: live exceptions, each kept by the one before it.
    unsafe {
        for _ in 0..exception::CHAIN {
            let previous = sys::spindle_exception_previous(holder);
            if previous.is_null() {
                return None;
            }
            if rt.reports.known.of(cancellation::original(previous)).is_some() {
                zv::add_object_ref(previous);
                sys::spindle_exception_replace_previous(holder, null_mut());
                return Some((holder, previous));
            }
            holder = previous;
        }
    }
    None
}

/// `CLASS: message in FILE:LINE`.
pub fn described(exception: *mut sys::zend_object) -> String {
    match exception::place_of(exception) {
        place if place.is_empty() => exception::text_of(exception),
        place => format!("{} in {place}", exception::text_of(exception)),
    }
}

/// `coroutine #12, spawned at FILE:LINE`; of a runner what it is for; nothing for the script itself, and what is ours.
pub fn name(rt: &'static Runtime, this: *mut Coroutine) -> String {
    // SAFETY: a live object; one that a job is about is alive with it.
    unsafe {
        if !(*this).job.is_null() {
            if (*(*this).job).is_ours() {
                return String::new();
            }
            let (what, of) = (*(*this).job).about();
            return match of.map(|of| name(rt, of)) {
                Some(of) if !of.is_empty() => format!("{what} {}", of.trim_start_matches("coroutine ")),
                _ => what.to_owned(),
            };
        }
        let place = exception::place((*this).spawn_file, (*this).spawn_line);
        if place.is_empty() || (*this).co == coroutine::NO_SLOT {
            return String::new();
        }
        let id = rt.core.borrow().id((*this).co);
        format!("coroutine #{id}, spawned at {place}")
    }
}

/// The coroutine, and who has spawned it, as the lines of a report.
fn origin(rt: &'static Runtime, this: *mut Coroutine) -> String {
    let name = name(rt, this);
    if name.is_empty() {
        return name;
    }
    let mut text = format!("\n  in {name}");
    // SAFETY: a live object.
    if let Some(spawners) = unsafe { &(*this).spawners } {
        for spawner in spawners.texts() {
            text += &format!("\n  by {spawner}");
        }
    }
    text
}
