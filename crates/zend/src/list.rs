//! Lists of values.

use crate::{Collected, Value, sys};
use std::{cell::Cell, mem::ManuallyDrop};

/// A cell for a list of values, such as the fields of this module's objects. It takes two words; most lists are empty,
/// and few grow. Values are taken out before they are released.
#[derive(Default)]
pub struct ValueList(Cell<Option<Box<[Value]>>>);

impl ValueList {
    /// Returns an empty list.
    pub const fn new() -> ValueList {
        ValueList(Cell::new(None))
    }

    /// Returns `true` if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.with(|list| list.is_empty())
    }

    /// Takes all values out.
    #[inline(always)]
    pub fn take(&self) -> Vec<Value> {
        self.0.take().map_or_else(Vec::new, Vec::from)
    }

    /// Replaces the values of the list.
    #[inline]
    pub fn set(&self, values: Vec<Value>) {
        let values = (!values.is_empty()).then(|| values.into_boxed_slice());
        drop(self.0.replace(values));
    }

    /// Adds a value at the end.
    pub fn push(&self, value: Value) {
        let mut values = self.take();
        values.push(value);
        self.set(values);
    }

    /// Adds the values for the cycle collector.
    pub fn collect(&self, collected: &mut Collected) {
        self.with(|list| list.iter().for_each(|value| collected.value(value)));
    }

    /// Returns the engine's pointer to the first value, and the number of values, for a call that reads them while the
    /// list does not change.
    #[inline(always)]
    pub fn as_raw(&self) -> (*mut sys::zval, u32) {
        self.with(|list| (list.as_mut_ptr().cast(), list.len() as u32))
    }

    /// Calls `f`, which must not run other code, with the values.
    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut [Value]) -> R) -> R {
        // The list is not in the cell meanwhile; a panic of `f` leaks it.
        let mut list = ManuallyDrop::new(self.0.take());
        let result = f(list.as_deref_mut().unwrap_or_default());
        self.0.set(ManuallyDrop::into_inner(list));
        result
    }
}

impl Drop for ValueList {
    #[inline(always)]
    fn drop(&mut self) {
        drop(self.0.take());
    }
}
