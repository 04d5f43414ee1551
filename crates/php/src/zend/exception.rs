//! Exceptions: made, thrown, and put aside.

use spindle_php_sys as sys;
use std::ffi::CString;

/// A text for C, without the zeros that would end it.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// A new exception of a class of ours, from the code that runs.
pub fn new(ce: *mut sys::zend_class_entry, message: &str) -> *mut sys::zend_object {
    // SAFETY: a throwable class and a terminated text.
    unsafe { sys::spindle_exception_new(ce, c_text(message).as_ptr()) }
}

/// Throws a new exception of a class of ours in the running code.
pub fn throw(ce: *mut sys::zend_class_entry, message: &str) {
    // SAFETY: the new object's reference is passed on.
    unsafe { sys::spindle_throw(new(ce, message)) }
}
