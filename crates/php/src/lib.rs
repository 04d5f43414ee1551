//! Spindle, the PHP extension: coroutines on stock PHP.
//!
//! This crate is the only one that knows zvals: module life, switching, bailouts, classes and engine hooks. Who
//! runs, who is cancelled and who is told is decided in `spindle-core`.

mod api;
mod engine;
mod handles;
mod isolation;
mod module;
mod moments;
mod observe;
mod runtime;
mod stack;
mod zend;

use spindle_php_sys as sys;

/// What PHP looks for in an extension.
#[unsafe(no_mangle)]
pub extern "C" fn get_module() -> *mut sys::zend_module_entry {
    &raw mut sys::spindle_module_entry
}
