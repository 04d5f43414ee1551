//! Cycles of waits: a wait for what another coroutine holds or loads is given up, or not begun, if it is in one, whichever of the
//! waits has closed it.

use crate::runtime::coroutine::Info;
use crate::runtime::scheduler::Runtime;
use spindle_core::sched::{CoroutineId, Needs, State, Target, WaitReason, WakeReason};

/// Returns the conditions under which a parked coroutine continues.
fn needs(rt: &Runtime, co: CoroutineId) -> Needs {
    rt.find_object(co).map_or(Needs::Unknown, |this| this.info().needs(rt, co))
}

/// Returns `true` if `other` waits, directly or through others, for the running coroutine.
pub fn waits_for_me(rt: &Runtime, other: CoroutineId) -> bool {
    rt.core.borrow().closes_cycle(&Needs::One(Target::Coroutine(other)), |co| needs(rt, co))
}

/// Parks the running coroutine (after [`Runtime::begin_wait`]) by a wait that is given up if it is in a cycle: the coroutine is
/// woken then, and checks again.
pub fn park(rt: &'static Runtime, info: Info) -> WakeReason {
    let me = rt.core.borrow().running();
    rt.waits_to_give_up.borrow_mut().push(me);
    let reason = rt.park(None, WaitReason::Coroutines, true, Info { gives_up: true, ..info });
    rt.waits_to_give_up.borrow_mut().retain(|co| *co != me);
    reason
}

/// Returns the coroutines whose waits are to be given up because the running one, which is parked, has closed a cycle with them.
#[cold]
pub fn broken_cycles(rt: &Runtime) -> Vec<CoroutineId> {
    let core = rt.core.borrow();
    let mut waits = rt.waits_to_give_up.borrow_mut();
    // Where a fatal error or an exit has dropped the stack of one, it has not removed itself.
    waits.retain(|co| core.state(*co) == State::Parked && rt.find_object(*co).is_some_and(|this| this.info().gives_up));
    core.breaks_of_cycle(core.running(), |co| needs(rt, co), &waits)
}
