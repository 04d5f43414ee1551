//! Data about internal functions, in the slot that the engine reserves for this extension in each function.

use crate::c;
use spindle_php_sys as sys;
use spindle_zend::{Function, Handler};
use std::cell::Cell;

/// Data about an internal function: `spindle_call_info` of the C glue, which reads it.
#[repr(transparent)]
pub struct CallInfo(Cell<sys::spindle_call_info>);

impl CallInfo {
    /// Returns the information for a function of this kind, without a trampoline.
    pub const fn new(kind: u32, flags: u8) -> CallInfo {
        CallInfo(Cell::new(sys::spindle_call_info { handler: None, kind, flags, found: false }))
    }

    /// Returns the information of a function, if it has any.
    #[inline(always)]
    pub fn of(function: Function) -> Option<&'static CallInfo> {
        // Functions that the engine creates for a single call, as for `Closure::__invoke()`, have an undefined value in
        // the slot.
        let function = function.internal().filter(|of| of.fn_flags & sys::ZEND_ACC_CALL_VIA_TRAMPOLINE == 0)?;
        let info: *const CallInfo = function.reserved[slot()].cast_const().cast();
        // SAFETY: null, or what `attach` has put there, which is never freed.
        unsafe { info.as_ref() }
    }

    /// Sets or clears the slot of a function.
    pub fn attach(info: Option<&'static CallInfo>, function: Function) {
        let info = info.map_or(std::ptr::null_mut(), |info| info.0.as_ptr().cast());
        // SAFETY: our own slot.
        unsafe { function.set_reserved(slot(), info) };
    }

    /// Returns the number of the function's kind.
    #[inline(always)]
    pub fn kind(&self) -> u32 {
        self.0.get().kind
    }

    /// Returns the number (`SPINDLE_FLAGS_…`) that says when the function marks its arguments as in use.
    #[inline(always)]
    pub fn flags(&self) -> u8 {
        self.0.get().flags
    }

    /// Returns the function's own C code, if it has a trampoline.
    pub fn handler(&self) -> Option<Handler> {
        self.0.get().handler
    }

    /// Sets the function's own C code, in front of which there is a trampoline now.
    pub fn set_handler(&self, handler: Handler) {
        self.0.set(sys::spindle_call_info { handler: Some(handler), ..self.0.get() });
    }

    /// Returns `true` if the function was found in a table of an object.
    pub fn is_of_object(&self) -> bool {
        self.0.get().found
    }

    /// Records that the function was found in a table of an object.
    pub fn set_of_object(&self) {
        self.0.set(sys::spindle_call_info { found: true, ..self.0.get() });
    }
}

#[inline(always)]
fn slot() -> usize {
    c::spindle_reserved_slot.get() as usize
}
