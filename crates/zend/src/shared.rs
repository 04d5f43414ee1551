//! Structures that are shared with the engine.

use crate::{Counted, Owned, sys};
use std::{
    cell::{Cell, UnsafeCell},
    mem::ManuallyDrop,
};

/// A structure of the engine, alive as long as it is borrowed. The engine may change it meanwhile.
#[repr(transparent)]
pub struct Shared<T>(UnsafeCell<T>);

impl<T> Shared<T> {
    /// Returns a structure of this module.
    pub(crate) const fn wrapping(structure: T) -> Shared<T> {
        Shared(UnsafeCell::new(structure))
    }

    /// Returns the structure at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or alive as long as the borrow is used.
    #[inline(always)]
    pub unsafe fn borrow<'a>(structure: *const T) -> Option<&'a Shared<T>> {
        // SAFETY: the caller's promise.
        unsafe { structure.cast::<Shared<T>>().as_ref() }
    }

    /// Returns the engine's pointer.
    #[inline(always)]
    pub const fn as_raw(&self) -> *mut T {
        self.0.get()
    }

    /// Returns the address, which identifies it among the live structures.
    pub fn address(&self) -> usize {
        self.0.get().addr()
    }

    /// Returns the structure, to read one of its fields without running other code.
    #[inline(always)]
    pub(crate) fn raw(&self) -> &T {
        // SAFETY: alive by `self`; borrowed only while one of its fields is read.
        unsafe { &*self.0.get() }
    }
}

/// A PHP string: bytes, often but not always UTF-8.
pub type Str = Shared<sys::zend_string>;

/// A PHP array.
pub type Array = Shared<sys::HashTable>;

/// An object of any class.
pub type Object = Shared<sys::zend_object>;

/// A PHP resource: a handle of an extension.
pub type Resource = Shared<sys::zend_resource>;

/// The first fields of reference-counted structures: `zend_refcounted_h`.
#[repr(C)]
pub(crate) struct Head {
    count: Cell<u32>,
    flags: Cell<u32>,
}

impl Head {
    /// Adds a reference.
    #[inline(always)]
    pub fn add_ref(&self) {
        self.count.set(self.count.get() + 1);
    }
}

const _: () = assert!(size_of::<Head>() == size_of::<sys::zend_refcounted_h>());

/// A reference-counted structure.
///
/// # Safety
/// It begins with `zend_refcounted_h`, and `release` releases one reference.
pub unsafe trait WithCount: Sized {
    /// The flag of structures whose references are not counted.
    const UNCOUNTED: u32 = 0;

    /// Releases a reference. The last one frees the structure, which may run PHP code.
    fn release(this: ManuallyDrop<Owned<Shared<Self>>>);
}

impl<T: WithCount> Shared<T> {
    #[inline(always)]
    fn head(&self) -> &Head {
        // SAFETY: what the structure begins with. Its cells are used on the PHP thread only, and never borrowed for long.
        unsafe { &*self.0.get().cast::<Head>() }
    }

    /// Returns the number of references.
    #[inline(always)]
    pub fn references(&self) -> u32 {
        self.head().count.get()
    }

    /// Returns `true` if references to it are not counted.
    #[inline(always)]
    pub fn is_uncounted(&self) -> bool {
        T::UNCOUNTED != 0 && self.head().flags.get() & T::UNCOUNTED != 0
    }
}

// SAFETY: as the engine's own macros do it.
unsafe impl<T: WithCount> Counted for Shared<T> {
    #[inline(always)]
    fn add_ref(&self) {
        if !self.is_uncounted() {
            self.head().add_ref();
        }
    }

    #[inline(always)]
    fn release(this: ManuallyDrop<Owned<Shared<T>>>) {
        T::release(this);
    }
}
