//! Values.

use crate::{Array, Object, Owned, Resource, Str, Text, declare, shared::Head, sys};
use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    mem::ManuallyDrop,
    mem::offset_of,
    ptr::NonNull,
};

// SAFETY: as the headers say, except that the result is an `int` before PHP 8.4, whose low byte is enough.
unsafe extern "C" {
    safe fn zend_is_true(value: &Value) -> u8;
}

declare! {
    // Values are read, or released once. A stream is one, or the answer says that it is not.
    safe fn zend_zval_type_name(value: &Value) -> Text<'static>;
    safe fn spindle_zval_dtor(value: ManuallyDrop<Value>);
    safe fn spindle_stream_descriptor(stream: &Value) -> c_int;
    safe fn spindle_stream_to_poll(stream: &Value, reads: bool) -> c_int;
    safe fn spindle_socket_to_poll(stream: &Value, reads: bool, descriptor: &mut c_int) -> bool;
    safe fn spindle_is_stream(value: &Value) -> bool;
    safe fn spindle_stream_has_buffered(stream: &Value) -> bool;
    safe fn spindle_stream_is_in_memory(value: &Value) -> bool;
}

/// A value that owns what it refers to.
#[repr(transparent)]
pub struct Value(sys::zval);

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Undefined: no value.
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
    /// An internal type of the engine.
    Internal,
}

const REFCOUNTED: u32 = sys::IS_TYPE_REFCOUNTED << 8;
const COLLECTABLE: u32 = REFCOUNTED | (sys::IS_TYPE_COLLECTABLE << 8);

const fn raw(type_info: u32, value: sys::zend_value) -> sys::zval {
    let u1 = sys::_zval_struct__bindgen_ty_1 { type_info };
    sys::zval { value, u1, u2: sys::_zval_struct__bindgen_ty_2 { next: 0 } }
}

const fn typed(type_info: u32, value: sys::zend_value) -> Value {
    Value(raw(type_info, value))
}

impl Value {
    /// `null`.
    pub const NULL: Value = typed(sys::IS_NULL, sys::zend_value { lval: 0 });
    /// The undefined value.
    pub const UNDEF: Value = typed(sys::IS_UNDEF, sys::zend_value { lval: 0 });

    /// Takes over a value of the engine.
    ///
    /// # Safety
    /// What it refers to is alive, and the reference is the caller's.
    #[inline(always)]
    pub unsafe fn from_raw(value: sys::zval) -> Value {
        Value(value)
    }

    /// Returns the zval, which the caller has to release.
    #[inline(always)]
    pub fn into_raw(self) -> sys::zval {
        ManuallyDrop::new(self).bits().0
    }

    /// Returns the same bits, without a reference of their own. They are copied member by member, as by the engine: a
    /// processor that has just written the members one by one stalls when it reads them as one wide word.
    #[inline(always)]
    fn bits(&self) -> ManuallyDrop<Value> {
        ManuallyDrop::new(typed(self.type_info(), sys::zend_value { lval: self.word() }))
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

    /// Returns the values that lie in a row at this address.
    ///
    /// # Safety
    /// The values that the number counts lie there, and are valid and unchanged as long as the borrow is used; or the number is 0.
    pub unsafe fn borrow_many<'a>(values: *const sys::zval, count: u32) -> &'a [Value] {
        if count == 0 {
            return &[];
        }
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(values.cast::<Value>(), count as usize) }
    }

    /// Calls `with` with a value that is this object, without adding a reference. `with` must not keep it.
    pub(crate) fn uncounted_object(object: &Object, with: impl FnOnce(&Value)) {
        with(&ManuallyDrop::new(typed(sys::IS_OBJECT | COLLECTABLE, sys::zend_value { obj: object.as_raw() })));
    }

    /// Like [`Value::uncounted_object`], for an array.
    pub(crate) fn uncounted_array(array: &Array, with: impl FnOnce(&Value)) {
        with(&ManuallyDrop::new(typed(sys::IS_ARRAY | COLLECTABLE, sys::zend_value { arr: array.as_raw() })));
    }

    /// Returns the engine's pointer, to be read.
    #[inline(always)]
    pub fn as_raw(&self) -> *const sys::zval {
        &self.0
    }

    /// Returns the engine's pointer. The caller must leave a valid value there.
    #[inline(always)]
    pub fn as_mut_raw(&mut self) -> *mut sys::zval {
        &mut self.0
    }

    #[inline(always)]
    pub(crate) fn type_info(&self) -> u32 {
        // SAFETY: a word of flags; both views of the union are numbers of its size.
        unsafe { self.0.u1.type_info }
    }

    #[inline(always)]
    fn word(&self) -> i64 {
        // SAFETY: any member of the union is eight bytes.
        unsafe { self.0.value.lval }
    }

    #[inline(always)]
    pub(crate) fn pointer(&self) -> *mut c_void {
        // SAFETY: any member of the union is as large as a pointer.
        unsafe { self.0.value.ptr }
    }

    /// Returns the structure that it refers to, if it is of this type.
    #[inline(always)]
    fn target<T: Target>(&self) -> Option<&T> {
        if self.type_number() != T::TYPE {
            return None;
        }
        // SAFETY: what values of this type point to, which is alive as long as the value is.
        Some(unsafe { &*self.pointer().cast::<T>() })
    }

    /// Returns the reference count of the structure that it refers to, if that has one.
    #[inline(always)]
    fn head(&self) -> Option<&Head> {
        if !self.is_counted() {
            return None;
        }
        // SAFETY: what all counted structures begin with; alive as long as the value is.
        unsafe { self.pointer().cast::<Head>().as_ref() }
    }

    /// Returns the value for this address in a table of the engine.
    pub(crate) fn of_pointer<T>(pointer: NonNull<T>) -> Value {
        typed(sys::IS_PTR, sys::zend_value { ptr: pointer.as_ptr().cast() })
    }

    /// Returns the word that the engine keeps after the value.
    #[inline(always)]
    pub(crate) fn word_behind(&self) -> u32 {
        // SAFETY: a word; all views of the union are numbers of its size.
        unsafe { self.0.u2.next }
    }

    /// Returns the engine's number of its type (`IS_…`).
    #[inline(always)]
    pub fn type_number(&self) -> u32 {
        self.type_info() & 0xff
    }

    /// Returns its type.
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

    /// Returns the name of its type for messages.
    pub fn type_name(&self) -> String {
        zend_zval_type_name(self).get().to_string_lossy().into_owned()
    }

    /// Returns `true` if it is undefined.
    #[inline(always)]
    pub fn is_undef(&self) -> bool {
        self.type_number() == sys::IS_UNDEF
    }

    /// Returns `true` if it is `null`.
    #[inline(always)]
    pub fn is_null(&self) -> bool {
        self.type_number() == sys::IS_NULL
    }

    /// Returns `true` if it refers to a reference-counted structure.
    #[inline(always)]
    pub fn is_counted(&self) -> bool {
        self.type_info() & REFCOUNTED != 0
    }

    /// Returns the value, or `None` if it is undefined.
    #[inline(always)]
    pub fn some(self) -> Option<Value> {
        (!self.is_undef()).then_some(self)
    }

    /// Returns the number of references to the structure that it refers to; 0 if that is not counted.
    pub fn references(&self) -> u32 {
        if !self.is_counted() {
            return 0;
        }
        // SAFETY: the structure that a counted value refers to begins with its count.
        unsafe { self.pointer().cast::<u32>().read() }
    }

    /// Returns the integer, if it is one.
    pub fn as_long(&self) -> Option<i64> {
        (self.type_number() == sys::IS_LONG).then(|| self.word())
    }

    /// Returns the floating-point number, if it is one.
    pub fn as_double(&self) -> Option<f64> {
        (self.type_number() == sys::IS_DOUBLE).then(|| f64::from_bits(self.word() as u64))
    }

    /// Returns the string, if it is one.
    pub fn as_str(&self) -> Option<&Str> {
        self.target()
    }

    /// Returns the array, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        self.target()
    }

    /// Returns the object, if it is one.
    #[inline]
    pub fn as_object(&self) -> Option<&Object> {
        self.target()
    }

    /// Returns the resource, if it is one.
    pub fn as_resource(&self) -> Option<&Resource> {
        self.target()
    }

    /// Returns the pointer, if it is one, as in tables of the engine.
    pub fn as_pointer(&self) -> Option<NonNull<c_void>> {
        NonNull::new(self.pointer()).filter(|_| self.type_number() == sys::IS_PTR)
    }

    /// Returns `true` if it is a stream that has not been closed.
    pub fn is_open_stream(&self) -> bool {
        spindle_is_stream(self)
    }

    /// Returns `true` if it is a stream of which data was read ahead.
    pub fn has_buffered(&self) -> bool {
        spindle_stream_has_buffered(self)
    }

    /// Returns `true` if it is a stream in memory.
    pub fn is_stream_in_memory(&self) -> bool {
        spindle_stream_is_in_memory(self)
    }

    /// Returns the descriptor by which a stream can be polled, if it has one. Code of a user wrapper may run, and throw.
    pub fn stream_descriptor(&self) -> Option<i32> {
        Some(spindle_stream_descriptor(self)).filter(|descriptor| *descriptor >= 0)
    }

    /// Returns `true` if PHP code treats it as true.
    pub fn is_truthy(&self) -> bool {
        zend_is_true(self) != 0
    }

    /// Returns the value that it is a reference to, or itself.
    pub fn dereferenced(&self) -> &Value {
        self.target::<Reference>().map_or(self, |reference| &reference.value)
    }
}

/// The structure that values of one type point to.
///
/// # Safety
/// It has the representation of what these values point to.
unsafe trait Target {
    /// The engine's number of the type.
    const TYPE: u32;
}

/// A reference to a value: the first fields of `zend_reference`.
#[repr(C)]
struct Reference {
    head: Head,
    value: Value,
}

const _: () = assert!(offset_of!(Reference, value) == offset_of!(sys::zend_reference, val));

// SAFETY: strings, which these values point to.
unsafe impl Target for Str {
    const TYPE: u32 = sys::IS_STRING;
}

// SAFETY: arrays.
unsafe impl Target for Array {
    const TYPE: u32 = sys::IS_ARRAY;
}

// SAFETY: objects.
unsafe impl Target for Object {
    const TYPE: u32 = sys::IS_OBJECT;
}

// SAFETY: resources.
unsafe impl Target for Resource {
    const TYPE: u32 = sys::IS_RESOURCE;
}

// SAFETY: references.
unsafe impl Target for Reference {
    const TYPE: u32 = sys::IS_REFERENCE;
}

impl Clone for Value {
    #[inline(always)]
    fn clone(&self) -> Value {
        if let Some(head) = self.head() {
            head.add_ref();
        }
        ManuallyDrop::into_inner(self.bits())
    }
}

impl Drop for Value {
    #[inline(always)]
    fn drop(&mut self) {
        if self.is_counted() {
            spindle_zval_dtor(self.bits()); // the reference of this value
        }
    }
}

impl Default for Value {
    /// Returns an undefined value.
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

impl From<&Str> for Value {
    /// Returns a new reference to the string.
    fn from(string: &Str) -> Value {
        Owned::of(string).into()
    }
}

impl From<&Object> for Value {
    /// Returns a new reference to the object.
    fn from(object: &Object) -> Value {
        Owned::of(object).into()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    /// Returns `null` for `None`.
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::NULL, Into::into)
    }
}

/// A cell for a value, such as the fields of this module's objects. A value is taken out before it is released, so that
/// a destructor that reads the cell does not find a value that is being released.
#[repr(transparent)]
pub struct ValueCell(Cell<sys::zval>);

impl ValueCell {
    /// Returns an empty cell.
    pub const fn new() -> ValueCell {
        ValueCell(Cell::new(raw(sys::IS_UNDEF, sys::zend_value { lval: 0 })))
    }

    /// Returns the value, whose reference remains the cell's.
    #[inline(always)]
    pub(crate) fn peek(&self) -> ManuallyDrop<Value> {
        ManuallyDrop::new(Value(self.0.get()))
    }

    /// Returns a zval of the engine as a cell.
    ///
    /// # Safety
    /// There is a valid value in it, and the reference that it counts is the place's own.
    #[inline(always)]
    pub unsafe fn borrow(place: &Cell<sys::zval>) -> &ValueCell {
        // SAFETY: the same layout, and the caller's promise.
        unsafe { &*std::ptr::from_ref(place).cast() }
    }

    /// Returns `true` if the cell is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.peek().is_undef()
    }

    /// Returns `true` if releasing the value may free something.
    #[inline(always)]
    pub fn is_counted(&self) -> bool {
        self.peek().is_counted()
    }

    /// Returns `true` if the value is a stream that has not been closed.
    pub fn is_open_stream(&self) -> bool {
        self.peek().is_open_stream()
    }

    /// As [`stream_descriptor`](Value::stream_descriptor) of the stream in the cell; also `None` if it is to be read from, and has
    /// data in its buffer. Code of a user wrapper may change the cell.
    pub fn descriptor_to_poll(&self, reads: bool) -> Option<i32> {
        let mut descriptor = -1;
        if !spindle_socket_to_poll(&self.peek(), reads, &mut descriptor) {
            descriptor = spindle_stream_to_poll(&self.get(), reads); // whose reference keeps it alive
        }
        Some(descriptor).filter(|descriptor| *descriptor >= 0)
    }

    /// Takes the value out; `Value::UNDEF` if there is none.
    #[inline(always)]
    pub fn take(&self) -> Value {
        self.replace(Value::UNDEF)
    }

    /// Stores a value in a zval of the engine whose present value needs no release.
    #[inline(always)]
    pub(crate) fn begin(&self, value: Value) {
        self.0.set(value.into_raw());
    }

    /// Stores a value, and returns the previous one.
    #[inline(always)]
    pub fn replace(&self, value: Value) -> Value {
        let old = self.peek().bits();
        self.0.set(value.into_raw());
        ManuallyDrop::into_inner(old)
    }

    /// Stores a value in this place of a table, which uses a part of it for itself, and returns the previous one.
    pub(crate) fn replace_in_table(&self, value: Value) -> Value {
        let old = self.0.get();
        self.0.set(sys::zval { u2: old.u2, ..value.into_raw() });
        Value(old)
    }

    /// Stores a value, then releases the previous one, which may run PHP code.
    pub fn set(&self, value: Value) {
        drop(self.replace(value));
    }

    /// Returns a copy of the value; `Value::UNDEF` if there is none.
    #[inline]
    pub fn get(&self) -> Value {
        Value::clone(&self.peek())
    }

    /// Returns the engine's pointer to the cell, for calls that read it while it does not change.
    #[inline(always)]
    pub fn as_raw(&self) -> *mut sys::zval {
        self.0.as_ptr()
    }
}

impl Default for ValueCell {
    fn default() -> ValueCell {
        ValueCell::new()
    }
}

impl From<Value> for ValueCell {
    fn from(value: Value) -> ValueCell {
        ValueCell(Cell::new(value.into_raw()))
    }
}

impl Drop for ValueCell {
    fn drop(&mut self) {
        drop(self.take());
    }
}
