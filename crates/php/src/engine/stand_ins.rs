//! Stand-ins: classes in the engine's table in place of those that a suspended coroutine is linking.
//!
//! A declaration looks up its class by a key of its own. If other coroutines run the same declaration meanwhile, the
//! class would be linked twice at the same time, or missing, and the engine is prepared for neither.
//!
//! A stand-in has nothing but one interface, which does not exist. To link it the engine asks the autoloader for the
//! interface, which waits (see `linking`), and then its cache of linked classes, where the hook returns the class that
//! the stand-in represents.

use spindle_zend::{
    Class, Hook, Owned, PhpStatic, Str, class_table,
    hooks::{INHERITANCE_CACHE_ADD, INHERITANCE_CACHE_GET, InheritanceCacheAdd, InheritanceCacheGet, Passed},
    sys, zeroed,
};
use std::cell::{RefCell, UnsafeCell};
use std::ffi::c_char;
use std::rc::Rc;

/// The prefix of the interfaces' names.
const PREFIX: &[u8] = b"\0spindle declares ";

/// A stand-in, and what it refers to. Its strings outlive the request in which they were created, as the list does.
struct StandIn {
    class: Class,
    /// The key of the class that it represents.
    stands_for: Owned<Str>,
    _entry: Rc<UnsafeCell<sys::zend_class_entry>>,
    _interface: Rc<UnsafeCell<sys::zend_class_name>>,
    _names: [Owned<Str>; 2],
}

/// All stand-ins. They are kept until the end of the request: a coroutine that has started to link one continues with
/// it.
static ALL: PhpStatic<RefCell<Vec<StandIn>>> = PhpStatic::new(RefCell::new(Vec::new()));

static GET_HOOK: Hook<InheritanceCacheGet> = Hook::new(&INHERITANCE_CACHE_GET, get);
static ADD_HOOK: Hook<InheritanceCacheAdd> = Hook::new(&INHERITANCE_CACHE_ADD, add);

/// Hooks the engine's cache of linked classes, which belongs to opcache; without a cache no other class is looked up
/// there.
pub fn install() {
    GET_HOOK.install();
    if INHERITANCE_CACHE_ADD.get().is_none() {
        ADD_HOOK.install();
    }
}

/// Restores the originals, except where others have replaced the hooks.
pub fn remove() {
    GET_HOOK.remove();
    ADD_HOOK.remove();
}

/// Returns `true` if this is the name for which the autoloader is called when a stand-in is linked.
pub fn is_interface_name(lower: &Str) -> bool {
    lower.as_bytes().starts_with(PREFIX)
}

/// Returns the stand-in for a class that will be at `key` when it is linked.
pub fn of(class: Class, key: &Str) -> Class {
    let mut all = ALL.borrow_mut();
    if let Some(known) = all.iter().find(|known| *known.stands_for == *key) {
        return known.class;
    }
    let name = Str::new_lasting(class.name().as_bytes());
    // The interface does not have the class's own name: the engine caches in such strings which class they were
    // resolved to.
    let interface_name = Str::new_lasting([PREFIX, key.as_bytes()].concat());
    let interface = Rc::new(UnsafeCell::new(sys::zend_class_name {
        name: interface_name.as_raw(),
        lc_name: interface_name.as_raw(),
    }));
    let mut entry: sys::zend_class_entry = zeroed();
    entry.type_ = sys::ZEND_USER_CLASS as c_char;
    entry.name = name.as_raw();
    entry.refcount = 1;
    // The cache is only consulted for immutable classes. The engine does not destroy them.
    entry.ce_flags = sys::ZEND_ACC_IMMUTABLE;
    entry.num_interfaces = 1;
    entry.__bindgen_anon_3.interface_names = interface.get();
    let entry = Rc::new(UnsafeCell::new(entry));
    // SAFETY: a class, which lasts as long as the request.
    let class = unsafe { Class::from_raw(entry.get()) }.expect("not null");
    all.push(StandIn {
        class,
        stands_for: Str::new_lasting(key.as_bytes()),
        _entry: entry,
        _interface: interface,
        _names: [name, interface_name],
    });
    class
}

/// Returns `true` if the class is a stand-in.
pub fn is_stand_in(class: Class) -> bool {
    ALL.borrow().iter().any(|known| known.class == class)
}

/// Returns the key of the class that a stand-in represents; `None` if the class is no stand-in.
fn key_of(class: Class) -> Option<Owned<Str>> {
    let all = ALL.borrow();
    all.iter().find(|known| known.class == class).map(|known| known.stands_for.clone())
}

/// Frees all stand-ins at the start of a request, when no table has any of them.
pub fn forget_all() {
    ALL.take();
}

extern "C" fn get(
    class: Class,
    parent: Option<Class>,
    others: Passed<'_, *mut *mut sys::zend_class_entry>,
) -> Option<Class> {
    match key_of(class) {
        // Its declaration has waited until the class was in the table, linked.
        Some(key) => class_table::find(&key),
        None => GET_HOOK.original()?(class, parent, others),
    }
}

/// Adds nothing to the cache.
extern "C" fn add(
    _: Class,
    _: Class,
    _: Option<Class>,
    _: Passed<'_, *mut *mut sys::zend_class_entry>,
    _: Passed<'_, *mut sys::HashTable>,
) -> Option<Class> {
    None
}

/// Puts a class into the engine's table, or removes the one at this key. Returns the previous one.
pub fn put(key: &Str, class: Option<Class>) -> Option<Class> {
    // SAFETY: classes of this request. What is taken out is a stand-in, of which the engine destroys nothing.
    unsafe { class_table::replace(key, class) }
}
