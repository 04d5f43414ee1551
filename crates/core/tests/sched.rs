//! The scheduler's rules, one by one: the queue, tickets, deadlines, awaiting, and what a deadlock is.
//! Cancellations and signals: `sched_cancel.rs`.

mod sched_host;

use sched_host::{Host, MAIN, SOCKET};
use spindle_core::sched::{
    Cancel, CoroutineId, Next, Order, Outcome, State, Target, ToCancel, WaitReason, WakeReason, Wakeup,
};

#[test]
fn a_spawn_starts_nothing() {
    let mut host = Host::new();
    let a = host.spawn();
    assert_eq!((host.running(), host.state(MAIN)), (MAIN, State::Running));
    assert_eq!((host.state(a), host.is_started(a)), (State::Queued, false));
    assert_eq!((host.live(), host.ready(), host.has_ready()), (2, 1, true));
    host.turn();
    host.starts(a);
    assert_eq!((host.running(), host.state(a), host.is_started(a)), (a, State::Running, true));
    assert_eq!(host.state(MAIN), State::Ready);
}

#[test]
fn the_first_in_is_the_first_out() {
    let mut host = Host::new();
    let [a, b, c] = host.spawn_many();
    host.turn();
    host.starts(a);
    host.turn();
    host.starts(b);
    let d = host.spawn();
    host.ends();
    host.starts(c);
    host.turn();
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
    host.ends();
    assert_eq!(host.goes_on(a), WakeReason::Woken);
    host.ends();
    host.starts(d);
    host.ends();
    assert_eq!(host.goes_on(c), WakeReason::Woken);
    host.ends();
    assert_eq!((host.next_to_run(), host.live()), (Next::Over, 0));
}

#[test]
fn giving_way_in_one_step_is_the_same() {
    let mut host = Host::new();
    assert_eq!(host.yield_now(), Some(Next::Resume(MAIN)), "alone it goes on");
    let [a, b] = host.spawn_many();
    assert_eq!([0, 1, 2].map(|after| host.nth_ready(after)), [Some(a), Some(b), None]);
    let old = host.begin_wait();
    assert_eq!(host.yield_now(), Some(Next::Start(a)));
    assert_eq!((host.running(), host.state(MAIN), host.ready()), (a, State::Ready, 2));
    assert_eq!((host.nth_ready(1), host.has_wake_source()), (Some(MAIN), false));
    assert_eq!(host.yield_now(), Some(Next::Start(b)));
    assert_eq!(host.yield_now(), Some(Next::Resume(MAIN)));
    host.wake(old);
    assert_eq!(host.yield_now(), Some(Next::Resume(a)), "the earlier ticket is void");
    host.ends();
    assert_eq!(host.next_to_run(), Next::Resume(b));
    let ticket = host.waits(None, SOCKET);
    assert_eq!(host.next_to_run(), Next::Resume(MAIN));
    host.wake(ticket);
    assert_eq!(host.yield_now(), Some(Next::Resume(b)));
    assert_eq!(host.resumed(true), WakeReason::Woken);
}

#[test]
fn those_that_are_woken_queue_in_that_order() {
    let mut host = Host::new();
    let [(a, to_a), (b, to_b), (c, to_c)] = host.parked(SOCKET);
    for ticket in [to_c, to_a, to_b] {
        host.wake(ticket);
    }
    host.turn();
    for co in [c, a, b] {
        assert_eq!(host.goes_on(co), WakeReason::Woken);
        host.ends();
    }
}

#[test]
fn a_seed_gives_an_order_and_repeats_it() {
    let order_of = |order| {
        let mut core = Host::ordered(order);
        let spawned: Vec<CoroutineId> = (0..20).map(|_| core.spawn()).collect();
        core.finish(MAIN, Outcome::Returned);
        let mut order = Vec::new();
        while let Next::Start(co) = core.next_to_run() {
            order.push(co);
            core.finish(co, Outcome::Returned);
        }
        let mut sorted = order.clone();
        sorted.sort_by_key(|co| co.0);
        assert_eq!(sorted, spawned, "each once");
        order
    };
    let fifo = order_of(Order::Fifo);
    assert!(fifo.is_sorted_by_key(|co| co.0));
    for seed in 1..20 {
        assert_eq!(order_of(Order::Seeded(seed)), order_of(Order::Seeded(seed)));
        assert_ne!(order_of(Order::Seeded(seed)), order_of(Order::Seeded(seed + 1)));
        assert_ne!(order_of(Order::Seeded(seed)), fifo);
    }
}

#[test]
fn a_yield_lets_another_one_run_with_each_seed() {
    for seed in 1..50 {
        let mut core = Host::ordered(Order::Seeded(seed));
        core.spawn();
        assert!(matches!(core.yield_now(), Some(Next::Start(_))), "seed {seed}");
    }
}

#[test]
fn numbers_are_never_used_twice_and_name_the_parent() {
    let mut host = Host::new();
    let a = host.spawn();
    assert_eq!((host.id(MAIN), host.parent_id(MAIN)), (1, 0));
    assert_eq!((host.id(a), host.parent_id(a)), (2, 1));
    host.turn();
    host.starts(a);
    let b = host.spawn();
    assert_eq!((host.id(b), host.parent_id(b)), (3, 2));
    host.ends();
    assert_eq!(host.coroutines().collect::<Vec<_>>(), [MAIN, b]);
    host.goes_on(MAIN);
    host.release(a);
    let again = host.spawn();
    assert_eq!((again, host.id(again), host.parent_id(again)), (a, 4, 1));
    assert_eq!(host.coroutines().collect::<Vec<_>>(), [MAIN, again, b]);
}

#[test]
fn woken_before_it_parks_it_does_not_park() {
    let mut host = Host::new();
    let ticket = host.begin_wait();
    host.wake(ticket);
    assert_eq!(host.park(Some(10), SOCKET, true), Some(WakeReason::Woken));
    assert_eq!((host.running(), host.state(MAIN)), (MAIN, State::Running));
    assert_eq!((host.ready(), host.deadlines(), host.has_wake_source()), (0, 0, false));
    // The next wait is another.
    let ticket = host.begin_wait();
    assert_eq!(host.park(None, SOCKET, true), None);
    host.wake(ticket);
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
}

#[test]
fn an_early_wake_is_for_its_own_wait_only() {
    let mut host = Host::new();
    let early = host.begin_wait();
    host.wake(early);
    let given_up = host.begin_wait();
    let ticket = host.begin_wait();
    host.wake(early);
    host.wake(given_up);
    assert_eq!(host.park(None, SOCKET, true), None);
    host.wake(early);
    host.wake(given_up);
    assert_eq!(host.next_to_run(), Next::Idle);
    host.wake(ticket);
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
}

#[test]
fn an_early_wake_also_saves_a_turn() {
    let mut host = Host::new();
    host.spawn();
    let ticket = host.begin_wait();
    host.wake(ticket);
    assert_eq!(host.park(None, WaitReason::Yield, true), Some(WakeReason::Woken));
    assert_eq!(host.ready(), 1);
}

#[test]
fn a_late_wake_is_void() {
    let mut host = Host::new();
    let first = host.waits(None, SOCKET);
    host.wake(first);
    host.wake(first);
    assert_eq!((host.state(MAIN), host.ready()), (State::Ready, 1), "queued once");
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
    host.wake(first); // while it runs
    let second = host.waits(None, SOCKET);
    host.wake(first); // while it waits for something else
    assert_eq!((host.state(MAIN), host.next_to_run()), (State::Parked, Next::Idle));
    host.wake(second);
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
}

#[test]
fn a_ticket_does_not_reach_the_next_coroutine_in_the_slot() {
    let mut host = Host::new();
    let a = host.spawn();
    host.turn();
    host.starts(a);
    let old = host.waits(None, SOCKET);
    host.wake(old);
    host.goes_on(MAIN);
    host.turn();
    host.goes_on(a);
    let unused = host.begin_wait();
    host.ends();
    host.wake(unused); // done
    host.goes_on(MAIN);
    host.release(a);
    host.wake(unused); // free
    assert_eq!(host.spawn(), a);
    let void = |host: &mut Host| [old, unused].map(|ticket| host.wake(ticket));
    void(&mut host); // queued
    assert_eq!(host.ready(), 1);
    host.turn();
    host.starts(a);
    void(&mut host); // runs
    let ticket = host.waits(None, SOCKET);
    void(&mut host); // parked
    assert_eq!(host.state(a), State::Parked);
    host.wake(ticket);
    host.goes_on(MAIN);
    host.turn();
    assert_eq!(host.goes_on(a), WakeReason::Woken);
}

#[test]
fn a_wakeup_is_a_word() {
    let mut host = Host::new();
    let [(_, first), (co, second)] = host.parked(SOCKET);
    let [first, second] = [first, second].map(Wakeup::Park);
    assert_eq!(Wakeup::from_u64(second.to_u64()), second);
    assert_ne!(first.to_u64(), second.to_u64());
    assert_eq!(Wakeup::from_u64(u64::MAX), Wakeup::NOTHING);
    host.wake_up(Wakeup::NOTHING);
    assert_eq!(host.ready(), 0);
    host.wake_up(second);
    assert_eq!(host.state(co), State::Ready);
}

#[test]
fn a_deadline_ends_a_park_and_never_early() {
    let mut host = Host::new();
    host.waits(Some(1_000), WaitReason::Timer);
    assert_eq!((host.deadlines(), host.next_deadline()), (1, Some(1_000)));
    host.expire(999);
    assert_eq!((host.state(MAIN), host.next_to_run()), (State::Parked, Next::Idle));
    host.expire(1_000);
    assert_eq!((host.deadlines(), host.next_deadline()), (0, None));
    assert_eq!(host.goes_on(MAIN), WakeReason::TimedOut);
    // A deadline that has passed still parks: others get their turn.
    host.waits(Some(5), WaitReason::Timer);
    host.expire(1_000);
    assert_eq!(host.goes_on(MAIN), WakeReason::TimedOut);
}

#[test]
fn deadlines_are_met_in_order_those_of_one_moment_as_they_came() {
    let mut host = Host::new();
    let spawned: [CoroutineId; 5] = host.spawn_many();
    host.turn();
    for (co, deadline) in spawned.into_iter().zip([30, 10, 20, 10, 40]) {
        host.starts(co);
        host.waits(Some(deadline), WaitReason::Timer);
    }
    host.goes_on(MAIN);
    host.expire(30);
    host.turn();
    for co in [1, 3, 2, 0] {
        assert_eq!(host.goes_on(spawned[co]), WakeReason::TimedOut);
        host.ends();
    }
    assert_eq!(host.state(spawned[4]), State::Parked);
}

#[test]
fn of_wake_and_deadline_the_first_counts() {
    let mut host = Host::new();
    let ticket = host.waits(Some(10), SOCKET);
    host.wake(ticket);
    assert_eq!((host.deadlines(), host.next_deadline()), (0, None));
    host.expire(10);
    assert_eq!((host.ready(), host.goes_on(MAIN)), (1, WakeReason::Woken));
    // The old deadline is nothing to the next wait.
    let ticket = host.waits(Some(30), SOCKET);
    host.expire(29);
    assert_eq!(host.state(MAIN), State::Parked);
    host.expire(30);
    host.wake(ticket);
    assert_eq!((host.ready(), host.goes_on(MAIN)), (1, WakeReason::TimedOut));
}

#[test]
fn an_end_wakes_the_awaiters_in_their_order() {
    let mut host = Host::new();
    let [a, b, c] = host.spawn_many();
    host.turn();
    host.starts(a);
    host.awaits(&[Target::Coroutine(c)]);
    host.starts(b);
    host.awaits(&[Target::Coroutine(c)]);
    host.starts(c);
    assert!(!host.is_done(Target::Coroutine(c)) && !host.was_awaited(c));
    assert!(host.finish(c, Outcome::Failed));
    assert!(host.is_done(Target::Coroutine(c)) && host.was_awaited(c));
    assert_eq!((host.state(c), host.outcome(c), host.live()), (State::Done, Outcome::Failed, 3));
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
    host.turn();
    for co in [a, b] {
        assert_eq!(host.goes_on(co), WakeReason::Woken);
        host.ends();
    }
}

#[test]
fn an_unsubscribed_ticket_is_not_used() {
    let mut host = Host::new();
    let a = host.spawn();
    let ticket = host.begin_wait();
    host.subscribe(Target::Coroutine(a), ticket);
    host.subscribe(Target::Coroutine(a), ticket);
    host.unsubscribe(Target::Coroutine(a), ticket);
    host.unsubscribe(Target::Coroutine(a), ticket);
    host.unsubscribe(Target::Coroutine(a), ticket);
    assert_eq!(host.park(None, WaitReason::Yield, true), None);
    host.starts(a);
    assert!(!host.ends(), "nobody awaits it");
    assert!(!host.was_awaited(a));
    host.mark_awaited(a);
    assert!(host.was_awaited(a));
    // The next one in the slot has its own awaiters.
    host.goes_on(MAIN);
    host.release(a);
    assert_eq!(host.spawn(), a);
    assert!(!host.was_awaited(a));
}

#[test]
fn of_two_awaited_the_second_to_end_wakes_nothing() {
    let mut host = Host::new();
    let [a, b] = host.spawn_many();
    host.awaits(&[Target::Coroutine(a), Target::Coroutine(b)]);
    host.starts(a);
    host.ends();
    host.starts(b);
    host.ends();
    assert_eq!((host.ready(), host.goes_on(MAIN)), (1, WakeReason::Woken));
    host.waits(None, SOCKET);
    assert_eq!(host.next_to_run(), Next::Idle);
}

#[test]
fn a_timeout_can_be_awaited() {
    let mut host = Host::new();
    let timeout = host.add_timeout(50);
    assert!(!host.is_done(Target::Timeout(timeout)));
    host.awaits(&[Target::Timeout(timeout)]);
    host.expire(49);
    assert_eq!((host.next_to_run(), host.deadlines()), (Next::Idle, 1));
    host.expire(50);
    assert_eq!((host.goes_on(MAIN), host.deadlines()), (WakeReason::Woken, 0));
    assert!(host.is_done(Target::Timeout(timeout)));
    // Complete, it stays so; its place serves another, which is not.
    host.expire(60);
    assert!(host.is_done(Target::Timeout(timeout)));
    host.drop_timeout(timeout);
    let next = host.add_timeout(70);
    assert_ne!(next, timeout);
    assert!(host.is_done(Target::Timeout(timeout)), "the dropped one is not the one in its place");
    assert!(!host.is_done(Target::Timeout(next)));
}

#[test]
fn a_dropped_timeout_leaves_no_timer() {
    let mut host = Host::new();
    let first = host.add_timeout(50);
    let second = host.add_timeout(60);
    host.awaits(&[Target::Timeout(first), Target::Timeout(second)]);
    host.drop_timeout(first);
    assert_eq!((host.deadlines(), host.has_wake_source()), (1, true));
    let third = host.add_timeout(1_000);
    host.drop_timeout(first);
    assert_eq!(host.deadlines(), 2, "the one dropped before is not the one in its place");
    host.expire(59);
    assert_eq!(host.next_to_run(), Next::Idle);
    host.expire(60);
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
    host.drop_timeout(second);
    host.drop_timeout(third);
    assert_eq!((host.deadlines(), host.next_deadline(), host.has_wake_source()), (0, None, false));
}

#[test]
fn a_timeout_and_a_deadline_of_one_moment_wake_once() {
    let mut host = Host::new();
    let timeout = host.add_timeout(50);
    let ticket = host.begin_wait();
    host.subscribe(Target::Timeout(timeout), ticket);
    assert_eq!(host.park(Some(50), WaitReason::Coroutines, true), None);
    host.expire(50);
    assert_eq!((host.ready(), host.goes_on(MAIN)), (1, WakeReason::Woken));
    // The other way round: the deadline came first, and the later use of the ticket is void.
    host.begin_wait();
    let timeout = {
        let ticket = host.begin_wait();
        assert_eq!(host.park(Some(70), WaitReason::Coroutines, true), None);
        let timeout = host.add_timeout(70);
        host.subscribe(Target::Timeout(timeout), ticket);
        timeout
    };
    host.expire(70);
    assert_eq!((host.ready(), host.goes_on(MAIN)), (1, WakeReason::TimedOut));
    assert!(host.is_done(Target::Timeout(timeout)));
}

/// For each wait reason, whether a wake source remains while all wait like this.
#[test]
fn what_is_no_deadlock() {
    let outside = |interruptible, restart| WaitReason::External { interruptible, restart };
    let cases = [
        (None, WaitReason::Coroutines, false),
        (Some(10), WaitReason::Coroutines, true),
        (Some(10), WaitReason::Timer, true),
        (None, WaitReason::Timer, false),
        (None, outside(true, true), true),
        (None, outside(false, false), true),
        (Some(10), outside(true, false), true),
    ];
    for (deadline, on, hope) in cases {
        for cancellable in [true, false] {
            let mut host = Host::new();
            assert!(!host.has_wake_source());
            let ticket = host.begin_wait();
            assert_eq!(host.park(deadline, on, cancellable), None);
            assert_eq!(host.has_wake_source(), hope, "{deadline:?} {on:?}");
            host.wake(ticket);
            assert!(!host.has_wake_source(), "{deadline:?} {on:?} is over");
        }
    }
}

#[test]
fn one_that_waits_for_the_world_is_hope_for_all() {
    let mut host = Host::new();
    let [(_, first), (co, second)] = host.parked(SOCKET);
    host.awaits(&[Target::Coroutine(co)]);
    for (ticket, hope) in [(first, true), (second, false)] {
        assert!(host.has_wake_source());
        host.wake(ticket);
        assert_eq!(host.has_wake_source(), hope);
    }
}

#[test]
fn after_a_fork_only_the_running_one_is_left() {
    let mut host = Host::new();
    let [(parked, to_parked), (timed, _)] = host.parked(SOCKET);
    let [ended, forks, queued, cancelled] = host.spawn_many();
    let timeout = host.add_timeout(500);
    host.turn();
    host.starts(ended);
    host.ends();
    host.starts(forks);
    assert_eq!(host.cancel(cancelled, "reason"), Cancel::Accepted);
    host.wake(to_parked);
    assert_eq!(host.live(), 6);

    assert_eq!(host.after_fork(), [MAIN, parked, timed, queued, cancelled]);
    assert_eq!((host.running(), host.live(), host.ready()), (forks, 1, 0));
    assert_eq!(host.coroutines().collect::<Vec<_>>(), [forks]);
    for co in [MAIN, parked, timed, queued, cancelled] {
        assert_eq!((host.state(co), host.outcome(co)), (State::Done, Outcome::Cancelled));
        assert!(host.was_awaited(co), "its end is nobody's failure");
    }
    assert_eq!(host.release(cancelled), Some("reason"));
    host.wake(to_parked);
    host.expire(100);
    assert_eq!(host.next_to_run(), Next::Idle);

    // The running one's own timeouts go on, and its life does.
    assert_eq!((host.deadlines(), host.has_wake_source()), (1, false), "nobody awaits it now");
    host.drop_timeout(timeout);
    assert!(!host.has_wake_source());
    assert_eq!(host.spawn(), cancelled);
    host.turn();
    host.starts(cancelled);
    assert!(!host.ends(), "the awaiters were the parent's");
    host.goes_on(forks);
    host.ends();
    assert_eq!(host.live(), 0);
}

#[test]
fn a_fork_forgets_deadlines_and_awaiters() {
    let mut host = Host::new();
    let [forks, sleeps, awaits] = host.spawn_many();
    let timeout = host.add_timeout(500);
    host.turn();
    host.starts(forks);
    host.turn();
    host.starts(sleeps);
    host.waits(Some(10), WaitReason::Timer);
    host.starts(awaits);
    host.awaits(&[Target::Coroutine(forks), Target::Timeout(timeout)]);
    host.goes_on(MAIN);
    host.waits(None, SOCKET);
    host.goes_on(forks);
    assert_eq!((host.deadlines(), host.after_fork().len()), (2, 3));
    assert_eq!(host.deadlines(), 1, "the timeout's");
    host.expire(1_000);
    assert!(host.is_done(Target::Timeout(timeout)));
    assert!(!host.finish(forks, Outcome::Returned));
    assert_eq!((host.next_to_run(), host.has_wake_source()), (Next::Over, false));
}

#[test]
fn the_application_does_not_wait_for_what_is_detached() {
    let mut host = Host::new();
    let detached = host.spawn_detached();
    assert_eq!((host.live(), host.is_detached(detached), host.state(detached)), (1, true, State::Queued));
    host.attach(detached);
    host.attach(detached);
    assert_eq!((host.live(), host.is_detached(detached)), (2, false), "once");
    host.detach(detached);
    host.detach(detached);
    assert_eq!((host.live(), host.is_detached(detached)), (1, true), "once");
    host.turn();
    host.starts(detached);
    host.ends();
    assert_eq!(host.live(), 1, "its end counts for nothing");
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
    host.attach(detached);
    assert_eq!(host.live(), 1, "it has ended");
}

#[test]
fn shutdown_leaves_what_is_detached() {
    let mut host = Host::new();
    let [plain] = host.spawn_many();
    let detached = host.spawn_detached();
    let attached = host.spawn_detached();
    host.attach(attached);
    let ToCancel::Gently(first) = host.shut_down() else { panic!("gracefully at first") };
    assert!(first.contains(&plain) && first.contains(&attached) && !first.contains(&detached));
    let ToCancel::ByForce(second) = host.shut_down() else { panic!("by force then") };
    assert!(second.contains(&attached) && !second.contains(&detached));
    assert!(host.only_zombies());
    host.detach(attached);
    assert_eq!((host.live(), host.only_zombies()), (2, true), "a zombie that is detached is none that is waited for");
    host.attach(detached);
    assert_eq!((host.live(), host.only_zombies()), (3, true), "it keeps the application alive no longer than others");
}

#[test]
fn a_ticket_of_an_earlier_scheduler_names_no_park_of_the_next() {
    let mut host = Host::new();
    let old: Vec<_> = (0..3).map(|_| host.begin_wait()).collect();
    let a = host.spawn();
    host.turn();
    host.starts(a);
    let late = host.begin_wait();
    let mut next = Host::new().with_epochs_after(host.last_epoch());
    let first = next.begin_wait();
    assert!(old.iter().all(|ticket| !next.wake(*ticket)));
    assert!(next.wake(first));
    let b = next.spawn();
    next.turn();
    next.starts(b);
    let ticket = next.begin_wait();
    assert_eq!((ticket.co, ticket == late, next.wake(late), next.wake(ticket)), (late.co, false, false, true));
    assert_ne!(next.last_epoch(), host.last_epoch());
}
