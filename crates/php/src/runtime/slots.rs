//! Values kept by keys, for a coroutine: the tables, and what the methods of every class that has such slots share.
//!
//! A key is a string or an object. Objects are held weakly, by the engine's own tables for that: when the object dies
//! the engine removes its entry. Values are destroyed as the last step of anything here, because their destructors may
//! use the same slots, park, or end whoever owns them.

use crate::zend::{exception, zv};
use spindle_php_sys as sys;
use std::cell::Cell;
use std::ptr::null_mut;

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

/// The tables. Zeros are a valid and empty one. Whoever owns it calls [`Slots::clear`] before it is gone.
#[derive(Default)]
pub struct Slots {
    names: Cell<*mut sys::HashTable>,
    objects: Cell<*mut sys::HashTable>,
}

/// What a value is found by.
#[derive(Clone, Copy)]
pub enum Key {
    /// A string, as it is: `"1"` is no number.
    Name(*mut sys::zend_string),
    /// An object, by its identity.
    Object(*mut sys::zend_object),
}

/// There is a value for the key already.
pub struct Taken;

/// The methods ask that keys and values are alive, and that `self` is until they return: the frame of the PHP method
/// that is being called sees to both.
impl Slots {
    unsafe fn place(&self, key: Key) -> Option<*mut sys::zval> {
        // SAFETY: a live key; the tables are null or this one's own.
        let place = unsafe {
            match key {
                Key::Name(name) if !self.names.get().is_null() => sys::zend_hash_find(self.names.get(), name),
                Key::Object(object) if !self.objects.get().is_null() => {
                    sys::spindle_weak_find(self.objects.get(), object)
                }
                _ => null_mut(),
            }
        };
        (!place.is_null()).then_some(place)
    }

    /// Is there a value, also null?
    pub unsafe fn has(&self, key: Key) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.place(key).is_some() }
    }

    /// A copy of the value; of a `WeakReference`, its object or null.
    pub unsafe fn find(&self, key: Key) -> Option<sys::zval> {
        // SAFETY: the caller's promise. No PHP code runs in between.
        unsafe {
            let place = self.place(key)?;
            let mut found = zv::null();
            if u32::from((*place).u1.v.type_) == sys::IS_OBJECT && (*(*place).value.obj).ce == sys::zend_ce_weakref {
                sys::spindle_weak_target((*place).value.obj, &mut found);
            } else {
                sys::spindle_zval_copy(&mut found, place);
            }
            Some(found)
        }
    }

    /// Keeps a copy of a value. One that was there is destroyed, which may run PHP code.
    pub unsafe fn set(&self, key: Key, value: *mut sys::zval, replace: bool) -> Result<(), Taken> {
        // SAFETY: the caller's promise. The old value is destroyed when the new one is in its place.
        unsafe {
            let place = self.place(key);
            if place.is_some() && !replace {
                return Err(Taken);
            }
            let mut copy = zv::null();
            sys::spindle_zval_copy(&mut copy, value);
            if let Some(place) = place {
                let mut old = *place;
                // Not all of it: the rest of a value in a table is the table's.
                (*place).value = copy.value;
                (*place).u1 = copy.u1;
                sys::spindle_zval_dtor(&mut old);
                return Ok(());
            }
            let table = match key {
                Key::Name(_) => &self.names,
                Key::Object(_) => &self.objects,
            };
            if table.get().is_null() {
                table.set(sys::spindle_table_new());
            }
            match key {
                Key::Name(name) => sys::zend_hash_add_new(table.get(), name, &mut copy),
                Key::Object(object) => sys::zend_weakrefs_hash_add(table.get(), object, &mut copy),
            };
            Ok(())
        }
    }

    /// Destroys the value, if there is one, which may run PHP code.
    pub unsafe fn unset(&self, key: Key) {
        // SAFETY: the caller's promise. The engine destroys a value when its entry is out of the table.
        unsafe {
            if self.has(key) {
                match key {
                    Key::Name(name) => _ = sys::zend_hash_del(self.names.get(), name),
                    Key::Object(object) => _ = sys::zend_weakrefs_hash_del(self.objects.get(), object),
                }
            }
        }
    }

    /// Destroys all values, which may run PHP code; what that keeps here meanwhile stays. Does not touch `self` once
    /// PHP code has run.
    pub unsafe fn clear(&self) {
        let names = self.names.replace(null_mut());
        let objects = self.objects.replace(null_mut());
        // SAFETY: tables that are null or nobody else's now. A bailout in between leaves the rest to the request's heap.
        unsafe {
            if !names.is_null() {
                sys::spindle_hash_destroy_free(names);
            }
            if !objects.is_null() {
                sys::spindle_weak_destroy(objects);
            }
        }
    }

    /// Is nothing kept?
    pub fn is_empty(&self) -> bool {
        // SAFETY: tables that are null or this one's own.
        let is_empty = |table: *mut sys::HashTable| table.is_null() || unsafe { (*table).nNumOfElements == 0 };
        is_empty(self.names.get()) && is_empty(self.objects.get())
    }

    /// Calls `with` for each value. It must run no PHP code.
    pub unsafe fn each(&self, mut with: impl FnMut(*mut sys::zval)) {
        for table in [self.names.get(), self.objects.get()] {
            if table.is_null() {
                continue;
            }
            // SAFETY: a table with entries has buckets, as its keys are strings or addresses; those of removed entries
            // are undefined.
            unsafe {
                if (*table).nNumOfElements == 0 {
                    continue;
                }
                let buckets = (*table).__bindgen_anon_1.arData;
                for index in 0..(*table).nNumUsed as usize {
                    let value = &raw mut (*buckets.add(index)).val;
                    if !zv::is_undef(&*value) {
                        with(value);
                    }
                }
            }
        }
    }

    /// Tells the cycle collector of the values. Keys are not held, so they are none of its business.
    pub unsafe fn gc(&self, buffer: *mut sys::zend_get_gc_buffer) {
        // SAFETY: the engine's current buffer.
        unsafe {
            self.each(|value| {
                if (*value).u1.v.type_flags != 0 {
                    zv::gc_add(buffer, value);
                }
            });
        }
    }
}

fn key(arguments: &sys::spindle_slot_args) -> Key {
    if arguments.object.is_null() { Key::Name(arguments.name) } else { Key::Object(arguments.object) }
}

/// The only argument of most methods. `None`: it was none, and the engine has thrown.
unsafe fn parse_key(frame: Frame) -> Option<Key> {
    // SAFETY: the engine's frame of a method; zeros are valid arguments.
    unsafe {
        let mut arguments = std::mem::zeroed();
        sys::spindle_parse_slot(frame, &mut arguments).then(|| key(&arguments))
    }
}

/// The method `find` of a class with slots: `look` says what there is.
///
/// # Safety
/// The engine's frame of the method and its place for the result, as for the other methods here.
pub unsafe fn method_find(frame: Frame, result: Value, look: impl FnOnce(Key) -> Option<sys::zval>) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(key) = parse_key(frame) {
            result.write(look(key).unwrap_or(zv::null()));
        }
    }
}

/// The method `get`.
///
/// # Safety
/// As [`method_find`].
pub unsafe fn method_get(frame: Frame, result: Value, look: impl FnOnce(Key) -> Option<sys::zval>) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(key) = parse_key(frame) {
            match look(key) {
                Some(found) => result.write(found),
                None => throw(&format!("{} has no value. Use find() or has() where it may be missing", described(key))),
            }
        }
    }
}

/// The method `has`.
///
/// # Safety
/// As [`method_find`].
pub unsafe fn method_has(frame: Frame, result: Value, look: impl FnOnce(Key) -> bool) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(key) = parse_key(frame) {
            zv::set_bool(result, look(key));
        }
    }
}

/// The method `set`, with the object's slots.
///
/// # Safety
/// As [`method_find`].
pub unsafe fn method_set(frame: Frame, result: Value, slots: &Slots) {
    // SAFETY: the caller's promise. The result, one more reference to the object, is made before PHP code may run.
    unsafe {
        let mut arguments: sys::spindle_slot_args = std::mem::zeroed();
        if !sys::spindle_parse_slot_set(frame, &mut arguments) {
            return;
        }
        let key = key(&arguments);
        zv::set_object_copy(result, (*frame).This.value.obj);
        if slots.set(key, arguments.value, arguments.replace).is_err() {
            throw(&format!("{} is taken. Pass true as the third argument to replace its value", described(key)));
        }
    }
}

/// The method `unset`, with the object's slots.
///
/// # Safety
/// As [`method_find`].
pub unsafe fn method_unset(frame: Frame, result: Value, slots: &Slots) {
    // SAFETY: the caller's promise; as `method_set`.
    unsafe {
        if let Some(key) = parse_key(frame) {
            zv::set_object_copy(result, (*frame).This.value.obj);
            slots.unset(key);
        }
    }
}

fn throw(text: &str) {
    // SAFETY: filled at module start.
    exception::throw(unsafe { sys::spindle_ce.context_exception }, text);
}

fn described(key: Key) -> String {
    // SAFETY: a live key.
    unsafe {
        match key {
            Key::Name(name) => format!("The key \"{}\"", zv::text(name)),
            Key::Object(object) if (*object).ce == sys::spindle_ce.key => {
                let text = sys::spindle_key_description(object);
                let text = if text.is_null() { String::new() } else { zv::text(text) };
                if text.is_empty() { "This key".to_owned() } else { format!("The key \"{text}\" (an Async\\Key)") }
            }
            Key::Object(object) => format!("This key of the class {}", zv::text((*(*object).ce).name)),
        }
    }
}
