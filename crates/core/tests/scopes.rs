//! The rules of scopes, one by one: cancellation, disposal, zombies, bounds.

mod scopes_host;

use scopes_host::{Ends, Fate, For, GLOBAL, Handler, Host, MAIN, Thrown, Way};
use spindle_core::sched::{Bound, Disposal, Event, Lifetime, Outcome, State, Target};

const SCOPE: Lifetime = Lifetime::Scope;

// --- cancellation ---------------------------------------------------------------------------------------------------

// SCOPE-6, SCOPE-13
#[test]
fn a_scope_is_cancelled_children_first_and_oldest_first() {
    let mut host = Host::new();
    let top = host.scope("top", None, SCOPE);
    let [left, right] = ["left", "right"].map(|name| host.scope(name, Some(top), SCOPE));
    let deep = host.scope("deep", Some(left), SCOPE);
    for (scope, names) in [(top, ["t1", "t2"]), (right, ["r1", "r2"]), (deep, ["d1", "d2"]), (left, ["l1", "l2"])] {
        for name in names {
            host.member(scope, name);
        }
    }
    host.all_wait();
    assert!(host.cancels_scope(top, "stop"));
    assert_eq!(host.who("is to end: stop"), ["d1", "d2", "l1", "l2", "r1", "r2", "t1", "t2"]);
    for scope in [top, left, right, deep] {
        assert!(host.is_cancelled(scope) && host.is_closed(scope) && !host.is_disposed(scope));
        assert!(!host.is_finished(scope), "they have not taken it yet");
    }
    host.all_return();
    assert_eq!(host.who("is cancelled: stop").len(), 8);
    assert_eq!(host.who("finished"), ["deep", "left", "right", "top"]);
}

#[test]
fn a_scope_is_cancelled_once() {
    let mut host = Host::new();
    let (scope, [a]) = host.waiting(["a"]);
    assert!(host.cancels_scope(scope, "first"));
    assert_eq!(host.cancel_scope(scope), None);
    host.body_mut(a).catches = true;
    host.all_wait();
    assert!(!host.cancels_scope(scope, "second"), "a swallowed one does not come back");
    assert_eq!(host.got, [("a", Thrown::Cancellation("first"))]);
}

#[test]
fn what_a_scope_has_cancelled_before_is_not_cancelled_with_its_parent() {
    let mut host = Host::new();
    let top = host.scope("top", None, SCOPE);
    let below = host.scope("below", Some(top), SCOPE);
    let a = host.member(below, "a");
    host.member(top, "b");
    host.body_mut(a).catches = true;
    host.all_wait();
    host.cancels_scope(below, "first");
    host.all_wait();
    host.cancels_scope(top, "second");
    assert_eq!(host.who("is to end: second"), ["b"]);
    assert_eq!(host.cancelled_by(below), Some("first"));
}

#[test]
fn a_cancelled_coroutine_that_has_not_started_never_does() {
    let mut host = Host::new();
    let scope = host.scope("s", None, SCOPE);
    let a = host.member(scope, "a");
    host.cancels_scope(scope, "stop");
    host.waits();
    host.run(|_, _| panic!("it runs"));
    assert_eq!((host.outcome(a), host.is_started(a)), (Outcome::Cancelled, false));
}

#[test]
fn a_cancelled_scope_and_coroutines_in_it_spawn_nothing() {
    let mut host = Host::new();
    let (scope, [a]) = host.waiting(["a"]);
    host.body_mut(a).catches = true;
    host.cancels_scope(scope, "stop");
    assert_eq!(host.spawns_in(scope, "b"), None);
    assert_eq!(host.next(), Some(a));
    assert_eq!(host.spawns("c"), None);
}

#[test]
fn a_scope_made_below_a_cancelled_one_is_cancelled_and_below_zombies_has_zombies() {
    let mut host = Host::new();
    let (scope, _) = host.waiting(["a"]);
    host.disposes(scope, Disposal::Safely);
    let zombie = host.scope("below", Some(scope), SCOPE);
    assert!(!host.is_cancelled(zombie));
    let a = host.member(zombie, "b");
    assert!(host.is_zombie(a));
    host.cancels_scope(scope, "stop");
    let late = host.scope("late", Some(scope), SCOPE);
    assert!(host.is_cancelled(late) && host.is_closed(late));
    assert!(host.is_cancelled(zombie));
    assert_eq!(host.cancelled_by(late), Some("stop"));
}

#[test]
fn waiters_of_a_cancelled_scope_are_notified_at_once() {
    let mut host = Host::new();
    let (scope, [_]) = host.waiting(["a"]);
    let below = host.scope("below", Some(scope), SCOPE);
    host.member(below, "b");
    let waiters = [("w1", scope), ("w2", below)].map(|(name, at)| (host.member(GLOBAL, name), at));
    host.run(|host, co| match waiters.iter().find(|(w, _)| *w == co) {
        Some((_, at)) => host.awaits(For::Scope(*at, Way::Completion), None),
        None => host.waits(),
    });
    host.cancels_scope(scope, "stop");
    host.all_return();
    for name in ["w1", "w2"] {
        assert!(host.got.contains(&(name, Thrown::Cancellation("stop"))), "{:?}", host.got);
    }
    // Later ones, too, even when all is over.
    assert!(host.is_finished(scope));
    host.resume(MAIN);
    host.body_mut(MAIN).catches = true;
    host.awaits(For::Scope(scope, Way::Completion), None);
    assert_eq!(host.got.last(), Some(&("main", Thrown::Cancellation("stop"))));
}

#[test]
fn waiting_after_the_cancellation_lasts_until_the_last_has_ended() {
    let mut host = Host::new();
    let (scope, [a, b]) = host.waiting(["a", "b"]);
    host.body_mut(b).catches = true;
    host.cancels_scope(scope, "stop");
    host.main_awaits(scope, Way::AfterCancel);
    host.run(|host, co| if co == b { host.waits() } else { unreachable!("{co:?}") });
    assert_eq!((host.state(a), host.state(MAIN)), (State::Done, State::Parked));
    host.resume(b);
    host.ends(Ends::Returns);
    host.turn_of(MAIN);
    assert_eq!(host.who("finished"), ["s"]);
}

// --- disposal and zombies -------------------------------------------------------------------------------------------

// SCOPE-7
#[test]
fn disposal_warns_of_each_once_children_first() {
    let mut host = Host::new();
    let top = host.scope("top", None, SCOPE);
    let below = host.scope("below", Some(top), SCOPE);
    let a = host.member(top, "a");
    host.member(below, "b");
    host.member(top, "done");
    host.waits();
    host.run(|host, co| if host.name(co) == "done" { host.ends(Ends::Returns) } else { host.waits() });
    assert_eq!(host.disposes(top, Disposal::Safely), ["b", "a"]);
    assert!([top, below].iter().all(|s| host.is_disposed(*s) && host.is_closed(*s) && !host.is_cancelled(*s)));
    assert_eq!(host.spawns_in(below, "c"), None);
    // Plain spawning inside still works, and it is new.
    host.resume(a);
    let c = host.child("c");
    assert!(host.is_zombie(c));
    host.waits();
    assert_eq!(host.disposes(top, Disposal::Until(50)), ["c"]);
    assert!(host.disposes(top, Disposal::Cancel).is_empty());
    assert!(host.is_cancelled(below));
}

#[test]
fn zombies_are_cancelled_when_only_they_are_left_for_a_while() {
    let mut host = Host::new();
    let (scope, [a, b]) = host.waiting(["a", "b"]);
    host.disposes(scope, Disposal::Safely);
    assert_eq!(host.zombies(), [a, b]);
    host.all_wait();
    host.time_passes(10_000);
    assert_eq!(host.deadlines(), 0, "main keeps the application alive");
    host.resume(MAIN);
    host.ends(Ends::Returns);
    assert_eq!(host.next(), None);
    assert!(host.has_wake_source());
    host.time_passes(host.grace - 1);
    assert_eq!((host.next(), host.said("due").len()), (None, 0));
    host.body_mut(b).catches = true;
    host.time_passes(1);
    assert_eq!(host.who("is to end: zombie"), ["a", "b"]);
    // Who swallows it gets another one, as long as it is alone.
    host.all_wait();
    assert_eq!((host.state(a), host.state(b)), (State::Done, State::Parked));
    host.body_mut(b).catches = false;
    host.time_passes(host.grace);
    host.all_return();
    assert_eq!(host.live(), 0);
    assert_eq!(host.who("is cancelled: zombie"), ["a", "b"]);
    assert_eq!((host.next(), host.has_wake_source()), (None, false));
}

#[test]
fn the_zombies_time_ends_when_another_appears() {
    let mut host = Host::new();
    let (scope, [a]) = host.waiting(["a"]);
    host.disposes(scope, Disposal::Safely);
    host.resume(MAIN);
    host.ends(Ends::Returns);
    assert_eq!(host.next(), None);
    assert_eq!(host.deadlines(), 1);
    let b = host.member(GLOBAL, "b");
    host.all_wait();
    assert_eq!(host.deadlines(), 0);
    host.time_passes(host.grace * 2);
    assert_eq!(host.state(a), State::Parked);
    // It begins anew, in full.
    host.resume(b);
    host.ends(Ends::Returns);
    assert_eq!(host.next(), None);
    host.time_passes(host.grace - 1);
    assert_eq!(host.said("due").len(), 0);
    host.time_passes(1);
    assert_eq!(host.said("due").len(), 1);
    // When the last zombie has ended there is nothing to wait for.
    host.all_return();
    assert_eq!((host.deadlines(), host.live()), (0, 0));
}

#[test]
fn a_runner_in_a_scope_of_zombies_is_none() {
    let mut host = Host::new();
    let (scope, [a, _]) = host.waiting(["a", "b"]);
    host.own_handler(scope, Handler::Turns);
    host.disposes(scope, Disposal::Safely);
    host.resume(a);
    host.ends(Ends::Throws("boom"));
    assert_eq!((host.live(), host.zombies().len()), (3, 1), "main, b and the handler");
    host.all_return();
    assert_eq!(host.fates["boom"], [Fate::Handler(scope)]);
}

#[test]
fn disposal_after_a_time_cancels_then_and_makes_no_zombies_before() {
    let mut host = Host::new();
    let (scope, [a, b]) = host.waiting(["a", "b"]);
    host.body_mut(b).catches = true;
    assert_eq!(host.disposes(scope, Disposal::Until(50)), ["a", "b"]);
    assert!(host.zombies().is_empty() && host.is_disposed(scope) && !host.is_cancelled(scope));
    // The object's death undoes no timer.
    host.object_dies(scope);
    host.time_passes(49);
    assert!(!host.is_cancelled(scope) && host.zombies().is_empty());
    host.time_passes(1);
    assert!(host.is_cancelled(scope));
    assert_eq!(host.who("is to end: disposed"), ["a", "b"]);
    assert_eq!(host.zombies(), [a, b], "who swallows it does not keep the application alive");
    host.all_wait();
    assert_eq!(host.zombies(), [b]);
}

#[test]
fn a_later_disposal_replaces_the_time_of_an_earlier_one() {
    let mut host = Host::new();
    let top = host.scope("top", None, SCOPE);
    let below = host.scope("below", Some(top), SCOPE);
    host.member(below, "a");
    host.all_wait();
    host.disposes(below, Disposal::Until(10));
    host.disposes(top, Disposal::Until(30));
    assert_eq!(host.deadlines(), 1, "those below follow with the same");
    host.time_passes(20);
    assert!(!host.is_cancelled(below));
    host.disposes(top, Disposal::Safely);
    assert_eq!((host.deadlines(), host.zombies().len()), (0, 1));
    host.disposes(top, Disposal::Until(60));
    assert_eq!((host.deadlines(), host.zombies().len()), (1, 0));
    host.cancels_scope(top, "stop");
    assert_eq!(host.deadlines(), 0);
    host.disposes(top, Disposal::Until(90));
    assert_eq!(host.deadlines(), 0, "a cancelled one has ended");
}

// --- bounds ---------------------------------------------------------------------------------------------------------

#[test]
fn a_bound_in_time_cancels_the_scope() {
    let mut host = Host::new();
    let (scope, [a]) = host.waiting(["a"]);
    host.resume(MAIN);
    host.awaits(For::Coroutine(a), None);
    host.set_deadline(scope, 10);
    host.time_passes(9);
    assert!(!host.is_cancelled(scope));
    host.time_passes(1);
    assert_eq!(host.who("is to end: bounded"), ["a"]);
    host.all_wait();
    assert_eq!(host.got, [("a", Thrown::Cancellation("bounded")), ("main", Thrown::Cancellation("bounded"))]);
}

#[test]
fn the_first_of_time_and_constraint_holds_and_the_other_is_forgotten() {
    for time_first in [true, false] {
        let mut host = Host::new();
        let (scope, [_]) = host.waiting(["a"]);
        let c = host.member(GLOBAL, "c");
        host.all_wait();
        host.set_deadline(scope, 10);
        host.bound_by(scope, Target::Coroutine(c));
        if time_first {
            host.expire(10);
            assert_eq!(host.next_event(), Some(Event::Bound(scope, Bound::Time)));
            host.cancels_scope(scope, "bounded");
        }
        host.resume(c);
        host.ends(Ends::Returns);
        assert!(host.is_cancelled(scope));
        assert_eq!(host.deadlines(), 0);
        host.time_passes(20);
        assert_eq!(host.who("is to end: bounded"), ["a"]);
    }
}

#[test]
fn a_bound_is_no_awaiter() {
    let mut host = Host::new();
    let (scope, [_]) = host.waiting(["a"]);
    let below = host.scope("below", None, SCOPE);
    let c = host.member(below, "c");
    host.all_wait();
    host.bound_by(scope, Target::Coroutine(c));
    host.resume(c);
    host.ends(Ends::Throws("boom"));
    assert_eq!(host.fates["boom"], [Fate::Unhandled]);
    assert!(host.is_cancelled(scope) && !host.was_awaited(c));
}

#[test]
fn the_last_constraint_set_holds() {
    let mut host = Host::new();
    let (scope, [_]) = host.waiting(["a"]);
    let [b, c] = ["b", "c"].map(|name| host.member(GLOBAL, name));
    host.all_wait();
    host.bound_by(scope, Target::Coroutine(b));
    host.bound_by(scope, Target::Coroutine(c));
    host.resume(b);
    host.ends(Ends::Returns);
    assert!(!host.is_cancelled(scope));
    host.resume(c);
    host.ends(Ends::Returns);
    assert!(host.is_cancelled(scope));
}

#[test]
fn a_constraint_that_is_complete_holds_at_once_and_none_on_an_ended_scope() {
    let mut host = Host::new();
    let (scope, [_]) = host.waiting(["a"]);
    let over = host.add_timeout(5);
    host.time_passes(5);
    host.bound_by(scope, Target::Timeout(over));
    assert_eq!(host.next_event(), Some(Event::Bound(scope, Bound::Constraint)));
    host.cancels_scope(scope, "stop");
    let coming = host.add_timeout(50);
    host.bound_by(scope, Target::Timeout(over));
    host.bound_by(scope, Target::Timeout(coming));
    host.set_deadline(scope, 60);
    assert_eq!((host.next_event(), host.deadlines()), (None, 1));
}

#[test]
fn a_cancelled_scope_hears_no_more_of_its_bounds() {
    let mut host = Host::new();
    let scope = host.scope("s", None, SCOPE);
    let t = host.add_timeout(5);
    host.bound_by(scope, Target::Timeout(t));
    host.set_deadline(scope, 7);
    host.cancels_scope(scope, "stop");
    assert_eq!(host.deadlines(), 1);
    host.expire(9);
    assert_eq!(host.next_event(), None);
}

#[test]
fn a_scope_and_a_set_are_constraints_too() {
    let mut host = Host::new();
    let (scope, [_]) = host.waiting(["a"]);
    let other = host.scope("other", None, SCOPE);
    let [b, c] = [other, GLOBAL].map(|at| host.member(at, "b or c"));
    host.all_wait();
    host.bound_by(scope, Target::Scope(other));
    host.resume(b);
    host.ends(Ends::Returns);
    assert!(host.is_cancelled(scope));

    let third = host.scope("third", None, SCOPE);
    let set = host.add_set(false);
    host.add_to_set(set, c);
    host.bound_by(third, Target::Set(set));
    host.resume(c);
    host.ends(Ends::Returns);
    assert!(host.is_cancelled(third));
}

#[test]
fn a_bound_that_may_come_is_something_to_wait_for() {
    let mut host = Host::new();
    let scope = host.scope("s", None, SCOPE);
    let c = host.member(GLOBAL, "c");
    let a = host.member(scope, "a");
    let t = host.add_timeout(30);
    host.awaits(For::Coroutine(a), None);
    host.turn_of(c);
    host.awaits(For::Coroutine(a), None);
    host.turn_of(a);
    host.awaits(For::Coroutine(c), None);
    assert!(!host.has_wake_source(), "a timeout that nobody awaits wakes nobody");
    host.bound_by(scope, Target::Timeout(t));
    assert!(host.has_wake_source());
    host.drop_timeout(t);
    assert!(!host.has_wake_source(), "it cannot come any more");
    host.bound_by(scope, Target::Coroutine(c));
    assert!(!host.has_wake_source());
    host.set_deadline(scope, 20);
    assert!(host.has_wake_source());
    host.time_passes(20);
    host.all_return();
    assert_eq!(host.live(), 0);
}
