//! Spindle, the PHP extension: coroutines on stock PHP.
//!
//! It contains the life cycle of the module, switching, bailouts, classes and engine hooks. `spindle-core` decides
//! which coroutine runs, is cancelled or is notified. The file `floors` beside this folder says which module may use
//! which.

#![deny(clippy::multiple_unsafe_ops_per_block)]

mod api;
mod c;
mod engine;
mod handles;
mod isolation;
mod module;
mod moments;
mod observe;
mod runtime;
mod settings;
mod stack;

use spindle_php_sys as sys;

/// Returns the description of the extension that PHP looks for when it loads one.
pub fn module_entry() -> *mut sys::zend_module_entry {
    &raw mut sys::spindle_module_entry
}
