//! The class `Async\Timeout`: a point in time that can be awaited. Its timer dies with the object.

use crate::runtime::scheduler::{self, Runtime};
use crate::zend::class::Handlers;
use spindle_core::sched::{Target, TimeoutId};
use spindle_php_sys as sys;
use spindle_reactor::Reactor;
use std::ptr::addr_of_mut;

#[repr(C)]
struct Timeout {
    id: Option<TimeoutId>,
    ms: i64,
    std: sys::zend_object,
}

const OFFSET: usize = std::mem::offset_of!(Timeout, std);

static HANDLERS: Handlers = Handlers::new();

/// Fills the handlers. At module start.
pub fn init_handlers() {
    HANDLERS.fill(OFFSET, |handlers| {
        handlers.free_obj = Some(free);
    });
}

unsafe fn of(object: *mut sys::zend_object) -> *mut Timeout {
    // SAFETY: the object is the last field of a `Timeout`.
    unsafe { object.byte_sub(OFFSET).cast() }
}

#[unsafe(no_mangle)]
extern "C" fn spindle_timeout_create(_: *mut sys::zend_class_entry) -> *mut sys::zend_object {
    // SAFETY: allocated for the object (no declared properties follow).
    unsafe {
        let this = sys::_emalloc(size_of::<Timeout>()).cast::<Timeout>();
        this.write_bytes(0, 1);
        (*this).id = None;
        sys::spindle_object_std_init(addr_of_mut!((*this).std), sys::spindle_ce.timeout);
        (*this).std.handlers = HANDLERS.get();
        addr_of_mut!((*this).std)
    }
}

/// A new one that completes `ns` nanoseconds, `ms` milliseconds as the program has said it, from now.
pub fn start(rt: &Runtime, ms: i64, ns: u64) -> *mut sys::zend_object {
    let object = spindle_timeout_create(std::ptr::null_mut());
    let id = rt.core.borrow_mut().add_timeout(Reactor::now().saturating_add(ns));
    // SAFETY: just made.
    unsafe {
        (*of(object)).id = Some(id);
        (*of(object)).ms = ms;
    }
    object
}

/// Its time in milliseconds.
///
/// # Safety
/// An object of the class.
pub unsafe fn milliseconds(object: *mut sys::zend_object) -> i64 {
    // SAFETY: the caller's promise.
    unsafe { (*of(object)).ms }
}

/// What the core knows it by.
///
/// # Safety
/// An object of the class.
pub unsafe fn target(object: *mut sys::zend_object) -> Option<Target> {
    // SAFETY: the caller's promise.
    unsafe { (*of(object)).id }.map(Target::Timeout)
}

unsafe extern "C" fn free(object: *mut sys::zend_object) {
    // SAFETY: called once by the engine when the object dies.
    unsafe {
        let this = of(object);
        if let (Some(id), Some(rt)) = ((*this).id, scheduler::existing()) {
            rt.core.borrow_mut().drop_timeout(id);
        }
        sys::zend_object_std_dtor(object);
    }
}
