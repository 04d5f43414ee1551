//! Cancellations of coroutines that are in C code: its calls fail until it returns to PHP code, where the exception is
//! thrown.

use crate::c;
use crate::runtime::{
    ctx::{Ctx, Failing},
    scheduler::{self, Runtime},
};
use spindle_php_sys as sys;
use spindle_zend::{Frame, Function, Object, Owned, engine};

/// Enables the check after each call until the running coroutine has yielded.
pub fn check_for_yield() {
    c::spindle_check_after.set(1);
}

/// Enables or disables the check after each call, as the running coroutine needs it for a cancellation.
#[inline(always)]
pub fn refresh_checks(ctx: &Ctx) {
    c::spindle_check_after.set(u32::from(ctx.failing.get() != Failing::No));
}

/// Returns `true` if the calls of C code in the running coroutine fail because of an exception that is yet to be
/// thrown.
#[inline(always)]
pub fn is_pending(ctx: &Ctx) -> bool {
    ctx.failing.get() == Failing::Throw
}

/// Takes the exception for which the calls of C code in the running coroutine fail, after which they work again.
pub fn take_exception(ctx: &Ctx) -> Option<Owned<Object>> {
    if !is_pending(ctx) {
        return None;
    }
    let exception = end(ctx);
    refresh_checks(ctx);
    exception
}

/// Returns the frame if it is an internal function's.
pub fn internal(frame: Option<Frame>) -> Option<Frame> {
    frame.filter(|frame| frame.function().is_some_and(Function::is_internal))
}

/// Returns `true` if this frame was called by C code whose calls are made to fail.
pub fn is_inside_failing(ctx: &Ctx, frame: Option<Frame>) -> bool {
    let (Some(frame), Some(failing)) = (frame, ctx.failing_in.get()) else { return false };
    ctx.failing.get() != Failing::No && frame.and_callers().any(|caller| caller == failing)
}

/// Makes the calls of C code in the running coroutine fail because of this cancellation, which is thrown when the C
/// code returns to PHP code.
pub fn throw_on_return(rt: &'static Runtime, exception: Owned<Object>) {
    let ctx = rt.context();
    drop(end(ctx));
    ctx.failing.set(Failing::Throw);
    ctx.cancellation.set(Some(exception));
    ctx.failing_in.set(internal(Frame::current()));
    if ctx.failing_in.get().is_some() {
        // Notices such as "Read of 8192 bytes failed with errno=125" only state the effect of the cancellation.
        ctx.silenced.set(engine::silence(sys::E_NOTICE as i32));
    }
    refresh_checks(ctx);
    // The C code may not be in a function that is on the PHP stack (a destructor of the engine).
    engine::request_interrupt();
}

/// Makes the calls of C code in the coroutine of this context fail until this frame returns, because its handle is
/// being closed. Returns `false` if they fail already.
pub fn fail_quietly(ctx: &Ctx, frame: Option<Frame>) -> bool {
    let is_new = ctx.failing.get() == Failing::No;
    if is_new {
        ctx.failing.set(Failing::Quietly);
        ctx.failing_in.set(frame);
    }
    is_new
}

/// Lets the calls of C code in the running coroutine work during `call`.
pub fn lifted<R>(call: impl FnOnce() -> R) -> R {
    let Some(rt) = scheduler::existing() else { return call() };
    let ctx = rt.context();
    let failing = ctx.failing.replace(Failing::No);
    let result = call();
    if failing != Failing::No {
        ctx.failing.set(failing);
    }
    result
}

/// Lets the calls of C code in the running coroutine work again. Returns the exception that is to be thrown.
pub fn end(ctx: &Ctx) -> Option<Owned<Object>> {
    engine::unsilence(ctx.silenced.take());
    ctx.given_up.set(-1);
    ctx.failing.set(Failing::No);
    ctx.cancellation.take()
}
