//! C stacks for coroutines, with the first page of their VM stack, in slots carved from big mappings.
//!
//! ```text
//!   low                                                                        high
//!   │ guard 64K │ C stack, grows down ◄──────── │ Ctx │ VM stack page, grows up ──► │
//!                                           one 4K page
//! ```
//! What a parked coroutine uses of both stacks usually lies in one page. Its place in the page varies by slot, so
//! that ten thousand of them do not fight for the same cache sets.

use crate::runtime::Runtime;
use crate::state::Saved;
use spindle_php_sys as sys;
use std::ptr::null_mut;

const GUARD: usize = 16 * 4096;
const VM_AREA: usize = 16 * 1024;
const PAGE: usize = 4096;
/// Linux 6.13: a guard without a mapping of its own.
const MADV_GUARD_INSTALL: i32 = 102;

/// What is kept of a coroutine that has a stack: where it stands while it is left. Main has one without a slot.
#[repr(C, align(64))]
pub struct Ctx {
    /// The stack pointer while it is left.
    pub sp: *mut u8,
    /// Which coroutine.
    pub co: u32,
    /// Its number, for the watchdog.
    pub id: u64,
    /// What C code and then PHP code are told because of a cancellation or a close; see `runtime`.
    pub failing: Failing,
    /// The frame of the internal function whose C code fails, if it was in one: what PHP code is called by it (an
    /// error handler) is not told.
    pub failing_in: *mut sys::zend_execute_data,
    /// What of `EG(error_reporting)` is off meanwhile.
    pub silenced: i32,
    /// How often a park has failed at once because of `failing`.
    pub failed_parks: u32,
    /// The engine's state while it is left.
    pub saved: Saved,
    /// What the engine's own fibers and observers know it by.
    pub fiber: sys::zend_fiber_context,
    /// The lowest usable address of the C stack; null for main.
    pub low: *mut u8,
    /// The first page of the VM stack.
    pub vm_page: sys::zend_vm_stack,
    /// The end of the VM page.
    pub vm_end: *mut u8,
    /// Handles that are busy by calls of this coroutine (see `calls`).
    pub busy: Vec<crate::busy::Held>,
    /// Its calls that keep what they use busy, the innermost first, while it is left.
    pub calls: *mut sys::spindle_call,
    /// What its running calls have set in the engine for it alone, the innermost first.
    pub aside: *mut crate::aside::Aside,
}

impl Ctx {
    /// A context that nothing runs in. `low`: null for main's.
    pub fn new(low: *mut u8, vm_page: sys::zend_vm_stack, vm_end: *mut u8) -> Ctx {
        Ctx {
            sp: null_mut(),
            co: 0,
            id: 0,
            failing: Failing::No,
            failing_in: null_mut(),
            silenced: 0,
            failed_parks: 0,
            // SAFETY: plain numbers and pointers, for which zero is valid; they are written before they are read.
            saved: unsafe { std::mem::zeroed() },
            // SAFETY: as above: an engine's structure of pointers and numbers.
            fiber: unsafe { std::mem::zeroed() },
            low,
            vm_page,
            vm_end,
            busy: Vec::new(),
            calls: null_mut(),
            aside: null_mut(),
        }
    }
}

/// What happens to the blocked C code of a coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failing {
    /// Nothing.
    No,
    /// Its calls fail until it returns to PHP code, where this exception (owned) is thrown.
    Throw(*mut sys::zend_object),
    /// Its calls fail until it returns: its handle is being closed.
    Quietly,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Guards {
    Advised,
    Mapped,
}

/// All stacks of the process.
pub struct Stacks {
    size: usize,
    free: Vec<*mut Ctx>,
    chunks: Vec<(usize, usize)>,
    fresh: usize,
    fresh_end: usize,
    guards: Guards,
    made: usize,
}

/// Why there is no further stack.
#[derive(Debug)]
pub enum NoStack {
    /// `mmap(2)` failed.
    Memory(std::io::Error),
    /// The guard could not be made: usually `vm.max_map_count` is reached.
    Guard(std::io::Error),
}

impl std::fmt::Display for NoStack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoStack::Memory(e) => write!(f, "no address space for a further coroutine's stack: {e}"),
            NoStack::Guard(e) => write!(
                f,
                "no guard for a further coroutine's stack: {e} (this kernel has no MADV_GUARD_INSTALL, so each \
                 guard is a mapping: raise vm.max_map_count)"
            ),
        }
    }
}

impl Stacks {
    /// Stacks of `size` bytes each (rounded up to pages), the VM page included, the guard not.
    pub fn new(size: usize) -> Stacks {
        let size = size.next_multiple_of(PAGE).max(64 * 1024);
        Stacks { size, free: Vec::new(), chunks: Vec::new(), fresh: 0, fresh_end: 0, guards: Guards::Advised, made: 0 }
    }

    /// Bytes of a stack.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many have been made.
    pub fn made(&self) -> usize {
        self.made
    }

    fn stride(&self) -> usize {
        self.size + GUARD
    }

    /// A stack nobody uses, the last one given back first.
    ///
    /// # Errors
    /// [`NoStack`] when the kernel gives no more.
    pub fn take(&mut self) -> Result<*mut Ctx, NoStack> {
        match self.free.pop() {
            Some(ctx) => Ok(ctx),
            None => self.make(),
        }
    }

    /// Gives a stack back. It may still be the running one, until the switch that leaves it.
    #[inline]
    pub fn put(&mut self, ctx: *mut Ctx) {
        self.free.push(ctx);
    }

    #[cold]
    fn make(&mut self) -> Result<*mut Ctx, NoStack> {
        let stride = self.stride();
        if self.fresh == self.fresh_end {
            let count = self.made.clamp(16, 1024);
            let bytes = count * stride;
            // SAFETY: a new anonymous mapping, at an address of the kernel's choice.
            let start = unsafe {
                libc::mmap(
                    null_mut(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
                    -1,
                    0,
                )
            };
            if start == libc::MAP_FAILED {
                return Err(NoStack::Memory(std::io::Error::last_os_error()));
            }
            // A huge page under every stack would cost 2 MiB each. Where there are none, it fails, and may.
            // SAFETY: our own mapping.
            unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
            self.fresh = start as usize;
            self.fresh_end = self.fresh + bytes;
            self.chunks.push((self.fresh, self.fresh_end));
        }
        let base = self.fresh as *mut libc::c_void;
        // SAFETY: the guard is the low end of a slot of our own mapping that nobody uses yet.
        if self.guards == Guards::Advised && unsafe { libc::madvise(base, GUARD, MADV_GUARD_INSTALL) } != 0 {
            self.guards = Guards::Mapped;
        }
        // SAFETY: as above.
        if self.guards == Guards::Mapped && unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) } != 0 {
            return Err(NoStack::Guard(std::io::Error::last_os_error()));
        }
        self.fresh += stride;
        let end = self.fresh;
        let colour = (self.made % 8) * 64;
        self.made += 1;
        let ctx = (end - VM_AREA - PAGE + 1792 + colour) as *mut Ctx;
        let vm_page = (ctx as usize + size_of::<Ctx>()).next_multiple_of(64);
        // SAFETY: `ctx` is 64-aligned and lies, like the VM page after it, in the slot that was just carved.
        unsafe {
            ctx.write(Ctx::new((end - self.size) as *mut u8, vm_page as sys::zend_vm_stack, end as *mut u8));
        }
        tell_valgrind(end - self.size, ctx as usize);
        Ok(ctx)
    }

    /// Does this address lie in the guard of one of our stacks?
    pub fn is_guard(&self, address: usize) -> bool {
        let stride = self.stride();
        self.chunks.iter().any(|&(start, end)| (start..end).contains(&address) && (address - start) % stride < GUARD)
    }
}

/// Valgrind must know what is a stack, or it takes a switch for a huge frame. Outside it, this is a few rotations.
/// The request is that of Valgrind's manual, "The Client Request mechanism": `STACK_REGISTER(start, end)`.
fn tell_valgrind(start: usize, end: usize) {
    let request: [usize; 6] = [0x1501, start, end, 0, 0, 0];
    // SAFETY: the rotations add up to a whole turn, and the exchange is of a register with itself. Valgrind, which
    // recognises the sequence, reads six words at rax and answers in rdx.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") request.as_ptr(), inout("rdx") 0usize => _, inout("rdi") 0usize => _,
            options(nostack, readonly)
        );
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        for &(start, end) in &self.chunks {
            // SAFETY: our own mapping; whoever drops the stacks runs on none of them.
            unsafe { libc::munmap(start as *mut libc::c_void, end - start) };
        }
    }
}

impl Runtime {
    /// How many stacks there are, and the bytes of each.
    pub fn stack_figures(&self) -> (usize, usize) {
        let stacks = self.stacks.borrow();
        (stacks.made(), stacks.size())
    }

    /// Does this address lie in the guard of a stack?
    pub fn is_guard(&self, address: usize) -> bool {
        self.stacks.try_borrow().is_ok_and(|stacks| stacks.is_guard(address))
    }

    /// The lowest address of the running stack; 0 on main's.
    pub fn running_low(&self) -> usize {
        // SAFETY: the running context is alive.
        unsafe { (*self.context()).low as usize }
    }
}
