//! Verdicts on the engine's globals: which fields belong to a coroutine.
//!
//! | verdict | means |
//! |---|---|
//! | own | per coroutine, copied at each switch |
//! | rare | per coroutine, moved only while it is in use, by one of the [`parts`](super::parts) |
//! | shared | per process or request; docs/isolation.md says where user code can see it. Those that belong to a native PHP request are exchanged with it, where there are such: [`sapi`](super::sapi) |
//! | closed | no switch happens while it is in use |
//! | constant | not changed after the start of the process or of the request |
//!
//! This is the only list: [`Own`] and the accessors that the parts use are generated from it. A field of the present
//! PHP without a verdict is a build error (`missing field`), and so is a verdict on a field that it does not have. A
//! rare field that no part moves is reported as an unused function.
//!
//! The collector's own globals are all closed: no switch happens below a collection.

use spindle_php_sys as sys;
use spindle_zend::{Zeroed, zeroed};
use std::cell::Cell;
use std::ffi::c_char;
#[cfg(php83)]
use std::ffi::c_void;

#[cfg(not(php85))]
type FakeScope = *mut sys::zend_class_entry;
#[cfg(php85)]
type FakeScope = *const sys::zend_class_entry;

/// Defines a module for each structure of globals.
macro_rules! globals {
    ($(
        $(#[$doc:meta])*
        mod $module:ident: $structure:ident = $global:ident;
        own { $($(#[$own_meta:meta])* $own:ident: $own_type:ty,)* }
        rare { $($(#[$rare_meta:meta])* $rare:ident: $rare_type:ty,)* }
        shared { $($(#[$shared_meta:meta])* $shared:ident,)* }
        closed { $($(#[$closed_meta:meta])* $closed:ident,)* }
        constant { $($(#[$constant_meta:meta])* $constant:ident,)* }
    )*) => {
        $(
            $(#[$doc])*
            pub mod $module {
                use super::*;

                // Never called. It shows that the structure has no other fields.
                const _: fn(sys::$structure) -> sys::$structure = |globals| sys::$structure {
                    $($(#[$own_meta])* $own: globals.$own,)*
                    $($(#[$rare_meta])* $rare: globals.$rare,)*
                    $($(#[$shared_meta])* $shared: globals.$shared,)*
                    $($(#[$closed_meta])* $closed: globals.$closed,)*
                    $($(#[$constant_meta])* $constant: globals.$constant,)*
                };

                globals!(@accessors $global: $($(#[$own_meta])* $own: $own_type,)* $($(#[$rare_meta])* $rare: $rare_type,)*);

                /// The own fields of a suspended coroutine.
                #[derive(Clone, Copy)]
                #[repr(C)]
                pub struct Own {
                    $(
                        $(#[$own_meta])*
                        #[doc = concat!("`", stringify!($own), "`.")]
                        pub $own: $own_type,
                    )*
                }

                impl Own {
                    #[inline(always)]
                    pub(super) fn store(&mut self) {
                        $($(#[$own_meta])* { self.$own = $own().get(); })*
                    }

                    #[inline(always)]
                    pub(super) fn load(&self) {
                        $($(#[$own_meta])* $own().set(self.$own);)*
                    }
                }
            }
        )*

        /// The own fields of a suspended coroutine.
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub struct Own {
            $($(#[$doc])* pub $module: $module::Own,)*
        }

        impl Own {
            /// Returns the fields of a coroutine that has not run.
            pub const fn new() -> Own {
                zeroed()
            }

            /// Saves those of the running coroutine.
            #[inline(always)]
            pub fn store(&mut self) {
                $(self.$module.store();)*
            }

            /// Makes them the fields of the running coroutine.
            #[inline(always)]
            pub fn load(&self) {
                $(self.$module.load();)*
            }
        }
    };
    (@accessors $global:ident: $($(#[$meta:meta])* $field:ident: $type:ty,)*) => {$(
        $(#[$meta])*
        #[doc = concat!("Returns `", stringify!($field), "` of the running coroutine.")]
        #[inline(always)]
        pub(in crate::isolation) fn $field() -> &'static Cell<$type> {
            // SAFETY: the address of a field.
            let field: *mut $type = unsafe { &raw mut sys::$global.$field };
            // SAFETY: a global of the engine, which lasts as long as the process. Only the PHP thread uses it.
            unsafe { &*field.cast::<Cell<$type>>() }
        }
    )*};
}

// SAFETY: copies of fields of the engine, which are numbers and pointers.
unsafe impl Zeroed for Own {}

globals! {
    /// `EG`: the globals of the executor.
    mod executor: zend_executor_globals = executor_globals;
    own {
        bailout: *mut sys::spindle_jmp_buf,
        vm_stack_top: *mut sys::zval,
        vm_stack_end: *mut sys::zval,
        vm_stack: sys::zend_vm_stack,
        vm_stack_page_size: usize,
        current_execute_data: *mut sys::zend_execute_data,
        fake_scope: FakeScope,
        jit_trace_num: u32,
        // Own, so that `@` is, too.
        error_reporting: i32,
        // Loads of one class wait for each other (`engine::loading`).
        in_autoload: *mut sys::HashTable,
        // A new coroutine inherits the handler in force.
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
        #[cfg(php83)] stack_base: *mut c_void,
        #[cfg(php83)] stack_limit: *mut c_void,
    }
    rare {
        record_errors: bool,
        num_errors: u32,
        errors: *mut *mut sys::zend_error_info,
        filename_override: *mut sys::zend_string,
        lineno_override: sys::zend_long,
    }
    shared {
        symbol_table,
        included_files,
        function_table,
        class_table,
        zend_constants,
        persistent_constants_count,
        persistent_functions_count,
        persistent_classes_count,
        weakrefs,
        // Each coroutine uses entries of its own.
        objects_store,
        #[cfg(php84)] lazy_objects_store,
        regular_list,
        persistent_list,
        symtable_cache,
        symtable_cache_limit,
        symtable_cache_ptr,
        ht_iterators_count,
        ht_iterators_used,
        ht_iterators,
        ht_iterators_slots,
        ini_directives,
        modified_ini_directives,
        error_reporting_ini_entry,
        precision,
        assertions,
        exception_ignore_args,
        exception_string_param_max_len,
        fiber_stack_size,
        #[cfg(php83)] max_allowed_stack_size,
        #[cfg(php83)] reserved_stack_size,
        user_exception_handler,
        user_exception_handlers,
        exit_status,
        // Of the error that ends the request.
        #[cfg(php85)] fatal_error_backtrace_on,
        #[cfg(php85)] last_fatal_error_backtrace,
        ticks_count,
        active,
        flags,
        full_tables_cleanup,
        // Per thread, and handled by the coroutine that runs next.
        timed_out,
        hard_timeout,
        timeout_seconds,
        vm_interrupt,
        #[cfg(field_delayed_oom)] delayed_oom,
        // It is in use while its `function_name` is set; others are allocated then.
        trampoline,
        // The engine changes it when it notifies observers of a switch, as it does for its own fibers.
        #[cfg(php84)] current_observed_frame,
    }
    closed {
        // Used during a collection.
        get_gc_buffer,
        // Used during compilation, and at the start of modules.
        capture_warnings_during_sccp,
        current_module,
        no_extensions,
        // Used while a number is converted.
        #[cfg(php84)] strtod_state,
    }
    constant {
        uninitialized_zval,
        error_zval,
        exception_op,
        call_trampoline_op,
        main_fiber_context,
        saved_fpu_cw_ptr,
        reserved,
        #[cfg(php83)] call_stack,
    }

    /// `CG`: the globals of the compiler.
    mod compiler: zend_compiler_globals = compiler_globals;
    own {}
    rare {
        // Classes are linked at run time, and load others meanwhile.
        current_linking_class: *mut sys::zend_class_entry,
    }
    shared {
        function_table,
        class_table,
        // By class. Entries are added and removed without a switch in between.
        delayed_autoloads,
        delayed_variance_obligations,
        unlinked_uses,
        map_ptr_real_base,
        map_ptr_base,
        map_ptr_size,
        map_ptr_last,
        interned_strings,
        rtd_key_counter,
        unclean_shutdown,
        variable_width_locale,
        ascii_compatible_locale,
        // The caches of internal functions, each with entries of its own.
        #[cfg(php84)] internal_run_time_cache,
        #[cfg(php84)] internal_run_time_cache_size,
    }
    closed {
        // No switch happens below a compilation.
        loop_var_stack,
        active_class_entry,
        compiled_filename,
        zend_lineno,
        active_op_array,
        auto_globals,
        parse_error,
        in_compilation,
        short_tags,
        ini_parser_unbuffered_errors,
        open_files,
        ini_parser_param,
        skip_shebang,
        increment_lineno,
        doc_comment,
        extra_fn_flags,
        compiler_options,
        context,
        file_context,
        arena,
        script_encoding_list,
        script_encoding_list_size,
        multibyte,
        detect_unicode,
        encoding_declared,
        #[cfg(field_interned_strings_fallible)] interned_strings_fallible,
        ast,
        ast_arena,
        delayed_oplines_stack,
        memoized_exprs,
        memoize_mode,
        short_circuiting_opnums,
    }
    constant {}

    /// `BG`: the globals of ext/standard.
    mod basic: php_basic_globals = basic_globals;
    own {}
    rare {
        user_compare_fci: sys::zend_fcall_info,
        user_compare_fci_cache: sys::zend_fcall_info_cache,
        serialize_lock: u32,
        serialize: sys::_php_basic_globals__bindgen_ty_1,
        unserialize: sys::_php_basic_globals__bindgen_ty_2,
        strtok_string: *mut sys::zend_string,
        strtok_last: *mut c_char,
        strtok_len: usize,
        #[cfg(php84)] last_http_headers: sys::zval,
    }
    shared {
        putenv_ht,
        locale_changed,
        ctype_string,
        umask,
        syslog_device,
        user_filter_map,
        page_uid,
        page_gid,
        page_inode,
        page_mtime,
        // A tick function that waits is not called again meanwhile.
        user_shutdown_function_names,
        user_tick_functions,
        // The same data as `clearstatcache()` clears: written after the call.
        CurrentStatFile,
        CurrentLStatFile,
        ssb,
        lssb,
        // For `output_add_rewrite_var()`: the variables are added to the output in which the first one was added.
        url_adapt_session_ex,
        url_adapt_session_hosts_ht,
        url_adapt_output_ex,
        url_adapt_output_hosts_ht,
    }
    closed {
        // Empty between calls.
        strtok_table,
        // None of these is alive across a call that can wait.
        active_ini_file_section,
        unserialize_max_depth,
    }
    constant {}

    /// `PG`: the globals of a request.
    mod request: php_core_globals = core_globals;
    own {
        // The error of a coroutine that ends the request becomes the current one.
        last_error_type: i32,
        last_error_message: *mut sys::zend_string,
        last_error_file: *mut sys::zend_string,
        last_error_lineno: i32,
    }
    rare {
        in_error_log: bool,
        in_user_include: bool,
    }
    shared {
        tick_functions,
        http_globals,
        activated_auto_globals,
        connection_status,
        header_is_being_sent,
        have_called_openlog,
        syslog_ident,
        modules_activated,
        during_request_startup,
        rfc1867_protected_variables,
        php_binary,
        php_sys_temp_dir,
        // Settings.
        implicit_flush,
        output_buffering,
        enable_dl,
        output_handler,
        unserialize_callback_func,
        serialize_precision,
        memory_limit,
        #[cfg(php85)] max_memory_limit,
        max_input_time,
        display_errors,
        display_startup_errors,
        log_errors,
        ignore_repeated_errors,
        ignore_repeated_source,
        report_memleaks,
        error_log,
        doc_root,
        user_dir,
        include_path,
        open_basedir,
        #[cfg(field_open_basedir_modified)] open_basedir_modified,
        extension_dir,
        sys_temp_dir,
        upload_tmp_dir,
        upload_max_filesize,
        error_append_string,
        error_prepend_string,
        auto_prepend_file,
        auto_append_file,
        input_encoding,
        internal_encoding,
        output_encoding,
        arg_separator,
        variables_order,
        ignore_user_abort,
        expose_php,
        register_argc_argv,
        auto_globals_jit,
        docref_root,
        docref_ext,
        html_errors,
        xmlrpc_errors,
        xmlrpc_error_number,
        file_uploads,
        allow_url_fopen,
        enable_post_data_reading,
        report_zend_debug,
        #[cfg(not(php85))] disable_classes,
        allow_url_include,
        max_input_nesting_level,
        max_input_vars,
        user_ini_filename,
        user_ini_cache_ttl,
        request_order,
        mail_x_header,
        mail_mixed_lf_and_crlf,
        #[cfg(php85)] mail_cr_lf_mode,
        mail_log,
        syslog_facility,
        syslog_filter,
        error_log_mode,
    }
    closed {}
    constant {}

    /// `OG`: the globals of output.
    mod output: zend_output_globals = output_globals;
    own {}
    rare {
        // The handlers with which the request has begun (`output_buffering`) are shared.
        handlers: sys::zend_stack,
        running: *mut sys::php_output_handler,
    }
    shared {
        // Derived from `handlers`.
        active,
        // Whether output was sent, and implicit flush.
        flags,
        output_start_filename,
        output_start_lineno,
    }
    closed {}
    constant {}

    /// `SG`: the globals of the SAPI.
    mod server: sapi_globals_struct = sapi_globals;
    own {}
    rare {}
    shared {
        // There is one request, with one body, which is read once.
        #[cfg(php84)] request_parse_body_context,
        server_context,
        request_info,
        sapi_headers,
        read_post_bytes,
        post_read,
        headers_sent,
        global_stat,
        default_mimetype,
        default_charset,
        rfc1867_uploaded_files,
        post_max_size,
        options,
        sapi_started,
        global_request_time,
        known_post_content_types,
        callback_func,
        fci_cache,
    }
    closed {}
    constant {}

    /// `FG`: the globals of files in ext/standard.
    mod file: php_file_globals = file_globals;
    own {}
    rare {
        // Set around the opening of a stream by PHP code, and around the wait for a child.
        user_stream_current_filename: *const c_char,
        pclose_wait: i32,
        // Used while a name is resolved.
        tmp_host_buf: *mut c_char,
        tmp_host_buf_len: usize,
    }
    shared {
        def_chunk_size,
        auto_detect_line_endings,
        default_socket_timeout,
        user_agent,
        from_address,
        default_context,
        stream_wrappers,
        stream_filters,
        wrapper_errors,
    }
    closed {
        // Neither is alive across a call that can wait.
        pclose_ret,
        tmp_host_info,
    }
    constant {}
}
