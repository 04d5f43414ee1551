//! Spindle, the PHP extension: coroutines on stock PHP.
//!
//! This crate is the only one that knows zvals: module life, switching, bailouts, classes and engine hooks. Who
//! runs, who is cancelled and who is told is decided in `spindle-core`.

#[cfg(asan)]
mod asan;
mod aside;
mod awaiting;
mod busy;
mod calls;
mod context;
mod coroutine;
mod diagnostics;
mod dump;
mod engine;
mod exceptions;
mod failure;
mod functions;
mod globals;
mod group;
mod guard;
mod handlers;
mod hosting;
mod iterators;
mod kinds;
mod life;
mod linking;
mod links;
mod loading;
mod module;
mod no_throw;
mod observers;
mod openssl;
mod operators;
mod output;
mod overflow;
mod persistent;
mod report;
mod runner;
mod runtime;
mod scope;
mod scope_methods;
mod scope_slots;
mod signals;
mod slots;
mod stack;
mod stand_ins;
mod state;
mod streams;
mod switch;
mod syntax;
mod timeout;
mod verdicts;
mod watch;
mod zv;

use spindle_php_sys as sys;

/// What PHP looks for in an extension.
#[unsafe(no_mangle)]
pub extern "C" fn get_module() -> *mut sys::zend_module_entry {
    &raw mut sys::spindle_module_entry
}
