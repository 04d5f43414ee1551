//! The ini settings.

use crate::c;
use spindle_php_sys as sys;

/// Returns the present settings of this extension.
#[inline(always)]
pub fn current() -> sys::spindle_ini {
    c::spindle_settings.get()
}
