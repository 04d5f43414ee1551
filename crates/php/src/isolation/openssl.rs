//! OpenSSL's error queue is the thread's: what C code has put there belongs to its coroutine, and goes with it when
//! that parks. Without OpenSSL 3 in the process nothing is done.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_ulong};

type Peek = unsafe extern "C" fn() -> c_ulong;
type Take =
    unsafe extern "C" fn(*mut *const c_char, *mut c_int, *mut *const c_char, *mut *const c_char, *mut c_int) -> c_ulong;
type New = unsafe extern "C" fn();
type SetDebug = unsafe extern "C" fn(*const c_char, c_int, *const c_char);
type SetError = unsafe extern "C" fn(c_int, c_int, *const c_char, ...);

#[derive(Clone, Copy)]
struct Functions {
    peek: Peek,
    take: Take,
    new: New,
    set_debug: SetDebug,
    set_error: SetError,
}

struct Found(Cell<Option<Functions>>);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Found {}
static FOUND: Found = Found(Cell::new(None));

/// Looks for OpenSSL among what is loaded. At activation, and when a library was loaded.
pub fn find() {
    if FOUND.0.get().is_some() {
        return;
    }
    // SAFETY: terminated names; the functions have had these types since OpenSSL 3.0 (`ERR_get_error_all(3)`,
    // `ERR_put_error(3)`), and all of them are there or none is used.
    unsafe {
        let find = |name: &std::ffi::CStr| {
            let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
            (!found.is_null()).then_some(found)
        };
        let (Some(peek), Some(take), Some(new), Some(set_debug), Some(set_error)) = (
            find(c"ERR_peek_error"),
            find(c"ERR_get_error_all"),
            find(c"ERR_new"),
            find(c"ERR_set_debug"),
            find(c"ERR_set_error"),
        ) else {
            return;
        };
        FOUND.0.set(Some(Functions {
            peek: std::mem::transmute::<*mut libc::c_void, Peek>(peek),
            take: std::mem::transmute::<*mut libc::c_void, Take>(take),
            new: std::mem::transmute::<*mut libc::c_void, New>(new),
            set_debug: std::mem::transmute::<*mut libc::c_void, SetDebug>(set_debug),
            set_error: std::mem::transmute::<*mut libc::c_void, SetError>(set_error),
        }));
    }
}

struct Error {
    code: c_ulong,
    file: *const c_char,
    line: c_int,
    function: *const c_char,
    data: CString,
}

/// The queue of a coroutine that is parked; null when it was empty. Not a `Vec`: an exit elsewhere abandons the stack
/// that this lies on, and it is freed by [`put_back`] only.
pub struct Queue(*mut Vec<Error>);

impl Queue {
    /// No errors.
    pub const EMPTY: Queue = Queue(std::ptr::null_mut());
}

/// Takes the errors that wait, if there are any.
#[inline]
pub fn take() -> Queue {
    let Some(functions) = FOUND.0.get() else { return Queue::EMPTY };
    // SAFETY: OpenSSL's own function.
    if unsafe { (functions.peek)() } == 0 { Queue::EMPTY } else { take_all(functions) }
}

#[cold]
fn take_all(functions: Functions) -> Queue {
    let mut errors = Vec::new();
    loop {
        let (mut file, mut function, mut data) = (std::ptr::null(), std::ptr::null(), std::ptr::null());
        let (mut line, mut flags) = (0, 0);
        // SAFETY: five places for the answers. File and function are constants of OpenSSL's code; the data belong to
        // the queue until the next call, and are copied.
        unsafe {
            let code = (functions.take)(&mut file, &mut line, &mut function, &mut data, &mut flags);
            if code == 0 {
                break;
            }
            let data = if data.is_null() { CString::default() } else { std::ffi::CStr::from_ptr(data).to_owned() };
            errors.push(Error { code, file, line, function, data });
        }
    }
    Queue(Box::into_raw(Box::new(errors)))
}

/// Puts them back, before whatever another coroutine has left there.
#[inline]
pub fn put_back(queue: Queue) {
    if !queue.0.is_null() {
        put_all(queue);
    }
}

#[cold]
fn put_all(queue: Queue) {
    const SYSTEM: c_ulong = 0x8000_0000;
    let Some(functions) = FOUND.0.get() else { return };
    // SAFETY: made by `take_all`, once.
    let errors = unsafe { Box::from_raw(queue.0) };
    for error in *errors {
        let (library, reason) = if error.code & SYSTEM != 0 {
            (2, error.code & (SYSTEM - 1)) // ERR_LIB_SYS
        } else {
            (error.code >> 23 & 0xff, error.code & 0x7f_ffff)
        };
        // SAFETY: as OpenSSL's own ERR_raise_data does; the format takes one text.
        unsafe {
            (functions.new)();
            (functions.set_debug)(error.file, error.line, error.function);
            let format = if error.data.is_empty() { std::ptr::null() } else { c"%s".as_ptr() };
            (functions.set_error)(library as c_int, reason as c_int, format, error.data.as_ptr());
        }
    }
}
