//! The child of a fork, in which only the forking coroutine lives on.

use crate::runtime::scheduler::Runtime;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// A word that is 1 in the process that activated us, and that the kernel wipes in any child, also in one whose fork
/// passes by `pthread_atfork` (`_Fork`, a raw `clone`).
static GENERATION: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());

#[inline(always)]
fn generation() -> Option<&'static AtomicU32> {
    // SAFETY: null, or a page of ours that is never unmapped.
    unsafe { GENERATION.load(Ordering::Relaxed).as_ref() }
}

/// Returns `true` if this is a child of the process that activated us, and [`in_child`] has not run yet.
#[inline(always)]
pub fn forked_unseen() -> bool {
    generation().is_some_and(|word| word.load(Ordering::Relaxed) == 0)
}

/// Notes that this process has been seen.
pub fn mark_generation() {
    if generation().is_none() {
        GENERATION.store(wiped_page(), Ordering::Relaxed);
    }
    if let Some(word) = generation() {
        word.store(1, Ordering::Relaxed);
    }
}

/// Returns a page that the kernel wipes in any child; null where there is none, and what `pthread_atfork` sees is seen.
fn wiped_page() -> *mut AtomicU32 {
    const PAGE: usize = 4096;
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new private mapping, at an address of the kernel's choice.
    let page = unsafe { libc::mmap(null_mut(), PAGE, access, flags, -1, 0) };
    if page == libc::MAP_FAILED {
        return null_mut();
    }
    // SAFETY: the page above.
    if unsafe { libc::madvise(page, PAGE, libc::MADV_WIPEONFORK) } == 0 {
        return page.cast();
    }
    // SAFETY: as above; nobody knows it.
    unsafe { libc::munmap(page, PAGE) };
    null_mut()
}

/// What a child does first, whoever forked it.
pub fn in_child(rt: &'static Runtime) {
    mark_generation();
    spindle_interpose::reset_wait_queues();
    rt.after_fork();
}
