//! What the workers of a command tell each other, and the command: memory that they share, with a place for each.
#![allow(unsafe_code)]

use crate::tallies::PLACE;
use rustix::fs::{SealFlags, fcntl_get_seals, fstat};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a worker tells: 1 while it accepts connections, how many it has, and other numbers of its server (`tallies.rs`). The command
/// reads them without a mapping of its own.
#[repr(C, align(64))]
#[derive(Debug)]
struct Place([AtomicU64; PLACE]);

const ACCEPTS: usize = 0;
/// Where the numbers of [`Stats`](crate::Stats) begin.
pub const CONNECTIONS: usize = 1;

/// The places of all workers.
#[derive(Debug)]
pub struct Board {
    places: &'static [Place],
    own: usize,
    process: u32,
}

impl Board {
    /// Maps a sealed file of zeros, whose place of this number no other process writes to.
    ///
    /// # Errors
    /// It is none, or has no such place.
    pub fn open(file: OwnedFd, own: usize) -> io::Result<Board> {
        // What can be cut would end this process when it is used.
        if !fcntl_get_seals(&file)?.contains(SealFlags::SHRINK) {
            return Err(Errno::INVAL.into());
        }
        let size = usize::try_from(fstat(&file)?.st_size).unwrap_or(0);
        let count = size / size_of::<Place>();
        if own >= count {
            return Err(Errno::INVAL.into());
        }
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let memory =
            unsafe { mmap(ptr::null_mut(), size, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0)? };
        // SAFETY: pages, which are aligned and as long as the file, are never unmapped, and hold numbers that are valid whatever they
        // are, and which all processes use as atomic ones.
        let places = unsafe { std::slice::from_raw_parts(memory.cast::<Place>(), count) };
        Ok(Board { places, own, process: std::process::id() })
    }

    /// Opens one by the descriptor of such a file, which this process was started with, and which nothing else in it uses.
    ///
    /// # Errors
    /// See [`open`](Board::open).
    pub fn inherited(number: RawFd, own: usize) -> io::Result<Board> {
        // SAFETY: a number that is no error of a system call; if it is not open, the next call fails.
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        let copy = fcntl_dupfd_cloexec(file, 3)?;
        // SAFETY: it was open just now, and the caller's owner has left it to this process for this use.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
        Board::open(copy, own)
    }

    /// Tells whether this worker accepts connections. A process that it has forked does not.
    pub fn set_accepts(&self, does: bool) {
        if self.process == std::process::id() {
            self.places[self.own].0[ACCEPTS].store(does.into(), Ordering::Relaxed);
        }
    }

    /// Tells numbers of this worker: from this one on, of which 1 is how many connections it has.
    pub fn tell(&self, first: usize, numbers: impl IntoIterator<Item = u64>) {
        for (to, number) in self.places[self.own].0[first..].iter().zip(numbers) {
            to.store(number, Ordering::Relaxed);
        }
    }

    /// Returns `true` if this worker has more connections than all that accept some have on average.
    pub fn is_ahead(&self, connections: usize) -> bool {
        let (mut all, mut count) = (0_u64, 0_u64);
        for place in self.places.iter().filter(|place| place.0[ACCEPTS].load(Ordering::Relaxed) == 1) {
            all = all.saturating_add(place.0[CONNECTIONS].load(Ordering::Relaxed));
            count += 1;
        }
        let mean = all.checked_div(count).unwrap_or(0);
        connections as u64 > mean.saturating_add(1).saturating_add(mean / 8)
    }
}
