//! What the program asks about its signal handlers is answered as if ours were not there.

mod common;

use common::Test;
use spindle_interpose::hooks::signal::action as signals;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

extern "C" fn mine(_: i32) {}

#[test]
fn the_program_is_told_of_its_own_handlers() {
    let _test = Test::new();
    let address = mine as *const () as usize;
    let (mut action, mut asked) = (MaybeUninit::<libc::sigaction>::zeroed(), MaybeUninit::<libc::sigaction>::zeroed());
    // SAFETY: complete actions, and places for the answers.
    unsafe {
        (*action.as_mut_ptr()).sa_sigaction = address;
        assert_eq!(signals::sigaction(libc::SIGUSR2, action.as_ptr(), null_mut()), 0);
        libc::sigaction(libc::SIGUSR2, null(), asked.as_mut_ptr());
        assert_ne!(asked.assume_init().sa_sigaction, address, "ours stands there");
        assert_eq!(signals::sigaction(libc::SIGUSR2, null(), asked.as_mut_ptr()), 0);
        assert_eq!(asked.assume_init().sa_sigaction, address);
        (*action.as_mut_ptr()).sa_sigaction = libc::SIG_DFL;
        assert_eq!(signals::sigaction(libc::SIGUSR2, action.as_ptr(), asked.as_mut_ptr()), 0);
        assert_eq!(asked.assume_init().sa_sigaction, address);
    }
}

#[test]
fn an_action_is_set_if_it_differs_in_anything() {
    let _test = Test::new();
    let real = |signal| {
        let mut asked = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a place for the answer, which is zeroed.
        unsafe {
            libc::sigaction(signal, null(), asked.as_mut_ptr());
            let asked = asked.assume_init();
            let blocks = |signal| libc::sigismember(&asked.sa_mask, signal);
            (asked.sa_sigaction, asked.sa_flags & libc::SA_RESTART, blocks(libc::SIGUSR1), blocks(libc::SIGUSR2))
        }
    };
    let (flag, other) = (libc::SA_RESTART, libc::SIG_DFL);
    let [one, two] = [libc::SIGUSR1, libc::SIGUSR2];
    for (handler, flags, blocked) in [
        (libc::SIG_IGN, 0, one),
        (libc::SIG_IGN, 0, one),
        (libc::SIG_IGN, flag, one),
        (libc::SIG_IGN, flag, two),
        (other, flag, two),
        (other, flag, two),
        (libc::SIG_IGN, 0, two),
    ] {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a complete action.
        unsafe {
            (*action.as_mut_ptr()).sa_sigaction = handler;
            (*action.as_mut_ptr()).sa_flags = flags;
            libc::sigaddset(&raw mut (*action.as_mut_ptr()).sa_mask, blocked);
            assert_eq!(signals::sigaction(libc::SIGPIPE, action.as_ptr(), null_mut()), 0);
        }
        assert_eq!(real(libc::SIGPIPE), (handler, flags, i32::from(blocked == one), i32::from(blocked == two)));
    }
}
