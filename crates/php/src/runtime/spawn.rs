//! Creates coroutines from callables and arguments.

use crate::runtime::coroutine::{COROUTINE, CoroutineObject, Spawners};
pub use crate::runtime::runner::Body;
use crate::runtime::runner::{self, RustEntry};
use crate::runtime::scheduler::{Core, Runtime};
use crate::runtime::{classes, gate, moments, request, scope};
use spindle_core::sched::{CoroutineId, ScopeId};
use spindle_php_sys as sys;
use spindle_zend::{Array, Call, Frame, Function, Owned, PhpStatic, Thrown, Value, engine, exception};
use std::cell::{Cell, RefCell};

/// The number of the request in which PHP's fibers are in use and exclude coroutines.
static EXCLUDED_IN: PhpStatic<Cell<u64>> = PhpStatic::new(Cell::new(0));

/// Refuses coroutines for the rest of the request: `async.fiber_api` is `exclusive`, and a fiber was made.
pub fn exclude() {
    EXCLUDED_IN.set(request::number());
}

/// Returns `true` if a fiber that was made in this request excludes coroutines.
#[inline(always)]
pub fn are_excluded() -> bool {
    EXCLUDED_IN.get() != 0 && EXCLUDED_IN.get() == request::number()
}

/// Checks that fibers do not exclude coroutines.
///
/// # Errors
/// They do.
#[inline(always)]
pub fn is_not_excluded() -> Result<(), Thrown> {
    if are_excluded() {
        let text = "Cannot spawn: a Fiber exists, and async.fiber_api is \"exclusive\"";
        return Err(exception::throw_new(classes::async_exception(), text));
    }
    Ok(())
}

/// Checks that the current scope is not closed.
///
/// # Errors
/// The scope is closed.
pub fn scope_is_open(rt: &Runtime) -> Result<(), Thrown> {
    let current = {
        let core = rt.core.borrow();
        core.scope_of(core.running())
    };
    this_scope_is_open(rt, current)
}

/// Checks that this scope, which may be gone, is not closed for coroutines that its own coroutines spawn.
///
/// # Errors
/// The scope is closed.
#[inline]
pub fn this_scope_is_open(rt: &Runtime, scope: ScopeId) -> Result<(), Thrown> {
    is_not_excluded()?;
    let closed = {
        let core = rt.core.borrow();
        !core.scope_exists(scope) || core.is_cancelled(scope)
    };
    if closed { Err(exception::throw_new(classes::async_exception(), scope::CLOSED)) } else { Ok(()) }
}

/// Creates a coroutine from the arguments of a function or method with the parameters of `spawn()`, and queues it by
/// `queue`.
///
/// # Errors
/// The first argument is not callable.
#[inline(always)]
pub fn spawn(
    rt: &'static Runtime,
    call: Call,
    queue: impl FnOnce(&mut Core) -> CoroutineId,
) -> Result<Owned<CoroutineObject>, Thrown> {
    spawn_from(rt, call, 1, queue)
}

/// Does the same for a function whose argument with this number is the callable. Those that follow are its arguments.
///
/// # Errors
/// That argument is not callable.
#[inline(always)]
pub fn spawn_from(
    rt: &'static Runtime,
    call: Call,
    number: u32,
    queue: impl FnOnce(&mut Core) -> CoroutineId,
) -> Result<Owned<CoroutineObject>, Thrown> {
    is_not_excluded()?;
    let arguments = call.arguments(number, u32::MAX)?;
    let this = COROUTINE.make();
    this.callable.set(arguments.resolve(number, &this.call)?.clone());
    let rest = arguments.from(number + 1);
    if !rest.is_empty() {
        this.arguments.set(rest.iter().cloned());
    }
    if let Some(named) = call.named_arguments() {
        this.named.set(Some(named.duplicate()));
    }
    self::queue(rt, &this, call, queue);
    Ok(this)
}

/// Creates a coroutine that calls a callable with copies of these arguments in the current scope, and queues it. `resolved`: the
/// callable, as the engine has found it.
///
/// # Errors
/// The callable is none, or the scope is closed.
pub fn spawn_call(
    rt: &'static Runtime,
    callable: Option<&Value>,
    resolved: Option<sys::zend_fcall_info_cache>,
    arguments: &[Value],
    named: Option<&Array>,
) -> Result<Owned<CoroutineObject>, Thrown> {
    scope_is_open(rt)?;
    let this = COROUTINE.make();
    let callable = callable.unwrap_or(const { &Value::NULL });
    // SAFETY: a function that lasts as long as the callable, or none.
    let function = resolved.and_then(|call| unsafe { Function::from_raw(call.function_handler) });
    match resolved.filter(|_| function.is_some_and(|it| it.flags() & sys::ZEND_ACC_CALL_VIA_TRAMPOLINE == 0)) {
        Some(resolved) => this.call.set(resolved),
        None => engine::resolve_or_throw(callable, &this.call)?,
    }
    this.callable.set(callable.clone());
    if !arguments.is_empty() {
        this.arguments.set(arguments.iter().cloned());
    }
    this.named.set(named.map(Array::duplicate));
    queue_from(rt, &this, Frame::current().and_then(Frame::user_frame), Core::spawn);
    Ok(this)
}

/// Creates a coroutine from a Rust body in the current scope, and queues it.
pub fn spawn_body(rt: &'static Runtime, body: Body) -> Owned<CoroutineObject> {
    let this = COROUTINE.make();
    runner::set_entry(&this, RustEntry::Body(RefCell::new(Some(body))));
    queue_from(rt, &this, Frame::current().and_then(Frame::user_frame), Core::spawn);
    this
}

/// Creates a coroutine from a Rust body as a member of this scope, and queues it.
pub fn spawn_body_in(rt: &'static Runtime, scope: ScopeId, body: Body) -> Owned<CoroutineObject> {
    let this = COROUTINE.make();
    runner::set_entry(&this, RustEntry::Body(RefCell::new(Some(body))));
    queue_from(rt, &this, Frame::current().and_then(Frame::user_frame), |core| core.spawn_in(scope));
    this
}

/// Creates a coroutine from a Rust body, in no scope of user code: the application does not wait for it
/// ([`Core::spawn_detached`]).
pub fn spawn_detached(rt: &'static Runtime, body: Body) -> Owned<CoroutineObject> {
    let this = COROUTINE.make();
    runner::set_entry(&this, RustEntry::Body(RefCell::new(Some(body))));
    queue_from(rt, &this, Frame::current().and_then(Frame::user_frame), Core::spawn_detached);
    this
}

/// Queues a new coroutine whose call is complete. `call` is the one that spawns it.
#[inline(always)]
pub fn queue(
    rt: &'static Runtime,
    this: &Owned<CoroutineObject>,
    call: Call,
    queue: impl FnOnce(&mut Core) -> CoroutineId,
) {
    queue_from(rt, this, call.user_frame(), queue);
}

/// Like [`queue`], for a coroutine that the PHP code in this frame spawns, if there is one.
#[inline(always)]
fn queue_from(
    rt: &'static Runtime,
    this: &Owned<CoroutineObject>,
    frame: Option<Frame>,
    queue: impl FnOnce(&mut Core) -> CoroutineId,
) {
    if let Some(frame) = frame {
        this.spawned_at.set_to_code_of(Some(frame));
        // SAFETY: the function that will be called, or none.
        let function = unsafe { Function::from_raw(this.call.get().function_handler) };
        if this.is_operator.get() || function.is_some_and(Function::is_internal) {
            // `life` makes the call as if it were made here.
            this.spawn_class.set(frame.function().and_then(Function::class));
            this.spawn_static.set(frame.called_class());
        }
    }
    this.inherited.capture();
    if let Some(spawners) = Spawners::of(rt, rt.running()) {
        let is_new = this.spawners.set(spawners).is_ok();
        debug_assert!(is_new);
    }
    if !gate::is_active() && !rt.has_ended() {
        moments::first_spawn(rt);
    }
    rt.enqueue(this.clone(), queue);
}
