//! Callbacks of C code that PHP's FFI has called. An exception in one cannot go through the C code below: ext/ffi ends the
//! request with "Throwing from FFI callbacks is not allowed". So a cancellation is held off while a callback runs, as
//! `Async\protect` does it, and thrown when the call into C code has returned.
//!
//! `ffi.so` calls PHP code in one place, by `zend_call_function`: its entry for that is pointed here.

use crate::runtime;
use spindle_interpose::patch::{Hook, Patcher};
use spindle_php_sys as sys;

/// A patcher of these, and of the entry of `ffi.so`.
pub fn patcher(mut hooks: Vec<Hook>, excluded: Vec<String>) -> Patcher {
    let name = c"zend_call_function";
    hooks.push(Hook { name, replacement: call_back as *const () as usize });
    Patcher::new(&hooks, excluded).only_in(name, "ffi.so")
}

unsafe extern "C" fn call_back(
    fci: *mut sys::zend_fcall_info,
    fcc: *mut sys::zend_fcall_info_cache,
) -> sys::zend_result {
    let Some(rt) = runtime::existing() else {
        // SAFETY: the caller's own arguments.
        return unsafe { sys::zend_call_function(fci, fcc) };
    };
    rt.core.borrow_mut().shield();
    // SAFETY: the caller's own arguments. A bailout ends the coroutine, shield and all.
    let result = unsafe { sys::zend_call_function(fci, fcc) };
    let waits = {
        let mut core = rt.core.borrow_mut();
        core.unshield();
        core.cancellation_waits()
    };
    if waits {
        let core = rt.core.borrow();
        rt.cancelled_in_callback.set(core.id(core.running()));
        // SAFETY: an atomic flag of the engine.
        unsafe { sys::spindle_vm_interrupt_set() };
    }
    result
}

/// The engine may be interrupted now: throws what was held off, if the running coroutine's callback has returned.
pub fn deliver(rt: &runtime::Runtime) {
    let held_off = rt.cancelled_in_callback.get();
    // SAFETY: a global of the engine.
    if held_off == 0 || unsafe { !sys::executor_globals.exception.is_null() } {
        return;
    }
    let reason = {
        let mut core = rt.core.borrow_mut();
        let here = core.id(core.running()) == held_off && core.cancellation_waits();
        if here { core.take_cancellation() } else { None }
    };
    if let Some(reason) = reason {
        rt.cancelled_in_callback.set(0);
        // SAFETY: the core's reference is passed on.
        unsafe { sys::spindle_throw(reason) };
    }
}
