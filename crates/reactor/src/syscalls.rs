//! System calls that are made directly. glibc prepares for the cancellation of the thread around each `preadv2`, once there are
//! others, which takes longer than the rest of a hook; it makes other calls instead where the kernel has none. musl has them since
//! 1.2.5 only.

#[cfg(target_env = "gnu")]
pub use libc::statx;

mod direct {
    #[cfg(not(target_env = "gnu"))]
    use libc::{c_char, c_uint};
    use libc::{c_int, c_long, iovec, off_t, ssize_t, syscall};

    // The kernel takes the offset in two words, of which the second one is not used where a word has 64 bits.
    const _: () = assert!(size_of::<c_long>() == 8);
    const UNUSED: c_long = 0;

    /// `preadv2(2)`.
    ///
    /// # Safety
    /// As the original.
    pub unsafe fn preadv2(fd: c_int, list: *const iovec, count: c_int, offset: off_t, flags: c_int) -> ssize_t {
        // SAFETY: the caller's own arguments.
        unsafe { syscall(libc::SYS_preadv2, fd, list, count, offset, UNUSED, flags) as ssize_t }
    }

    /// `pwritev2(2)`.
    ///
    /// # Safety
    /// As the original.
    pub unsafe fn pwritev2(fd: c_int, list: *const iovec, count: c_int, offset: off_t, flags: c_int) -> ssize_t {
        // SAFETY: the caller's own arguments.
        unsafe { syscall(libc::SYS_pwritev2, fd, list, count, offset, UNUSED, flags) as ssize_t }
    }

    /// `statx(2)`.
    ///
    /// # Safety
    /// As the original.
    #[cfg(not(target_env = "gnu"))]
    pub unsafe fn statx(at: c_int, path: *const c_char, flags: c_int, mask: c_uint, to: *mut libc::statx) -> c_int {
        // SAFETY: the caller's own arguments.
        unsafe { syscall(libc::SYS_statx, at, path, flags, mask, to) as c_int }
    }
}
#[cfg(not(target_env = "gnu"))]
pub use direct::statx;
pub use direct::{preadv2, pwritev2};
