//! Ends and failures: who is told, what nobody has seen, graceful shutdown, deadlock, and the report at the end.

use crate::coroutine::{self, Coroutine};
use crate::life::is_cancellation;
use crate::runtime::{Core, Phase, Runtime};
use crate::{calls, zv};
use spindle_core::sched::{Co, Outcome, State};
use spindle_php_sys as sys;
use std::ffi::CString;
use std::ptr::{addr_of_mut, null_mut};

/// A text for C, without the zeros that would end it.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// A new exception of a class of ours.
pub fn exception(ce: *mut sys::zend_class_entry, message: &str) -> *mut sys::zend_object {
    // SAFETY: a throwable class and a terminated text.
    unsafe { sys::spindle_exception_new(ce, c_text(message).as_ptr()) }
}

/// Throws a new exception of a class of ours in the running code.
pub fn throw(ce: *mut sys::zend_class_entry, message: &str) {
    // SAFETY: the new object's reference is passed on.
    unsafe { sys::spindle_throw(exception(ce, message)) }
}

/// The place in the user's code that runs now, `FILE:LINE`.
pub fn here() -> String {
    let mut file = null_mut();
    // SAFETY: walks the running frames.
    let line = unsafe { sys::spindle_user_position(sys::executor_globals.current_execute_data, &mut file) };
    coroutine::place(file, line)
}

/// `CancellationException` with the message that names the place of `cancel()`.
pub fn default_cancellation() -> *mut sys::zend_object {
    // SAFETY: filled at module start.
    exception(unsafe { sys::spindle_ce.cancellation }, &format!("cancelled at {}", here()))
}

/// A coroutine has ended, its result or exception stored: tells who waits, and looks for the failure's place.
/// Gives up the runtime's reference to the object.
///
/// # Safety
/// `this` is the running coroutine.
pub unsafe fn finish(rt: &'static Runtime, this: *mut Coroutine, outcome: Outcome) {
    // SAFETY: the runtime's reference keeps the object alive until the last line.
    unsafe {
        if !crate::state::is_undef(&(*this).finally) {
            run_callbacks(rt, this); // queued before the awaiters are
        }
        let told = rt.core.borrow_mut().finish((*this).co, outcome);
        let exception = (*this).exception;
        if outcome == Outcome::Failed && !told && (exception == rt.deadlock.get() || (*this).std.gc.refcount == 1) {
            // Held by user code it may still be awaited; see `object_dies`.
            rt.core.borrow_mut().mark_awaited((*this).co);
            if exception != rt.deadlock.get() {
                zv::add_object_ref(exception);
                unhandled(rt, exception);
            }
        }
        sys::spindle_object_release(addr_of_mut!((*this).std));
    }
}

/// Queues a coroutine that runs the callbacks for the end of `this`, the last registered first.
///
/// # Safety
/// `this` is a live object with a list of callbacks.
pub unsafe fn run_callbacks(rt: &'static Runtime, this: *mut Coroutine) {
    // SAFETY: the list is moved to a new object, with a reference to `this`.
    unsafe {
        let runner = coroutine::create();
        (*runner).internal = true;
        let name = c_text("Async\\runCallbacks");
        (*runner).callable = zv::string(name.to_str().unwrap_or_default());
        let args = sys::_safe_emalloc(2, size_of::<sys::zval>(), 0).cast::<sys::zval>();
        args.write((*this).finally);
        (*this).finally.u1.type_info = sys::IS_UNDEF;
        zv::set_object_copy(args.add(1), addr_of_mut!((*this).std));
        (*runner).args = args;
        (*runner).argc = 2;
        (*runner).fcc.function_handler = crate::engine::callback_runner();
        (*runner).inherited = crate::state::Inherited::capture();
        rt.enqueue(runner);
    }
}

/// The body of that coroutine: calls each closure of the list, and throws what they threw.
///
/// # Safety
/// `list` is an array of closures.
pub unsafe fn call_back(list: *mut sys::HashTable, argument: *mut sys::zval) {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: the list is the runner's own argument and is not changed meanwhile. The exceptions are kept in an array
    // of the engine, which a bailout in a callback may leave behind.
    unsafe {
        let mut thrown = zv::null();
        sys::spindle_array_new(&mut thrown, 0);
        for index in (0..(*list).nNumUsed as u64).rev() {
            let closure = sys::zend_hash_index_find(list, index);
            if closure.is_null() {
                continue;
            }
            let mut result = zv::null();
            sys::spindle_call_closure(closure, &mut result, 1, argument);
            sys::spindle_zval_dtor(&mut result);
            let exception = (*eg).exception;
            if exception.is_null() {
                continue;
            }
            if sys::zend_is_unwind_exit(exception) || sys::zend_is_graceful_exit(exception) {
                sys::spindle_zval_dtor(&mut thrown);
                return;
            }
            (*eg).exception = null_mut();
            sys::spindle_array_add(&mut thrown, &mut zv::object(exception));
        }
        match (*thrown.value.arr).nNumOfElements {
            0 => {}
            1 => {
                let only = (*sys::zend_hash_index_find(thrown.value.arr, 0)).value.obj;
                zv::add_object_ref(only);
                sys::spindle_throw(only);
            }
            count => {
                let message = format!("{count} callbacks for the end of a coroutine have thrown");
                let composite = exception_of(sys::spindle_ce.composite, &message);
                sys::spindle_exception_list_set(composite, &mut thrown);
                sys::spindle_throw(composite);
            }
        }
        sys::spindle_zval_dtor(&mut thrown);
    }
}

use exception as exception_of;

/// A coroutine for which there is no stack: it fails before its start.
pub fn never_starts(rt: &'static Runtime, co: Co, why: &str) {
    let this = rt.object(co);
    rt.forbid_switch();
    // SAFETY: the object is alive; what it holds is released in the frame of whoever was about to start it.
    unsafe {
        coroutine::drop_call(this);
        (*this).inherited.release();
        (*this).exception = exception(sys::spindle_ce.async_exception, why);
        rt.allow_switch();
        finish(rt, this, Outcome::Failed);
    }
}

/// An exception (its reference passed on) for which there is no place: graceful shutdown, and a report at the end.
/// A second one on the way forces everybody.
pub fn unhandled(rt: &'static Runtime, exception: *mut sys::zend_object) {
    rt.reports.borrow_mut().push(exception);
    shut_down(rt);
}

/// Cancels everybody. The second time also those who have swallowed it or hold it off.
pub fn shut_down(rt: &'static Runtime) {
    if rt.phase.get() == Phase::Ended {
        return;
    }
    let force = rt.phase.get() == Phase::ShuttingDown;
    rt.phase.set(Phase::ShuttingDown);
    let live: Vec<Co> = rt.core.borrow().coroutines().collect();
    for co in live {
        // SAFETY: filled at module start; references are passed to the core or released.
        unsafe {
            let reason = exception(sys::spindle_ce.cancellation, "cancelled by graceful shutdown");
            let unused = if force {
                rt.core.borrow_mut().cancel_by_force(co, reason)
            } else {
                let accepted = rt.core.borrow_mut().cancel(co, reason) == spindle_core::sched::Cancel::Accepted;
                (!accepted).then_some(reason)
            };
            if let Some(unused) = unused {
                sys::spindle_object_release(unused);
            }
        }
    }
}

/// Nobody can run, nothing can happen, somebody still waits: says so, and cancels everybody with `DeadlockError`.
pub fn deadlock(rt: &'static Runtime) {
    rt.forbid_switch(); // an error handler of the program runs in a coroutine that is parked
    let waiting: Vec<Co> = {
        let core = rt.core.borrow();
        core.coroutines().filter(|co| core.state(*co) == State::Parked).collect()
    };
    for co in &waiting {
        warn_of_deadlock(rt, *co);
    }
    let message = match waiting.len() {
        1 => "Deadlock: a coroutine waits for what can never happen".to_owned(),
        n => format!("Deadlock: {n} coroutines wait for what can never happen"),
    };
    // SAFETY: filled at module start; each coroutine gets a reference of its own.
    unsafe {
        if rt.deadlock.get().is_null() {
            let error = exception(sys::spindle_ce.deadlock, &message);
            rt.deadlock.set(error);
            rt.reports.borrow_mut().push(error);
        }
        let error = rt.deadlock.get();
        rt.phase.set(Phase::ShuttingDown);
        for co in waiting {
            zv::add_object_ref(error);
            let earlier = rt.core.borrow_mut().cancel_by_force(co, error);
            if let Some(earlier) = earlier {
                sys::spindle_object_release(earlier);
            }
        }
    }
    rt.allow_switch();
}

fn warn_of_deadlock(rt: &'static Runtime, co: Co) {
    let this = rt.object(co);
    let id = rt.core.borrow().id(co);
    // SAFETY: a live coroutine's object.
    unsafe {
        let spawned = match coroutine::place((*this).spawn_file, (*this).spawn_line) {
            place if place.is_empty() => "the script itself".to_owned(),
            place => format!("spawned at {place}"),
        };
        let info = (*this).info;
        let mut what = if info.call.is_empty() { "its turn".to_owned() } else { format!("{}()", info.call) };
        for id in info.awaits.into_iter().filter(|id| *id != 0) {
            what += &format!(" of coroutine #{id}");
        }
        let at = coroutine::place((*this).suspend_file, (*this).suspend_line);
        let text = format!("Deadlock: coroutine #{id} ({spawned}) is suspended at {at} and waits for {what}");
        sys::spindle_warning_at((*this).suspend_file, (*this).suspend_line, c_text(&text).as_ptr());
    }
}

/// The script's own code has ended (`EG(exception)`: how). Everybody else runs on; then what was not handled is
/// reported as PHP reports an uncaught exception.
pub fn script_ended(rt: &'static Runtime) {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: main's stack, no frame of user code on it; references are passed on or released as said.
    unsafe {
        let thrown = (*eg).exception;
        if rt.phase.get() == Phase::Ended {
            return;
        }
        rt.run_ends();
        if !thrown.is_null() && (sys::zend_is_unwind_exit(thrown) || sys::zend_is_graceful_exit(thrown)) {
            crate::watch::report_rest(rt);
            rt.end(); // `exit`: nobody runs again
            return;
        }
        (*eg).exception = null_mut();
        let main = rt.object(Core::MAIN);
        (*main).exception = thrown;
        calls::coroutine_ends(rt.context());
        let outcome = match thrown {
            thrown if thrown.is_null() => Outcome::Returned,
            thrown if is_cancellation(thrown) || thrown == rt.deadlock.get() => Outcome::Cancelled,
            _ => Outcome::Failed,
        };
        zv::add_object_ref(addr_of_mut!((*main).std)); // it stays until the request ends
        if !crate::state::is_undef(&(*main).finally) {
            run_callbacks(rt, main);
        }
        let told = rt.core.borrow_mut().finish(Core::MAIN, outcome);
        if outcome == Outcome::Failed && !told {
            zv::add_object_ref(thrown);
            unhandled(rt, thrown);
        }
        if outcome == Outcome::Failed {
            rt.core.borrow_mut().mark_awaited(Core::MAIN);
        }
        loop {
            rt.run_down();
            let unseen = unseen_failure(rt);
            let Some(unseen) = unseen else { break };
            rt.core.borrow_mut().mark_awaited((*unseen).co);
            zv::add_object_ref((*unseen).exception);
            unhandled(rt, (*unseen).exception);
        }
        crate::watch::report_rest(rt);
        rt.end();
    }
    report(rt);
}

/// A failure that user code still holds, and nobody has awaited.
fn unseen_failure(rt: &'static Runtime) -> Option<*mut Coroutine> {
    let core = rt.core.borrow();
    let objects = rt.objects.borrow();
    let unseen = |this: &&*mut Coroutine| {
        // SAFETY: objects in the list are alive.
        let co = if this.is_null() { return false } else { unsafe { (***this).co } };
        core.state(co) == State::Done && core.outcome(co) == Outcome::Failed && !core.was_awaited(co)
    };
    let oldest = objects.iter().filter(unseen).min_by_key(|this| {
        // SAFETY: as above.
        core.id(unsafe { (***this).co })
    });
    oldest.copied()
}

fn report(rt: &'static Runtime) {
    let eg = addr_of_mut!(sys::executor_globals);
    let reports = std::mem::take(&mut *rt.reports.borrow_mut());
    for exception in reports {
        // SAFETY: as `zend_execute_scripts` does with what a script leaves; each consumes the exception.
        unsafe {
            (*eg).exception = exception;
            if !crate::state::is_undef(&(*eg).user_exception_handler) {
                sys::zend_user_exception_handler();
            }
            if !(*eg).exception.is_null() {
                sys::zend_exception_error((*eg).exception, sys::E_ERROR as i32);
            }
            (*eg).exit_status = 255;
        }
    }
}

/// In the child of a fork: the objects that a coroutine of the parent holds in its frames belong to the parent,
/// and their destructors do not run here.
///
/// # Safety
/// `this` is a coroutine that was dropped while it was parked or queued.
pub unsafe fn disown_frames(this: *mut Coroutine) {
    // SAFETY: the frames stand on a stack that nobody runs on; only flags of objects are written.
    unsafe {
        if (*this).ctx.is_null() {
            return;
        }
        let disown = |value: *mut sys::zval| {
            if u32::from((*value).u1.v.type_) == sys::IS_OBJECT && (*(*value).value.obj).gc.refcount == 1 {
                (*(*value).value.obj).gc.u.type_info |= sys::IS_OBJ_DESTRUCTOR_CALLED;
            }
        };
        let mut frame = (*(*this).ctx).saved.frame();
        while !frame.is_null() {
            disown(addr_of_mut!((*frame).This));
            let function = (*frame).func;
            if !function.is_null() && u32::from((*function).type_) == sys::ZEND_USER_FUNCTION {
                // A user function's frame is followed by its variables.
                let variables = frame.byte_add(size_of::<sys::zend_execute_data>()).cast::<sys::zval>();
                for index in 0..(*function).op_array.last_var as usize {
                    disown(variables.add(index));
                }
            }
            frame = (*frame).prev_execute_data;
        }
    }
}
