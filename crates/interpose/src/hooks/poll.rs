//! `poll`, `select`, `epoll_wait` and their relatives.
//!
//! What is not ready immediately is waited for in the reactor, with one waiter for all descriptors of the set. The `poll`
//! of a single descriptor, which PHP's streams make before each read, is answered without a system call where its
//! readiness is known. A time limit of zero always asks the kernel.
//!
//! A signal mask (`ppoll`, `pselect`, `epoll_pwait`) cannot be in force while other coroutines run. Signals that the
//! thread blocks and the mask does not are watched for; when one is pending, the call polls again with the mask in
//! force, and it is delivered. Signals that only the mask blocks are not held back.

mod calls;
mod epoll;
mod park;
mod select;

use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};

#[cfg(target_env = "gnu")]
pub use calls::{__poll_chk, __ppoll_chk};
pub use calls::{poll, ppoll, wait_left};
pub use epoll::{epoll_pwait, epoll_pwait2, epoll_wait};
pub use select::{pselect, select};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const POLL: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "parks until one of the descriptors is ready or the timeout",
        on_cancel: on_cancel::FAILS,
    };
    const MASKED: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "as without the mask, and until a signal that the mask unblocks is pending (signalfd)",
        on_cancel: on_cancel::FAILS,
    };
    const LOOP: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "parks until the epoll descriptor of the other event loop is readable or the timeout",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"poll" => poll, POLL;
        c"__poll" => poll, POLL;
        #[cfg(target_env = "gnu")]
        c"__poll_chk" => __poll_chk, POLL;
        c"ppoll" => ppoll, MASKED;
        #[cfg(target_env = "gnu")]
        c"__ppoll_chk" => __ppoll_chk, MASKED;
        c"select" => select, POLL;
        c"__select" => select, POLL;
        c"pselect" => pselect, MASKED;
        c"epoll_wait" => epoll_wait, LOOP;
        c"epoll_pwait" => epoll_pwait, LOOP;
        c"epoll_pwait2" => epoll_pwait2, LOOP;
    ]
}
