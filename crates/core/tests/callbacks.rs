//! Coroutines that run the callbacks for their end.

use spindle_core::sched::{
    Cancel, Core, CoroutineId, Event, Lifetime, Next, Order, Outcome, State, Target, ToCancel, WaitReason, WakeReason,
};

type Host = Core<&'static str>;

/// A coroutine that has been spawned by main, in a scope of this lifetime, and runs.
fn running(lifetime: Lifetime) -> (Host, CoroutineId) {
    let mut core = Host::new(0, Order::Fifo, Lifetime::Scope);
    let scope = core.add_scope(None, lifetime);
    let co = core.spawn_in(scope);
    core.begin_wait();
    assert_eq!(core.park(None, WaitReason::Coroutines, true), None);
    assert_eq!(core.next_to_run(), Next::Start(co));
    (core, co)
}

#[test]
fn the_outcome_is_known_and_awaiters_wait() {
    let (mut core, co) = running(Lifetime::Scope);
    let other = core.spawn();
    assert!(core.end(co, Outcome::Returned).complete);
    core.begin_callbacks(co);
    assert!(core.has_outcome(co));
    assert_eq!(core.state(co), State::Running);
    assert!(core.is_done(Target::Coroutine(co)), "to itself");
    core.begin_wait();
    assert_eq!(core.park(None, WaitReason::Yield, true), None);
    assert_eq!(core.next_to_run(), Next::Start(other));
    assert!(core.has_outcome(co) && !core.is_done(Target::Coroutine(co)), "others wait for its callbacks");
}

#[test]
fn only_shutdown_cancels_them() {
    let (mut core, co) = running(Lifetime::Scope);
    core.end(co, Outcome::Returned);
    core.begin_callbacks(co);
    assert_eq!(core.cancel(co, "by user code").0, Cancel::TooLate);
    assert!(!core.is_cancel_requested(co));
    core.begin_wait();
    assert_eq!(core.park(None, WaitReason::Coroutines, true), None);
    assert_eq!(core.cancel(co, "by user code").0, Cancel::TooLate);
    assert_eq!(core.state(co), State::Parked);
    assert_eq!(core.cancel_by_force(co, "by force"), None);
    assert_eq!(core.next_to_run(), Next::Resume(co));
    assert_eq!(core.resumed(true), WakeReason::Cancelled);
    assert_eq!(core.outcome(co), Outcome::Returned);

    let mut core = Host::new(0, Order::Fifo, Lifetime::Scope);
    let co = core.spawn();
    core.begin_wait();
    core.park(None, WaitReason::Coroutines, true);
    assert_eq!(core.next_to_run(), Next::Start(co));
    core.end(co, Outcome::Returned);
    core.begin_callbacks(co);
    assert!(matches!(core.shut_down(), ToCancel::Gently(order) if order.contains(&co)));
    assert_eq!(core.cancel(co, "by shutdown").0, Cancel::Accepted);
}

#[test]
fn one_that_waits_for_its_children_is_resumed() {
    let (mut core, co) = running(Lifetime::BottomUp);
    let child = core.spawn();
    assert!(!core.end(co, Outcome::Returned).complete);
    assert_eq!(core.next_to_run(), Next::Start(child));
    assert!(core.end(child, Outcome::Returned).complete);
    core.complete(child);
    assert_eq!(core.next_event(), Some(Event::Complete(co)));
    core.resume_ended(co);
    assert_eq!(core.cancel(co, "too late").0, Cancel::TooLate);
    assert_eq!(core.next_to_run(), Next::Resume(co));
    core.begin_callbacks(co);
    let last = core.spawn();
    assert!(!core.end_again(co).complete, "it waits for those that its callbacks have spawned, too");
    assert_eq!(core.next_to_run(), Next::Start(last));
    core.end(last, Outcome::Returned);
    core.complete(last);
    assert_eq!(core.next_event(), Some(Event::Complete(co)));
}

#[test]
fn a_failure_whose_awaiter_leaves_meanwhile_is_to_be_routed() {
    for leaves in [false, true] {
        let mut core = Host::new(0, Order::Fifo, Lifetime::Scope);
        let co = core.spawn();
        let ticket = core.begin_wait();
        core.subscribe(Target::Coroutine(co), ticket);
        core.park(None, WaitReason::Coroutines, true);
        assert_eq!(core.next_to_run(), Next::Start(co));
        assert!(core.end(co, Outcome::Failed).awaited);
        core.begin_callbacks(co);
        if leaves {
            core.cancel(Core::<&str>::MAIN, "the awaiter");
        }
        assert_eq!(core.end_again(co).awaited, !leaves);
    }
    // It was routed when the body had ended: not once more.
    let (mut core, co) = running(Lifetime::Scope);
    assert!(!core.end(co, Outcome::Failed).awaited);
    core.begin_callbacks(co);
    assert!(core.end_again(co).awaited);
}

#[test]
fn a_scope_that_is_held_is_not_finished() {
    let (mut core, co) = running(Lifetime::Scope);
    let scope = core.scope_of(co);
    core.hold(scope);
    core.end(co, Outcome::Returned);
    core.complete(co);
    assert!(!core.is_finished(scope));
    assert_eq!(core.next_event(), None);
    core.end_hold(scope);
    assert_eq!(core.next_event(), Some(Event::Finished(scope)));
}
