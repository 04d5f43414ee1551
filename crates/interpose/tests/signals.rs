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
