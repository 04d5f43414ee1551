//! Tracking of descriptors: what the reactor knows of one follows the calls that open and close it.

use super::locks;
use crate::host::{Host, errno, php_thread_host, set_errno};
use crate::registry::{Behavior, WaitKind, on_cancel};
use spindle_reactor::Opened;
use std::os::fd::RawFd;
use std::sync::atomic::AtomicBool;

/// Of calls that open a descriptor.
pub(crate) const OPENS: Behavior =
    Behavior { wait: WaitKind::Never, summary: "the new descriptor is tracked", on_cancel: on_cancel::NEVER };

/// Of calls that close a descriptor.
pub(crate) const CLOSES: Behavior = Behavior {
    wait: WaitKind::Never,
    summary: "calls parked on the descriptor fail with EBADF",
    on_cancel: on_cancel::NEVER,
};

/// `fcntl` has set `O_DIRECT` on some descriptor, and on those that share its description.
pub(crate) static DIRECT_SET: AtomicBool = AtomicBool::new(false);

/// Forgets a descriptor that is about to be closed, or was closed or replaced where no hook sees it, and wakes those that
/// wait for it. Keeps `errno`.
pub(crate) fn closed(fd: RawFd) {
    if fd >= 0
        && let Some(host) = php_thread_host()
    {
        let error = errno();
        host.reactor().forget(fd, |waiter| host.wake(waiter));
        locks::released();
        set_errno(error);
    }
}

/// Tracks a new descriptor. Returns `fd`, which is below zero if the call that opens it has failed. Keeps `errno`.
pub(crate) fn opened(fd: RawFd, known: Opened) -> RawFd {
    if fd >= 0
        && let Some(host) = php_thread_host()
    {
        let error = errno();
        host.reactor().opened(fd, known, |waiter| host.wake(waiter));
        set_errno(error);
    }
    fd
}

/// Returns the host if `fd` is internal to Spindle and this is the PHP thread: user code must not touch it.
pub(super) fn internal(fd: RawFd) -> Option<&'static dyn Host> {
    php_thread_host().filter(|_| spindle_reactor::is_internal(fd))
}
