//! Hooks into the engine: the end of the script, places where switching is forbidden, class loading, interrupts.
//!
//! - **Compiling** is not re-entrant: no switch below the outermost compilation, reads there are done in place.
//!   Our wrapper goes around opcache's, so it is installed at request start.
//! - **The end of the script** is where `zend_execute_ex` returns from the last top-level code, where the SAPI is known to
//!   run one script in a request. It is replaced between the compilation of a top-level file and its execution only, so
//!   that no other call pays. Otherwise it is the end of the request, which the runtime has a function called at, before the
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
    /// Always: it is the last.
    Last,
    /// When it throws: the code after it does not run then.
    Throws,
    /// When it exits. What it throws is reported, and more code may come in this request.
    Exits,
}

static COMPILE_FILE_HOOK: Hook<CompileFile> = Hook::new(&COMPILE_FILE, compile_file);
static COMPILE_STRING_HOOK: Hook<CompileString> = Hook::new(&COMPILE_STRING, compile_string);
static EXECUTE_HOOK: Hook<ExecuteEx> = Hook::new(&EXECUTE_EX, execute_script);
static INTERRUPT_HOOK: Hook<Interrupt> = Hook::new(&INTERRUPT, interrupt);
static COLLECT_HOOK: Hook<CollectCycles> = Hook::new(&COLLECT_CYCLES, collect);

/// Set while the hooks are installed. Whoever wraps ours later does not have it wrapped again.
static IS_INSTALLED: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// The top-level code of the request.
struct TopLevel {
    /// What the end of the code that was compiled last means.
    end: Cell<End>,
    /// Set once such code has run.
    has_begun: Cell<bool>,
    /// How many files the SAPI has run.
    files: Cell<u32>,
}

static TOP_LEVEL: PhpStatic<TopLevel> =
    PhpStatic::new(TopLevel { end: Cell::new(End::Last), has_begun: Cell::new(false), files: Cell::new(0) });

/// Wraps what the engine lets us wrap. At the first request start: after every extension's own wrapping.
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
    engine::begin_output(false);
    suspension::reset();
    loading::forget_all();
}

/// Puts the originals back, at module shutdown, where ours still stand.
pub fn remove() {
    if IS_INSTALLED.replace(false) {
        COMPILE_FILE_HOOK.remove();
        COMPILE_STRING_HOOK.remove();
        INTERRUPT_HOOK.remove();
        COLLECT_HOOK.remove();
        loading::remove();
    }
}

extern "C" fn compile_file(file: SourceFile<'_>, kind: c_int) -> Option<Function> {
    let original = COMPILE_FILE_HOOK.original()?;
    if !streams::before_compiling(file.name().map_or(&[], Str::as_bytes)) {
        return None;
    }
    let code = suspension::without_switch(|| original(file, kind))?;
    // Without a frame it was the SAPI, and no PHP code, that asked for this file.
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
        Source::Same => suspension::without_switch(|| original(source, name, position)),
        Source::Other(plain) => {
            source::set_growth(plain.as_bytes().len() - source.as_bytes().len());
            let code = suspension::without_switch(|| original(&plain, name, position));
            source::set_growth(0);
            code
        }
    };
    // Without a frame this is code of the command line, or of the program that PHP is embedded in.
    if code.is_some() && Frame::current().is_none() {
        let is_last = is_one_script_sapi() && LAST_CODE.contains(&name.get());
        watch_end(if is_last { End::Last } else { End::Exits });
    }
    code
}

/// The names of code of the command line that no more comes after: of `php -r` and `-E`.
const LAST_CODE: [&CStr; 2] = [c"Command line code", c"Command line end code"];

/// The SAPIs that run one script in a request, between `auto_prepend_file` and `auto_append_file`.
const ONE_SCRIPT: [&CStr; 7] =
    [c"cli", c"cli-server", c"fpm-fcgi", c"cgi-fcgi", c"apache2handler", c"litespeed", c"phpdbg"];

fn is_one_script_sapi() -> bool {
    ONE_SCRIPT.contains(&engine::sapi_name())
}

/// Returns `true` with `php -F`: the script is run for each line of the input, which is in this variable then.
fn runs_for_each_line() -> bool {
    engine::has_global_variable(c"argn")
}

/// Returns what the end of the file means that the SAPI is about to run.
fn end_of_file() -> End {
    if !is_one_script_sapi() || runs_for_each_line() {
        return End::Exits;
    }
    let files = TOP_LEVEL.files.get() + 1;
    TOP_LEVEL.files.set(files);
    if files > engine::added_files() { End::Last } else { End::Throws }
}

/// Catches the end of the code that runs next, which is at the top level. The original comes back at the very next call.
fn watch_end(end: End) {
    if !TOP_LEVEL.has_begun.replace(true) {
        engine::begin_output(true);
    }
    TOP_LEVEL.end.set(end);
    EXECUTE_HOOK.install();
}

extern "C" fn execute_script(frame: Frame) {
    let Some(original) = EXECUTE_HOOK.original() else { return };
    let end = TOP_LEVEL.end.get();
    EXECUTE_EX.set(Some(original));
    let stack = VmStack::current();
    if !runs_through(|| original(frame)) {
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
    }
}

/// The script's own code has ended, with the exception in flight or none.
fn script_ended() {
    if !runs_through(context::script_ended) {
        exception::throw_exit();
    }
    if let Some(rt) = scheduler::existing() {
        failure::script_ended(rt);
    }
    suspension::set_script_over();
}

/// The request ends; its shutdown functions come next.
#[unsafe(no_mangle)]
extern "C" fn spindle_request_ends() {
    if suspension::has_script_ended() {
        return;
    }
    if engine::has_bailed_out() {
        suspension::set_script_over();
        if let Some(rt) = scheduler::existing() {
            rt.end(); // a fatal error that no wrapper of ours has seen
        }
        return;
    }
    // After a fatal error, too, the other shutdown functions are called.
    engine::guarded(script_ended);
    suspension::set_script_over();
    // So they are when a coroutine has exited: with that in flight none would be.
    if exception::is_exit_in_flight() {
        drop(exception::take());
    }
}

/// Runs code of the script's own, and returns `false` if a coroutine has exited meanwhile and left it. Other bailouts, of
/// fatal errors, go on from here: the caller holds nothing with a destructor that matters.
fn runs_through(code: impl FnOnce()) -> bool {
    if engine::guarded(code) {
        return true;
    }
    suspension::set_script_over();
    if let Some(rt) = scheduler::existing() {
        rt.end(); // no coroutine runs again
        if rt.is_left() {
            return false;
        }
    }
    engine::bail_out()
}

extern "C" fn collect() -> c_int {
    COLLECT_HOOK.original().map_or(0, |original| suspension::without_switch(|| original()))
}

extern "C" fn interrupt(frame: Option<Frame>) {
    if let Some(rt) = scheduler::existing() {
        overflow::at_interrupt();
        moments::vm_interrupted(frame);
        trampolines::throw_in_php_code(rt);
        no_throw::deliver(rt);
        if rt.can_switch() && rt.defers_handlers() {
            return;
        }
    }
    if let Some(original) = INTERRUPT_HOOK.original() {
        // Handlers of signals block switching in the engine's own fibers too: what they do is done in place.
        let run = || suspension::without_switch(|| original(frame));
        if scheduler::existing().is_some() { exception::put_aside(run) } else { run() }
    }
}
