//! A class that is being linked is in the engine's table already, unlinked, and to others it looks missing, without an
//! autoloader being asked. Linking runs PHP code: autoloaders of its parents, interfaces and traits, and error handlers for
//! what it deprecates. So while the coroutine that links a class is suspended, whatever in, the class is taken out of the
//! others' sight: they ask for it, and wait (see `loading`).
//!
//! The engine does not say when linking begins or ends. It is noticed at every call of an autoloader and every error: is the
//! running code a declaration? And it is over when the class in the table is linked, or gone.

use crate::runtime::Runtime;
use crate::{loading, runtime, zv};
use spindle_core::sched::Co;
use spindle_php_sys as sys;
use std::cell::{Cell, RefCell};

/// A class that a coroutine links.
struct Linking {
    co: Co,
    /// Its lower-case name.
    name: *mut sys::zend_string,
    /// Its key while the coroutine is suspended.
    hidden: *mut sys::zend_string,
}

struct State {
    list: RefCell<Vec<Linking>>,
    count: Cell<usize>,
}

struct OnPhpThread(State);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for OnPhpThread {}
static STATE: OnPhpThread = OnPhpThread(State { list: RefCell::new(Vec::new()), count: Cell::new(0) });

/// Is any class being linked?
#[inline(always)]
pub fn is_any() -> bool {
    STATE.0.count.get() > 0
}

/// Asks the engine to tell of errors. At module start.
pub fn install() {
    // SAFETY: a function that lives as long as the module; without coroutines it does nothing.
    unsafe { sys::zend_observer_error_register(Some(error)) };
}

unsafe extern "C" fn error(_: i32, _: *mut sys::zend_string, _: u32, _: *mut sys::zend_string) {
    if let Some(rt) = runtime::existing().filter(|rt| rt.can_switch()) {
        notice(rt);
    }
}

/// The lower-case name of the class that the running code is declaring.
fn declared() -> Option<*mut sys::zend_string> {
    // SAFETY: the running frame; PHP code has a current instruction, whose first operand here is a constant, by its
    // distance in bytes.
    unsafe {
        let frame = sys::executor_globals.current_execute_data;
        if frame.is_null() || (*frame).func.is_null() {
            return None;
        }
        let opline = (*frame).opline;
        if opline.is_null()
            || !zv::is_php_code((*frame).func)
            || !matches!(u32::from((*opline).opcode), sys::ZEND_DECLARE_CLASS | sys::ZEND_DECLARE_CLASS_DELAYED)
        {
            return None;
        }
        let constant: *const sys::zval = opline.byte_offset((*opline).op1.constant as i32 as isize).cast();
        Some((*constant).value.str_)
    }
}

/// The running code may be about to run PHP code in the middle of linking a class.
pub fn notice(rt: &'static Runtime) {
    let Some(name) = declared() else { return };
    // SAFETY: the running context; a name that code of the running coroutine has for a constant.
    unsafe {
        if !is_unlinked(name) {
            return;
        }
        let co = Co((*rt.context()).co);
        let bytes = zv::bytes(name).to_vec();
        let known = STATE.0.list.borrow().iter().any(|linking| linking.co == co && zv::bytes(linking.name) == bytes);
        if known {
            return;
        }
        let key = [b"\0spindle ", co.0.to_string().as_bytes(), b" ", &bytes].concat();
        let hidden = sys::spindle_string_new(key.as_ptr().cast(), key.len());
        zv::add_ref(name);
        STATE.0.list.borrow_mut().push(Linking { co, name, hidden });
        STATE.0.count.set(STATE.0.count.get() + 1);
        loading::begins(bytes, co); // also where no autoloader was asked for it
    }
}

/// The running coroutine is about to be suspended, or to ask for a class: what it has linked by now is there for all.
#[cold]
pub fn settle(rt: &'static Runtime) {
    // SAFETY: the running context.
    let co = Co(unsafe { (*rt.context()).co });
    let done: Vec<Linking> = {
        let mut list = STATE.0.list.borrow_mut();
        // SAFETY: names that the list has references to.
        let (done, left) =
            list.drain(..).partition(|linking| linking.co == co && !unsafe { is_unlinked(linking.name) });
        *list = left;
        STATE.0.count.set(list.len());
        done
    };
    for linking in done {
        // SAFETY: the list's references.
        unsafe {
            loading::ends(rt, zv::bytes(linking.name).to_vec());
            release(linking);
        }
    }
}

unsafe fn release(linking: Linking) {
    // SAFETY: the caller owns it.
    unsafe {
        sys::spindle_string_release(linking.name);
        sys::spindle_string_release(linking.hidden);
    }
}

/// A new request, or the child of a fork.
pub fn forget_all() {
    STATE.0.count.set(0);
    for linking in STATE.0.list.borrow_mut().drain(..) {
        // SAFETY: the list's references.
        unsafe { release(linking) };
    }
}

/// The coroutine is left: others do not see the classes that it links.
#[cold]
pub fn hide(co: Co) {
    for linking in STATE.0.list.borrow().iter().filter(|linking| linking.co == co) {
        // SAFETY: strings that the list has references to.
        unsafe { rename(linking.name, linking.hidden) };
    }
}

/// The coroutine goes on, and sees them.
#[cold]
pub fn show(co: Co) {
    for linking in STATE.0.list.borrow().iter().filter(|linking| linking.co == co) {
        // SAFETY: as above.
        unsafe { rename(linking.hidden, linking.name) };
    }
}

unsafe fn is_unlinked(name: *mut sys::zend_string) -> bool {
    // SAFETY: the engine's table of classes.
    unsafe {
        let found = sys::zend_hash_find(sys::executor_globals.class_table, name);
        !found.is_null() && (*(*found).value.ce).ce_flags & sys::ZEND_ACC_LINKED == 0
    }
}

unsafe fn rename(from: *mut sys::zend_string, to: *mut sys::zend_string) {
    // SAFETY: the engine's table of classes; a value lies at the beginning of its bucket.
    unsafe {
        if is_unlinked(from) {
            let table = sys::executor_globals.class_table;
            let found = sys::zend_hash_find(table, from);
            // Null if somebody has declared a class of this name meanwhile: the first one stays.
            sys::zend_hash_set_bucket_key(table, found.cast(), to);
        }
    }
}
