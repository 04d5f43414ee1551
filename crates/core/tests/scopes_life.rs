//! When a scope is finished and when it is gone, and what a fork leaves of it.

mod scopes_host;

use scopes_host::{Ends, For, GLOBAL, Handler, Host, MAIN, SOCKET, Sched, Way};
use spindle_core::sched::{Disposal, Event, Lifetime, Order, Outcome, State, Target};

const SCOPE: Lifetime = Lifetime::Scope;

// SCOPE-11
#[test]
fn a_scope_is_finished_with_its_last_coroutine_and_those_below() {
    let mut host = Host::new();
    let top = host.scope("top", None, SCOPE);
    let below = host.scope("below", Some(top), SCOPE);
    assert!(host.is_finished(top) && !host.has_completed(top), "it has not begun");
    let [a, b] = [host.member(top, "a"), host.member(below, "b")];
    host.all_wait();
    host.scope_callback(below, Handler::Handles);
    host.main_awaits(top, Way::Completion);
    host.resume(a);
    host.ends(Ends::Returns);
    assert!(!host.is_finished(top));
    host.resume(b);
    host.ends(Ends::Returns);
    assert!(host.has_completed(top) && host.has_completed(below));
    host.turn_of(MAIN);
    assert_eq!(host.who("callback"), ["below"]);
    // It may begin again, and be finished again.
    let c = host.member(below, "c");
    assert!(!host.is_finished(top));
    host.awaits(For::Coroutine(c), None);
    host.all_return();
    assert_eq!(host.who("finished").iter().filter(|name| **name == "top").count(), 2);
}

#[test]
fn waiters_of_a_scope_that_its_callback_makes_active_stay_parked() {
    let mut host = Host::new();
    let (scope, [a]) = host.waiting(["a"]);
    host.scope_callback(scope, Handler::Spawns);
    host.main_awaits(scope, Way::Completion);
    host.resume(a);
    host.ends(Ends::Returns);
    let late = host.next().expect("the one that the callback has spawned");
    assert_eq!(host.name(late), "of a handler");
    host.ends(Ends::Returns);
    host.turn_of(MAIN);
}

#[test]
fn a_cancelled_scope_without_coroutines_is_finished_at_once() {
    let mut host = Host::new();
    for dispose in [true, false] {
        let scope = host.scope("s", None, SCOPE);
        host.scope_callback(scope, Handler::Handles);
        if dispose {
            host.disposes(scope, Disposal::Safely);
        } else {
            host.cancels_scope(scope, "stop");
        }
        assert!(host.has_completed(scope));
        host.turns();
        host.turn_of(MAIN);
    }
    assert_eq!(host.who("callback").len(), 2);
}

#[test]
fn a_scope_is_gone_when_nothing_needs_it() {
    let mut host = Host::new();
    let top = host.scope("top", None, SCOPE);
    let below = host.scope("below", Some(top), SCOPE);
    let a = host.member(below, "a");
    host.all_wait();
    host.object_dies(top);
    assert!(host.scope_exists(top), "one is below it");
    host.resume(a);
    host.ends(Ends::Returns);
    assert!(host.scope_exists(below), "it has its object");
    host.object_dies(below);
    assert_eq!(host.who("gone"), ["below", "top"]);
    assert!(!host.scope_exists(below) && !host.scope_exists(top));
    // Its slot serves another one, which is not taken for it.
    let [x, y] = ["x", "y"].map(|name| host.scope(name, None, SCOPE));
    assert!([x, y].iter().any(|s| s.slot() == top.slot()) && !host.scope_exists(top));
    assert_eq!(host.root_scopes(), {
        let mut roots = vec![GLOBAL, x, y];
        roots.sort_by_key(|s| s.slot());
        roots
    });
    assert!(host.parent_scope(x).is_none() && host.child_scopes(y).is_empty());
    host.object_dies(x);
    host.object_dies(y);
    assert_eq!(host.root_scopes(), [GLOBAL]);
}

#[test]
fn a_coroutine_and_a_runner_keep_a_scope_and_an_object_that_comes_back_does() {
    let mut host = Host::new();
    let (scope, [a]) = host.waiting(["a"]);
    host.scope_callback(scope, Handler::Turns);
    host.object_dies(scope);
    host.resume(a);
    host.ends(Ends::Returns);
    assert!(host.is_finished(scope) && host.scope_exists(scope), "its callback is to run");
    assert_eq!(host.next(), None);
    assert_eq!(host.log.iter().rev().take(3).rev().collect::<Vec<_>>(), ["s callback", "s finished", "s gone"]);

    let again = host.scope("again", None, SCOPE);
    host.drop_handle(again);
    assert!(!host.scope_exists(again), "at once: the collector has found it to be garbage");
    assert_eq!(host.who("gone"), ["s", "again"]);
    host.drain();
    host.drop_handle(GLOBAL);
    host.drain();
    assert!(host.scope_exists(GLOBAL));
}

#[test]
fn a_scope_that_is_gone_leaves_no_bound_behind() {
    let mut host = Host::new();
    let c = host.member(GLOBAL, "c");
    let scope = host.scope("s", None, SCOPE);
    host.all_wait();
    host.bound_by(scope, Target::Coroutine(c));
    host.set_deadline(scope, 10);
    host.drop_handle(scope);
    host.drain();
    assert!(!host.scope_exists(scope));
    assert_eq!(host.deadlines(), 0);
    let next = host.scope("next in its slot", None, SCOPE);
    assert_eq!(next.slot(), scope.slot());
    host.resume(c);
    host.ends(Ends::Returns);
    assert!(!host.is_cancelled(next));
}

#[test]
fn a_fork_leaves_only_the_running_one_in_its_scope() {
    let mut host = Host::new();
    let top = host.scope("top", None, SCOPE);
    let [own, other] = ["own", "other"].map(|name| host.scope(name, Some(top), SCOPE));
    let [a, _, _, _] = [(own, "a"), (own, "b"), (other, "c"), (top, "d")].map(|(at, name)| host.member(at, name));
    host.all_wait();
    host.disposes(other, Disposal::Safely);
    let t = host.add_timeout(70);
    host.bound_by(own, Target::Timeout(t));
    host.resume(a);
    host.child("e");
    assert_eq!(host.after_fork().len(), 5);
    assert_eq!((host.members(own), host.children_of(a), host.zombies()), (vec![a], vec![], vec![]));
    assert!(host.is_finished(other) && !host.is_finished(own) && !host.is_finished(top));
    // Its bound still holds.
    host.waits();
    assert!(host.has_wake_source());
    host.time_passes(70);
    assert!(host.is_cancelled(own), "the bound was forgotten");
    host.all_return();
    assert_eq!(host.live(), 0);
    assert!(host.is_finished(top));
}

#[test]
fn a_fork_leaves_what_the_running_one_belongs_to_and_ends() {
    let mut host = Host::new();
    let (scope, [a, b]) = host.waiting(["a", "b"]);
    let [by_a, by_b] = ["by a", "by b"].map(|name| host.scope(name, None, SCOPE));
    let set = host.add_set(false);
    for (co, bound) in [(a, by_a), (b, by_b)] {
        host.bound_by(bound, Target::Coroutine(co));
        host.add_to_set(set, co);
    }
    host.resume(a);
    host.awaits(For::Coroutine(b), None);
    host.resume(MAIN);
    host.awaits(For::Set(set), None);
    host.cancels(a, "stop");
    host.body_mut(a).catches = true;
    host.turn_of(a);
    host.after_fork();
    assert!(!host.is_done(Target::Set(set)), "one of it goes on");
    host.ends(Ends::Returns);
    assert!(host.is_done(Target::Set(set)) && host.is_finished(scope));
    assert_eq!((host.is_cancelled(by_a), host.is_cancelled(by_b), host.next()), (true, false, None));
}

#[test]
fn a_fork_in_a_handler_keeps_what_it_holds() {
    let mut core = Sched::new(0, Order::Fifo, SCOPE);
    let [from, at] = [(); 2].map(|()| core.add_scope(None, SCOPE));
    let runner = core.spawn_runner(at, Some(from));
    core.begin_wait();
    assert_eq!(core.park(None, SOCKET, true), None);
    core.next_to_run();
    core.after_fork();
    assert!(!core.is_finished(from) && core.is_finished(at));
    core.drop_handle(at);
    assert_eq!(core.next_event(), None, "the runner is in it");
    core.end(runner, Outcome::Returned);
    core.complete(runner);
    assert!(core.is_finished(from));
    let events: Vec<_> = std::iter::from_fn(|| core.next_event()).collect();
    assert_eq!(events, [Event::Finished(from), Event::Idle(at), Event::Gone(at)]);
}

#[test]
fn an_interrupted_wait_for_a_scope_is_taken_up_again() {
    let mut host = Host::new();
    let (scope, [a]) = host.waiting(["a"]);
    host.main_awaits(scope, Way::Completion);
    assert_eq!(host.wake_for_signal(), Some(MAIN));
    assert_eq!(host.next(), None);
    assert_eq!(host.state(MAIN), State::Parked);
    host.resume(a);
    host.ends(Ends::Returns);
    host.turn_of(MAIN);
}
