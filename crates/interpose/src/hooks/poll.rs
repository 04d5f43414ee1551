//! `poll`, `select`, `epoll_wait` and their kin.
//!
//! What is not ready at once is waited for in the reactor, all descriptors of the set by one waiter. The `poll` of
//! a single descriptor, which streams make before each read, is answered without the kernel where the levels
//! allow it. A time limit of zero always asks the kernel.
//!
//! A signal mask (`ppoll`, `pselect`, `epoll_pwait`) cannot hold while other coroutines run. Signals that the
//! thread blocks and the mask lets in are watched for, and the call looks again, with the mask, when one is pending:
//! then it is delivered. Signals that only the mask blocks are not held back.

mod calls;
mod epoll;
mod park;
mod select;

use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};

pub use calls::{__poll_chk, __ppoll_chk, poll, ppoll};
pub use epoll::{epoll_pwait, epoll_pwait2, epoll_wait};
pub use select::{pselect, select};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const POLL: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "parked until one of the descriptors is ready or the time is over",
        on_cancel: on_cancel::FAILS,
    };
    const MASKED: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "as without the mask, and until a signal that the mask lets in is pending (signalfd)",
        on_cancel: on_cancel::FAILS,
    };
    const LOOP: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "parked until the other loop's epoll descriptor is readable or the time is over",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"poll" => poll, POLL;
        c"__poll" => poll, POLL;
        c"__poll_chk" => __poll_chk, POLL;
        c"ppoll" => ppoll, MASKED;
        c"__ppoll_chk" => __ppoll_chk, MASKED;
        c"select" => select, POLL;
        c"__select" => select, POLL;
        c"pselect" => pselect, MASKED;
        c"epoll_wait" => epoll_wait, LOOP;
        c"epoll_pwait" => epoll_pwait, LOOP;
        c"epoll_pwait2" => epoll_pwait2, LOOP;
    ]
}
