//! What the workers tell: numbers, in memory that they share. This process reads them as from a file.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;

/// The size of a place, as in the crate of the server.
const PLACE: usize = 128;

pub struct Board {
    file: File,
    /// Whether a worker has it.
    is_taken: Vec<bool>,
}

impl Board {
    /// Returns one with this many places.
    pub fn new(places: usize) -> io::Result<Board> {
        let memory = memfd_create("spindle-board", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&memory, (places * PLACE) as u64)?;
        fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(Board { file: memory.into(), is_taken: vec![false; places] })
    }

    /// What workers inherit.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Takes a place for a worker. If there is none, it goes without.
    pub fn take(&mut self) -> Option<usize> {
        let free = self.is_taken.iter().position(|is_taken| !is_taken)?;
        self.is_taken[free] = true;
        Some(free)
    }

    /// Frees the place of a worker that has ended, however that was.
    pub fn free(&mut self, place: usize) {
        let _ = self.file.write_all_at(&[0; PLACE], (place * PLACE) as u64); // it is memory
        self.is_taken[place] = false;
    }
}
