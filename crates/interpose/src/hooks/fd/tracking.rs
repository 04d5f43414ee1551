//! What is known of descriptors follows the calls that make and close them.

use super::locks;
use crate::host::{Host, errno, php_thread_host, set_errno};
use spindle_reactor::Opened;
use std::os::fd::RawFd;

/// A descriptor is about to be closed, or was closed or replaced where we do not see it: for other families too.
pub(crate) fn gone(fd: RawFd) {
    if fd >= 0
        && let Some(host) = php_thread_host()
    {
        let error = errno();
        host.reactor().forget(fd, |waiter| host.wake(waiter));
        locks::released();
        set_errno(error);
    }
}

/// A descriptor was made, if `fd` is one; passes it on. For other families too.
pub(crate) fn made(fd: RawFd, known: Opened) -> RawFd {
    if fd >= 0
        && let Some(host) = php_thread_host()
    {
        let error = errno();
        host.reactor().opened(fd, known, |waiter| host.wake(waiter));
        set_errno(error);
    }
    fd
}

/// Is it one of ours, on the PHP thread?
pub(super) fn ours(fd: RawFd) -> Option<&'static dyn Host> {
    php_thread_host().filter(|_| spindle_reactor::is_internal(fd))
}
