//! The classes that the stub declares, registered at module start.

#![allow(dead_code, reason = "callers still name them in spindle_ce")]

use crate::c;
use spindle_zend::Class;

macro_rules! classes {
    ($($(#[$attribute:meta])* $name:ident)*) => {$(
        $(#[$attribute])*
        ///
        /// # Panics
        /// Before module start.
        #[inline(always)]
        pub fn $name() -> Class {
            let class = c::spindle_ce.get().$name;
            // SAFETY: null, or a class that lasts as long as the process.
            unsafe { Class::from_raw(class) }.expect("registered at module start")
        }
    )*};
}

classes! {
    /// Returns `Async\\Awaitable`.
    awaitable
    /// Returns `Async\\Coroutine`.
    coroutine
    /// Returns `Async\\Timeout`.
    timeout
    /// Returns `Async\\Lifetime`.
    lifetime
    /// Returns `Async\\Scope`.
    scope
    /// Returns `Async\\BoundedScope`.
    bounded_scope
    /// Returns `Async\\CoroutineGroup`.
    group
    /// Returns `Async\\Context`.
    context
    /// Returns `Async\\Key`.
    key
    /// Returns `Async\\Settled`.
    settled
    /// Returns `Async\\AsyncException`.
    async_exception
    /// Returns `Async\\AwaitCancelledException`.
    await_cancelled
    /// Returns `Async\\TimeoutException`.
    timeout_exception
    /// Returns `Async\\ContextException`.
    context_exception
    /// Returns `Async\\ChannelException`.
    channel_exception
    /// Returns `Async\\CancellationException`.
    cancellation
    /// Returns `Async\\CompositeException`.
    composite
    /// Returns `Async\\DeadlockError`.
    deadlock
    /// Returns `Async\\Syntax\\Call`.
    call
}
