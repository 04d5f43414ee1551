//! Lists of values.

use crate::{Collected, Value, sys};
use std::{cell::Cell, mem::ManuallyDrop};

/// A place for a list of values, as the fields of objects of ours are. It takes two words; most lists are empty, and few grow.
/// What is in it is taken out before it is released.
#[derive(Default)]
pub struct ValueList(Cell<Option<Box<[Value]>>>);

impl ValueList {
    /// Returns an empty one.
    pub const fn new() -> ValueList {
        ValueList(Cell::new(None))
    }

    /// Returns `true` if there is no value.
    pub fn is_empty(&self) -> bool {
        self.with(|list| list.is_empty())
    }

    /// Takes all values out.
    #[inline(always)]
    pub fn take(&self) -> Vec<Value> {
        self.0.take().map_or_else(Vec::new, Vec::from)
    }

    /// Puts these values in, in place of those that were there.
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

    /// Tells the cycle collector of each value.
    pub fn collect(&self, collected: &mut Collected) {
        self.with(|list| list.iter().for_each(|value| collected.value(value)));
    }

    /// Returns the engine's pointer to the first value, and how many there are, for a call that takes them while nobody changes
    /// the list.
    #[inline(always)]
    pub fn as_raw(&self) -> (*mut sys::zval, u32) {
        self.with(|list| (list.as_mut_ptr().cast(), list.len() as u32))
    }

    /// Calls `f`, which runs no other code, with the values.
    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut [Value]) -> R) -> R {
        // The list is out of its place meanwhile; a panic of `f` leaks it.
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
