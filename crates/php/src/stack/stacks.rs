//! C stacks for coroutines, with the first page of their VM stack, in slots carved from big mappings.
//!
//! ```text
//!   low                                                                                high
//!   │ floor │ reserve │ wire │ C stack, grows down ◄──────── │ Ctx │ VM stack page, grows up ──► │
//!   └guarded┘         └guard.┘                             one 4K page
//! ```
//! What a parked coroutine uses of both stacks usually lies in one page. Its place in the page varies by slot, so
//! that ten thousand of them do not fight for the same cache sets.
//!
//! Address space is all that a deep stack costs, and page tables: 4 KiB for every 2 MiB in which anything is touched or
//! guarded. Large slots are therefore placed so that the guard of one and the top of the one below it share 2 MiB.
//!
//! A guard costs 10 to 30 ns for each of its pages, when the stack is made. Slots do not begin at multiples of their size:
//! what the processor keeps of the pages of a thousand stacks would all be in the same few sets of its caches.
//!
//! What the floor, the reserve and the wire are for: see `overflow`.

use crate::stack::{guard, memory};
use crate::{c, settings};
use spindle_php_sys as sys;
use spindle_zend::PhpStatic;
use std::cell::Cell;
use std::io::Error;
use std::ptr::{self, null_mut};

const VM_AREA: usize = 16 * 1024;
/// The part of a slot, below its VM page, in which `Ctx` lies.
const CTX_AREA: usize = 4096;
/// Where `Ctx` lies in that, or up to 448 bytes higher. The frames of a short function that awaits, sleeps or yields fit into the
/// page on both sides: below it those of C, above it those of PHP.
const CTX_OFFSET: usize = 2048;
/// From this size on a stack has a large reserve.
const LARGE: usize = 1 << 20;
/// What a stack may have at least, and at most where main's decides.
const LEAST: usize = 64 * 1024;
const MOST_AS_MAIN: usize = 64 << 20;
/// Large slots begin up to so many pages higher than the next multiple of their size (a prime), and by which steps.
const SHIFTS: usize = 139;
const SHIFT: usize = 67;
/// Address space that is left to others at least.
const LEFT_TO_OTHERS: usize = 64 << 20;
/// Free stacks that are kept for coroutines that must have one: those that carry out what others have left.
const KEPT_FREE: usize = 1;

/// So much of a free stack stays in memory.
const KEPT_WARM: usize = 256 * 1024;
/// What lies below is given back if any of so much of it has been used.
const LOOKED_AT: usize = 128 * 1024;
/// One in so many stacks that are given back is looked at; after a deep one, so many in a row, and so many of the others.
const LOOK_EVERY: u32 = 128;
/// So many free stacks, the next ones to be taken, stay in memory as they are.
const FREE_AS_THEY_ARE: usize = 16;
/// As many stacks stay for the next request at the most.
const KEPT: usize = 64;

/// A C stack, as it lies in memory, and where it stands while it is left. What lies at its upper end begins with this.
#[repr(C)]
pub struct Stack {
    /// The stack pointer while it is left.
    pub sp: Cell<*mut u8>,
    /// The lowest address of the C stack, above the wire; null for main.
    pub low: *mut u8,
    /// The first page of the VM stack; null for main.
    pub vm_page: sys::zend_vm_stack,
    /// The end of the VM page.
    pub vm_end: *mut u8,
    /// Its wire is open, because it has overflowed.
    pub overflowed: Cell<bool>,
}

impl Stack {
    /// Returns main's, which was not made here.
    pub const fn of_main() -> Stack {
        Stack::new(null_mut(), null_mut(), null_mut())
    }

    const fn new(low: *mut u8, vm_page: sys::zend_vm_stack, vm_end: *mut u8) -> Stack {
        Stack { sp: Cell::new(null_mut()), low, vm_page, vm_end, overflowed: Cell::new(false) }
    }

    /// Returns the upper end of the C stack, where this lies itself; not of main's.
    pub fn upper_end(&self) -> *mut u8 {
        self.low.with_addr((&raw const *self).addr())
    }
}

/// What lies at the upper end of each stack.
///
/// # Safety
/// The structure is `#[repr(C)]` and begins with a [`Stack`].
pub unsafe trait AtTop {
    /// Returns what lies on a stack in which nothing runs yet, with main's in place of that.
    fn new() -> Self;

    /// Returns the stack.
    fn stack(&self) -> &Stack;
}

static RUNNING: PhpStatic<Cell<*mut Stack>> = PhpStatic::new(Cell::new(null_mut()));

/// Returns the stack that runs; null while there is no runtime.
#[inline(always)]
pub fn running() -> *mut Stack {
    RUNNING.get()
}

/// Returns the stack that runs, if there is a runtime.
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

/// Returns where the address of the running stack lies, for the watchdog.
pub fn running_at() -> usize {
    RUNNING.as_ptr() as usize
}

/// The bytes below a C stack.
#[derive(Clone, Copy)]
pub struct Zones {
    /// Guarded until the stack overflows. A large frame that steps over it is in the reserve, or in the floor.
    pub wire: u32,
    /// Room for what runs then to come to an end. Without a guard, which would have its price.
    pub reserve: u32,
    /// Guarded. No frame steps over it: the largest that has been seen is 262,168 bytes (LZF in phpredis).
    pub floor: u32,
}

impl Zones {
    fn of(size: usize, page: usize) -> Zones {
        let reserve = if size >= LARGE { 240 << 10 } else { 48 << 10 };
        let round = |bytes: usize| bytes.next_multiple_of(page) as u32;
        Zones { wire: round(16 << 10), reserve: round(reserve), floor: round(384 << 10) }
    }

    /// Bytes that are opened.
    pub fn above_floor(self) -> usize {
        self.wire as usize + self.reserve as usize
    }

    fn bytes(self) -> usize {
        self.above_floor() + self.floor as usize
    }
}

/// The bytes of a C stack that the settings ask for.
pub fn wanted_size() -> usize {
    match settings::current().stack_size {
        0 => size_of_main(),
        size => size as usize,
    }
}

/// How deep main's stack may grow, where that is a sensible number.
fn size_of_main() -> usize {
    limit(libc::RLIMIT_STACK).unwrap_or(MOST_AS_MAIN).clamp(256 * 1024, MOST_AS_MAIN)
}

/// Address space that stacks leave to others, a share of what there is: PHP's heap has to grow as well.
fn left_to_others() -> usize {
    (limit(libc::RLIMIT_AS).unwrap_or(0) / 4).max(LEFT_TO_OTHERS)
}

/// A limit of the process, if it has one.
fn limit(which: libc::__rlimit_resource_t) -> Option<usize> {
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
    /// The mappings: where, and how long.
    chunks: Vec<(usize, usize)>,
    /// The last one, its first slot that was not made yet, and how many it has.
    chunk: usize,
    slot: usize,
    slots: usize,
    /// In how many places slots begin, in pages.
    shifts: usize,
    made: usize,
    /// How many of the guards have mappings of their own.
    mapped: usize,
    /// How many are given back until one is looked at, how many of the next ones are all looked at, and where among the
    /// free ones to look besides.
    until_look: u32,
    looks: u32,
    cursor: usize,
}

/// Why there is no further stack, by an `errno`.
#[derive(Clone, Copy, Debug)]
pub enum NoStack {
    /// `mmap(2)` failed.
    Memory(i32),
    /// The guard could not be made, or only with the last of the mappings.
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
    /// C stacks of `size` bytes each at least. They get a tenth more: calls of functions that are trampolined take so much
    /// more than on a stack without coroutines.
    pub fn new(size: usize) -> Stacks<T> {
        let page = memory::page_size();
        let size = size.max(LEAST).next_multiple_of(page);
        let zones = Zones::of(size, page);
        let top = (size / 10 + VM_AREA + CTX_AREA).next_multiple_of(page);
        let mut stride = zones.bytes() + size + top;
        let shifts = if stride > table(page) { SHIFTS } else { 1 };
        if shifts > 1 {
            stride = (stride + SHIFTS * page).next_multiple_of(table(page)); // the rest makes the C stack deeper
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
            until_look: LOOK_EVERY,
            looks: 0,
            cursor: 0,
        }
    }

    /// Bytes of a C stack.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns `true` if stacks of the wanted size `size` are of this size.
    pub fn are_of(&self, size: usize) -> bool {
        self.size == Stacks::<T>::new(size).size
    }

    /// How many have been made.
    pub fn made(&self) -> usize {
        self.made
    }

    /// What lies below each.
    pub fn zones(&self) -> Zones {
        self.zones
    }

    /// Returns a stack nobody uses, the last one given back first, unless it is one of those that are kept. Like all of them it
    /// lasts as long as this: nothing of any is used when this is dropped.
    #[inline]
    pub fn take(&mut self) -> Option<&'static T> {
        if self.free.len() > KEPT_FREE { self.free.pop() } else { None }
    }

    /// A new stack; when there can be none and `last` says so, one that was kept.
    ///
    /// # Errors
    /// [`NoStack`] when the kernel gives no more.
    #[cold]
    pub fn make_or_last(&mut self, last: bool) -> Result<&'static T, NoStack> {
        while self.free.len() < KEPT_FREE && self.made < KEPT_FREE {
            let kept = self.make()?;
            self.free.push(kept);
        }
        match self.make() {
            Err(error) if last => self.free.pop().ok_or(error),
            result => result,
        }
    }

    /// Gives a stack back. It may still be the running one, at its top, until the switch that leaves it.
    #[inline]
    pub fn put(&mut self, ctx: &'static T) {
        self.free.push(ctx);
        self.until_look -= 1;
        if self.until_look == 0 {
            self.look();
        }
    }

    /// What deep calls have used of a free stack goes back to the kernel: of the one that is now too far from being taken
    /// again, and of one more, so that the turn of all comes.
    #[cold]
    fn look(&mut self) {
        self.looks = self.looks.saturating_sub(1);
        if self.free.len() > FREE_AS_THEY_ARE && self.size >= KEPT_WARM + LOOKED_AT + self.page {
            let others = self.free.len() - FREE_AS_THEY_ARE;
            self.cursor = (self.cursor + 1) % others;
            for ctx in [self.free[others - 1], self.free[self.cursor]] {
                if self.cool(ctx) {
                    self.looks = LOOK_EVERY;
                }
            }
        }
        self.until_look = if self.looks > 0 { 1 } else { LOOK_EVERY };
    }

    /// Gives back the pages of a free stack that has been used deeply. Returns `true` if it was.
    fn cool(&self, ctx: &T) -> bool {
        let low = ctx.stack().low as usize;
        let warm = (ctx.stack().upper_end() as usize - KEPT_WARM) / self.page * self.page;
        let mut known = [0u8; LOOKED_AT / 4096];
        memory::is_any_resident(warm - LOOKED_AT, &mut known[..LOOKED_AT / self.page])
            && memory::advise(low, warm - low, libc::MADV_DONTNEED)
    }

    #[cold]
    fn make(&mut self) -> Result<&'static T, NoStack> {
        if self.slot == self.slots {
            self.map()?;
        }
        let start = self.start_of(self.slot);
        let kind = guard::install(start, self.zones, self.mapped).map_err(NoStack::Guard)?;
        self.mapped += usize::from(kind == guard::Kind::Mapped);
        self.slot += 1;
        let end = self.start_of(self.slot);
        let low = start + self.zones.bytes();
        let colour = (self.made % 8) * 64;
        self.made += 1;
        let ctx = (end - VM_AREA - CTX_AREA + CTX_OFFSET + colour) as *mut T;
        let vm_page = (ctx as usize + size_of::<T>()).next_multiple_of(64);
        let stack = Stack::new(low as *mut u8, vm_page as sys::zend_vm_stack, end as *mut u8);
        // SAFETY: it is 64-aligned and lies, like the VM page after it, in the slot that was just carved.
        unsafe { ctx.write(T::new()) };
        // SAFETY: what lies there begins with its stack.
        unsafe { ctx.cast::<Stack>().write(stack) };
        tell_valgrind(start + self.zones.floor as usize, ctx as usize);
        // SAFETY: just made. It lasts as long as `self`, see `take`.
        Ok(unsafe { &*ctx })
    }

    /// Nobody runs on any of them, and nobody will go on. Says whether they are worth keeping: few, and none of them
    /// was left in the middle.
    pub fn are_worth_keeping(&self) -> bool {
        self.free.len() == self.made && self.made <= KEPT
    }

    /// Where a slot of the last mapping starts, and the one below it ends.
    fn start_of(&self, slot: usize) -> usize {
        self.chunk + slot * self.stride + slot * SHIFT % self.shifts * self.page
    }

    /// Maps more slots: as many again, or as many as there is room for.
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

/// How much of the address space one page of page tables describes.
fn table(page: usize) -> usize {
    page * (page / size_of::<usize>())
}

/// Maps `bytes`, the first `guarded` of which end where a page of page tables ends. Fails also when that would leave too
/// little to others.
fn reserve(bytes: usize, guarded: usize, page: usize) -> Result<usize, i32> {
    let mapped = bytes + table(page) + left_to_others();
    let start = memory::map(mapped, libc::MAP_NORESERVE | libc::MAP_STACK)?;
    let first = (start + guarded).next_multiple_of(table(page)) - guarded;
    let end = first + bytes;
    memory::unmap(start, first - start);
    memory::unmap(end, start + mapped - end);
    // A huge page under every stack would cost 2 MiB each. Where there are none, it fails, and may.
    memory::advise(first, bytes, libc::MADV_NOHUGEPAGE);
    Ok(first)
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

impl<T: 'static> Drop for Stacks<T> {
    fn drop(&mut self) {
        for &(start, bytes) in &self.chunks {
            memory::unmap(start, bytes); // what drops the stacks runs on none of them
        }
    }
}
