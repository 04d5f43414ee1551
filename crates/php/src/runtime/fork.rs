//! The child of a fork, in which only the forking coroutine lives on.

use crate::runtime::coroutine::{CoroutineObject, NO_SLOT};
use crate::runtime::scheduler::Runtime;
use crate::runtime::scope;
use crate::stack::memory;
use spindle_zend::{PhpStatic, exception};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// A word that is 1 in the process that activated this module, and that the kernel clears in each child, even if the
/// fork bypasses `pthread_atfork` (`_Fork`, a raw `clone`).
static GENERATION: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());

#[inline(always)]
fn generation() -> Option<&'static AtomicU32> {
    // SAFETY: null, or a page that this module has mapped and never unmaps.
    unsafe { GENERATION.load(Ordering::Relaxed).as_ref() }
}

/// Returns `true` if this is a child of the process that activated this module, and [`in_child`] has not run yet.
#[inline(always)]
pub fn forked_unseen() -> bool {
    generation().is_some_and(|word| word.load(Ordering::Relaxed) == 0)
}

/// Marks this process as the one in which the module is active.
pub fn mark_generation() {
    if generation().is_none() {
        GENERATION.store(wiped_page(), Ordering::Relaxed);
    }
    if let Some(word) = generation() {
        word.store(1, Ordering::Relaxed);
    }
}

/// Returns a page that the kernel clears in each child; null if it cannot, in which case only `pthread_atfork` detects
/// forks.
fn wiped_page() -> *mut AtomicU32 {
    const PAGE: usize = 4096;
    let Ok(page) = memory::map(PAGE, 0) else { return null_mut() };
    if memory::advise(page, PAGE, libc::MADV_WIPEONFORK) {
        return page as *mut AtomicU32;
    }
    memory::unmap(page, PAGE);
    null_mut()
}

/// Whether this process is a child in which coroutines of its parent are not there.
static IS_IN_CHILD: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// Returns whether this process is the child of one in which there were coroutines.
pub fn is_in_child() -> bool {
    IS_IN_CHILD.get()
}

/// Sets up a child process, however it was forked.
pub fn in_child(rt: &'static Runtime) {
    mark_generation();
    IS_IN_CHILD.set(true);
    spindle_interpose::reset_wait_queues();
    rt.after_fork();
    let running = rt.running();
    let is_of_call = scope::leave_calls(rt) && (running.acts_for.get().0 != NO_SLOT || running.runs_rust());
    ORPHAN.set(if is_of_call { rt.context().id.get() } else { 0 });
}

/// The coroutine that has forked, if a call in the parent waits for it; 0 if there is none.
static ORPHAN: PhpStatic<Cell<u64>> = PhpStatic::new(Cell::new(0));

/// The code of an orphan has ended. If it has returned to the call for which it ran, that is an error: nothing goes on.
#[cold]
pub fn ends_without_caller(this: &CoroutineObject) {
    if !exception::is_in_flight() {
        let text = "The child of a fork cannot return from a function that group(), withTimeout() or the like has called: their caller is in \
            the parent. End the child with exit()";
        let _ = exception::throw_error(text);
        if let Some(error) = exception::in_flight() {
            exception::set_position(&error, this.spawned_at.file().as_deref(), this.spawned_at.line());
        }
    }
}

/// Returns whether calls that wait for the running coroutine are in the parent of this process.
pub fn is_orphan(rt: &'static Runtime) -> bool {
    ORPHAN.get() != 0 && ORPHAN.get() == rt.context().id.get()
}
