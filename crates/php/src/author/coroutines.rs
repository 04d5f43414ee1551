//! Coroutines of C code: which one runs, new ones, their results, their cancellations.

use super::arguments::Callback;
use crate::coroutine::{self as rust, Coroutine};
use crate::runtime::scheduler::{Core, existing, rt};
use crate::runtime::{park, request, spawn as spawning};
use spindle_php_sys as sys;
use spindle_zend::{Array, Function, Object, PhpStatic, Value, exception};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;

/// Returns the id of the running coroutine; 0 outside of requests and on other threads.
pub extern "C" fn current() -> u64 {
    if !request::is_in_request() {
        return 0;
    }
    existing().map_or(Core::MAIN_ID, |rt| {
        let core = rt.core.borrow();
        core.id(core.running())
    })
}

fn object_or_null(spawned: Option<Coroutine>) -> *mut sys::zend_object {
    spawned.map_or(null_mut(), Coroutine::into_raw)
}

/// Spawns a coroutine that calls a PHP function.
pub unsafe extern "C" fn spawn(
    call: *mut sys::zend_fcall_info,
    cache: *mut sys::zend_fcall_info_cache,
) -> *mut sys::zend_object {
    if !super::has_objects() || exception::is_in_flight() {
        return null_mut();
    }
    // SAFETY: by contract null, or valid; read only.
    let Some(call) = (unsafe { call.as_ref() }) else { return null_mut() };
    // SAFETY: a value of the caller's.
    let callable = unsafe { Value::borrow(&raw const call.function_name) };
    // SAFETY: by contract the values that the number counts.
    let arguments = unsafe { Value::borrow_many(call.params, call.param_count) };
    // SAFETY: null, or the caller's.
    let named = unsafe { Array::borrow(call.named_params) };
    // SAFETY: by contract null, or valid.
    let resolved = unsafe { cache.as_ref() }.copied();
    // A call without a callable is one by the cache alone, which owns nothing.
    let owner = resolved.filter(|_| callable.is_none_or(Value::is_undef)).and_then(|resolved| owner_of(&resolved));
    let callable = owner.as_ref().or(callable);
    object_or_null(spawning::spawn_call(rt(), callable, resolved, arguments, named).ok().map(Coroutine::of))
}

/// The closure or the object whose function a resolved call is.
fn owner_of(call: &sys::zend_fcall_info_cache) -> Option<Value> {
    // SAFETY: null, or a function that lasts as long as the caller's call.
    let function = unsafe { Function::from_raw(call.function_handler) }?;
    let object = if function.flags() & (sys::ZEND_ACC_CLOSURE | sys::ZEND_ACC_FAKE_CLOSURE) != 0 {
        // The function of a closure follows its object, as `ZEND_CLOSURE_OBJECT()` says.
        call.function_handler.wrapping_byte_sub(size_of::<sys::zend_object>()).cast()
    } else {
        call.object
    };
    // SAFETY: null, or an object that the caller keeps alive.
    unsafe { Object::borrow(object) }.map(Value::from)
}

/// How many forks lead to this process, and the id of the coroutine that lives on after the last one.
static FORKS: PhpStatic<Cell<(u64, u64)>> = PhpStatic::new(Cell::new((0, 0)));

/// The process is the child of a fork, in which only the coroutine with this id lives on.
pub fn forked(id: u64) {
    FORKS.set((FORKS.get().0 + 1, id));
}

/// What a coroutine of C code is called with. Dropped with the body, on PHP's thread.
struct Body {
    run: unsafe extern "C" fn(*mut c_void, *mut sys::zval),
    argument: *mut c_void,
    drop: Option<Callback>,
    /// How many forks led to the process that has spawned it.
    forks: u64,
    /// The id of its coroutine, once that has begun.
    id: Cell<u64>,
}

impl Body {
    /// Returns `true` if only the parent of a fork has the coroutine.
    fn is_of_parent(&self) -> bool {
        let (forks, survivor) = FORKS.get();
        self.forks != forks && self.id.get() != survivor
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if let Some(drop) = self.drop.filter(|_| !self.is_of_parent()) {
            // SAFETY: by the contract of `spawn_c`: once, with its argument.
            unsafe { drop(self.argument) };
        }
    }
}

/// Spawns a coroutine that runs C code.
pub unsafe extern "C" fn spawn_c(
    run: Option<unsafe extern "C" fn(*mut c_void, *mut sys::zval)>,
    argument: *mut c_void,
    drop: Option<Callback>,
) -> *mut sys::zend_object {
    let (Some(run), true) = (run, request::is_in_request()) else { return null_mut() };
    let body = Body { run, argument, drop, forks: FORKS.get().0, id: Cell::new(0) };
    if !super::has_objects() {
        return null_mut(); // and drops the argument
    }
    let spawned = rust::spawn(move || {
        let body = &body;
        body.id.set(current());
        let mut result = Value::NULL;
        // SAFETY: by contract, with a place for a result.
        unsafe { (body.run)(body.argument, result.as_mut_raw()) };
        exception::check().map(|()| result)
    });
    object_or_null(spawned.ok())
}

/// Waits for an awaitable, and stores its result.
pub unsafe extern "C" fn await_result(awaitable: *mut sys::zend_object, result: *mut sys::zval) -> bool {
    if !super::has_objects() {
        return false;
    }
    // SAFETY: by contract null, or an object of the caller's.
    let Some(object) = (unsafe { Object::borrow(awaitable) }) else { return false };
    let Ok(value) = rust::await_object(object) else { return false };
    if !result.is_null() {
        // SAFETY: by contract a place for a result, whose old contents need no release.
        unsafe { result.write(value.into_raw()) };
    }
    true
}

/// Returns `true` if the running coroutine is cancelled, and the exception has not been thrown.
pub extern "C" fn cancelled() -> bool {
    request::is_in_request() && existing().is_some_and(|rt| rt.core.borrow().refuses_wait())
}

/// Throws the cancellation of the running coroutine, if one is pending.
pub extern "C" fn throw_pending() {
    if request::is_in_request()
        && let Some(rt) = existing()
    {
        // What it throws is in flight.
        let _ = park::may_wait(rt);
    }
}
