//! Values of the engine, made and taken apart.

use spindle_php_sys as sys;

/// The bytes of a string.
///
/// # Safety
/// A live string, that stays alive and unchanged as long as the bytes are used.
pub unsafe fn bytes<'a>(string: *const sys::zend_string) -> &'a [u8] {
    // SAFETY: the caller's promise: `len` bytes begin at `val`.
    unsafe { std::slice::from_raw_parts((&raw const (*string).val).cast::<u8>(), (*string).len) }
}
