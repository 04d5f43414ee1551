//! The ini settings.

use spindle_php_sys as sys;
use spindle_zend::engine;

/// Returns the settings of this extension, as they are now.
#[inline(always)]
pub fn current() -> sys::spindle_ini {
    // SAFETY: numbers and flags, which the PHP thread alone writes.
    unsafe { sys::spindle_settings }
}

/// Returns `async.seed`: with 0, ready coroutines run first in, first out.
pub fn seed() -> u64 {
    engine::setting(c"async.seed").trim().parse().unwrap_or(0)
}
