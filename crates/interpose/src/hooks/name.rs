//! Looking names up: `getaddrinfo`, `getnameinfo`, `gethostby*`, `res_*`; on a worker thread, as libc does it
//! (so NSS is honoured), with copies of all arguments. Cancelled, the job is abandoned and its result freed.
//!
//! Numbers are turned in place. What a program set in its thread's `_res` does not reach the workers; a
//! `res_n*` call with a state that is not this thread's default runs in place.

mod addrinfo;
mod hostent;
mod lookup;
mod resolver;
mod users;

use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};

pub use addrinfo::{getaddrinfo, getnameinfo};
pub use hostent::{gethostbyaddr, gethostbyaddr_r, gethostbyname, gethostbyname_r, gethostbyname2, gethostbyname2_r};
pub use resolver::{ResState, res_nquery, res_nsearch, res_query, res_search};
pub use users::{
    getgrgid, getgrgid_r, getgrnam, getgrnam_r, getgrouplist, getpwnam, getpwnam_r, getpwuid, getpwuid_r, initgroups,
};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const NUMERIC_INLINE: Behavior = Behavior {
        wait: WaitKind::Worker,
        summary: "on a worker thread unless it is about a number",
        on_cancel: on_cancel::LEFT,
    };
    const WORKER: Behavior =
        Behavior { wait: WaitKind::Worker, summary: "on a worker thread", on_cancel: on_cancel::LEFT };
    hooked_calls![
        c"getaddrinfo" => getaddrinfo, NUMERIC_INLINE;
        c"getnameinfo" => getnameinfo, NUMERIC_INLINE;
        c"gethostbyname" => gethostbyname, NUMERIC_INLINE;
        c"gethostbyname2" => gethostbyname2, NUMERIC_INLINE;
        c"gethostbyname_r" => gethostbyname_r, NUMERIC_INLINE;
        c"gethostbyname2_r" => gethostbyname2_r, NUMERIC_INLINE;
        c"gethostbyaddr" => gethostbyaddr, WORKER;
        c"gethostbyaddr_r" => gethostbyaddr_r, WORKER;
        c"res_query" => res_query, WORKER;
        c"__res_query" => res_query, WORKER;
        c"res_search" => res_search, WORKER;
        c"__res_search" => res_search, WORKER;
        c"res_nquery" => res_nquery, WORKER;
        c"__res_nquery" => res_nquery, WORKER;
        c"res_nsearch" => res_nsearch, WORKER;
        c"__res_nsearch" => res_nsearch, WORKER;
        c"getpwnam" => getpwnam, WORKER;
        c"getpwuid" => getpwuid, WORKER;
        c"getgrnam" => getgrnam, WORKER;
        c"getgrgid" => getgrgid, WORKER;
        c"getpwnam_r" => getpwnam_r, WORKER;
        c"getpwuid_r" => getpwuid_r, WORKER;
        c"getgrnam_r" => getgrnam_r, WORKER;
        c"getgrgid_r" => getgrgid_r, WORKER;
        c"getgrouplist" => getgrouplist, WORKER;
        c"initgroups" => initgroups, WORKER;
    ]
}
