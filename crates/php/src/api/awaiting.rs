//! The functions that await: `await()` and `awaitChildren()`.

use crate::runtime::{
    awaiting::{self, Waited},
    scheduler::{Core, rt},
    scope,
};
use spindle_core::sched::Target;
use spindle_php_sys as sys;
use std::ptr::null_mut;

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_await(execute_data: Frame, result: Value) {
    let (mut awaitable, mut token) = (null_mut(), null_mut());
    // SAFETY: the engine's frame, whose arguments keep both objects alive while it waits.
    unsafe {
        if !sys::spindle_parse_await(execute_data, &mut awaitable, &mut token) {
            return;
        }
        let rt = rt();
        let Some(wanted) = awaiting::target(awaitable) else { return awaiting::never_spawned() };
        let limit = if token.is_null() { None } else { awaiting::target(token) };
        if limit.is_none() && !token.is_null() {
            return awaiting::never_spawned();
        }
        if !awaiting::may_await(rt, wanted, awaitable) {
            return;
        }
        let over = |core: &Core| core.is_done(wanted) || limit.is_some_and(|limit| core.is_done(limit));
        let (both, alone) = ([wanted, limit.unwrap_or(wanted)], [wanted]);
        let targets = if limit.is_some() { &both[..] } else { &alone[..] };
        let waited = if over(&rt.core.borrow()) {
            Waited::Done
        } else {
            awaiting::wait(rt, targets, awaiting::info_of(rt, wanted, limit), over)
        };
        match waited {
            Waited::Thrown => {
                if let Target::Scope(id) = wanted
                    && rt.core.borrow().is_finished(id)
                {
                    scope::ask(rt, id); // it has left before it could
                }
            }
            Waited::Failure(from, failure) => {
                let wanted = if let Target::Scope(id) = wanted { Some(id) } else { None };
                awaiting::throw_failure(rt, targets, wanted, from, failure);
            }
            Waited::Done if rt.core.borrow().is_done(wanted) => awaiting::deliver(rt, awaitable, result),
            Waited::Done => awaiting::token_was_first(rt, token),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_awaitChildren(execute_data: Frame, _: Value) {
    let mut token = null_mut();
    // SAFETY: the engine's frame, whose argument keeps the token alive while it waits.
    if unsafe { sys::spindle_parse_optional_object(execute_data, sys::spindle_ce.awaitable, &mut token) } {
        let rt = rt();
        let children = {
            let core = rt.core.borrow();
            core.children_of(core.running())
        };
        awaiting::wait_for_all(rt, &children, "awaitChildren", token);
    }
}
