//! Wait sets: keys, who is woken, what counts as awaited, and what a fork loses.

mod sched_host;

use sched_host::{Host, MAIN, SOCKET};
use spindle_core::sched::{CoroutineId, Order, Outcome, Target, WaitReason, WakeReason, Wakeup};

/// Ends the running coroutine as failed. Returns whether its failure is awaited.
fn fails(host: &mut Host) -> bool {
    let co = host.running();
    let end = host.end(co, Outcome::Failed);
    host.complete(co);
    end.awaited
}

#[test]
fn a_completion_signals_its_key_and_wakes_the_coroutine_that_waits() {
    let mut host = Host::new();
    let [a, b] = host.spawn_many();
    let set = host.add_wait_set();
    let (first, second) = (host.next_wait_key(|_| false), host.next_wait_key(|_| false));
    host.watch_key(set, Target::Coroutine(a), first);
    host.watch_key(set, Target::Coroutine(b), second);
    assert!(host.begin_wait_for_key(set));
    assert_eq!(host.park(None, WaitReason::Coroutines, true), None);
    host.starts(a);
    host.ends();
    host.starts(b);
    host.ends();
    assert_eq!(host.goes_on(MAIN), WakeReason::Woken);
    host.end_wait_for_key(set);
    assert_eq!([(); 3].map(|()| host.next_signalled(set)), [Some(first), Some(second), None]);
}

#[test]
fn a_key_that_is_signalled_first_begins_no_wait() {
    let mut host = Host::new();
    let set = host.add_wait_set();
    let key = host.next_wait_key(|_| false);
    host.wake_up(set.wakeup(key));
    assert!(!host.begin_wait_for_key(set));
    assert_eq!(host.next_signalled(set), Some(key));
    assert!(host.begin_wait_for_key(set));
}

#[test]
fn a_wait_that_is_left_is_not_signalled() {
    let mut host = Host::new();
    let a = host.spawn();
    let set = host.add_wait_set();
    let key = host.next_wait_key(|_| false);
    host.watch_key(set, Target::Coroutine(a), key);
    assert!(host.unwatch_key(set, Target::Coroutine(a), key));
    assert!(!host.unwatch_key(set, Target::Coroutine(a), key));
    host.turn();
    host.starts(a);
    host.ends();
    assert_eq!(host.next_signalled(set), None);
}

#[test]
fn a_failure_is_awaited_while_the_set_is_served() {
    for served in [false, true] {
        let mut host = Host::new();
        let a = host.spawn();
        let set = host.add_wait_set();
        let key = host.next_wait_key(|_| false);
        host.serve(set, served);
        host.watch_key(set, Target::Coroutine(a), key);
        host.turn();
        host.starts(a);
        assert_eq!(fails(&mut host), served);
        assert_eq!((host.was_awaited(a), host.next_signalled(set)), (served, Some(key)));
        assert_eq!(host.unmark_awaited(a), served, "the wait is left");
        assert!(!host.was_awaited(a));
    }
}

#[test]
fn keys_and_tickets_have_different_numbers() {
    let mut host = Host::new();
    let set = host.add_wait_set();
    let ticket = host.waits(None, SOCKET);
    let co: CoroutineId = ticket.co;
    host.wake_up(Wakeup::from_u64(set.wakeup(co.0).to_u64()));
    assert_eq!((co, host.has_ready()), (MAIN, false));
    host.wake_up(Wakeup::from_u64(Wakeup::Park(ticket).to_u64()));
    assert!(host.has_ready());
}

#[test]
fn a_dropped_set_has_no_keys_and_its_number_is_not_the_next_ones() {
    let mut host = Host::new();
    let set = host.add_wait_set();
    let key = host.next_wait_key(|_| false);
    host.drop_wait_set(set);
    host.wake_up(set.wakeup(key));
    assert_eq!(host.next_signalled(set), None);
    let next = host.add_wait_set();
    assert_eq!((next == set, host.next_signalled(next)), (false, None));
}

#[test]
fn a_timeout_that_a_set_waits_for_is_no_deadlock() {
    let mut host = Host::new();
    let timeout = host.add_timeout(10);
    let set = host.add_wait_set();
    let key = host.next_wait_key(|_| false);
    assert!(!host.has_wake_source());
    host.watch_key(set, Target::Timeout(timeout), key);
    assert!(host.has_wake_source());
    assert!(host.begin_wait_for_key(set));
    assert_eq!(host.park(None, WaitReason::Coroutines, true), None);
    host.expire(10);
    assert_eq!((host.has_wake_source(), host.goes_on(MAIN)), (false, WakeReason::Woken));
    assert_eq!(host.next_signalled(set), Some(key));
}

#[test]
fn an_open_set_completes_once_and_says_whether_it_is_awaited() {
    let mut host = Host::new();
    let (alone, awaited) = (host.add_open_set(), host.add_open_set());
    assert!(!host.is_done(Target::Set(alone)));
    assert!(!host.complete_set(alone, true));
    assert!(host.is_done(Target::Set(alone)));
    let set = host.add_wait_set();
    let key = host.next_wait_key(|_| false);
    host.serve(set, true);
    host.watch_key(set, Target::Set(awaited), key);
    assert!(host.complete_set(awaited, true));
    assert!(!host.complete_set(awaited, true));
    assert_eq!(host.next_signalled(set), Some(key));
}

#[test]
fn a_fork_loses_the_registrations() {
    let mut host = Host::ordered(Order::Fifo);
    let timeout = host.add_timeout(10);
    let set = host.add_wait_set();
    let key = host.next_wait_key(|_| false);
    host.watch_key(set, Target::Timeout(timeout), key);
    host.signal(set, key);
    host.after_fork();
    assert_eq!((host.next_signalled(set), host.begin_wait_for_key(set)), (None, false));
    assert!(host.take_lost(set));
    assert!(!host.take_lost(set));
    host.expire(10);
    assert_eq!(host.next_signalled(set), None);
}
