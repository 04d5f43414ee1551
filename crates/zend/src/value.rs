//! Values.

use crate::{Array, Class, Object, Owned, Resource, Str, sys};
use std::{
    cell::{Cell, UnsafeCell},
    ffi::c_void,
    mem,
    mem::ManuallyDrop,
    ptr::NonNull,
};

/// A value that owns what it refers to.
#[repr(transparent)]
pub struct Value(sys::zval);

/// What kind of value it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// No value at all.
    Undef,
    /// `null`.
    Null,
    /// `false` or `true`.
    Bool,
    /// An integer.
    Long,
    /// A float.
    Double,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
    /// A resource.
    Resource,
    /// A reference to a value.
    Reference,
    /// Something of the engine's own.
    Internal,
}

const REFCOUNTED: u32 = sys::IS_TYPE_REFCOUNTED << 8;
const COLLECTABLE: u32 = REFCOUNTED | (sys::IS_TYPE_COLLECTABLE << 8);

const fn typed(type_info: u32, value: sys::zend_value) -> Value {
    let u1 = sys::_zval_struct__bindgen_ty_1 { type_info };
    Value(sys::zval { value, u1, u2: sys::_zval_struct__bindgen_ty_2 { next: 0 } })
}

impl Value {
    /// `null`.
    pub const NULL: Value = typed(sys::IS_NULL, sys::zend_value { lval: 0 });
    /// No value.
    pub const UNDEF: Value = typed(sys::IS_UNDEF, sys::zend_value { lval: 0 });

    /// Takes over a value of the engine's.
    ///
    /// # Safety
    /// What it refers to is alive, and the reference is the caller's.
    #[inline(always)]
    pub unsafe fn from_raw(value: sys::zval) -> Value {
        Value(value)
    }

    /// Hands the value to somebody who releases it.
    #[inline(always)]
    pub fn into_raw(self) -> sys::zval {
        ManuallyDrop::new(self).bits().0
    }

    /// Returns the same bits, which count no reference of their own. They are copied member by member, as the engine's own code
    /// does: a processor that has just written the members one by one stalls when it reads them as one wide word.
    #[inline(always)]
    fn bits(&self) -> ManuallyDrop<Value> {
        // SAFETY: any member of the union is eight bytes.
        let value = unsafe { sys::zend_value { lval: self.0.value.lval } };
        ManuallyDrop::new(typed(self.type_info(), value))
    }

    /// Returns the value at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or valid and unchanged as long as the borrow is used.
    #[inline(always)]
    pub unsafe fn borrow<'a>(value: *const sys::zval) -> Option<&'a Value> {
        // SAFETY: the caller's promise.
        unsafe { value.cast::<Value>().as_ref() }
    }

    /// Calls `with`, which keeps nothing, with a value that is this object, to which no reference is counted.
    pub(crate) fn uncounted_object(object: &Object, with: impl FnOnce(&Value)) {
        with(&ManuallyDrop::new(typed(sys::IS_OBJECT | COLLECTABLE, sys::zend_value { obj: object.as_raw() })));
    }

    /// As [`Value::uncounted_object`], of an array.
    pub(crate) fn uncounted_array(array: &Array, with: impl FnOnce(&Value)) {
        with(&ManuallyDrop::new(typed(sys::IS_ARRAY | COLLECTABLE, sys::zend_value { arr: array.as_raw() })));
    }

    /// Returns the engine's pointer, to be read.
    #[inline(always)]
    pub fn as_raw(&self) -> *const sys::zval {
        &self.0
    }

    /// Returns the engine's pointer. Who writes there leaves a valid value.
    #[inline(always)]
    pub fn as_mut_raw(&mut self) -> *mut sys::zval {
        &mut self.0
    }

    #[inline(always)]
    pub(crate) fn type_info(&self) -> u32 {
        // SAFETY: a word of flags; both views of the union are numbers of its size.
        unsafe { self.0.u1.type_info }
    }

    /// Returns what the engine keeps behind the value.
    #[inline(always)]
    pub(crate) fn word_behind(&self) -> u32 {
        // SAFETY: a word; all views of the union are numbers of its size.
        unsafe { self.0.u2.next }
    }

    /// Returns the number by which the engine knows its type (`IS_…`).
    #[inline(always)]
    pub fn type_number(&self) -> u32 {
        self.type_info() & 0xff
    }

    /// Returns its kind.
    pub fn kind(&self) -> Kind {
        match self.type_number() {
            sys::IS_UNDEF => Kind::Undef,
            sys::IS_NULL => Kind::Null,
            sys::IS_FALSE | sys::IS_TRUE => Kind::Bool,
            sys::IS_LONG => Kind::Long,
            sys::IS_DOUBLE => Kind::Double,
            sys::IS_STRING => Kind::String,
            sys::IS_ARRAY => Kind::Array,
            sys::IS_OBJECT => Kind::Object,
            sys::IS_RESOURCE => Kind::Resource,
            sys::IS_REFERENCE => Kind::Reference,
            _ => Kind::Internal,
        }
    }

    /// Returns the name of its type, as messages have it.
    pub fn type_name(&self) -> String {
        // SAFETY: a valid value.
        let name = unsafe { sys::zend_zval_type_name(self.as_raw()) };
        // SAFETY: a terminated text that lasts as long as the process.
        unsafe { std::ffi::CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }

    /// Returns `true` if there is no value.
    #[inline(always)]
    pub fn is_undef(&self) -> bool {
        self.type_number() == sys::IS_UNDEF
    }

    /// Returns `true` if it refers to something that counts references.
    #[inline(always)]
    pub fn is_counted(&self) -> bool {
        self.type_info() & REFCOUNTED != 0
    }

    /// Returns the value, or `None` if there is none.
    #[inline(always)]
    pub fn some(self) -> Option<Value> {
        (!self.is_undef()).then_some(self)
    }

    /// Returns the integer, if it is one.
    pub fn as_long(&self) -> Option<i64> {
        if self.type_number() != sys::IS_LONG {
            return None;
        }
        // SAFETY: the member that the type names.
        Some(unsafe { self.0.value.lval })
    }

    /// Returns the string, if it is one.
    pub fn as_str(&self) -> Option<&Str> {
        if self.type_number() != sys::IS_STRING {
            return None;
        }
        // SAFETY: the member that the type names.
        let string = unsafe { self.0.value.str_ };
        // SAFETY: alive as long as the value is.
        unsafe { Str::borrow(string) }
    }

    /// Returns the array, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        if self.type_number() != sys::IS_ARRAY {
            return None;
        }
        // SAFETY: the member that the type names.
        let array = unsafe { self.0.value.arr };
        // SAFETY: alive as long as the value is.
        unsafe { Array::borrow(array) }
    }

    /// Returns the object, if it is one.
    #[inline]
    pub fn as_object(&self) -> Option<&Object> {
        if self.type_number() != sys::IS_OBJECT {
            return None;
        }
        // SAFETY: the member that the type names.
        let object = unsafe { self.0.value.obj };
        // SAFETY: alive as long as the value is.
        unsafe { Object::borrow(object) }
    }

    /// Returns the resource, if it is one.
    pub fn as_resource(&self) -> Option<&Resource> {
        if self.type_number() != sys::IS_RESOURCE {
            return None;
        }
        // SAFETY: the member that the type names.
        let resource = unsafe { self.0.value.res };
        // SAFETY: alive as long as the value is.
        unsafe { Resource::borrow(resource) }
    }

    /// Returns the pointer, if it is one: tables of the engine's have such values.
    pub fn as_pointer(&self) -> Option<NonNull<c_void>> {
        if self.type_number() != sys::IS_PTR {
            return None;
        }
        // SAFETY: the member that the type names.
        NonNull::new(unsafe { self.0.value.ptr })
    }

    /// Returns `true` if PHP code takes it for `true`.
    pub fn is_truthy(&self) -> bool {
        // SAFETY: a valid value.
        let truth = unsafe { sys::zend_is_true(self.as_raw().cast_mut()) };
        truth as u8 != 0 // an int before PHP 8.4
    }

    /// Returns what it is a reference to, or itself.
    pub fn dereferenced(&self) -> &Value {
        if self.type_number() != sys::IS_REFERENCE {
            return self;
        }
        // SAFETY: the member that the type names.
        let reference = unsafe { self.0.value.ref_ };
        // SAFETY: alive as long as the value is.
        let inner = unsafe { &raw const (*reference).val };
        // SAFETY: as above.
        unsafe { Value::borrow(inner) }.unwrap_or(self)
    }
}

impl Clone for Value {
    #[inline(always)]
    fn clone(&self) -> Value {
        if self.is_counted() {
            // SAFETY: the member of every counted type.
            let counted = unsafe { self.0.value.counted };
            // SAFETY: alive as long as the value is; the count is only used on the PHP thread.
            unsafe { (*counted).gc.refcount += 1 };
        }
        ManuallyDrop::into_inner(self.bits())
    }
}

impl Drop for Value {
    #[inline(always)]
    fn drop(&mut self) {
        if self.is_counted() {
            // SAFETY: our reference, which goes with this value.
            unsafe { sys::spindle_zval_dtor(&mut self.0) };
        }
    }
}

impl Default for Value {
    /// No value.
    fn default() -> Value {
        Value::UNDEF
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        typed(sys::IS_LONG, sys::zend_value { lval: number })
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        typed(sys::IS_DOUBLE, sys::zend_value { dval: number })
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        typed(if truth { sys::IS_TRUE } else { sys::IS_FALSE }, sys::zend_value { lval: 0 })
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Str::new(text).into()
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Str::new(text).into()
    }
}

impl From<Owned<Str>> for Value {
    fn from(string: Owned<Str>) -> Value {
        let flags = if string.is_uncounted() { 0 } else { REFCOUNTED };
        typed(sys::IS_STRING | flags, sys::zend_value { str_: string.into_raw().cast() })
    }
}

impl From<Owned<Array>> for Value {
    fn from(array: Owned<Array>) -> Value {
        typed(sys::IS_ARRAY | COLLECTABLE, sys::zend_value { arr: array.into_raw().cast() })
    }
}

impl From<Owned<Object>> for Value {
    fn from(object: Owned<Object>) -> Value {
        typed(sys::IS_OBJECT | COLLECTABLE, sys::zend_value { obj: object.into_raw().cast() })
    }
}

impl From<Class> for Value {
    /// As the engine's table of classes has them.
    fn from(class: Class) -> Value {
        typed(sys::IS_PTR, sys::zend_value { ce: class.as_raw() })
    }
}

impl From<&Str> for Value {
    /// One more reference to the string.
    fn from(string: &Str) -> Value {
        Owned::of(string).into()
    }
}

impl From<&Object> for Value {
    /// One more reference to the object.
    fn from(object: &Object) -> Value {
        Owned::of(object).into()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    /// `null` for `None`.
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::NULL, Into::into)
    }
}

/// A place for a value, as the fields of objects of ours are. What is in it is taken out before it is released: a destructor
/// that looks here finds nothing, and not what is on its way out.
#[repr(transparent)]
#[derive(Default)]
pub struct ValueCell(UnsafeCell<Value>);

impl ValueCell {
    /// Returns a place with no value in it.
    pub const fn new() -> ValueCell {
        ValueCell(UnsafeCell::new(Value::UNDEF))
    }

    /// Returns a place of the engine's.
    ///
    /// # Safety
    /// There is a valid value in it, and the reference that it counts is the place's own.
    #[inline(always)]
    pub unsafe fn borrow(place: &Cell<sys::zval>) -> &ValueCell {
        // SAFETY: the same layout, and the caller's promise.
        unsafe { &*std::ptr::from_ref(place).cast() }
    }

    /// Returns `true` if there is no value.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        // SAFETY: borrowed for a moment, in which no other code runs.
        unsafe { (*self.0.get()).is_undef() }
    }

    /// Takes the value out. `Value::UNDEF` if there is none.
    #[inline(always)]
    pub fn take(&self) -> Value {
        self.replace(Value::UNDEF)
    }

    /// Calls `with`, which runs no other code than its own, with what is there.
    pub(crate) fn with(&self, with: impl FnOnce(&Value)) {
        // SAFETY: borrowed for a moment, in which no other code runs.
        with(unsafe { &*self.0.get() });
    }

    /// Puts a value in, and returns what was there.
    #[inline(always)]
    pub fn replace(&self, value: Value) -> Value {
        let place = self.0.get();
        // SAFETY: borrowed for a moment, in which no other code runs.
        let old = unsafe { (*place).bits() };
        // SAFETY: as above; what was there is the caller's now.
        unsafe { place.write(value) };
        ManuallyDrop::into_inner(old)
    }

    /// Puts a value into this place of a table, which keeps a part of the place for itself, and returns what was there.
    pub(crate) fn replace_in_table(&self, mut value: Value) -> Value {
        // SAFETY: borrowed for a moment, in which no other code runs.
        let place = unsafe { &mut *self.0.get() };
        value.0.u2 = place.0.u2;
        mem::replace(place, value)
    }

    /// Puts a value in, and releases what was there when the new one is in place, which may run PHP code.
    pub fn set(&self, value: Value) {
        drop(self.replace(value));
    }

    /// Returns a copy of the value. `Value::UNDEF` if there is none.
    #[inline]
    pub fn get(&self) -> Value {
        // SAFETY: copying a value runs no other code.
        unsafe { (*self.0.get()).clone() }
    }

    /// Returns the engine's pointer to the place, for calls that read it while nobody changes it.
    #[inline(always)]
    pub fn as_raw(&self) -> *mut sys::zval {
        self.0.get().cast()
    }
}

impl From<Value> for ValueCell {
    fn from(value: Value) -> ValueCell {
        ValueCell(UnsafeCell::new(value))
    }
}

impl Drop for ValueCell {
    fn drop(&mut self) {
        drop(self.take());
    }
}
