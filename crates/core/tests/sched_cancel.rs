//! The scheduler's rules of cancellations, shields and signals, one by one.

mod sched_host;

use sched_host::{Host, MAIN, SOCKET};
use spindle_core::lifecycle::Leaving;
use spindle_core::sched::{Cancel, Event, Next, Outcome, State, Target, ToCancel, WaitReason, WakeReason};

/// The running one's next wait is cut short, with this.
fn delivered(host: &mut Host) -> Option<&'static str> {
    host.begin_wait();
    assert_eq!(host.park(None, SOCKET, true), Some(WakeReason::Cancelled));
    assert!(host.cancellation_waits());
    let reason = host.take_cancellation();
    assert!(!host.cancellation_waits());
    reason
}

/// The running one can wait: no cancellation is left. It goes on afterwards.
fn waits_undisturbed(host: &mut Host) {
    let ticket = host.waits(None, SOCKET);
    host.wake(ticket);
    let running = host.running();
    assert_eq!(host.goes_on(running), WakeReason::Woken);
}

#[test]
fn one_that_never_starts_may_wait_before_it_ends() {
    let mut host = Host::new();
    let a = host.spawn();
    host.cancel(a, "reason");
    host.awaits(&[Target::Coroutine(a)]);
    assert_eq!(host.next_to_run(), Next::CancelledBeforeStart(a));
    assert_eq!(host.discard_cancellation(a), Some("reason"));
    assert_eq!((host.is_started(a), host.has_stack(a)), (false, true));
    let ticket = host.waits(None, SOCKET);
    host.wake(ticket);
    assert_eq!(host.next_to_run(), Next::Resume(a));
    assert!(host.finish(a, Outcome::Cancelled));
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
}

#[test]
fn cancelled_in_the_queue_it_never_starts() {
    let mut host = Host::new();
    let a = host.spawn();
    assert!(!host.is_cancel_requested(a));
    assert_eq!(host.cancel(a, "reason"), Cancel::Accepted);
    assert_eq!((host.state(a), host.is_cancel_requested(a)), (State::Queued, true));
    host.awaits(&[Target::Coroutine(a)]);
    assert_eq!(host.next_to_run(), Next::CancelledBeforeStart(a));
    assert_eq!((host.running(), host.is_started(a)), (a, false));
    assert_eq!(host.discard_cancellation(a), Some("reason"));
    assert!(host.finish(a, Outcome::Cancelled));
    assert_eq!((host.outcome(a), host.is_started(a)), (Outcome::Cancelled, false));
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
    assert_eq!(host.release(a), None);
    // Nothing of it is left for the next one in the slot.
    assert_eq!(host.spawn(), a);
    assert!(!host.is_cancel_requested(a));
    host.turn();
    host.starts(a);
}

#[test]
fn cancelled_while_it_runs_its_next_wait_is_cut_short() {
    let mut host = Host::new();
    assert_eq!(host.cancel(MAIN, "reason"), Cancel::Accepted);
    assert_eq!((host.state(MAIN), host.ready()), (State::Running, 0));
    host.begin_wait();
    assert_eq!(host.park(Some(10), SOCKET, true), Some(WakeReason::Cancelled));
    assert_eq!((host.deadlines(), host.has_wake_source()), (0, false));
    assert_eq!(delivered(&mut host), Some("reason"));
    // So is a turn.
    host.cancel(MAIN, "again");
    host.begin_wait();
    assert_eq!(host.park(None, WaitReason::Yield, true), Some(WakeReason::Cancelled));
    assert_eq!(host.ready(), 0);
}

#[test]
fn cancelled_while_it_waits_it_goes_on() {
    for (deadline, on) in [(None, WaitReason::Coroutines), (Some(10), WaitReason::Timer), (Some(10), SOCKET)] {
        let mut host = Host::new();
        let ticket = host.waits(deadline, on);
        assert_eq!(host.cancel(MAIN, "reason"), Cancel::Accepted);
        assert_eq!((host.state(MAIN), host.ready(), host.deadlines()), (State::Ready, 1, 0));
        assert!(!host.has_wake_source());
        // It is queued once, whatever else happens now.
        host.wake(ticket);
        host.expire(10);
        assert_eq!(host.cancel(MAIN, "second"), Cancel::Pending);
        assert_eq!(host.interrupt(false), None);
        assert_eq!((host.ready(), host.goes_on(MAIN)), (1, WakeReason::Cancelled));
        assert_eq!(host.take_cancellation(), Some("reason"));
        waits_undisturbed(&mut host);
    }
}

#[test]
fn a_cancellation_during_a_yield_is_delivered_when_it_is_resumed() {
    let mut host = Host::new();
    let a = host.spawn();
    host.turn();
    host.starts(a);
    assert_eq!(host.cancel(MAIN, "reason"), Cancel::Accepted);
    assert_eq!(host.ready(), 1);
    host.ends();
    assert_eq!(host.goes_on(MAIN), WakeReason::Cancelled);
    assert_eq!(host.take_cancellation(), Some("reason"));
}

#[test]
fn giving_way_in_one_step_does_not_miss_it() {
    let mut host = Host::new();
    let a = host.spawn();
    host.cancel(MAIN, "before");
    assert_eq!((host.yield_now(), host.ready(), host.running()), (None, 1, MAIN));
    assert_eq!(host.take_cancellation(), Some("before"));
    assert_eq!(host.yield_now(), Some(Next::Start(a)));
    host.cancel(MAIN, "meanwhile");
    assert_eq!(host.yield_now(), Some(Next::Resume(MAIN)));
    assert!(host.cancellation_waits());
    host.shield();
    assert_eq!(host.yield_now(), Some(Next::Resume(a)), "held off, it keeps nobody from giving way");
    assert_eq!(host.yield_now(), Some(Next::Resume(MAIN)));
    assert!(!host.cancellation_waits());
    host.unshield();
    assert_eq!(delivered(&mut host), Some("meanwhile"));
}

#[test]
fn one_that_was_woken_and_has_not_run_is_still_cancelled() {
    let mut host = Host::new();
    let ticket = host.waits(None, SOCKET);
    host.wake(ticket);
    assert_eq!(host.cancel(MAIN, "reason"), Cancel::Accepted);
    assert_eq!((host.ready(), host.goes_on(MAIN)), (1, WakeReason::Cancelled));
    assert_eq!(host.take_cancellation(), Some("reason"));

    host.waits(Some(10), WaitReason::Timer);
    host.expire(10);
    host.cancel(MAIN, "another");
    assert_eq!(host.goes_on(MAIN), WakeReason::Cancelled);
    assert_eq!(host.take_cancellation(), Some("another"));
}

#[test]
fn what_was_taken_before_the_cancellation_came_is_kept() {
    let mut host = Host::new();
    let ticket = host.begin_wait();
    host.prioritize_wake();
    assert_eq!(host.park(None, SOCKET, true), None);
    host.wake(ticket);
    host.cancel(MAIN, "reason");
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
    assert_eq!(delivered(&mut host), Some("reason"));

    // Not taken yet: nothing to keep. And it was for one wait.
    host.begin_wait();
    host.prioritize_wake();
    assert_eq!(host.park(None, SOCKET, true), None);
    host.cancel(MAIN, "reason");
    assert_eq!(host.goes_on(MAIN), WakeReason::Cancelled);
    assert_eq!(host.take_cancellation(), Some("reason"));
    let ticket = host.waits(None, SOCKET);
    host.wake(ticket);
    host.cancel(MAIN, "reason");
    assert_eq!(host.goes_on(MAIN), WakeReason::Cancelled);
}

#[test]
fn a_failure_that_one_awaits_alone_is_not_lost_to_a_cancellation() {
    for (outcome, reason) in [(Outcome::Failed, WakeReason::Woken), (Outcome::Cancelled, WakeReason::Cancelled)] {
        let mut host = Host::new();
        let a = host.spawn();
        host.awaits(&[Target::Coroutine(a)]);
        host.starts(a);
        assert!(host.finish(a, outcome));
        host.cancel(MAIN, "reason");
        assert_eq!(host.goes_on(MAIN), reason);
        assert_eq!(delivered(&mut host), Some("reason"));
    }
}

#[test]
fn siblings_that_were_woken_get_to_say_what_they_have_seen() {
    let mut host = Host::new();
    let ticket = host.waits(None, SOCKET);
    host.wake(ticket);
    assert_eq!(host.cancel_after_failure(MAIN, "reason"), Cancel::Accepted);
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
    assert_eq!(delivered(&mut host), Some("reason"));
    // Who still waits, or has given way, has seen nothing.
    host.waits(None, SOCKET);
    host.cancel_after_failure(MAIN, "reason");
    assert_eq!(host.goes_on(MAIN), WakeReason::Cancelled);
    host.take_cancellation();
    host.turn();
    host.cancel_after_failure(MAIN, "reason");
    assert_eq!(host.goes_on(MAIN), WakeReason::Cancelled);
}

#[test]
fn in_the_second_phase_one_that_swallows_two_cancellations_is_never_resumed() {
    let mut host = Host::new();
    assert_eq!(host.shut_down(), ToCancel::Gently(vec![MAIN]));
    host.cancel(MAIN, "first");
    assert_eq!(delivered(&mut host), Some("first"));
    let other = host.spawn();
    let ticket = host.waits(None, SOCKET);
    host.starts(other);
    // The other one has had none yet.
    assert_eq!(host.shut_down(), ToCancel::ByForce(vec![MAIN, other]));
    for co in [MAIN, other] {
        host.cancel_by_force(co, "second");
    }
    assert!(host.life().is_forced() && host.only_zombies());
    assert_eq!(delivered(&mut host), Some("second"));
    host.turn();
    assert_eq!(host.goes_on(MAIN), WakeReason::Cancelled);
    assert_eq!(host.take_cancellation(), Some("second"));
    host.begin_wait();
    assert_eq!((host.park(Some(5), WaitReason::Timer, true), host.is_over()), (None, false));
    host.wake(ticket);
    host.expire(1_000);
    host.abort_park(MAIN);
    assert!(host.interrupt(false).is_none() && host.wake_for_signal().is_none());
    assert_eq!(host.cancel(MAIN, "third"), Cancel::TooLate);
    assert_eq!(host.cancel_by_force(MAIN, "third"), Some("third"));
    assert_eq!(host.goes_on(other), WakeReason::Woken);
    // Now it has.
    assert_eq!(host.shut_down(), ToCancel::ByForce(vec![MAIN, other]));
    host.cancel_by_force(other, "third");
    assert_eq!(delivered(&mut host), Some("third"));
    assert_eq!((host.yield_now(), host.is_over()), (Some(Next::Over), true));
    assert_eq!((host.live(), host.life().leaving()), (2, Some(Leaving::Over)));
}

#[test]
fn cancelled_and_woken_before_it_parks_the_cancellation_is_first() {
    let mut host = Host::new();
    let ticket = host.begin_wait();
    host.wake(ticket);
    host.cancel(MAIN, "reason");
    assert_eq!(host.park(None, SOCKET, true), Some(WakeReason::Cancelled));
}

#[test]
fn cancelled_after_its_end_nothing_happens() {
    let mut host = Host::new();
    let a = host.spawn();
    host.turn();
    host.starts(a);
    host.ends();
    assert_eq!(host.cancel(a, "reason"), Cancel::TooLate);
    assert!(!host.is_cancel_requested(a));
    assert_eq!(host.cancel_by_force(a, "reason"), Some("reason"), "not taken");
    host.goes_on(MAIN);
    assert_eq!((host.ready(), host.release(a)), (0, None));
}

#[test]
fn the_first_wins_while_it_waits() {
    let mut host = Host::new();
    assert_eq!(host.cancel(MAIN, "first"), Cancel::Accepted);
    assert_eq!(host.cancel(MAIN, "second"), Cancel::Pending);
    assert_eq!(delivered(&mut host), Some("first"));
    assert_eq!(host.take_cancellation(), None);
}

#[test]
fn swallowed_it_does_not_come_back_but_a_further_one_is_new() {
    let mut host = Host::new();
    host.cancel(MAIN, "first");
    assert_eq!(delivered(&mut host), Some("first"));
    waits_undisturbed(&mut host);
    assert!(host.is_cancel_requested(MAIN));
    assert_eq!(host.cancel(MAIN, "second"), Cancel::Accepted);
    assert_eq!(delivered(&mut host), Some("second"));
    waits_undisturbed(&mut host);
}

#[test]
fn an_undelivered_cancellation_is_returned_by_release() {
    let mut host = Host::new();
    let a = host.spawn();
    host.turn();
    host.starts(a);
    host.cancel(a, "reason");
    host.ends();
    assert_eq!(host.cancel(a, "second"), Cancel::TooLate);
    host.goes_on(MAIN);
    assert_eq!(host.release(a), Some("reason"));
    assert_eq!(host.spawn(), a);
    host.turn();
    host.starts(a);
}

#[test]
fn a_wait_that_cannot_be_cancelled_is_not() {
    let mut host = Host::new();
    let ticket = host.waits_through(SOCKET);
    assert_eq!(host.cancel(MAIN, "reason"), Cancel::Accepted);
    assert_eq!((host.state(MAIN), host.next_to_run()), (State::Parked, Next::Idle));
    host.wake(ticket);
    assert_eq!(host.next_to_run(), Next::Resume(MAIN));
    assert_eq!(host.resumed(false), WakeReason::Woken);
    // One that waits already does not keep it from parking either.
    let ticket = host.waits_through(WaitReason::Coroutines);
    host.wake(ticket);
    host.next_to_run();
    assert_eq!(host.resumed(false), WakeReason::Woken);
    let _ = host.waits_through(WaitReason::Yield);
    assert_eq!(host.next_to_run(), Next::Resume(MAIN));
    assert_eq!(host.resumed(false), WakeReason::Woken);
    assert_eq!(delivered(&mut host), Some("reason"));
}

#[test]
fn woken_early_a_wait_that_cannot_be_cancelled_leaves_no_shield() {
    let mut host = Host::new();
    let ticket = host.begin_wait();
    host.wake(ticket);
    assert_eq!(host.park(None, SOCKET, false), Some(WakeReason::Woken));
    host.cancel(MAIN, "reason");
    assert_eq!(delivered(&mut host), Some("reason"));
}

#[test]
fn a_shield_holds_it_back_and_nests() {
    let mut host = Host::new();
    host.shield();
    host.shield();
    assert_eq!(host.cancel(MAIN, "reason"), Cancel::Accepted);
    for _ in 0..2 {
        assert_eq!((host.cancellation_waits(), host.take_cancellation()), (false, None));
        waits_undisturbed(&mut host);
        host.unshield();
    }
    assert_eq!(delivered(&mut host), Some("reason"));
}

#[test]
fn a_shield_holds_it_back_wherever_it_comes() {
    for on in [WaitReason::Yield, WaitReason::Coroutines, WaitReason::Timer, SOCKET] {
        let mut host = Host::new();
        host.shield();
        let ticket = host.waits(None, on);
        assert_eq!(host.cancel(MAIN, "reason"), Cancel::Accepted);
        assert_eq!(host.cancel(MAIN, "second"), Cancel::Pending);
        assert_eq!(host.ready(), usize::from(on == WaitReason::Yield));
        host.wake(ticket);
        assert_eq!((host.ready(), host.goes_on(MAIN)), (1, WakeReason::Woken));
        host.unshield();
        assert!(host.cancellation_waits());
        assert_eq!(host.take_cancellation(), Some("reason"));
    }
}

#[test]
fn a_shield_ends_with_its_coroutine() {
    let mut host = Host::new();
    let a = host.spawn();
    host.turn();
    host.starts(a);
    host.shield();
    host.ends();
    host.goes_on(MAIN);
    host.release(a);
    assert_eq!(host.spawn(), a);
    host.turn();
    host.starts(a);
    host.cancel(a, "reason");
    assert_eq!(delivered(&mut host), Some("reason"));
}

#[test]
fn force_goes_through_shields() {
    let mut host = Host::new();
    host.shield();
    host.shield();
    host.waits(Some(10), SOCKET);
    assert_eq!(host.cancel(MAIN, "polite"), Cancel::Accepted);
    assert_eq!(host.cancel_by_force(MAIN, "force"), Some("polite"));
    assert_eq!((host.ready(), host.deadlines(), host.has_wake_source()), (1, 0, false));
    assert_eq!(host.goes_on(MAIN), WakeReason::Cancelled);
    assert_eq!(host.take_cancellation(), Some("force"));
    // The shields that it broke end later; a new one is whole.
    host.unshield();
    host.shield();
    host.cancel(MAIN, "later");
    waits_undisturbed(&mut host);
    host.unshield();
    host.unshield();
    assert_eq!(delivered(&mut host), Some("later"));
}

#[test]
fn force_ends_a_wait_that_cannot_be_cancelled() {
    for shields in 0..2 {
        for on in [WaitReason::Coroutines, SOCKET] {
            let mut host = Host::new();
            (0..shields).for_each(|_| host.shield());
            host.waits_through(on);
            assert_eq!(host.cancel_by_force(MAIN, "force"), None);
            assert_eq!(host.next_to_run(), Next::Resume(MAIN));
            assert_eq!(host.resumed(false), WakeReason::Cancelled);
            assert_eq!(host.take_cancellation(), Some("force"));
        }
    }
}

#[test]
fn force_in_every_other_state() {
    let mut host = Host::new();
    let [queued, turns, ready] = host.spawn_many();
    host.cancel(queued, "polite");
    assert_eq!(host.cancel_by_force(queued, "force"), Some("polite"));
    host.turn();
    assert_eq!(host.next_to_run(), Next::CancelledBeforeStart(queued));
    assert_eq!(host.discard_cancellation(queued), Some("force"));
    host.finish(queued, Outcome::Cancelled);

    host.starts(turns);
    host.shield();
    host.turn();
    host.starts(ready);
    let ticket = host.waits(None, SOCKET);
    host.wake(ticket);
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
    for co in [turns, ready, MAIN] {
        assert_eq!(host.cancel_by_force(co, "first"), None);
        assert_eq!(host.cancel_by_force(co, "force"), Some("first"));
        assert!(host.is_cancel_requested(co));
    }
    assert_eq!(host.ready(), 2);
    assert_eq!(delivered(&mut host), Some("force"));
    host.ends();
    assert_eq!(host.goes_on(turns), WakeReason::Cancelled);
    assert_eq!(host.take_cancellation(), Some("force"));
    host.ends();
    assert_eq!(host.goes_on(ready), WakeReason::Cancelled);
    assert_eq!(host.take_cancellation(), Some("force"));
}

#[test]
fn a_wait_can_be_broken_off_with_no_reason() {
    let mut host = Host::new();
    let ticket = host.waits(Some(10), SOCKET);
    host.abort_park(MAIN);
    host.abort_park(MAIN);
    host.wake(ticket);
    assert_eq!((host.ready(), host.deadlines(), host.has_wake_source()), (1, 0, false));
    assert_eq!(host.goes_on(MAIN), WakeReason::Cancelled);
    assert_eq!((host.take_cancellation(), host.is_cancel_requested(MAIN)), (None, false));
    waits_undisturbed(&mut host);
    // Then a cancellation may still come, before it goes on.
    host.waits(None, SOCKET);
    host.abort_park(MAIN);
    assert_eq!(host.cancel(MAIN, "reason"), Cancel::Accepted);
    assert_eq!((host.ready(), host.goes_on(MAIN)), (1, WakeReason::Cancelled));
    assert_eq!(host.take_cancellation(), Some("reason"));
}

#[test]
fn what_cannot_be_broken_off() {
    let mut host = Host::new();
    let a = host.spawn();
    host.abort_park(a); // queued
    host.abort_park(MAIN); // runs
    host.turn();
    host.abort_park(MAIN); // has only given way
    host.starts(a);
    host.ends();
    host.abort_park(a); // has ended
    assert_eq!((host.ready(), host.goes_on(MAIN)), (1, WakeReason::Woken));
    host.shield();
    host.waits(None, SOCKET);
    host.abort_park(MAIN); // holds everything off
    assert_eq!(host.state(MAIN), State::Parked);
}

const RESTARTS: WaitReason = WaitReason::External { interruptible: true, restart: true };
const THROUGH: WaitReason = WaitReason::External { interruptible: false, restart: false };

#[test]
fn a_signal_interrupts_main_first() {
    let mut host = Host::new();
    let [(a, _)] = host.parked(SOCKET);
    host.waits(Some(10), SOCKET);
    assert_eq!(host.interrupt(false), Some(MAIN));
    assert_eq!((host.ready(), host.deadlines(), host.has_wake_source()), (1, 0, true));
    assert_eq!((host.state(a), host.goes_on(MAIN)), (State::Parked, WakeReason::Interrupted));
}

#[test]
fn a_signal_interrupts_else_the_longest_parked() {
    let mut host = Host::new();
    let [(a, to_a), (b, _), (c, _)] = host.parked(SOCKET);
    // The first in the list of slots has parked last.
    host.wake(to_a);
    host.turn();
    host.goes_on(a);
    host.waits(None, SOCKET);
    host.goes_on(MAIN);
    for longest in [b, c, a] {
        assert_eq!(host.interrupt(false), Some(longest));
        host.turn();
        assert_eq!(host.goes_on(longest), WakeReason::Interrupted);
        host.ends();
        host.goes_on(MAIN);
    }
    assert_eq!(host.interrupt(false), None, "nobody is left");
}

#[test]
fn which_waits_a_signal_interrupts() {
    let cases = [
        (SOCKET, false, true),
        (SOCKET, true, true),
        (RESTARTS, false, true),
        (RESTARTS, true, false),
        (THROUGH, false, false),
        (THROUGH, true, false),
        (WaitReason::Coroutines, false, false),
        (WaitReason::Timer, false, false),
        (WaitReason::Yield, false, false),
    ];
    for (on, restart, interrupted) in cases {
        let mut host = Host::new();
        host.waits(Some(10), on);
        assert_eq!(host.interrupt(restart).is_some(), interrupted, "{on:?}, SA_RESTART: {restart}");
        assert_eq!(host.state(MAIN) == State::Parked, !interrupted && on != WaitReason::Yield);
        assert_eq!(host.ready(), usize::from(interrupted || on == WaitReason::Yield));
    }
}

#[test]
fn a_signal_passes_by_main_for_one_that_fits() {
    let mut host = Host::new();
    let [(a, _), (b, _)] = host.parked(RESTARTS);
    let [(c, _)] = host.parked(SOCKET);
    host.waits(None, THROUGH);
    assert_eq!(host.interrupt(true), Some(c));
    assert_eq!(host.goes_on(c), WakeReason::Interrupted);
    assert_eq!(host.interrupt(true), None);
    assert_eq!(host.interrupt(false), Some(a));
    assert_eq!((host.state(b), host.next_to_run()), (State::Parked, Next::Resume(a)));
}

#[test]
fn a_signal_heeds_no_shield() {
    let mut host = Host::new();
    host.shield();
    host.waits_through(SOCKET);
    host.cancel(MAIN, "reason");
    assert_eq!(host.interrupt(false), Some(MAIN));
    assert_eq!(host.next_to_run(), Next::Resume(MAIN));
    assert_eq!(host.resumed(false), WakeReason::Interrupted);
    host.unshield();
    assert_eq!(delivered(&mut host), Some("reason"));
}

#[test]
fn a_nudge_ends_a_wait_that_can_be_taken_up_again() {
    let mut host = Host::new();
    assert_eq!(host.wake_for_signal(), None, "main runs");
    assert_eq!(host.ready(), 0);
    let [(a, to_a), (b, _)] = host.parked(WaitReason::Timer);
    let [(socket, _)] = host.parked(SOCKET);
    host.wake(to_a);
    host.turn();
    host.goes_on(a);
    host.waits(None, WaitReason::Coroutines);
    host.goes_on(MAIN);
    // Main first, else the longest parked.
    host.waits(Some(10), WaitReason::Timer);
    assert_eq!(host.wake_for_signal(), Some(MAIN));
    assert_eq!((host.ready(), host.deadlines(), host.goes_on(MAIN)), (1, 0, WakeReason::Interrupted));
    host.waits(None, SOCKET);
    for longest in [b, a] {
        assert_eq!(host.wake_for_signal(), Some(longest));
        assert_eq!(host.goes_on(longest), WakeReason::Interrupted);
        host.ends();
    }
    assert_eq!(host.wake_for_signal(), None);
    assert_eq!((host.next_to_run(), host.state(socket)), (Next::Idle, State::Parked));
}

#[test]
fn a_cancelled_one_that_does_not_end_is_overdue_once_for_each_time() {
    let mut host = Host::new();
    let (a, b) = (host.spawn(), host.spawn());
    for co in [a, b] {
        host.cancel(co, "reason");
        host.schedule_overdue_check(co, 100);
    }
    host.schedule_overdue_check(a, 200);
    host.awaits(&[Target::Coroutine(b)]);
    assert_eq!(host.next_to_run(), Next::CancelledBeforeStart(a));
    host.expire(99);
    assert_eq!(host.next_event(), None);
    host.expire(100);
    assert_eq!((host.next_event(), host.next_event()), (Some(Event::Overdue(a)), Some(Event::Overdue(b))));
    assert_eq!(host.next_event(), None);
    // Not one that has ended, nor who has its slot then.
    host.discard_cancellation(a);
    host.finish(a, Outcome::Cancelled);
    host.release(a);
    host.spawn();
    host.expire(300);
    while let Some(event) = host.next_event() {
        assert!(!matches!(event, Event::Overdue(_)));
    }
}

#[test]
fn a_signal_that_is_meant_for_one() {
    let mut host = Host::new();
    let [(a, to_a), (b, _)] = host.parked(SOCKET);
    let [(waits, _)] = host.parked(WaitReason::Timer);
    let [(restarted, _)] = host.parked(RESTARTS);
    assert!(
        !host.interrupt_one(waits, false) && !host.interrupt_one(restarted, true) && !host.interrupt_one(MAIN, false)
    );
    assert!(!host.wake_one_for_signal(b) && host.wake_one_for_signal(waits) && !host.will_resume_call(waits));
    // Though another has waited longer.
    assert!(host.interrupt_one(b, false) && host.interrupt_one(restarted, false));
    assert_eq!((host.state(a), host.state(b), host.ready()), (State::Parked, State::Ready, 3));
    // One that has been waked in its call may wait in it again.
    assert!(!host.will_resume_call(a));
    host.wake(to_a);
    assert!(host.will_resume_call(a) && !host.interrupt_one(a, false));
}
