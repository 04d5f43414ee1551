//! The life of a coroutine: running on a stack to its end, cancellation, callbacks for its end, release.

use crate::c;
use crate::isolation::{self, sapi};
use crate::runtime::coroutine::{Coroutine, CoroutineObject, NO_SLOT};
use crate::runtime::ctx::Ctx;
use crate::runtime::keyed_values::KeyedValues;
use crate::runtime::scheduler::{Reason, Runtime, existing, rt};
use crate::runtime::{cancellation, classes, context, failure, finally, fork, gate, moments, park, pending_cancel};
use spindle_core::lifecycle::Leaving;
use spindle_core::sched::{self, CoroutineId, Outcome, State};
use spindle_php_sys as sys;
use spindle_zend::{Class, Frame, Function, Object, Owned, Value, engine, exception, zeroed};
use std::mem::ManuallyDrop;
use std::ptr::{addr_of_mut, null_mut};

/// The bottom frame of each coroutine stack.
pub extern "C" fn stack_main(upper_end: *mut u8) -> ! {
    #[cfg(asan)]
    crate::stack::asan::arrive(null_mut());
    // SAFETY: `Runtime::start` has prepared this stack.
    let ctx = unsafe { Ctx::at(upper_end) };
    engine::guarded(|| stack_loop(ctx));
    // Only a bailout gets here: a fatal error has been reported.
    rt().end_on_main(ctx, Leaving::Fatal)
}

/// Runs coroutines one after another on one stack, until another stack has to be resumed. Never returns.
fn stack_loop(ctx: &'static Ctx) {
    let rt = rt();
    loop {
        if run(rt, ctx) {
            moments::run_ends(rt);
            moments::exits(rt);
            rt.end_on_main(ctx, Leaving::Exit);
        }
        rt.next_on(ctx);
    }
}

/// Runs the coroutine that `ctx` has adopted to its end. Returns `true` if it exits the application.
fn run(rt: &'static Runtime, ctx: &'static Ctx) -> bool {
    let co = ctx.co.get();
    let this = rt.object(co); // held by the runtime until `finish`
    let mut exception = None;
    if rt.core.borrow().is_started(co) {
        if sapi::live().is_some() {
            exception = call_in_request(this);
        } else {
            let result = call(this);
            drop(this.result.replace(result));
        }
        if fork::is_orphan(rt) {
            fork::ends_without_caller(this);
        }
    } else {
        exception = rt.discard_cancellation(co);
        this.drop_body();
    }
    if take_thrown(&mut exception) {
        return true;
    }
    if this.holds_call() {
        surviving(|| this.drop_call());
    }
    if exception.is_none() {
        release_unseen_result(this);
    }
    if take_thrown(&mut exception) {
        return true;
    }
    // One with callbacks for its end has a context.
    if !this.context.is_empty() {
        if !this.finally.is_empty() {
            return finally::end(rt, ctx, this, exception);
        }
        surviving(|| context::coroutine_ends(this));
    }
    if give_up(ctx, this, &mut exception) {
        return true;
    }
    moments::run_ends(rt);
    if exception.is_none() && this.job().is_none() {
        exception = pending_cancel::take_undelivered(rt, ctx);
        if exception.is_some() {
            let result = this.result.take().some();
            failure::release_later(rt, result.into_iter().collect(), KeyedValues::default());
        }
    }
    moments::ended(rt, ctx);
    let outcome = outcome_of(rt, co, exception.as_deref());
    this.exception.set(exception);
    this.ctx.set(None);
    // Coroutines that its end spawns belong to its request, too.
    let sapi = this.inherited.take_sapi();
    failure::finish(rt, this, outcome);
    drop(sapi);
    false
}

/// Releases the result of a coroutine that ends without an exception, if nothing can ask for it.
#[inline(always)]
pub(super) fn release_unseen_result(this: &CoroutineObject) {
    if this.object().references() == 1 && this.result.is_counted() && this.finally.is_empty() {
        surviving(|| this.result.set(Value::UNDEF));
    }
}

/// Releases what an ending coroutine has: its locks and connections, its state of the engine. Returns `true` if it exits the
/// application.
#[inline(always)]
pub(super) fn give_up(ctx: &Ctx, this: &CoroutineObject, exception: &mut Option<Owned<Object>>) -> bool {
    if !this.identity.is_empty() {
        surviving(|| drop(this.identity.take())); // with the values of maps whose key it is
    }
    surviving(|| this.inherited.release_sapi());
    moments::body_ended(ctx.id.get());
    // Remaining values are released here, where their warnings reach the error handler of user code. What the code that
    // `isolation::end` calls leaves is released at the moment `ended`.
    moments::gives_up(ctx.id.get());
    if sapi::live().is_some() {
        while !sapi::guarded(isolation::end) {
            // A callback of an output buffer has died, and is not called again.
            died();
        }
    } else {
        isolation::end();
    }
    take_thrown(exception)
}

/// Releases values at the end of a coroutine. In a native PHP request a fatal error in a destructor ends only that
/// destructor.
#[inline(always)]
pub(super) fn surviving(release: impl FnOnce()) {
    if sapi::live().is_none() {
        release();
    } else if !sapi::guarded(release) {
        died();
    }
}

/// Handles a fatal error that has ended code of a native PHP request.
#[cold]
pub(super) fn died() {
    gate::survived();
    if let Some(request) = sapi::live() {
        request.client().dies();
    }
}

/// Calls the function of a coroutine of a native PHP request, which a fatal error in it does not end. Returns the exception that
/// stands for that.
fn call_in_request(this: &CoroutineObject) -> Option<Owned<Object>> {
    let sound = sapi::guarded(|| {
        let result = call(this);
        drop(this.result.replace(result));
    });
    if sound {
        return None;
    }
    died();
    Some(exception::detached(classes::async_exception(), "A fatal error has ended the coroutine"))
}

/// Takes the exception in flight, with what had been thrown before as its last previous exception. Returns `true` if it
/// is an exit that ends the application. In a native PHP request such an exit ends the request instead.
pub(super) fn take_thrown(exception: &mut Option<Owned<Object>>) -> bool {
    if let Some(thrown) = exception::take() {
        exception::set_instruction_before(std::ptr::null());
        if let Some(before) = exception.take()
            && !exception::is_exit(&thrown)
        {
            exception::set_last_previous(&thrown, before);
        }
        *exception = Some(thrown);
    }
    if !exception.as_deref().is_some_and(exception::is_exit) {
        return false;
    }
    let Some(sapi) = sapi::live() else {
        if !moments::is_ended_alone() {
            return true;
        }
        *exception =
            Some(exception::detached(classes::async_exception(), "The time limit of the coroutine has passed"));
        return false;
    };
    *exception = None;
    sapi.client().exits();
    false
}

/// Calls the coroutine's function. Returns its result; `Value::UNDEF` if an exception was thrown.
fn call(this: &CoroutineObject) -> Value {
    let mut result = Value::UNDEF;
    let mut cache = this.call.get();
    let (params, param_count) = this.arguments.as_raw();
    // SAFETY: copies the bits of a value that stays until the call has returned.
    let function_name = unsafe { this.callable.as_raw().read() };
    let mut fci = sys::zend_fcall_info {
        size: size_of::<sys::zend_fcall_info>(),
        function_name,
        retval: result.as_mut_raw(),
        params,
        object: cache.object,
        param_count,
        named_params: this.named.as_ptr().cast(),
    };
    // SAFETY: a function that lasts as long as the callable, or none.
    let function = unsafe { Function::from_raw(cache.function_handler) };
    let fcc = if function.is_none() { null_mut() } else { addr_of_mut!(cache) };
    let has_place = this.spawned_at.is_known();
    if has_place
        && (this.is_operator.get() || function.is_some_and(|function| needs_place(this, function, param_count)))
    {
        call_from_its_place(this, &mut fci, fcc);
    } else {
        make(&mut fci, fcc);
    }
    // A signal that came while the function ran is handled in this coroutine, even where the function ends without checking for it
    // again, as by an exception. Later releases of PHP do this themselves; 8.2.32 leaves it to the code that runs next.
    park::serve_interrupt();
    result
}

/// Returns the outcome of a coroutine that has thrown this exception, or none.
pub fn outcome_of(rt: &'static Runtime, co: CoroutineId, thrown: Option<&Object>) -> Outcome {
    match thrown {
        None => Outcome::Returned,
        Some(thrown) if is_cancellation(thrown) => Outcome::Cancelled,
        Some(thrown) if rt.is_deadlock(thrown) && rt.core.borrow().is_cancel_requested(co) => Outcome::Cancelled,
        Some(_) => Outcome::Failed,
    }
}

/// Returns `true` if a call may depend on the place that it is made from, or fail there, before the function has a frame.
#[inline(always)]
fn needs_place(this: &Coroutine, function: Function, arguments: u32) -> bool {
    function.is_internal()
        || !this.named.is_empty()
        || arguments > 0 && c::spindle_takes_references(function, arguments)
}

/// Makes the call as the code that spawned the coroutine would have made it: from that line, with its `strict_types`,
/// and from the scope of its class. PHP's own functions depend on these, and messages and traces show them.
#[inline(never)]
fn call_from_its_place(this: &Coroutine, fci: &mut sys::zend_fcall_info, fcc: *mut sys::zend_fcall_info_cache) {
    let class = |class: Option<Class>| class.map_or(null_mut(), Class::as_raw);
    // These structures stay on this stack until the call has returned. Classes last as long as the request.
    let mut function: sys::zend_op_array = zeroed();
    function.type_ = sys::ZEND_USER_FUNCTION as u8;
    function.fn_flags = if this.is_strict.get() { sys::ZEND_ACC_STRICT_TYPES } else { 0 };
    function.scope = class(this.spawn_class.get());
    function.filename = this.spawned_at.raw_file();
    let mut opcode: sys::zend_op = zeroed();
    opcode.opcode = sys::ZEND_DO_FCALL as u8;
    opcode.result_type = sys::IS_VAR as u8; // some functions check whether their result is used
    opcode.lineno = this.spawned_at.line();
    // A backtrace ends at a function that has no name and is not an include.
    let mut frame: sys::zend_execute_data = zeroed();
    frame.func = (&raw mut function).cast();
    frame.opline = &opcode;
    frame.This.value.ce = class(this.spawn_static.get());
    let below = Frame::current();
    frame.prev_execute_data = below.map_or(null_mut(), Frame::as_raw);
    // SAFETY: the frame is read, never executed, until the call has returned.
    unsafe { Frame::from_raw(&mut frame) }.inspect(|frame| Frame::set_current(*frame));
    make(fci, fcc);
    below.inspect(|below| Frame::set_current(*below));
    // SAFETY: reads a word of flags.
    let flags = unsafe { frame.This.u1.type_info };
    if flags & sys::ZEND_CALL_HAS_SYMBOL_TABLE != 0 {
        // SAFETY: the symbol table that the frame got because it included a file.
        unsafe { sys::zend_clean_and_cache_symbol_table(frame.symbol_table) };
    }
}

/// Makes a call that is completely described, with values that the coroutine holds.
#[inline(always)]
fn make(fci: &mut sys::zend_fcall_info, fcc: *mut sys::zend_fcall_info_cache) {
    // SAFETY: both structures are complete, and the values stay alive.
    unsafe { sys::zend_call_function(fci, fcc) };
}

/// Returns `true` for a `CancellationException`.
pub fn is_cancellation(exception: &Object) -> bool {
    exception.is_a(classes::cancellation())
}

/// Cancels a coroutine with an exception with which others may be cancelled too. If its body has ended, cancels the
/// coroutines that it waits for instead.
pub fn cancel(rt: &'static Runtime, co: CoroutineId, reason: &Object) {
    let all = rt.core.borrow().cancel_targets(co);
    for co in all {
        cancel_with(rt, co, cancellation::for_each(rt, reason, rt.object(co)));
    }
}

/// Like [`cancel`], for a coroutine whose body has not ended, because a sibling has failed.
pub fn cancel_after_failure(rt: &'static Runtime, co: CoroutineId, reason: &Object) {
    let own = cancellation::for_each(rt, reason, rt.object(co));
    let answer = rt.core.borrow_mut().cancel_after_failure(co, ManuallyDrop::new(own));
    answered(rt, co, answer);
}

/// Cancels a coroutine with an exception of user code.
pub fn cancel_by_user_code(rt: &'static Runtime, this: &CoroutineObject, reason: &Object) {
    let co = this.co.get();
    if rt.core.borrow().state(co) == State::Ending {
        cancellation::for_several(rt, reason);
        cancel(rt, co, reason);
    } else {
        cancel_with(rt, co, cancellation::for_one(rt, reason, this));
    }
}

/// Cancels one coroutine with an exception that no other one gets.
fn cancel_with(rt: &'static Runtime, co: CoroutineId, reason: Owned<Object>) {
    let answer = rt.core.borrow_mut().cancel(co, ManuallyDrop::new(reason));
    answered(rt, co, answer);
}

fn answered(rt: &'static Runtime, co: CoroutineId, (answer, reason): (sched::Cancel, Option<Reason>)) {
    if answer == sched::Cancel::Accepted {
        moments::cancelled(rt, co);
    }
    drop(reason.map(ManuallyDrop::into_inner));
}

/// Like [`cancel`], but also where cancellation is deferred, and in place of a cancellation that is pending.
pub fn cancel_by_force(rt: &'static Runtime, co: CoroutineId, reason: &Object) {
    let own = cancellation::for_each(rt, reason, rt.object(co));
    let own_address = own.address();
    let earlier = rt.core.borrow_mut().cancel_by_force(co, ManuallyDrop::new(own)).map(ManuallyDrop::into_inner);
    if earlier.as_ref().is_none_or(|earlier| earlier.address() != own_address) {
        moments::cancelled(rt, co);
    }
    drop(earlier);
}

/// Returns `true` if the coroutine has failed and has not been awaited.
pub fn is_unseen_failure(this: &Coroutine) -> bool {
    let Some(rt) = existing() else { return false };
    let co = this.co.get();
    if co == NO_SLOT || !rt.is_object(co, this) {
        return false; // at the end of the request
    }
    rt.core.borrow().has_unseen_failure(co)
}

/// Releases the slot of a coroutine whose object is being freed. A failure that has not been awaited becomes unhandled.
pub fn object_dies(this: &CoroutineObject) {
    let Some(rt) = existing() else { return };
    let co = this.co.get();
    if !rt.is_object(co, this) {
        return; // at the end of the request
    }
    let is_unseen = {
        let core = rt.core.borrow();
        if core.state(co) != State::Done {
            return; // as above
        }
        core.has_unseen_failure(co)
    };
    if is_unseen && let Some(failure) = this.exception.get() {
        failure::dies_unawaited(rt, this, failure);
        if !rt.is_object(co, this) {
            return; // another object has taken its place
        }
    }
    moments::object_dies(rt, this);
    rt.forget_object(co);
    let left = rt.core.borrow_mut().release(co);
    drop(left.map(ManuallyDrop::into_inner));
}
