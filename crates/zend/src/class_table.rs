//! The engine's table of classes, by their lower-case names, and by other keys during their declaration.

use std::ptr::NonNull;

use crate::{Array, Class, Str, Value, array::spindle_table_find, globals::Table, sys};

fn table() -> &'static Array {
    Table::Classes.get()
}

/// Returns the class of an entry, which may be another name of it (`class_alias()`).
fn class_in(value: &Value) -> Option<Class> {
    let is_class = matches!(value.type_number(), sys::IS_PTR | sys::IS_ALIAS_PTR);
    NonNull::new(value.pointer()).filter(|_| is_class).map(|class| Class::of_live(class.as_ptr().cast()))
}

/// Returns the class with this key.
pub fn find(key: &Str) -> Option<Class> {
    table().get(key).and_then(class_in)
}

/// Changes the key of a class. Has no effect if there is no such class, or another class has the new key.
pub fn change_key(from: &Str, to: &Str) {
    if let Some(place) = spindle_table_find(table(), from) {
        // SAFETY: a value lies at the beginning of its bucket.
        unsafe { sys::zend_hash_set_bucket_key(table().as_raw(), place.as_raw().cast(), to.as_raw()) };
    }
}

/// Puts a class into the table, or removes the one at this key. Returns the previous one.
///
/// # Safety
/// The class lasts as long as the request. What is taken out is one that the engine need not destroy.
pub unsafe fn replace(key: &Str, class: Option<Class>) -> Option<Class> {
    let before = find(key);
    match (spindle_table_find(table(), key), class) {
        (None, None) => {}
        (None, Some(class)) => {
            // SAFETY: a live table, a live string, and a value as those of this table are.
            unsafe { sys::zend_hash_add(table().as_raw(), key.as_raw(), Value::from(class).as_mut_raw()) };
        }
        // SAFETY: a live table and a live string; the caller's promise.
        (Some(_), None) => drop(unsafe { sys::zend_hash_del(table().as_raw(), key.as_raw()) }),
        (Some(place), Some(class)) => drop(place.replace_in_table(Value::from(class))),
    }
    before
}
