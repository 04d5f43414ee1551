//! Calls that open descriptors.

use super::tracking::{internal, opened};
use crate::host::{fail, php_thread_host};
use libc::{c_char, c_int, c_uint, sigset_t};
use spindle_reactor::{Blocking, FdKind, Opened};

fn mode(nonblocking: bool) -> Option<Blocking> {
    Some(if nonblocking { Blocking::No } else { Blocking::Yes })
}

/// Returns the properties that a call's arguments give to the descriptor it opens.
fn known(kind: FdKind, nonblocking: bool) -> Opened {
    Opened { kind: Some(kind), blocking: mode(nonblocking), timeouts: Some([0, 0]), own: true }
}

fn known_socket(domain: c_int, kind: c_int, protocol: c_int) -> Opened {
    let stream = kind & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) == libc::SOCK_STREAM;
    let internet = matches!(domain, libc::AF_INET | libc::AF_INET6);
    let tcp = internet && stream && matches!(protocol, 0 | libc::IPPROTO_TCP);
    known(if tcp { FdKind::Tcp } else { FdKind::Socket }, kind & libc::SOCK_NONBLOCK != 0)
}

/// Tracks both descriptors that a successful call has written.
///
/// # Safety
/// After a result of 0 `pair` holds two descriptors.
unsafe fn opened_pair(result: c_int, pair: *const c_int, known: Opened) -> c_int {
    if result == 0 {
        for i in 0..2 {
            // SAFETY: two descriptors, by contract.
            opened(unsafe { *pair.add(i) }, known);
        }
    }
    result
}

/// `socket(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: a system call without pointers.
    opened(unsafe { libc::socket(domain, kind, protocol) }, known_socket(domain, kind, protocol))
}

/// `socketpair(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { opened_pair(libc::socketpair(domain, kind, protocol, pair), pair, known_socket(domain, kind, protocol)) }
}

/// `pipe(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn pipe(pair: *mut c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { opened_pair(libc::pipe(pair), pair, known(FdKind::Pipe, false)) }
}

/// `pipe2(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn pipe2(pair: *mut c_int, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { opened_pair(libc::pipe2(pair, flags), pair, known(FdKind::Pipe, flags & libc::O_NONBLOCK != 0)) }
}

/// `dup(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn dup(fd: c_int) -> c_int {
    if internal(fd).is_some() {
        return fail::<i8>(libc::EBADF).into();
    }
    // SAFETY: a system call without pointers.
    duplicated(fd, unsafe { libc::dup(fd) })
}

/// Tracks `new`, a duplicate of `fd`, if it is a descriptor.
pub(super) fn duplicated(fd: c_int, new: c_int) -> c_int {
    if let (Some(host), 0..) = (php_thread_host(), new) {
        host.reactor().duplicated(fd);
    }
    opened(new, Opened::default())
}

/// `eventfd(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn eventfd(count: c_uint, flags: c_int) -> c_int {
    // SAFETY: a system call without pointers.
    opened(unsafe { libc::eventfd(count, flags) }, known(FdKind::Other, flags & libc::EFD_NONBLOCK != 0))
}

/// `epoll_create(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn epoll_create(size: c_int) -> c_int {
    // SAFETY: a system call without pointers.
    opened(unsafe { libc::epoll_create(size) }, known(FdKind::Other, false))
}

/// `epoll_create1(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn epoll_create1(flags: c_int) -> c_int {
    // SAFETY: a system call without pointers.
    opened(unsafe { libc::epoll_create1(flags) }, known(FdKind::Other, false))
}

/// `timerfd_create(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn timerfd_create(clock: c_int, flags: c_int) -> c_int {
    // SAFETY: a system call without pointers.
    opened(unsafe { libc::timerfd_create(clock, flags) }, known(FdKind::Other, flags & libc::TFD_NONBLOCK != 0))
}

/// `signalfd(2)`. Given a descriptor it changes that one.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn signalfd(fd: c_int, mask: *const sigset_t, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    let new = unsafe { libc::signalfd(fd, mask, flags) };
    if fd == -1 { opened(new, known(FdKind::Other, flags & libc::SFD_NONBLOCK != 0)) } else { new }
}

/// `inotify_init(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn inotify_init() -> c_int {
    // SAFETY: a system call without arguments.
    opened(unsafe { libc::inotify_init() }, known(FdKind::Other, false))
}

/// `inotify_init1(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn inotify_init1(flags: c_int) -> c_int {
    // SAFETY: a system call without pointers.
    opened(unsafe { libc::inotify_init1(flags) }, known(FdKind::Other, flags & libc::IN_NONBLOCK != 0))
}

/// `memfd_create(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn memfd_create(name: *const c_char, flags: c_uint) -> c_int {
    // SAFETY: the caller's own arguments.
    opened(unsafe { libc::memfd_create(name, flags) }, known(FdKind::File, false))
}
