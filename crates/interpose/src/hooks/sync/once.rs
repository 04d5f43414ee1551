//! `pthread_once` and C11's `call_once`. `std::call_once` of C++ calls the first.
//!
//! A caller that finds the routine running waits for it in libc. A coroutine of the thread that runs it would wait forever.
//! So while the routine runs, its coroutine holds a lock of the control's address (see `mutex`), and other coroutines
//! wait for that lock before they call libc. A routine that another *thread* runs is waited for in place.
//!
//! The routine of C++ may throw. Then libc resets the control, the exception passes through the frames here, and the
//! next coroutine that waits runs it.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::mutex::{held_by_another, hold, holds_any, release, wait_until_free};
use crate::host::php_thread_host;
use crate::php_cell::PhpCell;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use libc::{c_int, c_void, pthread_once_t};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const ONCE: Behavior = Behavior {
        wait: WaitKind::Queue,
        summary: "parks while another coroutine runs the routine; waits for another thread in place",
        on_cancel: on_cancel::NONE,
    };
    hooked_calls![
        c"pthread_once" => pthread_once, ONCE;
        c"__pthread_once" => pthread_once, ONCE;
        c"call_once" => call_once, ONCE;
    ]
}

/// Set by each call, on any thread.
static WAS_CALLED: AtomicBool = AtomicBool::new(true);

/// Returns `true` if a loaded object may have called `pthread_once` on this thread since [`forget_calls`].
#[inline(always)]
pub fn was_called() -> bool {
    WAS_CALLED.load(Ordering::Relaxed)
}

/// Forgets the calls up to now.
pub fn forget_calls() {
    WAS_CALLED.store(false, Ordering::Relaxed);
}

type Routine = extern "C-unwind" fn();

unsafe extern "C-unwind" {
    #[link_name = "pthread_once"]
    fn libc_once(control: *mut pthread_once_t, routine: Routine) -> c_int;
}

extern "C-unwind" fn none() {}

/// The control and the routine of the latest call. libc calls [`run`] without arguments, before anything else runs on this
/// thread, or not at all.
static LATEST: PhpCell<(usize, Routine)> = PhpCell::new((0, none));

/// The lock of a routine that runs. It is released at the routine's return and by an exception. If the coroutine never
/// comes back here (a bailout), the lock is forgotten with the coroutine.
struct Running(usize);

impl Drop for Running {
    fn drop(&mut self) {
        release(self.0, || 0);
    }
}

extern "C-unwind" fn run() {
    // It is called on the PHP thread, by libc below `pthread_once`. A panic must not pass through libc.
    let Some(here) = php_thread_host() else { std::process::abort() };
    let (control, routine) = LATEST.with(here, |latest| *latest);
    hold(here, control);
    let _running = Running(control);
    routine();
}

/// The variables of the thread in which `std::call_once` leaves its callable for the routine that it passes. Other
/// coroutines call it meanwhile.
struct CppCall([(*mut *mut c_void, *mut c_void); 2]);

impl CppCall {
    /// Reads them from the library of the routine. C++ libraries other than GNU's have none.
    fn save(routine: Routine) -> CppCall {
        // SAFETY: plain data, filled by the call below.
        let mut object: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: an address, and a place of ours.
        let known = unsafe { libc::dladdr(routine as *const c_void, &mut object) } != 0;
        let library = if known {
            // SAFETY: the name of a loaded object.
            unsafe { libc::dlopen(object.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
        } else {
            std::ptr::null_mut()
        };
        let value_of = |name: &CStr| {
            if library.is_null() {
                return (std::ptr::null_mut(), std::ptr::null_mut());
            }
            // SAFETY: an open library and a literal.
            let variable: *mut *mut c_void = unsafe { libc::dlsym(library, name.as_ptr()) }.cast();
            // SAFETY: a variable of this name holds a pointer, and is this thread's.
            (variable, unsafe { variable.as_ref() }.copied().unwrap_or(std::ptr::null_mut()))
        };
        let call = CppCall([value_of(c"_ZSt15__once_callable"), value_of(c"_ZSt11__once_call")]);
        if !library.is_null() {
            // SAFETY: opened above. The caller's use of the routine keeps it loaded.
            unsafe { libc::dlclose(library) };
        }
        call
    }

    fn restore(self) {
        for (variable, value) in self.0 {
            if !variable.is_null() {
                // SAFETY: see `save`.
                unsafe { variable.write(value) };
            }
        }
    }
}

/// `pthread_once(3)`.
pub unsafe extern "C-unwind" fn pthread_once(control: *mut pthread_once_t, routine: Routine) -> c_int {
    WAS_CALLED.store(true, Ordering::Relaxed);
    let Some(here) = php_thread_host() else {
        // SAFETY: the caller's own.
        return unsafe { libc_once(control, routine) };
    };
    if holds_any() && held_by_another(here, control.addr()) {
        let call = CppCall::save(routine);
        wait_until_free(control.addr(), "pthread_once");
        call.restore();
    }
    LATEST.with(here, |latest| *latest = (control.addr(), routine));
    // SAFETY: the caller's own control; `run` calls the caller's routine.
    unsafe { libc_once(control, run) }
}

/// `call_once(3)`.
pub unsafe extern "C-unwind" fn call_once(control: *mut pthread_once_t, routine: Routine) {
    // SAFETY: the caller's own; in the C library both are the same object.
    unsafe { pthread_once(control, routine) };
}
