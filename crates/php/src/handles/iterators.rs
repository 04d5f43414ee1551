//! `foreach` over objects of extensions, for which the engine calls their C code without calling a PHP function.
//!
//! An unbuffered result fetches its rows there. So the iterators of classes whose calls use handles get functions of
//! this module in front of their own. These are treated like calls of methods: the object is locked while the coroutine
//! is suspended in one, and `foreach` or methods in other coroutines wait.

use crate::handles::{
    classify::{self, Module},
    groups, handle_locks,
};
use spindle_php_sys as sys;
use spindle_zend::{Class, HookPoint, PhpStatic, Value, ValueCell};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::mem::offset_of;
use std::ptr::{NonNull, null_mut};

/// Creates an iterator over an object of a class.
type GetIterator = extern "C" fn(Class, &ValueCell, c_int) -> Option<Iterator>;

/// A live iterator.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Iterator(NonNull<sys::zend_object_iterator>);

/// The functions of an iterator, and the originals that they call.
#[repr(C)]
struct Functions {
    locking: sys::zend_object_iterator_funcs,
    original: sys::zend_object_iterator_funcs,
    /// The key of the extension, if it has no verdict and has to be locked, too; 0 if not.
    extension: usize,
}

struct Tables {
    /// The original `get_iterator` of internal classes, by the addresses of the classes.
    makers: RefCell<BTreeMap<usize, (Class, GetIterator)>>,
    /// The functions of iterators by the addresses of the originals. Never removed: iterators point to them.
    functions: RefCell<BTreeMap<usize, &'static Functions>>,
}

static TABLES: PhpStatic<Tables> =
    PhpStatic::new(Tables { makers: RefCell::new(BTreeMap::new()), functions: RefCell::new(BTreeMap::new()) });

/// Returns the hook point for `zend_class_entry.get_iterator`, which creates the iterators of a class.
fn maker_of(class: Class) -> HookPoint<GetIterator> {
    let place = class.as_raw().wrapping_byte_add(offset_of!(sys::zend_class_entry, get_iterator));
    // SAFETY: a field of an internal class, which lasts until the engine's own end; the type is that of the field.
    unsafe { HookPoint::new(place.cast()) }
}

/// Replaces `get_iterator` in the classes that exist now. Must run before a user class extends one of them.
pub fn install() {
    let by_methods = [sys::zend_user_it_get_new_iterator as *const () as usize, get_iterator as *const () as usize];
    let others = |class: &Class| class.is_internal() && !classify::is_spindle(class.extension());
    for class in Class::all().filter(others) {
        let maker = maker_of(class);
        let Some(original) = maker.get().filter(|make| !by_methods.contains(&(*make as usize))) else { continue };
        let module = Module::of(class.extension());
        if module.has_handles() && !module.holds_values() || module.is_unknown() && module.extension.is_some() {
            TABLES.makers.borrow_mut().insert(class.as_raw() as usize, (class, original));
            maker.set(Some(get_iterator));
        }
    }
}

/// Restores the originals, at module shutdown.
pub fn remove() {
    for (class, original) in TABLES.makers.take().into_values() {
        let maker = maker_of(class);
        if maker.get().is_some_and(|now| now as usize == get_iterator as *const () as usize) {
            maker.set(Some(original));
        }
    }
}

/// Returns the class whose `get_iterator` was replaced, among `class` and those it extends, and the original.
fn original_maker(class: Class) -> Option<(Class, GetIterator)> {
    let makers = TABLES.makers.borrow();
    class.and_parents().find_map(|class| makers.get(&(class.as_raw() as usize)).copied())
}

extern "C" fn get_iterator(class: Class, object: &ValueCell, by_ref: c_int) -> Option<Iterator> {
    let (of, original) = original_maker(class)?;
    // The copy is dropped before a wait.
    let group = object.get().as_object().map(|object| groups::group_id(object.address()))?;
    let made = handle_locks::with_lock(group, || original(class, object, by_ref)).flatten()?;
    let extension = of.extension();
    let used = if Module::of(extension).is_unknown() { classify::key_of_extension(extension) } else { 0 };
    // SAFETY: a live iterator, which no other code uses meanwhile.
    let iterator = unsafe { &mut *made.0.as_ptr() };
    iterator.funcs = functions(iterator.funcs, used);
    Some(made)
}

fn functions(
    original: *const sys::zend_object_iterator_funcs,
    extension: usize,
) -> *const sys::zend_object_iterator_funcs {
    // SAFETY: the functions of a live iterator, which are its extension's.
    let its = unsafe { *original };
    if its.valid.is_some_and(|now| now as usize == valid as *const () as usize) {
        return original; // some objects return the same iterator each time (`IntlIterator`)
    }
    let mut all = TABLES.functions.borrow_mut();
    let found = all.entry(original as usize).or_insert_with(|| {
        let locking = sys::zend_object_iterator_funcs {
            dtor: its.dtor.map(|_| dtor as unsafe extern "C" fn(_)),
            valid: its.valid.map(|_| valid as unsafe extern "C" fn(_) -> _),
            get_current_data: its.get_current_data.map(|_| get_current_data as unsafe extern "C" fn(_) -> _),
            get_current_key: its.get_current_key.map(|_| get_current_key as unsafe extern "C" fn(_, _)),
            move_forward: its.move_forward.map(|_| move_forward as unsafe extern "C" fn(_)),
            rewind: its.rewind.map(|_| rewind as unsafe extern "C" fn(_)),
            ..its
        };
        Box::leak(Box::new(Functions { locking, original: its, extension }))
    });
    &raw const found.locking
}

/// The functions and the object that an iterator uses.
struct Over {
    functions: &'static Functions,
    /// The group of the iterated object, if there is one.
    group: Option<usize>,
}

impl Over {
    /// Returns the functions and the object of an iterator with functions of this module.
    fn of(iterator: Iterator) -> Over {
        // SAFETY: alive as long as the engine calls its functions.
        let iterator = unsafe { iterator.0.as_ref() };
        // SAFETY: the functions are the first field of their structure, and stay.
        let functions = unsafe { &*iterator.funcs.cast::<Functions>() };
        // SAFETY: a value of the iterator's.
        let over = unsafe { Value::borrow(&iterator.data) }.and_then(Value::as_object);
        Over { functions, group: over.map(|object| groups::group_id(object.address())) }
    }

    /// Runs `body` with the locks of what the iterator uses. Returns `None`, and has thrown, if waiting for them would
    /// be a deadlock.
    fn with_locks<R>(&self, body: impl FnOnce() -> R) -> Option<R> {
        match (self.group, self.functions.extension) {
            (None, 0) => Some(body()),
            (None, extension) => handle_locks::with_lock(extension, body),
            (Some(group), 0) => handle_locks::with_lock(group, body),
            (Some(group), extension) => {
                handle_locks::with_lock(extension, || handle_locks::with_lock(group, body)).flatten()
            }
        }
    }
}

/// Defines functions of iterators, which call the original with the locks of what it uses. The default is returned if
/// waiting for them would be a deadlock. They are only installed where there is an original.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?, $default:expr;)*) => {$(
        unsafe extern "C" fn $name(iterator: *mut sys::zend_object_iterator, $($argument: $type),*) $(-> $result)? {
            let Some(over) = NonNull::new(iterator).map(|iterator| Over::of(Iterator(iterator))) else { return $default };
            let Some(original) = over.functions.original.$name else { return $default };
            // SAFETY: the iterator's own function, and the engine's arguments.
            over.with_locks(|| unsafe { original(iterator, $($argument),*) }).unwrap_or_else(|| $default)
        }
    )*};
}

functions! {
    dtor(), Default::default();
    valid() -> i32, sys::FAILURE;
    get_current_data() -> *mut sys::zval, null_mut();
    get_current_key(key: *mut sys::zval), set_null(key);
    move_forward(), Default::default();
    rewind(), Default::default();
}

fn set_null(key: *mut sys::zval) {
    // SAFETY: the engine's place for a key, which has none yet.
    unsafe { key.write(Value::NULL.into_raw()) };
}
