//! Defers cancellations in PHP code that is called by C code through which no exception can pass.
//!
//! In a callback of C code that PHP's FFI has called, ext/ffi ends the request with "Throwing from FFI callbacks is not
//! allowed". In `__debugInfo()` the engine ends it with "__debuginfo() must return an array". So cancellations are
//! deferred while such code runs, as by `Async\protect()`, and thrown when the call into C code has returned.
//!
//! FFI calls PHP code in one place, by `zend_call_function`, or by `zend_call_known_function` since PHP 8.4. Where it is a
//! shared object, its entry for that is patched with those of libc calls. Where it is a part of PHP's program, it calls the
//! engine without such an entry. But it gives libffi the function that is called back, so its entry for
//! `ffi_prep_closure_loc` is patched then, at the start of the module: a callback may be older than the first `spawn`.
//!
//! The debug-info handler is patched in the table that all objects of PHP classes share.

use crate::c;
use crate::runtime::park::throw_cancellation;
use crate::runtime::scheduler::{self, Runtime};
use spindle_interpose::patch::{self, Hook, Mark, Patcher};
use spindle_zend::{Extension, Object, declare, engine, exception, hooks::Passed, sys};
use std::ffi::{CStr, c_int, c_void};
use std::mem::offset_of;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// The function of libffi that makes a C function which calls back.
const PREPARE: &CStr = c"ffi_prep_closure_loc";

/// Returns a patcher of these hooks and of the entry of FFI.
pub fn patcher(mut hooks: Vec<Hook>, excluded: Vec<String>) -> Patcher {
    let (by_description, directly) = (c"zend_call_function", c"zend_call_known_function");
    hooks.push(Hook { name: by_description, replacement: call_back as *const () as usize });
    hooks.push(Hook { name: directly, replacement: call_back_directly as *const () as usize });
    let mut marks = vec![Mark::RefersTo(PREPARE)];
    marks.extend(code_of_ffi().map(Mark::Contains));
    Patcher::new(&hooks, excluded).only_in(by_description, &marks).only_in(directly, &marks)
}

/// Returns a patcher of the entry by which FFI reaches libffi, if FFI is a part of PHP's program.
pub fn patcher_of_program() -> Option<Patcher> {
    let code = code_of_ffi()?;
    if object_of(code)? != object_of(zend_call_function as *const () as usize)? {
        return None;
    }
    // SAFETY: a terminated name, looked up among all loaded objects.
    let original = unsafe { libc::dlsym(libc::RTLD_DEFAULT, PREPARE.as_ptr()) };
    if original.is_null() || object_of(original.addr())? == object_of(code)? {
        return None; // libffi is a part of the program, too: its calls have no entries
    }
    // SAFETY: libffi's function, which has this type.
    let original = unsafe { std::mem::transmute::<*mut c_void, Prepare>(original) };
    let _ = FFI_PREPARES.set(original);
    let hook = Hook { name: PREPARE, replacement: prepare as *const () as usize };
    Some(Patcher::new(&[hook], Vec::new()).only_in(PREPARE, &[Mark::Contains(code)]))
}

/// Returns an address in the code of FFI, if it is loaded.
fn code_of_ffi() -> Option<usize> {
    Extension::find("ffi")?.raw().module_startup_func.map(|code| code as usize)
}

/// Returns the start of the loaded object that contains an address, which identifies the object.
fn object_of(address: usize) -> Option<usize> {
    let mut object =
        libc::Dl_info { dli_fname: null(), dli_fbase: null_mut(), dli_sname: null(), dli_saddr: null_mut() };
    (c::dladdr(address as *const c_void, &mut object) != 0).then(|| object.dli_fbase.addr())
}

/// The function that libffi calls for a call from C: the description of the call, its result, its arguments, and data
/// of the callee.
type Callback = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut *mut c_void, *mut c_void);
type Prepare = unsafe extern "C" fn(*mut c_void, *mut c_void, Callback, *mut c_void, *mut c_void) -> c_int;

/// libffi's function.
static FFI_PREPARES: OnceLock<Prepare> = OnceLock::new();
/// FFI's function, which it passes for every callback.
static FFI_CALLS_BACK: OnceLock<Callback> = OnceLock::new();

/// Makes our function what libffi calls, in the place of FFI's.
unsafe extern "C" fn prepare(
    closure: *mut c_void,
    description: *mut c_void,
    callback: Callback,
    data: *mut c_void,
    code: *mut c_void,
) -> c_int {
    const FFI_BAD_ABI: c_int = 2;
    let Some(original) = FFI_PREPARES.get() else { return FFI_BAD_ABI };
    let is_known = *FFI_CALLS_BACK.get_or_init(|| callback) as usize == callback as usize;
    let callback = if is_known { call_back_from_libffi } else { callback };
    // SAFETY: the caller's arguments. Our function has the type of the one that it replaces.
    unsafe { original(closure, description, callback, data, code) }
}

unsafe extern "C" fn call_back_from_libffi(
    description: *mut c_void,
    result: *mut c_void,
    arguments: *mut *mut c_void,
    data: *mut c_void,
) {
    let Some(callback) = FFI_CALLS_BACK.get() else { return };
    // SAFETY: libffi's arguments, which it passes to the function that was given to it for them.
    without_cancellation(|| unsafe { callback(description, result, arguments, data) });
}

/// Replaces the handler of objects, once per process. Returns the reason if it cannot be replaced.
pub fn install() -> Option<String> {
    let replacement = get_debug_info as *const () as usize;
    if engine::standard_handlers().get_debug_info.is_some_and(|now| now as usize == replacement) {
        return None;
    }
    let place = (&raw const sys::std_object_handlers).addr() + offset_of!(sys::zend_object_handlers, get_debug_info);
    // SAFETY: our function has the type of those in the entry, and calls the one that stands there.
    unsafe { patch::store(place, replacement) }.err()
}

declare! {
    // Arguments of the type `Passed` come from the engine, or from code that calls it.
    safe fn zend_call_function(call: Passed<'_, Call>, callee: Passed<'_, Callee>) -> sys::zend_result;
    safe fn zend_call_known_function(
        callee: Passed<'_, *mut sys::zend_function>,
        object: Passed<'_, *mut sys::zend_object>,
        class: Passed<'_, *mut sys::zend_class_entry>,
        result: Passed<'_, *mut sys::zval>,
        count: u32,
        arguments: Passed<'_, *mut sys::zval>,
        named: Passed<'_, *mut sys::HashTable>,
    );
    safe fn zend_std_get_debug_info<'a>(object: &'a Object, is_temporary: Passed<'a, *mut i32>) -> *mut sys::HashTable;
}

type Call = *mut sys::zend_fcall_info;
type Callee = *mut sys::zend_fcall_info_cache;

extern "C" fn call_back(call: Passed<'_, Call>, callee: Passed<'_, Callee>) -> sys::zend_result {
    without_cancellation(|| zend_call_function(call, callee))
}

extern "C" fn call_back_directly(
    callee: Passed<'_, *mut sys::zend_function>,
    object: Passed<'_, *mut sys::zend_object>,
    class: Passed<'_, *mut sys::zend_class_entry>,
    result: Passed<'_, *mut sys::zval>,
    count: u32,
    arguments: Passed<'_, *mut sys::zval>,
    named: Passed<'_, *mut sys::HashTable>,
) {
    without_cancellation(|| zend_call_known_function(callee, object, class, result, count, arguments, named));
}

extern "C" fn get_debug_info<'a>(object: &'a Object, is_temporary: Passed<'a, *mut i32>) -> *mut sys::HashTable {
    without_cancellation(|| zend_std_get_debug_info(object, is_temporary))
}

/// Defers cancellations during a call of PHP code by C code. A bailout from that ends the coroutine, and the shield
/// with it.
fn without_cancellation<R>(call: impl FnOnce() -> R) -> R {
    deferred(call, |_| true)
}

/// Defers cancellations during a write of output, which PHP takes for an abort by the client if it fails. A cancellation that came
/// before or meanwhile is delivered only after a write that has waited.
pub fn without_cancelled_output<R>(write: impl FnOnce() -> R) -> R {
    let picks = scheduler::existing().map(Runtime::picks);
    deferred(write, |rt| Some(rt.picks()) != picks)
}

fn deferred<R>(call: impl FnOnce() -> R, delivers: impl FnOnce(&Runtime) -> bool) -> R {
    let Some(rt) = scheduler::existing() else { return call() };
    rt.core.borrow_mut().shield();
    let result = call();
    let waits = {
        let mut core = rt.core.borrow_mut();
        core.unshield();
        core.cancellation_waits()
    };
    if waits && delivers(rt) {
        let core = rt.core.borrow();
        rt.cancelled_in_callback.set(core.id(core.running()));
        engine::request_interrupt();
    }
    result
}

/// Throws, where the engine can be interrupted, a cancellation that was deferred, if the running coroutine's callback
/// has returned.
pub fn deliver(rt: &'static Runtime) {
    let held_off = rt.cancelled_in_callback.get();
    if held_off == 0 || exception::is_in_flight() {
        return;
    }
    let is_here = {
        let core = rt.core.borrow();
        core.id(core.running()) == held_off && core.cancellation_waits()
    };
    if is_here && throw_cancellation(rt) {
        rt.cancelled_in_callback.set(0);
    }
}
