//! Coroutines that wait for each other by System V semaphores and messages.

mod coroutines;

use coroutines::{nap, with_machine};
use libc::{c_int, c_long, sembuf};
use spindle_interpose::hooks::ipc::sysv;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

fn operate(set: c_int, by: i16) {
    let mut op = sembuf { sem_num: 0, sem_op: by, sem_flg: 0 };
    // SAFETY: one operation.
    assert_eq!(unsafe { sysv::semop(set, &mut op, 1) }, 0);
}

/// Runs `wait` in a coroutine until it looks by itself only every 10 ms, then `release` in another: the first has what
/// it waits for as soon as it can run.
fn at_once(wait: impl FnOnce() + 'static, release: impl FnOnce() + 'static) {
    with_machine(|machine| {
        let had = Rc::new(Cell::new(false));
        let told = Rc::clone(&had);
        machine.spawn(move || {
            wait();
            told.set(true);
        });
        machine.spawn(move || {
            nap(60);
            assert!(!had.get());
            release();
            nap(0);
            assert!(had.get(), "woken, not found by the timer");
        });
        machine.run();
    });
}

#[test]
fn a_release_wakes_who_waits() {
    // SAFETY: numbers only.
    let set = unsafe { libc::semget(libc::IPC_PRIVATE, 1, libc::IPC_CREAT | 0o600) };
    at_once(move || operate(set, -1), move || operate(set, 1));
    // SAFETY: numbers only.
    unsafe { libc::semctl(set, 0, libc::IPC_RMID) };
}

#[test]
fn a_message_wakes_who_waits() {
    // SAFETY: numbers only.
    let queue = unsafe { libc::msgget(libc::IPC_PRIVATE, libc::IPC_CREAT | 0o600) };
    let receive = move || {
        let mut message: [c_long; 2] = [0; 2];
        // SAFETY: room for a kind and eight bytes.
        assert_eq!(unsafe { sysv::msgrcv(queue, message.as_mut_ptr().cast(), 8, 0, 0) }, 8);
        assert_eq!(message, [3, 7]);
    };
    let send = move || {
        let message: [c_long; 2] = [3, 7];
        // SAFETY: a kind and eight bytes.
        assert_eq!(unsafe { sysv::msgsnd(queue, message.as_ptr().cast(), 8, 0) }, 0);
    };
    at_once(receive, send);
    // SAFETY: numbers only.
    unsafe { libc::msgctl(queue, libc::IPC_RMID, std::ptr::null_mut()) };
}

#[test]
fn who_wants_the_same_is_served_in_turn() {
    // SAFETY: numbers only.
    let set = unsafe { libc::semget(libc::IPC_PRIVATE, 1, libc::IPC_CREAT | 0o600) };
    with_machine(|machine| {
        let log = Rc::new(RefCell::new(Vec::new()));
        for id in 1..=4 {
            let log = Rc::clone(&log);
            machine.spawn(move || {
                nap(5 * id); // their timers would not go off in this order
                operate(set, -1);
                log.borrow_mut().push(id);
            });
        }
        machine.spawn(move || {
            nap(60);
            operate(set, 2);
            // By another process, as far as can be seen: the first one finds it.
            for _ in 0..2 {
                nap(30);
                let mut op = sembuf { sem_num: 0, sem_op: 1, sem_flg: 0 };
                // SAFETY: one operation.
                assert_eq!(unsafe { libc::semop(set, &mut op, 1) }, 0);
            }
        });
        machine.run();
        assert_eq!(*log.borrow(), [1, 2, 3, 4]);
    });
    // SAFETY: numbers only.
    unsafe { libc::semctl(set, 0, libc::IPC_RMID) };
}
