//! The handlers of objects of our classes.

use spindle_php_sys as sys;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// One class's.
pub struct Handlers(UnsafeCell<MaybeUninit<sys::zend_object_handlers>>);

// SAFETY: written once at module start, before any thread but PHP's could look; read on the PHP thread only.
unsafe impl Sync for Handlers {}

impl Handlers {
    /// To be filled.
    pub const fn new() -> Handlers {
        Handlers(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// The engine's own, with what `change` makes of them. The objects cannot be cloned, and each is
    /// equal only to itself. `offset` is where the engine's
    /// part lies in one. At module start, where only one thread is.
    pub fn fill(&self, offset: usize, change: impl FnOnce(&mut sys::zend_object_handlers)) {
        // SAFETY: nobody else looks yet; the engine's are filled before modules start.
        unsafe {
            let handlers = (*self.0.get()).write(sys::std_object_handlers);
            handlers.offset = offset as i32;
            handlers.clone_obj = None;
            handlers.compare = Some(sys::zend_objects_not_comparable);
            change(handlers);
        }
    }

    /// For a new object.
    pub fn get(&self) -> *const sys::zend_object_handlers {
        self.0.get().cast()
    }
}
