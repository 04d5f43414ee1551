//! Announces the running stack to AddressSanitizer, in a build for it (`--cfg asan`, see `tests/asan`), which knows the
//! thread's own stack only: frames on others that are left without returning would be reported as errors.

use crate::stack::stacks::Stack;
use core::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

unsafe extern "C" {
    fn __sanitizer_start_switch_fiber(left: *mut *mut c_void, bottom: *const c_void, size: usize);
    fn __sanitizer_finish_switch_fiber(left: *mut c_void, bottom: *mut *const c_void, size: *mut usize);
    fn __asan_unpoison_memory_region(from: *const c_void, size: usize);
}

/// The bounds of main's stack, as returned at the first switch away from it.
static MAIN: (AtomicPtr<c_void>, AtomicUsize) = (AtomicPtr::new(null_mut()), AtomicUsize::new(0));

/// Announces a switch to the stack `to`. Returns the argument for [`arrive`] when this stack is resumed.
pub fn leave(to: &Stack) -> *mut c_void {
    let mut left = null_mut();
    let (bottom, size) = match to.low.is_null() {
        true => (MAIN.0.load(Ordering::Relaxed).cast_const(), MAIN.1.load(Ordering::Relaxed)),
        false => (to.low.cast_const().cast(), to.upper_end().addr() - to.low.addr()),
    };
    // SAFETY: the bounds of the stack that is switched to.
    unsafe { __sanitizer_start_switch_fiber(&mut left, bottom, size) };
    left
}

/// Completes a switch, on the stack that runs now; `left` is null on one that has just begun.
pub fn arrive(left: *mut c_void) {
    let (mut bottom, mut size) = (null(), 0);
    // SAFETY: follows the start of a switch; the places live through the call.
    unsafe { __sanitizer_finish_switch_fiber(left, &mut bottom, &mut size) };
    if MAIN.1.load(Ordering::Relaxed) == 0 {
        MAIN.0.store(bottom.cast_mut(), Ordering::Relaxed);
        MAIN.1.store(size, Ordering::Relaxed);
    }
}

/// Removes the marks on the upper part of a stack that is reused, whose frames were left without returning.
pub fn begin(on: &Stack) {
    const UPPER: usize = 64 << 10;
    let size = UPPER.min(on.upper_end().addr() - on.low.addr());
    // SAFETY: the upper part of a stack that no coroutine uses.
    unsafe { __asan_unpoison_memory_region(on.upper_end().wrapping_sub(size).cast(), size) };
}
