//! Resources.

use crate::{globals::Table, sys};
use std::cell::UnsafeCell;

/// A resource: a handle of an extension's.
#[repr(transparent)]
pub struct Resource(UnsafeCell<sys::zend_resource>);

impl Resource {
    /// Returns the resource at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or alive as long as the borrow is used.
    #[inline(always)]
    pub unsafe fn borrow<'a>(resource: *const sys::zend_resource) -> Option<&'a Resource> {
        // SAFETY: the caller's promise.
        unsafe { resource.cast::<Resource>().as_ref() }
    }

    /// Calls `with` with the resource of this number, if the request still has it.
    pub fn find<R>(number: i64, with: impl FnOnce(&Resource) -> R) -> Option<R> {
        Table::Resources.get().at(number as u64)?.as_resource().map(with)
    }

    fn raw(&self) -> &sys::zend_resource {
        // SAFETY: alive by `self`; borrowed only while one of its fields is read.
        unsafe { &*self.0.get() }
    }

    /// Returns the address, which tells it from all others that are alive.
    pub fn address(&self) -> usize {
        self.0.get() as usize
    }

    /// Returns its number, which no other resource of the request has had.
    pub fn number(&self) -> i64 {
        self.raw().handle
    }

    /// Returns the number of its type.
    pub fn type_number(&self) -> i32 {
        self.raw().type_
    }

    /// Returns `true` if it has not been closed.
    pub fn is_open(&self) -> bool {
        self.type_number() >= 0
    }
}
