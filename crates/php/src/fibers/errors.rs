//! The errors of fibers, and what becomes of those that no code gets.

use crate::runtime::{failure, life, scheduler::Runtime};
use spindle_php_sys as sys;
use spindle_zend::{Class, Object, Owned, Thrown, exception};

/// Throws a `FiberError`.
pub fn error(text: &str) -> Thrown {
    exception::throw_new(error_class(), text)
}

/// Returns `FiberError`.
pub fn error_class() -> Class {
    // SAFETY: set at module start.
    class(unsafe { sys::spindle_fiber_error })
}

/// Returns a class of fibers.
pub fn class(raw: *mut sys::zend_class_entry) -> Class {
    // SAFETY: a class that was registered at module start and lasts as long as the process.
    unsafe { Class::from_raw(raw) }.expect("registered at module start")
}

/// Returns a new `FiberExit`, because of `cause` if there is one.
pub fn fiber_exit(text: &str, cause: Option<Owned<Object>>) -> Owned<Object> {
    // SAFETY: set at module start.
    let made = exception::new(class(unsafe { sys::spindle_fiber_exit }), text);
    if let Some(cause) = cause {
        exception::set_last_previous(&made, cause);
    }
    made
}

/// Reports what a fiber has thrown when no code gets it. A cancellation ends a fiber silently, as it does a coroutine.
pub fn report_lost(rt: &'static Runtime, failure: Option<Owned<Object>>) {
    if let Some(failure) = failure.filter(|failure| !life::is_cancellation(failure)) {
        exception::put_aside(|| failure::unhandled(rt, failure, None));
    }
}
