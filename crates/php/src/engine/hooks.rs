//! Hooks into the engine: compilation, the end of the script, garbage collection, interrupts.
//!
//! - **Compiling** is not re-entrant: there is no switch below the outermost compilation, and reads there are made in
//!   place. This module's wrapper has to be around opcache's, so it is installed at request start.
//! - **The end of the script**, for SAPIs that are known to run one script per request, is where `zend_execute_ex` returns
//!   from the last top-level code. The function is replaced only between the compilation of a top-level file and its
//!   execution, so that other calls cost nothing. For other SAPIs it is the end of the request, before the shutdown
//!   functions. Both cover scripts that end early (`exit`, fatal errors).
//! - **Collecting cycles** runs destructors in the middle of the collector's work: there is no switch below it.
//! - **Loading a class or a file**: see `loading`.

use crate::c;
use crate::engine::{
    loading, no_throw,
    syntax::{self, Source},
};
use crate::handles::{after_call, streams};
use crate::runtime::{context, failure, finally, gate, moments, request, scheduler};
use crate::stack::overflow;
use spindle_zend::{
    Frame, Function, Hook, PhpStatic, SourceFile, Str, Text, engine,
    engine::VmStack,
    exception,
    hooks::{
        COLLECT_CYCLES, COMPILE_FILE, COMPILE_STRING, CollectCycles, CompileFile, CompileString, EXECUTE_EX, ExecuteEx,
        INTERRUPT, Interrupt,
    },
    source, sys,
};
use std::cell::Cell;
use std::ffi::{CStr, c_int};

/// When the end of top-level code is the end of the script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Always: it is the last code.
    Last,
    /// If it throws: the code after it does not run then.
    Throws,
    /// If it exits. An exception is reported, and more code may follow in this request.
    Exits,
}

static COMPILE_FILE_HOOK: Hook<CompileFile> = Hook::new(&COMPILE_FILE, compile_file);
static COMPILE_STRING_HOOK: Hook<CompileString> = Hook::new(&COMPILE_STRING, compile_string);
static EXECUTE_HOOK: Hook<ExecuteEx> = Hook::new(&EXECUTE_EX, execute_script);
static INTERRUPT_HOOK: Hook<Interrupt> = Hook::new(&INTERRUPT, interrupt);
/// What code calls that opcache's JIT has compiled: it remembers what was there when PHP started.
static EARLY_INTERRUPT_HOOK: Hook<Interrupt> = Hook::new(&INTERRUPT, interrupt_early);
static COLLECT_HOOK: Hook<CollectCycles> = Hook::new(&COLLECT_CYCLES, collect);

/// Set while the hooks are installed. They are not installed again if other code wraps them later.
static IS_INSTALLED: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// The top-level code of the request.
struct TopLevel {
    /// The meaning of the end of the code that was compiled last.
    end: Cell<End>,
    /// Set once such code has run.
    has_begun: Cell<bool>,
    /// The number of files that the SAPI has run.
    files: Cell<u32>,
}

static TOP_LEVEL: PhpStatic<TopLevel> =
    PhpStatic::new(TopLevel { end: Cell::new(End::Last), has_begun: Cell::new(false), files: Cell::new(0) });

/// Installs the hook that has to be there when opcache starts. At module start.
pub fn install_early() {
    EARLY_INTERRUPT_HOOK.install();
}

/// Installs the hooks. At the first request start: after all extensions have installed theirs.
pub fn install() {
    if !IS_INSTALLED.replace(true) {
        COMPILE_FILE_HOOK.install();
        COMPILE_STRING_HOOK.install();
        INTERRUPT_HOOK.install();
        COLLECT_HOOK.install();
        loading::install();
    }
    TOP_LEVEL.files.set(0);
    TOP_LEVEL.has_begun.set(false);
    survived();
    engine::begin_output(false);
    gate::reset();
    request::begin();
    loading::forget_all();
}

/// Restores the originals at module shutdown, except where others have replaced the hooks.
pub fn remove() {
    if IS_INSTALLED.replace(false) {
        COMPILE_FILE_HOOK.remove();
        COMPILE_STRING_HOOK.remove();
        INTERRUPT_HOOK.remove();
        COLLECT_HOOK.remove();
        loading::remove();
    }
    EARLY_INTERRUPT_HOOK.remove();
}

extern "C" fn compile_file(file: SourceFile<'_>, kind: c_int) -> Option<Function> {
    let original = COMPILE_FILE_HOOK.original()?;
    if !streams::before_compiling(file.name().map_or(&[], Str::as_bytes)) {
        return None;
    }
    let code = gate::without_switch(|| original(file, kind))?;
    // Without a frame the SAPI compiles this file, not PHP code.
    if Frame::current().is_none() {
        watch_end(end_of_file());
    } else {
        loading::compiled(code);
    }
    Some(code)
}

extern "C" fn compile_string(source: &Str, name: Text<'_>, position: sys::zend_compile_position) -> Option<Function> {
    let original = COMPILE_STRING_HOOK.original()?;
    let code = match syntax::of_string(source, name.get(), position) {
        Source::Refused => None,
        Source::Same => gate::without_switch(|| original(source, name, position)),
        Source::Other(plain) => {
            source::set_growth(plain.as_bytes().len() - source.as_bytes().len());
            let code = gate::without_switch(|| original(&plain, name, position));
            source::set_growth(0);
            code
        }
    };
    // Without a frame this is code of the command line, or of the application that embeds PHP.
    if code.is_some() && Frame::current().is_none() {
        let is_last = is_one_script_sapi() && LAST_CODE.contains(&name.get());
        watch_end(if is_last { End::Last } else { End::Exits });
    }
    code
}

/// The names of command-line code that no other code follows: that of `php -r` and `-E`.
const LAST_CODE: [&CStr; 2] = [c"Command line code", c"Command line end code"];

/// The SAPIs that run one script in a request, between `auto_prepend_file` and `auto_append_file`.
const ONE_SCRIPT: [&CStr; 7] =
    [c"cli", c"cli-server", c"fpm-fcgi", c"cgi-fcgi", c"apache2handler", c"litespeed", c"phpdbg"];

fn is_one_script_sapi() -> bool {
    ONE_SCRIPT.contains(&engine::sapi_name())
}

/// Returns `true` with `php -F`, which runs the script for each line of the input and sets this variable to the line.
fn runs_for_each_line() -> bool {
    engine::has_global_variable(c"argn")
}

/// Returns the meaning of the end of the file that the SAPI is about to run.
fn end_of_file() -> End {
    if !is_one_script_sapi() || runs_for_each_line() {
        return End::Exits;
    }
    let files = TOP_LEVEL.files.get() + 1;
    TOP_LEVEL.files.set(files);
    if files > engine::added_files() { End::Last } else { End::Throws }
}

/// Hooks the end of the code that runs next, which is at the top level. The hook removes itself at the very next call.
fn watch_end(end: End) {
    if !TOP_LEVEL.has_begun.replace(true) {
        engine::begin_output(true);
    }
    TOP_LEVEL.end.set(end);
    EXECUTE_HOOK.install();
}

/// Returns how the engine lets other extensions see calls of functions.
pub fn call_observers() -> engine::CallObservers {
    let others = EXECUTE_HOOK.original().or_else(|| EXECUTE_EX.get());
    engine::call_observers(others.map_or(0, |executor| executor as usize))
}

extern "C" fn execute_script(frame: Frame) {
    let Some(original) = EXECUTE_HOOK.original() else { return };
    let end = TOP_LEVEL.end.get();
    EXECUTE_EX.set(Some(original));
    let stack = VmStack::current();
    if !run_script_code(|| original(frame)) {
        // SAFETY: the code of this frame was left by a bailout to here, and the stack stood there when it began.
        unsafe { stack.exit_from(frame) };
    }
    let ends = match end {
        End::Last => true,
        End::Throws => exception::is_in_flight(),
        End::Exits => exception::is_exit_in_flight(),
    };
    if ends {
        script_ended();
        if !matches!(end, End::Last) && !exception::is_in_flight() {
            exception::throw_exit(); // the exception was reported here: PHP must not run the files that follow
        }
    }
}

/// Handles the end of the script's own code, with the exception in flight or none.
fn script_ended() {
    if !run_script_code(finally::main_ends) || !run_script_code(context::script_ended) {
        exception::throw_exit();
    }
    if let Some(rt) = scheduler::existing() {
        failure::script_ended(rt);
    }
    request::script_ends();
}

/// Handles the end of the request, before its shutdown functions.
#[unsafe(no_mangle)]
extern "C" fn spindle_request_ends() {
    end_request();
    engine::guarded(|| c::spindle_instances_call_destructors());
}

fn end_request() {
    if request::has_script_ended() {
        return;
    }
    if engine::has_bailed_out() {
        request::script_ends();
        if let Some(rt) = scheduler::existing() {
            rt.end(None); // a fatal error that no hook of this module has seen
        }
        return;
    }
    // After a fatal error the other shutdown functions have to be called, too.
    engine::guarded(script_ended);
    request::script_ends();
    // After an exit of a coroutine as well: with the exit in flight none would be called.
    if exception::is_exit_in_flight() {
        drop(exception::take());
    }
}

/// Runs the script's own code. Returns `false` if it was abandoned because a coroutine has exited. Other bailouts, of
/// fatal errors, are repeated here: the caller holds nothing with a significant destructor.
fn run_script_code(code: impl FnOnce()) -> bool {
    if engine::guarded(code) {
        return true;
    }
    request::script_ends();
    if let Some(rt) = scheduler::existing() {
        rt.end(None); // no coroutine runs again
        if rt.is_left() {
            return false;
        }
    }
    engine::bail_out()
}

extern "C" fn collect() -> c_int {
    COLLECT_HOOK.original().map_or(0, |original| gate::without_switch(|| c::spindle_instances_collect(original)))
}

extern "C" fn interrupt(frame: Option<Frame>) {
    interrupted(frame, INTERRUPT_HOOK.original());
}

/// The frame of the interrupt that [`interrupt`] passes on.
static PASSED_ON: PhpStatic<Cell<Option<Frame>>> = PhpStatic::new(Cell::new(None));

/// Is called by compiled code directly; otherwise by [`interrupt`], as the original or by it.
extern "C" fn interrupt_early(frame: Option<Frame>) {
    let original = EARLY_INTERRUPT_HOOK.original();
    if PASSED_ON.get() != frame {
        interrupted(frame, original);
    } else if let Some(original) = original {
        original(frame);
    }
}

/// A fatal error has ended code of the running coroutine, maybe a handler that an interrupt has called, or the request before.
pub fn survived() {
    PASSED_ON.set(None);
}

/// Serves an interrupt, and an exception that is thrown meanwhile.
fn interrupted(frame: Option<Frame>, original: Option<Interrupt>) {
    let was_in_flight = exception::is_in_flight();
    serve_interrupt(frame, original);
    if let Some(frame) = frame
        && !was_in_flight
        && exception::is_in_flight()
    {
        frame.has_thrown_between();
    }
}

fn serve_interrupt(frame: Option<Frame>, original: Option<Interrupt>) {
    if let Some(rt) = scheduler::existing() {
        overflow::at_interrupt();
        moments::vm_interrupted(frame);
        after_call::throw_in_php_code(rt);
        no_throw::deliver(rt);
        if rt.can_switch() && rt.defers_handlers() {
            return;
        }
    }
    if let Some(original) = original {
        let pass_on = || {
            let outer = PASSED_ON.replace(frame);
            original(frame);
            PASSED_ON.set(outer);
        };
        // PHP blocks switches of its own fibers in signal handlers, too: calls there are made in place.
        let run = || gate::without_switch(pass_on);
        if scheduler::existing().is_some() { exception::put_aside_in_interrupt(run) } else { run() }
    }
}
