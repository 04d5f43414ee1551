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
    /// Makes a handle: a constructor, or what asks for a persistent connection. It uses those it is made from.
    Makes = 7,
    /// A function of an extension of which one call runs at a time, whatever its handles.
    Alone = 8,
}

impl Kind {
    /// Is it trampolined before the first `spawn` too? What returns a handle is; what cannot is `false`.
    pub(crate) unsafe fn may_make(self, function: *const sys::zend_internal_function) -> bool {
        if self != Kind::Handle {
            return self == Kind::Makes;
        }
        // SAFETY: a function of the engine's tables: what it returns is described before its arguments, if at all.
        unsafe {
            if (*function).arg_info.is_null() || (*function).fn_flags & sys::ZEND_ACC_HAS_RETURN_TYPE == 0 {
                return true;
            }
            let returns = &(*(*function).arg_info.sub(1)).type_;
            returns.type_mask & (1 << sys::IS_OBJECT) != 0 || !returns.ptr.is_null()
        }
    }
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
/// Those that may return a stream that was opened before.
const MAKES: &[&str] = &["pfsockopen", "stream_socket_client"];
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
/// Functions of clients that wait for whatever comes, without having asked.
const ONLY_WAIT: &[&str] = &["pgsqlgetnotify", "curl_multi_select", "mysqli_poll", "poll"];
/// Methods that only look like the engine's own: a SoapClient talks to its server in them.
const NOT_MAGIC: &[&str] = &["__call", "__soapcall", "__dorequest"];
/// Extensions whose library waits for all its connections in each call, also for those of other coroutines, which may
/// close them meanwhile.
const ONE_CALL_AT_A_TIME: &[&str] = &["snmp"];
/// Extensions whose handles are made from something that is no connection, and wait for one another.
const MADE_APART: &[&str] = &["zmq"];
/// Extensions whose library ends the process when a wait of it fails, unless a signal has interrupted it.
const BEARS_SIGNALS_ONLY: &[&str] = &["zmq"];
/// Extensions whose objects are values, run PHP code, or only name something of the kernel's (who waits for a message in
/// a queue must not keep others from sending one): several coroutines may be inside at once.
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
    "sysvmsg",
    "sysvsem",
    "sysvshm",
    "shmop",
    "spindle",
];

pub(crate) fn module_name(module: *const sys::zend_module_entry) -> String {
    if module.is_null() {
        return String::new();
    }
    // SAFETY: a loaded module with a terminated name.
    unsafe { std::ffi::CStr::from_ptr((*module).name) }.to_string_lossy().to_ascii_lowercase()
}

/// A module, looked at once for all its functions.
pub(crate) struct Module {
    pub(crate) entry: *const sys::zend_module_entry,
    name: String,
    has_handles: bool,
    /// Do its calls keep their state in its globals (see `globals`)?
    pub(crate) keeps_globals: bool,
}

impl Module {
    pub(crate) fn of(entry: *const sys::zend_module_entry) -> Module {
        let name = module_name(entry);
        let has_handles = !NO_HANDLES.contains(&name.as_str());
        Module { entry, has_handles, keeps_globals: crate::globals::concerns(&name), name }
    }

    /// May its functions make handles on connections?
    pub(crate) fn may_make(&self) -> bool {
        self.has_handles || self.name == "standard"
    }
}

fn has(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

/// The kind of a function that has a name.
pub(crate) unsafe fn kind_of(function: *const sys::zend_internal_function, module: &Module) -> Kind {
    // SAFETY: a function of the engine's tables.
    let (name, scope) = unsafe { (zv::bytes((*function).function_name), (*function).scope) };
    let is = |list: &[&str]| list.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()));
    if scope.is_null() && (module.name == "standard" || module.name == "sockets") {
        return match () {
            () if is(MAKES) => Kind::Makes,
            () if is(READS) => Kind::Reads,
            () if is(WRITES) => Kind::Writes,
            () if is(BOTH) => Kind::Stream,
            () if is(CLOSES) => Kind::Closes,
            () => Kind::Plain,
        };
    }
    // SAFETY: a class has a name.
    let of_class = |class: &[u8]| !scope.is_null() && unsafe { zv::bytes((*scope).name) } == class;
    let file_object = module.name == "spl" && (of_class(b"SplFileObject") || of_class(b"SplTempFileObject"));
    if is(&["pcntl_signal_dispatch"]) {
        Kind::Signals
    } else if !module.has_handles && !file_object || is(NEVER_WAIT) {
        Kind::Plain
    } else if ONE_CALL_AT_A_TIME.contains(&module.name.as_str()) && !is(&["__construct"]) {
        Kind::Alone
    } else if is(&["__construct"]) || has(name, b"pconnect") {
        Kind::Makes
    } else if name.starts_with(b"__") && !is(NOT_MAGIC) {
        Kind::Plain
    } else if is(&["close"]) || name.len() > 6 && name[name.len() - 6..].eq_ignore_ascii_case(b"_close") {
        Kind::Closes
    } else {
        Kind::Handle
    }
}

/// Is the running call in the middle of a client's conversation with its server? Not those on plain streams and
/// sockets: what is said there is the program's business.
pub fn converses() -> bool {
    // SAFETY: the running frame, of a trampolined function or not.
    unsafe {
        let frame = sys::executor_globals.current_execute_data;
        let function = if frame.is_null() { std::ptr::null_mut() } else { (*frame).func };
        if function.is_null() || u32::from((*function).type_) != sys::ZEND_INTERNAL_FUNCTION {
            return false;
        }
        let function = function.cast::<sys::zend_internal_function>();
        let kind = crate::calls::info_of(function).map_or(Kind::Plain, kind_from);
        matches!(kind, Kind::Handle | Kind::Makes | Kind::Closes)
            && !matches!(module_name(module_of_function(function)).as_str(), "standard" | "sockets" | "spl")
            && !ONLY_WAIT.contains(&zv::text((*function).function_name).to_ascii_lowercase().as_str())
    }
}

/// Do handles that functions of this module make have connections of their own, whatever they are made from?
pub(crate) fn makes_apart(module: *const sys::zend_module_entry) -> bool {
    MADE_APART.contains(&module_name(module).as_str())
}

/// Must a cancelled wait of the running call look as if a signal had interrupted it?
pub fn bears_signals_only() -> bool {
    // SAFETY: the running frame; an internal function is one of some module's, or a coroutine's bottom frame.
    unsafe {
        let frame = sys::executor_globals.current_execute_data;
        let function = if frame.is_null() { std::ptr::null_mut() } else { (*frame).func };
        !function.is_null()
            && u32::from((*function).type_) == sys::ZEND_INTERNAL_FUNCTION
            && BEARS_SIGNALS_ONLY.contains(&module_name(module_of_function(function.cast())).as_str())
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

/// The module of an internal function. Those of a table of their own (`PDO::pgsqlGetNotify`) may not say.
pub(crate) unsafe fn module_of_function(function: *const sys::zend_internal_function) -> *const sys::zend_module_entry {
    // SAFETY: a function of the engine's; the scope of an internal function is an internal class, or null.
    unsafe {
        let scope = (*function).scope;
        if !(*function).module.is_null() {
            (*function).module
        } else if scope.is_null() || u32::from((*scope).type_ as u8) == sys::ZEND_USER_CLASS {
            std::ptr::null()
        } else {
            (*scope).info.internal.module
        }
    }
}

/// Is the running function `error_log()`, which also writes to files of the program's choice?
pub fn is_writing_a_log() -> bool {
    // SAFETY: the running frame; an internal function has a name, unless it is a coroutine's bottom frame.
    unsafe {
        let frame = sys::executor_globals.current_execute_data;
        let function = if frame.is_null() { std::ptr::null_mut() } else { (*frame).func };
        !function.is_null()
            && u32::from((*function).type_) == sys::ZEND_INTERNAL_FUNCTION
            && !(*function).internal_function.function_name.is_null()
            && zv::bytes((*function).internal_function.function_name) == b"error_log"
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
    // SAFETY: a function of the engine's tables that has a name.
    has(unsafe { zv::bytes((*function).function_name) }, part.as_bytes())
}

/// Calls `with` with each handle of a call, and how it is used.
pub(crate) unsafe fn handles(frame: *mut sys::zend_execute_data, kind: Kind, mut with: impl FnMut(usize, Mode)) {
    // SAFETY: `frame` is an internal function's frame: its arguments follow it.
    unsafe {
        let module = module_of_function((*frame).func.cast());
        if kind == Kind::Alone {
            return with(module as usize, Mode::Both);
        }
        let mut look = |value: *mut sys::zval| {
            let mut value = value;
            if u32::from((*value).u1.v.type_) == sys::IS_REFERENCE {
                value = addr_of_mut!((*(*value).value.ref_).val);
            }
            match u32::from((*value).u1.v.type_) {
                sys::IS_OBJECT if matches!(kind, Kind::Handle | Kind::Closes | Kind::Makes) => {
                    let object = (*value).value.obj;
                    if module_of(object) == module {
                        let key = object as usize;
                        let root = crate::links::root(key);
                        with(root, Mode::Both);
                    }
                }
                sys::IS_OBJECT if module_of((*value).value.obj) == module => {
                    with((*value).value.obj as usize, mode(kind)); // ext/sockets
                }
                sys::IS_RESOURCE => match crate::links::root_of_resource((*value).value.res) {
                    Some(root) => with(root, Mode::Both),
                    None => with((*value).value.res as usize, mode(kind)),
                },
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
        8 => Kind::Alone,
        _ => Kind::Plain,
    }
}

/// What stands for a persistent connection, which PHP finds by the arguments of the call that asks for it: a hash of
/// them. `None`: the call does not ask for one.
///
/// # Safety
/// `frame` is the frame of a call of an internal function.
pub(crate) unsafe fn asks_for(frame: *mut sys::zend_execute_data) -> Option<u64> {
    /// `PDO::ATTR_PERSISTENT`.
    const PDO_PERSISTENT: u64 = 12;
    /// `STREAM_CLIENT_PERSISTENT`.
    const STREAM_PERSISTENT: sys::zend_long = 1;
    let mut hasher = DefaultHasher::new();
    // SAFETY: the caller's promise: the arguments follow the frame.
    unsafe {
        let function = (*frame).func.cast::<sys::zend_internal_function>();
        let name = zv::text((*function).function_name).to_ascii_lowercase();
        let module = module_name(module_of_function(function));
        let mut persistent = name.contains("pconnect") || name == "pfsockopen";
        module.hash(&mut hasher);
        let arguments = frame.byte_add(size_of::<sys::zend_execute_data>()).cast::<sys::zval>();
        for index in 0..(*frame).This.u2.num_args as usize {
            let argument = arguments.add(index);
            match u32::from((*argument).u1.v.type_) {
                sys::IS_STRING => {
                    let text = zv::text((*argument).value.str_);
                    persistent |= index == 0
                        && match module.as_str() {
                            "mysqli" => text.starts_with("p:"),
                            "memcached" => !text.is_empty(), // its persistent_id
                            _ => false,
                        };
                    text.hash(&mut hasher);
                }
                sys::IS_LONG => {
                    let number = (*argument).value.lval;
                    persistent |= index == 4 && name == "stream_socket_client" && number & STREAM_PERSISTENT != 0;
                    number.hash(&mut hasher);
                }
                sys::IS_ARRAY if module == "pdo" => {
                    let option = sys::zend_hash_index_find((*argument).value.arr, PDO_PERSISTENT);
                    persistent |= !option.is_null() && sys::zend_is_true(option) as u8 != 0; // an int before PHP 8.4
                }
                _ => {}
            }
        }
        persistent.then(|| hasher.finish())
    }
}
