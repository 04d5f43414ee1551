//! C structures that are valid when all their bytes are zero.

use crate::sys;

/// A structure that is valid when all its bytes are zero.
///
/// # Safety
/// It consists of numbers, pointers of C and optional functions.
pub unsafe trait Zeroed: Copy {}

macro_rules! zeroed {
    ($($structure:ident)*) => {$(
        // SAFETY: it consists of these.
        unsafe impl Zeroed for sys::$structure {}
    )*};
}

zeroed! {
    zend_class_entry zend_execute_data zend_fcall_info zend_fcall_info_cache zend_fiber_context zend_function_entry
    zend_internal_function zend_object_handlers zend_op zend_op_array zval
}

/// Returns the structure with all bytes zero.
#[inline(always)]
pub const fn zeroed<T: Zeroed>() -> T {
    // SAFETY: as the trait says.
    unsafe { std::mem::zeroed() }
}
