//! Strings.

use crate::{Owned, Shared, Str, declare, shared::WithCount, sys};
use std::{mem::ManuallyDrop, slice};

declare! {
    // A new string is never null: the engine ends the request rather than that. As many bytes are read as the call says.
    unsafe fn spindle_string_new(text: *const u8, length: usize, is_lasting: bool) -> Owned<Str>;
    unsafe fn spindle_string_intern(text: *const u8, length: usize) -> Owned<Str>;
    safe fn spindle_string_release(string: ManuallyDrop<Owned<Str>>);
}

impl Shared<sys::zend_string> {
    /// Returns a new string, which is freed at the end of the request at the latest.
    pub fn new(text: impl AsRef<[u8]>) -> Owned<Str> {
        Str::make(text.as_ref(), false)
    }

    /// Returns a new string that may outlive the request.
    pub fn new_lasting(text: impl AsRef<[u8]>) -> Owned<Str> {
        Str::make(text.as_ref(), true)
    }

    /// Returns a string that stays until the end of the request, and is the same one for each call with this text. As a key
    /// of arrays it is found without a comparison.
    pub fn interned(text: impl AsRef<[u8]>) -> Owned<Str> {
        let bytes = text.as_ref();
        // SAFETY: pointer and length of a live slice, which is copied.
        unsafe { spindle_string_intern(bytes.as_ptr(), bytes.len()) }
    }

    fn make(bytes: &[u8], is_lasting: bool) -> Owned<Str> {
        // SAFETY: pointer and length of a live slice, which is copied.
        unsafe { spindle_string_new(bytes.as_ptr(), bytes.len(), is_lasting) }
    }

    /// Returns the bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        let string = self.raw();
        // SAFETY: `len` bytes begin at `val`, and do not change while the string is held.
        unsafe { slice::from_raw_parts((&raw const string.val).cast(), string.len) }
    }

    /// Returns the text, with replacement characters for bytes that are not UTF-8.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }
}

impl PartialEq for Str {
    /// Returns `true` if both have the same bytes.
    fn eq(&self, other: &Str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

// SAFETY: a string begins with its count, and the C function releases a reference.
unsafe impl WithCount for sys::zend_string {
    /// The flag of interned strings.
    const UNCOUNTED: u32 = sys::IS_STR_INTERNED;

    #[inline(always)]
    fn release(this: ManuallyDrop<Owned<Str>>) {
        spindle_string_release(this);
    }
}
