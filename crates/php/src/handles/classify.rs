//! Which internal functions use handles, and how: decided once, from names and modules (`verdicts` has the table).

use crate::handles::verdicts::{self, Verdict};
use crate::zend::{call_info::info_of, modules::module_name, zv};
use spindle_php_sys as sys;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr::addr_of_mut;

/// What a call of an internal function keeps busy while its coroutine is suspended in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Kind {
    /// Nothing.
    Plain = 0,
    /// The objects of its extension and the resources among its arguments.
    Handle = 1,
    /// A stream, in one direction.
    Reads = 2,
    /// As above.
    Writes = 3,
    /// A stream in both directions, or its position.
    Stream = 4,
    /// Closes a handle or a stream.
    Closes = 5,
    /// Runs signal handlers, which do not give way.
    Signals = 6,
    /// Makes a handle: a constructor, or what asks for a persistent connection. It uses those it is made from.
    Makes = 7,
    /// Everything of its extension, and every handle among its arguments: nobody knows what it keeps.
    Alone = 8,
    /// Waits for what comes on a handle, and bears that others use it meanwhile. They must not close it.
    Watches = 9,
    /// `curl_multi_exec()`, which never waits: where another one is in the middle of it, nothing is ready.
    Performs = 10,
    /// Waits for messages on a connection; others may send on it.
    Receives = 11,
    /// Sends on a connection without waiting for an answer.
    Sends = 12,
    /// `preg_replace_callback()`: see [`is_large_pattern`].
    Matches = 13,
    /// A method of `Fiber`: leaves the calls that are in progress, or goes on with others.
    Fiber = 14,
    /// Loads an extension, with functions of its own.
    Loads = 15,
    /// A handle, and something that its library keeps for all: no other call of the extension is in progress meanwhile.
    Exclusive = 16,
}

/// When a function may have flagged objects and arrays as being in use, against endless recursion (see `marks.c`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Flags {
    Always = sys::SPINDLE_FLAGS_ALWAYS as u8,
    /// While PHP code runs that it has called.
    AroundCallbacks = sys::SPINDLE_FLAGS_AROUND_CALLBACKS as u8,
    Never = sys::SPINDLE_FLAGS_NEVER as u8,
}

/// How a call uses a handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Read,
    Write,
    Both,
    Watch,
    Shared,
    Close,
}

impl Mode {
    /// May no call that uses the handle in the mode `other` begin while one in this mode is in progress, or waits its turn?
    pub(crate) fn disturbs(self, other: Mode) -> bool {
        match (self, other) {
            (Mode::Close, _) | (_, Mode::Close) | (Mode::Both, _) => true,
            (Mode::Watch, _) | (Mode::Shared, Mode::Shared) => false,
            (held, wanted) => held == wanted || wanted == Mode::Both,
        }
    }
}

/// Functions on sockets and other handles that answer from what is in memory, or must act while another call waits.
const NEVER_WAIT: &[&str] = &["curl_multi_getcontent"];
/// Functions of clients that wait for whatever comes, without having asked.
const ONLY_WAIT: &[&str] = &["pgsqlgetnotify", "curl_multi_select", "mysqli_poll", "poll"];
/// Methods that only look like the engine's own: a SoapClient talks to its server in them.
const NOT_MAGIC: &[&str] = &["__call", "__soapcall", "__dorequest"];
/// Extensions whose handles are made from something that is no connection, and wait for one another.
const MADE_APART: &[&str] = &["zmq"];
/// Extensions whose library ends the process when a wait of it fails, unless a signal has interrupted it.
const BEARS_SIGNALS_ONLY: &[&str] = &["zmq"];

/// A module, looked at once for all its functions.
pub(crate) struct Module {
    pub(crate) entry: *const sys::zend_module_entry,
    name: String,
    verdict: Verdict,
    /// Do its calls keep their state in its globals (see `globals`)?
    pub(crate) keeps_globals: bool,
}

impl Module {
    pub(crate) fn of(entry: *const sys::zend_module_entry) -> Module {
        let name = module_name(entry);
        let verdict = if entry.is_null() { Verdict::Alone } else { verdicts::of_module(&name) };
        Module { entry, verdict, keeps_globals: crate::isolation::globals::concerns(&name), name }
    }

    /// Do its objects lie on connections, which objects made of them share?
    pub(crate) fn has_handles(&self) -> bool {
        self.verdict == Verdict::Handles
    }

    /// Are its objects values that live in memory, as those of SPL?
    pub(crate) fn holds_values(&self) -> bool {
        matches!(self.name.as_str(), "spl" | "ds")
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.verdict == Verdict::Alone
    }
}

fn has(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

/// The kind of a function that has a name. `None`: it needs no trampoline.
pub(crate) unsafe fn kind_of(function: *const sys::zend_internal_function, module: &Module) -> Option<Kind> {
    // SAFETY: a function of the engine's tables: names are texts, a class has one.
    let (name, scope) = unsafe { (zv::bytes((*function).function_name), (*function).scope) };
    let mut room = [0; 64];
    let Some(lower) = room.get_mut(..name.len()) else { return Some(Kind::Alone) };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let name = std::str::from_utf8(lower).unwrap_or_default();
    // SAFETY: as above.
    let class = (!scope.is_null()).then(|| unsafe { zv::bytes((*scope).name) });
    if let Some(entry) = verdicts::of_function(&module.name, class, name) {
        return entry;
    }
    let is = |list: &[&str]| list.contains(&name);
    let constructs = name == "__construct";
    match module.verdict {
        Verdict::Free => None,
        Verdict::Plain => Some(Kind::Plain),
        Verdict::Alone => Some(Kind::Alone),
        // SAFETY: a class of the engine's.
        Verdict::Handles if !scope.is_null() && unsafe { is_throwable(scope) } => None,
        Verdict::Handles if is(NEVER_WAIT) => Some(Kind::Plain),
        Verdict::Handles if constructs || name.contains("pconnect") => Some(Kind::Makes),
        Verdict::Handles if name.starts_with("__") && !is(NOT_MAGIC) => Some(Kind::Plain),
        Verdict::Handles if name == "close" || name.len() > 6 && name.ends_with("_close") => Some(Kind::Closes),
        Verdict::Handles => Some(Kind::Handle),
    }
}

/// When a function that has a name may have flagged objects and arrays as being in use.
pub(crate) unsafe fn flags_of(
    function: *const sys::zend_internal_function,
    module: &Module,
    kind: Option<Kind>,
) -> Flags {
    // SAFETY: as `kind_of`.
    let (name, scope) = unsafe { (zv::text((*function).function_name).to_ascii_lowercase(), (*function).scope) };
    // SAFETY: as above.
    let class = (!scope.is_null()).then(|| unsafe { zv::text((*scope).name) });
    if verdicts::never_flags(&module.name, class.as_deref(), &name) {
        return Flags::Never;
    }
    match (module.verdict, kind) {
        _ if verdicts::flags_while_it_writes(&module.name, &name) => Flags::Always,
        (_, Some(Kind::Alone)) => Flags::Always,
        (_, Some(kind)) if kind != Kind::Handle && kind != Kind::Makes => Flags::Never,
        _ => Flags::AroundCallbacks,
    }
}

/// Is it a class of exceptions?
unsafe fn is_throwable(class: *const sys::zend_class_entry) -> bool {
    // SAFETY: the caller passes an internal class, whose parents are classes.
    unsafe {
        let mut class = class;
        while !class.is_null() {
            if class == sys::zend_ce_exception.cast_const() || class == sys::zend_ce_error.cast_const() {
                return true;
            }
            class = (*class).__bindgen_anon_1.parent;
        }
        false
    }
}

/// What is known of a module.
#[derive(Clone, Copy)]
struct About {
    /// What stands for it as a whole.
    key: usize,
    verdict: Verdict,
    /// Has it functions of the kind `Exclusive`?
    has_exclusive: bool,
}

struct Known(std::cell::RefCell<std::collections::HashMap<usize, About>>);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Known {}
// SAFETY: as above.
unsafe impl Send for Known {}
static KNOWN: std::sync::LazyLock<Known> = std::sync::LazyLock::new(|| Known(Default::default()));

fn known(module: *const sys::zend_module_entry) -> About {
    *KNOWN.0.borrow_mut().entry(module as usize).or_insert_with(|| {
        let name = module_name(module);
        About {
            key: first_of_family(module, &name),
            verdict: verdicts::of_module(&name),
            has_exclusive: verdicts::has_exclusive(&name),
        }
    })
}

/// What stands for a module as a whole.
pub(crate) fn key_of_module(module: *const sys::zend_module_entry) -> usize {
    known(module).key
}

fn first_of_family(module: *const sys::zend_module_entry, name: &str) -> usize {
    let family = verdicts::family(name);
    if family == name {
        return module as usize;
    }
    // SAFETY: a list of loaded modules by name.
    let first =
        unsafe { sys::zend_hash_str_find(addr_of_mut!(sys::module_registry), family.as_ptr().cast(), family.len()) };
    // SAFETY: its values are modules.
    if first.is_null() { module as usize } else { unsafe { (*first).value.ptr as usize } }
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
        let kind = info_of(function).map_or(Kind::Plain, kind_from);
        matches!(kind, Kind::Handle | Kind::Makes | Kind::Closes | Kind::Alone | Kind::Sends | Kind::Exclusive)
            && !matches!(module_name(module_of_function(function)).as_str(), "standard" | "sockets" | "spl")
            && !ONLY_WAIT.contains(&zv::text((*function).function_name).to_ascii_lowercase().as_str())
    }
}

/// What a call is called in messages: `PDO::query()`.
///
/// # Safety
/// Null, or the frame of a call of a function.
pub(crate) unsafe fn name_of_call(frame: *mut sys::zend_execute_data) -> String {
    // SAFETY: the caller's promise.
    unsafe {
        if frame.is_null() || (*frame).func.is_null() || (*(*frame).func).common.function_name.is_null() {
            return "a call".to_owned();
        }
        let common = &(*(*frame).func).common;
        let name = zv::text(common.function_name);
        if common.scope.is_null() {
            format!("{name}()")
        } else {
            format!("{}::{name}()", zv::text((*common.scope).name))
        }
    }
}

struct Drivers(std::cell::RefCell<std::collections::HashMap<Vec<u8>, Box<u64>>>);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Drivers {}
// SAFETY: as above.
unsafe impl Send for Drivers {}
static DRIVERS: std::sync::LazyLock<Drivers> = std::sync::LazyLock::new(|| Drivers(Default::default()));

/// For `new PDO(…)` with a driver that nobody has looked at: what stands for all of its connections.
///
/// # Safety
/// `frame` is the frame of a call of an internal function.
pub(crate) unsafe fn shared_driver(frame: *mut sys::zend_execute_data) -> Option<usize> {
    // SAFETY: the caller's promise: the arguments follow the frame.
    unsafe {
        if module_name(module_of_function((*frame).func.cast())) != "pdo" || (*frame).This.u2.num_args == 0 {
            return None;
        }
        let first = &*frame.byte_add(size_of::<sys::zend_execute_data>()).cast::<sys::zval>();
        if u32::from(first.u1.v.type_) != sys::IS_STRING {
            return None;
        }
        let source = zv::bytes(first.value.str_);
        let driver = source.split(|byte| *byte == b':').next().unwrap_or_default().to_vec();
        if verdicts::PDO_DRIVERS.iter().any(|known| known.as_bytes() == driver) {
            return None;
        }
        let mut drivers = DRIVERS.0.borrow_mut();
        Some(&raw const **drivers.entry(driver).or_default() as usize)
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

/// Calls `with` with each handle of a call, and how it is used. One that is shared stands for no connection.
pub(crate) unsafe fn handles(frame: *mut sys::zend_execute_data, kind: Kind, mut with: impl FnMut(usize, Mode)) {
    if matches!(kind, Kind::Plain | Kind::Signals | Kind::Fiber | Kind::Loads) {
        return;
    }
    // SAFETY: `frame` is an internal function's frame: its arguments follow it.
    unsafe {
        let module = module_of_function((*frame).func.cast());
        if kind == Kind::Matches {
            return with(module as usize, if is_large_pattern(frame) { Mode::Both } else { Mode::Shared });
        }
        if matches!(kind, Kind::Alone | Kind::Exclusive) {
            with(key_of_module(module), Mode::Both);
        } else if known(module).has_exclusive {
            with(key_of_module(module), Mode::Shared);
        }
        let of_streams = matches!(kind, Kind::Reads | Kind::Writes | Kind::Stream);
        let mode = mode(kind);
        let mut look = |value: *mut sys::zval| {
            let mut value = value;
            if u32::from((*value).u1.v.type_) == sys::IS_REFERENCE {
                value = addr_of_mut!((*(*value).value.ref_).val);
            }
            match u32::from((*value).u1.v.type_) {
                sys::IS_OBJECT => {
                    let object = (*value).value.obj;
                    let its = module_of(object);
                    if its == module && of_streams {
                        with(object as usize, mode); // ext/sockets
                    } else if its == module || kind == Kind::Alone && !its.is_null() && !is_value(object) {
                        with(crate::handles::connection_groups::root(object as usize), mode);
                    }
                }
                sys::IS_RESOURCE if !is_context((*value).value.res) => {
                    match crate::handles::connection_groups::root_of_resource((*value).value.res) {
                        Some(root) => with(root, if of_streams { Mode::Both } else { mode }),
                        None => with((*value).value.res as usize, mode),
                    }
                }
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

/// Has a pattern of `preg_replace_callback()` more groups than fit in the block of results that PCRE's functions share?
///
/// A call whose groups fit marks the block as in use, and puts the mark back as it found it; one whose groups do not fit
/// puts back what it found, too. If the first begins and is suspended while the second is, the second takes its mark away.
unsafe fn is_large_pattern(frame: *mut sys::zend_execute_data) -> bool {
    /// `PHP_PCRE_PREALLOC_MDATA_SIZE` groups, the whole match among them.
    const ROOM: usize = 32;
    // SAFETY: the caller passes the frame of a call: its arguments follow it.
    unsafe {
        let is_large = |value: &sys::zval| {
            u32::from(value.u1.v.type_) != sys::IS_STRING
                || zv::bytes(value.value.str_).iter().filter(|byte| **byte == b'(').count() + 1 > ROOM
        };
        if (*frame).This.u2.num_args == 0 {
            return false;
        }
        let first = &*frame.byte_add(size_of::<sys::zend_execute_data>()).cast::<sys::zval>();
        if u32::from(first.u1.v.type_) != sys::IS_ARRAY {
            return is_large(first);
        }
        let patterns = first.value.arr;
        (0..(*patterns).nNumUsed as u64).any(|index| {
            let pattern = sys::zend_hash_index_find(patterns, index);
            pattern.is_null() || is_large(&*pattern)
        })
    }
}

/// The options of streams: each stream that is opened with them has its own.
unsafe fn is_context(resource: *const sys::zend_resource) -> bool {
    // SAFETY: the caller passes a resource; the function only reads a number.
    unsafe { (*resource).type_ == sys::php_le_stream_context() }
}

/// Closures, and other objects of the engine's own, are used by any number of calls at once.
unsafe fn is_value(object: *const sys::zend_object) -> bool {
    // SAFETY: the caller passes a live object.
    known(unsafe { module_of(object) }).verdict == Verdict::Free
}

fn mode(kind: Kind) -> Mode {
    match kind {
        Kind::Reads | Kind::Receives => Mode::Read,
        Kind::Writes | Kind::Sends => Mode::Write,
        Kind::Watches => Mode::Watch,
        Kind::Closes => Mode::Close,
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
        9 => Kind::Watches,
        10 => Kind::Performs,
        11 => Kind::Receives,
        12 => Kind::Sends,
        13 => Kind::Matches,
        14 => Kind::Fiber,
        15 => Kind::Loads,
        16 => Kind::Exclusive,
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
