//! Makes coroutines of callables and arguments.

use crate::isolation::state::Inherited;
use crate::runtime::{
    coroutine, moments,
    scheduler::{Core, Phase, rt},
    scope,
};
use crate::zend::{exception, zv};
use spindle_core::sched::CoroutineId;
use spindle_php_sys as sys;
use std::ptr::{addr_of_mut, null_mut};

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

/// Throws when the current scope takes no coroutines any more.
pub fn scope_is_closed() -> bool {
    let closed = {
        let core = rt().core.borrow();
        core.is_cancelled(core.scope_of(core.running()))
    };
    if closed {
        // SAFETY: filled at module start.
        exception::throw(unsafe { sys::spindle_ce.async_exception }, scope::CLOSED);
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
        if !rt.active.get() && rt.phase.get() != Phase::Ended {
            moments::first_spawn(rt);
        }
        let co = rt.enqueue(this, queue);
        zv::set_object_copy(result, addr_of_mut!((*this).std));
        co
    }
}
