//! Coroutines of ours that run the program's callbacks and handlers, each with a [`Job`].

use crate::isolation::state;
use crate::runtime::{
    coroutine::{self, Coroutine},
    failure::{self, Level},
    report,
    scheduler::{Core, Runtime, rt},
    scope,
    slots::Slots,
};
use crate::zend::{exception, php_static::PhpStatic, zv};
use spindle_core::sched::{Outcome, ScopeId};
use spindle_php_sys as sys;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::{addr_of_mut, null_mut};

/// What a runner does. The values and references are owned.
pub enum What {
    /// Calls callbacks (an array) with a coroutine that has completed.
    CallbacksOf(sys::zval, *mut Coroutine),
    /// Calls callbacks (an array, or undefined) of a scope that has finished, and frees its values.
    EndOf(sys::zval),
    /// Hands a failure of a coroutine to the handler of the job's scope.
    Handler(sys::zval, *mut Coroutine, *mut sys::zend_object),
    /// Destroys values.
    Drop(Vec<sys::zval>, Slots),
    /// Raises a warning (a string) at a file (or null) and line.
    Warning(sys::zval, *mut sys::zend_string, u32),
    /// Warns of the failures of its scope that nobody has asked for.
    Errors,
    /// Reports what nothing handles.
    Report,
}

/// The work of a runner, and where a failure of it goes.
pub struct Job {
    what: What,
    scope: ScopeId,
    level: Level,
    origin: ScopeId,
}

impl Job {
    /// What it is for, in words, and the coroutine that it is about.
    pub fn about(&self) -> (&'static str, Option<*mut Coroutine>) {
        match &self.what {
            What::CallbacksOf(_, of) => ("callbacks for the end of coroutine", Some(*of)),
            What::EndOf(_) => ("callbacks for the end of its scope", None),
            What::Handler(_, of, _) => ("exception handler, for coroutine", Some(*of)),
            What::Drop(..) => ("destructors of what a scope has held", None),
            What::Warning(..) | What::Errors => ("a warning", None),
            What::Report => ("a report", None),
        }
    }

    /// Does it run nothing that the program has asked for? An error handler may throw in it.
    pub fn is_ours(&self) -> bool {
        matches!(self.what, What::Warning(..) | What::Errors | What::Report)
    }

    /// Frees what is left of a job; null is none.
    ///
    /// # Safety
    /// Owned by the caller, and not used again.
    pub unsafe fn drop(job: *mut Job) {
        if job.is_null() {
            return;
        }
        // SAFETY: the caller's promise; made by `start`.
        unsafe { release(Box::from_raw(job).what) }
    }

    /// What becomes of a runner that cannot run: what it would have handled goes on, what it would have let go is let go.
    ///
    /// # Safety
    /// A live job.
    pub unsafe fn outcome_unless_started(job: *const Job) -> Outcome {
        // SAFETY: the caller's promise.
        match unsafe { &(*job).what } {
            What::Handler(..) => Outcome::Cancelled,
            What::Drop(..) | What::Warning(..) | What::Errors | What::Report => Outcome::Returned,
            What::CallbacksOf(..) | What::EndOf(..) => Outcome::Failed,
        }
    }

    /// Does it destroy values and nothing else, or nothing?
    ///
    /// # Safety
    /// A live job, or null.
    pub unsafe fn only_drops(job: *const Job) -> bool {
        // SAFETY: the caller's promise.
        job.is_null() || unsafe { matches!((*job).what, What::Drop(..)) }
    }
}

/// Lets go what is left of a job's work, which may run PHP code.
unsafe fn release(what: What) {
    // SAFETY: each value is owned.
    unsafe {
        match what {
            What::CallbacksOf(mut list, of) => {
                sys::spindle_zval_dtor(&mut list);
                sys::spindle_object_release(addr_of_mut!((*of).std));
            }
            What::EndOf(mut list) => sys::spindle_zval_dtor(&mut list),
            What::Handler(mut handler, of, failure) => {
                sys::spindle_zval_dtor(&mut handler);
                sys::spindle_object_release(addr_of_mut!((*of).std));
                if !failure.is_null() {
                    sys::spindle_object_release(failure);
                }
            }
            What::Drop(values, slots) => destroy(values, &slots),
            What::Report | What::Errors => {}
            What::Warning(mut text, file, _) => {
                sys::spindle_zval_dtor(&mut text);
                if !file.is_null() {
                    sys::spindle_string_release(file);
                }
            }
        }
    }
}

/// Destroys values, which may run PHP code. A bailout leaves the rest to the request's heap.
///
/// # Safety
/// They are the caller's.
pub unsafe fn destroy(values: Vec<sys::zval>, slots: &Slots) {
    // SAFETY: the caller's promise.
    unsafe {
        slots.clear();
        for mut value in values {
            sys::spindle_zval_dtor(&mut value);
        }
    }
}

/// Queues a runner in `scope`; `holds` does not finish before it. `level`: where what it throws goes, of this scope.
pub fn start(rt: &'static Runtime, what: What, scope: ScopeId, holds: Option<ScopeId>, level: Level, origin: ScopeId) {
    // SAFETY: a new object; the name is a terminated text and the function lives as long as the module.
    unsafe {
        let runner = coroutine::create();
        (*runner).job = Box::into_raw(Box::new(Job { what, scope, level, origin }));
        (*runner).callable = zv::string("Async\\runCallbacks");
        (*runner).fcc.function_handler = callback_runner();
        (*runner).inherited = match (*(*runner).job).what {
            // It may be in nobody's name, or in that of one who has ended.
            What::Warning(..) | What::Errors | What::Report => rt.inherited_of_main(),
            _ => state::Inherited::capture(),
        };
        rt.enqueue(runner, |core| core.spawn_runner(scope, holds));
    }
}

/// The body of a runner, as an internal function.
///
/// # Safety
/// Called by the engine as the function of a coroutine that [`start`] has made.
pub unsafe extern "C" fn run(_: *mut sys::zend_execute_data, result: *mut sys::zval) {
    let rt = rt();
    let this = rt.running();
    // SAFETY: the running coroutine's object and job live as long as it runs. Values are taken out of the job before
    // PHP code is called; a bailout leaves them to the end of the request.
    unsafe {
        zv::set_null(result);
        let job = (*this).job;
        match &mut (*job).what {
            What::CallbacksOf(list, of) => {
                let mut argument = zv::object(addr_of_mut!((**of).std));
                failure::call_back(list.value.arr, &mut argument);
            }
            What::EndOf(list) => {
                let list = std::mem::replace(list, zv::undef());
                end_of_scope(rt, (*job).scope, list);
            }
            What::Handler(handler, of, failure) => {
                let object = scope::object_of(rt, (*job).scope);
                let mut arguments = [zv::object(object), zv::object(addr_of_mut!((**of).std)), zv::object(*failure)];
                let mut unused = zv::null();
                let alone = sys::spindle_parameters_of(handler) == 1;
                let skip = if alone { 2 } else { 0 };
                let count = (arguments.len() - skip) as u32;
                sys::spindle_call_closure(handler, &mut unused, count, arguments.as_mut_ptr().add(skip));
                sys::spindle_zval_dtor(&mut unused);
                sys::spindle_object_release(object);
            }
            What::Drop(values, slots) => destroy(std::mem::take(values), slots),
            What::Errors => scope::warn_of_unknown(rt, (*job).scope),
            What::Report => report::in_runner(rt),
            What::Warning(text, file, line) => sys::spindle_warning_at(*file, *line, (*text.value.str_).val.as_ptr()),
        }
        if sys::executor_globals.exception.is_null() {
            // Destructors may wait, and throw: here that is this runner's, later it would be nobody's.
            let over = What::Drop(Vec::new(), Slots::default());
            release(std::mem::replace(&mut (*job).what, over));
        }
    }
}

unsafe fn end_of_scope(rt: &'static Runtime, id: ScopeId, mut list: sys::zval) {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: the runner keeps the scope; the list is ours.
    unsafe {
        if !zv::is_undef(&list) {
            let object = scope::object_of(rt, id);
            let mut argument = zv::object(object);
            failure::call_back(list.value.arr, &mut argument);
            sys::spindle_zval_dtor(&mut list);
            sys::spindle_object_release(object);
        }
        let thrown = (*eg).exception;
        if !thrown.is_null() && (sys::zend_is_unwind_exit(thrown) || sys::zend_is_graceful_exit(thrown)) {
            return; // a callback exits
        }
        if rt.core.borrow().has_completed(id) {
            let thrown = std::mem::replace(&mut (*eg).exception, null_mut());
            scope::free_values(rt, id);
            if !thrown.is_null() {
                let later = std::mem::replace(&mut (*eg).exception, null_mut());
                if !later.is_null() {
                    sys::zend_exception_set_previous(thrown, later);
                }
                sys::spindle_throw(thrown);
            }
        }
    }
}

/// A runner has ended with this exception (a reference is passed on), or was cancelled: where it goes.
///
/// # Safety
/// `this` is the running coroutine, with a job.
pub unsafe fn failed(rt: &'static Runtime, this: *mut Coroutine, exception: *mut sys::zend_object, cancelled: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        let job = (*this).job;
        let (mut exception, mut about) = (exception, this);
        match &mut (*job).what {
            What::CallbacksOf(_, of) => about = *of,
            What::Handler(_, of, failure) => {
                about = *of;
                if cancelled && !failure.is_null() {
                    // It has not been handled: on with the failure itself.
                    sys::spindle_object_release(std::mem::replace(
                        &mut exception,
                        std::mem::replace(failure, null_mut()),
                    ));
                } else if !cancelled && !failure.is_null() && !exception::has_in_chain(exception, *failure) {
                    // What it was called for is not lost with what it has thrown.
                    report::is_cause(rt, *failure);
                    sys::zend_exception_set_previous(exception, std::mem::replace(failure, null_mut()));
                }
            }
            _ => {}
        }
        let is_handler = matches!((*job).what, What::Handler(..));
        if cancelled && !is_handler {
            sys::spindle_object_release(exception);
            return;
        }
        failure::route(rt, exception, (*job).level, (*job).origin, about);
    }
}

static RUNNER: PhpStatic<UnsafeCell<MaybeUninit<sys::zend_internal_function>>> =
    PhpStatic::new(UnsafeCell::new(MaybeUninit::zeroed()));

/// The internal function that a coroutine of callbacks runs.
fn callback_runner() -> *mut sys::zend_function {
    // SAFETY: a function without declared parameters; zeros are valid for the rest.
    unsafe {
        let runner = RUNNER.get().cast::<sys::zend_internal_function>();
        (*runner).type_ = sys::ZEND_INTERNAL_FUNCTION as u8;
        (*runner).handler = Some(run);
        (*runner).module = addr_of_mut!(sys::spindle_module_entry);
        runner.cast()
    }
}

/// Raises a warning soon, at a file (borrowed, or null) and line.
pub fn warn(rt: &'static Runtime, text: &str, file: *mut sys::zend_string, line: u32) {
    if !file.is_null() {
        zv::add_ref(file);
    }
    let what = What::Warning(zv::string(&text.replace('\0', " ")), file, line);
    start(rt, what, Core::GLOBAL, None, Level::At(Core::GLOBAL), Core::GLOBAL);
}
