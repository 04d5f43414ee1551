//! The table of functions of Spindle, as `include/spindle.h` declares it, and how it is found.

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

/// `spindle_api` of version 1. Pointers to structures of PHP, which this crate knows nothing of, are `c_void`.
#[repr(C)]
pub struct Table {
    pub size: u32,
    pub version: u32,
    pub can_park: unsafe extern "C" fn() -> bool,
    pub current: unsafe extern "C" fn() -> u64,
    pub spawn: unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void,
    pub spawn_c: unsafe extern "C" fn(
        Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
        *mut c_void,
        Callback,
    ) -> *mut c_void,
    pub await_: unsafe extern "C" fn(*mut c_void, *mut c_void) -> bool,
    pub begin_wait: unsafe extern "C" fn() -> u64,
    pub park: unsafe extern "C" fn(u64, u64, *const c_char) -> u32,
    pub wake: unsafe extern "C" fn(u64),
    pub wait_fd: unsafe extern "C" fn(c_int, c_int, u64) -> u32,
    pub sleep: unsafe extern "C" fn(u64) -> u32,
    pub job: unsafe extern "C" fn(Callback, *mut c_void, Callback) -> u32,
    pub forbid: unsafe extern "C" fn(),
    pub allow: unsafe extern "C" fn(),
    pub cancelled: unsafe extern "C" fn() -> bool,
    pub throw_pending: unsafe extern "C" fn(),
    pub local: unsafe extern "C" fn(*const c_void, Callback) -> *mut *mut c_void,
    pub declare: unsafe extern "C" fn(*const c_void, *const c_char, u32) -> bool,
}

/// A function with an argument of its author's, or none.
pub type Callback = Option<unsafe extern "C" fn(*mut c_void)>;

// The layout of version 1, which never changes; `tests/authors/abi.c` has the same of the header.
const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(Table, size) == 0);
    assert!(offset_of!(Table, version) == 4);
    assert!(offset_of!(Table, can_park) == 8);
    assert!(offset_of!(Table, current) == 16);
    assert!(offset_of!(Table, spawn) == 24);
    assert!(offset_of!(Table, spawn_c) == 32);
    assert!(offset_of!(Table, await_) == 40);
    assert!(offset_of!(Table, begin_wait) == 48);
    assert!(offset_of!(Table, park) == 56);
    assert!(offset_of!(Table, wake) == 64);
    assert!(offset_of!(Table, wait_fd) == 72);
    assert!(offset_of!(Table, sleep) == 80);
    assert!(offset_of!(Table, job) == 88);
    assert!(offset_of!(Table, forbid) == 96);
    assert!(offset_of!(Table, allow) == 104);
    assert!(offset_of!(Table, cancelled) == 112);
    assert!(offset_of!(Table, throw_pending) == 120);
    assert!(offset_of!(Table, local) == 128);
    assert!(offset_of!(Table, declare) == 136);
    assert!(size_of::<Table>() == 144);
};

/// Where the handle of a module's file is in `zend_module_entry`, and where its name is, in the one build of PHP for which
/// there is Spindle: 64 bits, without thread safety. `tests/authors/abi.c` compares it with PHP's headers.
const HANDLE: usize = 144;

// SAFETY: a table of modules and two functions of the process in which an extension is loaded.
unsafe extern "C" {
    static module_registry: c_void;
    /// Returns the value with this name in a table, whose first word is the pointer that is stored there.
    fn zend_hash_str_find(table: *const c_void, name: *const c_char, length: usize) -> *const *const u8;
    fn dlsym(handle: *const c_void, name: *const c_char) -> *const c_void;
}

/// Returns the table, if Spindle is loaded and has one.
pub fn table() -> Option<&'static Table> {
    static FOUND: OnceLock<Option<&'static Table>> = OnceLock::new();
    *FOUND.get_or_init(find)
}

fn find() -> Option<&'static Table> {
    let name = c"spindle";
    // SAFETY: PHP's table of modules, which is complete when the first of them starts.
    let place = unsafe { zend_hash_str_find(&raw const module_registry, name.as_ptr(), name.count_bytes()) };
    if place.is_null() {
        return None;
    }
    // SAFETY: a value of that table is a pointer to a module's entry.
    let module = unsafe { place.read() };
    // SAFETY: the entry's field for the handle of its file.
    let handle = unsafe { module.wrapping_add(HANDLE).cast::<*const c_void>().read_unaligned() };
    // SAFETY: a handle of dlopen(), or null, which stands for the program and what it has loaded.
    let table = unsafe { dlsym(handle, c"spindle_api".as_ptr()) }.cast::<Table>();
    // SAFETY: null, or the table, of which at least the size is there; it stays as long as the process.
    let size = unsafe { table.cast::<u32>().as_ref() }?;
    // SAFETY: it has all of version 1.
    (*size as usize >= size_of::<Table>()).then(|| unsafe { &*table })
}
