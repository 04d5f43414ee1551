//! What is known of an internal function, in the slot that the engine keeps for this extension in each.

use crate::c;
use spindle_php_sys as sys;
use spindle_zend::{Function, Handler};
use std::cell::Cell;

/// What is known of an internal function: `spindle_call_info` of the C glue, which reads it.
#[repr(transparent)]
pub struct CallInfo(Cell<sys::spindle_call_info>);

impl CallInfo {
    /// Returns the information on a function of this kind, which has no trampoline yet.
    pub const fn new(kind: u32, flags: u8) -> CallInfo {
        CallInfo(Cell::new(sys::spindle_call_info { handler: None, kind, flags, found: false }))
    }

    /// Returns what is known of a function, if anything is.
    #[inline(always)]
    pub fn of(function: Function) -> Option<&'static CallInfo> {
        // What the engine makes for a single call, as for `Closure::__invoke()`, has anything in the slot.
        let function = function.internal().filter(|of| of.fn_flags & sys::ZEND_ACC_CALL_VIA_TRAMPOLINE == 0)?;
        let info: *const CallInfo = function.reserved[slot()].cast_const().cast();
        // SAFETY: null, or what `attach` has put there, which is never freed.
        unsafe { info.as_ref() }
    }

    /// Puts this, or nothing, in the slot of a function.
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

    /// Returns the number (`SPINDLE_FLAGS_…`) for when the function flags what it is called with.
    #[inline(always)]
    pub fn flags(&self) -> u8 {
        self.0.get().flags
    }

    /// Returns the function's own C code, if it has a trampoline.
    pub fn handler(&self) -> Option<Handler> {
        self.0.get().handler
    }

    /// Notes the function's own C code: it gets a trampoline.
    pub fn set_handler(&self, handler: Handler) {
        self.0.set(sys::spindle_call_info { handler: Some(handler), ..self.0.get() });
    }

    /// Returns `true` if the function stands in a table of an object.
    pub fn is_of_object(&self) -> bool {
        self.0.get().found
    }

    /// Notes that the function stands in a table of an object.
    pub fn set_of_object(&self) {
        self.0.set(sys::spindle_call_info { found: true, ..self.0.get() });
    }
}

#[inline(always)]
fn slot() -> usize {
    c::spindle_reserved_slot.get() as usize
}
