//! `gethostbyname` and its relatives: libc's re-entrant forms in the thread pool, into memory that the job owns.
//!
//! The forms with a static result return a static of this module, overwritten by the next call, as libc's is. The forms
//! with a buffer of the caller's get the result copied there, with every pointer into the job's memory adjusted.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::hosts;
use super::lookup::{Lookup, is_numeric, set_h_errno};
use super::shared::{Requests, Share, look_up_shared, question};
use crate::host::{Host, current_host, errno};
use crate::php_cell::PhpCell;
use libc::{c_char, c_int, c_void, hostent, size_t, socklen_t};
use std::ffi::{CStr, CString};
use std::net::IpAddr;

/// `TRY_AGAIN` of `<netdb.h>`.
const TRY_AGAIN: c_int = 2;
/// `NETDB_INTERNAL`: `errno` says what failed.
const INTERNAL: c_int = -1;

unsafe extern "C" {
    #[link_name = "gethostbyname"]
    fn libc_gethostbyname(name: *const c_char) -> *mut hostent;
    #[link_name = "gethostbyname2"]
    fn libc_gethostbyname2(name: *const c_char, family: c_int) -> *mut hostent;
    #[link_name = "gethostbyaddr"]
    fn libc_gethostbyaddr(address: *const c_void, length: socklen_t, family: c_int) -> *mut hostent;
    #[link_name = "gethostbyname_r"]
    fn libc_gethostbyname_r(
        name: *const c_char,
        result: *mut hostent,
        buffer: *mut c_char,
        room: size_t,
        found: *mut *mut hostent,
        error: *mut c_int,
    ) -> c_int;
    #[link_name = "gethostbyname2_r"]
    fn libc_gethostbyname2_r(
        name: *const c_char,
        family: c_int,
        result: *mut hostent,
        buffer: *mut c_char,
        room: size_t,
        found: *mut *mut hostent,
        error: *mut c_int,
    ) -> c_int;
    #[link_name = "gethostbyaddr_r"]
    fn libc_gethostbyaddr_r(
        address: *const c_void,
        length: socklen_t,
        family: c_int,
        result: *mut hostent,
        buffer: *mut c_char,
        room: size_t,
        found: *mut *mut hostent,
        error: *mut c_int,
    ) -> c_int;
}

/// What is looked up.
enum Query {
    /// By the resolver's default family.
    Name(CString),
    NameOf(CString, c_int),
    Address(Vec<u8>, c_int),
}

/// A result and the memory that it points into, from `start` on.
struct Found {
    entry: hostent,
    memory: Vec<u8>,
    start: usize,
    code: c_int,
    found: bool,
    error: c_int,
}
// SAFETY: the pointers are into `memory`, which goes with them.
unsafe impl Send for Found {}

impl Share for Found {
    fn share(&self) -> Self {
        let room = self.memory.len() - SLACK;
        let from = &self.memory[self.start..self.start + room];
        let (mut memory, start) = aligned(room, from.as_ptr().addr() % 16);
        memory[start..start + room].copy_from_slice(from);
        let by = memory[start..].as_ptr().addr().wrapping_sub(from.as_ptr().addr());
        let entry = if self.found {
            // SAFETY: a copy of all that the entry points to is in `memory`.
            unsafe { moved(self.entry, by) }
        } else {
            self.entry
        };
        Found { entry, memory, start, ..*self }
    }
}

static REQUESTS: PhpCell<Requests<Found>> = PhpCell::new(Requests::new());

/// Forgets all look-ups under way.
pub(super) fn reset(host: &dyn Host) {
    REQUESTS.with(host, Requests::clear);
}

/// How much larger memory is than the room in it.
const SLACK: usize = 32;

/// Returns memory, and where in it `room` bytes begin at an address that is `skew` above a multiple of 16.
fn aligned(room: usize, skew: usize) -> (Vec<u8>, usize) {
    let memory = vec![0u8; room + SLACK];
    let start = (skew + 16 - memory.as_ptr().addr() % 16) % 16;
    (memory, start)
}

impl Query {
    /// Looks it up, with `room` bytes at an address that is `skew` above a multiple of 16: libc aligns within the
    /// buffer by address, and the result may be copied to another buffer.
    fn run(&self, room: usize, skew: usize) -> Found {
        let (mut memory, start) = aligned(room, skew);
        // SAFETY: a zeroed `hostent` is one with null pointers.
        let mut entry: hostent = unsafe { std::mem::zeroed() };
        let (mut found, mut error) = (std::ptr::null_mut(), 0);
        let buffer = memory[start..].as_mut_ptr().cast::<c_char>();
        // SAFETY: arguments of our own; the buffer has `room` bytes from `start` on.
        let code = unsafe {
            match self {
                Query::Name(name) => {
                    libc_gethostbyname_r(name.as_ptr(), &mut entry, buffer, room, &mut found, &mut error)
                }
                Query::NameOf(name, family) => {
                    libc_gethostbyname2_r(name.as_ptr(), *family, &mut entry, buffer, room, &mut found, &mut error)
                }
                Query::Address(address, family) => libc_gethostbyaddr_r(
                    address.as_ptr().cast(),
                    address.len() as socklen_t,
                    *family,
                    &mut entry,
                    buffer,
                    room,
                    &mut found,
                    &mut error,
                ),
            }
        };
        Found { entry, memory, start, code, found: !found.is_null(), error }
    }

    /// Looks it up in the thread pool, with `room` bytes, or as many as it needs.
    fn look_up(self, host: &dyn Host, call: &'static str, room: Option<usize>, skew: usize) -> Lookup<Found> {
        let (text, family) = match &self {
            Query::Name(name) => (name.to_bytes(), 0),
            Query::NameOf(name, family) => (name.to_bytes(), *family),
            Query::Address(address, family) => (&address[..], *family),
        };
        let numbers = [room.unwrap_or(usize::MAX), skew, family as usize].map(usize::to_ne_bytes);
        let question = question(call, &[Some(text), Some(numbers.as_flattened())]);
        let job = move || match room {
            Some(room) => self.run(room, skew),
            None => self.run_with_room(),
        };
        look_up_shared(host, &REQUESTS, call, question, job)
    }

    /// Looks it up with as much room as it needs.
    fn run_with_room(&self) -> Found {
        let mut room = 1024;
        loop {
            let found = self.run(room, 0);
            if found.code != libc::ERANGE || room >= 1 << 20 {
                return found;
            }
            room *= 2;
        }
    }
}

/// The result of the forms without a buffer.
static RESULT: PhpCell<Option<Box<Found>>> = PhpCell::new(None);

fn look_up_static(
    host: &dyn Host,
    call: &'static str,
    query: Query,
    in_place: impl FnOnce() -> *mut hostent,
) -> *mut hostent {
    match query.look_up(host, call, None, 0) {
        Lookup::Done(found) => {
            set_h_errno(found.error);
            if !found.found {
                return std::ptr::null_mut();
            }
            let mut result = Box::new(found);
            let entry = &raw mut result.entry;
            RESULT.with(host, |kept| *kept = Some(result));
            entry
        }
        Lookup::Cancelled => {
            set_h_errno(TRY_AGAIN);
            std::ptr::null_mut()
        }
        Lookup::InPlace => in_place(),
    }
}

/// Where a look-up with a buffer of the caller's writes its result.
struct ResultBuffers {
    result: *mut hostent,
    buffer: *mut c_char,
    room: size_t,
    found: *mut *mut hostent,
    error: *mut c_int,
}

fn look_up_into(
    host: &dyn Host,
    call: &'static str,
    query: Query,
    place: ResultBuffers,
    in_place: impl FnOnce() -> c_int,
) -> c_int {
    let (room, skew) = (place.room, place.buffer.addr() % 16);
    let looked = query.look_up(host, call, Some(room), skew);
    // SAFETY: the caller's places for the result; its buffer has `room` bytes.
    unsafe {
        match looked {
            Lookup::Done(found) => {
                place.error.write(found.error);
                place.found.write(std::ptr::null_mut());
                if found.found {
                    let memory = &found.memory[found.start..found.start + room];
                    std::ptr::copy_nonoverlapping(memory.as_ptr(), place.buffer.cast(), room);
                    let by = place.buffer.addr().wrapping_sub(memory.as_ptr().addr());
                    place.result.write(moved(found.entry, by));
                    place.found.write(place.result);
                }
                found.code
            }
            Lookup::Cancelled => {
                place.error.write(INTERNAL);
                place.found.write(std::ptr::null_mut());
                errno()
            }
            Lookup::InPlace => in_place(),
        }
    }
}

/// Returns the entry with all its pointers moved by `by` bytes, to a copy of what they point to.
///
/// # Safety
/// The copy must be complete, and all pointers of the entry and of its lists must be into the original.
unsafe fn moved(entry: hostent, by: usize) -> hostent {
    unsafe fn list(at: *mut *mut c_char, by: usize) -> *mut *mut c_char {
        if at.is_null() {
            return at;
        }
        let start = at.wrapping_byte_add(by);
        let mut each = start;
        // SAFETY: the copied list ends with null.
        unsafe {
            while !(*each).is_null() {
                *each = (*each).wrapping_byte_add(by);
                each = each.add(1);
            }
        }
        start
    }
    // SAFETY: the caller vouches for both lists.
    let (aliases, addresses) = unsafe { (list(entry.h_aliases, by), list(entry.h_addr_list, by)) };
    hostent { h_name: entry.h_name.wrapping_byte_add(by), h_aliases: aliases, h_addr_list: addresses, ..entry }
}

/// Returns the host and a copy of the name, unless suspension is disabled, or the name is numeric or in `/etc/hosts`.
fn host_and_name(name: *const c_char, family: c_int) -> Option<(&'static dyn Host, CString)> {
    let host = current_host().filter(|_| !name.is_null())?;
    // SAFETY: the caller passes a C string.
    let name = unsafe { CStr::from_ptr(name) };
    (!is_numeric(name) && !hosts::has(host, name, family, 0)).then(|| (host, name.to_owned()))
}

/// Returns the host and a copy of the address, unless suspension is disabled, or the address is in `/etc/hosts`.
fn host_and_address(address: *const c_void, length: socklen_t, family: c_int) -> Option<(&'static dyn Host, Vec<u8>)> {
    let host = current_host().filter(|_| !address.is_null() && length <= 256)?;
    // SAFETY: the caller passes that many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length as usize) };
    let ip = match family {
        libc::AF_INET => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        libc::AF_INET6 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    };
    (!ip.is_some_and(|ip| hosts::has_address(host, ip))).then(|| (host, bytes.to_vec()))
}

/// `gethostbyname(3)`. Cancelled: `TRY_AGAIN`, `errno` is `ECANCELED`.
pub unsafe extern "C" fn gethostbyname(name: *const c_char) -> *mut hostent {
    // SAFETY: the caller's own argument.
    let in_place = || unsafe { libc_gethostbyname(name) };
    match host_and_name(name, libc::AF_INET) {
        Some((host, name)) => look_up_static(host, "gethostbyname", Query::Name(name), in_place),
        None => in_place(),
    }
}

/// `gethostbyname2(3)`.
pub unsafe extern "C" fn gethostbyname2(name: *const c_char, family: c_int) -> *mut hostent {
    // SAFETY: the caller's own arguments.
    let in_place = || unsafe { libc_gethostbyname2(name, family) };
    match host_and_name(name, family) {
        Some((host, name)) => look_up_static(host, "gethostbyname2", Query::NameOf(name, family), in_place),
        None => in_place(),
    }
}

/// `gethostbyaddr(3)`.
pub unsafe extern "C" fn gethostbyaddr(address: *const c_void, length: socklen_t, family: c_int) -> *mut hostent {
    // SAFETY: the caller's own arguments.
    let in_place = || unsafe { libc_gethostbyaddr(address, length, family) };
    match host_and_address(address, length, family) {
        Some((host, bytes)) => look_up_static(host, "gethostbyaddr", Query::Address(bytes, family), in_place),
        None => in_place(),
    }
}

/// `gethostbyname_r(3)`. Cancelled: `ECANCELED`.
pub unsafe extern "C" fn gethostbyname_r(
    name: *const c_char,
    result: *mut hostent,
    buffer: *mut c_char,
    room: size_t,
    found: *mut *mut hostent,
    error: *mut c_int,
) -> c_int {
    // SAFETY: the caller's own arguments.
    let in_place = || unsafe { libc_gethostbyname_r(name, result, buffer, room, found, error) };
    let place = ResultBuffers { result, buffer, room, found, error };
    match host_and_name(name, libc::AF_INET) {
        Some((host, name)) => look_up_into(host, "gethostbyname_r", Query::Name(name), place, in_place),
        None => in_place(),
    }
}

/// `gethostbyname2_r(3)`.
pub unsafe extern "C" fn gethostbyname2_r(
    name: *const c_char,
    family: c_int,
    result: *mut hostent,
    buffer: *mut c_char,
    room: size_t,
    found: *mut *mut hostent,
    error: *mut c_int,
) -> c_int {
    // SAFETY: the caller's own arguments.
    let in_place = || unsafe { libc_gethostbyname2_r(name, family, result, buffer, room, found, error) };
    let place = ResultBuffers { result, buffer, room, found, error };
    match host_and_name(name, family) {
        Some((host, name)) => look_up_into(host, "gethostbyname2_r", Query::NameOf(name, family), place, in_place),
        None => in_place(),
    }
}

/// `gethostbyaddr_r(3)`.
pub unsafe extern "C" fn gethostbyaddr_r(
    address: *const c_void,
    length: socklen_t,
    family: c_int,
    result: *mut hostent,
    buffer: *mut c_char,
    room: size_t,
    found: *mut *mut hostent,
    error: *mut c_int,
) -> c_int {
    // SAFETY: the caller's own arguments.
    let in_place = || unsafe { libc_gethostbyaddr_r(address, length, family, result, buffer, room, found, error) };
    let place = ResultBuffers { result, buffer, room, found, error };
    match host_and_address(address, length, family) {
        Some((host, bytes)) => look_up_into(host, "gethostbyaddr_r", Query::Address(bytes, family), place, in_place),
        None => in_place(),
    }
}
