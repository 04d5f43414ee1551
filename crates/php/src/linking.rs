//! A class whose parents and interfaces are still being loaded is in the engine's table already, unlinked, and to
//! others it looks missing, without an autoloader being asked. So while the coroutine that links it is parked, it is
//! taken out of their sight: they ask for it, and wait (see `loading`).

use crate::aside::{self, Aside, Turn};
use crate::runtime::Runtime;
use crate::zv;
use spindle_php_sys as sys;
use std::ptr::null_mut;

/// A class that the running code is linking, in a call of the autoloader for another one.
#[repr(C)]
#[derive(Debug)]
pub struct Linking {
    aside: Aside,
    /// The class's lower-case name: a constant of the code that declares it.
    name: *mut sys::zend_string,
    /// Its key while its coroutine is parked.
    hidden: *mut sys::zend_string,
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
        if !zv::is_php_code((*frame).func)
            || !matches!(u32::from((*opline).opcode), sys::ZEND_DECLARE_CLASS | sys::ZEND_DECLARE_CLASS_DELAYED)
        {
            return None;
        }
        let constant: *const sys::zval = opline.byte_offset((*opline).op1.constant as i32 as isize).cast();
        Some((*constant).value.str_)
    }
}

/// The running code asks for a class, perhaps because it links another one. Null if it does not.
pub fn begin(rt: &'static Runtime) -> *mut Linking {
    let Some(name) = declared() else { return null_mut() };
    // SAFETY: the running context; the name is a constant of the running code.
    unsafe {
        let ctx = rt.context();
        let key = [b"\0spindle ", (*ctx).co.to_string().as_bytes(), b" ", zv::bytes(name)].concat();
        let hidden = sys::spindle_string_new(key.as_ptr().cast(), key.len());
        let linking = Box::into_raw(Box::new(Linking { aside: Aside::new(switched), name, hidden }));
        aside::begin(linking.cast());
        linking
    }
}

/// It has been loaded, or not. A stack that is abandoned before is not resumed, and nobody asks for classes any more.
///
/// # Safety
/// `linking` is what the last `begin` of this context has returned.
pub unsafe fn end(linking: *mut Linking) {
    if !linking.is_null() {
        // SAFETY: the caller's promise.
        unsafe {
            aside::end(linking.cast());
            sys::spindle_string_release((*linking).hidden);
            drop(Box::from_raw(linking));
        }
    }
}

/// The name of the class that is being linked.
///
/// # Safety
/// `linking` is null or between its `begin` and its `end`.
pub unsafe fn name(linking: *const Linking) -> Option<Vec<u8>> {
    // SAFETY: the caller's promise.
    unsafe { linking.as_ref().map(|linking| zv::bytes(linking.name).to_vec()) }
}

unsafe fn rename(from: *mut sys::zend_string, to: *mut sys::zend_string) {
    // SAFETY: the engine's table of classes; a value lies at the beginning of its bucket.
    unsafe {
        let table = sys::executor_globals.class_table;
        let found = sys::zend_hash_find(table, from);
        if found.is_null() || (*(*found).value.ce).ce_flags & sys::ZEND_ACC_LINKED != 0 {
            return;
        }
        // Null if somebody has declared a class of this name meanwhile: the first one stays.
        sys::zend_hash_set_bucket_key(table, found.cast(), to);
    }
}

unsafe fn switched(aside: *mut Aside, turn: Turn) {
    // SAFETY: the beginning of one of ours, which is alive until its `end`.
    unsafe {
        let linking = &*aside.cast::<Linking>();
        match turn {
            Turn::Left => rename(linking.name, linking.hidden),
            Turn::GoesOn => rename(linking.hidden, linking.name),
        }
    }
}
