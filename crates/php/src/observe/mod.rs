//! Diagnostics: dumps, warnings, and the watchdog's reports.

pub mod diagnostics;
pub mod dump;
pub mod watch;

use crate::runtime::coroutine::{Coroutine, Info};
use spindle_core::sched::CoroutineId;
use spindle_zend::{Object, Owned, Str, exception};

/// The object of a coroutine, which the runtime holds while this is used.
type Subject = *mut Coroutine;

/// A file, if it is known, and a line.
type Position = (Option<Owned<Str>>, u32);

fn borrow<'a>(this: Subject) -> &'a Coroutine {
    // SAFETY: a live object; it is borrowed only while its fields are read.
    unsafe { &*this }
}

/// Returns its slot in the core.
fn slot(this: Subject) -> CoroutineId {
    borrow(this).co
}

/// Returns `true` if it is one of ours, which runs callbacks or a handler.
fn is_runner(this: Subject) -> bool {
    !borrow(this).job.is_null()
}

/// Returns what one of ours is for, and the coroutine that this is about.
fn job_of(this: Subject) -> Option<(&'static str, Option<Subject>)> {
    // SAFETY: null, or what the object owns.
    unsafe { borrow(this).job.as_ref() }.map(|job| job.about())
}

/// Returns where it was spawned.
fn spawned_at(this: Subject) -> Position {
    let this = borrow(this);
    // SAFETY: null, or what the object holds.
    (unsafe { Str::borrow(this.spawn_file) }.map(Owned::of), this.spawn_line)
}

/// Returns where it was suspended last.
fn suspended_at(this: Subject) -> Position {
    let this = borrow(this);
    // SAFETY: null, or what the object holds.
    (unsafe { Str::borrow(this.suspend_file) }.map(Owned::of), this.suspend_line)
}

/// Returns `FILE:LINE`, or nothing.
fn text((file, line): &Position) -> String {
    exception::place(file.as_deref(), *line)
}

/// Returns what it waits for.
fn info_of(this: Subject) -> Info {
    borrow(this).info
}

/// Returns what it has thrown.
fn exception_of(this: Subject) -> Option<Owned<Object>> {
    // SAFETY: null, or what the object holds.
    unsafe { Object::borrow(borrow(this).exception) }.map(Owned::of)
}
