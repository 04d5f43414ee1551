//! `getaddrinfo` and `getnameinfo`.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::hosts;
use super::lookup::{Answer, Lookup, is_numeric, look_up};
use crate::host::current_host;
use libc::{addrinfo, c_char, c_int, sockaddr, socklen_t};
use std::ffi::{CStr, CString};

struct List(*mut addrinfo);
// SAFETY: the list is plain memory of malloc's that only its holder knows.
unsafe impl Send for List {}

/// Returns `true` if nothing but the host is looked up, by its name as it stands. With `AI_ALL` libc looks for IPv4 addresses after
/// it has found those of IPv6, perhaps elsewhere.
fn may_be_of_hosts(port: Option<&CStr>, wish: Option<&addrinfo>) -> bool {
    const PLAIN: c_int =
        libc::AI_PASSIVE | libc::AI_CANONNAME | libc::AI_NUMERICSERV | libc::AI_ADDRCONFIG | libc::AI_V4MAPPED;
    port.is_none_or(|port| port.to_bytes().iter().all(u8::is_ascii_digit))
        && wish.is_none_or(|hints| hints.ai_flags & !PLAIN == 0)
}

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
    let (family, flags) = wish.map_or((libc::AF_UNSPEC, 0), |hints| (hints.ai_family, hints.ai_flags));
    if may_be_of_hosts(port, wish.as_ref()) && hosts::has(host, name, family, flags) {
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
        Lookup::Done((code, list)) => {
            if code == 0 {
                // SAFETY: the caller's place for the list.
                unsafe { result.write(list.0) };
            }
            code
        }
        Lookup::Cancelled => libc::EAI_SYSTEM,
        Lookup::InPlace => in_place(),
    }
}

/// The maximum size of a host or service buffer.
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
        Lookup::Done((code, [name, port])) => {
            if code == 0 {
                copy_text(&name, node);
                if rooms[1] > 0 {
                    copy_text(&port, service);
                }
            }
            code
        }
        Lookup::Cancelled => libc::EAI_SYSTEM,
        Lookup::InPlace => in_place(),
    }
}
