//! Structures of C that are empty when all their bytes are zero.

#![deny(clippy::multiple_unsafe_ops_per_block)]

use spindle_php_sys as sys;

/// A structure that is valid when all its bytes are zero.
///
/// # Safety
/// It consists of numbers, pointers of C and optional functions.
pub unsafe trait Zeroed: Copy {}

// SAFETY: each consists of these.
unsafe impl Zeroed for sys::zend_execute_data {}
// SAFETY: as above.
unsafe impl Zeroed for sys::zend_internal_function {}
// SAFETY: as above.
unsafe impl Zeroed for sys::zend_fcall_info {}
// SAFETY: as above.
unsafe impl Zeroed for sys::zend_fcall_info_cache {}
// SAFETY: as above.
unsafe impl Zeroed for libc::sigaction {}

/// Returns the structure with all bytes zero.
pub const fn zeroed<T: Zeroed>() -> T {
    // SAFETY: as the trait says.
    unsafe { std::mem::zeroed() }
}
