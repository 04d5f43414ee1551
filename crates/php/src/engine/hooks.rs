//! Hooks into the engine: the end of the script, places where switching is forbidden, class loading, interrupts.
//!
//! - **Compiling** is not re-entrant: no switch below the outermost compilation, reads there are done in place.
//!   Our wrapper goes around opcache's, so it is installed at request start.
//! - **The end of the script** is where `zend_execute_ex` returns from the last top-level code, where the SAPI is known to
//!   run one script in a request. It is replaced between the compilation of a top-level file and its execution only, so
//!   that no other call pays. Else it is the end of the request, which the runtime has a function called at, before the
//!   shutdown functions. What ends the script early (`exit`, fatal errors) is seen in both.
//! - **Collecting cycles** runs destructors with the collector's state open: no switch below it.
//! - **Loading a class or a file**: see `loading`.

use crate::engine::{
    loading, no_throw,
    syntax::{self, Source},
};
use crate::handles::{streams, trampolines};
use crate::runtime::{context, failure, moments, scheduler, suspension};
use crate::stack::overflow;
use crate::zend::{exception, zv};
use spindle_php_sys as sys;
use std::cell::Cell;
use std::ffi::CStr;
use std::ptr::null_mut;

type CompileFile = unsafe extern "C" fn(*mut sys::zend_file_handle, i32) -> *mut sys::zend_op_array;
type CompileString =
    unsafe extern "C" fn(*mut sys::zend_string, *const i8, sys::zend_compile_position) -> *mut sys::zend_op_array;

/// When the end of top-level code is the end of the script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Always: it is the last.
    Last,
    /// When it throws: what would come after it does not.
    Throws,
    /// When it exits. What it throws is reported, and more code may come in this request.
    Exits,
}

struct Hooks {
    installed: Cell<bool>,
    compile_file: Cell<Option<CompileFile>>,
    compile_string: Cell<Option<CompileString>>,
    execute_ex: Cell<Option<unsafe extern "C" fn(*mut sys::zend_execute_data)>>,
    interrupt: Cell<Option<unsafe extern "C" fn(*mut sys::zend_execute_data)>>,
    collect: Cell<Option<unsafe extern "C" fn() -> i32>>,
    /// What the end of the top-level code that was compiled last means.
    end: Cell<End>,
    /// Has top-level code of this request run?
    has_begun: Cell<bool>,
    /// Files that the SAPI has run.
    files: Cell<u32>,
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
    end: Cell::new(End::Last),
    has_begun: Cell::new(false),
    files: Cell::new(0),
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
        }
        loading::install();
    }
    HOOKS.files.set(0);
    HOOKS.has_begun.set(false);
    // SAFETY: no code of this request runs yet.
    unsafe { sys::spindle_output_begin(false) };
    suspension::reset();
    loading::forget_all();
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
        }
        loading::remove();
    }
}

unsafe extern "C" fn compile_file(file: *mut sys::zend_file_handle, kind: i32) -> *mut sys::zend_op_array {
    let Some(original) = HOOKS.compile_file.get() else { return null_mut() };
    // SAFETY: the engine's own arguments, passed on; a file that is compiled has a name.
    let code = unsafe {
        let name = if (*file).filename.is_null() { &[] } else { zv::bytes((*file).filename) };
        if !streams::before_compiling(name) {
            return null_mut();
        }
        suspension::without_switch(|| original(file, kind))
    };
    // SAFETY: as above; the frame tells whether PHP code asked for this file or the SAPI.
    unsafe {
        if !code.is_null() && sys::executor_globals.current_execute_data.is_null() {
            watch_end(end_of_file());
        } else if !code.is_null() {
            loading::compiled(code);
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
    // SAFETY: the engine's own arguments, or what has to be compiled in their place.
    let code = unsafe {
        match syntax::of_string(source, name, position) {
            Source::Refused => null_mut(),
            Source::Same => suspension::without_switch(|| original(source, name, position)),
            Source::Other(plain) => {
                sys::spindle_source_has_grown((*plain).len - (*source).len);
                let code = suspension::without_switch(|| original(plain, name, position));
                sys::spindle_source_has_grown(0);
                sys::spindle_string_release(plain);
                code
            }
        }
    };
    // SAFETY: as in `compile_file`; without a frame this is code of the command line, or of the program that PHP is embedded
    // in. Its name is a C string.
    unsafe {
        if !code.is_null() && sys::executor_globals.current_execute_data.is_null() {
            let is_last = is_one_script_sapi() && LAST_CODE.contains(&CStr::from_ptr(name));
            watch_end(if is_last { End::Last } else { End::Exits });
        }
    }
    code
}

/// The names of code of the command line that no more comes after: of `php -r` and `-E`.
const LAST_CODE: [&CStr; 2] = [c"Command line code", c"Command line end code"];

/// The SAPIs that run one script in a request, between `auto_prepend_file` and `auto_append_file`.
const ONE_SCRIPT: [&CStr; 7] =
    [c"cli", c"cli-server", c"fpm-fcgi", c"cgi-fcgi", c"apache2handler", c"litespeed", c"phpdbg"];

fn is_one_script_sapi() -> bool {
    // SAFETY: the name is a terminated text.
    ONE_SCRIPT.contains(&unsafe { CStr::from_ptr(sys::sapi_module.name) })
}

/// With `php -F` the script is run for each line of the input, which is this variable then.
fn runs_for_each_line() -> bool {
    let line = c"argn";
    // SAFETY: a table of the engine.
    unsafe {
        let variables = &raw mut sys::executor_globals.symbol_table;
        !sys::zend_hash_str_find(variables, line.as_ptr(), line.count_bytes()).is_null()
    }
}

/// The SAPI is about to run another file: what its end means.
fn end_of_file() -> End {
    if !is_one_script_sapi() || runs_for_each_line() {
        return End::Exits;
    }
    // SAFETY: settings are null or terminated texts.
    let is_set = |file: *const std::ffi::c_char| unsafe { !file.is_null() && *file != 0 };
    // SAFETY: reads globals of the engine.
    let (prepend, append) = unsafe { (sys::core_globals.auto_prepend_file, sys::core_globals.auto_append_file) };
    let files = HOOKS.files.get() + 1;
    HOOKS.files.set(files);
    if files > u32::from(is_set(prepend)) + u32::from(is_set(append)) { End::Last } else { End::Throws }
}

/// The next code that runs is at the top level: catch its end.
unsafe fn watch_end(end: End) {
    // SAFETY: on the PHP thread. The original comes back at the very next call.
    unsafe {
        if !HOOKS.has_begun.replace(true) {
            sys::spindle_output_begin(true);
        }
        if sys::zend_execute_ex.is_some_and(|f| f as usize != execute_script as *const () as usize) {
            HOOKS.execute_ex.set(sys::zend_execute_ex);
        }
        HOOKS.end.set(end);
        sys::zend_execute_ex = Some(execute_script);
    }
}

unsafe extern "C" fn execute_script(frame: *mut sys::zend_execute_data) {
    let Some(original) = HOOKS.execute_ex.get() else { return };
    let end = HOOKS.end.get();
    // SAFETY: the engine's own frame, passed on. A bailout of the script's own code goes on from here, where nothing
    // is held.
    unsafe {
        sys::zend_execute_ex = Some(original);
        let stack = sys::spindle_running_vm_stack();
        if !guarded(execute, frame.cast()) {
            sys::spindle_exits_here(frame, &stack);
        }
        let thrown = sys::executor_globals.exception;
        let ends = match end {
            End::Last => true,
            End::Throws => !thrown.is_null(),
            End::Exits => !thrown.is_null() && (sys::zend_is_unwind_exit(thrown) || sys::zend_is_graceful_exit(thrown)),
        };
        if ends {
            script_ended();
        }
    }
}

/// The script's own code has ended (`EG(exception)`: how).
unsafe fn script_ended() {
    // SAFETY: the caller's promise; nothing is held.
    unsafe {
        if !guarded(context::script_ended, null_mut()) {
            sys::spindle_exits();
        }
    }
    if let Some(rt) = scheduler::existing() {
        failure::script_ended(rt);
    }
    suspension::set_script_over();
}

/// The request ends; its shutdown functions come next.
#[unsafe(no_mangle)]
unsafe extern "C" fn spindle_request_ends() {
    if suspension::has_script_ended() {
        return;
    }
    // SAFETY: a flag of the engine; called below no other code; a bailout leaves nothing that is held.
    unsafe {
        if sys::compiler_globals.unclean_shutdown {
            suspension::set_script_over();
            if let Some(rt) = scheduler::existing() {
                rt.end(); // a fatal error that no wrapper of ours has seen
            }
            return;
        }
        // After a fatal error, too, the other shutdown functions are called.
        sys::spindle_guarded(Some(last_code_ended), null_mut());
        suspension::set_script_over();
        // So they are when a coroutine has exited: with that in flight none would be.
        let thrown = sys::executor_globals.exception;
        if !thrown.is_null() && (sys::zend_is_unwind_exit(thrown) || sys::zend_is_graceful_exit(thrown)) {
            sys::executor_globals.exception = null_mut();
            sys::spindle_object_release(thrown);
        }
    }
}

unsafe extern "C" fn last_code_ended(_: *mut std::ffi::c_void) {
    // SAFETY: called at the end of the request.
    unsafe { script_ended() };
}

/// Runs code of the script's own. `false`: it was left for good, without a fatal error.
unsafe fn guarded(function: unsafe extern "C" fn(*mut std::ffi::c_void), argument: *mut std::ffi::c_void) -> bool {
    // SAFETY: the caller holds nothing that a bailout must not jump over.
    unsafe {
        if sys::spindle_guarded(Some(function), argument) {
            return true;
        }
        suspension::set_script_over();
        if let Some(rt) = scheduler::existing() {
            rt.end(); // nobody runs again
            if rt.is_left() {
                return false;
            }
        }
        sys::spindle_bailout()
    }
}

unsafe extern "C" fn execute(frame: *mut std::ffi::c_void) {
    if let Some(original) = HOOKS.execute_ex.get() {
        // SAFETY: the frame that `execute_script` was called with.
        unsafe { original(frame.cast()) };
    }
}

unsafe extern "C" fn collect() -> i32 {
    let Some(original) = HOOKS.collect.get() else { return 0 };
    // SAFETY: the engine's own function.
    suspension::without_switch(|| unsafe { original() })
}

unsafe extern "C" fn interrupt(frame: *mut sys::zend_execute_data) {
    if let Some(rt) = scheduler::existing() {
        overflow::at_interrupt();
        moments::vm_interrupted(frame);
        trampolines::throw_in_php_code(rt);
        no_throw::deliver(rt);
        if rt.can_switch() && rt.leaves_handlers() {
            return;
        }
    }
    if let Some(original) = HOOKS.interrupt.get() {
        // Handlers of signals block switching in the engine's own fibers too: what they do is done in place.
        // SAFETY: the engine's own frame, passed on.
        let run = || suspension::without_switch(|| unsafe { original(frame) });
        if scheduler::existing().is_some() { exception::put_aside(run) } else { run() }
    }
}

// SAFETY: written on the PHP thread with the same contents each time.
