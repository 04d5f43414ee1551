//! Turns an overflow of a coroutine's C stack into a PHP fatal error instead of a crash.
//!
//! Below each stack is a guard ([`crate::stack::guard::Zones`]). A fault in it may have interrupted anything: a library
//! that holds a lock, `malloc`. So the handler opens its upper part, the *reserve*, guards as much again below that, and the
//! interrupted code continues in the reserve, as on a deeper stack. The handler requests an interrupt of PHP code, at which
//! the fatal error is raised, because errors are safe there ([`at_interrupt`]). If the stack has shrunk by then, the reserve
//! is closed again.
//!
//! C code that recurses by itself (a parser, `serialize`) does not get to such a place, and reaches what is below the
//! reserve. If that happens in PHP's own code, the error is raised immediately: the coroutine continues in [`raise`], below all
//! that is on its stack. PHP expects an error to leave any of its functions that allocates; its heap and its tables call nothing
//! while they are being changed, and only calls overflow a stack. In other code it is unknown what is half done and which locks are
//! held, and the end of the request would run into that: the process ends immediately, with the same message.
//!
//! The handler runs on an alternate stack, allocates nothing and takes no lock. All other faults go to the previous
//! handler, and so do signals sent by processes.

use crate::c;
use crate::stack::{
    arch,
    guard::{self, Zones},
    memory,
    stacks::{self, Stack},
};
use spindle_zend::{Frame, Str, Text, engine};
use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::io::Write;
use std::mem::transmute;
use std::ptr::{null, null_mut};
use std::slice;

/// A stack that has only this much left still counts as overflowed: the code that closes the reserve must not need it.
const NEAR_END: usize = 16 * 1024;
const ALTERNATE: usize = 64 * 1024;
/// How much is opened below the reserve for PHP's error handling.
const ERROR_ROOM: usize = 64 * 1024;
const SIGNALS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

type Handler = extern "C" fn(i32, &libc::siginfo_t, &mut libc::ucontext_t);

/// The handler's data, prepared before it is installed.
struct Prepared {
    /// The previous actions of the signals.
    before: [Cell<libc::sigaction>; 2],
    /// The error, terminated by a zero.
    text: Cell<[u8; 160]>,
    /// The address range of PHP's code.
    code: Cell<(usize, usize)>,
    zones: Cell<Zones>,
    /// Returns `true` if no part of the runtime is being changed.
    is_whole: Cell<fn() -> bool>,
}

// SAFETY: written on the PHP thread while the handler is not installed, and only read by it.
unsafe impl Sync for Prepared {}

/// The default action.
// SAFETY: numbers, a set of signals and an optional function, for which zero is valid.
const DEFAULT: libc::sigaction = unsafe { std::mem::zeroed() };

static PREPARED: Prepared = Prepared {
    before: [const { Cell::new(DEFAULT) }; 2],
    text: Cell::new([0; 160]),
    code: Cell::new((0, 0)),
    zones: Cell::new(Zones { reserve: 0, guard: 0 }),
    is_whole: Cell::new(|| false),
};

/// Returns the previous action for a signal, and sets a new one if there is one.
fn exchange(signal: i32, action: Option<&libc::sigaction>) -> libc::sigaction {
    let mut before = DEFAULT;
    // SAFETY: null, or an action with our handler, or one that stood there before.
    unsafe { libc::sigaction(signal, action.map_or(null(), |action| action), &mut before) };
    before
}

fn is_handler(action: &libc::sigaction) -> bool {
    action.sa_sigaction == handler as Handler as usize
}

/// Installs the handler, and an alternate signal stack for this thread if it has none.
pub fn install(size: usize, zones: Zones, is_whole: fn() -> bool) {
    if !has_alternate_stack() {
        return; // an overflow is a crash then, as without this module
    }
    let mut message = [0; 160];
    let room = message.len() - 1;
    let text = "Maximum C stack size of a coroutine";
    let more = "reached. Infinite recursion? (async.stack_size)";
    let _ = write!(&mut message[..room], "{text} ({size} bytes) {more}");
    PREPARED.text.set(message);
    PREPARED.code.set(code_around(c::php_info_print_table_start as *const () as usize));
    PREPARED.zones.set(zones);
    PREPARED.is_whole.set(is_whole);
    for (signal, place) in SIGNALS.into_iter().zip(&PREPARED.before) {
        let mut before = exchange(signal, None);
        if is_handler(&before) {
            before.sa_sigaction = libc::SIG_DFL; // other code has restored what it had found
        }
        place.set(before);
    }
    for (signal, before) in SIGNALS.into_iter().zip(&PREPARED.before) {
        let mut ours = DEFAULT;
        ours.sa_sigaction = handler as Handler as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        ours.sa_flags |= before.get().sa_flags & libc::SA_RESTART;
        exchange(signal, Some(&ours));
    }
}

/// Returns `true` if this thread has an alternate signal stack, or was given one, which is never freed.
fn has_alternate_stack() -> bool {
    if exchange_stack(None).ss_flags & libc::SS_DISABLE == 0 {
        return true;
    }
    let Ok(memory) = memory::map(ALTERNATE, 0) else { return false };
    exchange_stack(Some(&libc::stack_t { ss_sp: memory as *mut c_void, ss_flags: 0, ss_size: ALTERNATE }));
    true
}

/// Returns this thread's alternate signal stack, and sets another one if there is one.
fn exchange_stack(stack: Option<&libc::stack_t>) -> libc::stack_t {
    let mut before = libc::stack_t { ss_sp: null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: null, or a stack that lasts.
    unsafe { libc::sigaltstack(stack.map_or(null(), |stack| stack), &mut before) };
    before
}

/// Restores the previous actions, except where others have replaced this one. After [`install`].
pub fn remove() {
    for (signal, before) in SIGNALS.into_iter().zip(&PREPARED.before) {
        if is_handler(&exchange(signal, None)) {
            exchange(signal, Some(&before.get()));
        }
    }
}

/// Returns the range of executable code of the loaded object that contains this address; an empty range if it is not
/// found.
fn code_around(address: usize) -> (usize, usize) {
    #[repr(C)]
    struct Search {
        address: usize,
        start: usize,
        end: usize,
    }
    // SAFETY: the type of the C library's: it calls the function with its own description of each object, and with the search.
    unsafe extern "C" {
        safe fn dl_iterate_phdr(visit: Visit, search: &mut Search) -> i32;
    }
    type Visit = extern "C" fn(&libc::dl_phdr_info, usize, &mut Search) -> i32;
    extern "C" fn visit(info: &libc::dl_phdr_info, _: usize, search: &mut Search) -> i32 {
        // SAFETY: as the loader says.
        let segments = unsafe { slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        for segment in segments {
            let start = (info.dlpi_addr + segment.p_vaddr) as usize;
            let code = (start, start + segment.p_memsz as usize);
            let runs = segment.p_type == libc::PT_LOAD && segment.p_flags & libc::PF_X != 0;
            if runs && (code.0..code.1).contains(&search.address) {
                (search.start, search.end) = code;
                return 1;
            }
        }
        0
    }
    let mut search = Search { address, start: 0, end: 0 };
    dl_iterate_phdr(visit, &mut search);
    (search.start, search.end)
}

/// The zone below the running stack that contains an address.
enum Zone {
    Elsewhere,
    Reserve,
    BelowReserve,
}

fn zone(stack: &Stack, address: usize) -> Zone {
    let (low, zones) = (stack.low as usize, PREPARED.zones.get());
    if low == 0 || address >= low {
        return Zone::Elsewhere;
    }
    let depth = low - address;
    match depth {
        _ if depth <= zones.reserve as usize => Zone::Reserve,
        _ if depth <= zones.bytes() => Zone::BelowReserve,
        _ => Zone::Elsewhere,
    }
}

extern "C" fn handler(signal: i32, fault: &libc::siginfo_t, registers: &mut libc::ucontext_t) {
    let is_sent = fault.si_code <= 0; // a sent signal has no address
    if !is_sent
        && spindle_interpose::host::php_thread_host().is_some()
        && let Some(stack) = stacks::current()
    {
        // SAFETY: of a fault.
        let address = unsafe { fault.si_addr() } as usize;
        match zone(stack, address) {
            Zone::Elsewhere => {}
            Zone::Reserve if !stack.overflowed.get() && overflows(stack) => return,
            Zone::Reserve => abort_with_message(),
            Zone::BelowReserve => {
                let code = PREPARED.code.get();
                let in_php = (code.0..code.1).contains(&arch::instruction(registers)); // of the PHP thread, on this stack
                let reserve = PREPARED.zones.get().reserve as usize;
                if !in_php || !PREPARED.is_whole.get()() || !open(stack, reserve, reserve + ERROR_ROOM) {
                    abort_with_message();
                }
                arch::call_instead(registers, stack.low as usize - reserve, raise);
                return;
            }
        }
    }
    pass_on(signal, fault, registers, is_sent);
}

/// Opens what lies between two depths below a stack, once all below that is guarded. Returns `false` if the kernel refuses.
fn open(stack: &Stack, from: usize, to: usize) -> bool {
    let (low, all) = (stack.low as usize, PREPARED.zones.get().bytes());
    guard::close(low - all, all - to) && guard::open(low - to, to - from)
}

/// Opens the reserve of the running stack, and requests an interrupt of PHP code.
fn overflows(stack: &Stack) -> bool {
    let before = memory::errno();
    let opened = open(stack, 0, PREPARED.zones.get().reserve as usize);
    memory::set_errno(before);
    stack.overflowed.set(opened);
    engine::request_interrupt();
    opened
}

/// Passes a signal to the handler that would have received it without this module.
fn pass_on(signal: i32, fault: &libc::siginfo_t, registers: &mut libc::ucontext_t, is_sent: bool) {
    let index = SIGNALS.iter().position(|s| *s == signal).unwrap_or(0);
    let before = PREPARED.before[index].get();
    match before.sa_sigaction {
        libc::SIG_IGN if is_sent => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            exchange(signal, Some(&before));
            // A fault is repeated, with its usual effect. A signal has to be sent again.
            if is_sent {
                c::raise(signal);
            }
        }
        call => {
            // SAFETY: a handler. One without `SA_SIGINFO` has only the first parameter, and is called by the kernel like this.
            let call: Handler = unsafe { transmute(call) };
            call(signal, fault, registers);
        }
    }
}

/// Raises the error, which bails out to the bottom of the running stack.
extern "C" fn raise() -> ! {
    let text = PREPARED.text.get();
    c::spindle_fatal(Text::of(CStr::from_bytes_until_nul(&text).unwrap_or_default()));
    std::process::abort()
}

/// Raises the error at an interrupt of PHP code, if the running stack still reaches its end or nearly does.
#[inline(always)]
pub fn at_interrupt() {
    if let Some(stack) = stacks::current().filter(|stack| stack.overflowed.get()) {
        raise_or_close(stack);
    }
}

#[cold]
#[inline(never)]
fn raise_or_close(stack: &Stack) {
    let here = 0u8;
    let low = stack.low as usize;
    if (&raw const here).addr() < low + NEAR_END {
        raise();
    }
    let reserve = PREPARED.zones.get().reserve as usize;
    let closed = guard::close(low - reserve, reserve); // nothing alive is there
    stack.overflowed.set(!closed);
}

/// Writes the error message, and ends the process: nothing else is safe.
fn abort_with_message() -> ! {
    let text = PREPARED.text.get();
    let text = &text[..text.iter().position(|byte| *byte == 0).unwrap_or(0)];
    // PHP's frames are those of the call of the interrupted code.
    let frame = Frame::current();
    let (file, line) = frame.as_ref().and_then(Frame::position).unwrap_or((None, 0));
    let name = file.map_or(b"Unknown".as_slice(), Str::as_bytes);
    let mut number = [b' '; 12];
    let _ = write!(&mut number[..], "{line}");
    let number = number.split(|byte| *byte == b' ').next().unwrap_or_default();
    let end = b". The process ends without its shutdown functions, because this was inside a library\n";
    let pieces: [&[u8]; 7] = [b"PHP Fatal error:  ", text, b" in ", name, b" on line ", number, end];
    let pieces = pieces.map(|bytes| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() });
    // SAFETY: texts that are alive.
    unsafe { libc::syscall(libc::SYS_writev, 2, pieces.as_ptr(), pieces.len()) };
    c::_exit(255)
}
