//! Hooks into the engine: the end of the script, places where switching is forbidden, class loading, interrupts.
//!
//! - **Compiling** is not re-entrant: no switch below the outermost compilation, reads there are done in place.
//!   Our wrapper goes around opcache's, so it is installed at request start.
//! - **The end of the script** is where `zend_execute_ex` returns from the primary script's code. It is replaced
//!   between the compilation of a top-level file and its execution only, so that no other call pays.
//! - **Collecting cycles** runs destructors with the collector's state open: no switch below it.
//! - **Loading a class**: a coroutine that wants a class which another one is loading waits for it.

use crate::coroutine::Info;
use crate::runtime;
use crate::{calls, failure, zv};
use spindle_core::sched::{Co, On, Reason, Ticket};
use spindle_php_sys as sys;
use std::cell::{Cell, RefCell};
use std::ptr::{addr_of_mut, null_mut};

type CompileFile = unsafe extern "C" fn(*mut sys::zend_file_handle, i32) -> *mut sys::zend_op_array;
type CompileString =
    unsafe extern "C" fn(*mut sys::zend_string, *const i8, sys::zend_compile_position) -> *mut sys::zend_op_array;

struct Loading {
    name: Vec<u8>,
    loader: Co,
    waiters: Vec<Ticket>,
}

struct Hooks {
    installed: Cell<bool>,
    compile_file: Cell<Option<CompileFile>>,
    compile_string: Cell<Option<CompileString>>,
    execute_ex: Cell<Option<unsafe extern "C" fn(*mut sys::zend_execute_data)>>,
    interrupt: Cell<Option<unsafe extern "C" fn(*mut sys::zend_execute_data)>>,
    collect: Cell<Option<unsafe extern "C" fn() -> i32>>,
    autoload:
        Cell<Option<unsafe extern "C" fn(*mut sys::zend_string, *mut sys::zend_string) -> *mut sys::zend_class_entry>>,
    loading: RefCell<Vec<Loading>>,
    /// Depth of what forbids switching, counted also before there is a runtime.
    forbidden: Cell<u32>,
    /// The top-level file that was compiled last is the one whose end is the script's end.
    is_last: Cell<bool>,
    seen_primary: Cell<bool>,
}

// SAFETY: used on the PHP thread only.
unsafe impl Sync for Hooks {}
static HOOKS: Hooks = Hooks {
    installed: Cell::new(false),
    compile_file: Cell::new(None),
    compile_string: Cell::new(None),
    execute_ex: Cell::new(None),
    interrupt: Cell::new(None),
    collect: Cell::new(None),
    autoload: Cell::new(None),
    loading: RefCell::new(Vec::new()),
    forbidden: Cell::new(0),
    is_last: Cell::new(false),
    seen_primary: Cell::new(false),
};

/// Wraps what the engine lets us wrap. At the first request start: after every extension's own wrapping.
pub fn install() {
    if !HOOKS.installed.replace(true) {
        // SAFETY: request start, on the PHP thread; the originals are kept and called.
        unsafe {
            HOOKS.compile_file.set(sys::zend_compile_file);
            sys::zend_compile_file = Some(compile_file);
            HOOKS.compile_string.set(sys::zend_compile_string);
            sys::zend_compile_string = Some(compile_string);
            HOOKS.interrupt.set(sys::zend_interrupt_function);
            sys::zend_interrupt_function = Some(interrupt);
            HOOKS.collect.set(sys::gc_collect_cycles);
            sys::gc_collect_cycles = Some(collect);
            HOOKS.autoload.set(sys::zend_autoload);
            sys::zend_autoload = Some(autoload);
        }
    }
    HOOKS.forbidden.set(0);
    HOOKS.seen_primary.set(false);
    HOOKS.loading.borrow_mut().clear();
}

/// Puts the originals back, at module shutdown, where ours still stand.
pub fn remove() {
    if HOOKS.installed.replace(false) {
        // SAFETY: module shutdown, on the PHP thread. A wrapper around ours goes on calling ours, which goes on
        // calling the original.
        unsafe {
            if sys::zend_compile_file.is_some_and(|f| f as usize == compile_file as *const () as usize) {
                sys::zend_compile_file = HOOKS.compile_file.get();
            }
            if sys::zend_compile_string.is_some_and(|f| f as usize == compile_string as *const () as usize) {
                sys::zend_compile_string = HOOKS.compile_string.get();
            }
            if sys::zend_interrupt_function.is_some_and(|f| f as usize == interrupt as *const () as usize) {
                sys::zend_interrupt_function = HOOKS.interrupt.get();
            }
            if sys::gc_collect_cycles.is_some_and(|f| f as usize == collect as *const () as usize) {
                sys::gc_collect_cycles = HOOKS.collect.get();
            }
            if sys::zend_autoload.is_some_and(|f| f as usize == autoload as *const () as usize) {
                sys::zend_autoload = HOOKS.autoload.get();
            }
        }
    }
}

/// How deep in what forbids switching the running code is.
pub fn no_switch() -> u32 {
    HOOKS.forbidden.get()
}

/// Runs `what` (an internal function's handler that calls signal handlers) without a switch.
pub fn in_place<R>(what: impl FnOnce() -> R) -> R {
    without_switch(what)
}

/// Runs `what` without a switch. A bailout may jump over it: the request ends then, and no switch is wanted.
fn without_switch<R>(what: impl FnOnce() -> R) -> R {
    HOOKS.forbidden.set(HOOKS.forbidden.get() + 1);
    let before = runtime::existing();
    if let Some(rt) = before {
        rt.forbid_switch();
    }
    let result = what();
    HOOKS.forbidden.set(HOOKS.forbidden.get() - 1);
    if let Some(rt) = runtime::existing() {
        rt.allow_switch();
    }
    result
}

unsafe extern "C" fn compile_file(file: *mut sys::zend_file_handle, kind: i32) -> *mut sys::zend_op_array {
    let Some(original) = HOOKS.compile_file.get() else { return null_mut() };
    // SAFETY: the engine's own arguments, passed on.
    let code = without_switch(|| unsafe { original(file, kind) });
    // SAFETY: as above; the frame tells whether PHP code asked for this file or the SAPI.
    unsafe {
        if !code.is_null() && sys::executor_globals.current_execute_data.is_null() {
            let primary = (*file).primary_script;
            HOOKS.seen_primary.set(HOOKS.seen_primary.get() || primary);
            let appended = sys::core_globals.auto_append_file;
            let append = !appended.is_null() && *appended != 0;
            watch_end(HOOKS.seen_primary.get() && (!primary || !append));
        }
    }
    code
}

unsafe extern "C" fn compile_string(
    source: *mut sys::zend_string,
    name: *const i8,
    position: sys::zend_compile_position,
) -> *mut sys::zend_op_array {
    let Some(original) = HOOKS.compile_string.get() else { return null_mut() };
    // SAFETY: the engine's own arguments, passed on.
    let code = without_switch(|| unsafe { original(source, name, position) });
    // SAFETY: as in `compile_file`; without a frame this is `php -r`.
    unsafe {
        if !code.is_null() && sys::executor_globals.current_execute_data.is_null() {
            watch_end(true);
        }
    }
    code
}

/// The next code that runs is a top-level file: catch its end.
unsafe fn watch_end(is_last: bool) {
    // SAFETY: on the PHP thread. The original comes back at the very next call.
    unsafe {
        if sys::zend_execute_ex.is_some_and(|f| f as usize != execute_script as *const () as usize) {
            HOOKS.execute_ex.set(sys::zend_execute_ex);
        }
        HOOKS.is_last.set(is_last);
        sys::zend_execute_ex = Some(execute_script);
    }
}

unsafe extern "C" fn execute_script(frame: *mut sys::zend_execute_data) {
    let Some(original) = HOOKS.execute_ex.get() else { return };
    let mut is_last = HOOKS.is_last.get();
    // SAFETY: the engine's own frame, passed on.
    unsafe {
        sys::zend_execute_ex = Some(original);
        original(frame);
        is_last |= !sys::executor_globals.exception.is_null(); // what would come after it does not
    }
    if let (true, Some(rt)) = (is_last, runtime::existing()) {
        failure::script_ended(rt);
    }
}

unsafe extern "C" fn collect() -> i32 {
    let Some(original) = HOOKS.collect.get() else { return 0 };
    // SAFETY: the engine's own function.
    without_switch(|| unsafe { original() })
}

unsafe extern "C" fn interrupt(frame: *mut sys::zend_execute_data) {
    if let Some(rt) = runtime::existing() {
        calls::throw_in_php_code(rt);
    }
    if let Some(original) = HOOKS.interrupt.get() {
        // Handlers of signals block switching in the engine's own fibers too: what they do is done in place.
        // SAFETY: the engine's own frame, passed on.
        without_switch(|| unsafe { original(frame) });
    }
}

unsafe extern "C" fn autoload(name: *mut sys::zend_string, lower: *mut sys::zend_string) -> *mut sys::zend_class_entry {
    let Some(original) = HOOKS.autoload.get() else { return null_mut() };
    let Some(rt) = runtime::existing().filter(|rt| rt.can_switch()) else {
        // SAFETY: the engine's own arguments, passed on.
        return unsafe { original(name, lower) };
    };
    let me = rt.core.borrow().running();
    loop {
        let ticket = rt.begin_wait();
        let wait = {
            let key = zv::text(lower).into_bytes();
            let mut loading = HOOKS.loading.borrow_mut();
            let cycle = waits_for(&loading, &key, me);
            match loading.iter_mut().find(|l| l.name == key) {
                // The one who loads it waits for us: as with a class that is needed while it is being loaded.
                Some(_) if cycle => return null_mut(),
                Some(l) => {
                    l.waiters.push(ticket);
                    true
                }
                None => {
                    loading.push(Loading { name: key, loader: me, waiters: Vec::new() });
                    false
                }
            }
        };
        if !wait {
            break;
        }
        let info = Info { call: "autoload", ..Info::NONE };
        let reason = rt.park(None, On::Coroutines, true, info);
        // SAFETY: a table of classes by their lower-case names.
        let found = unsafe { sys::zend_hash_find(sys::executor_globals.class_table, lower) };
        if !found.is_null() {
            // SAFETY: its values are classes.
            return unsafe { (*found).value.ce };
        }
        if reason == Reason::Cancelled {
            return null_mut(); // thrown at the next suspension point
        }
    }
    // SAFETY: the engine's own arguments, passed on.
    let class = unsafe { original(name, lower) };
    let done = {
        let key = zv::text(lower).into_bytes();
        let mut loading = HOOKS.loading.borrow_mut();
        let at = loading.iter().position(|l| l.name == key && l.loader == me);
        at.map(|at| loading.swap_remove(at))
    };
    for ticket in done.into_iter().flat_map(|l| l.waiters) {
        rt.core.borrow_mut().wake(ticket);
    }
    class
}

/// Would waiting for `name` close a circle through `me`?
fn waits_for(loading: &[Loading], name: &[u8], me: Co) -> bool {
    let Some(mut loader) = loading.iter().find(|l| l.name == name).map(|l| l.loader) else { return false };
    for _ in 0..=loading.len() {
        if loader == me {
            return true;
        }
        let waits = loading.iter().find(|l| l.waiters.iter().any(|ticket| ticket.co == loader));
        match waits {
            Some(l) => loader = l.loader,
            None => return false,
        }
    }
    false
}

struct Runner(std::cell::UnsafeCell<std::mem::MaybeUninit<sys::zend_internal_function>>);
// SAFETY: written on the PHP thread with the same contents each time.
unsafe impl Sync for Runner {}
static RUNNER: Runner = Runner(std::cell::UnsafeCell::new(std::mem::MaybeUninit::zeroed()));

/// The internal function that a coroutine of callbacks runs.
pub fn callback_runner() -> *mut sys::zend_function {
    // SAFETY: a function without declared parameters; zeros are valid for the rest.
    unsafe {
        let runner = RUNNER.0.get().cast::<sys::zend_internal_function>();
        (*runner).type_ = sys::ZEND_INTERNAL_FUNCTION as u8;
        (*runner).handler = Some(run_callbacks);
        (*runner).module = addr_of_mut!(sys::spindle_module_entry);
        runner.cast()
    }
}

unsafe extern "C" fn run_callbacks(execute_data: *mut sys::zend_execute_data, result: *mut sys::zval) {
    // SAFETY: called with the two arguments that `failure::run_callbacks` gave: a list and a coroutine.
    unsafe {
        let arguments = execute_data.byte_add(size_of::<sys::zend_execute_data>()).cast::<sys::zval>();
        failure::call_back((*arguments).value.arr, arguments.add(1));
        zv::set_null(result);
    }
}
