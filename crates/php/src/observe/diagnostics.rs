//! The warnings of `async.diagnostics`: coroutines that were never awaited, failures that wait for that, and coroutines
//! that do not end when they are cancelled.
//!
//! What is found is found in the middle of anything: an object dies, a timer fires. So the warnings are raised in
//! coroutines of their own, where an error handler of user code may wait and throw.

#![deny(clippy::multiple_unsafe_ops_per_block)]

use crate::isolation::state;
use crate::observe::{Position, Subject, exception_of, info_of, is_runner, slot, spawned_at, suspended_at, text};
use crate::runtime::{
    describe, life, report, runner,
    scheduler::{Core, Phase, Runtime},
    scope,
};
use crate::zend::settings;
use spindle_core::sched::{CoroutineId, Outcome, State};
use spindle_zend::{Str, engine};

fn are_on() -> bool {
    settings::current().diagnostics
}

/// Returns `true` if it is user code's in the global scope, where only awaiting it shows what became of it.
fn concerns(core: &Core, this: Subject) -> bool {
    let co = slot(this);
    !is_runner(this) && co != Core::MAIN && core.scope_of(co) == Core::GLOBAL
}

/// Returns `true` if it has returned and was never awaited.
fn is_unawaited(core: &Core, this: Subject) -> bool {
    let co = slot(this);
    let returned = core.state(co) == State::Done && core.outcome(co) == Outcome::Returned;
    returned && concerns(core, this) && !core.ever_awaited(co)
}

/// Raises a warning soon, at a position.
fn warn(rt: &'static Runtime, text: &str, (file, line): &Position) {
    runner::warn(rt, text, file.as_deref().map_or(std::ptr::null_mut(), Str::as_raw), *line);
}

#[cold]
fn warn_of_unawaited(rt: &'static Runtime, this: Subject) {
    let id = {
        let mut core = rt.core.borrow_mut();
        core.mark_awaited(slot(this));
        core.id(slot(this))
    };
    let spawned = spawned_at(this);
    let message = format!(
        "Coroutine #{id} spawned at {} in the global scope has ended, and nobody has awaited it: await it, or spawn it in \
         a Scope",
        text(&spawned)
    );
    warn(rt, &message, &spawned);
}

/// The object of a complete coroutine dies.
#[inline]
pub fn object_dies(rt: &'static Runtime, this: Subject) {
    if are_on() && rt.phase.get() != Phase::Ended && is_unawaited(&rt.core.borrow(), this) {
        warn_of_unawaited(rt, this);
    }
}

/// All coroutines have ended, and what user code still holds will not be awaited. Returns `true` if there is something to be
/// run.
pub fn script_ended(rt: &'static Runtime) -> bool {
    if !are_on() {
        return false;
    }
    let mut found: Vec<Subject> = {
        let core = rt.core.borrow();
        let objects = rt.objects.borrow();
        objects.iter().copied().filter(|this| !this.is_null() && is_unawaited(&core, *this)).collect()
    };
    found.sort_by_key(|this| rt.core.borrow().id(slot(*this)));
    for this in &found {
        warn_of_unawaited(rt, *this);
    }
    !found.is_empty()
}

/// User code exits: what has not ended is lost. No coroutine runs again, and no error handler of user code.
pub fn exits(rt: &'static Runtime) {
    if !are_on() {
        return;
    }
    let lost: Vec<CoroutineId> = {
        let core = rt.core.borrow();
        let lost = |co: &CoroutineId| {
            *co != core.running()
                && !matches!(core.state(*co), State::Ending)
                && !core.ever_awaited(*co)
                && concerns(&core, rt.object(*co))
        };
        core.coroutines().filter(lost).collect()
    };
    rt.forbid_switch();
    for co in lost {
        let spawned = spawned_at(rt.object(co));
        let id = rt.core.borrow().id(co);
        let message = format!(
            "Coroutine #{id} spawned at {} in the global scope is lost by exit, and nobody awaits it: await it before, or \
             cancel it",
            text(&spawned)
        );
        let (file, line) = spawned;
        let file = file.as_deref().map_or(String::new(), Str::to_text);
        engine::report_at(&file, line, &message, state::error_reporting());
    }
    rt.allow_switch();
}

/// A coroutine was cancelled: it is to end soon.
#[inline]
pub fn cancelled(rt: &'static Runtime, co: CoroutineId) {
    if are_on() && rt.phase.get() != Phase::Ended {
        let ms = settings::current().cancel_warning_ms;
        rt.core.borrow_mut().schedule_overdue_check(co, scope::deadline(ms));
    }
}

/// A coroutine has failed, and its failure waits to be awaited.
pub fn failed(rt: &'static Runtime, this: Subject) {
    if are_on() && rt.phase.get() != Phase::Ended {
        let ms = settings::current().unawaited_warning_ms;
        rt.core.borrow_mut().schedule_unawaited_check(slot(this), scope::deadline(ms));
    }
}

/// A failed coroutine was not awaited in time.
pub fn unawaited(rt: &'static Runtime, co: CoroutineId) {
    let this = rt.object(co);
    if this.is_null() || !are_on() || !life::is_unseen_failure(this) {
        return; // it was awaited since
    }
    let ms = settings::current().unawaited_warning_ms;
    let failure = exception_of(this).map_or(String::new(), |failure| report::described(failure.as_raw()));
    let name = report::name(rt, this);
    let message =
        format!("Nobody has awaited {name}, {ms} ms after it has failed: {failure}. Await it, or let its object go");
    warn(rt, &message, &spawned_at(this));
}

/// A cancelled coroutine has not ended in time.
pub fn overdue(rt: &'static Runtime, co: CoroutineId) {
    let this = rt.object(co);
    let (id, state, started) = {
        let core = rt.core.borrow();
        (core.id(co), core.state(co), core.is_started(co))
    };
    if this.is_null() || matches!(state, State::Done | State::Ending) || !are_on() {
        return; // it has ended since
    }
    let spawned = match text(&spawned_at(this)) {
        _ if is_runner(this) => " for callbacks or a handler".to_owned(),
        place if place.is_empty() => " (the script itself)".to_owned(),
        place => format!(" spawned at {place}"),
    };
    let ms = settings::current().cancel_warning_ms;
    let mut message = format!("Coroutine #{id}{spawned} has not ended {ms} ms after its cancellation");
    let suspended = suspended_at(this);
    let at = if started && suspended.0.is_some() { suspended } else { spawned_at(this) };
    if state == State::Parked {
        message += &format!(": it is suspended at {}", text(&at));
        let info = info_of(this);
        if !info.call.is_empty() {
            message += &format!(" in {}", describe::wait_of(rt, &info));
        }
    }
    message += ". Code that catches the CancellationException, or waits in finally or protect(), should end soon";
    warn(rt, &message, &at);
}
