//! Texts of C.

use std::{
    ffi::{CStr, c_char},
    marker::PhantomData,
    ptr::NonNull,
};

/// A terminated text, as C passes it.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text<'a>(NonNull<c_char>, PhantomData<&'a CStr>);

impl<'a> Text<'a> {
    /// Returns the text as C passes it.
    pub fn of(text: &'a CStr) -> Text<'a> {
        Text(NonNull::from(text).cast(), PhantomData)
    }

    /// Returns the text.
    pub fn get(self) -> &'a CStr {
        // SAFETY: a terminated text, which lasts as long as this type says.
        unsafe { CStr::from_ptr(self.0.as_ptr()) }
    }
}
