//! Patches the entries of loaded objects to lead to the hooks of libc calls, from the first `spawn` on; of FFI in PHP's
//! program from the start of the module on.

use crate::engine::no_throw;
use crate::isolation::{globals, openssl, parts};
use crate::{c, settings};
use spindle_interpose::hooks::file;
use spindle_interpose::patch::Patcher;
use spindle_zend::{PhpStatic, engine};
use std::cell::RefCell;
use std::ptr::{null, null_mut};

/// The patcher of the process, created at the first `spawn`.
static PATCHER: PhpStatic<RefCell<Option<Patcher>>> = PhpStatic::new(RefCell::new(None));

/// The entries that are patched before the first `spawn`.
struct Early {
    patcher: Patcher,
    /// Messages for entries that could not be patched, until the first `spawn` reports them.
    errors: Vec<String>,
}

static EARLY: PhpStatic<RefCell<Option<Early>>> = PhpStatic::new(RefCell::new(None));

/// Patches what has to be patched before the first `spawn`.
pub fn module_starts() {
    if let Some(mut patcher) = no_throw::patcher_of_program() {
        stay_loaded();
        let errors = patcher.patch().errors;
        EARLY.replace(Some(Early { patcher, errors }));
    }
}

/// Returns each object in which entries were patched, with their number.
pub fn objects() -> Vec<(String, usize)> {
    let patcher = PATCHER.borrow();
    patcher
        .iter()
        .flat_map(|patcher| patcher.objects())
        .map(|object| (object.path.to_string(), object.entries))
        .collect()
}

/// Restores the originals, at module shutdown.
pub fn restore() {
    if let Some(patcher) = PATCHER.borrow_mut().as_mut() {
        patcher.restore();
    }
    if let Some(early) = EARLY.borrow_mut().as_mut() {
        early.patcher.restore();
    }
}

/// Returns the names of files whose entries are not patched: those named by `async.interpose_exclude`, and the engine's
/// own extensions (`zend_extension=`), whose waits concern the whole process: a debugger stops all coroutines, and
/// opcache's locks belong to the process. Since PHP 8.5 opcache is a part of PHP's program: see
/// `Host::locks_for_process`.
fn excluded() -> Vec<String> {
    let named = engine::setting(c"async.interpose_exclude");
    let named = named.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    named.chain(engine::engine_extensions()).collect()
}

/// Patches the entries of all loaded objects. Returns a message for each entry that could not be patched, once per
/// process.
pub fn patch() -> Vec<String> {
    let mut patcher = PATCHER.borrow_mut();
    let patcher = patcher.get_or_insert_with(|| {
        stay_loaded();
        let paths = settings::current().paths_on_workers;
        file::set_open_on_workers(paths);
        no_throw::patcher(spindle_interpose::hook_list(paths, settings::current().virtual_time), excluded())
    });
    let before = patcher.passes();
    let mut errors = patcher.patch().errors;
    if let Some(early) = EARLY.borrow_mut().as_mut() {
        errors.append(&mut early.errors);
    }
    if patcher.passes() != before {
        openssl::find();
        globals::find();
        parts::find_libxml();
    }
    errors
}

/// Prevents this object from being unloaded, because entries, threads and fork handlers lead to its code.
fn stay_loaded() {
    keep_loaded(stay_loaded as fn() as *const libc::c_void);
}

/// Prevents the object with this code from being unloaded.
pub fn keep_loaded(code: *const libc::c_void) {
    let mut object =
        libc::Dl_info { dli_fname: null(), dli_fbase: null_mut(), dli_sname: null(), dli_saddr: null_mut() };
    if c::dladdr(code, &mut object) != 0 {
        // SAFETY: a terminated path. The object is loaded already.
        unsafe { libc::dlopen(object.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) };
    }
}

/// Patches the entries of a library that was loaded.
pub fn library_loaded() {
    // A library's constructor may load another library while this one is patched.
    if let Ok(mut patcher) = PATCHER.try_borrow_mut()
        && let Some(patcher) = patcher.as_mut()
    {
        patcher.patch();
    }
    openssl::find();
}
