//! The block of results that PCRE's functions share, and who may use it.
//!
//! ext/pcre allocates one block for the offsets of a match, with room for most patterns, and a mark that says that it is in use: a
//! call that finds the mark allocates a block of its own. `preg_replace_callback()` and `preg_replace_callback_array()` set the
//! mark, if their pattern fits, and restore what they have found at the end of each pattern. `preg_grep()` uses the block
//! without the mark. All three call PHP code meanwhile, and expect to find there what they have left. Calls that are nested end in
//! the opposite order, and this is enough for them; calls that are suspended end in any order.
//!
//! So the block belongs to the call that has begun when no other one was in progress. All others find the mark: it is set before
//! a call begins in the middle of others, whenever a coroutine is suspended while calls are in progress, and when a call ends
//! before others. No call waits for another one.
//!
//! Nothing else is kept by a call. The compiled pattern is counted, so the cache does not drop it, and the stack of compiled code
//! is used while PCRE matches, where no PHP code runs. Read for PHP 8.2 to 8.5.

use crate::handles::kinds::CallKind;
use crate::isolation::foreign::foreign;
use spindle_zend::PhpStatic;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::NonNull;

foreign! {
    /// The functions by which other extensions use the block. The first returns it and sets its mark, if it is free and has room
    /// for this many groups; otherwise one for the pattern. The second clears the mark if it is given the block, and frees any
    /// other one.
    struct Pcre {
        take = c"php_pcre_create_match_data": unsafe extern "C" fn(u32, NonNull<c_void>) -> *mut c_void,
        give_back = c"php_pcre_free_match_data": unsafe extern "C" fn(*mut c_void),
    }
}

/// The block that is shared.
#[derive(Clone, Copy)]
struct Block {
    pcre: Pcre,
    block: *mut c_void,
}

struct Matches {
    block: Cell<Option<Block>>,
    /// The number of calls in progress. Calls that a bailout has ended are counted until the request ends.
    in_progress: Cell<u32>,
    /// The mark has been set here.
    is_marked: Cell<bool>,
}

static MATCHES: PhpStatic<Matches> =
    PhpStatic::new(Matches { block: Cell::new(None), in_progress: Cell::new(0), is_marked: Cell::new(false) });

/// Looks up the block. At module start, when it is free.
pub fn module_starts() {
    if let Some(pcre) = Pcre::find() {
        let block = take(pcre);
        MATCHES.block.set(NonNull::new(block).map(|_| Block { pcre, block }));
        // SAFETY: what `take` has returned: the block, because no call is in progress.
        unsafe { (pcre.give_back)(block) };
    }
}

/// Takes the block, which is free.
fn take(pcre: Pcre) -> *mut c_void {
    // SAFETY: the block is free and has room for one group, so the pattern is not read.
    unsafe { (pcre.take)(1, NonNull::dangling()) }
}

/// Returns the kind of calls that may use the block while PHP code runs.
pub(crate) fn kind() -> CallKind {
    MATCHES.block.get().map_or(CallKind::Alone, |_| CallKind::Matches)
}

/// Sets the mark, or clears it.
#[cold]
fn mark(is_in_use: bool) {
    let Some(Block { pcre, block }) = MATCHES.block.get() else { return };
    // SAFETY: the block: this clears the mark.
    unsafe { (pcre.give_back)(block) };
    if is_in_use {
        take(pcre);
    }
    MATCHES.is_marked.set(is_in_use);
}

/// Notes that a call begins.
pub(crate) fn begins() {
    if MATCHES.in_progress.replace(MATCHES.in_progress.get() + 1) > 0 {
        mark(true);
    }
}

/// Notes that a call has ended.
pub(crate) fn ended() {
    let others = MATCHES.in_progress.get().saturating_sub(1);
    MATCHES.in_progress.set(others);
    if others > 0 || MATCHES.is_marked.get() {
        mark(others > 0);
    }
}

/// Sets the mark for what runs while the running coroutine is suspended.
#[inline(always)]
pub fn suspending() {
    if MATCHES.in_progress.get() > 0 {
        mark(true);
    }
}

/// Forgets the calls that the request's end has abandoned.
pub(crate) fn request_ends() {
    MATCHES.in_progress.set(0);
    if MATCHES.is_marked.get() {
        mark(false);
    }
}
