//! Exceptions of the code of tasks, and of values that are released for them.

use spindle_zend::{Object, Owned, Str, Thrown, class_table, exception};

/// Takes what PHP code has thrown for the task at hand, after that code ran or a value was released.
///
/// # Errors
/// It is an `exit`, which stays in flight.
#[inline]
pub fn take_thrown() -> Result<Option<Owned<Object>>, Thrown> {
    if !exception::is_in_flight() {
        return Ok(None);
    }
    if exception::is_exit_in_flight() { Err(Thrown::is_in_flight()) } else { Ok(exception::take()) }
}

/// Takes what was thrown, unless it is an `exit`, which stays in flight.
pub fn take_unless_exit() -> Option<Owned<Object>> {
    take_thrown().unwrap_or_default()
}

/// Releases a value where an exception may be in flight, which stays there. Returns the exception that a destructor has thrown.
/// An `exit` stays in flight instead.
pub fn release<T>(value: T) -> Option<Owned<Object>> {
    if !exception::is_in_flight() {
        drop(value);
        if !exception::is_in_flight() {
            return None;
        }
        return take_unless_exit();
    }
    let before = exception::take();
    drop(value);
    let thrown = exception::take();
    match thrown {
        Some(exit) if exception::is_exit(&exit) => {
            drop(exception::put(Some(exit)));
            None
        }
        thrown => {
            drop(exception::put(before));
            thrown
        }
    }
}

/// Returns a new exception of a class of the engine or its extensions, by the lower-case name of the class.
pub fn new_exception(class: &str, message: &str) -> Owned<Object> {
    let class = class_table::find(&Str::new(class)).expect("a class that PHP always has");
    exception::new(class, message)
}
