//! Cancellations of coroutines that are in C code: its calls fail until it returns to PHP code, where the exception is thrown. The
//! core keeps the progress of a cancellation and its reason; this file has what that means for the calls of C code.

use crate::c;
use crate::runtime::{
    ctx::Ctx,
    scheduler::{self, Runtime},
};
use spindle_php_sys as sys;
use spindle_zend::{Frame, Function, Object, Owned, engine};
use std::cell::Cell;
use std::mem::ManuallyDrop;

/// How many parks of cancelled C code fail immediately. C code that ignores the error and repeats its call parks normally after
/// that, so that it does not use up the processor.
const MAX_RETRIES: u32 = 10_000;

/// Whether and where the calls of a coroutine's C code fail.
pub struct FailingCalls {
    why: Cell<Why>,
    /// The frame of the internal function that this C code belongs to, if any: PHP code called by it (an error handler) does not get
    /// the exception.
    inside: Cell<Option<Frame>>,
    /// The bits of `EG(error_reporting)` that are cleared meanwhile.
    silenced: Cell<i32>,
    /// How many parks have failed immediately.
    retries: Cell<u32>,
    /// The descriptor of the connection that was shut down because of the cancellation, or -1.
    shut_down: Cell<i32>,
}

/// Why calls of a coroutine's C code fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    /// They work.
    No,
    /// The coroutine is cancelled ([`spindle_core::sched::Core::fail_calls`]): the reason is thrown when the C code returns.
    Cancelled,
    /// Its handle is being closed.
    Closing,
}

impl FailingCalls {
    /// They work.
    pub const fn new() -> FailingCalls {
        FailingCalls {
            why: Cell::new(Why::No),
            inside: Cell::new(None),
            silenced: Cell::new(0),
            retries: Cell::new(0),
            shut_down: Cell::new(-1),
        }
    }

    /// Returns `true` if they fail.
    #[inline(always)]
    pub fn are_on(&self) -> bool {
        self.why.get() != Why::No
    }

    /// Returns `true` if they fail, and this park, which is counted, fails as well.
    pub fn fail_park(&self) -> bool {
        if !self.are_on() {
            return false;
        }
        self.retries.set(self.retries.get() + 1);
        self.retries.get() < MAX_RETRIES
    }

    /// Returns `true` if they fail in this frame, and not in a function that it has called.
    pub fn is_frame(&self, frame: Frame) -> bool {
        self.inside.get() == Some(frame)
    }

    /// Notes the descriptor of a connection that was shut down because of the cancellation.
    pub fn has_shut_down(&self, fd: i32) {
        self.shut_down.set(fd);
    }

    /// Returns `true` for the descriptor of that connection.
    pub fn is_shut_down(&self, fd: i32) -> bool {
        self.shut_down.get() == fd
    }

    /// Counts failed parks from 0 again: the C code has returned.
    pub fn forget_retries(&self) {
        self.retries.set(0);
    }
}

/// Enables the check after each call until the running coroutine has yielded.
pub fn check_for_yield() {
    c::spindle_check_after.set(1);
}

/// Enables or disables the check after each call, as the running coroutine needs it for a cancellation.
#[inline(always)]
pub fn refresh_checks(ctx: &Ctx) {
    c::spindle_check_after.set(u32::from(ctx.failing.are_on()));
}

/// Takes the cancellation because of which the running coroutine must not begin to wait, wherever it is: only in the core, or
/// already in its C code, whose calls then work again.
#[cold]
pub fn take(rt: &'static Runtime) -> Option<Owned<Object>> {
    let ctx = rt.context();
    if ctx.failing.why.get() == Why::Cancelled {
        let exception = end(rt, ctx);
        refresh_checks(ctx);
        return exception;
    }
    rt.core.borrow_mut().take_pending().map(ManuallyDrop::into_inner)
}

/// Takes the cancellation that the running coroutine, whose body has ended, has not received: it is thrown at its end instead.
pub fn take_undelivered(rt: &'static Runtime, ctx: &Ctx) -> Option<Owned<Object>> {
    if ctx.failing.why.get() == Why::Cancelled {
        let exception = end(rt, ctx);
        refresh_checks(ctx);
        return exception;
    }
    rt.discard_cancellation(ctx.co.get())
}

/// Returns the frame if it is an internal function's.
pub fn internal(frame: Option<Frame>) -> Option<Frame> {
    frame.filter(|frame| frame.function().is_some_and(Function::is_internal))
}

/// Returns `true` if this frame was called by C code whose calls are made to fail.
pub fn is_inside_failing(ctx: &Ctx, frame: Option<Frame>) -> bool {
    let (Some(frame), Some(failing)) = (frame, ctx.failing.inside.get()) else { return false };
    ctx.failing.are_on() && frame.and_callers().any(|caller| caller == failing)
}

/// Makes the calls of C code in the running coroutine fail if it is cancelled. The reason is thrown when the C code returns to PHP
/// code. Returns `false` if it is not, or defers that.
pub fn fail_calls(rt: &'static Runtime) -> bool {
    let ctx = rt.context();
    if !rt.core.borrow_mut().fail_calls() {
        return false;
    }
    work_again(ctx);
    ctx.failing.why.set(Why::Cancelled);
    ctx.failing.inside.set(internal(Frame::current()));
    if ctx.failing.inside.get().is_some() {
        // Notices such as "Read of 8192 bytes failed with errno=125" only state the effect of the cancellation.
        ctx.failing.silenced.set(engine::silence(sys::E_NOTICE as i32));
    }
    refresh_checks(ctx);
    // The C code may not be in a function that is on the PHP stack (a destructor of the engine).
    engine::request_interrupt();
    true
}

/// Makes the calls of C code in the coroutine of this context fail until this frame returns, because its handle is
/// being closed. Returns `false` if they fail already.
pub fn fail_quietly(ctx: &Ctx, frame: Option<Frame>) -> bool {
    let is_new = !ctx.failing.are_on();
    if is_new {
        ctx.failing.why.set(Why::Closing);
        ctx.failing.inside.set(frame);
    }
    is_new
}

/// Lets the calls of C code in the running coroutine work during `call`.
pub fn lifted<R>(call: impl FnOnce() -> R) -> R {
    let Some(rt) = scheduler::existing() else { return call() };
    let why = &rt.context().failing.why;
    let before = why.replace(Why::No);
    let result = call();
    if before != Why::No {
        why.set(before);
    }
    result
}

/// Lets the calls of C code in the running coroutine work again. Returns the exception that is to be thrown.
pub fn end(rt: &'static Runtime, ctx: &Ctx) -> Option<Owned<Object>> {
    if work_again(ctx) == Why::Cancelled {
        rt.core.borrow_mut().take_failing(ctx.co.get()).map(ManuallyDrop::into_inner)
    } else {
        None
    }
}

/// Returns why they have failed.
fn work_again(ctx: &Ctx) -> Why {
    engine::unsilence(ctx.failing.silenced.take());
    ctx.failing.shut_down.set(-1);
    ctx.failing.why.replace(Why::No)
}
