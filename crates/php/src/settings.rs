//! The ini settings.

use crate::c;
use spindle_php_sys as sys;

/// Returns the settings of this extension, as they are now.
#[inline(always)]
pub fn current() -> sys::spindle_ini {
    c::spindle_settings.get()
}
