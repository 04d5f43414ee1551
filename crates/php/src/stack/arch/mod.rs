//! The switch of C stacks, and other code that depends on the processor. Each processor has a file beside this one,
//! with
//!
//! - `spindle_switch_stack` and `spindle_start_stack`: the switch, and the first code on a stack;
//! - `Frame` and `first_frame`: what the first switch to a stack loads, as if a suspended stack had stored it;
//! - `reset_modes`: the modes of floating-point arithmetic with which a stack begins;
//! - `instruction`, `call_instead`, `prefetch` and `request_of_valgrind`.
//!
//! Switches are symmetric: a suspended stack is resumed by a switch to the stack pointer that was stored for it.

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("Spindle's stack switch exists for x86-64 and aarch64 only");

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
use aarch64 as processor;
#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
use x86_64 as processor;

pub use processor::{call_instead, instruction, prefetch, request_of_valgrind, reset_modes};

use crate::stack::stacks::Stack;

unsafe extern "C" {
    /// Stores the callee-saved registers on the running stack and the stack pointer in `*save`, and continues at `to`.
    fn spindle_switch_stack(save: *mut *mut u8, to: *mut u8);
}

/// Suspends the running stack `from`, and resumes `to`.
///
/// # Safety
/// `from` is the running stack. `to` was suspended by a switch and has not run since, or was prepared by [`prepare`].
/// Nothing borrowed is relied on across the call.
#[inline(always)]
pub unsafe fn switch(from: &Stack, to: &Stack) {
    #[cfg(asan)]
    let left = crate::stack::asan::leave(to);
    // SAFETY: the caller's promise.
    unsafe { spindle_switch_stack(from.sp.as_ptr(), to.sp.get()) };
    #[cfg(asan)]
    crate::stack::asan::arrive(left);
}

/// Makes the first switch to a stack call `entry` with the stack's upper end, where `stack` is. `entry` must not
/// return.
///
/// # Safety
/// No coroutine runs on the stack, which is not main's.
#[inline(always)]
pub unsafe fn prepare(stack: &Stack, entry: extern "C" fn(*mut u8) -> !) {
    let top = stack.upper_end();
    let frame = processor::first_frame(entry, top);
    let sp: *mut processor::Frame = top.wrapping_sub(size_of_val(&frame)).cast();
    // SAFETY: the caller's promise: below its upper end, which is aligned, the stack is free.
    unsafe { sp.write(frame) };
    stack.sp.set(sp.cast());
}
