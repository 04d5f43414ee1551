//! Wrappers of streams without an entry in `verdicts::WRAPPERS`, whose streams share more than the stream itself: entries of one phar
//! archive, for example, read from one inner stream. The operations of such a wrapper and of its streams share a lock, whether
//! they are called by a function on a stream, by one on a path, or by an `include`. The entries of their tables are replaced at
//! the first `spawn`, and stay.

use crate::c;
use crate::handles::{classify, function_table::FunctionTable, groups, handle_locks, verdicts};
use spindle_php_sys as sys;
use spindle_zend::{Array, Extension, PhpStatic, Resource, Text};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;
use std::ptr::{NonNull, null, null_mut};

struct Tables {
    /// Wrappers by the addresses of their operations. Never removed.
    wrappers: RefCell<BTreeMap<usize, &'static Operations>>,
    /// The original operations of streams of such wrappers, by their addresses.
    streams: RefCell<BTreeMap<usize, sys::php_stream_ops>>,
    /// The lock keys of streams that such wrappers have opened, by the streams' addresses. Not by their resources: a
    /// stream that a function has opened for itself has none any more when it is closed.
    open: RefCell<BTreeMap<usize, usize>>,
}

/// A wrapper's original operations, and the lock key of its streams.
struct Operations {
    original: sys::php_stream_wrapper_ops,
    key: usize,
}

static TABLES: PhpStatic<Tables> = PhpStatic::new(Tables {
    wrappers: RefCell::new(BTreeMap::new()),
    streams: RefCell::new(BTreeMap::new()),
    open: RefCell::new(BTreeMap::new()),
});

/// Replaces entries of a table of operations that are not null. Yields the reasons why some could not be replaced.
macro_rules! replace {
    ($table:ident: $operations:ident: $type:ty: $($field:ident = $function:ident),*) => {
        [$((offset_of!($type, $field), $operations.$field.is_some(), $function as *const () as usize)),*]
            .into_iter()
            .filter(|(_, is_there, _)| *is_there)
            .filter_map(|(offset, _, function)| $table.replace(offset, function).err())
    };
}

/// Replaces the operations of the wrappers that are registered, at the first `spawn` of a request. Returns a message
/// for each operation that could not be replaced, with the reason.
pub fn install() -> Vec<String> {
    let mut errors = Vec::new();
    for wrapper in c::_php_stream_get_url_stream_wrappers_hash().into_iter().flat_map(Array::pointers) {
        change(Wrapper(wrapper.cast()), &mut errors);
    }
    errors
}

/// A registered wrapper.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Wrapper(NonNull<sys::php_stream_wrapper>);

impl Wrapper {
    fn table(self) -> *const sys::php_stream_wrapper_ops {
        // SAFETY: a wrapper that is registered, or whose operation the engine calls.
        unsafe { self.0.as_ref() }.wops
    }
}

fn change(wrapper: Wrapper, errors: &mut Vec<String>) {
    // SAFETY: the operations of a registered wrapper stay as long as its extension is loaded.
    let Some(table) = (unsafe { FunctionTable::from_raw(wrapper.table()) }) else { return };
    let original = table.read();
    // SAFETY: null, or a terminated text, which lasts as long as the table.
    let label = unsafe { Text::from_raw(original.label) }.map_or(c"", Text::get);
    let is_known = label.to_str().is_ok_and(|label| verdicts::WRAPPERS.contains(&label));
    if is_known || TABLES.wrappers.borrow().contains_key(&table.address()) {
        return;
    }
    let key = extension_at(table.address(), label.to_bytes()).unwrap_or(table.address());
    TABLES.wrappers.borrow_mut().insert(table.address(), Box::leak(Box::new(Operations { original, key })));
    let named = |error: String| format!("the stream wrapper {}: {error}", label.to_string_lossy());
    errors.extend(
        replace!(table: original: sys::php_stream_wrapper_ops: stream_opener = stream_opener, dir_opener = dir_opener,
            url_stat = url_stat, unlink = unlink, rename = rename, stream_mkdir = stream_mkdir, stream_rmdir = stream_rmdir,
            stream_metadata = stream_metadata)
        .map(named),
    );
}

/// Returns the start of the loaded object that contains an address.
fn object_at(address: usize) -> Option<*mut c_void> {
    let mut info = libc::Dl_info { dli_fname: null(), dli_fbase: null_mut(), dli_sname: null(), dli_saddr: null_mut() };
    let is_found = c::dladdr(address as *const c_void, &mut info) != 0;
    is_found.then_some(info.dli_fbase)
}

/// Returns the key of the extension whose operations are at an address: the only one in its loaded object, or, if there are
/// several, as in the executable, the one that the operations are named after.
fn extension_at(address: usize, label: &[u8]) -> Option<usize> {
    let wanted = object_at(address)?;
    let is_there = |extension: &Extension| {
        let extension = extension.raw();
        let places = [
            extension.functions as usize,
            extension.module_startup_func.map_or(0, |function| function as usize),
            extension.info_func.map_or(0, |function| function as usize),
        ];
        places.into_iter().any(|place| place != 0 && object_at(place) == Some(wanted))
    };
    let mut found = Extension::all().filter(is_there);
    let extension = match (found.next()?, found.next()) {
        (only, None) => only,
        _ => {
            let name = label.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').next()?;
            Extension::find(&String::from_utf8_lossy(name).to_ascii_lowercase()).filter(is_there)?
        }
    };
    Some(classify::key_of_extension(Some(extension)))
}

/// Returns the lock key of a URL. URLs on a session (`ssh2.sftp://Resource id #5/…`) have the session's.
fn key_of(operations: &Operations, url: Text<'_>) -> usize {
    key_in_url(url.get().to_bytes()).unwrap_or(operations.key)
}

fn key_in_url(url: &[u8]) -> Option<usize> {
    let at = url.windows(3).position(|part| part == b"://")?;
    let rest = url[at + 3..].strip_prefix(b"Resource id #").unwrap_or(&url[at + 3..]);
    let digits: String = rest.iter().take_while(|byte| byte.is_ascii_digit()).map(|byte| char::from(*byte)).collect();
    let ends = rest.get(digits.len()).is_none_or(|byte| *byte == b'/');
    let number = digits.parse::<i64>().ok().filter(|_| ends)?;
    Resource::find(number, |resource| groups::group_of_resource(resource).unwrap_or(resource.address()))
}

fn operations_of(wrapper: Wrapper) -> Option<&'static Operations> {
    TABLES.wrappers.borrow().get(&(wrapper.table() as usize)).copied()
}

/// An open stream.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Stream(NonNull<sys::php_stream>);

impl Stream {
    /// Returns its table of operations and its resource.
    fn parts<'a>(self) -> (*const sys::php_stream_ops, Option<&'a Resource>) {
        // SAFETY: a stream that has just been opened, or whose operation the engine calls.
        let stream = unsafe { self.0.as_ref() };
        let (operations, resource) = (stream.ops, stream.res);
        // SAFETY: null, or the resource of a live stream.
        (operations, unsafe { Resource::borrow(resource) })
    }

    fn address(self) -> usize {
        self.0.as_ptr() as usize
    }
}

/// Registers a stream that a wrapper has opened, which shares a lock with the others of its kind.
fn opened(stream: Option<Stream>, key: usize) {
    let Some((stream, (operations, Some(resource)))) = stream.map(|stream| (stream, stream.parts())) else { return };
    groups::link_stream(resource, key);
    TABLES.open.borrow_mut().insert(stream.address(), key);
    // SAFETY: the operations of a stream stay as long as their extension is loaded.
    let Some(table) = (unsafe { FunctionTable::from_raw(operations) }) else { return };
    if TABLES.streams.borrow().contains_key(&table.address()) {
        return;
    }
    let original = table.read();
    TABLES.streams.borrow_mut().insert(table.address(), original);
    // If this fails, it has failed for the wrapper's table too, and was reported.
    replace!(table: original: sys::php_stream_ops: write = write, read = read, close = close, flush = flush, seek = seek,
        stat = stat, set_option = set_option)
    .for_each(drop);
}

/// Defines the functions for tables of operations of wrappers, which call the original with the lock. They are only
/// installed in known tables, where there is an original; the default is returned without one, and if waiting for the
/// lock would be a deadlock.
macro_rules! of_wrappers {
    ($($name:ident($url:ident $(, $argument:ident: $type:ty)*) -> $result:ty, $default:expr $(, $after:expr)?;)*) => {$(
        extern "C" fn $name(wrapper: Wrapper, $url: Text<'_>, $($argument: $type,)*) -> $result {
            let Some(operations) = operations_of(wrapper) else { return $default };
            let Some(original) = operations.original.$name else { return $default };
            let key = key_of(operations, $url);
            handle_locks::with_lock(key, || {
                // SAFETY: the wrapper's own operation, and the engine's arguments.
                let answer = unsafe { original(wrapper.0.as_ptr(), $url.as_raw(), $($argument),*) };
                $($after(NonNull::new(answer).map(Stream), key);)?
                answer
            })
            .unwrap_or($default)
        }
    )*};
}

type Context = *mut sys::php_stream_context;

of_wrappers! {
    stream_opener(url, mode: *const c_char, options: c_int, path: *mut *mut sys::zend_string, context: Context)
        -> *mut sys::php_stream, null_mut(), opened;
    dir_opener(url, mode: *const c_char, options: c_int, path: *mut *mut sys::zend_string, context: Context)
        -> *mut sys::php_stream, null_mut(), opened;
    url_stat(url, flags: c_int, into: *mut sys::php_stream_statbuf, context: Context) -> c_int, -1;
    unlink(url, options: c_int, context: Context) -> c_int, 0;
    rename(url, to: *const c_char, options: c_int, context: Context) -> c_int, 0;
    stream_mkdir(url, mode: c_int, options: c_int, context: Context) -> c_int, 0;
    stream_rmdir(url, options: c_int, context: Context) -> c_int, 0;
    stream_metadata(url, option: c_int, value: *mut c_void, context: Context) -> c_int, 0;
}

/// Like [`key_of_stream`], for a stream that is about to be freed, so that its address may be reused.
fn key_of_closing_stream(stream: Stream) -> Option<usize> {
    let key = key_of_stream(stream);
    TABLES.open.borrow_mut().remove(&stream.address());
    key
}

/// Returns the lock key of a stream. A stream of the same kind that no wrapper has opened (`ssh2_exec()`) has the key
/// of what it was created from.
fn key_of_stream(stream: Stream) -> Option<usize> {
    let known = TABLES.open.borrow().get(&stream.address()).copied();
    known.or_else(|| stream.parts().1.and_then(groups::group_of_resource))
}

/// Defines the functions for tables of operations of streams, like `of_wrappers`.
macro_rules! of_streams {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $default:expr, $key:ident;)*) => {$(
        extern "C" fn $name(stream: Stream, $($argument: $type),*) -> $result {
            let operations = TABLES.streams.borrow().get(&(stream.parts().0 as usize)).copied();
            let Some(original) = operations.and_then(|operations| operations.$name) else { return $default };
            // SAFETY: the stream's own operation, and the engine's arguments.
            let call = || unsafe { original(stream.0.as_ptr(), $($argument),*) };
            match $key(stream) {
                Some(key) => handle_locks::with_lock(key, call).unwrap_or($default),
                None => call(),
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

/// Waits until no other coroutine is in the middle of an operation of this file's wrapper. The file is about to be
/// compiled, during which its operations must not be suspended. Returns `false`, and has thrown, if that would be a
/// deadlock.
pub(crate) fn before_compiling(path: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(path, part).is_some();
    if TABLES.wrappers.borrow().is_empty() || !has(b"://") && !has(b".phar") {
        return true;
    }
    let keys: Vec<usize> = TABLES.wrappers.borrow().values().map(|operations| operations.key).collect();
    handle_locks::wait_until_unused(&keys)
}
