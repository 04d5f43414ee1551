//! `read` and `write` and their relatives, for every kind of descriptor.
//!
//! | kind | blocking mode | otherwise |
//! |---|---|---|
//! | socket | as `recvmsg`, `sendmsg` | the plain call |
//! | pipe | tried with `RWF_NOWAIT`; where pipes do not support it (before Linux 6.4), polled first, and written by at
//! most `PIPE_BUF` | the plain call |
//! | file | `file::transfer` | the same |
//! | other (terminals, eventfds, `/dev/null`) | polled first, then in place | the plain call |
//!
//! A read that did not have to wait yields if the time slice is used up. Such a write never yields: writes are made
//! inside `echo` and error logging, where a switch would surprise.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::hooks::file::transfer as file_io;
use crate::hooks::file::vectored::{HERE, Io};
use crate::hooks::net;
use crate::host::{Host, OnSignal, current_host, errno, fail, set_errno};
use crate::php_cell::PhpCell;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait;
use crate::wait::turns::{self, Turn};
use libc::{c_int, c_void, iovec, off_t, size_t, ssize_t};
use spindle_reactor::{Blocking, FdKind, Interest, Readiness, syscalls};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const READ: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "sockets as recv; pipes and terminals park until readable; files: cached data at once, else in the thread pool, until the read has ended",
        on_cancel: on_cancel::FAILS,
    };
    const WRITE: Behavior = Behavior {
        wait: WaitKind::Readiness,
        summary: "sockets as send; pipes park until everything is written; files in place, or in the thread pool where they are slow",
        on_cancel: on_cancel::PARTIAL,
    };
    const PREAD: Behavior = Behavior {
        wait: WaitKind::Worker,
        summary: "cached data at once, else in the thread pool",
        on_cancel: on_cancel::NONE,
    };
    const PWRITE: Behavior = Behavior {
        wait: WaitKind::Worker,
        summary: "in place, or in the thread pool where the file is slow",
        on_cancel: on_cancel::NONE,
    };
    hooked_calls![
        c"read" => read, READ;
        c"__read" => read, READ;
        c"write" => write, WRITE;
        c"__write" => write, WRITE;
        c"readv" => readv, READ;
        c"writev" => writev, WRITE;
        c"pread" => pread, PREAD;
        c"pread64" => pread, PREAD;
        c"__pread64" => pread, PREAD;
        c"pwrite" => pwrite, PWRITE;
        c"pwrite64" => pwrite, PWRITE;
        c"__pwrite64" => pwrite, PWRITE;
        c"preadv" => preadv, PREAD;
        c"preadv64" => preadv, PREAD;
        c"pwritev" => pwritev, PWRITE;
        c"pwritev64" => pwritev, PWRITE;
        #[cfg(target_env = "gnu")]
        c"__read_chk" => read_chk, READ;
        #[cfg(target_env = "gnu")]
        c"__pread_chk" => pread_chk, PREAD;
        #[cfg(target_env = "gnu")]
        c"__pread64_chk" => pread_chk, PREAD;
    ]
}

// `off_t` has 64 bits on the supported processors, so one hook serves both names.
const _: () = assert!(size_of::<off_t>() == 8);

/// Whether this kernel supports `RWF_NOWAIT` for pipes.
static PIPES_NOWAIT: PhpCell<bool> = PhpCell::new(true);

fn plain_read(io: &Io) -> ssize_t {
    // SAFETY: the caller's own list; the kernel checks it.
    unsafe { libc::readv(io.fd, io.iov, io.count) }
}

fn plain_write(io: &Io) -> ssize_t {
    // SAFETY: as above.
    unsafe { libc::writev(io.fd, io.iov, io.count) }
}

/// Returns `true` if it is ready. Errors count as ready: the call itself reports them.
fn ready(fd: c_int, events: i16) -> bool {
    wait::poll_now(fd, events) != Some(0)
}

/// Returns `true` if it is open in this direction. If it is not, the call fails immediately, and polling would wait
/// forever.
fn is_open_for(fd: c_int, interest: Interest) -> bool {
    // SAFETY: a system call without pointers.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    let other = if interest == Interest::READ { libc::O_WRONLY } else { libc::O_RDONLY };
    flags >= 0 && flags & libc::O_ACCMODE != other
}

fn wait_for(host: &dyn Host, io: &Io, interest: Interest) -> Result<(), c_int> {
    wait::for_fd(host, io.fd, interest, None, io.call, OnSignal::Restart)?.check(libc::EAGAIN)
}

/// Records the readiness that a call has shown.
fn record(host: &dyn Host, fd: c_int, interest: Interest, result: ssize_t) {
    let empty = result < 0 && errno() == libc::EAGAIN;
    host.reactor().record_readiness(fd, interest, if empty { Readiness::NotReady } else { Readiness::Unknown });
}

fn read_in_coroutine(host: &dyn Host, io: Io) -> ssize_t {
    let saved = errno();
    let result = match host.reactor().kind(io.fd) {
        FdKind::File => file_io::read(host, io),
        FdKind::Tcp | FdKind::Socket => socket_read(&io),
        kind if kind == FdKind::Closed || host.reactor().blocking(io.fd) == Blocking::No => {
            let result = plain_read(&io);
            if kind != FdKind::Closed {
                record(host, io.fd, Interest::READ, result);
                host.made_without_waiting(io.fd, result >= 0);
            }
            result
        }
        FdKind::Pipe => pipe_read(host, io),
        _ => other_read(host, io),
    };
    if result >= 0 {
        set_errno(saved);
    }
    result
}

/// Yields after a read that did not have to wait.
fn after_read(host: &dyn Host, result: ssize_t) -> ssize_t {
    if result >= 0 {
        host.yield_if_due();
    }
    result
}

fn message(io: &Io) -> libc::msghdr {
    // SAFETY: a zeroed `msghdr` is an empty one.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = io.iov.cast_mut();
    message.msg_iovlen = io.count as _; // an int in musl
    message
}

fn socket_read(io: &Io) -> ssize_t {
    if io.own {
        // SAFETY: the list is ours, what it names is the caller's.
        return unsafe { net::recv(io.fd, (*io.iov).iov_base, (*io.iov).iov_len, 0) };
    }
    // SAFETY: the caller's own list in a message of ours.
    unsafe { net::recvmsg(io.fd, &mut message(io), 0) }
}

fn socket_write(io: &Io) -> ssize_t {
    if io.own {
        // SAFETY: the list is ours, what it names is the caller's.
        return unsafe { net::send(io.fd, (*io.iov).iov_base, (*io.iov).iov_len, 0) };
    }
    // SAFETY: the caller's own list in a message of ours.
    unsafe { net::sendmsg(io.fd, &message(io), 0) }
}

fn pipe_read(host: &dyn Host, io: Io) -> ssize_t {
    let mut waited = false;
    let mut empty = host.reactor().readiness(io.fd, Interest::READ).0 == Readiness::NotReady;
    loop {
        if !empty {
            if !PIPES_NOWAIT.with(host, |yes| *yes) {
                return other_read(host, io);
            }
            // SAFETY: the caller's own list; the kernel checks it.
            let result = unsafe { syscalls::preadv2(io.fd, io.iov, io.count, HERE, libc::RWF_NOWAIT) };
            if result < 0 && matches!(errno(), libc::EOPNOTSUPP | libc::ENOSYS) {
                PIPES_NOWAIT.with(host, |yes| *yes = false);
                continue;
            }
            if result >= 0 || errno() != libc::EAGAIN {
                host.reactor().record_readiness(io.fd, Interest::READ, Readiness::Unknown);
                return if waited { result } else { after_read(host, result) };
            }
            wait::record_not_ready(host, io.fd, Interest::READ);
        }
        match wait_for(host, &io, Interest::READ) {
            Ok(()) => (waited, empty) = (true, false),
            Err(error) => return fail(error),
        }
    }
}

fn other_read(host: &dyn Host, io: Io) -> ssize_t {
    let mut waited = false;
    while !ready(io.fd, libc::POLLIN) && is_open_for(io.fd, Interest::READ) {
        match wait_for(host, &io, Interest::READ) {
            Ok(()) => waited = true,
            Err(error) => return fail(error),
        }
    }
    let result = plain_read(&io);
    host.reactor().record_readiness(io.fd, Interest::READ, Readiness::Unknown);
    if waited { result } else { after_read(host, result) }
}

fn write_in_coroutine(host: &dyn Host, io: Io) -> ssize_t {
    let saved = errno();
    let result = match host.reactor().kind(io.fd) {
        FdKind::File => file_io::write(host, io),
        FdKind::Tcp | FdKind::Socket => socket_write(&io),
        FdKind::Closed => plain_write(&io),
        _ if host.reactor().blocking(io.fd) == Blocking::No => {
            let result = plain_write(&io);
            record(host, io.fd, Interest::WRITE, result);
            result
        }
        FdKind::Pipe => pipe_write(host, io),
        _ => other_write(host, io),
    };
    if result >= 0 {
        set_errno(saved);
    }
    result
}

/// Writes everything, as a blocking call does, and in one turn. A later error or the end of the wait leaves the count so far.
fn pipe_write(host: &dyn Host, io: Io) -> ssize_t {
    let mut turn = match turns::enter(host, io.fd, io.call) {
        Ok(turn) => turn,
        Err(error) => return fail::<i8>(error).into(),
    };
    let result = pipe_write_in_turn(host, io, &mut turn);
    turns::leave(host, turn);
    result
}

fn pipe_write_in_turn(host: &dyn Host, io: Io, turn: &mut Turn) -> ssize_t {
    let mut done = 0;
    loop {
        // The kernel must have accepted the caller's list before it is read here.
        if io.own && !PIPES_NOWAIT.with(host, |yes| *yes) {
            return polled_pipe_write(host, io, turn, done);
        }
        // SAFETY: the caller's list or a window of it; the kernel checks it.
        let call = |iov, count| unsafe { syscalls::pwritev2(io.fd, iov, count, HERE, libc::RWF_NOWAIT) };
        let result = if done == 0 { call(io.iov, io.count) } else { io.rest(done, usize::MAX, call) };
        host.reactor().record_readiness(io.fd, Interest::WRITE, Readiness::Unknown);
        if result >= 0 {
            done += result as usize;
            if done >= io.total() {
                return done as ssize_t;
            }
            continue;
        }
        match errno() {
            libc::EAGAIN => wait::record_not_ready(host, io.fd, Interest::WRITE),
            libc::EOPNOTSUPP | libc::ENOSYS => {
                PIPES_NOWAIT.with(host, |yes| *yes = false);
                return polled_pipe_write(host, io, turn, done);
            }
            _ if done > 0 => return done as ssize_t,
            _ => return -1,
        }
        turns::take(host, turn, io.fd);
        match wait_for(host, &io, Interest::WRITE) {
            Ok(()) => {}
            _ if done > 0 => return done as ssize_t,
            Err(error) => return fail(error),
        }
    }
}

/// Writes to a polled pipe. `POLLOUT` holds when one page is free: one page is written without waiting, unless another
/// process is faster.
fn polled_pipe_write(host: &dyn Host, io: Io, turn: &mut Turn, mut done: usize) -> ssize_t {
    loop {
        if !ready(io.fd, libc::POLLOUT) && is_open_for(io.fd, Interest::WRITE) {
            turns::take(host, turn, io.fd);
            match wait_for(host, &io, Interest::WRITE) {
                Ok(()) => continue,
                _ if done > 0 => return done as ssize_t,
                Err(error) => return fail(error),
            }
        }
        let result = if done == 0 && io.total() <= libc::PIPE_BUF {
            plain_write(&io) // in one piece, as it must be
        } else {
            // SAFETY: a window of the caller's list; the kernel checks the memory.
            io.rest(done, libc::PIPE_BUF, |iov, count| unsafe { libc::writev(io.fd, iov, count) })
        };
        host.reactor().record_readiness(io.fd, Interest::WRITE, Readiness::Unknown);
        if result < 0 {
            return if done > 0 { done as ssize_t } else { -1 };
        }
        done += result as usize;
        if done >= io.total() {
            return done as ssize_t;
        }
    }
}

fn other_write(host: &dyn Host, io: Io) -> ssize_t {
    while !ready(io.fd, libc::POLLOUT) && is_open_for(io.fd, Interest::WRITE) {
        match wait_for(host, &io, Interest::WRITE) {
            Ok(()) => {}
            Err(error) => return fail(error),
        }
    }
    let result = plain_write(&io);
    host.reactor().record_readiness(io.fd, Interest::WRITE, Readiness::Unknown);
    result
}

/// `read(2)`.
pub unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, size: size_t) -> ssize_t {
    match current_host() {
        Some(host) if size > 0 && host.reactor().take_end(fd) => 0,
        Some(host) if size > 0 => {
            let iov = iovec { iov_base: buffer, iov_len: size };
            read_in_coroutine(host, Io { fd, iov: &iov, count: 1, own: true, offset: HERE, call: "read" })
        }
        // SAFETY: the caller's own arguments.
        _ => unsafe { libc::read(fd, buffer, size) },
    }
}

/// `write(2)`.
pub unsafe extern "C" fn write(fd: c_int, buffer: *const c_void, size: size_t) -> ssize_t {
    match current_host() {
        Some(host) if size > 0 => {
            let iov = iovec { iov_base: buffer.cast_mut(), iov_len: size };
            write_in_coroutine(host, Io { fd, iov: &iov, count: 1, own: true, offset: HERE, call: "write" })
        }
        // SAFETY: the caller's own arguments.
        _ => unsafe { libc::write(fd, buffer, size) },
    }
}

/// `readv(2)`.
pub unsafe extern "C" fn readv(fd: c_int, iov: *const iovec, count: c_int) -> ssize_t {
    match current_host() {
        Some(host) if (1..=libc::UIO_MAXIOV).contains(&count) => {
            read_in_coroutine(host, Io { fd, iov, count, own: false, offset: HERE, call: "readv" })
        }
        // SAFETY: the caller's own arguments.
        _ => unsafe { libc::readv(fd, iov, count) },
    }
}

/// `writev(2)`.
pub unsafe extern "C" fn writev(fd: c_int, iov: *const iovec, count: c_int) -> ssize_t {
    match current_host() {
        Some(host) if (1..=libc::UIO_MAXIOV).contains(&count) => {
            write_in_coroutine(host, Io { fd, iov, count, own: false, offset: HERE, call: "writev" })
        }
        // SAFETY: the caller's own arguments.
        _ => unsafe { libc::writev(fd, iov, count) },
    }
}

/// Returns the host for a call with an offset that may have to wait: one on a regular file.
fn host_for_file(fd: c_int, offset: off_t, some: bool) -> Option<&'static dyn Host> {
    current_host().filter(|host| some && offset >= 0 && host.reactor().kind(fd) == FdKind::File)
}

fn at(host: &dyn Host, io: Io, transfer: fn(&dyn Host, Io) -> ssize_t) -> ssize_t {
    let saved = errno();
    let result = transfer(host, io);
    if result >= 0 {
        set_errno(saved);
    }
    result
}

/// `pread(2)`.
pub unsafe extern "C" fn pread(fd: c_int, buffer: *mut c_void, size: size_t, offset: off_t) -> ssize_t {
    let Some(host) = host_for_file(fd, offset, size > 0) else {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::pread(fd, buffer, size, offset) };
    };
    let iov = iovec { iov_base: buffer, iov_len: size };
    at(host, Io { fd, iov: &iov, count: 1, own: true, offset, call: "pread" }, file_io::read)
}

/// `pwrite(2)`.
pub unsafe extern "C" fn pwrite(fd: c_int, buffer: *const c_void, size: size_t, offset: off_t) -> ssize_t {
    let Some(host) = host_for_file(fd, offset, size > 0) else {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::pwrite(fd, buffer, size, offset) };
    };
    let iov = iovec { iov_base: buffer.cast_mut(), iov_len: size };
    at(host, Io { fd, iov: &iov, count: 1, own: true, offset, call: "pwrite" }, file_io::write)
}

/// `preadv(2)`.
pub unsafe extern "C" fn preadv(fd: c_int, iov: *const iovec, count: c_int, offset: off_t) -> ssize_t {
    let Some(host) = host_for_file(fd, offset, count > 0) else {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::preadv(fd, iov, count, offset) };
    };
    at(host, Io { fd, iov, count, own: false, offset, call: "preadv" }, file_io::read)
}

/// `pwritev(2)`.
pub unsafe extern "C" fn pwritev(fd: c_int, iov: *const iovec, count: c_int, offset: off_t) -> ssize_t {
    let Some(host) = host_for_file(fd, offset, count > 0) else {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::pwritev(fd, iov, count, offset) };
    };
    at(host, Io { fd, iov, count, own: false, offset, call: "pwritev" }, file_io::write)
}

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    fn __read_chk(fd: c_int, buffer: *mut c_void, size: size_t, room: size_t) -> ssize_t;
    fn __pread_chk(fd: c_int, buffer: *mut c_void, size: size_t, offset: off_t, room: size_t) -> ssize_t;
}

/// `read` as `_FORTIFY_SOURCE` calls it.
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn read_chk(fd: c_int, buffer: *mut c_void, size: size_t, room: size_t) -> ssize_t {
    if size > room {
        // SAFETY: the caller's own arguments; it ends the process.
        return unsafe { __read_chk(fd, buffer, size, room) };
    }
    // SAFETY: the caller's own arguments.
    unsafe { read(fd, buffer, size) }
}

/// `pread` as `_FORTIFY_SOURCE` calls it.
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn pread_chk(
    fd: c_int,
    buffer: *mut c_void,
    size: size_t,
    offset: off_t,
    room: size_t,
) -> ssize_t {
    if size > room {
        // SAFETY: the caller's own arguments; it ends the process.
        return unsafe { __pread_chk(fd, buffer, size, offset, room) };
    }
    // SAFETY: the caller's own arguments.
    unsafe { pread(fd, buffer, size, offset) }
}
