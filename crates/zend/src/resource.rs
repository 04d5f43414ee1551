//! Resources.

use crate::{Resource, Shared, globals::Table, sys};

impl Shared<sys::zend_resource> {
    /// Calls `with` with the resource of this number, if it still exists.
    pub fn find<R>(number: i64, with: impl FnOnce(&Resource) -> R) -> Option<R> {
        Table::Resources.get().at(number as u64)?.as_resource().map(with)
    }

    /// Returns its number, which no other resource of the request has had.
    pub fn number(&self) -> i64 {
        self.raw().handle
    }

    /// Returns the number of its type.
    pub fn type_number(&self) -> i32 {
        self.raw().type_
    }

    /// Returns `true` if it has not been closed.
    pub fn is_open(&self) -> bool {
        self.type_number() >= 0
    }
}
