//! The functions of the namespace `Async`.

use crate::coroutine::{self, Info};
use crate::life;
use crate::runtime::{Core, Phase, Runtime, rt};
use crate::stack::Failing;
use crate::state::Inherited;
use crate::{exceptions, failure, timeout, zv};
use spindle_core::sched::{CoroutineId, WaitReason, WakeReason};
use spindle_php_sys as sys;
use spindle_reactor::Reactor;
use std::ptr::{addr_of_mut, null_mut};

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

/// `?Closure` parameters and the like come from the engine's frame; each function below is called by the engine
/// with its own frame and a place for the result.
#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_spawn(execute_data: Frame, result: Value) {
    if !scope_is_closed() {
        // SAFETY: see above.
        unsafe { spawn(execute_data, result, Core::spawn) };
    }
}

/// Throws when the current scope takes no coroutines any more.
pub fn scope_is_closed() -> bool {
    let closed = {
        let core = rt().core.borrow();
        core.is_cancelled(core.scope_of(core.running()))
    };
    if closed {
        // SAFETY: filled at module start.
        exceptions::throw(unsafe { sys::spindle_ce.async_exception }, crate::scope_methods::CLOSED);
    }
    closed
}

/// Makes a coroutine of the callable and the arguments of the function or method that is called, and queues it: `queue`
/// says where. `None`: something was thrown.
///
/// # Safety
/// The engine's frame of a function with parameters as spawn() has them, and a place for its result.
#[inline(always)]
pub unsafe fn spawn(
    execute_data: Frame,
    result: Value,
    queue: impl FnOnce(&mut Core) -> CoroutineId,
) -> Option<CoroutineId> {
    // SAFETY: the caller's promise. Arguments are copied; the callable's closure or object is kept by the copy of the
    // zval.
    unsafe {
        let mut parsed = std::mem::MaybeUninit::<sys::spindle_spawn_args>::zeroed();
        if !sys::spindle_parse_spawn(execute_data, parsed.as_mut_ptr()) {
            return None;
        }
        let parsed = parsed.assume_init_mut();
        let this = coroutine::create();
        sys::spindle_zval_copy(addr_of_mut!((*this).callable), &parsed.fci.function_name);
        (*this).fcc = parsed.fcc;
        let handler = parsed.fcc.function_handler;
        if !handler.is_null() && (*handler).common.fn_flags & sys::ZEND_ACC_CALL_VIA_TRAMPOLINE != 0 {
            // A function of the moment (__call): it is made again when the call is.
            sys::zend_release_fcall_info_cache(&mut parsed.fcc);
            (*this).fcc.function_handler = null_mut();
        }
        if parsed.argc > 0 {
            let args = sys::_safe_emalloc(parsed.argc as usize, size_of::<sys::zval>(), 0).cast::<sys::zval>();
            for i in 0..parsed.argc as usize {
                sys::spindle_zval_copy(args.add(i), parsed.args.add(i));
            }
            (*this).args = args;
            (*this).argc = parsed.argc;
        }
        if !parsed.named.is_null() {
            (*this).named = sys::zend_array_dup(parsed.named);
        }
        Some(self::queue(this, execute_data, result, queue))
    }
}

/// Queues a new coroutine, whose call is complete, and gives its object to the caller.
///
/// # Safety
/// A new object; the engine's frame of what spawns it, and a place for the result.
#[inline(always)]
pub unsafe fn queue(
    this: *mut coroutine::Coroutine,
    execute_data: Frame,
    result: Value,
    queue: impl FnOnce(&mut Core) -> CoroutineId,
) -> CoroutineId {
    // SAFETY: the caller's promise.
    unsafe {
        let mut file = null_mut();
        let frame = sys::spindle_user_frame(execute_data);
        if !frame.is_null() {
            (*this).spawn_line = sys::spindle_user_position(frame, &mut file);
            zv::add_ref(file);
            (*this).spawn_file = file;
            let function = (*this).fcc.function_handler;
            if (*this).is_operator || (!function.is_null() && !zv::is_php_code(function)) {
                // `life` makes the call look as if it were made here.
                (*this).spawn_scope = (*(*frame).func).common.scope;
                (*this).spawn_static = sys::zend_get_called_scope(frame);
            }
        }
        (*this).inherited = Inherited::capture();
        let rt = rt();
        (*this).spawners = coroutine::Spawners::of(rt.running());
        if !crate::module::is_active() && rt.phase.get() != Phase::Ended {
            crate::module::activate(rt);
        }
        let co = rt.enqueue(this, queue);
        zv::set_object_copy(result, addr_of_mut!((*this).std));
        co
    }
}

/// Throws what is to be thrown before the running coroutine may wait: `false` if there is something.
pub fn may_wait(rt: &'static Runtime) -> bool {
    let ctx = rt.context();
    // SAFETY: the running context is alive; the exception's reference is passed on.
    unsafe {
        if let Failing::Throw(exception) = (*ctx).failing {
            crate::calls::take_failing(ctx);
            crate::calls::refresh_checks(ctx);
            sys::spindle_throw(exception);
            return false;
        }
    }
    let reason = rt.core.borrow_mut().take_cancellation();
    match reason {
        Some(reason) => {
            // SAFETY: the core's reference is passed on.
            unsafe { sys::spindle_throw(reason) };
            false
        }
        None => true,
    }
}

/// A wait of ours was interrupted by a signal: lets its handler run. `false`: it has thrown.
pub fn after_signal() -> bool {
    // SAFETY: an internal function of ours is running, a place where the engine may run handlers.
    unsafe {
        if sys::spindle_vm_interrupt_take()
            && let Some(run) = sys::zend_interrupt_function
        {
            run(sys::executor_globals.current_execute_data);
        }
        sys::executor_globals.exception.is_null()
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_suspend(execute_data: Frame, _: Value) {
    // SAFETY: the engine's frame.
    if unsafe { !sys::spindle_parse_none(execute_data) } {
        return;
    }
    let rt = rt();
    if !rt.can_switch() || !may_wait(rt) {
        return;
    }
    if rt.yield_now() {
        may_wait(rt);
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
    while may_wait(rt) {
        rt.begin_wait();
        let info = Info { call: "delay", since: deadline - ns, ..Info::NONE };
        match rt.park(Some(deadline), WaitReason::Timer, true, info) {
            WakeReason::TimedOut => return,
            WakeReason::Interrupted if !after_signal() => return,
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
            result.write(zv::object(timeout::start(rt(), ms, ns)));
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
            may_wait(rt);
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
