//! Statics of the PHP thread.

use std::ops::Deref;

/// A static that only the PHP thread uses. Hooks of libc functions on other threads return before they could use one
/// (see `spindle_interpose::host`).
#[repr(transparent)]
pub struct PhpStatic<T>(T);

// SAFETY: used by one thread only, as said above.
unsafe impl<T> Sync for PhpStatic<T> {}

impl<T> PhpStatic<T> {
    /// Returns a static with this value.
    pub const fn new(value: T) -> PhpStatic<T> {
        PhpStatic(value)
    }
}

impl<T> Deref for PhpStatic<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
