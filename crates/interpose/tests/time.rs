//! Sleeps and signals.

mod common;

use common::{Test, outcome};
use libc::{c_int, timespec};
use spindle_interpose::hooks::{signal::action as signals, time};
use spindle_interpose::host::{Wake, errno, set_errno};
use spindle_reactor::Reactor;
use std::sync::atomic::{AtomicI32, Ordering};

const MS: i64 = 1_000_000;

fn spec(ns: i64) -> timespec {
    timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 }
}

fn elapsed<T>(then: impl FnOnce() -> T) -> (T, i64) {
    let start = Reactor::now();
    let value = then();
    (value, (Reactor::now() - start) as i64)
}

#[test]
fn sleeps_last_as_long_as_they_should() {
    let test = Test::new();
    set_errno(5);
    // SAFETY: times of our own.
    unsafe {
        let (result, took) = elapsed(|| time::usleep(20_000));
        assert!(result == 0 && took >= 20 * MS);
        let (result, took) = elapsed(|| time::nanosleep(&spec(20 * MS), std::ptr::null_mut()));
        assert!(result == 0 && took >= 20 * MS);
        for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_REALTIME, libc::CLOCK_BOOTTIME] {
            let (result, took) = elapsed(|| time::clock_nanosleep(clock, 0, &spec(20 * MS), std::ptr::null_mut()));
            assert!(result == 0 && took >= 20 * MS);
            let mut until = spec(0);
            libc::clock_gettime(clock, &mut until);
            let until = spec(until.tv_sec * 1_000 * MS + until.tv_nsec + 20 * MS);
            let sleep = || time::clock_nanosleep(clock, libc::TIMER_ABSTIME, &until, std::ptr::null_mut());
            let (result, took) = elapsed(sleep);
            assert!(result == 0 && took >= 19 * MS);
            assert_eq!(sleep(), 0, "over already");
        }
        assert_eq!(test.parks(), 8, "the boot-time clock is slept by in place");
        assert_eq!((time::usleep(0), time::sleep(0)), (0, 0));
        assert_eq!(test.parks(), 10, "sleeping for no time gives way");
    }
    assert_eq!(errno(), 5);
}

#[test]
fn what_is_left_is_told() {
    let test = Test::new();
    for (wake, error) in [(Wake::Interrupted, libc::EINTR), (Wake::Cancelled, libc::ECANCELED)] {
        // SAFETY: times of our own.
        unsafe {
            test.inject(1, wake);
            assert!((500..600).contains(&time::sleep(600)), "cut off to whole seconds");
            assert_eq!(errno(), error);
            test.inject(1, wake);
            assert_eq!(outcome(time::usleep(500_000)), (-1, error));
            let mut left = spec(0);
            test.inject(1, wake);
            assert_eq!(outcome(time::nanosleep(&spec(600_000 * MS), &mut left)), (-1, error));
            assert!((500..600).contains(&left.tv_sec) && left.tv_nsec > 0);
            left = spec(0);
            test.inject(1, wake);
            assert_eq!(time::clock_nanosleep(libc::CLOCK_REALTIME, 0, &spec(600_000 * MS), &mut left), error);
            assert!((500..600).contains(&left.tv_sec));
        }
    }
}

#[test]
fn wrong_times_are_refused() {
    let test = Test::new();
    let wrong = [timespec { tv_sec: 0, tv_nsec: 1_000_000_000 }, timespec { tv_sec: -1, tv_nsec: 0 }];
    for time in &wrong {
        // SAFETY: times of our own.
        unsafe {
            assert_eq!(outcome(time::nanosleep(time, std::ptr::null_mut())), (-1, libc::EINVAL));
            let result = time::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, time, std::ptr::null_mut());
            assert_eq!(result, libc::EINVAL);
        }
    }
    // SAFETY: null is refused by the kernel.
    assert_eq!(outcome(unsafe { time::nanosleep(std::ptr::null(), std::ptr::null_mut()) }), (-1, libc::EFAULT));
    assert_eq!(test.parks(), 0);
}

static CAUGHT: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: c_int) {
    CAUGHT.store(signal, Ordering::Relaxed);
}

#[test]
fn a_caught_signal_ends_a_sleep() {
    let test = Test::new();
    let handler = note as *const () as usize;
    // SAFETY: a handler that only notes, and plain data.
    unsafe {
        assert_eq!(signals::signal(libc::SIGUSR1, handler), libc::SIG_DFL);
        let mut told = std::mem::zeroed::<libc::sigaction>();
        assert_eq!(signals::sigaction(libc::SIGUSR1, std::ptr::null(), &mut told), 0);
        assert_eq!((told.sa_sigaction, told.sa_flags & libc::SA_RESTART), (handler, libc::SA_RESTART));
        let mut real = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(libc::SIGUSR1, std::ptr::null(), &mut real);
        assert_ne!(real.sa_sigaction, handler, "chained");
        test.at_park(1, || {
            libc::raise(libc::SIGUSR1); // on this thread
        });
        assert_eq!(outcome(time::usleep(5_000_000)), (-1, libc::EINTR));
        assert_eq!(CAUGHT.load(Ordering::Relaxed), libc::SIGUSR1);
        assert_eq!(signals::signal(libc::SIGUSR1, libc::SIG_IGN), handler);
        assert_eq!(signals::sysv_signal(libc::SIGUSR1, handler), libc::SIG_IGN);
        signals::sigaction(libc::SIGUSR1, std::ptr::null(), &mut told);
        assert_eq!(told.sa_flags & (libc::SA_RESETHAND | libc::SA_RESTART), libc::SA_RESETHAND);
        assert_eq!(signals::signal(libc::SIGUSR1, libc::SIG_DFL), handler);
        assert_eq!((signals::signal(65, handler), errno()), (libc::SIG_ERR, libc::EINVAL));
        assert_eq!((signals::signal(libc::SIGKILL, handler), errno()), (libc::SIG_ERR, libc::EINVAL));
        assert_eq!((signals::signal(libc::SIGUSR1, libc::SIG_ERR), errno()), (libc::SIG_ERR, libc::EINVAL));
    }
}
