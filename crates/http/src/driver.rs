//! The event loop, as the server sees it.

use spindle_php::coroutine::{self, WaitSet};
use spindle_server::{Direction, Driver, Key};
use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::rc::Rc;

/// Waits for descriptors by a set that the coroutine of `run()` serves.
pub struct Events {
    pub set: Rc<WaitSet>,
    /// That coroutine waits, or is about to: actions of other coroutines have to wake it.
    pub waits: Rc<Cell<bool>>,
}

fn direction(direction: Direction) -> coroutine::Direction {
    match direction {
        Direction::Read => coroutine::Direction::Read,
        Direction::Write => coroutine::Direction::Write,
    }
}

impl Driver for Events {
    fn now(&self) -> u64 {
        coroutine::now()
    }

    fn watch(
        &self,
        fd: BorrowedFd<'_>,
        to: Direction,
        would_block: bool,
        is_used: &dyn Fn(Key) -> bool,
    ) -> io::Result<Option<Key>> {
        self.set.watch_used(fd.as_raw_fd(), direction(to), would_block, is_used)
    }

    fn submit(&self, job: Box<dyn FnOnce() + Send>, is_used: &dyn Fn(Key) -> bool) -> Option<Key> {
        self.set.submit(job, is_used)
    }

    fn unwatch(&self, fd: RawFd, key: Key) {
        self.set.unwatch_descriptor(fd, key);
    }

    fn emptied(&self, fd: BorrowedFd<'_>, to: Direction) {
        self.set.emptied(fd.as_raw_fd(), direction(to));
    }

    fn opened(&self, fd: BorrowedFd<'_>, is_tcp: bool) {
        coroutine::descriptor_opened(fd, is_tcp);
    }

    fn closing(&self, fd: BorrowedFd<'_>) {
        coroutine::descriptor_closing(fd);
    }

    fn wake(&self) {
        if self.waits.replace(false) {
            self.set.wake();
        }
    }

    fn release_memory(&self) {
        spindle_blocks::release();
    }
}
