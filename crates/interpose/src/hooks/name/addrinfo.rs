//! `getaddrinfo` and `getnameinfo`.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::hosts;
use super::lookup::{Lookup, is_numeric};
use super::shared::{Requests, Share, look_up_shared, question};
use crate::host::{Host, current_host};
use crate::php_cell::PhpCell;
use libc::{addrinfo, c_char, c_int, sockaddr, socklen_t};
use std::ffi::{CStr, CString};
use std::net::IpAddr;

/// A list of libc's, with the code of the call; freed if it is not taken.
struct Addresses {
    code: c_int,
    list: *mut addrinfo,
}
// SAFETY: the list is plain memory of malloc's that only its holder knows.
unsafe impl Send for Addresses {}

impl Addresses {
    /// Gives the list to the caller, which frees it.
    fn take(mut self) -> (c_int, *mut addrinfo) {
        (self.code, std::mem::replace(&mut self.list, std::ptr::null_mut()))
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        if !self.list.is_null() {
            // SAFETY: made by `getaddrinfo`, and known only to this code.
            unsafe { libc::freeaddrinfo(self.list) };
        }
    }
}

impl Share for Addresses {
    /// The entries are made by libc, which frees each by itself, with its own allocator (which a program may replace, for libc but
    /// not for this object).
    fn share(&self) -> Self {
        let mut copy = Addresses { code: self.code, list: std::ptr::null_mut() };
        let (mut from, mut end) = (self.list.cast_const(), &raw mut copy.list);
        // SAFETY: a list of libc's, which ends with null.
        while let Some(entry) = unsafe { from.as_ref() } {
            let Some(same) = copy_entry(entry) else {
                drop(copy);
                return Addresses { code: libc::EAI_MEMORY, list: std::ptr::null_mut() };
            };
            // SAFETY: the place for the next entry, in `copy` or in the entry before.
            unsafe { end.write(same) };
            // SAFETY: an entry, which was made just now.
            end = unsafe { &raw mut (*same).ai_next };
            from = entry.ai_next;
        }
        copy
    }
}

/// Returns an entry as this one, without a name, which `freeaddrinfo` frees; `None` if there is no memory.
fn copy_entry(entry: &addrinfo) -> Option<*mut addrinfo> {
    // An address of the same family is an entry of the same size.
    let number = if entry.ai_family == libc::AF_INET { c"0.0.0.0" } else { c"::" };
    // SAFETY: a zeroed `addrinfo` is one without a wish.
    let mut hints: addrinfo = unsafe { std::mem::zeroed() };
    (hints.ai_flags, hints.ai_family, hints.ai_socktype) = (libc::AI_NUMERICHOST, entry.ai_family, libc::SOCK_DGRAM);
    let mut made = std::ptr::null_mut();
    // SAFETY: a string and hints of our own, a place for the list.
    let code = unsafe { libc::getaddrinfo(number.as_ptr(), std::ptr::null(), &raw const hints, &mut made) };
    // SAFETY: a list of libc's, if the call has made one.
    let copy = unsafe { made.as_mut() }.filter(|_| code == 0)?;
    if copy.ai_addrlen != entry.ai_addrlen || !copy.ai_next.is_null() {
        // SAFETY: made just now.
        unsafe { libc::freeaddrinfo(made) };
        return None;
    }
    (copy.ai_flags, copy.ai_socktype, copy.ai_protocol) = (entry.ai_flags, entry.ai_socktype, entry.ai_protocol);
    let length = entry.ai_addrlen as usize;
    // SAFETY: both addresses have this length.
    unsafe { std::ptr::copy_nonoverlapping(entry.ai_addr.cast::<u8>(), copy.ai_addr.cast::<u8>(), length) };
    Some(made)
}

static REQUESTS: PhpCell<Requests<Addresses>> = PhpCell::new(Requests::new());

/// Returns `true` if the answer can be shared: libc's list is one of separate entries (musl's is not), none has a name, and neither
/// the locale nor the file of services decides on it.
fn may_be_shared(port: Option<&CStr>, wish: Option<&addrinfo>) -> bool {
    const SHARED: c_int =
        libc::AI_PASSIVE | libc::AI_NUMERICSERV | libc::AI_ADDRCONFIG | libc::AI_V4MAPPED | libc::AI_ALL;
    cfg!(target_env = "gnu") && is_numeric_port(port) && wish.is_none_or(|hints| hints.ai_flags & !SHARED == 0)
}

fn is_numeric_port(port: Option<&CStr>) -> bool {
    port.is_none_or(|port| port.to_bytes().iter().all(u8::is_ascii_digit))
}

/// Returns `true` if nothing but the host is looked up, by its name as it stands. With `AI_ALL` libc looks for IPv4 addresses after
/// it has found those of IPv6, perhaps elsewhere.
fn may_be_of_hosts(port: Option<&CStr>, wish: Option<&addrinfo>) -> bool {
    const PLAIN: c_int =
        libc::AI_PASSIVE | libc::AI_CANONNAME | libc::AI_NUMERICSERV | libc::AI_ADDRCONFIG | libc::AI_V4MAPPED;
    is_numeric_port(port) && wish.is_none_or(|hints| hints.ai_flags & !PLAIN == 0)
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
    let is_shared = may_be_shared(port, wish.as_ref());
    let wish = wish.map(|h| [h.ai_flags, h.ai_family, h.ai_socktype, h.ai_protocol]);
    let numbers = wish.map(|numbers| numbers.map(c_int::to_ne_bytes));
    let arguments = [Some(name.to_bytes()), port.map(CStr::to_bytes), numbers.as_ref().map(|all| all.as_flattened())];
    let question = if is_shared { question("getaddrinfo", &arguments) } else { None };
    let (name, port): (CString, Option<CString>) = (name.to_owned(), port.map(CStr::to_owned));
    let job = move || {
        // SAFETY: a zeroed `addrinfo` is one without a wish.
        let mut hints: addrinfo = unsafe { std::mem::zeroed() };
        if let Some(wish) = wish {
            [hints.ai_flags, hints.ai_family, hints.ai_socktype, hints.ai_protocol] = wish;
        }
        let hints = if wish.is_some() { &raw const hints } else { std::ptr::null() };
        let port = port.as_ref().map_or(std::ptr::null(), |p| p.as_ptr());
        let mut list = std::ptr::null_mut();
        // SAFETY: strings and hints of our own, a place for the list.
        let code = unsafe { libc::getaddrinfo(name.as_ptr(), port, hints, &mut list) };
        Addresses { code, list: if code == 0 { list } else { std::ptr::null_mut() } }
    };
    match look_up_shared(host, &REQUESTS, "getaddrinfo", question, job) {
        Lookup::Done(found) => {
            let (code, list) = found.take();
            if code == 0 {
                // SAFETY: the caller's place for the list.
                unsafe { result.write(list) };
            }
            code
        }
        Lookup::Cancelled => libc::EAI_SYSTEM,
        Lookup::InPlace => in_place(),
    }
}

/// The maximum size of a host or service buffer.
const MOST: socklen_t = 1 << 16;

/// The texts of an address, with the code of the call.
#[derive(Clone)]
struct Names {
    code: c_int,
    texts: [Vec<u8>; 2],
}

impl Share for Names {
    fn share(&self) -> Self {
        self.clone()
    }
}

static REVERSE_REQUESTS: PhpCell<Requests<Names>> = PhpCell::new(Requests::new());

/// Forgets all look-ups under way.
pub(super) fn reset(host: &dyn Host) {
    REQUESTS.with(host, Requests::clear);
    REVERSE_REQUESTS.with(host, Requests::clear);
}

fn copy_text(text: &[u8], place: *mut c_char) {
    let length = text.iter().position(|&b| b == 0).map_or(0, |end| end + 1);
    if length > 0 {
        // SAFETY: the caller's place has room for `text.len()` bytes.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), length) };
    }
}

/// Returns the address that is in a socket address of the internet.
fn socket_ip(bytes: &[u8]) -> Option<IpAddr> {
    let part = |from: usize, length: usize| bytes.get(from..from + length);
    match c_int::from(u16::from_ne_bytes(part(0, 2)?.try_into().ok()?)) {
        libc::AF_INET => Some(IpAddr::from(<[u8; 4]>::try_from(part(4, 4)?).ok()?)),
        // Not what libc takes for too short.
        libc::AF_INET6 if bytes.len() >= size_of::<libc::sockaddr_in6>() => {
            Some(IpAddr::from(<[u8; 16]>::try_from(part(8, 16)?).ok()?))
        }
        _ => None,
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
    let has_port = !service.is_null() && service_room > 0;
    // The services of the system may be elsewhere, and so may the domain of this machine.
    let only_host = (!has_port || flags & libc::NI_NUMERICSERV != 0) && flags & libc::NI_NOFQDN == 0;
    // SAFETY: the caller passes that many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length as usize) };
    if only_host && socket_ip(bytes).is_some_and(|address| hosts::has_address(host, address)) {
        return in_place();
    }
    // Aligned as a socket address must be.
    let mut copy = [0u64; 32];
    for (word, part) in copy.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..part.len()].copy_from_slice(part);
        *word = u64::from_ne_bytes(whole);
    }
    let rooms = [node_room.min(MOST), if has_port { service_room.min(MOST) } else { 0 }];
    let numbers = [rooms[0].to_ne_bytes(), rooms[1].to_ne_bytes(), flags.to_ne_bytes()];
    // If the services file is read, the question is not shared with others.
    let question = if only_host { question("getnameinfo", &[Some(bytes), Some(numbers.as_flattened())]) } else { None };
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
        Names { code, texts }
    };
    match look_up_shared(host, &REVERSE_REQUESTS, "getnameinfo", question, job) {
        Lookup::Done(Names { code, texts: [name, port] }) => {
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
