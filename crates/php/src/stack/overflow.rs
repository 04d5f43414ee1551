//! A coroutine's C stack overflows: a PHP fatal error instead of a crash.
//!
//! Below each stack are three zones ([`crate::stack::stacks::Zones`]). A fault in the uppermost, the *wire*, can have interrupted
//! anything: a library that holds a lock, `malloc`. So the handler opens it, and what was interrupted goes on, in the wire
//! and the *reserve* below it, as on a deeper stack. The engine is asked to interrupt PHP code, and there, where errors may
//! arise, the fatal error is raised ([`at_interrupt`]); or the stack has shrunk by then, and the wire is closed again.
//!
//! C code that recurses by itself (a parser, `serialize`) comes to no such place, and gets to the *floor*. If that
//! happens in PHP's own code, the error is raised from there: the coroutine goes on in [`overflowed`], below all that
//! it has on its stack. PHP expects an error to end it in any of its functions that allocates; its heap and its tables call
//! nothing while they are in the middle of a change, and only calls overflow a stack. Anywhere else nobody can know what is
//! half done and which locks are held, and what PHP does at its end would meet them: the process ends on the spot,
//! with the same message.
//!
//! The handler runs on a stack of its own, allocates nothing and takes no lock. Any other fault goes to whoever handled
//! it before, and so does a signal that somebody has sent.

use crate::stack::{
    guard,
    stacks::{self, Stack, Zones},
};
use crate::zend::zv;
use spindle_php_sys as sys;
use std::cell::UnsafeCell;
use std::io::Write;
use std::mem::MaybeUninit;
use std::ptr::{addr_of, null_mut};

/// So near to its wire a stack counts as overflowed still: what closes the wire must not need it.
const NEAR: usize = 16 * 1024;
const ALTERNATE: usize = 64 * 1024;
/// What of the floor is opened for PHP's error handling.
const ROOM: usize = 64 * 1024;
const SIGNALS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// What the handler needs, made before it is installed.
struct Prepared {
    /// Who handled the signals before.
    before: [libc::sigaction; 2],
    /// The error, terminated by a zero.
    text: [u8; 160],
    /// Where PHP's own code is.
    code: (usize, usize),
    zones: Zones,
    /// Tells whether nothing of the runtime is in the middle of a change.
    is_whole: Option<fn() -> bool>,
}

struct Place(UnsafeCell<MaybeUninit<Prepared>>);
// SAFETY: written on the PHP thread while the handler is not installed, and only read by it.
unsafe impl Sync for Place {}
static PREPARED: Place = Place(UnsafeCell::new(MaybeUninit::zeroed()));

fn prepared() -> *mut Prepared {
    PREPARED.0.get().cast()
}

/// Installs the handler, and an alternate signal stack for this thread if it has none.
pub fn install(size: usize, zones: Zones, is_whole: fn() -> bool) {
    // SAFETY: structures of the right types, filled before they are read; the alternate stack is never freed. The
    // address is that of a function of PHP's.
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
        let prepared = &mut *prepared();
        prepared.text = [0; 160];
        let room = prepared.text.len() - 1;
        let text = "Maximum C stack size of a coroutine";
        let more = "reached. Infinite recursion? (async.stack_size)";
        let _ = write!(&mut prepared.text[..room], "{text} ({size} bytes) {more}");
        prepared.code = code_around(sys::php_info_print_table_start as *const () as usize);
        prepared.zones = zones;
        prepared.is_whole = Some(is_whole);
        for (index, signal) in SIGNALS.into_iter().enumerate() {
            libc::sigaction(signal, std::ptr::null(), &mut prepared.before[index]);
            if prepared.before[index].sa_sigaction == handler as *const () as usize {
                prepared.before[index].sa_sigaction = libc::SIG_DFL; // somebody has put back what he had found
            }
        }
        for (index, signal) in SIGNALS.into_iter().enumerate() {
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = handler as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            ours.sa_flags |= prepared.before[index].sa_flags & libc::SA_RESTART;
            libc::sigaction(signal, &ours, null_mut());
        }
    }
}

/// Puts back what was there, where ours still stands.
pub fn remove() {
    // SAFETY: as `install`; called only after it.
    unsafe {
        for (index, signal) in SIGNALS.into_iter().enumerate() {
            let mut now = MaybeUninit::<libc::sigaction>::zeroed();
            libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr());
            if now.assume_init().sa_sigaction == handler as *const () as usize {
                libc::sigaction(signal, &(*prepared()).before[index], null_mut());
            }
        }
    }
}

/// The executable bytes of the object that this address lies in; none if it is not found.
fn code_around(address: usize) -> (usize, usize) {
    struct Search {
        address: usize,
        found: (usize, usize),
    }
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, search: *mut libc::c_void) -> i32 {
        // SAFETY: the loader's own description of an object, and the search below.
        unsafe {
            let (info, search) = (&*info, &mut *search.cast::<Search>());
            for segment in std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) {
                let start = (info.dlpi_addr + segment.p_vaddr) as usize;
                let code = (start, start + segment.p_memsz as usize);
                let runs = segment.p_type == libc::PT_LOAD && segment.p_flags & libc::PF_X != 0;
                if runs && (code.0..code.1).contains(&search.address) {
                    search.found = code;
                    return 1;
                }
            }
            0
        }
    }
    let mut search = Search { address, found: (0, 0) };
    // SAFETY: the search lives through the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

/// Where below the running stack is this address?
enum Zone {
    Elsewhere,
    Wire,
    Floor,
}

unsafe fn zone(ctx: *const Stack, address: usize) -> Zone {
    // SAFETY: the running context; filled before the handler was installed.
    let (low, zones) = unsafe { ((*ctx).low as usize, (*prepared()).zones) };
    if low == 0 || address >= low {
        return Zone::Elsewhere;
    }
    let depth = low - address;
    let open = zones.above_floor();
    match depth {
        // Where each guard is a mapping, the reserve is part of it.
        _ if depth <= open => Zone::Wire,
        _ if depth <= open + zones.floor as usize => Zone::Floor,
        _ => Zone::Elsewhere,
    }
}

unsafe extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's own structures. A sent signal has no address. The registers are changed only for a fault on a
    // stack of ours, on the PHP thread, which is that stack's only user.
    unsafe {
        let is_sent = (*info).si_code <= 0;
        if !is_sent && spindle_interpose::host::php_thread_host().is_some() && !stacks::running().is_null() {
            let ctx = stacks::running();
            let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
            match zone(ctx, (*info).si_addr() as usize) {
                Zone::Elsewhere => {}
                Zone::Wire if !(*ctx).overflowed && open(ctx) => return,
                Zone::Wire => end_at_once(),
                Zone::Floor => {
                    let code = (*prepared()).code;
                    let in_php = (code.0..code.1).contains(&(registers[libc::REG_RIP as usize] as usize));
                    let floor = (*ctx).low as usize - (*prepared()).zones.above_floor();
                    if !in_php
                        || !(*prepared()).is_whole.is_some_and(|is_whole| is_whole())
                        || !guard::open(floor - ROOM, ROOM)
                    {
                        end_at_once();
                    }
                    // As at a function's entry: 8 off a multiple of 16, and strings go upwards.
                    registers[libc::REG_RSP as usize] = (floor & !15) as i64 - 8;
                    registers[libc::REG_EFL as usize] &= !0x400;
                    registers[libc::REG_RIP as usize] = overflowed as *const () as i64;
                    return;
                }
            }
        }
        pass_on(signal, info, context, is_sent);
    }
}

/// Opens the wire of the running stack, and asks for an interrupt of PHP code.
unsafe fn open(ctx: *mut Stack) -> bool {
    // SAFETY: the address of this thread's errno is always valid; the running context; a flag of the engine.
    unsafe {
        let errno = *libc::__errno_location();
        let room = (*prepared()).zones.above_floor();
        let opened = guard::open((*ctx).low as usize - room, room);
        *libc::__errno_location() = errno;
        (*ctx).overflowed = opened;
        sys::spindle_vm_interrupt_set();
        opened
    }
}

/// To whom it would have gone without us.
unsafe fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void, is_sent: bool) {
    let index = SIGNALS.iter().position(|s| *s == signal).unwrap_or(0);
    // SAFETY: filled before the handler was installed; what is called was somebody's handler, of the kind that its flags
    // name.
    unsafe {
        let before = &(*prepared()).before[index];
        match before.sa_sigaction {
            libc::SIG_IGN if is_sent => {}
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::sigaction(signal, before, null_mut());
                // A fault repeats, and has its usual end. A signal has to be sent again.
                if is_sent {
                    let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
                    libc::syscall(libc::SYS_tgkill, process, thread, signal);
                }
            }
            call if before.sa_flags & libc::SA_SIGINFO != 0 => {
                let call: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = std::mem::transmute(call);
                call(signal, info, context);
            }
            call => {
                let call: extern "C" fn(i32) = std::mem::transmute(call);
                call(signal);
            }
        }
    }
}

fn raise() -> ! {
    // SAFETY: a terminated text; the error bails out to the bottom of this stack.
    unsafe { sys::spindle_fatal((*prepared()).text.as_ptr().cast()) };
    std::process::abort()
}

extern "C" fn overflowed() -> ! {
    raise()
}

/// PHP code may be interrupted here: raises the error if the running stack still reaches its wire, or nearly.
#[inline(always)]
pub fn at_interrupt() {
    // SAFETY: the running stack, or null.
    if unsafe { stacks::running().as_ref() }.is_some_and(|stack| stack.overflowed) {
        settle(stacks::running());
    }
}

#[cold]
#[inline(never)]
fn settle(ctx: *mut Stack) {
    let here = 0u8;
    // SAFETY: the running context. Nothing that is alive lies below its frames.
    unsafe {
        let low = (*ctx).low as usize;
        if (addr_of!(here) as usize) < low + NEAR {
            raise();
        }
        (*ctx).overflowed = false;
        let room = (*prepared()).zones.above_floor();
        guard::close(low - room, room);
    }
}

/// Says what has happened, and ends the process: nothing else is safe.
unsafe fn end_at_once() -> ! {
    // SAFETY: texts that live as long as the process or its request, written by a plain system call. The frames of PHP
    // are where they were when PHP code called what was interrupted.
    unsafe {
        let piece = |bytes: &[u8]| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let text = &(*prepared()).text;
        let text = &text[..text.iter().position(|byte| *byte == 0).unwrap_or(0)];
        let mut file = null_mut();
        let line = sys::spindle_user_position(sys::executor_globals.current_execute_data, &mut file);
        let name = if file.is_null() { b"Unknown" } else { zv::bytes(file) };
        let mut number = [b' '; 12];
        let _ = write!(&mut number[..], "{line}");
        let number = number.split(|byte| *byte == b' ').next().unwrap_or_default();
        let end = b". The process ends without its shutdown functions, because this was inside a library\n";
        let pieces: [&[u8]; 7] = [b"PHP Fatal error:  ", text, b" in ", name, b" on line ", number, end];
        let pieces = pieces.map(piece);
        libc::syscall(libc::SYS_writev, 2, pieces.as_ptr(), pieces.len());
        libc::_exit(255)
    }
}
