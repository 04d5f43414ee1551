//! Objects.

use crate::{Class, Counted, Owned, sys};
use std::{cell::UnsafeCell, ptr::NonNull};

/// An object of any class.
#[repr(transparent)]
pub struct Object(UnsafeCell<sys::zend_object>);

impl Object {
    /// Returns the object at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or alive as long as the borrow is used.
    #[inline(always)]
    pub unsafe fn borrow<'a>(object: *const sys::zend_object) -> Option<&'a Object> {
        // SAFETY: the caller's promise.
        unsafe { object.cast::<Object>().as_ref() }
    }

    /// Takes over a reference. `None` for null.
    ///
    /// # Safety
    /// A live object, and the reference is the caller's.
    #[inline(always)]
    pub unsafe fn own(object: *mut sys::zend_object) -> Option<Owned<Object>> {
        // SAFETY: the caller's promise.
        unsafe { Owned::from_raw(object.cast()) }
    }

    /// Returns the engine's pointer.
    #[inline(always)]
    pub fn as_raw(&self) -> *mut sys::zend_object {
        self.0.get()
    }

    /// Returns the address, which tells it from all others that are alive.
    pub fn address(&self) -> usize {
        self.0.get() as usize
    }

    #[inline(always)]
    fn raw(&self) -> &sys::zend_object {
        // SAFETY: alive by `self`; borrowed only while one of its fields is read.
        unsafe { &*self.0.get() }
    }

    /// Returns its class.
    #[inline(always)]
    pub fn class(&self) -> Class {
        Class::of_live(self.raw().ce)
    }

    /// Returns `true` if it is an object of this class or of one below it.
    pub fn is_a(&self, class: Class) -> bool {
        self.class().is_or_extends(class)
    }

    /// Returns how many references there are.
    #[inline(always)]
    pub fn references(&self) -> u32 {
        self.raw().gc.refcount
    }

    /// Its destructor does not run any more.
    pub fn skip_destructor(&self) {
        // SAFETY: a flag of a live object.
        unsafe { sys::spindle_object_skip_destructor(self.0.get()) };
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        std::ptr::eq(self, other)
    }
}

// SAFETY: as the engine's own macros do it.
unsafe impl Counted for Object {
    #[inline(always)]
    fn add_ref(&self) {
        // SAFETY: on the engine's thread; nobody borrows the count.
        unsafe { (*self.0.get()).gc.refcount += 1 };
    }

    #[inline(always)]
    unsafe fn release(this: NonNull<Object>) {
        // SAFETY: the caller's promise.
        unsafe { sys::spindle_object_release(this.as_ptr().cast()) };
    }
}
