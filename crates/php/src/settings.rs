//! The ini settings.

use spindle_php_sys as sys;

/// Returns the settings of this extension, as they are now.
#[inline(always)]
pub fn current() -> sys::spindle_ini {
    // SAFETY: numbers and flags, which the PHP thread alone writes.
    unsafe { sys::spindle_settings }
}
