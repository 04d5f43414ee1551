//! What observers of fibers (debuggers, profilers, tracers) see of coroutines: the same, in the same order, as
//! `zend_fiber_switch_context` shows them of fibers. A coroutine's context is announced as new, then each switch before
//! the state of the one that is left is stored, and the end of a context after the switch that leaves it for good.
//!
//! The engine's lists of observers cannot be looked at from outside, so it is always asked: its test whether there are
//! any is the one that is paid for.

use crate::runtime::{coroutine::Coroutine, ctx::Ctx};
use spindle_php_sys as sys;
use spindle_zend::FiberContext;

/// The context goes on in which the coroutine `to`, which was left, runs: its own, or that of a fiber in it. The engine's state
/// is still that of the context that runs.
#[inline(always)]
pub fn switch(to: &Ctx) {
    if let Some(fiber) = to.travelling.fiber() {
        // Only now: meanwhile, the destructor of a fiber that is marked as suspended would resume it.
        fiber.set_status(sys::ZEND_FIBER_STATUS_SUSPENDED);
        fiber.announce_switch();
    }
}

/// Returns a new context for `this`, on the stack of `ctx`, on which no coroutine runs: it goes on in place of the one that runs.
/// As for a fiber that is started where the coroutine was spawned: observers ask for that place. The engine's state is still
/// that of the context that runs.
#[inline(always)]
pub fn begin<'a>(ctx: &'a Ctx, this: &Coroutine) -> &'a FiberContext {
    static KIND: u8 = 0;
    let fiber = ctx.next_fiber();
    fiber.renew(&KIND);
    this.spawned_at.announce_begin(fiber);
    fiber
}

/// The coroutine that runs has ended, or is never resumed. Returns its context, which is to be destroyed after the switch to
/// another.
#[inline(always)]
pub fn end() -> Option<&'static FiberContext> {
    let fiber = FiberContext::current();
    if let Some(fiber) = fiber {
        fiber.set_status(sys::ZEND_FIBER_STATUS_DEAD);
    }
    fiber
}
