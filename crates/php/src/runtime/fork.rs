//! The child of a fork, in which only the forking coroutine lives on.

use crate::runtime::scheduler::Runtime;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// A word that is 1 in the process that activated us, and that the kernel wipes in any child, also in one whose fork
/// passes by `pthread_atfork` (`_Fork`, a raw `clone`).
static GENERATION: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());

/// Is this a child of the process that activated us, and have we not yet seen that?
#[inline(always)]
pub fn forked_unseen() -> bool {
    // SAFETY: null, or a page of ours that is never unmapped.
    unsafe { GENERATION.load(Ordering::Relaxed).as_ref() }.is_some_and(|word| word.load(Ordering::Relaxed) == 0)
}

pub fn mark_generation() {
    let mut word = GENERATION.load(Ordering::Relaxed);
    if word.is_null() {
        const PAGE: usize = 4096;
        // SAFETY: a new private mapping, never unmapped once it is in use.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(std::ptr::null_mut(), PAGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if page == libc::MAP_FAILED {
                return; // what `pthread_atfork` sees is seen
            }
            if libc::madvise(page, PAGE, libc::MADV_WIPEONFORK) != 0 {
                libc::munmap(page, PAGE);
                return;
            }
            word = page.cast();
        }
        GENERATION.store(word, Ordering::Relaxed);
    }
    // SAFETY: the page above.
    unsafe { (*word).store(1, Ordering::Relaxed) };
}

/// What a child does first, whoever forked it.
pub fn in_child(rt: &'static Runtime) {
    mark_generation();
    spindle_interpose::reset_wait_queues();
    rt.after_fork();
}
