//! Parts of the module that further crates contribute.

use spindle_php_sys as sys;
use spindle_zend::{FunctionEntry, PhpStatic, add_functions, engine, exception};
use std::cell::Cell;
use std::sync::OnceLock;

/// A part of the module that another crate contributes: its functions, and callbacks for the start and end of the
/// module, of requests and of coroutines. The crate of the module lists the parts, see [`module_entry`].
///
/// The functions belong to the extension: the engine registers them with Spindle's own and removes them with those. A class is
/// registered at the start of the module, with [`ObjectClass::declare`](spindle_zend::ObjectClass::declare).
#[derive(Clone, Copy)]
pub struct Part {
    functions: &'static [FunctionEntry],
    module_starts: fn(),
    request_starts: fn(),
    request_ends: fn(),
    body_ends: fn(u64),
    coroutine_ends: fn(u64),
    interrupted: fn(),
    forked: fn(u64),
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
        Part {
            functions,
            module_starts: || {},
            request_starts: || {},
            request_ends: || {},
            body_ends: |_| {},
            coroutine_ends: |_| {},
            interrupted: || {},
            forked: |_| {},
        }
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

    /// Sets the function that is called with the id of a coroutine whose body has ended, while something is [held](hold), unless it
    /// exits. It may run PHP code and wait, as the destructors of the coroutine's values may, and leaves no exception in flight.
    #[must_use]
    pub const fn on_body_end(self, function: fn(u64)) -> Part {
        Part { body_ends: function, ..self }
    }

    /// Sets the function that is called with the id of a coroutine that ends, while something is [held](hold).
    #[must_use]
    pub const fn on_coroutine_end(self, function: fn(u64)) -> Part {
        Part { coroutine_ends: function, ..self }
    }

    /// Sets the function that is called when a cancellation has made a wait of C code fail in the running coroutine, or makes
    /// further ones fail, while something is [held](hold). It is called in the middle of that code, and must not run any other.
    #[must_use]
    pub const fn on_interrupt(self, function: fn()) -> Part {
        Part { interrupted: function, ..self }
    }

    /// Sets the function that is called in the child of a fork, with the id of the coroutine that lives on there. It must not run
    /// PHP code.
    #[must_use]
    pub const fn on_fork(self, function: fn(u64)) -> Part {
        Part { forked: function, ..self }
    }
}

/// The parts of this module.
static PARTS: OnceLock<&'static [Part]> = OnceLock::new();

/// Returns the description of the extension that PHP looks up when it loads one, with these parts. It is called by
/// `get_module()` on the engine's thread; the parts of the first call stay.
pub fn module_entry(parts: &'static [Part]) -> *mut sys::zend_module_entry {
    // SAFETY: PHP calls this before any other code of the module; a second call finds all bound already.
    unsafe { sys::spindle_take_allocator() };
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

/// How many things parts hold that a coroutine's end releases. As long as there are none, ends cost one test.
static HELD: PhpStatic<Cell<usize>> = PhpStatic::new(Cell::new(0));

/// Adds to the number of things that are held: 1 for one more, -1 for one fewer.
pub fn hold(change: isize) {
    HELD.set(HELD.get().saturating_add_signed(change));
}

/// Calls the parts' functions for the end of a body. An exception in flight is put aside meanwhile.
#[inline]
pub(crate) fn body_ends(id: u64) {
    if HELD.get() > 0 && !exception::is_exit_in_flight() {
        engine::in_a_frame(|| exception::put_aside(|| each(|part| (part.body_ends)(id))));
    }
}

/// Calls the parts' functions for the end of a coroutine.
#[inline]
pub(crate) fn coroutine_ends(id: u64) {
    if HELD.get() > 0 {
        each(|part| (part.coroutine_ends)(id));
    }
}

/// Calls the parts' functions for a wait that has failed.
pub(crate) fn interrupted() {
    if HELD.get() > 0 {
        each(|part| (part.interrupted)());
    }
}

/// Calls the parts' functions for a fork.
pub(crate) fn forked(id: u64) {
    each(|part| (part.forked)(id));
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
