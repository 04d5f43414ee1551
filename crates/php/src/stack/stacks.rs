//! C stacks for coroutines, each with the first page of a VM stack, in slots of large mappings.
//!
//! ```text
//!   low                                                                              high
//!   │ unused  │  guard  │ C stack, grows down ◄──────────── │ Ctx │ VM stack page, grows up ──► │
//!   │  guard  │ reserve │ the same after an overflow         one 4K page
//! ```
//! The parts of both stacks that a parked coroutine uses are usually in one page. Its offset in the page varies by
//! slot, so that thousands of coroutines do not compete for the same cache sets.
//!
//! A deep stack costs address space, and page tables: 4 KiB for each 2 MiB in which anything is touched or guarded.
//! Large slots are therefore placed so that the guard of one and the top of the one below it share 2 MiB.
//!
//! A guard costs 10 to 30 ns for each of its pages when the stack is created, so what is to be guarded only after an
//! overflow is guarded then. Slots do not begin at multiples of their size, because the processor's entries for the
//! pages of a thousand stacks would then all be in the same few sets of its caches.
//!
//! For the guard and the reserve see `overflow`.

use crate::stack::guard::{self, Zones};
use crate::stack::{arch, memory};
use crate::{c, settings};
use spindle_php_sys as sys;
use spindle_zend::PhpStatic;
use std::cell::Cell;
use std::io::Error;
use std::ptr::{self, null_mut};

const VM_AREA: usize = 16 * 1024;
/// The part of a slot, below its VM page, that contains `Ctx`.
const CTX_AREA: usize = 4096;
/// The offset of `Ctx` in that part, to which up to 448 bytes are added. The frames of a short function that awaits,
/// sleeps or yields fit into the page on both sides: those of C below, those of PHP above.
const CTX_OFFSET: usize = 2176;
/// The minimal size of a stack, and the maximal one if it is derived from main's.
const MIN_SIZE: usize = 64 * 1024;
const MAX_SIZE_OF_MAIN: usize = 64 << 20;
/// Large slots begin at up to this many pages (a prime) above the next multiple of their size, in steps of `SHIFT`
/// pages.
const SHIFTS: usize = 139;
const SHIFT: usize = 67;
/// Address space that is at least left to other code.
const RESERVED_SPACE: usize = 64 << 20;
/// The number of free stacks that are reserved for coroutines that must have one: runners and cancelled ones.
const RESERVED_FREE: usize = 1;

/// The upper part of a free stack, which stays in memory.
const KEPT_RESIDENT: usize = 256 * 1024;
/// The part below it. If any of its pages were used, everything from there down is given back.
const CHECKED: usize = 128 * 1024;
/// One in this many stacks that are returned is checked; after a deep one, this many in a row, and as many of the other
/// free ones.
const CHECK_EVERY: u32 = 128;
/// The number of free stacks, the next ones to be taken, that stay in memory unchanged.
const UNTRIMMED: usize = 16;
/// The maximal number of stacks that stay for the next request.
const MAX_KEPT: usize = 64;

/// A C stack: its place in memory, and its stack pointer while it is suspended. The structure at its upper end begins
/// with this.
#[repr(C)]
pub struct Stack {
    /// The stack pointer while the stack is suspended.
    pub sp: Cell<*mut u8>,
    /// The lowest address of the C stack, above the guard; null for main.
    pub low: *mut u8,
    /// The first page of the VM stack; null for main.
    pub vm_page: sys::zend_vm_stack,
    /// The end of the VM page.
    pub vm_end: *mut u8,
    /// Set while its reserve is open, because it has overflowed.
    pub overflowed: Cell<bool>,
}

impl Stack {
    /// Returns main's stack, which was not created here.
    pub const fn of_main() -> Stack {
        Stack::new(null_mut(), null_mut(), null_mut())
    }

    const fn new(low: *mut u8, vm_page: sys::zend_vm_stack, vm_end: *mut u8) -> Stack {
        Stack { sp: Cell::new(null_mut()), low, vm_page, vm_end, overflowed: Cell::new(false) }
    }

    /// Returns the upper end of the C stack, where this structure is. Not for main's.
    pub fn upper_end(&self) -> *mut u8 {
        self.low.with_addr((&raw const *self).addr())
    }
}

/// A structure at the upper end of each stack.
///
/// # Safety
/// The structure is `#[repr(C)]` and begins with a [`Stack`].
pub unsafe trait AtTop {
    /// Returns the structure for a stack on which nothing runs yet, with main's stack as a placeholder.
    fn new() -> Self;

    /// Returns the stack.
    fn stack(&self) -> &Stack;
}

static RUNNING: PhpStatic<Cell<*mut Stack>> = PhpStatic::new(Cell::new(null_mut()));

/// Returns the running stack; null if there is no runtime.
#[inline(always)]
pub fn running() -> *mut Stack {
    RUNNING.get()
}

/// Returns the running stack, if there is a runtime.
#[inline(always)]
pub fn current() -> Option<&'static Stack> {
    // SAFETY: null, or the running stack.
    unsafe { running().as_ref() }
}

/// Makes a stack the running one, just before the switch to it.
#[inline(always)]
pub fn set_running<T: AtTop>(top: Option<&'static T>) {
    RUNNING.set(top.map_or(null_mut(), |top| ptr::from_ref(top).cast_mut().cast()));
}

/// Returns the address of the variable that contains the running stack's address, for the watchdog.
pub fn running_at() -> usize {
    RUNNING.as_ptr() as usize
}

/// Returns the size of C stacks, by the settings.
pub fn wanted_size() -> usize {
    match settings::current().stack_size {
        0 => size_of_main(),
        size => size as usize,
    }
}

/// Returns the maximal size of main's stack, if it is a sensible number.
fn size_of_main() -> usize {
    limit(libc::RLIMIT_STACK).unwrap_or(MAX_SIZE_OF_MAIN).clamp(256 * 1024, MAX_SIZE_OF_MAIN)
}

/// Returns how much address space stacks leave to other code, a share of the available one: PHP's heap has to grow as
/// well.
fn reserved_space() -> usize {
    (limit(libc::RLIMIT_AS).unwrap_or(0) / 4).max(RESERVED_SPACE)
}

/// Returns a limit of the process, if there is one.
fn limit(which: c::RlimitResource) -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let known = c::getrlimit(which, &mut limit) == 0 && limit.rlim_cur != libc::RLIM_INFINITY;
    known.then(|| usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX))
}

/// All stacks of the process.
pub struct Stacks<T: 'static> {
    size: usize,
    /// The kernel's page size.
    page: usize,
    zones: Zones,
    stride: usize,
    free: Vec<&'static T>,
    /// The mappings: addresses and sizes.
    chunks: Vec<(usize, usize)>,
    /// The last one, its first slot that was not used yet, and its number of slots.
    chunk: usize,
    slot: usize,
    slots: usize,
    /// The number of offsets at which slots begin, in pages.
    shifts: usize,
    made: usize,
    /// The number of guards that are mappings.
    mapped: usize,
    /// How many stacks are returned until one is checked, how many of the next ones are all checked, and the position
    /// among the free ones at which to check another one.
    until_check: u32,
    checks: u32,
    cursor: usize,
}

/// The reason why there is no further stack: an `errno`.
#[derive(Clone, Copy, Debug)]
pub enum NoStack {
    /// `mmap(2)` failed.
    Memory(i32),
    /// The guard could not be created, or only with the last of the mappings.
    Guard(i32),
}

impl std::fmt::Display for NoStack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoStack::Memory(errno) => write!(
                f,
                "There is no address space for a further coroutine's stack ({}): raise its limit (ulimit -v, \
                 vm.overcommit_memory), or set async.stack_size to less",
                Error::from_raw_os_error(*errno)
            ),
            NoStack::Guard(errno) => write!(
                f,
                "There is no guard for a further coroutine's stack ({}): raise vm.max_map_count, or use Linux 6.13, \
                 where guards take no mappings",
                Error::from_raw_os_error(*errno)
            ),
        }
    }
}

impl<T: AtTop> Stacks<T> {
    /// Returns an allocator of C stacks of at least `size` bytes each. They get a tenth more, because calls through
    /// trampolines need that much more than without coroutines.
    pub fn new(size: usize) -> Stacks<T> {
        let page = memory::page_size();
        let size = size.max(MIN_SIZE).next_multiple_of(page);
        let zones = Zones::of(size, page);
        let top = (size / 10 + VM_AREA + CTX_AREA).next_multiple_of(page);
        let mut stride = zones.bytes() + size + top;
        let shifts = if stride > table(page) { SHIFTS } else { 1 };
        if shifts > 1 {
            stride = (stride + SHIFTS * page).next_multiple_of(table(page)); // the rest is added to the C stack
        }
        Stacks {
            size,
            page,
            zones,
            stride,
            free: Vec::new(),
            chunks: Vec::new(),
            chunk: 0,
            slot: 0,
            slots: 0,
            shifts,
            made: 0,
            mapped: 0,
            until_check: CHECK_EVERY,
            checks: 0,
            cursor: 0,
        }
    }

    /// Returns the size of each C stack.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns `true` if stacks of the wanted size `size` are of this size.
    pub fn have_size(&self, size: usize) -> bool {
        self.size == Stacks::<T>::new(size).size
    }

    /// Returns how many stacks were created.
    pub fn count(&self) -> usize {
        self.made
    }

    /// Returns the zones below each stack.
    pub fn zones(&self) -> Zones {
        self.zones
    }

    /// Returns a free stack, the last returned one first, unless it is reserved. It is valid as long as `self`: no
    /// stack is in use when that is dropped.
    #[inline]
    pub fn take(&mut self) -> Option<&'static T> {
        if self.free.len() > RESERVED_FREE { self.free.pop() } else { None }
    }

    /// Returns a new stack; if there can be none and `last` is set, a reserved one.
    ///
    /// # Errors
    /// [`NoStack`] when the kernel gives no more.
    #[cold]
    pub fn make_or_last(&mut self, last: bool) -> Result<&'static T, NoStack> {
        while self.free.len() < RESERVED_FREE && self.made < RESERVED_FREE {
            let kept = self.make()?;
            self.free.push(kept);
        }
        match self.make() {
            Err(error) if last => self.free.pop().ok_or(error),
            result => result,
        }
    }

    /// Returns a stack to the free ones. It may still be the running one, at its top, until the switch away from it.
    #[inline]
    pub fn put(&mut self, ctx: &'static T) {
        self.free.push(ctx);
        self.until_check -= 1;
        if self.until_check == 0 {
            self.trim_some();
        }
    }

    /// Gives memory that deep calls have used back to the kernel: of the free stack that is now far from being taken
    /// again, and of one more, so that all are checked in the long run.
    #[cold]
    fn trim_some(&mut self) {
        self.checks = self.checks.saturating_sub(1);
        if self.free.len() > UNTRIMMED && self.size >= KEPT_RESIDENT + CHECKED + self.page {
            let others = self.free.len() - UNTRIMMED;
            self.cursor = (self.cursor + 1) % others;
            for ctx in [self.free[others - 1], self.free[self.cursor]] {
                if self.trim(ctx) {
                    self.checks = CHECK_EVERY;
                }
            }
        }
        self.until_check = if self.checks > 0 { 1 } else { CHECK_EVERY };
    }

    /// Gives back the pages of a free stack that was used deeply. Returns `true` if it was.
    fn trim(&self, ctx: &T) -> bool {
        let low = ctx.stack().low as usize;
        let warm = (ctx.stack().upper_end() as usize - KEPT_RESIDENT) / self.page * self.page;
        let mut known = [0u8; CHECKED / 4096];
        memory::is_any_resident(warm - CHECKED, &mut known[..CHECKED / self.page])
            && memory::advise(low, warm - low, libc::MADV_DONTNEED)
    }

    #[cold]
    fn make(&mut self) -> Result<&'static T, NoStack> {
        if self.slot == self.slots {
            self.map()?;
        }
        let start = self.start_of(self.slot);
        let low = start + self.zones.bytes();
        let kind = guard::install(low, self.zones, self.mapped).map_err(NoStack::Guard)?;
        self.mapped += usize::from(kind == guard::Kind::Mapped);
        self.slot += 1;
        let end = self.start_of(self.slot);
        let colour = (self.made % 8) * 64;
        self.made += 1;
        let ctx = (end - VM_AREA - CTX_AREA + CTX_OFFSET + colour) as *mut T;
        let vm_page = (ctx as usize + size_of::<T>()).next_multiple_of(64);
        let stack = Stack::new(low as *mut u8, vm_page as sys::zend_vm_stack, end as *mut u8);
        // SAFETY: it is 64-aligned and lies, like the VM page after it, in the slot that was just carved.
        unsafe { ctx.write(T::new()) };
        // SAFETY: what lies there begins with its stack.
        unsafe { ctx.cast::<Stack>().write(stack) };
        announce_to_valgrind(low - self.zones.reserve as usize, ctx as usize);
        // SAFETY: just made. It lasts as long as `self`, see `take`.
        Ok(unsafe { &*ctx })
    }

    /// Returns `true` if the stacks are worth keeping: there are few, and none was abandoned. Nothing runs on any of
    /// them, or will.
    pub fn are_worth_keeping(&self) -> bool {
        self.free.len() == self.made && self.made <= MAX_KEPT
    }

    /// Returns where a slot of the last mapping starts, and the one below it ends.
    fn start_of(&self, slot: usize) -> usize {
        self.chunk + slot * self.stride + slot * SHIFT % self.shifts * self.page
    }

    /// Maps as many slots again, or as many as there is room for.
    fn map(&mut self) -> Result<(), NoStack> {
        let mut count = self.made.clamp(16, 1024);
        let shifts = (self.shifts - 1) * self.page;
        loop {
            match reserve(count * self.stride + shifts, self.zones.bytes() + shifts, self.page) {
                Ok(start) => {
                    (self.chunk, self.slot, self.slots) = (start, 0, count);
                    self.chunks.push((start, count * self.stride + shifts));
                    return Ok(());
                }
                Err(error) if count == 1 => return Err(NoStack::Memory(error)),
                Err(_) => count /= 2,
            }
        }
    }
}

/// Returns how much address space one page of page tables describes.
fn table(page: usize) -> usize {
    page * (page / size_of::<usize>())
}

/// Maps `bytes`, of which the first `guarded` end where a page of page tables ends. Fails, too, if that would leave too
/// little to other code.
fn reserve(bytes: usize, guarded: usize, page: usize) -> Result<usize, i32> {
    let mapped = bytes + table(page) + reserved_space();
    let start = memory::map(mapped, libc::MAP_NORESERVE | libc::MAP_STACK)?;
    let first = (start + guarded).next_multiple_of(table(page)) - guarded;
    let end = first + bytes;
    memory::unmap(start, first - start);
    memory::unmap(end, start + mapped - end);
    // A huge page under each stack would cost 2 MiB. Without support for huge pages this fails, which does no harm.
    memory::advise(first, bytes, libc::MADV_NOHUGEPAGE);
    Ok(first)
}

/// Announces a stack to Valgrind, which would take a switch for a huge frame otherwise. The request is described in
/// Valgrind's manual, "The Client Request mechanism": `STACK_REGISTER(start, end)`.
fn announce_to_valgrind(start: usize, end: usize) {
    arch::request_of_valgrind(&[0x1501, start, end, 0, 0, 0]);
}

impl<T: 'static> Drop for Stacks<T> {
    fn drop(&mut self) {
        for &(start, bytes) in &self.chunks {
            memory::unmap(start, bytes); // the stacks are not dropped by code that runs on one of them
        }
    }
}
