//! What is known of an internal function, in the slot that the engine keeps for us in each.

use spindle_php_sys as sys;

/// What the slot of a function holds, if there is anything.
pub fn info_of(function: *const sys::zend_internal_function) -> Option<*const sys::spindle_call_info> {
    // SAFETY: an internal function; the slot was given to us by the engine. What it makes for a single call, as for
    // `Closure::__invoke()`, has anything there.
    unsafe {
        if (*function).fn_flags & sys::ZEND_ACC_CALL_VIA_TRAMPOLINE != 0 {
            return None;
        }
        let info = (*function).reserved[sys::spindle_reserved_slot as usize];
        (!info.is_null()).then_some(info.cast_const().cast())
    }
}
