//! Paths that have named regular files: such a file is opened again without checking what its path names.
//!
//! The check before an `open` adds two fifths to its time. A path may name something else by now, so the `open` is
//! made with `O_NONBLOCK`, with which neither a FIFO nor a device waits, and `fstat` tells what was opened. A device may give
//! that flag another meaning, which is why a path is checked before it counts as known.

use crate::hooks::fd::{close, tracking::opened};
use crate::host::{Host, OnSignal, Wake, errno, fail, set_errno};
use crate::php_cell::PhpCell;
use crate::wait;
use libc::{c_char, c_int};
use rustc_hash::FxHasher;
use spindle_reactor::{Blocking, FdKind, Interest, Opened, Reactor};
use std::ffi::CStr;
use std::hash::Hasher;
use std::os::fd::RawFd;

/// The flags that `O_NONBLOCK` can be added to and removed from again. With any other flag the path is checked.
const SIMPLE: c_int = libc::O_CLOEXEC | libc::O_LARGEFILE | libc::O_NOCTTY;

/// The number of paths that are remembered, a power of two. Of two with the same place the later one is.
const PATHS: usize = 8192;

/// A part of the hash of each path, by another part; 0 for none. Two paths with the same hash cost one check each, no more.
static KNOWN: PhpCell<Vec<u32>> = PhpCell::new(Vec::new());

/// A path that may be remembered: an absolute one, to be opened for reading. A relative one depends on the working directory.
pub(super) struct Place<'a> {
    path: &'a CStr,
    index: usize,
    tag: u32,
}

impl<'a> Place<'a> {
    /// # Safety
    /// `path` is a C string that lives so long, or in the first page, where the kernel refuses it.
    pub(super) unsafe fn of(path: *const c_char, flags: c_int) -> Option<Place<'a>> {
        if flags & !SIMPLE != libc::O_RDONLY || path.addr() < 4096 {
            return None;
        }
        // SAFETY: by contract.
        let path = unsafe { CStr::from_ptr(path) };
        if path.to_bytes().first() != Some(&b'/') {
            return None;
        }
        let mut hasher = FxHasher::default();
        hasher.write(path.to_bytes());
        let hash = hasher.finish();
        Some(Place { path, index: hash as usize % PATHS, tag: (hash >> 32) as u32 | 1 })
    }

    pub(super) fn is_known(&self, host: &dyn Host) -> bool {
        KNOWN.with(host, |all| all.get(self.index) == Some(&self.tag))
    }

    /// Remembers that the path has named a regular file.
    pub(super) fn remember(&self, host: &dyn Host) {
        KNOWN.with(host, |all| {
            all.resize(PATHS, 0);
            all[self.index] = self.tag;
        });
    }

    /// Returns `true` if the running call reads it whole, see [`Host::reads_whole`].
    pub(super) fn is_read_whole(&self, host: &dyn Host) -> bool {
        host.reads_whole(self.path)
    }

    pub(super) fn forget(&self, host: &dyn Host) {
        KNOWN.with(host, |all| all[self.index] = 0);
    }
}

/// What the open of a known path came to.
pub(super) enum Again {
    /// The file, on this device.
    File(RawFd, libc::dev_t),
    /// The path names a FIFO now, and this is a reader of it, which has not waited for a writer.
    Fifo(RawFd),
    /// It has to be looked at.
    Unknown,
}

/// Opens a known path. The flag stays where nothing can observe it, in a file that is read in one piece, and where it means
/// nothing: on a block device. Other file systems, such as FUSE, see it in reads.
pub(super) fn open_again(path: *const c_char, flags: c_int, is_read_whole: bool) -> Again {
    // SAFETY: the caller's own argument.
    let fd = unsafe { libc::open(path, flags | libc::O_NONBLOCK) };
    if fd < 0 {
        return Again::Unknown;
    }
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the buffer is of the right size, and read only when the call has filled it.
    let found = unsafe { (libc::fstat(fd, stat.as_mut_ptr()) == 0).then(|| stat.assume_init()) };
    if let Some(stat) = found {
        match stat.st_mode & libc::S_IFMT {
            libc::S_IFREG if is_read_whole && libc::major(stat.st_dev) != 0 => return Again::File(fd, stat.st_dev),
            // SAFETY: a system call without pointers.
            libc::S_IFREG if unsafe { libc::fcntl(fd, libc::F_SETFL, flags) } == 0 => {
                return Again::File(fd, stat.st_dev);
            }
            libc::S_IFIFO => return Again::Fifo(fd),
            _ => {}
        }
    }
    // SAFETY: opened above.
    unsafe { libc::close(fd) };
    Again::Unknown
}

/// How often (ns) to check for a writer that has opened a FIFO and written nothing: no event reports it.
const LOOK: u64 = 10_000_000;

/// Completes the open of a FIFO, which waits for a writer, as the kernel does without `O_NONBLOCK`. Opening it again in the thread
/// pool would not do: the writer may have waited for this reader, and have left again.
pub(super) fn wait_for_writer(host: &dyn Host, fd: RawFd, flags: c_int, call: &'static str) -> c_int {
    let saved = errno();
    opened(fd, Opened { kind: Some(FdKind::Pipe), blocking: Some(Blocking::Yes), own: true, ..Opened::default() });
    let error = loop {
        if has_writer(fd) {
            // SAFETY: a system call without pointers.
            unsafe { libc::fcntl(fd, libc::F_SETFL, flags) };
            set_errno(saved);
            return fd;
        }
        let deadline = Some(Reactor::now() + LOOK);
        match wait::for_fd(host, fd, Interest::READ, deadline, call, OnSignal::Restart).map(Wake::error) {
            Ok(None) => {}
            Ok(Some(error)) | Err(error) => break error,
        }
    };
    // SAFETY: opened for this call, and known only to it.
    unsafe { close(fd) };
    fail(error)
}

/// Returns `true` if a writer has come since this reader of a FIFO was opened, whether or not it has written or left again.
fn has_writer(fd: RawFd) -> bool {
    if wait::poll_now(fd, libc::POLLIN) != Some(0) {
        return true; // data, or the end
    }
    let mut pipe = [0; 2];
    // SAFETY: two places.
    if unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
        return false;
    }
    // Leaves data where it is. Without data, it is the end if there is no writer, else there could be some soon.
    // SAFETY: a system call without pointers.
    let copied = unsafe { libc::tee(fd, pipe[1], 1, libc::SPLICE_F_NONBLOCK) };
    let has_writer = copied > 0 || copied < 0 && errno() == libc::EAGAIN;
    for end in pipe {
        // SAFETY: opened above.
        unsafe { libc::close(end) };
    }
    has_writer
}
