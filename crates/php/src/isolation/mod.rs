//! State outside a coroutine's stacks that travels with it.

pub mod globals;
pub mod marks;
pub mod openssl;
pub mod state;
pub mod switch_hooks;

use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;

use spindle_php_sys as sys;
use state::Saved;
use switch_hooks::Aside;

/// How a coroutine is left.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// In C code that has called a function of libc which blocks.
    pub in_c: bool,
    /// In the middle of loading a class.
    pub loads_classes: bool,
}

/// What travels with a coroutine, where it is kept while the coroutine is left.
pub struct Travelling {
    saved: UnsafeCell<Saved>,
    marks: Cell<marks::Marks>,
    calls: Cell<*mut Aside>,
    errors: Cell<openssl::Queue>,
}

impl Travelling {
    /// Returns that of a coroutine that has nothing yet.
    pub fn new() -> Travelling {
        // SAFETY: plain numbers and pointers, for which zero is valid; they are written before they are read.
        let saved = unsafe { std::mem::zeroed() };
        Travelling {
            saved: UnsafeCell::new(saved),
            marks: Cell::new(null_mut()),
            calls: Cell::new(null_mut()),
            errors: Cell::new(openssl::Queue::EMPTY),
        }
    }

    /// Takes what belongs to the running coroutine, which is left.
    ///
    /// # Safety
    /// It is the running coroutine's. The engine does nothing until [`Travelling::resume`] or [`Travelling::begin`] was called for another.
    #[inline(always)]
    pub unsafe fn leave(&self, left: Left) {
        // SAFETY: the caller's promise; nobody else borrows it.
        unsafe { (*self.saved.get()).store() };
        let mut marks = self.marks.get();
        // SAFETY: as above.
        unsafe { marks::leave(&mut marks, left.loads_classes) };
        self.marks.set(marks);
        self.calls.set(switch_hooks::leave());
        if left.in_c {
            self.errors.set(openssl::take());
        }
    }

    /// As [`Travelling::leave`], of a coroutine that is never resumed: takes what [`Travelling::hand_over`] hands over.
    ///
    /// # Safety
    /// As [`Travelling::leave`].
    pub unsafe fn leave_for_good(&self) {
        // SAFETY: the caller's promise; nobody else borrows it.
        unsafe { (*self.saved.get()).store() };
    }

    /// Gives the engine the state of a coroutine that begins, with `vm_page..end` for its VM stack.
    ///
    /// # Safety
    /// What belongs to the one that ran before was taken, or that one has ended; `vm_page..end` belongs to nobody else.
    #[inline(always)]
    pub unsafe fn begin(
        &self,
        vm_page: sys::zend_vm_stack,
        end: *mut u8,
        inherited: &mut state::Inherited,
        fiber: *mut sys::zend_fiber_context,
        low: *mut u8,
    ) {
        // SAFETY: the caller's promise.
        unsafe { state::begin(vm_page, end, inherited, fiber, low) };
        switch_hooks::resume(null_mut());
    }

    /// Puts it back: the coroutine goes on.
    ///
    /// # Safety
    /// The coroutine was left, and what belongs to the one that ran before was taken, or that one has ended.
    #[inline(always)]
    pub unsafe fn resume(&self) {
        // SAFETY: the caller's promise; nobody else borrows it.
        unsafe { (*self.saved.get()).load() };
        let mut marks = self.marks.get();
        // SAFETY: as above.
        unsafe { marks::resume(&mut marks) };
        self.marks.set(marks);
        switch_hooks::resume(self.calls.get());
        openssl::put_back(self.errors.replace(openssl::Queue::EMPTY));
    }

    /// Returns the innermost frame of a coroutine that is left.
    pub fn frame(&self) -> *mut sys::zend_execute_data {
        // SAFETY: nobody changes it meanwhile.
        unsafe { &*self.saved.get() }.frame()
    }

    /// Returns the context of a coroutine that is left, as the engine's fibers have it: its own, or that of a fiber in it.
    #[inline(always)]
    pub fn fiber(&self) -> *mut sys::zend_fiber_context {
        // SAFETY: nobody changes it meanwhile.
        unsafe { &*self.saved.get() }.fiber()
    }

    /// Returns what a coroutine that was left hands down to those that it spawns.
    pub fn inherited(&self) -> state::Inherited {
        // SAFETY: nobody changes it meanwhile.
        state::Inherited::from(unsafe { &*self.saved.get() })
    }

    /// The output buffers of a coroutine that is never resumed become those of the running one, on top; and its last error,
    /// which shutdown functions look for, becomes the last one.
    ///
    /// # Safety
    /// The coroutine was left, and is not resumed.
    pub unsafe fn hand_over(&self) {
        // SAFETY: the caller's promise.
        unsafe { (*self.saved.get()).hand_over() };
    }

    /// Forgets what was taken off objects for a coroutine that is never resumed.
    pub fn forget_marks(&self) {
        let mut marks = self.marks.replace(null_mut());
        // SAFETY: null, or what was taken.
        unsafe { sys::spindle_marks_forget(&mut marks) };
    }
}

impl Default for Travelling {
    fn default() -> Travelling {
        Travelling::new()
    }
}
