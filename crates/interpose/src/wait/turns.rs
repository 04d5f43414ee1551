//! Turns at writing to one pipe or stream socket.
//!
//! A blocking write of much data enters the kernel in pieces, and between two of them its coroutine is parked. What another
//! coroutine wrote meanwhile to the same pipe or socket, by this descriptor or a duplicate, would land in the middle. So a write
//! that has to wait has the *turn* until it returns, and others queue for it in order of arrival.
//!
//! The last holder of the turn gets it again before those that wait: `echo $text, "\n"` is two writes and one line. The waiters
//! are woken when the turn is given back, so they are next as soon as that coroutine waits for anything else, or after `AGAIN`
//! writes.
//!
//! Not guaranteed: writes while suspension is disabled (the error log), and those of other threads and processes, do not wait.

use super::identity::{File, file_of};
use super::{Place, WaitQueue, deadline_after};
use crate::host::{BlockedOn, Host, OnSignal, current_host, php_thread_host};
use crate::php_cell::PhpCell;
use libc::c_int;
use spindle_reactor::{Blocking, Interest};
use std::os::fd::RawFd;

/// How often in a row a coroutine may have the turn again while others wait.
const AGAIN: u32 = 1000;

/// The turn of a write that is under way, `None` if it has not had to wait. It is given back by [`leave`]: a destructor would be
/// lost with a stack that is abandoned.
pub(crate) type Turn = Option<File>;

/// A file whose turn is taken, or given back while others wait for it.
struct Taken {
    file: File,
    /// The coroutine that has the turn, or had it last.
    by: u64,
    is_back: bool,
    again: u32,
}

struct Turns {
    taken: Vec<Taken>,
    waiting: WaitQueue<File>,
}

static TURNS: PhpCell<Turns> = PhpCell::new(Turns { taken: Vec::new(), waiting: WaitQueue::new() });

impl Turns {
    /// Gives the turn to `me` if it is free, and `me` is next: it had it last, or is the first of those that wait, with this
    /// place. Returns `None` if others are before it, and `Some(None)` if no write is under way.
    fn claim(&mut self, file: File, me: u64, place: Option<Place>) -> Option<Turn> {
        let Some(taken) = self.taken.iter_mut().find(|taken| taken.file == file) else { return Some(None) };
        if !taken.is_back {
            // Its own: a write that is made in pieces, each of which is a call.
            return (taken.by == me && place.is_none()).then_some(None);
        }
        let is_next = match place {
            Some(place) => !self.waiting.keys_before(place).any(|other| *other == file),
            None => taken.by == me && taken.again < AGAIN,
        };
        if !is_next {
            return None;
        }
        taken.again = if place.is_none() { taken.again + 1 } else { 0 };
        (taken.by, taken.is_back) = (me, false);
        Some(Some(file))
    }

    /// Forgets a turn that has no holder and no waiter. Returns `true` if a coroutine waits for it.
    fn is_wanted(&mut self, file: File) -> bool {
        let wanted = self.waiting.keys().any(|key| *key == file);
        if !wanted {
            self.taken.retain(|taken| taken.file != file || !taken.is_back);
        }
        wanted
    }
}

/// Waits while another coroutine is in the middle of a write to the file of `fd`, for the time that a socket has for sending.
///
/// # Errors
/// The `errno` of a call that was cancelled or interrupted, had no more time, or whose descriptor was closed.
#[inline]
pub(crate) fn enter(host: &dyn Host, fd: RawFd, call: &'static str) -> Result<Turn, c_int> {
    if TURNS.with(host, |turns| turns.taken.is_empty()) { Ok(None) } else { queue(host, fd, call) }
}

#[cold]
fn queue(host: &dyn Host, fd: RawFd, call: &'static str) -> Result<Turn, c_int> {
    let Some(file) = file_of(fd) else { return Ok(None) };
    let me = host.coroutine();
    if let Some(turn) = TURNS.with(host, |turns| turns.claim(file, me, None)) {
        return Ok(turn);
    }
    let limit = host.reactor().socket_timeout(fd, Interest::WRITE);
    let deadline = (limit != 0).then(|| deadline_after(limit));
    let on_signal = if deadline.is_some() { OnSignal::Interrupt } else { OnSignal::Restart };
    let generation = host.reactor().generation(fd);
    let place = TURNS.with(host, |turns| turns.waiting.next_place());
    let result = loop {
        let waiter = host.begin_wait();
        TURNS.with(host, |turns| turns.waiting.enqueue(place, file, waiter));
        if let Err(error) = host.park(deadline, BlockedOn { call, fd, on_signal }).check(libc::EAGAIN) {
            break Err(error);
        }
        if host.reactor().generation(fd) != generation {
            break Err(libc::EBADF);
        }
        if let Some(turn) = TURNS.with(host, |turns| turns.claim(file, me, Some(place))) {
            break Ok(turn);
        }
    };
    TURNS.with(host, |turns| turns.waiting.remove(place));
    if result.is_err() {
        pass_on(host, file); // it may have been woken for the turn
    }
    result
}

/// Takes the turn for a write that is going to wait. [`enter`] has seen that it is free, without a switch since.
pub(crate) fn take(host: &dyn Host, turn: &mut Turn, fd: RawFd) {
    if turn.is_some() {
        return;
    }
    let Some(file) = file_of(fd) else { return };
    let by = host.coroutine();
    TURNS.with(host, |turns| {
        if turns.taken.iter().all(|taken| taken.file != file) {
            turns.taken.push(Taken { file, by, is_back: false, again: 0 });
            *turn = Some(file);
        }
    });
}

/// Gives the turn back, if it was taken.
#[inline]
pub(crate) fn leave(host: &dyn Host, turn: Turn) {
    if let Some(file) = turn {
        give_back(host, file);
    }
}

#[cold]
fn give_back(host: &dyn Host, file: File) {
    TURNS.with(host, |turns| {
        if let Some(taken) = turns.taken.iter_mut().find(|taken| taken.file == file) {
            taken.is_back = true;
        }
    });
    pass_on(host, file);
}

/// Wakes the first waiter for a turn that is free.
fn pass_on(host: &dyn Host, file: File) {
    let waiter = TURNS.with(host, |turns| {
        let is_free = turns.taken.iter().any(|taken| taken.file == file && taken.is_back);
        if is_free && turns.is_wanted(file) { turns.waiting.take_first(|key| *key == file) } else { None }
    });
    if let Some(waiter) = waiter {
        host.wake(waiter);
    }
}

/// Makes a write in one turn that consists of several calls, because the descriptor is in non-blocking mode: those of the others
/// wait until `write` returns. In a coroutine that is cancelled while it waits, it is made all the same.
pub fn in_one_turn<R>(fd: RawFd, write: impl FnOnce() -> R) -> R {
    let Some(host) = current_host().filter(|host| host.reactor().blocking(fd) == Blocking::No) else { return write() };
    let mut turn = enter(host, fd, "write").unwrap_or(None);
    take(host, &mut turn, fd);
    let result = write();
    leave(host, turn);
    result
}

/// Forgets all turns: in the child of a fork, and once the waiting coroutines have been abandoned.
pub(crate) fn reset() {
    if let Some(host) = php_thread_host() {
        TURNS.with(host, |turns| {
            turns.taken.clear();
            turns.waiting.clear();
        });
    }
}
