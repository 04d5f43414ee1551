//! Output functions of the SAPI, which run without a switch.
//!
//! SAPIs keep output for the client in buffers of their own, and continue with these after a write that waits: if the
//! coroutine were suspended there, the output of others could be lost or inserted in the middle. So all coroutines wait
//! for a slow client. The command line writes without a buffer, to pipes and terminals: there only the writing
//! coroutine is suspended, unless it writes a buffer that all share (`output_buffering`). Writes of others wait until it is done
//! ([`turns`]). PHP takes a write that fails for an abort by the client, and ends the program: so a cancellation is deferred until
//! all is written, also where it makes other calls fail already. Only one by force cuts it.
//!
//! Output of a coroutine that belongs to a native PHP request goes to that request's client.

use crate::engine::no_throw;
use crate::isolation::sapi;
use crate::runtime::{gate, pending_cancel, scheduler};
use spindle_interpose::wait::turns;
use spindle_zend::{
    Hook, engine,
    hooks::{
        Passed, SAPI_FLUSH, SAPI_HEADER_HANDLER, SAPI_READ, SAPI_SEND_HEADERS, SAPI_WRITE, SapiFlush,
        SapiHeaderHandler, SapiRead, SapiSendHeaders, SapiWrite,
    },
    sys,
};
use std::ffi::{c_char, c_int, c_void};

static WRITE_HOOK: Hook<SapiWrite> = Hook::new(&SAPI_WRITE, write);
static FLUSH_HOOK: Hook<SapiFlush> = Hook::new(&SAPI_FLUSH, flush);
static SEND_HEADERS_HOOK: Hook<SapiSendHeaders> = Hook::new(&SAPI_SEND_HEADERS, send_headers);
static HEADER_HANDLER_HOOK: Hook<SapiHeaderHandler> = Hook::new(&SAPI_HEADER_HANDLER, header_handler);
static READ_HOOK: Hook<SapiRead> = Hook::new(&SAPI_READ, read);

/// Hooks the functions that the SAPI has, at the first `spawn` of a request.
///
/// See [`install_for_requests`] for those that native PHP requests need as well.
pub fn install() {
    WRITE_HOOK.wrap();
    FLUSH_HOOK.wrap();
    SEND_HEADERS_HOOK.wrap();
    READ_HOOK.wrap();
}

/// Hooks the functions that a SAPI may lack, such as that of the command line.
pub fn install_for_requests() {
    READ_HOOK.install();
    HEADER_HANDLER_HOOK.install();
}

/// Restores the originals at module shutdown, except where others have replaced the hooks.
pub fn remove() {
    WRITE_HOOK.remove();
    FLUSH_HOOK.remove();
    SEND_HEADERS_HOOK.remove();
    READ_HOOK.remove();
    HEADER_HANDLER_HOOK.remove();
}

/// Runs `what` without a switch, unless it is a write of the command line that does not flush a shared buffer.
fn without_switch_unless_cli<R>(what: impl FnOnce() -> R) -> R {
    let is_unbuffered = engine::sapi_name() == c"cli" && !engine::is_output_shared();
    if is_unbuffered || scheduler::existing().is_none() { what() } else { gate::without_switch(what) }
}

extern "C" fn write(text: Passed<'_, *const c_char>, length: Passed<'_, usize>) -> usize {
    if let Some(request) = sapi::live() {
        request.client().write(text.bytes(length));
        return length.number();
    }
    WRITE_HOOK.original().map_or(0, |original| {
        let write = || turns::in_one_turn(libc::STDOUT_FILENO, || original(text, length));
        without_switch_unless_cli(|| pending_cancel::lifted(|| no_throw::without_cancelled_output(write)))
    })
}

extern "C" fn flush(context: Passed<'_, *mut c_void>) {
    if let Some(request) = sapi::live() {
        request.client().flush();
    } else if let Some(original) = FLUSH_HOOK.original() {
        without_switch_unless_cli(|| original(context));
    }
}

extern "C" fn send_headers(headers: Passed<'_, *mut sys::sapi_headers_struct>) -> c_int {
    const FAILED: c_int = sys::SAPI_HEADER_SEND_FAILED as c_int;
    if let Some(request) = sapi::live() {
        let (status, lines) = sapi::headers();
        request.client().send_headers(status, &lines);
        return sys::SAPI_HEADER_SENT_SUCCESSFULLY as c_int;
    }
    SEND_HEADERS_HOOK.original().map_or(FAILED, |original| without_switch_unless_cli(|| original(headers)))
}

extern "C" fn read(buffer: Passed<'_, *mut c_char>, length: Passed<'_, usize>) -> usize {
    if let Some(request) = sapi::live() {
        return request.client().read(buffer.buffer(length));
    }
    READ_HOOK.original().map_or(0, |original| without_switch_unless_cli(|| original(buffer, length)))
}

extern "C" fn header_handler(
    header: Passed<'_, *mut sys::sapi_header_struct>,
    operation: Passed<'_, sys::sapi_header_op_enum>,
    headers: Passed<'_, *mut sys::sapi_headers_struct>,
) -> c_int {
    match HEADER_HANDLER_HOOK.original() {
        Some(original) if sapi::live().is_none() => original(header, operation, headers),
        _ => sys::SAPI_HEADER_ADD as c_int, // the command line would drop it
    }
}
