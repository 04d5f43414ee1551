//! The entries of loaded objects, which lead to the hooks of libc calls from the first `spawn` on.

use crate::engine::no_throw;
use crate::isolation::{globals, openssl, state};
use crate::zend::settings::ini;
use spindle_interpose::hooks::file;
use spindle_interpose::patch::Patcher;
use spindle_php_sys as sys;
use std::cell::RefCell;
use std::ffi::CStr;

struct Life {
    patcher: RefCell<Option<Patcher>>,
}
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Life {}
static LIFE: Life = Life { patcher: RefCell::new(None) };

/// Each object that entries were patched in, with their number.
pub fn objects() -> Vec<(String, usize)> {
    let patcher = LIFE.patcher.borrow();
    patcher
        .iter()
        .flat_map(|patcher| patcher.objects())
        .map(|object| (object.path.to_string(), object.entries))
        .collect()
}

/// Puts the originals back, at module shutdown.
pub fn restore() {
    if let Some(patcher) = LIFE.patcher.borrow_mut().as_mut() {
        patcher.restore();
    }
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

/// Points the entries of all loaded objects at the hooks. What could not be: one error for the process.
pub fn patch() -> Vec<String> {
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
        state::find();
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
