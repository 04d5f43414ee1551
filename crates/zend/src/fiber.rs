//! Contexts of fibers: what the engine's fibers, and the observers of them, know a stack of calls by.

use crate::{OwnedCell, Str, c, globals, sys, zeroed};
use std::{cell::UnsafeCell, ptr};

/// A context of the engine's, whoever switches to it.
#[repr(transparent)]
pub struct FiberContext(UnsafeCell<sys::zend_fiber_context>);

/// The state of a context (`ZEND_FIBER_STATUS_…`).
pub type Status = sys::zend_fiber_status;

impl FiberContext {
    /// Returns one in which nothing runs yet.
    pub const fn new() -> FiberContext {
        FiberContext(UnsafeCell::new(zeroed()))
    }

    /// Returns that of the code that runs, if a request has begun.
    #[inline(always)]
    pub fn current() -> Option<&'static FiberContext> {
        globals::current_context().get()
    }

    /// Returns the context at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or lasts as long as the borrow is used.
    #[inline(always)]
    pub unsafe fn borrow<'a>(context: *const sys::zend_fiber_context) -> Option<&'a FiberContext> {
        // SAFETY: the caller's promise.
        unsafe { context.cast::<FiberContext>().as_ref() }
    }

    /// Returns the engine's pointer.
    #[inline(always)]
    pub fn as_raw(&self) -> *mut sys::zend_fiber_context {
        self.0.get()
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
        change(unsafe { &mut *self.0.get() });
    }

    /// Tells observers that it is new, and goes on in place of the one that runs, as a fiber that is started at this place.
    #[inline(always)]
    pub fn announce_begin(&self, file: &OwnedCell<Str>, line: u32) {
        // SAFETY: null, or a string that is held.
        unsafe { sys::spindle_fiber_begins(self.0.get(), file.as_ptr().cast(), line) };
    }

    /// Tells observers that it goes on in place of the one that runs.
    #[inline(always)]
    pub fn announce_switch(&self) {
        let from = globals::executor(|eg| eg.current_fiber_context);
        // SAFETY: two contexts that last: code runs in the first one.
        unsafe { sys::zend_observer_fiber_switch_notify(from, self.0.get()) };
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
