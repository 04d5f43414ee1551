//! What the engine notes on objects, arrays and class constants against endless recursion (see `marks.c`): it means the
//! coroutine that is inside, so it is taken off when that is left.

use crate::zend::call_info::info_of;
use spindle_php_sys as sys;

/// What was taken off for a coroutine.
pub type Marks = *mut sys::spindle_marks;

/// The common case, in short: PHP code that was suspended before has called a function that suspends it. Nothing that the
/// engine has noted on objects is to be taken off.
#[inline(always)]
unsafe fn has_no_marks(frame: *mut sys::zend_execute_data) -> bool {
    // SAFETY: the caller passes the innermost frame of the running coroutine, or null.
    unsafe {
        if frame.is_null() || (*frame).func.is_null() || (*frame).prev_execute_data.is_null() {
            return false;
        }
        let below = (*(*frame).prev_execute_data).This.u1.type_info;
        u32::from((*(*frame).func).type_) == sys::ZEND_INTERNAL_FUNCTION
            && below & (sys::SPINDLE_HAS_NOTHING | sys::ZEND_CALL_GENERATOR) == sys::SPINDLE_HAS_NOTHING
            && (*frame).This.u1.type_info & sys::ZEND_CALL_TOP == 0
            && info_of((*frame).func.cast()).is_some_and(|info| (*info).flags == sys::SPINDLE_FLAGS_NEVER as u8)
    }
}

/// The running coroutine is left: takes off what is noted for it. `loads`: it is in the middle of loading a class.
///
/// # Safety
/// `marks` is that coroutine's.
#[inline(always)]
pub unsafe fn leave(marks: &mut Marks, loads: bool) {
    // SAFETY: the caller's promise; the running frames.
    unsafe {
        if !has_no_marks(sys::executor_globals.current_execute_data) {
            sys::spindle_marks_leave(marks);
        }
        if loads {
            sys::spindle_marks_leave_constants();
        }
    }
}

/// It goes on: puts them back.
///
/// # Safety
/// As [`leave`].
#[inline(always)]
pub unsafe fn resume(marks: &mut Marks) {
    if !marks.is_null() {
        // SAFETY: the caller's promise.
        unsafe { sys::spindle_marks_go_on(marks) };
    }
}
