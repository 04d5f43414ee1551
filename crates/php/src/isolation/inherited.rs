//! The state that a new coroutine inherits from its spawner.

use super::instance::Instance;
use super::sapi::{self, Sapi};
use super::verdicts::{Own, executor};
use spindle_php_sys as sys;
use spindle_zend::{Collected, Value, ValueCell, engine};
use std::cell::Cell;
use std::mem;
use std::ptr::null;
use std::rc::Rc;

/// The state that a new coroutine inherits from its spawner.
pub struct Inherited {
    error_reporting: Cell<i32>,
    handler_mask: Cell<i32>,
    handler: ValueCell,
    /// The native PHP request, which it keeps until it ends.
    sapi: Cell<Option<Rc<Sapi>>>,
}

/// How the running code has errors handled: its error handler, and `error_reporting`.
#[derive(Clone)]
pub struct ErrorHandling {
    error_reporting: i32,
    mask: i32,
    handler: Value,
}

impl ErrorHandling {
    /// Returns that of the running code.
    pub fn capture() -> ErrorHandling {
        ErrorHandling {
            error_reporting: error_reporting(),
            mask: executor::user_error_handler_error_reporting().get(),
            handler: error_handler().get(),
        }
    }

    /// Makes it that of the running coroutine.
    pub fn install(&self) {
        executor::error_reporting().set(self.error_reporting);
        executor::user_error_handler_error_reporting().set(self.mask);
        drop(error_handler().replace(self.handler.clone()));
    }

    /// Runs code with it.
    pub fn during<R>(&self, run: impl FnOnce() -> R) -> R {
        let before = (executor::error_reporting().get(), executor::user_error_handler_error_reporting().get());
        let handler_before = error_handler().replace(self.handler.clone());
        executor::error_reporting().set(self.error_reporting);
        executor::user_error_handler_error_reporting().set(self.mask);
        let result = run();
        executor::error_reporting().set(before.0);
        executor::user_error_handler_error_reporting().set(before.1);
        drop(error_handler().replace(handler_before));
        result
    }

    /// Returns the handler.
    pub fn into_value(self) -> Value {
        self.handler
    }

    /// Adds the handler for the cycle collector.
    pub fn collect(&self, values: &mut Collected) {
        values.value(&self.handler);
    }
}

/// `EG(error_reporting)` below `@`: fatal errors only.
const SILENCED: i32 = (sys::E_ERROR
    | sys::E_CORE_ERROR
    | sys::E_COMPILE_ERROR
    | sys::E_USER_ERROR
    | sys::E_RECOVERABLE_ERROR
    | sys::E_PARSE) as i32;

/// Returns `EG(error_reporting)`, or its value outside of the `@` that is in force.
pub fn error_reporting() -> i32 {
    outside_of_silence(executor::error_reporting().get())
}

/// Returns `true` if the running code has warnings reported: not under `@`.
pub fn reports_warnings() -> bool {
    executor::error_reporting().get() & sys::E_WARNING as i32 != 0
}

fn outside_of_silence(level: i32) -> i32 {
    match level {
        SILENCED => engine::number_setting(c"error_reporting") as i32,
        level => level,
    }
}

/// Returns `EG(user_error_handler)`, which is undefined when there is no handler.
#[inline(always)]
pub(super) fn error_handler() -> &'static ValueCell {
    // SAFETY: a valid value, which is the running coroutine's.
    unsafe { ValueCell::borrow(executor::user_error_handler()) }
}

impl Inherited {
    /// Returns an empty state.
    pub const fn new() -> Inherited {
        Inherited {
            error_reporting: Cell::new(0),
            handler_mask: Cell::new(0),
            handler: ValueCell::new(),
            sapi: Cell::new(None),
        }
    }

    /// Copies what a coroutine spawned by the running one inherits.
    #[inline(always)]
    pub fn capture(&self) {
        self.error_reporting.set(error_reporting());
        self.handler_mask.set(executor::user_error_handler_error_reporting().get());
        self.handler.set(error_handler().get());
        if !sapi::live_pointer().is_null() {
            self.sapi.set(sapi::share_live());
        }
    }

    /// Makes this the request of a coroutine that has not begun.
    pub fn set_sapi(&self, sapi: Rc<Sapi>) {
        self.sapi.set(Some(sapi));
    }

    /// Returns a pointer to the request; null for that of the process.
    #[inline(always)]
    pub(super) fn sapi(&self) -> *const Sapi {
        // SAFETY: nothing else uses the place meanwhile.
        unsafe { (*self.sapi.as_ptr()).as_ref() }.map_or(null(), Rc::as_ptr)
    }

    /// Returns the instance of a coroutine that has not begun; `None` for the script's.
    pub fn instance(&self) -> Option<Instance> {
        // SAFETY: null, or the request, which this holds.
        unsafe { self.sapi().as_ref() }.and_then(Sapi::instance)
    }

    /// Releases the values of the request if no other coroutine holds it.
    #[inline(always)]
    pub fn release_sapi(&self) {
        if !self.sapi().is_null() {
            let sapi = self.sapi.take();
            if let Some(sapi) = &sapi {
                sapi.release();
            }
            self.sapi.set(sapi);
        }
    }

    /// Takes the request of a coroutine that ends.
    #[inline(always)]
    pub fn take_sapi(&self) -> Option<Rc<Sapi>> {
        self.sapi.take()
    }

    /// Copies what a coroutine spawned by a suspended one inherits.
    pub(super) fn capture_from(&self, own: &Own) {
        let own = &own.executor;
        self.error_reporting.set(outside_of_silence(own.error_reporting));
        self.handler_mask.set(own.user_error_handler_error_reporting);
        // SAFETY: a valid value, undefined when there is no handler.
        self.handler.set(unsafe { Value::borrow(&own.user_error_handler) }.cloned().unwrap_or_default());
    }

    /// Makes it the state of the running coroutine, which begins.
    #[inline(always)]
    pub(super) fn hand_on(&self) {
        executor::error_reporting().set(self.error_reporting.get());
        executor::user_error_handler_error_reporting().set(self.handler_mask.get());
        // The present value belongs to the coroutine that ran before, which has a copy of its bits.
        mem::forget(error_handler().replace(self.handler.take()));
    }

    /// Releases what it holds.
    pub fn clear(&self) {
        drop(self.handler.take());
        drop(self.sapi.take());
    }

    /// Adds the handler for the cycle collector.
    pub fn collect(&self, values: &mut Collected) {
        values.cell(&self.handler);
    }
}
