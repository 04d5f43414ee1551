//! Coroutines of Rust code, for the [parts](crate::Part) of further crates: spawning them, and waiting.
//!
//! A body is Rust code on a coroutine's stack. It is suspended where it calls [`suspend`], [`sleep`], [`await_object`],
//! [`Coroutine::join`], [`WaitQueue::wait_for`], [`AsyncFd::readable`] or [`AsyncFd::writable`], and in PHP code that
//! it [calls](call); nowhere else. Functions of a part that PHP code calls wait in the same way, in the coroutine that
//! has called them.
//!
//! ```no_run
//! use spindle_php::coroutine::{self, WaitQueue};
//! use spindle_zend::{Call, PhpResult, Value};
//! use std::{cell::Cell, rc::Rc, time::Duration};
//!
//! fn example(_: Call) -> PhpResult {
//!     let (ready, queue) = (Rc::new(Cell::new(false)), Rc::new(WaitQueue::new()));
//!     let shared = (Rc::clone(&ready), Rc::clone(&queue));
//!     let other = coroutine::spawn(move || {
//!         coroutine::sleep(Duration::from_millis(10))?; // others run meanwhile
//!         shared.0.set(true);
//!         shared.1.wake_one();
//!         Ok("done".into())
//!     })?;
//!     queue.wait_for("example", || ready.get().then_some(()))?;
//!     other.join()
//! }
//! ```
//!
//! # Errors
//! A [`Thrown`] means that an exception is in flight: return it, with `?`. Until then each function here only returns
//! it again. To continue instead, take the exception with [`exception::take`]; but never an `exit`, and normally not a
//! cancellation.
//!
//! - **Cancellation** is a `CancellationException` thrown by the current wait of the coroutine, or by its next one. A body
//!   that was cancelled before its start is dropped without running.
//! - **`exit`** in PHP code that a body calls is an exception, too: the body returns, and then the script ends.
//! - **A panic** aborts the process with its message, as everywhere in Spindle: it is a bug, and the state of the other stacks
//!   is unknown.
//!
//! # What code may hold while it waits, or calls PHP code
//! Other coroutines run meanwhile: hold no borrow of a `RefCell` and no lock that they may need, or they panic or wait for ever.
//! Values of the engine that a closure or a stack holds are invisible to the cycle collector: a cycle through them is not
//! collected while these exist.
//!
//! **Destructors of local variables may not run.** A fatal error in PHP code leaves the frames that have called it by a
//! `longjmp`, and coroutines that are suspended when the request ends (by `exit` or a fatal error) are never resumed. Values of
//! the engine, and memory, may leak then. Resources that must be released, such as descriptors, do not belong in local variables
//! but in a place that is dropped at the end of the request in any case: the captures of a body (for this reason it is an `FnMut`,
//! whose captures are not moved), the state of an object ([`State`](spindle_zend::State)), or a place that
//! [`Part::on_request_end`](crate::Part::on_request_end) clears.
//!
//! # Panics
//! All functions here panic outside of a request, and on any thread but PHP's.

use crate::api::{awaiting, scope_values, settled};
use crate::handles::{groups, handle_locks};
pub use crate::isolation::ErrorHandling;
use crate::isolation::sapi::Sapi;
use crate::observe::dump;
pub use crate::part::hold;
pub use crate::runtime::completion::{AwaitableClass, Completion, maker, running_maker};
use crate::runtime::coroutine::{COROUTINE, CoroutineObject, NO_SLOT};
use crate::runtime::group::GROUP;
pub use crate::runtime::hand_off::{Begun, Held, Holders, Parked, Wait, Waker};
pub use crate::runtime::position::Position;
use crate::runtime::request::check_place;
pub use crate::runtime::request::is_in_request;
use crate::runtime::runner;
use crate::runtime::scheduler::{self, runtime};
use crate::runtime::scope;
pub use crate::runtime::signal_waits::SignalWait;
pub use crate::runtime::wait_queue::WaitQueue;
pub use crate::runtime::wait_set::{Direction, Key, Known, Questions, WaitSet, deadline_in};
use crate::runtime::{
    awaiting as wait_targets, cancellation, classes, completion, failure, hand_off, life, nursery, park, report,
    request, spawn, wait_set,
};
pub use spindle_core::sched::Maker;
use spindle_core::sched::{Outcome, ScopeId, State, Target};
use spindle_interpose::{hooks::poll, host};
use spindle_php_sys as sys;
use spindle_reactor::{Blocking, FdKind, Opened, Reactor};
use spindle_zend::{Class, Object, Owned, PhpResult, Thrown, Value, engine, exception};
use std::ffi::CStr;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A coroutine, represented by its object of the class `Async\Coroutine`.
#[derive(Clone, PartialEq, Eq)]
pub struct Coroutine(Owned<CoroutineObject>);

/// Spawns a coroutine in the current scope, as `Async\spawn()` does. It starts when the running one waits or has ended.
/// The body is called once; its captures are dropped when it has ended, and at the end of the request at the latest.
///
/// # Errors
/// The scope is closed.
pub fn spawn(body: impl FnMut() -> PhpResult + 'static) -> Result<Coroutine, Thrown> {
    let rt = runtime()?;
    spawn::scope_is_open(rt)?;
    Ok(Coroutine(spawn::spawn_body(rt, Box::new(body))))
}

/// A scope of user code in which coroutines are spawned. This does not keep the scope alive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SpawnScope(ScopeId);

impl SpawnScope {
    /// Returns the scope of the running coroutine.
    pub fn current() -> SpawnScope {
        check_place();
        let core = scheduler::rt().core.borrow();
        SpawnScope(core.scope_of(core.running()))
    }

    /// Spawns a coroutine as a member of this scope, as `Async\Scope::spawn()` does: it is no child of the running one.
    ///
    /// # Errors
    /// The scope is closed, or gone.
    pub fn spawn(self, body: impl FnMut() -> PhpResult + 'static) -> Result<Coroutine, Thrown> {
        let rt = runtime()?;
        spawn::this_scope_is_open(rt, self.0)?;
        Ok(Coroutine(spawn::spawn_body_in(rt, self.0, Box::new(body))))
    }
}

impl Coroutine {
    /// Makes traces name this function as the one that the coroutine runs, at the place where it was spawned. To be called before
    /// it has begun.
    pub fn runs_as(&self, name: &'static CStr) {
        check_place();
        runner::set_name(&self.0, name);
    }

    /// Returns the coroutine with this object.
    pub(crate) fn of(object: Owned<CoroutineObject>) -> Coroutine {
        Coroutine(object)
    }

    /// Returns the object, with its reference, for C code.
    pub(crate) fn into_raw(self) -> *mut sys::zend_object {
        let object = self.object().as_raw();
        std::mem::forget(self);
        object
    }

    /// Returns `true` if it has ended.
    pub fn is_done(&self) -> bool {
        check_place();
        scheduler::rt().core.borrow().state(self.0.co.get()) == State::Done
    }

    /// Returns the object, which PHP code may await.
    pub fn object(&self) -> &Object {
        self.0.object()
    }

    /// Waits for the end of the coroutine, and returns its result.
    ///
    /// # Errors
    /// Its failure, or the exception that ended the wait.
    pub fn join(&self) -> PhpResult {
        await_object(self.object())
    }

    /// Marks its failure as received, now or when it fails.
    pub fn mark_awaited(&self) {
        check_place();
        self.0.seen.set(true);
        scheduler::rt().core.borrow_mut().mark_awaited(self.0.co.get());
    }

    /// Cancels the coroutine, unless it has ended. Can be called while an exception is in flight.
    pub fn cancel(&self) {
        if let Some(rt) = self.unless_ended() {
            exception::put_aside(|| life::cancel_by_user_code(rt, &self.0, &cancellation::default_cancellation()));
        }
    }

    /// Does the same because `what`, which the coroutine does not outlive, has ended, by this exception if there is one. The
    /// message of the cancellation says so.
    pub fn cancel_after(&self, what: &str, ended_with: Option<&Object>) {
        if let Some(rt) = self.unless_ended() {
            let reason = cancellation::cancellation_after(what, ended_with, "");
            exception::put_aside(|| life::cancel(rt, self.0.co.get(), &reason));
        }
    }

    /// Does the same with this exception.
    pub fn cancel_with(&self, reason: &Object) {
        if let Some(rt) = self.unless_ended() {
            exception::put_aside(|| life::cancel(rt, self.0.co.get(), reason));
        }
    }

    fn unless_ended(&self) -> Option<&'static scheduler::Runtime> {
        check_place();
        let rt = scheduler::rt();
        let has_ended = rt.core.borrow().state(self.0.co.get()) == State::Done;
        (!has_ended).then_some(rt)
    }
}

impl Held<'_> {
    /// Adds a coroutine on which the wait depends, if it has not ended.
    pub fn by_unless_done(&mut self, coroutine: &Coroutine) {
        if coroutine.0.co.get() != NO_SLOT && !coroutine.is_done() {
            self.by_coroutine(coroutine.0.co.get());
        }
    }
}

impl From<Coroutine> for Value {
    fn from(coroutine: Coroutine) -> Value {
        coroutine.0.into()
    }
}

/// A scope for coroutines of a part, below the current one. Coroutines that are still in it when this is dropped run on.
#[derive(Clone)]
pub struct Scope(Rc<HeldScope>);

/// A scope that is let go when it is dropped.
struct HeldScope(ScopeId);

impl Drop for HeldScope {
    fn drop(&mut self) {
        scope::let_go(self.0);
    }
}

impl Scope {
    /// Returns a new scope. A failure in it that no code has handled cancels its coroutines, is given to `on_failure`, which must
    /// not run PHP code, and goes no further. As in the global scope, it waits as long as PHP code holds the coroutine and may
    /// await it: until [`Scope::end_held_failures`], or the scope's end.
    ///
    /// # Errors
    /// The current scope is closed.
    pub fn new(on_failure: impl Fn(&Object) + 'static) -> Result<Scope, Thrown> {
        let rt = runtime()?;
        spawn::scope_is_open(rt)?;
        let parent = {
            let core = rt.core.borrow();
            core.scope_of(core.running())
        };
        Ok(Scope::make(rt, parent, on_failure))
    }

    /// Returns a new scope below this one: what cancels this one cancels it, too.
    ///
    /// # Errors
    /// This scope is closed.
    pub fn below(&self, on_failure: impl Fn(&Object) + 'static) -> Result<Scope, Thrown> {
        let rt = runtime()?;
        self.check_is_open(rt)?;
        Ok(Scope::make(rt, self.0.0, on_failure))
    }

    fn make(rt: &'static scheduler::Runtime, parent: ScopeId, on_failure: impl Fn(&Object) + 'static) -> Scope {
        let (id, record) = scope::make_inner(rt, parent);
        *record.boundary.borrow_mut() = Some(scope::Boundary { take: Box::new(on_failure), is_nursery: false });
        Scope(Rc::new(HeldScope(id)))
    }

    fn check_is_open(&self, rt: &'static scheduler::Runtime) -> Result<(), Thrown> {
        let id = self.0.0;
        let is_closed = {
            let core = rt.core.borrow();
            !core.scope_exists(id) || core.is_closed(id)
        };
        if is_closed { Err(exception::throw_new(classes::async_exception(), scope::CLOSED)) } else { Ok(()) }
    }

    /// Spawns a coroutine in the scope, as the function `spawn` does.
    ///
    /// # Errors
    /// The scope is closed.
    pub fn spawn(&self, body: impl FnMut() -> PhpResult + 'static) -> Result<Coroutine, Thrown> {
        let rt = runtime()?;
        self.check_is_open(rt)?;
        Ok(Coroutine(spawn::spawn_body_in(rt, self.0.0, Box::new(body))))
    }

    /// Spawns a coroutine in the scope with a native PHP request, which it shares with the coroutines that it spawns.
    ///
    /// # Errors
    /// The scope is closed.
    pub fn spawn_in_request(
        &self,
        request: Rc<Sapi>,
        body: impl FnMut() -> PhpResult + 'static,
    ) -> Result<Coroutine, Thrown> {
        let coroutine = match request.instance() {
            Some(instance) => instance.makes(|| self.spawn(body)),
            None => self.spawn(body),
        }?;
        coroutine.0.inherited.set_sapi(request);
        Ok(coroutine)
    }

    /// Attaches an object, which [`attached`] finds in the scope and in those below it, until it has finished. `is_inert`
    /// returns `true` if no PHP code can run when the object is freed.
    ///
    /// # Errors
    /// There is no runtime any more.
    pub fn attach(&self, object: &Object, is_inert: fn(&Object) -> bool) -> Result<(), Thrown> {
        let (rt, id) = (runtime()?, self.0.0);
        if rt.core.borrow().scope_exists(id) {
            scope::record(rt, id).attach(object, is_inert);
        }
        Ok(())
    }

    /// Ends what the scope was made for. A failure in it that waits to be awaited, because PHP code holds its coroutine, counts as
    /// one that no code has handled. Can be called while an exception is in flight.
    pub fn end_held_failures(&self) {
        check_place();
        if let Some(rt) = scheduler::existing() {
            exception::put_aside(|| {
                failure::end_held_failures(rt, self.0.0);
                failure::carry_out(rt);
            });
        }
    }

    /// Returns lines that say where its coroutines are, and those of the scopes below it: what each waits for, and its stack. Runs no PHP
    /// code.
    pub fn describe(&self) -> String {
        check_place();
        scheduler::existing().map_or(String::new(), |rt| dump::of_scope(rt, self.0.0))
    }

    /// Cancels the coroutines of the scope with a copy of this exception, and closes it. Can be called while an exception is in
    /// flight.
    pub fn cancel(&self, reason: &Object) {
        check_place();
        let (Some(rt), id) = (scheduler::existing(), self.0.0) else { return };
        if rt.core.borrow().scope_exists(id) {
            exception::put_aside(|| {
                scope::cancel(rt, id, reason);
            });
        }
    }
}

/// A scope whose coroutines do not outlive the call that has opened it. That call ends it, by [`Nursery::end`]. A failure in it that is not
/// awaited cancels the other coroutines, and is thrown there. It is cancelled with its caller, and not by the scope of that.
pub struct Nursery(nursery::Nursery);

impl Nursery {
    /// Opens a nursery for the function with this name. `on_failure` is called with each failure in it, and must not run PHP code.
    ///
    /// # Errors
    /// The coroutine is cancelled, or cannot wait here.
    pub fn open(name: &'static str, on_failure: impl Fn(&Object) + 'static) -> Result<Nursery, Thrown> {
        nursery::Nursery::open(runtime()?, name, on_failure).map(Nursery)
    }

    /// Cancels its coroutines when the token completes, for which [`Nursery::end`] throws what a wait with that token throws.
    ///
    /// # Errors
    /// The token can never complete.
    pub fn limit_by(&self, token: Option<&Object>) -> Result<(), Thrown> {
        token.map_or(Ok(()), |token| self.0.limit_by(token))
    }

    /// Spawns a coroutine in it.
    ///
    /// # Errors
    /// It is cancelled, or was disposed of.
    pub fn spawn(&self, body: impl FnMut() -> PhpResult + 'static) -> Result<Coroutine, Thrown> {
        self.0.spawn(Box::new(body)).map(Coroutine)
    }

    /// Calls a callable in a coroutine of its own, which acts as the running one, in a nursery with this name. Returns the result when
    /// all that was spawned in it has ended.
    ///
    /// # Errors
    /// As [`Nursery::open`] and [`Nursery::end`].
    pub fn call(name: &'static str, callable: &Value, arguments: &[Value]) -> PhpResult {
        let nursery = Nursery::open(name, |_| {})?;
        let (callable, arguments) = (callable.clone(), arguments.to_vec());
        let block = nursery.spawn(move || call(&callable, &mut arguments.clone()))?;
        scheduler::rt().lets_act(&block.0);
        nursery.end(Ok(()))?;
        result_of(block.object())
    }

    /// Returns `true` if it was cancelled, because of a failure, its limit, or by other code.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Cancels its coroutines, because the call has got what it wants.
    pub fn give_up_rest(&self) {
        self.0.give_up_rest();
    }

    /// Waits until all its coroutines have ended, and closes it. `so_far` is how the call itself has gone: if it was cancelled or
    /// has failed, so are its coroutines.
    ///
    /// # Errors
    /// The call was cancelled; its limit has passed; it, or a coroutine, has failed; its scope was cancelled. The first of these that
    /// holds is thrown, with the failure as its last previous exception.
    pub fn end(self, so_far: Result<(), Thrown>) -> Result<(), Thrown> {
        self.0.end(so_far)
    }
}

/// Returns an `Async\Settled` of a result, or of a failure.
pub fn settled(outcome: Result<Value, Value>) -> Owned<Object> {
    settled::make(outcome)
}

/// Returns the object that is attached to the scope of the running coroutine, or to the nearest one above: see
/// [`Scope::attach`].
pub fn attached() -> Option<Owned<Object>> {
    let rt = scheduler::existing()?;
    let scope = {
        let core = rt.core.try_borrow().ok()?; // something may be logged in the middle of anything
        core.scope_of(core.running())
    };
    scope_values::attached(scope)
}

/// Returns the time of the event loop's clock, in nanoseconds.
pub fn now() -> u64 {
    Reactor::now()
}

/// Notes that Rust code has opened a descriptor in non-blocking mode, which only it will use: see [`WaitSet::watch_used`].
pub fn descriptor_opened(fd: BorrowedFd<'_>, is_tcp: bool) {
    let Some(host) = host::php_thread_host() else { return };
    let kind = Some(if is_tcp { FdKind::Tcp } else { FdKind::Socket });
    let opened = Opened { kind, blocking: Some(Blocking::No), timeouts: None, own: true };
    host.reactor().opened(fd.as_raw_fd(), opened, |waiter| host.wake(waiter));
}

/// Notes that Rust code is about to close a descriptor.
pub fn descriptor_closing(fd: BorrowedFd<'_>) {
    if let Some(host) = host::php_thread_host() {
        host.reactor().forget(fd.as_raw_fd(), |waiter| host.wake(waiter));
    }
}

/// Waits for an object of type `Async\Awaitable|Async\Scope`, as `Async\await()` does, and returns its result.
///
/// # Errors
/// Its failure, the exception that ended the wait, or an `Error` if it is of another type.
pub fn await_object(object: &Object) -> PhpResult {
    runtime()?;
    if !awaiting::is_awaitable(object) {
        let class = object.class().name().to_text();
        return Err(exception::throw_error(&format!("An object of the class {class} cannot be awaited")));
    }
    awaiting::await_object(object, None)
}

/// Waits as [`await_object`] does, or until the token completes.
///
/// # Errors
/// As [`await_object`]; or the token was first.
pub fn await_object_until(object: &Object, token: Option<&Object>) -> PhpResult {
    runtime()?;
    awaiting::await_object(object, token)
}

/// Returns `true` if the object, an `Async\Awaitable`, is complete.
///
/// # Errors
/// It can never complete.
pub fn is_complete(object: &Object) -> Result<bool, Thrown> {
    let rt = runtime()?;
    let target = wait_targets::target(object)?;
    let is_done = rt.core.borrow().is_done(target);
    Ok(is_done)
}

/// Returns the result of an `Async\Awaitable`, or `None` if it is not complete.
///
/// # Errors
/// Its failure; or it can never complete.
#[inline]
pub fn result_if_complete(object: &Object) -> Result<Option<Value>, Thrown> {
    let rt = runtime()?;
    let target = wait_targets::target(object)?;
    let is_done = rt.core.borrow().is_done(target);
    if is_done { wait_targets::deliver(rt, object).map(Some) } else { Ok(None) }
}

/// Returns the results of these awaitables, or `None` if one of them is not complete.
///
/// # Errors
/// The first failure among those that are complete; or one can never complete.
pub fn results_if_complete(objects: &[Owned<Object>]) -> Result<Option<Vec<Value>>, Thrown> {
    let rt = runtime()?;
    let mut results = Vec::with_capacity(objects.len());
    for object in objects {
        if let Some(this) = spawned(object) {
            let end = rt.core.borrow_mut().take_end(this.co.get());
            match end {
                None => continue,
                Some(Outcome::Returned) => {
                    this.seen.set(true);
                    results.push(this.result.get().some().unwrap_or(Value::NULL));
                    continue;
                }
                Some(Outcome::Failed | Outcome::Cancelled) => {}
            }
        }
        results.extend(result_if_complete(object)?);
    }
    Ok((results.len() == objects.len()).then_some(results))
}

/// Returns the coroutine whose object this is.
#[inline(always)]
fn spawned(object: &Object) -> Option<&CoroutineObject> {
    COROUTINE.of(object).filter(|this| this.co.get() != NO_SLOT)
}

/// Checks that none of these awaitables has failed. The failures of those that are complete count as received.
///
/// # Errors
/// The first failure; or one can never complete.
pub fn none_has_failed(objects: &[Owned<Object>]) -> Result<(), Thrown> {
    let rt = runtime()?;
    let runs = |this: &CoroutineObject| rt.core.borrow().state(this.co.get()) != State::Done;
    for object in objects {
        if !spawned(object).is_some_and(runs) {
            drop(result_if_complete(object)?);
        }
    }
    Ok(())
}

/// Returns the result of an `Async\Awaitable` that is complete.
///
/// # Errors
/// Its failure.
pub fn result_of(object: &Object) -> PhpResult {
    wait_targets::deliver(runtime()?, object)
}

/// Waits until `count` of the awaitables are complete, or with `fails_fast` until one of them has failed. [`result_of`] takes their
/// results. The wait also ends when scopes among them fail, because only a coroutine that waits at that time gets the failures of a
/// scope: they are returned, with the positions of the scopes, and have to be thrown, by [`throw_first`], or kept.
///
/// # Errors
/// The coroutine is cancelled, the token was first, or one of them must not be awaited here.
pub fn await_some(
    wait: Wait<'_>,
    objects: &[Owned<Object>],
    count: usize,
    fails_fast: bool,
) -> Result<Vec<(usize, Owned<Object>)>, Thrown> {
    let rt = runtime()?;
    let running = rt.core.borrow().running();
    let may_await_others = rt.owner().co.get() == running; // one that acts for others may not await them
    let mut targets = Vec::with_capacity(objects.len());
    for object in objects {
        if let Some(this) = spawned(object)
            && may_await_others
            && this.co.get() != running
        {
            targets.push(Target::Coroutine(this.co.get()));
            continue;
        }
        let target = wait_targets::target(object)?;
        wait_targets::may_await(rt, target, object)?;
        targets.push(target);
    }
    let failures = hand_off::wait_for_some(wait, &targets, count, fails_fast)?;
    let place = |id: ScopeId| targets.iter().position(|target| *target == Target::Scope(id)).unwrap_or(0);
    Ok(failures.into_iter().map(|(id, failure)| (place(id), failure)).collect())
}

/// Marks the failure of an awaitable, which it may have later, as received. For code that has awaited several and needs no more.
pub fn give_up(object: &Object) {
    check_place();
    let mark = |this: &CoroutineObject| {
        this.seen.set(true);
        scheduler::rt().core.borrow_mut().mark_awaited(this.co.get());
    };
    if let Some(this) = COROUTINE.of(object).filter(|this| this.co.get() != NO_SLOT) {
        mark(this);
    } else if let Some(group) = GROUP.of(object) {
        group.mark_seen();
        group.members().iter().for_each(|member| mark(member));
    }
}

/// Throws the first of the failures that [`await_some`] has returned, and passes the others on to the scopes above.
///
/// # Errors
/// There is one.
pub fn throw_first(objects: &[Owned<Object>], failures: Vec<(usize, Owned<Object>)>) -> Result<(), Thrown> {
    let mut failures = failures.into_iter();
    let Some((_, first)) = failures.next() else { return Ok(()) };
    for (at, failure) in failures {
        if let Ok(Target::Scope(id)) = wait_targets::target(&objects[at]) {
            hand_off::pass_on(scheduler::rt(), id, failure);
        }
    }
    Err(exception::throw(first))
}

/// Returns the id of the running coroutine, or of the one that waits for it as for a call: what either acquires belongs to both.
#[inline]
pub fn current_id() -> u64 {
    check_place();
    scheduler::rt().owner_id()
}

/// Returns the id of the running coroutine; 0 if there is none. May be called in the middle of anything.
pub fn running_id() -> u64 {
    scheduler::existing().map_or(0, |rt| rt.context().id.get())
}

/// Activates the runtime before the first coroutine is spawned, so that forks are seen from here on.
///
/// # Errors
/// There is no runtime.
pub fn activate() -> Result<(), Thrown> {
    wait_set::activate(runtime()?);
    Ok(())
}

/// Returns `true` if no coroutine runs any more: the request ends.
pub fn is_over() -> bool {
    scheduler::existing().is_none_or(|rt| rt.has_ended())
}

/// Throws the cancellation of the running coroutine that is pending, if there is one.
///
/// # Errors
/// There is one.
pub fn check_cancellation() -> Result<(), Thrown> {
    park::may_wait(runtime()?)
}

/// Returns `true` if a cancellation was thrown in the running coroutine, and none is pending.
pub fn was_cancelled() -> bool {
    check_place();
    let core = scheduler::rt().core.borrow();
    core.was_cancellation_thrown(core.running())
}

/// Returns the address of the object that stands for the connection of this one, which was created from it, such as that of a
/// statement's `PDO`; its own if there is none.
pub fn connection_of(object: &Object) -> usize {
    groups::group_id(object.address())
}

/// Returns `true` if there are objects that were created from this one, such as statements of a connection, and share its
/// connection.
pub fn has_dependents(object: &Object) -> bool {
    groups::has_others(object.address())
}

/// Returns `true` if a call of the running coroutine that is in progress uses the connection of the object at this address.
pub fn is_in_use(address: usize) -> bool {
    handle_locks::is_in_use(groups::group_id(address))
}

/// Returns the class `Async\CancellationException`.
pub fn cancellation_exception() -> Class {
    classes::cancellation()
}

/// Returns the class `Async\AwaitCancelledException`.
pub fn await_cancelled_exception() -> Class {
    classes::await_cancelled()
}

/// Returns the class `Async\TimeoutException`.
pub fn timeout_exception() -> Class {
    classes::timeout_exception()
}

/// Returns the class `Async\ChannelException`.
pub fn channel_exception() -> Class {
    classes::channel_exception()
}

/// Returns the class `Async\CoroutineGroup`.
pub fn group_class() -> Class {
    classes::group()
}

/// Returns a `CompositeException` of these exceptions.
pub fn composite_exception(message: &str, exceptions: Value) -> Owned<Object> {
    let composite = exception::new(classes::composite(), message);
    composite.set_property(classes::composite(), c"exceptions", &exceptions);
    composite
}

/// Declares a class of a part whose objects can be awaited. Its class implements the interface [`awaitable`]. At module
/// start.
pub fn declare_awaitable(class: AwaitableClass) {
    completion::register(class);
}

/// Returns `true` if an object is an `Async\Awaitable`.
pub fn is_awaitable(object: &Object) -> bool {
    COROUTINE.of(object).is_some() || object.is_a(classes::awaitable())
}

/// Returns the interface `Async\Awaitable`.
pub fn awaitable() -> Class {
    classes::awaitable()
}

/// Returns the class `Async\AsyncException`.
pub fn async_exception() -> Class {
    classes::async_exception()
}

/// Returns a new exception of the class `Async\CancellationException`.
pub fn new_cancellation(message: &str) -> Owned<Object> {
    exception::new(classes::cancellation(), message)
}

/// Returns the origin of an exception: itself, or the first failure behind a cancellation.
pub fn failure_behind(exception: &Object) -> Option<&Object> {
    cancellation::failure_behind(exception)
}

/// Returns `CLASS: message, thrown at FILE:LINE` for the text of another exception.
pub fn told(failure: &Object) -> String {
    report::told(failure, "")
}

/// The meaning of an exception that no code has caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// A failure.
    Failure,
    /// A cancellation of something else: code that has not caught it ends silently.
    Cancellation,
    /// The cancellation of the running coroutine: code that has received it in its place passes it on.
    OwnCancellation,
}

/// Returns the meaning of an exception that no code has caught.
pub fn meaning_of(exception: &Object) -> Meaning {
    check_place();
    let rt = scheduler::rt();
    let running = rt.core.borrow().running();
    if life::outcome_of(rt, running, Some(exception)) != Outcome::Cancelled {
        Meaning::Failure
    } else if rt.core.borrow().is_cancel_requested(running) {
        Meaning::OwnCancellation
    } else {
        Meaning::Cancellation
    }
}

/// Returns `true` if no coroutine starts any more: the script has ended.
pub fn have_ended() -> bool {
    check_place();
    scheduler::existing().map_or_else(request::has_script_ended, |rt| rt.has_ended())
}

/// Returns `true` if the object is an `Async\Scope`, whose failures only a coroutine that awaits it receives.
pub fn is_scope(object: &Object) -> bool {
    object.is_a(classes::scope())
}

/// Yields to the coroutines that are ready, as `Async\suspend()` does.
///
/// # Errors
/// The coroutine is cancelled.
pub fn suspend() -> Result<(), Thrown> {
    park::suspend(runtime()?)
}

/// Waits for this time, as `Async\delay()` does.
///
/// # Errors
/// The coroutine is cancelled, or a signal handler has thrown.
pub fn sleep(time: Duration) -> Result<(), Thrown> {
    // Centuries are enough, and a deadline must not overflow.
    park::delay(runtime()?, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(1 << 62))
}

/// A descriptor that coroutines wait for, such as a socket in non-blocking mode: try a call, and if it would block,
/// wait and try again. This type is needed because the event loop does not observe the calls of Rust code on a
/// descriptor, as it does those of PHP.
pub struct AsyncFd<T: AsFd>(T, PhantomData<*mut ()>);

impl<T: AsFd> AsyncFd<T> {
    /// Returns the type for a new descriptor. Waits of other coroutines for the same number end with an error.
    pub fn new(io: T) -> AsyncFd<T> {
        check_place();
        if let Some(host) = host::php_thread_host() {
            // The event loop's data is about a descriptor with the same number that was closed unnoticed.
            host.reactor().forget(io.as_fd().as_raw_fd(), |waiter| host.wake(waiter));
        }
        AsyncFd(io, PhantomData)
    }

    /// Returns the argument of [`new`](AsyncFd::new).
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// Waits until data can be read or a connection accepted. Returns `false` on a timeout.
    ///
    /// # Errors
    /// The coroutine is cancelled, a signal handler has thrown, or the descriptor cannot be waited for.
    pub fn readable(&self, timeout: Option<Duration>) -> Result<bool, Thrown> {
        wait_for_fd(self.0.as_fd(), libc::POLLIN, timeout)
    }

    /// Waits until data can be written. Returns `false` on a timeout.
    ///
    /// # Errors
    /// See [`readable`](AsyncFd::readable).
    pub fn writable(&self, timeout: Option<Duration>) -> Result<bool, Thrown> {
        wait_for_fd(self.0.as_fd(), libc::POLLOUT, timeout)
    }
}

/// Waits like a `poll()` called by PHP code.
fn wait_for_fd(fd: BorrowedFd<'_>, events: i16, timeout: Option<Duration>) -> Result<bool, Thrown> {
    let rt = runtime()?;
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        if rt.can_switch() {
            park::may_wait(rt)?;
        }
        if let Some(host) = host::php_thread_host() {
            host.reactor().reset_readiness(fd.as_raw_fd()); // it was read or written unnoticed
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let milliseconds =
            left.map_or(-1, |left| i32::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX));
        let mut one = libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
        // SAFETY: one entry, which lives through the call.
        let ready = unsafe { poll::poll(&raw mut one, 1, milliseconds) };
        let error = io::Error::last_os_error();
        match ready {
            0 if milliseconds < i32::MAX => return Ok(false),
            0 => {}
            1 if one.revents & libc::POLLNVAL == 0 => return Ok(true),
            1 => return Err(cannot_wait_for(&io::Error::from_raw_os_error(libc::EBADF))),
            _ if error.raw_os_error() == Some(libc::EINTR) => park::after_signal()?,
            _ => {
                park::may_wait(rt)?; // a cancellation
                return Err(cannot_wait_for(&error));
            }
        }
    }
}

fn cannot_wait_for(error: &io::Error) -> Thrown {
    exception::throw_new(classes::async_exception(), &format!("Cannot wait for the descriptor: {error}"))
}

/// Calls a PHP callable.
///
/// # Errors
/// The callable has thrown.
pub fn call(callable: &Value, arguments: &mut [Value]) -> PhpResult {
    runtime()?;
    let result = engine::call(callable, arguments);
    exception::check().map(|()| result)
}
