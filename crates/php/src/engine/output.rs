//! What a SAPI does with its client, it does in one piece.
//!
//! SAPIs keep what is on its way to the client in buffers of their own, and return to them after a write that waits: were
//! their coroutine left there, the output of others would be lost in them, or come in the middle. So where the client is
//! slow, all coroutines wait. The command line writes without a buffer, to pipes and terminals: there only the one waits that
//! writes, unless it writes a buffer that is everybody's (`output_buffering`).

use crate::runtime::{scheduler, suspension};
use spindle_php_sys as sys;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};

type Write = unsafe extern "C" fn(*const c_char, usize) -> usize;
type Flush = unsafe extern "C" fn(*mut c_void);
type SendHeaders = unsafe extern "C" fn(*mut sys::sapi_headers_struct) -> c_int;
type Read = unsafe extern "C" fn(*mut c_char, usize) -> usize;

struct Originals {
    write: Cell<Option<Write>>,
    flush: Cell<Option<Flush>>,
    send_headers: Cell<Option<SendHeaders>>,
    read: Cell<Option<Read>>,
}

// SAFETY: used on the PHP thread only.
unsafe impl Sync for Originals {}
static ORIGINALS: Originals =
    Originals { write: Cell::new(None), flush: Cell::new(None), send_headers: Cell::new(None), read: Cell::new(None) };

/// Wraps the SAPI's functions. At the first `spawn` of a request.
pub fn install() {
    let sapi = &raw mut sys::sapi_module;
    // SAFETY: a structure of the engine, on its thread; the originals are kept and called. What is wrapped already, or is
    // not there, stays.
    unsafe {
        if let Some(original) = (*sapi).ub_write.filter(|f| *f as usize != write as *const () as usize) {
            ORIGINALS.write.set(Some(original));
            (*sapi).ub_write = Some(write);
        }
        if let Some(original) = (*sapi).flush.filter(|f| *f as usize != flush as *const () as usize) {
            ORIGINALS.flush.set(Some(original));
            (*sapi).flush = Some(flush);
        }
        if let Some(original) = (*sapi).send_headers.filter(|f| *f as usize != send_headers as *const () as usize) {
            ORIGINALS.send_headers.set(Some(original));
            (*sapi).send_headers = Some(send_headers);
        }
        if let Some(original) = (*sapi).read_post.filter(|f| *f as usize != read as *const () as usize) {
            ORIGINALS.read.set(Some(original));
            (*sapi).read_post = Some(read);
        }
    }
}

/// Puts the originals back, at module shutdown, where ours still stand.
pub fn remove() {
    let sapi = &raw mut sys::sapi_module;
    // SAFETY: as `install`.
    unsafe {
        if (*sapi).ub_write.is_some_and(|f| f as usize == write as *const () as usize) {
            (*sapi).ub_write = ORIGINALS.write.get();
        }
        if (*sapi).flush.is_some_and(|f| f as usize == flush as *const () as usize) {
            (*sapi).flush = ORIGINALS.flush.get();
        }
        if (*sapi).send_headers.is_some_and(|f| f as usize == send_headers as *const () as usize) {
            (*sapi).send_headers = ORIGINALS.send_headers.get();
        }
        if (*sapi).read_post.is_some_and(|f| f as usize == read as *const () as usize) {
            (*sapi).read_post = ORIGINALS.read.get();
        }
    }
}

/// Runs `what` in one piece, if there is anybody who could come in between.
fn in_one_piece<R>(what: impl FnOnce() -> R) -> R {
    // SAFETY: the name is a terminated text; asks what the request has begun with.
    let alone = unsafe { CStr::from_ptr(sys::sapi_module.name) == c"cli" && !sys::spindle_output_is_shared() };
    if alone || scheduler::existing().is_none() { what() } else { suspension::without_switch(what) }
}

unsafe extern "C" fn write(text: *const c_char, length: usize) -> usize {
    // SAFETY: the engine's own arguments, passed on.
    ORIGINALS.write.get().map_or(0, |original| in_one_piece(|| unsafe { original(text, length) }))
}

unsafe extern "C" fn flush(context: *mut c_void) {
    if let Some(original) = ORIGINALS.flush.get() {
        // SAFETY: as above.
        in_one_piece(|| unsafe { original(context) });
    }
}

unsafe extern "C" fn send_headers(headers: *mut sys::sapi_headers_struct) -> c_int {
    const FAILED: c_int = sys::SAPI_HEADER_SEND_FAILED as c_int;
    // SAFETY: as above.
    ORIGINALS.send_headers.get().map_or(FAILED, |original| in_one_piece(|| unsafe { original(headers) }))
}

unsafe extern "C" fn read(buffer: *mut c_char, length: usize) -> usize {
    // SAFETY: as above.
    ORIGINALS.read.get().map_or(0, |original| in_one_piece(|| unsafe { original(buffer, length) }))
}
