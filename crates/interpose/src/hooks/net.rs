//! Sockets: receiving, sending, connecting, accepting.
//!
//! The call is tried first, without waiting; only `EAGAIN` on a descriptor that the caller has in blocking mode
//! parks the coroutine. What a call shows about readiness is remembered (see the reactor's levels), under these
//! rules: `EAGAIN` is *empty*; so is a short read of a TCP socket that looked at neither urgent nor peeked data;
//! every other use is *unknown*.
//!
//! Not as without Spindle: a blocking `recv` on a socket with `SO_RCVLOWAT` may return fewer bytes than that;
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
pub use recv::{__recv_chk, __recvfrom_chk, recv, recvfrom, recvmmsg, recvmsg};
pub use send::{send, sendmmsg, sendmsg, sendto};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const RECEIVE: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "tried at once, else parked until readable or SO_RCVTIMEO; MSG_WAITALL and MSG_DONTWAIT honoured",
        on_cancel: on_cancel::PARTIAL,
    };
    const SEND: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "sends what fits, parked until writable or SO_SNDTIMEO, until all is sent; MSG_FASTOPEN in place",
        on_cancel: on_cancel::PARTIAL,
    };
    const CONNECT: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "begun without waiting, parked until it is decided",
        on_cancel: on_cancel::GOES_ON,
    };
    const ACCEPT: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "parked until a connection is there; a listener shared with other processes: on a worker thread",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"recv" => recv, RECEIVE;
        c"__recv_chk" => __recv_chk, RECEIVE;
        c"recvfrom" => recvfrom, RECEIVE;
        c"__recvfrom_chk" => __recvfrom_chk, RECEIVE;
        c"recvmsg" => recvmsg, RECEIVE;
        c"recvmmsg" => recvmmsg, Behavior { wait: WaitKind::Readiness, summary: "as recvmsg for each message; the time limit is looked at after each", on_cancel: on_cancel::PARTIAL };
        c"send" => send, SEND;
        c"__send" => send, SEND;
        c"sendto" => sendto, SEND;
        c"sendmsg" => sendmsg, Behavior { wait: WaitKind::Readiness, summary: "as send; ancillary data goes with the first part only", on_cancel: on_cancel::PARTIAL };
        c"sendmmsg" => sendmmsg, Behavior { wait: WaitKind::Readiness, summary: "as sendmsg for each message", on_cancel: on_cancel::PARTIAL };
        c"connect" => connect, CONNECT;
        c"__connect" => connect, CONNECT;
        c"accept" => accept, ACCEPT;
        c"accept4" => accept4, ACCEPT;
    ]
}
