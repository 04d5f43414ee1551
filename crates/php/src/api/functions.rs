//! The functions of the namespace `Async`.

use crate::runtime::timeout::Timeout;
use crate::runtime::{
    coroutine::Info,
    failure, life, park,
    scheduler::{Core, rt},
    spawn,
};
use crate::zend::zv;
use spindle_core::sched::{WaitReason, WakeReason};
use spindle_php_sys as sys;
use spindle_reactor::Reactor;
use spindle_zend::Value as Owned;
use std::ptr::{addr_of_mut, null_mut};

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

/// `?Closure` parameters and the like come from the engine's frame; each function below is called by the engine
/// with its own frame and a place for the result.
#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_spawn(execute_data: Frame, result: Value) {
    if !spawn::scope_is_closed() {
        // SAFETY: see above.
        unsafe { spawn::spawn(execute_data, result, Core::spawn) };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_suspend(execute_data: Frame, _: Value) {
    // SAFETY: the engine's frame.
    if unsafe { !sys::spindle_parse_none(execute_data) } {
        return;
    }
    let rt = rt();
    if !rt.can_switch() || !park::may_wait(rt) {
        return;
    }
    if rt.yield_now() {
        park::may_wait(rt);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_delay(execute_data: Frame, _: Value) {
    let mut ms = 0;
    // SAFETY: the engine's frame.
    if unsafe { !sys::spindle_parse_long(execute_data, &mut ms) } {
        return;
    }
    let Some(ns) = nanoseconds(ms) else { return };
    let rt = rt();
    let deadline = Reactor::now().saturating_add(ns);
    if !rt.can_switch() {
        std::thread::sleep(std::time::Duration::from_nanos(ns));
        return;
    }
    while park::may_wait(rt) {
        rt.begin_wait();
        let info = Info { call: "delay", since: deadline - ns, ..Info::NONE };
        match rt.park(Some(deadline), WaitReason::Timer, true, info) {
            WakeReason::TimedOut => return,
            WakeReason::Interrupted if !park::after_signal() => return,
            _ => {}
        }
    }
}

/// Milliseconds of a parameter; throws when they are negative.
fn nanoseconds(ms: i64) -> Option<u64> {
    let Ok(ms) = u64::try_from(ms) else {
        // SAFETY: throws for the function that is being called.
        unsafe { sys::zend_argument_value_error(1, c"must be greater than or equal to 0".as_ptr()) };
        return None;
    };
    // Centuries are enough, and a deadline must not overflow.
    Some(ms.saturating_mul(1_000_000).min(1 << 62))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_timeout(execute_data: Frame, result: Value) {
    let mut ms = 0;
    // SAFETY: the engine's frame and place for the result.
    unsafe {
        if sys::spindle_parse_long(execute_data, &mut ms)
            && let Some(ns) = nanoseconds(ms)
        {
            result.write(Owned::from(Timeout::start(rt(), ms, ns)).into_raw());
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_currentCoroutine(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame and place for the result.
    unsafe {
        if sys::spindle_parse_none(execute_data) {
            zv::set_object_copy(result, addr_of_mut!((*rt().running()).std));
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_getCoroutines(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame and place for the result; live objects, each with a reference of its own.
    unsafe {
        if !sys::spindle_parse_none(execute_data) {
            return;
        }
        let rt = rt();
        let live: Vec<_> = rt.core.borrow().coroutines().map(|co| rt.object(co)).collect();
        sys::spindle_array_new(result, live.len() as u32);
        for this in live.into_iter().filter(|this| (**this).job.is_null()) {
            let mut value = zv::null();
            zv::set_object_copy(&mut value, addr_of_mut!((*this).std));
            sys::spindle_array_add(result, &mut value);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_protect(execute_data: Frame, result: Value) {
    let mut closure = null_mut();
    // SAFETY: the engine's frame and place for the result.
    unsafe {
        if !sys::spindle_parse_closure(execute_data, &mut closure) {
            return;
        }
        let rt = rt();
        rt.core.borrow_mut().shield();
        sys::spindle_call_closure(closure, result, 0, null_mut());
        rt.core.borrow_mut().unshield();
        if sys::executor_globals.exception.is_null() {
            park::may_wait(rt);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_onFinally(execute_data: Frame, _: Value) {
    let mut closure = null_mut();
    // SAFETY: the engine's frame.
    unsafe {
        if sys::spindle_parse_closure(execute_data, &mut closure) {
            life::on_finally(rt().running(), closure);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_onExit(execute_data: Frame, result: Value) {
    // SAFETY: the same parameters.
    unsafe { zif_Async_onFinally(execute_data, result) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_gracefulShutdown(execute_data: Frame, _: Value) {
    let mut exception = null_mut();
    // SAFETY: the engine's frame; the exception gets a reference of its own.
    unsafe {
        if !sys::spindle_parse_optional_object(execute_data, sys::zend_ce_throwable, &mut exception) {
            return;
        }
        let rt = rt();
        if exception.is_null() {
            failure::shut_down(rt, null_mut());
        } else {
            zv::add_object_ref(exception);
            failure::unhandled(rt, exception, rt.running());
        }
    }
}
