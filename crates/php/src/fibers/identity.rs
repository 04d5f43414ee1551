//! The `Fiber` of a coroutine, for code that knows fibers and not coroutines.
//!
//! Such code asks `Fiber::getCurrent()` for two reasons. Some of it keeps state by the answer, and takes all coroutines for one
//! flow of control where that is `null`. Other code takes a fiber for something that it may suspend because its own event loop
//! resumes it, and does not run that loop then, so it must get `null` in a coroutine. The setting `async.fiber_identity` says which
//! code is of the first kind, by the namespace or class of the function that asks.

use crate::fibers::draft::{Draft, Kind, Status};
use crate::fibers::errors::error;
use crate::fibers::table::STATE;
use crate::fibers::{flow_of, may_switch, running_id, table, wait_for_resume};
use crate::runtime::scheduler::{Core, Runtime, existing};
use crate::settings;
use spindle_zend::{Call, Frame, Function, PhpResult, Str, Value};
use std::rc::Rc;

/// `Fiber::getCurrent()`, outside of native fibers.
pub fn current(call: Call) -> PhpResult {
    call.no_arguments()?;
    let Some(rt) = runtime_for(*call) else { return Ok(Value::NULL) };
    if let Some(known) = rt.running().identity.get() {
        return Ok(known.into());
    }
    let draft = own(rt);
    draft.is_known.set(true);
    let object = table::object_for(&draft, None);
    rt.running().identity.set(Some(object.clone()));
    Ok(object.into())
}

/// `Fiber::suspend()` with at most one argument, where [`spindle_has_identity`] says so. Its argument is dropped: it would be
/// returned to the code that has resumed the fiber, and that code has not waited.
pub fn suspend(call: Call) -> PhpResult {
    call.arguments(0, 1)?;
    let Some(rt) = existing() else { return Ok(Value::NULL) };
    let draft = own(rt);
    if !matches!(draft.kind, Kind::Flow) {
        return Err(error("Cannot suspend outside of a fiber")); // only a scheduler resumes it, or it is one
    }
    if draft.status.get() == Status::Enqueuing {
        return Err(error("Cannot suspend within the callback of Fiber::suspend()"));
    }
    draft.may_suspend()?;
    may_switch(rt)?;
    let object = table::object_for(&draft, None);
    draft.suspend();
    drop(object); // if nothing else holds it, it is destroyed here
    wait_for_resume(rt, &draft, "Fiber::resume")
}

/// Returns `true` if the code that makes this call may suspend its coroutine as a fiber.
#[unsafe(no_mangle)]
extern "C" fn spindle_has_identity(frame: Frame) -> bool {
    runtime_for(frame).is_some()
}

/// Returns the runtime if this call is made in a coroutine other than main, by code that is to know the coroutine's `Fiber`.
fn runtime_for(frame: Frame) -> Option<&'static Runtime> {
    let rt = existing().filter(|rt| !rt.has_ended() && rt.running().co.get() != Core::MAIN)?;
    // SAFETY: null before the setting is registered, or its value.
    let setting = unsafe { Str::borrow(settings::current().fiber_identity) }?;
    let function = frame.user_frame().and_then(|frame| frame.function());
    is_named(setting.as_bytes(), function).then_some(rt)
}

/// Returns `true` if a list of namespaces, classes and functions has this function, its class or its namespace.
fn is_named(list: &[u8], function: Option<Function>) -> bool {
    if list == b"1" {
        return true;
    }
    let Some(function) = function else { return false };
    let class = function.class();
    let Some(name) = class.as_ref().map(|class| class.name()).or_else(|| function.name()) else { return false };
    let name = name.as_bytes();
    // PHP 8.4 gives closures names that begin like this.
    let name = name.strip_prefix(b"{closure:").unwrap_or(name);
    list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|entry| !entry.is_empty()).any(|entry| {
        let Some((start, rest)) = name.split_at_checked(entry.len()) else { return false };
        start.eq_ignore_ascii_case(entry) && rest.first().is_none_or(|&byte| byte == b'\\')
    })
}

/// Returns the fiber that the running coroutine is.
fn own(rt: &'static Runtime) -> Rc<Draft> {
    let id = running_id(rt);
    let of_scheduler = || STATE.scheduler_of(id).map(|sched| sched.fiber());
    STATE.fiber_of(id).or_else(of_scheduler).unwrap_or_else(|| flow_of(rt, id))
}
