//! Fiber contexts, by which the engine's fibers and their observers identify a stack of calls.

use crate::{OwnedCell, Shared, Str, declare, globals, sys, zeroed};
use std::{cell::Cell, ptr};

declare! {
    // The observer is a function of this module.
    safe fn zend_observer_fiber_destroy_notify(context: &FiberContext);
    safe fn zend_observer_fiber_switch_register(observer: SwitchObserver);
}

globals::cells! {
    /// Returns the cell of the context of the running code.
    current_context: Cell<Option<&'static FiberContext>> = current_fiber_context;
}

/// A fiber context of the engine.
pub type FiberContext = Shared<sys::zend_fiber_context>;

/// The state of a context (`ZEND_FIBER_STATUS_…`).
pub type Status = sys::zend_fiber_status;

impl Shared<sys::zend_fiber_context> {
    /// Returns a context in which nothing runs yet.
    pub const fn new() -> FiberContext {
        Shared::wrapping(zeroed())
    }

    /// Returns the context of the running code, if a request has begun.
    #[inline(always)]
    pub fn current() -> Option<&'static FiberContext> {
        current_context().get()
    }

    /// Reinitialises it as a context in which nothing has run. `kind` is an address that identifies the kind of
    /// context.
    #[inline(always)]
    pub fn renew(&self, kind: &'static u8) {
        self.change(|context| {
            context.reserved = [ptr::null_mut(); sys::ZEND_MAX_RESERVED_RESOURCES as usize]; // the data of observers
            context.kind = ptr::from_ref(kind).cast_mut().cast();
            context.status = sys::ZEND_FIBER_STATUS_INIT;
        });
    }

    /// Sets its status.
    #[inline(always)]
    pub fn set_status(&self, status: Status) {
        self.change(|context| context.status = status);
    }

    /// Calls `change`, which must not run other code.
    #[inline(always)]
    fn change(&self, change: impl FnOnce(&mut sys::zend_fiber_context)) {
        // SAFETY: its own fields, which are borrowed by nothing else meanwhile.
        change(unsafe { &mut *self.as_raw() });
    }

    /// Announces to observers that it is new and runs in place of the running one, as a fiber that is started at this
    /// position.
    #[inline(always)]
    pub fn announce_begin(&self, file: &OwnedCell<Str>, line: u32) {
        // SAFETY: null, or a string that is held.
        unsafe { sys::spindle_fiber_begins(self.as_raw(), file.as_ptr().cast(), line) };
    }

    /// Announces to observers that it runs in place of the running one.
    #[inline(always)]
    pub fn announce_switch(&self) {
        let from = globals::executor(|eg| eg.current_fiber_context);
        // SAFETY: two contexts that last: code runs in the first one.
        unsafe { sys::zend_observer_fiber_switch_notify(from, self.as_raw()) };
        self.set_status(sys::ZEND_FIBER_STATUS_RUNNING);
    }

    /// Announces to observers that it is destroyed.
    #[inline(always)]
    pub fn announce_end(&self) {
        zend_observer_fiber_destroy_notify(self);
    }
}

/// A function that is called when the first context is about to be suspended, and the second one to be resumed or started.
pub type SwitchObserver = extern "C" fn(&FiberContext, &FiberContext);

/// Registers a function that is called at each switch between contexts, for the rest of the process.
pub fn observe(observer: SwitchObserver) {
    zend_observer_fiber_switch_register(observer);
}

impl Default for FiberContext {
    fn default() -> FiberContext {
        FiberContext::new()
    }
}
