//! Carries out the core's decisions about completion, failures and orphans; graceful shutdown; deadlock.

use crate::runtime::coroutine::{self, CoroutineObject};
use crate::runtime::group;
use crate::runtime::keyed_values::KeyedValues;
use crate::runtime::runner::{self, Work};
use crate::runtime::scheduler::{Core, Runtime};
use crate::runtime::{
    cancellation, classes, context, describe, finally, gate, life, moments, pending_cancel, report, scope,
};
use crate::stack::stacks::NoStack;
use spindle_core::sched::{CoroutineId, Disposal, Event, Outcome, Route, ScopeId, State, ToCancel};
use spindle_zend::{Array, Frame, Object, Owned, Value, engine, exception};

/// Where the routing of a failure begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// At the scope itself.
    At(ScopeId),
    /// Above this scope.
    Above(ScopeId),
    /// Above this scope, even though it winds down: it does so because of this failure.
    Beyond(ScopeId),
}

/// Ends a coroutine whose body has ended and whose result or exception is stored: cancels the coroutines it spawned
/// that must not outlive it, routes a failure that is not awaited, and completes the coroutine unless it has to wait
/// for others. `this` is the running coroutine, or one that will never start.
pub fn finish(rt: &'static Runtime, this: &CoroutineObject, outcome: Outcome) {
    if body_ends(rt, this, outcome) {
        complete(rt, this);
    }
    if rt.core.borrow().has_events() {
        carry_out(rt);
    }
}

/// Does what [`finish`] does, but for the completion. Returns `true` if the coroutine does not have to wait for others.
pub fn body_ended(rt: &'static Runtime, this: &CoroutineObject, outcome: Outcome) -> bool {
    let waits_for_none = body_ends(rt, this, outcome);
    carry_out(rt);
    waits_for_none
}

#[inline(always)]
fn body_ends(rt: &'static Runtime, this: &CoroutineObject, outcome: Outcome) -> bool {
    let co = this.co.get();
    let end = rt.core.borrow_mut().end(co, outcome);
    cancel_orphans(rt, this, end.orphans);
    if this.job().is_some() {
        if outcome != Outcome::Returned {
            rt.core.borrow_mut().mark_awaited(co);
            if let Some(exception) = this.exception.get() {
                runner::failed(rt, this, exception, outcome == Outcome::Cancelled);
            }
        }
    } else if outcome == Outcome::Failed && !end.awaited && !this.seen.get() {
        place_failure(rt, this);
    }
    end.complete
}

#[inline(always)]
fn cancel_orphans(rt: &'static Runtime, this: &CoroutineObject, orphans: Vec<CoroutineId>) {
    if !orphans.is_empty() {
        let ended_with = this.exception.get();
        let what = "the coroutine that spawned it";
        let reason = cancellation::cancellation_after(what, ended_with.as_deref(), &report::name(rt, this));
        for orphan in orphans {
            life::cancel(rt, orphan, &reason);
        }
    }
}

/// Does the rest after [`body_ended`], for a coroutine that has run the callbacks for its end, and routes what they have
/// thrown.
pub fn callbacks_ended(rt: &'static Runtime, this: &CoroutineObject, thrown: Option<Owned<Object>>) {
    let co = this.co.get();
    if let Some(thrown) = thrown {
        let id = rt.core.borrow().scope_of(co);
        route(rt, thrown, Level::At(id), id, this);
    }
    let end = rt.core.borrow_mut().end_again(co);
    cancel_orphans(rt, this, end.orphans);
    if !end.awaited && this.job().is_none() && !this.seen.get() {
        place_failure(rt, this);
    }
    if end.complete {
        complete(rt, this);
    }
    carry_out(rt);
}

/// Routes the failure of a coroutine that is not awaited.
pub fn place_failure(rt: &'static Runtime, this: &CoroutineObject) {
    let Some(failure) = this.exception.get() else { return };
    let co = this.co.get();
    let id = rt.core.borrow().scope_of(co);
    let is_deadlock = rt.is_deadlock(&failure);
    if !is_deadlock && this.object().references() > 1 && scope::keeps_held_failures(rt, id) {
        if id != Core::GLOBAL {
            scope::record(rt, id).has_held_failure.set(true);
        }
        return moments::failure_held(rt, this); // held by user code, it may still be awaited; see `dies_unawaited`
    }
    rt.core.borrow_mut().mark_awaited(co);
    if !is_deadlock {
        route(rt, failure, Level::At(id), id, this);
    }
}

/// Handles the failure of a coroutine that nothing has awaited, and whose object is being freed.
pub fn dies_unawaited(rt: &'static Runtime, this: &CoroutineObject, failure: Owned<Object>) {
    let co = this.co.get();
    let id = rt.core.borrow().scope_of(co);
    let is_global = id == Core::GLOBAL || rt.has_ended() || !rt.core.borrow().scope_exists(id);
    rt.core.borrow_mut().mark_awaited(co);
    if is_global {
        unhandled(rt, failure, Some(this));
    } else {
        // A handler gets the coroutine, whose object cannot be kept: another one takes its place.
        let other = rt.replace_object(this);
        route(rt, failure, Level::At(id), id, &other);
    }
}

/// Makes the held failures of a scope that nothing has awaited unhandled: the scope has served its purpose. Returns `true` if there
/// was any. If the scope was finished, it is so again when they have been routed.
pub fn end_held_failures(rt: &'static Runtime, id: ScopeId) -> bool {
    let exists = rt.core.borrow().scope_exists(id);
    let all = if exists { scope::take_held_failures(rt, id) } else { Vec::new() };
    if all.is_empty() {
        return false;
    }
    rt.core.borrow_mut().hold(id);
    for held in all {
        rt.core.borrow_mut().mark_awaited(held.co.get());
        if let Some(failure) = held.exception.get() {
            route(rt, failure, Level::At(id), id, &held);
        }
    }
    rt.core.borrow_mut().end_hold(id);
    true
}

/// Routes a failure of `about` to handlers and to waiters for a scope, upwards through the parents, and adds it to the
/// lists of the scopes that it passes. `origin` is the scope that does not finish meanwhile.
pub fn route(rt: &'static Runtime, failure: Owned<Object>, level: Level, origin: ScopeId, about: &CoroutineObject) {
    let mut secondary = false;
    let mut next = {
        let mut core = rt.core.borrow_mut();
        match level {
            Level::At(id) => {
                secondary = core.is_secondary_failure(id);
                core.failure(id)
            }
            Level::Above(id) => {
                secondary = core.is_secondary_failure(id);
                core.failure_above(id, secondary)
            }
            Level::Beyond(id) => core.failure_above(id, false),
        }
    };
    let mut listed = scope::Failed::new(failure.clone(), report::name(rt, about));
    loop {
        next = match next {
            Route::Handler(id) | Route::ChildHandler(id) => {
                let record = scope::record(rt, id);
                let of_children = matches!(next, Route::ChildHandler(_));
                let handler = if of_children { &record.child_handler } else { &record.handler };
                let handler = handler.borrow().clone();
                let work = Work::Handler(handler, Owned::of(about), Some(failure).into());
                runner::start(rt, work, id, Some(origin), Level::Above(id), origin);
                return listed.mark_known();
            }
            Route::Cancelled { scope: id, order, notify, handled } => {
                listed.add_to(rt, id);
                if !secondary || !notify.is_empty() {
                    listed.mark_known();
                }
                let text = "cancelled because its scope has failed with";
                let reason = cancellation::cancellation_because(text, &failure, listed.name());
                scope::propagate_cancel(rt, id, &order, &reason, life::cancel_after_failure);
                drop(reason);
                for co in notify {
                    rt.deliver(co, id, failure.clone());
                }
                match scope::take_at_boundary(rt, id, &failure) {
                    Some(true) => return listed.mark_known(),
                    Some(false) => return scope::leave_listed(rt, &listed),
                    None => {}
                }
                if handled {
                    return scope::leave_listed(rt, &listed);
                }
                let mut core = rt.core.borrow_mut();
                let above_too =
                    secondary || core.parent_scope(id).is_some_and(|above| core.is_secondary_failure(above));
                let next = core.failure_above(id, secondary);
                secondary = above_too;
                next
            }
            Route::Stays => {
                if let (Level::Above(id), false) = (level, listed.is_listed()) {
                    listed.add_to(rt, id); // it was thrown by its handler
                }
                return scope::leave_listed(rt, &listed);
            }
            Route::Unhandled => {
                listed.mark_known();
                return unhandled(rt, failure, Some(about));
            }
        }
    }
}

/// Completes a coroutine: queues callbacks that are left, then its awaiters. Drops the runtime's reference.
fn complete(rt: &'static Runtime, this: &CoroutineObject) {
    if !this.finally.is_empty() {
        finally::queue(rt, this);
    }
    rt.core.borrow_mut().complete(this.co.get());
    let Some(object) = rt.take_reference(this) else { return };
    let job = this.job();
    if job.is_none() && this.exception.is_empty() || this.object().references() > 1 {
        return drop(object);
    }
    // The object dies, and what it holds with it.
    let holds_exception_alone = this.exception.get().is_some_and(|exception| exception.references() == 2);
    if job.is_some_and(|job| !job.only_releases()) || holds_exception_alone {
        // Destructors that wait or throw would otherwise run in a coroutine that has ended.
        let work = Work::release(vec![object.into()], KeyedValues::default());
        runner::start(rt, work, Core::GLOBAL, None, Level::At(Core::GLOBAL), Core::GLOBAL);
    } else {
        gate::forbid();
        drop(object);
        gate::allow();
    }
}

/// Queues the callbacks of a scope that has finished, and the release of its values.
pub fn scope_ends(rt: &'static Runtime, id: ScopeId) {
    // The global scope has no record until it is used.
    let Some(record) = scope::existing_record(rt, id) else { return };
    if record.ends_silently() {
        return;
    }
    let list = record.finally.take();
    runner::start(rt, Work::EndOfScope(list), id, None, Level::At(id), id);
}

/// Carries out the events that the core has queued.
pub fn carry_out(rt: &'static Runtime) {
    loop {
        let event = rt.core.borrow_mut().next_event();
        let Some(event) = event else { return };
        match event {
            Event::Complete(co) => {
                let this = rt.object(co);
                if this.lingers.get() {
                    rt.core.borrow_mut().resume_ended(co);
                    continue;
                }
                let lost = rt.core.borrow().has_lost_awaiters(co);
                if lost {
                    place_failure(rt, this);
                }
                complete(rt, this);
            }
            Event::Finished(id) => {
                if end_held_failures(rt, id) {
                    continue;
                }
                let over = {
                    let core = rt.core.borrow();
                    core.scope_exists(id) && core.has_completed(id)
                };
                if over {
                    scope::schedule_warning(rt, id);
                    scope_ends(rt, id);
                }
                rt.core.borrow_mut().notify_finished(id);
                scope::collect_if_idle(rt, id);
            }
            Event::Idle(id) => scope::collect_if_idle(rt, id),
            Event::Bound(id, which) => {
                if !is_open(rt, id) {
                    continue;
                }
                let record = scope::record(rt, id);
                if record.is_ending.get() && rt.core.borrow().is_finished(id) {
                    scope::dispose(rt, id, Disposal::Safely, ""); // as its caller does, who has not run yet
                } else {
                    record.reached.set(Some(which)); // once cancelled, the scope may be gone
                    let reason = record.reason_of(rt, which);
                    scope::cancel(rt, id, &reason);
                }
            }
            Event::DisposalDue(id) => {
                if is_open(rt, id) {
                    let reason = scope::record(rt, id).reason_after_disposal();
                    scope::cancel(rt, id, &reason);
                    let mut core = rt.core.borrow_mut();
                    if core.scope_exists(id) {
                        core.make_zombies(id);
                    }
                }
            }
            Event::Failed(set) => group::member_failed(rt, set),
            Event::ZombiesDue => end_zombies(rt),
            Event::Overdue(co) => moments::overdue(rt, co),
            Event::Unawaited(co) => moments::unawaited(rt, co),
            Event::ReportsDue => report::start_runner(rt),
            Event::Gone(id) => {
                if !rt.core.borrow_mut().release_scope(id) {
                    continue;
                }
                let (values, keyed) = scope::forget(rt, id);
                release_later(rt, values, keyed);
            }
        }
    }
}

/// Queues the release of values that a scope has kept. They are not released immediately, because destructors run user
/// code, and the caller may be in the middle of a change.
pub fn release_later(rt: &'static Runtime, values: Vec<Value>, keyed: KeyedValues) {
    if values.is_empty() && keyed.is_empty() || rt.has_ended() {
        runner::release(values, &keyed);
    } else {
        let work = Work::release(values, keyed);
        runner::start(rt, work, Core::GLOBAL, None, Level::At(Core::GLOBAL), Core::GLOBAL);
    }
}

fn is_open(rt: &'static Runtime, id: ScopeId) -> bool {
    let core = rt.core.borrow();
    core.scope_exists(id) && !core.is_cancelled(id)
}

/// Cancels zombies if only they are left and their time has passed.
fn end_zombies(rt: &'static Runtime) {
    let text = "cancelled because only zombies were left and their time, async.zombie_coroutine_timeout, was over";
    let to_cancel = rt.core.borrow_mut().press_zombies();
    let reason = cancellation::detached_cancellation(text);
    match to_cancel {
        ToCancel::Gently(zombies) => zombies.into_iter().for_each(|co| life::cancel(rt, co, &reason)),
        ToCancel::ByForce(zombies) => zombies.into_iter().for_each(|co| life::cancel_by_force(rt, co, &reason)),
        ToCancel::No => {}
    }
}

/// Calls each callback of a list, the last one first, and throws what they have thrown.
pub fn call_back<T>(list: &[T], call: impl Fn(&T)) {
    // The exceptions are in an array of the engine, which a bailout in a callback may leak.
    let mut thrown = Array::new(0);
    for callback in list.iter().rev() {
        call(callback);
        match exception::take() {
            None => {}
            Some(exit) if exception::is_exit(&exit) => {
                drop(exception::put(Some(exit)));
                return;
            }
            Some(exception) => thrown.push(exception.into()),
        }
    }
    let first = thrown.at(0).and_then(Value::as_object).map(Owned::of);
    let Some(first) = first else { return };
    if thrown.len() == 1 {
        let _ = exception::throw(first);
        return;
    }
    let message = format!("{} callbacks for an end have thrown", thrown.len());
    let composite = exception::new(classes::composite(), &message);
    exception::set_position_as(&composite, &first);
    composite.set_property(classes::composite(), c"exceptions", &thrown.into());
    let _ = exception::throw(composite);
}

/// Ends a coroutine for which there is no stack, before its start: it fails, or is cancelled if it was cancelled
/// already. Its values are released in the frames of the coroutine that was suspended last.
#[inline(never)]
pub fn never_starts(rt: &'static Runtime, co: CoroutineId, why: NoStack) {
    let this = rt.object(co);
    gate::forbid();
    // The exception in flight belongs to the suspended coroutine: it is put aside and restored.
    let flying = exception::take();
    let before = exception::instruction_before();
    this.drop_call();
    this.drop_body();
    context::coroutine_ends(this);
    this.inherited.clear();
    let mut thrown = exception::put(flying);
    exception::set_instruction_before(before);
    if thrown.as_deref().is_some_and(exception::is_exit) {
        drop(exception::put(thrown.take())); // `exit`: ends the coroutine that is resumed
    }
    let (mut outcome, mut failure) = match rt.discard_cancellation(co) {
        Some(reason) => (Outcome::Cancelled, Some(reason)),
        None => {
            let failure = exception::detached(classes::async_exception(), &why.to_string());
            exception::set_position(&failure, this.spawned_at.file().as_deref(), this.spawned_at.line());
            (Outcome::Failed, Some(failure))
        }
    };
    if let Some(job) = this.job() {
        outcome = job.outcome_unless_started();
    }
    if outcome == Outcome::Returned {
        failure = None;
    }
    if let Some(thrown) = thrown {
        if let Some(failure) = failure {
            exception::set_last_previous(&thrown, failure);
        }
        (outcome, failure) = (Outcome::Failed, Some(thrown));
    }
    this.exception.set(failure);
    gate::allow();
    finish(rt, this, outcome);
}

/// Handles an exception of `about` that nothing else handles: starts graceful shutdown, and schedules a report. A
/// second such exception during shutdown cancels all coroutines by force.
pub fn unhandled(rt: &'static Runtime, exception: Owned<Object>, about: Option<&CoroutineObject>) {
    report::add(rt, exception.clone(), about);
    let name = about.map_or(String::new(), |about| report::name(rt, about));
    let text = "cancelled by graceful shutdown because of an unhandled";
    shut_down(rt, &cancellation::cancellation_because(text, &exception, &name));
    report::schedule(rt);
}

/// Starts graceful shutdown because user code asks for it, with an exception that is to be reported, or none. Does not ask a
/// second time for the shutdown that a failure has begun while that failure is handled.
pub fn shut_down_as_asked(rt: &'static Runtime, cause: Option<&Object>) {
    let has_begun = rt.core.borrow().life().is_shutting_down() && report::was_handed(rt, cause);
    if let Some(cause) = cause {
        report::add_asked(rt, cause, rt.running());
    }
    if !has_begun {
        let text = format!("cancelled by graceful shutdown, asked for at {}", exception::here());
        let reason = match cause {
            Some(cause) => cancellation::cancellation_because(&format!("{text} because of"), cause, ""),
            None => cancellation::cancellation(&text),
        };
        shut_down(rt, &reason);
    }
    report::schedule(rt);
}

/// Starts graceful shutdown: cancels the coroutines in the global scope and below it. A second call cancels all by force,
/// including those that have swallowed their cancellation or defer it.
fn shut_down(rt: &'static Runtime, reason: &Object) {
    let to_cancel = rt.core.borrow_mut().shut_down();
    if to_cancel != ToCancel::No {
        rt.shutdown.replace(exception::message_of(reason));
    }
    match to_cancel {
        ToCancel::Gently(order) => scope::propagate_cancel(rt, Core::GLOBAL, &order, reason, life::cancel),
        ToCancel::ByForce(order) => order.into_iter().for_each(|co| life::cancel_by_force(rt, co, reason)),
        ToCancel::No => {}
    }
}

/// Reports a deadlock, in which no coroutine can run and no event is expected, and cancels all coroutines with
/// `DeadlockError`.
pub fn deadlock(rt: &'static Runtime) {
    let first = rt.deadlock.is_empty();
    if !rt.core.borrow_mut().deadlock(!first) {
        return; // waiting coroutines are given up
    }
    gate::forbid(); // an error handler of user code runs in a coroutine that is parked
    let (waiting, concerned): (Vec<CoroutineId>, Vec<CoroutineId>) = {
        let core = rt.core.borrow();
        let state = |co: &CoroutineId| core.state(*co);
        let counts = |co: &CoroutineId| !core.is_detached(*co);
        let concerned = core.coroutines().filter(counts);
        let concerned = concerned.filter(|co| matches!(state(co), State::Parked | State::Ending)).collect();
        (core.coroutines().filter(counts).filter(|co| state(co) == State::Parked).collect(), concerned)
    };
    for co in concerned {
        warn_of_deadlock(rt, co);
    }
    let message = match waiting.len() {
        1 => "Deadlock: a coroutine waits for what can never happen".to_owned(),
        n => format!("Deadlock: {n} coroutines wait for what can never happen"),
    };
    // Each coroutine gets its own copy.
    let error = exception::detached(classes::deadlock(), &message);
    if first {
        rt.deadlock.set(Some(error.clone())); // stays until the request ends
    }
    for co in &waiting {
        life::cancel_by_force(rt, *co, &error);
    }
    if let (true, Some(co)) = (first, waiting.first()) {
        let this = rt.object(*co);
        exception::set_position(&error, this.suspended_at.file().as_deref(), this.suspended_at.line());
        report::add(rt, error, None);
        report::schedule(rt);
    }
    gate::allow();
}

fn warn_of_deadlock(rt: &'static Runtime, co: CoroutineId) {
    let this = rt.object(co);
    let (id, ended) = {
        let core = rt.core.borrow();
        (core.id(co), core.state(co) == State::Ending)
    };
    let spawned = match this.spawned_at.text() {
        place if place.is_empty() => "the script itself".to_owned(),
        place => format!("spawned at {place}"),
    };
    let (text, at) = if ended {
        let children = describe::children_of(rt, co);
        (format!("Deadlock: coroutine #{id} ({spawned}) has ended and waits for {children}"), &this.spawned_at)
    } else {
        let what = match this.info() {
            info if info.call.is_empty() => "its place in the run queue".to_owned(),
            info => describe::wait_of(rt, co, &info),
        };
        let at = this.suspended_at.text();
        let text = format!("Deadlock: coroutine #{id} ({spawned}) is suspended at {at} and waits for {what}");
        (text, &this.suspended_at)
    };
    engine::warn_at(at.file().as_deref(), at.line(), &exception::c_text(&text));
}

/// Ends the main coroutine when the script's own code has ended, by `EG(exception)` or normally. Runs the other
/// coroutines to their ends, then reports failures that nothing handled as PHP reports an uncaught exception.
pub fn script_ended(rt: &'static Runtime) {
    if rt.has_ended() {
        return;
    }
    moments::run_ends(rt);
    if exception::is_exit_in_flight() {
        moments::script_over();
        moments::exits(rt);
        rt.end(None); // `exit`: no coroutine runs again
        return report::report_rest(rt, true);
    }
    let main = rt.object(Core::MAIN);
    let has_called_back = rt.core.borrow().has_outcome(Core::MAIN);
    let is_complete = if has_called_back {
        if let Some(thrown) = exception::take() {
            unhandled(rt, thrown, Some(main));
        }
        rt.core.borrow_mut().end_again(Core::MAIN).complete
    } else {
        main_ended(rt)
    };
    moments::body_ended(Core::MAIN_ID);
    moments::ended(rt, rt.context());
    rt.keep_main(); // its object stays until the request ends
    if is_complete {
        complete(rt, main);
    }
    carry_out(rt);
    loop {
        if !rt.drain() {
            moments::script_over();
            return exception::throw_exit();
        }
        let unseen = unseen_failures(rt).first().cloned().or_else(|| group::take_unseen(rt));
        let Some(unseen) = unseen else {
            if moments::drained(rt) {
                continue;
            }
            break;
        };
        rt.core.borrow_mut().mark_awaited(unseen.co.get());
        if let Some(failure) = unseen.exception.get() {
            unhandled(rt, failure, Some(&unseen));
        }
    }
    moments::script_over();
    rt.end(None);
    report::report_rest(rt, false);
}

/// Ends the body of the main coroutine, by `EG(exception)` or normally. Returns `true` if it does not have to wait for others.
pub fn main_ended(rt: &'static Runtime) -> bool {
    let main = rt.object(Core::MAIN);
    let thrown = exception::take().or_else(|| pending_cancel::take_undelivered(rt, rt.context()));
    let outcome = life::outcome_of(rt, Core::MAIN, thrown.as_deref());
    main.exception.set(thrown.clone());
    let end = rt.core.borrow_mut().end(Core::MAIN, outcome);
    if outcome == Outcome::Failed {
        rt.core.borrow_mut().mark_awaited(Core::MAIN);
        if let (false, Some(thrown)) = (end.awaited, thrown) {
            unhandled(rt, thrown, Some(main));
        }
    }
    end.complete
}

/// Adds failures that have not been awaited to the reports, when no coroutine runs again.
pub fn report_unseen(rt: &'static Runtime) {
    for unseen in unseen_failures(rt) {
        rt.core.borrow_mut().mark_awaited(unseen.co.get());
        if let Some(failure) = unseen.exception.get() {
            report::add(rt, failure, Some(&unseen));
        }
    }
}

/// Returns the failed coroutines that have not been awaited and whose objects user code still holds, the oldest first.
pub fn unseen_failures(rt: &'static Runtime) -> Vec<Owned<CoroutineObject>> {
    let mut found = rt.all_objects();
    let core = rt.core.borrow();
    found.retain(|this| {
        let co = this.co.get();
        core.state(co) == State::Done && core.outcome(co) == Outcome::Failed && !core.was_awaited(co)
    });
    found.sort_by_key(|this| core.id(this.co.get()));
    found
}

/// Keeps the objects that a coroutine of the parent holds in its frames and its context from being destructed in the
/// child of a fork: they belong to the parent. `this` was dropped while it was parked or queued.
pub fn disown(rt: &'static Runtime, this: &CoroutineObject) {
    context::disown(this);
    for frame in rt.frame_of(this).into_iter().flat_map(Frame::and_callers) {
        frame.held_values().for_each(coroutine::disown);
    }
}
