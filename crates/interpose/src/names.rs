//! Looking names up: `getaddrinfo`, `getnameinfo`, `gethostby*`, `res_*`; on a worker thread, as libc does it
//! (so NSS is honoured), with copies of all arguments. Cancelled, the job is abandoned and its result freed.
//!
//! Numbers are turned in place. What a program set in its thread's `_res` does not reach the workers; a
//! `res_n*` call with a state that is not this thread's default runs in place.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::{BlockedOn, Host, OnSignal, current_host, errno, set_errno};
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait::{self, Job};
use crate::{hostent, resolver};
use libc::{addrinfo, c_char, c_int, sockaddr, socklen_t};
use std::ffi::{CStr, CString};
use std::net::IpAddr;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const WORKER: Behavior = Behavior {
        wait: WaitKind::Worker,
        summary: "on a worker thread unless it is about a number",
        on_cancel: on_cancel::LEFT,
    };
    const DNS: Behavior =
        Behavior { wait: WaitKind::Worker, summary: "on a worker thread", on_cancel: on_cancel::LEFT };
    hooked_calls![
        c"getaddrinfo" => getaddrinfo, WORKER;
        c"getnameinfo" => getnameinfo, WORKER;
        c"gethostbyname" => hostent::gethostbyname, WORKER;
        c"gethostbyname2" => hostent::gethostbyname2, WORKER;
        c"gethostbyname_r" => hostent::gethostbyname_r, WORKER;
        c"gethostbyname2_r" => hostent::gethostbyname2_r, WORKER;
        c"gethostbyaddr" => hostent::gethostbyaddr, DNS;
        c"gethostbyaddr_r" => hostent::gethostbyaddr_r, DNS;
        c"res_query" => resolver::res_query, DNS;
        c"__res_query" => resolver::res_query, DNS;
        c"res_search" => resolver::res_search, DNS;
        c"__res_search" => resolver::res_search, DNS;
        c"res_nquery" => resolver::res_nquery, DNS;
        c"__res_nquery" => resolver::res_nquery, DNS;
        c"res_nsearch" => resolver::res_nsearch, DNS;
        c"__res_nsearch" => resolver::res_nsearch, DNS;
    ]
}

unsafe extern "C" {
    fn __h_errno_location() -> *mut c_int;
}

pub(crate) fn h_errno() -> c_int {
    // SAFETY: the address of this thread's h_errno is always valid.
    unsafe { *__h_errno_location() }
}

pub(crate) fn set_h_errno(value: c_int) {
    // SAFETY: as above.
    unsafe { *__h_errno_location() = value }
}

/// What a look-up leaves: its value and the thread's error numbers.
pub(crate) struct Answer<T> {
    pub value: T,
    pub errno: c_int,
    pub h_errno: c_int,
}

pub(crate) enum Looked<T> {
    Up(T),
    /// Cancelled; `errno` is set.
    Cancelled,
    /// Do it in place.
    InPlace,
}

/// Runs `job` on a worker and copies its error numbers back.
pub(crate) fn look_up<T: Send + 'static>(
    host: &dyn Host,
    call: &'static str,
    job: impl FnOnce() -> T + Send + 'static,
    undo: fn(Answer<T>),
) -> Looked<T> {
    let blocked_on = BlockedOn { call, fd: -1, on_signal: OnSignal::Ignore };
    let job = move || {
        set_errno(0);
        let value = job();
        Answer { value, errno: errno(), h_errno: h_errno() }
    };
    let saved = errno();
    match wait::for_job_or_abandon(host, blocked_on, None, false, job, undo) {
        Job::Done(answer) => {
            set_errno(if answer.errno == 0 { saved } else { answer.errno });
            set_h_errno(answer.h_errno);
            Looked::Up(answer.value)
        }
        Job::Abandoned(waited) => {
            set_errno(waited.errno(libc::ECANCELED));
            Looked::Cancelled
        }
        Job::NoWorker => {
            set_errno(saved);
            Looked::InPlace
        }
    }
}

/// A host that is written as a number needs no looking up.
pub(crate) fn is_numeric(name: &CStr) -> bool {
    let text = name.to_bytes();
    let v6 = text.split(|&b| b == b'%').next().unwrap_or(text); // the zone is a number or an interface
    let parsed = std::str::from_utf8(v6).ok().and_then(|text| text.parse::<IpAddr>().ok());
    if parsed.is_some() {
        return true;
    }
    // The short forms of IPv4: digits, dots, hexadecimal.
    text.first().is_some_and(u8::is_ascii_digit) && text.iter().all(|b| b.is_ascii_hexdigit() || b".xX".contains(b))
}

struct List(*mut addrinfo);
// SAFETY: the list is plain memory of malloc's that only its holder knows.
unsafe impl Send for List {}

/// `getaddrinfo(3)`. Cancelled: `EAI_SYSTEM` with `errno` `ECANCELED`.
pub unsafe extern "C" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    result: *mut *mut addrinfo,
) -> c_int {
    // SAFETY: the caller's own arguments.
    let in_place = || unsafe { libc::getaddrinfo(node, service, hints, result) };
    let Some(host) = current_host().filter(|_| !node.is_null()) else { return in_place() };
    // SAFETY: the caller passes C strings or null, and null or valid hints.
    let (name, port, wish) = unsafe {
        let port = if service.is_null() { None } else { Some(CStr::from_ptr(service)) };
        (CStr::from_ptr(node), port, hints.as_ref().copied())
    };
    if is_numeric(name) || wish.is_some_and(|h| h.ai_flags & libc::AI_NUMERICHOST != 0) {
        return in_place();
    }
    let (name, port): (CString, Option<CString>) = (name.to_owned(), port.map(CStr::to_owned));
    let wish = wish.map(|h| (h.ai_flags, h.ai_family, h.ai_socktype, h.ai_protocol));
    let job = move || {
        // SAFETY: a zeroed `addrinfo` is one without a wish.
        let mut hints: addrinfo = unsafe { std::mem::zeroed() };
        if let Some(wish) = wish {
            (hints.ai_flags, hints.ai_family, hints.ai_socktype, hints.ai_protocol) = wish;
        }
        let hints = if wish.is_some() { &raw const hints } else { std::ptr::null() };
        let port = port.as_ref().map_or(std::ptr::null(), |p| p.as_ptr());
        let mut list = std::ptr::null_mut();
        // SAFETY: strings and hints of our own, a place for the list.
        let code = unsafe { libc::getaddrinfo(name.as_ptr(), port, hints, &mut list) };
        (code, List(list))
    };
    fn undo(answer: Answer<(c_int, List)>) {
        let (code, list) = answer.value;
        if code == 0 {
            // SAFETY: made by `getaddrinfo`, known to nobody else.
            unsafe { libc::freeaddrinfo(list.0) };
        }
    }
    match look_up(host, "getaddrinfo", job, undo) {
        Looked::Up((code, list)) => {
            if code == 0 {
                // SAFETY: the caller's place for the list.
                unsafe { result.write(list.0) };
            }
            code
        }
        Looked::Cancelled => libc::EAI_SYSTEM,
        Looked::InPlace => in_place(),
    }
}

/// The longest host or service buffer that is made.
const MOST: socklen_t = 1 << 16;

fn copy_text(text: &[u8], place: *mut c_char) {
    let length = text.iter().position(|&b| b == 0).map_or(0, |end| end + 1);
    if length > 0 {
        // SAFETY: the caller's place has room for `text.len()` bytes.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), length) };
    }
}

/// `getnameinfo(3)`. Cancelled: `EAI_SYSTEM` with `errno` `ECANCELED`.
pub unsafe extern "C" fn getnameinfo(
    address: *const sockaddr,
    length: socklen_t,
    node: *mut c_char,
    node_room: socklen_t,
    service: *mut c_char,
    service_room: socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's own arguments.
    let in_place = || unsafe { libc::getnameinfo(address, length, node, node_room, service, service_room, flags) };
    let wants_name = !node.is_null() && node_room > 0 && flags & libc::NI_NUMERICHOST == 0;
    let Some(host) = current_host().filter(|_| wants_name && !address.is_null() && length <= 256) else {
        return in_place();
    };
    // SAFETY: the caller passes that many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length as usize) };
    // Aligned as a socket address must be.
    let mut copy = [0u64; 32];
    for (word, part) in copy.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..part.len()].copy_from_slice(part);
        *word = u64::from_ne_bytes(whole);
    }
    let rooms = [node_room.min(MOST), if service.is_null() { 0 } else { service_room.min(MOST) }];
    let job = move || {
        let mut texts = rooms.map(|room| vec![0u8; room as usize]);
        let [name, port] = &mut texts;
        let port_at = if rooms[1] == 0 { std::ptr::null_mut() } else { port.as_mut_ptr() };
        // SAFETY: an address and buffers of our own, of the sizes passed.
        let code = unsafe {
            libc::getnameinfo(
                copy.as_ptr().cast(),
                length,
                name.as_mut_ptr().cast(),
                rooms[0],
                port_at.cast(),
                rooms[1],
                flags,
            )
        };
        (code, texts)
    };
    match look_up(host, "getnameinfo", job, |_| ()) {
        Looked::Up((code, [name, port])) => {
            if code == 0 {
                copy_text(&name, node);
                if rooms[1] > 0 {
                    copy_text(&port, service);
                }
            }
            code
        }
        Looked::Cancelled => libc::EAI_SYSTEM,
        Looked::InPlace => in_place(),
    }
}
