//! Functions and variables of C, declared with the types of this crate.
//!
//! The types express what C expects: `&Object`, `&Str`, `&Array` and `&Value` are pointers to live structures,
//! [`Owned`] is a pointer with a reference that is passed on, and an `Option` of these is null for `None`. A function
//! is `safe` here if it is sound for all arguments that these types allow, on the PHP thread; the comment before a
//! group of functions says why. All others are called through `sys`.
//!
//! A function may be safe and yet run PHP code, throw or bail out (see the crate's documentation). It must not write to
//! a `&Value` argument: arguments that are written to are `&mut`, or structures of the engine, which are cells.

use crate::{
    Array, Class, FiberContext, Frame, Object, Owned, Str, Text, Value, ValueCell, declare,
    engine::ErrorObserver,
    fiber::SwitchObserver,
    foreach::GetIterator,
    globals::Global,
    instance::{Create, GcBuffer},
    sys,
    text::OwnedText,
};
use std::{
    cell::Cell,
    ffi::{c_char, c_int, c_void},
    mem::ManuallyDrop,
    ptr::NonNull,
};

// SAFETY: these variables have these types.
unsafe extern "C" {
    // Variables. `globals` says what is read and written of them. Classes are set before modules start.
    pub safe static executor_globals: Global<sys::zend_executor_globals>;
    pub safe static compiler_globals: Global<sys::zend_compiler_globals>;
    pub safe static core_globals: Global<sys::php_core_globals>;
    pub safe static sapi_globals: Global<sys::sapi_globals_struct>;
    pub safe static output_globals: Global<sys::zend_output_globals>;
    pub safe static basic_globals: Global<sys::php_basic_globals>;
    pub safe static file_globals: Global<sys::php_file_globals>;
    pub safe static std_object_handlers: Global<sys::zend_object_handlers>;
    pub safe static sapi_module: Global<sys::sapi_module_struct>;
    pub safe static zend_ce_closure: Global<Option<Class>>;
    pub safe static zend_ce_throwable: Global<Option<Class>>;
    pub safe static zend_ce_stringable: Global<Option<Class>>;
    pub safe static zend_ce_weakref: Global<Option<Class>>;
    pub safe static zend_ce_aggregate: Global<Option<Class>>;
    pub safe static zend_ce_iterator: Global<Option<Class>>;
    pub safe static zend_ce_countable: Global<Option<Class>>;
    pub safe static zend_ce_value_error: Global<Option<Class>>;

    // Never returns, which a function pointer's type cannot express.
    pub safe fn spindle_bailout() -> !;
    // An `int` before PHP 8.4, whose low byte is enough.
    pub safe fn zend_is_true(value: &Value) -> u8;
}

declare! {
    // Strings. A new one is never null: the engine ends the request rather than that. As many bytes of them are read as the call
    // says.
    pub unsafe fn spindle_string_new(text: *const u8, length: usize, is_lasting: bool) -> Owned<Str>;
    pub unsafe fn spindle_string_intern(text: *const u8, length: usize) -> Owned<Str>;
    pub safe fn spindle_string_release(string: ManuallyDrop<Owned<Str>>);

    // Arrays that are made and read: what is returned is a value of the array's, or null. Code that changes one must
    // know that nothing of it is borrowed, and so calls functions that are not safe.
    pub safe fn _zend_new_array(room: u32) -> Owned<Array>;
    pub safe fn spindle_table_new() -> Owned<Array>;
    pub safe fn zend_array_dup(array: &Array) -> Owned<Array>;
    pub safe fn spindle_table_is_uncounted(array: &Array) -> bool;
    pub unsafe fn spindle_table_copy_uncounted(array: &Array) -> Owned<Array>;
    pub safe fn zend_hash_index_find(array: &Array, index: u64) -> Option<&Value>;
    pub safe fn zend_hash_find<'a>(array: &'a Array, key: &Str) -> Option<&'a Value>;
    pub unsafe fn zend_hash_str_find(array: &Array, key: *const c_char, length: usize) -> Option<&Value>;
    pub safe fn spindle_table_bucket(array: &Array, place: u32) -> Option<&Value>;
    pub safe fn spindle_table_find<'a>(array: &'a Array, key: &Str) -> Option<&'a ValueCell>;
    pub safe fn spindle_weak_find<'a>(array: &'a Array, key: &Object) -> Option<&'a ValueCell>;

    // Values, which are read, and the release of one.
    pub safe fn zend_zval_type_name(value: &Value) -> Text<'static>;
    pub safe fn spindle_zval_dtor(value: ManuallyDrop<Value>);

    // Generators and streams: they are of this kind, or the answer says that they are not. What is written is a place
    // without a counted value.
    pub safe fn spindle_is_generator(object: &Object) -> bool;
    pub safe fn spindle_generator_is_running(generator: &Object) -> bool;
    pub safe fn spindle_generator_resume(
        generator: &Object,
        value: &Value,
        result: &mut Value,
    ) -> sys::spindle_generator_state;
    pub safe fn spindle_generator_throw(
        generator: &Object,
        exception: &Object,
        result: &mut Value,
    ) -> sys::spindle_generator_state;
    pub safe fn spindle_generator_end(generator: &Object);
    pub safe fn spindle_stream_descriptor(stream: &Value) -> c_int;
    pub safe fn spindle_stream_to_poll(stream: &Value, reads: bool) -> c_int;
    pub safe fn spindle_socket_to_poll(stream: &Value, reads: bool, descriptor: &mut c_int) -> bool;
    pub safe fn spindle_is_stream(value: &Value) -> bool;
    pub safe fn spindle_stream_has_buffered(stream: &Value) -> bool;
    pub safe fn spindle_stream_is_in_memory(value: &Value) -> bool;
    pub safe fn php_check_open_basedir_ex(path: Text<'_>, warns: c_int) -> c_int;

    // Arguments: what they are converted to, and what is thrown for the function that is being called.
    pub safe fn zend_parse_arg_long_slow(value: &Value, long: &mut i64, number: u32) -> bool;
    pub safe fn zend_parse_arg_double_slow(value: &Value, double: &mut f64, number: u32) -> bool;
    pub safe fn zend_parse_arg_bool_slow(value: &Value, truth: &mut bool, number: u32) -> bool;
    pub safe fn zend_wrong_parameters_count_error(least: u32, most: u32);
    pub safe fn zend_wrong_parameter_class_error(number: u32, class: Text<'_>, value: &Value);
    pub safe fn zend_wrong_parameter_class_or_null_error(number: u32, class: Text<'_>, value: &Value);
    pub safe fn zend_wrong_callback_error(number: u32, error: OwnedText);
    pub safe fn zend_wrong_callback_or_null_error(number: u32, error: OwnedText);
    pub safe fn spindle_closure_resolve(callable: &Value, callee: &Cell<sys::zend_fcall_info_cache>) -> bool;
    pub safe fn zend_is_callable_ex(
        callable: &Value,
        object: Option<&Object>,
        flags: u32,
        name: Option<&mut Option<Owned<Str>>>,
        callee: &Cell<sys::zend_fcall_info_cache>,
        error: &mut Option<OwnedText>,
    ) -> bool;

    // Classes, which are read. Linking is for a class that is not linked yet.
    pub safe fn instanceof_function_slow(class: Class, other: Class) -> bool;
    pub unsafe fn zend_do_link_class(class: Class, parent: Option<&Str>, key: &Str) -> Option<Class>;

    // Objects. What is written to them are properties, which the engine checks; an object has as many properties as its
    // class declares.
    pub safe fn object_init_ex(object: &mut Value, class: Class) -> c_int;
    pub unsafe fn spindle_object_property(object: &Object, place: u32) -> &Value;
    pub safe fn zend_update_property_ex(scope: Class, object: &Object, name: &Str, value: &Value);
    pub safe fn zend_read_property_ex<'a>(
        scope: Class,
        object: &'a Object,
        name: &Str,
        is_silent: bool,
        room: &'a mut Value,
    ) -> &'a Value;
    pub safe fn _emalloc(size: usize) -> NonNull<c_void>;
    pub unsafe fn spindle_object_begin(
        object: *mut sys::zend_object,
        class: Class,
        handlers: *const sys::zend_object_handlers,
    );
    pub unsafe fn spindle_class_set_create(class: Class, create: Create);
    pub unsafe fn spindle_class_set_get_iterator(class: Class, get: GetIterator);
    pub safe fn zend_objects_destroy_object(object: &Object);
    pub safe fn spindle_object_release(object: ManuallyDrop<Owned<Object>>);
    pub safe fn spindle_object_skip_destructor(object: &Object);
    pub safe fn spindle_object_revive(object: &Object);
    pub safe fn spindle_object_abandon(object: &Object);
    pub safe fn spindle_object_is_destructed(object: &Object) -> bool;
    pub safe fn spindle_object_is_referenced_weakly(object: &Object) -> bool;
    pub safe fn spindle_weak_target(reference: &Object, target: &mut Value);

    // The values that an object adds for the cycle collector, which it holds.
    pub safe fn zend_get_gc_buffer_create() -> &'static GcBuffer;
    pub unsafe fn spindle_gc_add(buffer: &GcBuffer, value: &Value);
    pub unsafe fn spindle_gc_use(
        buffer: &GcBuffer,
        object: &Object,
        table: *mut *mut sys::zval,
        count: *mut c_int,
    ) -> *mut sys::HashTable;

    // Exceptions. A new one, and one that is thrown, come with a reference. These functions check the class of what they get.
    pub safe fn spindle_exception_new(class: Class, message: Text<'_>) -> Owned<Object>;
    pub safe fn spindle_exception_apart(class: Class, message: Text<'_>) -> Owned<Object>;
    pub safe fn spindle_exception_copy(exception: &Object) -> Owned<Object>;
    pub safe fn spindle_throw(exception: Owned<Object>);
    pub safe fn spindle_throw_error(message: Text<'_>);
    pub safe fn spindle_argument_error(number: u32, is_type: bool, message: Text<'_>);
    pub safe fn spindle_exits();
    pub safe fn spindle_exception_position<'a>(exception: &'a Object, file: &mut Option<&'a Str>) -> u32;
    pub safe fn spindle_exception_set_position(exception: &Object, file: &Str, line: u32);
    pub safe fn spindle_exception_message(exception: &Object) -> Option<&Str>;
    pub safe fn spindle_exception_previous(exception: &Object) -> Option<&Object>;
    pub safe fn spindle_exception_replace_previous(exception: &Object, previous: Option<&Object>);
    pub safe fn zend_exception_set_previous(exception: &Object, previous: Owned<Object>);
    pub safe fn spindle_enter_frame();
    pub safe fn zend_is_unwind_exit(exception: &Object) -> bool;
    pub safe fn zend_is_graceful_exit(exception: &Object) -> bool;

    // Frames of calls in progress, which they walk.
    pub safe fn zend_get_called_scope(frame: Frame) -> Option<Class>;
    pub safe fn spindle_backtrace(result: &mut Value, frame: Frame, options: c_int, limit: c_int);
    pub safe fn spindle_running_vm_stack() -> sys::spindle_vm_stack;

    // Interrupts, warnings, output. Texts are copied; callbacks are functions of this module.
    pub safe fn spindle_vm_interrupt_set();
    pub safe fn spindle_warning_at(file: Option<&Str>, line: u32, text: Text<'_>);
    pub safe fn spindle_warning_here(file: Option<&Str>, line: u32, text: Text<'_>);
    pub safe fn spindle_report_at(file: Text<'_>, line: u32, text: Text<'_>, reporting: c_int);
    pub safe fn spindle_print(text: &Str);
    pub safe fn spindle_output_begin(with_handlers: bool);
    pub safe fn spindle_output_is_shared() -> bool;
    pub safe fn zend_observer_error_register(observer: ErrorObserver);
    #[allow(improper_ctypes, reason = "C passes the `Vec` on, and does not read it")]
    pub safe fn spindle_each_engine_extension(
        each: for<'a> extern "C" fn(&'a mut Vec<String>, Text<'a>),
        names: &mut Vec<String>,
    );
    pub safe fn spindle_base_frame_enter() -> bool;
    pub safe fn spindle_base_frame_leave();
    pub safe fn spindle_call_observers(executor: usize) -> u32;
    pub safe fn zend_observer_fiber_destroy_notify(context: &FiberContext);
    pub safe fn zend_observer_fiber_switch_register(observer: SwitchObserver);

    // Sources. There is room for the requested number of bytes, and for the zeros after them that the scanner needs.
    pub safe fn spindle_file_room(length: usize) -> NonNull<u8>;
    pub safe fn spindle_files_are_recoded() -> bool;
    pub safe fn spindle_source_has_grown(bytes: usize);
    pub safe fn spindle_parse_error(file: &Str, line: u32, message: Text<'_>);
}
