//! Functions that the engine calls by pointers, which we wrap.

use std::cell::Cell;

/// One such pointer: what stood there before ours.
pub struct Hook<F>(Cell<Option<F>>);

// SAFETY: pointers of functions, used on the PHP thread only (see the crate).
unsafe impl<F> Sync for Hook<F> {}

impl<F: Copy + PartialEq> Hook<F> {
    /// Returns one that wraps nothing yet.
    pub const fn new() -> Hook<F> {
        Hook(Cell::new(None))
    }

    /// Puts `ours` in the place, and remembers what stood there, unless `ours` stands there already.
    ///
    /// # Safety
    /// A place of the engine's for such a function, and `ours` may be called as the engine calls what stands there.
    pub unsafe fn install(&self, place: *mut Option<F>, ours: F) {
        // SAFETY: the caller's promise.
        let before = unsafe { place.read() };
        if before != Some(ours) {
            self.0.set(before);
            // SAFETY: the caller's promise.
            unsafe { place.write(Some(ours)) };
        }
    }

    /// Puts back what stood there, where `ours` still stands. A wrapper around ours goes on calling ours.
    ///
    /// # Safety
    /// As [`Hook::install`].
    pub unsafe fn remove(&self, place: *mut Option<F>, ours: F) {
        // SAFETY: the caller's promise.
        if unsafe { place.read() } == Some(ours) {
            // SAFETY: as above.
            unsafe { place.write(self.0.get()) };
        }
    }

    /// Returns what stood there before.
    #[inline(always)]
    pub fn original(&self) -> Option<F> {
        self.0.get()
    }
}

impl<F: Copy + PartialEq> Default for Hook<F> {
    fn default() -> Hook<F> {
        Hook::new()
    }
}
