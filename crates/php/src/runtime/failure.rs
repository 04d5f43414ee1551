//! Ends and failures: who is told, what nobody has seen, graceful shutdown, and deadlock.

use crate::runtime::{
    cancellation, context,
    coroutine::{self, Coroutine},
    describe, life, moments, report,
    runner::{self, Job, What},
    scheduler::{Core, Phase, Runtime},
    scope,
    slots::Slots,
};
use crate::stack::stacks::NoStack;
use crate::zend::{exception, zv};
use spindle_core::sched::{Bound, CoroutineId, Event, Outcome, Route, ScopeId, State};
use spindle_php_sys as sys;
use std::ptr::{addr_of_mut, null_mut};

/// Where a failure begins to look for its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// At the scope itself.
    At(ScopeId),
    /// Above this scope.
    Above(ScopeId),
    /// Above this scope, though it winds down: this failure is what it does so for.
    Beyond(ScopeId),
}

/// The body of a coroutine has ended, its result or exception stored: those it spawned are cancelled where they do not
/// outlive it, a failure that nobody awaits looks for its place, and, when nothing holds it back, it is complete.
///
/// # Safety
/// `this` is the running coroutine, or one that will never start.
pub unsafe fn finish(rt: &'static Runtime, this: *mut Coroutine, outcome: Outcome) {
    // SAFETY: the runtime's reference keeps the object alive until it is complete.
    unsafe {
        let end = rt.core.borrow_mut().end((*this).co, outcome);
        if !end.orphans.is_empty() {
            let reason = cancellation::cancellation_apart("cancelled because the coroutine that spawned it has ended");
            for orphan in end.orphans {
                life::cancel(rt, orphan, reason);
            }
            sys::spindle_object_release(reason);
        }
        if !(*this).job.is_null() {
            if outcome != Outcome::Returned {
                rt.core.borrow_mut().mark_awaited((*this).co);
                zv::add_object_ref((*this).exception);
                crate::runtime::runner::failed(rt, this, (*this).exception, outcome == Outcome::Cancelled);
            }
        } else if outcome == Outcome::Failed && !end.awaited {
            place_failure(rt, this);
        }
        if end.complete {
            complete(rt, this);
        }
        if rt.core.borrow().has_events() {
            carry_out(rt);
        }
    }
}

/// Nobody awaits a coroutine that has failed.
unsafe fn place_failure(rt: &'static Runtime, this: *mut Coroutine) {
    // SAFETY: a live object with an exception.
    unsafe {
        let failure = (*this).exception;
        let id = rt.core.borrow().scope_of((*this).co);
        let is_deadlock = rt.is_deadlock(failure);
        if id == Core::GLOBAL && !is_deadlock && (*this).std.gc.refcount > 1 {
            return moments::failure_held(rt, this); // held by user code it may still be awaited; see `object_dies`
        }
        rt.core.borrow_mut().mark_awaited((*this).co);
        if !is_deadlock {
            zv::add_object_ref(failure);
            route(rt, failure, Level::At(id), id, this);
        }
    }
}

/// Looks for the place of a failure (its reference passed on) of `about`: handlers, who waits for a scope, up the
/// parents. `origin` is the scope that does not finish meanwhile. WaitReason its way it is put on the lists of the scopes that it
/// passes.
pub fn route(
    rt: &'static Runtime,
    failure: *mut sys::zend_object,
    level: Level,
    origin: ScopeId,
    about: *mut Coroutine,
) {
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
    let mut listed = scope::Failed::new(failure, report::name(rt, about));
    loop {
        next = match next {
            Route::Handler(id) | Route::ChildHandler(id) => {
                let record = scope::record(rt, id);
                // SAFETY: the record of a scope that exists; live objects, of which the job gets references.
                unsafe {
                    let of_children = matches!(next, Route::ChildHandler(_));
                    let mut handler = zv::undef();
                    let from = if of_children { &(*record).child_handler } else { &(*record).handler };
                    sys::spindle_zval_copy(&mut handler, from);
                    zv::add_object_ref(addr_of_mut!((*about).std));
                    let what = What::Handler(handler, about, failure);
                    runner::start(rt, what, id, Some(origin), Level::Above(id), origin);
                }
                return listed.is_known();
            }
            Route::Cancelled { scope: id, order, notify, handled } => {
                listed.add_to(rt, id);
                if !secondary || !notify.is_empty() {
                    listed.is_known();
                }
                // SAFETY: a live exception.
                let name = unsafe { zv::text((*(*failure).ce).name) };
                let text = format!("cancelled because of an unhandled {name} in its scope");
                let reason = cancellation::cancellation_because(&text, failure);
                scope::propagate_cancel(rt, id, &order, reason, life::cancel_after_failure);
                // SAFETY: the new object is only ours; each that is told gets a reference of its own to the failure.
                unsafe {
                    sys::spindle_object_release(reason);
                    for co in notify {
                        zv::add_object_ref(failure);
                        rt.core.borrow_mut().deliver(co, id, failure);
                    }
                    if handled {
                        scope::stays(rt, &listed);
                        return sys::spindle_object_release(failure);
                    }
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
                    listed.add_to(rt, id); // what its handler has thrown
                }
                scope::stays(rt, &listed);
                // SAFETY: our reference.
                return unsafe { sys::spindle_object_release(failure) };
            }
            Route::Unhandled => {
                listed.is_known();
                return unhandled(rt, failure, about);
            }
        }
    }
}

/// A coroutine is complete: its callbacks are queued, before its awaiters are. Gives up the runtime's reference.
unsafe fn complete(rt: &'static Runtime, this: *mut Coroutine) {
    // SAFETY: a live object, which the runtime's reference keeps until the last line.
    unsafe {
        if !zv::is_undef(&(*this).finally) {
            run_callbacks(rt, this);
        }
        rt.core.borrow_mut().complete((*this).co);
        let object = addr_of_mut!((*this).std);
        let exception = (*this).exception;
        let dies = (*object).gc.refcount == 1;
        if dies && (!Job::only_drops((*this).job) || !exception.is_null() && (*exception).gc.refcount == 1) {
            // Destructors that wait or throw would do it in the name of a coroutine that has ended.
            let what = What::Drop(vec![zv::object(object)], Slots::default());
            runner::start(rt, what, Core::GLOBAL, None, Level::At(Core::GLOBAL), Core::GLOBAL);
        } else if dies && (!exception.is_null() || !(*this).job.is_null()) {
            rt.forbid_switch();
            sys::spindle_object_release(object);
            rt.allow_switch();
        } else {
            sys::spindle_object_release(object);
        }
    }
}

/// Queues a coroutine that runs the callbacks for the end of `this`, the last registered first.
///
/// # Safety
/// `this` is a live object with a list of callbacks.
pub unsafe fn run_callbacks(rt: &'static Runtime, this: *mut Coroutine) {
    // SAFETY: the list is moved to the job, with a reference to `this`.
    unsafe {
        let list = std::mem::replace(&mut (*this).finally, zv::undef());
        zv::add_object_ref(addr_of_mut!((*this).std));
        let id = if (*this).co == coroutine::NO_SLOT { Core::GLOBAL } else { rt.core.borrow().scope_of((*this).co) };
        let id = if rt.core.borrow().scope_exists(id) { id } else { Core::GLOBAL };
        runner::start(rt, What::CallbacksOf(list, this), id, Some(id), Level::At(id), id);
    }
}

/// The last coroutine of a scope has ended, or the scope was ended: its callbacks and values go.
pub fn scope_ends(rt: &'static Runtime, id: ScopeId) {
    // The global scope has no record as long as nobody has asked for it.
    let Some(record) = scope::existing_record(rt, id) else { return };
    // SAFETY: the record of a scope that exists; the list is moved to the job.
    unsafe {
        if zv::is_undef(&(*record).finally) && (*record).slots.is_empty() {
            return;
        }
        let list = std::mem::replace(&mut (*record).finally, zv::undef());
        runner::start(rt, What::EndOf(list), id, None, Level::At(id), id);
    }
}

/// Carries out what the core has come to.
pub fn carry_out(rt: &'static Runtime) {
    loop {
        let event = rt.core.borrow_mut().next_event();
        let Some(event) = event else { return };
        match event {
            // SAFETY: it is not complete, so the runtime has its reference.
            Event::Complete(co) => unsafe {
                let this = rt.object(co);
                let untold = rt.core.borrow().has_lost_awaiters(co);
                if untold {
                    place_failure(rt, this);
                }
                complete(rt, this);
            },
            Event::Finished(id) => {
                let over = {
                    let core = rt.core.borrow();
                    core.scope_exists(id) && core.has_completed(id)
                };
                if over {
                    scope::ask(rt, id);
                    scope_ends(rt, id);
                }
                rt.core.borrow_mut().notify_finished(id);
                scope::collect_if_idle(rt, id);
            }
            Event::Idle(id) => scope::collect_if_idle(rt, id),
            Event::Bound(id, which) => {
                let text = match which {
                    Bound::Time => "cancelled because the time of its scope is over",
                    Bound::Constraint => "cancelled because what bounds its scope has completed",
                };
                if end_scope(rt, id, text) {
                    // SAFETY: the record of a scope that exists.
                    unsafe { (*scope::record(rt, id)).reached = Some(which) };
                }
            }
            Event::DisposalDue(id) => {
                if end_scope(rt, id, "cancelled because the time that its disposed Scope has left it is over") {
                    rt.core.borrow_mut().make_zombies(id);
                }
            }
            Event::Failed(set) => crate::runtime::group::one_has_failed(rt, set),
            Event::ZombiesDue => end_zombies(rt),
            Event::Overdue(co) => moments::overdue(rt, co),
            Event::Unawaited(co) => moments::unawaited(rt, co),
            Event::ReportsDue => report::due(rt),
            Event::Gone(id) => {
                if !rt.core.borrow_mut().release_scope(id) {
                    continue;
                }
                let (values, slots) = scope::forget(rt, id);
                let_go(rt, values, slots);
            }
        }
    }
}

/// Destroys what a scope has kept: soon, as destructors are the program's code, and this may be nobody's turn.
pub fn let_go(rt: &'static Runtime, values: Vec<sys::zval>, slots: Slots) {
    if values.is_empty() && slots.is_empty() {
        // SAFETY: ours; there is no value in it, so no code runs.
        unsafe { slots.clear() };
    } else if rt.phase.get() == Phase::Ended {
        // SAFETY: ours.
        unsafe { runner::destroy(values, &slots) };
    } else {
        let what = What::Drop(values, slots);
        runner::start(rt, what, Core::GLOBAL, None, Level::At(Core::GLOBAL), Core::GLOBAL);
    }
}

/// Cancels a scope that is still open, for a reason of ours.
fn end_scope(rt: &'static Runtime, id: ScopeId, text: &str) -> bool {
    let open = {
        let core = rt.core.borrow();
        core.scope_exists(id) && !core.is_cancelled(id)
    };
    if open {
        let reason = cancellation::cancellation_apart(text);
        scope::cancel(rt, id, reason);
        // SAFETY: our reference.
        unsafe { sys::spindle_object_release(reason) };
    }
    open
}

/// How often zombies are cancelled.
const LAST_ROUND: u8 = 2;

/// The time of zombies that are alone is over. Those that do not take a cancellation get another, by force, and those
/// that do not take that either are given up: nobody waits for them.
fn end_zombies(rt: &'static Runtime) {
    let rounds = rt.zombie_rounds.get();
    if rounds == LAST_ROUND {
        rt.zombies_given_up.set(true);
        return;
    }
    rt.zombie_rounds.set(rounds + 1);
    let (force, zombies) = {
        let mut core = rt.core.borrow_mut();
        let forced = core.is_forced();
        (forced || rounds > 0, if forced { core.force_shut_down() } else { core.zombies() })
    };
    let reason = cancellation::cancellation_apart("cancelled because only zombies were left and their time was over");
    for co in zombies {
        if force {
            life::cancel_by_force(rt, co, reason);
        } else {
            life::cancel(rt, co, reason);
        }
    }
    // SAFETY: our reference.
    unsafe { sys::spindle_object_release(reason) };
}

/// Calls each closure of a list, the last first, and throws what they threw.
///
/// # Safety
/// `list` is an array of closures.
pub unsafe fn call_back(list: *mut sys::HashTable, argument: *mut sys::zval) {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: the list is the runner's own argument and is not changed meanwhile. The exceptions are kept in an array
    // of the engine, which a bailout in a callback may leave behind.
    unsafe {
        let mut thrown = zv::null();
        sys::spindle_array_new(&mut thrown, 0);
        for index in (0..(*list).nNumUsed as u64).rev() {
            let closure = sys::zend_hash_index_find(list, index);
            if closure.is_null() {
                continue;
            }
            let mut result = zv::null();
            sys::spindle_call_closure(closure, &mut result, 1, argument);
            sys::spindle_zval_dtor(&mut result);
            let exception = (*eg).exception;
            if exception.is_null() {
                continue;
            }
            if sys::zend_is_unwind_exit(exception) || sys::zend_is_graceful_exit(exception) {
                sys::spindle_zval_dtor(&mut thrown);
                return;
            }
            (*eg).exception = null_mut();
            sys::spindle_array_add(&mut thrown, &mut zv::object(exception));
        }
        match (*thrown.value.arr).nNumOfElements {
            0 => {}
            1 => {
                let only = (*sys::zend_hash_index_find(thrown.value.arr, 0)).value.obj;
                zv::add_object_ref(only);
                sys::spindle_throw(only);
            }
            count => {
                let message = format!("{count} callbacks for an end have thrown");
                let composite = exception::new(sys::spindle_ce.composite, &message);
                let first = (*sys::zend_hash_index_find(thrown.value.arr, 0)).value.obj;
                exception::place_as(composite, first);
                sys::spindle_exception_list_set(composite, &mut thrown);
                sys::spindle_throw(composite);
            }
        }
        sys::spindle_zval_dtor(&mut thrown);
    }
}

/// A coroutine for which there is no stack ends before its start: it fails, or it was cancelled anyway. What it holds is let
/// go in the frames of the one that was left last.
#[inline(never)]
pub fn never_starts(rt: &'static Runtime, co: CoroutineId, why: NoStack) {
    let this = rt.object(co);
    let eg = addr_of_mut!(sys::executor_globals);
    rt.forbid_switch();
    // SAFETY: the object is alive. The exception in flight is of the one that was left: it is put aside and comes back.
    unsafe {
        let flying = std::mem::replace(&mut (*eg).exception, null_mut());
        let before = (*eg).opline_before_exception;
        coroutine::drop_call(this);
        context::coroutine_ends(this);
        (*this).inherited.release();
        let mut thrown = std::mem::replace(&mut (*eg).exception, flying);
        (*eg).opline_before_exception = before;
        if !thrown.is_null() && (sys::zend_is_unwind_exit(thrown) || sys::zend_is_graceful_exit(thrown)) {
            (*eg).exception = std::mem::replace(&mut thrown, null_mut()); // `exit`: whoever goes on, ends it
            if !flying.is_null() {
                sys::spindle_object_release(flying);
            }
        }
        let cancellation = rt.core.borrow_mut().discard_cancellation(co);
        let (mut outcome, mut failure) = match cancellation {
            Some(reason) => (Outcome::Cancelled, reason),
            None => {
                let failure = exception::apart(sys::spindle_ce.async_exception, &why.to_string());
                exception::set_place(failure, (*this).spawn_file, (*this).spawn_line);
                (Outcome::Failed, failure)
            }
        };
        if !(*this).job.is_null() {
            outcome = Job::outcome_unless_started((*this).job);
        }
        if outcome == Outcome::Returned {
            sys::spindle_object_release(std::mem::replace(&mut failure, null_mut()));
        }
        if !thrown.is_null() {
            if !failure.is_null() {
                sys::zend_exception_set_previous(thrown, failure);
            }
            (outcome, failure) = (Outcome::Failed, thrown);
        }
        (*this).exception = failure;
        rt.allow_switch();
        finish(rt, this, outcome);
    }
}

/// An exception (its reference passed on) of `about` for which there is no place: graceful shutdown, and a report.
/// A second one on the way forces everybody.
pub fn unhandled(rt: &'static Runtime, exception: *mut sys::zend_object, about: *mut Coroutine) {
    report::add(rt, exception, about);
    shut_down(rt, exception);
    report::expect(rt);
}

/// Cancels what is in the global scope and below it, because of a failure (borrowed) or of nothing (null); asked again,
/// by force everybody, also those who have swallowed it or hold it off.
pub fn shut_down(rt: &'static Runtime, cause: *mut sys::zend_object) {
    let force = match rt.phase.replace(Phase::ShuttingDown) {
        Phase::Running => false,
        Phase::ShuttingDown => true,
        Phase::Ended => return rt.phase.set(Phase::Ended),
    };
    let text = "cancelled by graceful shutdown";
    let reason = if !cause.is_null() {
        cancellation::cancellation_because(text, cause)
    } else {
        cancellation::cancellation(text)
    };
    if force {
        let order = rt.core.borrow_mut().force_shut_down();
        for co in order {
            life::cancel_by_force(rt, co, reason);
        }
    } else {
        let order = rt.core.borrow_mut().shut_down();
        scope::propagate_cancel(rt, Core::GLOBAL, &order, reason, life::cancel);
    }
    // SAFETY: our reference.
    unsafe { sys::spindle_object_release(reason) };
}

/// Nobody can run, nothing can happen, somebody still waits: says so, and cancels everybody with `DeadlockError`.
pub fn deadlock(rt: &'static Runtime) {
    if rt.core.borrow().is_forced() {
        return rt.zombies_given_up.set(true); // who waits is abandoned, and so is who waits for those
    }
    rt.forbid_switch(); // an error handler of the program runs in a coroutine that is parked
    let (waiting, concerned): (Vec<CoroutineId>, Vec<CoroutineId>) = {
        let core = rt.core.borrow();
        let state = |co: &CoroutineId| core.state(*co);
        let concerned = core.coroutines().filter(|co| matches!(state(co), State::Parked | State::Ending)).collect();
        (core.coroutines().filter(|co| state(co) == State::Parked).collect(), concerned)
    };
    for co in concerned {
        warn_of_deadlock(rt, co);
    }
    let message = match waiting.len() {
        1 => "Deadlock: a coroutine waits for what can never happen".to_owned(),
        n => format!("Deadlock: {n} coroutines wait for what can never happen"),
    };
    // SAFETY: filled at module start; each coroutine gets an error of its own.
    unsafe {
        let error = exception::apart(sys::spindle_ce.deadlock, &message);
        let first = rt.deadlock.get().is_null();
        if first {
            zv::add_object_ref(error);
            rt.deadlock.set(error); // stays until the request ends
        }
        rt.phase.set(Phase::ShuttingDown);
        if !first {
            rt.core.borrow_mut().force_shut_down(); // somebody has swallowed it, and waits for that again
        }
        for co in &waiting {
            life::cancel_by_force(rt, *co, error);
        }
        if let (true, Some(co)) = (first, waiting.first()) {
            let this = rt.object(*co);
            exception::set_place(error, (*this).suspend_file, (*this).suspend_line);
            zv::add_object_ref(error);
            report::add(rt, error, null_mut());
            report::expect(rt);
        }
        sys::spindle_object_release(error);
    }
    rt.allow_switch();
}

fn warn_of_deadlock(rt: &'static Runtime, co: CoroutineId) {
    let this = rt.object(co);
    let (id, ended) = {
        let core = rt.core.borrow();
        (core.id(co), core.state(co) == State::Ending)
    };
    // SAFETY: a live coroutine's object.
    unsafe {
        let spawned = match exception::place((*this).spawn_file, (*this).spawn_line) {
            place if place.is_empty() => "the script itself".to_owned(),
            place => format!("spawned at {place}"),
        };
        if ended {
            let children = describe::children_of(rt, co);
            let text = format!("Deadlock: coroutine #{id} ({spawned}) has ended and waits for {children}");
            return sys::spindle_warning_at((*this).spawn_file, (*this).spawn_line, exception::c_text(&text).as_ptr());
        }
        let what = match (*this).info {
            info if info.call.is_empty() => "its turn".to_owned(),
            info => describe::wait_of(rt, &info),
        };
        let at = exception::place((*this).suspend_file, (*this).suspend_line);
        let text = format!("Deadlock: coroutine #{id} ({spawned}) is suspended at {at} and waits for {what}");
        sys::spindle_warning_at((*this).suspend_file, (*this).suspend_line, exception::c_text(&text).as_ptr());
    }
}

/// The script's own code has ended (`EG(exception)`: how). Everybody else runs on; then what was not handled is
/// reported as PHP reports an uncaught exception.
pub fn script_ended(rt: &'static Runtime) {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: main's stack, no frame of user code on it; references are passed on or released as said.
    unsafe {
        let thrown = (*eg).exception;
        if rt.phase.get() == Phase::Ended {
            return;
        }
        moments::turn_ends(rt);
        if !thrown.is_null() && (sys::zend_is_unwind_exit(thrown) || sys::zend_is_graceful_exit(thrown)) {
            moments::script_over(rt);
            moments::exits(rt);
            rt.end(); // `exit`: nobody runs again
            report::rest(rt, true);
            return;
        }
        (*eg).exception = null_mut();
        let main = rt.object(Core::MAIN);
        let thrown = if thrown.is_null() { life::undelivered(rt, rt.context(), Core::MAIN) } else { thrown };
        (*main).exception = thrown;
        moments::ended(rt.context());
        let outcome = life::outcome_of(rt, Core::MAIN, thrown);
        zv::add_object_ref(addr_of_mut!((*main).std)); // it stays until the request ends
        let end = rt.core.borrow_mut().end(Core::MAIN, outcome);
        if outcome == Outcome::Failed {
            rt.core.borrow_mut().mark_awaited(Core::MAIN);
            if !end.awaited {
                zv::add_object_ref(thrown);
                unhandled(rt, thrown, main);
            }
        }
        if end.complete {
            complete(rt, main);
        }
        carry_out(rt);
        loop {
            if !rt.drain() {
                moments::script_over(rt);
                sys::spindle_exits();
                return;
            }
            let unseen = unseen_failures(rt).first().copied().or_else(|| crate::runtime::group::take_unseen(rt));
            let Some(unseen) = unseen else {
                if moments::drained(rt) {
                    continue;
                }
                break;
            };
            rt.core.borrow_mut().mark_awaited((*unseen).co);
            zv::add_object_ref((*unseen).exception);
            unhandled(rt, (*unseen).exception, unseen);
        }
        moments::script_over(rt);
        rt.end();
    }
    report::rest(rt, false);
}

/// No coroutine runs again: what has failed unseen is to be reported too.
pub fn report_unseen(rt: &'static Runtime) {
    for unseen in unseen_failures(rt) {
        // SAFETY: a live object that has failed.
        unsafe {
            rt.core.borrow_mut().mark_awaited((*unseen).co);
            zv::add_object_ref((*unseen).exception);
            report::add(rt, (*unseen).exception, unseen);
        }
    }
}

/// Those that have failed, that user code still holds, and that nobody has awaited, the oldest first.
pub fn unseen_failures(rt: &'static Runtime) -> Vec<*mut Coroutine> {
    let core = rt.core.borrow();
    let objects = rt.objects.borrow();
    let unseen = |this: &&*mut Coroutine| {
        // SAFETY: objects in the list are alive.
        let co = if this.is_null() { return false } else { unsafe { (***this).co } };
        core.state(co) == State::Done && core.outcome(co) == Outcome::Failed && !core.was_awaited(co)
    };
    let mut found: Vec<_> = objects.iter().filter(unseen).copied().collect();
    // SAFETY: as above.
    found.sort_by_key(|this| core.id(unsafe { (**this).co }));
    found
}

/// In the child of a fork: the objects that a coroutine of the parent holds in its frames and its context belong to
/// the parent, and their destructors do not run here.
///
/// # Safety
/// `this` is a coroutine that was dropped while it was parked or queued.
pub unsafe fn disown(this: *mut Coroutine) {
    // SAFETY: the frames stand on a stack that nobody runs on; only flags of objects are written.
    unsafe {
        context::disown(this);
        if (*this).ctx.is_null() {
            return;
        }
        let mut frame = (*(*this).ctx).travelling.frame();
        while !frame.is_null() {
            coroutine::disown(addr_of_mut!((*frame).This));
            let function = (*frame).func;
            if !function.is_null() && u32::from((*function).type_) == sys::ZEND_USER_FUNCTION {
                // A user function's frame is followed by its variables.
                let variables = frame.byte_add(size_of::<sys::zend_execute_data>()).cast::<sys::zval>();
                for index in 0..(*function).op_array.last_var as usize {
                    coroutine::disown(variables.add(index));
                }
            }
            frame = (*frame).prev_execute_data;
        }
    }
}
