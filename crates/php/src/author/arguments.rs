//! Arguments of C code.

use std::ffi::{CStr, c_char, c_void};

/// A function of C that is called with an argument of its author.
pub type Callback = unsafe extern "C" fn(*mut c_void);

/// Returns a text of C; `None` for null, and for one that is not UTF-8.
///
/// # Safety
/// It is null, or a terminated text that stays as long as the borrow is used.
pub unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}
