//! x86-64: all callee-saved registers and the floating-point control words.
//!
//! ```text
//!   suspended stack              stack that has not run yet
//!   ┌──────────────────┐ high    ┌──────────────────┐
//!   │ return address   │         │ 0                │ ends every unwind
//!   │ rbp              │         │ start thunk      │
//!   │ rbx r12 .. r15   │         │ rbp=0, rbx=arg,  │
//!   │ mxcsr, x87 word  │ ◄─ sp   │ r12=entry, …     │ ◄─ sp
//!   └──────────────────┘         └──────────────────┘
//! ```

use core::arch::{
    asm, global_asm,
    x86_64::{_MM_HINT_T0, _mm_prefetch},
};

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
    // Usually both coroutines have the same control words. Loading them takes longer than comparing them.
    "mov eax, [rsp]",
    "mov cx, [rsp + 4]",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    "cmp eax, [rsp]",
    "jne 3f",
    "cmp cx, [rsp + 4]",
    "jne 3f",
    "2:",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    // Not `ret`: the return predictor has the addresses of the suspended stack.
    "pop rcx",
    "jmp rcx",
    "3:",
    "ldmxcsr [rsp]",
    "fldcw [rsp + 4]",
    "jmp 2b",
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
    fn spindle_start_stack();
}

/// The ABI's initial mxcsr and x87 control word.
static MXCSR: u32 = 0x1f80;
static X87: u16 = 0x037f;
/// The bits of mxcsr that say what has happened, and are no modes.
const EXCEPTIONS: u32 = 0x3f;

/// Gives the floating-point units the modes with which a stack begins.
#[inline(always)]
pub fn reset_modes() {
    let (mut mxcsr, mut x87) = (0u32, 0u16);
    // SAFETY: it stores a register in memory of its size.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags)) };
    // SAFETY: as above.
    unsafe { asm!("fnstcw [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags)) };
    if mxcsr & !EXCEPTIONS != MXCSR {
        // SAFETY: a value that the ABI names.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const MXCSR, options(nostack, preserves_flags)) };
    }
    if x87 != X87 {
        // SAFETY: as above.
        unsafe { asm!("fldcw [{}]", in(reg) &raw const X87, options(nostack, preserves_flags)) };
    }
}

/// The data that the switch stores on a stack, and the two words above it.
pub type Frame = [u64; 10];

/// Returns the first data on a stack whose first switch calls `entry(argument)`. The upper end of the stack is a
/// multiple of 16: after the pops the stack pointer is 16 below, and the thunk's call makes it 8 less than a multiple
/// of 16, as the ABI demands at a function's entry.
pub fn first_frame(entry: extern "C" fn(*mut u8) -> !, argument: *mut u8) -> Frame {
    [
        u64::from(MXCSR) | u64::from(X87) << 32,
        0,                         // r15
        0,                         // r14
        0,                         // r13
        entry as *const () as u64, // r12
        argument as u64,           // rbx
        0,                         // rbp
        spindle_start_stack as *const () as u64,
        0, // the return address of the thunk: none
        0,
    ]
}

/// Returns the address of the instruction that a signal has interrupted.
pub fn instruction(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize
}

/// Makes the code that a signal has interrupted continue with a call of `function`, on the stack below `top`.
pub fn call_instead(context: &mut libc::ucontext_t, top: usize, function: extern "C" fn() -> !) {
    let registers = &mut context.uc_mcontext.gregs;
    // As at a function's entry: 8 less than a multiple of 16, and the direction flag cleared.
    registers[libc::REG_RSP as usize] = (top & !15) as i64 - 8;
    registers[libc::REG_EFL as usize] &= !0x400;
    registers[libc::REG_RIP as usize] = function as *const () as i64;
}

/// Prefetches the memory at this address, which may be any.
#[inline(always)]
pub fn prefetch(address: *const i8) {
    // SAFETY: any address is allowed.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
}

/// Makes a client request of Valgrind, which recognises the sequence, reads six words at rax and answers in rdx. Without
/// Valgrind this is a few rotations.
pub fn request_of_valgrind(request: &[usize; 6]) {
    // SAFETY: the rotations add up to a whole turn, and the exchange is of a register with itself.
    unsafe {
        asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") request.as_ptr(), inout("rdx") 0usize => _, inout("rdi") 0usize => _,
            options(nostack, readonly)
        );
    }
}
