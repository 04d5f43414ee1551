//! Internal descriptors: with high numbers that are out of user code's way, and recorded, so that it cannot close or replace
//! them by mistake (a daemon closes all that it finds).
//!
//! They belong to the process that opened them. In the child of a fork they have no use, and user code may close or replace
//! them, for example before it executes another program.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The lowest number of an internal descriptor, if the limits allow: user code may place its own at low numbers with `dup2`.
const MIN_INTERNAL_FD: RawFd = 960;

/// Higher numbers are not recorded.
const RECORDED: usize = 1 << 16;

/// A bit for each number. There is no lock, which in the child of a fork could be held by a thread that it does not have.
static OURS: [AtomicU64; RECORDED / 64] = [const { AtomicU64::new(0) }; RECORDED / 64];

/// The process that opened them.
static PROCESS: AtomicU32 = AtomicU32::new(0);

fn bit(fd: RawFd) -> Option<(&'static AtomicU64, u64)> {
    let index = usize::try_from(fd).ok()?;
    Some((OURS.get(index / 64)?, 1 << (index % 64)))
}

fn set(fd: RawFd) {
    if let Some((word, bit)) = bit(fd) {
        PROCESS.store(std::process::id(), Ordering::Relaxed);
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

fn clear(fd: RawFd) {
    if let Some((word, bit)) = bit(fd) {
        word.fetch_and(!bit, Ordering::Relaxed);
    }
}

/// Returns `true` if `fd` is an internal descriptor of this process. Forgets one that was inherited.
#[inline]
pub fn is_internal(fd: RawFd) -> bool {
    bit(fd).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0) && !inherited(fd)
}

#[cold]
fn inherited(fd: RawFd) -> bool {
    let inherited = PROCESS.load(Ordering::Relaxed) != std::process::id();
    if inherited {
        clear(fd);
    }
    inherited
}

/// Forgets an internal descriptor whose number user code has taken.
pub(crate) fn disown(fd: RawFd) {
    clear(fd);
}

fn all() -> impl Iterator<Item = RawFd> {
    OURS.iter().zip((0..).step_by(64)).flat_map(|(word, first)| {
        let word = word.load(Ordering::Relaxed);
        (0..64).filter(move |place| word >> place & 1 != 0).map(move |place| first + place)
    })
}

/// The internal descriptors of this process, in ascending order.
pub fn internal_fds() -> Vec<RawFd> {
    all().filter(|fd| !inherited(*fd)).collect()
}

/// Closes the parent's internal descriptors in the child of a fork, unless user code has taken their numbers. The child must
/// not have opened its own yet, and must forget the owners, not drop them.
pub(crate) fn after_fork() {
    for fd in all().collect::<Vec<_>>() {
        clear(fd);
        // SAFETY: ours, and nothing in this process uses or closes it any more.
        unsafe { libc::close(fd) };
    }
}

/// An internal descriptor, closed when it is dropped.
#[derive(Debug)]
pub struct InternalFd(RawFd);

impl InternalFd {
    /// Takes the result of a system call that has opened it (with `FD_CLOEXEC`).
    ///
    /// # Errors
    /// If `fd` is negative, the present `errno`.
    pub fn new(fd: RawFd) -> io::Result<InternalFd> {
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: system calls without pointers; `fd` is ours, and is closed only when there is another.
        let fd = unsafe {
            match libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, MIN_INTERNAL_FD) {
                -1 => fd,
                high => {
                    libc::close(fd);
                    high
                }
            }
        };
        set(fd);
        Ok(InternalFd(fd))
    }

    /// Duplicates a descriptor of user code.
    ///
    /// # Errors
    /// As `fcntl(2)` with `F_DUPFD_CLOEXEC`.
    pub fn duplicate(of: RawFd) -> io::Result<InternalFd> {
        // SAFETY: system calls without pointers.
        let fd = unsafe {
            match libc::fcntl(of, libc::F_DUPFD_CLOEXEC, MIN_INTERNAL_FD) {
                -1 => libc::fcntl(of, libc::F_DUPFD_CLOEXEC, libc::STDERR_FILENO + 1),
                high => high,
            }
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        set(fd);
        Ok(InternalFd(fd))
    }
}

impl AsRawFd for InternalFd {
    fn as_raw_fd(&self) -> RawFd {
        self.0
    }
}

impl IntoRawFd for InternalFd {
    fn into_raw_fd(self) -> RawFd {
        let fd = self.0;
        std::mem::forget(self);
        fd
    }
}

impl FromRawFd for InternalFd {
    unsafe fn from_raw_fd(fd: RawFd) -> InternalFd {
        InternalFd(fd)
    }
}

impl Drop for InternalFd {
    fn drop(&mut self) {
        clear(self.0); // first: once closed, the number may become user code's immediately
        // SAFETY: this is its owner.
        unsafe { libc::close(self.0) };
    }
}
