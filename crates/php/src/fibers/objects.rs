//! What the glue asks about the objects of fibers.

use crate::fibers::draft::{Kind, Sent, Status};
use crate::fibers::errors::report_lost;
use crate::fibers::table;
use crate::fibers::table::STATE;
use crate::runtime::scheduler::{self, existing};
use spindle_zend::{Frame, Object, Owned, exception};

/// The object of a fiber loses its last reference: it is destroyed if it is suspended.
#[unsafe(no_mangle)]
extern "C" fn spindle_draft_destroyed(object: &Object) {
    exception::contained(|| destroyed(object));
}

fn destroyed(object: &Object) {
    let (Some(draft), Some(rt)) = (table::of(object), existing()) else { return };
    if rt.has_ended() || draft.status.get() != Status::Suspended {
        return;
    }
    if let Kind::Flow = draft.kind {
        return draft.wake(Sent::Dropped);
    }
    draft.close();
    if rt.running().co.get() == draft.co.get() || !rt.can_switch() {
        return; // its own code cannot wait for it
    }
    draft.is_destroyed.set(true);
    exception::put_aside(|| {
        let is_over = || (draft.status.get() == Status::Ended).then_some(());
        let waited = draft.changed.wait_for("a fiber that is destroyed", is_over);
        draft.is_destroyed.set(false);
        match (waited, draft.failure.take()) {
            (Ok(()), Some(failure)) => drop(exception::throw(failure)),
            (Err(_), failure) => report_lost(rt, failure),
            (Ok(()), None) => {}
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn spindle_draft_freed(object: &Object) {
    STATE.forget_object(object);
}

#[unsafe(no_mangle)]
extern "C" fn spindle_draft_status(object: &Object) -> u32 {
    table::of(object).map_or(Status::Ended, |draft| draft.status.get()).number()
}

#[unsafe(no_mangle)]
extern "C" fn spindle_draft_is_coroutine(object: &Object) -> bool {
    table::of(object).is_some_and(|draft| matches!(draft.kind, Kind::Flow))
}

#[unsafe(no_mangle)]
extern "C" fn spindle_draft_frame(object: &Object) -> Option<Frame> {
    let draft = table::of(object)?;
    if matches!(draft.status.get(), Status::Init | Status::Ended) {
        return None;
    }
    let rt = scheduler::rt();
    rt.frame_of(rt.object(draft.co.get()))
}

#[unsafe(no_mangle)]
extern "C" fn spindle_draft_of_scheduler(scheduler: &Object) -> Option<Owned<Object>> {
    Some(table::object_for(&STATE.alive(scheduler)?.fiber(), None))
}

#[unsafe(no_mangle)]
extern "C" fn spindle_draft_scheduler_of(object: &Object) -> Option<Owned<Object>> {
    match &table::of(object)?.kind {
        Kind::OfScheduler(sched) => sched.upgrade()?.object.get(),
        _ => None,
    }
}
