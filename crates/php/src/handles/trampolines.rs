//! Trampolines in front of internal functions. Before a call they may wait for the lock of a handle; after it they
//! release locks and throw a cancellation for which the C code was made to fail. While nothing is locked and no
//! coroutine is cancelled, a trampoline costs two tests.
//!
//! They are installed once per process, at its first request, and stay: closures, compiled code and classes in
//! opcache's memory have copies of the handlers that they were created with.

use crate::c;
use crate::handles::{
    calls::{self, Trampolined},
    classify::{self, Module, kind_of, name_has},
    connection_groups, curl_shares, handle_locks,
    kinds::{CallKind, Flags, kind_of_calls},
    matches, multi, persistent, transactions,
};
use crate::isolation::{call_info::CallInfo, globals};
use crate::runtime::{
    ctx::Ctx,
    gate,
    pending_cancel::{self, refresh_checks},
    scheduler::{self, Runtime},
};
use spindle_interpose::hooks::sync::mutex as locks;
use spindle_php_sys as sys;
use spindle_zend::{Class, Frame, Function, Handler, PhpStatic, Value};
use std::cell::{Cell, RefCell};

pub use crate::handles::calls::{put_list as put_calls, take_list as take_calls};

/// The data that the slots of functions with trampolines point to. It is never freed: closures have copies of
/// functions, and are called until the end of the process.
static INFOS: PhpStatic<RefCell<Vec<&'static CallInfo>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// The request has called `dl()`. Extensions that it has loaded are unloaded after the request.
static HAS_LOADED: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// Forgets the extensions of the last request, which are unloaded. At a request's start.
pub fn request_starts() {
    if HAS_LOADED.replace(false) {
        classify::forget_extensions();
    }
}

/// Returns all internal functions that exist now.
fn functions() -> impl Iterator<Item = Function> {
    let classes = Class::all().filter(|class| class.raw().ce_flags & sys::ZEND_ACC_IMMUTABLE == 0);
    Function::all().chain(classes.flat_map(Class::methods)).filter(|function| function.is_internal())
}

/// Returns the function's C code, or a trampoline in front of it.
fn handler_of(function: Function) -> Option<Handler> {
    function.internal()?.handler
}

fn set_handler(function: Function, handler: Handler) {
    // SAFETY: a trampoline, or the function's own code.
    unsafe { function.set_handler(handler) };
}

/// Puts trampolines in front of all internal functions that have none yet: at the first request of the process, and
/// when an extension has been loaded since.
pub fn install() {
    let mut module = Module::of(None);
    for function in functions() {
        let Some(handler) = handler_of(function) else { continue };
        let extension = function.extension();
        if extension != module.extension {
            module = Module::of(extension);
            module.is_being_used();
        }
        if function.name().is_none() || is_trampoline(handler) || c::spindle_is_in_front(handler) {
            continue;
        }
        let (kind, flags) = if classify::is_spindle(extension) {
            (None, Flags::Never)
        } else {
            let kind = kind_of(function, &module);
            (kind, classify::flags_of(function, &module, kind))
        };
        match kind {
            Some(kind) => {
                trampoline(function, handler, kind, flags, module.keeps_globals);
            }
            None => CallInfo::attach(without_trampoline(flags), function),
        }
    }
    if let Some(reader) = Class::all().find(|class| class.name().as_bytes() == b"XMLReader") {
        connection_groups::change_methods_of_objects(reader, &[b"open", b"xml"]); // in the table they are static
    }
}

/// Returns the data for the slot of a function that needs no trampoline.
fn without_trampoline(flags: Flags) -> Option<&'static CallInfo> {
    const fn known(flags: Flags) -> PhpStatic<CallInfo> {
        PhpStatic::new(CallInfo::new(CallKind::Plain as u32, flags as u8))
    }
    static NEVER: PhpStatic<CallInfo> = known(Flags::Never);
    static AROUND_CALLBACKS: PhpStatic<CallInfo> = known(Flags::AroundCallbacks);
    match flags {
        Flags::Always => None,
        Flags::AroundCallbacks => Some(&AROUND_CALLBACKS),
        Flags::Never => Some(&NEVER),
    }
}

/// Puts the trampoline for calls of this kind in front of a function with this handler.
fn trampoline(function: Function, handler: Handler, kind: CallKind, flags: Flags, keeps: bool) -> &'static CallInfo {
    let info = CallInfo::of(function).unwrap_or_else(|| {
        let info: &CallInfo = Box::leak(Box::new(CallInfo::new(kind as u32, flags as u8)));
        CallInfo::attach(Some(info), function);
        INFOS.borrow_mut().push(info);
        info
    });
    info.set_handler(handler);
    let trampoline = match kind {
        CallKind::Plain => sys::spindle_trampoline,
        // A write to a file never yields by itself, because `echo` must not. After the function it may.
        CallKind::Writes | CallKind::Stream => sys::spindle_trampoline_fair,
        CallKind::Fiber => handler, // see `SWITCH` in glue/fibers.c
        CallKind::Unswitched => without_switch,
        CallKind::Loads => loading_functions,
        CallKind::Matches => matching,
        _ if keeps => with_globals,
        _ if transactions::watches(function) => transacting,
        CallKind::Makes => making_handles,
        CallKind::Refers => referring,
        CallKind::Performs => performing,
        CallKind::Watches => watching,
        CallKind::Joins => joining,
        // A copy is a handle of its own.
        CallKind::Handle if !name_has(function, "copy") => sys::spindle_trampoline_linking,
        _ => sys::spindle_trampoline_holding,
    };
    set_handler(function, trampoline);
    info
}

/// Puts a trampoline in front of a method that is in no class's table but in one of an object; each object may have its
/// own copy.
pub(crate) fn trampoline_found(function: Function) {
    let Some(handler) = handler_of(function) else { return };
    let is_passing = function.flags() & sys::ZEND_ACC_CALL_VIA_TRAMPOLINE != 0;
    if is_passing || CallInfo::of(function).is_some() || is_trampoline(handler) || function.name().is_none() {
        return;
    }
    let is_same = |info: &&&CallInfo| {
        info.is_of_object() && info.handler().is_some_and(|known| known as usize == handler as usize)
    };
    let known = INFOS.borrow().iter().find(is_same).copied();
    if known.is_some() {
        CallInfo::attach(known, function);
    }
    let module = Module::of(function.extension());
    if let Some(kind) = kind_of(function, &module) {
        let flags = classify::flags_of(function, &module, Some(kind));
        trampoline(function, handler, kind, flags, false).set_of_object();
    }
}

/// Defines trampolines, and the list of all trampolines.
macro_rules! trampolines {
    ($($(#[$attribute:meta])* $name:ident => $body:expr;)*) => {
        $(
            $(#[$attribute])*
            unsafe extern "C" fn $name(frame: *mut sys::zend_execute_data, result: *mut sys::zval) {
                // SAFETY: the engine calls it with the frame of a call of a function that has a trampoline.
                if let Some(frame) = unsafe { Frame::from_raw(frame) } {
                    $body(Trampolined { frame, result });
                }
            }
        )*

        const TRAMPOLINES: &[Handler] = &[
            sys::spindle_trampoline,
            sys::spindle_trampoline_holding,
            sys::spindle_trampoline_fair,
            sys::spindle_trampoline_linking,
            $($name,)*
        ];
    };
}

trampolines! {
    /// The trampoline of functions that create handles: constructors and `…pconnect`. A handle that is created from
    /// another one shares its connection, and so do the handles of one coroutine on one persistent connection.
    making_handles => make_handle;

    /// The trampoline of constructors of objects that refer to handles. They use no connection, but what is done with the object
    /// later does. An object that is constructed again while a call of it is suspended waits for that.
    referring => |call: Trampolined| match call.frame.this() {
        Some(this) if !handle_locks::is_in_suspended_call(this) => {
            connection_groups::forget(this);
            connection_groups::link(call.frame, this);
            call.call(sys::spindle_trampoline);
        }
        _ => make_handle(call),
    };

    /// The trampoline of extensions that keep the state of a call in their globals. It calls one of the others.
    with_globals => |call: Trampolined| {
        globals::keeping(call.frame.function(), || call.call(usual(call.frame)));
    };

    /// The trampoline of functions that begin and end transactions, and execute statements. It calls one of the others.
    transacting => |call: Trampolined| transactions::around(call, |call| call.call(usual(call.frame)));

    /// The trampoline of functions that must not be suspended.
    without_switch => |call: Trampolined| {
        let info = call.frame.function().and_then(CallInfo::of);
        let Some(handler) = info.and_then(CallInfo::handler) else { return };
        // Nor do fibers switch: the code that they switch to could not be suspended.
        let blocks = scheduler::existing().is_some();
        if blocks {
            c::zend_fiber_switch_block();
        }
        gate::without_switch(|| call.call(handler));
        if blocks {
            c::zend_fiber_switch_unblock();
        }
    };

    /// The trampoline of functions that match a pattern and call PHP code meanwhile.
    matching => |call: Trampolined| {
        matches::begins();
        call.call(sys::spindle_trampoline);
        matches::ended();
    };

    /// The trampoline of `curl_multi_exec()`.
    performing => multi::perform;

    /// The trampoline of `curl_multi_select()`.
    watching => multi::watch;

    /// The trampoline of functions after which a handle may share the connections of others.
    joining => |call: Trampolined| {
        call.call(sys::spindle_trampoline_holding);
        curl_shares::called(call.frame, call.result());
    };

    /// The trampoline of `dl()`: the functions of the extension get trampolines as soon as it is loaded.
    loading_functions => |call: Trampolined| {
        call.call(sys::spindle_trampoline);
        HAS_LOADED.set(true);
        install();
    };
}

/// Returns the trampoline for calls of a function's kind.
fn usual(frame: Frame) -> Handler {
    match kind_of_calls(frame.function()) {
        CallKind::Makes => making_handles,
        CallKind::Handle => sys::spindle_trampoline_linking,
        CallKind::Plain => sys::spindle_trampoline,
        _ => sys::spindle_trampoline_holding,
    }
}

/// Returns `true` if a handler is a trampoline of this module.
fn is_trampoline(handler: Handler) -> bool {
    TRAMPOLINES.iter().any(|one| *one as usize == handler as usize)
}

fn make_handle(call: Trampolined) {
    let frame = call.frame;
    if let Some(this) = frame.this() {
        transactions::forget(this.address());
    }
    let Some(asked) = classify::persistent_request(frame) else {
        let driver = classify::key_of_driver(frame);
        match (frame.this(), driver) {
            (Some(this), Some(driver)) => {
                connection_groups::forget(this);
                connection_groups::link_to(this, driver);
            }
            (Some(this), None) => {
                connection_groups::forget(this);
                connection_groups::link(frame, this);
            }
            (None, Some(driver)) => return make_handle_of(driver, call),
            (None, None) => {}
        }
        return call.call(sys::spindle_trampoline_linking);
    };
    let group = persistent::take(asked);
    if let Some(this) = frame.this() {
        connection_groups::link_to(this, group);
    }
    // The connection may be in use through a handle that was passed to another coroutine, and the call may use it
    // immediately.
    let make = || persistent::with_view(group, || call.call(sys::spindle_trampoline_holding));
    handle_locks::with_lock(group, make);
    if let Some(object) = call.result().as_object() {
        connection_groups::link_to(object, group);
    } else if let Some(resource) = call.result().as_resource() {
        persistent::add_stream(group, resource);
    }
    persistent::remove_user(group);
}

/// Makes a handle of a driver, all of whose connections are one group, by a call that has none before: `PDO::connect()`.
fn make_handle_of(driver: usize, call: Trampolined) {
    handle_locks::with_lock(driver, || call.call(sys::spindle_trampoline_holding));
    if let Some(object) = call.result().as_object() {
        connection_groups::link_to(object, driver);
    }
}

/// Links an object or a resource that a call has returned: if it is a handle, it shares the connection of the handle
/// that it was created from, if any.
#[unsafe(no_mangle)]
extern "C" fn spindle_call_made(frame: Frame, result: &Value) {
    if let Some(object) = result.as_object() {
        transactions::forget(object.address());
        connection_groups::link(frame, object);
    } else if let Some(resource) = result.as_resource() {
        connection_groups::link_resource(frame, resource);
    }
}

/// Removes all locks and records of calls at the end of the request.
pub fn request_ends() {
    connection_groups::request_ends();
    calls::reset();
    multi::forget_all();
    curl_shares::forget_all();
    handle_locks::forget_all();
    matches::request_ends();
    transactions::forget_all();
}

/// Restores the original handlers, at module shutdown. Entries that others have replaced since are left alone.
pub fn remove() {
    for function in functions().filter(|function| handler_of(*function).is_some_and(is_trampoline)) {
        if let Some(original) = CallInfo::of(function).and_then(CallInfo::handler) {
            set_handler(function, original);
        }
    }
}

/// Returns the number of functions that have trampolines.
pub fn installed() -> usize {
    INFOS.borrow().len()
}

/// Locks what the calls on a fiber's stack use when the fiber is about to be suspended.
#[unsafe(no_mangle)]
extern "C" fn spindle_fiber_suspends() {
    if let Some(rt) = scheduler::existing() {
        handle_locks::suspending(rt);
    }
}

/// Releases the locks of the coroutine of this context, which has ended and still runs, and drops an exception that
/// could not be thrown.
pub fn coroutine_ends(rt: &'static Runtime, ctx: &Ctx) {
    calls::put_list(std::ptr::null_mut());
    ctx.calls.set(std::ptr::null_mut());
    ctx.loads.set(0);
    ctx.performed.borrow_mut().clear();
    ctx.leaves_waits_in.set(None);
    handle_locks::release_all(rt, ctx);
    drop(pending_cancel::end(rt, ctx));
    ctx.failing.forget_retries();
    refresh_checks(ctx);
    if locks::holds_any() {
        locks::on_end(u64::from(ctx.co.get().0));
    }
}
