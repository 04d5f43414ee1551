//! Files that are compiled.

use crate::{Str, Text, c, sys};
use std::{ffi::CStr, marker::PhantomData, mem::offset_of, ptr, ptr::NonNull, slice};

/// A file that is being compiled.
#[repr(transparent)]
pub struct SourceFile<'a>(NonNull<Fields<'a>>, PhantomData<&'a mut sys::zend_file_handle>);

/// What is looked at of `zend_file_handle`, which holds these strings.
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

    /// Returns the name by which it was asked for.
    pub fn name(&self) -> Option<&Str> {
        self.fields().name
    }

    /// Returns the path by which it was opened.
    pub fn opened_path(&self) -> Option<&Str> {
        self.fields().opened_path
    }

    /// Returns the whole text, which the first call reads as the compiler would, and which may run PHP code. `None`: it cannot
    /// be read, which has been reported, and nothing is left of it to be compiled.
    pub fn text(&self) -> Option<&[u8]> {
        let (mut text, mut length) = (ptr::null(), 0);
        // SAFETY: a file that is being compiled, and places for the answer.
        if !unsafe { sys::spindle_file_source(self.as_raw(), &mut text, &mut length) } {
            return None;
        }
        // SAFETY: the file's buffer, which stays until the text is replaced or compiled.
        Some(unsafe { slice::from_raw_parts(text.cast(), length) })
    }

    /// Puts another text in place of the file's.
    ///
    /// # Panics
    /// If a part of the new text is missing.
    pub fn replace_text(&mut self, text: NewText) {
        assert_eq!(text.filled, text.length, "a whole text");
        // SAFETY: the file takes the new buffer over, and frees the old one.
        unsafe { sys::spindle_file_replace(self.as_raw(), text.memory.as_ptr().cast(), text.length) };
    }
}

/// A new text for a file, in memory of the request's.
pub struct NewText {
    memory: NonNull<u8>,
    length: usize,
    filled: usize,
}

impl NewText {
    /// Returns an empty one that will have this length.
    pub fn new(length: usize) -> NewText {
        NewText { memory: c::spindle_file_room(length), length, filled: 0 }
    }

    /// Adds a piece at the end.
    ///
    /// # Panics
    /// If it gets longer than it was made for.
    pub fn push(&mut self, piece: &[u8]) {
        assert!(piece.len() <= self.length - self.filled, "as long as it was made for");
        let end = self.memory.as_ptr().wrapping_add(self.filled);
        // SAFETY: there is room for it in our own buffer.
        unsafe { end.copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
        self.filled += piece.len();
    }
}

/// Returns `true` if files are translated as they are read (`zend.multibyte`), from encodings in which a byte of PHP's own
/// signs may be half of something else.
pub fn are_recoded() -> bool {
    c::spindle_files_are_recoded()
}

/// Says how many bytes what is compiled next has more than its original: its `__COMPILER_HALT_OFFSET__` is less by that.
pub fn set_growth(bytes: usize) {
    c::spindle_source_has_grown(bytes);
}

/// Throws a `ParseError` at a line of a file as the compiler does. It bails out where there is no code to throw in.
pub fn throw_parse_error(file: &Str, line: u32, message: &CStr) {
    c::spindle_parse_error(file, line, Text::of(message));
}
