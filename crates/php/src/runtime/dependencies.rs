//! Which coroutine waits for which: to refuse a wait that would close a circle.

use crate::runtime::scheduler;
use spindle_core::sched::{CoroutineId, State};

/// How long a row of coroutines that wait for one another is followed.
const DEPTH: usize = 100;

/// Does `from` wait, directly or through others, for `to`? For its end, for a handle that it uses, or for something that it
/// loads.
pub fn depends_on(from: CoroutineId, to: CoroutineId) -> bool {
    let mut from = from;
    for _ in 0..DEPTH {
        if from == to {
            return true;
        }
        match awaited(from) {
            Some(next) => from = next,
            None => return false,
        }
    }
    true // who waits in so long a row, or in a circle, had better not
}

/// The coroutine that it waits for, if it is parked and waits for one.
fn awaited(co: CoroutineId) -> Option<CoroutineId> {
    let rt = scheduler::existing()?;
    let this = rt.object(co);
    if this.is_null() || rt.core.borrow().state(co) != State::Parked {
        return None; // it goes on: what is noted is of before
    }
    // SAFETY: an object in the runtime's table is alive, and so is one that is found there.
    unsafe { scheduler::find((*this).info.awaits[0]).map(|awaited| (*awaited).co) }
}
