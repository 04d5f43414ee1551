//! A coroutine that needs a class or a file which another one is loading waits until it is there.
//!
//! The engine marks a file as included when it begins to run its code, and lets nobody autoload a class twice. Code of
//! files and autoloaders may park: to others a class would look missing, and a file would look done whose
//! conditional functions, constants and `return` have not come yet. Circles go on at once, as in one coroutine.

use crate::engine::{linking, stand_ins};
use crate::runtime::{
    coroutine::Info,
    dependencies,
    scheduler::{self, Runtime},
};
use crate::zend::zv;
use spindle_core::sched::{CoroutineId, Ticket, WaitReason, WakeReason};
use spindle_php_sys as sys;
use spindle_reactor::Reactor;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr::null_mut;

type Autoload = unsafe extern "C" fn(*mut sys::zend_string, *mut sys::zend_string) -> *mut sys::zend_class_entry;
type ResolvePath = unsafe extern "C" fn(*mut sys::zend_string) -> *mut sys::zend_string;

/// Who runs the code of a file for the first time; the id tells it from a later one in the same slot.
#[derive(Clone, Copy)]
struct Loader {
    co: CoroutineId,
    id: u64,
}

/// Somebody who waits, and for whom.
struct Wait {
    ticket: Ticket,
    loader: CoroutineId,
    what: What,
}

#[derive(PartialEq, Eq)]
enum What {
    /// Its lower-case name.
    Class(Vec<u8>),
    /// Its path.
    File(Vec<u8>),
}

impl What {
    fn is_file(&self) -> bool {
        matches!(self, What::File(_))
    }
}

struct State {
    autoload: Cell<Option<Autoload>>,
    resolve_path: Cell<Option<ResolvePath>>,
    /// Classes that are being loaded, by their lower-case names.
    classes: RefCell<Vec<(Vec<u8>, CoroutineId)>>,
    /// Who began to load a file. Whether it still does is asked when it matters.
    files: RefCell<HashMap<Vec<u8>, Loader>>,
    waits: RefCell<Vec<Wait>>,
}

struct OnPhpThread(State);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for OnPhpThread {}
// SAFETY: as above.
unsafe impl Send for OnPhpThread {}
static STATE: std::sync::LazyLock<OnPhpThread> = std::sync::LazyLock::new(|| {
    OnPhpThread(State {
        autoload: Cell::new(None),
        resolve_path: Cell::new(None),
        classes: RefCell::new(Vec::new()),
        files: RefCell::new(HashMap::new()),
        waits: RefCell::new(Vec::new()),
    })
});

fn state() -> &'static State {
    &STATE.0
}

struct Count(Cell<u32>);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Count {}
/// How many wait for a file.
static WAITING: Count = Count(Cell::new(0));

/// Wraps the engine's functions, after every extension's own wrapping.
pub fn install() {
    // SAFETY: request start, on the PHP thread; the originals are kept and called.
    unsafe {
        state().autoload.set(sys::zend_autoload);
        sys::zend_autoload = Some(autoload);
        state().resolve_path.set(sys::zend_resolve_path);
        sys::zend_resolve_path = Some(resolve_path);
    }
    stand_ins::install();
}

/// Puts the originals back where ours still stand.
pub fn remove() {
    // SAFETY: module shutdown, on the PHP thread.
    unsafe {
        if sys::zend_autoload.is_some_and(|f| f as usize == autoload as *const () as usize) {
            sys::zend_autoload = state().autoload.get();
        }
        if sys::zend_resolve_path.is_some_and(|f| f as usize == resolve_path as *const () as usize) {
            sys::zend_resolve_path = state().resolve_path.get();
        }
    }
    stand_ins::remove();
}

/// A new request: nobody loads anything.
pub fn forget_all() {
    state().classes.borrow_mut().clear();
    state().files.borrow_mut().clear();
    state().waits.borrow_mut().clear();
    WAITING.0.set(0);
    linking::forget_all();
}

/// In the child of a fork: nobody but the running coroutine loads anything.
pub fn forget_others(me: CoroutineId) {
    state().classes.borrow_mut().retain(|(_, loader)| *loader == me);
    state().files.borrow_mut().retain(|_, loader| loader.co == me);
    state().waits.borrow_mut().clear();
    WAITING.0.set(0);
    linking::lose_others(me);
}

/// Parks until `loader` has loaded what is waited for, or may have.
fn wait(rt: &'static Runtime, loader: CoroutineId, what: What) -> WakeReason {
    let ticket = rt.begin_wait();
    let (call, files) = if what.is_file() { ("include", 1) } else { ("autoload", 0) };
    state().waits.borrow_mut().push(Wait { ticket, loader, what });
    WAITING.0.set(WAITING.0.get() + files);
    let loader = rt.core.borrow().id(loader);
    let info = Info { call, awaits: [loader, 0], since: Reactor::now(), ..Info::NONE };
    let reason = rt.park(None, WaitReason::Coroutines, true, info);
    state().waits.borrow_mut().retain(|wait| wait.ticket != ticket);
    WAITING.0.set(WAITING.0.get().saturating_sub(files));
    reason
}

/// Parks until `loader` has declared a class, or may have.
pub(crate) fn wait_for_class(rt: &'static Runtime, loader: CoroutineId, name: Vec<u8>) -> WakeReason {
    wait(rt, loader, What::Class(name))
}

unsafe extern "C" fn autoload(name: *mut sys::zend_string, lower: *mut sys::zend_string) -> *mut sys::zend_class_entry {
    let Some(original) = state().autoload.get() else { return null_mut() };
    let rt = scheduler::existing().filter(|rt| rt.can_switch());
    if stand_ins::is_asked_for(lower) {
        // SAFETY: as it says.
        return unsafe { linking::wait_for_declaration(rt) };
    }
    let Some(rt) = rt else {
        // SAFETY: the engine's own arguments, passed on.
        return unsafe { original(name, lower) };
    };
    linking::notice(rt);
    // SAFETY: the running context, which is that of its coroutine also when this returns; the engine's own arguments, passed on.
    unsafe {
        (*rt.context()).loads += 1;
        let class = load(rt, original, name, lower);
        (*rt.context()).loads -= 1;
        class
    }
}

/// Lets the original load a class, after whoever loads it already.
unsafe fn load(
    rt: &'static Runtime,
    original: Autoload,
    name: *mut sys::zend_string,
    lower: *mut sys::zend_string,
) -> *mut sys::zend_class_entry {
    let me = rt.core.borrow().running();
    may_have_loaded(rt);
    while let Some(loader) = begin(zv::text(lower).into_bytes(), me) {
        if dependencies::depends_on(loader, me) {
            return null_mut(); // as with a class that is needed while it is being loaded
        }
        let reason = wait(rt, loader, What::Class(zv::text(lower).into_bytes()));
        // SAFETY: a table of classes by their lower-case names.
        let found = unsafe { sys::zend_hash_find(sys::executor_globals.class_table, lower) };
        if !found.is_null() {
            // SAFETY: its values are classes.
            return unsafe { (*found).value.ce };
        }
        if reason == WakeReason::Cancelled {
            let reason = rt.core.borrow_mut().take_cancellation();
            if let Some(reason) = reason {
                // SAFETY: as an autoloader that throws; the reference is passed on.
                unsafe { sys::spindle_throw(reason) };
            }
            return null_mut();
        }
    }
    // SAFETY: the engine's own arguments, passed on.
    let class = unsafe { original(name, lower) };
    end(rt, zv::text(lower).into_bytes());
    class
}

/// `me` loads this class, unless somebody (returned) does already.
fn begin(name: Vec<u8>, me: CoroutineId) -> Option<CoroutineId> {
    let mut classes = state().classes.borrow_mut();
    let loader = classes.iter().find(|(known, _)| *known == name).map(|(_, loader)| *loader);
    if loader.is_none() {
        classes.push((name, me));
    }
    loader
}

/// `co` has begun to link a class.
pub(crate) fn begins(name: Vec<u8>, co: CoroutineId) {
    begin(name, co);
}

/// A class that was linked is there, or is not going to be.
pub(crate) fn ends(rt: &'static Runtime, name: Vec<u8>) {
    end(rt, name);
}

/// It is loaded, or about to be before its loader parks again: who waits for it looks.
fn end(rt: &'static Runtime, name: Vec<u8>) {
    state().classes.borrow_mut().retain(|(known, _)| *known != name);
    let done = What::Class(name);
    wake(rt, |wait| wait.what == done);
}

/// Those who wait look again. From now on they wait for nobody: others decide by that before these have run.
fn wake(rt: &'static Runtime, which: impl Fn(&Wait) -> bool) -> bool {
    let chosen: Vec<Ticket> = {
        let waits = state().waits.borrow();
        waits.iter().filter(|wait| which(wait)).map(|wait| wait.ticket).collect()
    };
    for ticket in &chosen {
        rt.core.borrow_mut().wake(*ticket);
    }
    state().waits.borrow_mut().retain(|wait| !chosen.contains(&wait.ticket));
    !chosen.is_empty()
}

/// A file was compiled, whose code the running coroutine is about to run.
///
/// # Safety
/// `code` is what the engine's compiler returned.
pub unsafe fn compiled(code: *const sys::zend_op_array) {
    let Some(rt) = scheduler::existing().filter(|rt| rt.active.get()) else { return };
    let core = rt.core.borrow();
    let co = core.running();
    // SAFETY: the caller's promise: compiled code has a file name.
    let path = zv::text(unsafe { (*code).filename }).into_bytes();
    state().files.borrow_mut().entry(path).or_insert(Loader { co, id: core.id(co) });
}

/// Is code of this file, not only of a function in it, on the stack of calls?
unsafe fn runs_file(mut frame: *mut sys::zend_execute_data, path: &[u8]) -> bool {
    // SAFETY: the caller passes the frames of a live coroutine.
    unsafe {
        while !frame.is_null() {
            let function = (*frame).func;
            if !function.is_null()
                && zv::is_php_code(function)
                && (*function).op_array.function_name.is_null()
                && zv::bytes((*function).op_array.filename) == path
            {
                return true;
            }
            frame = (*frame).prev_execute_data;
        }
    }
    false
}

/// Who, other than `me`, is still running the code of this file for the first time?
fn loader_of(rt: &'static Runtime, path: &[u8], me: CoroutineId) -> Option<CoroutineId> {
    let loader = *state().files.borrow().get(path)?;
    if loader.co == me || rt.core.borrow().id(loader.co) != loader.id {
        return None;
    }
    // SAFETY: an object in the runtime's table is alive; a coroutine that was left has its frames in its state.
    unsafe {
        let this = rt.object(loader.co);
        if this.is_null() || (*this).ctx.is_null() {
            return None;
        }
        runs_file(rt.frame_of((*this).ctx), path).then_some(loader.co)
    }
}

unsafe extern "C" fn resolve_path(name: *mut sys::zend_string) -> *mut sys::zend_string {
    let Some(original) = state().resolve_path.get() else { return null_mut() };
    // SAFETY: the engine's own argument, passed on.
    let path = unsafe { original(name) };
    let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch()) else { return path };
    if path.is_null() || state().files.borrow().is_empty() || !includes_once() {
        return path;
    }
    let me = rt.core.borrow().running();
    may_have_loaded(rt);
    loop {
        // SAFETY: a string that the engine made for us, or of the engine's own cache.
        let bytes = unsafe { zv::bytes(path) };
        let Some(loader) = loader_of(rt, bytes, me) else { return path };
        if dependencies::depends_on(loader, me) {
            return path;
        }
        if wait(rt, loader, What::File(bytes.to_vec())) == WakeReason::Cancelled {
            // SAFETY: without a path, and with an exception, the engine includes nothing.
            unsafe {
                let reason = rt.core.borrow_mut().take_cancellation();
                if let Some(reason) = reason {
                    sys::spindle_throw(reason);
                    sys::spindle_string_release(path);
                    return null_mut();
                }
            }
        }
    }
}

/// Is the running code an `include_once` or `require_once`?
fn includes_once() -> bool {
    const INCLUDE_ONCE: u32 = 1 << 2;
    const REQUIRE_ONCE: u32 = 1 << 4;
    // SAFETY: the running frame; PHP code has a current instruction.
    unsafe {
        let frame = sys::executor_globals.current_execute_data;
        if frame.is_null() || (*frame).func.is_null() {
            return false;
        }
        zv::is_php_code((*frame).func)
            && u32::from((*(*frame).opline).opcode) == sys::ZEND_INCLUDE_OR_EVAL
            && matches!((*(*frame).opline).extended_value, INCLUDE_ONCE | REQUIRE_ONCE)
    }
}

/// The running coroutine parks, ends, or asks for what another one may load: whoever waits for a file whose code it
/// has run by now goes on.
#[inline(always)]
pub fn may_have_loaded(rt: &'static Runtime) {
    if linking::is_any() {
        linking::settle(rt);
    }
    if WAITING.0.get() > 0 {
        look_again(rt);
    }
}

#[cold]
fn look_again(rt: &'static Runtime) {
    let me = rt.core.borrow().running();
    wake(rt, |wait| {
        let What::File(path) = &wait.what else { return false };
        // SAFETY: the frames of the running code.
        wait.loader == me && unsafe { !runs_file(sys::executor_globals.current_execute_data, path) }
            || dependencies::depends_on(wait.loader, wait.ticket.co)
    });
}

/// Nobody can run: those who load files wait for those who wait for them, in a way that is not seen. These go on
/// without. Says whether there are any.
pub fn give_up(rt: &'static Runtime) -> bool {
    let waits = state().waits.borrow();
    let mut files = state().files.borrow_mut();
    for wait in waits.iter() {
        if let What::File(path) = &wait.what {
            files.remove(path);
        }
    }
    drop((waits, files));
    wake(rt, |wait| wait.what.is_file())
}
