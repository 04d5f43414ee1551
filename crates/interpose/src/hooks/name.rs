//! Looking up hosts, services, DNS records, users and groups: by libc in the thread pool, so that NSS is honoured, with
//! copies of all arguments. A cancellation abandons the job and frees its result.
//!
//! Numeric addresses are converted in place, and names and addresses in `/etc/hosts` looked up there. Coroutines that ask for the
//! same host at the same time share one look-up. Changes of user code to its thread's
//! `_res` do not reach the workers; a `res_n*` call with a state that differs from this thread's default runs in place.

mod addrinfo;
mod config;
mod hostent;
mod hosts;
mod lookup;
mod resolver;
mod shared;
mod users;

use crate::host::php_thread_host;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};

pub use addrinfo::{getaddrinfo, getnameinfo};
pub use hostent::{gethostbyaddr, gethostbyaddr_r, gethostbyname, gethostbyname_r, gethostbyname2, gethostbyname2_r};
pub use resolver::{ResState, res_nquery, res_nsearch, res_query, res_search};
pub use users::{
    getgrgid, getgrgid_r, getgrnam, getgrnam_r, getgrouplist, getpwnam, getpwnam_r, getpwuid, getpwuid_r, initgroups,
};

/// Forgets the look-ups under way: in the child of a fork, and once the coroutines that wait for them have been abandoned.
pub(crate) fn reset() {
    if let Some(host) = php_thread_host() {
        addrinfo::reset(host);
        hostent::reset(host);
    }
}

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const NUMERIC_INLINE: Behavior = Behavior {
        wait: WaitKind::Worker,
        summary: "in the thread pool; numeric addresses, and what is in `/etc/hosts`, in place",
        on_cancel: on_cancel::ABANDONED,
    };
    const WORKER: Behavior =
        Behavior { wait: WaitKind::Worker, summary: "in the thread pool", on_cancel: on_cancel::ABANDONED };
    hooked_calls![
        c"getaddrinfo" => getaddrinfo, NUMERIC_INLINE;
        c"getnameinfo" => getnameinfo, NUMERIC_INLINE;
        c"gethostbyname" => gethostbyname, NUMERIC_INLINE;
        c"gethostbyname2" => gethostbyname2, NUMERIC_INLINE;
        c"gethostbyname_r" => gethostbyname_r, NUMERIC_INLINE;
        c"gethostbyname2_r" => gethostbyname2_r, NUMERIC_INLINE;
        c"gethostbyaddr" => gethostbyaddr, NUMERIC_INLINE;
        c"gethostbyaddr_r" => gethostbyaddr_r, NUMERIC_INLINE;
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
