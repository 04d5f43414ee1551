//! Files that are being compiled.

use crate::{Str, Text, declare, sys};
use std::{ffi::CStr, marker::PhantomData, mem::offset_of, ptr, ptr::NonNull, slice};

declare! {
    // There is room for the requested number of bytes, and for the zeros after them that the scanner needs.
    safe fn spindle_file_room(length: usize) -> NonNull<u8>;
    safe fn spindle_files_are_recoded() -> bool;
    safe fn spindle_source_has_grown(bytes: usize);
    safe fn spindle_parse_error(file: &Str, line: u32, message: Text<'_>);
}

/// A file that is being compiled.
#[repr(transparent)]
pub struct SourceFile<'a>(NonNull<Fields<'a>>, PhantomData<&'a mut sys::zend_file_handle>);

/// The fields of `zend_file_handle` that are read. The handle holds these strings.
#[repr(C)]
struct Fields<'a> {
    _handle: sys::_zend_file_handle__bindgen_ty_1,
    name: Option<&'a Str>,
    opened_path: Option<&'a Str>,
}

const _: () = {
    assert!(offset_of!(Fields<'_>, name) == offset_of!(sys::zend_file_handle, filename));
    assert!(offset_of!(Fields<'_>, opened_path) == offset_of!(sys::zend_file_handle, opened_path));
};

impl SourceFile<'_> {
    fn fields(&self) -> &Fields<'_> {
        // SAFETY: lasts as long as it is being compiled; borrowed only while one of its fields is read.
        unsafe { self.0.as_ref() }
    }

    fn as_raw(&self) -> *mut sys::zend_file_handle {
        self.0.as_ptr().cast()
    }

    /// Returns the name by which it was requested.
    pub fn name(&self) -> Option<&Str> {
        self.fields().name
    }

    /// Returns the path by which it was opened.
    pub fn opened_path(&self) -> Option<&Str> {
        self.fields().opened_path
    }

    /// Returns the whole text. The first call reads it as the compiler would, which may run PHP code. Returns `None` if
    /// it cannot be read, which has been reported; the file is empty then.
    pub fn text(&self) -> Option<&[u8]> {
        let (mut text, mut length) = (ptr::null(), 0);
        // SAFETY: a file that is being compiled, and places for the answer.
        if !unsafe { sys::spindle_file_source(self.as_raw(), &mut text, &mut length) } {
            return None;
        }
        // SAFETY: the file's buffer, which stays until the text is replaced or compiled.
        Some(unsafe { slice::from_raw_parts(text.cast(), length) })
    }

    /// Replaces the file's text.
    ///
    /// # Panics
    /// If a part of the new text is missing.
    pub fn replace_text(&mut self, text: NewText) {
        assert_eq!(text.filled, text.length, "a whole text");
        // SAFETY: the file takes the new buffer over, and frees the old one.
        unsafe { sys::spindle_file_replace(self.as_raw(), text.memory.as_ptr().cast(), text.length) };
    }
}

/// A new text for a file, in the request's memory.
pub struct NewText {
    memory: NonNull<u8>,
    length: usize,
    filled: usize,
}

impl NewText {
    /// Returns an empty text that will have this length.
    pub fn new(length: usize) -> NewText {
        NewText { memory: spindle_file_room(length), length, filled: 0 }
    }

    /// Appends a piece.
    ///
    /// # Panics
    /// The text gets longer than announced.
    pub fn push(&mut self, piece: &[u8]) {
        assert!(piece.len() <= self.length - self.filled, "as long as it was made for");
        let end = self.memory.as_ptr().wrapping_add(self.filled);
        // SAFETY: there is room for it in our own buffer.
        unsafe { end.copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
        self.filled += piece.len();
    }
}

/// Returns `true` if files are converted when they are read (`zend.multibyte`), from encodings in which a byte that
/// PHP's syntax uses can be half of another character.
pub fn are_recoded() -> bool {
    spindle_files_are_recoded()
}

/// Sets how many bytes the next compiled text is longer than its source: its `__COMPILER_HALT_OFFSET__` is reduced by
/// that.
pub fn set_growth(bytes: usize) {
    spindle_source_has_grown(bytes);
}

/// Throws a `ParseError` at a line of a file as the compiler does. Bails out if there is no code in which to throw.
pub fn throw_parse_error(file: &Str, line: u32, message: &CStr) {
    spindle_parse_error(file, line, Text::of(message));
}
