//! Defers cancellations in PHP code that is called by C code through which no exception can pass.
//!
//! In a callback of C code that PHP's FFI has called, ext/ffi ends the request with "Throwing from FFI callbacks is not
//! allowed". In `__debugInfo()` the engine ends it with "__debuginfo() must return an array". So cancellations are
//! deferred while such code runs, as by `Async\protect()`, and thrown when the call into C code has returned.
//!
//! `ffi.so` calls PHP code in one place, by `zend_call_function`, or by `zend_call_known_function` since PHP 8.4. Its
//! entry for that is patched, and so is the debug-info handler in the table that all objects of PHP classes share.

use crate::runtime::park::throw_cancellation;
use crate::runtime::scheduler;
use spindle_interpose::patch::{self, Hook, Patcher};
use spindle_zend::{Object, declare, engine, exception, hooks::Passed, sys};
use std::mem::offset_of;

/// Returns a patcher of these hooks and of the entry of `ffi.so`.
pub fn patcher(mut hooks: Vec<Hook>, excluded: Vec<String>) -> Patcher {
    let (by_description, directly) = (c"zend_call_function", c"zend_call_known_function");
    hooks.push(Hook { name: by_description, replacement: call_back as *const () as usize });
    hooks.push(Hook { name: directly, replacement: call_back_directly as *const () as usize });
    Patcher::new(&hooks, excluded).only_in(by_description, "ffi.so").only_in(directly, "ffi.so")
}

/// Replaces the handler of objects, once per process. Returns the reason if it cannot be replaced.
pub fn install() -> Option<String> {
    let replacement = get_debug_info as *const () as usize;
    if engine::standard_handlers().get_debug_info.is_some_and(|now| now as usize == replacement) {
        return None;
    }
    let place = (&raw const sys::std_object_handlers).addr() + offset_of!(sys::zend_object_handlers, get_debug_info);
    // SAFETY: our function has the type of those in the entry, and calls what stands there.
    unsafe { patch::store(place, replacement) }.err()
}

declare! {
    // Arguments of the type `Passed` come from the engine, or from code that calls it.
    safe fn zend_call_function(call: Passed<'_, Call>, callee: Passed<'_, Callee>) -> sys::zend_result;
    safe fn zend_call_known_function(
        callee: Passed<'_, *mut sys::zend_function>,
        object: Passed<'_, *mut sys::zend_object>,
        class: Passed<'_, *mut sys::zend_class_entry>,
        result: Passed<'_, *mut sys::zval>,
        count: u32,
        arguments: Passed<'_, *mut sys::zval>,
        named: Passed<'_, *mut sys::HashTable>,
    );
    safe fn zend_std_get_debug_info<'a>(object: &'a Object, is_temporary: Passed<'a, *mut i32>) -> *mut sys::HashTable;
}

type Call = *mut sys::zend_fcall_info;
type Callee = *mut sys::zend_fcall_info_cache;

extern "C" fn call_back(call: Passed<'_, Call>, callee: Passed<'_, Callee>) -> sys::zend_result {
    without_cancellation(|| zend_call_function(call, callee))
}

extern "C" fn call_back_directly(
    callee: Passed<'_, *mut sys::zend_function>,
    object: Passed<'_, *mut sys::zend_object>,
    class: Passed<'_, *mut sys::zend_class_entry>,
    result: Passed<'_, *mut sys::zval>,
    count: u32,
    arguments: Passed<'_, *mut sys::zval>,
    named: Passed<'_, *mut sys::HashTable>,
) {
    without_cancellation(|| zend_call_known_function(callee, object, class, result, count, arguments, named));
}

extern "C" fn get_debug_info<'a>(object: &'a Object, is_temporary: Passed<'a, *mut i32>) -> *mut sys::HashTable {
    without_cancellation(|| zend_std_get_debug_info(object, is_temporary))
}

/// Defers cancellations during a call of PHP code by C code. A bailout from that ends the coroutine, and the shield
/// with it.
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

/// Throws, where the engine can be interrupted, a cancellation that was deferred, if the running coroutine's callback
/// has returned.
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
