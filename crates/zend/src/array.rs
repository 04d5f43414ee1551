//! Arrays.

use crate::{Array, Owned, Shared, Str, Value, ValueCell, declare, shared::WithCount, sys};
use std::{
    ffi::{CStr, c_char, c_void},
    mem::ManuallyDrop,
    ptr::NonNull,
};

declare! {
    // What is returned is a value of the array's, or null. Code that changes an array must know that nothing of it is borrowed, and so
    // calls functions that are not safe.
    safe fn _zend_new_array(room: u32) -> Owned<Array>;
    safe fn zend_array_dup(array: &Array) -> Owned<Array>;
    safe fn spindle_table_is_uncounted(array: &Array) -> bool;
    unsafe fn spindle_table_copy_uncounted(array: &Array) -> Owned<Array>;
    safe fn zend_hash_index_find(array: &Array, index: u64) -> Option<&Value>;
    safe fn zend_hash_find<'a>(array: &'a Array, key: &Str) -> Option<&'a Value>;
    unsafe fn zend_hash_str_find(array: &Array, key: *const c_char, length: usize) -> Option<&Value>;
    safe fn spindle_table_bucket(array: &Array, place: u32) -> Option<&Value>;
    pub(crate) safe fn spindle_table_find<'a>(array: &'a Array, key: &Str) -> Option<&'a ValueCell>;
}

impl Shared<sys::HashTable> {
    /// Returns a new array with room for this many values.
    pub fn new(room: usize) -> Owned<Array> {
        _zend_new_array(u32::try_from(room).unwrap_or(u32::MAX))
    }

    /// Returns a new list of these values.
    pub fn list<T: Into<Value>>(values: impl ExactSizeIterator<Item = T>) -> Owned<Array> {
        let mut array = Array::new(values.len());
        values.for_each(|value| array.push(value.into()));
        array
    }

    /// Returns a new list of these values, which are moved in one piece.
    pub fn of_values(mut values: Vec<Value>) -> Owned<Array> {
        let count = values.len();
        let array = Array::new(count);
        if let Ok(count) = u32::try_from(count)
            && count > 0
        {
            // SAFETY: a new array with room for these values, whose references it takes over.
            unsafe { sys::spindle_table_fill(array.as_raw(), values.as_ptr().cast(), count) };
            // SAFETY: no value is left in the vector.
            unsafe { values.set_len(0) };
        }
        array
    }

    /// Returns a new list of two values.
    pub fn pair(first: Value, second: Value) -> Owned<Array> {
        let (mut first, mut second) = (ManuallyDrop::new(first), ManuallyDrop::new(second));
        // SAFETY: two values, whose references the array takes over.
        let array = unsafe { sys::zend_new_pair(first.as_mut_raw(), second.as_mut_raw()) };
        // SAFETY: a new array, with one reference.
        unsafe { Owned::from_raw(array.cast::<Array>()) }.unwrap_or_else(|| Array::new(0)) // it is never null
    }

    /// Returns the values if the keys are 0, 1, 2, … in this order.
    pub fn as_list(&self) -> Option<&[Value]> {
        let table = self.raw();
        // SAFETY: a number, in all representations.
        let flags = unsafe { table.u.flags };
        if flags & sys::SPINDLE_TABLE_IS_PACKED == 0 || table.nNumUsed != table.nNumOfElements {
            return None;
        }
        // SAFETY: the representation of a packed table. Without values it is not null either.
        let values = unsafe { table.__bindgen_anon_1.arPacked };
        // SAFETY: this many values lie there, and do not change as long as the array is borrowed: no other code runs.
        Some(unsafe { std::slice::from_raw_parts(values.cast::<Value>(), self.len()) })
    }

    /// Returns a copy with the same values.
    pub fn duplicate(&self) -> Owned<Array> {
        zend_array_dup(self)
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.raw().nNumOfElements as usize
    }

    /// Returns `true` if the array is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of used indices, including those of removed values. The keys of a list are less than this.
    pub fn places(&self) -> u64 {
        u64::from(self.raw().nNumUsed)
    }

    /// Returns the value with this integer key.
    pub fn at(&self, index: u64) -> Option<&Value> {
        zend_hash_index_find(self, index)
    }

    /// Returns the value with this key, which is not numeric.
    pub fn get(&self, key: &Str) -> Option<&Value> {
        zend_hash_find(self, key)
    }

    /// Returns the value with this text, which is not numeric, as its key.
    pub fn get_text(&self, key: &[u8]) -> Option<&Value> {
        // SAFETY: pointer and length of a live slice.
        unsafe { zend_hash_str_find(self, key.as_ptr().cast(), key.len()) }
    }

    /// Returns the values in the array's order, and undefined ones for those that were removed.
    pub(crate) fn all_places(&self) -> impl Iterator<Item = &Value> {
        (0..).map_while(|place| spindle_table_bucket(self, place))
    }

    /// Returns the pointers in a table of the engine, such as its functions and classes.
    pub fn pointers(&self) -> impl Iterator<Item = NonNull<c_void>> {
        self.all_places().filter_map(Value::as_pointer)
    }

    /// Returns the values in the array's order.
    pub fn values_in_order(&self) -> impl Iterator<Item = &Value> {
        self.all_places().filter(|value| !value.is_undef())
    }

    /// Returns the value with this key, as PHP code does: a string that is an integer is one.
    pub fn find(&self, key: &Value) -> Option<&Value> {
        if let Some(index) = key.as_long() {
            return self.at(index as u64);
        }
        let text = key.as_str()?;
        match numeric(text) {
            Some(index) => self.at(index),
            None => self.get(text),
        }
    }

    /// Returns the values of a list, in its order.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        (0..self.places()).filter_map(|index| self.at(index))
    }
}

impl Shared<sys::HashTable> {
    /// Returns the key and the value at this position or at the next used one, and moves the position past it; `None` at the end.
    /// The position of the first one is 0. It stays valid when the array changes.
    pub fn next_from(&self, position: &mut u32) -> Option<(Value, &Value)> {
        let mut key = Value::NULL;
        // SAFETY: a live array, and a place for the key, which gets a reference of its own.
        let value = unsafe { sys::spindle_table_next(self.as_raw(), position, key.as_mut_raw()) };
        // SAFETY: null, or a value of the array's.
        let value = unsafe { Value::borrow(value) }?;
        Some((key, value.dereferenced()))
    }
}

/// Returns the integer that a string is as a key, if it is one.
fn numeric(text: &Str) -> Option<u64> {
    let (bytes, mut index) = (text.as_bytes(), 0);
    let is_like_one = bytes.first().is_some_and(|first| first.is_ascii_digit() || *first == b'-' && bytes.len() > 1);
    let (text, length) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: pointer and length of a string that begins like a number, and a place for the number.
    (is_like_one && unsafe { sys::_zend_handle_numeric_str_ex(text, length, &raw mut index) }).then_some(index)
}

impl Owned<Array> {
    /// Sets the value with this key, as PHP code does. A key that is neither an integer nor a string is replaced by the next
    /// integer. The array must not be shared.
    pub fn set_key(&mut self, key: &Value, value: Value) {
        if let Some(index) = key.as_long() {
            return self.set_at(index as u64, value);
        }
        let Some(text) = key.as_str() else { return self.push(value) };
        if let Some(index) = numeric(text) {
            return self.set_at(index, value);
        }
        let mut value = ManuallyDrop::new(value);
        // SAFETY: our own array, a live string, and a value that it takes over.
        unsafe { sys::zend_hash_update(self.as_raw(), text.as_raw().cast(), value.as_mut_raw()) };
    }

    /// Appends a value with the next integer key. The array must not be shared.
    pub fn push(&mut self, value: Value) {
        if let Some(place) = self.next_place() {
            // SAFETY: a place for a value, in which there is none.
            unsafe { place.write(value.into_raw()) };
            return;
        }
        let mut value = ManuallyDrop::new(value);
        // SAFETY: our own array, and a value that it takes over.
        unsafe { sys::zend_hash_next_index_insert(self.as_raw(), value.as_mut_raw()) };
    }

    /// Adds the place after the last one of a packed table with room for it, where a value has to be written.
    #[inline]
    fn next_place(&mut self) -> Option<*mut sys::zval> {
        // SAFETY: our own array: nothing else refers to its table now.
        let table = unsafe { &mut *self.as_raw() };
        // SAFETY: a number, in all representations.
        let flags = unsafe { table.u.flags };
        let has_room = table.nNumUsed < table.nTableSize && table.nNextFreeElement == i64::from(table.nNumUsed);
        if flags & sys::SPINDLE_TABLE_IS_PACKED == 0 || !has_room {
            return None;
        }
        // SAFETY: the representation of a packed table.
        let places = unsafe { table.__bindgen_anon_1.arPacked };
        // SAFETY: there is room for one more than are used.
        let place = unsafe { places.add(table.nNumUsed as usize) };
        table.nNumUsed += 1;
        table.nNumOfElements += 1;
        table.nNextFreeElement += 1;
        Some(place)
    }

    /// Sets the value with this integer key. The array must not be shared.
    pub fn set_at(&mut self, index: u64, value: Value) {
        let mut value = ManuallyDrop::new(value);
        // SAFETY: as above. What it replaces is released.
        unsafe { sys::zend_hash_index_update(self.as_raw(), index, value.as_mut_raw()) };
    }

    /// Sets the value with this key, which is not the text of an integer. The array must not be shared.
    pub fn set_name(&mut self, key: &Str, value: Value) {
        let mut value = ManuallyDrop::new(value);
        // SAFETY: our own array, a live string, and a value that it takes over.
        unsafe { sys::zend_hash_update(self.as_raw(), key.as_raw().cast(), value.as_mut_raw()) };
    }

    /// Adds a string with this key, which the array does not have, and which is not the text of an integer. The array must not
    /// be shared.
    pub fn add_name(&mut self, key: &Str, text: &[u8]) {
        debug_assert!(zend_hash_find(self, key).is_none(), "the key is new");
        // SAFETY: our own array, a live string; pointer and length of a text, which is copied.
        unsafe { sys::spindle_table_add_text(self.as_raw(), key.as_raw().cast(), text.as_ptr().cast(), text.len()) };
    }

    /// Sets the value with this key, which is not the text of an integer. The array must not be shared.
    pub fn set_text(&mut self, key: &[u8], value: Value) {
        let mut value = ManuallyDrop::new(value);
        // SAFETY: as above; pointer and length of a text.
        unsafe { sys::zend_hash_str_update(self.as_raw(), key.as_ptr().cast(), key.len(), value.as_mut_raw()) };
    }

    /// Sets the value with this key. The array must not be shared.
    pub fn set(&mut self, key: &CStr, value: impl Into<Value>) {
        let mut value = ManuallyDrop::new(value.into());
        // SAFETY: as above; pointer and length of a text.
        unsafe { sys::zend_hash_str_update(self.as_raw(), key.as_ptr(), key.count_bytes(), value.as_mut_raw()) };
    }
}

// SAFETY: an array begins with its count, and a value releases its reference.
unsafe impl WithCount for sys::HashTable {
    fn release(this: ManuallyDrop<Owned<Array>>) {
        drop(Value::from(ManuallyDrop::into_inner(this)));
    }
}

/// An array of which copies are made.
pub struct Template {
    array: Owned<Array>,
    is_uncounted: bool,
}

impl Template {
    /// Returns it for an array. Copies take least time if all strings in it are [interned](Str::interned).
    pub fn new(array: Owned<Array>) -> Template {
        let is_uncounted = spindle_table_is_uncounted(&array);
        Template { array, is_uncounted }
    }

    /// Returns a copy.
    pub fn copy(&self) -> Owned<Array> {
        if self.is_uncounted {
            // SAFETY: that was found out of this array, which nothing can change.
            unsafe { spindle_table_copy_uncounted(&self.array) }
        } else {
            self.array.duplicate()
        }
    }
}
