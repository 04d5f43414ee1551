//! A coroutine's C stack overflows into its guard: a PHP fatal error instead of a crash.
//!
//! The handler runs on a stack of its own. If the address lies in one of our guards, it lets the coroutine go on
//! in [`overflowed`], at some distance from the guard on the same stack: the frames there are never returned to,
//! because a fatal error jumps to the bottom of the stack. Any other fault goes to whoever handled it before.

use crate::runtime;
use spindle_php_sys as sys;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// Room that the error handling of PHP gets on the overflowed stack.
const ROOM: usize = 48 * 1024;
const ALTERNATE: usize = 64 * 1024;

struct Before(UnsafeCell<MaybeUninit<[libc::sigaction; 2]>>);
// SAFETY: written once, before the handler is installed.
unsafe impl Sync for Before {}
static BEFORE: Before = Before(UnsafeCell::new(MaybeUninit::zeroed()));

const SIGNALS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Installs the handler, and an alternate signal stack for this thread if it has none.
pub fn install() {
    // SAFETY: structures of the right types, filled before they are read; the alternate stack is never freed.
    unsafe {
        let mut stack = MaybeUninit::<libc::stack_t>::zeroed();
        libc::sigaltstack(std::ptr::null(), stack.as_mut_ptr());
        if stack.assume_init().ss_flags & libc::SS_DISABLE != 0 {
            let memory = libc::mmap(
                null_mut(),
                ALTERNATE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if memory == libc::MAP_FAILED {
                return; // an overflow is a crash then, as without us
            }
            let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: ALTERNATE };
            libc::sigaltstack(&stack, null_mut());
        }
        let before = BEFORE.0.get().cast::<libc::sigaction>();
        for (index, signal) in SIGNALS.into_iter().enumerate() {
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = handler as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigaction(signal, std::ptr::null(), before.add(index));
            ours.sa_flags |= (*before.add(index)).sa_flags & libc::SA_RESTART;
            libc::sigaction(signal, &ours, null_mut());
        }
    }
}

/// Puts back what was there, where ours still stands.
pub fn remove() {
    // SAFETY: as `install`; called only after it.
    unsafe {
        let before = BEFORE.0.get().cast::<libc::sigaction>();
        for (index, signal) in SIGNALS.into_iter().enumerate() {
            let mut now = MaybeUninit::<libc::sigaction>::zeroed();
            libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr());
            if now.assume_init().sa_sigaction == handler as *const () as usize {
                libc::sigaction(signal, before.add(index), null_mut());
            }
        }
    }
}

unsafe extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's own structures. The registers are changed only for a fault in a guard of ours, on the
    // PHP thread: nobody else touches that address.
    unsafe {
        let address = (*info).si_addr() as usize;
        let ours = spindle_interpose::host::on_php_thread().is_some();
        let is_sent = (*info).si_code <= 0; // and has no address
        if let Some(rt) = runtime::existing().filter(|rt| ours && !is_sent && rt.is_guard(address)) {
            let low = rt.running_low();
            if low != 0 {
                let context: *mut libc::ucontext_t = context.cast();
                let registers = &mut (*context).uc_mcontext.gregs;
                // As at a function's entry: 8 off a multiple of 16.
                registers[libc::REG_RSP as usize] = ((low + ROOM) & !15) as i64 - 8;
                registers[libc::REG_RIP as usize] = overflowed as *const () as i64;
                return;
            }
        }
        let index = SIGNALS.iter().position(|s| *s == signal).unwrap_or(0);
        let before = &*BEFORE.0.get().cast::<libc::sigaction>().add(index);
        if before.sa_sigaction == libc::SIG_IGN && is_sent {
            return;
        }
        if before.sa_sigaction == libc::SIG_DFL || before.sa_sigaction == libc::SIG_IGN {
            libc::sigaction(signal, before, null_mut());
            // A fault repeats, and has its usual end. A signal has to be sent again.
            if is_sent {
                let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
                libc::syscall(libc::SYS_tgkill, process, thread, signal);
            }
            return;
        }
        if before.sa_flags & libc::SA_SIGINFO != 0 {
            let call: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(before.sa_sigaction);
            call(signal, info, context);
        } else {
            let call: extern "C" fn(i32) = std::mem::transmute(before.sa_sigaction);
            call(signal);
        }
    }
}

extern "C" fn overflowed() -> ! {
    let (_, size) = runtime::rt().stack_figures();
    let text =
        format!("Maximum C stack size of a coroutine ({size} bytes) reached. Infinite recursion? (async.stack_size)\0");
    // SAFETY: a terminated text; the error bails out to the bottom of this stack.
    unsafe { sys::spindle_fatal(text.as_ptr().cast()) };
    std::process::abort()
}
