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

use crate::runtime::scheduler::Runtime;
use spindle_zend::{Object, exception};

/// Throws the cancellation that waits for the running coroutine, and returns `true` if there is one.
fn throw_cancellation(rt: &'static Runtime) -> bool {
    let reason = rt.core.borrow_mut().take_cancellation();
    let Some(reason) = reason else { return false };
    // SAFETY: the core's reference, which is passed on.
    let reason = unsafe { Object::own(reason) };
    let _ = reason.map(exception::throw);
    true
}
