//! Loaded modules.

use spindle_php_sys as sys;

/// The name of a module in lower case; empty for null.
pub fn module_name(module: *const sys::zend_module_entry) -> String {
    if module.is_null() {
        return String::new();
    }
    // SAFETY: a loaded module with a terminated name.
    unsafe { std::ffi::CStr::from_ptr((*module).name) }.to_string_lossy().to_ascii_lowercase()
}
