//! The state outside its stacks that travels with a coroutine. It is saved when the coroutine is suspended, and
//! restored when it is resumed.
//!
//! | is | kept in |
//! |---|---|
//! | fields of the engine that every coroutine has | [`verdicts::Own`]: copied at each switch |
//! | what a coroutine rarely has, in the engine or in a library | [`parts`]: moved only while it is in use |
//! | marks of the engine on objects and arrays | [`marks`] |
//! | what belongs to a native PHP request, which several coroutines may have | [`sapi`] |
//! | statics and global variables, if the request belongs to an instance of an application | [`instance`] |
//!
//! What a call in progress has set for itself is exchanged with its stack, which may be that of a fiber in a coroutine: see
//! [`calls`].

pub mod call_info;
pub mod calls;
pub(crate) mod foreign;
pub mod globals;
mod inherited;
pub mod instance;
mod last_error;
mod marks;
pub mod openssl;
pub mod parts;
pub mod sapi;
pub mod verdicts;

pub use inherited::{ErrorHandling, Inherited, error_reporting, reports_warnings};
pub use last_error::LastError;
pub use parts::SuspendedIn;

use crate::c;
use crate::stack::stacks::Stack;
use instance::Instance;
use marks::Marks;
use parts::Parts;
use sapi::Sapi;
use spindle_php_sys as sys;
use spindle_zend::{FiberContext, Frame, PhpStatic, zeroed};
use std::cell::{Cell, UnsafeCell};
use std::ptr::{null, null_mut};
use verdicts::{Own, basic, executor, output, request};

/// The state that travels with a coroutine, saved while the coroutine is suspended.
#[repr(C)]
pub struct Travelling {
    own: Cell<Own>,
    /// The request of its own; null for that of the process.
    sapi: Cell<*const Sapi>,
    parts: Cell<Option<Box<Parts>>>,
    marks: Marks,
}

impl Travelling {
    /// Returns the state of a coroutine that has none yet.
    pub const fn new() -> Travelling {
        Travelling { own: Cell::new(Own::new()), sapi: Cell::new(null()), parts: Cell::new(None), marks: Marks::new() }
    }

    /// Saves the state of the running coroutine, which is being suspended.
    ///
    /// # Safety
    /// This is the state of the running coroutine. The engine does nothing until [`Travelling::resume`] or
    /// [`Travelling::begin`] was called for another one.
    #[inline(always)]
    pub unsafe fn suspend(&self, place: SuspendedIn) {
        self.take(place);
        self.marks.remove(place.loads_classes);
    }

    /// Like [`Travelling::suspend`], for a coroutine that is never resumed: takes what [`Travelling::hand_over`] passes
    /// on.
    ///
    /// # Safety
    /// As [`Travelling::suspend`].
    pub unsafe fn abandon(&self) {
        self.take(SuspendedIn::NOTHING);
    }

    #[inline(always)]
    fn take(&self, place: SuspendedIn) {
        // SAFETY: nothing else uses it meanwhile.
        unsafe { (*self.own.as_ptr()).store() };
        if Parts::are_in_use(place) {
            self.parts.set(Some(Parts::take(place)));
        }
    }

    /// Restores the state of a coroutine that is resumed.
    ///
    /// # Safety
    /// The coroutine is suspended, and the state of the one that ran before was saved, or that one has ended.
    #[inline(always)]
    pub unsafe fn resume(&self) {
        // SAFETY: as in `take`.
        unsafe { (*self.own.as_ptr()).load() };
        sapi::enter(self.sapi.get());
        if let Some(parts) = self.parts.take() {
            parts.put_back();
        }
        self.marks.restore();
    }

    /// Gives the engine the state of a coroutine that begins on this stack, with a bottom frame in the first page of
    /// its VM stack.
    ///
    /// # Safety
    /// The state of the coroutine that ran before was saved, or that one has ended; no coroutine uses the stack.
    #[inline(always)]
    pub unsafe fn begin(&self, stack: &Stack, inherited: &Inherited, fiber: &FiberContext) {
        let page = stack.vm_page;
        // The page begins with its header, two zvals long.
        let elements = page.cast::<sys::zval>().wrapping_add(2);
        let frame = elements.cast::<sys::zend_execute_data>();
        let (top, end) = (elements, stack.vm_end.cast());
        // SAFETY: the caller's promise.
        unsafe { page.write(sys::_zend_vm_stack { top, end, prev: null_mut() }) };
        // SAFETY: as above.
        unsafe { frame.write(sys::zend_execute_data { func: BOTTOM.get().cast(), ..zeroed() }) };
        executor::vm_stack().set(page);
        executor::vm_stack_top().set(elements.wrapping_add(FRAME_SLOTS));
        executor::vm_stack_end().set(end);
        executor::vm_stack_page_size().set(16 * 1024);
        executor::current_execute_data().set(frame);
        executor::bailout().set(null_mut());
        executor::fake_scope().set(null_mut());
        executor::jit_trace_num().set(0);
        executor::in_autoload().set(null_mut());
        inherited.hand_on();
        for handlers in [executor::user_error_handlers_error_reporting(), executor::user_error_handlers()] {
            handlers.set(sys::zend_stack { top: 0, max: 0, elements: null_mut(), ..handlers.get() });
        }
        executor::error_handling().set(sys::EH_NORMAL);
        executor::exception_class().set(null_mut());
        executor::exception().set(null_mut());
        executor::prev_exception().set(null_mut());
        executor::opline_before_exception().set(null());
        executor::current_fiber_context().set(fiber.as_raw());
        executor::active_fiber().set(null_mut());
        #[cfg(stack_limit)]
        {
            executor::stack_base().set(page.cast());
            executor::stack_limit().set(stack.low.wrapping_add(32 * 1024).cast());
        }
        request::last_error_message().set(null_mut());
        request::last_error_file().set(null_mut());
        let sapi = inherited.sapi();
        self.sapi.set(sapi);
        sapi::enter(sapi);
    }

    /// Returns the innermost frame of a suspended coroutine.
    pub fn frame(&self) -> Option<Frame> {
        // SAFETY: the coroutine is suspended there, and its calls have not returned.
        unsafe { Frame::from_raw(self.own.get().executor.current_execute_data) }
    }

    /// Returns the fiber context of a suspended coroutine: its own, or that of a fiber in it.
    #[inline(always)]
    pub fn fiber(&self) -> Option<&FiberContext> {
        // SAFETY: the coroutine is suspended in it.
        unsafe { FiberContext::borrow(self.own.get().executor.current_fiber_context) }
    }

    /// Returns the instance of a suspended coroutine; `None` for the script's.
    pub fn instance(&self) -> Option<Instance> {
        // SAFETY: null, or the request of the coroutine, which holds it.
        unsafe { self.sapi.get().as_ref() }.and_then(Sapi::instance)
    }

    /// Copies into `inherited` what a suspended coroutine passes on to those that it spawns.
    pub fn hand_down(&self, inherited: &Inherited) {
        inherited.capture_from(&self.own.get());
    }

    /// Moves the output buffers of a coroutine that is never resumed on top of those of the running one, and makes its
    /// last error, which shutdown functions look up, the current one.
    pub fn hand_over(&self) {
        if let Some(last) = LastError::of_abandoned(&self.own.get()) {
            last.become_current();
        }
        if let Some(parts) = self.parts.take() {
            parts.hand_over();
        }
    }

    /// Forgets the marks of a coroutine that is never resumed.
    pub fn forget_marks(&self) {
        self.marks.forget();
    }
}

impl Default for Travelling {
    fn default() -> Travelling {
        Travelling::new()
    }
}

const FRAME_SLOTS: usize = size_of::<sys::zend_execute_data>().div_ceil(size_of::<sys::zval>());

/// The function of the frame at the bottom of each coroutine: an internal function, which backtraces skip. It has a name,
/// an empty one: the engine reads it where it reports an error while the outermost function's variables are freed.
static BOTTOM: PhpStatic<UnsafeCell<sys::zend_internal_function>> =
    PhpStatic::new(UnsafeCell::new(sys::zend_internal_function {
        type_: sys::ZEND_INTERNAL_FUNCTION as u8,
        ..zeroed()
    }));

/// Prepares what all coroutines share, when the module starts.
pub fn module_starts() {
    // SAFETY: a variable of the engine, which has made the string before it starts modules.
    let empty = unsafe { sys::zend_empty_string };
    // SAFETY: no coroutine exists, so nothing else uses it.
    unsafe { (*BOTTOM.get()).function_name = empty };
}

/// Runs `begin`, and keeps the target of bailouts.
#[inline(always)]
pub fn keep_bailout_target(begin: impl FnOnce()) {
    let target = executor::bailout().get();
    begin();
    executor::bailout().set(target);
}

/// Forgets the classes that the running coroutine's autoloaders were asked for.
#[inline(always)]
pub fn forget_autoloads() {
    let in_autoload = executor::in_autoload().replace(null_mut());
    if !in_autoload.is_null() {
        // SAFETY: a table of the coroutine's, which the engine has forgotten.
        unsafe { sys::spindle_hash_destroy_free(in_autoload) };
    }
}

/// Frees what the running coroutine, which ends, has left in the engine's state.
#[inline(always)]
pub fn end() {
    drop(inherited::error_handler().take());
    let (handlers, masks) = (executor::user_error_handlers(), executor::user_error_handlers_error_reporting());
    if !handlers.get().elements.is_null() {
        for (stack, of_values) in [(handlers, true), (masks, false)] {
            // SAFETY: a stack of values, and one of numbers.
            unsafe { sys::spindle_stack_clean(stack.as_ptr(), of_values) };
        }
    }
    forget_autoloads();
    if output::handlers().get().top != 0 {
        c::spindle_output_end_own(); // flushed, as at the end of a script
    }
    drop(last_error::own(basic::strtok_string().replace(null_mut())));
    #[cfg(http_headers)]
    drop(parts::http_headers().take());
    drop(LastError::take());
}
