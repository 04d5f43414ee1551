//! Coroutines that were made to give way where they compute, in favour of those of other instances only: until one continues, none
//! of its own instance runs.

use crate::isolation::instance::Instance;
use spindle_core::sched::CoroutineId;
use spindle_zend::PhpStatic;
use std::cell::{Cell, RefCell};

/// One of them, with its instance; the script's is `None`.
type Preempted = (Option<Instance>, CoroutineId);

/// All of them.
static ALL: PhpStatic<RefCell<Vec<Preempted>>> = PhpStatic::new(RefCell::new(Vec::new()));
static COUNT: PhpStatic<Cell<usize>> = PhpStatic::new(Cell::new(0));

/// Calls `yields`, in which this running coroutine gives way.
pub fn during(co: CoroutineId, yields: impl FnOnce()) {
    ALL.borrow_mut().push((Instance::running(), co));
    COUNT.set(COUNT.get() + 1);
    yields();
    ALL.borrow_mut().retain(|(_, other)| *other != co);
    COUNT.set(ALL.borrow().len());
}

/// Forgets them: no coroutine runs again, or only one.
pub fn forget() {
    ALL.borrow_mut().clear();
    COUNT.set(0);
}

/// Returns `true` if there is one.
#[inline(always)]
pub fn is_any() -> bool {
    COUNT.get() != 0
}

/// Returns `true` if this coroutine of this instance must not run yet.
pub fn holds(co: CoroutineId, instance: Option<Instance>) -> bool {
    let all = ALL.borrow();
    all.iter().any(|(of, _)| *of == instance) && !all.iter().any(|(_, preempted)| *preempted == co)
}
