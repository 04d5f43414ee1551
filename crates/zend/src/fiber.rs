//! Contexts of fibers: what the engine's fibers, and the observers of them, know a stack of calls by.

use crate::{OwnedCell, Shared, Str, c, globals, sys, zeroed};
use std::ptr;

/// A context of the engine's, whoever switches to it.
pub type FiberContext = Shared<sys::zend_fiber_context>;

/// The state of a context (`ZEND_FIBER_STATUS_…`).
pub type Status = sys::zend_fiber_status;

impl Shared<sys::zend_fiber_context> {
    /// Returns one in which nothing runs yet.
    pub const fn new() -> FiberContext {
        Shared::wrapping(zeroed())
    }

    /// Returns that of the code that runs, if a request has begun.
    #[inline(always)]
    pub fn current() -> Option<&'static FiberContext> {
        globals::current_context().get()
    }

    /// Makes it one of this kind, an address that tells kinds apart, in which nothing has run.
    #[inline(always)]
    pub fn renew(&self, kind: &'static u8) {
        self.change(|context| {
            context.reserved = [ptr::null_mut(); sys::ZEND_MAX_RESERVED_RESOURCES as usize]; // what observers keep
            context.kind = ptr::from_ref(kind).cast_mut().cast();
            context.status = sys::ZEND_FIBER_STATUS_INIT;
        });
    }

    /// Sets its status.
    #[inline(always)]
    pub fn set_status(&self, status: Status) {
        self.change(|context| context.status = status);
    }

    /// Calls `change`, which runs no other code than its own.
    #[inline(always)]
    fn change(&self, change: impl FnOnce(&mut sys::zend_fiber_context)) {
        // SAFETY: its own fields, which are borrowed by nothing else meanwhile.
        change(unsafe { &mut *self.as_raw() });
    }

    /// Tells observers that it is new, and goes on in place of the one that runs, as a fiber that is started at this place.
    #[inline(always)]
    pub fn announce_begin(&self, file: &OwnedCell<Str>, line: u32) {
        // SAFETY: null, or a string that is held.
        unsafe { sys::spindle_fiber_begins(self.as_raw(), file.as_ptr().cast(), line) };
    }

    /// Tells observers that it goes on in place of the one that runs.
    #[inline(always)]
    pub fn announce_switch(&self) {
        let from = globals::executor(|eg| eg.current_fiber_context);
        // SAFETY: two contexts that last: code runs in the first one.
        unsafe { sys::zend_observer_fiber_switch_notify(from, self.as_raw()) };
        self.set_status(sys::ZEND_FIBER_STATUS_RUNNING);
    }

    /// Tells observers that it is destroyed.
    #[inline(always)]
    pub fn announce_end(&self) {
        c::zend_observer_fiber_destroy_notify(self);
    }
}

impl Default for FiberContext {
    fn default() -> FiberContext {
        FiberContext::new()
    }
}
