//! Hooks into the engine, and what the interposed libc calls need of the runtime.

pub mod hooks;
pub mod host_impl;
pub mod interposition;
pub mod linking;
pub mod loading;
pub mod no_throw;
pub mod output;
pub mod stand_ins;
pub mod syntax;

use crate::runtime::{ctx::Ctx, scheduler::Runtime};
use spindle_zend::exception;

/// Calls `f` with the context of the running coroutine. `f` neither runs PHP code nor switches.
#[inline(always)]
fn with_context<R>(rt: &'static Runtime, f: impl FnOnce(&mut Ctx) -> R) -> R {
    // SAFETY: the running context is alive, and no other code looks at it meanwhile.
    f(unsafe { &mut *rt.context() })
}

/// Throws the cancellation that waits for the running coroutine, and returns `true` if there is one.
fn throw_cancellation(rt: &'static Runtime) -> bool {
    rt.take_cancellation().map(exception::throw).is_some()
}
