//! Strings.

use crate::{Counted, Owned, c, sys};
use std::{cell::UnsafeCell, ptr::NonNull, slice};

/// A string of the engine's: bytes, often but not always UTF-8.
#[repr(transparent)]
pub struct Str(UnsafeCell<sys::zend_string>);

impl Str {
    /// Returns a new string, which lives as long as the request at most.
    pub fn new(text: impl AsRef<[u8]>) -> Owned<Str> {
        let bytes = text.as_ref();
        // SAFETY: pointer and length of a live slice, which is copied.
        unsafe { c::spindle_string_new(bytes.as_ptr(), bytes.len()) }
    }

    /// Returns a new string that may outlive the request.
    pub fn new_lasting(text: impl AsRef<[u8]>) -> Owned<Str> {
        let bytes = text.as_ref();
        // SAFETY: as above.
        unsafe { c::spindle_string_new_lasting(bytes.as_ptr(), bytes.len()) }
    }

    /// Returns the string at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or alive and unchanged as long as the borrow is used.
    #[inline(always)]
    pub unsafe fn borrow<'a>(string: *const sys::zend_string) -> Option<&'a Str> {
        // SAFETY: the caller's promise.
        unsafe { string.cast::<Str>().as_ref() }
    }

    /// Returns the engine's pointer.
    #[inline(always)]
    pub fn as_raw(&self) -> *mut sys::zend_string {
        self.0.get()
    }

    #[inline(always)]
    fn raw(&self) -> &sys::zend_string {
        // SAFETY: alive by `self`. Only its count of references changes, which nobody borrows.
        unsafe { &*self.0.get() }
    }

    /// Returns the bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        let string = self.raw();
        // SAFETY: `len` bytes begin at `val`, and do not change while somebody holds the string.
        unsafe { slice::from_raw_parts((&raw const string.val).cast(), string.len) }
    }

    /// Returns the text, with replacement characters for what is not UTF-8.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }

    /// Returns `true` if the string is one of those that the engine keeps once and does not count.
    #[inline(always)]
    pub fn is_interned(&self) -> bool {
        // SAFETY: a flag word; both views of the union are numbers of its size.
        unsafe { self.raw().gc.u.type_info & sys::IS_STR_INTERNED != 0 }
    }
}

impl PartialEq for Str {
    /// Returns `true` if both have the same bytes.
    fn eq(&self, other: &Str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

// SAFETY: as the engine's own macros do it.
unsafe impl Counted for Str {
    #[inline(always)]
    fn add_ref(&self) {
        if !self.is_interned() {
            // SAFETY: on the engine's thread; nobody borrows the count.
            unsafe { (*self.0.get()).gc.refcount += 1 };
        }
    }

    #[inline(always)]
    unsafe fn release(this: NonNull<Str>) {
        // SAFETY: the caller's promise.
        unsafe { sys::spindle_string_release(this.as_ptr().cast()) };
    }
}
