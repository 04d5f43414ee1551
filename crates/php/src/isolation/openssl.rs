//! OpenSSL's error queue, which is per thread: errors of C code belong to its coroutine, and travel with it when it is
//! suspended in C code. Without OpenSSL 3 in the process this does nothing.
//!
//! Asking OpenSSL whether the queue is empty takes longer than a switch. To find the thread's queue, for that question as for each
//! error that it adds, OpenSSL calls `pthread_once`. While loaded objects have not called that since the queue was last seen empty,
//! the queue is still empty. Whether this OpenSSL does so, and its entry is patched, is tested with an error.

use super::foreign::foreign;
use super::parts::{Part, SuspendedIn};
use spindle_interpose::hooks::sync::once;
use spindle_zend::{PhpStatic, Text};
use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_ulong};
use std::ptr::null;

foreign! {
    /// OpenSSL's functions, which have had these types since OpenSSL 3.0 (`ERR_get_error_all(3)`, `ERR_put_error(3)`).
    struct Functions {
        peek = c"ERR_peek_error": extern "C" fn() -> c_ulong,
        take = c"ERR_get_error_all": extern "C" fn(
            &mut Constant, &mut c_int, &mut Constant, &mut *const c_char, &mut c_int
        ) -> c_ulong,
        new = c"ERR_new": extern "C" fn(),
        set_debug = c"ERR_set_debug": extern "C" fn(Constant, c_int, Constant),
        set_error = c"ERR_set_error": unsafe extern "C" fn(c_int, c_int, *const c_char, ...),
    }
}

static FUNCTIONS: PhpStatic<Cell<Option<Functions>>> = PhpStatic::new(Cell::new(None));

/// An error that is added is noticed by the hook of `pthread_once`.
static ADDING_IS_SEEN: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// Looks up OpenSSL's functions, at activation and when a library was loaded.
pub fn find() {
    if FUNCTIONS.get().is_none()
        && let Some(functions) = Functions::find()
    {
        FUNCTIONS.set(Some(functions));
        ADDING_IS_SEEN.set(functions.is_adding_seen());
    }
}

/// A text in OpenSSL's code, or null.
type Constant = Option<Text<'static>>;

/// An error in the queue.
struct Error {
    code: c_ulong,
    file: Constant,
    line: c_int,
    function: Constant,
    data: CString,
}

/// The queue of a coroutine.
pub struct Errors(Vec<Error>);

impl Part for Errors {
    #[inline(always)]
    fn is_in_use(place: SuspendedIn) -> bool {
        place.in_c
            && (once::was_called() || !ADDING_IS_SEEN.get())
            && FUNCTIONS.get().is_some_and(Functions::has_errors)
    }

    fn take() -> Errors {
        let functions = FUNCTIONS.get();
        Errors(functions.into_iter().flat_map(|functions| std::iter::from_fn(move || functions.next())).collect())
    }

    /// Appends the errors to those that other code has left there.
    fn put_back(self) {
        if let Some(functions) = FUNCTIONS.get() {
            for error in &self.0 {
                functions.add(error);
            }
        }
    }
}

impl Functions {
    /// Returns `true` if there is an error in the queue.
    fn has_errors(self) -> bool {
        let any = (self.peek)() != 0;
        if !any {
            once::forget_calls(); // this one was among them
        }
        any
    }

    /// Adds an error to an empty queue, and takes it again. Returns `true` if the hook of `pthread_once` has noticed.
    fn is_adding_seen(self) -> bool {
        if self.has_errors() {
            return false;
        }
        self.add(&Error { code: 1 << 23 | 1, file: None, line: 0, function: None, data: CString::default() });
        let is_seen = once::was_called();
        self.next();
        is_seen
    }

    /// Takes the first error.
    fn next(self) -> Option<Error> {
        let (mut file, mut function, mut data) = (None, None, null());
        let (mut line, mut flags) = (0, 0);
        let code = (self.take)(&mut file, &mut line, &mut function, &mut data, &mut flags);
        if code == 0 {
            return None;
        }
        // SAFETY: null, or a terminated text, which belongs to the queue until the next call, and is copied.
        let data = unsafe { Text::from_raw(data) }.map_or(CString::default(), |data| data.get().to_owned());
        Some(Error { code, file, line, function, data })
    }

    /// Adds an error, as `ERR_raise_data` does.
    fn add(self, error: &Error) {
        const SYSTEM: c_ulong = 0x8000_0000;
        let (library, reason) = if error.code & SYSTEM != 0 {
            (2, error.code & (SYSTEM - 1)) // ERR_LIB_SYS
        } else {
            (error.code >> 23 & 0xff, error.code & 0x7f_ffff)
        };
        let format = if error.data.is_empty() { null() } else { c"%s".as_ptr() };
        (self.new)();
        (self.set_debug)(error.file, error.line, error.function);
        // SAFETY: the format takes one text.
        unsafe { (self.set_error)(library as c_int, reason as c_int, format, error.data.as_ptr()) };
    }
}
