//! Zero-terminated texts of C.

use crate::sys;
use std::{
    ffi::{CStr, c_char},
    marker::PhantomData,
    ptr::NonNull,
};

/// A zero-terminated text, as C passes it.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text<'a>(NonNull<c_char>, PhantomData<&'a CStr>);

impl<'a> Text<'a> {
    /// Returns a text as C passes it.
    pub fn of(text: &'a CStr) -> Text<'a> {
        Text(NonNull::from(text).cast(), PhantomData)
    }

    /// Returns the text at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or a terminated text that lasts as long as the result is used.
    pub unsafe fn from_raw(text: *const c_char) -> Option<Text<'a>> {
        NonNull::new(text.cast_mut()).map(|text| Text(text, PhantomData))
    }

    /// Returns the C pointer.
    pub fn as_raw(self) -> *const c_char {
        self.0.as_ptr()
    }

    /// Returns the text.
    pub fn get(self) -> &'a CStr {
        // SAFETY: a terminated text, which lasts as long as this type says.
        unsafe { CStr::from_ptr(self.0.as_ptr()) }
    }
}

/// A text in memory of the engine that this module owns.
#[repr(transparent)]
pub(crate) struct OwnedText(NonNull<c_char>);

impl Drop for OwnedText {
    fn drop(&mut self) {
        // SAFETY: memory of the engine's that is ours.
        unsafe { sys::_efree(self.0.as_ptr().cast()) };
    }
}
