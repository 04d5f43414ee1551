//! The rest of a message after a part of it has been transferred.

use libc::{c_int, iovec, msghdr};
use std::os::fd::RawFd;

/// The maximum number of vectors of a continued call. More calls than without Spindle are possible, never other bytes.
const VECTORS: usize = 16;

/// The vectors of the rest.
pub(super) struct Rest {
    vectors: [iovec; VECTORS],
    count: usize,
}

/// Returns the number of vectors.
///
/// # Safety
/// `message` is valid.
#[allow(clippy::unnecessary_cast, reason = "in musl it is an int")]
unsafe fn count(message: *const msghdr) -> usize {
    // SAFETY: the caller's promise.
    unsafe { (*message).msg_iovlen as usize }
}

/// Returns the sum of the lengths, or `None` if the kernel will reject the header.
///
/// # Safety
/// `message` is as `recvmsg(2)` wants it.
pub(super) unsafe fn length(message: *const msghdr) -> Option<usize> {
    if message.is_null() {
        return None;
    }
    // SAFETY: not null, so a valid header by contract.
    let (vectors, count) = unsafe { ((*message).msg_iov, count(message)) };
    if count > libc::UIO_MAXIOV as usize || (vectors.is_null() && count > 0) {
        return None;
    }
    let mut sum = 0usize;
    for i in 0..count {
        // SAFETY: the header says that there are `count` entries.
        sum = sum.checked_add(unsafe { (*vectors.add(i)).iov_len })?;
    }
    Some(sum)
}

impl Rest {
    /// Returns the rest of `message` after its first `skip` bytes.
    ///
    /// # Safety
    /// [`length`] has accepted `message`.
    pub(super) unsafe fn after(message: *const msghdr, mut skip: usize) -> Rest {
        let mut rest = Rest { vectors: [iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; VECTORS], count: 0 };
        // SAFETY: valid by contract.
        let (vectors, count) = unsafe { ((*message).msg_iov, count(message)) };
        for i in 0..count {
            // SAFETY: the header says that there are `count` entries.
            let one = unsafe { *vectors.add(i) };
            if skip >= one.iov_len {
                skip -= one.iov_len;
                continue;
            }
            if rest.count == VECTORS {
                break;
            }
            // SAFETY: within the buffer that this vector describes.
            let base = unsafe { one.iov_base.cast::<u8>().add(skip) };
            rest.vectors[rest.count] = iovec { iov_base: base.cast(), iov_len: one.iov_len - skip };
            rest.count += 1;
            skip = 0;
        }
        rest
    }

    /// Returns a copy of `message` that names the rest. It points into `self`.
    ///
    /// # Safety
    /// `message` is a valid header.
    pub(super) unsafe fn header(&mut self, message: *const msghdr) -> msghdr {
        // SAFETY: valid by contract.
        let mut header = unsafe { *message };
        header.msg_iov = self.vectors.as_mut_ptr();
        header.msg_iovlen = self.count as _;
        header
    }
}

/// Passes each descriptor that came with a received message to `then`.
///
/// # Safety
/// The kernel has just filled `message`.
pub(super) unsafe fn received_fds(message: *const msghdr, mut then: impl FnMut(RawFd)) {
    const SCM_PIDFD: c_int = 4;
    // SAFETY: the kernel wrote the control buffer that the header names; the macros stay within it.
    unsafe {
        if (*message).msg_controllen < size_of::<libc::cmsghdr>() as _ {
            return;
        }
        let mut control = libc::CMSG_FIRSTHDR(message);
        while !control.is_null() {
            let kind = (*control).cmsg_type;
            if (*control).cmsg_level == libc::SOL_SOCKET && (kind == libc::SCM_RIGHTS || kind == SCM_PIDFD) {
                let bytes = ((*control).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
                let data = libc::CMSG_DATA(control).cast::<RawFd>();
                for i in 0..bytes / size_of::<RawFd>() {
                    then(data.add(i).read_unaligned());
                }
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    }
}
