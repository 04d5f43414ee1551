//! Places in PHP code.

use spindle_zend::{FiberContext, Frame, Owned, OwnedCell, Str, exception};
use std::cell::Cell;

/// A file and a line, or nothing. The file's name is held: its code may be gone when it is asked for.
pub struct Position {
    file: OwnedCell<Str>,
    line: Cell<u32>,
}

impl Position {
    /// Returns one where nothing is known.
    pub const fn new() -> Position {
        Position { file: OwnedCell::new(), line: Cell::new(0) }
    }

    /// Sets it to where PHP code stands, the innermost from this frame on.
    #[inline]
    pub fn set_to_code_of(&self, frame: Option<Frame>) {
        if let Some((file, line)) = frame.as_ref().and_then(Frame::position) {
            self.line.set(line);
            // Most often it is the same file as before.
            if let Some(file) = file.filter(|file| !std::ptr::eq(*file, self.file.as_ptr())) {
                self.file.set(Some(Owned::of(file)));
            }
        }
    }

    /// Returns `true` if a file is known.
    pub fn is_known(&self) -> bool {
        !self.file.is_empty()
    }

    /// Returns the file.
    pub fn file(&self) -> Option<Owned<Str>> {
        self.file.get()
    }

    /// Returns the file as the engine knows it, or null.
    pub fn raw_file(&self) -> *mut spindle_zend::sys::zend_string {
        self.file.as_ptr().cast()
    }

    /// Announces the context of a coroutine that begins, as a fiber that is started here.
    #[inline(always)]
    pub fn announce_begin(&self, fiber: &FiberContext) {
        fiber.announce_begin(&self.file, self.line());
    }

    /// Returns the line.
    pub fn line(&self) -> u32 {
        self.line.get()
    }

    /// Returns `FILE:LINE`, or nothing.
    pub fn text(&self) -> String {
        exception::place(self.file().as_deref(), self.line())
    }

    /// Lets go of the file, whose memory the request has taken with it.
    pub fn forget(&self) {
        std::mem::forget(self.file.take());
    }
}
