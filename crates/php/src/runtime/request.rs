//! The request: whether one runs on this thread, its number, and whether its script has ended. Recorded even before there is a
//! runtime.

use spindle_interpose::host;
use spindle_php_sys as sys;
use spindle_zend::{PhpStatic, globals};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Request {
    /// The script's own code has ended. `core`'s `Lifecycle` decides what its coroutines do then.
    script_ended: Cell<bool>,
    /// The number of requests that have begun.
    number: Cell<u64>,
}

static REQUEST: PhpStatic<Request> = PhpStatic::new(Request { script_ended: Cell::new(false), number: Cell::new(0) });

/// The thread pointer of the thread that runs a request; 0 if none does.
static THREAD: AtomicUsize = AtomicUsize::new(0);

/// Begins a request.
pub fn begin() {
    REQUEST.script_ended.set(false);
    REQUEST.number.set(REQUEST.number.get() + 1);
    THREAD.store(host::thread_pointer(), Ordering::Relaxed);
}

/// Ends the request, after all its objects were freed.
pub fn end() {
    THREAD.store(0, Ordering::Relaxed);
}

/// Returns `true` on the PHP thread while a request runs, until all its objects were freed.
pub fn is_in_request() -> bool {
    THREAD.load(Ordering::Relaxed) == host::thread_pointer()
}

/// Panics outside of a request, and on other threads.
pub fn check_place() {
    assert!(is_in_request(), "coroutines are used outside of a request, or on another thread than PHP's");
}

/// Returns the number of the request.
pub fn number() -> u64 {
    REQUEST.number.get()
}

/// Returns `true` if the script's own code has ended.
pub fn has_script_ended() -> bool {
    REQUEST.script_ended.get()
}

/// Records that the script's own code has ended.
pub fn script_ends() {
    REQUEST.script_ended.set(true);
}

/// Returns `true` if the script's own code has ended, or the engine shuts down: only shutdown functions and destructors follow.
pub fn is_winding_down() -> bool {
    has_script_ended() || globals::executor(|eg| u32::from(eg.flags) & sys::EG_FLAGS_IN_SHUTDOWN != 0)
}
