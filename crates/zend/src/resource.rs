//! Resources.

use crate::{Shared, globals::Table, sys};

/// A PHP resource: a handle of an extension.
pub type Resource = Shared<sys::zend_resource>;

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
