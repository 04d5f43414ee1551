//! The switch of C stacks: all callee-saved registers and the floating-point control words, then the stack
//! pointer. Symmetric: whoever is left is resumed by a switch to what was stored for it.
//!
//! ```text
//!   stack that was left          a stack that has not run yet
//!   ┌──────────────────┐ high    ┌──────────────────┐
//!   │ return address   │         │ 0                │ ends every unwind
//!   │ rbp              │         │ start thunk      │
//!   │ rbx r12 .. r15   │         │ rbp=0, rbx=arg,  │
//!   │ mxcsr, x87 word  │ ◄─ sp   │ r12=entry, …     │ ◄─ sp
//!   └──────────────────┘         └──────────────────┘
//! ```

#[cfg(not(target_arch = "x86_64"))]
compile_error!("Spindle's stack switch exists for x86-64 only so far");

use crate::stack::stacks::Stack;
use core::arch::global_asm;

global_asm!(
    ".text",
    ".hidden spindle_switch_stack",
    ".globl spindle_switch_stack",
    ".type spindle_switch_stack,@function",
    ".p2align 4",
    "spindle_switch_stack:",
    ".cfi_startproc",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr [rsp]",
    "fnstcw [rsp + 4]",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    "ldmxcsr [rsp]",
    "fldcw [rsp + 4]",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    // Not `ret`: the return predictor remembers the stack that was left.
    "pop rcx",
    "jmp rcx",
    ".cfi_endproc",
    ".size spindle_switch_stack, .-spindle_switch_stack",
    ".hidden spindle_start_stack",
    ".globl spindle_start_stack",
    ".type spindle_start_stack,@function",
    ".p2align 4",
    "spindle_start_stack:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "mov rdi, rbx",
    "call r12",
    "ud2",
    ".cfi_endproc",
    ".size spindle_start_stack, .-spindle_start_stack",
);

unsafe extern "C" {
    fn spindle_switch_stack(save: *mut *mut u8, to: *mut u8);
    fn spindle_start_stack();
}

/// Leaves the running stack, storing where it stands in `*save`, and goes on where `to` was left.
///
/// # Safety
/// The stack pointer of `to` was stored by a switch that left its stack (and not used since), or made by [`prepare`].
/// Nothing borrowed is relied on across the call.
#[inline(always)]
pub unsafe fn switch(save: *mut *mut u8, to: *mut Stack) {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(asan)]
        let left = crate::stack::asan::leave(to);
        spindle_switch_stack(save, (*to).sp);
        #[cfg(asan)]
        crate::stack::asan::arrive(left);
    }
}

/// Makes a stack whose first switch calls `entry(argument)`, which must not return.
///
/// # Safety
/// `top` is 16-aligned and ends at least 128 writable bytes that nobody uses.
pub unsafe fn prepare(top: *mut u8, entry: extern "C" fn(*mut u8) -> !, argument: *mut u8) -> *mut u8 {
    let control: u64 = 0x1f80 | 0x037f << 32; // the ABI's initial mxcsr and x87 control word
    let frame: [u64; 10] = [
        control,
        0,                         // r15
        0,                         // r14
        0,                         // r13
        entry as *const () as u64, // r12
        argument as u64,           // rbx
        0,                         // rbp
        spindle_start_stack as *const () as u64,
        0, // the return address of the thunk: none
        0,
    ];
    // SAFETY: the frame's 80 bytes lie below `top`, which the caller owns. After the pops rsp is `top` - 16, and
    // the thunk's call leaves it 8 off a multiple of 16, as the ABI wants at a function's entry.
    unsafe {
        let sp = top.sub(size_of_val(&frame));
        sp.cast::<[u64; 10]>().write(frame);
        sp
    }
}
