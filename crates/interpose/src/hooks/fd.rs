//! Calls that make, close or change descriptors: they never wait, but what is kept of a descriptor must follow.
//!
//! The books are kept on the PHP thread, in coroutines or not. A number that is closed or made anew is forgotten,
//! and whoever waits for it is woken (`EBADF`). Descriptors of our own are not the program's to close.

mod close;
mod control;
mod create;
pub mod locks;
pub mod refs;
pub(crate) mod tracking;

use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};

pub use close::{close, close_range, closedir, closefrom, dup2, dup3, fclose, freopen, freopen64};
pub use control::{fcntl, ioctl, setsockopt, shutdown};
pub use create::{
    dup, epoll_create, epoll_create1, eventfd, inotify_init, inotify_init1, memfd_create, pipe, pipe2, signalfd,
    socket, socketpair, timerfd_create,
};
pub use locks::{flock, lockf};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const NOTED: Behavior = Behavior {
        wait: WaitKind::Never,
        summary: "what is kept of the descriptor follows",
        on_cancel: on_cancel::NEVER,
    };
    const CLOSES: Behavior = Behavior {
        wait: WaitKind::Never,
        summary: "calls that are parked on the descriptor fail with EBADF",
        on_cancel: on_cancel::NEVER,
    };
    const FCNTL: Behavior = Behavior {
        wait: WaitKind::Timer,
        summary: "F_SETLKW and F_OFD_SETLKW: tried again every 1 to 10 ms (EDEADLK is not found out); others never wait",
        on_cancel: on_cancel::FAILS,
    };
    const LOCKF: Behavior = Behavior {
        wait: WaitKind::Timer,
        summary: "tried, then again every 1 to 10 ms (EDEADLK is not found out)",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"close" => close, CLOSES;
        c"__close" => close, CLOSES;
        c"close_range" => close_range, CLOSES;
        c"closefrom" => closefrom, CLOSES;
        c"fclose" => fclose, CLOSES;
        c"freopen" => freopen, CLOSES;
        c"freopen64" => freopen64, CLOSES;
        c"closedir" => closedir, CLOSES;
        c"dup2" => dup2, CLOSES;
        c"__dup2" => dup2, CLOSES;
        c"dup3" => dup3, CLOSES;
        c"dup" => dup, NOTED;
        c"socket" => socket, NOTED;
        c"socketpair" => socketpair, NOTED;
        c"pipe" => pipe, NOTED;
        c"pipe2" => pipe2, NOTED;
        c"eventfd" => eventfd, NOTED;
        c"epoll_create" => epoll_create, NOTED;
        c"epoll_create1" => epoll_create1, NOTED;
        c"timerfd_create" => timerfd_create, NOTED;
        c"signalfd" => signalfd, NOTED;
        c"inotify_init" => inotify_init, NOTED;
        c"inotify_init1" => inotify_init1, NOTED;
        c"memfd_create" => memfd_create, NOTED;
        c"fcntl" => fcntl, FCNTL;
        c"__fcntl" => fcntl, FCNTL;
        c"fcntl64" => fcntl, FCNTL;
        c"flock" => flock, Behavior { wait: WaitKind::Timer, summary: "tried, then again after an unlock or a close in this process, and every 1 to 10 ms", on_cancel: on_cancel::FAILS };
        c"lockf" => lockf, LOCKF;
        c"lockf64" => lockf, LOCKF;
        c"ioctl" => ioctl, Behavior { wait: WaitKind::Never, summary: "FIONBIO is noted; others are made in place", on_cancel: on_cancel::NEVER };
        c"setsockopt" => setsockopt, Behavior { wait: WaitKind::Never, summary: "SO_RCVTIMEO, SO_SNDTIMEO and TCP_ULP are noted", on_cancel: on_cancel::NEVER };
        c"shutdown" => shutdown, Behavior { wait: WaitKind::Never, summary: "parked calls on the descriptor look again", on_cancel: on_cancel::NEVER };
    ]
}
