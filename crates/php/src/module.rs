//! Module and request life, ini, activation at the first `spawn`, and what `php --ri spindle` says.

use crate::runtime::{self, Runtime};
use crate::{
    calls, coroutine, engine, globals, group, hosting, iterators, linking, links, no_throw, openssl, operators, output,
    overflow, persistent, scope, stack, streams, syntax, timeout,
};
use spindle_interpose::patch::Patcher;
use spindle_interpose::{hooks::file, host};
use spindle_php_sys as sys;
use spindle_reactor::signals;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

struct Life {
    active: Cell<bool>,
    trampolined: Cell<bool>,
    fork_hooked: Cell<bool>,
    pid: Cell<u32>,
    patcher: RefCell<Option<Patcher>>,
}

// SAFETY: used on the PHP thread only.
unsafe impl Sync for Life {}
static LIFE: Life = Life {
    active: Cell::new(false),
    trampolined: Cell::new(false),
    fork_hooked: Cell::new(false),
    pid: Cell::new(0),
    patcher: RefCell::new(None),
};

/// Has the first `spawn` of this request been seen?
#[inline(always)]
pub fn is_active() -> bool {
    LIFE.active.get()
}

fn ini(name: &CStr) -> String {
    // SAFETY: a terminated name; the value, if any, is a terminated text that the engine keeps.
    unsafe {
        let value = sys::zend_ini_string(name.as_ptr().cast_mut(), name.count_bytes(), 0);
        if value.is_null() { String::new() } else { CStr::from_ptr(value).to_string_lossy().into_owned() }
    }
}

/// `async.seed`: 0 runs the ready ones first in, first out.
pub fn seed() -> u64 {
    ini(c"async.seed").trim().parse().unwrap_or(0)
}

/// A word that is 1 in the process that activated us, and that the kernel wipes in any child, also in one whose fork
/// passes by `pthread_atfork` (`_Fork`, a raw `clone`).
static GENERATION: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());

/// Is this a child of the process that activated us, and have we not yet seen that?
#[inline(always)]
pub fn forked_unseen() -> bool {
    // SAFETY: null, or a page of ours that is never unmapped.
    unsafe { GENERATION.load(Ordering::Relaxed).as_ref() }.is_some_and(|word| word.load(Ordering::Relaxed) == 0)
}

fn mark_generation() {
    let mut word = GENERATION.load(Ordering::Relaxed);
    if word.is_null() {
        const PAGE: usize = 4096;
        // SAFETY: a new private mapping, never unmapped once it is in use.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(std::ptr::null_mut(), PAGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if page == libc::MAP_FAILED {
                return; // what `pthread_atfork` sees is seen
            }
            if libc::madvise(page, PAGE, libc::MADV_WIPEONFORK) != 0 {
                libc::munmap(page, PAGE);
                return;
            }
            word = page.cast();
        }
        GENERATION.store(word, Ordering::Relaxed);
    }
    // SAFETY: the page above.
    unsafe { (*word).store(1, Ordering::Relaxed) };
}

/// What a child does first, whoever forked it.
pub fn in_child(rt: &'static Runtime) {
    mark_generation();
    spindle_interpose::reset_wait_queues();
    rt.after_fork();
}

/// The files of what extends the engine itself (`zend_extension=`), where a wait is everybody's: a debugger that holds the
/// program holds all coroutines, and opcache's locks are those of the process.
fn engine_extensions() -> Vec<String> {
    unsafe extern "C" fn add(names: *mut std::ffi::c_void, path: *const std::ffi::c_char) {
        // SAFETY: the list below, and a terminated path.
        let (names, path) = unsafe { (&mut *names.cast::<Vec<String>>(), CStr::from_ptr(path)) };
        names.extend(path.to_string_lossy().rsplit('/').next().map(str::to_owned));
    }
    let mut names: Vec<String> = Vec::new();
    // SAFETY: called with the list, which nobody else has meanwhile.
    unsafe { sys::spindle_each_engine_extension(Some(add), (&raw mut names).cast()) };
    names
}

/// The first `spawn` of a request: libc calls are interposed, internal functions trampolined, handlers of signals chained.
/// What stays from one request to the next is done once in a process: entries lead to the hooks for good, which are plain
/// calls while the gate is closed.
#[cold]
pub fn activate(rt: &'static Runtime) {
    LIFE.active.set(true);
    mark_generation();
    rt.reactor();
    host::set_host(&hosting::HOST);
    // SAFETY: a global of the engine's, or null.
    unsafe {
        let held = sys::spindle_signals_held();
        if !held.is_null() {
            host::disable_suspension_while(held);
        }
    }
    host::attach_thread();
    let mut unpatched = patch();
    if LIFE.pid.get() != std::process::id() {
        rt.reactor().mark_descriptions_shared(); // a worker that was forked before its first coroutine
    }
    signals::set_handler_hooks(host::AROUND_HANDLERS);
    signals::chain_all();
    // SAFETY: read after module start; a table of the engine's.
    unsafe {
        let dumps = sys::spindle_settings.dump_signal;
        if dumps != 0 && !sys::spindle_signal_is_taken(dumps) {
            signals::set_report_signal(dumps);
        }
    }
    overflow::install(rt);
    output::install();
    unpatched.extend(streams::install());
    unpatched.extend(no_throw::install());
    links::watch_resources();
    if !LIFE.fork_hooked.replace(true) {
        // SAFETY: the handler lives as long as the module, which is never unloaded once it was active.
        unsafe { libc::pthread_atfork(None, Some(in_forking_parent), Some(in_forked_child)) };
    }
    rt.set_gate();
    rt.watch.start(rt);
    if let [first, others @ ..] = &unpatched[..] {
        let more = if others.is_empty() { String::new() } else { format!(", and {} more", others.len()) };
        let text = format!("Spindle could not redirect all calls, and some will block all coroutines: {first}{more}");
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: a terminated text; without a file the engine names the place that it is at.
        unsafe { sys::spindle_warning_at(std::ptr::null_mut(), 0, text.as_ptr()) };
    }
}

/// Points the entries of all loaded objects at the hooks. What could not be: one error for the process.
fn patch() -> Vec<String> {
    let mut patcher = LIFE.patcher.borrow_mut();
    let patcher = patcher.get_or_insert_with(|| {
        stay_loaded();
        let excluded = ini(c"async.interpose_exclude");
        let mut excluded: Vec<String> =
            excluded.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        excluded.extend(engine_extensions());
        // SAFETY: read after module start.
        let paths = unsafe { sys::spindle_settings.paths_on_workers };
        file::set_open_on_workers(paths);
        no_throw::patcher(spindle_interpose::hook_list(paths), excluded)
    });
    let before = patcher.passes();
    let errors = patcher.patch().errors;
    if patcher.passes() != before {
        openssl::find();
        globals::find();
        crate::state::find();
    }
    errors
}

/// Entries, threads and handlers of forks lead to this object's code: from now on it is not unloaded.
fn stay_loaded() {
    // SAFETY: asks for the object that a function of ours is in, and opens it, which it is already, once more.
    unsafe {
        let mut object = std::mem::zeroed::<libc::Dl_info>();
        if libc::dladdr(stay_loaded as fn() as *const libc::c_void, &mut object) != 0 {
            libc::dlopen(object.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        }
    }
}

unsafe extern "C" fn in_forking_parent() {
    if host::php_thread_host().is_some()
        && let Some(rt) = runtime::existing()
    {
        rt.reactor().mark_descriptions_shared();
    }
}

unsafe extern "C" fn in_forked_child() {
    // On the thread that forked, which is this process's only one. Was it PHP's?
    if host::php_thread_host().is_some()
        && let Some(rt) = runtime::existing()
    {
        in_child(rt);
    }
}

/// A library was loaded: its entries are patched too.
pub fn library_loaded() {
    // A constructor of a library may load another while we patch.
    if let Ok(mut patcher) = LIFE.patcher.try_borrow_mut()
        && let Some(patcher) = patcher.as_mut()
    {
        patcher.patch();
    }
    openssl::find();
}

fn deactivate() {
    runtime::end_request();
    calls::request_ends();
    persistent::settle();
    if LIFE.active.replace(false) {
        host::disable_suspension();
        runtime::forget_events();
        overflow::remove();
        signals::unchain_all();
        spindle_interpose::reset_wait_queues(); // of those that an `exit` has abandoned
        host::detach_thread();
    }
}

fn may_be_loaded() -> Result<(), String> {
    // SAFETY: a list of loaded modules by name.
    let loaded = |name: &CStr| unsafe {
        !sys::zend_hash_str_find(&raw mut sys::module_registry, name.as_ptr(), name.count_bytes()).is_null()
    };
    for other in [c"swoole", c"openswoole", c"swow"] {
        if loaded(other) {
            let other = other.to_string_lossy();
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
        let text = CString::new(why).unwrap_or_default();
        // SAFETY: a terminated text.
        unsafe { sys::spindle_core_warning(text.as_ptr()) };
        return sys::FAILURE;
    }
    LIFE.pid.set(std::process::id());
    // SAFETY: module start.
    unsafe { sys::spindle_register_classes() };
    coroutine::init_handlers();
    crate::context::init_handlers();
    timeout::init_handlers();
    scope::init_handlers();
    group::init_handlers();
    operators::init_handlers();
    syntax::install();
    linking::install();
    sys::SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn spindle_mshutdown(_: i32, _: i32) -> sys::zend_result {
    if LIFE.trampolined.replace(false) {
        calls::remove();
        iterators::remove();
        links::remove();
    }
    engine::remove();
    syntax::remove();
    output::remove();
    if let Some(patcher) = LIFE.patcher.borrow_mut().as_mut() {
        patcher.restore();
    }
    sys::SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn spindle_rinit(_: i32, _: i32) -> sys::zend_result {
    engine::install();
    if !LIFE.trampolined.replace(true) {
        calls::install();
        iterators::install();
    }
    sys::SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn spindle_post_deactivate() -> sys::zend_result {
    deactivate(); // other modules may have run code since
    links::forget_all();
    persistent::forget_all();
    operators::forget_all();
    runtime::give_back();
    sys::SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn spindle_rshutdown(_: i32, _: i32) -> sys::zend_result {
    deactivate();
    sys::SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn spindle_minfo(_: *mut sys::zend_module_entry) {
    let row = |name: &str, value: &str| {
        let (name, value) = (CString::new(name).unwrap_or_default(), CString::new(value).unwrap_or_default());
        // SAFETY: two terminated texts, as the count says.
        unsafe { sys::php_info_print_table_row(2, name.as_ptr(), value.as_ptr()) };
    };
    // SAFETY: prints the beginning and, below, the end of a table.
    unsafe { sys::php_info_print_table_start() };
    row("Version", env!("CARGO_PKG_VERSION"));
    let state = if is_active() { "active" } else { "loaded, no coroutine yet" };
    row("State", state);
    row("Reactor", "epoll");
    row("Stack size", &format!("{} bytes", stack::wanted_size()));
    let names = spindle_interpose::hooked_calls();
    let names: Vec<_> = names.iter().map(|entry| entry.hook.name.to_string_lossy().into_owned()).collect();
    row("Interposable calls", &names.len().to_string());
    row("Calls", &names.join(" "));
    let patcher = LIFE.patcher.borrow();
    let objects: Vec<(String, usize)> = patcher
        .iter()
        .flat_map(|patcher| patcher.objects())
        .filter(|_| is_active())
        .map(|object| (object.path.to_string(), object.entries))
        .collect();
    row("Interposed entries", &objects.iter().map(|(_, entries)| entries).sum::<usize>().to_string());
    row("Interposed libraries", &objects.len().to_string());
    for (path, entries) in &objects {
        row(&format!("Library {path}"), &format!("{entries} entries"));
    }
    if let (true, Some(rt)) = (is_active(), runtime::existing()) {
        row("Trampolined functions", &calls::installed().to_string());
        row("Coroutines", &rt.core.borrow().live().to_string());
        row("Stacks", &rt.stack_figures().0.to_string());
    }
    // SAFETY: see above.
    unsafe { sys::php_info_print_table_end() };
}
