//! The ini settings.

use crate::c;
use spindle_php_sys as sys;
use spindle_zend::engine;

/// Returns the present settings of this extension.
#[inline(always)]
pub fn current() -> sys::spindle_ini {
    c::spindle_settings.get()
}

/// Returns `true` if opcache's JIT compiles whole functions. After an interrupt, PHP may do a step of their loops once
/// more (seen with PHP 8.2 and signals, without this module).
pub fn jit_compiles_functions() -> bool {
    let is_on = |name| engine::number_setting(name) != 0 || engine::setting(name).eq_ignore_ascii_case("on");
    let is_enabled = is_on(c"opcache.enable") && (engine::sapi_name() != c"cli" || is_on(c"opcache.enable_cli"));
    if !is_enabled || engine::number_setting(c"opcache.jit_buffer_size") == 0 {
        return false;
    }
    match &*engine::setting(c"opcache.jit").to_ascii_lowercase() {
        "" | "on" | "yes" | "true" | "tracing" | "off" | "no" | "false" | "disable" => false,
        mode => mode.parse::<u32>().map_or(true, |mode| mode != 0 && mode / 10 % 10 != 5),
    }
}
