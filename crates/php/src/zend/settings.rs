//! The ini settings.

use spindle_php_sys as sys;
use std::ffi::CStr;

/// The text of a setting.
pub fn ini(name: &CStr) -> String {
    // SAFETY: a terminated name; the value, if any, is a terminated text that the engine keeps.
    unsafe {
        let value = sys::zend_ini_string(name.as_ptr().cast_mut(), name.count_bytes(), 0);
        if value.is_null() { String::new() } else { CStr::from_ptr(value).to_string_lossy().into_owned() }
    }
}

/// `async.seed`: 0 runs the ready ones first in, first out.
pub fn seed() -> u64 {
    ini(c"async.seed").trim().parse().unwrap_or(0)
}
