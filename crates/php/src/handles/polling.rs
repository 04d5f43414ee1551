//! Callers that poll: they call what never waits again and again, although it has nothing to do.
//!
//! A call that never waits on stock PHP does not yield where it has done something: nothing else runs there between the call and what its
//! caller does with the result, and callers rely on that. Neither does it where it found nothing once, since many look at all their
//! streams before they wait. Only who finds nothing in the same place so many times, and nothing elsewhere, without any wait in between, must be polling.

use crate::runtime::scheduler::{CALLS_PER_LOOK, Runtime};
use spindle_zend::PhpStatic;
use std::cell::Cell;

/// A place in which the running coroutine has found nothing since it was last suspended, or has found something.
struct Found {
    picks: Cell<u32>,
    done: Cell<u64>,
    place: Cell<usize>,
    count: Cell<u32>,
    /// How often it has found nothing elsewhere since.
    elsewhere: Cell<u32>,
}

/// After so many times elsewhere the place is taken for one that nobody looks at any more.
const MAX_ELSEWHERE: u32 = 8 * CALLS_PER_LOOK;

static FOUND: PhpStatic<Found> = PhpStatic::new(Found {
    picks: Cell::new(0),
    done: Cell::new(0),
    place: Cell::new(0),
    count: Cell::new(0),
    elsewhere: Cell::new(0),
});

/// Counts what calls of libc that do not wait have done.
static DONE: PhpStatic<Cell<u64>> = PhpStatic::new(Cell::new(0));

/// Counts a call of libc that has moved data, or begun something.
#[inline(always)]
pub fn count_done() {
    DONE.set(DONE.get().wrapping_add(1));
}

/// Returns the number of such calls.
pub(crate) fn done() -> u64 {
    DONE.get()
}

/// Records that the running coroutine has found nothing to do in a place: a descriptor, or a handle's address. Returns `true` if it
/// polls, and so is to yield.
pub fn finds_nothing(rt: &'static Runtime, place: usize) -> bool {
    let was_suspended = FOUND.picks.replace(rt.picks()) != rt.picks();
    let has_done = FOUND.done.replace(done()) != done();
    if FOUND.place.get() != place {
        FOUND.elsewhere.set(FOUND.elsewhere.get() + 1);
    }
    if was_suspended || has_done || FOUND.elsewhere.get() > MAX_ELSEWHERE {
        FOUND.place.set(place);
        FOUND.count.set(0);
        FOUND.elsewhere.set(0);
    }
    if FOUND.place.get() != place {
        return false;
    }
    FOUND.count.set(FOUND.count.get() + 1);
    if FOUND.count.get() < CALLS_PER_LOOK {
        return false;
    }
    FOUND.count.set(0);
    true
}
