//! The warnings of `async.diagnostics`: coroutines that were never awaited, failures that have not been awaited in
//! time, coroutines that do not end after their cancellation, those that are cancelled again meanwhile, and objects that code
//! uses in place of the result for which they stand.
//!
//! These are detected in the middle of other work: an object is freed, a timer fires, the engine reads an object. So the warnings are raised in
//! runners, where an error handler of user code may wait and throw.

use crate::c;
use crate::isolation;
use crate::runtime::coroutine::CoroutineObject;
use crate::runtime::scheduler::{self, Core, Runtime};
use crate::runtime::{cancellation, describe, gate, life, report, runner, scope};
use crate::settings;
use spindle_core::sched::{CoroutineId, Outcome, State};
use spindle_zend::{Frame, Object, Owned, PhpStatic, Str, engine, exception};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Why coroutines that have not ended were cancelled the last time, by their numbers. Only with `async.diagnostics`.
static CANCELLED: PhpStatic<RefCell<BTreeMap<u64, String>>> = PhpStatic::new(RefCell::new(BTreeMap::new()));

fn are_on() -> bool {
    settings::current().diagnostics
}

/// Returns the delay of the warning about cancelled coroutines that do not end, in milliseconds.
fn cancel_warning_ms() -> i64 {
    settings::current().cancel_warning_ms
}

/// Returns the delay of the warning about failures that are not awaited, in milliseconds.
fn unawaited_warning_ms() -> i64 {
    settings::current().unawaited_warning_ms
}

/// Returns `true` for a coroutine of user code in the global scope, whose outcome is only visible by awaiting it.
fn concerns(core: &Core, this: &CoroutineObject) -> bool {
    let co = this.co.get();
    !this.runs_rust() && co != Core::MAIN && core.scope_of(co) == Core::GLOBAL
}

/// Returns `true` if the coroutine has returned and has never been awaited.
fn is_unawaited(core: &Core, this: &CoroutineObject) -> bool {
    let co = this.co.get();
    let returned = core.state(co) == State::Done && core.outcome(co) == Outcome::Returned;
    returned && concerns(core, this) && !core.ever_awaited(co)
}

#[cold]
fn warn_of_unawaited(rt: &'static Runtime, this: &CoroutineObject) {
    let id = {
        let mut core = rt.core.borrow_mut();
        core.mark_awaited(this.co.get());
        core.id(this.co.get())
    };
    let at = &this.spawned_at;
    let text = format!(
        "Coroutine #{id} spawned at {} in the global scope has ended and was never awaited: await it, or \
         spawn it in a Scope",
        at.text()
    );
    runner::warn(rt, &text, at.file(), at.line());
}

/// `foreach` goes over an object that stands for a result.
#[unsafe(no_mangle)]
extern "C" fn spindle_has_no_elements(object: &Object) {
    let class = object.class().name().to_text();
    used_as_result(&format!("foreach over an object of class {class} has no elements (await it to get its result)"));
}

/// `json_encode()` gets an object that stands for a result.
#[unsafe(no_mangle)]
extern "C" fn spindle_is_empty_in_json(object: &Object) {
    let class = object.class().name().to_text();
    used_as_result(&format!("Object of class {class} is {{}} in JSON (await it to get its result)"));
}

#[cold]
fn used_as_result(text: &str) {
    let rt = scheduler::rt();
    if rt.has_ended() || !isolation::reports_warnings() {
        return;
    }
    let frame = Frame::current();
    let (file, line) = frame.as_ref().and_then(Frame::position).unwrap_or_default();
    runner::warn(rt, text, file.map(|file| Str::new(file.as_bytes())), line);
}

/// Forgets what is noted of coroutines. At the end of a request.
pub fn request_ends() {
    CANCELLED.take();
}

/// Warns if a complete coroutine whose object is being freed was never awaited.
#[inline]
pub fn object_dies(rt: &'static Runtime, this: &CoroutineObject) {
    if are_on() {
        let id = rt.core.borrow().id(this.co.get());
        CANCELLED.borrow_mut().remove(&id);
    }
    if are_on() && !rt.has_ended() && is_unawaited(&rt.core.borrow(), this) {
        warn_of_unawaited(rt, this);
    }
}

/// Warns of coroutines that were never awaited and whose objects user code still holds, after all have ended. Returns
/// `true` if a runner was queued for that.
pub fn script_ended(rt: &'static Runtime) -> bool {
    if !are_on() {
        return false;
    }
    let mut found = rt.all_objects();
    {
        let core = rt.core.borrow();
        found.retain(|this| is_unawaited(&core, this));
        found.sort_by_key(|this| core.id(this.co.get()));
    }
    for this in &found {
        warn_of_unawaited(rt, this);
    }
    !found.is_empty()
}

/// Warns of coroutines that an exit abandons. No coroutine runs again, and no error handler of user code.
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
    gate::forbid();
    for co in lost {
        let at = &rt.object(co).spawned_at;
        let id = rt.core.borrow().id(co);
        let text = format!(
            "Coroutine #{id} spawned at {} in the global scope is lost by exit and is not awaited: await it before, or \
             cancel it",
            at.text()
        );
        let file = at.file().as_deref().map_or(String::new(), Str::to_text);
        engine::report_at(&file, at.line(), &text, isolation::error_reporting());
    }
    gate::allow();
}

/// Schedules the warning for a cancelled coroutine, which should end soon, and warns if this ends a wait of one that was cancelled
/// before.
#[inline]
pub fn cancelled(rt: &'static Runtime, co: CoroutineId) {
    if are_on() && !rt.has_ended() {
        cancelled_again(rt, co);
        rt.core.borrow_mut().schedule_overdue_check(co, scope::deadline(cancel_warning_ms()));
    }
}

/// Notes a cancellation, and warns if it ends a wait of a coroutine that was cancelled before: often that is in a `finally`.
#[cold]
fn cancelled_again(rt: &'static Runtime, co: CoroutineId) {
    let (id, ends_wait, reason) = {
        let core = rt.core.borrow();
        let reason = core.requested_reason(co).map(|reason| Owned::clone(reason));
        // One that defers its cancellation is still parked.
        (core.id(co), core.is_started(co) && core.state(co) == State::Ready, reason)
    };
    let Some(now) = reason.map(|reason| why(rt, &reason)) else { return };
    let before = CANCELLED.borrow_mut().insert(id, now.clone());
    let Some(before) = before.filter(|_| ends_wait) else { return };
    let this = rt.object(co);
    let at = &this.suspended_at;
    let text = format!(
        "{} is cancelled again before it has ended, which ends its wait at {} (before: {before}; now: {now}). What has to run to its \
         end belongs in protect()",
        subject(id, this),
        at.text()
    );
    runner::warn(rt, &text, at.file(), at.line());
}

/// Returns the message of a cancellation, which says why, with the place where user code has made it.
fn why(rt: &'static Runtime, reason: &Object) -> String {
    let original = cancellation::original(rt, reason);
    let (message, place) = (exception::message_of(&original), exception::place_of(&original));
    if message.is_empty() {
        format!("cancelled at {place}")
    } else if message.contains(&place) || !rt.given.has(&original) {
        message // the place of one of the runtime's is where it ends a wait
    } else {
        format!("{message}, at {place}")
    }
}

/// Returns `Coroutine #4 spawned at FILE:LINE`, or what else the coroutine is.
fn subject(id: u64, this: &CoroutineObject) -> String {
    match this.spawned_at.text() {
        _ if this.job().is_some() => format!("Coroutine #{id} for callbacks or a handler"),
        place if place.is_empty() => format!("Coroutine #{id} (the script itself)"),
        place => format!("Coroutine #{id} spawned at {place}"),
    }
}

/// Schedules the warning for a failed coroutine, which should be awaited soon.
pub fn failed(rt: &'static Runtime, this: &CoroutineObject) {
    if are_on() && !rt.has_ended() {
        rt.core.borrow_mut().schedule_unawaited_check(this.co.get(), scope::deadline(unawaited_warning_ms()));
    }
}

/// Warns of a failed coroutine that was not awaited in time.
pub fn unawaited(rt: &'static Runtime, co: CoroutineId) {
    let Some(this) = rt.find_object(co).filter(|this| are_on() && life::is_unseen_failure(this)) else {
        return; // it has been awaited meanwhile
    };
    let Some(failure) = this.exception.get() else { return };
    let (name, failure, ms) = (report::name(rt, &this), report::described(&failure), unawaited_warning_ms());
    let text =
        format!("{name}, failed {ms} ms ago and has not been awaited: {failure}. Await it, or release its object");
    runner::warn(rt, &text, this.spawned_at.file(), this.spawned_at.line());
}

/// Warns of a cancelled coroutine that has not ended in time.
pub fn overdue(rt: &'static Runtime, co: CoroutineId) {
    let Some(this) = rt.find_object(co) else { return };
    let (id, state, started) = {
        let core = rt.core.borrow();
        (core.id(co), core.state(co), core.is_started(co))
    };
    if matches!(state, State::Done | State::Ending) || !are_on() {
        return; // it has ended meanwhile
    }
    let ms = cancel_warning_ms();
    let mut text = format!("{} has not ended {ms} ms after its cancellation", subject(id, &this));
    let is_suspended = started && this.suspended_at.is_known();
    let at = if is_suspended { &this.suspended_at } else { &this.spawned_at };
    if state == State::Parked {
        text += &format!(": it is suspended at {}", at.text());
        let info = this.info();
        if !info.call.is_empty() {
            text += &format!(" in {}", describe::wait_of(rt, co, &info));
        }
    }
    text += &format!(". {}", why_not_ended(rt, &this));
    runner::warn(rt, &text, at.file(), at.line());
}

/// Returns why a cancelled coroutine has not ended, as a sentence.
fn why_not_ended(rt: &'static Runtime, this: &CoroutineObject) -> &'static str {
    let (is_shielded, was_thrown) = {
        let core = rt.core.borrow();
        (core.is_shielded(this.co.get()), core.was_cancellation_thrown(this.co.get()))
    };
    if is_shielded {
        "It is in protect()"
    } else if !was_thrown {
        "The exception has not been thrown there yet"
    } else if rt.frame_of(this).is_some_and(|frame| c::spindle_cleans_up(frame)) {
        "It cleans up, in finally or a destructor"
    } else {
        "It has caught the CancellationException, and goes on"
    }
}
