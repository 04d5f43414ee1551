//! Start and end of the module and of requests, activation at the first `spawn`, and the output of `php --ri spindle`.

use crate::api::operators;
use crate::c;
use crate::engine::{hooks, host_impl, interposition, linking, no_throw, output, syntax};
use crate::handles::{connection_groups, iterators, matches, persistent, streams, trampolines};
use crate::isolation::{self, calls};
use crate::observe::{diagnostics, info, slices, watch};
use crate::part;
use crate::runtime::{
    context, coroutine, fork, gate, group, request,
    scheduler::{self, Runtime, existing},
    scope, timeout, wait_set,
};
use crate::settings;
use crate::stack::{overflow, stacks};
use spindle_interpose::host;
use spindle_php_sys as sys;
use spindle_reactor::signals;
use spindle_zend::{Extension, PhpStatic, Text, engine, exception};
use std::cell::Cell;
use std::ffi::CString;

struct Life {
    trampolined: Cell<bool>,
    fork_hooked: Cell<bool>,
    pid: Cell<u32>,
}

static LIFE: PhpStatic<Life> =
    PhpStatic::new(Life { trampolined: Cell::new(false), fork_hooked: Cell::new(false), pid: Cell::new(0) });

/// Activates coroutines at the first `spawn` of a request: interposes libc calls, installs trampolines, chains signal
/// handlers. What stays from one request to the next is done once per process: patched entries keep leading to the
/// hooks, which are plain calls while suspension is disabled.
#[cold]
pub fn activate(rt: &'static Runtime) {
    gate::activate();
    fork::mark_generation();
    rt.reactor();
    host::set_host(&host_impl::HOST);
    let held = c::spindle_signals_held();
    if !held.is_null() {
        // SAFETY: a global of the engine, which lasts as long as the process.
        unsafe { host::disable_suspension_while(held) };
    }
    host::attach_thread();
    let mut unpatched = interposition::patch();
    if LIFE.pid.get() != std::process::id() {
        rt.reactor().mark_descriptions_shared(); // it is a worker that was forked before its first coroutine
    }
    signals::set_handler_hooks(host::AROUND_HANDLERS);
    signals::chain_all();
    let dumps = settings::current().dump_signal;
    if dumps != 0 && !c::spindle_signal_is_taken(dumps) {
        signals::set_report_signal(dumps);
    }
    let stacks = rt.stacks.borrow();
    overflow::install(stacks.size(), stacks.zones(), || existing().is_none_or(Runtime::is_whole));
    drop(stacks);
    output::install();
    unpatched.extend(streams::install());
    unpatched.extend(no_throw::install());
    connection_groups::watch_resources();
    if !LIFE.fork_hooked.replace(true) {
        // The module is never unloaded once it was active.
        c::pthread_atfork(None, Some(in_forking_parent), Some(in_forked_child));
    }
    gate::publish();
    watch::start(rt);
    slices::begin();
    if let [first, others @ ..] = &unpatched[..] {
        let more = if others.is_empty() { String::new() } else { format!(", and {} more", others.len()) };
        let text = format!("Spindle could not redirect all calls, and some will block all coroutines: {first}{more}");
        // Without a file the engine uses the position of the running code.
        engine::warn_at(None, 0, &exception::c_text(&text));
    }
}

extern "C" fn in_forking_parent() {
    if host::php_thread_host().is_some()
        && let Some(rt) = scheduler::existing()
    {
        rt.reactor().mark_descriptions_shared();
    }
}

extern "C" fn in_forked_child() {
    // This runs on the thread that has forked, the only one of this process, which may not be PHP's.
    if host::php_thread_host().is_some()
        && let Some(rt) = scheduler::existing()
    {
        fork::in_child(rt);
    }
}

fn deactivate() {
    scheduler::end_request();
    trampolines::request_ends();
    calls::forget_all();
    diagnostics::request_ends();
    persistent::restore_list();
    if gate::deactivate() {
        scheduler::forget_events();
        overflow::remove();
        signals::unchain_all();
        spindle_interpose::reset_wait_queues(); // they may contain coroutines that an `exit` has abandoned
        host::detach_thread();
    }
}

fn may_be_loaded() -> Result<(), String> {
    for other in ["swoole", "openswoole", "swow"] {
        if Extension::find(other).is_some() {
            return Err(format!(
                "Spindle cannot be loaded together with {other}: both switch stacks below the engine. Load one of them"
            ));
        }
    }
    if cfg!(not(target_os = "linux")) {
        return Err("Spindle runs on Linux only".to_owned());
    }
    Ok(())
}

#[unsafe(no_mangle)]
extern "C" fn spindle_minit(_: i32, _: i32) -> sys::zend_result {
    if let Err(why) = may_be_loaded() {
        c::spindle_core_warning(Text::of(&exception::c_text(&why)));
        return sys::FAILURE;
    }
    LIFE.pid.set(std::process::id());
    // SAFETY: module start.
    unsafe { sys::spindle_register_classes() };
    isolation::module_starts();
    matches::module_starts();
    coroutine::register();
    context::register();
    timeout::register();
    scope::register();
    group::register();
    operators::register();
    syntax::install();
    linking::install();
    interposition::module_starts();
    hooks::install_early();
    part::module_starts();
    sys::SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn spindle_mshutdown(_: i32, _: i32) -> sys::zend_result {
    if LIFE.trampolined.replace(false) {
        trampolines::remove();
        iterators::remove();
        connection_groups::remove();
    }
    hooks::remove();
    syntax::remove();
    output::remove();
    interposition::restore();
    sys::SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn spindle_rinit(_: i32, _: i32) -> sys::zend_result {
    spindle_interpose::forget_lost_locks(); // what was used in the last request is gone, and its memory is for others
    hooks::install();
    trampolines::request_starts();
    if !LIFE.trampolined.replace(true) {
        trampolines::install();
        iterators::install();
    }
    part::request_starts();
    if settings::current().virtual_time {
        wait_set::activate(scheduler::rt()); // what sleeps before the first coroutine waits for time, too
    }
    sys::SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn spindle_post_deactivate() -> sys::zend_result {
    deactivate(); // other modules may have run code meanwhile
    connection_groups::forget_all();
    persistent::forget_all();
    operators::forget_all();
    scheduler::give_back();
    c::spindle_streams_end_request();
    request::end();
    sys::SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn spindle_rshutdown(_: i32, _: i32) -> sys::zend_result {
    deactivate();
    part::request_ends();
    sys::SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn spindle_minfo(_: *mut sys::zend_module_entry) {
    let row = |name: &str, value: &str| {
        let (name, value) = (CString::new(name).unwrap_or_default(), CString::new(value).unwrap_or_default());
        // SAFETY: two terminated texts, as the count says.
        unsafe { sys::php_info_print_table_row(2, name.as_ptr(), value.as_ptr()) };
    };
    c::php_info_print_table_start();
    row("Version", env!("CARGO_PKG_VERSION"));
    let is_active = gate::is_active();
    let state = if is_active { "active" } else { "loaded, no coroutine yet" };
    row("State", state);
    row("Reactor", "epoll");
    row("Stack size", &format!("{} bytes", stacks::wanted_size()));
    let names = spindle_interpose::hooked_calls();
    let names: Vec<_> = names.iter().map(|entry| entry.hook.name.to_string_lossy().into_owned()).collect();
    row("Interposable calls", &names.len().to_string());
    row("Calls", &names.join(" "));
    let objects = if is_active { interposition::objects() } else { Vec::new() };
    row("Interposed entries", &objects.iter().map(|(_, entries)| entries).sum::<usize>().to_string());
    row("Interposed libraries", &objects.len().to_string());
    for (path, entries) in &objects {
        row(&format!("Library {path}"), &format!("{entries} entries"));
    }
    if let (true, Some(rt)) = (is_active, existing()) {
        row("Trampolined functions", &trampolines::installed().to_string());
        row("Coroutines", &rt.core.borrow().live().to_string());
        row("Stacks", &rt.stack_figures().0.to_string());
    }
    for (name, value) in info::kernel().into_iter().chain(info::extensions()) {
        row(&name, &value);
    }
    c::php_info_print_table_end();
}
