//! Standard error for lines that may not be waited for.

use crate::pool::SignalsBlocked;
use spindle_inbox::lines::{Lines, Writer};
use std::io;
use std::mem::MaybeUninit;

/// How many may wait, as many as entries of the access log.
const MOST: usize = 10_000;

/// Begins lines to standard error, which are written by a thread in which no signal is handled. `missing` is said in the place of this
/// many that were lost.
///
/// # Errors
/// There is no room for a thread.
pub fn lines(missing: impl Fn(u64) -> Vec<u8> + Send + 'static) -> io::Result<Lines> {
    let _mask = SignalsBlocked::new()?;
    Lines::begin("spindle-lines", Writer { most: MOST, write, missing: Box::new(missing) })
}

/// Whether what is written to it may have to wait for a reader, as a file has none.
pub fn has_reader() -> bool {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: a place for the answer.
    if unsafe { libc::fstat(libc::STDERR_FILENO, stat.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: the call has succeeded, hence it has filled this.
    let mode = unsafe { stat.assume_init() }.st_mode;
    mode & libc::S_IFMT != libc::S_IFREG
}

/// Writes all of this, however long that takes. Returns `false` if it fails.
fn write(mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: a slice's own bytes.
        let written = unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
        if let Ok(written) = usize::try_from(written) {
            bytes = &bytes[written..];
            continue;
        }
        match io::Error::last_os_error().kind() {
            io::ErrorKind::Interrupted => {}
            // Other code has put it into this mode.
            io::ErrorKind::WouldBlock => {
                let mut poll = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
                // SAFETY: one valid entry.
                unsafe { libc::poll(&raw mut poll, 1, -1) };
            }
            _ => return false,
        }
    }
    true
}
