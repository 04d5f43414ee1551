//! Announces coroutines to observers of fibers (debuggers, profilers, tracers) as `zend_fiber_switch_context` announces
//! fibers, in the same order: a new context when a coroutine starts, each switch before the state of the suspended
//! coroutine is saved, and the end of a context after the last switch away from it.
//!
//! The engine's lists of observers are not accessible, so its functions are always called; with no observers the cost
//! is their check for an empty list.

use crate::runtime::{coroutine::Coroutine, ctx::Ctx};
use spindle_php_sys as sys;
use spindle_zend::FiberContext;

/// Announces the switch to the suspended coroutine `to`: to its own context, or to that of a fiber in it. The engine's
/// state is still that of the running context.
#[inline(always)]
pub fn switch(to: &Ctx) {
    if let Some(fiber) = to.travelling.fiber() {
        // Not earlier: the destructor of a fiber that is marked as suspended would resume it.
        fiber.set_status(sys::ZEND_FIBER_STATUS_SUSPENDED);
        fiber.announce_switch();
    }
}

/// Returns a new context for `this`, which starts on the stack of `ctx`, on which no coroutine runs. It is announced as
/// a fiber started where the coroutine was spawned, because observers ask for that place. The engine's state is still
/// that of the running context.
#[inline(always)]
pub fn begin<'a>(ctx: &'a Ctx, this: &Coroutine) -> &'a FiberContext {
    static KIND: u8 = 0;
    let fiber = ctx.next_fiber();
    fiber.renew(&KIND);
    this.spawned_at.announce_begin(fiber);
    fiber
}

/// Marks the running coroutine's context as dead, when the coroutine has ended or is never resumed. Returns the
/// context, which is to be destroyed after the switch to another one.
#[inline(always)]
pub fn end() -> Option<&'static FiberContext> {
    let fiber = FiberContext::current();
    if let Some(fiber) = fiber {
        fiber.set_status(sys::ZEND_FIBER_STATUS_DEAD);
    }
    fiber
}
