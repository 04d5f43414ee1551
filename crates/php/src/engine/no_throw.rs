//! PHP code that C code calls which no exception can go through. A callback of C code that PHP's FFI has called: ext/ffi ends
//! the request with "Throwing from FFI callbacks is not allowed". `__debugInfo()`: so does the engine, with "__debuginfo()
//! must return an array". So a cancellation is held off while such code runs, as `Async\protect` does it, and thrown when
//! the call into C code has returned.
//!
//! `ffi.so` calls PHP code in one place, by `zend_call_function`: its entry for that is pointed here, and so is the one of
//! the handlers that all objects of PHP classes have.

use crate::runtime::scheduler;
use spindle_interpose::patch::{self, Hook, Patcher};
use spindle_php_sys as sys;

/// A patcher of these, and of the entry of `ffi.so`.
pub fn patcher(mut hooks: Vec<Hook>, excluded: Vec<String>) -> Patcher {
    let name = c"zend_call_function";
    hooks.push(Hook { name, replacement: call_back as *const () as usize });
    Patcher::new(&hooks, excluded).only_in(name, "ffi.so")
}

/// Changes the handlers of objects, once a process. Why that could not be.
pub fn install() -> Option<String> {
    let ours = get_debug_info as *const () as usize;
    // SAFETY: a table of the engine's, of which one entry is read; what is put there calls what was there.
    unsafe {
        let place = &raw const sys::std_object_handlers.get_debug_info;
        if place.read().is_some_and(|now| now as usize == ours) {
            None
        } else {
            patch::store(place as usize, ours).err()
        }
    }
}

unsafe extern "C" fn call_back(
    fci: *mut sys::zend_fcall_info,
    fcc: *mut sys::zend_fcall_info_cache,
) -> sys::zend_result {
    // SAFETY: the caller's own arguments.
    shielded(|| unsafe { sys::zend_call_function(fci, fcc) })
}

unsafe extern "C" fn get_debug_info(object: *mut sys::zend_object, is_temporary: *mut i32) -> *mut sys::HashTable {
    // SAFETY: the caller's own arguments.
    shielded(|| unsafe { sys::zend_std_get_debug_info(object, is_temporary) })
}

/// Holds cancellations off while C code calls PHP code. A bailout of that ends the coroutine, shield and all.
fn shielded<R>(call: impl FnOnce() -> R) -> R {
    let Some(rt) = scheduler::existing() else { return call() };
    rt.core.borrow_mut().shield();
    let result = call();
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
pub fn deliver(rt: &scheduler::Runtime) {
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
