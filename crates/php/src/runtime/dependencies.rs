//! Which coroutine waits for which: to refuse a wait that would close a circle.

use crate::runtime::scheduler;
use spindle_core::sched::{CoroutineId, State};

/// How long a chain of coroutines that wait for one another is followed.
const DEPTH: usize = 100;

/// Returns `true` if `from` waits, directly or through others, for `to`: for its end, for a handle that it uses, or for
/// something that it loads.
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
    true // what waits in so long a chain, or in a circle, had better not
}

/// Returns the coroutine that it waits for, if it is parked and waits for one.
fn awaited(co: CoroutineId) -> Option<CoroutineId> {
    let rt = scheduler::existing()?;
    let this = rt.find_object(co)?;
    if rt.core.borrow().state(co) != State::Parked {
        return None; // it goes on: what is noted is of before
    }
    scheduler::find(this.info.get().awaits[0]).map(|awaited| awaited.co.get())
}
