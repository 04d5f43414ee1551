//! What observers of fibers (debuggers, profilers, tracers) see of coroutines: the same, in the same order, as
//! `zend_fiber_switch_context` shows them of fibers. A coroutine's context is announced as new, then each switch before
//! the state of the one that is left is stored, and the end of a context after the switch that leaves it for good.
//!
//! The engine's lists of observers cannot be looked at from outside, so it is always asked: its test whether there are
//! any is the one that is paid for.

use crate::runtime::{coroutine::Coroutine, ctx::Ctx};
use spindle_php_sys as sys;
use std::ptr::{addr_of_mut, null_mut};

/// The context goes on in which the coroutine `to` was left: its own, or that of a fiber in it.
///
/// # Safety
/// The engine's state is still that of the context that runs; `to` was left.
#[inline(always)]
pub unsafe fn switch(to: *mut Ctx) {
    // SAFETY: the caller's promise.
    unsafe {
        let fiber = (*to).travelling.fiber();
        // Only now: meanwhile, the destructor of a fiber that is marked as suspended would resume it.
        (*fiber).status = sys::ZEND_FIBER_STATUS_SUSPENDED;
        notify(fiber);
    }
}

#[inline(always)]
unsafe fn notify(to: *mut sys::zend_fiber_context) {
    // SAFETY: two live contexts; the one that runs is the engine's current one.
    unsafe {
        sys::zend_observer_fiber_switch_notify(sys::executor_globals.current_fiber_context, to);
        (*to).status = sys::ZEND_FIBER_STATUS_RUNNING;
    }
}

/// A new context for `this`, on the stack of `ctx`, which goes on in place of the one that runs. As for a fiber that is
/// started where the coroutine was spawned: observers ask for that place.
///
/// # Safety
/// The engine's state is still that of the context that runs; no coroutine runs on the stack of `ctx`.
#[inline(always)]
pub unsafe fn begin(ctx: *mut Ctx, this: &Coroutine) -> *mut sys::zend_fiber_context {
    static KIND: u8 = 0;
    // SAFETY: the caller's promise. The context that is written is that of the last but one coroutine on this stack: the
    // last one's may be the running one. What was spawned has its file, if there is one, and the frame is looked at only.
    unsafe {
        let eg = addr_of_mut!(sys::executor_globals);
        (*ctx).life ^= 1;
        let fiber = addr_of_mut!((*ctx).fibers[usize::from((*ctx).life)]);
        (*fiber).reserved = [null_mut(); sys::ZEND_MAX_RESERVED_RESOURCES as usize]; // what observers keep
        (*fiber).kind = (&raw const KIND).cast_mut().cast();
        (*fiber).status = sys::ZEND_FIBER_STATUS_INIT;
        let place = sys::spindle_place(this.spawned_at.raw_file(), this.spawned_at.line());
        let running = std::mem::replace(&mut (*eg).current_execute_data, place);
        sys::zend_observer_fiber_init_notify(fiber);
        notify(fiber);
        (*eg).current_execute_data = running;
        fiber
    }
}

/// The coroutine that runs has ended, or is never resumed: the context that is to be destroyed, after the switch to another.
#[inline(always)]
pub fn end() -> *mut sys::zend_fiber_context {
    // SAFETY: what runs in a context has it as the engine's current one.
    unsafe {
        let fiber = sys::executor_globals.current_fiber_context;
        (*fiber).status = sys::ZEND_FIBER_STATUS_DEAD;
        fiber
    }
}
