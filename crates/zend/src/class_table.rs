//! The engine's table of classes: by their names in lower case, and by other keys while they are being declared.

use crate::{Class, Str, Value, sys};

fn table() -> *mut sys::HashTable {
    // SAFETY: a global of the engine, set before any code runs.
    unsafe { sys::executor_globals.class_table }
}

/// Returns the place of a class in the table, or null.
fn place(key: &Str) -> *mut sys::zval {
    // SAFETY: a live table and a live string.
    unsafe { sys::zend_hash_find(table(), key.as_raw()) }
}

/// Returns the class in a place, or `None` for null.
///
/// # Safety
/// Null, or a place of the table.
unsafe fn class_in(place: *mut sys::zval) -> Option<Class> {
    // SAFETY: the caller's promise.
    let value = unsafe { place.as_ref() }?;
    // SAFETY: the values of this table are pointers to classes.
    let class = unsafe { value.value.ce };
    // SAFETY: classes in the table last as long as the request.
    unsafe { Class::from_raw(class) }
}

/// Returns the class with this key.
pub fn find(key: &Str) -> Option<Class> {
    // SAFETY: a place of the table, or null.
    unsafe { class_in(place(key)) }
}

/// Changes the key of a class, unless there is none, or another class has the new key.
pub fn change_key(from: &Str, to: &Str) {
    let place = place(from);
    if !place.is_null() {
        // SAFETY: a value lies at the beginning of its bucket.
        unsafe { sys::zend_hash_set_bucket_key(table(), place.cast(), to.as_raw()) };
    }
}

/// Puts a class into the table, or takes out what is there, and returns what was there.
///
/// # Safety
/// The class lasts as long as the request. What is taken out is one that the engine need not destroy.
pub unsafe fn replace(key: &Str, class: Option<Class>) -> Option<Class> {
    let place = place(key);
    // SAFETY: a place of the table, or null.
    let before = unsafe { class_in(place) };
    match (before, class) {
        (None, None) => {}
        (None, Some(class)) => {
            let mut value = Value::UNDEF.into_raw();
            value.value.ce = class.as_raw();
            value.u1.type_info = sys::IS_PTR;
            // SAFETY: a live table, a live string, and a value as those of this table are.
            unsafe { sys::zend_hash_add(table(), key.as_raw(), &mut value) };
        }
        // SAFETY: a live table and a live string; the caller's promise.
        (Some(_), None) => drop(unsafe { sys::zend_hash_del(table(), key.as_raw()) }),
        // SAFETY: the place of a class.
        (Some(_), Some(class)) => unsafe { (*place).value = sys::zend_value { ce: class.as_raw() } },
    }
    before
}
