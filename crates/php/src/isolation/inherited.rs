//! What a new coroutine inherits of its spawner.

use super::verdicts::{Own, executor};
use spindle_php_sys as sys;
use spindle_zend::{Collected, Value, engine};
use std::mem;

/// What a new coroutine inherits of its spawner.
pub struct Inherited {
    error_reporting: i32,
    handler_mask: i32,
    handler: Value,
}

/// `EG(error_reporting)` below `@`: fatal errors only.
const SILENCED: i32 = (sys::E_ERROR
    | sys::E_CORE_ERROR
    | sys::E_COMPILE_ERROR
    | sys::E_USER_ERROR
    | sys::E_RECOVERABLE_ERROR
    | sys::E_PARSE) as i32;

/// Returns `EG(error_reporting)`, or what it is outside of the `@` that is in force.
pub fn error_reporting() -> i32 {
    outside_of_silence(executor::error_reporting().get())
}

fn outside_of_silence(level: i32) -> i32 {
    match level {
        SILENCED => engine::number_setting(c"error_reporting") as i32,
        level => level,
    }
}

impl Inherited {
    /// Nothing.
    pub const NONE: Inherited = Inherited { error_reporting: 0, handler_mask: 0, handler: Value::UNDEF };

    /// Returns what the running coroutine hands down.
    pub fn capture() -> Inherited {
        let mask = executor::user_error_handler_error_reporting().get();
        Inherited::of(executor::error_reporting().get(), mask, executor::user_error_handler().as_ptr())
    }

    /// Returns what a coroutine that was left hands down.
    pub(super) fn from(own: &Own) -> Inherited {
        let own = &own.executor;
        Inherited::of(own.error_reporting, own.user_error_handler_error_reporting, &own.user_error_handler)
    }

    #[inline(always)]
    fn of(error_reporting: i32, handler_mask: i32, handler: *const sys::zval) -> Inherited {
        // SAFETY: a valid value, undefined when there is no handler.
        let handler = unsafe { Value::borrow(handler) }.filter(|handler| !handler.is_undef());
        let error_reporting = outside_of_silence(error_reporting);
        Inherited { error_reporting, handler_mask, handler: handler.cloned().unwrap_or_default() }
    }

    /// Makes it the state of the running coroutine, which begins.
    #[inline(always)]
    pub(super) fn hand_on(&mut self) {
        executor::error_reporting().set(self.error_reporting);
        executor::user_error_handler_error_reporting().set(self.handler_mask);
        executor::user_error_handler().set(mem::take(&mut self.handler).into_raw());
    }

    /// Tells the cycle collector of the handler.
    pub fn collect(&self, values: &mut Collected) {
        values.value(&self.handler);
    }
}
