//! What of the engine's global state belongs to a coroutine, saved and loaded at each switch.
//!
//! Every field of the engine's globals has a verdict:
//!
//! | field | verdict |
//! |---|---|
//! | `EG(vm_stack*, current_execute_data, bailout, jit_trace_num, fake_scope)` | per coroutine |
//! | `EG(error_reporting)` (so `@`), `error_handling`, `exception_class` | per coroutine |
//! | `EG(user_error_handler)` with its mask and stacks | per coroutine, a new one inherits the handler in force |
//! | `EG(exception, prev_exception, opline_before_exception)` | per coroutine |
//! | `EG(current_fiber_context, active_fiber)`, 8.3 `stack_base`, `stack_limit` | per coroutine |
//! | `EG(in_autoload)` | per coroutine; loads of one class wait for each other (`engine`) |
//! | `EG(record_errors …, filename_override, lineno_override)` | per coroutine, rare (`Rare`) |
//! | `BG(user_compare_fci*)`, serialize and unserialize state | per coroutine, rare |
//! | `OG(handlers, active, running)`: output buffers | per coroutine, rare; what is sent and its flags: the process's |
//! | `PG(in_error_log, in_user_include)` | per coroutine, rare |
//! | symbol tables, objects, included files, ini, `user_exception_handler`, cwd, locale, last error | the process's |
//! | `CG(*)` | never switched while it matters: no switch below a compilation |
//! | GC state | never switched while it matters: no switch below a collection |

use spindle_php_sys as sys;
use std::ptr::{addr_of_mut, null_mut};

macro_rules! saved {
    ($($(#[$meta:meta])* $field:ident: $type:ty,)*) => {
        /// The engine's state of a coroutine that is left.
        #[repr(C)]
        pub struct Saved {
            $($(#[$meta])* $field: $type,)*
            rare: *mut Rare,
        }

        impl Saved {
            #[inline(always)]
            unsafe fn store_common(&mut self) {
                // SAFETY: the globals exist as long as PHP runs, and only its thread gets here.
                unsafe { $($(#[$meta])* { self.$field = sys::executor_globals.$field; })* }
            }

            #[inline(always)]
            unsafe fn load_common(&self) {
                // SAFETY: as above.
                unsafe { $($(#[$meta])* { sys::executor_globals.$field = self.$field; })* }
            }
        }
    };
}

saved! {
    bailout: *mut sys::jmp_buf,
    vm_stack_top: *mut sys::zval,
    vm_stack_end: *mut sys::zval,
    vm_stack: sys::zend_vm_stack,
    vm_stack_page_size: usize,
    current_execute_data: *mut sys::zend_execute_data,
    fake_scope: *mut sys::zend_class_entry,
    jit_trace_num: u32,
    error_reporting: i32,
    in_autoload: *mut sys::HashTable,
    user_error_handler_error_reporting: i32,
    user_error_handler: sys::zval,
    user_error_handlers_error_reporting: sys::zend_stack,
    user_error_handlers: sys::zend_stack,
    error_handling: sys::zend_error_handling_t,
    exception_class: *mut sys::zend_class_entry,
    exception: *mut sys::zend_object,
    prev_exception: *mut sys::zend_object,
    opline_before_exception: *const sys::zend_op,
    current_fiber_context: *mut sys::zend_fiber_context,
    active_fiber: *mut sys::zend_fiber,
    #[cfg(php83)] stack_base: *mut std::ffi::c_void,
    #[cfg(php83)] stack_limit: *mut std::ffi::c_void,
}

/// State that most coroutines never have.
struct Rare {
    handlers: sys::zend_stack,
    active: *mut sys::php_output_handler,
    running: *mut sys::php_output_handler,
    compare: sys::zend_fcall_info,
    compare_cache: sys::zend_fcall_info_cache,
    serialize_lock: u32,
    serialize: (*mut sys::php_serialize_data, u32),
    unserialize: (*mut sys::php_unserialize_data, u32),
    record_errors: bool,
    num_errors: u32,
    errors: *mut *mut sys::zend_error_info,
    filename_override: *mut sys::zend_string,
    lineno_override: sys::zend_long,
    in_error_log: bool,
    in_user_include: bool,
}

impl Saved {
    /// The rare state is in use, by the coroutine that runs.
    #[inline(always)]
    unsafe fn has_rare() -> bool {
        let (eg, bg) = (addr_of_mut!(sys::executor_globals), addr_of_mut!(sys::basic_globals));
        // SAFETY: the globals exist as long as PHP runs, and only its thread gets here.
        unsafe {
            sys::output_globals.handlers.top != 0
                || (*bg).user_compare_fci.size != 0
                || (*bg).serialize.level | (*bg).unserialize.level | (*bg).serialize_lock != 0
                || (*eg).record_errors
                || !(*eg).filename_override.is_null()
                || sys::core_globals.in_error_log
                || sys::core_globals.in_user_include
        }
    }

    /// Stores the engine's state of the running coroutine, which is being left.
    ///
    /// # Safety
    /// Only on the PHP thread; a `load` or `begin` follows before the engine does anything.
    #[inline(always)]
    pub unsafe fn store(&mut self) {
        // SAFETY: the caller's promise.
        unsafe {
            self.store_common();
            self.rare = null_mut();
            if Self::has_rare() {
                self.store_rare();
            }
        }
    }

    /// Loads what `store` has stored.
    ///
    /// # Safety
    /// As [`Saved::store`].
    #[inline(always)]
    pub unsafe fn load(&mut self) {
        // SAFETY: the caller's promise.
        unsafe {
            self.load_common();
            if !self.rare.is_null() {
                self.load_rare();
            }
        }
    }

    /// The innermost frame of a coroutine that is left.
    pub fn frame(&self) -> *mut sys::zend_execute_data {
        self.current_execute_data
    }

    /// The output buffers of a coroutine that is never resumed become those of the running one, on top.
    ///
    /// # Safety
    /// As [`Saved::store`]; this state is not loaded any more.
    pub unsafe fn hand_over_output(&mut self) {
        if !self.rare.is_null() {
            // SAFETY: as in `load_rare`.
            unsafe {
                let mut rare = Box::from_raw(std::mem::replace(&mut self.rare, null_mut()));
                sys::spindle_output_adopt(&mut rare.handlers);
            }
        }
    }

    #[cold]
    unsafe fn store_rare(&mut self) {
        let eg = addr_of_mut!(sys::executor_globals);
        let bg = addr_of_mut!(sys::basic_globals);
        let og = addr_of_mut!(sys::output_globals);
        // SAFETY: the globals exist as long as PHP runs; what is moved out of them is replaced by their empty
        // state. All-zero bytes are the empty state of these structures, as at request start.
        unsafe {
            let rare = Rare {
                handlers: (*og).handlers,
                active: (*og).active,
                running: (*og).running,
                compare: (*bg).user_compare_fci,
                compare_cache: (*bg).user_compare_fci_cache,
                serialize_lock: (*bg).serialize_lock,
                serialize: ((*bg).serialize.data, (*bg).serialize.level),
                unserialize: ((*bg).unserialize.data, (*bg).unserialize.level),
                record_errors: (*eg).record_errors,
                num_errors: (*eg).num_errors,
                errors: (*eg).errors,
                filename_override: (*eg).filename_override,
                lineno_override: (*eg).lineno_override,
                in_error_log: sys::core_globals.in_error_log,
                in_user_include: sys::core_globals.in_user_include,
            };
            (*og).handlers = sys::zend_stack { top: 0, max: 0, elements: null_mut(), ..(*og).handlers };
            (*og).active = null_mut();
            (*og).running = null_mut();
            (*bg).user_compare_fci = std::mem::zeroed();
            (*bg).user_compare_fci_cache = std::mem::zeroed();
            (*bg).serialize_lock = 0;
            (*bg).serialize.data = null_mut();
            (*bg).serialize.level = 0;
            (*bg).unserialize.data = null_mut();
            (*bg).unserialize.level = 0;
            (*eg).record_errors = false;
            (*eg).num_errors = 0;
            (*eg).errors = null_mut();
            (*eg).filename_override = null_mut();
            (*eg).lineno_override = -1;
            sys::core_globals.in_error_log = false;
            sys::core_globals.in_user_include = false;
            self.rare = Box::into_raw(Box::new(rare));
        }
    }

    #[cold]
    unsafe fn load_rare(&mut self) {
        let eg = addr_of_mut!(sys::executor_globals);
        let bg = addr_of_mut!(sys::basic_globals);
        let og = addr_of_mut!(sys::output_globals);
        // SAFETY: `rare` came from `Box::into_raw` in `store_rare`, once. The coroutine that was left before has
        // emptied the globals that are written here, or had nothing in them.
        unsafe {
            let rare = Box::from_raw(std::mem::replace(&mut self.rare, null_mut()));
            if !(*og).handlers.elements.is_null() {
                sys::spindle_stack_clean(addr_of_mut!((*og).handlers), false); // empty, but with storage
            }
            (*og).handlers = rare.handlers;
            (*og).active = rare.active;
            (*og).running = rare.running;
            (*bg).user_compare_fci = rare.compare;
            (*bg).user_compare_fci_cache = rare.compare_cache;
            (*bg).serialize_lock = rare.serialize_lock;
            ((*bg).serialize.data, (*bg).serialize.level) = rare.serialize;
            ((*bg).unserialize.data, (*bg).unserialize.level) = rare.unserialize;
            (*eg).record_errors = rare.record_errors;
            (*eg).num_errors = rare.num_errors;
            (*eg).errors = rare.errors;
            (*eg).filename_override = rare.filename_override;
            (*eg).lineno_override = rare.lineno_override;
            sys::core_globals.in_error_log = rare.in_error_log;
            sys::core_globals.in_user_include = rare.in_user_include;
        }
    }
}

/// What a new coroutine inherits of its spawner.
#[derive(Clone, Copy)]
pub struct Inherited {
    error_reporting: i32,
    handler_mask: i32,
    handler: sys::zval,
}

/// `EG(error_reporting)` below `@`: fatal errors only.
const SILENCED: i32 = (sys::E_ERROR
    | sys::E_CORE_ERROR
    | sys::E_COMPILE_ERROR
    | sys::E_USER_ERROR
    | sys::E_RECOVERABLE_ERROR
    | sys::E_PARSE) as i32;

/// What of a zval says its type.
pub fn is_undef(value: &sys::zval) -> bool {
    // SAFETY: every zval has a type.
    unsafe { value.u1.v.type_ == sys::IS_UNDEF as u8 }
}

impl Inherited {
    /// What the running coroutine hands down; owns a reference to the error handler.
    pub fn capture() -> Inherited {
        let eg = addr_of_mut!(sys::executor_globals);
        // SAFETY: only the PHP thread gets here; the handler is a valid zval, undefined when there is none.
        unsafe {
            let mut error_reporting = (*eg).error_reporting;
            if error_reporting == SILENCED {
                error_reporting = sys::zend_ini_long(c"error_reporting".as_ptr().cast_mut(), 15, 0) as i32;
            }
            let mut handler = (*eg).user_error_handler;
            if !is_undef(&handler) {
                sys::spindle_zval_copy(&mut handler, &(*eg).user_error_handler);
            }
            Inherited { error_reporting, handler_mask: (*eg).user_error_handler_error_reporting, handler }
        }
    }

    /// The handler, for the garbage collector.
    pub fn handler_mut(&mut self) -> *mut sys::zval {
        &mut self.handler
    }

    /// Frees what was not handed on.
    pub fn release(&mut self) {
        if !is_undef(&self.handler) {
            // SAFETY: we own the reference, and forget it.
            unsafe {
                sys::spindle_zval_dtor(&mut self.handler);
                self.handler.u1.type_info = sys::IS_UNDEF;
            }
        }
    }
}

/// Gives the engine the state of a coroutine that begins, with `vm_page` for its VM stack and `frame` zvals of it
/// for the bottom frame.
///
/// # Safety
/// The state of the one that is left has been stored; `page..end` belongs to nobody else.
#[inline(always)]
pub unsafe fn begin(
    page: sys::zend_vm_stack,
    end: *mut u8,
    inherited: &mut Inherited,
    fiber: *mut sys::zend_fiber_context,
    low: *mut u8,
) {
    static ROOT: Root = Root(std::cell::UnsafeCell::new(std::mem::MaybeUninit::zeroed()));
    struct Root(std::cell::UnsafeCell<std::mem::MaybeUninit<sys::zend_internal_function>>);
    // SAFETY: written with the same constant on the PHP thread only.
    unsafe impl Sync for Root {}

    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: the caller's promise. The page begins with its header, two zvals long. The bottom frame is an
    // internal function without a name, which backtraces pass over.
    unsafe {
        let root = ROOT.0.get().cast::<sys::zend_internal_function>();
        (*root).type_ = sys::ZEND_INTERNAL_FUNCTION as u8;
        let elements = page.cast::<sys::zval>().add(2);
        let frame = elements.cast::<sys::zend_execute_data>();
        frame.write_bytes(0, 1);
        (*frame).func = root.cast();
        (*page).prev = null_mut();
        (*page).top = elements;
        (*page).end = end.cast();
        (*eg).vm_stack = page;
        (*eg).vm_stack_top = elements.add(size_of::<sys::zend_execute_data>().div_ceil(size_of::<sys::zval>()));
        (*eg).vm_stack_end = end.cast();
        (*eg).vm_stack_page_size = 16 * 1024;
        (*eg).current_execute_data = frame;
        (*eg).bailout = null_mut();
        (*eg).fake_scope = null_mut();
        (*eg).jit_trace_num = 0;
        (*eg).error_reporting = inherited.error_reporting;
        (*eg).in_autoload = null_mut();
        (*eg).user_error_handler_error_reporting = inherited.handler_mask;
        (*eg).user_error_handler = inherited.handler;
        inherited.handler.u1.type_info = sys::IS_UNDEF;
        for stack in [addr_of_mut!((*eg).user_error_handlers_error_reporting), addr_of_mut!((*eg).user_error_handlers)]
        {
            (*stack).top = 0;
            (*stack).max = 0;
            (*stack).elements = null_mut();
        }
        (*eg).error_handling = sys::EH_NORMAL;
        (*eg).exception_class = null_mut();
        (*eg).exception = null_mut();
        (*eg).prev_exception = null_mut();
        (*eg).opline_before_exception = std::ptr::null();
        (*eg).current_fiber_context = fiber;
        (*eg).active_fiber = null_mut();
        #[cfg(php83)]
        {
            (*eg).stack_base = page.cast();
            (*eg).stack_limit = low.add(32 * 1024).cast();
        }
        let _ = low;
    }
}

/// Frees what the coroutine that ends has left in the engine's state.
///
/// # Safety
/// Only at the end of a coroutine that `begin` began, on its own stack.
#[inline(always)]
pub unsafe fn end() {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: the stacks and tables are this coroutine's own, and nobody looks at them after this.
    unsafe {
        if !is_undef(&(*eg).user_error_handler) {
            let mut handler = (*eg).user_error_handler;
            (*eg).user_error_handler.u1.type_info = sys::IS_UNDEF;
            sys::spindle_zval_dtor(&mut handler);
        }
        if !(*eg).user_error_handlers.elements.is_null() {
            sys::spindle_stack_clean(addr_of_mut!((*eg).user_error_handlers), true);
            sys::spindle_stack_clean(addr_of_mut!((*eg).user_error_handlers_error_reporting), false);
        }
        if !(*eg).in_autoload.is_null() {
            sys::spindle_hash_destroy_free((*eg).in_autoload);
            (*eg).in_autoload = null_mut();
        }
        if sys::output_globals.handlers.top != 0 {
            sys::php_output_end_all(); // its open buffers are flushed, as at the end of a script
        }
    }
}
