//! A cancellation that reaches C code: its calls fail until it returns to PHP code, where the exception is thrown.

use crate::c;
use crate::runtime::{
    ctx::{Ctx, Failing},
    scheduler::Runtime,
};
use spindle_php_sys as sys;
use spindle_zend::{Frame, Function, Object, Owned, engine};

/// Checks after calls are those of the running coroutine.
#[inline(always)]
pub fn refresh_checks(ctx: &Ctx) {
    c::spindle_check_after.set(u32::from(ctx.failing.get() != Failing::No));
}

/// Returns `true` if C code of the running coroutine is being made to fail for an exception.
#[inline(always)]
pub fn is_pending(ctx: &Ctx) -> bool {
    ctx.failing.get() == Failing::Throw
}

/// Takes the exception that C code of the running coroutine is being made to fail for, and ends that.
pub fn take_exception(ctx: &Ctx) -> Option<Owned<Object>> {
    if !is_pending(ctx) {
        return None;
    }
    let exception = end(ctx);
    refresh_checks(ctx);
    exception
}

/// Returns the frame, if it is an internal function's.
pub fn internal(frame: Option<Frame>) -> Option<Frame> {
    frame.filter(|frame| frame.function().is_some_and(Function::is_internal))
}

/// Returns `true` if C code that is being made to fail has called this frame, and has not returned yet.
pub fn is_inside_failing(ctx: &Ctx, frame: Option<Frame>) -> bool {
    let (Some(frame), Some(failing)) = (frame, ctx.failing_in.get()) else { return false };
    ctx.failing.get() != Failing::No && frame.and_callers().any(|caller| caller == failing)
}

/// C code of the running coroutine has failed because of this cancellation: it is thrown when the call returns.
pub fn throw_on_return(rt: &'static Runtime, exception: Owned<Object>) {
    let ctx = rt.context();
    drop(end(ctx));
    ctx.failing.set(Failing::Throw);
    ctx.cancellation.set(Some(exception));
    ctx.failing_in.set(internal(Frame::current()));
    if ctx.failing_in.get().is_some() {
        // "Read of 8192 bytes failed with errno=125": true, and no news to who has cancelled it.
        ctx.silenced.set(engine::silence(sys::E_NOTICE as i32));
    }
    refresh_checks(ctx);
    // The C code may have no function of its own on the PHP stack (a destructor of the engine).
    engine::request_interrupt();
}

/// C code of the coroutine of this context fails until this frame returns, because its handle is being closed. Returns `false` if
/// some already does.
pub fn fail_quietly(ctx: &Ctx, frame: Option<Frame>) -> bool {
    let is_new = ctx.failing.get() == Failing::No;
    if is_new {
        ctx.failing.set(Failing::Quietly);
        ctx.failing_in.set(frame);
    }
    is_new
}

/// Ends the time in which C code of the running coroutine is made to fail, and returns the exception to throw for that.
pub fn end(ctx: &Ctx) -> Option<Owned<Object>> {
    engine::unsilence(ctx.silenced.take());
    ctx.given_up.set(-1);
    ctx.failing.set(Failing::No);
    ctx.cancellation.take()
}
