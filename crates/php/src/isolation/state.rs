//! What of the engine's global state belongs to a coroutine, saved and loaded at each switch.
//!
//! Every field of the engine's globals (8.2) has a verdict. *Own*: per coroutine. *Rare*: own, and moved only while in use
//! (`Rare`). *All's*: the process's, which docs/isolation.md says where a program can see it. *Closed*: never left while it
//! matters.
//!
//! | `EG` | verdict |
//! |---|---|
//! | `vm_stack*`, `current_execute_data`, `bailout`, `jit_trace_num`, `fake_scope` | own |
//! | `error_reporting` (so `@`), `error_handling`, `exception_class` | own |
//! | `user_error_handler` with its mask and stacks | own; a new one inherits the handler in force |
//! | `exception`, `prev_exception`, `opline_before_exception` | own |
//! | `current_fiber_context`, `active_fiber`, 8.3 `stack_base`, `stack_limit` | own |
//! | `in_autoload` | own; loads of one class wait for each other (`engine`) |
//! | `record_errors`, `errors`, `num_errors`, `filename_override`, `lineno_override` | rare |
//! | `symbol_table`, `included_files`, `function_table`, `class_table`, `zend_constants`, `persistent_*`, `weakrefs` | all's |
//! | `objects_store`, `regular_list`, `persistent_list`, `symtable_cache*`, `ht_iterators*` | all's: each user has slots of its own |
//! | `ini_directives`, `modified_ini_directives`, `error_reporting_ini_entry`, `precision`, `assertions`, `exception_*` ini, `fiber_stack_size` | all's |
//! | `user_exception_handler` and its stack, `exit_status`, `ticks_count`, `active`, `flags`, `full_tables_cleanup` | all's |
//! | `timed_out`, `hard_timeout`, `timeout_seconds`, timers, `vm_interrupt`, `delayed_oom` | all's: of the thread, taken up by whoever runs next |
//! | `trampoline` | all's: taken while its `function_name` is set, then others are allocated |
//! | `get_gc_buffer` | closed: a collection |
//! | `capture_warnings_during_sccp`, `current_module`, `no_extensions` | closed: compiling, module start |
//! | `uninitialized_zval`, `error_zval`, `exception_op`, `call_trampoline_op`, `main_fiber_context`, `saved_fpu_cw*`, `reserved` | constant |
//!
//! | `CG` | verdict |
//! |---|---|
//! | what the compiler works with, `open_files`, `ast*`, `arena`, options | closed: no switch below a compilation |
//! | `current_linking_class` | rare: a class is linked at run time, and loads others meanwhile |
//! | `delayed_autoloads`, `delayed_variance_obligations`, `unlinked_uses` | all's: by class; filled and taken without a switch in between |
//! | `map_ptr_*`, `interned_strings`, `rtd_key_counter`, `unclean_shutdown`, `*_locale` | all's |
//!
//! | `BG` | verdict |
//! |---|---|
//! | `user_compare_fci*`, `serialize*`, `unserialize` | rare |
//! | `strtok_string`, `strtok_last`, `strtok_len` | rare; `strtok_table` is empty between calls |
//! | `putenv_ht`, `locale_changed`, `ctype_string`, `umask`, `syslog_device`, `user_filter_map`, `page_*` | all's |
//! | `user_shutdown_function_names`, `user_tick_functions` | all's: a tick function that waits is not called again meanwhile |
//! | `CurrentStatFile`, `CurrentLStatFile`, `ssb`, `lssb` | all's, as `clearstatcache()` has it: written after the call |
//! | `url_adapt_*` (`output_add_rewrite_var`) | all's: the variables go to the output in which the first was added |
//! | `active_ini_file_section`, `mblen_state`, `unserialize_max_depth` | all's: none is alive across a call that can wait |
//!
//! | `PG`, `OG`, `SG` | verdict |
//! |---|---|
//! | `PG(last_error_*)` | own; that of a coroutine which ends the request becomes the last one |
//! | `PG(in_error_log, in_user_include)` | rare |
//! | `PG(tick_functions, http_globals, activated_auto_globals, connection_status, header_is_being_sent, have_called_openlog, syslog_ident)`, ini | all's |
//! | `OG(handlers, active, running)` | rare; handlers that the request began with (`output_buffering`) are all's |
//! | `OG(flags, output_start_*)` | all's: what has been sent, implicit flush |
//! | `SG(*)` | all's: there is one request |
//!
//! | `FG` (ext/standard's files) | verdict |
//! |---|---|
//! | `user_stream_current_filename`, `pclose_wait` | rare: set around the opening of a stream by PHP code, and around the wait for a child |
//! | `tmp_host_buf*` | with who resolves a name (`hosting`) |
//! | `pclose_ret`, settings, `stream_wrappers`, `stream_filters`, `wrapper_errors`, `default_context` | all's: none is alive across a call that can wait, or it is the program's own |
//!
//! `LIBXML(error_buffer)`, the message that libxml is in the middle of: rare. It is reported before it is emptied.
//!
//! How often switching fibers is blocked (`zend_fiber_switch_block`, below a destructor): rare.
//!
//! The collector's own state is closed: no switch below a collection.

use crate::zend::zv;
use spindle_php_sys as sys;
use spindle_zend::{Collected, Value};
use std::cell::Cell;
use std::ptr::{addr_of_mut, null_mut};

macro_rules! saved {
    ($($(#[$meta:meta])* $field:ident: $type:ty,)*) => {
        /// The engine's state of a coroutine that is left.
        #[repr(C)]
        pub struct Saved {
            $($(#[$meta])* $field: $type,)*
            last_error: LastError,
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

/// What `error_get_last()` answers; without a message, nothing.
#[derive(Clone, Copy)]
pub struct LastError {
    message: *mut sys::zend_string,
    file: *mut sys::zend_string,
    kind: i32,
    line: i32,
}

impl LastError {
    /// Moves it out of the engine, where there is one.
    #[inline(always)]
    unsafe fn take(&mut self) {
        let pg = addr_of_mut!(sys::core_globals);
        // SAFETY: globals of the engine, on its thread; the references go along.
        unsafe {
            self.message = (*pg).last_error_message;
            if !self.message.is_null() {
                (*pg).last_error_message = null_mut();
                self.file = std::mem::replace(&mut (*pg).last_error_file, null_mut());
                (self.kind, self.line) = ((*pg).last_error_type, (*pg).last_error_lineno);
            }
        }
    }

    /// Moves it into the engine, which has none.
    #[inline(always)]
    unsafe fn put(&self) {
        if !self.message.is_null() {
            let pg = addr_of_mut!(sys::core_globals);
            // SAFETY: as above.
            unsafe {
                ((*pg).last_error_message, (*pg).last_error_file) = (self.message, self.file);
                ((*pg).last_error_type, (*pg).last_error_lineno) = (self.kind, self.line);
            }
        }
    }

    /// That of the running coroutine, which has none then.
    ///
    /// # Safety
    /// WaitReason the PHP thread.
    pub unsafe fn taken() -> Option<LastError> {
        let mut last = LastError { message: null_mut(), file: null_mut(), kind: 0, line: 0 };
        // SAFETY: the caller's promise.
        unsafe { last.take() };
        (!last.message.is_null()).then_some(last)
    }

    /// It becomes that of the running coroutine.
    ///
    /// # Safety
    /// WaitReason the PHP thread; it is not used again.
    pub unsafe fn become_current(self) {
        // SAFETY: the caller's promise; the one that is replaced is owned by nobody else.
        unsafe {
            if let Some(replaced) = LastError::taken() {
                replaced.release();
            }
            self.put();
        }
    }

    /// Gives up the references.
    ///
    /// # Safety
    /// It is nobody else's, and not used again.
    #[inline(always)]
    pub unsafe fn release(&self) {
        if !self.message.is_null() {
            // SAFETY: both are owned; an error without a file has none.
            unsafe {
                sys::spindle_string_release(self.message);
                if !self.file.is_null() {
                    sys::spindle_string_release(self.file);
                }
            }
        }
    }
}

/// Where ext/libxml gathers a message, piece by piece. Null where it is not there.
struct Message(Cell<*mut sys::smart_str>);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Message {}
static MESSAGE: Message = Message(Cell::new(null_mut()));
const NO_MESSAGE: sys::smart_str = sys::smart_str { s: null_mut(), a: 0 };

/// Looks for the globals of ext/libxml. At activation.
pub fn find() {
    let name = "libxml";
    // SAFETY: the table of loaded modules, on the PHP thread. The globals of this one begin with a zval, and then comes the
    // message.
    unsafe {
        let found = sys::zend_hash_str_find(addr_of_mut!(sys::module_registry), name.as_ptr().cast(), name.len());
        let module = if found.is_null() { null_mut() } else { (*found).value.ptr.cast::<sys::zend_module_entry>() };
        let globals = if module.is_null() { null_mut() } else { (*module).globals_ptr };
        MESSAGE.0.set(if globals.is_null() { null_mut() } else { globals.cast::<sys::zval>().add(1).cast() });
    }
}

/// The message that libxml is in the middle of, if there is one.
#[inline(always)]
unsafe fn message() -> Option<&'static mut sys::smart_str> {
    // SAFETY: globals of a loaded module, on the PHP thread; nobody else has a reference while this one is used.
    unsafe { MESSAGE.0.get().as_mut().filter(|message| !message.s.is_null()) }
}

/// State that most coroutines never have.
struct Rare {
    handlers: sys::zend_stack,
    running: *mut sys::php_output_handler,
    compare: sys::zend_fcall_info,
    compare_cache: sys::zend_fcall_info_cache,
    serialize_lock: u32,
    serialize: (*mut sys::php_serialize_data, u32),
    unserialize: (*mut sys::php_unserialize_data, u32),
    strtok: (*mut sys::zend_string, *mut std::ffi::c_char, usize),
    linking: *mut sys::zend_class_entry,
    record_errors: bool,
    num_errors: u32,
    errors: *mut *mut sys::zend_error_info,
    filename_override: *mut sys::zend_string,
    lineno_override: sys::zend_long,
    in_error_log: bool,
    in_user_include: bool,
    user_wrapper_opens: *const std::ffi::c_char,
    waits_for_child: i32,
    /// What libxml has gathered of a message: null, if nothing.
    message: sys::smart_str,
    /// How deep in destructors it is, below which the engine switches no fibers.
    fibers_blocked: u32,
}

impl Saved {
    /// The rare state is in use, by the coroutine that runs.
    #[inline(always)]
    unsafe fn has_rare() -> bool {
        let (eg, bg) = (addr_of_mut!(sys::executor_globals), addr_of_mut!(sys::basic_globals));
        // SAFETY: the globals exist as long as PHP runs, and only its thread gets here.
        unsafe {
            sys::output_globals.handlers.top != 0 && sys::spindle_output_has_own()
                || !sys::output_globals.running.is_null()
                || (*bg).user_compare_fci.size != 0
                || (*bg).serialize.level | (*bg).unserialize.level | (*bg).serialize_lock != 0
                || !(*bg).strtok_string.is_null()
                || (*eg).record_errors
                || (*eg).num_errors != 0
                || !sys::compiler_globals.current_linking_class.is_null()
                || !(*eg).filename_override.is_null()
                || sys::core_globals.in_error_log
                || sys::core_globals.in_user_include
                || !sys::file_globals.user_stream_current_filename.is_null()
                || sys::file_globals.pclose_wait != 0
                || message().is_some()
                || sys::zend_fiber_switch_blocked()
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
            self.last_error.take();
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
            self.last_error.put();
            if !self.rare.is_null() {
                self.load_rare();
            }
        }
    }

    /// The innermost frame of a coroutine that is left.
    pub fn frame(&self) -> *mut sys::zend_execute_data {
        self.current_execute_data
    }

    /// The context of a coroutine that is left, as the engine's fibers have it: its own, or that of a fiber in it.
    #[inline(always)]
    pub fn fiber(&self) -> *mut sys::zend_fiber_context {
        self.current_fiber_context
    }

    /// The output buffers of a coroutine that is never resumed become those of the running one, on top; and its
    /// last error, which shutdown functions look for, becomes the last one.
    ///
    /// # Safety
    /// As [`Saved::store`]; this state is not loaded any more.
    pub unsafe fn hand_over(&mut self) {
        if !self.last_error.message.is_null() {
            // SAFETY: the caller's promise; the one that is replaced is owned by nobody else.
            unsafe { self.last_error.become_current() };
        }
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
            let mut handlers = (*og).handlers;
            sys::spindle_output_take(&mut handlers);
            let mut fibers_blocked = 0;
            while sys::zend_fiber_switch_blocked() {
                sys::zend_fiber_switch_unblock();
                fibers_blocked += 1;
            }
            let rare = Rare {
                handlers,
                running: (*og).running,
                compare: (*bg).user_compare_fci,
                compare_cache: (*bg).user_compare_fci_cache,
                serialize_lock: (*bg).serialize_lock,
                serialize: ((*bg).serialize.data, (*bg).serialize.level),
                unserialize: ((*bg).unserialize.data, (*bg).unserialize.level),
                strtok: ((*bg).strtok_string, (*bg).strtok_last, (*bg).strtok_len),
                linking: sys::compiler_globals.current_linking_class,
                record_errors: (*eg).record_errors,
                num_errors: (*eg).num_errors,
                errors: (*eg).errors,
                filename_override: (*eg).filename_override,
                lineno_override: (*eg).lineno_override,
                in_error_log: sys::core_globals.in_error_log,
                in_user_include: sys::core_globals.in_user_include,
                user_wrapper_opens: sys::file_globals.user_stream_current_filename,
                waits_for_child: sys::file_globals.pclose_wait,
                message: message().map_or(NO_MESSAGE, |message| std::mem::replace(message, NO_MESSAGE)),
                fibers_blocked,
            };
            (*og).running = null_mut();
            (*bg).user_compare_fci = std::mem::zeroed();
            (*bg).user_compare_fci_cache = std::mem::zeroed();
            (*bg).serialize_lock = 0;
            (*bg).serialize.data = null_mut();
            (*bg).serialize.level = 0;
            (*bg).unserialize.data = null_mut();
            (*bg).unserialize.level = 0;
            (*bg).strtok_string = null_mut();
            sys::compiler_globals.current_linking_class = null_mut();
            (*eg).record_errors = false;
            (*eg).num_errors = 0;
            (*eg).errors = null_mut();
            (*eg).filename_override = null_mut();
            (*eg).lineno_override = -1;
            sys::core_globals.in_error_log = false;
            sys::core_globals.in_user_include = false;
            sys::file_globals.user_stream_current_filename = std::ptr::null();
            sys::file_globals.pclose_wait = 0;
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
            let mut rare = Box::from_raw(std::mem::replace(&mut self.rare, null_mut()));
            sys::spindle_output_adopt(&mut rare.handlers);
            (*og).running = rare.running;
            (*bg).user_compare_fci = rare.compare;
            (*bg).user_compare_fci_cache = rare.compare_cache;
            (*bg).serialize_lock = rare.serialize_lock;
            ((*bg).serialize.data, (*bg).serialize.level) = rare.serialize;
            ((*bg).unserialize.data, (*bg).unserialize.level) = rare.unserialize;
            ((*bg).strtok_string, (*bg).strtok_last, (*bg).strtok_len) = rare.strtok;
            sys::compiler_globals.current_linking_class = rare.linking;
            (*eg).record_errors = rare.record_errors;
            (*eg).num_errors = rare.num_errors;
            (*eg).errors = rare.errors;
            (*eg).filename_override = rare.filename_override;
            (*eg).lineno_override = rare.lineno_override;
            sys::core_globals.in_error_log = rare.in_error_log;
            sys::core_globals.in_user_include = rare.in_user_include;
            sys::file_globals.user_stream_current_filename = rare.user_wrapper_opens;
            sys::file_globals.pclose_wait = rare.waits_for_child;
            if !rare.message.s.is_null() {
                *MESSAGE.0.get() = rare.message;
            }
            for _ in 0..rare.fibers_blocked {
                sys::zend_fiber_switch_block();
            }
        }
    }
}

/// What a new coroutine inherits of its spawner.
pub struct Inherited {
    error_reporting: i32,
    handler_mask: i32,
    handler: Value,
}

/// `EG(error_reporting)` below `@`: fatal errors only.
const SILENCED: i32 = (sys::E_ERROR
    | sys::E_CORE_ERROR
    | sys::E_COMPILE_ERROR
    | sys::E_USER_ERROR
    | sys::E_RECOVERABLE_ERROR
    | sys::E_PARSE) as i32;

/// `EG(error_reporting)`, or what it is outside of the `@` that is in force.
pub fn error_reporting() -> i32 {
    // SAFETY: a global of the engine.
    outside_of_silence(unsafe { sys::executor_globals.error_reporting })
}

fn outside_of_silence(level: i32) -> i32 {
    match level {
        // SAFETY: a terminated name and its length.
        SILENCED => unsafe { sys::zend_ini_long(c"error_reporting".as_ptr().cast_mut(), 15, 0) as i32 },
        level => level,
    }
}

impl Inherited {
    /// Nothing.
    pub const NONE: Inherited = Inherited { error_reporting: 0, handler_mask: 0, handler: Value::UNDEF };

    /// Returns what the running coroutine hands down.
    pub fn capture() -> Inherited {
        let eg = addr_of_mut!(sys::executor_globals);
        // SAFETY: only the PHP thread gets here; the handler is a valid zval, undefined when there is none.
        unsafe { Self::of((*eg).error_reporting, (*eg).user_error_handler_error_reporting, &(*eg).user_error_handler) }
    }

    /// Returns what a coroutine that was left hands down.
    pub fn from(saved: &Saved) -> Inherited {
        Self::of(saved.error_reporting, saved.user_error_handler_error_reporting, &saved.user_error_handler)
    }

    #[inline(always)]
    fn of(error_reporting: i32, handler_mask: i32, from: &sys::zval) -> Inherited {
        // SAFETY: a valid zval.
        let handler = unsafe { Value::borrow(from) }.filter(|handler| !handler.is_undef());
        let error_reporting = outside_of_silence(error_reporting);
        Inherited { error_reporting, handler_mask, handler: handler.cloned().unwrap_or_default() }
    }

    /// Tells the cycle collector of the handler.
    pub fn collect(&self, values: &mut Collected) {
        values.value(&self.handler);
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
        (*eg).user_error_handler = std::mem::take(&mut inherited.handler).into_raw();
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
        if !zv::is_undef(&(*eg).user_error_handler) {
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
            sys::spindle_output_end_own(); // its open buffers are flushed, as at the end of a script
        }
        let strtok = sys::basic_globals.strtok_string;
        if !strtok.is_null() {
            sys::basic_globals.strtok_string = null_mut();
            sys::spindle_string_release(strtok);
        }
        if let Some(last) = LastError::taken() {
            last.release();
        }
    }
}
