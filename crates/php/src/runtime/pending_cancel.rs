//! A cancellation that reaches C code: its calls fail until it returns to PHP code, where the exception is thrown.

use crate::runtime::{
    ctx::{Ctx, Failing},
    scheduler::Runtime,
};
use spindle_php_sys as sys;
use spindle_zend::{Object, Owned};

/// `spindle_check_after` is the running coroutine's.
#[inline(always)]
pub fn refresh_checks(ctx: *mut Ctx) {
    // SAFETY: the running context.
    unsafe {
        sys::spindle_check_after = u32::from((*ctx).failing != Failing::No);
    }
}

/// Returns `true` if C code of the running coroutine is being made to fail for an exception.
#[inline(always)]
pub fn is_pending(ctx: *mut Ctx) -> bool {
    // SAFETY: the running context.
    matches!(unsafe { (*ctx).failing }, Failing::Throw(_))
}

/// Takes the exception that C code of the running coroutine is being made to fail for, and ends that.
pub fn take_exception(ctx: *mut Ctx) -> Option<Owned<Object>> {
    if !is_pending(ctx) {
        return None;
    }
    // SAFETY: as above.
    let failing = unsafe { take_failing(ctx) };
    refresh_checks(ctx);
    match failing {
        // SAFETY: the context's reference.
        Failing::Throw(exception) => unsafe { Object::own(exception) },
        _ => None,
    }
}

/// The frame, if it is an internal function's.
///
/// # Safety
/// Null, or a frame of a call that has not returned.
pub unsafe fn internal(frame: *mut sys::zend_execute_data) -> *mut sys::zend_execute_data {
    // SAFETY: the caller's promise.
    unsafe {
        let is_internal = !frame.is_null()
            && !(*frame).func.is_null()
            && u32::from((*(*frame).func).type_) == sys::ZEND_INTERNAL_FUNCTION;
        if is_internal { frame } else { std::ptr::null_mut() }
    }
}

/// Was `frame` called by C code that is being made to fail, and has not returned yet?
pub unsafe fn is_inside_failing(ctx: *mut Ctx, frame: *mut sys::zend_execute_data) -> bool {
    // SAFETY: a frame of the running coroutine, and those that called it.
    unsafe {
        if (*ctx).failing == Failing::No || (*ctx).failing_in.is_null() {
            return false;
        }
        let mut caller = frame;
        while !caller.is_null() && caller != (*ctx).failing_in {
            caller = (*caller).prev_execute_data;
        }
        !caller.is_null()
    }
}

/// C code of the running coroutine was told to fail by this cancellation (reference passed on): it is thrown when
/// the call returns.
pub fn throw_on_return(rt: &'static Runtime, exception: Owned<Object>) {
    let exception: *mut sys::zend_object = exception.into_raw().cast();
    // SAFETY: the running context. An interrupt is asked for because the C code may have no function of its own
    // on the PHP stack (a destructor of the engine).
    unsafe {
        let ctx = rt.context();
        if let Failing::Throw(earlier) = take_failing(ctx) {
            sys::spindle_object_release(earlier);
        }
        (*ctx).failing = Failing::Throw(exception);
        (*ctx).failing_in = internal(sys::executor_globals.current_execute_data);
        if !(*ctx).failing_in.is_null() {
            // "Read of 8192 bytes failed with errno=125": true, and no news to who has cancelled it.
            (*ctx).silenced = sys::executor_globals.error_reporting & sys::E_NOTICE as i32;
            sys::executor_globals.error_reporting &= !(*ctx).silenced;
        }
        refresh_checks(ctx);
        sys::spindle_vm_interrupt_set();
    }
}

/// Ends the time in which C code of the running coroutine is made to fail: what it is made to fail for.
///
/// # Safety
/// `ctx` is the running context.
pub unsafe fn take_failing(ctx: *mut Ctx) -> Failing {
    // SAFETY: the caller's promise.
    unsafe {
        sys::executor_globals.error_reporting |= std::mem::take(&mut (*ctx).silenced);
        (*ctx).given_up = -1;
        std::mem::replace(&mut (*ctx).failing, Failing::No)
    }
}
