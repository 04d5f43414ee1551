//! Values of the engine, made and taken apart.

use spindle_php_sys as sys;
use std::ffi::CStr;

fn typed(type_info: u32, value: sys::zend_value) -> sys::zval {
    // SAFETY: all-zero bytes are a valid (undefined) zval.
    let mut zval: sys::zval = unsafe { std::mem::zeroed() };
    zval.value = value;
    zval.u1.type_info = type_info;
    zval
}

const REFCOUNTED: u32 = sys::IS_TYPE_REFCOUNTED << 8;
const COLLECTABLE: u32 = REFCOUNTED | (sys::IS_TYPE_COLLECTABLE << 8);

/// `null`.
pub fn null() -> sys::zval {
    typed(sys::IS_NULL, sys::zend_value { lval: 0 })
}

/// No value.
pub fn undef() -> sys::zval {
    typed(sys::IS_UNDEF, sys::zend_value { lval: 0 })
}

/// An integer.
pub fn long(value: i64) -> sys::zval {
    typed(sys::IS_LONG, sys::zend_value { lval: value })
}

/// A float.
pub fn double(value: f64) -> sys::zval {
    typed(sys::IS_DOUBLE, sys::zend_value { dval: value })
}

/// A new string.
pub fn string(text: &str) -> sys::zval {
    // SAFETY: pointer and length of a live slice.
    let string = unsafe { sys::spindle_string_new(text.as_ptr().cast(), text.len()) };
    typed(sys::IS_STRING | REFCOUNTED, sys::zend_value { str_: string })
}

/// The same string once more.
pub fn string_copy(string: *mut sys::zend_string) -> sys::zval {
    add_ref(string);
    let interned = is_interned(string);
    typed(sys::IS_STRING | if interned { 0 } else { REFCOUNTED }, sys::zend_value { str_: string })
}

/// An array, the reference passed on.
pub fn array(table: *mut sys::HashTable) -> sys::zval {
    typed(sys::IS_ARRAY | COLLECTABLE, sys::zend_value { arr: table })
}

/// An object, the reference passed on.
pub fn object(object: *mut sys::zend_object) -> sys::zval {
    typed(sys::IS_OBJECT | COLLECTABLE, sys::zend_value { obj: object })
}

fn is_interned(string: *mut sys::zend_string) -> bool {
    // SAFETY: a live string.
    unsafe { (*string).gc.u.type_info & sys::IS_STR_INTERNED != 0 }
}

/// One more reference to a string.
pub fn add_ref(string: *mut sys::zend_string) {
    if !is_interned(string) {
        // SAFETY: a live string that counts its references.
        unsafe { (*string).gc.refcount += 1 };
    }
}

/// One more reference to an object.
pub fn add_object_ref(object: *mut sys::zend_object) {
    // SAFETY: a live object.
    unsafe { (*object).gc.refcount += 1 };
}

/// Writes `null`.
pub fn set_null(to: *mut sys::zval) {
    // SAFETY: the engine's place for a result.
    unsafe { to.write(null()) };
}

/// Writes a boolean.
pub fn set_bool(to: *mut sys::zval, value: bool) {
    // SAFETY: the engine's place for a result.
    unsafe { (*to).u1.type_info = if value { sys::IS_TRUE } else { sys::IS_FALSE } };
}

/// Writes an object, with a reference of its own.
pub fn set_object_copy(to: *mut sys::zval, value: *mut sys::zend_object) {
    add_object_ref(value);
    // SAFETY: the engine's place for a result.
    unsafe { to.write(object(value)) };
}

/// Destroys a value and leaves it undefined. It is undefined before its destructor runs.
///
/// # Safety
/// `value` points to a valid zval.
pub unsafe fn clear(value: *mut sys::zval) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*value).u1.type_info != sys::IS_UNDEF {
            let mut old = *value;
            (*value).u1.type_info = sys::IS_UNDEF;
            sys::spindle_zval_dtor(&mut old);
        }
    }
}

/// The bytes of a string.
///
/// # Safety
/// A live string, that stays alive and unchanged as long as the bytes are used.
pub unsafe fn bytes<'a>(string: *const sys::zend_string) -> &'a [u8] {
    // SAFETY: the caller's promise: `len` bytes begin at `val`.
    unsafe { std::slice::from_raw_parts((&raw const (*string).val).cast::<u8>(), (*string).len) }
}

/// The bytes of a string, as text.
pub fn text(string: *const sys::zend_string) -> String {
    // SAFETY: a live string, and its bytes are copied.
    String::from_utf8_lossy(unsafe { bytes(string) }).into_owned()
}

/// Sets a key of an array; the value's reference is passed on.
///
/// # Safety
/// `array` is an array that nobody shares.
pub unsafe fn array_set(array: *mut sys::zval, key: &CStr, mut value: sys::zval) {
    // SAFETY: the caller's promise.
    unsafe { sys::add_assoc_zval_ex(array, key.as_ptr(), key.count_bytes(), &mut value) };
}

/// Adds a value to a collector's buffer.
///
/// # Safety
/// `buffer` is the engine's current one.
pub unsafe fn gc_add(buffer: *mut sys::zend_get_gc_buffer, value: *mut sys::zval) {
    // SAFETY: the buffer grows when it is full; then there is room for one.
    unsafe {
        if (*buffer).cur == (*buffer).end {
            sys::zend_get_gc_buffer_grow(buffer);
        }
        (*buffer).cur.write(*value);
        (*buffer).cur = (*buffer).cur.add(1);
    }
}

/// Hands the buffer to the collector.
///
/// # Safety
/// As [`gc_add`].
pub unsafe fn gc_use(buffer: *mut sys::zend_get_gc_buffer, table: *mut *mut sys::zval, count: *mut i32) {
    // SAFETY: the caller's places for the answer.
    unsafe {
        *table = (*buffer).start;
        *count = (*buffer).cur.offset_from((*buffer).start) as i32;
    }
}

/// Is it PHP code: a function, a file or an `eval`?
///
/// # Safety
/// `function` is a function of the engine's.
pub unsafe fn is_php_code(function: *const sys::zend_function) -> bool {
    // SAFETY: the caller's promise. The engine numbers its kinds of code so that those of PHP code are even.
    unsafe { (*function).type_ & 1 == 0 }
}

/// What of a zval says its type.
pub fn is_undef(value: &sys::zval) -> bool {
    // SAFETY: every zval has a type.
    unsafe { value.u1.v.type_ == sys::IS_UNDEF as u8 }
}
