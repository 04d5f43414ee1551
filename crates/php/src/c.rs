//! Functions and variables of C that are sound for all arguments that these types allow: of the C glue, the engine and
//! the C library. The comment before each group says why. Functions that have nothing to do with coroutines are in
//! `spindle_zend`; all others are called through `sys` and `libc`.

use spindle_php_sys as sys;
use spindle_zend::{
    Array, Class, Frame, Function, Handler, Object, Owned, PhpStatic, Resource, Str, Text, Value, declare, zeroed,
};
use std::{
    cell::{Cell, UnsafeCell},
    ffi::{c_char, c_int, c_long, c_void},
    ptr::NonNull,
};

/// Marks of the engine on objects and arrays that were removed for a suspended coroutine. Only `marks.c` knows the
/// contents.
#[repr(transparent)]
pub struct Marks(Cell<*mut sys::spindle_marks>);

impl Marks {
    /// No marks.
    pub const fn new() -> Marks {
        Marks(Cell::new(std::ptr::null_mut()))
    }

    /// Returns `true` if no marks were removed.
    #[inline(always)]
    pub fn are_none(&self) -> bool {
        self.0.get().is_null()
    }
}

/// The part of a hidden lazy object that is put aside. Only `lazy.c` knows the contents.
#[cfg(lazy_objects)]
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Lazy(sys::spindle_lazy);

#[cfg(lazy_objects)]
impl Lazy {
    /// Nothing.
    pub const NONE: Lazy = Lazy(sys::spindle_lazy {
        values: std::ptr::null_mut(),
        properties: std::ptr::null_mut(),
        handlers: std::ptr::null(),
    });
}

/// Handlers of output buffers that were taken from the engine's stack of these.
#[repr(transparent)]
pub struct OutputHandlers(sys::zend_stack);

impl OutputHandlers {
    /// No handlers.
    pub const fn new() -> OutputHandlers {
        OutputHandlers(sys::zend_stack { size: 0, top: 0, max: 0, elements: std::ptr::null_mut() })
    }
}

/// The size of the place for a time.
pub const TIME: usize = sys::SPINDLE_TIME as usize;

/// A proxy for another function, which only the glue fills in.
#[repr(transparent)]
pub struct ProxyFunction(UnsafeCell<sys::zend_internal_function>);

impl ProxyFunction {
    /// Returns an empty proxy.
    pub const fn new() -> ProxyFunction {
        ProxyFunction(UnsafeCell::new(zeroed()))
    }

    /// Returns the proxy as a function, which is valid as long as the proxy.
    pub fn function(&self) -> Function {
        // SAFETY: every kind of function begins where the union does.
        unsafe { Function::from_raw(self.0.get().cast()) }.expect("not null")
    }
}

// SAFETY: these variables of the glue have these types.
unsafe extern "C" {
    // Variables of the glue, which only the PHP thread uses. The C code reads them as numbers. The slot and the classes
    // are set at module start.
    pub safe static spindle_settings: PhpStatic<Cell<sys::spindle_ini>>;
    pub safe static spindle_reserved_slot: PhpStatic<Cell<c_int>>;
    pub safe static spindle_ce: PhpStatic<Cell<sys::spindle_classes>>;
    /// Not 0 if any handle is locked: calls that use handles are checked before they begin.
    pub safe static spindle_check_before: PhpStatic<Cell<u32>>;
    /// Not 0 if an exception is to be thrown when the current internal function returns.
    pub safe static spindle_check_after: PhpStatic<Cell<u32>>;
    /// How many calls have not waited since the coroutine was last suspended.
    pub safe static spindle_calls_without_park: PhpStatic<Cell<u32>>;
}

declare! {
    // Marks: the running frames are traversed, and `Marks` has what `spindle_marks_remove` has stored there.
    pub safe fn spindle_marks_remove(marks: &Marks);
    pub safe fn spindle_marks_remove_constants();
    pub safe fn spindle_marks_restore(marks: &Marks);
    pub safe fn spindle_marks_forget(marks: &Marks);

    // Output buffers: handlers are moved. None is left in the adopted ones.
    pub safe fn spindle_output_has_own() -> bool;
    pub safe fn spindle_output_take(own: &mut OutputHandlers);
    pub safe fn spindle_output_adopt(handlers: &mut OutputHandlers);
    pub safe fn spindle_output_end_own();

    // Native PHP requests: these concern the running one, whichever it is.
    pub safe fn spindle_sapi_prepare() -> bool;
    pub safe fn spindle_sapi_add_static(class: &Str, property: &Str) -> bool;
    pub safe fn spindle_sapi_forget_statics();
    pub safe fn spindle_sapi_abandon();
    pub safe fn spindle_instances_prepare() -> *mut sys::spindle_instance;
    pub safe fn spindle_is_in_front(handler: Handler) -> bool;
    pub safe fn spindle_pgsql_link() -> Option<&'static Object>;
    pub safe fn spindle_instances_remember(value: &Value) -> Option<Text<'static>>;
    pub safe fn spindle_instances_shared() -> Option<Owned<Str>>;
    pub safe fn spindle_instance_running() -> *mut sys::spindle_instance;
    pub safe fn spindle_instance_call_destructors();
    pub safe fn spindle_instance_free();
    pub safe fn spindle_instances_collect(collect: extern "C" fn() -> c_int) -> c_int;
    pub safe fn spindle_instances_call_destructors();
    pub safe fn spindle_instances_end();
    pub safe fn spindle_instances_forked();
    pub safe fn spindle_instance_has_autoloaders() -> bool;
    pub safe fn spindle_instance_has_all_autoloaders() -> bool;
    pub safe fn spindle_instance_autoload(is_first: bool, name: &Str, lower: &Str) -> Option<Class>;
    pub safe fn spindle_sapi_boot_ended();
    pub safe fn spindle_sapi_call_shutdown_functions();
    pub safe fn spindle_sapi_close_session();
    pub safe fn spindle_sapi_abort_session();
    pub safe fn spindle_sapi_end_buffers();
    pub safe fn spindle_sapi_end_output();
    pub safe fn spindle_sapi_end();
    pub safe fn spindle_sapi_release();
    pub safe fn spindle_sapi_output_failed() -> bool;
    pub safe fn spindle_sapi_set_status(status: c_int) -> bool;
    pub safe fn spindle_sapi_status() -> c_int;
    pub safe fn spindle_sapi_status_line() -> *const c_char;
    pub safe fn spindle_sapi_is_in_child() -> bool;
    pub safe fn spindle_sapi_exit_status() -> c_int;
    pub safe fn spindle_sapi_set_own_exit_status(status: c_int);
    pub safe fn spindle_sapi_server(server: &mut Value);
    pub safe fn spindle_sapi_server_text(name: Text<'_>, text: &mut Value);
    pub safe fn spindle_sapi_send_headers();
    pub safe fn spindle_sapi_exception_handler(handler: &mut Value);
    pub safe fn spindle_sapi_uncaught(exception: &Object);
    pub safe fn spindle_error_log_watch(take: extern "C" fn(Text<'_>, c_int) -> bool);
    pub safe fn spindle_error_log_watch_no_more();
    pub safe fn spindle_error_log_pass(line: Text<'_>, severity: c_int);
    pub safe fn spindle_error_log(line: Text<'_>, severity: c_int);
    pub safe fn spindle_error_log_time(text: &mut [u8; TIME]);
    pub safe fn spindle_time_limit() -> i64;
    pub safe fn spindle_time_limit_watch(set: extern "C" fn(i64) -> bool);
    pub safe fn spindle_time_limit_watch_no_more(begins: bool);
    pub safe fn spindle_time_limit_restore();
    pub safe fn spindle_time_is_over(error: &Str);
    #[allow(improper_ctypes, reason = "C passes the `Vec` on, and does not read it")]
    pub safe fn spindle_sapi_each_header(
        each: extern "C" fn(&mut Vec<Vec<u8>>, *const c_char, usize),
        lines: &mut Vec<Vec<u8>>,
    );
    pub safe fn spindle_sapi_watch_errors(survived: extern "C" fn() -> bool, php_alone: extern "C" fn() -> bool);
    pub safe fn spindle_sapi_watch_no_errors();
    pub safe fn spindle_sapi_fatal_was_asked_for() -> bool;

    // Signals: one that does not exist has no handler.
    pub safe fn spindle_signal_is_default(signal: c_int) -> bool;

    // Frames of calls in progress, whose arguments and callers are read.
    pub safe fn spindle_tls_begins(frame: Frame) -> bool;
    pub safe fn spindle_tls_ends(frame: Frame);
    pub safe fn spindle_abandon(frame: Frame);
    pub safe fn spindle_cleans_up(frame: Frame) -> bool;
    pub safe fn spindle_passes_unchanged(frame: Frame) -> bool;

    // Queries about values, and tables and numbers of the engine.
    pub safe fn spindle_takes_references(function: Function, count: u32) -> bool;
    pub safe fn spindle_parameters_of(callable: &Value) -> u32;
    pub safe fn spindle_signal_is_taken(signal: c_int) -> bool;
    pub safe fn spindle_signals_held() -> *const c_int;
    pub safe fn spindle_streams_end_request();
    pub safe fn spindle_vm_interrupt_take() -> bool;
    pub safe fn spindle_is_innermost(frame: Frame) -> bool;
    pub safe fn php_le_stream_context() -> c_int;
    pub safe fn spindle_stream_of_filter(resource: &Resource) -> Option<&Resource>;
    pub safe fn spindle_stream_within(object: &Object, number: u32) -> Option<&Resource>;
    pub safe fn _php_stream_get_url_stream_wrappers_hash() -> Option<&'static Array>;

    // Closures, their targets, and proxies for these. Methods that are called by any name take the name and an array.
    pub safe fn spindle_closure_of(callee: &Value, of: Option<&Value>, closure: &mut Value) -> bool;
    pub safe fn spindle_resolve_closure(
        closure: &Object,
        class: &mut Option<Class>,
        function: &mut Option<Function>,
        object: &mut *mut sys::zend_object,
    );
    pub safe fn spindle_magic_method(function: Function) -> Option<Function>;
    pub safe fn spindle_magic_arguments(to: &mut [Value; 2], name: &Str, call: Frame, named: Option<&Array>);
    pub safe fn spindle_proxy_of(proxy: &ProxyFunction, function: Function);

    // The engine's count of sections that block switches of fibers.
    pub safe fn zend_fiber_switch_blocked() -> bool;
    pub safe fn zend_fiber_switch_block();
    pub safe fn zend_fiber_switch_unblock();

    // Messages and tables of text, which is copied. A reference to the exception is passed on.
    pub safe fn spindle_core_warning(text: Text<'_>);
    pub safe fn spindle_fatal(text: Text<'_>);
    pub safe fn spindle_call_exception_handler(exception: &Object) -> bool;
    pub safe fn spindle_report_uncaught(exception: Owned<Object>, more: Text<'_>);
    pub safe fn php_info_print_table_start();
    pub safe fn php_info_print_table_end();

    // Persistent connections: keys are changed, and entries closed as the engine closes them.
    pub safe fn spindle_list_show(shown: Text<'_>, hidden: Text<'_>, any: Text<'_>);
    pub safe fn spindle_list_drop(mark: Text<'_>);

    // The end of a request. If it is requested twice, it is announced twice.
    pub safe fn spindle_watch_request_end();
}

#[cfg(lazy_objects)]
declare! {
    // Lazy objects: tables and flags of the engine are read. Properties are moved, and moved back: `Lazy` has them.
    pub safe fn spindle_lazy_install();
    pub safe fn spindle_lazy_is_initializing(object: &Object) -> bool;
    pub safe fn spindle_lazy_is_hidden(object: &Object) -> bool;
    #[allow(improper_ctypes, reason = "C passes the `Vec` on, and does not read it")]
    pub safe fn spindle_lazy_find<'a>(list: &'a mut Vec<Owned<Object>>, found: extern "C" fn(&mut Vec<Owned<Object>>, &Object));
    pub safe fn spindle_lazy_hide<'a>(object: &'a Object, lazy: &'a mut Lazy);
    pub safe fn spindle_lazy_show<'a>(object: &'a Object, lazy: &'a mut Lazy);
    pub safe fn spindle_lazy_compare<'a>(one: &'a Value, other: &'a Value) -> c_int;
}

/// Which limit of the process: an enumeration in glibc, a number in musl.
#[cfg(target_env = "gnu")]
pub type RlimitResource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
pub type RlimitResource = c_int;

// SAFETY: these are the types of the C library.
unsafe extern "C" {
    // The C library: queries, and calls that write only to their arguments.
    pub safe fn sysconf(name: c_int) -> c_long;
    pub safe fn getrlimit(resource: RlimitResource, limit: &mut libc::rlimit) -> c_int;
    pub safe fn __errno_location() -> NonNull<c_int>;
    pub safe fn dladdr(address: *const c_void, object: &mut libc::Dl_info) -> c_int;
    pub safe fn shutdown(socket: c_int, how: c_int) -> c_int;
    pub safe fn raise(signal: c_int) -> c_int;
    pub safe fn _exit(status: c_int) -> !;
    pub safe fn pthread_atfork(
        before: Option<extern "C" fn()>,
        in_parent: Option<extern "C" fn()>,
        in_child: Option<extern "C" fn()>,
    ) -> c_int;
}
