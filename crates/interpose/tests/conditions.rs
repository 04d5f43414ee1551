//! Condition variables, semaphores and joins, between coroutines and with other threads.

mod coroutines;

use coroutines::{Machine, nap, with_machine};
use libc::{c_int, c_void, pthread_cond_t, pthread_mutex_t, sem_t, timespec};
use spindle_interpose::hooks::sync::condition::*;
use spindle_interpose::hooks::sync::join::{pthread_join, thrd_join};
use spindle_interpose::hooks::sync::mutex::{pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_unlock};
use spindle_interpose::hooks::sync::semaphore::*;
use spindle_interpose::host::{errno, set_errno};
use spindle_reactor::Reactor;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A counter, and who waits for it to change; leaked.
struct Shared {
    mutex: pthread_mutex_t,
    condition: pthread_cond_t,
    count: AtomicUsize,
}

/// May go to another thread.
#[derive(Clone, Copy)]
struct At(*mut Shared);
// SAFETY: what it points at is used under its mutex.
unsafe impl Send for At {}

impl At {
    fn new() -> At {
        At(Box::into_raw(Box::new(Shared {
            mutex: libc::PTHREAD_MUTEX_INITIALIZER,
            condition: libc::PTHREAD_COND_INITIALIZER,
            count: AtomicUsize::new(0),
        })))
    }

    fn mutex(self) -> *mut pthread_mutex_t {
        // SAFETY: leaked.
        unsafe { &raw mut (*self.0).mutex }
    }

    fn condition(self) -> *mut pthread_cond_t {
        // SAFETY: leaked.
        unsafe { &raw mut (*self.0).condition }
    }

    /// Waits until it is at least so much, and takes that away.
    fn take(self, wanted: usize) {
        // SAFETY: under its mutex.
        unsafe {
            assert_eq!(pthread_mutex_lock(self.mutex()), 0);
            while (*self.0).count.load(Ordering::Relaxed) < wanted {
                assert_eq!(pthread_cond_wait(self.condition(), self.mutex()), 0);
            }
            (*self.0).count.fetch_sub(wanted, Ordering::Relaxed);
            assert_eq!(pthread_mutex_unlock(self.mutex()), 0);
        }
    }

    fn put(self, more: usize, all: bool) {
        // SAFETY: under its mutex.
        unsafe {
            assert_eq!(pthread_mutex_lock(self.mutex()), 0);
            (*self.0).count.fetch_add(more, Ordering::Relaxed);
            let signal = if all { pthread_cond_broadcast } else { pthread_cond_signal };
            assert_eq!(signal(self.condition()), 0);
            assert_eq!(pthread_mutex_unlock(self.mutex()), 0);
        }
    }
}

fn now(clock: c_int, ms: i64) -> timespec {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place of our own.
    unsafe { libc::clock_gettime(clock, &mut now) };
    let ns = now.tv_sec * 1_000_000_000 + now.tv_nsec + ms * 1_000_000;
    timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 }
}

/// Counts as long as it is not told to stop: it stands still when somebody blocks the thread.
fn ticking(machine: &Machine) -> (Arc<AtomicU32>, Rc<Cell<bool>>) {
    let (ticks, on) = (Arc::new(AtomicU32::new(0)), Rc::new(Cell::new(true)));
    let (count, go) = (Arc::clone(&ticks), Rc::clone(&on));
    machine.spawn(move || {
        while go.get() {
            nap(1);
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    (ticks, on)
}

/// Waits on another thread until there have been twelve ticks more.
fn ticks_go_on(ticks: &AtomicU32) {
    let enough = ticks.load(Ordering::Relaxed) + 12;
    while ticks.load(Ordering::Relaxed) < enough {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn one_coroutine_signals_another() {
    with_machine(|machine| {
        let (shared, log) = (At::new(), Rc::new(RefCell::new(Vec::new())));
        for id in 1..=3 {
            let log = Rc::clone(&log);
            machine.spawn(move || {
                shared.take(1);
                log.borrow_mut().push(id);
            });
        }
        let told = Rc::clone(&log);
        machine.spawn(move || {
            nap(2);
            shared.put(1, false);
            nap(2);
            assert_eq!(*told.borrow(), [1], "one, the first");
            shared.put(2, true);
        });
        machine.run();
        assert_eq!(*log.borrow(), [1, 2, 3]);
    });
}

#[test]
fn another_thread_signals_while_the_rest_runs() {
    with_machine(|machine| {
        let shared = At::new();
        let (ticks, on) = ticking(machine);
        let count = Arc::clone(&ticks);
        machine.spawn(move || {
            let thread = std::thread::spawn(move || {
                let at = shared;
                for _ in 0..3 {
                    ticks_go_on(&count);
                    at.put(1, false);
                }
            });
            for _ in 0..3 {
                shared.take(1);
            }
            on.set(false);
            thread.join().expect("it ends");
        });
        machine.run();
        let ticks = ticks.load(Ordering::Relaxed);
        assert!(ticks > 10, "{ticks}");
    });
}

#[test]
fn no_signal_is_lost_between_threads_and_coroutines() {
    // Coroutines and threads put and take through one condition: all is taken in the end.
    const EACH: usize = 2_000;
    with_machine(|machine| {
        let shared = At::new();
        let left = Arc::new(AtomicUsize::new(4));
        for thread in 0..2 {
            let left = Arc::clone(&left);
            std::thread::spawn(move || {
                let at = shared;
                for _ in 0..EACH {
                    if thread == 0 { at.put(1, false) } else { at.take(1) }
                }
                left.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for coroutine in 0..2 {
            let left = Arc::clone(&left);
            machine.spawn(move || {
                for _ in 0..EACH {
                    if coroutine == 0 { shared.put(1, false) } else { shared.take(1) }
                }
                left.fetch_sub(1, Ordering::SeqCst);
                while left.load(Ordering::SeqCst) > 0 {
                    nap(1);
                }
            });
        }
        machine.run();
        // SAFETY: nobody else is left.
        assert_eq!(unsafe { (*shared.0).count.load(Ordering::Relaxed) }, 0);
    });
}

#[test]
fn timed_waits_time_out_with_the_mutex_held() {
    with_machine(|machine| {
        let shared = At::new();
        // SAFETY: locks and times of our own.
        machine.spawn(move || unsafe {
            set_errno(5);
            assert_eq!(pthread_mutex_lock(shared.mutex()), 0);
            for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
                let (start, until) = (Reactor::now(), now(clock, 20));
                let result = pthread_cond_clockwait(shared.condition(), shared.mutex(), clock, &until);
                assert_eq!(result, libc::ETIMEDOUT);
                assert!(Reactor::now() - start >= 19_000_000);
                // The clock of a condition is not told.
                let (start, until) = (Reactor::now(), now(clock, 20));
                assert_eq!(pthread_cond_timedwait(shared.condition(), shared.mutex(), &until), libc::ETIMEDOUT);
                assert!(Reactor::now() - start >= 19_000_000);
            }
            for past in [timespec { tv_sec: 0, tv_nsec: 0 }, now(libc::CLOCK_REALTIME, -5_000)] {
                assert_eq!(pthread_cond_timedwait(shared.condition(), shared.mutex(), &past), libc::ETIMEDOUT);
            }
            let wrong = timespec { tv_sec: 0, tv_nsec: -1 };
            assert_eq!(pthread_cond_timedwait(shared.condition(), shared.mutex(), &wrong), libc::EINVAL);
            assert_eq!(pthread_mutex_trylock(shared.mutex()), libc::EBUSY, "held again");
            let soon = now(libc::CLOCK_REALTIME, 10_000);
            assert_eq!(cnd_timedwait(shared.condition(), shared.mutex(), &soon), 0, "signalled");
            assert_eq!(pthread_mutex_unlock(shared.mutex()), 0);
            assert_eq!(errno(), 5);
        });
        machine.spawn(move || {
            nap(200);
            shared.put(1, false);
        });
        machine.run();
    });
}

#[test]
fn cancelled_only_timed_waits_end() {
    with_machine(|machine| {
        let shared = At::new();
        let until = now(libc::CLOCK_REALTIME, 60_000);
        // SAFETY: locks and times of our own.
        let first = machine.spawn(move || unsafe {
            assert_eq!(pthread_mutex_lock(shared.mutex()), 0);
            assert_eq!(pthread_cond_timedwait(shared.condition(), shared.mutex(), &until), libc::ETIMEDOUT);
            assert_eq!(pthread_mutex_unlock(shared.mutex()), 0);
        });
        let second = machine.spawn(move || shared.take(1));
        machine.cancelled.borrow_mut().extend([first, second]);
        machine.spawn(move || {
            nap(10);
            shared.put(1, false);
        });
        machine.run();
    });
}

#[test]
fn a_mutex_that_is_not_held_is_refused() {
    with_machine(|machine| {
        // SAFETY: attributes, mutex and condition of our own; leaked.
        machine.spawn(move || unsafe {
            let shared = At::new();
            let mut attributes = std::mem::zeroed();
            libc::pthread_mutexattr_init(&mut attributes);
            libc::pthread_mutexattr_settype(&mut attributes, libc::PTHREAD_MUTEX_ERRORCHECK);
            libc::pthread_mutex_init(shared.mutex(), &attributes);
            assert_eq!(pthread_cond_wait(shared.condition(), shared.mutex()), libc::EPERM);
            assert_eq!(cnd_wait(shared.condition(), shared.mutex()), 2, "thrd_error");
        });
        machine.run();
        assert_eq!(machine.parks.get(), 0);
    });
}

#[test]
fn in_shared_memory_it_is_waited_for_in_place() {
    with_machine(|machine| {
        // SAFETY: a shared mapping of our own with room for all; initialised as process-shared.
        let at = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            let page = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            let at = At(page.cast());
            let (mut mutex, mut condition) = (std::mem::zeroed(), std::mem::zeroed());
            libc::pthread_mutexattr_init(&mut mutex);
            libc::pthread_mutexattr_setpshared(&mut mutex, libc::PTHREAD_PROCESS_SHARED);
            libc::pthread_mutex_init(at.mutex(), &mutex);
            libc::pthread_condattr_init(&mut condition);
            libc::pthread_condattr_setpshared(&mut condition, libc::PTHREAD_PROCESS_SHARED);
            libc::pthread_cond_init(at.condition(), &condition);
            at
        };
        // SAFETY: the child uses shared memory and libc only.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above.
            unsafe {
                libc::usleep(200_000);
                libc::pthread_mutex_lock(at.mutex());
                (*at.0).count.fetch_add(1, Ordering::Relaxed);
                libc::pthread_cond_signal(at.condition());
                libc::pthread_mutex_unlock(at.mutex());
                libc::_exit(0);
            }
        }
        machine.spawn(move || at.take(1));
        machine.run();
        assert_eq!(machine.parks.get(), 0);
        // SAFETY: our own child.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    });
}

#[test]
fn the_locks_of_c11_are_the_coroutines() {
    with_machine(|machine| {
        let (shared, log) = (At::new(), Rc::new(RefCell::new(Vec::new())));
        for id in 1..=2 {
            let log = Rc::clone(&log);
            // SAFETY: locks of our own.
            machine.spawn(move || unsafe {
                if id == 2 {
                    assert_eq!(mtx_trylock(shared.mutex()), 1, "thrd_busy");
                    assert_eq!(mtx_timedlock(shared.mutex(), &now(libc::CLOCK_REALTIME, 1)), 4, "thrd_timedout");
                }
                assert_eq!(mtx_lock(shared.mutex()), 0);
                log.borrow_mut().push(id);
                nap(10);
                log.borrow_mut().push(id);
                assert_eq!(mtx_unlock(shared.mutex()), 0);
            });
        }
        machine.run();
        assert_eq!(*log.borrow(), [1, 1, 2, 2]);
    });
}

/// What the threads below wait for: it only goes on if joining them suspends.
static TICKS: Mutex<Option<Arc<AtomicU32>>> = Mutex::new(None);

extern "C" fn slow(value: *mut c_void) -> *mut c_void {
    let ticks = TICKS.lock().expect("no thread has panicked").clone().expect("set by the test");
    ticks_go_on(&ticks);
    value
}

#[test]
fn threads_are_joined_while_the_rest_runs() {
    with_machine(|machine| {
        let (ticks, on) = ticking(machine);
        *TICKS.lock().expect("no thread has panicked") = Some(Arc::clone(&ticks));
        machine.spawn(move || {
            let start = |value: usize| {
                let mut thread = 0;
                let value = std::ptr::without_provenance_mut(value);
                // SAFETY: a place of our own; the thread does nothing with what it is given.
                assert_eq!(unsafe { libc::pthread_create(&mut thread, std::ptr::null(), slow, value) }, 0);
                thread
            };
            let (mut value, mut number) = (std::ptr::null_mut(), 0);
            // SAFETY: threads and places of our own.
            unsafe {
                set_errno(5);
                assert_eq!(pthread_join(start(0x1234_5678_9abc), &mut value), 0);
                assert_eq!(pthread_join(start(1), std::ptr::null_mut()), 0);
                assert_eq!(thrd_join(start(77), &mut number), 0);
                assert_eq!(pthread_join(libc::pthread_self(), &mut value), libc::EDEADLK);
                assert_eq!(thrd_join(libc::pthread_self(), &mut number), 2, "thrd_error");
            }
            assert_eq!((value.addr(), number, errno()), (0x1234_5678_9abc, 77, 5));
            on.set(false);
        });
        machine.run();
        let ticks = ticks.load(Ordering::Relaxed);
        assert!(ticks > 10, "{ticks}");
    });
}

#[derive(Clone, Copy)]
struct Semaphore(*mut sem_t);
// SAFETY: a semaphore is for threads.
unsafe impl Send for Semaphore {}

impl Semaphore {
    fn new(value: u32) -> Semaphore {
        // SAFETY: initialised, and leaked.
        unsafe {
            let semaphore = Box::into_raw(Box::new(std::mem::zeroed()));
            assert_eq!(libc::sem_init(semaphore, 0, value), 0);
            Semaphore(semaphore)
        }
    }

    fn post(self) {
        // SAFETY: leaked.
        assert_eq!(unsafe { sem_post(self.0) }, 0);
    }

    fn wait(self) -> (c_int, i32) {
        // SAFETY: leaked.
        let result = unsafe { sem_wait(self.0) };
        (result, if result < 0 { errno() } else { 0 })
    }
}

#[test]
fn semaphores_count() {
    with_machine(|machine| {
        let semaphore = Semaphore::new(1);
        let (ticks, on) = ticking(machine);
        let count = Arc::clone(&ticks);
        machine.spawn(move || {
            set_errno(5);
            assert_eq!((semaphore.wait(), errno()), ((0, 0), 5));
            std::thread::spawn(move || {
                let semaphore = semaphore;
                ticks_go_on(&count);
                semaphore.post();
            });
            assert_eq!((semaphore.wait(), errno()), ((0, 0), 5));
            let (start, until) = (Reactor::now(), now(libc::CLOCK_REALTIME, 20));
            // SAFETY: leaked, and times of our own.
            unsafe {
                assert_eq!((sem_timedwait(semaphore.0, &until), errno()), (-1, libc::ETIMEDOUT));
                assert!(Reactor::now() - start >= 19_000_000);
                let until = now(libc::CLOCK_MONOTONIC, 5);
                let result = sem_clockwait(semaphore.0, libc::CLOCK_MONOTONIC, &until);
                assert_eq!((result, errno()), (-1, libc::ETIMEDOUT));
                semaphore.post();
                assert_eq!(sem_timedwait(semaphore.0, &until), 0, "what can be had is had at any time");
            }
            on.set(false);
        });
        machine.run();
        let ticks = ticks.load(Ordering::Relaxed);
        assert!(ticks > 10, "{ticks}");
    });
}

#[test]
fn coroutines_get_a_semaphore_one_by_one() {
    with_machine(|machine| {
        let (semaphore, log) = (Semaphore::new(0), Rc::new(RefCell::new(Vec::new())));
        let ids: Vec<usize> = (1..=4)
            .map(|id| {
                let log = Rc::clone(&log);
                machine.spawn(move || {
                    let told = semaphore.wait();
                    log.borrow_mut().push((id, told));
                })
            })
            .collect();
        machine.cancelled.borrow_mut().push(ids[1]);
        machine.spawn(move || {
            for _ in 0..3 {
                nap(5);
                semaphore.post();
            }
        });
        machine.run();
        let mut log = log.borrow().clone();
        log.sort_unstable();
        assert_eq!(log, [(1, (0, 0)), (2, (-1, libc::ECANCELED)), (3, (0, 0)), (4, (0, 0))]);
    });
}

#[test]
fn another_process_posts() {
    with_machine(|machine| {
        let name = std::ffi::CString::new(format!("/spindle-test-{}", std::process::id())).expect("a name");
        // SAFETY: a name of our own.
        let semaphore = unsafe { libc::sem_open(name.as_ptr(), libc::O_CREAT | libc::O_EXCL, 0o600, 0) };
        assert!(semaphore != libc::SEM_FAILED);
        // SAFETY: the child makes libc's calls only.
        let child = unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::usleep(500_000);
                libc::sem_post(semaphore);
                libc::_exit(0);
            }
            libc::sem_unlink(name.as_ptr());
            child
        };
        let semaphore = Semaphore(semaphore);
        machine.spawn(move || assert_eq!(semaphore.wait(), (0, 0)));
        machine.run();
        assert!(machine.parks.get() > 2, "by the timer");
        // SAFETY: our own child.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    });
}
