//! Signals to the test's own thread, which blocks them.
#![allow(dead_code)] // each test binary uses a part

use libc::{c_int, siginfo_t, sigset_t, timespec};
use spindle_interpose::hooks::signal::wait as sigwait;
use spindle_interpose::host::errno;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

pub const ONE: c_int = libc::SIGUSR1;
pub const TWO: c_int = libc::SIGUSR2;

pub fn set(signals: &[c_int]) -> sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: initialised by the first call.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        signals.iter().for_each(|signal| assert_eq!(libc::sigaddset(set.as_mut_ptr(), *signal), 0));
        set.assume_init()
    }
}

/// Runs `then` with both signals and a queued one blocked.
pub fn blocked(then: impl FnOnce()) {
    let mut before = MaybeUninit::uninit();
    // SAFETY: sets of our own.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &set(&[ONE, TWO, libc::SIGRTMIN()]), before.as_mut_ptr());
        then();
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
    }
}

/// To this thread, with a value.
pub fn queue(signal: c_int, value: usize) {
    let value = libc::sigval { sival_ptr: std::ptr::without_provenance_mut(value) };
    // SAFETY: this thread's own number.
    assert_eq!(unsafe { libc::pthread_sigqueue(libc::pthread_self(), signal, value) }, 0);
}

pub fn send(signal: c_int) {
    // SAFETY: this thread's own number.
    assert_eq!(unsafe { libc::pthread_kill(libc::pthread_self(), signal) }, 0);
}

pub fn wait(signals: &[c_int], ms: Option<i64>) -> ((c_int, i32), siginfo_t) {
    // SAFETY: a zeroed `siginfo_t` is one.
    let mut info: siginfo_t = unsafe { std::mem::zeroed() };
    let time = ms.map(|ms| timespec { tv_sec: ms / 1_000, tv_nsec: ms % 1_000 * 1_000_000 });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: a set, a place and a time of our own.
    (failed(unsafe { sigwait::sigtimedwait(&set(signals), &mut info, time) }), info)
}

fn failed(result: c_int) -> (c_int, i32) {
    (result, if result == -1 { errno() } else { 0 })
}
