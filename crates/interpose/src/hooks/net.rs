//! Sockets: receiving, sending, connecting, accepting.
//!
//! A call is tried first, without waiting; only `EAGAIN` on a descriptor that the caller has in blocking mode parks the
//! coroutine. The readiness that a call shows is recorded: `EAGAIN` means not ready, and so does a short read of a TCP
//! socket that neither peeked nor asked for urgent data; after every other use it is unknown.
//!
//! Unlike without Spindle, a blocking `recv` on a socket with `SO_RCVLOWAT` may return fewer bytes than that, and
//! `send` with `MSG_FASTOPEN` on a blocking socket waits in place.

mod accept;
mod connect;
mod message;
mod recv;
mod send;
mod socket;

use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};

pub use accept::{accept, accept4};
pub use connect::connect;
#[cfg(target_env = "gnu")]
pub use recv::{__recv_chk, __recvfrom_chk};
pub use recv::{recv, recvfrom, recvmmsg, recvmsg};
pub use send::{send, sendmmsg, sendmsg, sendto};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const RECEIVE: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "tried, else parks until readable or SO_RCVTIMEO; honours MSG_WAITALL and MSG_DONTWAIT",
        on_cancel: on_cancel::PARTIAL,
    };
    const SEND: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "sends what fits, then parks until writable or SO_SNDTIMEO, until everything is sent; MSG_FASTOPEN in place",
        on_cancel: on_cancel::PARTIAL,
    };
    const CONNECT: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "started without waiting; parks until it has succeeded or failed",
        on_cancel: on_cancel::CONTINUES,
    };
    const ACCEPT: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "parks until there is a connection; on a listener shared with other processes, in the thread pool",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"recv" => recv, RECEIVE;
        #[cfg(target_env = "gnu")]
        c"__recv_chk" => __recv_chk, RECEIVE;
        c"recvfrom" => recvfrom, RECEIVE;
        #[cfg(target_env = "gnu")]
        c"__recvfrom_chk" => __recvfrom_chk, RECEIVE;
        c"recvmsg" => recvmsg, RECEIVE;
        c"recvmmsg" => recvmmsg, Behavior { wait: WaitKind::Readiness, summary: "as recvmsg for each message; the timeout is checked after each", on_cancel: on_cancel::PARTIAL };
        c"send" => send, SEND;
        c"__send" => send, SEND;
        c"sendto" => sendto, SEND;
        c"sendmsg" => sendmsg, Behavior { wait: WaitKind::Readiness, summary: "as send; ancillary data is sent with the first part only", on_cancel: on_cancel::PARTIAL };
        c"sendmmsg" => sendmmsg, Behavior { wait: WaitKind::Readiness, summary: "as sendmsg for each message", on_cancel: on_cancel::PARTIAL };
        c"connect" => connect, CONNECT;
        c"__connect" => connect, CONNECT;
        c"accept" => accept, ACCEPT;
        c"accept4" => accept4, ACCEPT;
    ]
}
