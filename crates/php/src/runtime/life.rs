//! The life of a coroutine: it runs on a stack to its end, is asked to end, has callbacks for its end, is let go.

use crate::isolation::state;
use crate::runtime::{
    cancellation, context,
    coroutine::{self, Coroutine},
    ctx::{Ctx, Failing},
    failure, moments, observers, pending_cancel,
    scheduler::{Leaving, Runtime, To, existing, rt},
    slots::Slots,
};
use crate::stack::arch;
use crate::zend::zv;
use spindle_core::sched::{self, CoroutineId, Outcome, State};
use spindle_php_sys as sys;
use std::ptr::{addr_of_mut, null_mut};

/// The bottom of every stack of ours.
pub extern "C" fn stack_main(ctx: *mut u8) -> ! {
    #[cfg(asan)]
    crate::stack::asan::arrive(null_mut());
    // SAFETY: runs with a bailout frame at the bottom of this stack.
    unsafe { sys::spindle_guarded(Some(stack_loop), ctx.cast()) };
    // Only a bailout gets here: a fatal error has been reported.
    rt().end_on_main(ctx.cast(), Leaving::Fatal)
}

/// Runs coroutines in turn on one stack, until another stack has to run. Never returns.
unsafe extern "C" fn stack_loop(ctx: *mut std::ffi::c_void) {
    let ctx: *mut Ctx = ctx.cast();
    let rt = rt();
    loop {
        // SAFETY: `ctx` has adopted a coroutine.
        if unsafe { run(rt, ctx) } {
            moments::turn_ends(rt);
            moments::exits(rt);
            rt.end_on_main(ctx, Leaving::Exit);
        }
        match rt.pick() {
            // SAFETY: the coroutine before has ended and left nothing in the engine's state. Bailouts go on having
            // the bottom of this stack as their target.
            To::Fresh(co) => unsafe {
                let target = sys::executor_globals.bailout;
                let ended = observers::end();
                let fiber = observers::begin(ctx, rt.object(co));
                rt.adopt(ctx, co, fiber);
                sys::zend_observer_fiber_destroy_notify(ended);
                sys::executor_globals.bailout = target;
            },
            To::Ctx(to) => {
                rt.stacks.borrow_mut().put(ctx);
                // SAFETY: `to` was left. This stack is never resumed: whoever takes it begins at its top.
                unsafe {
                    let ended = observers::end();
                    observers::switch(to);
                    (*to).travelling.resume();
                    rt.arrive(to);
                    sys::zend_observer_fiber_destroy_notify(ended);
                    let mut unused = null_mut();
                    arch::switch(&mut unused, to.cast());
                }
            }
        }
    }
}

/// Runs the coroutine that `ctx` has adopted to its end. `true`: it exits the application.
unsafe fn run(rt: &'static Runtime, ctx: *mut Ctx) -> bool {
    // SAFETY: the coroutine's object is kept alive by the runtime's reference until `finish`; the engine's state
    // is its own.
    unsafe {
        let co = CoroutineId((*ctx).co);
        let this = rt.object(co);
        let eg = addr_of_mut!(sys::executor_globals);
        let mut exception = null_mut();
        if rt.core.borrow().is_started(co) {
            let mut result = zv::null();
            result.u1.type_info = sys::IS_UNDEF;
            let mut fci = sys::zend_fcall_info {
                size: size_of::<sys::zend_fcall_info>(),
                function_name: (*this).callable,
                retval: &mut result,
                params: (*this).args,
                object: (*this).fcc.object,
                param_count: (*this).argc,
                named_params: (*this).named,
            };
            let function = (*this).fcc.function_handler;
            let fcc = if function.is_null() { null_mut() } else { addr_of_mut!((*this).fcc) };
            let is_internal = !function.is_null() && !zv::is_php_code(function);
            if !(*this).spawn_file.is_null() && ((*this).is_operator || is_internal) {
                call_from_its_place(this, &mut fci, fcc);
            } else {
                sys::zend_call_function(&mut fci, fcc);
            }
            (*this).result = result;
        } else {
            exception = rt.core.borrow_mut().discard_cancellation(co).unwrap_or(null_mut());
        }
        let take = |exception: &mut *mut sys::zend_object| {
            let thrown = std::mem::replace(&mut (*eg).exception, null_mut());
            if !thrown.is_null() {
                if !exception.is_null() && !sys::zend_is_unwind_exit(thrown) {
                    sys::zend_exception_set_previous(thrown, *exception);
                }
                *exception = thrown;
                (*eg).opline_before_exception = std::ptr::null();
            }
            !exception.is_null() && (sys::zend_is_unwind_exit(*exception) || sys::zend_is_graceful_exit(*exception))
        };
        if take(&mut exception) {
            return true;
        }
        coroutine::drop_call(this);
        if (*this).std.gc.refcount == 1 && exception.is_null() {
            zv::clear(addr_of_mut!((*this).result)); // nobody can ask for it
        }
        if take(&mut exception) {
            return true;
        }
        context::coroutine_ends(this);
        state::end();
        if take(&mut exception) {
            return true;
        }
        moments::turn_ends(rt);
        if exception.is_null() && (*this).job.is_null() {
            exception = undelivered(rt, ctx, co);
            if !exception.is_null() {
                let result = std::mem::replace(&mut (*this).result, zv::undef());
                failure::let_go(rt, if zv::is_undef(&result) { Vec::new() } else { vec![result] }, Slots::default());
            }
        }
        moments::ended(ctx);
        let outcome = outcome_of(rt, co, exception);
        (*this).exception = exception;
        (*this).ctx = null_mut();
        failure::finish(rt, this, outcome);
        false
    }
}

/// A cancellation that nobody has thrown in a coroutine whose body has ended: it is thrown here, at its end. Or null.
pub unsafe fn undelivered(rt: &'static Runtime, ctx: *mut Ctx, co: CoroutineId) -> *mut sys::zend_object {
    // SAFETY: the running context.
    if let Failing::Throw(exception) = unsafe { pending_cancel::take_failing(ctx) } {
        return exception;
    }
    rt.core.borrow_mut().discard_cancellation(co).unwrap_or(null_mut())
}

/// How a coroutine has ended that has thrown this, or nothing (null).
pub fn outcome_of(rt: &'static Runtime, co: CoroutineId, thrown: *mut sys::zend_object) -> Outcome {
    if thrown.is_null() {
        Outcome::Returned
    } else if is_cancellation(thrown) || rt.is_deadlock(thrown) && rt.core.borrow().is_cancel_requested(co) {
        Outcome::Cancelled
    } else {
        Outcome::Failed
    }
}

/// The call as the code that spawned it would have made it: from that line, with its strictness, seeing what its class
/// sees. PHP's own functions ask for that, and messages and traces tell it.
#[inline(never)]
unsafe fn call_from_its_place(
    this: *mut Coroutine,
    fci: &mut sys::zend_fcall_info,
    fcc: *mut sys::zend_fcall_info_cache,
) {
    // SAFETY: zeros are valid for a frame, a function and an opcode that are looked at, never run. A backtrace ends at a
    // function without a name that includes nothing. They lie on this stack as long as what is called. Classes live as
    // long as the request.
    unsafe {
        let eg = addr_of_mut!(sys::executor_globals);
        let mut function: sys::zend_op_array = std::mem::zeroed();
        function.type_ = sys::ZEND_USER_FUNCTION as u8;
        function.fn_flags = if (*this).is_strict { sys::ZEND_ACC_STRICT_TYPES } else { 0 };
        function.scope = (*this).spawn_scope;
        function.filename = (*this).spawn_file;
        let mut opcode: sys::zend_op = std::mem::zeroed();
        opcode.opcode = sys::ZEND_DO_FCALL as u8;
        opcode.result_type = sys::IS_VAR as u8; // there are functions that ask whether their result is wanted
        opcode.lineno = (*this).spawn_line;
        let mut frame: sys::zend_execute_data = std::mem::zeroed();
        frame.func = (&raw mut function).cast();
        frame.opline = &opcode;
        frame.This.value.ce = (*this).spawn_static;
        frame.prev_execute_data = (*eg).current_execute_data;
        (*eg).current_execute_data = &mut frame;
        sys::zend_call_function(fci, fcc);
        (*eg).current_execute_data = frame.prev_execute_data;
        if frame.This.u1.type_info & sys::ZEND_CALL_HAS_SYMBOL_TABLE != 0 {
            sys::zend_clean_and_cache_symbol_table(frame.symbol_table); // it has included a file
        }
    }
}

/// Is it a `CancellationException`?
pub fn is_cancellation(exception: *mut sys::zend_object) -> bool {
    // SAFETY: a live exception.
    unsafe { sys::spindle_instance_of(exception, sys::spindle_ce.cancellation) }
}

/// Asks for the end of a coroutine, with a copy of an exception (borrowed) that others may get too; or of those that it
/// waits for, when its body has ended.
pub fn cancel(rt: &'static Runtime, co: CoroutineId, reason: *mut sys::zend_object) {
    let all = rt.core.borrow().cancel_targets(co);
    for co in all {
        // SAFETY: the object of a coroutine that is not complete is alive.
        cancel_with(rt, co, unsafe { cancellation::for_each(reason, rt.object(co)) });
    }
}

/// As [`cancel`] for coroutines whose bodies have not ended, because a sibling has failed.
pub fn cancel_after_failure(rt: &'static Runtime, co: CoroutineId, reason: *mut sys::zend_object) {
    // SAFETY: the object of a coroutine that is not complete is alive.
    let own = unsafe { cancellation::for_each(reason, rt.object(co)) };
    let answer = rt.core.borrow_mut().cancel_after_failure(co, own);
    answered(rt, co, own, answer);
}

/// The program asks for the end of a coroutine, with this exception (borrowed).
pub fn cancel_by_program(this: *mut Coroutine, reason: *mut sys::zend_object) {
    let rt = rt();
    // SAFETY: a live object with a slot.
    let co = unsafe { (*this).co };
    if rt.core.borrow().state(co) == State::Ending {
        cancellation::for_several(reason);
        cancel(rt, co, reason);
    } else {
        // SAFETY: a live object.
        cancel_with(rt, co, unsafe { cancellation::for_one(reason, this) });
    }
}

/// Cancels one coroutine, with its own exception (the reference is passed on).
fn cancel_with(rt: &'static Runtime, co: CoroutineId, reason: *mut sys::zend_object) {
    let answer = rt.core.borrow_mut().cancel(co, reason);
    answered(rt, co, reason, answer);
}

fn answered(rt: &'static Runtime, co: CoroutineId, reason: *mut sys::zend_object, answer: sched::Cancel) {
    match answer {
        sched::Cancel::Accepted => moments::cancelled(rt, co),
        // SAFETY: the reference is ours again.
        _ => unsafe { sys::spindle_object_release(reason) },
    }
}

/// As [`cancel`], through whatever holds it off, and in place of a cancellation that waits.
pub fn cancel_by_force(rt: &'static Runtime, co: CoroutineId, reason: *mut sys::zend_object) {
    // SAFETY: the object of a coroutine that is not complete is alive.
    let own = unsafe { cancellation::for_each(reason, rt.object(co)) };
    let earlier = rt.core.borrow_mut().cancel_by_force(co, own);
    if earlier != Some(own) {
        moments::cancelled(rt, co);
    }
    if let Some(earlier) = earlier {
        // SAFETY: the core's reference, or the one made above.
        unsafe { sys::spindle_object_release(earlier) };
    }
}

/// Registers a callback for a coroutine's end; for one that has ended it runs soon.
///
/// # Safety
/// `this` is a live object, `closure` a closure.
pub unsafe fn on_finally(this: *mut Coroutine, closure: *mut sys::zval) {
    // SAFETY: the caller's promise; the list is the object's own.
    unsafe {
        let list = addr_of_mut!((*this).finally);
        if zv::is_undef(&*list) {
            sys::spindle_array_new(list, 1);
        }
        let mut copy = zv::null();
        sys::spindle_zval_copy(&mut copy, closure);
        sys::spindle_array_add(list, &mut copy);
        let rt = rt();
        if (*this).co == coroutine::NO_SLOT || rt.core.borrow().state((*this).co) == State::Done {
            failure::run_callbacks(rt, this);
        }
    }
}

/// Has it failed, and has nobody awaited it?
pub fn is_unseen_failure(this: *mut Coroutine) -> bool {
    let Some(rt) = existing() else { return false };
    // SAFETY: a live object.
    let co = unsafe { (*this).co };
    if co == coroutine::NO_SLOT || rt.object(co) != this {
        return false; // at the end of the request
    }
    let core = rt.core.borrow();
    core.state(co) == State::Done && core.outcome(co) == Outcome::Failed && !core.was_awaited(co)
}

/// The object of a coroutine dies: its slot is free. A failure that nobody has seen is unhandled now.
///
/// # Safety
/// Called once, from the object's destruction.
pub unsafe fn object_dies(this: *mut Coroutine) {
    let Some(rt) = existing() else { return };
    // SAFETY: the object is being destroyed and still whole.
    unsafe {
        let co = (*this).co;
        if rt.object(co) != this || rt.core.borrow().state(co) != State::Done {
            return; // at the end of the request
        }
        if is_unseen_failure(this) {
            zv::add_object_ref((*this).exception);
            failure::unhandled(rt, (*this).exception, this);
        }
        moments::object_dies(rt, this);
        rt.objects.borrow_mut()[co.0 as usize] = null_mut();
        let left = rt.core.borrow_mut().release(co);
        if let Some(left) = left {
            sys::spindle_object_release(left);
        }
    }
}
