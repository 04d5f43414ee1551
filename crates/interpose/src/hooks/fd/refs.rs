//! References that jobs in the thread pool hold to descriptors: closing one waits for them.
//!
//! A duplicate would keep the description open as well, but closing the duplicate drops every POSIX record lock that the
//! process has on the file (`fcntl(2)`), those of SQLite among them. So regular files are not duplicated: the hooks of
//! `close` and the like call [`wait_for_jobs`] first. The jobs concerned (file reads and writes, `fsync`) are bounded.

use crate::host::{Host, current_host, errno, php_thread_host, set_errno};
use crate::php_cell::PhpCell;
use crate::wait;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A reference that some job holds or held.
struct Reference {
    fd: RawFd,
    released: Arc<AtomicBool>,
}

static REFERENCES: PhpCell<Vec<Reference>> = PhpCell::new(Vec::new());

/// A reference to a descriptor, released when it is dropped, on whatever thread.
pub(crate) struct FdRef(Arc<AtomicBool>);

impl FdRef {
    pub(crate) fn new(host: &dyn Host, fd: RawFd) -> FdRef {
        let released = Arc::new(AtomicBool::new(false));
        REFERENCES.with(host, |all| {
            all.retain(|one| !one.released.load(Ordering::Acquire));
            all.push(Reference { fd, released: Arc::clone(&released) });
        });
        FdRef(released)
    }
}

impl Drop for FdRef {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn in_use(host: &dyn Host, first: RawFd, last: RawFd) -> bool {
    REFERENCES.with(host, |all| {
        all.iter().any(|one| (first..=last).contains(&one.fd) && !one.released.load(Ordering::Acquire))
    })
}

/// Waits until no job uses a descriptor from `first` to `last`. Called before they are closed or replaced; costs one check of
/// an empty list when there are no jobs. Keeps `errno`.
pub fn wait_for_jobs(first: RawFd, last: RawFd) {
    let Some(host) = php_thread_host() else { return };
    if !in_use(host, first, last) {
        return;
    }
    let saved = errno();
    while in_use(host, first, last) {
        // The end of a job wakes the coroutine that started it, not this one: it checks again by itself.
        if !current_host().is_some_and(|host| wait::pause_on_worker(host, "close", first)) {
            std::thread::sleep(wait::UNCANCELLABLE_PAUSE);
        }
    }
    set_errno(saved);
}
