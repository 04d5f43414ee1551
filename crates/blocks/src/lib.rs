//! The allocator of Rust code: malloc, with lists of freed blocks for one thread.
//!
//! A server has as many requests in progress as there are connections that were ready, and each frees what it has allocated
//! after all of them have allocated it. glibc keeps seven freed blocks of a size at hand, and searches and merges for the others,
//! which takes a hundred instructions and more each.
//!
//! Each block is one of malloc's, of the size of its class. So any thread can free it, and those that are not kept, or belong to
//! no class, go to malloc.

#![deny(clippy::multiple_unsafe_ops_per_block)]

use spindle_interpose::host::thread_pointer;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The smallest block of malloc's. Further classes are in steps of [`STEP`], as malloc's own are.
const LEAST: usize = 24;
const STEP: usize = 16;
const SMALL: usize = LEAST + 63 * STEP;
/// From there to this size they are in larger steps.
const LARGE: usize = SMALL + 32 * LARGE_STEP;
const LARGE_STEP: usize = 256;
const SMALL_CLASSES: usize = class_of(SMALL) + 1;
const CLASSES: usize = class_of(LARGE) + 1;

/// How many bytes of each small class are kept, and how many blocks of each large one.
const SMALL_KEPT: usize = 128 << 10;
const LARGE_KEPT: u32 = 64;

/// The alignment of all blocks of malloc's.
const ALIGNMENT: usize = 16;

const fn class_of(size: usize) -> usize {
    if size <= SMALL {
        size.saturating_sub(LEAST).div_ceil(STEP)
    } else {
        (SMALL - LEAST) / STEP + (size - SMALL).div_ceil(LARGE_STEP)
    }
}

const fn size_of_class(class: usize) -> usize {
    if class < SMALL_CLASSES { LEAST + class * STEP } else { SMALL + (class - SMALL_CLASSES + 1) * LARGE_STEP }
}

/// How many blocks of each class are kept.
const MOST: [u32; CLASSES] = {
    let (mut most, mut class) = ([LARGE_KEPT; CLASSES], 0);
    while class < SMALL_CLASSES {
        most[class] = (SMALL_KEPT / size_of_class(class)) as u32;
        class += 1;
    }
    most
};

/// Freed blocks of one class. The first word of each is the address of the next one.
struct List {
    first: Cell<*mut u8>,
    count: Cell<u32>,
}

struct Lists([List; CLASSES]);

// SAFETY: used by the thread that `OWNER` names alone, as long as it lives.
unsafe impl Sync for Lists {}

static LISTS: Lists = Lists([const { List { first: Cell::new(null_mut()), count: Cell::new(0) } }; CLASSES]);

/// The thread pointer of the thread that keeps blocks; 0 for none.
static OWNER: AtomicUsize = AtomicUsize::new(0);

/// From now on blocks that this thread frees are kept for it. There is one such thread in a process, the first to call this.
pub fn keep() {
    // With AddressSanitizer a freed block must be known as freed.
    if !cfg!(asan) {
        let _ = OWNER.compare_exchange(0, thread_pointer(), Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Gives the blocks that this thread keeps to malloc, and free pages to the system.
pub fn release() {
    for class in 0..CLASSES {
        while let Some(block) = Blocks::take(class) {
            // SAFETY: a block of this class, which is not in use.
            unsafe { System.dealloc(block, whole(class)) };
        }
    }
    #[cfg(target_env = "gnu")]
    // SAFETY: it changes nothing that is used.
    unsafe {
        libc::malloc_trim(0)
    };
}

/// Returns the lists, if they are those of this thread.
#[inline(always)]
fn lists() -> Option<&'static [List; CLASSES]> {
    (OWNER.load(Ordering::Relaxed) == thread_pointer()).then_some(&LISTS.0)
}

/// Returns the class for this layout; `None` if the layout goes to malloc unchanged.
#[inline(always)]
fn class(layout: Layout) -> Option<usize> {
    (layout.size() <= LARGE && layout.align() <= ALIGNMENT).then(|| class_of(layout.size()))
}

/// Returns the layout of the blocks of a class.
#[inline(always)]
fn whole(class: usize) -> Layout {
    // SAFETY: a power of two, and a size far below the largest one.
    unsafe { Layout::from_size_align_unchecked(size_of_class(class), ALIGNMENT) }
}

/// The allocator.
pub struct Blocks;

impl Blocks {
    /// Takes a block of a class that is kept.
    #[inline(always)]
    fn take(class: usize) -> Option<*mut u8> {
        let list = &lists()?[class];
        let first = list.first.get();
        if first.is_null() {
            return None;
        }
        // SAFETY: a block that `put` has put here, with the address of the next one.
        let next = unsafe { first.cast::<*mut u8>().read() };
        list.first.set(next);
        list.count.set(list.count.get() - 1);
        Some(first)
    }

    /// Keeps a block of a class. Returns `false` if there are enough.
    #[inline(always)]
    fn put(class: usize, block: *mut u8) -> bool {
        let Some(lists) = lists() else { return false };
        let list = &lists[class];
        if list.count.get() >= MOST[class] {
            return false;
        }
        // SAFETY: a block that is not in use, of 8 bytes at least.
        unsafe { block.cast::<*mut u8>().write(list.first.get()) };
        list.first.set(block);
        list.count.set(list.count.get() + 1);
        true
    }
}

// SAFETY: each block is one of the system's, at least as large and as aligned as the layout demands, and is in a list only while it
// is free. A block of a class has its size, whoever has allocated it, so each that is freed can be kept.
unsafe impl GlobalAlloc for Blocks {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class(layout) else {
            // SAFETY: the caller's layout.
            return unsafe { System.alloc(layout) };
        };
        if let Some(block) = Blocks::take(class) {
            return block;
        }
        // SAFETY: a size that is not zero.
        unsafe { System.alloc(whole(class)) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match class(layout) {
            // SAFETY: what the caller has allocated with this layout.
            None => unsafe { System.dealloc(block, layout) },
            Some(class) if Blocks::put(class, block) => {}
            // SAFETY: it was allocated with this layout.
            Some(class) => unsafe { System.dealloc(block, whole(class)) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class(layout) else {
            // SAFETY: the caller's layout.
            return unsafe { System.alloc_zeroed(layout) };
        };
        let Some(block) = Blocks::take(class) else {
            // SAFETY: a size that is not zero.
            return unsafe { System.alloc_zeroed(whole(class)) };
        };
        // SAFETY: a block of this size at least.
        unsafe { ptr::write_bytes(block, 0, layout.size()) };
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise: the size does not overflow with this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let (before, after) = (class(layout), class(wanted));
        match (before, after) {
            (Some(before), Some(after)) if before == after => block,
            (None, None) => {
                // SAFETY: the caller's block and layout.
                unsafe { System.realloc(block, layout, size) }
            }
            // The alignment is that of all blocks: else there was no class.
            _ => {
                // A kept block first: otherwise classes to which others grow would only ever get more.
                if let Some(new) = after.and_then(Blocks::take) {
                    // SAFETY: two blocks, each as large as this at least.
                    unsafe { ptr::copy_nonoverlapping(block, new, size.min(layout.size())) };
                    // SAFETY: the caller's block and layout.
                    unsafe { self.dealloc(block, layout) };
                    return new;
                }
                let had = before.map_or(layout, whole);
                // SAFETY: what it was allocated with, and the size of a class or the size that the caller wants.
                unsafe { System.realloc(block, had, after.map_or(size, size_of_class)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Blocks = Blocks;

    #[test]
    fn each_size_fits_its_class() {
        for size in 1..=LARGE {
            let class = class_of(size);
            assert!(size_of_class(class) >= size, "{size}");
            assert!(class == 0 || size_of_class(class - 1) < size, "{size} is in a class too large");
            assert_eq!(class_of(size_of_class(class)), class);
        }
        assert_eq!(class_of(LARGE), CLASSES - 1);
        assert_eq!(size_of_class(CLASSES - 1), LARGE);
    }

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    fn allocate(size: usize) -> *mut u8 {
        // SAFETY: a size that is not zero.
        let block = unsafe { Blocks.alloc(layout(size)) };
        assert!(!block.is_null());
        // SAFETY: as large as that.
        unsafe { block.write_bytes(0xa5, size) };
        block
    }

    fn free(block: *mut u8, size: usize) {
        // SAFETY: allocated by `allocate`, with this size.
        unsafe { Blocks.dealloc(block, layout(size)) };
    }

    fn kept(size: usize) -> u32 {
        LISTS.0[class_of(size)].count.get()
    }

    /// One test, because there is one thread that keeps blocks.
    #[test]
    fn blocks_are_kept() {
        // Of sizes that nothing else here uses.
        let (small, large) = (720, 5001);
        let most = MOST[class_of(small)];
        let block = allocate(small);
        free(block, small);
        assert_eq!(kept(small), 0, "no thread keeps them yet");
        keep();
        let all: Vec<_> = (0..most + 10).map(|_| allocate(small)).collect();
        all.iter().for_each(|block| free(*block, small));
        assert_eq!(kept(small), most);
        // The last one is the first to be used again, also for another size of the class.
        let again = allocate(small - 1);
        assert_eq!(again, all[most as usize - 1]);
        assert_eq!(kept(small), most - 1);
        free(again, small - 1);

        let all: Vec<_> = (0..LARGE_KEPT + 10).map(|_| allocate(large)).collect();
        all.iter().for_each(|block| free(*block, large));
        assert_eq!(kept(large), LARGE_KEPT);
        // SAFETY: a size that is not zero.
        let zeroed = unsafe { Blocks.alloc_zeroed(layout(large)) };
        // SAFETY: as large as that.
        assert!(unsafe { std::slice::from_raw_parts(zeroed, large) }.iter().all(|byte| *byte == 0));
        free(zeroed, large);

        // Another thread uses malloc, also for what this one has allocated.
        let block = allocate(small) as usize;
        let before = kept(small);
        let other = std::thread::spawn(move || {
            free(block as *mut u8, small);
            let other = allocate(small);
            keep();
            free(other, small);
            allocate(small) as usize
        });
        let block = other.join().unwrap() as *mut u8;
        assert_eq!(kept(small), before);
        free(block, small);
        assert_eq!(kept(small), before + 1);

        // What grows into a class uses what is kept of it.
        let grown = 600;
        for _ in 0..10 {
            let block = allocate(30);
            // SAFETY: allocated with this size.
            let block = unsafe { Blocks.realloc(block, layout(30), grown) };
            free(block, grown);
        }
        assert_eq!(kept(grown), 1);

        // A block grows and shrinks through all kinds of sizes, and keeps what is in it.
        let (mut block, mut size) = (allocate(10), 10);
        for next in [20, 24, 25, 900, 1032, 1033, 2000, LARGE, LARGE + 1, 100_000, LARGE + 7, 5000, 30, 3] {
            // SAFETY: allocated with this size.
            block = unsafe { Blocks.realloc(block, layout(size), next) };
            // SAFETY: as large as that.
            assert!(unsafe { std::slice::from_raw_parts(block, size.min(next)) }.iter().all(|byte| *byte == 0xa5));
            // SAFETY: as above.
            unsafe { block.write_bytes(0xa5, next) };
            size = next;
        }
        free(block, size);

        // All of them go to malloc, which has them for other sizes too.
        let all: Vec<_> = (0..LARGE_KEPT).map(|_| allocate(large)).collect();
        all.iter().for_each(|block| free(*block, large));
        release();
        assert_eq!(LISTS.0.iter().map(|list| list.count.get()).sum::<u32>(), 0);
        assert!(LISTS.0.iter().all(|list| list.first.get().is_null()));

        let aligned = Layout::from_size_align(100, 64).unwrap();
        // SAFETY: a size that is not zero.
        let block = unsafe { Blocks.alloc(aligned) };
        assert_eq!(block as usize % 64, 0);
        // SAFETY: allocated with this layout.
        let block = unsafe { Blocks.realloc(block, aligned, 200) };
        assert_eq!(block as usize % 64, 0);
        // SAFETY: allocated with this alignment and size.
        unsafe { Blocks.dealloc(block, Layout::from_size_align(200, 64).unwrap()) };
    }
}
