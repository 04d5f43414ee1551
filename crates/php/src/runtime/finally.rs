//! Callbacks for the end of a coroutine. They run on its own stack after its body, before it is complete: as the coroutine, with
//! its context, its locks, and its state of the engine. Callbacks registered later are called by a runner, and so are those of a
//! coroutine that has never had a stack.

use crate::isolation::sapi;
use crate::runtime::coroutine::{Coroutine, CoroutineObject, NO_SLOT};
use crate::runtime::ctx::Ctx;
use crate::runtime::failure::{self, Level};
use crate::runtime::keyed_values::KeyedValues;
use crate::runtime::runner::{self, Work};
use crate::runtime::scheduler::{Core, Runtime, existing};
use crate::runtime::{classes, context, life, moments, pending_cancel};
use spindle_core::sched::{Outcome, State};
use spindle_zend::{Object, Owned, engine, exception};

/// Registers a callback for a coroutine's end. If the coroutine has ended already, the callback is queued immediately.
pub fn register(rt: &'static Runtime, this: &CoroutineObject, closure: &Object) {
    this.finally.push(closure.into());
    let co = this.co.get();
    if co == NO_SLOT || rt.core.borrow().state(co) == State::Done {
        queue(rt, this);
    } else {
        // Its end looks for callbacks only if it has a context, which they may use: so one is created here.
        drop(context::of_coroutine(this));
    }
}

/// Queues a runner that calls the callbacks for the end of `this`, which has ended, the last registered one first.
pub fn queue(rt: &'static Runtime, this: &CoroutineObject) {
    let list = this.finally.take();
    let co = this.co.get();
    let id = if co == NO_SLOT { Core::GLOBAL } else { rt.core.borrow().scope_of(co) };
    let id = if rt.core.borrow().scope_exists(id) { id } else { Core::GLOBAL };
    runner::start(rt, Work::CallbacksOf(list, Owned::of(this)), id, Some(id), Level::At(id), id);
}

/// Ends the running coroutine, whose body has ended, with this exception if it has thrown, and which has callbacks for that.
/// Returns `true` if it exits the application.
#[cold]
#[inline(never)]
pub fn end(rt: &'static Runtime, ctx: &'static Ctx, this: &CoroutineObject, exception: Option<Owned<Object>>) -> bool {
    let co = ctx.co.get();
    let mut exception = exception;
    if exception.is_none() && this.job().is_none() {
        exception = pending_cancel::take_undelivered(rt, ctx);
        if exception.is_some() {
            let result = this.result.take().some();
            failure::release_later(rt, result.into_iter().collect(), KeyedValues::default());
        }
    }
    let outcome = life::outcome_of(rt, co, exception.as_deref());
    this.exception.set(exception);
    wait_for_spawned(rt, this, || failure::body_ended(rt, this, outcome));
    rt.core.borrow_mut().begin_callbacks(co);
    let mut thrown = None;
    while !this.finally.is_empty() {
        if !call(this) {
            thrown = Some(exception::detached(classes::async_exception(), "A fatal error has ended a callback"));
        }
        if life::take_thrown(&mut thrown) {
            return true;
        }
    }
    if thrown.as_deref().is_some_and(|thrown| life::outcome_of(rt, co, Some(thrown)) != Outcome::Failed) {
        life::surviving(|| drop(thrown.take())); // it was cancelled by shutdown
    }
    if this.exception.is_empty() {
        life::release_unseen_result(this);
    }
    life::surviving(|| context::coroutine_ends(this));
    if life::give_up(ctx, this, &mut thrown) {
        return true;
    }
    moments::run_ends(rt);
    let left = pending_cancel::take_undelivered(rt, ctx);
    failure::release_later(rt, left.into_iter().map(Into::into).collect(), KeyedValues::default());
    moments::ended(rt, ctx);
    this.ctx.set(None);
    let sapi = this.inherited.take_sapi();
    failure::callbacks_ended(rt, this, thrown);
    drop(sapi);
    false
}

/// Ends the body of the running coroutine by `end`, and waits on its stack until those that it has spawned are complete, unless
/// `end` says that it waits for none. The last of them may complete in `end`: it is queued by that as if it had waited already.
fn wait_for_spawned(rt: &'static Runtime, this: &Coroutine, end: impl FnOnce() -> bool) {
    this.lingers.set(true);
    let waits_for_none = end();
    let is_queued = rt.core.borrow().state(this.co.get()) == State::Ready;
    if is_queued || !waits_for_none {
        rt.suspend(false);
    }
    this.lingers.set(false);
}

/// Calls the callbacks of the running coroutine. Returns `false` if a fatal error has ended one, in a native PHP request.
fn call(this: &CoroutineObject) -> bool {
    let list = this.finally.take();
    let call = || failure::call_back(&list, |callback| drop(engine::call(callback, &mut [this.object().into()])));
    if sapi::live().is_none() {
        call();
        return true;
    }
    let is_sound = sapi::guarded(call);
    if !is_sound {
        life::died();
    }
    is_sound
}

/// Ends the main coroutine when the script's own code has ended, by `EG(exception)` or normally, if it has callbacks for that,
/// and calls them.
pub fn main_ends() {
    let Some(rt) = existing().filter(|rt| !rt.has_ended()) else { return };
    let main = rt.object(Core::MAIN);
    if main.finally.is_empty() || exception::is_exit_in_flight() {
        return;
    }
    wait_for_spawned(rt, main, || failure::main_ended(rt));
    if rt.core.borrow().running() != Core::MAIN {
        return; // those that it waited for were given up
    }
    rt.core.borrow_mut().begin_callbacks(Core::MAIN);
    let mut thrown = None;
    while !main.finally.is_empty() {
        let mut is_sound = true;
        engine::in_a_frame(|| is_sound = call(main));
        if exception::is_exit_in_flight() {
            return;
        }
        let _ = life::take_thrown(&mut thrown);
    }
    if life::outcome_of(rt, Core::MAIN, thrown.as_deref()) == Outcome::Failed
        && let Some(thrown) = thrown
    {
        failure::unhandled(rt, thrown, Some(main));
    }
}
