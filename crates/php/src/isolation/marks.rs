//! What the engine notes on objects, arrays and class constants against endless recursion (see `marks.c`): it means the
//! coroutine that is inside, so it is taken off when that is left.

use super::call_info::CallInfo;
use crate::c;
use spindle_php_sys as sys;
use spindle_zend::Frame;

/// What was taken off for a coroutine.
pub struct Marks(c::Marks);

impl Marks {
    /// Nothing.
    pub const fn new() -> Marks {
        Marks(c::Marks::new())
    }

    /// Takes off what is noted for the running coroutine, which is left. `loads`: it is in the middle of loading a class.
    #[inline(always)]
    pub fn leave(&self, loads: bool) {
        if !has_none() {
            c::spindle_marks_leave(&self.0);
        }
        if loads {
            c::spindle_marks_leave_constants();
        }
    }

    /// Puts it back: the coroutine goes on.
    #[inline(always)]
    pub fn resume(&self) {
        if !self.0.are_none() {
            c::spindle_marks_go_on(&self.0);
        }
    }

    /// Forgets it, for a coroutine that is never resumed.
    pub fn forget(&self) {
        c::spindle_marks_forget(&self.0);
    }
}

/// Returns `true` if nothing is noted for the running coroutine, in the common case: PHP code that was suspended before has
/// called a function that suspends it.
#[inline(always)]
fn has_none() -> bool {
    let Some(frame) = Frame::current() else { return false };
    let (Some(function), Some(caller)) = (frame.function(), frame.caller()) else { return false };
    function.is_internal()
        && caller.flags() & (sys::SPINDLE_HAS_NOTHING | sys::ZEND_CALL_GENERATOR) == sys::SPINDLE_HAS_NOTHING
        && frame.flags() & sys::ZEND_CALL_TOP == 0
        && CallInfo::of(function).is_some_and(|info| info.flags() == sys::SPINDLE_FLAGS_NEVER as u8)
}
