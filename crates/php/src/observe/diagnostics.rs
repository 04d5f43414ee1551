//! The warnings of `async.diagnostics`: coroutines that nobody has awaited, failures that wait for that, and coroutines
//! that do not end when they are cancelled.
//!
//! What is found is found in the middle of anything: an object dies, a timer fires. So the warnings are raised in
//! coroutines of their own, where an error handler of the program may wait and throw.

use crate::isolation::state;
use crate::runtime::{
    coroutine::Coroutine,
    describe, life, report, runner,
    scheduler::{Core, Phase, Runtime},
    scope,
};
use crate::zend::{exception, zv};
use spindle_core::sched::{CoroutineId, Outcome, State};
use spindle_php_sys as sys;

fn are_on() -> bool {
    // SAFETY: read after module start.
    unsafe { sys::spindle_settings.diagnostics }
}

/// Is it one of the program's in the global scope, where nothing but awaiting it tells what became of it?
fn concerns(core: &Core, this: *mut Coroutine) -> bool {
    // SAFETY: a live object with a slot.
    let (co, ours) = unsafe { ((*this).co, !(*this).job.is_null()) };
    !ours && co != Core::MAIN && core.scope_of(co) == Core::GLOBAL
}

fn was_for_nobody(core: &Core, this: *mut Coroutine) -> bool {
    // SAFETY: a live object with a slot.
    let co = unsafe { (*this).co };
    let returned = core.state(co) == State::Done && core.outcome(co) == Outcome::Returned;
    returned && concerns(core, this) && !core.ever_awaited(co)
}

#[cold]
fn nobody_has_awaited(rt: &'static Runtime, this: *mut Coroutine) {
    // SAFETY: a live object with a slot.
    unsafe {
        let id = {
            let mut core = rt.core.borrow_mut();
            core.mark_awaited((*this).co);
            core.id((*this).co)
        };
        let place = exception::place((*this).spawn_file, (*this).spawn_line);
        let text = format!(
            "Coroutine #{id} spawned at {place} in the global scope has ended, and nobody has awaited it: await it, or \
             spawn it in a Scope"
        );
        runner::warn(rt, &text, (*this).spawn_file, (*this).spawn_line);
    }
}

/// The object of a complete coroutine dies.
#[inline]
pub fn object_dies(rt: &'static Runtime, this: *mut Coroutine) {
    if are_on() && rt.phase.get() != Phase::Ended && was_for_nobody(&rt.core.borrow(), this) {
        nobody_has_awaited(rt, this);
    }
}

/// All have ended, and what the program still holds will not be awaited. `true`: there is something to be run.
pub fn script_ended(rt: &'static Runtime) -> bool {
    if !are_on() {
        return false;
    }
    let mut found: Vec<*mut Coroutine> = {
        let core = rt.core.borrow();
        let objects = rt.objects.borrow();
        objects.iter().copied().filter(|this| !this.is_null() && was_for_nobody(&core, *this)).collect()
    };
    // SAFETY: live objects with a slot.
    found.sort_by_key(|this| unsafe { rt.core.borrow().id((**this).co) });
    for this in &found {
        nobody_has_awaited(rt, *this);
    }
    !found.is_empty()
}

/// The program exits: what has not ended is lost. No coroutine runs again, and no error handler of the program's.
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
        let this = rt.object(co);
        let id = rt.core.borrow().id(co);
        // SAFETY: the object of a coroutine that is not complete is alive; terminated texts.
        unsafe {
            let place = exception::place((*this).spawn_file, (*this).spawn_line);
            let text = exception::c_text(&format!(
                "Coroutine #{id} spawned at {place} in the global scope is lost by exit, and nobody awaits it: await it \
                 before, or cancel it"
            ));
            let file = if (*this).spawn_file.is_null() { String::new() } else { zv::text((*this).spawn_file) };
            let file = exception::c_text(&file);
            sys::spindle_report_at(file.as_ptr(), (*this).spawn_line, text.as_ptr(), state::error_reporting());
        }
    }
    rt.allow_switch();
}

/// A coroutine was cancelled: it is to end soon.
#[inline]
pub fn cancelled(rt: &'static Runtime, co: CoroutineId) {
    if are_on() && rt.phase.get() != Phase::Ended {
        // SAFETY: read after module start.
        let ms = unsafe { sys::spindle_settings.cancel_warning_ms };
        rt.core.borrow_mut().schedule_overdue_check(co, scope::deadline(ms));
    }
}

/// A coroutine has failed, and waits for somebody to await it.
pub fn failed(rt: &'static Runtime, this: *mut Coroutine) {
    if are_on() && rt.phase.get() != Phase::Ended {
        // SAFETY: a live object with a slot; a setting that is read after module start.
        let (co, ms) = unsafe { ((*this).co, sys::spindle_settings.unawaited_warning_ms) };
        rt.core.borrow_mut().schedule_unawaited_check(co, scope::deadline(ms));
    }
}

/// Nobody has.
pub fn unawaited(rt: &'static Runtime, co: CoroutineId) {
    let this = rt.object(co);
    if this.is_null() || !are_on() || !life::is_unseen_failure(this) {
        return; // somebody has since
    }
    // SAFETY: a live coroutine's object, which has failed.
    unsafe {
        let ms = sys::spindle_settings.unawaited_warning_ms;
        let (name, failure) = (report::name(rt, this), report::described((*this).exception));
        let text = format!(
            "Nobody has awaited {name}, {ms} ms after it has failed: {failure}. Await it, or let its object go"
        );
        runner::warn(rt, &text, (*this).spawn_file, (*this).spawn_line);
    }
}

/// It has not.
pub fn overdue(rt: &'static Runtime, co: CoroutineId) {
    let this = rt.object(co);
    let (id, state, started) = {
        let core = rt.core.borrow();
        (core.id(co), core.state(co), core.is_started(co))
    };
    if this.is_null() || matches!(state, State::Done | State::Ending) || !are_on() {
        return; // it has ended since
    }
    // SAFETY: the object of a coroutine that is not complete is alive.
    unsafe {
        let spawned = match exception::place((*this).spawn_file, (*this).spawn_line) {
            _ if !(*this).job.is_null() => " for callbacks or a handler".to_owned(),
            place if place.is_empty() => " (the script itself)".to_owned(),
            place => format!(" spawned at {place}"),
        };
        let ms = sys::spindle_settings.cancel_warning_ms;
        let mut text = format!("Coroutine #{id}{spawned} has not ended {ms} ms after its cancellation");
        let (mut file, mut line) = ((*this).spawn_file, (*this).spawn_line);
        let (at, info) = ((*this).suspend_file, (*this).info);
        if started && !at.is_null() {
            (file, line) = (at, (*this).suspend_line);
        }
        if state == State::Parked {
            text += &format!(": it is suspended at {}", exception::place(file, line));
            if !info.call.is_empty() {
                text += &format!(" in {}", describe::wait_of(rt, &info));
            }
        }
        text += ". Code that catches the CancellationException, or waits in finally or protect(), should end soon";
        runner::warn(rt, &text, file, line);
    }
}
