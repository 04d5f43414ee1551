//! Users and groups: `getpw*`, `getgr*`, `getgrouplist`, `initgroups`, by libc's re-entrant forms in the thread pool,
//! into memory that the job owns. (A name service may ask another machine.)
//!
//! As with hosts (`hostent`), the forms with a static result return a static of this module, and those with a buffer of
//! the caller's get a copy with adjusted pointers. A cancellation abandons the job, and the call fails with
//! `ECANCELED`. `getpwent` and `getgrent`, which enumerate, are not hooked.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::lookup::{Lookup, look_up};
use crate::host::{current_host, errno, set_errno};
use crate::php_cell::PhpCell;
use libc::{c_char, c_int, gid_t, group, passwd, size_t, uid_t};
use std::ffi::{CStr, CString};
use std::ops::Range;

/// What is looked up.
enum Query {
    Name(CString),
    Number(u32),
}

/// `passwd` or `group`.
trait Record: Copy + 'static {
    /// Calls libc's re-entrant look-up.
    ///
    /// # Safety
    /// `buffer` has `room` bytes.
    unsafe fn find(query: &Query, to: *mut Self, buffer: *mut c_char, room: size_t, found: *mut *mut Self) -> c_int;

    /// Returns the record with each pointer into `memory` moved by `by` bytes. Others point to constants of libc.
    ///
    /// # Safety
    /// What `memory` held has been copied to where its pointers lead then.
    unsafe fn moved(self, memory: Range<usize>, by: usize) -> Self;
}

fn shifted<T>(pointer: *mut T, memory: &Range<usize>, by: usize) -> *mut T {
    if memory.contains(&pointer.addr()) { pointer.wrapping_byte_add(by) } else { pointer }
}

impl Record for passwd {
    unsafe fn find(query: &Query, to: *mut Self, buffer: *mut c_char, room: size_t, found: *mut *mut Self) -> c_int {
        // SAFETY: by contract; the name is a C string.
        unsafe {
            match query {
                Query::Name(name) => libc::getpwnam_r(name.as_ptr(), to, buffer, room, found),
                Query::Number(number) => libc::getpwuid_r(*number, to, buffer, room, found),
            }
        }
    }

    unsafe fn moved(self, memory: Range<usize>, by: usize) -> Self {
        let text = |text| shifted(text, &memory, by);
        passwd {
            pw_name: text(self.pw_name),
            pw_passwd: text(self.pw_passwd),
            pw_gecos: text(self.pw_gecos),
            pw_dir: text(self.pw_dir),
            pw_shell: text(self.pw_shell),
            ..self
        }
    }
}

impl Record for group {
    unsafe fn find(query: &Query, to: *mut Self, buffer: *mut c_char, room: size_t, found: *mut *mut Self) -> c_int {
        // SAFETY: by contract; the name is a C string.
        unsafe {
            match query {
                Query::Name(name) => libc::getgrnam_r(name.as_ptr(), to, buffer, room, found),
                Query::Number(number) => libc::getgrgid_r(*number, to, buffer, room, found),
            }
        }
    }

    unsafe fn moved(self, memory: Range<usize>, by: usize) -> Self {
        let members = shifted(self.gr_mem, &memory, by);
        if members != self.gr_mem {
            let mut each = members;
            // SAFETY: the list, which ends with null, has been copied there.
            unsafe {
                while !(*each).is_null() {
                    *each = shifted(*each, &memory, by);
                    each = each.add(1);
                }
            }
        }
        group {
            gr_name: shifted(self.gr_name, &memory, by),
            gr_passwd: shifted(self.gr_passwd, &memory, by),
            gr_mem: members,
            ..self
        }
    }
}

/// A result and the memory that it points into, from `start` on.
struct Found<R> {
    entry: R,
    memory: Vec<u8>,
    start: usize,
    code: c_int,
    found: bool,
    /// What libc leaves there, also when the look-up succeeds.
    errno: c_int,
}
// SAFETY: the pointers are into `memory`, which goes with them, or to libc's constant texts.
unsafe impl<R> Send for Found<R> {}

/// Looks it up, with `room` bytes at an address that is `skew` above a multiple of 16: libc aligns within the buffer by
/// address, and the result may be copied to another buffer.
fn find<R: Record>(query: &Query, room: usize, skew: usize, before: c_int) -> Found<R> {
    let mut memory = vec![0u8; room + 32];
    let start = (skew + 16 - memory.as_ptr().addr() % 16) % 16;
    let mut found = std::ptr::null_mut();
    // SAFETY: a zeroed record is one with null pointers; the buffer has `room` bytes from `start` on.
    unsafe {
        let mut entry: R = std::mem::zeroed();
        set_errno(before);
        let code = R::find(query, &mut entry, memory[start..].as_mut_ptr().cast(), room, &mut found);
        Found { entry, memory, start, code, found: !found.is_null(), errno: errno() }
    }
}

/// Looks it up with as much room as it needs.
fn find_with_room<R: Record>(query: &Query, before: c_int) -> Found<R> {
    let mut room = 1024;
    loop {
        let found = find(query, room, 0, before);
        if found.code != libc::ERANGE || room >= 1 << 24 {
            return found;
        }
        room *= 2;
    }
}

type Kept<R> = PhpCell<Option<Box<Found<R>>>>;

static USER: Kept<passwd> = PhpCell::new(None);
static GROUP: Kept<group> = PhpCell::new(None);

/// Looks up into static memory. Returns `None` if the call is to be made in place.
fn look_up_static<R: Record>(call: &'static str, query: Option<Query>, kept: &Kept<R>) -> Option<*mut R> {
    let (host, query) = (current_host()?, query?);
    let before = errno();
    match look_up(host, call, move || find_with_room::<R>(&query, before), |_| ()) {
        Lookup::Done(found) => {
            set_errno(found.errno);
            if !found.found {
                return Some(std::ptr::null_mut());
            }
            let mut result = Box::new(found);
            let entry = &raw mut result.entry;
            kept.with(host, |kept| *kept = Some(result));
            Some(entry)
        }
        Lookup::Cancelled => Some(std::ptr::null_mut()),
        Lookup::InPlace => None,
    }
}

/// Where a look-up with a buffer of the caller's writes its result.
struct ResultBuffers<R> {
    to: *mut R,
    buffer: *mut c_char,
    room: size_t,
    found: *mut *mut R,
}

/// Looks up into the caller's memory. Returns `None` if the call is to be made in place.
///
/// # Safety
/// The places are as libc wants them.
unsafe fn look_up_into<R: Record>(call: &'static str, query: Option<Query>, place: ResultBuffers<R>) -> Option<c_int> {
    let (host, query) = (current_host()?, query?);
    let (room, skew) = (place.room, place.buffer.addr() % 16);
    let before = errno();
    let looked = look_up(host, call, move || find::<R>(&query, room, skew, before), |_| ());
    // SAFETY: the caller's places for the result; its buffer has `room` bytes.
    unsafe {
        match looked {
            Lookup::Done(found) => {
                place.found.write(std::ptr::null_mut());
                if found.found {
                    let memory = &found.memory[found.start..found.start + room];
                    std::ptr::copy_nonoverlapping(memory.as_ptr(), place.buffer.cast(), room);
                    let from = memory.as_ptr().addr();
                    let by = place.buffer.addr().wrapping_sub(from);
                    place.to.write(found.entry.moved(from..from + room, by));
                    place.found.write(place.to);
                }
                set_errno(found.errno);
                Some(found.code)
            }
            Lookup::Cancelled => {
                place.found.write(std::ptr::null_mut());
                Some(errno())
            }
            Lookup::InPlace => None,
        }
    }
}

/// # Safety
/// `name` is null or a C string.
unsafe fn named(name: *const c_char) -> Option<Query> {
    // SAFETY: by contract.
    (!name.is_null()).then(|| Query::Name(unsafe { CStr::from_ptr(name) }.to_owned()))
}

/// `getpwnam(3)`.
pub unsafe extern "C" fn getpwnam(name: *const c_char) -> *mut passwd {
    // SAFETY: the caller's own argument.
    unsafe { look_up_static("getpwnam", named(name), &USER).unwrap_or_else(|| libc::getpwnam(name)) }
}

/// `getpwuid(3)`.
pub unsafe extern "C" fn getpwuid(user: uid_t) -> *mut passwd {
    let found = look_up_static("getpwuid", Some(Query::Number(user)), &USER);
    // SAFETY: a number.
    found.unwrap_or_else(|| unsafe { libc::getpwuid(user) })
}

/// `getgrnam(3)`.
pub unsafe extern "C" fn getgrnam(name: *const c_char) -> *mut group {
    // SAFETY: the caller's own argument.
    unsafe { look_up_static("getgrnam", named(name), &GROUP).unwrap_or_else(|| libc::getgrnam(name)) }
}

/// `getgrgid(3)`.
pub unsafe extern "C" fn getgrgid(number: gid_t) -> *mut group {
    let found = look_up_static("getgrgid", Some(Query::Number(number)), &GROUP);
    // SAFETY: a number.
    found.unwrap_or_else(|| unsafe { libc::getgrgid(number) })
}

/// `getpwnam_r(3)`.
pub unsafe extern "C" fn getpwnam_r(
    name: *const c_char,
    to: *mut passwd,
    buffer: *mut c_char,
    room: size_t,
    found: *mut *mut passwd,
) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe {
        look_up_into("getpwnam_r", named(name), ResultBuffers { to, buffer, room, found })
            .unwrap_or_else(|| libc::getpwnam_r(name, to, buffer, room, found))
    }
}

/// `getpwuid_r(3)`.
pub unsafe extern "C" fn getpwuid_r(
    user: uid_t,
    to: *mut passwd,
    buffer: *mut c_char,
    room: size_t,
    found: *mut *mut passwd,
) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe {
        look_up_into("getpwuid_r", Some(Query::Number(user)), ResultBuffers { to, buffer, room, found })
            .unwrap_or_else(|| libc::getpwuid_r(user, to, buffer, room, found))
    }
}

/// `getgrnam_r(3)`.
pub unsafe extern "C" fn getgrnam_r(
    name: *const c_char,
    to: *mut group,
    buffer: *mut c_char,
    room: size_t,
    found: *mut *mut group,
) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe {
        look_up_into("getgrnam_r", named(name), ResultBuffers { to, buffer, room, found })
            .unwrap_or_else(|| libc::getgrnam_r(name, to, buffer, room, found))
    }
}

/// `getgrgid_r(3)`.
pub unsafe extern "C" fn getgrgid_r(
    number: gid_t,
    to: *mut group,
    buffer: *mut c_char,
    room: size_t,
    found: *mut *mut group,
) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe {
        look_up_into("getgrgid_r", Some(Query::Number(number)), ResultBuffers { to, buffer, room, found })
            .unwrap_or_else(|| libc::getgrgid_r(number, to, buffer, room, found))
    }
}

/// Returns the groups of a user, at most `room` of them, and how many there are. A look-up that fails leaves `group`
/// unchanged.
fn groups_of(user: &CStr, group: gid_t, room: c_int) -> (c_int, c_int, Vec<gid_t>) {
    let mut list = vec![0; room.max(0) as usize];
    let mut count = room;
    // SAFETY: a name and places of the job's; `count` says how many the list has room for.
    let result = unsafe { libc::getgrouplist(user.as_ptr(), group, list.as_mut_ptr(), &mut count) };
    (result, count, list)
}

/// The maximum number of groups that the kernel accepts.
const MOST: c_int = 1 << 16;

/// `getgrouplist(3)`. Cancelled: -1, with a count of 0.
pub unsafe extern "C" fn getgrouplist(user: *const c_char, group: gid_t, to: *mut gid_t, count: *mut c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    let in_place = || unsafe { libc::getgrouplist(user, group, to, count) };
    let Some(host) = current_host().filter(|_| !user.is_null()) else { return in_place() };
    // SAFETY: the caller's own.
    let (name, room) = unsafe { (CStr::from_ptr(user).to_owned(), (*count).clamp(0, MOST)) };
    match look_up(host, "getgrouplist", move || groups_of(&name, group, room), |_| ()) {
        Lookup::Done((result, found, list)) => {
            // SAFETY: the caller's list has room for as many.
            unsafe {
                std::ptr::copy_nonoverlapping(list.as_ptr(), to, found.clamp(0, room) as usize);
                count.write(found);
            }
            result
        }
        Lookup::Cancelled => {
            // SAFETY: the caller's own place.
            unsafe { count.write(0) };
            -1
        }
        Lookup::InPlace => in_place(),
    }
}

fn all_groups_of(user: &CStr, group: gid_t) -> Vec<gid_t> {
    let mut room = 64;
    loop {
        let (result, count, mut list) = groups_of(user, group, room);
        if result >= 0 || room >= MOST {
            list.truncate(count.clamp(0, room) as usize);
            return list;
        }
        room = count.max(room * 2).min(MOST);
    }
}

/// `initgroups(3)`. The groups are looked up in the thread pool and set here, for all threads of the process.
pub unsafe extern "C" fn initgroups(user: *const c_char, group: gid_t) -> c_int {
    // SAFETY: the caller's own arguments.
    let in_place = || unsafe { libc::initgroups(user, group) };
    let Some(host) = current_host().filter(|_| !user.is_null()) else { return in_place() };
    // SAFETY: the caller's own.
    let name = unsafe { CStr::from_ptr(user) }.to_owned();
    match look_up(host, "initgroups", move || all_groups_of(&name, group), |_| ()) {
        // SAFETY: a list of ours.
        Lookup::Done(list) => unsafe { libc::setgroups(list.len(), list.as_ptr()) },
        Lookup::Cancelled => -1,
        Lookup::InPlace => in_place(),
    }
}
