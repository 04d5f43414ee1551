//! What the engine knows and does: its classes, calls of PHP code, interrupts, warnings.

use crate::{Class, Object, Str, Value, sys};
use std::{ffi::CStr, mem::ManuallyDrop};

fn engine_class(class: *mut sys::zend_class_entry) -> Class {
    Class::of_live(class)
}

/// Returns the class `Closure`.
#[inline(always)]
pub fn closure_class() -> Class {
    // SAFETY: a global of the engine, set before modules start.
    engine_class(unsafe { sys::zend_ce_closure })
}

/// Returns the interface `Throwable`.
pub fn throwable_class() -> Class {
    // SAFETY: as above.
    engine_class(unsafe { sys::zend_ce_throwable })
}

/// Returns the class `WeakReference`.
pub fn weak_reference_class() -> Class {
    // SAFETY: as above.
    engine_class(unsafe { sys::zend_ce_weakref })
}

/// Calls a callable with these arguments, and returns its result: `Value::UNDEF` if something was thrown.
pub fn call(callable: &Value, arguments: &mut [Value]) -> Value {
    let mut result = Value::NULL;
    let (count, values) = (arguments.len() as u32, arguments.as_mut_ptr().cast());
    // SAFETY: valid values, which the call borrows, and a place for the result.
    unsafe { sys::spindle_call_closure(callable.as_raw().cast_mut(), result.as_mut_raw(), count, values) };
    result
}

/// Asks the engine to stop PHP code between two instructions, at the next occasion.
#[inline(always)]
pub fn request_interrupt() {
    // SAFETY: an atomic flag, made to be set from anywhere.
    unsafe { sys::spindle_vm_interrupt_set() };
}

/// Raises a warning at a file and line; without a file where the running code is.
pub fn warn_at(file: Option<&Str>, line: u32, text: &CStr) {
    let file = file.map_or(std::ptr::null_mut(), Str::as_raw);
    // SAFETY: null or a live string, and a terminated text.
    unsafe { sys::spindle_warning_at(file, line, text.as_ptr()) };
}

/// Prints a text, through output buffers.
pub fn print(text: &str) {
    let text = ManuallyDrop::new(Str::new(text));
    // SAFETY: a live string, which this call holds. Its output handlers may run PHP code and bail out: then it is the heap's.
    unsafe { sys::spindle_print(text.as_raw()) };
    drop(ManuallyDrop::into_inner(text));
}

/// Returns the text of an ini setting.
pub fn setting(name: &CStr) -> String {
    // SAFETY: a terminated name.
    let value = unsafe { sys::zend_ini_string(name.as_ptr().cast_mut(), name.count_bytes(), 0) };
    if value.is_null() {
        return String::new();
    }
    // SAFETY: a terminated text that the engine keeps.
    unsafe { CStr::from_ptr(value) }.to_string_lossy().into_owned()
}

/// Returns the object that a `WeakReference` refers to, if it is still there.
pub fn weak_target(reference: &Object) -> Value {
    let mut result = Value::NULL;
    // SAFETY: a live `WeakReference`, and a place for the result.
    unsafe { sys::spindle_weak_target(reference.as_raw(), result.as_mut_raw()) };
    result
}
