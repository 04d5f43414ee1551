//! Positions in PHP code.

use spindle_zend::{FiberContext, Frame, Owned, OwnedCell, Str, exception};
use std::cell::Cell;

/// A file and a line, or nothing. It holds the file's name, because the code may be gone when it is asked for.
#[derive(Default)]
pub struct Position {
    file: OwnedCell<Str>,
    line: Cell<u32>,
}

impl Position {
    /// Returns an unknown position.
    pub const fn new() -> Position {
        Position { file: OwnedCell::new(), line: Cell::new(0) }
    }

    /// Sets it to the position of the innermost PHP code, from this frame on.
    #[inline]
    pub fn set_to_code_of(&self, frame: Option<Frame>) {
        if let Some((file, line)) = frame.as_ref().and_then(Frame::position) {
            self.line.set(line);
            // Usually it is the same file as before.
            if let Some(file) = file.filter(|file| !std::ptr::eq(*file, self.file.as_ptr())) {
                self.file.set(Some(Owned::of(file)));
            }
        }
    }

    /// Becomes the position that `other` has had.
    pub fn take_from(&self, other: &Position) {
        self.line.set(other.line.get());
        self.file.set(other.file.take());
    }

    /// Returns `true` if a file is known.
    pub fn is_known(&self) -> bool {
        !self.file.is_empty()
    }

    /// Returns the file.
    pub fn file(&self) -> Option<Owned<Str>> {
        self.file.get()
    }

    /// Returns the file's name as a pointer of the engine, or null.
    pub fn raw_file(&self) -> *mut spindle_zend::sys::zend_string {
        self.file.as_ptr().cast()
    }

    /// Announces to observers the context of a coroutine that starts, as of a fiber that is started at this position.
    #[inline(always)]
    pub fn announce_begin(&self, fiber: &FiberContext) {
        fiber.announce_begin(&self.file, self.line());
    }

    /// Returns the line.
    pub fn line(&self) -> u32 {
        self.line.get()
    }

    /// Returns `FILE:LINE`, or an empty text.
    pub fn text(&self) -> String {
        exception::place(self.file().as_deref(), self.line())
    }

    /// Forgets the file without releasing it: the engine has freed the request's memory.
    pub fn forget(&self) {
        std::mem::forget(self.file.take());
    }
}
