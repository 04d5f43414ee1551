//! The methods of `Async\Scope` and `Async\BoundedScope`, and the functions that give scopes.

use crate::runtime::{
    awaiting::{self, Waited},
    cancellation,
    coroutine::Info,
    failure,
    scheduler::{Core, Runtime, rt},
    scope::{self, Record},
    spawn,
};
use crate::zend::{exception, zv};
use spindle_core::sched::{Bound, CoroutineId, Disposal, Lifetime, ScopeId, Target};
use spindle_php_sys as sys;
use std::ptr::{addr_of_mut, null_mut};

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

/// The scope whose method is called, if it has one; else something was thrown.
unsafe fn this(execute_data: Frame) -> Option<ScopeId> {
    // SAFETY: a method of the class is being called, so `This` is an object of it.
    unsafe { scope::id_of((*execute_data).This.value.obj) }
}

unsafe fn this_and_record(execute_data: Frame) -> Option<(ScopeId, *mut Record)> {
    // SAFETY: as above; the object holds its scope, so there is a record.
    let id = unsafe { this(execute_data)? };
    Some((id, scope::record(rt(), id)))
}

fn throw(text: &str) {
    // SAFETY: filled at module start.
    exception::throw(unsafe { sys::spindle_ce.async_exception }, text);
}

/// Throws when it is the global scope: `what` is not for it.
fn refuse_global(id: ScopeId, what: &str) -> bool {
    if id == Core::GLOBAL {
        throw(what);
    }
    id == Core::GLOBAL
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope___construct(execute_data: Frame, _: Value) {
    let mut lifetime = -1;
    // SAFETY: the engine's frame of this method, `This` an object of the class.
    unsafe {
        if !sys::spindle_parse_lifetime(execute_data, &mut lifetime) {
            return;
        }
        let object = (*execute_data).This.value.obj;
        if scope::peek(object).is_some() {
            return throw("The scope has been constructed already");
        }
        let lifetime = match lifetime {
            -1 => scope::default_lifetime(),
            0 => Lifetime::Scope,
            1 => Lifetime::TopDown,
            _ => Lifetime::BottomUp,
        };
        scope::make(object, None, lifetime);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_inherit(execute_data: Frame, result: Value) {
    let mut parent = null_mut();
    // SAFETY: the engine's frame of this method and place for the result; a static call's `This` is the class that was
    // named.
    unsafe {
        if !sys::spindle_parse_optional_object(execute_data, sys::spindle_ce.scope, &mut parent) {
            return;
        }
        let rt = rt();
        let (parent, given) = if parent.is_null() {
            let core = rt.core.borrow();
            (core.scope_of(core.running()), false)
        } else {
            let Some(id) = scope::id_of(parent) else { return };
            (id, true)
        };
        let closed = {
            let core = rt.core.borrow();
            core.is_cancelled(parent) || given && core.is_closed(parent)
        };
        if closed {
            return throw(scope::CLOSED);
        }
        let class = (*execute_data).This.value.ce;
        if sys::object_init_ex(result, class) != sys::SUCCESS {
            return;
        }
        let lifetime = rt.core.borrow().lifetime(parent);
        scope::make((*result).value.obj, Some(parent), lifetime);
    }
}

unsafe fn spawn(execute_data: Frame, result: Value) -> Option<(ScopeId, CoroutineId)> {
    // SAFETY: the caller's frame, and place for the result.
    unsafe {
        let id = this(execute_data)?;
        let rt = rt();
        if rt.core.borrow().is_closed(id) {
            throw(scope::CLOSED);
            return None;
        }
        let co = spawn::spawn(execute_data, result, |core| core.spawn_in(id))?;
        Some((id, co))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_spawn(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and place for the result.
    unsafe { spawn(execute_data, result) };
}

/// Throws when the running coroutine may not wait for the scope.
fn may_await(rt: &'static Runtime, id: ScopeId) -> bool {
    let within = {
        let core = rt.core.borrow();
        id == Core::GLOBAL || core.is_within(core.running(), id)
    };
    if within {
        throw(&scope::within(rt, id));
    }
    !within
}

/// Throws what the scope was cancelled with.
unsafe fn throw_reason(rt: &'static Runtime, id: ScopeId) {
    // SAFETY: the record of a scope that exists; the reference is passed on.
    unsafe {
        let mut reason = (*scope::record(rt, id)).reason;
        if reason.is_null() {
            // It went with the scope's object; this is a later one.
            reason = cancellation::cancellation("The scope was cancelled");
        } else {
            zv::add_object_ref(reason);
        }
        sys::spindle_throw(reason);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_awaitCompletion(execute_data: Frame, _: Value) {
    let mut token = null_mut();
    // SAFETY: the engine's frame of this method, which keeps both objects alive while it waits.
    unsafe {
        if !sys::spindle_parse_object(execute_data, sys::spindle_ce.awaitable, &mut token) {
            return;
        }
        let Some(id) = this(execute_data) else { return };
        let rt = rt();
        if !may_await(rt, id) {
            return;
        }
        let Some(limit) = awaiting::target(token) else { return awaiting::never_spawned() };
        let info = Info { call: "awaitCompletion", ..awaiting::info_of(rt, Target::Scope(id), Some(limit)) };
        let over = |core: &Core| core.is_cancelled(id) || core.is_finished(id);
        let targets = [Target::Scope(id), limit];
        match awaiting::wait(rt, &targets, info, |core| over(core) || core.is_done(limit)) {
            Waited::Thrown => {}
            Waited::Failure(from, failure) => awaiting::throw_failure(rt, &targets, Some(id), from, failure),
            Waited::Done if over(&rt.core.borrow()) => {
                // A failure that somebody has got is behind the cancellation: who waits in a loop would get it for ever.
                let fresh = scope::failure_at(rt, id, scope::first_unknown(rt, id));
                let cancelled = rt.core.borrow().is_cancelled(id);
                if let Some(failure) = fresh {
                    scope::first_failure(rt, id); // from now on all are known
                    zv::add_object_ref(failure);
                    sys::spindle_throw(failure);
                } else if cancelled {
                    throw_reason(rt, id);
                }
            }
            Waited::Done => awaiting::token_was_first(rt, token),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_awaitAfterCancellation(execute_data: Frame, _: Value) {
    let (mut handler, mut token) = (zv::undef(), null_mut());
    // SAFETY: as above; the frame also keeps the handler.
    unsafe {
        if !sys::spindle_parse_wind_down(execute_data, &mut handler, &mut token) {
            return;
        }
        let Some(id) = this(execute_data) else { return };
        let rt = rt();
        if !may_await(rt, id) {
            return;
        }
        if !rt.core.borrow().is_cancelled(id) {
            return throw("The scope has not been cancelled: call cancel() before, or use awaitCompletion()");
        }
        let limit = if token.is_null() { None } else { awaiting::target(token) };
        if limit.is_none() && !token.is_null() {
            return awaiting::never_spawned();
        }
        let info = Info { call: "awaitAfterCancellation", ..awaiting::info_of(rt, Target::Scope(id), limit) };
        let targets = [Some(Target::Scope(id)), limit];
        let targets: Vec<Target> = targets.into_iter().flatten().collect();
        // Also those that come while the handler runs are for it.
        rt.core.borrow_mut().start_collecting(id);
        wind_down(rt, execute_data, id, &mut handler, token, &targets, info);
        rt.core.borrow_mut().stop_collecting(id);
        awaiting::pass_on(rt, &targets);
        if rt.core.borrow().has_completed(id) {
            scope::ask(rt, id); // for those that it has left
        }
    }
}

/// Waits for the end of a cancelled scope, and hands the failures that nobody knows to the handler, or throws the first of
/// them in the end.
unsafe fn wind_down(
    rt: &'static Runtime,
    execute_data: Frame,
    id: ScopeId,
    handler: Value,
    token: *mut sys::zend_object,
    targets: &[Target],
    info: Info,
) {
    // SAFETY: the caller's frame keeps the scope, the handler and the token. The list grows at its end only.
    unsafe {
        let hands = !zv::is_undef(&*handler);
        let mut next = scope::first_unknown(rt, id);
        loop {
            while let (true, Some(failure)) = (hands, scope::failure_at(rt, id, next)) {
                next += 1;
                hand(handler, failure, (*execute_data).This.value.obj);
                if !sys::executor_globals.exception.is_null() {
                    return;
                }
            }
            let over = |core: &Core| targets.iter().any(|target| core.is_done(*target));
            let more = |core: &Core| over(core) || hands && scope::has_failure_at(rt, id, next);
            match awaiting::wait(rt, targets, info, more) {
                Waited::Thrown => return,
                Waited::Failure(from, failure) => {
                    return awaiting::throw_failure(rt, targets, Some(id), from, failure);
                }
                Waited::Done if hands && scope::has_failure_at(rt, id, next) => {}
                Waited::Done if rt.core.borrow().is_finished(id) => {
                    if let Some(first) = scope::failure_at(rt, id, next) {
                        scope::first_failure(rt, id); // from now on all are known
                        zv::add_object_ref(first);
                        sys::spindle_throw(first);
                    }
                    return;
                }
                Waited::Done if over(&rt.core.borrow()) => return awaiting::token_was_first(rt, token),
                Waited::Done => {}
            }
        }
    }
}

unsafe fn hand(handler: Value, failure: *mut sys::zend_object, scope: *mut sys::zend_object) {
    // SAFETY: live values, which the caller keeps; the failure gets a reference, as its list may go.
    unsafe {
        zv::add_object_ref(failure);
        let mut arguments = [zv::object(failure), zv::object(scope)];
        let mut unused = zv::null();
        sys::spindle_call_closure(handler, &mut unused, 2, arguments.as_mut_ptr());
        sys::spindle_zval_dtor(&mut unused);
        sys::spindle_object_release(failure);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_getErrors(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and place for the result.
    unsafe {
        if !sys::spindle_parse_none(execute_data) {
            return;
        }
        let Some(id) = this(execute_data) else { return };
        sys::spindle_array_new(result, 0);
        let Some(record) = scope::existing_record(rt(), id) else { return };
        for listed in &(*record).errors {
            listed.know();
            zv::add_object_ref(listed.exception);
            sys::spindle_array_add(result, &mut zv::object(listed.exception));
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_awaitDirectChildren(execute_data: Frame, _: Value) {
    // SAFETY: the engine's frame of this method.
    unsafe {
        if !sys::spindle_parse_none(execute_data) {
            return;
        }
        let Some(id) = this(execute_data) else { return };
        let rt = rt();
        if may_await(rt, id) {
            let members = rt.core.borrow().direct_members(id);
            awaiting::wait_for_all(rt, &members, "awaitDirectChildren", null_mut());
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_cancel(execute_data: Frame, _: Value) {
    let mut reason = null_mut();
    // SAFETY: the engine's frame of this method, whose argument is alive.
    unsafe {
        if !sys::spindle_parse_optional_object(execute_data, sys::spindle_ce.cancellation, &mut reason) {
            return;
        }
        let Some(id) = this(execute_data) else { return };
        if refuse_global(id, "The global scope cannot be cancelled: use Async\\gracefulShutdown()") {
            return;
        }
        let rt = rt();
        if rt.core.borrow().is_cancelled(id) {
            if !reason.is_null() {
                let text = c"The scope has been cancelled before: this cancellation is ignored";
                sys::spindle_warning_at(null_mut(), 0, text.as_ptr());
            }
            return;
        }
        if reason.is_null() {
            reason = cancellation::default_cancellation();
        } else {
            cancellation::for_several(reason);
            zv::add_object_ref(reason);
        }
        scope::cancel(rt, id, reason);
        sys::spindle_object_release(reason);
    }
}

unsafe fn dispose(execute_data: Frame, how: Disposal) {
    // SAFETY: the caller's frame.
    unsafe {
        let Some(id) = this(execute_data) else { return };
        if !refuse_global(id, "The global scope cannot be disposed of: use Async\\gracefulShutdown()") {
            scope::dispose(rt(), id, how, &exception::here());
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_dispose(execute_data: Frame, _: Value) {
    // SAFETY: the engine's frame of this method.
    unsafe {
        if sys::spindle_parse_none(execute_data) {
            dispose(execute_data, Disposal::Cancel);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_disposeSafely(execute_data: Frame, _: Value) {
    // SAFETY: the engine's frame of this method.
    unsafe {
        if sys::spindle_parse_none(execute_data) {
            dispose(execute_data, Disposal::Safely);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_disposeAfterTimeout(execute_data: Frame, _: Value) {
    let mut ms = 0;
    // SAFETY: the engine's frame of this method.
    unsafe {
        if !sys::spindle_parse_long(execute_data, &mut ms) {
            return;
        }
        if !(1..600_000).contains(&ms) {
            sys::zend_argument_value_error(1, c"must be between 1 and 599999".as_ptr());
            return;
        }
        dispose(execute_data, Disposal::Until(scope::deadline(ms)));
    }
}

unsafe fn set_handler(execute_data: Frame, child: bool) {
    let mut callable = zv::undef();
    // SAFETY: the engine's frame of this method; the record takes a reference.
    unsafe {
        if !sys::spindle_parse_callable(execute_data, &mut callable) {
            return;
        }
        let Some((id, record)) = this_and_record(execute_data) else { return };
        if refuse_global(id, "The global scope takes no exception handler: use a Scope, or set_exception_handler()") {
            return;
        }
        let place = if child { addr_of_mut!((*record).child_handler) } else { addr_of_mut!((*record).handler) };
        let mut old = *place;
        sys::spindle_zval_copy(place, &callable);
        let (own, of_children) = if child { (None, Some(true)) } else { (Some(true), None) };
        rt().core.borrow_mut().set_handlers(id, own, of_children);
        sys::spindle_zval_dtor(&mut old);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_setExceptionHandler(execute_data: Frame, _: Value) {
    // SAFETY: the engine's frame of this method.
    unsafe { set_handler(execute_data, false) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_setChildScopeExceptionHandler(execute_data: Frame, _: Value) {
    // SAFETY: the engine's frame of this method.
    unsafe { set_handler(execute_data, true) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_onFinally(execute_data: Frame, _: Value) {
    let mut closure = null_mut();
    // SAFETY: the engine's frame of this method; the list takes a reference.
    unsafe {
        if !sys::spindle_parse_closure(execute_data, &mut closure) {
            return;
        }
        let Some((id, record)) = this_and_record(execute_data) else { return };
        let list = addr_of_mut!((*record).finally);
        if zv::is_undef(&*list) {
            sys::spindle_array_new(list, 1);
        }
        let mut copy = zv::null();
        sys::spindle_zval_copy(&mut copy, closure);
        sys::spindle_array_add(list, &mut copy);
        let rt = rt();
        if rt.core.borrow().has_completed(id) {
            failure::scope_ends(rt, id);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_getChildScopes(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and place for the result.
    unsafe {
        if !sys::spindle_parse_none(execute_data) {
            return;
        }
        let Some(id) = this(execute_data) else { return };
        let rt = rt();
        let children = rt.core.borrow().child_scopes(id);
        sys::spindle_array_new(result, children.len() as u32);
        for child in children {
            sys::spindle_array_add(result, &mut zv::object(scope::object_of(rt, child)));
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_getCoroutines(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and place for the result.
    unsafe {
        if !sys::spindle_parse_none(execute_data) {
            return;
        }
        let Some(id) = this(execute_data) else { return };
        let rt = rt();
        let members = rt.core.borrow().members(id);
        sys::spindle_array_new(result, members.len() as u32);
        for co in members {
            let mut value = zv::null();
            zv::set_object_copy(&mut value, addr_of_mut!((*rt.object(co)).std));
            sys::spindle_array_add(result, &mut value);
        }
    }
}

macro_rules! questions {
    ($($name:ident => $ask:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(execute_data: Frame, result: Value) {
                // SAFETY: the engine's frame of this method and place for the result.
                unsafe {
                    if sys::spindle_parse_none(execute_data)
                        && let Some(id) = this(execute_data)
                    {
                        zv::set_bool(result, rt().core.borrow().$ask(id));
                    }
                }
            }
        )*
    };
}

questions! {
    zim_Async_Scope_isFinished => is_finished
    zim_Async_Scope_isClosed => is_closed
    zim_Async_Scope_isCancelled => is_cancelled
    zim_Async_Scope_isDisposed => is_disposed
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_currentScope(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame and place for the result.
    unsafe {
        if sys::spindle_parse_none(execute_data) {
            let rt = rt();
            let id = {
                let core = rt.core.borrow();
                core.scope_of(core.running())
            };
            result.write(zv::object(scope::object_of(rt, id)));
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_globalScope(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame and place for the result.
    unsafe {
        if sys::spindle_parse_none(execute_data) {
            result.write(zv::object(scope::object_of(rt(), Core::GLOBAL)));
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_BoundedScope_withTimeout(execute_data: Frame, result: Value) {
    let mut ms = 0;
    // SAFETY: the engine's frame of this method and place for the result.
    unsafe {
        if !sys::spindle_parse_long(execute_data, &mut ms) {
            return;
        }
        if ms < 0 {
            sys::zend_argument_value_error(1, c"must be greater than or equal to 0".as_ptr());
            return;
        }
        let Some((id, record)) = this_and_record(execute_data) else { return };
        if (*record).timeout.is_some() {
            return throw("The scope has a timeout already; it can be set once");
        }
        (*record).timeout = Some(ms);
        rt().core.borrow_mut().set_deadline(id, scope::deadline(ms));
        zv::set_object_copy(result, (*execute_data).This.value.obj);
    }
}

/// Sets the constraint of a scope: an object that can be awaited.
unsafe fn bound_by(id: ScopeId, record: *mut Record, constraint: *mut sys::zend_object, target: Target) {
    // SAFETY: live objects; the record takes a reference.
    unsafe {
        rt().core.borrow_mut().bound_by(id, target);
        let mut old = (*record).constraint;
        zv::set_object_copy(addr_of_mut!((*record).constraint), constraint);
        sys::spindle_zval_dtor(&mut old);
        failure::carry_out(rt());
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_BoundedScope_boundedBy(execute_data: Frame, result: Value) {
    let mut value = null_mut();
    // SAFETY: the engine's frame of this method and place for the result.
    unsafe {
        if !sys::spindle_parse_value(execute_data, &mut value) {
            return;
        }
        let Some((id, record)) = this_and_record(execute_data) else { return };
        let is_object = u32::from((*value).u1.v.type_) == sys::IS_OBJECT;
        if !is_object || !sys::spindle_instance_of((*value).value.obj, sys::spindle_ce.awaitable) {
            let text = c"must be of type Async\\Awaitable, %s given";
            sys::zend_argument_type_error(1, text.as_ptr(), sys::zend_zval_type_name(value));
            return;
        }
        let Some(target) = awaiting::target((*value).value.obj) else { return awaiting::never_spawned() };
        if target == Target::Scope(id) {
            return throw("A scope cannot be bounded by itself");
        }
        bound_by(id, record, (*value).value.obj, target);
        zv::set_object_copy(result, (*execute_data).This.value.obj);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_BoundedScope_spawnAndBound(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and place for the result, which holds the new coroutine.
    unsafe {
        let Some((id, co)) = spawn(execute_data, result) else { return };
        bound_by(id, scope::record(rt(), id), (*result).value.obj, Target::Coroutine(co));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_BoundedScope_getBoundsInfo(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and place for the result; the array is filled with values it takes over.
    unsafe {
        if !sys::spindle_parse_none(execute_data) {
            return;
        }
        let Some((_, record)) = this_and_record(execute_data) else { return };
        sys::spindle_array_new(result, 3);
        zv::array_set(result, c"timeout", (*record).timeout.map_or(zv::null(), zv::long));
        let mut constraint = zv::null();
        if !zv::is_undef(&(*record).constraint) {
            sys::spindle_zval_copy(&mut constraint, &(*record).constraint);
        }
        zv::array_set(result, c"constraint", constraint);
        let reached = match (*record).reached {
            None => zv::null(),
            Some(Bound::Time) => zv::string("timeout"),
            Some(Bound::Constraint) => zv::string("constraint"),
        };
        zv::array_set(result, c"reached", reached);
    }
}
