//! The reactor of a child: what other threads wake before it has waited for the first time.

use spindle_reactor::{Reactor, Waiter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const LIMIT: u64 = 20_000_000_000;

/// The thread wakes a little later in each round, so that some wakes meet every step of the turn.
#[test]
fn a_wake_that_meets_the_first_turn_is_not_lost() {
    let reactor = Reactor::new().unwrap();
    for round in 1..=4000 {
        reactor.after_fork();
        let (remote, begins) = (reactor.remote(), Arc::new(AtomicBool::new(false)));
        let has_begun = Arc::clone(&begins);
        let thread = thread::spawn(move || {
            while !has_begun.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            (0..round % 400 * 4).for_each(|_| std::hint::spin_loop());
            remote.wake(Waiter(round));
        });
        let (mut woken, began) = (Vec::new(), Reactor::now());
        begins.store(true, Ordering::Release);
        while woken.is_empty() {
            reactor.turn(Some(LIMIT), |waiter| woken.push(waiter.0));
            assert!(Reactor::now() - began < LIMIT, "round {round}: nothing has ended the wait");
        }
        assert_eq!(woken, [round]);
        thread.join().unwrap();
    }
}
