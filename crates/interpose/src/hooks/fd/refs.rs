//! Descriptors that a job on a worker thread is using: closing one waits for the job.
//!
//! A duplicate would pin the description as well, but closing the duplicate drops every POSIX record lock that
//! the process has on the file (`fcntl(2)`), and SQLite's and others' locks with it. So regular files are not
//! duplicated: the hooks of `close` and its like call [`settle`] first. The jobs concerned (file reads and
//! writes, `fsync`) end by themselves.

use crate::host::{Host, current_host, php_thread_host};
use crate::php_cell::PhpCell;
use crate::wait;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

struct Use {
    fd: RawFd,
    over: Arc<AtomicBool>,
}

static USES: PhpCell<Vec<Use>> = PhpCell::new(Vec::new());

/// Held by a job as long as it uses the descriptor.
pub(crate) struct Pin(Arc<AtomicBool>);

impl Drop for Pin {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Pins `fd` until the value is dropped, on whatever thread.
pub(crate) fn pin(host: &dyn Host, fd: RawFd) -> Pin {
    let over = Arc::new(AtomicBool::new(false));
    USES.with(host, |uses| {
        uses.retain(|u| !u.over.load(Ordering::Acquire));
        uses.push(Use { fd, over: Arc::clone(&over) });
    });
    Pin(over)
}

fn busy(host: &dyn Host, first: RawFd, last: RawFd) -> bool {
    USES.with(host, |uses| uses.iter().any(|u| u.fd >= first && u.fd <= last && !u.over.load(Ordering::Acquire)))
}

/// Waits until no job uses a descriptor from `first` to `last`: to be called before they are closed or replaced.
/// Costs a look at an empty list when there are no jobs. `errno` is kept.
pub fn settle(first: RawFd, last: RawFd) {
    let Some(host) = php_thread_host() else { return };
    if !busy(host, first, last) {
        return;
    }
    let errno = crate::host::errno();
    while busy(host, first, last) {
        // The end of a job wakes the coroutine that started it, not this one: it checks again by itself.
        if !current_host().is_some_and(|host| wait::pause_on_worker(host, "close", first)) {
            std::thread::sleep(wait::UNCANCELLABLE_PAUSE);
        }
    }
    crate::host::set_errno(errno);
}
