//! Which file a descriptor refers to.

use std::os::fd::RawFd;

/// A file, pipe or socket, by device and inode: the same for all descriptors of it.
pub(crate) type File = (libc::dev_t, libc::ino_t);

/// Returns the file that `fd` refers to, `None` if it is not open.
pub(crate) fn file_of(fd: RawFd) -> Option<File> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the buffer is of the right size and read only when the call has filled it.
    unsafe {
        (libc::fstat(fd, stat.as_mut_ptr()) == 0).then(|| {
            let stat = stat.assume_init();
            (stat.st_dev, stat.st_ino)
        })
    }
}
