//! Native PHP requests in coroutines: what the engine keeps for the one request of a process (superglobals, headers, the body,
//! output, the session, functions for the end) can belong to some coroutines instead. It is exchanged at a switch to a coroutine of
//! another request; between coroutines of one request, or of none, a switch only compares two pointers.

use super::instance::Instance;
use crate::c;
use spindle_php_sys as sys;
use spindle_zend::{Frame, Object, PhpStatic, Str, Text, Value, engine, engine::VmStack, exception};
use std::any::Any;
use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::ptr::{NonNull, null, null_mut};
use std::rc::{Rc, Weak};

/// Takes the output of a request and supplies its body, as a SAPI does for PHP. Its functions run on the stack of a coroutine of
/// the request, and may wait. An exception that they leave is thrown in PHP code.
pub trait Client {
    /// Takes output.
    fn write(&self, bytes: &[u8]);
    /// Passes on what has been written.
    fn flush(&self);
    /// Takes the status and the lines of the headers. The body follows.
    fn send_headers(&self, status: i32, lines: &[Vec<u8>]);
    /// Reads from the body of the request. Fills the buffer, unless the body ends before. Returns the number of bytes.
    fn read(&self, buffer: &mut [u8]) -> usize;
    /// Called when PHP code exits in a coroutine other than the one that handles the request.
    fn exits(&self);
    /// Called when a fatal error has ended a coroutine other than that one.
    fn dies(&self);
    /// Returns this.
    fn as_any(&self) -> &dyn Any;
}

/// A native PHP request. Its coroutines hold it, and with the last one its values are released.
pub struct Sapi {
    state: NonNull<sys::spindle_sapi>,
    client: Box<dyn Client>,
    instance: Option<Instance>,
    /// That of the boot of the instance.
    _base: Option<Rc<Sapi>>,
    is_released: Cell<bool>,
}

/// The request whose state the engine has; null for the process's own.
static LIVE: PhpStatic<Cell<*const Sapi>> = PhpStatic::new(Cell::new(null()));

/// The head of a request. Each text ends at the first zero, and there is one.
pub struct Head<'a> {
    /// Its method.
    pub method: &'a [u8],
    /// Its target: path and query.
    pub uri: &'a [u8],
    /// Its query.
    pub query: &'a [u8],
    /// The type of its body.
    pub content_type: Option<&'a [u8]>,
    /// The length of its body, if that is known.
    pub content_length: Option<i64>,
    /// Its cookies.
    pub cookies: Option<&'a [u8]>,
    /// Its credentials.
    pub authorization: Option<&'a [u8]>,
    /// Whether it was made with HTTP/1.0.
    pub is_http_10: bool,
}

/// Returns the request of the running coroutine, if it has one of its own.
#[inline(always)]
pub fn live() -> Option<&'static Sapi> {
    // SAFETY: null, or a request that its coroutine holds. Its last holder leaves it before (`Drop`).
    unsafe { LIVE.get().as_ref() }
}

/// Returns a pointer to the request of the running coroutine; null if it has none of its own.
#[inline(always)]
pub fn live_pointer() -> *const Sapi {
    LIVE.get()
}

/// Returns the request of the running coroutine, to be held by another one.
#[cold]
pub(super) fn share_live() -> Option<Rc<Sapi>> {
    let live = LIVE.get();
    if live.is_null() {
        return None;
    }
    // SAFETY: it is in an `Rc`, which the running coroutine holds.
    unsafe { Rc::increment_strong_count(live) };
    // SAFETY: the count that was just added.
    Some(unsafe { Rc::from_raw(live) })
}

/// Makes the request with this pointer that of the running coroutine.
#[inline(always)]
pub(super) fn enter(to: *const Sapi) {
    if LIVE.get() != to {
        exchange(to, false);
    }
}

#[cold]
#[inline(never)]
fn exchange(to: *const Sapi, is_released: bool) {
    // SAFETY: null, or requests that are held by the coroutine that ran and the one that will run.
    let state = |of: *const Sapi| unsafe { of.as_ref() }.map_or(null_mut(), |of| of.state.as_ptr());
    let (from, next) = (state(LIVE.get()), state(to));
    // SAFETY: the state that the engine has, and one that was put aside, or is new.
    unsafe { sys::spindle_sapi_switch(from, next, is_released) };
    LIVE.set(to);
}

/// Prepares the process for requests. The static properties that `async.request_statics` lists are each request's own then.
///
/// # Errors
/// The list is malformed, or there is no such property. An exception may be in flight. Or this PHP's ext/session is unknown.
pub fn prepare() -> Result<(), String> {
    if !c::spindle_sapi_prepare() {
        return Err("this PHP's ext/session is not the one that Spindle was built for: build Spindle with this PHP's php-config".to_owned());
    }
    let list = engine::setting(c"async.request_statics");
    for name in list.split([',', ' ', '\n', '\t']).filter(|name| !name.is_empty()) {
        // Shells expand what begins with a `$`.
        let Some((class, property)) = name.split_once("::$").or_else(|| name.split_once("::")) else {
            return Err(format!("async.request_statics: \"{name}\" is not of the form Class::$property"));
        };
        if !c::spindle_sapi_add_static(&Str::new(class.trim_start_matches('\\')), &Str::new(property)) {
            return Err(format!("async.request_statics: there is no static property {name}"));
        }
    }
    Ok(())
}

/// Forgets these properties. To be called when no native PHP request exists any more.
pub fn forget_statics() {
    c::spindle_sapi_forget_statics();
}

/// Removes the uploaded files of requests that will not end any more. At the end of PHP's request.
pub fn abandon() {
    c::spindle_sapi_abandon();
}

impl Sapi {
    /// Returns a request that has not begun. Its code is that of an instance of an application, or of the script. It begins with the
    /// handlers and variables that the request `base` has when it ends: the boot of the instance; or with those of the process.
    pub fn new(
        instance: Option<Instance>,
        base: Option<Rc<Sapi>>,
        client: impl FnOnce(&Weak<Sapi>) -> Box<dyn Client>,
    ) -> Rc<Sapi> {
        let of_instance = instance.map_or(null_mut(), Instance::as_raw);
        let of_base = base.as_ref().map_or(null_mut(), |base| base.state.as_ptr());
        Rc::new_cyclic(|this| {
            // SAFETY: null or an instance, and null or a request that this one holds.
            let state = unsafe { sys::spindle_sapi_new(of_instance, of_base) };
            let state = NonNull::new(state).expect("memory for a request");
            Sapi { state, client: client(this), instance, _base: base, is_released: Cell::new(false) }
        })
    }

    /// Returns the instance to which it belongs; `None` for the script's.
    pub fn instance(&self) -> Option<Instance> {
        self.instance
    }

    /// Returns the client, which takes the output.
    pub fn client(&self) -> &dyn Client {
        &*self.client
    }

    /// Begins the request, which is that of the running coroutine. Reads a form from its body, if there is one. The texts are used
    /// until [`end::forget_client`]. `buffer` is the size of the output buffer: 0 for none.
    ///
    /// # Safety
    /// The texts stay until [`end::forget_client`] was called.
    pub unsafe fn begin(&self, head: &Head<'_>, server: &Value, buffer: i64) {
        assert!(std::ptr::eq(self, LIVE.get()), "a request begins in its own coroutine");
        let text = |text: Option<&[u8]>| -> *const c_char {
            text.map_or(null(), |text| {
                assert_eq!(text.last(), Some(&0), "a text has an end");
                text.as_ptr().cast()
            })
        };
        let head = sys::spindle_sapi_head {
            method: text(Some(head.method)),
            uri: text(Some(head.uri)),
            query: text(Some(head.query)),
            content_type: text(head.content_type),
            cookies: text(head.cookies),
            authorization: text(head.authorization),
            content_length: head.content_length.unwrap_or(-1),
            protocol: if head.is_http_10 { 1000 } else { 1001 },
        };
        // SAFETY: the state of the engine is this request's, and the texts stay.
        unsafe { sys::spindle_sapi_begin(&raw const head, server.as_raw().cast_mut(), buffer) };
    }

    /// Begins the request, which is that of the running coroutine, for the boot of an instance: no client has sent it, and its variables
    /// are those of the process.
    pub fn begin_boot(&self) {
        assert!(std::ptr::eq(self, LIVE.get()), "a request begins in its own coroutine");
        let head = sys::spindle_sapi_head {
            method: null(),
            uri: null(),
            query: null(),
            content_type: null(),
            cookies: null(),
            authorization: null(),
            content_length: 0,
            protocol: 1001,
        };
        // SAFETY: the state of the engine is this request's.
        unsafe { sys::spindle_sapi_begin(&raw const head, null_mut(), 0) };
    }

    /// Records that the client is gone.
    pub fn is_aborted(&self) {
        let is_live = std::ptr::eq(self, LIVE.get());
        let aside = if is_live { null_mut() } else { self.state.as_ptr() };
        // SAFETY: a state that was put aside, or none.
        unsafe { sys::spindle_sapi_aborted(aside) };
    }

    /// Releases the values that it still has, if this is its last holder. They may run PHP code.
    pub(crate) fn release(self: &Rc<Self>) {
        if Rc::strong_count(self) == 1 && std::ptr::eq(&raw const **self, LIVE.get()) && !self.is_released.replace(true)
        {
            c::spindle_sapi_release();
        }
    }
}

impl Drop for Sapi {
    fn drop(&mut self) {
        if std::ptr::eq(self, LIVE.get()) {
            exchange(null(), self.is_released.get());
        }
        // SAFETY: made by `spindle_sapi_new`, and no longer the engine's state.
        unsafe { sys::spindle_sapi_free(self.state.as_ptr()) };
    }
}

/// The step functions of a request's end, for the running one, in this order. Each may run PHP code.
pub mod end {
    use super::*;

    /// Ends the boot of an instance, which is this one: requests of the instance may begin.
    pub fn boot() {
        c::spindle_sapi_end_buffers();
        c::spindle_sapi_boot_ended();
    }

    /// Calls its shutdown functions.
    pub fn call_shutdown_functions() {
        c::spindle_sapi_call_shutdown_functions();
    }

    /// Writes and closes its session.
    pub fn close_session() {
        c::spindle_sapi_close_session();
    }

    /// Ends its output buffers.
    pub fn end_buffers() {
        c::spindle_sapi_end_buffers();
    }

    /// Sends its headers. Output that follows is dropped.
    pub fn end_output() {
        c::spindle_sapi_end_output();
    }

    /// Releases its values. No other code of it runs any more.
    pub fn release() {
        if let Some(request) = live()
            && !request.is_released.replace(true)
        {
            c::spindle_sapi_release();
        }
    }

    /// Frees what it has had from its client.
    pub fn forget_client() {
        c::spindle_sapi_end();
    }
}

/// Sets the status of the running request, unless its headers were sent.
pub fn set_status(status: i32) -> bool {
    c::spindle_sapi_set_status(status)
}

/// Sends the headers of the running request, unless that was done.
pub fn send_headers() {
    c::spindle_sapi_send_headers();
}

/// Notes that the output of the running request goes nowhere. Returns `true` if its script is to end then.
pub fn output_failed() -> bool {
    c::spindle_sapi_output_failed()
}

/// Returns the status and the lines of the headers of the running request.
pub fn headers() -> (i32, Vec<Vec<u8>>) {
    extern "C" fn add(lines: &mut Vec<Vec<u8>>, text: *const c_char, length: usize) {
        // SAFETY: a text of this length, which is not null.
        lines.push(unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) }.to_vec());
    }
    let mut lines = Vec::new();
    c::spindle_sapi_each_header(add, &mut lines);
    (c::spindle_sapi_status(), lines)
}

/// Returns the status line that code of the running request has set, if it has.
pub fn status_line() -> Option<Vec<u8>> {
    // SAFETY: null, or a terminated text of the running request.
    unsafe { Text::from_raw(c::spindle_sapi_status_line()) }.map(|line| line.get().to_bytes().to_vec())
}

/// Returns `$_SERVER` as the running request has begun with it.
pub fn server_variables() -> Value {
    let mut all = Value::NULL;
    c::spindle_sapi_server(&mut all);
    all
}

/// Returns a text of the process's own `$_SERVER`; null if it has none. To be called while no request runs.
pub fn process_server_text(name: &CStr) -> Value {
    let mut text = Value::NULL;
    c::spindle_sapi_server_text(Text::of(name), &mut text);
    text
}

/// The running request ends. If this is the child of the process to which it belongs, there is nothing left to do: the process ends with
/// the status of the request.
pub fn ends_in_child() {
    let status = c::spindle_sapi_exit_status();
    if status != 0 && c::spindle_sapi_is_in_child() {
        c::spindle_sapi_set_own_exit_status(status);
    }
}

/// If this is the child of the process to which the running request belongs, it ends as after an exception that no code has caught.
pub fn fails_in_child() {
    if c::spindle_sapi_is_in_child() {
        c::spindle_sapi_set_own_exit_status(255);
    }
}

/// Returns the handler that `set_exception_handler()` has set in the running request; null if there is none.
pub fn exception_handler() -> Value {
    let mut handler = Value::NULL;
    c::spindle_sapi_exception_handler(&mut handler);
    handler
}

/// Reports an exception as PHP does one that no code has caught.
pub fn report_uncaught(exception: &Object) {
    c::spindle_sapi_uncaught(exception);
}

/// Sets whether fatal errors in coroutines of such requests end these alone.
pub fn watch_errors(watch: bool, is_php_alone: extern "C" fn() -> bool) {
    extern "C" fn is_survived() -> bool {
        !LIVE.get().is_null()
    }
    if watch {
        c::spindle_sapi_watch_errors(is_survived, is_php_alone);
    } else {
        c::spindle_sapi_watch_no_errors();
    }
}

/// Calls `body`. Returns `false` if a fatal error has ended it: memory was lost then, and locks may be held for ever, so that the
/// process should end soon. The engine's marks on code that was running are removed.
pub fn guarded(body: impl FnOnce()) -> bool {
    let (frame, stack) = (Frame::current(), VmStack::current());
    // Some builds of PHP end code that has used up its memory by an exit, after a bailout that they have caught.
    let sound = engine::guarded(body) && !engine::has_bailed_out();
    if !sound {
        let frame = frame.map_or(null_mut(), Frame::as_raw);
        // SAFETY: they were current before, on this stack, and what has run since was left by a bailout.
        unsafe { sys::spindle_sapi_survive(frame, stack.as_raw()) };
        drop(exception::take());
    }
    sound
}
