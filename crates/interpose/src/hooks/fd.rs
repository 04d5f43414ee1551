//! Descriptors: opening and closing them, their modes and options, and locks on their files.
//!
//! Most of these calls never wait; they are hooked so that what the reactor knows of a descriptor is right, on the PHP
//! thread and whether suspension is enabled or not. A number that is closed or reused is forgotten, and a coroutine that waits for
//! it is woken and fails with `EBADF`. User code cannot close Spindle's own descriptors.

mod close;
mod control;
mod create;
pub mod locks;
pub mod refs;
pub(crate) mod tracking;

use self::tracking::{CLOSES, OPENS};
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
    const FCNTL: Behavior = Behavior {
        wait: WaitKind::Timer,
        summary: "F_SETLKW and F_OFD_SETLKW: retried every 1 to 10 ms (EDEADLK is not detected); others never wait",
        on_cancel: on_cancel::FAILS,
    };
    const LOCKF: Behavior = Behavior {
        wait: WaitKind::Timer,
        summary: "tried, then retried every 1 to 10 ms (EDEADLK is not detected)",
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
        c"dup" => dup, OPENS;
        c"socket" => socket, OPENS;
        c"socketpair" => socketpair, OPENS;
        c"pipe" => pipe, OPENS;
        c"pipe2" => pipe2, OPENS;
        c"eventfd" => eventfd, OPENS;
        c"epoll_create" => epoll_create, OPENS;
        c"epoll_create1" => epoll_create1, OPENS;
        c"timerfd_create" => timerfd_create, OPENS;
        c"signalfd" => signalfd, OPENS;
        c"inotify_init" => inotify_init, OPENS;
        c"inotify_init1" => inotify_init1, OPENS;
        c"memfd_create" => memfd_create, OPENS;
        c"fcntl" => fcntl, FCNTL;
        c"__fcntl" => fcntl, FCNTL;
        c"fcntl64" => fcntl, FCNTL;
        c"flock" => flock, Behavior { wait: WaitKind::Timer, summary: "tried, then retried after an unlock or a close in this process, and every 1 to 10 ms", on_cancel: on_cancel::FAILS };
        c"lockf" => lockf, LOCKF;
        c"lockf64" => lockf, LOCKF;
        c"ioctl" => ioctl, Behavior { wait: WaitKind::Never, summary: "FIONBIO is tracked; other requests are made in place", on_cancel: on_cancel::NEVER };
        c"setsockopt" => setsockopt, Behavior { wait: WaitKind::Never, summary: "SO_RCVTIMEO, SO_SNDTIMEO and TCP_ULP are tracked", on_cancel: on_cancel::NEVER };
        c"shutdown" => shutdown, Behavior { wait: WaitKind::Never, summary: "calls parked on the descriptor try again", on_cancel: on_cancel::NEVER };
    ]
}
