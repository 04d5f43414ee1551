//! Descriptors of our own among the program's: with numbers out of its way, and known, so that it cannot close or
//! replace them by mistake (a daemon closes all that it finds).
//!
//! They are the process's that made them. In the child of a fork they have no use, and the program may do there with
//! their numbers what it likes: close or replace them before it executes another program, say.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The least number of a descriptor of ours, if the limits allow: low numbers are the program's (it may put its
/// own at 3 and up with `dup2`, and people see them).
const MIN_INTERNAL_FD: RawFd = 960;

/// Higher ones are not known to be ours.
const KNOWN: usize = 1 << 16;

/// A bit for each number. (Without a lock, which a thread could hold that a fork's child does not have.)
static OURS: [AtomicU64; KNOWN / 64] = [const { AtomicU64::new(0) }; KNOWN / 64];

/// The process whose they are.
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

/// Returns `true` if `fd` is a descriptor of ours. In the child of a fork it is not any more, once this was asked.
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

/// `fd` is not ours any more: the program has taken the number.
pub(crate) fn disown(fd: RawFd) {
    clear(fd);
}

fn all() -> impl Iterator<Item = RawFd> {
    OURS.iter().zip((0..).step_by(64)).flat_map(|(word, first)| {
        let word = word.load(Ordering::Relaxed);
        (0..64).filter(move |place| word >> place & 1 != 0).map(move |place| first + place)
    })
}

/// All of ours, in ascending order.
pub fn internal_fds() -> Vec<RawFd> {
    all().filter(|fd| !inherited(*fd)).collect()
}

/// Closes those that are the parent's, as far as the program has not taken their numbers: in the child of a fork,
/// before it has any of its own. Their owners are to be forgotten, not dropped.
pub(crate) fn after_fork() {
    for fd in all().collect::<Vec<_>>() {
        clear(fd);
        // SAFETY: ours, and nobody in this process uses or closes it any more.
        unsafe { libc::close(fd) };
    }
}

/// A descriptor of ours.
#[derive(Debug)]
pub struct InternalFd(RawFd);

impl InternalFd {
    /// Takes the answer of a system call that has made it (`FD_CLOEXEC` set).
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

    /// A duplicate of a descriptor of the program's.
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
        clear(self.0); // first: closed, the number may be the program's at once
        // SAFETY: this is its owner.
        unsafe { libc::close(self.0) };
    }
}
