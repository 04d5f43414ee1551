//! Objects.

use crate::{Class, Object, Owned, Shared, Str, Value, declare, shared::WithCount, sys};
use std::{ffi::CStr, mem::ManuallyDrop};

declare! {
    // What is written are properties, which the engine checks; an object has as many properties as its class declares.
    unsafe fn spindle_object_property(object: &Object, place: u32) -> &Value;
    safe fn zend_update_property_ex(scope: Class, object: &Object, name: &Str, value: &Value);
    safe fn zend_read_property_ex<'a>(
        scope: Class,
        object: &'a Object,
        name: &Str,
        is_silent: bool,
        room: &'a mut Value,
    ) -> &'a Value;
    safe fn spindle_object_release(object: ManuallyDrop<Owned<Object>>);
    safe fn spindle_object_skip_destructor(object: &Object);
    safe fn spindle_object_revive(object: &Object);
    safe fn spindle_object_abandon(object: &Object);
    safe fn spindle_object_is_destructed(object: &Object) -> bool;
    safe fn spindle_object_is_referenced_weakly(object: &Object) -> bool;
}

impl Shared<sys::zend_object> {
    /// Takes over a reference. `None` for null.
    ///
    /// # Safety
    /// A live object, and the reference is the caller's.
    #[inline(always)]
    pub unsafe fn own(object: *mut sys::zend_object) -> Option<Owned<Object>> {
        // SAFETY: the caller's promise.
        unsafe { Owned::from_raw(object.cast()) }
    }

    /// Returns its class.
    #[inline(always)]
    pub fn class(&self) -> Class {
        Class::of_live(self.raw().ce)
    }

    /// Returns `true` if it is an instance of this class or of one that extends it.
    pub fn is_a(&self, class: Class) -> bool {
        self.class().is_or_extends(class)
    }

    /// Returns the value of the property that its class declares at this index, from 0 on.
    pub fn property(&self, place: u32) -> Option<&Value> {
        if place as i32 >= self.class().raw().default_properties_count {
            return None;
        }
        // SAFETY: a place that its class has.
        Some(unsafe { spindle_object_property(self, place) })
    }

    /// Sets a declared property, as code of `scope` does. Throws if that is not allowed.
    pub fn set_property(&self, scope: Class, name: &CStr, value: &Value) {
        zend_update_property_ex(scope, self, &Str::new(name.to_bytes()), value);
    }

    /// Returns a copy of a declared property, as code of `scope` reads it.
    pub fn read_property(&self, scope: Class, name: &CStr) -> Value {
        let mut room = Value::UNDEF;
        zend_read_property_ex(scope, self, &Str::new(name.to_bytes()), true, &mut room).dereferenced().clone()
    }

    /// Returns the name of an enum case.
    ///
    /// # Panics
    /// The object is no enum case.
    pub fn enum_case_name(&self) -> &Str {
        self.property(0).and_then(Value::as_str).expect("a case of an enum has a name")
    }

    /// Returns the address of its handlers.
    pub fn handlers(&self) -> *const sys::zend_object_handlers {
        self.raw().handlers
    }

    /// Returns its id, by which the engine identifies it.
    pub fn handle(&self) -> u32 {
        self.raw().handle
    }

    /// Prevents its destructor from running.
    pub fn skip_destructor(&self) {
        spindle_object_skip_destructor(self);
    }

    /// Lets its destructor run again when the last reference is gone: it has run, and has kept the object.
    pub fn revive(&self) {
        spindle_object_revive(self);
    }

    /// Prevents any code from running when it is freed, even that of its extension: what it stands for belongs to another process.
    /// Memory and descriptors of the extension stay until this process ends.
    pub fn abandon(&self) {
        spindle_object_abandon(self);
    }

    /// Returns `true` if its destructor was called, or must not be. The cycle collector may be about to free it then, even if
    /// it gets references now: a pointer that is no reference must not be made one.
    pub fn is_destructed(&self) -> bool {
        spindle_object_is_destructed(self)
    }

    /// Returns `true` if a `WeakReference` or a `WeakMap` refers to it: values of maps are released when it is freed.
    pub fn is_referenced_weakly(&self) -> bool {
        spindle_object_is_referenced_weakly(self)
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        std::ptr::eq(self, other)
    }
}

// SAFETY: an object begins with its count, and the C function releases a reference.
unsafe impl WithCount for sys::zend_object {
    #[inline(always)]
    fn release(this: ManuallyDrop<Owned<Object>>) {
        spindle_object_release(this);
    }
}
