//! Trampolines in front of internal functions: the place before a call, where it may have to wait for the lock of a handle,
//! and the place after it, where locks are released and a cancellation of the C code is thrown. While nothing is locked and
//! no coroutine is cancelled, a trampoline is two tests.
//!
//! They are installed once in a process, at its first request, and stay: closures, compiled code and classes in opcache's
//! memory have copies of the handlers that they were made with.

use crate::handles::{
    calls,
    classify::{self, CallKind, Flags, Module, kind_of, name_has},
    connection_groups, handle_locks, persistent,
};
use crate::isolation::{call_info::CallInfo, globals};
use crate::runtime::{
    ctx::Ctx,
    park::throw_cancellation,
    pending_cancel::{self, refresh_checks},
    scheduler::{self, Runtime, rt},
    suspension,
};
use spindle_interpose::hooks::sync::mutex as locks;
use spindle_php_sys as sys;
use spindle_zend::{Class, Extension, Frame, Function, Handler, PhpStatic, Value, engine, exception};
use std::cell::RefCell;

pub use crate::handles::calls::{put_list as put_calls, take_list as take_calls};

/// What the slots of functions with trampolines point to. It lives as long as the process: closures have copies of functions
/// that are called until the very end.
static INFOS: PhpStatic<RefCell<Vec<&'static CallInfo>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// Returns every internal function that there is now.
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

/// Returns `true` for this extension.
fn is_spindle(extension: Option<Extension>) -> bool {
    extension.is_some_and(|extension| std::ptr::eq(extension.raw(), &raw const sys::spindle_module_entry))
}

/// Puts the trampoline in front of all internal functions that have none yet. At the first request start of the process,
/// and when an extension has been loaded since.
pub fn install() {
    let mut module = Module::of(None);
    for function in functions() {
        let Some(handler) = handler_of(function) else { continue };
        let extension = function.extension();
        if extension != module.extension {
            module = Module::of(extension);
        }
        if function.name().is_none() || is_ours(handler) {
            continue;
        }
        let (kind, flags) = if is_spindle(extension) {
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
}

/// Returns what the slot of a function points to that needs no trampoline.
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
    let ours = match kind {
        CallKind::Plain => sys::spindle_trampoline,
        // A write to a file never yields by itself: `echo` must not. After the function it may.
        CallKind::Writes | CallKind::Stream => sys::spindle_trampoline_fair,
        CallKind::Fiber => sys::spindle_trampoline_fiber,
        CallKind::Signals => without_switch,
        CallKind::Loads => loading_functions,
        _ if keeps => with_globals,
        CallKind::Makes => making_handles,
        // A copy (`curl_copy_handle`) is a handle of its own.
        CallKind::Handle if !name_has(function, "copy") => sys::spindle_trampoline_linking,
        _ => sys::spindle_trampoline_holding,
    };
    set_handler(function, ours);
    info
}

/// A method was found that is in no class's table, but in one of the object's: each object may have its own copy.
pub(crate) fn trampoline_found(function: Function) {
    let Some(handler) = handler_of(function) else { return };
    let is_passing = function.flags() & sys::ZEND_ACC_CALL_VIA_TRAMPOLINE != 0;
    if is_passing || CallInfo::of(function).is_some() || is_ours(handler) || function.name().is_none() {
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

/// A call of a function with a trampoline.
#[derive(Clone, Copy)]
struct Trampolined {
    frame: Frame,
    result: *mut sys::zval,
}

impl Trampolined {
    /// Calls the function, by its own code or by the trampoline that it would have otherwise.
    fn call(self, handler: Handler) {
        // SAFETY: a handler for this function, and the engine's arguments.
        unsafe { handler(self.frame.as_raw(), self.result) };
    }

    /// Returns what the call has returned.
    fn result(&self) -> &Value {
        // SAFETY: the engine's place for the result, with a value in it.
        unsafe { Value::borrow(self.result) }.unwrap_or(const { &Value::NULL })
    }
}

/// Defines trampolines, and the list of all.
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
            sys::spindle_trampoline_fiber,
            $($name,)*
        ];
    };
}

trampolines! {
    /// The trampoline of what makes handles, constructors and `…pconnect`: a handle made from another is one more on its
    /// connection, and so are those of one coroutine on one persistent connection.
    making_handles => make_handle;

    /// The trampoline of extensions that keep the state of a call in their globals, in front of the others.
    with_globals => |call: Trampolined| {
        let next = match classify::kind_of_calls(call.frame.function()) {
            CallKind::Makes => making_handles,
            CallKind::Handle => sys::spindle_trampoline_linking,
            CallKind::Plain => sys::spindle_trampoline,
            _ => sys::spindle_trampoline_holding,
        };
        globals::keeping(call.frame.function(), || call.call(next));
    };

    /// The trampoline of what must not be suspended.
    without_switch => |call: Trampolined| {
        let info = call.frame.function().and_then(CallInfo::of);
        if let Some(handler) = info.and_then(CallInfo::handler) {
            suspension::without_switch(|| call.call(handler));
        }
    };

    /// The trampoline of `dl()`: an extension's functions get theirs as soon as they are there.
    loading_functions => |call: Trampolined| {
        call.call(sys::spindle_trampoline);
        install();
    };
}

/// Returns `true` if a handler is one of our trampolines.
fn is_ours(handler: Handler) -> bool {
    TRAMPOLINES.iter().any(|one| *one as usize == handler as usize)
}

fn make_handle(call: Trampolined) {
    let frame = call.frame;
    let Some(asked) = classify::asks_for(frame) else {
        if let Some(this) = frame.this() {
            connection_groups::is_new(this);
            match classify::shared_driver(frame) {
                Some(driver) => connection_groups::link_to(this, driver),
                None => connection_groups::link(frame, this),
            }
        }
        return call.call(sys::spindle_trampoline_linking);
    };
    let group = persistent::take(asked);
    if let Some(this) = frame.this() {
        connection_groups::link_to(this, group);
    }
    // It may be a connection that is in use by a handle which another coroutine was given, and is asked at once.
    let make = || persistent::within(group, || call.call(sys::spindle_trampoline_holding));
    handle_locks::with_lock(group, make);
    if let Some(object) = call.result().as_object() {
        connection_groups::link_to(object, group);
    } else if let Some(resource) = call.result().as_resource() {
        persistent::used_by_stream(group, resource);
    }
    persistent::unused(group);
}

/// A call has returned an object or a resource: if that is a handle, it shares the connection of the handle that it was made
/// from, if there was one.
#[unsafe(no_mangle)]
extern "C" fn spindle_call_made(frame: Frame, result: &Value) {
    if let Some(object) = result.as_object() {
        connection_groups::link(frame, object);
    } else if let Some(resource) = result.as_resource() {
        connection_groups::link_resource(frame, resource);
    }
}

/// The request is over: nothing is locked.
pub fn request_ends() {
    calls::reset();
    handle_locks::forget_all();
}

/// Puts the original handlers back, at module shutdown. Entries that others have replaced since are left alone.
pub fn remove() {
    for function in functions().filter(|function| handler_of(*function).is_some_and(is_ours)) {
        if let Some(original) = CallInfo::of(function).and_then(CallInfo::handler) {
            set_handler(function, original);
        }
    }
}

/// Returns how many functions have trampolines.
pub fn installed() -> usize {
    INFOS.borrow().len()
}

/// A fiber is about to be suspended, with calls in progress on its stack: what they use stays locked.
#[unsafe(no_mangle)]
extern "C" fn spindle_fiber_suspends() {
    if let Some(rt) = scheduler::existing() {
        handle_locks::parking(rt);
    }
}

/// The slow half of the trampoline after a call: throws the cancellation that the C code was made to fail for.
#[unsafe(no_mangle)]
extern "C" fn spindle_after_call(frame: Frame) {
    let Some(rt) = scheduler::existing() else { return };
    let ctx = rt.context();
    if ctx.failing_in.get() != Some(frame) && pending_cancel::is_inside_failing(ctx, Some(frame)) {
        refresh_checks(ctx);
        engine::request_interrupt(); // the other one may have no trampoline
        return;
    }
    let failing = pending_cancel::end(ctx);
    ctx.failed_parks.set(0);
    refresh_checks(ctx);
    let Some(cancellation) = failing else { return };
    match exception::take() {
        None => {}
        Some(exit) if exception::is_exit(&exit) => return drop(exception::put(Some(exit))),
        Some(own) => exception::set_last_previous(&cancellation, own),
    }
    let _ = exception::throw(cancellation);
}

/// After a write to a stream that did not wait: yields now and then. A cancellation that comes meanwhile is thrown.
#[unsafe(no_mangle)]
extern "C" fn spindle_call_was_fair() {
    if let Some(rt) = scheduler::existing()
        && !exception::is_in_flight()
        && rt.can_switch()
        && rt.maybe_yield(32)
    {
        throw_cancellation(rt);
    }
}

/// The coroutine of this context, the running one, has ended: nothing is locked by it, and what could not be thrown is
/// forgotten.
pub fn coroutine_ends(ctx: &Ctx) {
    calls::put_list(std::ptr::null_mut());
    ctx.calls.set(std::ptr::null_mut());
    ctx.loads.set(0);
    handle_locks::release_all(rt(), ctx);
    drop(pending_cancel::end(ctx));
    ctx.failed_parks.set(0);
    refresh_checks(ctx);
    if locks::holds_any() {
        locks::on_end(u64::from(ctx.co.get().0));
    }
}

/// The engine may be interrupted now, in PHP code: throws what no return of a call has thrown.
pub fn throw_in_php_code(rt: &'static Runtime) {
    let ctx = rt.context();
    let frame = Frame::current();
    let in_php = frame.and_then(Frame::function).is_some_and(|function| !function.is_internal());
    if pending_cancel::is_inside_failing(ctx, frame) {
        return;
    }
    if in_php && !handle_locks::is_inside_marked() && !exception::is_in_flight() {
        let failing = pending_cancel::end(ctx);
        refresh_checks(ctx);
        if let Some(cancellation) = failing {
            let _ = exception::throw(cancellation);
        }
    }
}
