//! Internal functions, trampolined: busy handles, and what is thrown when a call returns.
//!
//! A handle (a stream, a connection, a statement, …) that is in the middle of a blocked call of one coroutine is
//! *busy*: another coroutine's call on it queues before its C code starts, first come first served. Nobody looks
//! for handles until a call really parks: then those of the internal functions on the coroutine's stack are
//! marked, until the function that holds them returns. While nothing is busy the trampoline is one test.

use crate::coroutine::Info;
use crate::runtime::{self, Runtime, rt};
use crate::stack::{Ctx, Failing};
use crate::zv;
use spindle_core::sched::{Co, On, Reason, Ticket};
use spindle_interpose::locks;
use spindle_php_sys as sys;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ptr::addr_of_mut;

/// How an internal function uses the handles among its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
enum Kind {
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
    /// Constructs a handle.
    Makes = 7,
}

/// What a call may do at once with another call on the same handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Read,
    Write,
    Both,
}

impl Mode {
    fn disturbs(self, other: Mode) -> bool {
        self == other || self == Mode::Both || other == Mode::Both
    }
}

/// A handle that a coroutine keeps busy by a call.
#[derive(Debug)]
pub struct Held {
    frame: *mut sys::zend_execute_data,
    key: usize,
}

#[derive(Default)]
struct Busy {
    holders: Vec<(Co, Mode)>,
    queue: VecDeque<(Ticket, Mode)>,
    /// A close waits in the queue: calls before it may finish, but not wait any more.
    closing: bool,
}

struct Table {
    busy: RefCell<HashMap<usize, Busy>>,
    /// Handles that share the connection of another one.
    links: RefCell<HashMap<usize, usize>>,
    /// By the address of the class's own handlers.
    linked: RefCell<HashMap<usize, Box<Linked>>>,
    infos: RefCell<Vec<Box<sys::spindle_call_info>>>,
}

struct OnPhpThread(Table);
// SAFETY: used on the PHP thread only: by internal functions and by the module's life.
unsafe impl Sync for OnPhpThread {}
static TABLE: std::sync::LazyLock<OnPhpThread> = std::sync::LazyLock::new(|| {
    OnPhpThread(Table { busy: RefCell::new(HashMap::new()), links: RefCell::new(HashMap::new()), linked: RefCell::new(HashMap::new()), infos: RefCell::new(Vec::new()) })
});
// SAFETY: as `OnPhpThread`; boxes are handed to the engine as plain addresses.
unsafe impl Send for OnPhpThread {}

fn table() -> &'static Table {
    &TABLE.0
}

/// Functions of ext/standard on a stream. Others that take one (`is_resource`, `feof`, `var_dump`, …) never wait.
const READS: &[&str] = &[
    "fread", "fgets", "fgetc", "fgetcsv", "fscanf", "fpassthru", "stream_get_contents", "stream_get_line",
    "stream_socket_recvfrom", "stream_socket_accept", "readdir", "socket_read", "socket_recv", "socket_recvfrom",
    "socket_recvmsg", "socket_accept",
];
const WRITES: &[&str] = &[
    "fwrite", "fputs", "fputcsv", "stream_socket_sendto", "socket_write", "socket_send", "socket_sendto",
    "socket_sendmsg",
];
const BOTH: &[&str] = &[
    "fflush", "fseek", "rewind", "ftell", "ftruncate", "fstat", "fsync", "fdatasync", "stream_copy_to_stream",
    "stream_socket_enable_crypto", "rewinddir", "flock",
];
const CLOSES: &[&str] = &["fclose", "pclose", "closedir", "socket_close"];
/// Functions on sockets that answer from what is in memory, or must act while another call waits.
const NEVER_WAIT: &[&str] = &[
    "socket_shutdown", "socket_last_error", "socket_clear_error", "socket_set_option", "socket_setopt",
    "socket_set_nonblock", "socket_set_block", "socket_getsockname", "socket_getpeername", "socket_get_option",
    "socket_getopt", "curl_multi_getcontent",
];
/// Extensions whose objects are values or run PHP code: several coroutines may be inside at once.
const NO_HANDLES: &[&str] = &[
    "core", "standard", "spl", "date", "reflection", "json", "random", "pcre", "hash", "dom", "simplexml", "xml",
    "intl", "gmp", "bcmath", "ds", "ffi", "tokenizer", "mbstring", "ctype", "spindle",
];

fn module_name(module: *const sys::zend_module_entry) -> String {
    if module.is_null() {
        return String::new();
    }
    // SAFETY: a loaded module with a terminated name.
    unsafe { std::ffi::CStr::from_ptr((*module).name) }.to_string_lossy().to_ascii_lowercase()
}

unsafe fn kind_of(function: *const sys::zend_internal_function) -> Kind {
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
        } else if name == "__construct" {
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
unsafe fn module_of(object: *const sys::zend_object) -> *const sys::zend_module_entry {
    // SAFETY: a live object; a linked class's parent is a class.
    unsafe {
        let mut class = (*object).ce;
        while !class.is_null() && u32::from((*class).type_ as u8) == sys::ZEND_USER_CLASS {
            class = (*class).__bindgen_anon_1.parent;
        }
        if class.is_null() { std::ptr::null() } else { (*class).info.internal.module }
    }
}

fn info_of(function: *const sys::zend_internal_function) -> Option<*const sys::spindle_call_info> {
    // SAFETY: an internal function; the slot was given to us by the engine.
    unsafe {
        let handler = (*function).handler?;
        let ours = is_ours(handler);
        let info = (*function).reserved[sys::spindle_reserved_slot as usize];
        (ours || !info.is_null()).then_some(info.cast_const().cast())
    }
}

/// Calls `change` with every internal function that the engine knows now.
unsafe fn each_function(mut change: impl FnMut(*mut sys::zend_internal_function)) {
    let eg = addr_of_mut!(sys::executor_globals);
    let each = |table: *mut sys::HashTable, act: &mut dyn FnMut(sys::zval)| {
        // SAFETY: a table of the engine with string keys: `nNumUsed` buckets, some of them empty.
        unsafe {
            for index in 0..(*table).nNumUsed as usize {
                let value = (*(*table).__bindgen_anon_1.arData.add(index)).val;
                if u32::from(value.u1.v.type_) == sys::IS_PTR {
                    act(value);
                }
            }
        }
    };
    let mut functions = |value: sys::zval| {
        // SAFETY: values of function tables are functions.
        unsafe {
            let function: *mut sys::zend_function = value.value.func;
            if u32::from((*function).type_) == sys::ZEND_INTERNAL_FUNCTION {
                change(function.cast());
            }
        }
    };
    // SAFETY: the tables exist as long as a request runs; values of the class table are classes.
    unsafe {
        each((*eg).function_table, &mut functions);
        each((*eg).class_table, &mut |value: sys::zval| {
            let class = value.value.ce;
            if (*class).ce_flags & sys::ZEND_ACC_IMMUTABLE == 0 {
                each(addr_of_mut!((*class).function_table), &mut functions);
            }
        });
    }
}

/// Puts the trampoline in front of every internal function but ours.
pub fn install() {
    let mut infos = table().infos.borrow_mut();
    // SAFETY: at the first spawn or at request start, on the PHP thread; the information lives until `remove`.
    unsafe {
        let ours = addr_of_mut!(sys::spindle_module_entry);
        let slot = sys::spindle_reserved_slot as usize;
        each_function(|function| {
            let Some(handler) = (*function).handler else { return };
            if (*function).module == ours || (*function).function_name.is_null() || info_of(function).is_some() {
                return;
            }
            let kind = kind_of(function);
            let info = Box::new(sys::spindle_call_info { handler: Some(handler), kind: kind as u32 });
            (*function).reserved[slot] = (&raw const *info).cast_mut().cast();
            // A write to a stream never gives way by itself: `echo` must not. After the function it may.
            (*function).handler = Some(match kind {
                Kind::Writes => sys::spindle_trampoline_fair,
                Kind::Signals => in_place,
                Kind::Makes => making,
                // A copy (`curl_copy_handle`) is a handle of its own.
                Kind::Handle if !name_has(function, "copy") => sys::spindle_trampoline_linking,
                _ => sys::spindle_trampoline,
            });
            infos.push(info);
        });
    }
}

type Handler = unsafe extern "C" fn(*mut sys::zend_execute_data, *mut sys::zval);

/// Is it one of our trampolines?
fn is_ours(handler: Handler) -> bool {
    let ours: [Handler; 5] = [
        sys::spindle_trampoline,
        sys::spindle_trampoline_fair,
        sys::spindle_trampoline_linking,
        in_place,
        making,
    ];
    ours.iter().any(|one| *one as usize == handler as usize)
}

fn name_has(function: *const sys::zend_internal_function, part: &str) -> bool {
    // SAFETY: a function of the engine's tables; `install` has seen that it has a name.
    zv::text(unsafe { (*function).function_name }).to_ascii_lowercase().contains(part)
}

/// The trampoline of constructors: a handle made from another is one more on its connection.
unsafe extern "C" fn making(frame: *mut sys::zend_execute_data, result: *mut sys::zval) {
    // SAFETY: the engine calls it with a frame of a method that `install` has marked.
    unsafe {
        if u32::from((*frame).This.u1.v.type_) == sys::IS_OBJECT {
            link(frame, (*frame).This.value.obj);
        }
        sys::spindle_trampoline(frame, result);
    }
}

/// A call has returned a handle: it shares the connection of the handle that it was made from, if there was one.
#[unsafe(no_mangle)]
unsafe extern "C" fn spindle_call_made(frame: *mut sys::zend_execute_data, object: *mut sys::zend_object) {
    // SAFETY: the frame of a call that has just returned, and its result.
    unsafe { link(frame, object) };
}

/// `object` and the first other handle of the call share a connection from now on. An address that is used again
/// loses what was known of it, since every handle is made by a constructor or returned by a call.
unsafe fn link(frame: *mut sys::zend_execute_data, object: *mut sys::zend_object) {
    // SAFETY: the caller's promise.
    unsafe {
        if module_of(object) != (*(*frame).func).internal_function.module.cast_const() {
            return;
        }
        table().links.borrow_mut().remove(&(object as usize));
        let mut root = None;
        handles(frame, Kind::Handle, |key, _| {
            if key != object as usize && root.is_none() {
                root = Some(key);
            }
        });
        if let Some(root) = root {
            table().links.borrow_mut().insert(object as usize, root);
            free_in_turn(object);
        }
    }
}

/// Handlers of objects that share a connection: the class's own, but for the end.
#[repr(C)]
struct Linked {
    handlers: sys::zend_object_handlers,
    original: *const sys::zend_object_handlers,
}

/// The end of such a handle may talk to its server (a statement is deallocated), in the middle of PHP code: it
/// takes its turn like a call.
unsafe fn free_in_turn(object: *mut sys::zend_object) {
    // SAFETY: a live object, whose handlers are copied: the class's other objects keep theirs.
    unsafe {
        let original = (*object).handlers;
        if (*original).free_obj.is_some_and(|free| free as usize == free_linked as *const () as usize) {
            return;
        }
        let mut tables = table().linked.borrow_mut();
        let linked = tables.entry(original as usize).or_insert_with(|| {
            let mut handlers = *original;
            handlers.free_obj = Some(free_linked);
            Box::new(Linked { handlers, original })
        });
        (*object).handlers = &raw const linked.handlers;
    }
}

unsafe extern "C" fn free_linked(object: *mut sys::zend_object) {
    // SAFETY: only objects with a `Linked` for their handlers get here.
    unsafe {
        let linked: *const Linked = (*object).handlers.cast();
        let root = table().links.borrow_mut().remove(&(object as usize));
        let held = match (root, runtime::existing()) {
            (Some(root), Some(rt)) if rt.can_switch() => Some((rt, root)),
            _ => None,
        };
        let none = std::ptr::null_mut();
        if let Some((rt, root)) = held {
            rt.core.borrow_mut().shield(); // a cancellation must not leave it half freed
            if turn(rt, none, root, Mode::Both, Kind::Handle) && !holds(rt, root) {
                hold(rt.context(), none, root, Mode::Both);
            }
        }
        if let Some(free) = (*(*linked).original).free_obj {
            free(object);
        }
        if let Some((rt, root)) = held {
            let ctx = rt.context();
            if let Some(at) = (*ctx).busy.iter().rposition(|held| held.frame.is_null() && held.key == root) {
                (*ctx).busy.remove(at);
                let_go(rt, Co((*ctx).co), root);
                refresh_checks(ctx);
            }
            rt.core.borrow_mut().unshield();
        }
    }
}

/// Does the running coroutine hold it?
fn holds(rt: &'static Runtime, key: usize) -> bool {
    // SAFETY: the running context.
    let co = Co(unsafe { (*rt.context()).co });
    table().busy.borrow().get(&key).is_some_and(|busy| busy.holders.iter().any(|(holder, _)| *holder == co))
}

/// The trampoline of what must not be left in the middle.
unsafe extern "C" fn in_place(frame: *mut sys::zend_execute_data, result: *mut sys::zval) {
    // SAFETY: the engine calls it with a frame of a function that `install` has marked.
    unsafe {
        let info = info_of((*frame).func.cast()).and_then(|info| info.as_ref());
        if let Some(handler) = info.and_then(|info| info.handler) {
            crate::engine::in_place(|| handler(frame, result));
        }
    }
}

/// Puts the original handlers back, at request end.
pub fn remove() {
    // SAFETY: as `install`; entries that somebody else has replaced since are left alone.
    unsafe {
        let slot = sys::spindle_reserved_slot as usize;
        each_function(|function| {
            let info = (*function).reserved[slot].cast::<sys::spindle_call_info>();
            if !info.is_null() && (*function).handler.is_some_and(is_ours) {
                (*function).handler = (*info).handler;
                (*function).reserved[slot] = std::ptr::null_mut();
            }
        });
        sys::spindle_check_before = 0;
        sys::spindle_check_after = 0;
    }
    forget_all();
}

/// How many functions are trampolined.
pub fn installed() -> usize {
    table().infos.borrow().len()
}

/// Nothing is busy any more (in the child of a fork, at request end).
pub fn forget_all() {
    table().busy.borrow_mut().clear();
    table().links.borrow_mut().clear();
    // SAFETY: on the PHP thread.
    unsafe { sys::spindle_check_before = 0 };
}

/// Calls `with` with each handle of a call, and how it is used.
unsafe fn handles(
    frame: *mut sys::zend_execute_data,
    kind: Kind,
    mut with: impl FnMut(usize, Mode),
) {
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
                        let root = table().links.borrow().get(&key).copied();
                        with(root.unwrap_or(key), Mode::Both);
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

fn kind_from(info: *const sys::spindle_call_info) -> Kind {
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

/// How many frames are looked at for handles: callbacks of callbacks of a library are rarely deeper.
const DEPTH: usize = 24;

/// The running coroutine is about to park in C code: what it uses is busy until the calls return.
pub fn parking(rt: &'static Runtime) {
    // SAFETY: the frames of the running coroutine.
    unsafe {
        let ctx = rt.context();
        let mut frame = sys::executor_globals.current_execute_data;
        for _ in 0..DEPTH {
            if frame.is_null() {
                return;
            }
            let function = (*frame).func;
            if !function.is_null() && u32::from((*function).type_) == sys::ZEND_INTERNAL_FUNCTION {
                if (*ctx).busy.iter().any(|held| held.frame == frame) {
                    return; // marked by an earlier park, and so are those above it
                }
                let kind = info_of(function.cast()).map_or(Kind::Plain, kind_from);
                if !matches!(kind, Kind::Plain | Kind::Makes | Kind::Signals) {
                    handles(frame, kind, |key, mode| hold(ctx, frame, key, mode));
                }
            }
            frame = (*frame).prev_execute_data;
        }
    }
}

unsafe fn hold(ctx: *mut Ctx, frame: *mut sys::zend_execute_data, key: usize, mode: Mode) {
    // SAFETY: the running context.
    unsafe {
        let co = Co((*ctx).co);
        table().busy.borrow_mut().entry(key).or_default().holders.push((co, mode));
        (*ctx).busy.push(Held { frame, key });
        sys::spindle_check_before = 1;
        refresh_checks(ctx);
    }
}

fn let_go(rt: &'static Runtime, co: Co, key: usize) {
    let next = {
        let mut table = table().busy.borrow_mut();
        let Some(busy) = table.get_mut(&key) else { return };
        if let Some(at) = busy.holders.iter().rposition(|(holder, _)| *holder == co) {
            busy.holders.remove(at);
        }
        let mut next = Vec::new();
        let mut waiting = VecDeque::new();
        for (ticket, mode) in std::mem::take(&mut busy.queue) {
            let before = waiting.iter().any(|(_, earlier): &(Ticket, Mode)| earlier.disturbs(mode));
            if before || busy.holders.iter().any(|(_, held)| held.disturbs(mode)) {
                waiting.push_back((ticket, mode));
            } else {
                busy.holders.push((ticket.co, mode)); // it is its turn, whoever comes in between
                next.push(ticket);
            }
        }
        busy.queue = waiting;
        if busy.holders.is_empty() && busy.queue.is_empty() {
            table.remove(&key);
        }
        if table.is_empty() {
            // SAFETY: on the PHP thread.
            unsafe { sys::spindle_check_before = 0 };
        }
        next
    };
    for ticket in next {
        rt.core.borrow_mut().wake(ticket);
    }
}

/// The slow half of the trampoline before a call: queues for busy handles. `false`: something was thrown.
#[unsafe(no_mangle)]
unsafe extern "C" fn spindle_before_call(
    frame: *mut sys::zend_execute_data,
    info: *const sys::spindle_call_info,
) -> bool {
    let kind = kind_from(info);
    let Some(rt) = runtime::existing() else { return true };
    if matches!(kind, Kind::Plain | Kind::Makes | Kind::Signals) || !rt.can_switch() {
        return true;
    }
    let mut wanted: Vec<(usize, Mode)> = Vec::new();
    // SAFETY: the frame of the call that is about to begin.
    unsafe { handles(frame, kind, |key, mode| wanted.push((key, mode))) };
    // SAFETY: the frame of the call that is about to begin.
    wanted.into_iter().all(|(key, mode)| unsafe { turn(rt, frame, key, mode, kind) })
}

/// Waits for one handle, if it is busy. `false`: something was thrown.
unsafe fn turn(rt: &'static Runtime, frame: *mut sys::zend_execute_data, key: usize, mode: Mode, kind: Kind) -> bool {
    let ctx = rt.context();
    // SAFETY: the running context.
    let co = Co(unsafe { (*ctx).co });
    {
        let disturbed: Vec<Co> = {
            let table = table().busy.borrow();
            let Some(busy) = table.get(&key) else { return true };
            if busy.holders.iter().any(|(holder, _)| *holder == co) {
                return true; // its own call, further up
            }
            let holders = busy.holders.iter().filter(|(_, held)| held.disturbs(mode)).map(|(holder, _)| *holder);
            let holders: Vec<Co> = holders.collect();
            if holders.is_empty() && !busy.queue.iter().any(|(_, earlier)| earlier.disturbs(mode)) {
                return true;
            }
            holders
        };
        if kind == Kind::Closes {
            if let Some(busy) = table().busy.borrow_mut().get_mut(&key) {
                busy.closing = true;
            }
            for holder in disturbed {
                fail_quietly(rt, holder);
            }
        }
        // SAFETY: the running context.
        if unsafe { !take_turn(rt, ctx, frame, key, mode, kind == Kind::Closes) } {
            return false;
        }
    }
    true
}

/// The call in which `co` is parked fails, because its handle is being closed.
fn fail_quietly(rt: &'static Runtime, co: Co) {
    // SAFETY: a coroutine that holds a handle has a context.
    unsafe {
        let ctx = (*rt.object(co)).ctx;
        if !ctx.is_null() && (*ctx).failing == Failing::No {
            (*ctx).failing = Failing::Quietly;
            rt.core.borrow_mut().break_off(co);
        }
    }
}

unsafe fn take_turn(
    rt: &'static Runtime,
    ctx: *mut Ctx,
    frame: *mut sys::zend_execute_data,
    key: usize,
    mode: Mode,
    closes: bool,
) -> bool {
    // SAFETY: the running context.
    unsafe {
        let co = Co((*ctx).co);
        loop {
            let ticket = rt.begin_wait();
            {
                let mut table = table().busy.borrow_mut();
                let Some(busy) = table.get_mut(&key) else { return true };
                busy.queue.push_back((ticket, mode));
            }
            let info = Info { call: "busy handle", since: spindle_reactor::Reactor::now(), ..Info::NONE };
            let reason = rt.park(None, On::Coroutines, true, info);
            let granted = {
                let mut table = table().busy.borrow_mut();
                let busy = table.entry(key).or_default();
                if busy.closing && !closes && (*ctx).failing == Failing::No {
                    (*ctx).failing = Failing::Quietly;
                }
                busy.queue.retain(|(waiting, _)| *waiting != ticket);
                busy.holders.iter().any(|(holder, _)| *holder == co)
            };
            if granted {
                (*ctx).busy.push(Held { frame, key });
                refresh_checks(ctx);
            }
            if reason == Reason::Cancelled {
                if granted {
                    (*ctx).busy.pop();
                }
                let_go(rt, co, key);
                let reason = rt.core.borrow_mut().take_cancellation();
                if let Some(reason) = reason {
                    sys::spindle_throw(reason);
                }
                return false;
            }
            if granted {
                return true;
            }
        }
    }
}

/// The slow half of the trampoline after a call: handles are free again, and what was held back is thrown.
#[unsafe(no_mangle)]
unsafe extern "C" fn spindle_after_call(frame: *mut sys::zend_execute_data, _: *mut sys::zval) {
    let Some(rt) = runtime::existing() else { return };
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: the running context; the exception's reference is passed on.
    unsafe {
        let ctx = rt.context();
        let co = Co((*ctx).co);
        while let Some(at) = (*ctx).busy.iter().position(|held| held.frame == frame) {
            let held = (*ctx).busy.swap_remove(at);
            let_go(rt, co, held.key);
        }
        let failing = std::mem::replace(&mut (*ctx).failing, Failing::No);
        (*ctx).failed_parks = 0;
        refresh_checks(ctx);
        if let Failing::Throw(exception) = failing {
            let own = std::mem::replace(&mut (*eg).exception, std::ptr::null_mut());
            if !own.is_null() {
                if sys::zend_is_unwind_exit(own) || sys::zend_is_graceful_exit(own) {
                    (*eg).exception = own;
                    sys::spindle_object_release(exception);
                    return;
                }
                sys::zend_exception_set_previous(exception, own);
            }
            sys::spindle_throw(exception);
        }
    }
}

/// After a write to a stream that did not wait: gives way now and then.
#[unsafe(no_mangle)]
extern "C" fn spindle_call_was_fair() {
    if let Some(rt) = runtime::existing()
        // SAFETY: a global of the engine.
        && unsafe { sys::executor_globals.exception.is_null() }
        && rt.can_switch()
    {
        rt.give_way(32, false);
    }
}

/// `spindle_check_after` is the running coroutine's.
#[inline(always)]
pub fn refresh_checks(ctx: *mut Ctx) {
    // SAFETY: the running context.
    unsafe {
        sys::spindle_check_after = u32::from((*ctx).failing != Failing::No || !(*ctx).busy.is_empty());
    }
}

/// A coroutine is left.
#[inline(always)]
pub fn switched_out(ctx: *mut Ctx) {
    if locks::holds_any() {
        // SAFETY: the context that is being left.
        locks::on_park(u64::from(unsafe { (*ctx).co }));
    }
}

/// A coroutine goes on, or begins.
#[inline(always)]
pub fn switched_in(ctx: *mut Ctx) {
    refresh_checks(ctx);
    if locks::holds_any() {
        // SAFETY: the context that is about to run.
        locks::on_resume(u64::from(unsafe { (*ctx).co }));
    }
}

/// A coroutine has ended: nothing is busy by it, and what could not be thrown is forgotten.
///
/// # Safety
/// `ctx` is the running context.
pub unsafe fn coroutine_ends(ctx: *mut Ctx) {
    // SAFETY: the caller's promise.
    unsafe {
        while let Some(held) = (*ctx).busy.pop() {
            let_go(rt(), Co((*ctx).co), held.key);
        }
        if let Failing::Throw(exception) = std::mem::replace(&mut (*ctx).failing, Failing::No) {
            sys::spindle_object_release(exception);
        }
        (*ctx).failed_parks = 0;
        refresh_checks(ctx);
        if locks::holds_any() {
            locks::on_end(u64::from((*ctx).co));
        }
    }
}

/// C code of the running coroutine was told to fail by this cancellation (reference passed on): it is thrown when
/// the call returns.
pub fn throw_on_return(rt: &'static Runtime, exception: *mut sys::zend_object) {
    // SAFETY: the running context. An interrupt is asked for because the C code may have no function of its own
    // on the PHP stack (a destructor of the engine).
    unsafe {
        let ctx = rt.context();
        if let Failing::Throw(earlier) = (*ctx).failing {
            sys::spindle_object_release(earlier);
        }
        (*ctx).failing = Failing::Throw(exception);
        refresh_checks(ctx);
        sys::spindle_vm_interrupt_set();
    }
}

/// The engine may be interrupted now, in PHP code: throws what no return of a call has thrown.
pub fn throw_in_php_code(rt: &'static Runtime) {
    let ctx = rt.context();
    // SAFETY: the running context; the exception's reference is passed on.
    unsafe {
        let frame = sys::executor_globals.current_execute_data;
        let in_php = !frame.is_null()
            && !(*frame).func.is_null()
            && u32::from((*(*frame).func).type_) != sys::ZEND_INTERNAL_FUNCTION;
        let inside_call = (*ctx).busy.iter().any(|held| !held.frame.is_null());
        if in_php && !inside_call && sys::executor_globals.exception.is_null() {
            let failing = std::mem::replace(&mut (*ctx).failing, Failing::No);
            refresh_checks(ctx);
            if let Failing::Throw(exception) = failing {
                sys::spindle_throw(exception);
            }
        }
    }
}

