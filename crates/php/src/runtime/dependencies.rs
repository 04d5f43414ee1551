//! Dependencies between waiting coroutines: a wait that would close a cycle is refused.

use crate::runtime::scheduler::{self, Runtime};
use spindle_core::sched::{CoroutineId, State};

/// How many steps a chain of waiting coroutines is followed.
const DEPTH: usize = 100;

/// Returns `true` if `from` waits, directly or through others, for `to`: for its end, for a handle that it uses, or for
/// a class or file that it loads.
pub fn depends_on(rt: &Runtime, from: CoroutineId, to: CoroutineId) -> bool {
    let mut from = from;
    for _ in 0..DEPTH {
        if from == to {
            return true;
        }
        match awaited(rt, from) {
            Some(next) => from = next,
            None => return false,
        }
    }
    true // a cycle, or a chain so long that it is treated as one
}

/// Returns the coroutine that a parked coroutine waits for, if any.
fn awaited(rt: &Runtime, co: CoroutineId) -> Option<CoroutineId> {
    let this = rt.find_object(co)?;
    if rt.core.borrow().state(co) != State::Parked {
        return None; // it is no longer parked, and its `info` is outdated
    }
    let info = this.info();
    let held_by = info.holders.map_or(0, |holders| (holders.0)(holders.1)[0]);
    let id = if info.awaits[0] != 0 { info.awaits[0] } else { held_by };
    scheduler::find(rt, id).map(|awaited| awaited.co.get())
}
