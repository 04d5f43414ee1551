//! The methods of `Async\Context`, and `localContext()`.

use crate::runtime::{
    context, coroutine,
    scheduler::rt,
    slots::{self, Slots},
};
use crate::zend::zv;
use spindle_php_sys as sys;
use std::ptr::null_mut;

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_localContext(frame: Frame, result: Value) {
    // SAFETY: the engine's frame and place for the result.
    unsafe {
        if sys::spindle_parse_none(frame) {
            zv::set_object_copy(result, context::of_coroutine(rt().running()));
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Coroutine_getContext(frame: Frame, result: Value) {
    // SAFETY: the engine's frame of this method, `This` an object of the class.
    unsafe {
        if sys::spindle_parse_none(frame) {
            zv::set_object_copy(result, context::of_coroutine(coroutine::of((*frame).This.value.obj)));
        }
    }
}

/// The slots of the context whose method is called, which its frame keeps alive.
unsafe fn this<'a>(frame: Frame) -> &'a Slots {
    // SAFETY: a method of the class is being called, so `This` is an object of it.
    unsafe { context::slots_of((*frame).This.value.obj) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Context___construct(_: Frame, _: Value) {}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Context_find(frame: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and its place for the result, here and below.
    unsafe { slots::method_find(frame, result, |key| this(frame).find(key)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Context_get(frame: Frame, result: Value) {
    // SAFETY: see above.
    unsafe { slots::method_get(frame, result, |key| this(frame).find(key)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Context_has(frame: Frame, result: Value) {
    // SAFETY: see above.
    unsafe { slots::method_has(frame, result, |key| this(frame).has(key)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Context_set(frame: Frame, result: Value) {
    // SAFETY: see above.
    unsafe { slots::method_set(frame, result, this(frame)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Context_unset(frame: Frame, result: Value) {
    // SAFETY: see above.
    unsafe { slots::method_unset(frame, result, this(frame)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Key___construct(frame: Frame, _: Value) {
    let mut description = null_mut();
    // SAFETY: the engine's frame of this method, `This` an object of the class. A second call fails as the property is
    // readonly.
    unsafe {
        if sys::spindle_parse_optional_string(frame, &mut description) {
            let name = c"description";
            let (text, length) = (name.as_ptr(), name.count_bytes());
            sys::zend_update_property_str(sys::spindle_ce.key, (*frame).This.value.obj, text, length, description);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Key___toString(frame: Frame, result: Value) {
    // SAFETY: the engine's frame of this method, `This` an object of the class.
    unsafe {
        if sys::spindle_parse_none(frame) {
            let description = sys::spindle_key_description((*frame).This.value.obj);
            result.write(if description.is_null() { zv::string("") } else { zv::string_copy(description) });
        }
    }
}
