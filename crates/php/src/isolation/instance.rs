//! Instances of an application: each has the static properties, the static variables and the global variables of all code for
//! itself. They are exchanged with the native PHP request of a coroutine (`sapi.rs`), which belongs to an instance or to
//! the script. See `instances.c` for how.

use crate::c;
use spindle_php_sys as sys;
use spindle_zend::{Owned, PhpStatic, Str, Text, Value};
use std::cell::Cell;
use std::ptr::NonNull;

/// An instance. All end with PHP's request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Instance(NonNull<sys::spindle_instance>);

/// The number of the instance that was made last; the script has 0.
static LAST: PhpStatic<Cell<u16>> = PhpStatic::new(Cell::new(0));

/// The statics and the global variables of the script, with which instances begin. All end with PHP's request.
#[derive(Clone, Copy)]
pub struct Seed(*mut sys::spindle_instance);

impl Seed {
    /// Remembers those of the script. To be called in its coroutine.
    pub fn of_script() -> Seed {
        HAS_SOME.set(true);
        Seed(c::spindle_instances_prepare())
    }

    /// Prepares the closures that a value leads to, which the script has made since, so that instances can call them. To be called in
    /// its coroutine. Returns the kind of suspended code that it leads to, and that no instance can run.
    pub fn remember_closures(self, of: &Value) -> Option<Text<'static>> {
        c::spindle_instances_remember(of)
    }
}

/// Whether there is a seed.
static HAS_SOME: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// Returns the names of the static properties of the script with objects that all instances would share, if there are some.
pub fn shared() -> Option<Owned<Str>> {
    c::spindle_instances_shared()
}

/// Calls `what`, which runs no PHP code and does not wait, so that the objects that it makes are the script's: the instance in which
/// they are made may end before others have used them.
pub fn for_all<R>(what: impl FnOnce() -> R) -> R {
    let before = c::spindle_instance_running();
    // SAFETY: null is the script.
    unsafe { sys::spindle_instance_enter(std::ptr::null_mut()) };
    let made = what();
    // SAFETY: null, or an instance, which lasts until the end of PHP's request.
    unsafe { sys::spindle_instance_enter(before) };
    made
}

/// Ends all instances. At the end of PHP's request: their destructors are called.
pub fn end_all() {
    LAST.set(0);
    if HAS_SOME.replace(false) {
        c::spindle_instances_end();
    }
}

impl Instance {
    /// Returns an empty instance, which [begins](Instance::begin) with this; `None` if there are too many.
    pub fn new(seed: Seed) -> Option<Instance> {
        LAST.set(LAST.get().checked_add(1)?);
        // SAFETY: a seed lasts until the end of PHP's request, and is of no earlier one: see `Application::begin`.
        NonNull::new(unsafe { sys::spindle_instance_new(LAST.get(), seed.0) }).map(Instance)
    }

    /// Returns that of the running coroutine; `None` for the script's.
    pub fn running() -> Option<Instance> {
        NonNull::new(c::spindle_instance_running()).map(Instance)
    }

    /// Calls `what`, which runs no PHP code and does not wait, so that the objects that it makes are this instance's.
    pub fn makes<R>(self, what: impl FnOnce() -> R) -> R {
        let before = c::spindle_instance_running();
        // SAFETY: instances last until the end of PHP's request.
        unsafe { sys::spindle_instance_enter(self.as_raw()) };
        let made = what();
        // SAFETY: null, or an instance.
        unsafe { sys::spindle_instance_enter(before) };
        made
    }

    /// Gives it, which is empty, what each instance begins with.
    pub fn begin(self) {
        // SAFETY: instances last until the end of PHP's request.
        unsafe { sys::spindle_instance_begin(self.as_raw()) };
    }

    /// Calls the destructors of the objects that the running instance has made.
    pub fn call_destructors() {
        c::spindle_instance_call_destructors();
    }

    /// The process is the child of a fork: what other instances have, it must not end.
    pub fn forked() {
        c::spindle_instances_forked();
    }

    /// Frees what the running instance has in static and global variables.
    pub fn empty() {
        c::spindle_instance_free();
    }

    pub(super) fn as_raw(self) -> *mut sys::spindle_instance {
        self.0.as_ptr()
    }
}
