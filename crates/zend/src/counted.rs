//! Reference counting by the engine.

use std::{cell::Cell, mem::ManuallyDrop, ops::Deref, ptr::NonNull};

/// A structure of the engine with a reference count.
///
/// # Safety
/// It is alive as long as there are references: those created with the structure and by `add_ref`, less those released
/// by `release`.
pub unsafe trait Counted: Sized {
    /// Adds a reference.
    fn add_ref(&self);

    /// Releases a reference. The last one frees the structure, which may run PHP code.
    fn release(this: ManuallyDrop<Owned<Self>>);
}

/// A reference, which is released when it is dropped.
#[repr(transparent)]
pub struct Owned<T: Counted>(NonNull<T>);

impl<T: Counted> Owned<T> {
    /// Returns a new reference to a borrowed structure.
    #[inline(always)]
    pub fn of(borrowed: &T) -> Owned<T> {
        borrowed.add_ref();
        Owned(NonNull::from(borrowed))
    }

    /// Takes over a reference. `None` for null.
    ///
    /// # Safety
    /// A live structure, and the reference is the caller's.
    #[inline(always)]
    pub unsafe fn from_raw(pointer: *mut T) -> Option<Owned<T>> {
        NonNull::new(pointer).map(Owned)
    }

    /// Returns the pointer, with a reference that the caller has to release.
    #[inline(always)]
    pub fn into_raw(self) -> *mut T {
        ManuallyDrop::new(self).0.as_ptr()
    }

    /// Returns the address, for tables that identify structures by it.
    pub fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T: Counted> Deref for Owned<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: alive as long as this reference is counted.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Counted> Clone for Owned<T> {
    #[inline(always)]
    fn clone(&self) -> Owned<T> {
        Owned::of(self)
    }
}

impl<T: Counted> Drop for Owned<T> {
    #[inline(always)]
    fn drop(&mut self) {
        T::release(ManuallyDrop::new(Owned(self.0)));
    }
}

impl<T: Counted> PartialEq for Owned<T> {
    /// Returns `true` if both refer to the same structure.
    fn eq(&self, other: &Owned<T>) -> bool {
        self.0 == other.0
    }
}

impl<T: Counted> Eq for Owned<T> {}

/// A cell for a reference, such as the fields of this module's objects. The reference is taken out before it is
/// released.
#[repr(transparent)]
pub struct OwnedCell<T: Counted>(Cell<Option<NonNull<T>>>);

impl<T: Counted> OwnedCell<T> {
    /// Returns an empty cell.
    pub const fn new() -> OwnedCell<T> {
        OwnedCell(Cell::new(None))
    }

    /// Returns `true` if the cell is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.get().is_none()
    }

    /// Returns the address of the structure, or null.
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut T {
        self.0.get().map_or(std::ptr::null_mut(), NonNull::as_ptr)
    }

    /// Returns a new reference to the structure.
    #[inline]
    pub fn get(&self) -> Option<Owned<T>> {
        self.peek().map(|held| Owned::clone(&held))
    }

    /// Returns the reference, which remains the cell's.
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<ManuallyDrop<Owned<T>>> {
        self.0.get().map(Owned).map(ManuallyDrop::new)
    }

    /// Stores a reference, and returns the previous one.
    #[inline]
    pub fn replace(&self, reference: Option<Owned<T>>) -> Option<Owned<T>> {
        let new = reference.and_then(|reference| NonNull::new(reference.into_raw()));
        self.0.replace(new).map(Owned)
    }

    /// Takes the reference out.
    #[inline]
    pub fn take(&self) -> Option<Owned<T>> {
        self.replace(None)
    }

    /// Stores a reference, and releases the previous one.
    #[inline]
    pub fn set(&self, reference: Option<Owned<T>>) {
        drop(self.replace(reference));
    }
}

impl<T: Counted> From<Option<Owned<T>>> for OwnedCell<T> {
    fn from(reference: Option<Owned<T>>) -> OwnedCell<T> {
        let cell = OwnedCell::new();
        cell.set(reference);
        cell
    }
}

impl<T: Counted> Default for OwnedCell<T> {
    fn default() -> OwnedCell<T> {
        OwnedCell::new()
    }
}

impl<T: Counted> Drop for OwnedCell<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
