//! Opening files.
//!
//! The `open` of a FIFO or of a device (a serial line waits for its carrier) can block without bound: it runs in the
//! thread pool and may be abandoned, and a descriptor that it opens late is closed. Everything else is opened in place,
//! and timed: after two opens that took long the next few go to the thread pool, for as long as they take long. With
//! `async.file_pool = all` every open does.
//!
//! Measured: `open` takes 1.8 µs, the `fstatat` before it 0.77 µs, and nothing that is cheaper tells a FIFO from a file
//! (`openat2(RESOLVE_CACHED)` costs what `openat` does, and opens FIFOs too). A file that was opened before is opened
//! without it, see [`super::known`].
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::known::{self, Again, Place};
use super::transfer;
use crate::hooks::fd::tracking::opened;
use crate::hooks::path::job::{OwnedPath, working_directory};
use crate::host::{BlockedOn, Host, OnSignal, current_host, errno, fail, php_thread_host, set_errno};
use crate::php_cell::PhpCell;
use crate::wait::{self, Job};
use libc::{c_char, c_int, mode_t};
use spindle_reactor::{Blocking, FdKind, InternalFd, JobKind, Opened, Reactor};
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns `true` if opening with these flags never blocks, whatever the path names.
fn never_blocks(flags: c_int) -> bool {
    let exclusive = flags & libc::O_CREAT != 0 && flags & libc::O_EXCL != 0;
    flags & (libc::O_NONBLOCK | libc::O_PATH | libc::O_DIRECTORY) != 0
        || flags & libc::O_TMPFILE == libc::O_TMPFILE
        || exclusive
}

/// What a path names, as far as its `open` depends on it.
enum Named {
    /// A regular file on this device.
    File(libc::dev_t),
    /// Something whose opening may block without bound.
    MayBlock,
    /// Something else, or nothing.
    Other,
}

impl Named {
    fn of(stat: &libc::stat, flags: c_int) -> Named {
        /// The majors of `/dev/null` and the like, and of terminals, which have no carrier to wait for.
        const READY: [std::ops::RangeInclusive<u32>; 3] = [1..=1, 5..=5, 136..=143];
        match stat.st_mode & libc::S_IFMT {
            libc::S_IFREG => Named::File(stat.st_dev),
            libc::S_IFIFO if flags & libc::O_ACCMODE != libc::O_RDWR => Named::MayBlock,
            libc::S_IFCHR if !READY.iter().any(|range| range.contains(&libc::major(stat.st_rdev))) => Named::MayBlock,
            _ => Named::Other,
        }
    }
}

fn named(at: RawFd, path: *const c_char, flags: c_int) -> Named {
    let follow = if flags & libc::O_NOFOLLOW != 0 { libc::AT_SYMLINK_NOFOLLOW } else { 0 };
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path is the caller's, the buffer is of the right size and read only when it was filled.
    unsafe {
        let found = libc::fstatat(at, path, stat.as_mut_ptr(), follow) == 0;
        if found { Named::of(&stat.assume_init(), flags) } else { Named::Other }
    }
}

/// Returns the device of a regular file.
fn device_of_file(fd: RawFd) -> Option<libc::dev_t> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the buffer is of the right size and read only when it was filled.
    unsafe {
        let found = libc::fstat(fd, stat.as_mut_ptr()) == 0;
        found.then(|| stat.assume_init()).filter(|s| s.st_mode & libc::S_IFMT == libc::S_IFREG).map(|s| s.st_dev)
    }
}

/// An open in place that took longer (ns) waited for a device or another machine.
const LONG: u64 = 200_000;
/// The number of opens that go to the thread pool after two slow ones.
const SLOW: u8 = 16;

/// The duration of recent opens.
struct OpenTimes {
    /// The last one took long. One alone may have been preempted.
    long: bool,
    /// The number of opens that still go to the thread pool.
    slow: u8,
}

static OPENS: PhpCell<OpenTimes> = PhpCell::new(OpenTimes { long: false, slow: 0 });
/// Every open goes to the thread pool (`async.file_pool = all`).
static ALL_ON_WORKERS: AtomicBool = AtomicBool::new(false);

/// Sets whether every file is opened in the thread pool, for `async.file_pool`.
pub fn set_open_on_workers(all: bool) {
    ALL_ON_WORKERS.store(all, Ordering::Relaxed);
}

fn record_duration(host: &dyn Host, time: u64) {
    OPENS.with(host, |o| {
        let before = std::mem::replace(&mut o.long, time > LONG);
        o.slow = if before && o.long { SLOW } else { o.slow.saturating_sub(1) };
    });
}

fn open_in_coroutine(at: RawFd, path: *const c_char, flags: c_int, mode: mode_t, call: &'static str) -> c_int {
    let saved = errno();
    let known = Opened { own: true, ..Opened::default() };
    // SAFETY: the caller's own arguments; a mode that is not asked for is ignored.
    let open = || unsafe { libc::openat(at, path, flags, mode) };
    let Some(host) = current_host() else { return opened(open(), known) };
    let on_worker = ALL_ON_WORKERS.load(Ordering::Relaxed) || OPENS.with(host, |o| o.slow > 0);
    if on_worker
        && !host.keeps_files_in_place()
        && let Some(fd) = open_on_worker(host, at, path, flags, mode, call)
    {
        return fd;
    }
    let start = Reactor::now();
    let mut device = None;
    // SAFETY: the caller's own argument, a C string.
    let place = unsafe { Place::of(path, flags) };
    if let Some(place) = &place
        && place.is_known(host)
    {
        let is_read_whole = place.is_read_whole(host);
        match known::open_again(path, flags, is_read_whole) {
            Again::File(fd, device) => {
                record_duration(host, Reactor::now() - start);
                return track_file(host, fd, Some(device), flags, is_read_whole);
            }
            Again::Fifo(fd) => {
                place.forget(host);
                return known::wait_for_writer(host, fd, flags, call);
            }
            Again::Unknown => place.forget(host),
        }
    }
    if !never_blocks(flags) {
        match named(at, path, flags) {
            Named::MayBlock => return open_unbounded(host, at, path, flags, call),
            Named::File(on) => device = Some(on),
            Named::Other => {}
        }
        set_errno(saved);
    }
    let fd = open();
    record_duration(host, Reactor::now() - start);
    let place = place.filter(|_| fd >= 0 && device.is_some());
    if let Some(place) = &place {
        place.remember(host);
    }
    track_file(host, fd, device, flags, place.is_some_and(|place| place.is_read_whole(host)))
}

/// Tracks a new descriptor; with `device`, as a regular file on it. If the path has come to name something else since
/// it was looked up, that is served as a file is: slower, but correctly.
fn track_file(host: &dyn Host, fd: RawFd, device: Option<libc::dev_t>, flags: c_int, is_read_whole: bool) -> RawFd {
    let known = Opened { own: true, ..Opened::default() };
    let Some(device) = device else { return opened(fd, known) };
    let mode = if flags & libc::O_NONBLOCK != 0 { Blocking::No } else { Blocking::Yes };
    opened(fd, Opened { kind: Some(FdKind::File), blocking: Some(mode), ..known });
    if fd >= 0 {
        transfer::file_opened(host, fd, device, flags, is_read_whole);
    }
    fd
}

/// The result of an open in the thread pool.
enum Found {
    /// Opening it may block without bound, and it was not opened.
    MayBlock,
    Opened {
        fd: RawFd,
        error: c_int,
        device: Option<libc::dev_t>,
        time: u64,
    },
}

/// Opens in the thread pool. Returns `None` if there is no worker, or the path cannot be handed to one.
fn open_on_worker(
    host: &dyn Host,
    at: RawFd,
    path: *const c_char,
    flags: c_int,
    mode: mode_t,
    call: &'static str,
) -> Option<RawFd> {
    let saved = errno();
    // SAFETY: the caller's own path.
    let place = if path.is_null() { None } else { unsafe { OwnedPath::new(host, at, path) } };
    let Some(place) = place else {
        set_errno(saved);
        return None;
    };
    let job = move || {
        let start = Reactor::now();
        let at = place.at();
        if !never_blocks(flags) && matches!(named(at, place.path(), flags), Named::MayBlock) {
            return Found::MayBlock;
        }
        // SAFETY: a path of the job's.
        let fd = unsafe { libc::openat(at, place.path(), flags, mode) };
        let error = errno();
        let device = if fd < 0 { None } else { device_of_file(fd) };
        Found::Opened { fd, error, device, time: Reactor::now() - start }
    };
    match wait::for_job(host, JobKind::Bounded, call, -1, job) {
        Some(Found::MayBlock) => Some(open_unbounded(host, at, path, flags, call)),
        Some(Found::Opened { fd, error, device, time }) => {
            record_duration(host, time);
            set_errno(if fd < 0 { error } else { saved });
            Some(track_file(host, fd, device, flags, false))
        }
        None => {
            set_errno(saved);
            None
        }
    }
}

/// Returns the directory that a relative path starts from, opened for the job: user code may change or close it.
fn base(at: RawFd, path: &CStr) -> Result<Option<InternalFd>, c_int> {
    if path.to_bytes().first() == Some(&b'/') {
        return Ok(None);
    }
    let base = if at == libc::AT_FDCWD { working_directory() } else { InternalFd::duplicate(at) };
    base.map(Some).map_err(|error| error.raw_os_error().unwrap_or(libc::EBADF))
}

fn open_unbounded(host: &dyn Host, at: RawFd, path: *const c_char, flags: c_int, call: &'static str) -> c_int {
    let saved = errno();
    // SAFETY: the path is a C string: the kernel has just read it.
    let path: CString = unsafe { CStr::from_ptr(path) }.to_owned();
    let base = match base(at, &path) {
        Ok(base) => base,
        Err(error) => return fail(error),
    };
    let job = move || {
        let at = base.as_ref().map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
        // SAFETY: a C string of our own. It exists, so no mode is needed.
        let fd = unsafe { libc::openat(at, path.as_ptr(), flags, 0o600) };
        (fd, errno())
    };
    // Closes a descriptor that is opened late.
    fn undo((fd, _): (c_int, c_int)) {
        if fd >= 0 {
            // SAFETY: opened by the job, and known only to it.
            unsafe { libc::close(fd) };
        }
    }
    let blocked_on = BlockedOn { call, fd: -1, on_signal: OnSignal::Restart };
    match wait::for_job_or_abandon(host, blocked_on, true, job, undo) {
        Job::Done((fd, error)) => {
            opened(fd, Opened { blocking: Some(Blocking::Yes), own: true, ..Opened::default() });
            if fd < 0 { fail(error) } else { set_and(saved, fd) }
        }
        Job::Abandoned(error) => fail(error),
        // In place it would block the process, which may be the one that opens the other end.
        Job::NoWorker => fail(libc::EAGAIN),
    }
}

fn set_and(errno: c_int, result: c_int) -> c_int {
    set_errno(errno);
    result
}

/// `open(2)`. The mode is a variable argument in C. SAFETY of the signature: on x86-64 and aarch64 Linux an integer
/// argument that the caller passes in `...` travels in the same register as a named third one; where the caller
/// passes none the register holds anything, and the kernel ignores it without `O_CREAT` and `O_TMPFILE`.
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    if php_thread_host().is_none() {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::open(path, flags, mode) };
    }
    open_in_coroutine(libc::AT_FDCWD, path, flags, mode, "open")
}

/// `openat(2)`. For the mode see [`open`].
pub unsafe extern "C" fn openat(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    if php_thread_host().is_none() {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::openat(at, path, flags, mode) };
    }
    open_in_coroutine(at, path, flags, mode, "openat")
}

/// `creat(2)`.
pub unsafe extern "C" fn creat(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { open(path, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC, mode) }
}

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    fn __open_2(path: *const c_char, flags: c_int) -> c_int;
    fn __openat_2(at: c_int, path: *const c_char, flags: c_int) -> c_int;
}

#[cfg(target_env = "gnu")]
fn needs_mode(flags: c_int) -> bool {
    flags & libc::O_CREAT != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE
}

/// `open` without a mode as `_FORTIFY_SOURCE` calls it.
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn open_2(path: *const c_char, flags: c_int) -> c_int {
    if needs_mode(flags) {
        // SAFETY: the caller's own arguments; it ends the process.
        return unsafe { __open_2(path, flags) };
    }
    // SAFETY: the caller's own arguments.
    unsafe { open(path, flags, 0) }
}

/// `openat` without a mode as `_FORTIFY_SOURCE` calls it.
#[cfg(target_env = "gnu")]
pub unsafe extern "C" fn openat_2(at: c_int, path: *const c_char, flags: c_int) -> c_int {
    if needs_mode(flags) {
        // SAFETY: the caller's own arguments; it ends the process.
        return unsafe { __openat_2(at, path, flags) };
    }
    // SAFETY: the caller's own arguments.
    unsafe { openat(at, path, flags, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(mode: mode_t, device: (u32, u32), flags: c_int) -> bool {
        // SAFETY: zeros are a valid `stat`.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        (stat.st_mode, stat.st_rdev) = (mode | 0o600, libc::makedev(device.0, device.1));
        !never_blocks(flags) && matches!(Named::of(&stat, flags), Named::MayBlock)
    }

    #[test]
    fn what_may_wait_for_ever_when_it_is_opened() {
        assert!(waits(libc::S_IFIFO, (0, 0), libc::O_RDONLY));
        assert!(waits(libc::S_IFIFO, (0, 0), libc::O_WRONLY));
        assert!(!waits(libc::S_IFIFO, (0, 0), libc::O_RDWR)); // both ends
        assert!(!waits(libc::S_IFIFO, (0, 0), libc::O_RDONLY | libc::O_NONBLOCK));
        let (serial, null, console, pty) = ((4, 64), (1, 3), (5, 1), (136, 0));
        assert!(waits(libc::S_IFCHR, serial, libc::O_RDWR));
        assert!(!waits(libc::S_IFCHR, serial, libc::O_RDWR | libc::O_NONBLOCK));
        for ready in [null, console, pty] {
            assert!(!waits(libc::S_IFCHR, ready, libc::O_RDWR));
        }
        assert!(!waits(libc::S_IFREG, (0, 0), libc::O_RDONLY));
        assert!(!waits(libc::S_IFBLK, (8, 0), libc::O_RDONLY));
    }
}
