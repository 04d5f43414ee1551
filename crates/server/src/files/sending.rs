//! A file that is sent.

use crate::event_loop::{EventLoop, Job};
use crate::pipe::Incomplete;
use bytes::Bytes;
use rustix::fs::{Stat, fstat};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2};
use std::cell::{Cell, RefCell};
use std::io::IoSliceMut;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

/// How many bytes are read in one call: this much of a file is in memory, besides what the connection buffers.
const PIECE: u64 = 64 << 10;

/// A part of an open file.
pub struct File {
    fd: Arc<OwnedFd>,
    part: Range<u64>,
    /// Its size and the time when its content was changed.
    version: Version,
}

/// The time when the content of a file was changed.
pub type Time = (i64, u64);

pub fn modified(stat: &Stat) -> Time {
    (stat.st_mtime, stat.st_mtime_nsec)
}

type Version = (i64, Time);

fn version(stat: &Stat) -> Version {
    (stat.st_size, modified(stat))
}

impl File {
    /// Returns a part of a file that has this size and time.
    pub(crate) fn new(fd: OwnedFd, part: Range<u64>, stat: &Stat) -> File {
        File { fd: Arc::new(fd), part, version: version(stat) }
    }

    /// Returns the length of the part.
    pub(crate) fn length(&self) -> u64 {
        self.part.end - self.part.start
    }
}

/// A piece that is read by another thread.
type Reading = Job<Result<Vec<u8>, Errno>>;

/// A file as the body of a response.
pub struct Sending {
    event_loop: Rc<EventLoop>,
    /// Until it is sent, or given up.
    file: RefCell<Option<Arc<OwnedFd>>>,
    at: Cell<u64>,
    left: Cell<u64>,
    version: Version,
    job: RefCell<Option<Reading>>,
}

impl Sending {
    pub fn new(event_loop: Rc<EventLoop>, file: File) -> Rc<Sending> {
        Rc::new(Sending {
            event_loop,
            at: Cell::new(file.part.start),
            left: Cell::new(file.length()),
            version: file.version,
            file: RefCell::new(Some(file.fd)),
            job: RefCell::new(None),
        })
    }

    /// Returns how many bytes are still to be read.
    pub fn left(&self) -> u64 {
        self.left.get()
    }

    /// Closes the file: the client notices that the response is incomplete, when it takes more of it.
    pub fn give_up(&self) {
        self.file.take();
    }

    /// Returns the next piece; `None` at the end. A file that was changed meanwhile is an error.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Incomplete>>> {
        if self.left.get() == 0 {
            return Poll::Ready(None);
        }
        let Some(file) = self.file.borrow().clone() else { return Poll::Ready(Some(Err(Incomplete))) };
        let length = PIECE.min(self.left.get());
        let read = {
            let mut job = self.job.borrow_mut();
            if job.is_none() {
                match read_cached(&file, self.at.get(), length) {
                    Some(bytes) => return Poll::Ready(Some(self.advance(&file, bytes))),
                    None => *job = Some(self.begin(&file, length)),
                }
            }
            let Some(Poll::Ready(read)) = job.as_ref().map(|job| job.poll(cx)) else { return Poll::Pending };
            *job = None;
            read
        };
        Poll::Ready(Some(match read {
            Some(Ok(bytes)) => self.advance(&file, bytes),
            _ => self.fail(),
        }))
    }

    fn begin(&self, file: &Arc<OwnedFd>, length: u64) -> Reading {
        let (file, at) = (Arc::clone(file), self.at.get());
        Job::spawn(&self.event_loop, move || {
            let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
            loop {
                match pread(&*file, &mut *bytes, at) {
                    Err(Errno::INTR) => {}
                    read => {
                        bytes.truncate(read?);
                        return Ok(bytes);
                    }
                }
            }
        })
    }

    fn advance(&self, file: &OwnedFd, bytes: Vec<u8>) -> Result<Bytes, Incomplete> {
        let left = self.left.get().saturating_sub(bytes.len() as u64);
        // It was truncated; or what was sent of it may be of several versions.
        let is_same = || fstat(file).is_ok_and(|stat| version(&stat) == self.version);
        if bytes.is_empty() || left == 0 && !is_same() {
            return self.fail();
        }
        self.at.set(self.at.get() + bytes.len() as u64);
        self.left.set(left);
        if left == 0 {
            self.file.take();
        }
        Ok(Bytes::from(bytes))
    }

    fn fail(&self) -> Result<Bytes, Incomplete> {
        self.give_up();
        Err(Incomplete)
    }
}

/// Reads what the kernel has in memory. Returns `None` if it has nothing, which may also be the end of the file.
fn read_cached(file: &OwnedFd, at: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let read = preadv2(file, &mut [IoSliceMut::new(&mut bytes)], at, ReadWriteFlags::NOWAIT);
    bytes.truncate(read.ok().filter(|count| *count > 0)?);
    Some(bytes)
}
