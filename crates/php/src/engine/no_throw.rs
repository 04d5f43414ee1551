//! PHP code that C code calls which no exception can go through. A callback of C code that PHP's FFI has called: ext/ffi ends
//! the request with "Throwing from FFI callbacks is not allowed". `__debugInfo()`: so does the engine, with "__debuginfo()
//! must return an array". So a cancellation is held off while such code runs, as `Async\protect` does it, and thrown when
//! the call into C code has returned.
//!
//! `ffi.so` calls PHP code in one place, by `zend_call_function`: its entry for that is pointed here, and so is the one of
//! the handlers that all objects of PHP classes have.

use crate::runtime::park::throw_cancellation;
use crate::runtime::scheduler;
use spindle_interpose::patch::{self, Hook, Patcher};
use spindle_zend::{Object, declare, engine, exception, hooks::Passed, sys};
use std::mem::offset_of;

/// Returns a patcher of these hooks, and of the entry of `ffi.so`.
pub fn patcher(mut hooks: Vec<Hook>, excluded: Vec<String>) -> Patcher {
    let name = c"zend_call_function";
    hooks.push(Hook { name, replacement: call_back as *const () as usize });
    Patcher::new(&hooks, excluded).only_in(name, "ffi.so")
}

/// Changes the handlers of objects, once a process. Returns why that could not be.
pub fn install() -> Option<String> {
    let ours = get_debug_info as *const () as usize;
    if engine::standard_handlers().get_debug_info.is_some_and(|now| now as usize == ours) {
        return None;
    }
    let place = (&raw const sys::std_object_handlers).addr() + offset_of!(sys::zend_object_handlers, get_debug_info);
    // SAFETY: our function has the type of those in the entry, and calls what stands there.
    unsafe { patch::store(place, ours) }.err()
}

declare! {
    // What may only be passed on comes from the engine, or from who calls it.
    safe fn zend_call_function(call: Passed<'_, Call>, callee: Passed<'_, Callee>) -> sys::zend_result;
    safe fn zend_std_get_debug_info<'a>(object: &'a Object, is_temporary: Passed<'a, *mut i32>) -> *mut sys::HashTable;
}

type Call = *mut sys::zend_fcall_info;
type Callee = *mut sys::zend_fcall_info_cache;

extern "C" fn call_back(call: Passed<'_, Call>, callee: Passed<'_, Callee>) -> sys::zend_result {
    without_cancellation(|| zend_call_function(call, callee))
}

extern "C" fn get_debug_info<'a>(object: &'a Object, is_temporary: Passed<'a, *mut i32>) -> *mut sys::HashTable {
    without_cancellation(|| zend_std_get_debug_info(object, is_temporary))
}

/// Holds cancellations off while C code calls PHP code. A bailout of that ends the coroutine, shield and all.
fn without_cancellation<R>(call: impl FnOnce() -> R) -> R {
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
        engine::request_interrupt();
    }
    result
}

/// The engine may be interrupted now: throws what was held off, if the running coroutine's callback has returned.
pub fn deliver(rt: &'static scheduler::Runtime) {
    let held_off = rt.cancelled_in_callback.get();
    if held_off == 0 || exception::is_in_flight() {
        return;
    }
    let is_here = {
        let core = rt.core.borrow();
        core.id(core.running()) == held_off && core.cancellation_waits()
    };
    if is_here && throw_cancellation(rt) {
        rt.cancelled_in_callback.set(0);
    }
}
