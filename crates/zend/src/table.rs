//! Tables of values, by strings or by objects.

use crate::{Collected, Object, Str, Value, sys};
use std::{cell::Cell, mem::ManuallyDrop, ptr};

/// Values by strings. Values are released only when they are out of the table, because that may run PHP code, which may use
/// the same table.
#[derive(Default)]
pub struct NameTable(Table);

/// Values by objects, which are held weakly: when one dies the engine removes its entry. Otherwise as [`NameTable`].
#[derive(Default)]
pub struct WeakTable(Table);

/// The engine's table, made when the first value comes.
struct Table(Cell<*mut sys::HashTable>);

impl Default for Table {
    fn default() -> Table {
        Table(Cell::new(ptr::null_mut()))
    }
}

impl Table {
    fn existing(&self) -> Option<*mut sys::HashTable> {
        Some(self.0.get()).filter(|table| !table.is_null())
    }

    fn make(&self) -> *mut sys::HashTable {
        self.existing().unwrap_or_else(|| {
            // SAFETY: makes a table, or ends the request.
            let table = unsafe { sys::spindle_table_new() };
            self.0.set(table);
            table
        })
    }

    fn len(&self) -> usize {
        // SAFETY: our own table; reads one of its fields.
        self.existing().map_or(0, |table| unsafe { (*table).nNumOfElements } as usize)
    }

    /// Puts a value in a place of the table, and returns what was there.
    fn replace(place: *mut sys::zval, value: Value) -> Value {
        // SAFETY: a place of a table of ours: the value changes hands, the rest of the place is the table's.
        let old = unsafe { place.read() };
        let new = value.into_raw();
        // SAFETY: as above.
        unsafe { (*place).value = new.value };
        // SAFETY: as above.
        unsafe { (*place).u1 = new.u1 };
        // SAFETY: what was there is ours now.
        unsafe { Value::from_raw(old) }
    }

    fn each(&self, mut with: impl FnMut(&Value)) {
        let Some(table) = self.existing().filter(|_| self.len() > 0) else { return };
        // SAFETY: our own table; a number.
        let used = unsafe { (*table).nNumUsed };
        for index in 0..used {
            // SAFETY: a table with such keys has as many buckets; those of removed entries are undefined.
            let value = unsafe { sys::spindle_table_bucket(table, index) };
            // SAFETY: a value of the table, which does not change meanwhile.
            if let Some(value) = unsafe { Value::borrow(value) }.filter(|value| !value.is_undef()) {
                with(value);
            }
        }
    }
}

/// What both kinds of tables do, by their keys.
macro_rules! tables {
    ($($table:ident, $key:ident, $find:ident, $add:ident, $remove:ident, $destroy:ident;)*) => {$(
        impl $table {
            /// Returns a table without values.
            pub const fn new() -> $table {
                $table(Table(Cell::new(ptr::null_mut())))
            }

            fn place(&self, key: &$key) -> Option<*mut sys::zval> {
                let table = self.0.existing()?;
                // SAFETY: our own table, and a live key.
                let place = unsafe { sys::$find(table, key.as_raw()) };
                (!place.is_null()).then_some(place)
            }

            /// Returns `true` if there is a value, also `null`, for the key.
            pub fn has(&self, key: &$key) -> bool {
                self.place(key).is_some()
            }

            /// Returns a copy of the value.
            pub fn get(&self, key: &$key) -> Option<Value> {
                // SAFETY: a value of our own table; copying it runs no other code.
                self.place(key).and_then(|place| unsafe { Value::borrow(place) }).cloned()
            }

            /// Sets the value, and returns what it replaces.
            pub fn set(&self, key: &$key, value: Value) -> Option<Value> {
                if let Some(place) = self.place(key) {
                    return Some(Table::replace(place, value));
                }
                let mut value = ManuallyDrop::new(value);
                // SAFETY: our own table, which has no such key, a live key, and a value that it takes over.
                unsafe { sys::$add(self.0.make(), key.as_raw(), value.as_mut_raw()) };
                None
            }

            /// Removes the value, and releases it, which may run PHP code.
            pub fn remove(&self, key: &$key) {
                if self.has(key) {
                    // SAFETY: our own table, and a live key. The engine releases a value when it is out of the table.
                    unsafe { sys::$remove(self.0.make(), key.as_raw()) };
                }
            }

            /// Removes and releases all values, which may run PHP code; what that puts in meanwhile stays. Does not touch
            /// `self` once PHP code has run.
            pub fn clear(&self) {
                let table = self.0.0.replace(ptr::null_mut());
                if !table.is_null() {
                    // SAFETY: the table is in no other hands now.
                    unsafe { sys::$destroy(table) };
                }
            }

            /// Takes all values out, into a table of their own.
            pub fn take(&self) -> $table {
                $table(Table(Cell::new(self.0.0.replace(ptr::null_mut()))))
            }

            /// Lets go of the table, whose memory the request has taken with it.
            pub fn forget(&self) {
                self.0.0.set(ptr::null_mut());
            }

            /// Returns `true` if there is no value.
            pub fn is_empty(&self) -> bool {
                self.0.len() == 0
            }

            /// Calls `with` for each value. It runs no PHP code.
            pub fn each(&self, with: impl FnMut(&Value)) {
                self.0.each(with);
            }

            /// Tells the cycle collector of the values.
            pub fn collect(&self, values: &mut Collected) {
                self.each(|value| values.value(value));
            }
        }
    )*};
}

tables! {
    NameTable, Str, zend_hash_find, zend_hash_add_new, zend_hash_del, spindle_hash_destroy_free;
    WeakTable, Object, spindle_weak_find, zend_weakrefs_hash_add, zend_weakrefs_hash_del, spindle_weak_destroy;
}
