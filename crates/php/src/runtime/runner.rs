//! Coroutines whose entry is Rust code: bodies of other crates, and runners. Runners are internal coroutines that call callbacks
//! and handlers of user code. Each has a [`Job`].

use crate::c;
use crate::runtime::coroutine::{COROUTINE, CoroutineObject};
use crate::runtime::failure::{self, Level};
use crate::runtime::keyed_values::KeyedValues;
use crate::runtime::registered::Registered;
use crate::runtime::scheduler::{Core, Runtime, rt};
use crate::runtime::{context, report, scope};
use spindle_core::sched::{Outcome, ScopeId};
use spindle_zend::{
    Call, Frame, Function, Object, Owned, OwnedCell, PhpResult, PhpStatic, Str, Type, Value, ValueCell, as_handler,
    checked, engine, exception, sys, zeroed,
};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::ffi::CStr;
use std::mem::ManuallyDrop;
use std::rc::Rc;

/// The Rust code that a coroutine runs in place of a callable.
pub enum RustEntry {
    /// The work of a runner.
    Job(Job),
    /// A body, until it has ended. It is borrowed only while it runs. If its stack is abandoned, its captures are
    /// dropped with the object.
    Body(RefCell<Option<Body>>),
}

/// The body of a coroutine, called once.
pub type Body = Box<dyn FnMut() -> PhpResult>;

/// The work of a runner.
pub enum Work {
    /// Calls callbacks with a coroutine that has completed.
    CallbacksOf(Vec<Value>, Owned<CoroutineObject>),
    /// Calls callbacks of a scope that has finished, and releases its values.
    EndOfScope(Vec<Registered>),
    /// Calls the handler of the job's scope with a failure of a coroutine.
    Handler(Option<Registered>, Owned<CoroutineObject>, OwnedCell<Object>),
    /// Releases values.
    Release(Cell<Vec<Value>>, KeyedValues),
    /// Raises a warning at a file, if that is known, and a line.
    Warning(String, Option<Owned<Str>>, u32),
    /// Warns of the failures of its scope that are not known.
    ScopeErrors,
    /// Reports failures that nothing handles.
    Report,
}

impl Work {
    /// Returns the work that releases values.
    pub fn release(values: Vec<Value>, keyed: KeyedValues) -> Work {
        Work::Release(Cell::new(values), keyed)
    }
}

/// The work of a runner, and where a failure of it goes.
pub struct Job {
    /// Empty once it is done.
    work: RefCell<Option<Rc<Work>>>,
    scope: ScopeId,
    level: Level,
    origin: ScopeId,
}

impl Job {
    fn work(&self) -> Option<Rc<Work>> {
        self.work.borrow().clone()
    }

    /// Returns a description of the work, and the coroutine that it concerns.
    pub fn about(&self) -> (&'static str, Option<Owned<CoroutineObject>>) {
        match self.work().as_deref() {
            Some(Work::CallbacksOf(_, of)) => ("callbacks for the end of coroutine", Some(of.clone())),
            Some(Work::EndOfScope(_)) => ("callbacks for the end of its scope", None),
            Some(Work::Handler(_, of, _)) => ("exception handler, for coroutine", Some(of.clone())),
            Some(Work::Release(..)) | None => ("destructors of what a scope has held", None),
            Some(Work::Warning(..) | Work::ScopeErrors) => ("a warning", None),
            Some(Work::Report) => ("a report", None),
        }
    }

    /// Returns the coroutine whose callbacks it calls, as which they run.
    pub fn acts_as(&self) -> Option<Owned<CoroutineObject>> {
        match self.work().as_deref() {
            Some(Work::CallbacksOf(_, of)) => Some(of.clone()),
            _ => None,
        }
    }

    /// Returns `true` if it calls nothing that user code has registered. An error handler may still throw in it.
    pub fn is_internal(&self) -> bool {
        matches!(self.work().as_deref(), Some(Work::Warning(..) | Work::ScopeErrors | Work::Report))
    }

    /// Releases what remains of the work, which may run PHP code.
    pub fn release(&self) {
        drop(self.work.take());
    }

    /// Returns the outcome of a runner that cannot run. `failed` then routes a failure that it would have handled.
    pub fn outcome_unless_started(&self) -> Outcome {
        match self.work().as_deref() {
            Some(Work::Handler(..)) => Outcome::Cancelled,
            Some(Work::CallbacksOf(..) | Work::EndOfScope(_)) => Outcome::Failed,
            _ => Outcome::Returned,
        }
    }

    /// Returns `true` if it releases values and nothing else, or does nothing.
    pub fn only_releases(&self) -> bool {
        matches!(self.work().as_deref(), Some(Work::Release(..)) | None)
    }
}

/// Releases values, which may run PHP code.
pub fn release(values: Vec<Value>, keyed: &KeyedValues) {
    keyed.clear();
    drop(values);
}

/// Queues a runner in `scope`. The scope `holds` does not finish before the runner has ended. `level` says where the
/// routing of its failure begins.
pub fn start(rt: &'static Runtime, work: Work, scope: ScopeId, holds: Option<ScopeId>, level: Level, origin: ScopeId) {
    let runner = COROUTINE.make();
    match work {
        // It may concern no coroutine, or one that has ended.
        Work::Warning(..) | Work::ScopeErrors | Work::Report => rt.inherit_from_main(&runner.inherited),
        _ => runner.inherited.capture(),
    }
    set_entry(&runner, RustEntry::Job(Job { work: RefCell::new(Some(Rc::new(work))), scope, level, origin }));
    rt.enqueue(runner, |core| core.spawn_runner(scope, holds));
}

/// Sets the Rust code that a new coroutine runs.
pub fn set_entry(coroutine: &CoroutineObject, entry: RustEntry) {
    coroutine.set_entry(entry);
    let mut call = coroutine.call.get();
    call.function_handler = RUST_ENTRY.get().cast();
    coroutine.call.set(call);
}

/// Makes traces name a function for the Rust code of a new coroutine: the one that user code has called, and that makes it run.
pub fn set_name(coroutine: &CoroutineObject, name: &'static CStr) {
    let mut call = coroutine.call.get();
    call.function_handler = named(name).cast();
    coroutine.call.set(call);
}

/// Returns the internal function with this name that coroutines with Rust code run. There are few names.
fn named(name: &'static CStr) -> *mut sys::zend_internal_function {
    let mut all = NAMED.borrow_mut();
    if let Some((_, function)) = all.iter().find(|(known, _)| *known == name) {
        return *function;
    }
    let function_name = ManuallyDrop::new(Str::new_lasting(name.to_bytes())).as_raw();
    // SAFETY: a copy of what no one writes.
    let entry = unsafe { RUST_ENTRY.get().read() };
    let function = Box::into_raw(Box::new(sys::zend_internal_function { function_name, ..entry }));
    all.push((name, function));
    function
}

/// Returns `true` if this is the function of the running coroutine, and that runs code of a further part, such as a handler.
pub fn is_body(function: Function) -> bool {
    // SAFETY: a copy of what no one writes.
    let entry = unsafe { RUST_ENTRY.get().read() };
    let runs = function.internal().and_then(|internal| internal.handler).zip(entry.handler);
    runs.is_some_and(|(one, other)| std::ptr::fn_addr_eq(one, other)) && rt().running().job().is_none()
}

/// The functions that [`named`] has made, which stay.
static NAMED: PhpStatic<RefCell<Vec<(&'static CStr, *mut sys::zend_internal_function)>>> =
    PhpStatic::new(RefCell::new(Vec::new()));

/// Raises a warning soon, at a file (if it is known) and line.
pub fn warn(rt: &'static Runtime, text: &str, file: Option<Owned<Str>>, line: u32) {
    start(rt, Work::Warning(text.to_owned(), file, line), Core::GLOBAL, None, Level::At(Core::GLOBAL), Core::GLOBAL);
}

/// Runs the Rust code of the running coroutine, as an internal function.
extern "C" fn run(frame: Frame, result: &ValueCell) {
    let rt = rt();
    let this = rt.running();
    if let Some(job) = this.job() {
        do_work(rt, job);
        if !exception::is_in_flight() {
            // Destructors may wait and throw: they have to run in this runner, not after its end.
            job.release();
        }
    } else {
        Call::run(frame, result, |_| checked(this.run_body(), Type::MIXED));
    }
}

fn do_work(rt: &'static Runtime, job: &Job) {
    // Held during the call. A bailout leaks it until the end of the request.
    let Some(work) = job.work() else { return };
    match &*work {
        Work::CallbacksOf(list, of) => {
            failure::call_back(list, |callback| drop(engine::call(callback, &mut [of.object().into()])));
            // The values that they have put there.
            if !exception::is_exit_in_flight() {
                exception::put_aside(|| context::coroutine_ends(of));
            }
        }
        Work::EndOfScope(list) => end_of_scope(rt, job.scope, list),
        Work::Handler(handler, of, failure) => {
            let scope = scope::object_of(rt, job.scope);
            let failure = failure.get();
            let Some(handler) = handler else { return };
            let takes_one = c::spindle_parameters_of(handler.callable()) == 1;
            let mut arguments = vec![Value::from(failure)];
            if !takes_one {
                arguments.splice(..0, [scope.into(), Value::from(of.object())]);
            }
            handler.call(&mut arguments);
        }
        Work::Release(values, keyed) => release(values.take(), keyed),
        Work::ScopeErrors => scope::warn_of_unknown(rt, job.scope),
        Work::Report => report::in_runner(rt),
        Work::Warning(text, file, line) => engine::warn_at(file.as_deref(), *line, &exception::c_text(text)),
    }
}

fn end_of_scope(rt: &'static Runtime, id: ScopeId, list: &[Registered]) {
    if !list.is_empty() {
        let scope = scope::object_of(rt, id);
        failure::call_back(list, |callback| callback.call(&mut [scope.clone().into()]));
    }
    if exception::is_exit_in_flight() {
        return; // a callback exits
    }
    if rt.core.borrow().has_completed(id) {
        let thrown = exception::take();
        scope::free_values(rt, id);
        if let Some(thrown) = thrown {
            if let Some(later) = exception::take() {
                exception::set_last_previous(&thrown, later);
            }
            let _ = exception::throw(thrown);
        }
    }
}

/// Routes the exception that a runner has ended with or was cancelled with, as its job says. `this` is the running
/// coroutine.
pub fn failed(rt: &'static Runtime, this: &CoroutineObject, exception: Owned<Object>, cancelled: bool) {
    let Some(job) = this.job() else { return };
    let work = job.work();
    let (mut exception, mut about) = (exception, Owned::of(this));
    let mut is_handler = false;
    match work.as_deref() {
        Some(Work::CallbacksOf(_, of)) => about = of.clone(),
        Some(Work::Handler(_, of, failure)) => {
            is_handler = true;
            about = of.clone();
            let known = failure.get();
            if cancelled && let Some(failure) = failure.take() {
                exception = failure; // it has not been handled: the failure itself is routed
            } else if !cancelled && known.is_some_and(|known| !exception::chain(&exception).any(|at| *at == *known)) {
                // The failure that the handler was called for is kept as the last previous exception of what it has
                // thrown.
                if let Some(failure) = failure.take() {
                    report::register_cause(rt, &failure);
                    exception::set_last_previous(&exception, failure);
                }
            }
        }
        _ => {}
    }
    if cancelled && !is_handler {
        return;
    }
    failure::route(rt, exception, job.level, job.origin, &about);
}

/// The internal function that coroutines with Rust code run. It declares no parameters.
static RUST_ENTRY: PhpStatic<UnsafeCell<sys::zend_internal_function>> =
    PhpStatic::new(UnsafeCell::new(sys::zend_internal_function {
        type_: sys::ZEND_INTERNAL_FUNCTION as u8,
        handler: Some(as_handler(run)),
        module: &raw mut sys::spindle_module_entry,
        ..zeroed()
    }));
