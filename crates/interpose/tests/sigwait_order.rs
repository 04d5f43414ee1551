//! Several coroutines that wait for signals. They are sent to the test's own thread, which blocks them.

mod coroutines;
mod signals_kit;

use coroutines::{nap, with_machine};
use signals_kit::*;
use std::cell::RefCell;
use std::rc::Rc;

#[test]
fn coroutines_get_a_signal_in_the_order_they_came() {
    with_machine(|machine| {
        blocked(|| {
            let log = Rc::new(RefCell::new(Vec::new()));
            for id in 1..=3 {
                let log = Rc::clone(&log);
                machine.spawn(move || {
                    for _ in 0..2 {
                        let (outcome, info) = wait(&[libc::SIGRTMIN()], None);
                        // SAFETY: a queued signal has a value.
                        log.borrow_mut().push((id, outcome.0, unsafe { info.si_value().sival_ptr.addr() }));
                    }
                });
            }
            let one = Rc::clone(&log);
            machine.spawn(move || {
                let (outcome, _) = wait(&[ONE], None);
                one.borrow_mut().push((4, outcome.0, 0));
            });
            machine.spawn(move || {
                for value in 1..=3 {
                    nap(5);
                    queue(libc::SIGRTMIN(), value);
                }
                nap(5);
                send(ONE);
                nap(5);
                // Several at once.
                (4..=6).for_each(|value| queue(libc::SIGRTMIN(), value));
            });
            machine.run();
            let rt = libc::SIGRTMIN();
            let wanted = [(1, rt, 1), (2, rt, 2), (3, rt, 3), (4, ONE, 0), (1, rt, 4), (2, rt, 5), (3, rt, 6)];
            assert_eq!(*log.borrow(), wanted);
        });
    });
}

#[test]
fn who_gives_up_leaves_the_signal_to_the_next() {
    with_machine(|machine| {
        blocked(|| {
            let log = Rc::new(RefCell::new(Vec::new()));
            for id in 1..=3 {
                let log = Rc::clone(&log);
                machine.spawn(move || {
                    let (outcome, _) = wait(&[ONE], if id == 2 { Some(200) } else { None });
                    log.borrow_mut().push((id, outcome.0));
                });
            }
            machine.spawn(move || {
                nap(2);
                send(ONE);
                nap(400);
                send(ONE);
            });
            machine.run();
            assert_eq!(*log.borrow(), [(1, ONE), (2, -1), (3, ONE)]);
        });
    });
}
