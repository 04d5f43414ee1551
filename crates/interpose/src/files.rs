//! Opening and syncing files.
//!
//! Of all `open`s only that of a FIFO can block for long: it runs on a worker thread and may be abandoned (a late
//! descriptor is closed). Everything else is opened in place. (Measured: `open` 1.8 µs, the `fstatat` before it
//! 0.77; `openat2(RESOLVE_CACHED)` costs what `openat` does, but does not keep from opening a FIFO, so it would
//! not save the `fstatat`, and looking a path up in a cold cache is done by the `fstatat` already.)
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::books::made;
use crate::host::{Host, OnSignal, Waiting, errno, fail, inside, on_php_thread, set_errno};
use crate::table::{Entry, entries};
use crate::wait::{self, Job};
use crate::{file_io, flocks, pins};
use libc::{c_char, c_int, mode_t};
use spindle_reactor::{Blocking, Kind, Made};
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The family's functions.
pub fn entries() -> Vec<Entry> {
    const OPEN: &str = "a FIFO is opened on a worker thread, the rest in place";
    const FSYNC: &str = "on a worker thread";
    const LOCKF: &str = "tried, then parked by a timer";
    entries![
        c"open" => open, OPEN;
        c"open64" => open, OPEN;
        c"__open" => open, OPEN;
        c"__open64" => open, OPEN;
        c"openat" => openat, OPEN;
        c"openat64" => openat, OPEN;
        c"creat" => creat, OPEN;
        c"creat64" => creat, OPEN;
        c"__open_2" => open_2, OPEN;
        c"__open64_2" => open_2, OPEN;
        c"__openat_2" => openat_2, OPEN;
        c"__openat64_2" => openat_2, OPEN;
        c"fsync" => fsync, FSYNC;
        c"fdatasync" => fdatasync, FSYNC;
        c"flock" => flocks::flock, "tried, then parked until an unlock or a close in this process, or a timer";
        c"lockf" => flocks::lockf, LOCKF;
        c"lockf64" => flocks::lockf, LOCKF;
    ]
}

/// A descriptor was closed, or what it was locked for may have changed hands: whoever waits for a `flock` looks
/// again, when the running coroutine parks. For the hooks of `close` and its like; costs a look at an empty list.
pub fn descriptor_closed(_fd: RawFd) {
    flocks::released();
}

/// Opens that never wait for another process, whatever the path names.
fn never_waits(flags: c_int) -> bool {
    let exclusive = flags & libc::O_CREAT != 0 && flags & libc::O_EXCL != 0;
    flags & (libc::O_NONBLOCK | libc::O_PATH | libc::O_DIRECTORY) != 0
        || flags & libc::O_TMPFILE == libc::O_TMPFILE
        || flags & libc::O_ACCMODE == libc::O_RDWR
        || exclusive
}

/// What the path names, as `S_IF…`, and where it is.
fn named(at: RawFd, path: *const c_char, flags: c_int) -> Option<(mode_t, libc::dev_t)> {
    let follow = if flags & libc::O_NOFOLLOW != 0 { libc::AT_SYMLINK_NOFOLLOW } else { 0 };
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path is the caller's, the buffer is of the right size and read only when it was filled.
    unsafe {
        let found = libc::fstatat(at, path, stat.as_mut_ptr(), follow) == 0;
        found.then(|| {
            let stat = stat.assume_init();
            (stat.st_mode & libc::S_IFMT, stat.st_dev)
        })
    }
}

fn open_inside(at: RawFd, path: *const c_char, flags: c_int, mode: mode_t, call: &'static str) -> c_int {
    let saved = errno();
    let known = Made { own: true, ..Made::default() };
    // SAFETY: the caller's own arguments; a mode that is not asked for is ignored.
    let open = || unsafe { libc::openat(at, path, flags, mode) };
    if let Some(host) = inside().filter(|_| !never_waits(flags)) {
        match named(at, path, flags) {
            Some((libc::S_IFIFO, _)) => return open_fifo(host, at, path, flags, call),
            Some((libc::S_IFREG, device)) => {
                set_errno(saved);
                // Whoever puts something else in its place now is served as a file is: slower, not wrongly.
                let file = Made { kind: Some(Kind::File), blocking: Some(Blocking::Yes), ..known };
                let fd = made(open(), file);
                if fd >= 0 {
                    file_io::opened(host, fd, device, flags);
                }
                return fd;
            }
            _ => set_errno(saved),
        }
    }
    made(open(), known)
}

/// The directory that a relative path starts from, kept for the job: the program may change or close it.
fn base(at: RawFd, path: &CStr) -> Result<Option<OwnedFd>, c_int> {
    if path.to_bytes().first() == Some(&b'/') {
        return Ok(None);
    }
    // SAFETY: plain system calls; the path is a literal.
    let fd = unsafe {
        if at == libc::AT_FDCWD {
            libc::open(c".".as_ptr(), libc::O_PATH | libc::O_CLOEXEC)
        } else {
            libc::fcntl(at, libc::F_DUPFD_CLOEXEC, 3)
        }
    };
    // SAFETY: a descriptor just made, owned by nobody else.
    if fd < 0 { Err(errno()) } else { Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) })) }
}

fn open_fifo(host: &dyn Host, at: RawFd, path: *const c_char, flags: c_int, call: &'static str) -> c_int {
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
    // A late descriptor is closed.
    fn undo((fd, _): (c_int, c_int)) {
        if fd >= 0 {
            // SAFETY: opened by the job, known to nobody else.
            unsafe { libc::close(fd) };
        }
    }
    let waiting = Waiting { call, fd: -1, on_signal: OnSignal::Restart };
    match wait::for_job_or_abandon(host, waiting, None, true, job, undo) {
        Job::Done((fd, error)) => {
            made(fd, Made { kind: Some(Kind::Pipe), blocking: Some(Blocking::Yes), own: true, ..Made::default() });
            if fd < 0 { fail(error) } else { set_and(saved, fd) }
        }
        Job::Abandoned(waited) => fail(waited.errno(libc::EINTR)),
        // Blocking the process on a FIFO that perhaps only it can open would be for ever.
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
    if on_php_thread().is_none() {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::open(path, flags, mode) };
    }
    open_inside(libc::AT_FDCWD, path, flags, mode, "open")
}

/// `openat(2)`. For the mode see [`open`].
pub unsafe extern "C" fn openat(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    if on_php_thread().is_none() {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::openat(at, path, flags, mode) };
    }
    open_inside(at, path, flags, mode, "openat")
}

/// `creat(2)`.
pub unsafe extern "C" fn creat(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { open(path, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC, mode) }
}

unsafe extern "C" {
    fn __open_2(path: *const c_char, flags: c_int) -> c_int;
    fn __openat_2(at: c_int, path: *const c_char, flags: c_int) -> c_int;
}

fn needs_mode(flags: c_int) -> bool {
    flags & libc::O_CREAT != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE
}

/// `open` without a mode as `_FORTIFY_SOURCE` calls it.
pub unsafe extern "C" fn open_2(path: *const c_char, flags: c_int) -> c_int {
    if needs_mode(flags) {
        // SAFETY: the caller's own arguments; it ends the process.
        return unsafe { __open_2(path, flags) };
    }
    // SAFETY: the caller's own arguments.
    unsafe { open(path, flags, 0) }
}

/// `openat` without a mode as `_FORTIFY_SOURCE` calls it.
pub unsafe extern "C" fn openat_2(at: c_int, path: *const c_char, flags: c_int) -> c_int {
    if needs_mode(flags) {
        // SAFETY: the caller's own arguments; it ends the process.
        return unsafe { __openat_2(at, path, flags) };
    }
    // SAFETY: the caller's own arguments.
    unsafe { openat(at, path, flags, 0) }
}

fn sync(fd: c_int, call: &'static str, original: unsafe extern "C" fn(c_int) -> c_int) -> c_int {
    // SAFETY: `fsync` or `fdatasync`, which take any number.
    let in_place = || unsafe { original(fd) };
    let Some(host) = inside().filter(|host| host.reactor().kind(fd) == Kind::File) else { return in_place() };
    let saved = errno();
    let pin = pins::pin(host, fd);
    let job = move || {
        // SAFETY: as above; the pin keeps the descriptor open.
        let result = unsafe { original(fd) };
        let error = errno();
        drop(pin);
        (result, error)
    };
    match wait::for_job(host, call, fd, job) {
        Some((0, _)) => set_and(saved, 0),
        Some((_, error)) => fail(error),
        None => in_place(),
    }
}

/// `fsync(2)`.
pub unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    sync(fd, "fsync", libc::fsync)
}

/// `fdatasync(2)`.
pub unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    sync(fd, "fdatasync", libc::fdatasync)
}
