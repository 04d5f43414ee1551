//! The entries of loaded objects, which lead to the hooks of libc calls from the first `spawn` on.

use crate::engine::no_throw;
use crate::isolation::{globals, openssl, parts};
use crate::{c, settings};
use spindle_interpose::hooks::file;
use spindle_interpose::patch::Patcher;
use spindle_zend::{PhpStatic, engine};
use std::cell::RefCell;
use std::ptr::{null, null_mut};

/// The patcher of the process, made at the first `spawn`.
static PATCHER: PhpStatic<RefCell<Option<Patcher>>> = PhpStatic::new(RefCell::new(None));

/// Returns each object that entries were patched in, with their number.
pub fn objects() -> Vec<(String, usize)> {
    let patcher = PATCHER.borrow();
    patcher
        .iter()
        .flat_map(|patcher| patcher.objects())
        .map(|object| (object.path.to_string(), object.entries))
        .collect()
}

/// Puts the originals back, at module shutdown.
pub fn restore() {
    if let Some(patcher) = PATCHER.borrow_mut().as_mut() {
        patcher.restore();
    }
}

/// Returns the names of files whose entries are left alone: those that `async.interpose_exclude` names, and the engine's own
/// extensions (`zend_extension=`), where a wait is one of the whole process: a debugger stops all coroutines, and opcache's
/// locks are those of the process.
fn excluded() -> Vec<String> {
    let named = engine::setting(c"async.interpose_exclude");
    let named = named.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    named.chain(engine::engine_extensions()).collect()
}

/// Points the entries of all loaded objects at the hooks. Returns what could not be: one error for the process.
pub fn patch() -> Vec<String> {
    let mut patcher = PATCHER.borrow_mut();
    let patcher = patcher.get_or_insert_with(|| {
        stay_loaded();
        let paths = settings::current().paths_on_workers;
        file::set_open_on_workers(paths);
        no_throw::patcher(spindle_interpose::hook_list(paths), excluded())
    });
    let before = patcher.passes();
    let errors = patcher.patch().errors;
    if patcher.passes() != before {
        openssl::find();
        globals::find();
        parts::find_libxml();
    }
    errors
}

/// Entries, threads and handlers of forks lead to this object's code: from now on it is not unloaded.
fn stay_loaded() {
    let mut object =
        libc::Dl_info { dli_fname: null(), dli_fbase: null_mut(), dli_sname: null(), dli_saddr: null_mut() };
    if c::dladdr(stay_loaded as fn() as *const libc::c_void, &mut object) != 0 {
        // SAFETY: a terminated path. The object is loaded already.
        unsafe { libc::dlopen(object.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) };
    }
}

/// A library was loaded: its entries are patched too.
pub fn library_loaded() {
    // A constructor of a library may load another while we patch.
    if let Ok(mut patcher) = PATCHER.try_borrow_mut()
        && let Some(patcher) = patcher.as_mut()
    {
        patcher.patch();
    }
    openssl::find();
}
