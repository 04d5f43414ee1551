//! What is kept of a coroutine that has a stack, at the upper end of that.

use crate::isolation::Travelling;
use crate::stack::stacks::{self, AtTop, Stack};
use spindle_core::sched::CoroutineId;
use spindle_php_sys as sys;
use spindle_zend::{FiberContext, Frame, Object, OwnedCell};
use std::cell::{Cell, RefCell};
use std::ptr::{self, null_mut};

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
    pub co: Cell<CoroutineId>,
    /// Its number, for the watchdog.
    pub id: Cell<u64>,
    /// Whether its C code is being made to fail, because of a cancellation or a close; see `pending_cancel`.
    pub failing: Cell<Failing>,
    /// The exception that is thrown when the C code that fails has returned to PHP code.
    pub cancellation: OwnedCell<Object>,
    /// The frame of the internal function whose C code fails, if it was in one: PHP code that is called by it (an error
    /// handler) does not get the exception.
    pub failing_in: Cell<Option<Frame>>,
    /// What of `EG(error_reporting)` is off meanwhile.
    pub silenced: Cell<i32>,
    /// How often a park has failed at once because of `failing`.
    pub failed_parks: Cell<u32>,
    /// The connection that was given up for them, or -1.
    pub given_up: Cell<i32>,
    /// What travels with it.
    pub travelling: Travelling,
    /// Handles that are busy by calls of this coroutine (see `handle_locks`).
    pub busy: RefCell<Vec<Held>>,
    /// Its calls that keep what they use busy, the innermost first, while it is left.
    pub calls: Cell<*mut sys::spindle_call>,
    /// How many classes it is in the middle of loading.
    pub loads: Cell<u32>,
    /// What the engine's own fibers and observers know the coroutines on this stack by: each other one by the same.
    fibers: [FiberContext; 2],
    /// Which of them is that of the present one.
    generation: Cell<u8>,
}

/// What happens to the blocked C code of a coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failing {
    /// Nothing.
    No,
    /// Its calls fail until it returns to PHP code, where `Ctx::cancellation` is thrown.
    Throw,
    /// Its calls fail until it returns: its handle is being closed.
    Quietly,
}

impl Ctx {
    /// Returns main's.
    pub fn of_main() -> Ctx {
        Ctx::new()
    }

    /// Returns that of the running coroutine, if there is a runtime.
    #[inline(always)]
    pub fn running() -> Option<&'static Ctx> {
        // SAFETY: null, or the running stack, with which its context begins (`AtTop`).
        unsafe { stacks::running().cast::<Ctx>().as_ref() }
    }

    /// Returns that of the stack whose upper end this is.
    ///
    /// # Safety
    /// A stack of [`stacks::Stacks<Ctx>`].
    pub unsafe fn at(upper_end: *mut u8) -> &'static Ctx {
        // SAFETY: the caller's promise: the context lies there, as long as there are stacks.
        unsafe { &*upper_end.cast() }
    }

    /// Returns the context of the engine for a coroutine that begins on this stack: not that of the one before, which may still
    /// be the running one.
    #[inline(always)]
    pub fn next_fiber(&self) -> &FiberContext {
        self.generation.set(self.generation.get() ^ 1);
        &self.fibers[usize::from(self.generation.get())]
    }
}

impl PartialEq for Ctx {
    fn eq(&self, other: &Ctx) -> bool {
        ptr::eq(self, other)
    }
}

// SAFETY: as the trait asks.
unsafe impl AtTop for Ctx {
    #[inline(always)]
    fn new() -> Ctx {
        // As a constant it is written at once, not put together on the stack and copied.
        const {
            Ctx {
                stack: Stack::of_main(),
                co: Cell::new(CoroutineId(0)),
                id: Cell::new(0),
                failing: Cell::new(Failing::No),
                cancellation: OwnedCell::new(),
                failing_in: Cell::new(None),
                silenced: Cell::new(0),
                failed_parks: Cell::new(0),
                given_up: Cell::new(-1),
                travelling: Travelling::new(),
                fibers: [const { FiberContext::new() }; 2],
                generation: Cell::new(0),
                busy: RefCell::new(Vec::new()),
                calls: Cell::new(null_mut()),
                loads: Cell::new(0),
            }
        }
    }

    fn stack(&self) -> &Stack {
        &self.stack
    }
}
