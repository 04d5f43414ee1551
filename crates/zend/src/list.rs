//! Lists of values.

use crate::{Collected, Value, sys};
use smallvec::SmallVec;
use std::cell::Cell;

/// The values: one is in place, as most lists that are not empty have one.
type Values = SmallVec<[Value; 1]>;

/// A cell for a list of values, such as the fields of this module's objects. It takes three words; most lists are empty,
/// and few grow. Values are taken out before they are released.
#[derive(Default)]
pub struct ValueList(Cell<Values>);

impl ValueList {
    /// Returns an empty list.
    pub const fn new() -> ValueList {
        ValueList(Cell::new(SmallVec::new_const()))
    }

    /// Returns `true` if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.with(|list| list.is_empty())
    }

    /// Takes all values out.
    #[inline(always)]
    pub fn take(&self) -> Vec<Value> {
        self.0.take().into_vec()
    }

    /// Releases all values.
    #[inline(always)]
    pub fn clear(&self) {
        drop(self.0.take());
    }

    /// Replaces the values of the list.
    #[inline]
    pub fn set(&self, values: impl IntoIterator<Item = Value>) {
        drop(self.0.replace(values.into_iter().collect()));
    }

    /// Adds a value at the end.
    pub fn push(&self, value: Value) {
        let mut values = self.0.take();
        values.push(value);
        drop(self.0.replace(values));
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
        // SAFETY: the cell's own list, which `f` alone uses: it runs no other code.
        let list = unsafe { &mut *self.0.as_ptr() };
        f(list)
    }
}

impl Drop for ValueList {
    #[inline(always)]
    fn drop(&mut self) {
        self.clear();
    }
}
