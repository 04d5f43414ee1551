//! The object of `Async\Context`: a coroutine's own values.
//!
//! A coroutine makes its context when it is first asked for and keeps it. In its completion the context is cleared,
//! whoever else holds it.

use crate::runtime::{
    coroutine::{self, Coroutine},
    scheduler::{Core, Phase, existing},
    slots::Slots,
};
use crate::zend::{class::Handlers, exception, zv};
use spindle_php_sys as sys;
use std::ptr::{addr_of_mut, null_mut};

type Value = *mut sys::zval;

#[repr(C)]
struct Context {
    slots: Slots,
    std: sys::zend_object,
}

const OFFSET: usize = std::mem::offset_of!(Context, std);

/// How often a context is cleared in the completion of its coroutine, for destructors that keep something in it again.
/// One that does so each time would never let it end.
const ROUNDS: u32 = 4;

static HANDLERS: Handlers = Handlers::new();

/// Fills the handlers. At module start.
pub fn init_handlers() {
    HANDLERS.fill(OFFSET, |handlers| {
        handlers.free_obj = Some(free);
        handlers.get_gc = Some(get_gc);
    });
    // SAFETY: module start, one thread; filled by the registration of classes.
    unsafe {
        (*sys::spindle_ce.context).ce_flags |= sys::ZEND_ACC_NOT_SERIALIZABLE | sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES;
        (*sys::spindle_ce.key).ce_flags |= sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES; // as of each readonly class
    }
}

/// The slots of an object of the class, which must outlive their use.
pub unsafe fn slots_of<'a>(object: *mut sys::zend_object) -> &'a Slots {
    // SAFETY: the object is the last field of a `Context`. What changes in slots is in cells.
    unsafe { &(*object.byte_sub(OFFSET).cast::<Context>()).slots }
}

#[unsafe(no_mangle)]
extern "C" fn spindle_context_create(_: *mut sys::zend_class_entry) -> *mut sys::zend_object {
    // SAFETY: allocated for the object (no declared properties follow); zeros are empty slots.
    unsafe {
        let this = sys::_emalloc(size_of::<Context>()).cast::<Context>();
        this.write_bytes(0, 1);
        sys::spindle_object_std_init(addr_of_mut!((*this).std), sys::spindle_ce.context);
        (*this).std.handlers = HANDLERS.get();
        addr_of_mut!((*this).std)
    }
}

unsafe extern "C" fn free(object: *mut sys::zend_object) {
    // SAFETY: called once by the engine when the object dies.
    unsafe {
        slots_of(object).clear();
        sys::zend_object_std_dtor(object);
    }
}

unsafe extern "C" fn get_gc(object: *mut sys::zend_object, table: *mut Value, count: *mut i32) -> *mut sys::HashTable {
    // SAFETY: the buffer is the engine's, filled with values that the object owns.
    unsafe {
        let buffer = sys::zend_get_gc_buffer_create();
        slots_of(object).gc(buffer);
        zv::gc_use(buffer, table, count);
        null_mut()
    }
}

/// The context of a coroutine (borrowed), made now if there is none.
pub unsafe fn of_coroutine(this: *mut Coroutine) -> *mut sys::zend_object {
    // SAFETY: a live coroutine.
    unsafe {
        if (*this).context.is_null() {
            (*this).context = spindle_context_create(null_mut());
        }
        (*this).context
    }
}

/// The body of a coroutine has ended: its values are destroyed, which may run PHP code.
///
/// # Safety
/// `this` is the running coroutine, or one that will never run.
pub unsafe fn coroutine_ends(this: *mut Coroutine) {
    // SAFETY: the coroutine holds its context, and is kept by the runtime, until this returns.
    unsafe {
        let context = (*this).context;
        if context.is_null() {
            return;
        }
        for _ in 0..ROUNDS {
            if slots_of(context).is_empty() {
                break;
            }
            slots_of(context).clear();
        }
        if (*context).gc.refcount == 1 {
            (*this).context = null_mut();
            sys::spindle_object_release(context);
        }
    }
}

/// The same for the main coroutine, when the script's own code has ended (`EG(exception)`: how). What destructors throw
/// comes on top of that.
pub unsafe extern "C" fn script_ended(_: *mut std::ffi::c_void) {
    let Some(rt) = existing() else { return };
    // SAFETY: main's stack, no frame of user code on it.
    unsafe {
        let thrown = sys::executor_globals.exception;
        let exits = !thrown.is_null() && (sys::zend_is_unwind_exit(thrown) || sys::zend_is_graceful_exit(thrown));
        if rt.phase.get() != Phase::Ended && !exits {
            exception::put_aside(|| coroutine_ends(rt.object(Core::MAIN)));
        }
    }
}

/// In the child of a fork: the destructors of another coroutine's values do not run here.
///
/// # Safety
/// `this` is a coroutine that was dropped.
pub unsafe fn disown(this: *mut Coroutine) {
    // SAFETY: only flags of objects are written.
    unsafe {
        if !(*this).context.is_null() {
            slots_of((*this).context).each(|value| coroutine::disown(value));
        }
    }
}
