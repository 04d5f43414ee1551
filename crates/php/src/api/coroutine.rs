//! The methods of `Async\Coroutine`, and of `Async\CompositeException`.

use crate::runtime::{
    cancellation,
    coroutine::{self, Coroutine},
    life,
    scheduler::{self, Core},
    scope,
};
use crate::zend::{exception, zv};
use spindle_core::sched::{CoroutineId, Outcome, State};
use spindle_php_sys as sys;
use std::ptr::{addr_of_mut, null_mut};

/// The coroutine whose method is called, and no parameters.
unsafe fn this(execute_data: *mut sys::zend_execute_data) -> Option<*mut Coroutine> {
    // SAFETY: a method of the class is being called, so `This` is an object of it.
    unsafe {
        if !sys::spindle_parse_none(execute_data) {
            return None;
        }
        Some(coroutine::of((*execute_data).This.value.obj))
    }
}

fn with<R>(this: *mut Coroutine, ask: impl FnOnce(&Core, CoroutineId) -> R) -> Option<R> {
    // SAFETY: a live object.
    let co = unsafe { (*this).co };
    (co != coroutine::NO_SLOT).then(|| scheduler::core(|core| ask(core, co)))
}

macro_rules! methods {
    ($($name:ident => |$this:ident, $result:ident| $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(execute_data: *mut sys::zend_execute_data, $result: *mut sys::zval) {
                // SAFETY: the engine calls it with a frame of this method and a place for the result.
                let Some($this) = (unsafe { this(execute_data) }) else { return };
                $body
            }
        )*
    };
}

fn flag(result: *mut sys::zval, value: Option<bool>) {
    zv::set_bool(result, value.unwrap_or(false));
}

fn pair(result: *mut sys::zval, file: *mut sys::zend_string, line: u32) {
    // SAFETY: `result` is the place for the result; `file` is null or a live string.
    unsafe {
        sys::spindle_array_new(result, 2);
        let mut text = if file.is_null() { zv::string("") } else { zv::string_copy(file) };
        sys::spindle_array_add(result, &mut text);
        sys::spindle_array_add(result, &mut zv::long(i64::from(line)));
    }
}

fn location(result: *mut sys::zval, file: *mut sys::zend_string, line: u32) {
    let text = exception::place(file, line);
    // SAFETY: `result` is the place for the result.
    unsafe { result.write(zv::string(&text)) };
}

/// An array of numbers.
fn ids(numbers: &[u64]) -> sys::zval {
    let mut list = zv::null();
    // SAFETY: a place for the array, and the numbers that it takes.
    unsafe {
        sys::spindle_array_new(&mut list, numbers.len() as u32);
        for id in numbers {
            sys::spindle_array_add(&mut list, &mut zv::long(*id as i64));
        }
    }
    list
}

methods! {
    zim_Async_Coroutine_getId => |this, result| {
        // SAFETY: the place for the result.
        unsafe { result.write(zv::long(with(this, |core, co| core.id(co)).unwrap_or(0) as i64)) };
    }
    zim_Async_Coroutine_isStarted => |this, result| { flag(result, with(this, |core, co| core.is_started(co))); }
    zim_Async_Coroutine_isQueued => |this, result| {
        flag(result, with(this, |core, co| matches!(core.state(co), State::Queued | State::Ready)));
    }
    zim_Async_Coroutine_isRunning => |this, result| {
        flag(result, with(this, |core, co| core.state(co) == State::Running));
    }
    zim_Async_Coroutine_isSuspended => |this, result| {
        flag(result, with(this, |core, co| {
            core.has_stack(co) && matches!(core.state(co), State::Parked | State::Ready)
        }));
    }
    zim_Async_Coroutine_isCancelled => |this, result| {
        flag(result, with(this, |core, co| {
            core.state(co) == State::Done && core.outcome(co) == Outcome::Cancelled
        }));
    }
    zim_Async_Coroutine_isCancellationRequested => |this, result| {
        flag(result, with(this, |core, co| core.is_cancel_requested(co)));
    }
    zim_Async_Coroutine_isCompleted => |this, result| {
        flag(result, with(this, |core, co| core.state(co) == State::Done));
    }
    zim_Async_Coroutine_getResult => |this, result| {
        let complete = with(this, |core, co| core.state(co) == State::Done) == Some(true);
        // SAFETY: a live object; the place for the result.
        unsafe {
            if !complete || zv::is_undef(&(*this).result) { zv::set_null(result) }
            else { sys::spindle_zval_copy(result, &(*this).result) }
        }
    }
    zim_Async_Coroutine_getException => |this, result| {
        let complete = with(this, |core, co| core.state(co) == State::Done) == Some(true);
        // SAFETY: a live object; the place for the result.
        unsafe {
            if !complete || (*this).exception.is_null() { zv::set_null(result) } else { zv::set_object_copy(result, (*this).exception) }
        }
    }
    zim_Async_Coroutine_getSpawnFileAndLine => |this, result| {
        // SAFETY: a live object.
        unsafe { pair(result, (*this).spawn_file, (*this).spawn_line) };
    }
    zim_Async_Coroutine_getSpawnLocation => |this, result| {
        // SAFETY: a live object.
        unsafe { location(result, (*this).spawn_file, (*this).spawn_line) };
    }
    zim_Async_Coroutine_getSuspendFileAndLine => |this, result| {
        // SAFETY: a live object.
        unsafe { pair(result, (*this).suspend_file, (*this).suspend_line) };
    }
    zim_Async_Coroutine_getSuspendLocation => |this, result| {
        // SAFETY: a live object.
        unsafe { location(result, (*this).suspend_file, (*this).suspend_line) };
    }
    zim_Async_Coroutine_getAwaitingInfo => |this, result| {
        // SAFETY: a live object; the array is filled with values it takes over.
        unsafe {
            sys::spindle_array_new(result, 4);
            if with(this, |core, co| core.state(co)) == Some(State::Ending) {
                let children = with(this, |core, co| {
                    let children = core.children_of(co).into_iter().take(coroutine::SHOWN_OF_SET);
                    children.map(|child| core.id(child)).collect::<Vec<_>>()
                });
                zv::array_set(result, c"call", zv::string("children"));
                zv::array_set(result, c"coroutines", ids(&children.unwrap_or_default()));
                return;
            }
            let info = (*this).info;
            let waits = with(this, |core, co| matches!(core.state(co), State::Parked | State::Ready));
            if !info.call.is_empty() && waits == Some(true) {
                zv::array_set(result, c"call", zv::string(info.call));
                if info.fd >= 0 {
                    zv::array_set(result, c"descriptor", zv::long(i64::from(info.fd)));
                }
                let awaited = scheduler::core(|core| info.awaited(core));
                if !awaited.is_empty() {
                    zv::array_set(result, c"coroutines", ids(&awaited));
                }
                if let Some(id) = info.scope
                    && let Some(rt) = scheduler::existing()
                    && rt.core.borrow().scope_exists(id)
                {
                    zv::array_set(result, c"scope", zv::string(&scope::created(rt, id)));
                }
                let at = exception::place((*this).suspend_file, (*this).suspend_line);
                zv::array_set(result, c"location", zv::string(&at));
                zv::array_set(result, c"since", zv::double(info.seconds()));
            }
        }
    }
    zim_Async_Coroutine_getParent => |this, result| {
        let parent = with(this, |core, co| core.parent_id(co)).unwrap_or(0);
        match scheduler::find(parent) {
            // SAFETY: a live object; the place for the result.
            Some(parent) => unsafe { zv::set_object_copy(result, addr_of_mut!((*parent).std)) },
            None => zv::set_null(result),
        }
    }
    zim_Async_Coroutine_getScope => |this, result| {
        match scope::of_coroutine(this) {
            // SAFETY: the place for the result; the reference is passed on.
            Some(object) => unsafe { result.write(zv::object(object)) },
            None => zv::set_null(result),
        }
    }
    zim_Async_Coroutine___construct => |_this, _result| {}
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Coroutine_getTrace(execute_data: *mut sys::zend_execute_data, result: *mut sys::zval) {
    let (mut options, mut limit) = (sys::zend_long::from(1u8), 0);
    // SAFETY: the engine's frame of this method, `This` an object of the class. A suspended coroutine's frames
    // stand on its own VM stack and do not change.
    unsafe {
        if !sys::spindle_parse_trace(execute_data, &mut options, &mut limit) {
            return;
        }
        let this = coroutine::of((*execute_data).This.value.obj);
        let suspended =
            with(this, |core, co| core.has_stack(co) && matches!(core.state(co), State::Parked | State::Ready));
        if with(this, |core, co| core.state(co)) == Some(State::Running) {
            sys::spindle_backtrace(result, (*execute_data).prev_execute_data, options as i32, limit as i32);
        } else if suspended == Some(true) && !(*this).ctx.is_null() {
            sys::spindle_backtrace(result, scheduler::rt().frame_of((*this).ctx), options as i32, limit as i32);
        } else {
            sys::spindle_array_new(result, 0);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Coroutine_cancel(execute_data: *mut sys::zend_execute_data, _: *mut sys::zval) {
    let mut reason = null_mut();
    // SAFETY: the engine's frame of this method, `This` an object of the class.
    unsafe {
        if sys::spindle_parse_optional_object(execute_data, sys::spindle_ce.cancellation, &mut reason) {
            let this = coroutine::of((*execute_data).This.value.obj);
            if with(this, |core, co| core.state(co) == State::Done) != Some(false) {
                return;
            }
            if reason.is_null() {
                reason = cancellation::default_cancellation();
            } else {
                zv::add_object_ref(reason);
            }
            life::cancel_by_program(this, reason);
            sys::spindle_object_release(reason);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_CompositeException_getExceptions(
    execute_data: *mut sys::zend_execute_data,
    result: *mut sys::zval,
) {
    // SAFETY: the engine's frame of this method, `This` an object of the class.
    unsafe {
        if sys::spindle_parse_none(execute_data) {
            sys::spindle_exception_list_get((*execute_data).This.value.obj, result);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Coroutine_onFinally(execute_data: *mut sys::zend_execute_data, _: *mut sys::zval) {
    let mut closure = null_mut();
    // SAFETY: the engine's frame of this method, `This` an object of the class.
    unsafe {
        if sys::spindle_parse_closure(execute_data, &mut closure) {
            life::on_finally(coroutine::of((*execute_data).This.value.obj), closure);
        }
    }
}
