//! The gate: may the running code be suspended here? Each park and yield asks [`Runtime::can_switch`] first, and nothing else
//! decides it. A switch that no code has asked for, at the end of a time slice, asks the same.
//!
//! | closed | by | until |
//! |---|---|---|
//! | a section forbids switches: a callback of C code, a compiler run, a signal handler, a shared buffer | [`without_switch`], [`forbid`] | the section ends; they nest |
//! | a fatal error has left sections, but the coroutine lives on | | [`survived`]: all of them have ended |
//! | no coroutine runs again | [`close_for_good`], at the end of the application (`core`'s `Lifecycle`) | the next request |
//!
//! Hooked calls of libc, which are everywhere, ask a copy of the answer that `interpose` keeps: [`host::current_host`]. It is
//! published at each change, and closed for four more reasons of its own: nothing was spawned yet ([`activate`]); another thread
//! calls; a signal handler of user code runs on this one; the engine holds signals back.
//!
//! The state is recorded even before there is a runtime.

use crate::runtime::moments;
use crate::runtime::scheduler::{Runtime, existing};
use spindle_interpose::host;
use spindle_zend::PhpStatic;
use std::cell::Cell;

struct Gate {
    /// The number of nested sections that forbid switches; [`FOR_GOOD`] is added once no coroutine runs again.
    closed: Cell<u32>,
    /// How many of these sections are extensions' own.
    by_extensions: Cell<u32>,
    /// The first `spawn` of the request has been seen.
    active: Cell<bool>,
}

const FOR_GOOD: u32 = 1 << 31;

static GATE: PhpStatic<Gate> =
    PhpStatic::new(Gate { closed: Cell::new(0), by_extensions: Cell::new(0), active: Cell::new(false) });

impl Runtime {
    /// Returns `true` if the running coroutine can be suspended here.
    #[inline(always)]
    pub fn can_switch(&self) -> bool {
        GATE.closed.get() == 0
    }
}

/// Opens the gate at the start of a request.
pub fn reset() {
    GATE.closed.set(0);
    GATE.by_extensions.set(0);
}

/// Forbids switches until [`allow`]. Nests.
pub fn forbid() {
    GATE.closed.set(GATE.closed.get() + 1);
    host::disable_suspension();
}

/// Ends one [`forbid`].
pub fn allow() {
    GATE.closed.set(GATE.closed.get() - 1);
    publish();
}

/// Forbids switches for an extension, which may fail to allow them again.
pub fn forbid_by_extension() {
    GATE.by_extensions.set(GATE.by_extensions.get() + 1);
    forbid();
}

/// Ends one [`forbid_by_extension`], if there is one.
pub fn allow_by_extension() {
    if let Some(left) = GATE.by_extensions.get().checked_sub(1) {
        GATE.by_extensions.set(left);
        allow();
    }
}

/// Ends the sections that extensions have left open in a coroutine whose body has ended.
#[inline]
pub fn end_sections_of_extensions() {
    while GATE.by_extensions.get() > 0 {
        allow_by_extension();
    }
}

/// Runs `what` with switches forbidden. A bailout may jump over this function; the request ends then, and switches are no longer
/// needed.
pub fn without_switch<R>(what: impl FnOnce() -> R) -> R {
    forbid();
    let result = what();
    allow();
    result
}

/// Allows switches again after a fatal error that has ended code of one coroutine alone: the sections that forbade them have been
/// left.
pub fn survived() {
    GATE.closed.set(GATE.closed.get() & FOR_GOOD);
    GATE.by_extensions.set(0);
    publish();
    if let Some(rt) = existing() {
        moments::survived(rt);
    }
}

/// No coroutine runs again in this request.
pub fn close_for_good() {
    GATE.closed.set(GATE.closed.get() | FOR_GOOD);
    host::disable_suspension();
}

/// Returns `true` from the first `spawn` of a request on.
#[inline(always)]
pub fn is_active() -> bool {
    GATE.active.get()
}

/// Records the first `spawn`. Hooked calls are suspended when that is [`published`](publish).
pub fn activate() {
    GATE.active.set(true);
}

/// Records the end of the request. Returns `true` if something was spawned in it.
pub fn deactivate() -> bool {
    host::disable_suspension();
    GATE.active.replace(false)
}

/// Tells hooked calls whether they may be suspended.
pub fn publish() {
    if GATE.closed.get() == 0 && GATE.active.get() {
        host::enable_suspension();
    } else {
        host::disable_suspension();
    }
}
