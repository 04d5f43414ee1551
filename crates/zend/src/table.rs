//! Tables of values, by strings or by objects.

use crate::{Array, Collected, Object, Str, Value, ValueCell, c, sys};
use std::{cell::Cell, mem::ManuallyDrop, ptr::NonNull};

/// Values by strings. Values are released only when they are out of the table, because that may run PHP code, which may use
/// the same table.
#[derive(Default)]
pub struct NameTable(Table);

/// Values by objects, which are held weakly: when one dies the engine removes its entry. Otherwise as [`NameTable`].
#[derive(Default)]
pub struct WeakTable(Table);

/// The engine's table, made when the first value comes.
#[derive(Default)]
struct Table(Cell<Option<NonNull<Array>>>);

impl Table {
    fn existing(&self) -> Option<&Array> {
        // SAFETY: our own table, which is there as long as its pointer is.
        self.0.get().map(|table| unsafe { table.as_ref() })
    }

    fn make(&self) -> NonNull<Array> {
        self.0.get().unwrap_or_else(|| {
            let table = NonNull::new(c::spindle_table_new().into_raw());
            self.0.set(table);
            table.expect("a new table")
        })
    }

    fn len(&self) -> usize {
        self.existing().map_or(0, Array::len)
    }

    fn each(&self, with: impl FnMut(&Value)) {
        let Some(table) = self.existing().filter(|table| !table.is_empty()) else { return };
        table.all_places().filter(|value| !value.is_undef()).for_each(with);
    }
}

/// What both kinds of tables do, by their keys.
macro_rules! tables {
    ($($table:ident, $key:ident, $find:ident, $add:ident, $remove:ident, $destroy:ident;)*) => {$(
        impl $table {
            /// Returns a table without values.
            pub const fn new() -> $table {
                $table(Table(Cell::new(None)))
            }

            fn place(&self, key: &$key) -> Option<&ValueCell> {
                c::$find(self.0.existing()?, key)
            }

            /// Returns `true` if there is a value, also `null`, for the key.
            pub fn has(&self, key: &$key) -> bool {
                self.place(key).is_some()
            }

            /// Returns a copy of the value.
            pub fn get(&self, key: &$key) -> Option<Value> {
                self.place(key).map(ValueCell::get)
            }

            /// Sets the value, and returns what it replaces.
            pub fn set(&self, key: &$key, value: Value) -> Option<Value> {
                if let Some(place) = self.place(key) {
                    return Some(place.replace_in_table(value));
                }
                let mut value = ManuallyDrop::new(value);
                // SAFETY: our own table, which has no such key, a live key, and a value that it takes over.
                unsafe { sys::$add(self.0.make().as_ptr().cast(), key.as_raw(), value.as_mut_raw()) };
                None
            }

            /// Removes the value, and releases it, which may run PHP code.
            pub fn remove(&self, key: &$key) {
                if self.has(key) {
                    // SAFETY: our own table, and a live key. The engine releases a value when it is out of the table.
                    unsafe { sys::$remove(self.0.make().as_ptr().cast(), key.as_raw()) };
                }
            }

            /// Removes and releases all values, which may run PHP code; what that puts in meanwhile stays. Does not touch
            /// `self` once PHP code has run.
            pub fn clear(&self) {
                if let Some(table) = self.0.0.take() {
                    // SAFETY: the table is in no other hands now.
                    unsafe { sys::$destroy(table.as_ptr().cast()) };
                }
            }

            /// Takes all values out, into a table of their own.
            pub fn take(&self) -> $table {
                $table(Table(Cell::new(self.0.0.take())))
            }

            /// Lets go of the table, whose memory the request has taken with it.
            pub fn forget(&self) {
                self.0.0.set(None);
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
    NameTable, Str, spindle_table_find, zend_hash_add_new, zend_hash_del, spindle_hash_destroy_free;
    WeakTable, Object, spindle_weak_find, zend_weakrefs_hash_add, zend_weakrefs_hash_del, spindle_weak_destroy;
}
