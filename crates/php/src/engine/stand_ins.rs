//! Classes that stand in the engine's table while a coroutine that links the real ones is suspended. A declaration finds its
//! class by a key of its own. Where other coroutines run the same declaration meanwhile, it would be linked twice at once, or
//! missed there, for which the engine is not prepared.
//!
//! A stand-in has nothing but one interface, which does not exist. To link it the engine asks the autoloader for that, which
//! waits (see `linking`), and then its cache of linked classes, which is told by us: the class that it stands for.

use crate::zend::zv;
use spindle_php_sys as sys;
use std::cell::{Cell, RefCell};
use std::ptr::null_mut;

type Get = unsafe extern "C" fn(
    *mut sys::zend_class_entry,
    *mut sys::zend_class_entry,
    *mut *mut sys::zend_class_entry,
) -> *mut sys::zend_class_entry;

/// What the names of the interfaces begin with.
const PREFIX: &[u8] = b"\0spindle declares ";

struct StandIn {
    class: sys::zend_class_entry,
    interface: sys::zend_class_name,
    /// The key of the class that it stands for.
    stands_for: *mut sys::zend_string,
}

struct State {
    /// They stay where they are until the request is over: whoever has begun to link one goes on with it.
    all: RefCell<Vec<*mut StandIn>>,
    get: Cell<Option<Get>>,
}

struct OnPhpThread(State);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for OnPhpThread {}
static STATE: OnPhpThread = OnPhpThread(State { all: RefCell::new(Vec::new()), get: Cell::new(None) });

/// Wraps the engine's cache of linked classes, after opcache, whose it is; without one no other class is looked for there.
pub fn install() {
    // SAFETY: request start, on the PHP thread; the original is kept and called.
    unsafe {
        STATE.0.get.set(sys::zend_inheritance_cache_get);
        sys::zend_inheritance_cache_get = Some(get);
        let adds = sys::zend_inheritance_cache_add;
        if adds.is_none() {
            sys::zend_inheritance_cache_add = Some(add);
        }
    }
}

/// Puts the original back, where ours still stands.
pub fn remove() {
    // SAFETY: module shutdown, on the PHP thread.
    unsafe {
        if sys::zend_inheritance_cache_get.is_some_and(|f| f as usize == get as *const () as usize) {
            sys::zend_inheritance_cache_get = STATE.0.get.get();
        }
        if sys::zend_inheritance_cache_add.is_some_and(|f| f as usize == add as *const () as usize) {
            sys::zend_inheritance_cache_add = None;
        }
    }
}

/// Is it the name that the autoloader is asked for when a stand-in is linked?
pub fn is_asked_for(lower: *mut sys::zend_string) -> bool {
    // SAFETY: the engine's own argument.
    unsafe { zv::bytes(lower) }.starts_with(PREFIX)
}

/// The one for a class that will be found by `key` when it is linked.
pub unsafe fn of(class: *mut sys::zend_class_entry, key: *mut sys::zend_string) -> *mut sys::zend_class_entry {
    let mut all = STATE.0.all.borrow_mut();
    // SAFETY: the caller passes a class that is being linked; ours live until the end of the request. Zeros are valid for
    // a class without anything.
    unsafe {
        if let Some(known) = all.iter().find(|known| zv::bytes((***known).stands_for) == zv::bytes(key)) {
            return &raw mut (**known).class;
        }
        let string = |text: &[u8]| sys::spindle_string_new_lasting(text.as_ptr().cast(), text.len());
        // Not the class's own name for the interface: the engine keeps in such strings which class they were found to be.
        let name = string(&[PREFIX, zv::bytes(key)].concat());
        let new = Box::into_raw(Box::new(StandIn {
            class: std::mem::zeroed(),
            interface: sys::zend_class_name { name, lc_name: name },
            stands_for: string(zv::bytes(key)),
        }));
        (*new).class.type_ = sys::ZEND_USER_CLASS as i8;
        (*new).class.name = string(zv::bytes((*class).name));
        (*new).class.refcount = 1;
        // Only of such ones the cache is asked. The engine destroys none of them.
        (*new).class.ce_flags = sys::ZEND_ACC_IMMUTABLE;
        (*new).class.num_interfaces = 1;
        (*new).class.__bindgen_anon_3.interface_names = &raw mut (*new).interface;
        all.push(new);
        &raw mut (*new).class
    }
}

/// Is it one of them?
pub fn is_one(class: *mut sys::zend_class_entry) -> bool {
    key_of(class).is_some()
}

/// The key of the class that it stands for, if it is one.
fn key_of(class: *mut sys::zend_class_entry) -> Option<*mut sys::zend_string> {
    let all = STATE.0.all.borrow();
    // SAFETY: ours live until the end of the request.
    all.iter().find(|known| class == unsafe { &raw mut (***known).class }).map(|known| unsafe { (**known).stands_for })
}

/// A new request: no table has any of them. Their names outlive the request that they were made in.
pub fn forget_all() {
    for stand_in in STATE.0.all.borrow_mut().drain(..) {
        // SAFETY: made by `of`, with these references.
        unsafe {
            let stand_in = Box::from_raw(stand_in);
            sys::spindle_string_release(stand_in.stands_for);
            sys::spindle_string_release(stand_in.class.name);
            sys::spindle_string_release(stand_in.interface.lc_name);
        }
    }
}

unsafe extern "C" fn get(
    class: *mut sys::zend_class_entry,
    parent: *mut sys::zend_class_entry,
    others: *mut *mut sys::zend_class_entry,
) -> *mut sys::zend_class_entry {
    match key_of(class) {
        // SAFETY: a live string. Whoever has waited has seen the class in the table, linked.
        Some(key) => unsafe { find(key) },
        // SAFETY: the engine's own arguments, passed on.
        None => STATE.0.get.get().map_or(null_mut(), |original| unsafe { original(class, parent, others) }),
    }
}

/// Keeps nothing.
unsafe extern "C" fn add(
    _: *mut sys::zend_class_entry,
    _: *mut sys::zend_class_entry,
    _: *mut sys::zend_class_entry,
    _: *mut *mut sys::zend_class_entry,
    _: *mut sys::HashTable,
) -> *mut sys::zend_class_entry {
    null_mut()
}

/// A class in the engine's table, or null.
pub unsafe fn find(key: *mut sys::zend_string) -> *mut sys::zend_class_entry {
    // SAFETY: the engine's table of classes; the caller passes a live string.
    unsafe {
        let found = sys::zend_hash_find(sys::executor_globals.class_table, key);
        if found.is_null() { null_mut() } else { (*found).value.ce }
    }
}

/// Puts a class into the engine's table, whatever is there, which is returned; null takes it out. What was there is not
/// destroyed.
pub unsafe fn put(key: *mut sys::zend_string, class: *mut sys::zend_class_entry) -> *mut sys::zend_class_entry {
    // SAFETY: as `find`. What is deleted is a stand-in, of which the engine destroys nothing.
    unsafe {
        let table = sys::executor_globals.class_table;
        let found = sys::zend_hash_find(table, key);
        if found.is_null() {
            let mut value = zv::undef();
            value.value.ce = class;
            value.u1.type_info = sys::IS_PTR;
            sys::zend_hash_add(table, key, &mut value);
            return null_mut();
        }
        let before = (*found).value.ce;
        if class.is_null() {
            sys::zend_hash_del(table, key);
        } else {
            (*found).value.ce = class;
        }
        before
    }
}
