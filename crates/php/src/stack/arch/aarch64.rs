//! aarch64: all callee-saved registers and the floating-point control register.
//!
//! ```text
//!   suspended stack              stack that has not run yet
//!   ┌──────────────────┐ high    ┌──────────────────┐
//!   │ fpcr, padding    │         │ 0                │
//!   │ d8 .. d15        │         │ 0                │
//!   │ x29, x30 (return)│         │ 0, start thunk   │
//!   │ x19 .. x28       │ ◄─ sp   │ x19=entry, x20=… │ ◄─ sp
//!   └──────────────────┘         └──────────────────┘
//! ```
//!
//! Both functions may be in code with branch target identification: each begins with a landing pad, and they are left by
//! `ret`, whose target needs none. Return addresses are stored as they are. A function that signs its own with its stack
//! pointer finds the same pointer when it returns, because a stack is resumed where it was suspended.

use core::arch::{asm, global_asm};

global_asm!(
    ".text",
    ".hidden spindle_switch_stack",
    ".globl spindle_switch_stack",
    ".type spindle_switch_stack,@function",
    ".p2align 4",
    "spindle_switch_stack:",
    ".cfi_startproc",
    "hint #34", // bti c
    "sub sp, sp, #176",
    "stp x19, x20, [sp]",
    "stp x21, x22, [sp, #16]",
    "stp x23, x24, [sp, #32]",
    "stp x25, x26, [sp, #48]",
    "stp x27, x28, [sp, #64]",
    "stp x29, x30, [sp, #80]",
    "stp d8, d9, [sp, #96]",
    "stp d10, d11, [sp, #112]",
    "stp d12, d13, [sp, #128]",
    "stp d14, d15, [sp, #144]",
    "mrs x9, fpcr",
    "str x9, [sp, #160]",
    "mov x10, sp",
    "str x10, [x0]",
    "mov sp, x1",
    // Writing the register is slow on some processors.
    "ldr x10, [sp, #160]",
    "cmp x9, x10",
    "b.eq 1f",
    "msr fpcr, x10",
    "1:",
    "ldp x19, x20, [sp]",
    "ldp x21, x22, [sp, #16]",
    "ldp x23, x24, [sp, #32]",
    "ldp x25, x26, [sp, #48]",
    "ldp x27, x28, [sp, #64]",
    "ldp x29, x30, [sp, #80]",
    "ldp d8, d9, [sp, #96]",
    "ldp d10, d11, [sp, #112]",
    "ldp d12, d13, [sp, #128]",
    "ldp d14, d15, [sp, #144]",
    "add sp, sp, #176",
    "ret",
    ".cfi_endproc",
    ".size spindle_switch_stack, .-spindle_switch_stack",
    ".hidden spindle_start_stack",
    ".globl spindle_start_stack",
    ".type spindle_start_stack,@function",
    ".p2align 4",
    "spindle_start_stack:",
    ".cfi_startproc",
    ".cfi_undefined x30",
    "hint #36", // bti j
    "mov x0, x20",
    "blr x19",
    "brk #1",
    ".cfi_endproc",
    ".size spindle_start_stack, .-spindle_start_stack",
);

unsafe extern "C" {
    fn spindle_start_stack();
}

/// Gives the floating-point unit the modes with which a stack begins.
#[inline(always)]
pub fn reset_modes() {
    let fpcr: u64;
    // SAFETY: it reads a register.
    unsafe { asm!("mrs {}, fpcr", out(reg) fpcr, options(nostack, nomem, preserves_flags)) };
    if fpcr != 0 {
        // SAFETY: the value that the ABI begins with.
        unsafe { asm!("msr fpcr, xzr", options(nostack, preserves_flags)) };
    }
}

/// The data that the switch stores on a stack.
pub type Frame = [u64; 22];

/// Returns the first data on a stack whose first switch calls `entry(argument)`. The upper end of the stack is a
/// multiple of 16, and so is the stack pointer at each call.
pub fn first_frame(entry: extern "C" fn(*mut u8) -> !, argument: *mut u8) -> Frame {
    let mut frame = [0; 22];
    frame[0] = entry as *const () as u64; // x19
    frame[1] = argument as u64; // x20
    frame[11] = spindle_start_stack as *const () as u64; // x30; x29 is 0, which ends every chain of frames
    frame
}

/// Returns the address of the instruction that a signal has interrupted.
pub fn instruction(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.pc as usize
}

/// Makes the code that a signal has interrupted continue with a call of `function`, on the stack below `top`.
pub fn call_instead(context: &mut libc::ucontext_t, top: usize, function: extern "C" fn() -> !) {
    /// `PSTATE.BTYPE`: the kind of branch that has led to the interrupted instruction.
    const BRANCH_TYPE: u64 = 0b11 << 10;
    let registers = &mut context.uc_mcontext;
    registers.sp = (top & !15) as u64;
    registers.pc = function as *const () as u64;
    registers.pstate &= !BRANCH_TYPE;
    // As at the bottom of a stack.
    registers.regs[29] = 0;
    registers.regs[30] = 0;
}

/// Prefetches the memory at this address, which may be any.
#[inline(always)]
pub fn prefetch(address: *const i8) {
    // SAFETY: any address is allowed.
    unsafe { asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly)) };
}

/// Makes a client request of Valgrind, which recognises the sequence, reads six words at x4 and answers in x3. Without
/// Valgrind this is a few rotations.
pub fn request_of_valgrind(request: &[usize; 6]) {
    // SAFETY: the rotations add up to whole turns, and a register is combined with itself.
    unsafe {
        asm!(
            "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61", "orr x10, x10, x10",
            in("x4") request.as_ptr(), inout("x3") 0usize => _, inout("x12") 0usize => _,
            options(nostack, readonly)
        );
    }
}
