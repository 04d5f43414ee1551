//! Trampolines in front of internal functions: the place before a call, where it may have to queue for a busy handle, and
//! the place after it, where handles are let go and a cancellation of the C code is thrown. While nothing is busy and
//! nobody is cancelled, a trampoline is two tests.
//!
//! They are installed once in a process, at its first request, and stay: closures, compiled code and classes in opcache's
//! memory have copies of the handlers that they were made with.

use crate::handles::{
    classify::{self, Flags, Kind, Module, kind_of, name_has},
    connection_groups,
    handle_locks::{self, let_go},
    persistent,
};
use crate::isolation::globals;
use crate::runtime::{
    ctx::{Ctx, Failing},
    pending_cancel::{is_inside_failing, refresh_checks, take_failing},
    scheduler::{self, Runtime, rt},
    suspension,
};
use crate::zend::call_info::info_of;
use spindle_core::sched::CoroutineId;
use spindle_interpose::hooks::sync::mutex as locks;
use spindle_php_sys as sys;
use std::cell::RefCell;
use std::ptr::{addr_of_mut, null_mut};

struct Infos {
    list: RefCell<Vec<*mut sys::spindle_call_info>>,
}
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Infos {}
/// What the functions' reserved slots point to. It lives as long as the process: closures have copies of functions
/// that are called until the very end.
static INFOS: Infos = Infos { list: RefCell::new(Vec::new()) };

/// Calls `change` with every internal function that the engine knows now.
unsafe fn each_function(mut change: impl FnMut(*mut sys::zend_internal_function)) {
    let eg = addr_of_mut!(sys::executor_globals);
    let each = |table: *mut sys::HashTable, act: &mut dyn FnMut(sys::zval)| {
        // SAFETY: a table of the engine with string keys: `nNumUsed` buckets, some of them empty.
        unsafe {
            for index in 0..(*table).nNumUsed as usize {
                let value = (*(*table).__bindgen_anon_1.arData.add(index)).val;
                if u32::from(value.u1.v.type_) == sys::IS_PTR {
                    act(value);
                }
            }
        }
    };
    let mut functions = |value: sys::zval| {
        // SAFETY: values of function tables are functions.
        unsafe {
            let function: *mut sys::zend_function = value.value.func;
            if u32::from((*function).type_) == sys::ZEND_INTERNAL_FUNCTION {
                change(function.cast());
            }
        }
    };
    // SAFETY: the tables exist as long as a request runs; values of the class table are classes.
    unsafe {
        each((*eg).function_table, &mut functions);
        each((*eg).class_table, &mut |value: sys::zval| {
            let class = value.value.ce;
            if (*class).ce_flags & sys::ZEND_ACC_IMMUTABLE == 0 {
                each(addr_of_mut!((*class).function_table), &mut functions);
            }
        });
    }
}

/// Puts the trampoline in front of all internal functions that have none yet. At the first request start of the process,
/// and when an extension has been loaded since.
pub fn install() {
    let mut module = Module::of(std::ptr::null());
    // SAFETY: on the PHP thread, while a request runs.
    unsafe {
        each_function(|function| {
            let Some(handler) = (*function).handler else { return };
            let its = classify::module_of_function(function);
            if its != module.entry {
                module = Module::of(its);
            }
            if (*function).function_name.is_null() || is_ours(handler) {
                return;
            }
            let ours = addr_of_mut!(sys::spindle_module_entry);
            let kind = if (*function).module == ours { None } else { kind_of(function, &module) };
            let flags =
                if (*function).module == ours { Flags::Never } else { classify::flags_of(function, &module, kind) };
            match kind {
                Some(kind) => trampoline(function, handler, kind, flags, module.keeps_globals),
                None => (*function).reserved[sys::spindle_reserved_slot as usize] = without_trampoline(flags),
            }
        });
    }
}

/// What the slot of a function points to that needs no trampoline.
fn without_trampoline(flags: Flags) -> *mut std::ffi::c_void {
    const fn known(flags: Flags) -> sys::spindle_call_info {
        sys::spindle_call_info { handler: None, kind: Kind::Plain as u32, flags: flags as u8, found: false }
    }
    static NEVER: sys::spindle_call_info = known(Flags::Never);
    static AROUND_CALLBACKS: sys::spindle_call_info = known(Flags::AroundCallbacks);
    match flags {
        Flags::Always => null_mut(),
        Flags::AroundCallbacks => (&raw const AROUND_CALLBACKS).cast_mut().cast(),
        Flags::Never => (&raw const NEVER).cast_mut().cast(),
    }
}

unsafe fn trampoline(
    function: *mut sys::zend_internal_function,
    handler: Handler,
    kind: Kind,
    flags: Flags,
    keeps: bool,
) {
    // SAFETY: the caller passes a function with this handler; the information lives as long as the process.
    unsafe {
        let slot = &mut (*function).reserved[sys::spindle_reserved_slot as usize];
        let mut info = (*slot).cast::<sys::spindle_call_info>();
        if info.is_null() {
            let (kind, flags) = (kind as u32, flags as u8);
            info = Box::into_raw(Box::new(sys::spindle_call_info { handler: None, kind, flags, found: false }));
            *slot = info.cast();
            INFOS.list.borrow_mut().push(info);
        }
        (*info).handler = Some(handler);
        // A write to a file never gives way by itself: `echo` must not. After the function it may.
        (*function).handler = Some(match kind {
            Kind::Plain => sys::spindle_trampoline,
            Kind::Writes | Kind::Stream => sys::spindle_trampoline_fair,
            Kind::Fiber => sys::spindle_trampoline_fiber,
            Kind::Signals => in_place,
            Kind::Loads => loading_functions,
            _ if keeps => keeping,
            Kind::Makes => making,
            // A copy (`curl_copy_handle`) is a handle of its own.
            Kind::Handle if !name_has(function, "copy") => sys::spindle_trampoline_linking,
            _ => sys::spindle_trampoline_holding,
        });
    }
}

/// A method that is in no class's table, but in one of the object's: each object may have its own copy.
pub(crate) unsafe fn trampoline_found(function: *mut sys::zend_internal_function) {
    // SAFETY: the caller passes what an object's look-up of methods has found.
    unsafe {
        let slot = sys::spindle_reserved_slot as usize;
        let Some(handler) = (*function).handler else { return };
        let passing = (*function).fn_flags & sys::ZEND_ACC_CALL_VIA_TRAMPOLINE != 0;
        if passing || !(*function).reserved[slot].is_null() || is_ours(handler) || (*function).function_name.is_null() {
            return;
        }
        let same = |info: &&*mut sys::spindle_call_info| {
            (***info).found && (***info).handler.is_some_and(|known| known as usize == handler as usize)
        };
        let known = INFOS.list.borrow().iter().find(same).copied();
        if let Some(info) = known {
            (*function).reserved[slot] = info.cast();
        }
        let module = Module::of(classify::module_of_function(function));
        if let Some(kind) = kind_of(function, &module) {
            trampoline(function, handler, kind, classify::flags_of(function, &module, Some(kind)), false);
            (*(*function).reserved[slot].cast::<sys::spindle_call_info>()).found = true;
        }
    }
}

type Handler = unsafe extern "C" fn(*mut sys::zend_execute_data, *mut sys::zval);

/// Is it one of our trampolines?
fn is_ours(handler: Handler) -> bool {
    let ours: [Handler; 9] = [
        sys::spindle_trampoline,
        sys::spindle_trampoline_holding,
        sys::spindle_trampoline_fair,
        sys::spindle_trampoline_linking,
        sys::spindle_trampoline_fiber,
        in_place,
        loading_functions,
        making,
        keeping,
    ];
    ours.iter().any(|one| *one as usize == handler as usize)
}

/// The trampoline of what makes handles, constructors and `…pconnect`: a handle made from another is one more on its
/// connection, and so are those of one coroutine on one persistent connection.
unsafe extern "C" fn making(frame: *mut sys::zend_execute_data, result: *mut sys::zval) {
    // SAFETY: the engine calls it with a frame of a function that is trampolined.
    unsafe {
        let this = ((*frame).This.u1.v.type_ == sys::IS_OBJECT as u8).then(|| (*frame).This.value.obj);
        let Some(asked) = classify::asks_for(frame) else {
            if let Some(this) = this {
                connection_groups::is_new(this);
                match classify::shared_driver(frame) {
                    Some(driver) => connection_groups::link_to(this, driver),
                    None => connection_groups::link(frame, this),
                }
            }
            sys::spindle_trampoline_linking(frame, result);
            return;
        };
        let root = persistent::take(asked);
        if let Some(this) = this {
            connection_groups::link_to(this, root);
        }
        // It may be a connection that is in use by a handle which another coroutine was given, and is asked at once.
        handle_locks::in_turn(root, || persistent::within(root, || sys::spindle_trampoline_holding(frame, result)));
        match u32::from((*result).u1.v.type_) {
            sys::IS_OBJECT => connection_groups::link_to((*result).value.obj, root),
            sys::IS_RESOURCE => persistent::used_by_stream(root, (*result).value.res),
            _ => {}
        }
        persistent::unused(root);
    }
}

/// The trampoline of extensions that keep the state of a call in their globals, in front of the others.
unsafe extern "C" fn keeping(frame: *mut sys::zend_execute_data, result: *mut sys::zval) {
    // SAFETY: as `making`.
    unsafe {
        let next = match info_of((*frame).func.cast()).map_or(Kind::Plain, classify::kind_from) {
            Kind::Makes => making,
            Kind::Handle => sys::spindle_trampoline_linking,
            Kind::Plain => sys::spindle_trampoline,
            _ => sys::spindle_trampoline_holding,
        };
        globals::keeping(next, frame, result);
    }
}

/// A call has returned a handle: it shares the connection of the handle that it was made from, if there was one.
#[unsafe(no_mangle)]
unsafe extern "C" fn spindle_call_made(frame: *mut sys::zend_execute_data, result: *mut sys::zval) {
    // SAFETY: the frame of a call that has just returned, and its result, an object or a resource.
    unsafe {
        if u32::from((*result).u1.v.type_) == sys::IS_OBJECT {
            connection_groups::link(frame, (*result).value.obj);
        } else {
            connection_groups::link_resource(frame, (*result).value.res);
        }
    }
}

/// The trampoline of what must not be left in the middle.
unsafe extern "C" fn in_place(frame: *mut sys::zend_execute_data, result: *mut sys::zval) {
    // SAFETY: the engine calls it with a frame of a function that `install` has marked.
    unsafe {
        let info = info_of((*frame).func.cast()).and_then(|info| info.as_ref());
        if let Some(handler) = info.and_then(|info| info.handler) {
            suspension::without_switch(|| handler(frame, result));
        }
    }
}

/// The trampoline of `dl()`: an extension's functions get theirs as soon as they are there.
unsafe extern "C" fn loading_functions(frame: *mut sys::zend_execute_data, result: *mut sys::zval) {
    // SAFETY: as `making`.
    unsafe { sys::spindle_trampoline(frame, result) };
    install();
}

/// The request is over: nothing is busy.
pub fn request_ends() {
    // SAFETY: on the PHP thread; no call is in progress.
    unsafe {
        sys::spindle_calls = null_mut();
        sys::spindle_check_after = 0;
    }
    handle_locks::forget_all();
}

/// Puts the original handlers back, at module shutdown.
pub fn remove() {
    // SAFETY: as `install`; entries that somebody else has replaced since are left alone.
    unsafe {
        let slot = sys::spindle_reserved_slot as usize;
        each_function(|function| {
            let info = (*function).reserved[slot].cast::<sys::spindle_call_info>();
            if !info.is_null() && (*function).handler.is_some_and(is_ours) {
                (*function).handler = (*info).handler;
            }
        });
    }
}

/// How many functions are trampolined.
pub fn installed() -> usize {
    INFOS.list.borrow().len()
}

/// A fiber is about to be suspended, with calls in progress on its stack: what they use stays busy.
#[unsafe(no_mangle)]
extern "C" fn spindle_fiber_suspends() {
    if let Some(rt) = scheduler::existing() {
        handle_locks::parking(rt);
    }
}

/// The slow half of the trampoline after a call: what was held back is thrown.
#[unsafe(no_mangle)]
unsafe extern "C" fn spindle_after_call(frame: *mut sys::zend_execute_data) {
    let Some(rt) = scheduler::existing() else { return };
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: the running context; the exception's reference is passed on.
    unsafe {
        let ctx = rt.context();
        if (*ctx).failing_in != frame && is_inside_failing(ctx, frame) {
            refresh_checks(ctx);
            sys::spindle_vm_interrupt_set(); // the other one may have no trampoline
            return;
        }
        let failing = take_failing(ctx);
        (*ctx).failed_parks = 0;
        refresh_checks(ctx);
        if let Failing::Throw(exception) = failing {
            let own = std::mem::replace(&mut (*eg).exception, std::ptr::null_mut());
            if !own.is_null() {
                if sys::zend_is_unwind_exit(own) || sys::zend_is_graceful_exit(own) {
                    (*eg).exception = own;
                    sys::spindle_object_release(exception);
                    return;
                }
                sys::spindle_cancellation_because(exception, own);
            }
            sys::spindle_throw(exception);
        }
    }
}

/// After a write to a stream that did not wait: gives way now and then. A cancellation that comes meanwhile is thrown.
#[unsafe(no_mangle)]
extern "C" fn spindle_call_was_fair() {
    if let Some(rt) = scheduler::existing()
        // SAFETY: a global of the engine.
        && unsafe { sys::executor_globals.exception.is_null() }
        && rt.can_switch()
        && rt.maybe_yield(32)
    {
        let reason = rt.core.borrow_mut().take_cancellation();
        if let Some(reason) = reason {
            // SAFETY: the core's reference is passed on.
            unsafe { sys::spindle_throw(reason) };
        }
    }
}

/// A coroutine has ended: nothing is busy by it, and what could not be thrown is forgotten.
///
/// # Safety
/// `ctx` is the running context.
pub unsafe fn coroutine_ends(ctx: *mut Ctx) {
    // SAFETY: the caller's promise.
    unsafe {
        sys::spindle_calls = null_mut();
        (*ctx).calls = null_mut();
        (*ctx).loads = 0;
        while let Some(held) = (*ctx).busy.pop() {
            let_go(rt(), CoroutineId((*ctx).co), held.key);
        }
        if let Failing::Throw(exception) = take_failing(ctx) {
            sys::spindle_object_release(exception);
        }
        (*ctx).failed_parks = 0;
        refresh_checks(ctx);
        if locks::holds_any() {
            locks::on_end(u64::from((*ctx).co));
        }
    }
}

/// The engine may be interrupted now, in PHP code: throws what no return of a call has thrown.
pub fn throw_in_php_code(rt: &'static Runtime) {
    let ctx = rt.context();
    // SAFETY: the running context; the exception's reference is passed on.
    unsafe {
        let frame = sys::executor_globals.current_execute_data;
        let in_php = !frame.is_null()
            && !(*frame).func.is_null()
            && u32::from((*(*frame).func).type_) != sys::ZEND_INTERNAL_FUNCTION;
        if is_inside_failing(ctx, frame) {
            return;
        }
        let inside_call = handle_locks::is_inside_marked();
        if in_php && !inside_call && sys::executor_globals.exception.is_null() {
            let failing = take_failing(ctx);
            refresh_checks(ctx);
            if let Failing::Throw(exception) = failing {
                sys::spindle_throw(exception);
            }
        }
    }
}

/// The calls in progress of the running coroutine, which is left.
#[inline(always)]
pub fn take_calls() -> *mut sys::spindle_call {
    // SAFETY: on the PHP thread.
    unsafe { sys::spindle_calls }
}

/// Those of the coroutine that goes on.
#[inline(always)]
pub fn put_calls(calls: *mut sys::spindle_call) {
    // SAFETY: on the PHP thread.
    unsafe { sys::spindle_calls = calls };
}
