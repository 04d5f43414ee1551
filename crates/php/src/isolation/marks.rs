//! The marks that the engine sets on objects, arrays and class constants against endless recursion (see `marks.c`).
//! They concern the coroutine that is inside of them, so they are removed when it is suspended.

use super::call_info::CallInfo;
use crate::c;
use spindle_php_sys as sys;
use spindle_zend::Frame;

/// The marks that were removed for a suspended coroutine.
pub struct Marks(c::Marks);

impl Marks {
    /// No marks.
    pub const fn new() -> Marks {
        Marks(c::Marks::new())
    }

    /// Removes the marks of the running coroutine, which is being suspended. `loads`: it is loading a class.
    #[inline(always)]
    pub fn remove(&self, loads: bool) {
        if !has_none() {
            c::spindle_marks_remove(&self.0);
        }
        if loads {
            c::spindle_marks_remove_constants();
        }
    }

    /// Sets the marks again, when the coroutine is resumed.
    #[inline(always)]
    pub fn restore(&self) {
        if !self.0.are_none() {
            c::spindle_marks_restore(&self.0);
        }
    }

    /// Forgets the marks of a coroutine that is never resumed.
    pub fn forget(&self) {
        c::spindle_marks_forget(&self.0);
    }
}

/// Returns `true` if the running coroutine has no marks, in the common case: PHP code that was suspended before has
/// called a function that suspends it.
#[inline(always)]
fn has_none() -> bool {
    let Some(frame) = Frame::current() else { return false };
    let (Some(function), Some(caller)) = (frame.function(), frame.caller()) else { return false };
    function.is_internal()
        && caller.flags() & (sys::SPINDLE_HAS_NO_MARKS | sys::ZEND_CALL_GENERATOR) == sys::SPINDLE_HAS_NO_MARKS
        && frame.flags() & sys::ZEND_CALL_TOP == 0
        && CallInfo::of(function).is_some_and(|info| info.flags() == sys::SPINDLE_FLAGS_NEVER as u8)
}
