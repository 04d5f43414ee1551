//! Parts of the module that further crates contribute.

use spindle_php_sys as sys;
use spindle_zend::{FunctionEntry, add_functions};
use std::sync::OnceLock;

/// A part of the module that another crate contributes: its functions, and callbacks for the start and end of the
/// module and of requests. The crate of the module lists the parts, see [`module_entry`].
///
/// The functions belong to the extension: the engine registers them with Spindle's own and removes them with those. A class is
/// registered at the start of the module, with [`ObjectClass::declare`](spindle_zend::ObjectClass::declare).
#[derive(Clone, Copy)]
pub struct Part {
    functions: &'static [FunctionEntry],
    module_starts: fn(),
    request_starts: fn(),
    request_ends: fn(),
}

impl Part {
    /// Returns a part with these functions, made by [`function_table!`](spindle_zend::function_table).
    ///
    /// # Safety
    /// The memory safety of the part's code does not depend on the destructor of a value on its stack: a bailout of
    /// PHP, its `longjmp` on fatal errors, skips all destructors, and the frames of a coroutine that an `exit` abandons
    /// are overwritten. So there are no scoped threads, and nothing is pinned to the stack, across a call that suspends
    /// or may reach the engine. The code uses `spindle-zend` on PHP's thread only, and keeps none of the engine's
    /// values beyond the request. When the state of an object is dropped, it uses no other object's state: the engine
    /// frees them in any order.
    pub const unsafe fn new(functions: &'static [FunctionEntry]) -> Part {
        Part { functions, module_starts: || {}, request_starts: || {}, request_ends: || {} }
    }

    /// Sets the function that is called when the module starts, after Spindle's classes are registered.
    #[must_use]
    pub const fn on_module_start(self, function: fn()) -> Part {
        Part { module_starts: function, ..self }
    }

    /// Sets the function that is called when a request starts, before its code runs.
    #[must_use]
    pub const fn on_request_start(self, function: fn()) -> Part {
        Part { request_starts: function, ..self }
    }

    /// Sets the function that is called when a request ends, in whatever way. No coroutine runs any more; the objects
    /// still exist. Code of the user may run after this, as session handlers do: see [`RequestValue`](crate::RequestValue).
    #[must_use]
    pub const fn on_request_end(self, function: fn()) -> Part {
        Part { request_ends: function, ..self }
    }
}

/// The parts of this module.
static PARTS: OnceLock<&'static [Part]> = OnceLock::new();

/// Returns the description of the extension that PHP looks up when it loads one, with these parts. It is called by
/// `get_module()` on the engine's thread; the parts of the first call stay.
pub fn module_entry(parts: &'static [Part]) -> *mut sys::zend_module_entry {
    let module = &raw mut sys::spindle_module_entry;
    PARTS.get_or_init(|| {
        // SAFETY: this extension, which is not registered before this returns.
        unsafe { add_functions(module, parts.iter().flat_map(|part| part.functions)) };
        parts
    });
    module
}

fn each(with: impl Fn(&Part)) {
    PARTS.get().copied().unwrap_or_default().iter().for_each(with);
}

/// Calls the parts' functions for the start of the module.
pub fn module_starts() {
    each(|part| (part.module_starts)());
}

/// Calls the parts' functions for the start of a request.
pub fn request_starts() {
    each(|part| (part.request_starts)());
}

/// Calls the parts' functions for the end of a request.
pub fn request_ends() {
    each(|part| (part.request_ends)());
}
