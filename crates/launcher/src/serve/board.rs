//! What the workers tell: numbers, in memory that they share. This process reads them as from a file.

#[path = "../../../server/src/tallies.rs"]
pub mod tallies;

use super::process::Descriptor;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use serde::Serialize;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use tallies::{CLASSES, DURATION_CLASSES, DURATIONS, LINES_LOST, RESPONSES};

/// The size of a place in bytes.
const PLACE: usize = tallies::PLACE * 8;

/// The numbers of a worker, in the order of the place, after whether it accepts connections.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Numbers {
    pub connections: u64,
    pub accepted: u64,
    pub requests: u64,
    pub running: u64,
    pub queued: u64,
    pub websockets: u64,
    pub files: u64,
    pub refused: u64,
    pub cancelled: u64,
    pub handshakes_failed: u64,
    pub waiting: u64,
    /// Lines of the access log, and of the error log.
    #[serde(skip)]
    pub lines_lost: [u64; 2],
    /// The requests that have ended: by status, by duration, and the sum of their durations, in nanoseconds. See `tallies.rs`.
    #[serde(skip)]
    pub responses: [u64; CLASSES.len()],
    #[serde(skip)]
    pub durations: [u64; DURATION_CLASSES],
    #[serde(skip)]
    pub duration_sum: u64,
}

impl Numbers {
    /// Those that lie so on the board.
    pub fn of(number: impl Fn(usize) -> u64) -> Numbers {
        Numbers {
            connections: number(1),
            accepted: number(2),
            requests: number(3),
            running: number(4),
            queued: number(5),
            websockets: number(6),
            files: number(7),
            refused: number(8),
            cancelled: number(9),
            handshakes_failed: number(10),
            waiting: number(11),
            lines_lost: std::array::from_fn(|log| number(LINES_LOST + log)),
            responses: std::array::from_fn(|class| number(RESPONSES + class)),
            durations: std::array::from_fn(|class| number(DURATIONS + class)),
            duration_sum: number(DURATIONS + DURATION_CLASSES),
        }
    }

    /// As they lie on the board.
    pub fn words(&self) -> Vec<u64> {
        let mut words = vec![
            0,
            self.connections,
            self.accepted,
            self.requests,
            self.running,
            self.queued,
            self.websockets,
            self.files,
            self.refused,
            self.cancelled,
            self.handshakes_failed,
            self.waiting,
        ];
        words.resize(tallies::PLACE, 0);
        words[LINES_LOST..][..2].copy_from_slice(&self.lines_lost);
        words[RESPONSES..][..CLASSES.len()].copy_from_slice(&self.responses);
        words[DURATIONS..][..DURATION_CLASSES].copy_from_slice(&self.durations);
        words[DURATIONS + DURATION_CLASSES] = self.duration_sum;
        words
    }

    /// Adds what another worker has counted.
    pub fn add(&mut self, other: &Numbers) {
        for (total, number) in [
            (&mut self.accepted, other.accepted),
            (&mut self.requests, other.requests),
            (&mut self.files, other.files),
            (&mut self.refused, other.refused),
            (&mut self.cancelled, other.cancelled),
            (&mut self.handshakes_failed, other.handshakes_failed),
            (&mut self.duration_sum, other.duration_sum),
        ] {
            *total = total.saturating_add(number);
        }
        let durations = self.durations.iter_mut().zip(&other.durations);
        let lines = self.lines_lost.iter_mut().zip(&other.lines_lost);
        for (total, number) in self.responses.iter_mut().zip(&other.responses).chain(durations).chain(lines) {
            *total = total.saturating_add(*number);
        }
    }
}

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

    /// Has the program that takes over get it.
    pub fn keep(&self) -> io::Result<Descriptor> {
        Descriptor::keep(&self.file)
    }

    /// Goes on with the one that was kept, of whose places workers have these.
    pub fn adopt(kept: Descriptor, taken: impl Iterator<Item = usize>) -> io::Result<Board> {
        let file = File::from(kept.take()?);
        let places = usize::try_from(file.metadata()?.len()).unwrap_or(0) / PLACE;
        let mut board = Board { file, is_taken: vec![false; places] };
        for place in taken {
            *board.is_taken.get_mut(place).ok_or(io::ErrorKind::InvalidData)? = true;
        }
        Ok(board)
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

    /// The numbers of a worker.
    pub fn read(&self, place: usize) -> Numbers {
        let mut bytes = [0; PLACE];
        if self.file.read_exact_at(&mut bytes, (place * PLACE) as u64).is_err() {
            return Numbers::default(); // it is memory
        }
        Numbers::of(|at| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[at * 8..at * 8 + 8]);
            u64::from_ne_bytes(number)
        })
    }

    /// Frees the place of a worker that has ended, and returns its last numbers.
    pub fn take_from(&mut self, place: usize) -> Numbers {
        let last = self.read(place);
        self.free(place);
        last
    }

    /// Frees the place of a worker that has ended, however that was.
    pub fn free(&mut self, place: usize) {
        let _ = self.file.write_all_at(&[0; PLACE], (place * PLACE) as u64); // it is memory
        self.is_taken[place] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::{Board, Numbers, tallies};

    #[test]
    fn numbers_lie_as_on_the_board() {
        let words: Vec<u64> = (0..tallies::PLACE as u64).collect();
        let numbers = Numbers::of(|at| words[at]);
        let again = numbers.words();
        assert_eq!(
            again.iter().filter(|word| **word > 0).count(),
            11 + 2 + tallies::CLASSES.len() + tallies::DURATION_CLASSES + 1
        );
        assert!(again.iter().zip(&words).all(|(again, word)| *again == 0 || again == word));
    }

    #[test]
    fn places_of_workers_that_are_gone_are_free_after_an_upgrade() {
        let mut board = Board::new(3).unwrap();
        assert_eq!([(); 2].map(|()| board.take()), [Some(0), Some(1)]);
        let kept = board.keep().unwrap();
        std::mem::forget(board); // as after an execve
        let mut board = Board::adopt(kept, [1].into_iter()).unwrap();
        assert_eq!([(); 3].map(|()| board.take()), [Some(0), Some(2), None]);
    }
}
