//! Callers that poll: they call a function that never waits again and again, although it has nothing to do.
//!
//! A call that never waits on stock PHP does not yield after it has done something: no other code runs there between the call and
//! the use of its result, and callers rely on that. Nor does it yield the first time it finds nothing, since many callers check all
//! their streams before they wait. A caller that comes back to a place again and again, and finds nothing there or elsewhere,
//! without a wait or a look for events in between, must be polling. A coroutine that makes very many calls yields whatever they
//! find, so that it does not starve the others.

use crate::c;
use crate::runtime::pick::CALLS_PER_POLL;
use crate::runtime::scheduler::Runtime;
use spindle_zend::PhpStatic;
use std::cell::Cell;

/// A place in which the running coroutine has found nothing since it was last suspended, or has found something.
struct Found {
    picks: Cell<u64>,
    done: Cell<u64>,
    /// How many calls without a wait or a look for events there were at that time.
    calls: Cell<u32>,
    place: Cell<usize>,
    count: Cell<u32>,
    /// How often it has found nothing elsewhere since it was there.
    elsewhere: Cell<u32>,
}

/// After this many times elsewhere, the coroutine counts as one that has stopped polling the place.
const MAX_ELSEWHERE: u32 = 8 * CALLS_PER_POLL;

/// This many calls without a wait or a look for events are more than the rounds of a client make before it has taken everything
/// that there is. The number is no smaller, because a yield in the middle of a round lets others close the streams that are still
/// to come in it, as with Symfony's client.
const MAX_CALLS: u32 = 2048 * CALLS_PER_POLL;

static FOUND: PhpStatic<Found> = PhpStatic::new(Found {
    picks: Cell::new(0),
    done: Cell::new(0),
    calls: Cell::new(0),
    place: Cell::new(0),
    count: Cell::new(0),
    elsewhere: Cell::new(0),
});

/// The number of libc calls that have moved data, or begun something, without a wait.
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

/// Returns `true` if the running coroutine has made enough calls without a wait to have to yield, whatever they have found.
pub fn has_made_many() -> bool {
    c::spindle_calls_without_park.get() >= MAX_CALLS
}

/// Records that the running coroutine has found nothing to do in a place: a descriptor, or a handle's address. Returns `true` if it
/// polls, and so is to yield.
pub fn finds_nothing(rt: &'static Runtime, place: usize) -> bool {
    let calls = c::spindle_calls_without_park.get();
    let was_suspended = FOUND.picks.replace(rt.picks()) != rt.picks();
    let has_looked = FOUND.calls.replace(calls) > calls;
    let has_done = FOUND.done.replace(done()) != done();
    if was_suspended || has_looked || has_done {
        begin_at(place);
    }
    if FOUND.place.get() == place {
        FOUND.count.set(FOUND.count.get() + 1);
        FOUND.elsewhere.set(0);
    } else {
        FOUND.elsewhere.set(FOUND.elsewhere.get() + 1);
    }
    let polls = FOUND.count.get() >= CALLS_PER_POLL || has_made_many();
    if polls || FOUND.elsewhere.get() > MAX_ELSEWHERE {
        begin_at(place);
    }
    polls
}

/// Begins to count what is found from this place on.
fn begin_at(place: usize) {
    FOUND.place.set(place);
    FOUND.count.set(0);
    FOUND.elsewhere.set(0);
}
