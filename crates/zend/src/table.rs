//! Tables of values with strings or objects as keys.

use crate::{Array, Collected, Object, Owned, Str, Value, ValueCell, array::spindle_table_find, declare, sys};
use std::{cell::Cell, mem::ManuallyDrop, ptr::NonNull};

declare! {
    // What is found is a value of the table's.
    safe fn spindle_table_new() -> Owned<Array>;
    safe fn spindle_weak_find<'a>(array: &'a Array, key: &Object) -> Option<&'a ValueCell>;
}

/// Values by strings. Values are released after they were removed from the table, because that may run PHP code, which
/// may use the same table.
#[derive(Default)]
pub struct NameTable(Table);

/// Values by objects, which are held weakly: when one is freed, the engine removes its entry. Otherwise like
/// [`NameTable`].
#[derive(Default)]
pub struct WeakTable(Table);

/// The engine's table, created for the first value.
#[derive(Default)]
struct Table(Cell<Option<NonNull<Array>>>);

impl Table {
    fn existing(&self) -> Option<&Array> {
        // SAFETY: our own table, which is there as long as its pointer is.
        self.0.get().map(|table| unsafe { table.as_ref() })
    }

    fn make(&self) -> NonNull<Array> {
        self.0.get().unwrap_or_else(|| {
            let table = NonNull::new(spindle_table_new().into_raw());
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

/// Defines the methods of both kinds of tables, which differ in their keys.
macro_rules! tables {
    ($($table:ident, $key:ident, $find:ident, $add:ident, $remove:ident, $destroy:ident;)*) => {$(
        impl $table {
            /// Returns an empty table.
            pub const fn new() -> $table {
                $table(Table(Cell::new(None)))
            }

            fn place(&self, key: &$key) -> Option<&ValueCell> {
                $find(self.0.existing()?, key)
            }

            /// Returns `true` if the key has a value, `null` included.
            pub fn has(&self, key: &$key) -> bool {
                self.place(key).is_some()
            }

            /// Returns a copy of the value.
            pub fn get(&self, key: &$key) -> Option<Value> {
                self.place(key).map(ValueCell::get)
            }

            /// Sets the value, and returns the previous one.
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

            /// Removes and releases all values, which may run PHP code. Values that are added meanwhile stay. Does not
            /// use `self` once PHP code has run.
            pub fn clear(&self) {
                if let Some(table) = self.0.0.take() {
                    // SAFETY: no other code has the table now.
                    unsafe { sys::$destroy(table.as_ptr().cast()) };
                }
            }

            /// Moves all values into a new table.
            pub fn take(&self) -> $table {
                $table(Table(Cell::new(self.0.0.take())))
            }

            /// Forgets the table without freeing it: the engine has freed the request's memory.
            pub fn forget(&self) {
                self.0.0.set(None);
            }

            /// Returns `true` if the table is empty.
            pub fn is_empty(&self) -> bool {
                self.0.len() == 0
            }

            /// Calls `with` for each value. `with` must not run PHP code.
            pub fn each(&self, with: impl FnMut(&Value)) {
                self.0.each(with);
            }

            /// Adds the values for the cycle collector.
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

/// A set of objects. When one is freed, a function is called with its address. The function must not run PHP code.
pub struct FreeWatch {
    table: Table,
    gone: extern "C" fn(&Value),
}

impl FreeWatch {
    /// Returns a watch of no object. `gone` is called with an integer, the address of an object that is being freed.
    pub const fn new(gone: extern "C" fn(&Value)) -> FreeWatch {
        FreeWatch { table: Table(Cell::new(None)), gone }
    }

    /// Adds an object. Returns `false` if it is watched already.
    pub fn add(&self, object: &Object) -> bool {
        let table = self.table.make().as_ptr().cast::<sys::HashTable>();
        if self.has(object) {
            return false;
        }
        // SAFETY: a function that takes a pointer to a value, and returns nothing.
        let gone =
            unsafe { std::mem::transmute::<extern "C" fn(&Value), unsafe extern "C" fn(*mut sys::zval)>(self.gone) };
        // SAFETY: our own table.
        unsafe { (*table).pDestructor = Some(gone) };
        let mut address = ManuallyDrop::new(Value::from(object.address() as i64));
        // SAFETY: our own table, which has no such key, a live object, and a value without a reference.
        unsafe { sys::zend_weakrefs_hash_add(table, object.as_raw(), address.as_mut_raw()) };
        true
    }

    /// Returns `true` if the object is watched.
    pub fn has(&self, object: &Object) -> bool {
        self.table.existing().is_some_and(|table| spindle_weak_find(table, object).is_some())
    }

    /// Removes an object. The function is called for it.
    pub fn remove(&self, object: &Object) {
        if self.has(object) {
            // SAFETY: our own table, and a live key.
            unsafe { sys::zend_weakrefs_hash_del(self.table.make().as_ptr().cast(), object.as_raw()) };
        }
    }

    /// Removes all objects. The function is called for each.
    pub fn clear(&self) {
        if let Some(table) = self.table.0.take() {
            // SAFETY: no other code has the table now.
            unsafe { sys::spindle_weak_destroy(table.as_ptr().cast()) };
        }
    }
}
