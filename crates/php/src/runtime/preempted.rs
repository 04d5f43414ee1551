//! Coroutines that were made to give way where they compute, in favour of those of other instances only: until one continues, none
//! of its own instance runs.

use crate::isolation::instance::Instance;
use crate::runtime::scheduler::Runtime;
use spindle_core::sched::{CoroutineId, Next};
use spindle_zend::PhpStatic;
use std::cell::RefCell;

/// Each of them, with its instance; the script's is `None`.
static ALL: PhpStatic<RefCell<Vec<(Option<Instance>, CoroutineId)>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// Lets coroutines of other instances run, and returns when this one is picked again.
pub fn yield_to_other_instances(rt: &'static Runtime) {
    let me = rt.core.borrow().running();
    ALL.borrow_mut().push((Instance::running(), me));
    rt.maybe_yield();
    ALL.borrow_mut().retain(|(_, co)| *co != me);
}

/// Forgets them: no coroutine runs again, or only one.
pub fn forget() {
    ALL.borrow_mut().clear();
}

/// Returns `true` if the coroutine that was picked must not run yet.
#[inline(always)]
pub(super) fn must_wait(rt: &'static Runtime, next: Next) -> bool {
    // SAFETY: nothing else uses the list meanwhile.
    !unsafe { (*ALL.as_ptr()).is_empty() } && is_held(rt, next)
}

#[cold]
fn is_held(rt: &'static Runtime, next: Next) -> bool {
    let (Next::Start(co) | Next::CancelledBeforeStart(co) | Next::Resume(co)) = next else { return false };
    let object = rt.object(co);
    let instance = match object.ctx.get() {
        Some(ctx) => ctx.travelling.instance(),
        None => object.inherited.instance(),
    };
    let all = ALL.borrow();
    all.iter().any(|(of, _)| *of == instance) && !all.iter().any(|(_, preempted)| *preempted == co)
}
