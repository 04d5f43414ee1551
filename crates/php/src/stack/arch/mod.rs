//! The switch of C stacks, and what else depends on the processor. A processor is a file beside this one, with
//!
//! - `spindle_switch_stack` and `spindle_start_stack`: the switch, and what a stack begins with;
//! - `Frame` and `first_frame`, which the first switch to a stack takes for what one that was left has stored;
//! - `instruction`, `call_instead` and `prefetch`.
//!
//! Symmetric: a stack that is left goes on by a switch to what was stored for it.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("Spindle's stack switch exists for x86-64 only so far");

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
use x86_64 as processor;

pub use processor::{call_instead, instruction, prefetch};

use crate::stack::stacks::Stack;

unsafe extern "C" {
    /// Stores the callee-saved registers on the running stack and the stack pointer in `*save`, and goes on at `to`.
    fn spindle_switch_stack(save: *mut *mut u8, to: *mut u8);
}

/// Leaves the running stack, and goes on where `to` was left.
///
/// # Safety
/// `from` is the running stack. `to` was left by a switch and has not run since, or was made by [`prepare`]. Nothing borrowed
/// is relied on across the call.
#[inline(always)]
pub unsafe fn switch(from: &Stack, to: &Stack) {
    #[cfg(asan)]
    let left = crate::stack::asan::leave(to);
    // SAFETY: the caller's promise.
    unsafe { spindle_switch_stack(from.sp.as_ptr(), to.sp.get()) };
    #[cfg(asan)]
    crate::stack::asan::arrive(left);
}

/// Makes the first switch to a stack call `entry` with the stack's upper end, which is where `stack` lies. It must not return.
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
