//! Registration of classes.

use crate::arguments::Methods;
use spindle_zend::{Class, ObjectClass, State, declare_class_with_statics, sys};
use std::ffi::CStr;

/// Registers a final class whose objects have a state of Rust. At module start.
pub fn declare<T: State>(
    class: &ObjectClass<T>,
    create: spindle_zend::Create,
    name: &CStr,
    methods: Methods,
    statics: Methods,
) -> Class {
    let declared = declare_class_with_statics(name, methods, statics);
    class.register(declared, create, sys::ZEND_ACC_FINAL | sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |_| {});
    declared
}
