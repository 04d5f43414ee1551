//! The functions of the namespace `Async`.

use crate::coroutine::{self, Coroutine, Info};
use crate::failure;
use crate::life;
use crate::runtime::{Phase, Runtime, rt};
use crate::stack::Failing;
use crate::state::Inherited;
use crate::{timeout, zv};
use spindle_core::sched::{On, Outcome, Reason, Target};
use spindle_php_sys as sys;
use spindle_reactor::Reactor;
use std::ptr::{addr_of_mut, null_mut};

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

/// `?Closure` parameters and the like come from the engine's frame; each function below is called by the engine
/// with its own frame and a place for the result.
#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_spawn(execute_data: Frame, result: Value) {
    // SAFETY: see above. Arguments are copied; the callable's closure or object is kept by the copy of the zval.
    unsafe {
        let mut parsed = std::mem::MaybeUninit::<sys::spindle_spawn_args>::zeroed();
        if !sys::spindle_parse_spawn(execute_data, parsed.as_mut_ptr()) {
            return;
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
        let mut file = null_mut();
        (*this).spawn_line = sys::spindle_user_position(execute_data, &mut file);
        if !file.is_null() {
            zv::add_ref(file);
            (*this).spawn_file = file;
        }
        (*this).inherited = Inherited::capture();
        let rt = rt();
        if !crate::module::is_active() && rt.phase.get() != Phase::Ended {
            crate::module::activate(rt);
        }
        rt.enqueue(this);
        zv::set_object_copy(result, addr_of_mut!((*this).std));
    }
}

/// Throws what is to be thrown before the running coroutine may wait: `false` if there is something.
fn may_wait(rt: &'static Runtime) -> bool {
    let ctx = rt.context();
    // SAFETY: the running context is alive; the exception's reference is passed on.
    unsafe {
        if let Failing::Throw(exception) = (*ctx).failing {
            (*ctx).failing = Failing::No;
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
fn after_signal() -> bool {
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
    if rt.give_turn() {
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
        match rt.park(Some(deadline), On::Timer, true, info) {
            Reason::TimedOut => return,
            Reason::Interrupted if !after_signal() => return,
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
            result.write(zv::object(timeout::start(rt(), ns)));
        }
    }
}

/// What an awaitable object is to the core.
unsafe fn target(object: *mut sys::zend_object) -> Option<Target> {
    // SAFETY: the object implements Awaitable, so it is of one of our two classes.
    unsafe {
        if (*object).ce == sys::spindle_ce.coroutine {
            let co = (*coroutine::of(object)).co;
            (co != coroutine::NO_SLOT).then_some(Target::Coroutine(co))
        } else {
            timeout::target(object)
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_await(execute_data: Frame, result: Value) {
    let (mut awaitable, mut token) = (null_mut(), null_mut());
    // SAFETY: the engine's frame, whose arguments keep both objects alive while it waits.
    unsafe {
        if !sys::spindle_parse_await(execute_data, &mut awaitable, &mut token) {
            return;
        }
        let rt = rt();
        let wanted = target(awaitable);
        let limit = if token.is_null() { None } else { target(token) };
        let Some(wanted) = wanted else {
            failure::throw(sys::spindle_ce.async_exception, "This coroutine has never been spawned");
            return;
        };
        if wanted == Target::Coroutine(rt.core.borrow().running()) {
            let this = coroutine::of(awaitable);
            let place = match coroutine::place((*this).spawn_file, (*this).spawn_line) {
                place if place.is_empty() => "{main}".to_owned(),
                place => place,
            };
            let text = format!("A coroutine cannot await itself. Coroutine spawned at {place}");
            failure::throw(sys::spindle_ce.async_exception, &text);
            return;
        }
        if wait_for(rt, wanted, limit) {
            let reached = rt.core.borrow().is_done(wanted);
            if reached { deliver(rt, awaitable, result) } else { token_was_first(rt, token) }
        }
    }
}

/// Waits until one of them is complete. `false`: something was thrown instead.
fn wait_for(rt: &'static Runtime, wanted: Target, limit: Option<Target>) -> bool {
    let complete = || {
        let core = rt.core.borrow();
        core.is_done(wanted) || limit.is_some_and(|limit| core.is_done(limit))
    };
    if complete() {
        return true;
    }
    if !rt.can_switch() {
        let text = if rt.phase.get() == Phase::Ended {
            "Cannot await here: the coroutines have ended, it would never complete"
        } else {
            "Cannot await here: the engine allows no switch in this place"
        };
        // SAFETY: filled at module start.
        failure::throw(unsafe { sys::spindle_ce.async_exception }, text);
        return false;
    }
    let awaits = [Some(wanted), limit].map(|target| match target {
        Some(Target::Coroutine(co)) => rt.core.borrow().id(co),
        _ => 0,
    });
    let since = if awaits == [0; 2] { 0 } else { Reactor::now() };
    while may_wait(rt) {
        let ticket = rt.begin_wait();
        {
            let mut core = rt.core.borrow_mut();
            core.subscribe(wanted, ticket);
            if let Some(limit) = limit {
                core.subscribe(limit, ticket);
            }
        }
        let reason = rt.park(None, On::Coroutines, true, Info { call: "await", fd: -1, awaits, since });
        {
            let mut core = rt.core.borrow_mut();
            core.unsubscribe(wanted, ticket);
            if let Some(limit) = limit {
                core.unsubscribe(limit, ticket);
            }
        }
        if complete() {
            return true;
        }
        if reason == Reason::Interrupted && !after_signal() {
            return false;
        }
    }
    false
}

/// The outcome of a complete awaitable, as result or exception.
unsafe fn deliver(rt: &'static Runtime, awaitable: *mut sys::zend_object, result: Value) {
    // SAFETY: a live object of one of our classes, complete.
    unsafe {
        if (*awaitable).ce != sys::spindle_ce.coroutine {
            zv::set_null(result);
            return;
        }
        let this = coroutine::of(awaitable);
        let outcome = {
            let mut core = rt.core.borrow_mut();
            core.mark_awaited((*this).co);
            core.outcome((*this).co)
        };
        if outcome != Outcome::Returned && !(*this).exception.is_null() {
            zv::add_object_ref((*this).exception);
            sys::spindle_throw((*this).exception);
        } else if crate::state::is_undef(&(*this).result) {
            zv::set_null(result);
        } else {
            sys::spindle_zval_copy(result, &(*this).result);
        }
    }
}

unsafe fn token_was_first(rt: &'static Runtime, token: *mut sys::zend_object) {
    // SAFETY: a live object of one of our classes, complete.
    unsafe {
        let exception = failure::exception(sys::spindle_ce.await_cancelled, "The wait was cancelled by its token");
        if (*token).ce == sys::spindle_ce.coroutine {
            let this: *mut Coroutine = coroutine::of(token);
            rt.core.borrow_mut().mark_awaited((*this).co);
            if !(*this).exception.is_null() {
                zv::add_object_ref((*this).exception);
                sys::zend_exception_set_previous(exception, (*this).exception);
            }
        }
        sys::spindle_throw(exception);
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
        for this in live.into_iter().filter(|this| !(**this).internal) {
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
            failure::shut_down(rt);
        } else {
            zv::add_object_ref(exception);
            failure::unhandled(rt, exception);
        }
    }
}
