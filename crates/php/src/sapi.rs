//! Native PHP requests, which some coroutines have in place of that of the process: their superglobals, headers, output, sessions
//! and functions for the end. For a [part](crate::Part) that is a server: it makes one for each request, and spawns a coroutine
//! with it ([`Scope::spawn_in_request`]).
//!
//! [`Scope::spawn_in_request`]: crate::coroutine::Scope::spawn_in_request

use crate::c;
use crate::engine::output;
use crate::handles::trampolines;
pub use crate::isolation::instance::{self, Instance, Seed};
use crate::isolation::sapi;
pub use crate::isolation::sapi::{
    Client, Head, Sapi, abandon, end, ends_in_child, fails_in_child, forget_statics, live, output_failed,
    process_server_text, report_uncaught, send_headers, server_variables, set_status, status_line,
};
use crate::observe::slices;
use crate::runtime::{gate, report, scheduler};
use spindle_php_sys as sys;
use spindle_zend::{Frame, Object, PhpStatic, Str, engine};
use std::cell::Cell;
use std::ffi::{CString, c_int};

/// Prepares the process for such requests. To be called in the coroutine of the script, when there is no such request.
///
/// # Errors
/// The setting `async.request_statics` names something that does not exist. An exception may be in flight.
pub fn prepare() -> Result<(), String> {
    sapi::prepare()?;
    output::install_for_requests();
    Ok(())
}

/// Calls the exception handler of the running request, if it has set one, with an exception that no code has caught. Returns `false`
/// if there is none. An exception may be in flight.
pub fn call_exception_handler(exception: &Object) -> bool {
    let handler = sapi::exception_handler();
    if !handler.is_truthy() {
        return false;
    }
    report::hand(scheduler::rt(), exception);
    drop(engine::call(&handler, &mut [exception.into()]));
    true
}

/// Calls `body` in the coroutine that handles a request. A fatal error in it ends only `body`, and this returns `false`: memory was
/// lost then, and state of libraries may be broken, so that the process should end when its other requests are answered.
pub fn survive(body: impl FnOnce()) -> bool {
    let sound = sapi::guarded(body);
    if !sound {
        gate::survived();
        let rt = scheduler::rt();
        trampolines::coroutine_ends(rt, rt.context());
    }
    sound
}

/// Sets whether fatal errors in coroutines of such requests end these alone.
pub fn watch_errors(watch: bool) {
    extern "C" fn is_php_alone() -> bool {
        let asks = |name: &Str| matches!(name.as_bytes(), b"trigger_error" | b"user_error");
        Frame::current().is_some_and(|frame| {
            frame.function().is_some_and(|of| of.internal().is_some() && of.name().is_some_and(asks))
                && frame.caller().is_some_and(slices::is_all_php)
        })
    }
    sapi::watch_errors(watch, is_php_alone);
}

/// Returns `true` if the last fatal error that a request has ended with is one that PHP code has asked for, by `trigger_error()`: it
/// has left no function of C in its middle but that one.
pub fn fatal_error_was_asked_for() -> bool {
    c::spindle_sapi_fatal_was_asked_for()
}

/// Returns `true` if the running coroutine can wait here.
pub fn can_wait() -> bool {
    scheduler::existing().is_some_and(scheduler::Runtime::can_switch)
}

/// Returns further arguments for the script.
type Begins = fn() -> Vec<CString>;

/// What is called before the first request.
static BEGINS: PhpStatic<Cell<Option<Begins>>> = PhpStatic::new(Cell::new(None));

/// Has a function called before the first request of this process starts. All modules have started then, and opcache has, too, but
/// nothing is there of the request. The script gets the arguments that it returns, besides its own. To be called when the module
/// starts, on the command line.
pub fn before_first_request(begins: Begins) {
    BEGINS.set(Some(begins));
    // SAFETY: that of the SAPI, which only this thread uses. It is the first that is called for a request. The command line has none.
    unsafe { sys::sapi_module.activate = Some(activate) };
}

unsafe extern "C" fn activate() -> c_int {
    let globals = &raw mut sys::sapi_globals;
    // SAFETY: of the request that starts, and on PHP's thread.
    let request = unsafe { &mut (*globals).request_info };
    // opcache runs what it preloads in a request without arguments, before all modules have started.
    if !request.argv.is_null()
        && let Some(begins) = BEGINS.take()
    {
        let added = begins();
        let count = usize::try_from(request.argc).unwrap_or(0);
        // SAFETY: as many as the command line has set before.
        let own = unsafe { std::slice::from_raw_parts(request.argv, count) };
        let all: Vec<_> = own.iter().copied().chain(added.into_iter().map(CString::into_raw)).collect();
        request.argc = c_int::try_from(all.len()).unwrap_or(c_int::MAX);
        request.argv = all.leak().as_mut_ptr();
    }
    sys::SUCCESS
}
