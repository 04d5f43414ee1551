//! Routines that run once, between coroutines.

mod coroutines;

use coroutines::{nap, with_machine};
use libc::{PTHREAD_ONCE_INIT, pthread_once_t};
use spindle_interpose::hooks::sync::once::*;
use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind};
use std::rc::Rc;

thread_local! {
    static RUNS: Cell<u32> = const { Cell::new(0) };
}

extern "C-unwind" fn naps() {
    nap(5);
    RUNS.set(RUNS.get() + 1);
}

extern "C-unwind" fn throws_first() {
    naps();
    if RUNS.get() == 1 {
        resume_unwind(Box::new("the first"));
    }
}

fn control() -> *mut pthread_once_t {
    Box::leak(Box::new(PTHREAD_ONCE_INIT))
}

#[test]
fn other_coroutines_wait_for_the_routine() {
    with_machine(|machine| {
        let (posix, c11) = (control(), control());
        for _ in 0..3 {
            machine.spawn(move || {
                // SAFETY: a valid control.
                assert_eq!(unsafe { pthread_once(posix, naps) }, 0);
                assert!(RUNS.get() >= 1);
            });
            machine.spawn(move || {
                // SAFETY: as above.
                unsafe { call_once(c11, naps) };
                assert!(RUNS.get() >= 1);
            });
        }
        machine.run();
        assert_eq!(RUNS.get(), 2, "one for each control");
        let parks = machine.parks.get();
        // SAFETY: as above.
        machine.spawn(move || assert_eq!(unsafe { pthread_once(posix, naps) }, 0));
        machine.run();
        assert_eq!((RUNS.get(), machine.parks.get()), (2, parks), "nothing is left to wait for");
    });
}

#[test]
fn a_cancelled_coroutine_waits_all_the_same() {
    with_machine(|machine| {
        let control = control();
        // SAFETY: a valid control.
        machine.spawn(move || assert_eq!(unsafe { pthread_once(control, naps) }, 0));
        let second = machine.spawn(move || {
            // SAFETY: as above.
            assert_eq!(unsafe { pthread_once(control, naps) }, 0);
            assert_eq!(RUNS.get(), 1);
        });
        machine.cancelled.borrow_mut().push(second);
        machine.run();
    });
}

#[test]
fn after_an_exception_the_next_coroutine_runs_the_routine() {
    with_machine(|machine| {
        let (control, log) = (control(), Rc::new(Cell::new((0, 0))));
        for _ in 0..3 {
            let log = Rc::clone(&log);
            machine.spawn(move || {
                // SAFETY: a valid control.
                let result = catch_unwind(|| unsafe { pthread_once(control, throws_first) });
                let (thrown, ended) = log.get();
                match result {
                    Ok(result) => log.set((thrown, ended + 1 + result)),
                    Err(_) => {
                        log.set((thrown + 1, ended));
                        // It goes on, as the others must while it does.
                        (0..2_000).take_while(|_| log.get().1 < 2).for_each(|_| nap(1));
                        assert_eq!(log.get(), (1, 2));
                    }
                }
            });
        }
        machine.run();
        assert_eq!((log.get(), RUNS.get()), ((1, 2), 2));
    });
}
