//! State outside its stacks that a coroutine rarely has: each kind is a part, which is moved only while the coroutine
//! has it.

use super::openssl;
use super::verdicts::{basic, compiler, executor, file, output, request};
use crate::c::{self, OutputHandlers};
use spindle_php_sys as sys;
#[cfg(http_headers)]
use spindle_zend::ValueCell;
use spindle_zend::{Extension, PhpStatic, zeroed};
use std::cell::Cell;
use std::ffi::c_char;
use std::ptr::{null, null_mut};

/// The operations in the middle of which a coroutine is suspended.
#[derive(Clone, Copy, Debug)]
pub struct SuspendedIn {
    /// In C code that has called a blocking function of libc.
    pub in_c: bool,
    /// While it is loading a class.
    pub loads_classes: bool,
}

impl SuspendedIn {
    /// Nothing: for a coroutine that is never resumed.
    pub const NOTHING: SuspendedIn = SuspendedIn { in_c: false, loads_classes: false };
}

/// State of the engine or of a library that a coroutine rarely has.
pub(super) trait Part: Sized {
    /// Returns `true` if the running coroutine has such state. Called at each switch.
    fn is_in_use(place: SuspendedIn) -> bool;

    /// Takes the state of the coroutine that is being suspended, and leaves the state that another one is to find.
    fn take() -> Self;

    /// Restores the state. The coroutine that ran before had none, or has taken its own.
    fn put_back(self);
}

/// Lists all parts.
macro_rules! parts {
    ($($(#[$meta:meta])* $name:ident: $part:ty,)*) => {
        /// The parts that a coroutine had when it was suspended.
        pub struct Parts {
            $($(#[$meta])* $name: Option<$part>,)*
        }

        impl Parts {
            /// Returns `true` if the running coroutine has any of them.
            #[inline(always)]
            pub fn are_in_use(place: SuspendedIn) -> bool {
                $($(#[$meta])* if <$part>::is_in_use(place) {
                    return true;
                })*
                false
            }

            /// Takes the parts that the running coroutine has.
            #[cold]
            pub fn take(place: SuspendedIn) -> Box<Parts> {
                Box::new(Parts { $($(#[$meta])* $name: <$part>::is_in_use(place).then(<$part>::take),)* })
            }

            /// Restores them. They stay in their box to keep the caller's frame small, which is on the stack of each
            /// suspended coroutine.
            #[cold]
            pub fn put_back(self: Box<Parts>) {
                $($(#[$meta])* if let Some(part) = self.$name {
                    part.put_back();
                })*
            }
        }
    };
}

parts! {
    output: Output,
    output_callback: OutputCallback,
    comparison: Comparison,
    serialization: Serialization,
    strtok: Strtok,
    #[cfg(http_headers)]
    http_headers: HttpHeaders,
    linking: Linking,
    recorded_errors: RecordedErrors,
    override_of_places: PlaceOverride,
    error_log: ErrorLog,
    user_include: UserInclude,
    user_wrapper: UserWrapper,
    child_wait: ChildWait,
    libxml_message: LibxmlMessage,
    fiber_block: FiberBlock,
    openssl_errors: openssl::Errors,
    host_buffer: HostBuffer,
}

/// Defines a part that consists of fields of the engine, with the values that other coroutines find there.
macro_rules! fields {
    (
        $(#[$doc:meta])*
        $name:ident if $in_use:expr;
        $($module:ident::$field:ident: $type:ty = $none:expr,)*
    ) => {
        $(#[$doc])*
        struct $name {
            $($field: $type,)*
        }

        impl Part for $name {
            #[inline(always)]
            fn is_in_use(_: SuspendedIn) -> bool {
                $in_use
            }

            fn take() -> $name {
                $name { $($field: $module::$field().replace($none),)* }
            }

            fn put_back(self) {
                $($module::$field().set(self.$field);)*
            }
        }
    };
}

fields! {
    /// The output handler that is running.
    OutputCallback if !output::running().get().is_null();
    output::running: *mut sys::php_output_handler = null_mut(),
}

fields! {
    /// The function by which an array is being sorted.
    Comparison if basic::user_compare_fci().get().size != 0;
    basic::user_compare_fci: sys::zend_fcall_info = zeroed(),
    basic::user_compare_fci_cache: sys::zend_fcall_info_cache = zeroed(),
}

const NOT_SERIALIZING: sys::_php_basic_globals__bindgen_ty_1 =
    sys::_php_basic_globals__bindgen_ty_1 { data: null_mut(), level: 0 };
const NOT_UNSERIALIZING: sys::_php_basic_globals__bindgen_ty_2 =
    sys::_php_basic_globals__bindgen_ty_2 { data: null_mut(), level: 0 };

fields! {
    /// The values that `serialize()` and `unserialize()` have met.
    Serialization if basic::serialize().get().level | basic::unserialize().get().level | basic::serialize_lock().get() != 0;
    basic::serialize_lock: u32 = 0,
    basic::serialize: sys::_php_basic_globals__bindgen_ty_1 = NOT_SERIALIZING,
    basic::unserialize: sys::_php_basic_globals__bindgen_ty_2 = NOT_UNSERIALIZING,
}

fields! {
    /// The text that `strtok()` continues with.
    Strtok if !basic::strtok_string().get().is_null();
    basic::strtok_string: *mut sys::zend_string = null_mut(),
    basic::strtok_last: *mut c_char = null_mut(),
    basic::strtok_len: usize = 0,
}

#[cfg(http_headers)]
fields! {
    /// What `http_get_last_response_headers()` returns.
    HttpHeaders if !http_headers().is_empty();
    basic::last_http_headers: sys::zval = zeroed(),
}

fields! {
    /// The class that is being linked.
    Linking if !compiler::current_linking_class().get().is_null();
    compiler::current_linking_class: *mut sys::zend_class_entry = null_mut(),
}

fields! {
    /// Errors that are recorded to be repeated when a class is linked from the cache.
    RecordedErrors if executor::record_errors().get() || executor::num_errors().get() != 0;
    executor::record_errors: bool = false,
    executor::num_errors: u32 = 0,
    executor::errors: *mut *mut sys::zend_error_info = null_mut(),
}

fields! {
    /// The position that errors get instead of that of the running code.
    PlaceOverride if !executor::filename_override().get().is_null();
    executor::filename_override: *mut sys::zend_string = null_mut(),
    executor::lineno_override: sys::zend_long = -1,
}

fields! {
    /// The error log is being written.
    ErrorLog if request::in_error_log().get();
    request::in_error_log: bool = false,
}

fields! {
    /// A file is being included by a stream wrapper of user code.
    UserInclude if request::in_user_include().get();
    request::in_user_include: bool = false,
}

fields! {
    /// The name that a stream wrapper of user code is opening.
    UserWrapper if !file::user_stream_current_filename().get().is_null();
    file::user_stream_current_filename: *const c_char = null(),
}

fields! {
    /// A wait for a child whose exit status is requested.
    ChildWait if file::pclose_wait().get() != 0;
    file::pclose_wait: i32 = 0,
}

/// Returns the headers of the last HTTP response to the running coroutine; undefined if there was none.
#[cfg(http_headers)]
pub(super) fn http_headers() -> &'static ValueCell {
    // SAFETY: a valid value, which is the running coroutine's.
    unsafe { ValueCell::borrow(basic::last_http_headers()) }
}

/// Output buffers that the coroutine has begun.
struct Output {
    handlers: OutputHandlers,
}

impl Part for Output {
    #[inline(always)]
    fn is_in_use(_: SuspendedIn) -> bool {
        output::handlers().get().top != 0 && c::spindle_output_has_own()
    }

    fn take() -> Output {
        let mut handlers = OutputHandlers::new();
        c::spindle_output_take(&mut handlers);
        Output { handlers }
    }

    fn put_back(mut self) {
        c::spindle_output_adopt(&mut self.handlers);
    }
}

impl Parts {
    /// Moves the output buffers of a coroutine that is never resumed on top of those of the running one.
    pub fn hand_over(self) {
        if let Some(output) = self.output {
            output.put_back();
        }
    }
}

/// A message that libxml has not completed. It is reported before it is cleared.
struct LibxmlMessage(sys::smart_str);

/// Where ext/libxml collects a message piece by piece, if it is loaded.
static LIBXML: PhpStatic<Cell<Option<&Cell<sys::smart_str>>>> = PhpStatic::new(Cell::new(None));

/// Looks up the globals of ext/libxml, at activation.
pub fn find_libxml() {
    let globals = Extension::find("libxml").map_or(null_mut(), |libxml| libxml.raw().globals_ptr);
    // They begin with a zval, after which comes the message.
    let message = globals.cast::<sys::zval>().wrapping_add(1).cast::<Cell<sys::smart_str>>();
    // SAFETY: globals of an extension, which last as long as the process.
    LIBXML.set((!globals.is_null()).then(|| unsafe { &*message }));
}

impl Part for LibxmlMessage {
    #[inline(always)]
    fn is_in_use(_: SuspendedIn) -> bool {
        LIBXML.get().is_some_and(|message| !message.get().s.is_null())
    }

    fn take() -> LibxmlMessage {
        const NONE: sys::smart_str = sys::smart_str { s: null_mut(), a: 0 };
        LibxmlMessage(LIBXML.get().map_or(NONE, |message| message.replace(NONE)))
    }

    fn put_back(self) {
        if let Some(message) = LIBXML.get() {
            message.set(self.0);
        }
    }
}

/// How many destructors the coroutine is in, below which the engine does not switch fibers.
struct FiberBlock(u32);

impl Part for FiberBlock {
    #[inline(always)]
    fn is_in_use(_: SuspendedIn) -> bool {
        c::zend_fiber_switch_blocked()
    }

    fn take() -> FiberBlock {
        let mut depth = 0;
        while FiberBlock::is_in_use(SuspendedIn::NOTHING) {
            c::zend_fiber_switch_unblock();
            depth += 1;
        }
        FiberBlock(depth)
    }

    fn put_back(self) {
        for _ in 0..self.0 {
            c::zend_fiber_switch_block();
        }
    }
}

/// The buffer that PHP resolves host names into. PHP keeps it, and frees it at the next call.
struct HostBuffer {
    buffer: *mut c_char,
    length: usize,
}

impl Part for HostBuffer {
    #[inline(always)]
    fn is_in_use(place: SuspendedIn) -> bool {
        place.in_c && !file::tmp_host_buf().get().is_null()
    }

    /// Without a buffer the next call allocates one.
    fn take() -> HostBuffer {
        HostBuffer { buffer: file::tmp_host_buf().replace(null_mut()), length: file::tmp_host_buf_len().replace(0) }
    }

    /// The present buffer is from a call that has ended: its result was used before its coroutine could be suspended.
    fn put_back(self) {
        let other = file::tmp_host_buf().replace(self.buffer);
        file::tmp_host_buf_len().set(self.length);
        // SAFETY: null, or a buffer that nothing else refers to.
        unsafe { libc::free(other.cast()) };
    }
}
