//! State that belongs to the PHP thread.

use crate::host::Host;
use std::cell::RefCell;

/// A static that only the PHP thread uses. Access takes a `&dyn Host`, which only
/// [`crate::host::current_host`] and [`crate::host::php_thread_host`] hand out, on that thread, and which cannot leave it
/// (it is not `Send`).
pub(crate) struct PhpCell<T>(RefCell<T>);

// SAFETY: see above: all access is on one thread, the one that has a host.
unsafe impl<T> Sync for PhpCell<T> {}

impl<T> PhpCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        PhpCell(RefCell::new(value))
    }

    /// Calls `then` with the value. It must neither park nor call a hook.
    #[inline(always)]
    pub(crate) fn with<R>(&self, _here: &dyn Host, then: impl FnOnce(&mut T) -> R) -> R {
        then(&mut self.0.borrow_mut())
    }
}
