//! Streams whose calls have more in common than the stream itself.
//!
//! - **Encrypted streams** may have a reader and a writer at once, like others, but ext/openssl keeps what it has done to
//!   the socket in the stream.
//! - **Wrappers that nobody has looked at** (`verdicts::WRAPPERS` has the others): entries of one phar archive read from one
//!   inner stream. The operations of such a wrapper, and those of its streams, take turns, whoever calls them: a function on
//!   a stream, on a path, or an `include`. The entries of their tables are changed at the first `spawn`, and stay.

use crate::handles::{classify, connection_groups, handle_locks, verdicts};
use crate::runtime::scheduler::Runtime;
use spindle_core::sched::CoroutineId;
use spindle_interpose::patch;
use spindle_php_sys as sys;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::addr_of_mut;

/// A call on a stream is about to begin: if another coroutine's is in progress, it must find the stream as that one did.
///
/// # Safety
/// `call` has a frame, and its first argument is the stream.
pub(crate) unsafe fn begins(rt: &'static Runtime, call: *mut sys::spindle_call) {
    // SAFETY: the caller's promise.
    unsafe {
        let co = (*rt.context()).co;
        if is_used_by_another(rt, CoroutineId(co), (*call).frame) {
            sys::spindle_tls_begins((*call).frame);
            ((*call).co, (*call).holds) = (co, true); // so that its end is seen
        }
    }
}

/// A call that was suspended, or was made beside another one, is over: one that is still in progress needs the stream out of
/// blocking mode.
///
/// # Safety
/// `call` has just returned; its arguments are still there.
pub(crate) unsafe fn ends(rt: &'static Runtime, call: *mut sys::spindle_call) {
    // SAFETY: the caller's promise.
    unsafe {
        let frame = (*call).frame;
        if !frame.is_null() && is_used_by_another(rt, CoroutineId((*call).co), frame) {
            sys::spindle_tls_ends(frame);
        }
    }
}

/// Is the first argument of a call an encrypted stream, and is another coroutine suspended in a call on it?
unsafe fn is_used_by_another(rt: &'static Runtime, co: CoroutineId, frame: *mut sys::zend_execute_data) -> bool {
    // SAFETY: the caller passes the frame of a call: its arguments follow it.
    unsafe {
        sys::spindle_is_tls(frame) && {
            let first = frame.byte_add(size_of::<sys::zend_execute_data>()).cast::<sys::zval>();
            handle_locks::is_used_by_another(rt, co, (*first).value.res as usize)
        }
    }
}

struct Tables {
    wrappers: RefCell<HashMap<usize, Box<Wrapper>>>,
    streams: RefCell<HashMap<usize, sys::php_stream_ops>>,
    /// What the streams of such wrappers take turns by. Not by their resources: one that a function has opened for itself has
    /// none any more when it is closed.
    open: RefCell<HashMap<usize, usize>>,
}

/// A wrapper's operations as they were, and what stands for all of its streams.
struct Wrapper {
    operations: sys::php_stream_wrapper_ops,
    key: usize,
}

struct OnPhpThread(Tables);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for OnPhpThread {}
// SAFETY: as above.
unsafe impl Send for OnPhpThread {}
static TABLES: std::sync::LazyLock<OnPhpThread> = std::sync::LazyLock::new(|| {
    OnPhpThread(Tables { wrappers: Default::default(), streams: Default::default(), open: Default::default() })
});

/// Puts functions of ours into a table of operations, in place of those that are there. Why some could not be.
macro_rules! replace {
    ($table:ident: $($field:ident = $ours:ident),*) => {
        [$(((&raw mut (*$table).$field) as usize, (*$table).$field.is_some(), $ours as *const () as usize)),*]
            .into_iter()
            .filter(|(_, is_there, _)| *is_there)
            .filter_map(|(place, _, ours)| patch::store(place, ours).err())
    };
}

/// Changes the operations of the wrappers that are registered now. At the first `spawn` of a request. What could not be
/// changed, and why.
pub fn install() -> Vec<String> {
    let mut errors = Vec::new();
    // SAFETY: the engine's table of wrappers.
    unsafe {
        let registered = sys::_php_stream_get_url_stream_wrappers_hash();
        for index in 0..(*registered).nNumUsed as usize {
            let value = (*(*registered).__bindgen_anon_1.arData.add(index)).val;
            if u32::from(value.u1.v.type_) == sys::IS_PTR {
                take(value.value.ptr.cast(), &mut errors);
            }
        }
    }
    errors
}

unsafe fn take(wrapper: *mut sys::php_stream_wrapper, errors: &mut Vec<String>) {
    // SAFETY: the caller passes a registered wrapper, whose operations stay as long as its extension is loaded.
    unsafe {
        let table = (*wrapper).wops.cast_mut();
        let label = if (*table).label.is_null() { c"" } else { CStr::from_ptr((*table).label) };
        let known = label.to_str().is_ok_and(|label| verdicts::WRAPPERS.contains(&label));
        if known || TABLES.0.wrappers.borrow().contains_key(&(table as usize)) {
            return;
        }
        let operations = *table;
        let key = module_at(table as usize).unwrap_or(table as usize);
        TABLES.0.wrappers.borrow_mut().insert(table as usize, Box::new(Wrapper { operations, key }));
        let named = |error: String| format!("the stream wrapper {}: {error}", label.to_string_lossy());
        errors.extend(
            replace!(table: stream_opener = open, dir_opener = open_folder, url_stat = stat_path, unlink = unlink,
                rename = rename, stream_mkdir = mkdir, stream_rmdir = rmdir, stream_metadata = metadata)
            .map(named),
        );
    }
}

/// What stands for the module whose code or data is at an address.
fn module_at(address: usize) -> Option<usize> {
    let base = |address: usize| {
        // SAFETY: a structure that is filled if the function says so.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            (libc::dladdr(address as *const c_void, &mut info) != 0).then_some(info.dli_fbase)
        }
    };
    let wanted = base(address)?;
    // SAFETY: the engine's table of modules.
    unsafe {
        let modules = addr_of_mut!(sys::module_registry);
        let mut found = None;
        for index in 0..(*modules).nNumUsed as usize {
            let value = (*(*modules).__bindgen_anon_1.arData.add(index)).val;
            if u32::from(value.u1.v.type_) == sys::IS_PTR {
                let module: *const sys::zend_module_entry = value.value.ptr.cast();
                let places = [
                    (*module).functions as usize,
                    (*module).module_startup_func.map_or(0, |function| function as usize),
                    (*module).info_func.map_or(0, |function| function as usize),
                ];
                if places.into_iter().any(|place| place != 0 && base(place) == Some(wanted)) {
                    if found.is_some() {
                        return None; // several in one object, as in the executable
                    }
                    found = Some(classify::key_of_module(module));
                }
            }
        }
        found
    }
}

/// What the wrapper of a URL takes turns by. Those on a session (`ssh2.sftp://Resource id #5/…`) take the session's.
unsafe fn key_of(wrapper: &Wrapper, url: *const c_char) -> usize {
    // SAFETY: the caller passes a terminated text.
    let url = unsafe { CStr::from_ptr(url) }.to_bytes();
    let Some(at) = url.windows(3).position(|part| part == b"://") else { return wrapper.key };
    let rest = url[at + 3..].strip_prefix(b"Resource id #").unwrap_or(&url[at + 3..]);
    let digits: String = rest.iter().take_while(|byte| byte.is_ascii_digit()).map(|byte| char::from(*byte)).collect();
    let ends = rest.get(digits.len()).is_none_or(|byte| *byte == b'/');
    let Some(number) = digits.parse::<u64>().ok().filter(|_| ends) else { return wrapper.key };
    // SAFETY: the engine's table of resources, by their numbers.
    unsafe {
        let found = sys::zend_hash_index_find(addr_of_mut!(sys::executor_globals.regular_list), number);
        if found.is_null() {
            return wrapper.key;
        }
        let resource = (*found).value.res;
        connection_groups::root_of_resource(resource).unwrap_or(resource as usize)
    }
}

unsafe fn of(wrapper: *mut sys::php_stream_wrapper) -> Option<&'static Wrapper> {
    let wrappers = TABLES.0.wrappers.borrow();
    // SAFETY: the caller passes a wrapper; entries are boxed, and never removed.
    unsafe { wrappers.get(&((*wrapper).wops as usize)).map(|wrapper| &*std::ptr::from_ref::<Wrapper>(wrapper)) }
}

/// A wrapper has opened a stream: it takes turns with the others of its kind.
unsafe fn opened(stream: *mut sys::php_stream, key: usize) -> *mut sys::php_stream {
    // SAFETY: the caller passes a new stream, or null; its operations stay as long as their extension is loaded.
    unsafe {
        if stream.is_null() || (*stream).res.is_null() {
            return stream;
        }
        connection_groups::link_stream((*stream).res, key);
        TABLES.0.open.borrow_mut().insert(stream as usize, key);
        let table = (*stream).ops.cast_mut();
        if TABLES.0.streams.borrow().contains_key(&(table as usize)) {
            return stream;
        }
        let operations = *table;
        TABLES.0.streams.borrow_mut().insert(table as usize, operations);
        // Where it cannot be changed, its wrapper's could not be either, and that was said.
        replace!(table: write = write, read = read, close = close, flush = flush, seek = seek, stat = stat,
            set_option = set_option)
        .for_each(drop);
        stream
    }
}

/// The functions that stand in tables of operations: each runs the original in its turn. A table in which one of ours
/// stands is known, and has had an original there; the default is what a missing operation answers, and one whose turn
/// never comes.
macro_rules! of_wrappers {
    ($($name:ident = $field:ident($url:ident $(, $argument:ident: $type:ty)*) -> $result:ty, $default:expr, $after:expr;)*) => {$(
        unsafe extern "C" fn $name(
            wrapper: *mut sys::php_stream_wrapper,
            $url: *const c_char,
            $($argument: $type,)*
        ) -> $result {
            // SAFETY: the engine's own arguments, passed on.
            unsafe {
                let Some(its) = of(wrapper) else { return $default };
                let Some(original) = its.operations.$field else { return $default };
                let key = key_of(its, $url);
                #[allow(clippy::redundant_closure_call)]
                handle_locks::in_turn(key, || $after(original(wrapper, $url, $($argument),*), key)).unwrap_or($default)
            }
        }
    )*};
}

type Context = *mut sys::php_stream_context;

of_wrappers! {
    open = stream_opener(url, mode: *const c_char, options: c_int, path: *mut *mut sys::zend_string, context: Context)
        -> *mut sys::php_stream, std::ptr::null_mut(), |stream, key| opened(stream, key);
    open_folder = dir_opener(url, mode: *const c_char, options: c_int, path: *mut *mut sys::zend_string, context: Context)
        -> *mut sys::php_stream, std::ptr::null_mut(), |stream, key| opened(stream, key);
    stat_path = url_stat(url, flags: c_int, into: *mut sys::php_stream_statbuf, context: Context)
        -> c_int, -1, |answer, _| answer;
    unlink = unlink(url, options: c_int, context: Context) -> c_int, 0, |answer, _| answer;
    rename = rename(url, to: *const c_char, options: c_int, context: Context) -> c_int, 0, |answer, _| answer;
    mkdir = stream_mkdir(url, mode: c_int, options: c_int, context: Context) -> c_int, 0, |answer, _| answer;
    rmdir = stream_rmdir(url, options: c_int, context: Context) -> c_int, 0, |answer, _| answer;
    metadata = stream_metadata(url, option: c_int, value: *mut c_void, context: Context)
        -> c_int, 0, |answer, _| answer;
}

/// As [`key_of_stream`], of one that is about to be freed: another one may get its address.
unsafe fn key_of_closing_stream(stream: *mut sys::php_stream) -> Option<usize> {
    // SAFETY: the caller passes a live stream.
    let key = unsafe { key_of_stream(stream) };
    TABLES.0.open.borrow_mut().remove(&(stream as usize));
    key
}

/// What a stream takes turns by. One of the same kind that no wrapper has opened (`ssh2_exec()`): by what it was made from.
unsafe fn key_of_stream(stream: *mut sys::php_stream) -> Option<usize> {
    let known = TABLES.0.open.borrow().get(&(stream as usize)).copied();
    // SAFETY: the caller passes a live stream.
    let resource = unsafe { (*stream).res };
    // SAFETY: as above: its resource.
    known.or_else(|| (!resource.is_null()).then(|| unsafe { connection_groups::root_of_resource(resource) }).flatten())
}

macro_rules! of_streams {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $default:expr, $key:ident;)*) => {$(
        unsafe extern "C" fn $name(stream: *mut sys::php_stream, $($argument: $type),*) -> $result {
            // SAFETY: the engine's own arguments, passed on.
            unsafe {
                let operations = TABLES.0.streams.borrow().get(&((*stream).ops as usize)).copied();
                let Some(original) = operations.and_then(|operations| operations.$name) else { return $default };
                match $key(stream) {
                    Some(key) => handle_locks::in_turn(key, || original(stream, $($argument),*)).unwrap_or($default),
                    None => original(stream, $($argument),*),
                }
            }
        }
    )*};
}

of_streams! {
    write(from: *const c_char, count: usize) -> isize, -1, key_of_stream;
    read(into: *mut c_char, count: usize) -> isize, -1, key_of_stream;
    close(handle: c_int) -> c_int, 0, key_of_closing_stream;
    flush() -> c_int, 0, key_of_stream;
    seek(offset: sys::zend_off_t, whence: c_int, at: *mut sys::zend_off_t) -> c_int, -1, key_of_stream;
    stat(into: *mut sys::php_stream_statbuf) -> c_int, -1, key_of_stream;
    set_option(option: c_int, value: c_int, argument: *mut c_void) -> c_int, -2, key_of_stream;
}

/// Waits until no other coroutine is in the middle of anything of the wrapper of this file, which is about to be compiled:
/// that must not be suspended. `false`: it would wait for ever; that was thrown.
pub(crate) fn before_compiling(path: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(path, part).is_some();
    if TABLES.0.wrappers.borrow().is_empty() || !has(b"://") && !has(b".phar") {
        return true;
    }
    let keys: Vec<usize> = TABLES.0.wrappers.borrow().values().map(|wrapper| wrapper.key).collect();
    handle_locks::wait_until_unused(&keys)
}
