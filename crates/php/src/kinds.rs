//! Which internal functions use handles, and how: decided once, from names and modules.

use crate::zv;
use spindle_php_sys as sys;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr::addr_of_mut;

/// How an internal function uses the handles among its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Kind {
    /// It has none, or does not block on them.
    Plain = 0,
    /// A method or function of the extension that the handle's class belongs to.
    Handle = 1,
    /// Reads from a stream.
    Reads = 2,
    /// Writes to a stream.
    Writes = 3,
    /// Uses a stream in both directions, or its position.
    Stream = 4,
    /// Closes a handle or a stream.
    Closes = 5,
    /// Runs signal handlers, which do not give way.
    Signals = 6,
    /// Makes a handle: a constructor, or what asks for a persistent connection.
    Makes = 7,
}

/// What a call may do at once with another call on the same handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Read,
    Write,
    Both,
}

impl Mode {
    pub(crate) fn disturbs(self, other: Mode) -> bool {
        self == other || self == Mode::Both || other == Mode::Both
    }
}

/// Functions of ext/standard on a stream. Others that take one (`is_resource`, `feof`, `var_dump`, …) never wait.
const READS: &[&str] = &[
    "fread",
    "fgets",
    "fgetc",
    "fgetcsv",
    "fscanf",
    "fpassthru",
    "stream_get_contents",
    "stream_get_line",
    "stream_socket_recvfrom",
    "stream_socket_accept",
    "readdir",
    "socket_read",
    "socket_recv",
    "socket_recvfrom",
    "socket_recvmsg",
    "socket_accept",
];
const WRITES: &[&str] = &[
    "fwrite",
    "fputs",
    "fputcsv",
    "stream_socket_sendto",
    "socket_write",
    "socket_send",
    "socket_sendto",
    "socket_sendmsg",
];
const BOTH: &[&str] = &[
    "fflush",
    "fseek",
    "rewind",
    "ftell",
    "ftruncate",
    "fstat",
    "fsync",
    "fdatasync",
    "stream_copy_to_stream",
    "stream_socket_enable_crypto",
    "rewinddir",
    "flock",
];
const CLOSES: &[&str] = &["fclose", "pclose", "closedir", "socket_close"];
/// Functions on sockets that answer from what is in memory, or must act while another call waits.
const NEVER_WAIT: &[&str] = &[
    "socket_shutdown",
    "socket_last_error",
    "socket_clear_error",
    "socket_set_option",
    "socket_setopt",
    "socket_set_nonblock",
    "socket_set_block",
    "socket_getsockname",
    "socket_getpeername",
    "socket_get_option",
    "socket_getopt",
    "curl_multi_getcontent",
];
/// Extensions whose objects are values or run PHP code: several coroutines may be inside at once.
const NO_HANDLES: &[&str] = &[
    "core",
    "standard",
    "spl",
    "date",
    "reflection",
    "json",
    "random",
    "pcre",
    "hash",
    "dom",
    "simplexml",
    "xml",
    "intl",
    "gmp",
    "bcmath",
    "ds",
    "ffi",
    "tokenizer",
    "mbstring",
    "ctype",
    "spindle",
];

fn module_name(module: *const sys::zend_module_entry) -> String {
    if module.is_null() {
        return String::new();
    }
    // SAFETY: a loaded module with a terminated name.
    unsafe { std::ffi::CStr::from_ptr((*module).name) }.to_string_lossy().to_ascii_lowercase()
}

pub(crate) unsafe fn kind_of(function: *const sys::zend_internal_function) -> Kind {
    // SAFETY: a function of the engine's tables.
    unsafe {
        let name = zv::text((*function).function_name).to_ascii_lowercase();
        let module = module_name((*function).module);
        let is = |list: &[&str]| list.contains(&name.as_str());
        if name == "pcntl_signal_dispatch" {
            return Kind::Signals;
        }
        if (*function).scope.is_null() && (module == "standard" || module == "sockets") {
            return match () {
                () if is(READS) => Kind::Reads,
                () if is(WRITES) => Kind::Writes,
                () if is(BOTH) => Kind::Stream,
                () if is(CLOSES) => Kind::Closes,
                () => Kind::Plain,
            };
        }
        let file_object = module == "spl"
            && !(*function).scope.is_null()
            && matches!(zv::text((*(*function).scope).name).as_str(), "SplFileObject" | "SplTempFileObject");
        if NO_HANDLES.contains(&module.as_str()) && !file_object || is(NEVER_WAIT) {
            Kind::Plain
        } else if name == "__construct" || name.contains("pconnect") {
            Kind::Makes
        } else if name.starts_with("__") {
            Kind::Plain
        } else if name == "close" || name.ends_with("_close") {
            Kind::Closes
        } else {
            Kind::Handle
        }
    }
}

/// Can the program wait for a child again after this wait? Not when a process handle is closed or dies: that is
/// PHP code (a resource's end) or a function of ext/standard.
pub fn waits_for_child_again() -> bool {
    // SAFETY: the running frame.
    unsafe {
        let frame = sys::executor_globals.current_execute_data;
        let function = if frame.is_null() { std::ptr::null_mut() } else { (*frame).func };
        if function.is_null() || u32::from((*function).type_) != sys::ZEND_INTERNAL_FUNCTION {
            return false;
        }
        let function = &(*function).internal_function;
        if function.function_name.is_null() {
            return false; // a coroutine's bottom frame
        }
        module_name(function.module) != "standard" || zv::text(function.function_name) == "proc_get_status"
    }
}

/// The module of an object's innermost internal class: null for objects of PHP code alone.
pub(crate) unsafe fn module_of(object: *const sys::zend_object) -> *const sys::zend_module_entry {
    // SAFETY: a live object; a linked class's parent is a class.
    unsafe {
        let mut class = (*object).ce;
        while !class.is_null() && u32::from((*class).type_ as u8) == sys::ZEND_USER_CLASS {
            class = (*class).__bindgen_anon_1.parent;
        }
        if class.is_null() { std::ptr::null() } else { (*class).info.internal.module }
    }
}

pub(crate) fn name_has(function: *const sys::zend_internal_function, part: &str) -> bool {
    // SAFETY: a function of the engine's tables; `install` has seen that it has a name.
    zv::text(unsafe { (*function).function_name }).to_ascii_lowercase().contains(part)
}

/// Calls `with` with each handle of a call, and how it is used.
pub(crate) unsafe fn handles(frame: *mut sys::zend_execute_data, kind: Kind, mut with: impl FnMut(usize, Mode)) {
    // SAFETY: `frame` is an internal function's frame: its arguments follow it.
    unsafe {
        let module = (*(*frame).func).internal_function.module.cast_const();
        let mut look = |value: *mut sys::zval| {
            let mut value = value;
            if u32::from((*value).u1.v.type_) == sys::IS_REFERENCE {
                value = addr_of_mut!((*(*value).value.ref_).val);
            }
            match u32::from((*value).u1.v.type_) {
                sys::IS_OBJECT if kind == Kind::Handle || kind == Kind::Closes => {
                    let object = (*value).value.obj;
                    if module_of(object) == module {
                        let key = object as usize;
                        let root = crate::busy::root(key);
                        with(root, Mode::Both);
                    }
                }
                sys::IS_OBJECT if module_of((*value).value.obj) == module => {
                    with((*value).value.obj as usize, mode(kind)); // ext/sockets
                }
                sys::IS_RESOURCE => with((*value).value.res as usize, mode(kind)),
                _ => {}
            }
        };
        if u32::from((*frame).This.u1.v.type_) == sys::IS_OBJECT {
            look(addr_of_mut!((*frame).This));
        }
        let arguments = frame.byte_add(size_of::<sys::zend_execute_data>()).cast::<sys::zval>();
        for index in 0..(*frame).This.u2.num_args as usize {
            look(arguments.add(index));
        }
    }
}

fn mode(kind: Kind) -> Mode {
    match kind {
        Kind::Reads => Mode::Read,
        Kind::Writes => Mode::Write,
        _ => Mode::Both,
    }
}

pub(crate) fn kind_from(info: *const sys::spindle_call_info) -> Kind {
    // SAFETY: our own information, or null.
    match unsafe { info.as_ref() }.map_or(0, |info| info.kind) {
        1 => Kind::Handle,
        2 => Kind::Reads,
        3 => Kind::Writes,
        4 => Kind::Stream,
        5 => Kind::Closes,
        6 => Kind::Signals,
        7 => Kind::Makes,
        _ => Kind::Plain,
    }
}

/// What stands for a persistent connection: PHP finds it by the arguments of the call that asks for it, so it is made
/// of them. Odd, as no handle's address is. `None`: the call does not ask for one.
///
/// # Safety
/// `frame` is the frame of a call of an internal function.
pub(crate) unsafe fn persistent_root(frame: *mut sys::zend_execute_data) -> Option<usize> {
    /// `PDO::ATTR_PERSISTENT`.
    const PDO_PERSISTENT: u64 = 12;
    let mut persistent = false;
    let mut hasher = DefaultHasher::new();
    // SAFETY: the caller's promise: the arguments follow the frame.
    unsafe {
        let function = &(*(*frame).func).internal_function;
        persistent |= zv::text(function.function_name).to_ascii_lowercase().contains("pconnect");
        module_name(function.module).hash(&mut hasher);
        let arguments = frame.byte_add(size_of::<sys::zend_execute_data>()).cast::<sys::zval>();
        for index in 0..(*frame).This.u2.num_args as usize {
            let argument = arguments.add(index);
            match u32::from((*argument).u1.v.type_) {
                sys::IS_STRING => {
                    let text = zv::text((*argument).value.str_);
                    persistent |= index == 0 && text.starts_with("p:"); // mysqli
                    text.hash(&mut hasher);
                }
                sys::IS_LONG => (*argument).value.lval.hash(&mut hasher),
                sys::IS_ARRAY => {
                    let option = sys::zend_hash_index_find((*argument).value.arr, PDO_PERSISTENT);
                    persistent |= !option.is_null() && sys::zend_is_true(option) as u8 != 0; // an int before PHP 8.4
                }
                _ => {}
            }
        }
    }
    persistent.then(|| hasher.finish() as usize | 1)
}
