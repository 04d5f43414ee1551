//! The engine's table of classes: by their names in lower case, and by other keys while they are being declared.

use crate::{Class, Str, Value, globals, sys};
use std::ptr::NonNull;

fn table() -> *mut sys::HashTable {
    globals::executor(|eg| eg.class_table)
}

/// The place of a class in the table.
struct Place(NonNull<sys::zval>);

impl Place {
    fn of(key: &Str) -> Option<Place> {
        // SAFETY: a live table and a live string.
        NonNull::new(unsafe { sys::zend_hash_find(table(), key.as_raw()) }).map(Place)
    }

    fn class(&self) -> Class {
        // SAFETY: a value of the table.
        let value = unsafe { self.0.as_ref() }.value;
        // SAFETY: the values of this table are pointers to classes.
        Class::of_live(unsafe { value.ce })
    }
}

/// Returns the class with this key.
pub fn find(key: &Str) -> Option<Class> {
    Place::of(key).map(|place| place.class())
}

/// Changes the key of a class, unless there is none, or another class has the new key.
pub fn change_key(from: &Str, to: &Str) {
    if let Some(place) = Place::of(from) {
        // SAFETY: a value lies at the beginning of its bucket.
        unsafe { sys::zend_hash_set_bucket_key(table(), place.0.as_ptr().cast(), to.as_raw()) };
    }
}

/// Puts a class into the table, or takes out what is there, and returns what was there.
///
/// # Safety
/// The class lasts as long as the request. What is taken out is one that the engine need not destroy.
pub unsafe fn replace(key: &Str, class: Option<Class>) -> Option<Class> {
    let place = Place::of(key);
    let before = place.as_ref().map(Place::class);
    match (place, class) {
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
        // SAFETY: the place of a class, which nobody borrows.
        (Some(mut place), Some(class)) => unsafe { place.0.as_mut() }.value = sys::zend_value { ce: class.as_raw() },
    }
    before
}
