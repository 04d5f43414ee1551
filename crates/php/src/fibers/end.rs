//! What happens to schedulers and fibers when a `run()`, a coroutine, the script or the request ends.

use crate::fibers::draft::{Kind, Sent, Status};
use crate::fibers::errors::fiber_exit;
use crate::fibers::table::{STATE, Sched};
use crate::runtime::scheduler::{self, Runtime};
use crate::runtime::{cancellation, failure, life};
use spindle_core::sched::CoroutineId;
use spindle_zend::{Object, Owned, exception};
use std::rc::Rc;

/// Ends a scheduler whose `run()` has returned, or has thrown `thrown`. The coroutines that are suspended into it continue with an
/// exception. Created fibers stay suspended, and a later `run()` may resume them. But if `run()` has returned while the script
/// continues, the fiber for which it was continued last continues, too.
pub fn run_ended(sched: &Rc<Sched>, thrown: Option<Owned<Object>>) {
    let rt = scheduler::rt();
    let last = sched.last.get();
    let is_over = STATE.is_finishing.get();
    sched.end();
    let Some(thrown) = thrown else {
        for draft in sched.suspended() {
            let is_flow = matches!(draft.kind, Kind::Flow);
            if is_flow || (draft.address() == last && !is_over) {
                draft.wake(Sent::Returned);
            }
        }
        return;
    };
    let left: Vec<_> = sched.suspended().into_iter().filter(|draft| matches!(draft.kind, Kind::Flow)).collect();
    if left.is_empty() && !life::is_cancellation(&thrown) {
        let text = "The run() of a FiberScheduler has thrown";
        return failure::unhandled(rt, fiber_exit(text, Some(thrown)), None);
    }
    cancellation::for_several(rt, &thrown);
    for draft in left {
        draft.wake(Sent::Threw(Some(exception::copy(&thrown))));
    }
}

/// Handles the end of a coroutine that may have suspended into schedulers.
pub fn coroutine_ended(id: u64) {
    if let Some(draft) = STATE.take_flow(id) {
        draft.end();
    }
}

/// Lets schedulers that wait for fibers continue, because nothing else can run. Returns `true` if there is one.
pub fn release_schedulers() -> bool {
    let mut released = false;
    for sched in STATE.schedulers() {
        if sched.waits.get() && !sched.is_released.replace(true) {
            sched.turn.wake_all();
            released = true;
        }
    }
    released
}

/// Lets schedulers and running fibers finish after the script, or cancels them if the application is shut down, and then destroys
/// the fibers that are suspended. Returns `true` if there is anything to wait for.
pub fn finish(rt: &'static Runtime) -> bool {
    STATE.is_finishing.set(true);
    let mut found = false;
    for sched in STATE.schedulers() {
        if attach(rt, sched.co.get()) {
            if sched.waits.get() {
                sched.is_released.set(true);
                sched.turn.wake_all();
            }
            found = true;
        }
    }
    for draft in STATE.created(Status::Running).into_iter().chain(STATE.created(Status::Enqueuing)) {
        found |= attach(rt, draft.co.get());
    }
    if found {
        return true;
    }
    for draft in STATE.created(Status::Suspended) {
        draft.close();
        found = true;
    }
    found
}

/// Makes the application wait for a coroutine of this module, and cancels it if the application is shut down. Returns
/// `false` if it is waited for already.
fn attach(rt: &'static Runtime, co: CoroutineId) -> bool {
    if !rt.core.borrow().is_detached(co) {
        return false;
    }
    rt.core.borrow_mut().attach(co);
    if rt.core.borrow().life().is_shutting_down() {
        let text = rt.shutdown.borrow().clone();
        life::cancel(rt, co, &cancellation::detached_cancellation(&text));
    }
    true
}

/// In the child of a fork, where only the running coroutine lives on: ends all other fibers and schedulers. None of their code
/// runs.
pub fn forked(rt: &'static Runtime) {
    let running = rt.running().co.get();
    for sched in STATE.schedulers() {
        for draft in sched.suspended() {
            draft.leave();
        }
        if sched.co.get() != running {
            sched.waits.set(false);
            sched.end();
        }
    }
    STATE.keep_fiber_of(running);
    if rt.core.borrow().is_detached(running) {
        rt.core.borrow_mut().attach(running); // the application waits for it
    }
}

/// Forgets all, at the end of a request.
pub fn request_ended() {
    STATE.forget_all();
}
