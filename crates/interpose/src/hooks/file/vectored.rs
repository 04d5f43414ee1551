//! The arguments of a read or write: where, how much, from which offset.

use libc::{c_int, iovec};
use std::os::fd::RawFd;

/// The current position, for [`Io::offset`] as for `preadv2`.
pub(crate) const HERE: i64 = -1;

/// Pieces of memory handed to the kernel in one call after a first try with the caller's own list.
const WINDOW: usize = 16;

/// The arguments of one call. The list and the memory that it names are the caller's, valid until its call returns.
#[derive(Clone, Copy)]
pub(crate) struct Io {
    pub fd: RawFd,
    pub iov: *const iovec,
    pub count: c_int,
    /// The list is the hook's own, with one entry. A caller's list may name unreadable memory: it is not read before
    /// the kernel has accepted it.
    pub own: bool,
    /// [`HERE`] or a position, never negative otherwise.
    pub offset: i64,
    pub call: &'static str,
}

impl Io {
    fn list(&self) -> &[iovec] {
        // SAFETY: only called when the kernel has accepted the list, which therefore has that many readable
        // entries (none is touched when there are none).
        if self.count <= 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.iov, self.count as usize) } }
    }

    /// Returns the number of bytes asked for. As all methods below: only once the kernel has accepted the list.
    pub(crate) fn total(&self) -> usize {
        match self.list() {
            [one] => one.iov_len,
            list => list.iter().fold(0, |sum, piece| sum.saturating_add(piece.iov_len)),
        }
    }

    /// Returns the offset `done` bytes later.
    pub(crate) fn offset_after(&self, done: usize) -> i64 {
        if self.offset == HERE { HERE } else { self.offset.saturating_add(done as i64) }
    }

    /// Calls `then` with the pieces that follow the first `skip` bytes: at most `most` bytes, perhaps fewer.
    pub(crate) fn rest<R>(&self, skip: usize, most: usize, then: impl FnOnce(*const iovec, c_int) -> R) -> R {
        let mut window = [const { iovec { iov_base: std::ptr::null_mut(), iov_len: 0 } }; WINDOW];
        let (mut used, mut skip, mut most) = (0, skip, most);
        for piece in self.list() {
            if used == WINDOW || most == 0 {
                break;
            }
            if skip >= piece.iov_len {
                skip -= piece.iov_len;
                continue;
            }
            let length = (piece.iov_len - skip).min(most);
            window[used] = iovec { iov_base: piece.iov_base.wrapping_byte_add(skip), iov_len: length };
            (used, skip, most) = (used + 1, 0, most - length);
        }
        then(window.as_ptr(), used as c_int)
    }

    /// Writes `bytes` into the caller's memory after the first `skip` bytes of it.
    pub(crate) fn scatter(&self, mut skip: usize, mut bytes: &[u8]) {
        for piece in self.list() {
            if bytes.is_empty() {
                break;
            }
            if skip >= piece.iov_len {
                skip -= piece.iov_len;
                continue;
            }
            let (now, later) = bytes.split_at((piece.iov_len - skip).min(bytes.len()));
            // SAFETY: the caller gave these `iov_len` bytes to be written; `bytes` is ours, so they do not overlap.
            unsafe {
                std::ptr::copy_nonoverlapping(now.as_ptr(), piece.iov_base.cast::<u8>().add(skip), now.len());
            }
            (skip, bytes) = (0, later);
        }
    }

    /// Returns a copy of at most `most` bytes of the caller's memory after the first `skip`.
    pub(crate) fn gather(&self, mut skip: usize, most: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(most);
        for piece in self.list() {
            if bytes.len() == most {
                break;
            }
            if skip >= piece.iov_len {
                skip -= piece.iov_len;
                continue;
            }
            let length = (piece.iov_len - skip).min(most - bytes.len());
            // SAFETY: the caller gave these `iov_len` bytes to be read, and waits for its call.
            bytes.extend_from_slice(unsafe {
                std::slice::from_raw_parts(piece.iov_base.cast::<u8>().add(skip), length)
            });
            skip = 0;
        }
        bytes
    }
}
