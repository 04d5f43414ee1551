//! The context of a coroutine that has a stack, at the upper end of that stack.

use crate::isolation::Travelling;
use crate::runtime::pending_cancel::FailingCalls;
use crate::stack::stacks::{self, AtTop, Stack};
use spindle_core::sched::CoroutineId;
use spindle_php_sys as sys;
use spindle_zend::{FiberContext, Frame};
use std::cell::{Cell, RefCell};
use std::ptr::{self, null_mut};

/// A handle that a call of a coroutine has locked.
#[derive(Debug)]
pub struct Held {
    /// The call.
    pub call: *mut sys::spindle_call,
    /// The handle.
    pub key: usize,
}

/// The context of a coroutine that has a stack: what is needed to resume it. Main's lies outside of the stacks that the
/// runtime allocates.
#[repr(C, align(64))]
pub struct Ctx {
    /// The stack, and the state of the processor while the coroutine is suspended.
    pub stack: Stack,
    /// The coroutine.
    pub co: Cell<CoroutineId>,
    /// Its id, for the watchdog.
    pub id: Cell<u64>,
    /// Whether the calls of its C code fail, because of a cancellation or a close.
    pub failing: FailingCalls,
    /// The state that travels with the coroutine.
    pub travelling: Travelling,
    /// Handles that calls of this coroutine have locked (see `handle_locks`).
    pub locked: RefCell<Vec<Held>>,
    /// Its calls that keep the locks of what they use while it is suspended, the innermost first.
    pub calls: Cell<*mut sys::spindle_call>,
    /// The handles of its calls of `curl_multi_exec()`, each with the number of the last change then (see `handles::multi`).
    pub performed: RefCell<Vec<(usize, u64)>>,
    /// The frame of a function that leaves its waits to its trampoline.
    pub leaves_waits_in: Cell<Option<Frame>>,
    /// How many classes it is loading.
    pub loads: Cell<u32>,
    /// The fiber contexts as which the engine and observers see the coroutines on this stack. Consecutive coroutines
    /// use them alternately.
    fibers: [FiberContext; 2],
    /// The index of the present one.
    generation: Cell<u8>,
}

impl Ctx {
    /// Returns the context of the main coroutine.
    pub fn of_main() -> Ctx {
        Ctx::new()
    }

    /// Returns the context of the running coroutine, if there is a runtime.
    #[inline(always)]
    pub fn running() -> Option<&'static Ctx> {
        // SAFETY: null, or the running stack, with which its context begins (`AtTop`).
        unsafe { stacks::running().cast::<Ctx>().as_ref() }
    }

    /// Returns the context at the upper end of a stack.
    ///
    /// # Safety
    /// The stack belongs to a [`stacks::Stacks<Ctx>`].
    pub unsafe fn at(upper_end: *mut u8) -> &'static Ctx {
        // SAFETY: the caller's promise: the context lies there, as long as there are stacks.
        unsafe { &*upper_end.cast() }
    }

    /// Returns the fiber context for a coroutine that begins on this stack. It is not that of the previous one, which
    /// may still be the running one.
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
        // A constant is written in place, not built on the stack and copied.
        const {
            Ctx {
                stack: Stack::of_main(),
                co: Cell::new(CoroutineId(0)),
                id: Cell::new(0),
                failing: FailingCalls::new(),
                travelling: Travelling::new(),
                fibers: [const { FiberContext::new() }; 2],
                generation: Cell::new(0),
                locked: RefCell::new(Vec::new()),
                calls: Cell::new(null_mut()),
                performed: RefCell::new(Vec::new()),
                leaves_waits_in: Cell::new(None),
                loads: Cell::new(0),
            }
        }
    }

    fn stack(&self) -> &Stack {
        &self.stack
    }
}
