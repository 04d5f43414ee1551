//! The rules of ends, one by one: who lives how long, where failures go, what handlers hold, sets, and deep nesting.

mod scopes_host;

use scopes_host::{Ends, Fate, For, GLOBAL, Handler, Host, MAIN, Sched, Thrown, Way};
use spindle_core::sched::{
    CoroutineId, Disposal, Event, Lifetime, Order, Outcome, Route, ScopeId, State, Target, ToCancel,
};

/// A coroutine `a` in a scope of this lifetime, with children `b` and `c`, and `d`, the child of `c`; all wait.
fn family(lifetime: Lifetime) -> (Host, ScopeId, [CoroutineId; 4]) {
    let mut host = Host::new();
    let scope = host.scope("s", None, lifetime);
    let a = host.member(scope, "a");
    host.waits();
    host.turn_of(a);
    let [b, c] = ["b", "c"].map(|name| host.child(name));
    host.waits();
    host.turn_of(b);
    host.waits();
    host.turn_of(c);
    let d = host.child("d");
    host.waits();
    host.all_wait();
    (host, scope, [a, b, c, d])
}

// --- lifetimes ------------------------------------------------------------------------------------------------------

#[test]
fn with_the_lifetime_of_the_scope_children_go_on() {
    let (mut host, scope, [a, b, c, d]) = family(Lifetime::Scope);
    assert_eq!((host.children_of(a), host.children_of(c)), (vec![b, c], vec![d]));
    assert_eq!((host.members(scope), host.direct_members(scope)), (vec![a, b, c, d], vec![a]));
    host.resume(a);
    host.ends(Ends::Returns);
    host.all_wait();
    assert_eq!((host.state(a), host.who("is cancelled").len()), (State::Done, 0));
    assert_eq!(host.members(scope), [b, c, d]);
}

#[test]
fn top_down_children_end_with_their_parent_all_the_way_down() {
    for how in [Ends::Returns, Ends::Cancelled("stop")] {
        let (mut host, scope, [a, _, _, _]) = family(Lifetime::TopDown);
        host.resume(a);
        host.ends(how);
        assert!(host.body(a).complete);
        assert_eq!(host.who("is to end: parent ended"), ["b", "c"]);
        host.all_return();
        assert_eq!(host.who("is cancelled: parent ended"), ["b", "c", "d"]);
        assert!(host.is_finished(scope) && !host.is_cancelled(scope));
    }
}

#[test]
fn top_down_children_that_swallow_their_cancellation_live_on() {
    let (mut host, scope, [a, _, c, d]) = family(Lifetime::TopDown);
    host.body_mut(c).catches = true;
    host.resume(a);
    host.ends(Ends::Returns);
    host.all_wait();
    assert_eq!(host.members(scope), [c, d]);
    host.resume(c);
    host.ends(Ends::Returns);
    host.all_return();
    assert!(host.is_finished(scope));
}

// LIFE-1
#[test]
fn the_end_of_the_main_coroutine_cancels_no_children() {
    for lifetime in [Lifetime::TopDown, Lifetime::BottomUp] {
        let mut host = Host::ordered(Order::Fifo, lifetime);
        let a = host.child("a");
        host.all_wait();
        host.resume(MAIN);
        host.ends(Ends::Returns);
        host.all_wait();
        assert_eq!(host.state(a), State::Parked);
        assert_eq!(host.body(MAIN).complete, lifetime == Lifetime::TopDown);
        host.resume(a);
        host.ends(Ends::Returns);
        assert!(host.body(MAIN).complete && host.live() == 0);
    }
}

#[test]
fn bottom_up_a_parent_is_complete_when_those_below_it_are() {
    let (mut host, scope, [a, b, c, d]) = family(Lifetime::BottomUp);
    host.resume(MAIN);
    host.awaits(For::Coroutine(a), None);
    for co in [a, c, b] {
        host.resume(co);
        host.ends(Ends::Returns);
    }
    assert_eq!([a, b, c, d].map(|co| host.state(co)), [State::Ending, State::Done, State::Ending, State::Parked]);
    assert!(!host.is_done(Target::Coroutine(a)) && !host.is_finished(scope));
    assert_eq!(host.next(), None);
    host.resume(d);
    host.ends(Ends::Returns);
    assert_eq!(host.who("complete"), ["b", "d", "c", "a"]);
    host.turn_of(MAIN);
    assert!(host.is_finished(scope));
}

#[test]
fn a_cancellation_of_one_that_waits_for_its_children_goes_to_them() {
    let (mut host, _, [a, b, c, d]) = family(Lifetime::BottomUp);
    for co in [a, c] {
        host.resume(co);
        host.ends(Ends::Returns);
    }
    assert_eq!(host.cancel_targets(a), [b, d]);
    host.cancels(a, "stop");
    assert_eq!(host.who("is to end: stop"), ["b", "d"]);
    assert!(![a, c].iter().any(|co| host.is_cancel_requested(*co)));
    host.all_return();
    assert_eq!((host.state(a), host.outcome(a)), (State::Done, Outcome::Returned));
    assert!(host.cancel_targets(a).is_empty());
}

#[test]
fn a_scope_cancels_no_coroutine_whose_body_has_ended() {
    let (mut host, scope, [a, _, _, _]) = family(Lifetime::BottomUp);
    host.resume(a);
    host.ends(Ends::Returns);
    host.cancels_scope(scope, "stop");
    assert_eq!(host.who("is to end: stop"), ["b", "c", "d"]);
    host.all_return();
    assert_eq!(host.who("complete"), ["b", "d", "c", "a"]);
}

#[test]
fn what_a_runner_spawns_has_no_parent() {
    let mut host = Host::new();
    let scope = host.scope("s", None, Lifetime::TopDown);
    let a = host.member(scope, "a");
    host.own_handler(scope, Handler::Spawns);
    host.all_wait();
    host.resume(a);
    host.ends(Ends::Throws("boom"));
    let new = host.next().expect("what the handler has spawned");
    assert_eq!((host.name(new), host.scope_of(new)), ("of a handler", scope));
    assert_eq!((host.parent_id(new), host.direct_members(scope)), (0, vec![new]));
    host.waits();
    assert!(!host.is_cancel_requested(new));
}

// --- failures -------------------------------------------------------------------------------------------------------

/// Scopes below one another, the first is a root, and `a` in the last; all wait.
fn tower<const N: usize>(names: [&'static str; N]) -> (Host, [ScopeId; N], CoroutineId) {
    let mut host = Host::new();
    let mut parent = None;
    let scopes = names.map(|name| {
        let scope = host.scope(name, parent, Lifetime::Scope);
        parent = Some(scope);
        scope
    });
    let a = host.member(scopes[N - 1], "a");
    host.all_wait();
    (host, scopes, a)
}

fn fails(host: &mut Host, co: CoroutineId) {
    host.resume(co);
    host.ends(Ends::Throws("boom"));
}

#[test]
fn a_failure_goes_to_its_awaiters_and_stops() {
    let (mut host, [scope], a) = tower(["s"]);
    host.own_handler(scope, Handler::Handles);
    host.resume(MAIN);
    host.body_mut(MAIN).catches = true;
    host.awaits(For::Coroutine(a), None);
    fails(&mut host, a);
    host.turn_of(MAIN);
    assert_eq!(host.got, [("main", Thrown::Failure("boom"))]);
    assert!(!host.is_cancelled(scope) && host.said("handler").is_empty());
    host.awaits(For::Coroutine(a), None);
    assert_eq!(host.got.len(), 2, "at every awaiting point");
}

#[test]
fn a_cancelled_coroutine_is_no_awaiter() {
    let (mut host, [scope], a) = tower(["s"]);
    host.own_handler(scope, Handler::Handles);
    let w = host.member(GLOBAL, "w");
    host.turn_of(w);
    host.awaits(For::Coroutine(a), None);
    host.wakes(a);
    host.cancels(w, "stop");
    host.turn_of(a);
    host.ends(Ends::Throws("boom"));
    host.all_wait();
    assert_eq!(host.got, [("w", Thrown::Cancellation("stop"))]);
    assert_eq!(host.fates["boom"], [Fate::Handler(scope)], "nobody gets it");
}

#[test]
fn a_cancelled_coroutine_does_not_wait_for_the_scope() {
    let (mut host, [scope], a) = tower(["s"]);
    let w = host.member(GLOBAL, "w");
    host.turn_of(w);
    host.awaits(For::Scope(scope, Way::Completion), None);
    host.wakes(a);
    host.cancels(w, "stop");
    host.turn_of(a);
    host.ends(Ends::Throws("boom"));
    assert_eq!(host.fates["boom"], [Fate::Unhandled]);
    host.all_return();
    assert_eq!(host.got[0], ("w", Thrown::Cancellation("stop")));
}

#[test]
fn an_awaiter_that_was_woken_and_then_cancelled_gets_the_failure_first() {
    let (mut host, [scope], a) = tower(["s"]);
    let w = host.member(GLOBAL, "w");
    host.body_mut(w).catches = true;
    host.turn_of(w);
    host.awaits(For::Scope(scope, Way::Completion), None);
    fails(&mut host, a);
    host.cancels(w, "stop");
    host.turn_of(w);
    host.waits();
    assert_eq!(host.got, [("w", Thrown::Failure("boom")), ("w", Thrown::Cancellation("stop"))]);
    assert_eq!(host.fates["boom"], [Fate::Waiters(scope)]);
}

#[test]
fn what_fails_while_a_scope_winds_down_ends_nothing_else() {
    // After a failure that was handled, and after cancellation and disposal by user code.
    for end in ["fails", "cancel", "dispose"] {
        let (mut host, [parent, scope], a) = tower(["p", "s"]);
        let [b, w] = [host.member(scope, "b"), host.member(GLOBAL, "w")];
        host.body_mut(w).catches = true;
        host.all_wait();
        match end {
            "fails" => {
                host.wakes(w);
                host.turn_of(w);
                host.awaits(For::Scope(scope, Way::Completion), None);
                fails(&mut host, a);
                assert_eq!(host.fates["boom"], [Fate::Waiters(scope)]);
            }
            "cancel" => assert!(host.cancels_scope(scope, "stop")),
            _ => _ = host.disposes(scope, Disposal::Safely),
        }
        assert!(host.is_winding_down(scope) && host.is_secondary_failure(scope) && !host.is_winding_down(parent));
        // Who has got the first one goes on.
        host.body_mut(b).catches = true;
        host.run(|host, _| host.waits());
        host.resume(b);
        host.ends(Ends::Throws("later"));
        assert_eq!(host.fates["later"], [Fate::Stays], "{end}");
        assert!(!host.is_cancelled(parent) && !host.shut_down);
    }
}

#[test]
fn an_unhandled_failure_makes_later_ones_unhandled() {
    let (mut host, [scope], a) = tower(["s"]);
    let b = host.member(scope, "b");
    host.body_mut(b).catches = true;
    host.all_wait();
    fails(&mut host, a);
    assert_eq!(host.fates["boom"], [Fate::Unhandled]);
    assert!(host.is_winding_down(scope) && !host.is_secondary_failure(scope));
    while host.next() != Some(b) {
        host.ends(Ends::Returns);
    }
    host.ends(Ends::Throws("later"));
    assert_eq!(host.fates["later"], [Fate::Unhandled]);
}

#[test]
fn the_death_of_its_object_does_not_make_a_scopes_failures_late() {
    let (mut host, [scope], a) = tower(["s"]);
    host.object_dies(scope);
    assert!(host.is_disposed(scope) && !host.is_winding_down(scope));
    fails(&mut host, a);
    assert_eq!(host.fates["boom"], [Fate::Unhandled]);
}

#[test]
fn later_failures_go_up_to_waiters_of_a_scope_that_winds_down_too() {
    let (mut host, [parent, scope], a) = tower(["p", "s"]);
    let w = host.member(GLOBAL, "w");
    host.all_wait();
    host.body_mut(a).catches = true;
    assert!(host.cancels_scope(parent, "stop"));
    host.wakes(w);
    while host.next() != Some(w) {
        host.waits();
    }
    host.start_collecting(parent);
    host.awaits(For::Scope(parent, Way::AfterCancel), None);
    host.resume(a);
    host.ends(Ends::Throws("later"));
    assert_eq!(host.fates["later"], [Fate::Waiters(parent)]);
    assert!(host.has_failure_waiter(parent) && !host.has_failure_waiter(scope));
    assert_eq!(host.known().1[&parent].errors, ["later"]);
}

#[test]
fn a_bottom_up_failure_can_lose_its_awaiter_before_it_completes() {
    for gone in [false, true] {
        let (mut host, _, [a, b, c, d]) = family(Lifetime::BottomUp);
        let w = host.member(GLOBAL, "w");
        host.turn_of(w);
        host.awaits(For::Coroutine(a), None);
        host.resume(a);
        host.ends(Ends::Throws("boom"));
        assert_eq!(host.fates["boom"], [Fate::Awaiters]);
        if gone {
            host.cancels(w, "stop");
            assert_eq!(host.next(), None);
            assert!(host.body(w).complete);
        }
        assert_eq!(host.has_lost_awaiters(a), gone);
        for co in [b, d, c] {
            host.resume(co);
            host.ends(Ends::Returns);
        }
    }
}

#[test]
fn a_handler_holds_the_scope_until_it_has_ended() {
    let (mut host, [scope], a) = tower(["s"]);
    host.own_handler(scope, Handler::Turns);
    host.resume(MAIN);
    host.awaits(For::Scope(scope, Way::Completion), None);
    fails(&mut host, a);
    assert!(host.body(a).complete && !host.is_finished(scope));
    host.turn_of(MAIN);
    assert_eq!(host.log[host.log.len() - 3..], ["s handler: boom", "s finished", "main goes on"]);
    assert!(host.got.is_empty() && !host.is_cancelled(scope));
}

#[test]
fn without_a_handler_the_scope_is_cancelled_and_its_waiters_get_the_failure() {
    let (mut host, [top, scope], a) = tower(["top", "s"]);
    host.child_handler(top, Handler::Handles);
    let below = host.scope("below", Some(scope), Lifetime::Scope);
    for (at, name) in [(scope, "b"), (below, "c"), (top, "d")] {
        host.member(at, name);
    }
    host.all_wait();
    let waiters = ["w1", "w2"].map(|name| host.member(GLOBAL, name));
    for w in waiters {
        host.body_mut(w).catches = true;
        host.turn_of(w);
        host.awaits(For::Scope(scope, Way::Completion), None);
    }
    fails(&mut host, a);
    assert_eq!(host.who("is to end: boom"), ["c", "b"], "children first, and not itself");
    assert!(!host.is_cancel_requested(a));
    host.all_return();
    for name in ["w1", "w2"] {
        assert!(host.got.contains(&(name, Thrown::Failure("boom"))));
    }
    assert_eq!(host.fates["boom"], [Fate::Waiters(scope)]);
    assert!(host.is_closed(scope) && !host.is_cancelled(top));
}

#[test]
fn a_delivery_is_for_one_wait_for_one_scope() {
    let (mut host, [top, scope], a) = tower(["top", "s"]);
    let w = host.member(GLOBAL, "w");
    host.body_mut(w).catches = true;
    host.turn_of(w);
    host.awaits(For::Scope(scope, Way::Completion), None);
    fails(&mut host, a);
    host.turn_of(w);
    assert_eq!((host.take_delivery(scope), host.take_delivery(top)), (None, None));
    host.awaits(For::Scope(scope, Way::Plain), None);
    assert_eq!(host.got.len(), 1);
}

#[test]
fn a_failure_goes_up_to_the_first_child_handler() {
    let (mut host, [top, middle, low, _], a) = tower(["top", "middle", "low", "s"]);
    host.child_handler(top, Handler::Handles);
    host.own_handler(top, Handler::Handles);
    fails(&mut host, a);
    host.all_return();
    assert_eq!(host.said("handler"), ["top child handler: boom"]);
    assert!(host.is_cancelled(low) && host.is_cancelled(middle) && !host.is_cancelled(top));
}

#[test]
fn a_parents_own_handler_serves_when_it_has_none_for_children() {
    let (mut host, [top, low, _], a) = tower(["top", "low", "s"]);
    host.own_handler(low, Handler::Handles);
    fails(&mut host, a);
    host.all_return();
    assert_eq!(host.said("handler"), ["low handler: boom"]);
    assert!(!host.is_cancelled(low) && !host.is_cancelled(top));
}

#[test]
fn a_failure_on_its_way_up_stops_at_waiters_of_a_parent() {
    let (mut host, [top, low, _], a) = tower(["top", "low", "s"]);
    host.own_handler(top, Handler::Handles);
    host.resume(MAIN);
    host.awaits(For::Scope(low, Way::Completion), None);
    fails(&mut host, a);
    assert_eq!(host.next(), None);
    assert_eq!(host.fates["boom"], [Fate::Waiters(low), Fate::Unhandled], "main was not prepared for it");
    assert!(host.is_cancelled(low) && !host.is_cancelled(top));
}

#[test]
fn a_handler_that_throws_passes_the_new_one_on_to_the_parent() {
    let (mut host, [top, low, scope], a) = tower(["top", "low", "s"]);
    host.own_handler(scope, Handler::Throws("worse"));
    host.child_handler(low, Handler::Throws("worst"));
    host.child_handler(top, Handler::Handles);
    host.resume(MAIN);
    host.awaits(For::Scope(top, Way::Completion), None);
    fails(&mut host, a);
    host.turn_of(MAIN);
    assert_eq!(host.said("handler"), ["s handler: boom", "low child handler: worse", "top child handler: worst"]);
    assert!(![top, low, scope].iter().any(|s| host.is_cancelled(*s)));
    assert_eq!(host.who("finished"), ["s", "low", "top"]);
}

#[test]
fn at_the_top_a_failure_is_unhandled_and_the_application_runs_down() {
    let mut host = Host::new();
    let (below, other) =
        (host.scope("below", Some(GLOBAL), Lifetime::Scope), host.scope("other", None, Lifetime::Scope));
    let old = host.scope("old", Some(GLOBAL), Lifetime::Scope);
    let [a, _, c, d] = [(below, "a"), (below, "b"), (other, "c"), (old, "d")].map(|(at, name)| host.member(at, name));
    host.body_mut(d).catches = true;
    host.all_wait();
    host.cancels_scope(old, "stop");
    host.all_wait();
    fails(&mut host, a);
    assert_eq!(host.fates["boom"], [Fate::Unhandled]);
    assert_eq!(host.who("is to end: boom"), ["b"]);
    assert_eq!(host.who("is to end: shutdown"), ["d", "main"], "also who has swallowed an earlier one");
    assert!(!host.is_cancelled(GLOBAL) && !host.is_closed(GLOBAL));
    host.all_wait();
    assert_eq!(host.state(c), State::Parked, "other roots go on");
}

#[test]
fn shutdown_goes_for_handlers_too() {
    let mut core = Sched::new(0, Order::Fifo, Lifetime::Scope);
    let [below, root] = [Some(GLOBAL), None].map(|parent| core.add_scope(parent, Lifetime::Scope));
    let [r1, _, r3] = [below, root, GLOBAL].map(|at| core.spawn_runner(at, None));
    assert_eq!(core.shut_down(), ToCancel::Gently(vec![MAIN, r1, r3]));
}

#[test]
fn a_failed_callback_is_a_failure_of_its_scope() {
    let (mut host, [scope], a) = tower(["s"]);
    host.own_handler(scope, Handler::Handles);
    host.body_mut(a).callback = Some(Handler::Throws("late"));
    host.scope_callback(scope, Handler::Throws("later"));
    host.resume(a);
    host.ends(Ends::Returns);
    assert!(host.body(a).complete && !host.is_finished(scope), "a callback is to run");
    host.all_return();
    assert_eq!(host.said("handler"), ["s handler: late", "s handler: later"]);
    assert_eq!((host.fates["late"].len(), host.fates["later"].len()), (1, 1));
}

#[test]
fn a_bottom_up_failure_is_routed_when_the_body_ends_and_completes_later() {
    let (mut host, scope, [a, b, c, d]) = family(Lifetime::BottomUp);
    host.own_handler(scope, Handler::Handles);
    fails(&mut host, a);
    host.resume(MAIN);
    assert_eq!(host.said("handler"), ["s handler: boom"]);
    host.body_mut(MAIN).catches = true;
    host.awaits(For::Coroutine(a), None);
    for co in [b, d, c] {
        host.resume(co);
        host.ends(Ends::Returns);
    }
    host.turn_of(MAIN);
    assert_eq!(host.got, [("main", Thrown::Failure("boom"))], "who awaits it later gets it as well");
}

// --- sets -----------------------------------------------------------------------------------------------------------

#[test]
fn a_set_is_complete_when_its_last_is_or_at_the_first_failure() {
    for fails_fast in [true, false] {
        let mut host = Host::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| host.member(GLOBAL, name));
        host.all_wait();
        let set = host.add_set(fails_fast);
        assert!(host.is_done(Target::Set(set)), "an empty one");
        for co in [a, b, c] {
            host.add_to_set(set, co);
        }
        host.resume(MAIN);
        host.body_mut(MAIN).catches = true;
        host.awaits(For::Set(set), None);
        host.resume(a);
        host.ends(Ends::Returns);
        host.resume(b);
        host.ends(Ends::Throws("boom"));
        assert_eq!((host.failed_in_set(set), host.is_done(Target::Set(set))), (Some(b), fails_fast));
        assert_eq!(host.fates["boom"], [Fate::Awaiters]);
        assert_eq!(host.has_ready(), fails_fast);
        host.wakes(c);
        host.run(|host, co| if co == c { host.ends(Ends::Cancelled("stop")) } else { host.waits() });
        assert_eq!(host.failed_in_set(set), Some(b), "the first one");
        assert_eq!((host.said("set failed").len(), host.got.len()), (1, 1));
        assert!(host.was_awaited(a) && host.was_awaited(c));
        // Those who are complete may be added.
        let again = host.add_set(fails_fast);
        host.add_to_set(again, a);
        assert_eq!((host.is_done(Target::Set(again)), host.failed_in_set(again)), (true, None));
        host.add_to_set(again, c);
        assert_eq!((host.is_done(Target::Set(again)), host.failed_in_set(again)), (true, Some(c)));
        host.drop_set(again, [a, c]);
        host.drop_set(set, [a, b, c]);
    }
}

#[test]
fn a_dropped_set_is_no_awaiter() {
    let mut host = Host::new();
    let a = host.member(GLOBAL, "a");
    host.all_wait();
    let set = host.add_set(true);
    host.add_to_set(set, a);
    host.drop_set(set, [a]);
    let next = host.add_set(true);
    assert_ne!(next, set);
    fails(&mut host, a);
    assert_eq!(host.fates["boom"], [Fate::Unhandled]);
    assert_eq!(host.failed_in_set(next), None);
}

#[test]
fn the_id_of_a_dropped_set_does_not_name_the_next_one() {
    let mut host = Host::new();
    let [a, b] = [host.member(GLOBAL, "a"), host.member(GLOBAL, "b")];
    host.all_wait();
    let set = host.add_set(true);
    host.drop_set(set, []);
    let next = host.add_set(true);
    host.add_to_set(next, a);
    host.add_to_set(set, b);
    assert!(host.is_done(Target::Set(set)) && !host.is_done(Target::Set(next)));
    host.drop_set(set, [a]);
    assert_eq!(host.pending_in_set(next, 9), [a]);
    fails(&mut host, a);
    assert_eq!((host.failed_in_set(set), host.failed_in_set(next)), (None, Some(a)));
    assert!(!host.ever_awaited(b));
}

// --- deep and wide --------------------------------------------------------------------------------------------------

const DEEP: usize = 100_000;

/// A chain of scopes below one another, a coroutine in the last; main runs.
fn chain(core: &mut Sched) -> (ScopeId, CoroutineId) {
    let mut scope = core.add_scope(None, Lifetime::Scope);
    for _ in 1..DEEP {
        let below = core.add_scope(Some(scope), Lifetime::Scope);
        core.drop_handle(scope);
        scope = below;
    }
    let last = core.spawn_in(scope);
    core.drop_handle(scope);
    (scope, last)
}

/// Carries out what is left; says how many scopes were finished and gone.
fn ends(core: &mut Sched) -> (usize, usize) {
    let (mut finished, mut gone) = (0, 0);
    while let Some(event) = core.next_event() {
        match event {
            Event::Finished(scope) => {
                finished += 1;
                core.notify_finished(scope);
            }
            Event::Gone(scope) => gone += usize::from(core.release_scope(scope)),
            other => panic!("{other:?}"),
        }
    }
    (finished, gone)
}

#[test]
fn a_failure_goes_up_a_long_chain_of_scopes() {
    let mut core = Sched::new(0, Order::Fifo, Lifetime::Scope);
    let (last, co) = chain(&mut core);
    core.begin_wait();
    assert_eq!(core.park(None, scopes_host::SOCKET, true), None);
    core.next_to_run();
    assert!(!core.end(co, Outcome::Failed).awaited);
    let (mut route, mut steps) = (core.failure(last), 0);
    while let Route::Cancelled { scope, order, notify, .. } = route {
        assert!(order.is_empty() && notify.is_empty());
        core.notify_cancelled(scope);
        route = core.failure_above(scope, false);
        steps += 1;
    }
    assert_eq!((route, steps), (Route::Unhandled, DEEP));
    core.complete(co);
    assert_eq!(ends(&mut core), (DEEP, DEEP));
}

#[test]
fn a_long_chain_of_scopes_is_cancelled_at_once() {
    let mut core = Sched::new(0, Order::Fifo, Lifetime::Scope);
    let (last, co) = chain(&mut core);
    let root = core.root_scopes()[1];
    assert!(core.is_within(co, root));
    assert_eq!(core.dispose_scope(root, Disposal::Safely), [co]);
    assert_eq!(core.cancel_scope(root), Some(vec![co]));
    core.notify_cancelled(root);
    assert!(core.is_cancelled(last));
    core.end(co, Outcome::Cancelled);
    core.complete(co);
    assert_eq!(ends(&mut core), (DEEP, DEEP));
}

#[test]
fn a_long_chain_of_parents_ends_from_below() {
    let mut host = Host::ordered(Order::Fifo, Lifetime::BottomUp);
    let mut last = MAIN;
    for _ in 0..DEEP {
        last = host.child("one");
        host.turns();
        host.turn_of(last);
        // Its parent ends, and waits for it.
        host.turns();
        host.next().expect("the parent");
        host.ends(Ends::Returns);
        host.turn_of(last);
    }
    assert_eq!(host.cancel_targets(MAIN), [last]);
    host.ends(Ends::Returns);
    assert_eq!(host.live(), 0);
}
