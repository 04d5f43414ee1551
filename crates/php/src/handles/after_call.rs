//! What follows a call: its coroutine yields, or gets the cancellation for which the C code was made to fail.

use crate::c;
use crate::handles::{
    classify, handle_locks,
    kinds::{CallKind, kind_of_calls},
    polling,
};
use crate::isolation::call_info::CallInfo;
use crate::runtime::{
    park::throw_cancellation,
    pending_cancel::{self, refresh_checks},
    scheduler::{self, Core, Runtime},
};
use spindle_zend::{Frame, Function, engine, exception};

/// Lets the trampoline of the running function yield after the call. Returns `false` if it has none that does.
pub fn yield_after_call() -> bool {
    let function = Frame::current().and_then(Frame::function).filter(|function| function.is_internal());
    let has_trampoline = function.and_then(CallInfo::of).is_some_and(|info| info.handler().is_some());
    if !has_trampoline || matches!(kind_of_calls(function), CallKind::Unswitched | CallKind::Fiber) {
        return false;
    }
    pending_cancel::check_for_yield();
    true
}

/// Returns `true` if a call is the whole body of its coroutine, whose end lets others run.
fn is_body(rt: &Runtime, frame: Frame) -> bool {
    let unnamed = |frame: Frame| frame.function().is_none_or(|function| function.name().is_none());
    rt.core.borrow().running() != Core::MAIN && frame.and_callers().skip(1).all(unnamed)
}

/// Yields after a call that has read files.
fn yield_for_files(rt: &'static Runtime, frame: Frame) {
    if exception::is_in_flight() || !rt.can_switch() || engine::is_writing() || is_body(rt, frame) {
        return; // after a later call
    }
    refresh_checks(rt.context());
    if rt.yield_if_ready() && !classify::is_in_exchange() {
        throw_cancellation(rt);
    }
}

/// The slow path of the trampoline after a call: yields, or throws the cancellation for which the C code was made to fail.
#[unsafe(no_mangle)]
pub(super) extern "C" fn spindle_after_call(frame: Frame) {
    let Some(rt) = scheduler::existing() else { return };
    let ctx = rt.context();
    if !ctx.failing.are_on() {
        return yield_for_files(rt, frame);
    }
    if !ctx.failing.is_frame(frame) && pending_cancel::is_inside_failing(ctx, Some(frame)) {
        refresh_checks(ctx);
        engine::request_interrupt(); // the call that fails may have no trampoline
        return;
    }
    let failing = pending_cancel::end(rt, ctx);
    ctx.failing.forget_retries();
    refresh_checks(ctx);
    let Some(cancellation) = failing else { return };
    let thrown = exception::take();
    if frame.function().is_some_and(starts_session) {
        c::spindle_sapi_abort_session();
    }
    match thrown {
        None => {}
        Some(exit) if exception::is_exit(&exit) => return drop(exception::put(Some(exit))),
        Some(own) => exception::set_last_previous(&cancellation, own),
    }
    let _ = exception::throw(cancellation);
}

/// Returns whether a function starts the session. It goes on where it could not get its lock, so what it has read then, or not, must not be
/// written at the end.
fn starts_session(function: Function) -> bool {
    function.is_internal() && function.name().is_some_and(|name| name.as_bytes() == b"session_start")
}

/// Yields after a number of writes to streams that did not wait. Throws a cancellation that arrives meanwhile.
#[unsafe(no_mangle)]
extern "C" fn spindle_poll_is_due() {
    if let Some(rt) = scheduler::existing()
        && !exception::is_in_flight()
        && rt.can_switch()
        && !classify::must_not_yield()
        && (!classify::is_in_memory(Frame::current()) || polling::has_made_many())
        && rt.maybe_yield()
    {
        throw_cancellation(rt);
    }
}

/// Throws, where the engine has interrupted PHP code, a cancellation that was not thrown at the return of a call.
pub fn throw_in_php_code(rt: &'static Runtime) {
    let ctx = rt.context();
    let frame = Frame::current();
    let in_php = frame.and_then(Frame::function).is_some_and(|function| !function.is_internal());
    if pending_cancel::is_inside_failing(ctx, frame) {
        return;
    }
    if in_php && !handle_locks::is_inside_marked() && !exception::is_in_flight() {
        let failing = pending_cancel::end(rt, ctx);
        refresh_checks(ctx);
        if let Some(cancellation) = failing {
            let _ = exception::throw(cancellation);
        }
    }
}
