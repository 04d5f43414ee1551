//! What is kept of a coroutine that has a stack, at the upper end of that.

use crate::isolation::Travelling;
use crate::stack::stacks::{AtTop, Stack};
use spindle_php_sys as sys;
use std::ptr::null_mut;

/// A handle that a coroutine keeps busy by a call.
#[derive(Debug)]
pub struct Held {
    /// The call.
    pub call: *mut sys::spindle_call,
    /// The handle.
    pub key: usize,
}

/// What is kept of a coroutine that has a stack: where it stands while it is left. Main has one without a slot.
#[repr(C, align(64))]
pub struct Ctx {
    /// Where it stands while it is left.
    pub stack: Stack,
    /// Which coroutine.
    pub co: u32,
    /// Its number, for the watchdog.
    pub id: u64,
    /// What C code and then PHP code are told because of a cancellation or a close; see `runtime`.
    pub failing: Failing,
    /// The frame of the internal function whose C code fails, if it was in one: what PHP code is called by it (an
    /// error handler) is not told.
    pub failing_in: *mut sys::zend_execute_data,
    /// What of `EG(error_reporting)` is off meanwhile.
    pub silenced: i32,
    /// How often a park has failed at once because of `failing`.
    pub failed_parks: u32,
    /// The connection that was given up for them, or -1.
    pub given_up: i32,
    /// What travels with it.
    pub travelling: Travelling,
    /// Handles that are busy by calls of this coroutine (see `calls`).
    pub busy: Vec<Held>,
    /// Its calls that keep what they use busy, the innermost first, while it is left.
    pub calls: *mut sys::spindle_call,
    /// How many classes it is in the middle of loading.
    pub loads: u32,
    /// What the engine's own fibers and observers know the coroutines on this stack by: each other one by the same.
    pub fibers: [sys::zend_fiber_context; 2],
    /// Which of them is that of the present one.
    pub life: u8,
}

impl Ctx {
    /// Main's.
    pub fn of_main() -> Ctx {
        Ctx::new(Stack::of_main())
    }
}

/// What happens to the blocked C code of a coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failing {
    /// Nothing.
    No,
    /// Its calls fail until it returns to PHP code, where this exception (owned) is thrown.
    Throw(*mut sys::zend_object),
    /// Its calls fail until it returns: its handle is being closed.
    Quietly,
}

// SAFETY: as the trait asks.
unsafe impl AtTop for Ctx {
    fn new(stack: Stack) -> Ctx {
        Ctx {
            stack,
            co: 0,
            id: 0,
            failing: Failing::No,
            failing_in: null_mut(),
            silenced: 0,
            failed_parks: 0,
            given_up: -1,
            travelling: Travelling::new(),
            // SAFETY: an engine's structure of pointers and numbers, for which zero is valid.
            fibers: unsafe { std::mem::zeroed() },
            life: 0,
            busy: Vec::new(),
            calls: null_mut(),
            loads: 0,
        }
    }
}
