//! The methods of `Async\CoroutineGroup`.

use crate::runtime::{
    awaiting, cancellation, coroutine,
    group::{self, Group},
    scheduler::{Core, rt},
    scope, spawn,
};
use crate::zend::{exception, zv};
use spindle_core::sched::{Outcome, ScopeId, State};
use spindle_php_sys as sys;
use std::ptr::{addr_of_mut, null_mut};

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

/// The group whose method is called.
unsafe fn this(execute_data: Frame) -> *mut Group {
    // SAFETY: a method of the class is being called, so `This` is an object of it.
    unsafe { group::of((*execute_data).This.value.obj) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_CoroutineGroup___construct(execute_data: Frame, _: Value) {
    let mut given = null_mut();
    // SAFETY: the engine's frame of this method; the group takes a reference.
    unsafe {
        if sys::spindle_parse_optional_object(execute_data, sys::spindle_ce.scope, &mut given)
            && !given.is_null()
            && scope::id_of(given).is_some()
        {
            let place = addr_of_mut!((*this(execute_data)).scope);
            let mut old = *place;
            zv::set_object_copy(place, given);
            sys::spindle_zval_dtor(&mut old);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_CoroutineGroup_spawn(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and place for the result.
    unsafe {
        let this = this(execute_data);
        let rt = rt();
        let (id, closed): (ScopeId, bool) = {
            let core = rt.core.borrow();
            if zv::is_undef(&(*this).scope) {
                let id = core.scope_of(core.running());
                (id, core.is_cancelled(id))
            } else {
                let id = scope::peek((*this).scope.value.obj).unwrap_or(Core::GLOBAL);
                (id, core.is_closed(id))
            }
        };
        if closed {
            return exception::throw(sys::spindle_ce.async_exception, scope::CLOSED);
        }
        if let Some(co) = spawn::spawn(execute_data, result, |core| core.spawn_in(id)) {
            group::add(this, co);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_CoroutineGroup_add(execute_data: Frame, _: Value) {
    let mut object = null_mut();
    // SAFETY: the engine's frame of this method.
    unsafe {
        if !sys::spindle_parse_object(execute_data, sys::spindle_ce.coroutine, &mut object) {
            return;
        }
        let (this, member) = (this(execute_data), coroutine::of(object));
        if (*member).co == coroutine::NO_SLOT {
            return awaiting::never_spawned();
        }
        if !group::members(this).contains(&member) {
            group::add(this, (*member).co);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_CoroutineGroup_cancel(execute_data: Frame, _: Value) {
    let mut reason = null_mut();
    // SAFETY: the engine's frame of this method.
    unsafe {
        if !sys::spindle_parse_optional_object(execute_data, sys::spindle_ce.cancellation, &mut reason) {
            return;
        }
        if reason.is_null() {
            reason = cancellation::default_cancellation();
        } else {
            cancellation::for_several(reason);
            zv::add_object_ref(reason);
        }
        group::cancel(rt(), this(execute_data), reason);
        sys::spindle_object_release(reason);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_CoroutineGroup_dispose(execute_data: Frame, _: Value) {
    // SAFETY: the engine's frame of this method.
    unsafe {
        if !sys::spindle_parse_none(execute_data) {
            return;
        }
        let (rt, this, here) = (rt(), this(execute_data), exception::here());
        let left = group::members(this).into_iter().filter(|member| group::state_of(*member).0 != State::Done);
        let left = left.map(|member| (*member).co).collect();
        scope::warn_of_zombies(rt, left, &format!("in CoroutineGroup disposed at {here}"));
        let reason = cancellation::default_cancellation();
        group::cancel(rt, this, reason);
        sys::spindle_object_release(reason);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_CoroutineGroup_getResults(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and place for the result.
    unsafe {
        if sys::spindle_parse_none(execute_data) {
            group::results(this(execute_data), result);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_CoroutineGroup_getErrors(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and place for the result.
    unsafe {
        if !sys::spindle_parse_none(execute_data) {
            return;
        }
        let this = this(execute_data);
        sys::spindle_array_new(result, 0);
        for (index, member) in group::members(this).into_iter().enumerate() {
            let (state, outcome) = group::state_of(member);
            if state == State::Done && outcome == Outcome::Failed && !(*member).exception.is_null() {
                let mut value = zv::null();
                zv::set_object_copy(&mut value, (*member).exception);
                sys::zend_hash_index_update((*result).value.arr, index as u64, &mut value);
                (*this).seen = true;
            }
        }
    }
}
