//! The Fibers draft beside PHP's own `Fiber`: schedulers in PHP code, and the fibers that suspend into them.
//!
//! Only coroutines suspend into a scheduler: one that `Fiber::create()` has made, main's, or any other. The `run()` of a scheduler
//! runs in a coroutine, too. Control passes between them by waking and parking, so a fiber or a scheduler that blocks suspends only
//! itself. The scheduler waits in `start()` and `resume()` until the fiber suspends or ends.
//!
//! ```text
//!   suspend(enqueue, S): the fiber parks in `resumed`; S, if it waits in `turn`, continues
//!   resume() in S:       the fiber is woken; S parks in `turn` until the fiber suspends or ends
//! ```
//! Coroutines of schedulers and of created fibers are detached: the application waits for schedulers at the end of the
//! script only, and destroys the fibers that are suspended then.

use crate::fibers::draft::{Draft, Kind, Sent, Status};
use crate::fibers::errors::{class, error, fiber_exit, report_lost};
use crate::fibers::table::{STATE, Sched, SchedLife};
use crate::runtime::scheduler::{self, Runtime};
use crate::runtime::{gate, spawn};
use crate::settings;
use spindle_php_sys as sys;
use spindle_zend::{Array, Call, Frame, Owned, PhpResult, Str, Thrown, Value, ValueCell, engine, exception};
use std::rc::Rc;

mod draft;
mod end;
mod errors;
mod identity;
mod objects;
mod table;

pub use end::{coroutine_ended, finish, forked, release_schedulers, request_ended};

/// With `async.fiber_api = exclusive`, fails if coroutines are in use; otherwise records that fibers are.
///
/// # Errors
/// `FiberError`.
fn may_make_fiber() -> Result<(), Thrown> {
    if settings::current().fibers_exclusive {
        if gate::is_active() && !spawn::are_excluded() {
            return Err(error("Cannot create a Fiber: coroutines are in use, and async.fiber_api is \"exclusive\""));
        }
        spawn::exclude();
    }
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn spindle_fiber_may_begin() -> bool {
    may_make_fiber().is_ok()
}

macro_rules! methods {
    ($($symbol:ident => $body:path;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $symbol(frame: Frame, result: &ValueCell) {
            Call::run(frame, result, $body);
        }
    )*};
}

methods! {
    spindle_draft_create => create;
    spindle_draft_start => start;
    spindle_draft_resume => resume;
    spindle_draft_throw => throw_into;
    spindle_draft_suspend => suspend;
    spindle_identity => identity::current;
    spindle_identity_suspend => identity::suspend;
}

/// `Fiber::create(callable $callback): Fiber`
fn create(call: Call) -> PhpResult {
    let callable = call.arguments(1, 1)?.callable(1)?;
    may_make_fiber()?;
    let draft = Rc::new(Draft::new(Kind::Created));
    Ok(table::object_for(&draft, Some(callable)).into())
}

/// Returns the scheduler whose `run()` the running coroutine executes.
fn current_scheduler(rt: &'static Runtime) -> Option<Rc<Sched>> {
    STATE.scheduler_of(running_id(rt))
}

fn running_id(rt: &'static Runtime) -> u64 {
    rt.core.borrow().id(rt.running().co.get())
}

/// Returns the fiber of a method call.
///
/// # Errors
/// The fiber belongs to a request that has ended.
fn this_of(call: Call) -> Result<Rc<Draft>, Thrown> {
    let draft = call.this().and_then(table::of);
    draft.ok_or_else(|| error("The fiber belongs to a script that has ended"))
}

/// `Fiber::start(mixed ...$args)`, for a fiber of the draft.
fn start(call: Call) -> PhpResult {
    let arguments = call.arguments(0, u32::MAX)?.from(1).to_vec();
    let draft = this_of(call)?;
    if let Kind::Flow = draft.kind {
        return Err(error("Cannot start a fiber that has already been started"));
    }
    let rt = scheduler::rt();
    let Some(sched) = current_scheduler(rt) else {
        return Err(error("Cannot start a fiber outside of FiberScheduler::run()"));
    };
    let callable = call.this().and_then(table::callable_of);
    let (Status::Init, Some(callable)) = (draft.status.get(), callable) else {
        return Err(error("Cannot start a fiber that has already been started"));
    };
    may_switch(rt)?;
    draft.status.set(Status::Running);
    let seen = hand_over(&sched, &draft);
    let life = draft::Life::new(&draft);
    let body = Box::new(move || {
        life.begins();
        let mut arguments = arguments.clone();
        if life.draft().is_closing.get() {
            return Ok(Value::NULL); // it was destroyed before it began
        }
        drop(engine::call(&callable, &mut arguments));
        drop(arguments);
        draft::ends(life.draft())
    });
    let coroutine = spawn::spawn_detached(rt, body);
    draft.co.set(coroutine.co.get());
    STATE.add_fiber(rt.core.borrow().id(coroutine.co.get()), &draft);
    draft.keep_alive();
    drop(coroutine);
    wait_for_turn(rt, &sched, &draft, seen)
}

/// `Fiber::resume(mixed $value = null)`, for a fiber of the draft.
fn resume(call: Call) -> PhpResult {
    let value = call.arguments(0, 1)?.value(1).map_or(Value::NULL, Value::clone);
    go_on(call, Sent::Value(value), "resume")
}

/// `Fiber::throw(Throwable $exception)`, for a fiber of the draft.
fn throw_into(call: Call) -> PhpResult {
    let exception = Owned::of(call.arguments(1, 1)?.object(1, engine::throwable_class())?);
    go_on(call, Sent::Throw(exception), "throw into")
}

fn go_on(call: Call, sent: Sent, what: &str) -> PhpResult {
    let draft = this_of(call)?;
    let rt = scheduler::rt();
    let sched = current_scheduler(rt);
    if sched.is_some() && draft.status.get() == Status::Enqueuing && rt.can_switch() {
        // Its callback has passed it to this scheduler and waits for something else.
        let is_done = || (draft.status.get() != Status::Enqueuing).then_some(());
        draft.changed.wait_for("a callback of Fiber::suspend()", is_done)?;
    }
    if draft.status.get() != Status::Suspended {
        return Err(error(&format!("Cannot {what} a fiber that is not suspended")));
    }
    let Some(into) = draft.scheduler() else {
        // A coroutine that is not suspended into a scheduler continues when it is its turn, and the caller immediately.
        draft.wake(sent);
        return Ok(Value::NULL);
    };
    let Some(sched) = sched else {
        return Err(error(&format!("Cannot {what} a fiber outside of FiberScheduler::run()")));
    };
    if !Rc::ptr_eq(&sched, &into) {
        return Err(error(&format!("Cannot {what} a fiber that is suspended into another FiberScheduler")));
    }
    may_switch(rt)?;
    let seen = hand_over(&sched, &draft);
    draft.wake(sent);
    wait_for_turn(rt, &sched, &draft, seen)
}

/// Checks that the running coroutine can be suspended.
///
/// # Errors
/// `FiberError`.
fn may_switch(rt: &'static Runtime) -> Result<(), Thrown> {
    if rt.can_switch() { Ok(()) } else { Err(error("Cannot switch fibers in current execution context")) }
}

/// Records that a scheduler gives control to a fiber. Returns how often the fiber has suspended, and how often fibers
/// have suspended into the scheduler.
fn hand_over(sched: &Rc<Sched>, draft: &Rc<Draft>) -> (u64, u64) {
    drop(draft.resumer.replace(Some(Rc::clone(sched))));
    sched.is_released.set(false);
    (draft.suspensions.get(), sched.entered.get())
}

/// Waits in a scheduler until the fiber that it has resumed has suspended, and a fiber has suspended into this scheduler, or
/// until the fiber has ended. Throws what the fiber has thrown.
fn wait_for_turn(rt: &'static Runtime, sched: &Rc<Sched>, draft: &Rc<Draft>, seen: (u64, u64)) -> PhpResult {
    sched.waits.set(true);
    sched.control.set(draft.address());
    let waited = sched.turn.wait_for("a fiber", || {
        let has_left = draft.suspensions.get() != seen.0 && sched.entered.get() != seen.1;
        let is_over = draft.status.get() == Status::Ended || sched.is_released.get();
        (has_left || is_over).then_some(())
    });
    sched.waits.set(false);
    sched.control.set(0);
    let is_resumer = draft.resumer.borrow().as_ref().is_some_and(|resumer| Rc::ptr_eq(resumer, sched));
    let failure = if is_resumer { draft.failure.take() } else { None };
    match (waited, failure) {
        (Ok(()), None) => Ok(Value::NULL),
        (Ok(()), Some(failure)) => Err(exception::throw(failure)),
        (Err(thrown), failure) => {
            report_lost(rt, failure);
            Err(thrown)
        }
    }
}

/// `Fiber::suspend(callable $enqueue, FiberScheduler $scheduler): mixed`
fn suspend(call: Call) -> PhpResult {
    let arguments = call.arguments(2, 2)?;
    let enqueue = arguments.callable(1)?;
    // SAFETY: set at module start.
    let scheduler = arguments.object(2, class(unsafe { sys::spindle_fiber_scheduler }))?;
    let rt = scheduler::rt();
    if current_scheduler(rt).is_some() {
        return Err(error("Cannot suspend within FiberScheduler::run()"));
    }
    let id = running_id(rt);
    may_make_fiber()?;
    let draft = STATE.fiber_of(id).unwrap_or_else(|| flow_of(rt, id));
    if draft.status.get() == Status::Enqueuing {
        return Err(error("Cannot suspend within the callback of Fiber::suspend()"));
    }
    draft.may_suspend()?;
    if draft.is_closing.get() {
        return Err(error("Cannot suspend in a force-closed fiber"));
    }
    may_switch(rt)?;
    draft.status.set(Status::Enqueuing);
    let fiber = table::object_for(&draft, None);
    drop(engine::call(enqueue, &mut [fiber.clone().into()]));
    let is_elsewhere = running_id(rt) != id;
    if exception::is_in_flight() || is_elsewhere {
        draft.status.set(Status::Running);
        draft.changed.wake_all();
        exception::check()?;
        // It has suspended a Fiber of PHP's, which another coroutine has resumed.
        return Err(error("Cannot suspend: the callback of Fiber::suspend() was resumed in another coroutine"));
    }
    let sched = STATE.scheduler(scheduler);
    if !sched.is_alive.get() {
        begin(rt, &sched);
    }
    draft.suspend_into(&sched);
    drop(fiber); // if nothing else holds it, the fiber is destroyed here, as one that is suspended
    wait_for_resume(rt, &draft, "a scheduler")
}

/// Makes the running coroutine, which has none, a fiber that code can suspend.
fn flow_of(rt: &'static Runtime, id: u64) -> Rc<Draft> {
    let draft = Rc::new(Draft::new(Kind::Flow));
    draft.co.set(rt.running().co.get());
    draft.status.set(Status::Running);
    STATE.add_fiber(id, &draft);
    draft
}

/// Waits in a fiber that is suspended until it is resumed. Returns, or throws, what it is resumed with. `name` is the wait's name
/// in diagnostics.
fn wait_for_resume(rt: &'static Runtime, draft: &Draft, name: &'static str) -> PhpResult {
    let sent = draft.resumed.wait_for(name, || draft.sent.take());
    if sent.is_err() {
        draft.leave(); // it was cancelled
        draft.hold(rt);
        // A value with which it was resumed after that is for this suspension only.
        let lost = draft.sent.take();
        exception::put_aside(|| drop(lost));
    }
    match sent? {
        Sent::Value(value) => Ok(value),
        Sent::Throw(exception) => Err(exception::throw(exception)),
        Sent::Returned => Err(error("FiberScheduler::run() has returned without resuming the fiber")),
        Sent::Threw(cause) => {
            let text = "The run() of the FiberScheduler that the fiber waits for has thrown";
            Err(exception::throw(fiber_exit(text, cause)))
        }
        Sent::Dropped => {
            let text = "Nothing can resume the fiber: its last reference was dropped";
            Err(exception::throw(fiber_exit(text, None)))
        }
        Sent::Close => {
            // SAFETY: nothing is in flight.
            unsafe { sys::spindle_throw_graceful_exit() };
            Err(Thrown::is_in_flight())
        }
    }
}

/// Starts the `run()` of a scheduler in a coroutine.
fn begin(rt: &'static Runtime, sched: &Rc<Sched>) {
    sched.is_alive.set(true);
    let life = SchedLife(Rc::clone(sched));
    let coroutine = spawn::spawn_detached(
        rt,
        Box::new(move || {
            let Some(object) = life.0.object.get() else { return Ok(Value::NULL) };
            let mut run = Array::new(2);
            run.push(object.into());
            run.push(Str::new("run").into());
            drop(engine::call(&run.into(), &mut []));
            if exception::is_exit_in_flight() {
                return Err(Thrown::is_in_flight());
            }
            end::run_ended(&life.0, exception::take());
            Ok(Value::NULL)
        }),
    );
    sched.co.set(coroutine.co.get());
    STATE.add_running(rt.core.borrow().id(coroutine.co.get()), sched);
    if STATE.is_finishing.get() {
        rt.core.borrow_mut().attach(coroutine.co.get());
    }
}
