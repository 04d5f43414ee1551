//! Tables of C functions in other extensions, whose entries are replaced.

use spindle_interpose::patch;
use std::ptr::NonNull;

/// A structure of pointers to functions that an extension has for its objects or streams. It may be in read-only memory, and
/// lasts as long as the extension is loaded. Extensions know their objects by its address, so it is changed where it is.
#[derive(Clone, Copy, Debug)]
pub struct FunctionTable<T>(NonNull<T>);

impl<T: Copy> FunctionTable<T> {
    /// Returns the table at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or a table of a loaded extension or of the engine.
    pub unsafe fn from_raw(table: *const T) -> Option<FunctionTable<T>> {
        NonNull::new(table.cast_mut()).map(FunctionTable)
    }

    /// Returns the address, which tells it from others.
    pub fn address(self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Returns a copy of the table as it is now.
    pub fn read(self) -> T {
        // SAFETY: a table that lasts as long as its extension is loaded, whose words only this thread changes.
        unsafe { self.0.as_ptr().read() }
    }

    /// Puts a function in the table, at this distance from its beginning: one of ours with the type of what stands there, or
    /// what stood there before.
    ///
    /// # Errors
    /// Why it cannot be changed.
    pub fn replace(self, offset: usize, function: usize) -> Result<(), String> {
        // SAFETY: a pointer in a table of a loaded extension, and a function that may be called as those there are.
        unsafe { patch::store(self.address() + offset, function) }
    }
}
