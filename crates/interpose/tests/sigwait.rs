//! Waiting for signals. They are sent to the test's own thread, which blocks them.

mod common;
mod signals_kit;

use common::{Test, outcome};
use libc::{c_int, timespec};
use signals_kit::*;
use spindle_interpose::hooks::signal::{action as signals, wait as sigwait};
use spindle_interpose::hooks::{poll, time};
use spindle_interpose::host::{Wake, errno, set_errno};
use spindle_reactor::Reactor;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, Ordering};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("procfs").count()
}

#[test]
fn a_pending_signal_is_taken_at_once() {
    let test = Test::new();
    blocked(|| {
        set_errno(5);
        queue(ONE, 42);
        let ((signal, _), info) = wait(&[ONE, TWO], None);
        // SAFETY: a queued signal has a value.
        let value = unsafe { info.si_value().sival_ptr.addr() };
        assert_eq!((signal, info.si_signo, info.si_code, value), (ONE, ONE, libc::SI_QUEUE, 42));
        assert_eq!((test.parks(), errno()), (0, 5));
        send(TWO);
        let mut signal = 0;
        // SAFETY: a set and a place of our own.
        assert_eq!((unsafe { sigwait::sigwait(&set(&[TWO]), &mut signal) }, signal), (0, TWO));
        assert_eq!(wait(&[ONE, TWO], Some(0)).0, (-1, libc::EAGAIN));
        assert_eq!(test.parks(), 0);
    });
}

#[test]
fn one_that_comes_later_is_waited_for() {
    let test = Test::new();
    blocked(|| {
        let before = descriptors();
        test.at_park(1, || send(TWO)); // another one
        test.at_park(2, || queue(libc::SIGRTMIN(), 7));
        test.inject(1, Wake::Woken);
        let ((signal, _), info) = wait(&[ONE, libc::SIGRTMIN()], None);
        // SAFETY: a queued signal has a value.
        let value = unsafe { info.si_value().sival_ptr.addr() };
        assert_eq!((signal, value), (libc::SIGRTMIN(), 7));
        assert_eq!(test.parks(), 2);
        assert_eq!(descriptors(), before, "the signalfd is closed");
        assert_eq!(wait(&[TWO], None).0, (TWO, 0), "left for who wants it");
    });
}

#[test]
fn waits_that_end_early_say_why() {
    let test = Test::new();
    blocked(|| {
        let before = descriptors();
        let start = Reactor::now();
        assert_eq!(wait(&[ONE], Some(30)).0, (-1, libc::EAGAIN));
        assert!(Reactor::now() - start >= 30_000_000);
        for (wake, error) in [(Wake::Interrupted, libc::EINTR), (Wake::Cancelled, libc::ECANCELED)] {
            test.inject(1, wake);
            assert_eq!(wait(&[ONE], None).0, (-1, error));
            // What came at the same time is not lost.
            test.inject(1, wake);
            test.at_park(1, || send(ONE));
            assert_eq!(wait(&[ONE], None).0, (ONE, 0));
        }
        test.inject(1, Wake::Cancelled);
        let mut signal = -1;
        // SAFETY: a set and a place of our own.
        let error = unsafe { sigwait::sigwait(&set(&[ONE]), &mut signal) };
        assert_eq!((error, signal), (libc::ECANCELED, -1));
        assert_eq!(descriptors(), before);
        let wrong = timespec { tv_sec: 0, tv_nsec: -1 };
        // SAFETY: a set and a time of our own.
        assert_eq!(outcome(unsafe { sigwait::sigtimedwait(&set(&[ONE]), null_mut(), &wrong) }), (-1, libc::EINVAL));
    });
}

static CAUGHT: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: c_int) {
    CAUGHT.store(signal, Ordering::Relaxed);
}

#[test]
fn pause_and_sigsuspend_end_with_a_handler() {
    let test = Test::new();
    // SAFETY: a handler that only notes.
    unsafe { signals::signal(ONE, note as *const () as usize) };
    test.at_park(1, || send(ONE));
    // SAFETY: no arguments.
    assert_eq!(outcome(unsafe { sigwait::pause() }), (-1, libc::EINTR));
    assert_eq!((CAUGHT.swap(0, Ordering::Relaxed), test.parks()), (ONE, 1));
    test.inject(1, Wake::Cancelled);
    // SAFETY: no arguments.
    assert_eq!(outcome(unsafe { sigwait::pause() }), (-1, libc::ECANCELED));
    blocked(|| {
        let before = descriptors();
        send(ONE);
        assert_eq!(CAUGHT.load(Ordering::Relaxed), 0, "blocked");
        // SAFETY: a set of our own.
        assert_eq!(outcome(unsafe { sigwait::sigsuspend(&set(&[])) }), (-1, libc::EINTR));
        assert_eq!((CAUGHT.swap(0, Ordering::Relaxed), test.parks()), (ONE, 2), "it was pending");
        // SAFETY: no pointers.
        assert_eq!(unsafe { time::usleep(2_000) }, 0, "the signal interrupts one call");
        test.at_park(1, || send(ONE));
        let start = Reactor::now();
        // SAFETY: a set of our own.
        assert_eq!(outcome(unsafe { sigwait::sigsuspend(&set(&[TWO])) }), (-1, libc::EINTR));
        assert_eq!((CAUGHT.swap(0, Ordering::Relaxed), test.parks()), (ONE, 4), "told by the signalfd");
        assert!(Reactor::now() - start < 500_000_000);
        assert_eq!(descriptors(), before);
    });
    // SAFETY: the default.
    unsafe { signals::signal(ONE, libc::SIG_DFL) };
}

#[test]
fn a_masked_poll_is_told_of_the_signal() {
    let test = Test::new();
    // SAFETY: a handler that only notes.
    unsafe { signals::signal(ONE, note as *const () as usize) };
    blocked(|| {
        let before = descriptors();
        let time = timespec { tv_sec: 10, tv_nsec: 0 };
        test.at_park(1, || send(ONE));
        // SAFETY: no descriptors; a time and a set of our own.
        let result = unsafe { poll::ppoll(null_mut(), 0, &time, &set(&[TWO])) };
        assert_eq!(outcome(result), (-1, libc::EINTR));
        assert_eq!(
            (CAUGHT.swap(0, Ordering::Relaxed), test.parks()),
            (ONE, 1),
            "looked at once more, not every so often"
        );
        assert_eq!(descriptors(), before);
    });
    // SAFETY: the default.
    unsafe { signals::signal(ONE, libc::SIG_DFL) };
}
