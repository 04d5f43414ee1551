//! Locks between coroutines.

mod coroutines;

use coroutines::{nap, with_machine};
use libc::{c_int, pthread_mutex_t, pthread_rwlock_t};
use spindle_interpose::hooks::sync::mutex::{self, *};
use spindle_interpose::hooks::{fd, rw};
use spindle_interpose::host;
use spindle_reactor::Reactor;
use std::cell::RefCell;
use std::rc::Rc;

type Log = Rc<RefCell<Vec<String>>>;

fn say(log: &Log, text: impl Into<String>) {
    log.borrow_mut().push(text.into());
}

fn mutex(kind: c_int) -> *mut pthread_mutex_t {
    // SAFETY: attributes and mutex are initialised; it is leaked.
    unsafe {
        let mut attributes = std::mem::zeroed();
        libc::pthread_mutexattr_init(&mut attributes);
        libc::pthread_mutexattr_settype(&mut attributes, kind);
        let mutex = Box::leak(Box::new(std::mem::zeroed()));
        libc::pthread_mutex_init(mutex, &attributes);
        mutex
    }
}

fn rwlock() -> *mut pthread_rwlock_t {
    Box::leak(Box::new(libc::PTHREAD_RWLOCK_INITIALIZER))
}

#[test]
fn a_mutex_keeps_other_coroutines_out_first_come_first_served() {
    for kind in [libc::PTHREAD_MUTEX_NORMAL, libc::PTHREAD_MUTEX_RECURSIVE, libc::PTHREAD_MUTEX_ERRORCHECK] {
        with_machine(|machine| {
            let (m, log) = (mutex(kind), Log::default());
            for id in 1..=4 {
                let log = Rc::clone(&log);
                // SAFETY: a valid mutex.
                machine.spawn(move || unsafe {
                    assert_eq!(pthread_mutex_lock(m), 0);
                    say(&log, format!("{id} in"));
                    nap(2);
                    say(&log, format!("{id} out"));
                    assert_eq!(pthread_mutex_unlock(m), 0);
                });
            }
            machine.run();
            let wanted: Vec<String> = (1..=4).flat_map(|id| [format!("{id} in"), format!("{id} out")]).collect();
            assert_eq!(*log.borrow(), wanted);
        });
    }
}

#[test]
fn a_recursive_mutex_counts() {
    with_machine(|machine| {
        let (m, log) = (mutex(libc::PTHREAD_MUTEX_RECURSIVE), Log::default());
        let (a, b) = (Rc::clone(&log), Rc::clone(&log));
        // SAFETY: a valid mutex.
        machine.spawn(move || unsafe {
            assert_eq!((pthread_mutex_lock(m), pthread_mutex_lock(m)), (0, 0));
            nap(2);
            assert_eq!(pthread_mutex_lock(m), 0, "its own, after a park");
            assert_eq!((pthread_mutex_unlock(m), pthread_mutex_unlock(m)), (0, 0));
            nap(2);
            say(&a, "last unlock");
            assert_eq!(pthread_mutex_unlock(m), 0);
        });
        // SAFETY: a valid mutex.
        machine.spawn(move || unsafe {
            assert_eq!(pthread_mutex_trylock(m), libc::EBUSY);
            assert_eq!(pthread_mutex_lock(m), 0);
            say(&b, "other in");
            assert_eq!(pthread_mutex_unlock(m), 0);
        });
        machine.run();
        assert_eq!(*log.borrow(), ["last unlock", "other in"]);
    });
}

#[test]
fn a_mutex_that_is_not_held_across_a_park_costs_no_wait() {
    with_machine(|machine| {
        let m = mutex(libc::PTHREAD_MUTEX_NORMAL);
        for _ in 0..3 {
            // SAFETY: a valid mutex.
            machine.spawn(move || unsafe {
                for _ in 0..3 {
                    assert_eq!(pthread_mutex_lock(m), 0);
                    assert!(mutex::holds_any());
                    assert_eq!(pthread_mutex_unlock(m), 0);
                    assert!(!mutex::holds_any());
                    nap(0);
                }
            });
        }
        machine.run();
        assert_eq!(machine.parks.get(), 9, "the naps only");
    });
}

#[test]
fn cancellation_does_not_break_into_a_lock() {
    with_machine(|machine| {
        let (m, log) = (mutex(libc::PTHREAD_MUTEX_NORMAL), Log::default());
        let (a, b) = (Rc::clone(&log), Rc::clone(&log));
        // SAFETY: a valid mutex.
        machine.spawn(move || unsafe {
            pthread_mutex_lock(m);
            nap(20);
            say(&a, "released");
            pthread_mutex_unlock(m);
        });
        // SAFETY: a valid mutex.
        let second = machine.spawn(move || unsafe {
            assert_eq!(pthread_mutex_lock(m), 0);
            say(&b, "had");
            pthread_mutex_unlock(m);
        });
        machine.cancelled.borrow_mut().push(second);
        machine.run();
        assert_eq!(*log.borrow(), ["released", "had"]);
    });
}

#[test]
fn a_lock_of_an_abandoned_coroutine_is_lost_unless_libc_gives_it() {
    with_machine(|machine| {
        let (m, r, l) = (
            mutex(libc::PTHREAD_MUTEX_NORMAL),
            mutex(libc::PTHREAD_MUTEX_RECURSIVE),
            mutex(libc::PTHREAD_MUTEX_NORMAL),
        );
        // SAFETY: valid locks.
        machine.spawn(move || unsafe {
            assert_eq!((pthread_mutex_lock(m), pthread_mutex_lock(r), pthread_mutex_lock(l)), (0, 0, 0));
            nap(20);
            // It was not abandoned: the test has only said so.
            assert_eq!((libc::pthread_mutex_unlock(m), libc::pthread_mutex_unlock(r)), (0, 0));
        });
        // SAFETY: valid locks and times.
        machine.spawn(move || unsafe {
            mutex::reset();
            assert!(mutex::any_is_lost());
            let long_ago = std::mem::zeroed::<libc::timespec>();
            assert_eq!(pthread_mutex_trylock(m), libc::EBUSY);
            assert_eq!(pthread_mutex_timedlock(m, &long_ago), libc::ETIMEDOUT, "not for ever");
            assert_eq!((pthread_mutex_lock(r), pthread_mutex_unlock(r)), (0, 0), "the thread has it");
            libc::pthread_mutex_destroy(l);
            libc::pthread_mutex_init(l, std::ptr::null());
            assert_eq!((pthread_mutex_lock(l), pthread_mutex_unlock(l)), (0, 0), "another one at the same address");
            assert!(mutex::any_is_lost());
            mutex::forget_lost();
            assert!(!mutex::any_is_lost() && !mutex::holds_any());
        });
        machine.run();
    });
}

#[test]
fn timed_locks_time_out() {
    with_machine(|machine| {
        let (m, l) = (mutex(libc::PTHREAD_MUTEX_NORMAL), rwlock());
        // SAFETY: valid locks.
        machine.spawn(move || unsafe {
            pthread_mutex_lock(m);
            pthread_rwlock_wrlock(l);
            nap(1000);
            pthread_rwlock_unlock(l);
            pthread_mutex_unlock(m);
        });
        // SAFETY: valid locks and times.
        machine.spawn(move || unsafe {
            let mut until = std::mem::zeroed::<libc::timespec>();
            libc::clock_gettime(libc::CLOCK_REALTIME, &mut until);
            until.tv_nsec += 20_000_000;
            if until.tv_nsec >= 1_000_000_000 {
                (until.tv_sec, until.tv_nsec) = (until.tv_sec + 1, until.tv_nsec - 1_000_000_000);
            }
            let start = Reactor::now();
            assert_eq!(pthread_mutex_timedlock(m, &until), libc::ETIMEDOUT);
            assert!(Reactor::now() - start >= 15_000_000);
            assert_eq!(pthread_rwlock_timedrdlock(l, &until), libc::ETIMEDOUT);
            assert_eq!(pthread_rwlock_timedwrlock(l, &until), libc::ETIMEDOUT);
            until.tv_sec += 10;
            assert_eq!(pthread_mutex_timedlock(m, &until), 0);
            assert_eq!(pthread_rwlock_timedwrlock(l, &until), 0);
            assert_eq!((pthread_rwlock_unlock(l), pthread_mutex_unlock(m)), (0, 0));
            until.tv_nsec = -1;
            assert_eq!(pthread_mutex_timedlock(m, &until), 0, "not looked at when the lock is free");
            pthread_mutex_unlock(m);
        });
        machine.run();
    });
}

#[test]
fn a_lock_is_waited_for_by_the_clock_that_is_named() {
    with_machine(|machine| {
        let (m, l) = (mutex(libc::PTHREAD_MUTEX_NORMAL), rwlock());
        // SAFETY: valid locks.
        machine.spawn(move || unsafe {
            assert_eq!((pthread_mutex_lock(m), pthread_rwlock_wrlock(l)), (0, 0));
            nap(60);
            pthread_rwlock_unlock(l);
            pthread_mutex_unlock(m);
        });
        for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_REALTIME] {
            // SAFETY: valid locks and times.
            machine.spawn(move || unsafe {
                let mut until = std::mem::zeroed::<libc::timespec>();
                libc::clock_gettime(clock, &mut until);
                assert_eq!(pthread_mutex_clocklock(m, clock, &until), libc::ETIMEDOUT);
                assert_eq!(pthread_rwlock_clockrdlock(l, clock, &until), libc::ETIMEDOUT);
                assert_eq!(pthread_rwlock_clockwrlock(l, clock, &until), libc::ETIMEDOUT);
                until.tv_sec += 1000;
                assert_eq!(pthread_mutex_clocklock(m, clock, &until), 0);
                assert_eq!(pthread_rwlock_clockwrlock(l, clock, &until), 0);
                nap(1);
                assert_eq!((pthread_rwlock_unlock(l), pthread_mutex_unlock(m)), (0, 0));
                assert_eq!(pthread_rwlock_clockrdlock(l, clock, &until), 0);
                pthread_rwlock_unlock(l);
                until.tv_nsec = -1;
                assert_eq!(pthread_mutex_clocklock(m, clock, &until), 0, "not looked at when the lock is free");
                pthread_mutex_unlock(m);
            });
        }
        machine.run();
    });
}

#[test]
fn readers_share_and_writers_do_not() {
    with_machine(|machine| {
        let (l, log) = (rwlock(), Log::default());
        let told = |log: &Log, what: &str| log.borrow().iter().any(|line| line == what);
        let reader = |id: u32, late: bool| {
            let log = Rc::clone(&log);
            // SAFETY: a valid lock.
            move || unsafe {
                while late && !told(&log, "w in") {
                    nap(1);
                }
                assert_eq!(pthread_rwlock_rdlock(l), 0);
                say(&log, format!("r{id} in"));
                nap(10);
                say(&log, format!("r{id} out"));
                assert_eq!(pthread_rwlock_unlock(l), 0);
            }
        };
        let log_2 = Rc::clone(&log);
        machine.spawn(reader(1, false));
        machine.spawn(reader(2, false));
        // SAFETY: a valid lock.
        machine.spawn(move || unsafe {
            assert_eq!(pthread_rwlock_trywrlock(l), libc::EBUSY);
            assert_eq!(pthread_rwlock_wrlock(l), 0);
            say(&log_2, "w in");
            nap(100);
            say(&log_2, "w out");
            assert_eq!(pthread_rwlock_unlock(l), 0);
        });
        machine.spawn(reader(3, true));
        machine.spawn(reader(4, true));
        let log_3 = Rc::clone(&log);
        // SAFETY: a valid lock.
        machine.spawn(move || unsafe {
            while !told(&log_3, "w in") {
                nap(1);
            }
            assert_eq!(pthread_rwlock_tryrdlock(l), libc::EBUSY);
        });
        machine.run();
        let told = log.borrow();
        assert_eq!(told[..6], ["r1 in", "r2 in", "r1 out", "r2 out", "w in", "w out"]);
        assert_eq!(told[6..8], ["r3 in", "r4 in"], "both at once");
    });
}

#[test]
fn locks_taken_while_suspension_is_disabled_are_tracked() {
    with_machine(|machine| {
        let (outer, inner) = (mutex(libc::PTHREAD_MUTEX_NORMAL), mutex(libc::PTHREAD_MUTEX_NORMAL));
        host::detach_thread();
        // SAFETY: valid mutexes.
        unsafe { assert_eq!(pthread_mutex_lock(outer), 0, "before the thread is attached") };
        host::attach_thread();
        // SAFETY: valid mutexes.
        machine.spawn(move || unsafe {
            assert_eq!(pthread_mutex_unlock(outer), 0);
            assert!(!mutex::holds_any());
            assert_eq!(pthread_mutex_lock(inner), 0);
            host::disable_suspension();
            assert_eq!(pthread_mutex_unlock(inner), 0);
            assert!(!mutex::holds_any());
            assert_eq!(pthread_mutex_lock(inner), 0);
            host::enable_suspension();
            nap(2);
            assert_eq!(pthread_mutex_trylock(inner), libc::EBUSY);
            assert_eq!(pthread_mutex_unlock(inner), 0);
        });
        // SAFETY: valid mutexes.
        machine.spawn(move || unsafe {
            assert_eq!(pthread_mutex_trylock(inner), libc::EBUSY);
        });
        machine.run();
    });
}

#[test]
fn another_may_release_and_an_ended_owner_is_forgotten() {
    with_machine(|machine| {
        let (m, left) = (mutex(libc::PTHREAD_MUTEX_NORMAL), mutex(libc::PTHREAD_MUTEX_NORMAL));
        // SAFETY: valid mutexes.
        machine.spawn(move || unsafe {
            pthread_mutex_lock(m);
            nap(20);
            pthread_mutex_lock(left);
        });
        // SAFETY: a valid mutex.
        machine.spawn(move || unsafe {
            nap(2);
            assert_eq!(pthread_mutex_unlock(m), 0);
        });
        // SAFETY: a valid mutex.
        machine.spawn(move || unsafe {
            assert_eq!(pthread_mutex_lock(m), 0);
            assert_eq!(pthread_mutex_unlock(m), 0);
            nap(30);
            assert_eq!(pthread_mutex_trylock(left), libc::EBUSY, "libc's own answer");
            assert_eq!(pthread_mutex_unlock(left), 0);
        });
        machine.run();
    });
}

#[test]
fn a_thread_that_waits_for_a_parked_coroutine_is_not_waited_for_in_place() {
    // The thread holds `theirs` and wants `ours`; the first coroutine holds `ours` and is parked; the second
    // wants `theirs`. On one thread without care this stops for good.
    with_machine(|machine| {
        let (ours, theirs) = (mutex(libc::PTHREAD_MUTEX_NORMAL), mutex(libc::PTHREAD_MUTEX_NORMAL));
        let (ours_at, theirs_at) = (ours.expose_provenance(), theirs.expose_provenance());
        // SAFETY: valid mutexes.
        machine.spawn(move || unsafe {
            pthread_mutex_lock(ours);
            std::thread::spawn(move || {
                let theirs = std::ptr::with_exposed_provenance_mut(theirs_at);
                let ours = std::ptr::with_exposed_provenance_mut(ours_at);
                pthread_mutex_lock(theirs);
                pthread_mutex_lock(ours);
                pthread_mutex_unlock(ours);
                pthread_mutex_unlock(theirs);
            });
            nap(50);
            pthread_mutex_unlock(ours);
        });
        // SAFETY: valid mutexes.
        machine.spawn(move || unsafe {
            nap(20);
            assert_eq!(pthread_mutex_lock(theirs), 0);
            assert_eq!(pthread_mutex_unlock(theirs), 0);
        });
        machine.run();
    });
}

#[test]
fn flocks_of_coroutines_are_first_come_first_served() {
    with_machine(|machine| {
        let path = format!("{}/flock-order-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
        let wanted: Vec<String> = (0..5).flat_map(|id| [format!("{id} in"), format!("{id} out")]).collect();
        // The machine may stand still, but not each time.
        let is_woken_at_once = (0..8).any(|_| {
            let log = Log::default();
            for id in 0..5 {
                let (path, log) = (path.clone(), Rc::clone(&log));
                machine.spawn(move || {
                    let file = std::fs::File::create(&path).expect("a file");
                    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
                    // SAFETY: no pointers.
                    assert_eq!(unsafe { fd::flock(fd, libc::LOCK_EX) }, 0);
                    say(&log, format!("{id} in"));
                    nap(15);
                    say(&log, format!("{id} out"));
                    // SAFETY: no pointers.
                    assert_eq!(unsafe { fd::flock(fd, libc::LOCK_UN) }, 0);
                });
            }
            let start = Reactor::now();
            machine.run();
            assert_eq!(*log.borrow(), wanted);
            Reactor::now() - start < 150_000_000
        });
        assert!(is_woken_at_once);
        let _ = std::fs::remove_file(path);
    });
}

#[test]
fn a_pipe_between_two_coroutines_carries_more_than_it_holds() {
    with_machine(|machine| {
        let mut pair = [0; 2];
        // SAFETY: two places.
        unsafe { libc::pipe(pair.as_mut_ptr()) };
        let [reader, writer] = pair;
        machine.spawn(move || {
            let bytes = vec![b'x'; 500_000];
            // SAFETY: a whole buffer.
            assert_eq!(unsafe { rw::write(writer, bytes.as_ptr().cast(), bytes.len()) }, 500_000);
            // SAFETY: the test's own.
            unsafe { libc::close(writer) };
        });
        machine.spawn(move || {
            let (mut total, mut part) = (0, [0u8; 7_000]);
            loop {
                // SAFETY: a whole buffer.
                match unsafe { rw::read(reader, part.as_mut_ptr().cast(), part.len()) } {
                    0 => break,
                    got => total += got,
                }
            }
            assert_eq!(total, 500_000);
        });
        machine.run();
        // SAFETY: the test's own.
        unsafe { libc::close(reader) };
    });
}
