//! What a further cancellation does: in each state of the pending one, with and without a shield, wherever the coroutine is, also in
//! C code, whether what has woken it comes first, and by whichever means it is cancelled.

mod sched_host;

use sched_host::{Host, MAIN, SOCKET};
use spindle_core::sched::{Cancel, Next, WaitReason, WakeReason};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Before {
    None,
    Requested,
    FailingCalls,
    Thrown,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Running,
    Parked,
    Woken,
    /// With something for it alone.
    Handed,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Step {
    Cancel,
    AfterFailure,
    ByForce,
}

/// Brings main there. Returns `false` if it cannot get there: it would not have parked.
fn bring(host: &mut Host, before: Before, shielded: bool, place: Place) -> bool {
    if before != Before::None {
        assert_eq!(host.cancel(MAIN, "first"), Cancel::Accepted);
    }
    match before {
        Before::FailingCalls => assert!(host.fail_calls() && !host.fail_calls()),
        Before::Thrown => assert_eq!(host.take_cancellation(), Some("first")),
        _ => {}
    }
    if shielded {
        host.shield();
    }
    if place == Place::Running {
        return true;
    }
    let other = host.spawn();
    let ticket = host.begin_wait();
    if place == Place::Handed {
        host.prioritize_wake();
    }
    let refused = host.park(None, SOCKET, true);
    assert_eq!(refused.is_some(), before == Before::Requested && !shielded);
    if refused.is_some() {
        return false;
    }
    assert_eq!(host.next_to_run(), Next::Start(other));
    assert!(place == Place::Parked || host.wake(ticket));
    true
}

fn check(before: Before, shielded: bool, place: Place, step: Step) {
    let mut host = Host::new();
    if !bring(&mut host, before, shielded, place) {
        return;
    }
    let was_pending = matches!(before, Before::Requested | Before::FailingCalls);
    let by_force = step == Step::ByForce;
    let answer = match step {
        Step::Cancel => host.cancel(MAIN, "next"),
        Step::AfterFailure => host.cancel_after_failure(MAIN, "next"),
        Step::ByForce => {
            assert_eq!(host.cancel_by_force(MAIN, "next"), was_pending.then_some("first"));
            Cancel::Accepted
        }
    };
    assert_eq!(answer == Cancel::Pending, was_pending && !by_force);
    let is_new = !was_pending || by_force;
    let shielded = shielded && !by_force;
    if place != Place::Running {
        let expected = match place {
            Place::Parked if shielded => None,
            Place::Parked => Some(WakeReason::Cancelled),
            Place::Woken if is_new && !shielded && step != Step::AfterFailure => Some(WakeReason::Cancelled),
            _ => Some(WakeReason::Woken),
        };
        host.begin_wait();
        host.park(None, WaitReason::Coroutines, true);
        let next = host.next_to_run();
        let resumed = (next == Next::Resume(MAIN)).then(|| host.resumed(true));
        assert_eq!(resumed, expected, "how its park ends");
        if resumed.is_none() {
            return assert_eq!(host.discard_cancellation(MAIN), Some(if is_new { "next" } else { "first" }));
        }
    }
    let refused = before == Before::FailingCalls || !shielded;
    assert_eq!(host.refuses_wait(), refused);
    assert_eq!(host.try_begin_wait().is_none(), refused);
    assert_eq!(host.cancellation_waits(), before != Before::FailingCalls && !shielded);
    let reason = Some(if is_new { "next" } else { "first" });
    assert_eq!(host.take_pending(), reason.filter(|_| refused));
    assert_eq!(host.discard_cancellation(MAIN), reason.filter(|_| !refused), "each is handed back once");
    assert!(!host.refuses_wait() && host.is_cancel_requested(MAIN));
}

#[test]
fn each_combination() {
    for before in [Before::None, Before::Requested, Before::FailingCalls, Before::Thrown] {
        for shielded in [false, true] {
            for place in [Place::Running, Place::Parked, Place::Woken, Place::Handed] {
                for step in [Step::Cancel, Step::AfterFailure, Step::ByForce] {
                    println!("{before:?}, shielded: {shielded}, {place:?}, {step:?}");
                    check(before, shielded, place, step);
                }
            }
        }
    }
}

#[test]
fn the_reason_for_which_calls_fail_is_taken_once() {
    let mut host = Host::new();
    assert!(!host.fail_calls(), "nobody has cancelled it");
    host.shield();
    host.cancel(MAIN, "reason");
    assert!(!host.fail_calls(), "it is deferred");
    assert_eq!(host.take_failing(MAIN), None, "no call fails");
    host.unshield();
    assert!(host.fail_calls() && !host.cancellation_waits() && host.refuses_wait());
    assert_eq!((host.take_cancellation(), host.take_failing(MAIN)), (None, Some("reason")));
    assert_eq!((host.take_failing(MAIN), host.refuses_wait()), (None, false));
    assert_eq!(host.cancel(MAIN, "another"), Cancel::Accepted);
}
