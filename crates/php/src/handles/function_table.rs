//! Tables of C functions in other extensions, of which entries are replaced.

use spindle_interpose::patch;
use std::ptr::NonNull;

/// A structure of function pointers that an extension has for its objects or streams. It may be in read-only memory,
/// and lasts as long as the extension is loaded. Extensions identify their objects by its address, so it is changed in
/// place.
#[derive(Clone, Copy, Debug)]
pub struct FunctionTable<T>(NonNull<T>);

impl<T: Copy> FunctionTable<T> {
    /// Returns the table at this address, or `None` for null.
    ///
    /// # Safety
    /// The address is null, or that of a table of a loaded extension or of the engine.
    pub unsafe fn from_raw(table: *const T) -> Option<FunctionTable<T>> {
        NonNull::new(table.cast_mut()).map(FunctionTable)
    }

    /// Returns the address, which identifies the table.
    pub fn address(self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Returns a copy of the table's present contents.
    pub fn read(self) -> T {
        // SAFETY: a table that lasts as long as its extension is loaded, whose words only this thread changes.
        unsafe { self.0.as_ptr().read() }
    }

    /// Replaces the function at this offset of the table by one of the same type, or restores the original.
    ///
    /// # Errors
    /// The reason why the entry cannot be changed.
    pub fn replace(self, offset: usize, function: usize) -> Result<(), String> {
        // SAFETY: a pointer in a table of a loaded extension, and a function that may be called as those there are.
        unsafe { patch::store(self.address() + offset, function) }
    }
}
